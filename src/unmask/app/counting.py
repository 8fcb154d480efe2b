"""The columns of a table, read and counted once, in the background where that takes a while."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unmask.app.jobs import Job
from unmask.app.project import COUNTED, Project
from unmask.core.errors import UnmaskError
from unmask.document import MEANINGS, READING

if TYPE_CHECKING:
    from unmask.app.shapes import Shape
    from unmask.facts import ColumnFacts
    from unmask.tables import Table


class Seen(NamedTuple):
    """What was counted in a table: its columns, drawn, the facts about them, and what was guessed while reading."""

    shapes: tuple[Shape, ...]
    facts: tuple[ColumnFacts, ...]
    notes: tuple[str, ...]


Key = tuple[str, int, int, str]
"""The path of a table, when it was changed, its bytes, and how it is read."""

_SEEN: dict[Key, Seen] = {}
"""The table that was counted last."""

SOON = 1.5
"""Seconds after which a page says that it is still counting."""

LARGE = 20_000_000
"""Bytes of a table from which on a process of its own counts it, and gives the memory back."""

OF_COLUMN = tuple(MEANINGS.values())
"""What is said of columns by their names."""

AT_ONCE = 5
"""Columns that are read together; all 40 of a table of a million rows take a quarter more memory, and no less time."""

GLANCED = 10_000
"""First rows of a large table that its cards are of until all rows are counted."""


def is_large(project: Project) -> bool:
    """Whether a table is counted by a process of its own."""
    return _key(project)[2] > LARGE


def seen(project: Project) -> Seen:
    """The table of a project, counted once as long as it is read the same way."""
    key = _key(project)
    if key not in _SEEN:
        if is_large(project):
            begin(project)
            project.jobs.wait("columns")
            _check(project)
        found = pickle.loads((project.folder / COUNTED).read_bytes()) if is_large(project) else _counted(*key)
        _SEEN.clear()
        _SEEN[key] = found
    return _SEEN[key]


def glance(project: Project) -> Seen:
    """The first rows of a large table, for as long as all of them are being counted; nothing of a small one."""
    return _glanced(*_key(project)) if is_large(project) else Seen((), (), ())


def counting(project: Project) -> Job | None:
    """The job that counts the columns, if it takes a while; an error where they cannot be read."""
    if _key(project) in _SEEN:
        return None
    begin(project)
    project.jobs.wait("columns", SOON)
    _check(project)
    job = project.jobs.find("columns")
    return job if job is not None and job.state == "running" else None


def begin(project: Project) -> None:
    """Start to count a table in the background, unless that was done or cannot be done."""
    key = _key(project)
    of, job = json.dumps(key), project.jobs.find("columns")
    if not is_large(project):
        project.jobs.call("columns", lambda: seen(project), of=of)
    elif job is None or job.of != of or job.state == "stopped":
        project.jobs.stop("columns")
        project.jobs.start("columns", [("count", of, COUNTED)], of=of)


def _check(project: Project) -> None:
    job = project.jobs.find("columns")
    if job is not None and job.state == "failed":
        raise UnmaskError(job.message)


def _key(project: Project) -> Key:
    assert project.file is not None
    table, at = project.table, project.file.stat()
    said = {key: table[key] for key in (*READING, *OF_COLUMN) if key in table and key != "person"}
    return str(project.file), at.st_mtime_ns, at.st_size, json.dumps(said)


def _counted(path: str, _changed: int, _size: int, reading: str) -> Seen:
    from unmask.tables.reading import AS_TEXT, column_names

    said = json.loads(reading)
    names = column_names(path, **{key: said[key] for key in AS_TEXT if key in said})
    return _seen(path, names, said, ladder=True)


@lru_cache(maxsize=1)
def _glanced(path: str, _changed: int, _size: int, reading: str) -> Seen:
    from unmask.tables.reading import AS_TEXT, first_rows

    said = json.loads(reading)
    as_text = {key: said.pop(key) for key in AS_TEXT if key in said}
    first = first_rows(path, GLANCED, **as_text).columns
    cells = {name: [one.texts[code] for code in one.codes.tolist()] for name, one in first.items()}
    return _seen(cells, list(cells), said, ladder=False)


def _seen(source: object, names: Sequence[str], said: Mapping[str, Any], *, ladder: bool) -> Seen:
    from unmask.app.shapes import Shape
    from unmask.tables.risk import column_facts

    read = [_read(source, names[start : start + AT_ONCE], said) for start in range(0, len(names), AT_ONCE)]
    columns = [column for table in read for column in table.written]
    notes = dict.fromkeys(note for table in read for note in table.notes)
    shapes = tuple(Shape.of(column, ladder=ladder) for column in columns)
    return Seen(shapes, column_facts(columns, roles={}), tuple(notes))


def _read(source: object, names: Sequence[str], said: Mapping[str, Any]) -> Table:
    """Some columns, with what is said of them."""
    from unmask.tables import Table

    mine = {key: said[key] for key in OF_COLUMN if key in said}
    of_columns = {key: {name: one for name, one in given.items() if name in names} for key, given in mine.items()}
    return Table.read(source, quasi_identifiers=names, **{**said, **of_columns})


def count(key: str, output: str) -> None:
    """Count a table and write what was seen; the work of a process of its own. key : as JSON"""
    try:
        Path(output).write_bytes(pickle.dumps(_counted(*json.loads(key))))
    except UnmaskError as error:
        sys.exit(f"Error: {error}")
