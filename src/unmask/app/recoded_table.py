"""Quasi-identifiers of a table with their values as texts, and the people who are unique at a level of a hierarchy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from unmask.app.column_shapes import Level
from unmask.app.project import Project
from unmask.core.errors import UnmaskError
from unmask.document import MEANINGS, group_by_role, list_reading_keys
from unmask.tables import Hierarchy, Table
from unmask.tables.cells import plain_levels
from unmask.tables.column import Column
from unmask.tables.criteria.evaluation import Frame
from unmask.tables.protections.recoding import generalize
from unmask.tables.survey_design import NO_DESIGN

NOT_READ = ("cells", "weight", *NO_DESIGN)
"""Parameters of `Table.read` that the preview does not need."""


class Source(NamedTuple):
    """A table whose columns with a hierarchy are texts, and the edited column as text and with its own type."""

    table: Table
    values: Column
    typed: Column


class Preview(NamedTuple):
    """People of a recoded table.

    k           : people in the smallest class
    unique      : people in a class of their own
    unique_with : cell of the edited column -> such people
    """

    k: int
    unique: int
    unique_with: Mapping[str, int]


def read_source(project: Project, name: str) -> Source:
    """Read the quasi-identifiers; `name` is the edited one."""
    assert project.file is not None
    table = project.table
    quasi = group_by_role(project.document.get("columns", {})).get("quasi_identifiers", [])
    if name not in quasi:
        raise UnmaskError("there is no quasi-identifier with this name; choose one in step 2, Roles")
    options = {key: table[key] for key in list_reading_keys() if key in table and key not in NOT_READ}
    meanings = {key: dict(table.get(key, {})) for key in MEANINGS.values()}
    as_text = sorted({name, *meanings.pop("hierarchies")} & {*quasi})
    path = project.file
    return _read_source(str(path), path.stat().st_mtime_ns, json.dumps([quasi, as_text, name, options, meanings]))


@lru_cache(maxsize=1)
def _read_source(path: str, _time: int, key: str) -> Source:
    quasi, as_text, name, options, meanings = json.loads(key)
    hints: dict[str, Any] = {key: {name: of_column[name]} for key, of_column in meanings.items() if name in of_column}
    typed = Table.read(path, quasi_identifiers=[name], **{**options, **hints, "person": None})
    others: dict[str, Any] = {
        key: {c: v for c, v in by.items() if c in quasi and c not in as_text} for key, by in meanings.items()
    }
    others["types"] |= dict.fromkeys(as_text, "text")
    table = Table.read(path, quasi_identifiers=quasi, **options, **others)
    values = next(column for column in table.quasi_identifiers if column.name == name)
    return Source(table, values, typed.quasi_identifiers[0])


def preview(source: Source, hierarchies: Mapping[str, Hierarchy], levels: Mapping[str, Level | None]) -> Preview:
    """Return the people who are unique, and the smallest class, with each column at its level."""
    typed = {source.typed.name: source.typed} if source.typed.name not in hierarchies else {}
    columns = [
        _recode(typed.get(column.name, column), hierarchies.get(column.name), levels.get(column.name))
        for column in source.table.quasi_identifiers
    ]
    frame = Frame.of(replace(source.table, quasi_identifiers=tuple(columns)))
    sizes, classes, person = frame.sizes, frame.table.classes, frame.table.person
    if frame.table.people is not None:
        people = frame.table.people if frame.relation is None else frame.relation.sums(frame.table.people)
        sizes = np.diff(people.indptr)
    rows = np.flatnonzero(sizes[classes.of_row] == 1)
    column = frame.table.column(source.values.name)
    if person is not None:  # one of the rows of a person with each cell
        rows = rows[np.unique(column.codes[rows] * (person.max() + 1) + person[rows], return_index=True)[1]]
    counts = np.bincount(column.codes[rows], minlength=len(column.levels)).tolist()
    unique = len(rows) if person is None else len(np.unique(person[rows]))
    return Preview(int(sizes.min()), unique, dict(zip(column.levels.labels, counts, strict=True)))


def _recode(column: Column, hierarchy: Hierarchy | None, level: Level | None) -> Column:
    if level is None:
        return column
    if hierarchy is None or not isinstance(level, int):
        return generalize(column, level)
    if level >= hierarchy.levels:
        raise UnmaskError(f"level {level} of column {column.name!r} is not in its hierarchy; choose another level")
    groups = dict(zip(hierarchy.leaves, hierarchy.ancestor[level], strict=True))
    levels, codes = plain_levels([groups.get(label, label) or None for label in column.levels.labels])
    return replace(column, levels=levels, codes=codes[column.codes])


def read_hierarchies(project: Project) -> dict[str, Hierarchy]:
    """Return the hierarchy of each quasi-identifier that has one."""
    quasi = group_by_role(project.document["columns"]).get("quasi_identifiers", [])
    paths: Mapping[str, Any] = project.table.get("hierarchies", {})
    return {name: Hierarchy.read(path) for name, path in paths.items() if name in quasi}
