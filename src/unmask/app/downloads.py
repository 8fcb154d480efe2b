"""Files that are made when they are downloaded: the release in other formats, and the applied mapping."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from unmask.app.project import MAPPING, ORIGIN, RELEASE, Project
from unmask.data.writing import escape_formula, format_csv, write_text
from unmask.document import group_by_role
from unmask.tables import Table
from unmask.tables.reading import AS_TEXT, column_names, read_encoded

AS_WRITTEN: Final[dict[str, Any]] = {"header": True, "delimiter": ",", "encoding": "utf-8"}
"""Form of a written release."""


def make_file(project: Project, name: str) -> None:
    """Write a file of a table whose release exists."""
    if "columns" in project.document and (project.folder / RELEASE).is_file():
        (_write_mapping if name == MAPPING else _write_release)(project, name)


def _write_release(project: Project, name: str) -> None:
    """Write the release in the format of a name; a spreadsheet opens a workbook in every language."""
    path = project.folder / RELEASE
    names = column_names(path, **AS_WRITTEN)
    Table.read(path, quasi_identifiers=names, **AS_WRITTEN, na="").write(project.folder / name, force=True)


def _write_mapping(project: Project, name: str) -> None:
    """Write the released cells of each value of the quasi-identifiers, with the number of rows."""
    assert project.file is not None
    data, folder = project.document["data"], project.folder
    quasi = group_by_role(project.document["columns"])["quasi_identifiers"]
    original = read_encoded(project.file, names=quasi, **{key: data[key] for key in AS_TEXT if key in data}).columns
    release = read_encoded(folder / RELEASE, names=quasi, **AS_WRITTEN).columns
    rows = np.array((folder / ORIGIN).read_text(encoding="utf-8").split()[1:], dtype=np.int64)
    lines: list[tuple[object, ...]] = []
    for column in quasi:
        before, after = original[column], release[column]
        pairs, counts = np.unique(np.stack([before.codes[rows], after.codes]), axis=1, return_counts=True)
        for value, released, n in zip(*pairs.tolist(), counts.tolist(), strict=True):
            cells = (column, before.texts[value] or "", after.texts[released] or "")
            lines.append((*map(escape_formula, cells), n))
    project.delete(name)
    write_text(folder / name, format_csv(("column", "value", "released", "rows"), lines), private=True)
