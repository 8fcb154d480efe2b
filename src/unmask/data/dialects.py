"""Ways to cut the lines of a sample into cells, and how well each of them fits."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from unmask.data.samples import MARKS, Sample

STRENGTH = ("\t", "|", ";", ",", " ")
"""Delimiters: a cell may hold a weaker one, never a stronger one. A blank is any run of blanks."""

RARE = ("->", "--", ":")
"""Delimiters that count only where no other gives two columns."""

DELIMITER_NAMES = {"\t": "tab", "|": "bar", ";": "semicolon", ",": "comma", " ": "blank"}

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
class Dialect:
    """A way to cut a sample.

    quote   : the mark around cells that hold the delimiter
    rows    : the cells of each record of the usual width; a header included
    n_first : rows that stand in the first lines; the rest stands in windows
    ragged  : whether shorter records are filled with empty cells
    misfits : line numbers of records of another width
    terms   : shares that `score` weighs
    names   : cells of the last comment above, if they name the columns
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
        """The command line option that selects it."""
        return f"--delimiter {DELIMITER_NAMES.get(self.delimiter, repr(self.delimiter))}"


def kind_of(cell: str) -> str:
    """Return the kind of a cell: missing, number, date or text.

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
    """Return every way to cut a sample that fits a line at all, best first.

    delimiter : the only one that is tried
    ragged    : whether shorter records are filled with empty cells
    is_known  : whether a word names a column of such files; tells a comment with names from another one
    """
    body = "\n".join(sample.lines)
    tried = STRENGTH if delimiter is None else (delimiter,)
    quotes = "'\"" if _APOSTROPHES.search(body) else '"'
    found = [
        _dialect(sample, mark, quote, ragged, is_known)
        for quote in quotes
        for mark in tried
        if (mark in body if mark != " " else quote == '"')
    ]
    if delimiter is None and all(dialect.width < 2 for dialect in found):
        found += [_dialect(sample, mark, "", ragged, is_known) for mark in RARE if mark in body]
    return sorted(found, key=lambda dialect: -dialect.score)


def cut(lines: Iterable[str], delimiter: str, quote: str, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Cut lines into records of cells without blanks around them, each with the number of its last line from 1.

    strict : whether a quote that is not closed, or is followed by text, is an error

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
    """Return a record with empty cells up to a width."""
    return record + [""] * (width - len(record))


def is_blank(record: Sequence[str]) -> bool:
    """Return whether a record is a blank line; one of delimiters alone is a row.

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
    if delimiter == " ":  # which cuts at tabs as well
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
    except csv.Error:  # a cell beyond any length
        return []


def _share_of_kind(column: Sequence[str]) -> float:
    """Return the share of the main kind among the cells below the first that are not missing."""
    kinds = count_kinds(column[1:] or column)
    del kinds["missing"]
    return max(kinds.values(), default=1) / max(1, kinds.total())


def _breaks_cells(row: Sequence[str]) -> bool:
    """Return whether a bracket or a quote that one cell opens is closed in a later one."""
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
    """Return the cells of the last comment if they are as many as columns and half of them are known names."""
    for comment in sample.comments[-1:]:
        _, cells = next(iter(cut([re.sub(rf"^\s*({MARKS})\s*", "", comment)], delimiter, quote)), (0, []))
        plain = not any(NUMBER.fullmatch(cell) or len(cell.split()) > 2 for cell in cells)
        if len(cells) == width > 1 and plain and sum(map(is_known, cells)) * 2 >= width:
            return tuple(cells)
    return ()
