"""The columns of a table, read and counted once, in the background where that takes a while."""

from __future__ import annotations

import json
from typing import NamedTuple

from unmask.app.jobs import Job
from unmask.app.project import Project
from unmask.document import READING
from unmask.errors import UnmaskError
from unmask.facts import ColumnFacts
from unmask.tables.column import Column


class Seen(NamedTuple):
    """What was counted in a table: its columns, the facts about them, and what was guessed while reading."""

    columns: tuple[Column, ...]
    facts: tuple[ColumnFacts, ...]
    notes: tuple[str, ...]


def seen(project: Project) -> Seen:
    """The table of a project, counted once as long as it is read the same way."""
    key = _key(project)
    if key not in _SEEN:
        found = _counted(*key)
        _SEEN.clear()
        _SEEN[key] = found
    return _SEEN[key]


_SEEN: dict[tuple[str, int, int, str], Seen] = {}
"""The table that was counted last."""

SOON = 1.5
"""Seconds after which a page says that it is still counting."""


def _key(project: Project) -> tuple[str, int, int, str]:
    assert project.file is not None
    table, at = project.table, project.file.stat()
    said = {key: table[key] for key in (*READING, "types", "orders", "hierarchies") if key in table}
    return str(project.file), at.st_mtime_ns, at.st_size, json.dumps(said)


def _counted(path: str, _changed: int, _size: int, reading: str) -> Seen:
    from unmask.tables import Table
    from unmask.tables.exposure import column_facts
    from unmask.tables.reading import column_names

    said = json.loads(reading)
    names = column_names(path, **{key: said[key] for key in ("delimiter", "encoding") if key in said})
    table = Table.read(path, quasi_identifiers=names, **said)
    return Seen(table.written, column_facts(table.written, roles={}), table.notes)


def counting(project: Project) -> Job | None:
    """The job that counts the columns, if it takes a while; an error where they cannot be read."""
    key = _key(project)
    if key in _SEEN:
        return None
    project.jobs.call("columns", lambda: seen(project), of=json.dumps(key))
    project.jobs.wait("columns", SOON)
    job = project.jobs.find("columns")
    if job is not None and job.state == "failed":
        raise UnmaskError(job.message)
    return job if key not in _SEEN else None
