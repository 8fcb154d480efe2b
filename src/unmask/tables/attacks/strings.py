"""The published string linkage: compares generalized cells as text. Kept to reproduce a paper, not to measure a
risk.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.posterior import Posterior
from unmask.tables.attacks.pairing import Pairing, pair, sums_over
from unmask.tables.background import Background, Rng, people_of
from unmask.tables.release import Table

TIE = 1e-9


@dataclass(frozen=True)
class StringMatches:
    """What the published procedure counts.

    matches       : cells of kept targets whose text equals the text of a linked class
    tie_averaged  : the same, expected over a random choice among classes at equal distance
    kept          : targets whose nearest class is at most the median distance away
    possible      : kept x neighbors x columns
    """

    matches: int
    tie_averaged: float
    kept: int
    possible: int


@dataclass(frozen=True)
class StringLinkage:
    """One-hot KD-tree linkage: which equivalence class has labels that equal the adversary's raw values as text?

    The Euclidean distance between one-hot rows is sqrt(2 x columns that differ, a missing cell counting half), so the
    tree does no more than this comparison: "[28, 40]" never equals 35. Classes at the least distance share the belief;
    status `scores`. `count` gives the paper's own tally.

    neighbors : classes linked to each target

    R. Pasupuleti, "Linkage attack analysis: k-anonymity, l-diversity and t-closeness", methodology and results.
    """

    neighbors: int = 3

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:  # noqa: ARG002 - draws nothing
        """The belief about each person known: the records of the nearest classes, alike."""
        pairing = pair(people_of(knowledge, self), release)
        row, klass, _ = sums_over(pairing, _tables(pairing), lambda s: s <= s.min(axis=1, keepdims=True) + TIE)
        indptr, candidate, _ = pairing.expand(row, klass, np.zeros(len(row)))
        return pairing.all_alike(indptr, candidate, attack=repr(self))

    def count(self, release: Table, auxiliary: Table) -> StringMatches:
        """The tally over targets: keep those whose nearest distance is at most the median, link each to its nearest
        classes in class order, count the cells that match as text.
        """
        pairing = pair(auxiliary, release)
        row, _, distance = sums_over(pairing, _tables(pairing), lambda s: np.ones(s.shape, dtype=bool))
        n_classes, d = len(pairing.classes), len(pairing.columns)
        assert len(row) == len(pairing.observed) * n_classes
        distances = distance.reshape(-1, n_classes)[pairing.observation]
        equal = np.zeros((len(pairing.observation), n_classes))
        for i, table in enumerate(_equal(pairing)):
            equal += table[pairing.observed[pairing.observation, i]][:, pairing.classes[:, i]]
        nearest = distances.min(axis=1)
        kept = np.flatnonzero(nearest <= np.median(nearest))
        k = min(self.neighbors, n_classes)
        order = np.argsort(distances[kept], axis=1, kind="stable")[:, :k]
        matches = np.take_along_axis(equal[kept], order, axis=1).sum()
        averaged = sum(_expected_matches(distances[t], equal[t], k) for t in kept)
        return StringMatches(int(matches), float(averaged), len(kept), len(kept) * k * d)


def _expected_matches(distance: NDArray[np.float64], equal: NDArray[np.float64], k: int) -> float:
    """Expected matching cells over the k nearest classes when classes at equal distance are drawn at random."""
    last = np.partition(distance, k - 1)[k - 1]
    sure = distance < last - TIE
    tied = np.abs(distance - last) <= TIE
    return float(equal[sure].sum() + (k - sure.sum()) * equal[tied].mean())


def _equal(pairing: Pairing) -> list[NDArray[np.bool_]]:
    """For each column (n_known_levels, n_released_levels): the two cells are the same text, neither missing."""
    tables = []
    for known, released in pairing.columns:
        table = np.equal.outer(
            np.array(known.levels.labels, dtype=object), np.array(released.levels.labels, dtype=object)
        )
        table = table.astype(bool)
        if known.levels.missing >= 0:
            table[known.levels.missing, :] = False
        if released.levels.missing >= 0:
            table[:, released.levels.missing] = False
        tables.append(table)
    return tables


def _tables(pairing: Pairing) -> list[NDArray[np.float64]]:
    """Half the squared one-hot distance that each column adds: 0 equal, 1 different, 1/2 where one of the two is
    missing.
    """
    tables = []
    for (known, released), equal in zip(pairing.columns, _equal(pairing), strict=True):
        table = np.where(equal, 0.0, 1.0)
        if known.levels.missing >= 0:
            table[known.levels.missing, :] = 0.5
        if released.levels.missing >= 0:
            table[:, released.levels.missing] = 0.5
            if known.levels.missing >= 0:
                table[known.levels.missing, released.levels.missing] = 0.0
        tables.append(table)
    return tables
