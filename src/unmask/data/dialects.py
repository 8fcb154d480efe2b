"""Samples of text files, the possible dialects (delimiter and quote), and their scores."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from unmask.core.errors import AmbiguousInput, UnmaskError
from unmask.data.encodings import TextFile, open_binary

FIRST_LINES, N_WINDOWS, WINDOW_LINES = 2000, 40, 25

MARKS = "#|%|//|;"
"""Comment marks; a semicolon must be followed by a blank."""

_FIRST_BYTES, _LONGEST_LINE = 1 << 18, 1 << 24
_COMMENT = re.compile(r"\s*(#|%|//|;\s|sep=.\s*$)")  # spreadsheets write the last form
_TRIMS = {
    "brackets around each line are ignored": re.compile(r"\s*[(\[]([^()\[\]]*)[)\]],?\s*"),
    "attributes in braces are left out": re.compile(r"(.*?)[\s,;]*\{[^{}]*\}\s*"),
}

STRENGTH = ("\t", "|", ";", ",", " ")
"""Delimiters by strength: a cell may contain a weaker one, never a stronger one. A blank is any run of blanks."""

RARE = ("->", "--", ":")
"""Delimiters that are tried only if no other gives two columns."""

DELIMITER_NAMES = {"\t": "tab", "|": "bar", ";": "semicolon", ",": "comma", " ": "blank"}


def parse_delimiter(text: str | None, *, rare: Sequence[str] = ()) -> str | None:
    r"""Return a delimiter given by name or character; a shell passes an escaped tab as two characters.

    rare : allowed delimiters with several characters

    >>> parse_delimiter("semicolon"), parse_delimiter(r"\t"), parse_delimiter(None)
    (';', '\t', None)
    """
    if text is None:
        return None
    mark = {"\\t": "\t", **{name: mark for mark, name in DELIMITER_NAMES.items()}}.get(text, text)
    if mark not in rare and (len(mark) != 1 or mark in '"\r\n'):
        names = ", ".join(DELIMITER_NAMES.values())
        raise UnmaskError(f"the delimiter is {text!r}, expected one character or one of {names}")
    return mark


MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "<na>", "#n/a", "\\n", "?"))
"""Words for a missing cell, in lower case."""

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?\d+,\d+")
WHOLE = re.compile(r"[+-]?\d+")
DATE = re.compile(
    r"\d{4}-\d\d(-\d\d([T ].*)?)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}( \d{1,2}:\d\d(:\d\d)?)?|\d{4}/\d\d?/\d\d?"
)
_BRACKET = re.compile(r"""[({\["'`]""")
_BLANK_CELLS = re.compile(r'"[^"]*"|\S+')
_APOSTROPHES = re.compile(r"(^|[,;|\t])\s*'[^'\n]*'\s*([,;|\t]|$)", re.MULTILINE)


@dataclass(frozen=True)
class Sample:
    """Lines from a text file, without the comments above its first row.

    Parameters
    ----------
    file : TextFile
        The file in UTF-8.
    comments : tuple of str
        Comment lines above the first row.
    n_above : int
        Number of lines above the first row: skipped lines, comments and blank lines.
    skipped : int
        Number of lines that the user skips.
    lines : tuple of str
        The first rows, including a header.
    windows : tuple of str
        Rows from the rest of the file, used for scores only.
    comment : str or None
        Comment mark given by the user.
    trim : re.Pattern[str] or None
        Pattern of a line whose first group is kept; the rest is removed before the line is split.
    note : str
        Sentence about the removed parts.
    """

    file: TextFile
    comments: tuple[str, ...]
    n_above: int
    skipped: int
    lines: tuple[str, ...]
    windows: tuple[str, ...] = ()
    comment: str | None = None
    trim: re.Pattern[str] | None = None
    note: str = ""


def read_sample(file: TextFile, *, skip_lines: int = 0, comment: str | None = None, trim: bool = True) -> Sample:
    """Read the first lines of a file and 40 windows from the rest, without the comments above the first row.

    Parameters
    ----------
    file : TextFile
        Result of `decode_text`.
    skip_lines : int
        Number of skipped lines.
    comment : str or None
        Comment mark, also below the first row. "none": no comments. None: comments are recognized above the first row
        only.
    trim : bool
        True to remove brackets around lines and attributes at their ends.

    Returns
    -------
    Sample
        Lines of the file.

    Raises
    ------
    UnmaskError
        If the file has no rows.
    AmbiguousInput
        If only some lines have brackets.
    """
    with open_binary(file.path) as stream:
        start = stream.read(_FIRST_BYTES) + stream.readline(_LONGEST_LINE)
        first = b"".join(start.splitlines(keepends=True)[: skip_lines + FIRST_LINES])
        lines = first.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n").split("\n")[skip_lines:]
        windows: list[str] = []
        if len(first) < file.n_bytes and not any(line.count('"') % 2 for line in lines):
            for window in range(N_WINDOWS):
                stream.seek(len(first) + (file.n_bytes - len(first)) * window // N_WINDOWS)
                stream.readline(_LONGEST_LINE)
                following = (stream.readline(_LONGEST_LINE).decode("utf-8", "replace") for _ in range(WINDOW_LINES))
                windows += [line.rstrip("\r\n") for line in following]
    if not any(line.strip() for line in lines):
        raise UnmaskError(f"file {file.name!r} is empty; expected rows")
    top = _count_above(lines, comment)
    if top == len(lines):
        raise UnmaskError(f"file {file.name!r} has only comments, expected rows below them")
    comments = tuple(line for line in lines[:top] if line.strip())
    rows, further = (tuple(blank_comments(part, comment)) for part in (lines[top:], windows))
    sample = Sample(file, comments, skip_lines + top, skip_lines, rows, further, comment)
    return _trim(sample) if trim else sample


def blank_comments(lines: Iterable[str], comment: str | None) -> Iterator[str]:
    """Yield lines with an empty line for each comment, so line numbers do not change."""
    mark = None if comment == "none" else comment
    yield from ("" if mark and line.lstrip().startswith(mark) else line for line in lines)


def _count_above(lines: list[str], comment: str | None) -> int:
    """Count the comments and blank lines above the first row. If most lines begin with a mark, the marks are ids."""

    def is_comment(line: str) -> bool:
        if comment is None:
            return _COMMENT.match(line) is not None
        return comment != "none" and line.lstrip().startswith(comment)

    n_filled = sum(bool(line.strip()) for line in lines)
    n_marked = sum(map(is_comment, lines))
    top = next((i for i, line in enumerate(lines) if line.strip() and not is_comment(line)), len(lines))
    spaced = all(re.match(rf"\s*({MARKS})+(\s|$)", line) for line in lines if line.strip())
    if comment is None and (
        (top == len(lines) and not spaced) or (n_marked > n_filled / 2 and n_filled > 4 and top > 3)
    ):
        return next(i for i, line in enumerate(lines) if line.strip())
    return top


def _trim(sample: Sample) -> Sample:
    """Remove brackets around each line, or attributes in braces at the end of each line."""
    filled = [(number, line) for number, line in enumerate(sample.lines, sample.n_above + 1) if line.strip()]
    for note, pattern in _TRIMS.items():
        misfits = [number for number, line in filled if not pattern.fullmatch(line)]
        if misfits and len(misfits) <= 0.1 * len(filled):
            raise AmbiguousInput(
                f"line {misfits[0]} of {sample.file.name!r} has no brackets or braces, but the other lines have",
                [f"--skip-lines {misfits[0]}"] if misfits[0] == sample.n_above + 1 else [],
            )
        if not misfits:
            lines, windows = (
                tuple(match[1] if (match := pattern.fullmatch(line)) else line for line in part)
                for part in (sample.lines, sample.windows)
            )
            return replace(sample, lines=lines, windows=windows, trim=pattern, note=note)
    return sample


# --- dialects ---


@dataclass(frozen=True)
class Dialect:
    """A way to split a sample into cells.

    Parameters
    ----------
    sample : Sample
        The lines.
    delimiter : str
        Mark between cells; a blank is any run of blanks.
    quote : str
        Mark around cells that contain the delimiter.
    rows : tuple[tuple of str, ...]
        Cells of each record of the usual width, including a header.
    width : int
        Most frequent number of cells of a record.
    misfits : tuple of int
        Line numbers of records with another width.
    terms : dict[str, float]
        Terms of `score`.
    names : tuple of str
        Cells of the last comment above the rows, if they name the columns.
    n_first : int
        Number of rows in the first lines; the others are in windows.
    ragged : bool
        True if shorter records are filled with empty cells.
    """

    sample: Sample
    delimiter: str
    quote: str
    rows: tuple[tuple[str, ...], ...]
    width: int
    misfits: tuple[int, ...]
    terms: dict[str, float]
    names: tuple[str, ...] = ()
    n_first: int = 0
    ragged: bool = False

    @property
    def score(self) -> float:
        """Weighted mean of the terms, from 0 to 1."""
        weights = {"agree": 0.4, "pure": 0.2, "whole": 0.2, "typed": 0.1, "several": 0.1}
        return sum(weight * self.terms[term] for term, weight in weights.items())

    @property
    def option(self) -> str:
        """The command line option that selects this dialect."""
        return f"--delimiter {DELIMITER_NAMES.get(self.delimiter, repr(self.delimiter))}"


def kind_of(cell: str) -> str:
    """Return the kind of a cell: missing, number, date or text.

    Parameters
    ----------
    cell : str
        Text of the cell.

    Returns
    -------
    str
        "missing", "number", "date" or "text".

    Examples
    --------
    >>> [kind_of(cell) for cell in ("NA", "1.5", "2024-05", "Ulm")]
    ['missing', 'number', 'date', 'text']
    """
    if cell.lower() in MISSING:
        return "missing"
    return "number" if NUMBER.fullmatch(cell) else "date" if DATE.fullmatch(cell) else "text"


def count_kinds(column: Iterable[str]) -> Counter[str]:
    """Count the cells of each kind.

    >>> count_kinds(["1", "1", "NA"])
    Counter({'number': 2, 'missing': 1})
    """
    kinds = Counter[str]()
    for cell, count in Counter(column).items():
        kinds[kind_of(cell)] += count
    return kinds


def score_dialects(
    sample: Sample, *, delimiter: str | None = None, ragged: bool = False, is_known: Callable[[str], bool] = bool
) -> list[Dialect]:
    """Return all dialects with a row of two columns or more, best first.

    Parameters
    ----------
    sample : Sample
        Lines of a file.
    delimiter : str or None
        The only delimiter to try; None: all.
    ragged : bool
        True to fill shorter records with empty cells.
    is_known : callable
        Function that returns True for a known column name. It identifies comments that name columns.

    Returns
    -------
    list of Dialect
        Dialects by descending score.
    """
    body = "\n".join(sample.lines)
    marks = STRENGTH if delimiter is None else (delimiter,)
    quotes = "'\"" if _APOSTROPHES.search(body) else '"'
    dialects = [
        _dialect(sample, mark, quote, ragged, is_known)
        for quote in quotes
        for mark in marks
        if (mark in body if mark != " " else quote == '"')
    ]
    if delimiter is None and all(dialect.width < 2 for dialect in dialects):
        dialects += [_dialect(sample, mark, "", ragged, is_known) for mark in RARE if mark in body]
    return sorted(dialects, key=lambda dialect: -dialect.score)


def cut(lines: Iterable[str], delimiter: str, quote: str, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Split lines into records of cells without surrounding blanks; yield the number of the last line, from 1, of each.

    Parameters
    ----------
    lines : iterable of str
        Lines without line ends.
    delimiter : str
        Delimiter; a blank is any run of blanks.
    quote : str
        Mark around cells that contain the delimiter, or "".
    strict : bool
        True to raise for a quote that is not closed, or is followed by text.

    Yields
    ------
    (int, list of str)
        Number of the last line of the record, and its cells.

    Examples
    --------
    >>> list(cut(['"Doe, J" , b'], ",", '"')), list(cut([' a  "b c" 2 '], " ", '"'))
    ([(1, ['Doe, J', 'b'])], [(1, ['a', 'b c', '2'])])
    """
    if delimiter == " ":
        for number, line in enumerate(lines, 1):
            if strict and line.count('"') % 2:
                raise csv.Error
            yield number, [cell.strip('"') for cell in _BLANK_CELLS.findall(line)] if '"' in line else line.split()
    elif not quote:
        for number, line in enumerate(lines, 1):
            yield number, [cell.strip() for cell in line.split(delimiter)] if line.strip() else []
    else:
        marks = {"delimiter": delimiter, "quotechar": quote, "skipinitialspace": True, "strict": strict}
        reader = csv.reader((line + "\n" for line in lines), **marks)  # type: ignore[arg-type]
        for row in reader:
            yield reader.line_num, [cell.strip() for cell in row]


def fill(record: list[str], width: int) -> list[str]:
    """Return a record filled with empty cells up to a width."""
    return record + [""] * (width - len(record))


def is_blank(record: Sequence[str]) -> bool:
    """Return True if a record is a blank line; a line of delimiters only is a row.

    >>> is_blank([""]), is_blank(["", ""])
    (True, False)
    """
    return not record or (len(record) == 1 and not record[0])


def _dialect(sample: Sample, delimiter: str, quote: str, ragged: bool, is_known: Callable[[str], bool]) -> Dialect:
    records = _records(sample.lines, delimiter, quote)
    widths = Counter(len(row) for _, row in records)
    width = max(widths, key=lambda width: (width if ragged else widths[width], width), default=0)
    records = [(number, fill(row, width)) for number, row in records] if ragged else records
    rows = [row for _, row in records if len(row) == width]
    further = [row for _, row in _records(sample.windows, delimiter, quote) if len(row) == width]
    stronger = STRENGTH[: STRENGTH.index(delimiter)] if delimiter in STRENGTH else STRENGTH[:-1]
    n, joined = max(1, len(records)), ["".join(row) for _, row in records]
    impure = [any(mark in cells for mark in stronger) for cells in joined]
    if delimiter == " ":  # also splits at tabs
        tabs = [sample.lines[number - 1].count("\t") for number, _ in records]
        impure = [bad or 0 < n_tabs < len(row) - 1 for bad, n_tabs, (_, row) in zip(impure, tabs, records, strict=True)]
    broken = sum(_breaks_cells(row) for (_, row), cells in zip(records, joined, strict=True) if _BRACKET.search(cells))
    terms = {
        "agree": len(rows) / n,
        "pure": 1 - sum(impure) / n,
        "whole": 1 - broken / n,
        "typed": sum(map(_share_of_kind, zip(*rows, strict=True))) / max(1, width),
        "several": float(width > 1),
    }
    misfits = tuple(sample.n_above + number for number, row in records if len(row) != width)
    names = _names(sample, delimiter, quote, width, is_known)
    return Dialect(
        sample, delimiter, quote, tuple(map(tuple, rows + further)), width, misfits, terms, names, len(rows), ragged
    )


def _records(lines: Iterable[str], delimiter: str, quote: str) -> list[tuple[int, list[str]]]:
    try:
        return [(number, row) for number, row in cut(lines, delimiter, quote) if not is_blank(row)]
    except csv.Error:  # a cell exceeds the size limit
        return []


def _share_of_kind(column: Sequence[str]) -> float:
    """Return the share of the most frequent kind among the nonmissing cells below the first."""
    kinds = count_kinds(column[1:] or column)
    del kinds["missing"]
    return max(kinds.values(), default=1) / max(1, kinds.total())


def _breaks_cells(row: Sequence[str]) -> bool:
    """Return True if a bracket or quote opens in one cell and closes in a later one."""
    is_open = False
    for cell in row:
        odd_quote = cell.count('"') % 2 == 1
        if not is_open:
            is_open = bool(cell) and (
                cell.count("(") > cell.count(")")
                or cell.count("{") > cell.count("}")
                or (cell[0] == "[" and "]" not in cell and "[" not in cell[1:])
                or odd_quote
                or (cell[0] in "'`" and cell[-1] != cell[0])
            )
        elif odd_quote or cell[-1:] == "'" or any(cell.count(b) > cell.count(a) for a, b in ("()", "{}", "[]")):
            return True
    return False


def _names(sample: Sample, delimiter: str, quote: str, width: int, is_known: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the cells of the last comment, if their number is the width and half of them are known column names."""
    for comment in sample.comments[-1:]:
        _, cells = next(iter(cut([re.sub(rf"^\s*({MARKS})\s*", "", comment)], delimiter, quote)), (0, []))
        plain = not any(NUMBER.fullmatch(cell) or len(cell.split()) > 2 for cell in cells)
        if len(cells) == width > 1 and plain and sum(map(is_known, cells)) * 2 >= width:
            return tuple(cells)
    return ()
