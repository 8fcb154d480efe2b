"""Text files of rows: delimiter and column names are read here, the rows by DuckDB, which is left nothing to guess.

Its own guess takes lines that begin with # for comments, and looks for the header further down where a row is short.
"""

from __future__ import annotations

import csv
import re
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from unmask.core.errors import FailedError, UnmaskError
from unmask.data import AmbiguousInput, Sample, TextFile, read_sample, score_dialects, score_header
from unmask.data.column_names import is_column_name
from unmask.databases import exact_path
from unmask.engines.sql import literal

SURE = 2.0
"""Log odds from which on line 1 of a table is taken for names, and below minus which for a row."""

ROW_FOR_CERTAIN = 5.0
"""Log odds below minus which line 1 is no line of names even in a file for an engine, which has one by definition."""

_DELIMITERS = ("\t", "|", ";", ",")


@dataclass(frozen=True)
class Head:
    """The names of the columns of a text file, the delimiter, whether line 1 is the names, and the lines above it."""

    names: tuple[str, ...]
    delimiter: str
    header: bool = True
    skip: int = 0


def head_of(
    path: Path,
    delimiter: str | None = None,
    *,
    header: bool | None = True,
    named: Sequence[str] = (),
    sure: float = SURE,
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


def parquet_of(paths: Sequence[str | Path], *, by_name: bool = False) -> str:
    """The SQL of the rows of Parquet files: their own columns, and none that a folder is called after.

    by_name : columns that one file lacks are empty there, instead of an error.
    """
    files = ", ".join(literal(exact_path(path)) for path in paths)
    return f"read_parquet([{files}], hive_partitioning=false, union_by_name={str(by_name).lower()})"


def check_distinct(names: Sequence[str], where: str) -> None:
    """Refuse a name that two columns have."""
    at = next((at for at, name in enumerate(names) if name in names[:at]), None)
    if at is not None:
        places = f"columns {names.index(names[at]) + 1} and {at + 1}"
        raise UnmaskError(f"{where} has two columns named {names[at]!r}, {places}; rename one of them")


def rows_of(paths: Sequence[str | Path], head: Head, *, header: bool | None = None) -> str:
    """The SQL of the rows of files with one head: every column as text, named c0, c1, ... by its place.

    header : whether the first line of each file is the head, and no row; None as the head says.
    """
    header = head.header if header is None else header
    columns = ", ".join(f"'c{at}': 'VARCHAR'" for at in range(len(head.names)))
    files = ", ".join(literal(exact_path(path)) for path in paths)
    return (
        f"read_csv([{files}], delim={literal(head.delimiter)}, quote='\"', "
        f"escape='\"', auto_detect=false, header={str(header).lower()}, skip={head.skip}, columns={{{columns}}}, "
        "null_padding=false, "
        "hive_partitioning=false, max_line_size=16777216, buffer_size=33554432)"  # else 16 longest lines: 256 MiB
    )


def reason(text: str) -> str | None:
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
