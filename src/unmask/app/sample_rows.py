"""Rows of a table before and after protection, for its owner: no file and no page to share contains them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.app.preview import shorten
from unmask.app.project import ORIGIN, RELEASE, Project
from unmask.document import group_by_role
from unmask.tables.reading import AS_TEXT, read_encoded

N_ROWS = 6
"""Rows of a sample."""


class Sample(NamedTuple):
    """Some people before and after protection. pairs : cells of the table, and cells of the release"""

    names: tuple[str, ...]
    pairs: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


def read_sample(project: Project) -> Sample | None:
    """Return the quasi-identifiers of some people, spread over the release; None without a release of a table."""
    names = tuple(group_by_role(project.document.get("columns", {})).get("quasi_identifiers", ()))
    release, origin = project.folder / RELEASE, project.folder / ORIGIN
    if not names or project.file is None or not (release.is_file() and origin.is_file()):
        return None
    data = project.document.get("data", {})
    as_text = tuple(
        (key, tuple(data[key]) if isinstance(data[key], list) else data[key]) for key in AS_TEXT if key in data
    )
    return _read_sample(project.file, release, origin, names, as_text, release.stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _read_sample(
    original: Path,
    release: Path,
    origin: Path,
    names: tuple[str, ...],
    as_text: tuple[tuple[str, Any], ...],
    _time: int,
) -> Sample | None:
    people = np.array(origin.read_text(encoding="utf-8").split()[1:], dtype=np.int64)
    if not people.size:
        return None
    records = np.unique(np.linspace(0, len(people) - 1, N_ROWS).astype(np.int64))
    before = _read_cells(original, names, people[records], **dict(as_text))
    after = _read_cells(release, names, records, header=True, delimiter=",", encoding="utf-8")
    return Sample(names, tuple(zip(before, after, strict=True)))


def _read_cells(path: Path, names: tuple[str, ...], rows: NDArray[np.int64], **as_text: Any) -> list[tuple[str, ...]]:
    """Return the cells of some rows of a file."""
    columns = read_encoded(path, names=names, **as_text).columns
    texts = [[shorten(columns[name].texts[code]) for code in columns[name].codes[rows]] for name in names]
    return list(zip(*texts, strict=True))
