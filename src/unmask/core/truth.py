"""True candidates of targets. Only audits use them, to evaluate beliefs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Booleans, Integers
from unmask.core.errors import UnmaskError

UNKNOWN = -1
"""Code: the true candidate is unknown, and realized measures exclude the target."""

ABSENT = -2
"""Code: the target is not among the candidates, for example not in the release."""


@dataclass(frozen=True, eq=False)
class Truth:
    """The true candidate of each target.

    candidate : (n_targets,) int64; a candidate number, `ABSENT`, or `UNKNOWN`.
    person    : (n_candidates,) person of each candidate, numbered from 0. If a person has several candidates, each of
                them is right, and `candidate` has one of them. None: each candidate is a different person.
    leaked    : (n_targets,) mask, or numbers, of targets that the adversary knew before. Measures exclude them.

    >>> Truth([0, 2, ABSENT]).candidate
    array([ 0,  2, -2])
    >>> Truth([0, 2, ABSENT, 1], leaked=[3]).judged
    array([ True,  True,  True, False])
    """

    candidate: Integers
    person: Integers | None
    leaked: Booleans

    def __init__(self, candidate: ArrayLike, *, person: Integers | None = None, leaked: ArrayLike = ()) -> None:
        array = np.asarray(candidate)
        if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
            raise UnmaskError(
                f"the truth has shape {array.shape} and type {array.dtype}, expected one integer for each target"
            )
        array = array.astype(np.int64)
        if array.size and array.min() < ABSENT:
            raise UnmaskError(
                f"target {int(array.argmin())} has a true candidate below {ABSENT}; "
                f"use ABSENT ({ABSENT}) or UNKNOWN ({UNKNOWN})"
            )
        array.setflags(write=False)
        object.__setattr__(self, "candidate", array)
        object.__setattr__(self, "person", person)
        object.__setattr__(self, "leaked", _flags(leaked, len(array)))

    def __len__(self) -> int:
        return len(self.candidate)

    @property
    def judged(self) -> Booleans:
        """Return the mask of targets that realized measures include: the truth is known, and was not leaked."""
        return np.asarray((self.candidate != UNKNOWN) & ~self.leaked)

    def accepts(self, named: NDArray[np.integer]) -> Booleans:
        """Return the mask of right candidates, (..., n_targets); -1, for no candidate, is not right.

        >>> Truth([0, 1], person=np.array([0, 1, 0])).accepts(np.array([2, 0]))
        array([ True, False])
        """
        if self.person is None:
            return np.asarray((named >= 0) & (named == self.candidate))
        person = np.append(self.person, -1)  # number -1 is not a candidate
        true_person = person[np.maximum(self.candidate, -1)]
        return np.asarray((named >= 0) & (self.candidate >= 0) & (person[named] == true_person))

    def list_pairs(self) -> tuple[Integers, Integers]:
        """Return all pairs of a target and a right candidate, ascending by target.

        >>> Truth([0, ABSENT], person=np.array([0, 1, 0])).list_pairs()
        (array([0, 0, 1]), array([ 0,  2, -2]))
        """
        targets = np.arange(len(self))
        if self.person is None:
            return targets, self.candidate
        order = np.argsort(self.person, kind="stable")
        sizes = np.bincount(self.person)
        person = self.person[np.maximum(self.candidate, 0)]
        count = np.where(self.candidate >= 0, sizes[person], 1)
        first = (np.cumsum(sizes) - sizes)[person]
        position = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        target = np.repeat(targets, count)
        candidate = order[np.minimum(first[target] + position, len(order) - 1)]
        return target, np.where(self.candidate[target] >= 0, candidate, self.candidate[target])


def _flags(leaked: ArrayLike, n: int) -> Booleans:
    array = np.asarray(leaked)
    if array.dtype == np.bool_ and len(array) == n:
        return array
    flags = np.zeros(n, dtype=np.bool_)
    numbers = array.astype(np.int64).reshape(-1)
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < n:
        raise UnmaskError(f"leaked targets go from {numbers.min()} to {numbers.max()}, expected 0 to {n - 1}")
    flags[numbers] = True
    return flags
