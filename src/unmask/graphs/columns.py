"""What the lines of a file of a network are, and which columns of them are the two ends of a link."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from unmask.errors import UnmaskError

SAMPLE = 2000
"""Lines by which a file is judged."""

PAIRS = (
    ("source", "target"), ("from", "to"), ("src", "dst"), ("u", "v"), ("1", "2"), ("sender", "receiver"),
    ("follower", "followee"), ("caller", "callee"),
)  # fmt: skip
"""What the two ends are called, without what `_stem` takes away."""

_OTHERS = frozenset(
    ("", "time", "timestamp", "ts", "date", "datetime", "day", "year", "since", "when", "created", "weight", "w",
     "strength", "count", "n", "value", "score", "type", "kind", "relation", "relationship", "sign", "index", "row",
     "no", "nr", "number", "key", "edge", "link")
)  # fmt: skip
"""What other columns are called; nothing is left of an `id`."""

_PEOPLE = frozenset(
    ("", "friend", "contact", "member", "customer", "employee", "student", "ego", "alter", "who", "whom", "neighbor",
     "neighbour", "partner", "colleague", "actor", "author", "coauthor")
)  # fmt: skip
"""What else the ends are called; nothing is left of a `person`."""

_NAMING = re.compile(r"[\W_]+|node|vertex|user|person|account|id|name|label")
_WHOLE = re.compile(r"-?[0-9]+")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_NO_END = re.compile(r"-?[0-9]*[.,][0-9]+|[0-9]{4}-[0-9]{2}(-[0-9]{2}([T ].*)?)?")
_FIGURE = re.compile(rf"{_NUMBER.pattern}|{_NO_END.pattern}")
_WORD = re.compile(r"(?!(na|nan|null|none|inf)$)[^\W\d_].*", re.IGNORECASE)
_MOMENT = re.compile(r"1[0-9]{9}([0-9]{3})?")

Ends = tuple[str, str] | tuple[int, int]
"""The columns of the two ends, by name or number from 1 as a user says them, or by place from 0."""


class Layout(NamedTuple):
    """How the lines of a file are read.

    form     : a link a line; or in an adjacency list a node and its neighbors; or a row of a matrix, one for each node
    columns  : of links, where their two ends are, from 0
    header   : whether the first line names columns, or the nodes of a matrix
    left_out : what the other columns of links are called
    """

    form: Literal["links", "adjacency", "matrix"] = "links"
    columns: tuple[int, int] = (0, 1)
    header: bool = False
    left_out: tuple[str, ...] = ()


def layout(
    lines: Sequence[Sequence[str]], what: str, *, header: bool | None, ends: Ends | None, commented: bool
) -> Layout:
    """What a file is, by the cells of its first lines that are neither blank nor comments.

    header    : as it was given; None: told by the cells
    ends      : as they were given; None: by the header, else by what the cells look like
    commented : whether a comment stands above the first line, so that it names columns only by words that `PAIRS` has

    >>> layout([["id", "from", "to"], ["1", "5", "7"]], "it", header=None, ends=None, commented=False)
    Layout(form='links', columns=(1, 2), header=True, left_out=('id',))
    >>> layout([["0", "1", "2"], ["1", "2"], ["2", "0"]], "it", header=None, ends=None, commented=False).form
    'adjacency'
    """
    first = lines[0]
    if ends is None and _is_matrix(lines[1:], names=first):
        return Layout("matrix", header=True)
    if ends is None and _is_matrix(lines):
        return Layout("matrix")
    columns = None if ends is None else named_columns(first, ends, what)
    by_name = ends is not None and not all(str(end).isdecimal() for end in ends)
    named = by_name or (names_columns(lines, commented=commented) if header is None else header)
    body = lines[1:] if named else lines
    if columns is None and not named and _is_adjacency(lines, what):
        return Layout("adjacency")
    if columns is None:
        plain = _plain(body, len(first))
        columns = edge_columns(first, what, plain) if named and len(first) > 1 else _by_looks(body, what, plain)
    others = [i for i in range(len(first)) if i not in columns]
    return Layout("links", columns, named, tuple(first[i] if named else f"column {i + 1}" for i in others))


def edge_columns(names: Sequence[str], what: str, plain: Sequence[bool] | None = None) -> tuple[int, int]:
    """The two columns that are the ends of a link, by their names.

    They are the only pair of `PAIRS`; else the only two columns, or the only two that are called nothing else, such
    as `weight` or `date`, and whose cells look like ids (`plain`). Where that leaves no two columns, it is refused.

    >>> edge_columns(["Weight", "to_user", "from_user"], "it"), edge_columns(["when", "who", "whom"], "it")
    ((2, 1), (1, 2))
    """
    stems = [_stem(name) for name in names]
    found = [(stems.index(u), stems.index(v)) for u, v in PAIRS if u in stems and v in stems]
    left = [i for i, stem in enumerate(stems) if stem not in _OTHERS and (plain is None or all(plain[i : i + 1]))]
    left = left if len(names) > 2 else [*range(len(names))]
    found = found or ([(left[0], left[1])] if len(left) == 2 else [])
    if len(found) != 1:
        raise UnmaskError(
            f"file {what!r} has {len(names)} columns under its header, and which two are the ends of a link is not "
            "plain; say so with --source and --target (in Python: ends)"
        )
    return found[0]


def named_columns(names: Sequence[str], ends: Ends, what: str) -> tuple[int, int]:
    """The columns that were asked for, by name, whatever its capitals, or by number from 1; places stay as they are.

    >>> named_columns(["when", "Who", "whom"], ("who", "3"), "it")
    (1, 2)
    """
    places = [end if isinstance(end, int) else _place(names, end, what) for end in ends]
    if places[0] == places[1]:
        raise UnmaskError("one column is given twice, expected two: those of both ends of a link")
    return places[0], places[1]


def _place(names: Sequence[str], end: str, what: str) -> int:
    lower = [name.lower() for name in names]
    place = int(end[:9]) - 1 if end.isdecimal() else lower.index(end.lower()) if end.lower() in lower else -1
    if not 0 <= place < len(names):
        raise UnmaskError(
            f"column {end!r} is not in the first line of {what!r}, which has {len(names)}; give its name there, or its "
            "number from 1"
        )
    return place


def _stem(name: str) -> str:
    return _NAMING.sub("", name.lower())


def _all(pattern: re.Pattern[str], cells: Sequence[str]) -> bool:
    return all(pattern.fullmatch(cell) for cell in cells)


def names_columns(lines: Sequence[Sequence[str]], *, commented: bool) -> bool:
    """Whether the first line names columns: it holds no whole number, and a known pair, nothing but words for people
    and for what is said of links, or words where others hold numbers.
    """
    first, stems = lines[0], [_stem(name) for name in lines[0]]
    if len(first) < 2 or any(_WHOLE.fullmatch(cell) for cell in first):
        return False
    if any(u in stems and v in stems for u, v in PAIRS):
        return True
    if commented or len(lines) < 2:
        return False
    if sum(stem in _PEOPLE for stem in stems) > 1 and {*stems} <= _PEOPLE | _OTHERS:
        return True
    return sum(bool(_WHOLE.fullmatch(cell)) for cell in lines[1]) > 1 or _above_figures(lines)


def _above_figures(lines: Sequence[Sequence[str]]) -> bool:
    """Whether a column holds numbers or dates alone, but for a word in the first line."""
    first, *body = lines
    columns = zip(first, zip(*body, strict=False), strict=False)
    return any(_WORD.fullmatch(cell) and _all(_FIGURE, column) for cell, column in columns)


def _plain(rows: Sequence[Sequence[str]], n_columns: int) -> list[bool]:
    """(n_columns,) whether ids may stand there: no decimals, no dates, nor numbers behind two texts."""
    columns = list(zip(*rows, strict=False)) or [("",)] * n_columns
    plain = [not _all(_NO_END, column) for column in columns]
    whole = [may and _all(_WHOLE, column) for may, column in zip(plain, columns, strict=True)]
    if [number for may, number in zip(plain, whole, strict=True) if may] == [False, False, True]:  # a weight
        plain = [may and not number for may, number in zip(plain, whole, strict=True)]
    return plain


def _is_matrix(rows: Sequence[Sequence[str]], names: Sequence[str] | None = None) -> bool:
    """Whether these are rows of 0 and 1, or, by its shape and its diagonal, of a square matrix of other numbers."""
    if names is not None:
        if len(names) < 4 or len({*names}) < len(names) or [row[0] for row in rows] != list(names[1 : len(rows) + 1]):
            return False
        rows, names = [row[1:] for row in rows], names[1:]
    width = len(rows[0]) if rows else 0
    if width < 3 or len(rows) < 3 or {len(row) for row in rows} != {width}:
        return False
    if all(cell in {"0", "1"} for row in rows for cell in row):
        return True
    if width < 4 or len(rows) != min(width, SAMPLE) or not all(_all(_NUMBER, row) for row in rows):
        return False
    hollow = all(float(rows[i][i]) == 0 for i in range(len(rows)))
    return hollow or all(rows[i][j] == rows[j][i] for i in range(len(rows)) for j in range(i))


def _is_adjacency(lines: Sequence[Sequence[str]], what: str) -> bool:
    """Whether each line is a node and its neighbors: lines of unequal length, all cells ids, no node with two lines.

    Refused are lines of unequal length, all cells ids, that are not so.
    """
    filled = [[*line] for line in lines]
    for line in filled:
        while len(line) > 1 and not line[-1]:
            line.pop()
    further = {cell for line in filled for cell in line[2:]}
    if not further or len({len(line) for line in filled}) == 1 or any("" in line for line in filled):
        return False
    heads = [line[0] for line in filled]
    if not (_all(_WHOLE, [*further, *heads]) or further & {*heads}):
        return False
    if len({*heads}) == len(heads) and len({len(line) for line in lines}) > 1:
        return True
    raise UnmaskError(
        f"file {what!r} has lines of unequal length, and all cells look like ids: an adjacency list has one line for a "
        "node, a list of links two ids a line; if the others are attributes, add --source 1 --target 2"
    )


def _by_looks(lines: Sequence[Sequence[str]], what: str, plain: Sequence[bool]) -> tuple[int, int]:
    """Of columns without names the first two that look like ids: no decimals, no dates, no moments."""
    columns = [*zip(*lines, strict=False)]
    if len(columns) < 3:
        return 0, 1
    left = [i for i, column in enumerate(columns) if plain[i]]
    ids = [i for i in left if not _all(_MOMENT, columns[i])]
    left = ids if len(ids) > 1 and {*columns[ids[0]]} & {*columns[ids[1]]} else left
    rising = len(lines) > 2 and _all(_WHOLE, columns[0]) and all(int(a) < int(b) for a, b in pairwise(columns[0]))
    if left[:2] == [0, 1] and len(left) > 2 and rising and len({*columns[1]}) < len(columns[1]):
        raise UnmaskError(
            f"the first column of {what!r} counts its lines or names each node once, and which two are the ends of a "
            "link is not plain; say so with --source and --target, such as --source 2 --target 3"
        )
    return (left[0], left[1]) if len(left) > 1 else (0, 1)
