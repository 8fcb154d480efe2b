"""Kept columns of an original and its releases, read for what their cells mean where they are written differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unmask.core.errors import UnmaskError
from unmask.tables.coding import Encoded
from unmask.tables.column import Column
from unmask.tables.meanings import Meanings
from unmask.tables.release import Table


def one_spelling(original: Table, others: Sequence[Table]) -> tuple[Table, list[Table]]:
    """The tables with one spelling of the kept columns that the original shares with others.

    A kept column leaves as it is, so that its cells are texts, compared letter by letter. A release that another
    program wrote has 7.5 for 7.50, or 2024-03-05 for 05.03.2024, and nobody would find themselves in it. So where it
    has a cell that the original has not, the column of all tables is read by its type, that of the original. One that
    can be read in two ways stays as it is.

    >>> one, other = (
    ...     Table.read({"q": [1, 1], "x": texts}, quasi_identifiers="q", keep="x")
    ...     for texts in (["7.50", "12.00"], ["7.5", "12"])
    ... )
    >>> one["x"].tolist(), one_spelling(one, [other])[0]["x"].tolist()
    (['7.50', '12.00'], ['7.5', '12'])
    """
    read, told = original, list(others)
    for column in original.kept:
        sharing = {at: one.column(column.name) for at, one in enumerate(others) if _keeps(one, column.name)}
        if all(set(one.levels.labels) <= set(column.levels.labels) for one in sharing.values()):
            continue
        try:
            typed = _by_type(column)
            theirs = {at: _by_type(one, like=typed) for at, one in sharing.items()}
        except UnmaskError:
            continue
        if typed.type == "text":  # which is compared letter by letter
            continue
        read = _with(read, typed)
        for at, one in theirs.items():
            told[at] = _with(told[at], one)
    return read, told


def _keeps(table: Table, name: str) -> bool:
    return any(column.name == name for column in table.kept)


def _by_type(column: Column, like: Column | None = None) -> Column:
    labels = column.levels.labels
    texts = tuple(None if at == column.levels.missing else text for at, text in enumerate(labels))
    known = {} if like is None else {column.name: like}
    encoded = {column.name: Encoded(texts, column.codes, column.stored)}
    return Meanings({}, {}, {}, na=(), like=known).read(encoded, n_rows=len(column.codes))[0][column.name]


def _with(table: Table, read: Column) -> Table:
    return replace(table, kept=tuple(read if column.name == read.name else column for column in table.kept))
