"""Where the truth stands in beliefs: targets that no measure of that tells apart are looked at once.

A million people whose beliefs are of a handful of kinds find their true candidate in a handful of places.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures.alike import alike, rows_of
from unmask.remembered import remembered


class Places(NamedTuple):
    """The places where the truth of some target stands: one entry of rows that are alike, what is not listed in them,
    or "none of these".

    belief, truth  : of an example of each place; the belief's weight is that of all its targets
    of             : (n_targets,) the place of each target
    people         : (n_places,) how many targets are of each
    first          : (n_places,) the first observation of any of them
    n_observations : how many observations they have
    """

    belief: Posterior
    truth: Truth
    of: NDArray[np.integer]
    people: NDArray[np.int64]
    first: NDArray[np.int64]
    n_observations: int


@remembered(3)  # of a belief, of its prior and of control people, measure by measure; `audit` clears it
def places(belief: Posterior, truth: Truth) -> Places:
    """The places of the truth; each target is one by itself where they would not be half as many, where people are
    several candidates, and where targets differ in weight.

    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5], [0.0, 1.0]]), observation=np.arange(20) % 2)
    >>> places(belief, Truth(np.ones(20, dtype=int))).people
    array([10, 10])
    """
    key, n = _key(belief, truth), belief.n_targets
    counts = np.zeros(0, dtype=np.int64) if key is None else np.bincount(key)
    used = np.flatnonzero(counts)
    if key is None or 2 * len(used) > n:
        return one_by_one(belief, truth)
    number = np.zeros(len(counts), dtype=np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    of, example, first = number[key], np.empty(len(used), np.int64), np.full(len(used), belief.n_observations)
    example[of] = np.arange(n)
    np.minimum.at(first, of, belief.observation)
    rows, observation = np.unique(belief.observation[example], return_inverse=True)
    weight = counts[used] * belief.weight[0]
    few = replace(rows_of(belief, rows), observation=observation, weight=weight)
    judged = Truth(truth.candidate[example], leaked=truth.leaked[example])
    return Places(few, judged, of, counts[used], first, len(belief.seen))


def one_by_one(belief: Posterior, truth: Truth) -> Places:
    """Each target as a place by itself."""
    n = belief.n_targets
    return Places(belief, truth, np.arange(n), np.ones(n, np.int64), belief.observation, len(belief.seen))


def _key(belief: Posterior, truth: Truth) -> NDArray[np.int64] | None:
    """(n_targets,) a number for the place of the truth of each, and for whether it is judged; None where there are
    more such numbers than are counted, and where no two targets are put together.
    """
    kinds = alike(belief).belief
    row, n_entries, n_rows = kinds.observation, len(kinds.candidate), kinds.n_observations
    unlike = truth.person is not None or np.any(belief.weight != belief.weight[0])
    if unlike or n_entries + 2 * n_rows > 2 * len(row):
        return None
    entry, listed = entry_of(belief, belief.observation, truth.candidate)
    entry += kinds.indptr[row] - belief.indptr[belief.observation]
    place = np.where(listed, entry, n_entries + n_rows * (truth.candidate < 0) + row)
    return np.asarray(2 * place + truth.judged)


def entry_of(
    belief: Posterior, row: NDArray[np.int64], true: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The entry of each candidate in its row, and whether there is one."""
    if len(true) and true.max() >= belief.n_candidates:
        raise UnmaskError(f"the truth names candidate {true.max()}, expected 0..{belief.n_candidates - 1}")
    if not len(belief.candidate):
        return np.zeros(len(true), dtype=np.int64), np.zeros(len(true), dtype=bool)
    if belief.representative is not None:
        true = np.where(true < 0, true, belief.representative[true])
    if len(belief.candidate) == belief.n_observations * belief.n_candidates:  # every row lists every candidate
        return belief.indptr[row] + np.maximum(true, 0), true >= 0
    stop = belief.indptr[row + 1]
    entry = bisect(belief.candidate, belief.indptr[row], stop, true, right=False)
    inside = np.minimum(entry, len(belief.candidate) - 1)
    return inside, (entry < stop) & (belief.candidate[inside] == true)


class Right(NamedTuple):
    """The candidates that are right of each target, where people are several: those of one person in one observation
    are listed once, and those of them that are not listed there as one.

    of    : (n_targets,) whose they are
    start : (n,) the first line of each of these
    row, entry, listed, absent, times : of each line the observation, the entry there, whether it is one, whether the
            target is no candidate at all, and for how many candidates the line stands
    """

    of: NDArray[np.int64]
    start: NDArray[np.int64]
    row: NDArray[np.int64]
    entry: NDArray[np.int64]
    listed: NDArray[np.bool_]
    absent: NDArray[np.bool_]
    times: NDArray[np.int64]


def right_of(belief: Posterior, true: NDArray[np.int64], person: NDArray[np.int64]) -> Right:
    """Whatever candidates are right of the targets; true : one of each, below 0 for none; person : who each is.

    In no more steps than the rows that are seen have entries, nor than the people have candidates.

    >>> two = Posterior.from_dense(np.full((1, 3), 1 / 3), observation=[0, 0])
    >>> right_of(two, np.array([2, 0]), np.array([0, 1, 0])).entry
    array([0, 2])
    """
    nobody = int(person.max(initial=-1)) + 1
    whose = np.where(true < 0, nobody, person[np.maximum(true, 0)])
    key, of = np.unique(belief.observation * (nobody + 1) + whose, return_inverse=True)
    row, whose = np.divmod(key, nobody + 1)
    stands = np.arange(belief.n_candidates) if belief.representative is None else belief.representative
    theirs = coo_array((np.ones(len(stands), np.int64), (person, stands)), (nobody + 1, len(stands))).tocsr()
    listed, own = (belief.candidate, belief.indptr, row), (theirs.indices, theirs.indptr, whose)
    if np.diff(belief.indptr)[row].sum() < np.diff(theirs.indptr)[whose].sum():
        at, entry, place = _in_both(listed, own)
    else:
        at, place, entry = _in_both(own, listed)
    times = theirs.data[place]
    gone = (np.bincount(person, minlength=nobody + 1)[whose] - np.bincount(at, times, len(key))).astype(np.int64)
    gone[whose == nobody] = 1
    rest = np.flatnonzero(gone)
    line = np.concatenate((at, rest))
    order = np.argsort(line, kind="stable")
    line, inside = line[order], (order < len(at))
    return Right(
        of.reshape(-1),
        np.searchsorted(line, np.arange(len(key))),
        row[line],
        np.concatenate((entry, np.zeros(len(rest), np.int64)))[order],
        inside,
        ~inside & (whose[line] == nobody),
        np.concatenate((times, gone[rest]))[order],
    )


Lists = tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.int64]]
"""Ascending values in CSR layout, and the rows that are compared with those of others, one by one."""


def _in_both(one: Lists, other: Lists) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The pair of rows, the place in the one and the place in the other of each value that both have."""
    values, indptr, rows = one
    length = np.diff(indptr)[rows].astype(np.int64)
    pair = np.repeat(np.arange(len(rows)), length)
    place = np.arange(len(pair)) + np.repeat(indptr[rows] - np.cumsum(length) + length, length)
    others, begins, of = other
    stop = begins[1:][of][pair].astype(np.int64)
    found = bisect(others, begins[of][pair].astype(np.int64), stop, values[place], right=False)
    both = found < stop
    both[both] = others[found[both]] == values[place[both]]
    return pair[both], place[both], found[both]


def bisect(
    values: NDArray[np.generic],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    wanted: NDArray[np.generic],
    *,
    right: bool,
) -> NDArray[np.int64]:
    """First position in values[start:stop], ascending, that is >= wanted (> wanted with `right`): a bisection for all
    at once.
    """
    found = start.copy()
    for bit in reversed(range(int(np.max(stop - start, initial=0)).bit_length())):
        place = found + (1 << bit)
        seen = values[np.minimum(place, len(values)) - 1]
        further = (seen <= wanted) if right else (seen < wanted)
        further &= place <= stop
        np.add(found, 1 << bit, out=found, where=further)
    return found
