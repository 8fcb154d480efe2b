"""A page for each attack and protection that `unmask list` names, made from its docstring while the site is built:
idea, what it assumes, when it fails, an example that runs, the source.
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
from docs.python_reference import class_named, homes, public_modules, read_docstring
from unmask.catalog import examples, sentence
from unmask.domains import DOMAINS

FOLDER = Path(__file__).parent / "catalog"

DOMAIN_WORDS = {
    "tables": "tables",
    "linkage": "items under pseudonyms",
    "channels": "channels",
    "graphs": "networks",
}

PICTURES = {
    ("attacks", "tables"): ("chart-success", "How often attacks on a table are right, beside guessing"),
    ("attacks", "linkage"): (
        "chart-breached",
        "People whom attacks breach, by the share of items linked",
    ),
    ("attacks", "channels"): ("chart-observations", "How far off an attack is, over what it observes"),
    ("attacks", "graphs"): (
        "chart-leaked",
        "People whom attacks re-identify, by the identities that leaked",
    ),
    ("protections", "tables"): ("chart-plane", "What protections of a table keep, and what adversaries still reach"),
    ("protections", "linkage"): ("chart-merges", "What of others is mixed in, as an adversary joins clusters"),
    ("protections", "channels"): ("chart-distortion", "What protections of a channel leave, and what they cost"),
    ("protections", "graphs"): ("chart-edges", "People of a network who are still re-identified, by their edges"),
}
"""Kind and domain -> the chart by which an audit or a study judges it, and what the chart shows."""

OPENINGS = {"assumes": "Assumes:", "fails": "Fails when:"}
SECTIONS = {"Parameters": "parameters", "References": "source", "Examples": "example"}
"""Section of a numpydoc docstring -> part of the page. All other sections belong to the idea."""


class Entry(NamedTuple):
    """The parts of a page, as lines of a docstring; those that it lacks are empty."""

    idea: list[str]
    assumes: list[str]
    fails: list[str]
    example: list[str]
    source: list[str]
    parameters: list[str]


def read_entry(kind: type) -> Entry:
    """A docstring by its parts: "Assumes:" and "Fails when:" begin theirs, and numpydoc sections are those of
    `SECTIONS`. Without sections, what stands behind the last example is the source, and blocks that begin with a field
    and a colon are the parameters. The rest is the idea.
    """
    blocks = [block.split("\n") for block in (inspect.getdoc(kind) or "").split("\n\n")]
    last = max((place for place, block in enumerate(blocks) if block[0].startswith(">>>")), default=len(blocks))
    parts = Entry([], [], [], [], [], [])
    section = ""
    for place, block in enumerate(blocks):
        if len(block) > 1 and set(block[1]) == {"-"}:
            section, line, *block = block
            if section == "Parameters":
                parts.parameters.extend([section, line])
        first, *others = block
        after = place > last and not section
        name = SECTIONS.get(section) or ("source" if after else _part(first, kind))
        blank = [] if name == section.lower() else [""]
        getattr(parts, name).extend([*blank, first.removeprefix(OPENINGS.get(name, "")).strip(), *others])
    return parts


def _part(first: str, kind: type) -> str:
    """Which part a block begins, by its first line."""
    if first.startswith(">>>"):
        return "example"
    named = first.partition(" : ")[0].split(",")[0].strip()
    if " : " in first and named in {field.name for field in fields(kind)}:
        return "parameters"
    return next((name for name, opening in OPENINGS.items() if first.startswith(opening)), "idea")


def imports(example: list[str], kind: type, place: dict[str, str]) -> list[str]:
    """What an example needs in a new Python: a docstring runs among the names of its module, a copy of it does not."""
    nodes = list(ast.walk(ast.parse("\n".join(line[4:] for line in example if line.startswith((">>> ", "... "))))))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    made |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    needed: dict[str, list[str]] = {}
    for name in sorted({node.id for node in names} - made - set(dir(builtins))):
        value = getattr(sys.modules[kind.__module__], name)
        home = class_named(place, kind.__module__, name) or f"{getattr(value, '__module__', '')}.{name}"
        needed.setdefault("" if inspect.ismodule(value) else home.rpartition(".")[0], []).append(name)
    modules = [f">>> import numpy as {name}" for name in needed.pop("", [])]
    return modules + [f">>> from {module} import {', '.join(those)}" for module, those in sorted(needed.items())]


def write_pages(place: dict[str, str]) -> None:
    """Write the source of every page anew, so that none is left of what is gone."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    (FOLDER / "index.rst").write_text("\n".join(_index()), encoding="utf-8")
    for kind in ("attacks", "protections"):
        for name, one in examples(kind).items():
            (FOLDER / f"{name}.rst").write_text("\n".join(_page(name, one, kind, place)), encoding="utf-8")


def _index() -> Iterator[str]:
    yield from _title("Attacks and protections", "=")
    law = "An attack turns a release, and what is known already, into beliefs about its targets"
    yield from (".. image:: ../pictures/law.svg", f"   :alt: {law}", "")
    yield "Idea, assumptions, limits, an example and the source of each; ``unmask list`` prints the same names."
    for kind in ("attacks", "protections"):
        for domain, words in DOMAIN_WORDS.items():
            names = {name: one for name, one in examples(kind).items() if name.startswith(f"{domain}.")}
            yield from _title(f"{kind.capitalize()} {'on' if kind == 'attacks' else 'of'} {words}", "-")
            for name, one in names.items():
                yield from (f":doc:`{name.partition('.')[2]} <{name}>`", f"    {_plain(sentence(one))}")
            yield from (
                "",
                ".. toctree::",
                "   :hidden:",
                "",
                *(f"   {name.partition('.')[2]} <{name}>" for name in names),
            )


def _page(name: str, one: object, kind: str, place: dict[str, str]) -> Iterator[str]:
    domain, _, short = name.partition(".")
    path = f"{DOMAINS[domain].packages[0]}.{short}"
    entry = read_entry(type(one))

    def part(lines: list[str]) -> list[str]:
        return read_docstring(place, path, type(one), lines)

    yield from _title(name, "=")
    what = "An attack on" if kind == "attacks" else "A protection of"
    yield f'{what} {DOMAIN_WORDS[domain]}. In plans ``use = "{name}"``, in Python :py:class:`{path}`.'
    picture, shows = PICTURES[kind, domain]
    yield from ("", f".. figure:: ../pictures/{picture}.webp", f"   :alt: {shows}", "")
    yield from (f"   {shows}: the chart by which it is judged; the :doc:`gallery </gallery>` says how to read it.", "")
    for heading, lines in (("Idea", entry.idea), ("Assumes", _sentence(entry.assumes)),
                           ("Fails when", _sentence(entry.fails))):  # fmt: skip
        yield from (*_title(heading, "-"), *part(lines))
    yield from (*_title("Example", "-"), ".. code-block:: pycon", "")
    yield from (f"   {line}" for line in [*imports(entry.example, type(one), place), *entry.example[1:]])
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
    """Called by Sphinx."""
    write_pages(homes(public_modules()))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
