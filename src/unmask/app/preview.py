"""Preview of a table: its first rows, and how the file was read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unmask.app.project import Project
from unmask.core.errors import UnmaskError
from unmask.languages import mark

MAX_ROWS = 12
"""Rows of a preview."""

MAX_CHARACTERS = 24
"""Characters of a cell of a preview."""

TYPE_ROWS = 400
"""First rows from which the types of the columns are derived."""

DELIMITERS = {",": mark("comma ,"), ";": mark("semicolon ;"), "\t": mark("tab"), "|": mark("bar |")}

OPTION = re.compile(r"(, )?(\(--[a-z]([^()]|\([^()]*\))*\)|--[a-z][^)]*)")
"""Option of the command line in a note; a column may be called "weight (kg)"."""


@dataclass(frozen=True)
class Preview:
    """First rows of a file.

    names    : of the columns
    rows     : cells, shortened
    types    : name -> type
    notes    : what the reader recognized
    n_first  : first rows that the notes are about; 0 for all rows
    error    : reason why nothing was read
    detected : option of the reader -> detected value
    """

    names: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    types: Mapping[str, str] | None = None
    notes: tuple[str, ...] = ()
    n_first: int = 0
    error: str = ""
    detected: Mapping[str, str] | None = None


def read_preview(project: Project) -> Preview:
    """Read the first rows of the table, or the reason why they cannot be read."""
    from unmask.tables import Table
    from unmask.tables.reading import AS_TEXT, first_rows

    assert project.file is not None
    data = project.document.get("data", {})
    try:
        rows = first_rows(project.file, TYPE_ROWS, **{key: data[key] for key in AS_TEXT if key in data})
        cells = {name: [column.texts[code] for code in column.codes] for name, column in rows.columns.items()}
        table = Table.read(cells, quasi_identifiers=list(cells), decimal=data.get("decimal"), na=data.get("na"))
    except UnmaskError as error:
        return Preview(error=str(error))
    encoding = re.search(r"(?:read as|is) (cp1252|UTF-\S+?)[,;( ]", " ".join(rows.notes) + " ")
    return Preview(
        names=tuple(cells),
        rows=tuple(zip(*(map(shorten, column[:MAX_ROWS]) for column in cells.values()), strict=True)),
        types={column.name: column.type for column in table.written},
        notes=tuple(OPTION.sub("", note).strip() for note in (*rows.notes, *table.notes)),
        n_first=TYPE_ROWS if table.n_rows == TYPE_ROWS else 0,
        detected={"encoding": encoding[1] if encoding else "UTF-8", "delimiter": _detect_delimiter(project.file, data)},
    )


def shorten(text: str | None) -> str:
    """Return the beginning of a cell.

    >>> shorten("E11.9"), shorten(None), shorten("Kardiologie und Intensivmedizin")
    ('E11.9', '', 'Kardiologie und Intensiv…')
    """
    cell = text or ""
    return cell if len(cell) <= MAX_CHARACTERS else f"{cell[:MAX_CHARACTERS]}…"


def _detect_delimiter(path: Path, data: Mapping[str, Any]) -> str:
    """Return the name of the delimiter of a text file, or ""."""
    from unmask.data.resources import temporary_folder
    from unmask.data.source_files import prepare_file, read_head

    try:
        with temporary_folder(None) as folder:
            file = prepare_file(path, folder, encoding=data.get("encoding"))
            return DELIMITERS.get(read_head(file.path, data.get("delimiter")).delimiter, "") if file.text else ""
    except UnmaskError:
        return ""
