"""Linkage by equal strings, as published. It reproduces a paper and does not measure a risk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.core.posterior import Posterior
from unmask.tables.attacks.noisy import select_sums
from unmask.tables.attacks.pairing import Pairing, pair
from unmask.tables.background import Background, Rng, people_of
from unmask.tables.table import Table

TIE = 1e-9
"""Distances that differ by less are equal."""


@dataclass(frozen=True)
class StringLinkage:
    """Linkage attack by equal strings: one-hot rows and a KD-tree, as published.

    The Euclidean distance of one-hot rows is sqrt(2 d), with d the number of different columns; a missing cell counts
    half. The tree therefore only compares texts, and "[28, 40]" never equals 35. Classes at the smallest distance share
    the belief. The status is `scores`. `verification/table_strings.py` reproduces the counts of the paper.

    Assumes: the release and the adversary write cells in the same way.

    Fails when: cells are generalized. A low success then shows a difference in notation, and no protection. The attack
        is here to reproduce a paper.

    References
    ----------
    R. Pasupuleti, "Linkage attack analysis: k-anonymity, l-diversity and t-closeness", methodology and results.

    Examples
    --------
    >>> release = Table.read({"age": ["[20, 29]", "[20, 29]", "35"]}, quasi_identifiers="age")
    >>> belief = StringLinkage()(release, Background(Table.read({"age": [24]}, quasi_identifiers="age")))
    >>> [round(record.probability, 2) for record in belief.candidates(0)]  # no text equals "24"
    [0.33, 0.33, 0.33]
    """

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:  # noqa: ARG002 - draws nothing
        """Return the belief about each known person: uniform over the records of the nearest classes."""
        pairing = pair(people_of(knowledge, self), release)
        row, klass, _ = select_sums(pairing, differences(pairing), lambda s: s <= s.min(axis=1, keepdims=True) + TIE)
        indptr, candidate, _ = pairing.expand(row, klass, np.zeros(len(row)))
        return pairing.uniform_posterior(indptr, candidate, attack=repr(self))


def equal_texts(pairing: Pairing) -> list[NDArray[np.bool_]]:
    """Return (n_known_levels, n_released_levels) for each column: whether two cells are equal texts."""
    labels = [[np.array(c.levels.labels, dtype=object) for c in sides] for sides in pairing.columns]
    is_stated = [[~column.levels.is_missing for column in sides] for sides in pairing.columns]
    return [
        np.equal.outer(*texts).astype(bool) & np.logical_and.outer(*has_value)
        for texts, has_value in zip(labels, is_stated, strict=True)
    ]


def differences(pairing: Pairing) -> list[NDArray[np.float64]]:
    """Return half the squared one-hot distance in each column.

    It is 0 if the cells are equal, 1 if they differ, and 1/2 if one of them is missing.
    """
    missing = [
        [(column.levels.is_missing | column.levels.unknown).astype(int) for column in sides]
        for sides in pairing.columns
    ]
    return [
        np.where(equal, 0.0, np.array([1.0, 0.5, 0.0])[np.add.outer(*gaps)])
        for equal, gaps in zip(equal_texts(pairing), missing, strict=True)
    ]
