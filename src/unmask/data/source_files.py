"""Files as sources of rows: their kind by the first bytes, the head of a text file, and the SQL that scans the rows.

Delimiter and column names of a text file are read here, and DuckDB is left nothing to guess: its own guess takes lines
that begin with # for comments, and looks for the header further down if a row is short.
"""

from __future__ import annotations

import csv
import re
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from unmask.core.errors import AmbiguousInput, FailedError, UnmaskError
from unmask.data.column_names import is_column_name
from unmask.data.dialects import Sample, read_sample, score_dialects
from unmask.data.encodings import TextFile, decode_text
from unmask.data.readings import score_header
from unmask.data.sql import quote_text
from unmask.databases import exact_path

FileKind: TypeAlias = Literal["text", "parquet", "workbook"]

_SIGNS: dict[bytes, FileKind] = {b"PAR1": "parquet", b"PK\x03\x04": "workbook", b"\xd0\xcf\x11\xe0": "workbook"}
_PARQUET = (".parquet", ".pq")
_WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

TEXT_FILES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
SUFFIXES = (*TEXT_FILES, *_PARQUET, *_WORKBOOKS)
"""Of the files that a large table may be in."""

CERTAIN_ODDS = 2.0
"""Log odds from which on line 1 of a table is taken for names, and below minus which for a row."""

CERTAIN_ROW_ODDS = 5.0
"""Log odds below minus which line 1 is no line of names even in a file for an engine, which has one by definition."""

_DELIMITERS = ("\t", "|", ";", ",")


@dataclass(frozen=True)
class ReadableFile:
    """What to read in place of a file that was named: itself, or a copy in a private folder.

    form : "text" in UTF-8, or "parquet". note : a sentence for what was guessed, or "". text : facts of a text file
    """

    path: Path
    form: Literal["text", "parquet"]
    note: str = ""
    text: TextFile | None = None


def prepare_file(path: Path, folder: str, *, encoding: str | None = None) -> ReadableFile:
    """The file that a path names, readable: a path that exists is that file, and `FILE::SHEET` a sheet of a workbook.

    folder : for a copy, where the file is a workbook or a text in another encoding than UTF-8 (`encoding`, or guessed).

    >>> given(Path("nowhere.csv"), "")
    Traceback (most recent call last):
    unmask.core.errors.FailedError: file 'nowhere.csv' does not exist or is no file; check the path
    """
    path, sheet = split_sheet(path)
    if not path.is_file():
        raise FailedError(f"file {path.name!r} does not exist or is no file; check the path")
    form = detect_kind(path)
    if sheet is not None and form != "workbook":
        raise UnmaskError(f"file {path.name!r} is no workbook, and a sheet of it was named; name the file alone")
    if form == "workbook":
        from unmask.data.workbooks import as_parquet

        copy, note = as_parquet(path, sheet, folder)
        return ReadableFile(copy, "parquet", note)
    if form == "parquet":
        return ReadableFile(path, "parquet")
    text = decode_text(path, folder, encoding)
    return ReadableFile(text.path, "text", text.note, text)


def split_sheet(path: Path) -> tuple[Path, str | None]:
    """A path without the sheet that is named behind it, and the sheet."""
    name, mark, sheet = path.name.rpartition("::")
    if not mark or not name.strip(".") or path.exists() or not path.with_name(name).is_file():
        return path, None
    return path.with_name(name), sheet


def detect_kind(path: Path) -> FileKind:
    """What a file holds; a name that promises something else than the content is an error."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise FailedError(f"file {path.name!r} cannot be read: {error.strerror}; check the path") from None
    name = path.name.lower()
    form: FileKind = next((form for sign, form in _SIGNS.items() if start == sign), "text")
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


# --- text files ---


@dataclass(frozen=True)
class Head:
    """The names of the columns of a text file, the delimiter, whether line 1 is the names, and the lines above it."""

    names: tuple[str, ...]
    delimiter: str
    header: bool = True
    skip: int = 0


def read_head(
    path: Path,
    delimiter: str | None = None,
    *,
    header: bool | None = True,
    named: Sequence[str] = (),
    sure: float = CERTAIN_ODDS,
) -> Head:
    r"""The head of a file; its delimiter is guessed from the first lines when not given.

    header : whether line 1 names the columns; None decides it by the rows below, and asks if that is in doubt.
    named : columns that the user names: one of them in line 1 decides it.
    sure : log odds from which on the rows decide.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "people.csv").write_text("age; sex\n30;f\n")
    ...     head_of(Path(folder) / "people.csv")
    Head(names=('age', 'sex'), delimiter=';', header=True, skip=0)
    """
    sample = _sample(path)
    delimiter = delimiter or _likeliest(sample) or ("\t" if ".tsv" in path.name.lower() else ",")
    lines, skip = _with_names(sample, delimiter)
    records = csv.reader(lines, delimiter=delimiter)
    try:
        names = tuple(name.strip() for name in next(records))
    except csv.Error as error:
        raise FailedError(f"file {path.name!r} has no header line that can be read: {error}") from None
    rows: list[Sequence[str]] = [names]
    with suppress(csv.Error):  # a value too long for a look
        rows.extend(row for row in records if header is None and len(row) == len(names))
    if header is None:
        header = not {*named}.isdisjoint(names) or _names_columns(rows, path, sure)
    return Head(names if header else tuple(f"column {at + 1}" for at in range(len(names))), delimiter, header, skip)


def _names_columns(rows: Sequence[Sequence[str]], path: Path, sure: float) -> bool:
    """Return whether the first of some rows names the columns; the error for a doubt shows no cell."""
    odds, known = score_header(rows, is_column_name)
    if abs(odds) < sure and not known:
        question = f"line 1 of file {path.name!r} may name its {len(rows[0])} columns, or be a row"
        raise AmbiguousInput(question, ("--header", "--no-header"))
    return known or odds > 0


def scan_parquet(paths: Sequence[str | Path], *, by_name: bool = False) -> str:
    """The SQL of the rows of Parquet files: their own columns, and none that a folder is called after.

    by_name : columns that one file lacks are empty there, instead of an error.
    """
    files = ", ".join(quote_text(exact_path(path)) for path in paths)
    return f"read_parquet([{files}], hive_partitioning=false, union_by_name={str(by_name).lower()})"


def check_distinct_names(names: Sequence[str], where: str) -> None:
    """Refuse a name that two columns have."""
    at = next((at for at, name in enumerate(names) if name in names[:at]), None)
    if at is not None:
        places = f"columns {names.index(names[at]) + 1} and {at + 1}"
        raise UnmaskError(f"{where} has two columns named {names[at]!r}, {places}; rename one of them")


def scan_text(paths: Sequence[str | Path], head: Head, *, header: bool | None = None) -> str:
    """The SQL of the rows of files with one head: every column as text, named c0, c1, ... by its place.

    header : whether the first line of each file is the head, and no row; None as the head says.
    """
    header = head.header if header is None else header
    columns = ", ".join(f"'c{at}': 'VARCHAR'" for at in range(len(head.names)))
    files = ", ".join(quote_text(exact_path(path)) for path in paths)
    return (
        f"read_csv([{files}], delim={quote_text(head.delimiter)}, quote='\"', "
        f"escape='\"', auto_detect=false, header={str(header).lower()}, skip={head.skip}, columns={{{columns}}}, "
        "null_padding=false, "
        "hive_partitioning=false, max_line_size=16777216, buffer_size=33554432)"  # else 16 longest lines: 256 MiB
    )


def explain_csv_error(text: str) -> str | None:
    """What is wrong with the rows of a text file, from the engine's words, which quote them; None for anything else."""
    line = re.search(r"CSV Error on Line: (\d+)", text)
    width = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    if line and width:
        return (
            f"line {line[1]} of the file has {width[2]} columns, expected {width[1]} as in the header; "
            "quote values that hold the delimiter"
        )
    if "GZIP" in text:
        return "the file is truncated or damaged, or no valid gzip file; fetch it again"
    return None


def _sample(path: Path) -> Sample:
    name = f"file {path.name!r}"
    try:
        return read_sample(TextFile(path, path.name, "", 0, 0), trim=False)
    except OSError as error:
        raise FailedError(f"{name} cannot be read: {error.strerror or 'it is no valid gzip file'}") from None
    except (EOFError, zlib.error, UnicodeDecodeError):
        raise FailedError(f"{name} is truncated or damaged; fetch it again") from None


def _with_names(sample: Sample, delimiter: str) -> tuple[tuple[str, ...], int]:
    """Return the lines from the names on, and the lines above; a comment as wide as the first row is no comment."""
    widths = [
        len(next(csv.reader([line], delimiter=delimiter), ())) for line in (*sample.comments[-1:], sample.lines[0])
    ]
    if len(widths) == 2 and widths[0] == widths[1] > 1:
        return (sample.comments[-1], *sample.lines), sample.n_above - 1
    return sample.lines, sample.n_above


def _likeliest(sample: Sample) -> str | None:
    """Return the delimiter of the best dialect with several columns, of those that fit the first line if any does."""
    dialects = [dialect for mark in _DELIMITERS for dialect in score_dialects(sample, delimiter=mark)]
    several = [dialect for dialect in dialects if dialect.width > 1]
    first = sample.n_above + 1
    return max(several, key=lambda one: (first not in one.misfits, one.score)).delimiter if several else None
