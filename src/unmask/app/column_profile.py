"""Profile of a table: shapes of its columns and facts about them, counted once, for a large table in a process."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unmask.app.jobs import Job
from unmask.app.project import PROFILE, Project
from unmask.core.errors import UnmaskError
from unmask.document import MEANINGS, list_reading_keys
from unmask.tables.survey_design import NO_DESIGN

if TYPE_CHECKING:
    from unmask.app.column_shapes import Shape
    from unmask.facts import ColumnFacts
    from unmask.tables import Table


class Profile(NamedTuple):
    """Shapes of the columns of a table, and facts about them."""

    shapes: tuple[Shape, ...]
    facts: tuple[ColumnFacts, ...]


Key = tuple[str, int, int, str]
"""Path of a table, time of the last change of it or a hierarchy, its bytes, and the options of its reader."""

JOB = "columns"

PATIENCE_SECONDS = 1.5
"""Seconds for which a page waits for the columns before it shows progress."""

LARGE_BYTES = 500_000
"""Bytes from which on a process counts a table, reports progress, and returns its memory."""

COLUMNS_AT_ONCE = 5
"""Columns that are read together; all 40 of a table of a million rows take a quarter more memory, and no less time."""

MEANING_KEYS = tuple(MEANINGS.values())
"""Parameters of `Table.read` that are by column."""


def count_columns(project: Project) -> Profile:
    """Return the profile of the table; wait until it is counted."""
    key = _key(project)
    if not _is_large(key):
        return _count(key)
    start_counting(project)
    project.jobs.wait(JOB)
    _raise_failure(project)
    return _load(project.folder / PROFILE, key)


def start_counting(project: Project) -> None:
    """Start to count a large table in the background, unless that is done or has failed."""
    key = _key(project)
    digest = json.dumps(key)
    job = project.jobs.find_current(JOB, digest) if _is_large(key) else None
    if _is_large(key) and (job is None or job.state == "stopped"):
        project.jobs.start(JOB, [("count", digest, PROFILE)], digest=digest)


def find_counting_job(project: Project) -> Job | None:
    """Return the job that counts the table if it still runs, or raise its error."""
    if not _is_large(_key(project)):
        return None
    start_counting(project)
    project.jobs.wait(JOB, PATIENCE_SECONDS)
    _raise_failure(project)
    job = project.jobs.find(JOB)
    return job if job is not None and job.state == "running" else None


def write_profile(key: str, output: str) -> None:
    """Count a table and write its profile; the work of a process. key : `Key` as JSON"""
    try:
        Path(output).write_bytes(pickle.dumps(_count(tuple(json.loads(key)))))
    except UnmaskError as error:
        sys.exit(f"Error: {error}")


def _is_large(key: Key) -> bool:
    return key[2] > LARGE_BYTES


def _raise_failure(project: Project) -> None:
    job = project.jobs.find(JOB)
    if job is not None and job.state == "failed":
        raise UnmaskError(job.message)


def _key(project: Project) -> Key:
    assert project.file is not None
    table, state = project.table, project.file.stat()
    options = {
        key: table[key]
        for key in (*list_reading_keys(), *MEANING_KEYS)
        if key in table and key not in ("person", *NO_DESIGN)
    }
    times = [state.st_mtime_ns, *(Path(file).stat().st_mtime_ns for file in table.get("hierarchies", {}).values())]
    return str(project.file), max(times), state.st_size, json.dumps(options)


@lru_cache(maxsize=1)
def _load(path: Path, _key: Key) -> Profile:
    profile: Profile = pickle.loads(path.read_bytes())
    return profile


@lru_cache(maxsize=1)
def _count(key: Key) -> Profile:
    from unmask.app.column_shapes import Shape
    from unmask.tables.reading import AS_TEXT, column_names
    from unmask.tables.risk import column_facts

    path, options = key[0], json.loads(key[3])
    names = column_names(path, **{key: options[key] for key in AS_TEXT if key in options})
    groups = (names[start : start + COLUMNS_AT_ONCE] for start in range(0, len(names), COLUMNS_AT_ONCE))
    columns = [column for group in groups for column in _read(path, group, options).written]
    return Profile(tuple(map(Shape.of, columns)), column_facts(columns, roles={}))


def _read(path: str, names: Sequence[str], options: Mapping[str, Any]) -> Table:
    """Read some columns."""
    from unmask.tables import Table

    meanings = {
        key: {name: meaning for name, meaning in options[key].items() if name in names}
        for key in MEANING_KEYS
        if key in options
    }
    return Table.read(path, quasi_identifiers=names, **{**options, **meanings})
