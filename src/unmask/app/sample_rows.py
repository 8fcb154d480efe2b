"""Rows of a table before and after protection, and why people are at risk, for the owner: no page to share has them."""

from __future__ import annotations

import csv
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.app.preview import shorten
from unmask.app.project import AT_RISK, ORIGIN, RELEASE, Project
from unmask.document import group_by_role
from unmask.tables.reading import AS_TEXT, read_encoded

N_ROWS, N_AT_RISK = 6, 3
"""Rows of a sample, and those of them about the people with the highest risk."""


class Risk(NamedTuple):
    """Line of the owner's list of people at risk, see `findings.people_at_risk`."""

    adversary: str
    target: str
    probability: str
    reason: str
    why: str


class Person(NamedTuple):
    """A person: cells of the table, cells of the release, and the attacks that put the person at risk."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    risks: tuple[Risk, ...]


class Sample(NamedTuple):
    """Some people before and after protection, those with the highest risk first."""

    names: tuple[str, ...]
    people: tuple[Person, ...]


def read_sample(project: Project) -> Sample | None:
    """Return the people with the highest risk, and others spread over the release; None without a released table."""
    names = tuple(group_by_role(project.document.get("columns", {})).get("quasi_identifiers", ()))
    release, origin = project.folder / RELEASE, project.folder / ORIGIN
    if not names or project.file is None or not (release.is_file() and origin.is_file()):
        return None
    data = project.document.get("data", {})
    as_text = tuple(
        (key, tuple(data[key]) if isinstance(data[key], list) else data[key]) for key in AS_TEXT if key in data
    )
    list_file = project.folder / AT_RISK
    at_risk = list_file if list_file.is_file() else None
    time = max(path.stat().st_mtime_ns for path in (release, *filter(None, [at_risk])))
    return _read_sample(project.file, release, origin, at_risk, names, as_text, time)


@lru_cache(maxsize=1)
def _read_sample(
    original: Path,
    release: Path,
    origin: Path,
    at_risk: Path | None,
    names: tuple[str, ...],
    as_text: tuple[tuple[str, Any], ...],
    _time: int,
) -> Sample | None:
    people = np.array(origin.read_text(encoding="utf-8").split()[1:], dtype=np.int64)
    if not people.size:
        return None
    risks = {} if at_risk is None else _read_risks(at_risk)
    riskiest = [int(np.flatnonzero(people == row)[0]) for row in risks if np.any(people == row)]
    spread = np.linspace(0, len(people) - 1, N_ROWS).astype(np.int64).tolist()
    records = np.array(list(dict.fromkeys([*riskiest, *spread]))[:N_ROWS], dtype=np.int64)
    before = _read_cells(original, names, people[records], **dict(as_text))
    after = _read_cells(release, names, records, header=True, delimiter=",", encoding="utf-8")
    reasons = (tuple(risks.get(row, ())) for row in people[records].tolist())
    return Sample(names, tuple(map(Person, before, after, reasons)))


def _read_risks(path: Path) -> dict[int, list[Risk]]:
    """Return the attacks on the people with the highest risk, by their rows; the list begins with them."""
    risks: dict[int, list[Risk]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        head = next(lines)
        places = [head.index(name) if name in head else None for name in Risk._fields]
        for line in lines:
            row = int(line[1])
            if row in risks or len(risks) < N_AT_RISK:
                texts = ("" if place is None else line[place] for place in places)
                risks.setdefault(row, []).append(Risk(*texts))
    return risks


def _read_cells(path: Path, names: tuple[str, ...], rows: NDArray[np.int64], **as_text: Any) -> list[tuple[str, ...]]:
    """Return the cells of some rows of a file."""
    columns = read_encoded(path, names=names, **as_text).columns
    texts = [[shorten(columns[name].texts[code]) for code in columns[name].codes[rows]] for name in names]
    return list(zip(*texts, strict=True))
