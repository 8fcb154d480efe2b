"""Readings of a complete file: evidence for a header, the rows, and an account of the lines."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from unmask.core.errors import AmbiguousInput
from unmask.data.databases import scan_csv
from unmask.data.dialects import (
    MARKS,
    MISSING,
    Dialect,
    Sample,
    blank_comments,
    count_kinds,
    cut,
    fill,
    is_blank,
    kind_of,
)
from unmask.data.encodings import open_text

if TYPE_CHECKING:
    import duckdb

COMMENT_BELOW = rf"^({MARKS})(\s|$)"
"""Pattern for a first cell, below the first row, that looks like a comment; for Python and SQL."""


@dataclass(frozen=True)
class Reading:
    """A dialect of a file, and the names of its columns.

    Parameters
    ----------
    dialect : Dialect
        The way to split lines.
    header : bool
        True if the first row names columns.
    names : tuple of str
        Column names; () without names.
    """

    dialect: Dialect
    header: bool
    names: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """A name for every column."""
        names = self.names or ("",) * self.dialect.width
        return tuple(name or f"column {place}" for place, name in enumerate(names, 1))

    @property
    def options(self) -> str:
        """The command line options that select this reading."""
        return f"{self.dialect.option} {'--header' if self.header else '--no-header'}"


@dataclass(frozen=True)
class LineAccount:
    """Numbers of lines of a file by kind; they sum to all lines.

    Parameters
    ----------
    n_lines : int
        All lines.
    n_skipped : int
        Lines skipped by the user.
    n_comments : int
        Comments.
    n_header : int
        1 with a header, 0 without.
    n_rows : int
        Rows.
    n_blank : int
        Blank lines.
    n_continued : int
        Line breaks within quotes.
    """

    n_lines: int
    n_skipped: int
    n_comments: int
    n_header: int
    n_rows: int
    n_blank: int
    n_continued: int = 0

    def __str__(self) -> str:
        parts = {"skipped": self.n_skipped, "comment": self.n_comments, "header": self.n_header, "blank": self.n_blank}
        ignored = [f"{n:,} {word}" for word, n in parts.items() if n]
        breaks = f", {self.n_continued:,} line breaks within quotes" if self.n_continued else ""
        return f"{self.n_rows:,} of {self.n_lines:,} lines are rows; ignored: {', '.join(ignored) or 'none'}{breaks}"


def read_rows(
    connection: duckdb.DuckDBPyConnection, reading: Reading, select: str, folder: str, *, table: str | None = None
) -> dict[str, Any]:
    """Return the result of a query on the rows of a file: relation `rows` with texts c0, c1, ...

    Parameters
    ----------
    connection : DuckDBPyConnection
        DuckDB.
    reading : Reading
        Reading of the file.
    select : str
        The query.
    folder : str
        Private folder for a copy.
    table : str or None
        Name of a temporary table that receives the result; nothing is then returned.

    Returns
    -------
    dict of arrays
        Column -> its cells.

    Raises
    ------
    AmbiguousInput
        If a line does not fit the reading; the message has its number.
    """
    import duckdb

    sample, dialect = reading.dialect.sample, reading.dialect
    create = f"create or replace temp table {table} as " if table else ""

    def run(rows: str) -> dict[str, Any]:
        return dict(connection.execute(f"{create}with rows as (from {rows}) {select}").fetchnumpy())

    if _is_plain(reading):
        marks = dialect.delimiter, dialect.quote
        with suppress(duckdb.Error):  # its message quotes the line, and does not always have the line number
            return run(scan_csv([sample.file.path], dialect.width, *marks, header=reading.header, skip=sample.n_above))
    return run(scan_csv([_rewrite(reading, folder)], dialect.width))


def account_lines(reading: Reading, n_rows: int) -> LineAccount:
    """Return the account of the lines of a file.

    Parameters
    ----------
    reading : Reading
        Reading of the file.
    n_rows : int
        Number of rows read.

    Returns
    -------
    LineAccount
        Numbers that sum to all lines.

    Raises
    ------
    AmbiguousInput
        If the reading does not account for all lines.
    """
    sample, header = reading.dialect.sample, int(reading.header)
    n_other = sample.file.n_lines - sample.n_above - header - n_rows
    n_blank = sample.n_above - sample.skipped - len(sample.comments)
    n_comments, n_below = len(sample.comments), 0
    if n_other:
        for line, filled in zip(_lines_below(sample), _lines_below(sample, blank=True), strict=True):
            n_below += not filled.strip()
            n_comments += bool(line.strip()) and not filled.strip()
    n_continued = n_other - n_below
    if n_continued < 0 or (n_continued and not reading.dialect.quote):
        raise AmbiguousInput(
            f"the reading of {sample.file.name!r} explains {n_rows + n_below:,} of {sample.file.n_lines:,} lines, "
            "expected all; name the delimiter (`delimiter`) or the first line (`skip_lines`)"
        )
    n_blank += n_below - (n_comments - len(sample.comments))
    return LineAccount(sample.file.n_lines, sample.skipped, n_comments, header, n_rows, n_blank, n_continued)


def check_comments(dialect: Dialect) -> None:
    """Raise for a comment above the first row that may be a row: same width, and no blank after the mark.

    Parameters
    ----------
    dialect : Dialect
        Dialect of the file.

    Raises
    ------
    AmbiguousInput
        If a comment may be a row.
    """
    sample = dialect.sample
    for comment in sample.comments if sample.comment is None and not dialect.names else ():
        _, row = next(cut([comment], dialect.delimiter, dialect.quote))
        if re.match(r"\s*([#%][^\s#%]|;)", comment) and len(row) == dialect.width > 1:
            question = (
                f"a line of {sample.file.name!r} above the first row begins with a mark and is as wide as the rows"
            )
            raise AmbiguousInput(question, ["--comment none", f"--comment '{comment.strip()[0]}'"])


def refuse_comments(reading: Reading) -> None:
    """Raise for the first line below the first row that looks like a comment.

    Parameters
    ----------
    reading : Reading
        Reading of the file.

    Raises
    ------
    AmbiguousInput
        If a line looks like a comment.
    """
    sample, mark = reading.dialect.sample, re.compile(rf"\s*({MARKS})(\s|$)")
    if sample.comment == "none":
        return
    for number, line in enumerate(_lines_below(sample, blank=True), sample.n_above + 1):
        if comment := mark.match(line):
            question = f"line {number} of {sample.file.name!r}, below the first row, looks like a comment"
            raise AmbiguousInput(question, [f"--comment '{comment[1]}'", "--comment none"])


def _is_plain(reading: Reading) -> bool:
    """Return True if the engine can read this dialect; it treats a run of blanks as several delimiters."""
    sample, delimiter = reading.dialect.sample, reading.dialect.delimiter
    if (
        sample.trim
        or reading.dialect.ragged
        or sample.comment not in (None, "none")
        or len(delimiter) > 1
        or delimiter == ":"
    ):
        return False
    comments = "".join(sample.comments)
    if sample.skipped or reading.dialect.quote in comments:
        return False
    uneven = re.compile(r'^ | $|  |\t|"').search
    return delimiter != " " or not any(uneven(line) for line in (*sample.lines, *sample.windows))


def _rewrite(reading: Reading, folder: str) -> Path:
    """Write the rows as plain CSV without a header, and return the file."""
    copy = Path(mkdtemp(dir=folder)) / "rows.csv"
    rows = iterate_rows(reading.dialect)
    if reading.header:
        next(rows)
    with copy.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    return copy


def iterate_rows(dialect: Dialect, *, any_width: bool = False) -> Iterator[list[str]]:
    """Yield all rows of a file, including a header.

    Parameters
    ----------
    dialect : Dialect
        Dialect of the file.
    any_width : bool
        True to accept rows of any width.

    Yields
    ------
    list of str
        Cells of a row.

    Raises
    ------
    AmbiguousInput
        If a line does not fit the dialect; the message has its number.
    """
    number = 0
    try:
        for number, row in cut(_trimmed_lines(dialect.sample), dialect.delimiter, dialect.quote, strict=True):
            if is_blank(row):
                continue
            row = fill(row, dialect.width) if dialect.ragged else row
            if len(row) != dialect.width and not any_width:
                raise _misfit(dialect, number)
            yield row
    except csv.Error:
        raise _misfit(dialect, number + 1) from None


def _misfit(dialect: Dialect, number: int) -> AmbiguousInput:
    return AmbiguousInput(
        f"line {dialect.sample.n_above + number} of {dialect.sample.file.name!r} does not fit the reading with "
        f"{dialect.width} columns; correct it, or name another reading (`delimiter`, `skip_lines`)"
    )


def _trimmed_lines(sample: Sample) -> Iterator[str]:
    for line in _lines_below(sample, blank=True):
        if sample.trim is None or not line.strip():
            yield line
        elif match := sample.trim.fullmatch(line):
            yield match[1]
        else:
            raise csv.Error


def _lines_below(sample: Sample, *, blank: bool = False) -> Iterator[str]:
    """Yield the lines from the first row on. blank : True to yield an empty line for each comment with the user's
    mark
    """
    with open_text(sample.file.path) as text:
        lines = (line.rstrip("\r\n") for number, line in enumerate(text) if number >= sample.n_above)
        yield from blank_comments(lines, sample.comment if blank else None)


# --- the header ---

_DIGITS = re.compile(r"\d+")

_SHORT = 3
"""Largest length at which a name as long as all cells below it may be a cell."""


def score_header(
    rows: Sequence[Sequence[str]], is_known: Callable[[str], bool], *, pooled: bool = False
) -> tuple[float, bool]:
    """Return the log odds that the first row names columns, and True if all its names are known.

    Parameters
    ----------
    rows : sequence of sequences of str
        Rows of equal width.
    is_known : callable
        Function that returns True for a known column name.
    pooled : bool
        True if values recur across columns, as ids of a network do.

    Returns
    -------
    (float, bool)
        Log odds, and True if all names are known.

    Examples
    --------
    >>> score_header([("age", "sex"), ("31", "f"), ("45", "m"), ("31", "f")], {"age", "sex"}.__contains__)
    (7.53..., True)
    """
    first, *body = rows
    columns = list(zip(*body, strict=True)) or [()] * len(first)
    pool = Counter(cell for column in columns for cell in column) if pooled else None
    alike = [_looks_alike(*pair) for pair in zip(first, columns, strict=True)]
    n_known = sum(is_known(name) and not is_alike for name, is_alike in zip(first, alike, strict=True))
    odds = (
        sum(_column_odds(*pair, pool) for pair in zip(first, columns, strict=True)) + 2.0 * n_known - 3.0 * sum(alike)
    )
    filled = [name for name in first if name]
    repeats = len({*filled}) < len(filled)
    odds = max(odds, 2.0) if not pooled and _is_series(first) else odds
    return odds - 2.0 * repeats, n_known == len(first)


def _column_odds(name: str, column: Sequence[str], pool: Counter[str] | None) -> float:
    """Return the log odds of one column, without the contribution of a known name."""
    kinds = count_kinds(column)
    n = len(column) - kinds.pop("missing", 0)
    if not n:
        return 0.0
    kind, count = kinds.most_common(1)[0]
    if kind != "text" and count >= 0.9 * n:
        return -3.0 if kind_of(name) == kind else 3.0 if kind_of(name) == "text" else 0.0
    if kind_of(name) in ("number", "date"):
        return -3.0
    counts = Counter(column) if pool is None else pool
    if not name or counts[name]:
        return -3.0 if name else 0.0
    filled = [cell for cell in column if cell.lower() not in MISSING]
    recurring = sum(counts[cell] > 1 for cell in filled) / n
    numbered = any(map(str.isdigit, name)) and all(any(map(str.isdigit, cell)) for cell in filled[:200])
    short = len(name) <= _SHORT and all(len(cell) == len(name) for cell in filled)
    return min(3.0, -math.log(min(1.0, 1 - recurring + 1 / (n + 1)))) - 2.0 * numbered - 2.0 * short


def _looks_alike(name: str, column: Sequence[str]) -> bool:
    """Return True if a name with digits differs from at least half of the cells below only in its digits."""
    shape = _DIGITS.sub("0", name)
    return (
        shape != name
        and kind_of(name) == "text"
        and sum(_DIGITS.sub("0", cell) == shape for cell in column) * 2 >= len(column) > 0
    )


def _is_series(first: Sequence[str]) -> bool:
    """Return True if the cells are consecutive years, which may name columns although they are numbers."""
    years = [int(cell) for cell in first[-3:] if cell.isdecimal() and 1800 <= int(cell) <= 2200]
    return len(years) == 3 and years[2] - years[1] == years[1] - years[0] == 1
