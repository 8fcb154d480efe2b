"""Python reference: a page for each public module, made from its docstrings while the site is built.

A module is public if it has `__all__`, or if a public module exports it. The home of an object is its shortest path.
Other modules that export it link to its home.
"""

import importlib
import inspect
import pkgutil
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util import logging

import unmask
from docs.docstrings import to_rst
from unmask.measures import Measure

logger = logging.getLogger(__name__)

FOLDER = Path(__file__).parent / "api"


def public_modules() -> dict[str, list[str]]:
    """Return public modules and the names that each exports, modules nearer to the root first."""
    names = [item.name for item in pkgutil.walk_packages(unmask.__path__, "unmask.") if "._" not in item.name]
    modules = [unmask, *map(importlib.import_module, names)]
    exported = {id(getattr(module, name)) for module in modules for name in getattr(module, "__all__", ())}
    return {
        module.__name__: [name for name in _names(module) if not inspect.ismodule(getattr(module, name))]
        for module in sorted(modules, key=lambda module: (module.__name__.count("."), module.__name__))
        if hasattr(module, "__all__") or id(module) in exported
    }


def _names(module: ModuleType) -> list[str]:
    """Return the exports of a module; without `__all__`, its own names without an underscore."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (getattr(value, "__module__", "") == module.__name__ or isinstance(value, Measure))
    ]


def find_homes(modules: dict[str, list[str]]) -> dict[str, str]:
    """Return the home of every module and object, by each path that leads to it."""
    first: dict[tuple[str, int | str], str] = {}
    homes = {module: module for module in modules}
    for module, names in modules.items():
        for name in names:
            value = getattr(sys.modules[module], name)
            identity = ".".join(module.split(".")[:2]) if isinstance(value, int | float | str) else id(value)
            homes[f"{module}.{name}"] = first.setdefault((name, identity), f"{module}.{name}")
    return homes


def write_pages(modules: dict[str, list[str]], homes: dict[str, str]) -> None:
    """Write the source of every page, after removing all old pages."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    (FOLDER / "index.rst").write_text(_index(modules), encoding="utf-8")
    for module, names in modules.items():
        text = "\n".join(_page(module, names, homes, modules)) + "\n"
        (FOLDER / f"{module}.rst").write_text(text, encoding="utf-8")


def _index(modules: dict[str, list[str]]) -> str:
    tops = [module for module in modules if module.count(".") < 2 or module.rpartition(".")[0] not in modules]
    text = "Python reference\n================\n\n"
    for top in tops:
        summary = to_rst([(sys.modules[top].__doc__ or "").split("\n")[0]], {}.get)[0]
        text += f":doc:`{top}`\n    {summary}\n"
    return text + "\n.. toctree::\n   :hidden:\n\n" + "".join(f"   {top}\n" for top in tops)


def _page(module: str, names: list[str], homes: dict[str, str], modules: dict[str, list[str]]) -> Iterator[str]:
    yield module
    yield "=" * len(module)
    yield f"\n.. automodule:: {module}\n"
    elsewhere = [homes[f"{module}.{name}"] for name in names if homes[f"{module}.{name}"] != f"{module}.{name}"]
    if elsewhere:
        yield "It also exports " + ", ".join(f":py:obj:`~{path}`" for path in elsewhere) + ".\n"
    for name in names:
        if homes[f"{module}.{name}"] == f"{module}.{name}":
            yield from _directive(f"{module}.{name}", getattr(sys.modules[module], name), homes)
    submodules = [name for name in modules if module != "unmask" and name.rpartition(".")[0] == module]
    if submodules:
        yield "\n.. toctree::\n\n" + "".join(f"   {name}\n" for name in submodules)


def _directive(path: str, value: Any, homes: dict[str, str]) -> Iterator[str]:
    if inspect.isclass(value):
        yield f".. autoclass:: {path}\n   :members:\n   :special-members: __call__\n"
    elif inspect.isroutine(value):
        yield f".. autofunction:: {path}\n"
    else:  # autodoc does not find the text below an assignment from another module
        yield f".. py:data:: {path.rpartition('.')[2]}\n"
        for line in read_docstring(homes, path, value, _doc_of_data(path.rpartition(".")[2], value)):
            yield f"   {line}"


def _doc_of_data(name: str, value: Any) -> list[str]:
    """Return the text below an assignment in its module; of a measure, also its meaning, unit and source."""
    for module in [module for path, module in sys.modules.items() if path.split(".")[0] == "unmask"]:
        if getattr(module, name, None) is value:
            doc = ModuleAnalyzer.for_module(module.__name__).find_attr_docs().get(("", name))
            if isinstance(value, Measure):
                meaning = doc or [f"{value.meaning[:1].upper()}{value.meaning[1:]}."]
                return [*meaning, "", f"In {value.unit}; the adversary wants it {value.direction}.", "", value.source]
            if doc:
                return [*doc, "", *([f"One of {get_args(value)}."] if get_origin(value) is Literal else [])]
    return []


def read_docstring(homes: dict[str, str], name: str, obj: Any, lines: list[str]) -> list[str]:
    """Return a docstring as reStructuredText, and warn if it is empty."""
    if not any(lines):
        logger.warning("%s has no docstring", name)
    return to_rst(lines, lambda code: _link(homes, name, obj, code))


def _link(homes: dict[str, str], name: str, obj: Any, code: str) -> str | None:
    """Return a link if code in a docstring names a public object, and warn about names that do not exist."""
    if not re.fullmatch(r"\w+(\.\w+)*", code) or code in _parameters(obj):
        return None
    module = getattr(obj, "__module__", None) or "unmask"
    public = _public(homes, name, module, code)
    if public and _leads_somewhere(public):
        return f":py:obj:`{code} <{public}>`"
    ours = public or re.match(r"unmask\.|[A-Z][a-z]", code)
    if ours and not any(_leads_somewhere(path) for path in (code, f"{module}.{code}", f"{name}.{code}")):
        logger.warning("%s names `%s`, which does not exist", name, code)
    return None


def _public(homes: dict[str, str], name: str, module: str, code: str) -> str | None:
    """Return the public object that a docstring means: a member, a neighbor, a name in a parent package, or a path."""
    owner, _, member = code.rpartition(".")
    context = name
    while True:
        for target, suffix in ((code, ""), (owner, f".{member}")):
            path = f"{context}.{target}".strip(".")
            if target and path in homes:
                return homes[path] + suffix
        if not context:
            break
        context = context.rpartition(".")[0]
    class_name, dot, attribute = code.partition(".")
    path = find_class(homes, module, class_name)
    return path + dot + attribute if path else None


def find_class(homes: dict[str, str], module: str, name: str) -> str | None:
    """Return the home of a public class by its short name. If several exist, return the one in the module."""
    paths = {path for path in homes.values() if name[0].isupper() and path.endswith(f".{name}")}
    if len(paths) > 1:
        meant = getattr(sys.modules.get(module), name, None)
        paths = {path for path in paths if getattr(sys.modules[path.rpartition(".")[0]], name) is meant}
    return paths.pop() if len(paths) == 1 else None


def _leads_somewhere(path: str) -> bool:
    parts = path.split(".")
    n_module = max(depth for depth in range(len(parts) + 1) if depth == 0 or ".".join(parts[:depth]) in sys.modules)
    value: Any = sys.modules.get(".".join(parts[:n_module]))
    for part in parts[n_module:]:
        if part in getattr(value, "__annotations__", ()):
            return True
        value = getattr(value, part, None)
    return value is not None


def _parameters(obj: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(obj).parameters
    except (TypeError, ValueError):  # no callable, or an exception, which has none
        return {}


class _AsWritten:
    """Text that appears in a signature without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def read_signature(homes: dict[str, str], kind: str, obj: Any) -> tuple[str, str]:
    """Return a signature with annotations as written. Public classes have their full path, which makes links."""

    def in_full(name: re.Match[str]) -> str:
        return find_class(homes, obj.__module__, name[0]) or name[0]

    def written(annotation: Any) -> Any:
        text = getattr(annotation, "__forward_arg__", annotation)  # the first, of a named tuple
        return _AsWritten(re.sub(r"(?<![\w.'\"])[A-Z]\w+", in_full, text)) if isinstance(text, str) else annotation

    signature = inspect.signature(obj)
    parameters = [
        item.replace(annotation=written(item.annotation), default=_default(item.default))
        for item in signature.parameters.values()
    ]
    if kind == "method" and parameters and parameters[0].name == "self":
        parameters = parameters[1:]
    bare = signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    returns = signature.return_annotation
    return str(bare), "" if returns in (inspect.Signature.empty, "None") or kind == "class" else str(written(returns))


def _default(value: Any) -> Any:
    """Return a default that can be parsed: a function by its name, a value without a notation as an ellipsis."""
    if inspect.isroutine(value):
        return _AsWritten(value.__name__)
    return _AsWritten("...") if "<" in repr(value) and value is not inspect.Parameter.empty else value


def leave_other_names(_app: Sphinx, page: nodes.document) -> None:
    """Replace a bare name in a signature by text. It is not a public class, but Sphinx would guess one."""
    for node in list(page.findall(addnodes.pending_xref)):
        if node["refdomain"] == "py" and "." not in node["reftarget"] and node["reftarget"] != "unmask":
            node.replace_self(nodes.Text(node["reftarget"]))


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages and register the conversion of docstrings and signatures."""
    modules = public_modules()
    homes = find_homes(modules)

    def docstring(_app: Sphinx, _kind: str, name: str, obj: Any, _options: Any, lines: list[str]) -> None:
        lines[:] = read_docstring(homes, name, obj, lines)

    def signature(_app: Sphinx, kind: str, _name: str, obj: Any, _options: Any, text: str | None, _: Any) -> Any:
        return read_signature(homes, kind, obj) if text is not None else None

    def skip(_app: Sphinx, _kind: str, _name: str, obj: Any, _skip: bool, _options: Any) -> bool | None:
        return True if (inspect.getdoc(obj) or "").startswith("Alias for field number") else None  # of a named tuple

    write_pages(modules, homes)
    app.connect("doctree-read", leave_other_names)
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", docstring)
    app.connect("autodoc-process-signature", signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
