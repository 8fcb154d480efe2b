"""The lines of a text file of a network: how they begin, what is in their cells, and how a link is found in them."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, cast

from unmask.errors import FailedError, UnmaskError
from unmask.graphs.columns import SAMPLE

FORMATS = (
    "a list of links or an adjacency list (.txt, .csv, .tsv), a matrix in such a file, Parquet, Pajek (.net), GraphML, "
    "GEXF, node-link JSON"
)
"""What is read."""

_BLANKS = r"\s"
_COMMENT = re.compile(r"\s*([#%].*)?", re.ASCII)  # or blank


@contextmanager
def text_lines(path: Path) -> Iterator[TextIO]:
    """The file, open for reading; damage is told in one sentence."""
    try:
        opener = gzip.open if path.name.lower().endswith(".gz") else open
        with cast("TextIO", opener(path, "rt", encoding="utf-8-sig")) as file:
            yield file
    except (OSError, EOFError, zlib.error):
        raise FailedError(f"file {path.name!r} cannot be read or is damaged; fetch it again") from None


@dataclass(frozen=True)
class Start:
    """How a text file begins.

    stop      : what ends an id, as the inside of a character class
    number    : of the first line that is neither blank nor a comment, from 1
    cells     : of the first such lines
    commented : whether there is a comment before them
    """

    stop: str
    number: int
    cells: list[list[str]]
    commented: bool


def start_of(path: Path, delimiter: str | None) -> Start:
    """How a file begins, by its first `SAMPLE` lines that are neither blank nor comments."""
    found: list[str] = []
    first, commented = 0, False
    with text_lines(path) as file:
        for number, raw in enumerate(file, start=1):
            line = raw.rstrip("\r\n")
            comment = _COMMENT.fullmatch(line)
            if comment is None:
                found.append(line)
                first = first or number
            elif line.startswith("%%MatrixMarket"):
                raise UnmaskError(f"file {path.name!r} is in Matrix Market form, which is not read; what is: {FORMATS}")
            elif comment[1]:
                commented |= not found
            if len(found) == SAMPLE:
                break
    if not found:
        raise UnmaskError(f"file {path.name!r} has no links, expected at least one line with two node ids")
    stop = _stop(path, delimiter, found[0])
    return Start(stop, first, [cells_of(line, stop) for line in found], commented)


def cells_of(line: str, stop: str) -> list[str]:
    """The cells of a line, without quotes.

    >>> cells_of('"Doe, J" , b,1', ","), cells_of(' a  "b c" 2 ', _BLANKS)
    (['Doe, J', 'b', '1'], ['a', 'b c', '2'])
    """
    if stop == _BLANKS:
        return [cell.strip('"') for cell in re.findall(r'"[^"]*"|\S+', line)]
    mark = "\t" if stop == r"\t" else stop
    return [cell.strip() for cell in next(csv.reader([line], delimiter=mark, skipinitialspace=True), [""])]


def _stop(path: Path, delimiter: str | None, first: str) -> str:
    """What ends an id, as the inside of a character class."""
    if delimiter not in (None, ",", ";", "\t", " "):
        raise UnmaskError("the delimiter is unknown, expected a comma, a semicolon, a tab or a blank")
    if delimiter is None:
        tab = "\t" if path.name.lower().removesuffix(".gz").endswith(".tsv") and "\t" in first else " "
        delimiter = next((mark for mark in ",;" if mark in re.sub('"[^"]*"', "", first)), tab)
    return _BLANKS if delimiter == " " else delimiter.replace("\t", r"\t")


def pattern_of(stop: str, columns: tuple[int, int] = (0, 1)) -> str:
    r"""The expression that finds the ids in two cells of a line, in a dialect that RE2 and `re` share.

    >>> re.match(pattern_of(","), '"Doe, J" , b,1').groups(), re.match(pattern_of(",", (2, 1)), "0, b,c").groups()
    (('"Doe, J"', 'b'), ('b', 'c'))
    """
    inner = rf'(?:[^{stop}"]*[^\s{stop}"])?'
    start, cell = rf'("[^"]+"|[^\s{stop}"#%]{inner})', rf'("[^"]+"|[^\s{stop}"]{inner})'
    gap, end = (r"\s+", r"(?:\s|$)") if stop == _BLANKS else (rf"\s*{stop}\s*", rf"\s*(?:{stop}|$)")
    passed = rf'(?:"[^"]*"|[^{stop}"]{"+" if stop == _BLANKS else "*"})'
    first, second = sorted(columns)
    before = rf'(?:"[^"]*"|[^\s{stop}"#%][^{stop}"]*{"" if stop == _BLANKS else "|"}){gap}' if first else ""
    before += (passed + gap) * (first - 1)
    return rf"^\s*{before}{cell if first else start}{gap}{(passed + gap) * (second - first - 1)}{cell}{end}"


def complaint(path: Path, pattern: str, skipped: int) -> str:
    """Which line has no two ids; found by reading once more, as the engine does not number lines."""
    search = re.compile(pattern, re.ASCII)
    with text_lines(path) as file:
        for number, raw in enumerate(file, start=1):
            line = raw.rstrip("\r\n")
            if number > skipped and not _COMMENT.fullmatch(line) and search.match(line) is None:
                return (
                    f"line {number} of {path.name!r} has no two node ids; expected two, then the delimiter or nothing"
                )
    return f"a line of {path.name!r} has no two node ids, expected two on every line"


def rows_of(path: Path, start: Start) -> Iterator[list[str]]:
    """The cells of every line that is neither blank nor a comment."""
    with text_lines(path) as file:
        for raw in file:
            if not _COMMENT.fullmatch(line := raw.rstrip("\r\n")):
                yield cells_of(line, start.stop)
