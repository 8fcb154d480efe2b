"""The Python reference: a page for each public module, made from its docstrings while the site is built.

A module is public if it says so with `__all__`, or if a public one exports it. An object has its place where the path
to it is shortest; other modules that export it link there.
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
    """Public modules and the names that each exports, modules nearer to the root first."""
    names = [item.name for item in pkgutil.walk_packages(unmask.__path__, "unmask.") if "._" not in item.name]
    modules = [unmask, *map(importlib.import_module, names)]
    exported = {id(getattr(module, name)) for module in modules for name in getattr(module, "__all__", ())}
    return {
        module.__name__: [name for name in _names(module) if not inspect.ismodule(getattr(module, name))]
        for module in sorted(modules, key=lambda module: (module.__name__.count("."), module.__name__))
        if hasattr(module, "__all__") or id(module) in exported
    }


def _names(module: ModuleType) -> list[str]:
    """What a module exports; without `__all__`, what is defined in it and has no underscore."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (getattr(value, "__module__", "") == module.__name__ or isinstance(value, Measure))
    ]


def homes(modules: dict[str, list[str]]) -> dict[str, str]:
    """The place of every module and object, by each path that leads to it."""
    first: dict[tuple[str, int | str], str] = {}
    found = {module: module for module in modules}
    for module, names in modules.items():
        for name in names:
            value = getattr(sys.modules[module], name)
            same = ".".join(module.split(".")[:2]) if isinstance(value, int | float | str) else id(value)
            found[f"{module}.{name}"] = first.setdefault((name, same), f"{module}.{name}")
    return found


def write_pages(modules: dict[str, list[str]], place: dict[str, str]) -> None:
    """Write the source of every page anew, so that none is left of a module that is gone."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    (FOLDER / "index.rst").write_text(_index(modules), encoding="utf-8")
    for module, names in modules.items():
        text = "\n".join(_page(module, names, place, modules)) + "\n"
        (FOLDER / f"{module}.rst").write_text(text, encoding="utf-8")


def _index(modules: dict[str, list[str]]) -> str:
    tops = [module for module in modules if module.count(".") < 2 or module.rpartition(".")[0] not in modules]
    text = "Python reference\n================\n\n"
    for top in tops:
        summary = to_rst([(sys.modules[top].__doc__ or "").split("\n")[0]], {}.get)[0]
        text += f":doc:`{top}`\n    {summary}\n"
    return text + "\n.. toctree::\n   :hidden:\n\n" + "".join(f"   {top}\n" for top in tops)


def _page(module: str, names: list[str], place: dict[str, str], modules: dict[str, list[str]]) -> Iterator[str]:
    yield module
    yield "=" * len(module)
    yield f"\n.. automodule:: {module}\n"
    elsewhere = [place[f"{module}.{name}"] for name in names if place[f"{module}.{name}"] != f"{module}.{name}"]
    if elsewhere:
        yield "It also exports " + ", ".join(f":py:obj:`~{path}`" for path in elsewhere) + ".\n"
    for name in names:
        if place[f"{module}.{name}"] == f"{module}.{name}":
            yield from _directive(f"{module}.{name}", getattr(sys.modules[module], name), place)
    below = [other for other in modules if module != "unmask" and other.rpartition(".")[0] == module]
    if below:
        yield "\n.. toctree::\n\n" + "".join(f"   {other}\n" for other in below)


def _directive(path: str, value: Any, place: dict[str, str]) -> Iterator[str]:
    if inspect.isclass(value):
        yield f".. autoclass:: {path}\n   :members:\n   :special-members: __call__\n"
    elif inspect.isroutine(value):
        yield f".. autofunction:: {path}\n"
    else:  # its text stands below an assignment, which autodoc does not find from another module
        yield f".. py:data:: {path.rpartition('.')[2]}\n"
        for line in read_docstring(place, path, value, _doc_of_data(path.rpartition(".")[2], value)):
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


def read_docstring(place: dict[str, str], name: str, obj: Any, lines: list[str]) -> list[str]:
    """A docstring as reStructuredText; that there is none is a warning."""
    if not any(lines):
        logger.warning("%s has no docstring", name)
    return to_rst(lines, lambda code: _link(place, name, obj, code))


def _link(place: dict[str, str], name: str, obj: Any, code: str) -> str | None:
    """Code in a docstring as a link, where it names something public; a name of ours that leads nowhere warns."""
    if not re.fullmatch(r"\w+(\.\w+)*", code) or code in _parameters(obj):
        return None
    module = getattr(obj, "__module__", None) or "unmask"
    public = _public(place, name, module, code)
    if public and _leads_somewhere(public):
        return f":py:obj:`{code} <{public}>`"
    ours = public or re.match(r"unmask\.|[A-Z][a-z]", code)
    if ours and not any(_leads_somewhere(path) for path in (code, f"{module}.{code}", f"{name}.{code}")):
        logger.warning("%s names `%s`, which does not exist", name, code)
    return None


def _public(place: dict[str, str], name: str, module: str, code: str) -> str | None:
    """What may be meant in the docstring of `name`: something in it, beside it, in a package above, or by full path."""
    owner, _, member = code.rpartition(".")
    context = name
    while True:
        for thing, rest in ((code, ""), (owner, f".{member}")):
            path = f"{context}.{thing}".strip(".")
            if thing and path in place:
                return place[path] + rest
        if not context:
            break
        context = context.rpartition(".")[0]
    head, dot, rest = code.partition(".")
    found = class_named(place, module, head)
    return found + dot + rest if found else None


def class_named(place: dict[str, str], module: str, name: str) -> str | None:
    """A public class by its short name; where several have it, the one that the module means by it."""
    paths = {path for path in place.values() if name[0].isupper() and path.endswith(f".{name}")}
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
    """Text that stands in a signature without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def read_signature(place: dict[str, str], what: str, obj: Any) -> tuple[str, str]:
    """A signature with annotations as they are written, our public classes by their full path, which makes links."""

    def in_full(name: re.Match[str]) -> str:
        return class_named(place, obj.__module__, name[0]) or name[0]

    def written(annotation: Any) -> Any:
        text = getattr(annotation, "__forward_arg__", annotation)  # the first, of a named tuple
        return _AsWritten(re.sub(r"(?<![\w.'\"])[A-Z]\w+", in_full, text)) if isinstance(text, str) else annotation

    found = inspect.signature(obj)
    given = [
        item.replace(annotation=written(item.annotation), default=_default(item.default))
        for item in found.parameters.values()
    ]
    if what == "method" and given and given[0].name == "self":
        given = given[1:]
    bare = found.replace(parameters=given, return_annotation=inspect.Signature.empty)
    returned = found.return_annotation
    return str(bare), "" if returned in (inspect.Signature.empty, "None") or what == "class" else str(written(returned))


def _default(value: Any) -> Any:
    """A default as it may be parsed: a function by its name, what has no notation as an ellipsis."""
    if inspect.isroutine(value):
        return _AsWritten(value.__name__)
    return _AsWritten("...") if "<" in repr(value) and value is not inspect.Parameter.empty else value


def leave_other_names(_app: Sphinx, page: nodes.document) -> None:
    """Make a bare name in a signature text: it is no public class of ours, but Sphinx would guess one of that name."""
    for node in list(page.findall(addnodes.pending_xref)):
        if node["refdomain"] == "py" and "." not in node["reftarget"] and node["reftarget"] != "unmask":
            node.replace_self(nodes.Text(node["reftarget"]))


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    modules = public_modules()
    place = homes(modules)

    def docstring(_app: Sphinx, _what: str, name: str, obj: Any, _options: Any, lines: list[str]) -> None:
        lines[:] = read_docstring(place, name, obj, lines)

    def signature(_app: Sphinx, what: str, _name: str, obj: Any, _options: Any, given: str | None, _: Any) -> Any:
        return read_signature(place, what, obj) if given is not None else None

    def skip(_app: Sphinx, _what: str, _name: str, obj: Any, _skip: bool, _options: Any) -> bool | None:
        return True if (inspect.getdoc(obj) or "").startswith("Alias for field number") else None  # of a named tuple

    write_pages(modules, place)
    app.connect("doctree-read", leave_other_names)
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", docstring)
    app.connect("autodoc-process-signature", signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
