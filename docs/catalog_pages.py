"""Pages of all attacks and protections of `unmask list`, made from their docstrings while the site is built.

A page has the idea, assumptions, limits, an example that runs, and the source.
"""

import ast
import builtins
import inspect
import shutil
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

from sphinx.application import Sphinx

from docs.docstrings import to_rst
from docs.python_reference import find_class, find_homes, public_modules, read_docstring
from unmask.catalog import examples, sentence
from unmask.domains import DOMAINS

FOLDER = Path(__file__).parent / "catalog"

DOMAIN_WORDS = {
    "tables": "tables",
    "linkage": "items under pseudonyms",
    "channels": "channels",
    "graphs": "networks",
    "aggregates": "published tables of counts",
}

PICTURES = {
    ("attacks", "tables"): ("chart-success", "Success of attacks on a table, compared with guessing"),
    ("attacks", "linkage"): (
        "chart-breached",
        "People breached by attacks, by the share of items linked",
    ),
    ("attacks", "channels"): ("chart-observations", "Error of an attack, over observations"),
    ("attacks", "graphs"): (
        "chart-leaked",
        "People re-identified by attacks, by leaked identities",
    ),
    ("attacks", "aggregates"): (
        "chart-reconstructed",
        "Records reconstructed from published tables, by people of an area",
    ),
    ("protections", "aggregates"): (
        "chart-reconstructed",
        "Records reconstructed from published tables without protection",
    ),
    ("protections", "tables"): ("chart-plane", "Utility of protections of a table, and success of adversaries"),
    ("protections", "linkage"): ("chart-merges", "Foreign items mixed in, as an adversary merges clusters"),
    ("protections", "channels"): ("chart-distortion", "Privacy and cost of protections of a channel"),
    ("protections", "graphs"): ("chart-edges", "People of a network who are re-identified, by their edges"),
}
"""Kind and domain -> the chart of an audit or a study, and its caption."""

OPENINGS = {"assumes": "Assumes:", "fails": "Fails when:"}
SECTIONS = {"Parameters": "parameters", "References": "source", "Examples": "example"}
"""Section of a numpydoc docstring -> part of the page. All other sections belong to the idea."""


class Entry(NamedTuple):
    """Parts of a page as lines of a docstring. Missing parts are empty."""

    idea: list[str]
    assumes: list[str]
    fails: list[str]
    example: list[str]
    source: list[str]
    parameters: list[str]


def read_entry(kind: type) -> Entry:
    """Return the parts of a docstring.

    "Assumes:" and "Fails when:" begin parts, and so do the numpydoc sections of `SECTIONS`. Without sections, text
    after the last example is the source, and blocks that begin with a field and a colon are parameters. Other text is
    the idea.
    """
    blocks = [block.split("\n") for block in (inspect.getdoc(kind) or "").split("\n\n")]
    last = max((position for position, block in enumerate(blocks) if block[0].startswith(">>>")), default=len(blocks))
    parts = Entry([], [], [], [], [], [])
    section = ""
    for position, block in enumerate(blocks):
        if len(block) > 1 and set(block[1]) == {"-"}:
            section, line, *block = block
            if section == "Parameters":
                parts.parameters.extend([section, line])
        first, *lines = block
        is_source = position > last and not section
        name = SECTIONS.get(section) or ("source" if is_source else _part_name(first, kind))
        blank = [] if name == section.lower() else [""]
        getattr(parts, name).extend([*blank, first.removeprefix(OPENINGS.get(name, "")).strip(), *lines])
    return parts


def _part_name(first: str, kind: type) -> str:
    """Return the part that a block begins, by its first line."""
    if first.startswith(">>>"):
        return "example"
    name = first.partition(" : ")[0].split(",")[0].strip()
    if " : " in first and name in {field.name for field in fields(kind)}:
        return "parameters"
    return next((name for name, opening in OPENINGS.items() if first.startswith(opening)), "idea")


def imports(example: list[str], kind: type, homes: dict[str, str]) -> list[str]:
    """Return the imports that an example needs outside the module of its docstring."""
    nodes = list(ast.walk(ast.parse("\n".join(line[4:] for line in example if line.startswith((">>> ", "... "))))))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    assigned = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    assigned |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    needed: dict[str, list[str]] = {}
    for name in sorted({node.id for node in names} - assigned - set(dir(builtins))):
        value = getattr(sys.modules[kind.__module__], name)
        home = find_class(homes, kind.__module__, name) or f"{getattr(value, '__module__', '')}.{name}"
        needed.setdefault("" if inspect.ismodule(value) else home.rpartition(".")[0], []).append(name)
    modules = [f">>> import numpy as {name}" for name in needed.pop("", [])]
    return modules + [f">>> from {module} import {', '.join(names)}" for module, names in sorted(needed.items())]


def write_pages(homes: dict[str, str]) -> None:
    """Write the source of every page, after removing all old pages."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    (FOLDER / "index.rst").write_text("\n".join(_index()), encoding="utf-8")
    for kind in ("attacks", "protections"):
        for name, example in examples(kind).items():
            (FOLDER / f"{name}.rst").write_text("\n".join(_page(name, example, kind, homes)), encoding="utf-8")


def _index() -> Iterator[str]:
    yield from _title("Attacks and protections", "=")
    law = "An attack turns a release and the adversary's knowledge into beliefs about targets"
    yield from (".. image:: ../pictures/law.svg", f"   :alt: {law}", "")
    yield "Idea, assumptions, limits, an example and the source of each. ``unmask list`` prints the same names."
    for kind in ("attacks", "protections"):
        for domain, words in DOMAIN_WORDS.items():
            names = {name: example for name, example in examples(kind).items() if name.startswith(f"{domain}.")}
            yield from _title(f"{kind.capitalize()} {'on' if kind == 'attacks' else 'of'} {words}", "-")
            for name, example in names.items():
                yield from (f":doc:`{name.partition('.')[2]} <{name}>`", f"    {_plain(sentence(example))}")
            yield from (
                "",
                ".. toctree::",
                "   :hidden:",
                "",
                *(f"   {name.partition('.')[2]} <{name}>" for name in names),
            )


def _page(name: str, example: object, kind: str, homes: dict[str, str]) -> Iterator[str]:
    domain, _, short = name.partition(".")
    path = f"{DOMAINS[domain].packages[0]}.{short}"
    entry = read_entry(type(example))

    def part(lines: list[str]) -> list[str]:
        return read_docstring(homes, path, type(example), lines)

    yield from _title(name, "=")
    role = "An attack on" if kind == "attacks" else "A protection of"
    yield f'{role} {DOMAIN_WORDS[domain]}. In plans ``use = "{name}"``, in Python :py:class:`{path}`.'
    if (kind, domain) in PICTURES:
        picture, caption = PICTURES[kind, domain]
        yield from ("", f".. figure:: ../pictures/{picture}.webp", f"   :alt: {caption}", "")
        yield from (f"   {caption}. The :doc:`gallery </gallery>` explains this chart.", "")
    for heading, lines in (("Idea", entry.idea), ("Assumes", _sentence(entry.assumes)),
                           ("Fails when", _sentence(entry.fails))):  # fmt: skip
        yield from (*_title(heading, "-"), *part(lines))
    yield from (*_title("Example", "-"), ".. code-block:: pycon", "")
    yield from (f"   {line}" for line in [*imports(entry.example, type(example), homes), *entry.example[1:]])
    yield from (*_title("Source", "-"), *part(entry.source))
    if entry.parameters:
        title = () if entry.parameters[0] == "Parameters" else _title("Parameters", "-")
        yield from (*title, "", *part(entry.parameters))


def _sentence(lines: list[str]) -> list[str]:
    return [lines[0], lines[1][:1].upper() + lines[1][1:], *lines[2:]] if len(lines) > 1 else lines


def _title(text: str, line: str) -> tuple[str, ...]:
    return ("", text, line * len(text), "")


def _plain(text: str) -> str:
    return " ".join(to_rst([text], {}.get)).strip()


def setup(_app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx reads its sources."""
    write_pages(find_homes(public_modules()))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
