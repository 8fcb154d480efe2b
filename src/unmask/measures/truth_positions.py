"""Positions of the truth in a posterior: realized measures are evaluated once for targets that they cannot distinguish.

A position is an entry of a distinct row, the unlisted mass of a row, or "none of these". Millions of targets with few
distinct rows have few positions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Integers
from unmask.core.distinct_rows import cache_on_posterior, distinct_rows, take_rows
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth


class TruthPositions(NamedTuple):
    """Positions of the true candidates of the targets.

    posterior, truth : one example target of each position, with the weight of all its targets
    position : (n_targets,) position of each target
    n_targets : (n_positions,) number of targets in each position
    first_row : (n_positions,) first row of the targets in each position
    n_rows : number of rows with a target
    """

    posterior: Posterior
    truth: Truth
    position: NDArray[np.integer]
    n_targets: Integers
    first_row: Integers
    n_rows: int


def locate_truth(belief: Posterior, truth: Truth) -> TruthPositions:
    """Return the positions of the truth, cached for each belief.

    Each target is its own position if merging would not halve their number, if people have several candidates, or if
    weights differ.

    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5], [0.0, 1.0]]), observation=np.arange(20) % 2)
    >>> locate_truth(belief, Truth(np.ones(20, dtype=int))).n_targets
    array([10, 10])
    """
    return _merge_targets(belief, truth) or locate_each(belief, truth)


@cache_on_posterior
def _merge_targets(belief: Posterior, truth: Truth) -> TruthPositions | None:
    """Return the positions of the truth; None if targets cannot be merged."""
    key, n = _number_targets(belief, truth), belief.n_targets
    counts = np.zeros(0, dtype=np.int64) if key is None else np.bincount(key)
    used = np.flatnonzero(counts)
    if key is None or 2 * len(used) > n:
        return None
    number = np.zeros(len(counts), dtype=np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    position, example, first_row = number[key], np.empty(len(used), np.int64), np.full(len(used), belief.n_observations)
    example[position] = np.arange(n)
    np.minimum.at(first_row, position, belief.observation)
    rows, observation = np.unique(belief.observation[example], return_inverse=True)
    weight = counts[used] * belief.weight[0]
    examples = replace(take_rows(belief, rows), observation=observation, weight=weight)
    example_truth = Truth(truth.candidate[example], leaked=truth.leaked[example])
    return TruthPositions(examples, example_truth, position, counts[used], first_row, len(belief.used_rows))


def locate_each(belief: Posterior, truth: Truth) -> TruthPositions:
    """Return a position for each target."""
    n = belief.n_targets
    return TruthPositions(belief, truth, np.arange(n), np.ones(n, np.int64), belief.observation, len(belief.used_rows))


def _number_targets(belief: Posterior, truth: Truth) -> Integers | None:
    """Return a number for each target, equal for targets of one position; None if targets cannot be merged."""
    distinct, n = distinct_rows(belief).posterior, belief.n_targets
    has_weights = truth.person is not None or np.any(belief.weight != belief.weight[0])
    if has_weights or len(distinct.candidate) + 2 * distinct.n_observations > 2 * n:
        return None
    entry, is_listed = find_entries(belief, belief.observation, truth.candidate)
    entry += distinct.indptr[distinct.observation] - belief.indptr[belief.observation]
    position = number_positions(
        distinct, distinct.observation, entry, is_listed=is_listed, is_absent=truth.candidate < 0
    )
    return np.asarray(2 * position + truth.judged)


def number_positions(
    distinct: Posterior, row: Integers, entry: Integers, *, is_listed: Booleans, is_absent: Booleans
) -> Integers:
    """Return the number of each position: an entry, the unlisted mass of a row, or "none of these" in a row."""
    n_entries, n_rows = len(distinct.candidate), distinct.n_observations
    return np.where(is_listed, entry, n_entries + n_rows * is_absent + row)


def find_entries(belief: Posterior, row: Integers, candidate: Integers) -> tuple[Integers, Booleans]:
    """Return the entry of each candidate in its row, and a mask of the candidates that have one."""
    if len(candidate) and candidate.max() >= belief.n_candidates:
        raise UnmaskError(f"the truth names candidate {candidate.max()}, expected 0..{belief.n_candidates - 1}")
    if not len(belief.candidate):
        return np.zeros(len(candidate), dtype=np.int64), np.zeros(len(candidate), dtype=bool)
    if belief.representative is not None:
        candidate = np.where(candidate < 0, candidate, belief.representative[candidate])
    if len(belief.candidate) == belief.n_observations * belief.n_candidates:  # every row lists every candidate
        return belief.indptr[row] + np.maximum(candidate, 0), candidate >= 0
    stop = belief.indptr[row + 1]
    entry = bisect(belief.candidate, belief.indptr[row], stop, candidate, right=False)
    inside = np.minimum(entry, len(belief.candidate) - 1)
    return inside, (entry < stop) & (belief.candidate[inside] == candidate)


class PersonEntries(NamedTuple):
    """Right candidates of each target, if people have several candidates.

    Each listed candidate of a person in a row has one line. The unlisted candidates of a person share one line.

    pair : (n_targets,) number of the pair of row and person of each target
    start : (n_pairs,) first line of each pair
    row, entry, is_listed, is_absent, n_candidates : (n_lines,) row, entry in it, whether the entry exists, whether the
        target is not a candidate, and number of candidates of the line
    """

    pair: Integers
    start: Integers
    row: Integers
    entry: Integers
    is_listed: Booleans
    is_absent: Booleans
    n_candidates: Integers


def find_person_entries(belief: Posterior, candidate: Integers, person: Integers) -> PersonEntries:
    """Return all right candidates of the targets.

    candidate : (n_targets,) one right candidate of each target, below 0 for none
    person : (n_candidates,) person of each candidate

    The work is proportional to the entries of the used rows, or to the candidates of the people, whichever is smaller.

    >>> shared = Posterior.from_dense(np.full((1, 3), 1 / 3), observation=[0, 0])
    >>> find_person_entries(shared, np.array([2, 0]), np.array([0, 1, 0])).entry
    array([0, 2])
    """
    no_person = int(person.max(initial=-1)) + 1
    owner = np.where(candidate < 0, no_person, person[np.maximum(candidate, 0)])
    key, pair = np.unique(belief.observation * (no_person + 1) + owner, return_inverse=True)
    row, owner = np.divmod(key, no_person + 1)
    representatives = belief.representatives
    ones = np.ones(len(representatives), np.int64)
    records = scipy.sparse.coo_array((ones, (person, representatives)), (no_person + 1, belief.n_candidates)).tocsr()
    row_slices, person_slices = (belief.candidate, belief.indptr, row), (records.indices, records.indptr, owner)
    if np.diff(belief.indptr)[row].sum() < np.diff(records.indptr)[owner].sum():
        line, entry, record = _intersect_slices(row_slices, person_slices)
    else:
        line, record, entry = _intersect_slices(person_slices, row_slices)
    n_listed = records.data[record]
    n_hidden = np.bincount(person, minlength=no_person + 1)[owner] - np.bincount(line, n_listed, len(key))
    n_hidden = n_hidden.astype(np.int64)
    n_hidden[owner == no_person] = 1
    hidden = np.flatnonzero(n_hidden)
    lines = np.concatenate((line, hidden))
    order = np.argsort(lines, kind="stable")
    lines, is_listed = lines[order], (order < len(line))
    return PersonEntries(
        pair.reshape(-1),
        np.searchsorted(lines, np.arange(len(key))),
        row[lines],
        np.concatenate((entry, np.zeros(len(hidden), np.int64)))[order],
        is_listed,
        owner[lines] == no_person,
        np.concatenate((n_listed, n_hidden[hidden]))[order],
    )


Slices = tuple[NDArray[np.integer], NDArray[np.integer], Integers]
"""Ascending values in CSR layout, their indptr, and the rows to compare."""


def _intersect_slices(left: Slices, right: Slices) -> tuple[Integers, Integers, Integers]:
    """Return, for each value in both rows of a pair: the number of the pair, and the positions of the value left
    and right.
    """
    values, indptr, rows = left
    length = np.diff(indptr)[rows].astype(np.int64)
    pair = np.repeat(np.arange(len(rows)), length)
    place = np.arange(len(pair)) + np.repeat(indptr[rows] - np.cumsum(length) + length, length)
    right_values, right_indptr, right_rows = right
    start = right_indptr[right_rows][pair].astype(np.int64)
    stop = right_indptr[1:][right_rows][pair].astype(np.int64)
    right_place = bisect(right_values, start, stop, values[place], right=False)
    is_shared = right_place < stop
    is_shared[is_shared] = right_values[right_place[is_shared]] == values[place[is_shared]]
    return pair[is_shared], place[is_shared], right_place[is_shared]


def bisect(
    values: NDArray[np.generic], start: Integers, stop: Integers, targets: NDArray[np.generic], *, right: bool
) -> Integers:
    """Return the first position in the ascending values[start:stop] that is >= target (> target with `right`).

    All targets are searched in one bisection.
    """
    position, precedes = start.copy(), np.less_equal if right else np.less
    for bit in reversed(range(int(np.max(stop - start, initial=0)).bit_length())):
        probe = position + ((1 << bit) - 1)
        is_before = precedes(values.take(probe, mode="clip"), targets)
        is_before &= probe < stop
        position += is_before * (1 << bit)
    return position
