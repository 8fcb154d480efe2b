"""Matrices and adjacency lists in text files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unmask.core.errors import AmbiguousInput, UnmaskError
from unmask.data import Dialect, cut, iterate_rows
from unmask.data.dialects import NUMBER, WHOLE, is_blank
from unmask.graphs.node_numbers import LinkList, sort_labels

_MIN_ROWS = 3  # of a matrix or an adjacency list; fewer lines look like both
_MAX_DIALECTS = 4  # of a matrix: further ones fit too badly


def matrix_dialect(dialects: Sequence[Dialect], *, asked: bool) -> tuple[Dialect, bool, bool] | None:
    """Return the dialect of a square matrix, whether its first row names nodes, and whether its first column does.

    asked : whether the user names the form, so that only names are looked for
    """
    for dialect in (one for one in dialects[:_MAX_DIALECTS] if one.rows):
        first, *body = dialect.rows[: dialect.n_first]
        n_rows = (
            dialect.n_first
            if len(dialect.rows) == dialect.n_first
            else dialect.sample.file.n_lines - dialect.sample.n_above
        )
        named = len({*first}) == len(first) and any(map(_is_name, first))
        heads = named and [row[0] for row in body] == list(first[1 : len(body) + 1])
        rows = [row[1:] for row in body] if heads else body if named else [first, *body]
        if asked:
            return dialect, named, heads
        is_square = n_rows - named == dialect.width - heads and not dialect.misfits
        if is_square and len(rows) >= _MIN_ROWS and _is_adjacency_matrix(rows):
            return dialect, named, heads
    return None


def _is_name(cell: str) -> bool:
    return bool(cell) and not NUMBER.fullmatch(cell)


def _is_adjacency_matrix(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether cells are numbers, and hollow or symmetric: of 0 and 1 either, of other numbers both."""
    if not all(cell == "" or NUMBER.fullmatch(cell) for row in rows for cell in row):
        return False
    n = min(len(rows), len(rows[0]))
    values = np.array([[_number(cell) for cell in row[:n]] for row in rows[:n]])
    hollow, symmetric = not values.diagonal().any(), bool((values == values.T).all())
    if {*np.unique(values)} <= {0, 1}:
        return hollow or symmetric
    return n > _MIN_ROWS and hollow and symmetric


def _number(cell: str) -> float:
    return float(cell.replace(",", ".") or 0)


def read_matrix(dialect: Dialect, named: bool, heads: bool) -> LinkList:
    """Return the links of a square matrix: an entry other than 0 is one."""
    name = dialect.sample.file.name
    first, *body = iterate_rows(dialect)
    rows = [row[heads:] for row in body] if named else [first, *body]
    names = first[heads:] if named else []
    if len(rows) != len(rows[0]):
        raise UnmaskError(f"file {name!r} has {len(rows)} rows of {len(rows[0])} numbers, expected a square matrix")
    try:
        values = np.array([[_number(cell) for cell in row] for row in rows])
    except ValueError:
        raise UnmaskError(f"file {name!r} is read as a matrix, and a cell of it is not a number; correct it") from None
    u, v = values.nonzero()
    oriented, weighted = not np.array_equal(values != 0, values.T != 0), bool((values[u, v] != 1).any())
    attributes = tuple(word for word, is_there in (("direction", oriented), ("weight", weighted)) if is_there)
    if len({*names}) < len(names):
        raise UnmaskError(f"file {name!r} has two nodes of one name, expected every name once")
    labels = np.array(names, dtype=object) if named else np.arange(len(rows))
    account = f"{dialect.sample.file.n_lines:,} lines; a matrix of {len(rows):,} nodes"
    return LinkList(u.astype(np.int64), v.astype(np.int64), labels, len(rows), attributes, account)


def adjacency_dialect(dialects: Sequence[Dialect], *, asked: bool) -> Dialect | None:
    """Return the dialect of lines that are each a node and its neighbors; refuse lines that may be edges as well.

    asked : whether the user names the form
    """
    pure = max(dialects, key=lambda dialect: dialect.terms["pure"])
    if asked:
        return pure
    if any(
        dialect.width > 1 and not dialect.misfits and dialect.terms["pure"] == 1 and _n_open(dialect) < 2
        for dialect in dialects
    ):
        return None
    if not pure.misfits and not any(row[-1] == "" for row in pure.rows):
        return None
    rows = [_without_gaps(row) for _, row in cut(pure.sample.lines, pure.delimiter, pure.quote) if not is_blank(row)]
    heads, further, later = (
        {row[0] for row in rows},
        {cell for row in rows for cell in row[1:]},
        {cell for row in rows for cell in row[2:]},
    )
    if not later or len({*map(len, rows)}) == 1:
        return None
    numeric = all(map(WHOLE.fullmatch, heads | further))
    if "" not in further and len(heads) == len(rows) >= _MIN_ROWS and later <= heads:
        if numeric and len(rows[0]) == 2 and int(rows[0][0]) == len(rows) - 1:
            question = f"the first row of {pure.sample.file.name!r} may count nodes and edges"
            raise AmbiguousInput(question, ["--skip-lines 1 --form adjacency", "--form adjacency"])
        return pure
    if numeric or later & heads:
        question = f"file {pure.sample.file.name!r} has lines of unequal length, all of ids: neighbors, or attributes?"
        raise AmbiguousInput(question, ["--form adjacency", f"--form links {pure.option}"])
    return None


def _n_open(dialect: Dialect) -> int:
    """Count the columns with an empty cell."""
    return sum("" in column for column in zip(*dialect.rows[:200], strict=True))


def _without_gaps(row: Sequence[str]) -> list[str]:
    cells = [*row]
    while len(cells) > 1 and not cells[-1]:
        cells.pop()
    return cells


def read_adjacency(dialect: Dialect) -> LinkList:
    """Return the links of lines that are each a node and its neighbors."""
    rows = [[cell for cell in row if cell] for row in iterate_rows(dialect, any_width=True)]
    labels = sort_labels([*{cell for row in rows for cell in row}])
    place = {str(label): at for at, label in enumerate(labels.tolist())}
    ends = np.array([(place[row[0]], place[cell]) for row in rows for cell in row[1:]], dtype=np.int64)
    u, v = ends.reshape(-1, 2).T
    account = f"{dialect.sample.file.n_lines:,} lines; an adjacency list of {len(rows):,} nodes"
    return LinkList(u, v, labels, len(labels), account=account)
