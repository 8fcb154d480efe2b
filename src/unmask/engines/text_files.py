"""Text files of rows: delimiter and column names are read here, the rows by DuckDB, which is left nothing to guess.

Its own guess takes lines that begin with # for comments, and looks for the header further down where a row is short.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unmask.data import Sample, TextFile, score_dialects
from unmask.data.samples import FIRST_LINES
from unmask.databases import exact_path
from unmask.engines.sql import literal
from unmask.errors import FailedError, UnmaskError

_DELIMITERS = ("\t", "|", ";", ",")


@dataclass(frozen=True)
class Head:
    """What the first line of a text file says: the names of its columns, blanks removed, and what is between them."""

    names: tuple[str, ...]
    delimiter: str


def head_of(path: Path, delimiter: str | None = None) -> Head:
    r"""The head of a file; its delimiter is guessed from the first lines when not given.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "people.csv").write_text("age; sex\n30;f\n")
    ...     head_of(Path(folder) / "people.csv")
    Head(names=('age', 'sex'), delimiter=';')
    """
    lines = _first_lines(path)
    if not lines:
        raise UnmaskError(f"file {path.name!r} is empty; expected a header line and rows")
    delimiter = delimiter or _likeliest(path, lines) or ("\t" if ".tsv" in path.name.lower() else ",")
    try:
        names = next(csv.reader(lines, delimiter=delimiter))
    except csv.Error as error:
        raise FailedError(f"file {path.name!r} has no header line that can be read: {error}") from None
    return Head(tuple(name.strip() for name in names), delimiter)


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


def rows_of(paths: Sequence[str | Path], head: Head, *, header: bool = True) -> str:
    """The SQL of the rows of files with one head: every column as text, named c0, c1, ... by its place.

    header : whether the first line of each file is the head, and no row.
    """
    columns = ", ".join(f"'c{at}': 'VARCHAR'" for at in range(len(head.names)))
    files = ", ".join(literal(exact_path(path)) for path in paths)
    return (
        f"read_csv([{files}], delim={literal(head.delimiter)}, quote='\"', "
        f"escape='\"', auto_detect=false, header={str(header).lower()}, columns={{{columns}}}, null_padding=false, "
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
        return "the file is truncated or damaged; fetch it again"
    return None


def _first_lines(path: Path) -> list[str]:
    name = f"file {path.name!r}"
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", errors="replace") as file:  # it may be cut, or not yet decoded
            lines = list(itertools.islice(file, FIRST_LINES))
    except OSError as error:
        raise FailedError(f"{name} cannot be read: {error.strerror or 'it is no valid gzip file'}") from None
    except (EOFError, zlib.error):
        raise FailedError(f"{name} is truncated or damaged; fetch it again") from None
    return [line for line in lines if line.strip()]


def _likeliest(path: Path, lines: Sequence[str]) -> str | None:
    """Return the delimiter of the best dialect with several columns."""
    sample = Sample(TextFile(path, path.name, "", 0, 0), (), 0, 0, tuple(line.rstrip("\r\n") for line in lines))
    dialects = [dialect for mark in _DELIMITERS for dialect in score_dialects(sample, delimiter=mark)]
    several = [dialect for dialect in dialects if dialect.width > 1]
    return max(several, key=lambda dialect: dialect.score).delimiter if several else None
