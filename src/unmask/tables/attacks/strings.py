"""Linkage by equal strings, as published. It reproduces a paper and does not measure a risk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal, NamedTuple

import numpy as np

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.posterior import Posterior
from unmask.ranges import Range, check_types
from unmask.tables.attacks.noisy import TIE_DISTANCE, select_sums
from unmask.tables.attacks.pairing import Pairing, pair
from unmask.tables.background import Background, Rng, people_of
from unmask.tables.table import Table

Limit = Literal["last", "nearest", "none"]


class EqualCells(NamedTuple):
    """Count of equal texts in cells of people and of the classes linked to them.

    Parameters
    ----------
    equal, compared : int
        Cells with equal texts, and all compared cells.
    linked : int
        People who are linked to a class.
    """

    equal: int
    compared: int
    linked: int


@dataclass(frozen=True)
class StringLinkage:
    """Linkage attack by equal strings: one-hot rows and a KD-tree, as published.

    The Euclidean distance of one-hot rows is sqrt(2 d), with d the number of different columns; a missing cell counts
    half. The tree therefore only compares texts, and "[28, 40]" never equals 35. The classes linked to a person share
    the belief. The status is `scores`. `verification/table_strings.py` reproduces the counts of the paper.

    Assumes: the release and the adversary write cells in the same way.

    Fails when: cells are generalized. A low success then shows a difference in notation, and no protection. The attack
        is here to reproduce a paper.

    Parameters
    ----------
    neighbors : int, optional
        Number of classes linked to each person, the nearest first, then by class order. By default all classes at the
        smallest distance.
    limit : str
        Distance whose median over the people is the limit for `neighbors`: people above it are linked to no class.
        last: the distance of the last neighbor, as the paper says. nearest: that of the nearest one, which the paper's
        program reads. none: no limit.

    References
    ----------
    R. Pasupuleti, "Linkage attack analysis: k-anonymity, l-diversity and t-closeness", methodology and results.

    Examples
    --------
    >>> release = Table.read({"age": ["[20, 29]", "[20, 29]", "35"]}, quasi_identifiers="age")
    >>> known = Background(Table.read({"age": [24, 35]}, quasi_identifiers="age"))
    >>> [round(record.probability, 2) for record in StringLinkage()(release, known).candidates(0)]  # no text is "24"
    [0.33, 0.33, 0.33]
    >>> StringLinkage(neighbors=1).count_equal_cells(release, known)
    EqualCells(equal=1, compared=1, linked=1)
    """

    neighbors: Annotated[int, Range(1)] | None = None
    limit: Limit = "last"

    def __post_init__(self) -> None:
        """Refuse parameters that mean nothing."""
        check_types(type(self), {"neighbors": self.neighbors, "limit": self.limit})

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:  # noqa: ARG002 - draws nothing
        """Return the belief about each known person: uniform over the records of the linked classes."""
        pairing = pair(people_of(knowledge, self), release)
        observation, klass = self._link(pairing)
        indptr, candidate, _ = pairing.expand(observation, klass, np.zeros(len(klass)))
        return pairing.uniform_posterior(indptr, candidate, attack=repr(self))

    def count_equal_cells(self, release: Table, knowledge: Background) -> EqualCells:
        """Count the cells of people that equal those of a linked class as texts: the count of the paper."""
        pairing = pair(people_of(knowledge, self), release)
        observation, klass = self._link(pairing)
        people = np.bincount(pairing.observation, minlength=len(pairing.observed))
        equal = np.zeros(len(klass), dtype=np.int64)
        for i, texts in enumerate(equal_texts(pairing)):
            equal += texts[pairing.observed[observation, i], pairing.classes[klass, i]]
        weight = people[observation]
        linked = int(people[np.unique(observation)].sum())
        return EqualCells(int(weight @ equal), int(weight.sum()) * len(pairing.columns), linked)

    def _link(self, pairing: Pairing) -> tuple[Integers, Integers]:
        """Return the observation and the class of each linked pair, sorted by observation."""
        if self.neighbors is None:
            return select_sums(
                pairing, differences(pairing), lambda s: s <= s.min(axis=1, keepdims=True) + TIE_DISTANCE
            )[:2]
        n = min(self.neighbors, len(pairing.classes))
        observation, klass, distance = select_sums(pairing, differences(pairing), partial(_select_nearest, n=n))
        if self.limit == "none":
            return observation, klass
        of_observation = distance.reshape(-1, n)
        limited = of_observation.max(axis=1) if self.limit == "last" else of_observation.min(axis=1)
        is_linked = (limited <= np.median(limited[pairing.observation]) + TIE_DISTANCE)[observation]
        return observation[is_linked], klass[is_linked]


def _select_nearest(distances: Floats, *, n: int) -> Booleans:
    """Return a mask of the n smallest distances of each row; the first ones of equal distances."""
    mask = np.zeros(distances.shape, dtype=np.bool_)
    np.put_along_axis(mask, np.argsort(distances.round(9), axis=1, kind="stable")[:, :n], True, axis=1)
    return mask


def equal_texts(pairing: Pairing) -> list[Booleans]:
    """Return (n_known_levels, n_released_levels) for each column: whether two cells are equal texts."""
    labels = [[np.array(c.levels.labels, dtype=object) for c in sides] for sides in pairing.columns]
    is_stated = [[~column.levels.is_missing for column in sides] for sides in pairing.columns]
    return [
        np.equal.outer(*texts).astype(bool) & np.logical_and.outer(*has_value)
        for texts, has_value in zip(labels, is_stated, strict=True)
    ]


def differences(pairing: Pairing) -> list[Floats]:
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
