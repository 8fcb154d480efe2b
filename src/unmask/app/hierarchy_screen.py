"""Hierarchy of a quasi-identifier, a part of step 2: automatic groups, edits, the people left unique, ARX's CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from unmask.app.column_shapes import list_widths
from unmask.app.fields import is_upload, read_index, read_list, read_number
from unmask.app.jobs import format_command
from unmask.app.project import Project
from unmask.app.recoded_table import Preview, Source, preview, read_hierarchies, read_source
from unmask.app.table_workflow import get_levels, with_protection
from unmask.core.errors import UnmaskError
from unmask.tables import Hierarchy
from unmask.tables import hierarchy_editing as editing
from unmask.tables.column import Column
from unmask.toml_text import DOCUMENT

MAX_NODES = 1_000
"""Nodes of a level that can be moved on the screen."""

MIN_GROUP_ROWS = 12
"""Rows of an automatic group, by default."""

STARTS = {
    "intervals": "intervals of numbers",
    "parts": "first characters",
    "alone": "each value alone, to be moved by hand",
    "alphabetical": "neighbors in the alphabet",
    "rare": "rare values together",
}
"""Automatic hierarchy -> its label."""


class LevelCard(NamedTuple):
    """A level of the ladder. people : with the other columns at their level"""

    number: int
    n_nodes: int
    people: Preview
    is_finest: bool


class Group(NamedTuple):
    """A group of the next level.

    n_unique : people with the group who are unique
    nodes    : index, label and rows of each
    is_alone : True for a node without a group
    """

    number: int
    name: str
    n_rows: int
    n_unique: int
    nodes: tuple[tuple[int, str, int], ...]
    is_alone: bool


def address(name: str, level: int = 0) -> str:
    """Return the address of the editor of a column. level : of the nodes that are moved"""
    return f"roles?column={quote(name, safe='')}" + (f"&level={level}#groups" if level else "")


def show(project: Project, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the ladder of a column, and the groups of one level."""
    name = query["column"]
    source, hierarchies = read_source(project, name), read_hierarchies(project)
    hierarchy, levels = hierarchies.get(name), get_levels(project.document)
    steps = range(1 if hierarchy is None else hierarchy.levels)
    cards = [_show_level(step, source, hierarchies, levels, name) for step in steps]
    level = read_index(query.get("level"), steps[:-1]) or 0
    groups = [] if hierarchy is None else _list_groups(hierarchy, level, source.values, cards[level + 1].people)
    narrowest = list_widths(source.typed)[:1] if source.typed.type == "number" else []
    return {
        "template": "hierarchy",
        "column": name,
        "file": project.document["columns"][name]["hierarchy"] if hierarchy else "",
        "type": source.typed.type,
        "starts": _list_starts(source.typed),
        "widths": " ".join(f"{width * n:g}" for width in narrowest for n in (1, 5, 10)),
        "size": MIN_GROUP_ROWS,
        "cards": cards,
        "level": level,
        "groups": [group for group in groups if not group.is_alone],
        "alone": [group for group in groups if group.is_alone],
        "too_many": MAX_NODES if sum(len(group.nodes) for group in groups) > MAX_NODES else 0,
        "only_nodes": project.document["data"].get("cells") == "nodes",
        "commands": (format_command(["protect", DOCUMENT, "-o", "release.csv"]),),
    }


def _list_starts(typed: Column) -> dict[str, str]:
    """Return the automatic hierarchies that fit the type of a column."""
    is_date, is_code = typed.type in ("date", "datetime"), typed.type == "code" and typed.levels.by_prefix
    unfit = {"intervals"} if typed.type != "number" else set()
    unfit |= {"parts"} if not (is_date or is_code) else set()
    starts = {**STARTS, "parts": "months, years and decades"} if is_date else STARTS
    return {key: label for key, label in starts.items() if key not in unfit}


def _show_level(
    step: int, source: Source, hierarchies: Mapping[str, Hierarchy], levels: Mapping[str, Any], name: str
) -> LevelCard:
    hierarchy = hierarchies.get(name)
    people = preview(source, hierarchies, {**levels, name: step if hierarchy else None})
    n_nodes = len(set(hierarchy.ancestor[step])) if hierarchy else int((source.values.counts > 0).sum())
    return LevelCard(step, n_nodes, people, levels.get(name, 0) == step)


def _list_groups(hierarchy: Hierarchy, level: int, values: Column, people: Preview) -> list[Group]:
    """Return the groups above a level with their nodes, in file order."""
    rows_of_leaf = dict(zip(values.levels.labels, values.counts.tolist(), strict=True))
    groups: dict[str, dict[str, int]] = {}
    for leaf, node, group in zip(hierarchy.leaves, *hierarchy.ancestor[level : level + 2], strict=True):
        nodes = groups.setdefault(group, {})
        nodes[node] = nodes.get(node, 0) + rows_of_leaf.get(leaf, 0)
    index = {node: position for position, node in enumerate(_list_nodes(hierarchy, level))}
    return [
        Group(
            position,
            name,
            sum(nodes.values()),
            people.unique_with.get(name, 0),
            tuple((index[node], node, rows) for node, rows in nodes.items()),
            {*nodes} == {name},
        )
        for position, (name, nodes) in enumerate(groups.items())
    ]


def _list_nodes(hierarchy: Hierarchy, level: int) -> list[str]:
    return list(dict.fromkeys(hierarchy.ancestor[level]))


# --- forms ------------------------------------------------------------------------------------------------------------


def submit(project: Project, form: Mapping[str, Any]) -> str:
    """Make, change or remove the hierarchy of a column."""
    name, action = str(form["column"]), str(form.get("do", ""))
    source, hierarchy = read_source(project, name), read_hierarchies(project).get(name)
    level = read_index(form.get("level"), hierarchy.ancestor[:-1] if hierarchy else ()) or 0
    if action == "start":
        _save(project, name, _start(source, form), finest=None)
    elif action == "import":
        _import(project, name, source, form)
    elif action == "remove":
        _save(project, name, None, finest=None)
    elif hierarchy is None:
        raise UnmaskError("the column has no hierarchy; choose an automatic one, or import a file")
    else:
        changed, finest, level = _edit(hierarchy, level, action, form, get_levels(project.document).get(name))
        only_nodes = bool(form.get("only-nodes")) if action == "finest" else None
        _save(project, name, changed, finest=finest, only_nodes=only_nodes)
    return address(name, level if action in ("move", "rename", "add", "drop") else 0)


def _edit(
    hierarchy: Hierarchy, level: int, action: str, form: Mapping[str, Any], finest: Any
) -> tuple[Hierarchy, Any, int]:
    """Return the changed hierarchy, the finest released level, and the level that the screen shows."""
    if action == "finest":
        selected = read_index(form.get("finest"), hierarchy.ancestor)
        return hierarchy, selected or None, 0
    renamed = _rename(hierarchy, level + 1, form)
    if action == "move":
        is_named_only = renamed != hierarchy and not read_list(form, "node")  # Enter in the box of a name
        return renamed if is_named_only else _move(renamed, level, form), finest, level
    number = finest if isinstance(finest, int) else 0
    if action == "add":
        return editing.add_level(renamed, level + 1), number + (number > level + 1) or None, level + 1
    if action == "drop":
        return editing.remove_level(renamed, level + 1), number - (number > level) or None, max(level - 1, 0)
    return renamed, finest, level


def _rename(hierarchy: Hierarchy, level: int, form: Mapping[str, Any]) -> Hierarchy:
    """Return the hierarchy with the names of groups that a form has."""
    typed = {group: form.get(f"name-{index}") for index, group in enumerate(_list_nodes(hierarchy, level))}
    names = {group: str(name).strip() for group, name in typed.items() if name not in (None, group)}
    return editing.rename_groups(hierarchy, level, names) if names else hierarchy


def _move(hierarchy: Hierarchy, level: int, form: Mapping[str, Any]) -> Hierarchy:
    """Return the hierarchy with the selected nodes in the selected group."""
    nodes, groups = _list_nodes(hierarchy, level), _list_nodes(hierarchy, level + 1)
    selected = [nodes[index] for text in read_list(form, "node") if (index := read_index(text, nodes)) is not None]
    target, name = form.get("group"), str(form.get("new", "")).strip()
    if target == "alone":
        return editing.move_nodes(hierarchy, level, selected, "")
    index = read_index(target, groups)
    return editing.move_nodes(hierarchy, level, selected, (name or None) if index is None else groups[index])


def _start(source: Source, form: Mapping[str, Any]) -> Hierarchy:
    """Return an automatic hierarchy."""
    start = str(form.get("start", ""))
    size = int(read_number(form, "size", "rows of a group", int) or MIN_GROUP_ROWS)
    if start == "intervals":
        return editing.start_intervals(
            source.values, source.typed, widths=_read_numbers(form, "widths"),
            origin=next(iter(_read_numbers(form, "origin")), 0.0),
            bottom=next(iter(_read_numbers(form, "bottom")), None), top=next(iter(_read_numbers(form, "top")), None),
        )  # fmt: skip
    if start == "parts":
        return editing.start_parts(source.values, source.typed)
    if start in ("alphabetical", "rare"):
        make = editing.start_alphabetical if start == "alphabetical" else editing.start_rare
        return make(source.values, size=size)
    return editing.start_alone(source.values)


def _read_numbers(form: Mapping[str, Any], name: str) -> list[float]:
    """Return the finite numbers of a box."""
    try:
        numbers = [float(text) for text in str(form.get(name, "")).split()]
    except ValueError:
        numbers = [math.nan]
    if not all(map(math.isfinite, numbers)):
        raise UnmaskError(f"{name} of the intervals: expected numbers, such as 5 or 2.5, separated by spaces")
    return numbers


def _import(project: Project, name: str, source: Source, form: Mapping[str, Any]) -> None:
    """Read a sent file, and store it if it has every value of the column."""
    upload = form.get("file")
    if not is_upload(upload):
        raise UnmaskError("no file was chosen; choose a CSV with one line for each value")
    path = project.folder / project.store_upload(upload)
    try:
        hierarchy = Hierarchy.read(path)
    finally:
        path.unlink()
    labels = [label for label in source.values.levels.labels if label not in ("", "*")]
    if missing := len({*labels} - {*hierarchy.nodes}):
        raise UnmaskError(f"{missing} of {len(labels)} values of the column are not in the file; add a line for each")
    _save(project, name, hierarchy, finest=None)


def _save(
    project: Project, name: str, hierarchy: Hierarchy | None, *, finest: int | None, only_nodes: bool | None = None
) -> None:
    """Store a hierarchy and name its file in the document; None removes it.

    only_nodes : whether a release has groups of hierarchies only, not other sets; None for no change, True at first
    """
    document = project.document
    column = document["columns"][name]
    settings = dict(column) if isinstance(column, dict) else {"role": column}
    file = settings.pop("hierarchy", "")
    is_set = document["data"].get("cells") == "nodes" if file else True
    if hierarchy is None:
        project.delete(*filter(None, [file]))
        only_nodes = is_set and len(project.hierarchies) > 1
    else:
        if not file or (project.folder / file).is_symlink():
            file = project.reserve_path(f"{name}-hierarchy.csv").name
        hierarchy.write(project.folder / file)
        settings = {key: value for key, value in settings.items() if key != "type"} | {"hierarchy": file}
    document["columns"][name] = settings["role"] if settings.keys() == {"role"} else settings
    cells = {"cells": "nodes"} if (is_set if only_nodes is None else only_nodes) else {}
    document["data"] = {key: value for key, value in document["data"].items() if key != "cells"} | cells
    project.save(with_protection(document, levels={**get_levels(document), name: finest}))
