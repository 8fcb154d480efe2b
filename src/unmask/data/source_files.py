"""Files as sources of rows: their kind by the first bytes, the head of a text file, and SQL that reads the rows.

Delimiter and column names of a text file are determined here, not by DuckDB. DuckDB treats lines that begin with # as
comments, and searches a later header if a row is short.
"""

from __future__ import annotations

import csv
import re
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from glob import escape, glob
from pathlib import Path
from typing import Literal, TypeAlias

from unmask.core.errors import AmbiguousInput, FailedError, UnmaskError
from unmask.data.column_names import is_column_name
from unmask.data.databases import escape_path, scan_csv
from unmask.data.dialects import Sample, parse_delimiter, read_sample, score_dialects
from unmask.data.encodings import TextFile, check_encoding, decode_text
from unmask.data.readings import score_header
from unmask.data.sql import quote_text

FileKind: TypeAlias = Literal["text", "parquet", "workbook"]

_SIGNS: dict[bytes, FileKind] = {b"PAR1": "parquet", b"PK\x03\x04": "workbook", b"\xd0\xcf\x11\xe0": "workbook"}
_PARQUET = (".parquet", ".pq")
_WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

TEXT_FILES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
SUFFIXES = (*TEXT_FILES, *_PARQUET, *_WORKBOOKS)
"""Suffixes of table files."""

CERTAIN_ODDS = 2.0
"""Log odds above which line 1 names the columns of a table, and below whose negative it is a row."""

CERTAIN_ROW_ODDS = 5.0
"""The same for a file read by an engine, where a header is expected: line 1 is a row only below the negative."""

_DELIMITERS = ("\t", "|", ";", ",")


@dataclass(frozen=True)
class ReadableFile:
    """A file that engines can read: the file itself, or a copy in a private folder.

    kind : "text" in UTF-8, or "parquet"
    note : sentence about recognized properties, or ""
    text : properties of a text file
    """

    path: Path
    kind: Literal["text", "parquet"]
    note: str = ""
    text: TextFile | None = None


def prepare_file(path: Path, folder: str, *, encoding: str | None = None) -> ReadableFile:
    """Return a file that engines can read. `FILE::SHEET` is a sheet of a workbook, unless a file has this name.

    folder   : folder for a copy of a workbook, or of a text file that is not UTF-8
    encoding : encoding of a text file; default: recognized

    >>> prepare_file(Path("nowhere.csv"), "")
    Traceback (most recent call last):
    unmask.core.errors.FailedError: file 'nowhere.csv' does not exist or is not a file; check the path
    """
    path, sheet = split_sheet(path)
    if not path.is_file():
        raise FailedError(f"file {path.name!r} does not exist or is not a file; check the path")
    kind = detect_kind(path)
    if sheet is not None and kind != "workbook":
        raise UnmaskError(f"file {path.name!r} is not a workbook and has no sheets; pass the file name without a sheet")
    if kind == "workbook":
        from unmask.data.workbooks import convert_sheet

        copy, note = convert_sheet(path, sheet, folder)
        return ReadableFile(copy, "parquet", note)
    if kind == "parquet":
        return ReadableFile(path, "parquet")
    text = decode_text(path, folder, encoding)
    return ReadableFile(text.path, "text", text.note, text)


def find_files(source: str) -> list[Path]:
    """Return the files of a source on this machine: the file or sheet of this name, otherwise the files of a Parquet
    folder or of a pattern.
    """
    path = Path(source)
    if path.is_file() or is_sheet(path):
        return [path]
    pattern = f"{escape(source)}/**/*.parquet" if path.is_dir() else source
    files = glob(pattern, recursive=True)  # noqa: PTH207 - it may be absolute, which Path.glob refuses
    return sorted(file for file in map(Path, files) if file.is_file())


def is_sheet(path: Path) -> bool:
    """Return True if a source is a sheet of a workbook, and not a table of a database."""
    book, sheet = split_sheet(path)
    return sheet is not None and detect_kind(book) == "workbook"


def split_sheet(path: Path) -> tuple[Path, str | None]:
    """Split `FILE::SHEET` into path and sheet."""
    name, mark, sheet = path.name.rpartition("::")
    if not mark or not name.strip(".") or path.exists() or not path.with_name(name).is_file():
        return path, None
    return path.with_name(name), sheet


def detect_kind(path: Path) -> FileKind:
    """Return the kind of a file by its content; raise if its suffix belongs to another kind."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise FailedError(f"file {path.name!r} cannot be read: {error.strerror}; check the path") from None
    name = path.name.lower()
    kind: FileKind = next((kind for sign, kind in _SIGNS.items() if start == sign), "text")
    if start.startswith(b"PK") and zipfile.is_zipfile(path) and not _is_workbook(path):
        kind = "text"
    if kind == "text" and name.endswith(_PARQUET):
        raise FailedError(f"file {path.name!r} is not a readable Parquet file; it may be truncated")
    if kind == "text" and name.endswith(_WORKBOOKS):
        raise FailedError(
            f"file {path.name!r} is not a workbook, despite its suffix; rename a text file to .csv or .tsv"
        )
    return kind


def _is_workbook(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        return any(name == "content.xml" or name.startswith(("xl/", "[Content_Types]")) for name in archive.namelist())


# --- text files ---


@dataclass(frozen=True)
class TextOptions:
    """Properties of text files that the user gives; None: recognized.

    encoding  : name of an encoding
    delimiter : a character, or its name in `DELIMITER_NAMES`
    header    : True if line 1 names the columns; a list of column names if line 1 is a row
    """

    encoding: str | None = None
    delimiter: str | None = None
    header: Sequence[str] | bool | None = None

    def __post_init__(self) -> None:
        if self.encoding is not None:
            object.__setattr__(self, "encoding", check_encoding(self.encoding))
        object.__setattr__(self, "delimiter", parse_delimiter(self.delimiter))


RECOGNIZED = TextOptions()
"""Options that recognize all properties."""


@dataclass(frozen=True)
class Head:
    """Column names and delimiter of a text file, True if line 1 has the names, and the number of lines above it."""

    names: tuple[str, ...]
    delimiter: str
    header: bool = True
    skip: int = 0


def read_head(
    path: Path,
    delimiter: str | None = None,
    *,
    header: bool | None = True,
    names: Sequence[str] = (),
    odds: float = CERTAIN_ODDS,
) -> Head:
    r"""Read the head of a file; the first lines determine its delimiter by default.

    header : True if line 1 names the columns; None: decided by the rows below, and an error if in doubt
    names  : column names that the user gives; one of them in line 1 makes it a header
    odds   : log odds above which the rows decide

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "people.csv").write_text("age; sex\n30;f\n")
    ...     read_head(Path(folder) / "people.csv")
    Head(names=('age', 'sex'), delimiter=';', header=True, skip=0)
    """
    sample = read_sample(TextFile(path, path.name, "", 0, 0), trim=False)
    delimiter = delimiter or _likeliest(sample) or ("\t" if ".tsv" in path.name.lower() else ",")
    lines, skip = _with_names(sample, delimiter)
    records = csv.reader(lines, delimiter=delimiter)
    try:
        first = tuple(name.strip() for name in next(records))
    except csv.Error as error:
        raise FailedError(f"file {path.name!r} has no header line that can be read: {error}") from None
    rows: list[Sequence[str]] = [first]
    with suppress(csv.Error):  # a value exceeds the size limit
        rows.extend(row for row in records if header is None and len(row) == len(first))
    if header is None:
        header = not {*names}.isdisjoint(first) or _names_columns(rows, path, odds)
    return Head(first if header else tuple(f"column {i + 1}" for i in range(len(first))), delimiter, header, skip)


def _names_columns(rows: Sequence[Sequence[str]], path: Path, min_odds: float) -> bool:
    """Return True if the first row names the columns; the message of an error shows no cell."""
    odds, is_known = score_header(rows, is_column_name)
    if abs(odds) < min_odds and not is_known:
        question = f"line 1 of file {path.name!r} may name its {len(rows[0])} columns, or be a row"
        raise AmbiguousInput(question, ("--header", "--no-header"))
    return is_known or odds > 0


def scan_parquet(paths: Sequence[str | Path], *, by_name: bool = False) -> str:
    """Return the SQL of the rows of Parquet files, without columns from folder names.

    by_name : True to fill columns that a file lacks, instead of an error
    """
    files = ", ".join(quote_text(escape_path(path)) for path in paths)
    return f"read_parquet([{files}], hive_partitioning=false, union_by_name={str(by_name).lower()})"


def check_distinct_names(names: Sequence[str], source: str) -> None:
    """Refuse a name that two columns have."""
    for i, name in enumerate(names):
        if name in names[:i]:
            numbers = f"columns {names.index(name) + 1} and {i + 1}"
            raise UnmaskError(f"{source} has two columns named {name!r}, {numbers}; rename one of them")


def scan_text(paths: Sequence[str | Path], head: Head) -> str:
    """Return the SQL of the rows of files with the same head: all columns as texts c0, c1, ..."""
    return scan_csv(paths, len(head.names), head.delimiter, header=head.header, skip=head.skip)


def explain_csv_error(text: str) -> str | None:
    """Return the fault of a text file from an engine's message, which may quote rows; None for other messages."""
    line = re.search(r"CSV Error on Line: (\d+)", text)
    width = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
    if line and width:
        return (
            f"line {line[1]} of the file has {width[2]} columns, expected {width[1]} as in the header; "
            "quote values that hold the delimiter"
        )
    if "GZIP" in text:
        return "the file is truncated or damaged, or not a valid gzip file; fetch it again"
    return None


def _with_names(sample: Sample, delimiter: str) -> tuple[tuple[str, ...], int]:
    """Return the lines from the names on, and the number of lines above; a comment as wide as the rows has the
    names.
    """
    widths = [
        len(next(csv.reader([line], delimiter=delimiter), ())) for line in (*sample.comments[-1:], sample.lines[0])
    ]
    if len(widths) == 2 and widths[0] == widths[1] > 1:
        return (sample.comments[-1], *sample.lines), sample.n_above - 1
    return sample.lines, sample.n_above


def _likeliest(sample: Sample) -> str | None:
    """Return the delimiter of the best dialect with several columns; dialects that fit the first line take
    precedence.
    """
    dialects = [dialect for mark in _DELIMITERS for dialect in score_dialects(sample, delimiter=mark)]
    several = [dialect for dialect in dialects if dialect.width > 1]
    first = sample.n_above + 1
    return (
        max(several, key=lambda dialect: (first not in dialect.misfits, dialect.score)).delimiter if several else None
    )
