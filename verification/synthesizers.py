"""Generators of synthetic tables, in few lines: those on whose releases membership is verified."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from unmask.tables import Table

Released = tuple[Table, NDArray[np.int64]]


@dataclass(frozen=True)
class Bootstrap:
    """Rows drawn with replacement: no protection at all."""

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """As many rows."""
        rows = np.random.default_rng(rng).choice(table.n_rows, table.n_rows)
        return table.take(rows), rows


@dataclass(frozen=True)
class Independent:
    """Every column drawn on its own."""

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """As many rows."""
        rng, n = np.random.default_rng(rng), table.n_rows
        return _of(table, [column.codes[rng.choice(n, n)] for column in table.quasi_identifiers])


@dataclass(frozen=True)
class Trees:
    """Column after column drawn from the leaf of a tree over those before it, as synthpop does.

    leaf : fewest people of a leaf
    """

    leaf: int = 5

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """As many rows."""
        rng, true = np.random.default_rng(rng), table.codes
        drawn = np.empty_like(true)
        drawn[:, 0] = rng.choice(true[:, 0], table.n_rows)
        for j in range(1, true.shape[1]):
            tree = DecisionTreeClassifier(min_samples_leaf=self.leaf, random_state=int(rng.integers(2**31)))
            tree.fit(true[:, :j], true[:, j])
            leaf = tree.apply(true[:, :j])
            order = np.argsort(leaf, kind="stable")
            leaves, start, size = np.unique(leaf[order], return_index=True, return_counts=True)
            at = np.searchsorted(leaves, tree.apply(drawn[:, :j]))
            drawn[:, j] = true[order[start[at] + (rng.random(len(at)) * size[at]).astype(int)], j]
        return _of(table, list(drawn.T))


def _of(table: Table, codes: list[NDArray[np.int32]]) -> Released:
    columns = zip(table.quasi_identifiers, codes, strict=True)
    made = tuple(replace(column, codes=np.ascontiguousarray(code)) for column, code in columns)
    return replace(table, quasi_identifiers=made), np.full(table.n_rows, -1)
