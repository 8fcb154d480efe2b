"""Generators of synthetic tables, in few lines, for the verification of membership."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from unmask.tables import Table
from unmask.tables.attacks.marginal_counts import mutual_information

Released = tuple[Table, NDArray[np.int64]]


@dataclass(frozen=True)
class Bootstrap:
    """Rows drawn with replacement: no protection at all."""

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Return as many rows."""
        rows = np.random.default_rng(rng).choice(table.n_rows, table.n_rows)
        return table.take(rows), rows


@dataclass(frozen=True)
class Independent:
    """Every column drawn on its own."""

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Return as many rows."""
        rng, n = np.random.default_rng(rng), table.n_rows
        return _make_release(table, [column.codes[rng.choice(n, n)] for column in table.quasi_identifiers])


@dataclass(frozen=True)
class Trees:
    """Column after column drawn from the leaf of a tree over those before it, as synthpop does.

    leaf : fewest people of a leaf
    """

    leaf: int = 5

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Return as many rows."""
        rng, true = np.random.default_rng(rng), table.codes
        drawn = np.empty_like(true)
        drawn[:, 0] = rng.choice(true[:, 0], table.n_rows)
        for j in range(1, true.shape[1]):
            tree = DecisionTreeClassifier(min_samples_leaf=self.leaf, random_state=int(rng.integers(2**31)))
            tree.fit(true[:, :j], true[:, j])
            leaf = tree.apply(true[:, :j])
            order = np.argsort(leaf, kind="stable")
            leaves, start, size = np.unique(leaf[order], return_index=True, return_counts=True)
            index = np.searchsorted(leaves, tree.apply(drawn[:, :j]))
            drawn[:, j] = true[order[start[index] + (rng.random(len(index)) * size[index]).astype(int)], j]
        return _make_release(table, list(drawn.T))


@dataclass(frozen=True)
class ChowLiu:
    """Column after column drawn given its neighbor in the tree of the largest mutual information, by the counts of the
    two, with Laplace noise of scale d / epsilon for d columns. The tree is taken as public.

    C. Chow & C. Liu, "Approximating discrete probability distributions with dependence trees", 1968.
    """

    epsilon: float = inf

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> Released:
        """Return as many rows."""
        rng, true = np.random.default_rng(rng), table.codes
        sizes, (n, d) = [len(column.levels) for column in table.quasi_identifiers], true.shape
        information = np.array([[mutual_information(true[:, i], true[:, j]) for j in range(d)] for i in range(d)])
        drawn, done = np.zeros_like(true), [-1]
        while len(done) <= d:
            tree = done[1:] or [0]
            remaining = [j for j in range(d) if j not in done]
            parent, child = max(((i, j) for i in tree for j in remaining), key=lambda pair: information[pair])
            if done == [-1]:
                parent, child = -1, 0
            parent_codes = np.zeros(n, dtype=int) if parent < 0 else true[:, parent]
            counts = np.zeros((1 if parent < 0 else sizes[parent], sizes[child]))
            np.add.at(counts, (parent_codes, true[:, child]), 1.0)
            if self.epsilon < inf:
                counts = np.maximum(counts + rng.laplace(scale=d / self.epsilon, size=counts.shape), 0)
            total = np.cumsum(counts + 1e-6 * (counts.sum(axis=0) + 1e-6), axis=1)
            drawn_parents = np.zeros(n, dtype=int) if parent < 0 else drawn[:, parent]
            below = total[drawn_parents] < (rng.random(n) * total[drawn_parents, -1])[:, None]
            drawn[:, child] = below.sum(axis=1)
            done.append(child)
        return _make_release(table, list(drawn.T))


def _make_release(table: Table, codes: list[NDArray[np.int32]]) -> Released:
    columns = zip(table.quasi_identifiers, codes, strict=True)
    columns_drawn = tuple(replace(column, codes=np.ascontiguousarray(code)) for column, code in columns)
    return replace(table, quasi_identifiers=columns_drawn), np.full(table.n_rows, -1)
