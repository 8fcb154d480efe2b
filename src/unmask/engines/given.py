"""A file as an engine can read it: what it holds is told by its first bytes, and its name is never a pattern."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from unmask.core.errors import FailedError, UnmaskError
from unmask.data.encodings import TextFile, decode_text

Form: TypeAlias = Literal["text", "parquet", "workbook"]

_SIGNS: dict[bytes, Form] = {b"PAR1": "parquet", b"PK\x03\x04": "workbook", b"\xd0\xcf\x11\xe0": "workbook"}
_PARQUET = (".parquet", ".pq")
_WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

TEXT_FILES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
SUFFIXES = (*TEXT_FILES, *_PARQUET, *_WORKBOOKS)
"""Of the files that a large table may be in."""


@dataclass(frozen=True)
class Given:
    """What to read in place of a file that was named: itself, or a copy in a private folder.

    form : "text" in UTF-8, or "parquet". note : a sentence for what was guessed, or "". text : facts of a text file
    """

    path: Path
    form: Literal["text", "parquet"]
    note: str = ""
    text: TextFile | None = None


def given(path: Path, folder: str, *, encoding: str | None = None) -> Given:
    """The file that a path names, readable: a path that exists is that file, and `FILE::SHEET` a sheet of a workbook.

    folder : for a copy, where the file is a workbook or a text in another encoding than UTF-8 (`encoding`, or guessed).

    >>> given(Path("nowhere.csv"), "")
    Traceback (most recent call last):
    unmask.core.errors.FailedError: file 'nowhere.csv' does not exist or is no file; check the path
    """
    path, sheet = sheet_of(path)
    if not path.is_file():
        raise FailedError(f"file {path.name!r} does not exist or is no file; check the path")
    form = form_of(path)
    if sheet is not None and form != "workbook":
        raise UnmaskError(f"file {path.name!r} is no workbook, and a sheet of it was named; name the file alone")
    if form == "workbook":
        from unmask.engines.workbooks import as_parquet

        copy, note = as_parquet(path, sheet, folder)
        return Given(copy, "parquet", note)
    if form == "parquet":
        return Given(path, "parquet")
    text = decode_text(path, folder, encoding)
    return Given(text.path, "text", text.note, text)


def sheet_of(path: Path) -> tuple[Path, str | None]:
    """A path without the sheet that is named behind it, and the sheet."""
    name, mark, sheet = path.name.rpartition("::")
    if not mark or not name.strip(".") or path.exists() or not path.with_name(name).is_file():
        return path, None
    return path.with_name(name), sheet


def form_of(path: Path) -> Form:
    """What a file holds; a name that promises something else than the content is an error."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise FailedError(f"file {path.name!r} cannot be read: {error.strerror}; check the path") from None
    name = path.name.lower()
    form: Form = next((form for sign, form in _SIGNS.items() if start == sign), "text")
    if start.startswith(b"PK") and zipfile.is_zipfile(path) and not _is_workbook(path):
        form = "text"
    if form == "text" and name.endswith(_PARQUET):
        raise FailedError(f"file {path.name!r} is no readable Parquet file; it may be truncated")
    if form == "text" and name.endswith(_WORKBOOKS):
        raise FailedError(f"file {path.name!r} is no workbook, as its name says; a text file is called .csv or .tsv")
    return form


def _is_workbook(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        return any(name == "content.xml" or name.startswith(("xl/", "[Content_Types]")) for name in archive.namelist())
