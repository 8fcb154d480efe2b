"""What each quasi-identifier gives the adversary: which one to drop, or to coarsen, first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.tables.column import classes_of
from unmask.tables.counts import rank

if TYPE_CHECKING:
    from unmask.tables.release import Table

MOST_COLUMNS = 16
"""Quasi-identifiers whose subsets, all of them, are looked at."""

IDENTITY = "identity"


@dataclass(frozen=True)
class Contribution:
    """What one quasi-identifier adds to the success of an adversary who knows all of them.

    target    : "identity" or a sensitive column
    shapley   : its share of the whole gain: the mean of what it adds, over all orders in which columns become known.
                Over the columns of a target these sum to the gain of knowing all over knowing none.
    alone     : what it adds to knowing nothing
    last      : what it adds to knowing all others: the success that dropping it alone takes away
    """

    target: str
    column: str
    shapley: float
    alone: float
    last: float


def contributions(table: Table) -> tuple[Contribution, ...]:
    """Every quasi-identifier for every target, the largest Shapley value first.

    The adversary knows the columns S of a random record's person and that they are in the table. The success, one minus
    the estimation error under Hamming loss, is v(S) = (classes of S) / n for identity, and sum_c max_s n_cs / n for a
    sensitive column; v(none) is 1 / n, and the share of the commonest value. With d columns the Shapley value is
    sum over S without j of |S|! (d - |S| - 1)! / d! (v(S + j) - v(S)), computed from all 2^d subsets: exact, up to 16
    columns. Only distinct combinations of cells are looked at, each subset once.

    >>> from unmask.tables import Table
    >>> people = Table.read({"sex": ["f", "m"], "town": ["a", "b"]}, quasi_identifiers=["sex", "town"])
    >>> [(one.column, one.shapley, one.alone, one.last) for one in contributions(people)]
    [('sex', 0.25, 0.5, 0.0), ('town', 0.25, 0.5, 0.0)]

    L. S. Shapley, "A value for n-person games", 1953. Rebollo-Monedero et al. 2012 for the error.
    """
    table = _plain(table)
    columns = table.quasi_identifiers
    if len(columns) > MOST_COLUMNS:
        raise UnmaskError(
            f"{len(columns)} quasi-identifiers have more subsets than can be looked at, expected at most "
            f"{MOST_COLUMNS}; leave some out"
        )
    d = len(columns)
    found: list[Contribution] = []
    for target, value in _values(table).items():
        shapley = np.zeros(d)
        for subset in range(1 << d):
            size = subset.bit_count()
            for j in range(d):
                if not subset >> j & 1:
                    shapley[j] += (value[subset | 1 << j] - value[subset]) / (d * comb(d - 1, size))
        whole = (1 << d) - 1
        order = np.argsort(-shapley, kind="stable")
        found += [
            Contribution(
                target,
                columns[j].name,
                float(shapley[j]),
                float(value[1 << j] - value[0]),
                float(value[whole] - value[whole ^ (1 << j)]),
            )
            for j in order.tolist()
        ]
    return tuple(found)


def _plain(table: Table) -> Table:
    """The rows that the rule for missing cells leaves; a cell that fits any value makes classes that overlap."""
    if table.missing == "wildcard" and any(
        column.counts[column.levels.gaps].any() for column in table.quasi_identifiers
    ):
        raise UnmaskError("missing cells stand for any value, so classes overlap; use the rule own or excluded")
    return table.take(table.taking_part)


def _values(table: Table) -> dict[str, NDArray[np.float64]]:
    """Target -> (2^d,) success of the adversary who knows the columns of each subset, bit j for column j."""
    columns, secrets = table.quasi_identifiers, table.sensitive
    every = [*columns, *secrets]
    combinations = classes_of(every)
    weight, codes = combinations.sizes, combinations.levels
    value = {name: np.empty(1 << len(columns)) for name in (IDENTITY, *(column.name for column in secrets))}
    for subset, of_row, n_classes in _subsets(table, codes):
        value[IDENTITY][subset] = n_classes / table.n_rows
        for j, secret in enumerate(secrets, len(columns)):
            pair, counts = _counted(of_row * len(secret.levels) + codes[:, j], weight, n_classes * len(secret.levels))
            most = np.zeros(n_classes)
            np.maximum.at(most, pair // len(secret.levels), counts)
            value[secret.name][subset] = most.sum() / table.n_rows
    return value


def _subsets(table: Table, codes: NDArray[np.int32]) -> Iterator[tuple[int, NDArray[np.int64], int]]:
    """(subset, class of each combination, classes): each class is that of a subset with one column less, refined."""
    sizes = [len(column.levels) for column in table.quasi_identifiers]
    waiting = [(0, 0, np.zeros(len(codes), dtype=np.int64), 1)]  # subset, first column that may join, classes
    while waiting:
        subset, first, of_row, n_classes = waiting.pop()
        yield subset, of_row, n_classes
        for j in range(first, len(sizes)):
            finer, count, _ = rank(of_row * sizes[j] + codes[:, j], n_classes * sizes[j])
            waiting.append((subset | 1 << j, j + 1, finer.astype(np.int64), len(count)))


def _counted(
    key: NDArray[np.int64], weight: NDArray[np.int64], space: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Distinct keys, and the weight of each."""
    of_row, _, first = rank(key, space)
    return key[first], np.bincount(of_row, weights=weight).astype(np.float64)
