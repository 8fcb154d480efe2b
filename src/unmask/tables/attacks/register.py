"""Linkage to a register: records compete for people, and people for records.

A partial one-to-one matching says which record is whose. Each of its pairs weighs t = c / ((1 - c) lam) against "the
owner is not in the register, and the person owns no record", where an owner is in the register with probability c, and
lam outsiders (people of the register who own no record) are expected in the box of the record. With I of the n owners
of a box in the register, and N people of the register in the box,

    P(I = i given n, N)  ~  t^i / (i! (n - i)! (N - i)!)  ~  C(n, i) c^i (1 - c)^(n - i) lam^(N - i) / (N - i)!,

for i = 0 .. min(n, N); each of the N owns each of the n records with probability E[I] / (n N).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from unmask.core.csr_rows import ranges, segment_max, segment_sum
from unmask.core.errors import UnmaskError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_STATES, MAX_STEPS = 1 << 10, 1 << 16
"""States and updates up to which all matchings of overlapping boxes are summed."""

MIN_OUTSIDERS = 1e-12
"""Outsiders for each record and person if there are 0, so that overlapping boxes keep their relative weights."""

MAX_ROUNDS, SETTLED_CHANGE = 2000, 1e-9
"""Rounds of messages between overlapping boxes at most, and the change at which they have settled."""

MAX_FLOW = 1 << 31
"""Records that the largest flow is found for."""

MAX_TERMS = 1 << 22
"""Terms of sums over I that are held at once."""


@dataclass(frozen=True, eq=False)
class Owners:
    """Belief of the holder of a register.

    probability : (n_pairs,) probability that one given person of the class owns one given record of the observation
    inside  : (n_observations,) that the owner of a record is in the register: the sum of each over all who fit
    overlaps : (n_observations,) whether a person who fits a record fits records of other boxes, too
    """

    probability: Floats
    inside: Floats
    overlaps: NDArray[np.bool_]


def owners(records: Ints, people: Ints, row: Ints, klass: Ints, *, coverage: float) -> Owners:
    """Return the belief of the holder of a register about every pair of a record and a person who fit.

    records, people : (n_observations,) records that look alike, at least 1; (n_classes,) people who do
    row, klass      : (n_pairs,) observation and class that go together
    coverage        : c, the probability that the owner of a record is in the register; UnmaskError where the counts
                      contradict it

    lam is not given: outsiders are spread over the boxes like all records and people, lam = z' (n + N), and there are
    as many as leave c M owners of the M records in the register on average, see `outsiders`. Where boxes overlap, a
    record counts in the others by the people who fit both, and the matchings are summed with the t of each box: all of
    them where these are few, else by belief propagation, whose E[I] is off by 4 % at most in boxes of 3 people, and by
    less in larger ones.

    >>> one = np.array([0])
    >>> owners(np.array([3]), np.array([2]), one, one, coverage=0.5).inside.round(6)
    array([0.5])
    """
    n_rows = len(records)
    fits = scipy.sparse.csr_array((np.ones(len(row)), (row, klass)), shape=(n_rows, len(people)))
    fitting = np.asarray(fits @ people.astype(np.float64))
    several = np.bincount(klass, minlength=len(people)) > 1
    overlaps = np.bincount(row, several[klass], minlength=n_rows) > 0
    entries = np.flatnonzero(overlaps[row])
    matched = int(np.minimum(records, fitting)[~overlaps].sum()) + _max_matching(
        records, people, row[entries], klass[entries]
    )
    refuse_contradiction(matched, coverage=coverage, released=int(records.sum()))
    spread = np.divide(records, fitting, out=np.zeros(n_rows), where=fitting > 0)
    size = np.asarray(fits @ (people * (1.0 + fits.T @ spread)))
    parts = [entries[part] for part in _components(row[entries], klass[entries])]
    solvers = [_solver(records, people, row[part], klass[part]) for part in parts]

    def belief(z: float) -> tuple[Floats, Floats]:
        inside = np.zeros(n_rows)
        inside[~overlaps] = expected_inside(records[~overlaps], fitting[~overlaps], z)
        inside /= records
        expected = (inside / np.maximum(fitting, 1.0))[row]
        for part, marginals in zip(parts, solvers, strict=True):
            expected[part] = marginals(1.0 / (max(z, MIN_OUTSIDERS) * size[row[part]]))
        inside[overlaps] = np.bincount(row, expected * people[klass], n_rows)[overlaps]
        return expected, np.where(inside > 1.0 - SETTLED_CHANGE * (z == 0), 1.0, inside)

    z = outsiders(lambda z: float(records @ belief(z)[1]), coverage * int(records.sum()), matched)
    return Owners(*belief(z), overlaps)


def outsiders(inside: Callable[[float], float], expected: float, matched: int) -> float:
    """Return z, by which the owners in the register are as many as expected: t = 1 / (z (n + N)) in each box.

    inside : owners in the register at z, falling. expected : c M. Where no more than so many records can have an owner
    there, all of these have: 0.

    That the mean belief is the prior, c, makes up for boxes' own counts telling how many people there are like that:
    of 6,000 people, half of them released unprotected, a third in the register, 28 % are re-identified; so much is
    announced, where lam = (R - c M) (n + N) / (M + R) announces 17 %.
    """
    if matched <= expected * (1.0 + SETTLED_CHANGE) or inside(MIN_OUTSIDERS) <= expected:
        return 0.0
    from scipy.optimize import brentq  # not at the top: slow to load, and a register without outsiders needs none

    return math.exp(
        brentq(lambda log_z: inside(math.exp(log_z)) - expected, math.log(MIN_OUTSIDERS), 100.0, xtol=1e-12)
    )


def refuse_contradiction(matched: int, *, coverage: float, released: int) -> None:
    """Return UnmaskError where fewer records can have an owner in the register than the coverage says, by three
    deviations.
    """
    expected = coverage * released
    if matched < expected - 3 * math.sqrt(expected * (1.0 - coverage)) - SETTLED_CHANGE:
        share_matched = math.floor(1000 * matched / released) / 1000
        raise UnmaskError(
            f"a coverage of {coverage:g} says that the register has the people behind {expected:,.0f} of {released:,} "
            f"records, and its people fit {matched:,} of them one to one at most; "
            + (
                f"give a coverage of at most {share_matched:g}"
                if share_matched
                else "check that both have the same cells"
            )
        )


def expected_inside(records: ArrayLike, people: ArrayLike, z: float) -> Floats:
    """Return E[I] of boxes without people in common, with t = 1 / (z (n + N)); min(n, N) at z = 0.

    >>> expected_inside([3, 3], [3, 0], 0.0)
    array([3., 0.])
    """
    cases = np.stack([np.asarray(records, dtype=np.float64), np.asarray(people, dtype=np.float64)])
    if z == 0:
        return np.asarray(cases.min(axis=0))
    (n, n_people), case_of_row = np.unique(cases, axis=1, return_inverse=True)
    return in_boxes(n, n_people, 1.0 / (z * np.maximum(n + n_people, 1.0)))[case_of_row.ravel()]


def in_boxes(n: Floats, n_people: Floats, t: Floats) -> Floats:
    """Return E[I] by its formula: n records, `of` people and the weight t of a pair, for each box.

    Terms farther from the largest than 12 deviations and 40 are left out.

    >>> in_boxes(np.array([3.0]), np.array([2.0]), 0.63 / (0.37 * np.array([0.5]))).round(6)
    array([1.753525])
    """
    total = n + n_people + 1.0 / t
    mode = (
        2 * n * n_people / (total + np.sqrt(np.maximum(total * total - 4 * n * n_people, 0.0)))
    )  # (n - i) (N - i) t = i
    reach = 40.0 + 12.0 * np.sqrt(mode)
    low = np.maximum(0.0, np.floor(mode - reach))
    terms = (np.minimum(np.minimum(n, n_people), np.ceil(mode + reach)) - low).astype(np.int64) + 1
    expected, log_gamma = np.empty(len(n)), scipy.special.gammaln
    for block in np.split(np.arange(len(n)), np.flatnonzero(np.diff(np.cumsum(terms) // MAX_TERMS)) + 1):
        indptr = np.concatenate(([0], np.cumsum(terms[block])))
        box = np.repeat(block, terms[block])
        i = ranges(low[block].astype(np.int64), terms[block]).astype(np.float64)
        log_p = i * np.log(t[box]) - log_gamma(i + 1) - log_gamma(n[box] - i + 1) - log_gamma(n_people[box] - i + 1)
        p = np.exp(log_p - np.repeat(segment_max(log_p, indptr, empty=0.0), terms[block]))
        expected[block] = segment_sum(i * p, indptr) / np.maximum(segment_sum(p, indptr), 1.0)
    return expected


def _components(row: Ints, klass: Ints) -> Iterator[Ints]:
    """Yield the pairs of observations and classes that hang together."""
    if not len(row):
        return
    rows, row = np.unique(row, return_inverse=True)
    classes, klass = np.unique(klass, return_inverse=True)
    size = len(rows) + len(classes)
    graph = scipy.sparse.csr_array((np.ones(len(row)), (row, len(rows) + klass)), shape=(size, size))
    label = scipy.sparse.csgraph.connected_components(graph, directed=False)[1][row]
    order = np.argsort(label, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(label[order])) + 1)


def _solver(records: Ints, people: Ints, row: Ints, klass: Ints) -> Callable[[Floats], Floats]:
    """Return a function from the weight of each pair to its probability, for connected boxes."""
    rows, row = np.unique(row, return_inverse=True)
    classes, klass = np.unique(klass, return_inverse=True)
    n, n_people = records[rows], people[classes]
    if len(classes) * len(rows) <= MAX_STEPS:  # a larger one is not summed anyway
        fits = np.zeros((len(classes), len(rows)), dtype=np.bool_)
        fits[klass, row] = True
        kind = np.unique(fits, axis=0, return_inverse=True)[1].ravel()
        n_of_kind = np.bincount(kind, n_people).astype(np.int64)
        turned = float(np.prod(n + 1.0)) < float(np.prod(n_of_kind + 1.0))
        first, second = (n_of_kind, n) if turned else (n, n_of_kind)
        states = float(np.prod(second + 1.0))
        if states <= MAX_STATES and states * float(first.sum()) * len(second) <= MAX_STEPS:
            pairs = (kind[klass], row) if turned else (row, kind[klass])

            def summed(weight: Floats) -> Floats:
                table = np.zeros((len(first), len(second)))
                table[pairs] = weight
                return np.asarray(sum_matchings(first, second, table)[pairs])

            return summed
    return lambda weight: propagate(n, n_people, row, klass, weight)


def sum_matchings(records: Ints, people: Ints, weight: Floats) -> Floats:
    """Return (n_rows, n_classes) probability that one given record is of one given person, by the sum over all
    matchings.

    The state is how many people of each class are taken; before and after a record, log sums over all ways to get
    there and to go on. weight : (n_rows, n_classes), 0 where the two do not go together.
    """
    shape = tuple((people + 1).tolist())
    with np.errstate(divide="ignore"):
        log_remaining = np.log(people.reshape(-1, *[1] * len(people)) - np.indices(shape))
        log_t = np.log(weight)
    moves = [[(k, *_step(len(people), k)) for k in np.flatnonzero(of_row).tolist()] for of_row in weight]

    def on(ways: Floats, i: int) -> Floats:
        after = ways.copy()
        for k, used, free in moves[i]:
            after[used] = np.logaddexp(after[used], log_t[i, k] + (ways + log_remaining[k])[free])
        return after

    def back(ways: Floats, i: int) -> Floats:
        previous = ways.copy()
        for k, used, free in moves[i]:
            previous[free] = np.logaddexp(previous[free], log_t[i, k] + log_remaining[k][free] + ways[used])
        return previous

    ways, last = np.full(shape, -np.inf), []
    ways[(0,) * len(people)] = 0.0
    for i, n in enumerate(records.tolist()):
        for _ in range(n - 1):
            ways = on(ways, i)
        last.append(ways)
        ways = on(ways, i)
    total = np.logaddexp.reduce(ways, axis=None)
    sums, onward = np.zeros_like(weight), np.zeros(shape)
    for i in range(len(records) - 1, -1, -1):
        for k, used, free in moves[i]:
            through = last[i][free] + log_remaining[k][free] + onward[used]
            sums[i, k] = np.exp(np.logaddexp.reduce(through, axis=None) + log_t[i, k] - total) / people[k]
        for _ in range(int(records[i])):
            onward = back(onward, i)
    return sums


def _step(n: int, k: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return states in which a person of class k is taken, and those one before."""
    index = [slice(None)] * n
    return (*index[:k], slice(1, None), *index[k + 1 :]), (*index[:k], slice(None, -1), *index[k + 1 :])


def propagate(records: Ints, people: Ints, row: Ints, klass: Ints, weight: Floats) -> Floats:
    """Return (n_pairs,) the same by belief propagation: all records of a row, and all people of a class, say the same.

    a = t / (1 + (sum of t b over all who fit the record, but this one)), b = 1 / (1 + (sum of a over the records that
    the person fits, but this one)), p = t b / (1 + sum of t b). The messages of matchings have one fixed point; rows
    sum to less than 1 at any time, columns once they settle, and are scaled to 1 where they have not.

    Exact where the boxes overlap in a tree, else approximate: in boxes of at most four records and four people, where
    sums are taken instead, the worst of 9,000 weightings was off by 0.16 (three records, two people).

    L. Zdeborova & M. Mezard, "The number of matchings in random graphs", 2006.
    """
    b = np.ones(len(row))
    for _ in range(MAX_ROUNDS):
        rest_of_row = np.bincount(row, weight * people[klass] * b)[row] - weight * b
        a = weight / (1.0 + np.maximum(rest_of_row, 0.0))
        fresh = 1.0 / (1.0 + np.maximum(np.bincount(klass, records[row] * a)[klass] - a, 0.0))
        previous, b = b, np.sqrt(b * fresh)
        if float(np.abs(b - previous).max()) < SETTLED_CHANGE:
            break
    p = weight * b / (1.0 + np.bincount(row, weight * people[klass] * b)[row])
    return np.asarray(p / np.maximum(np.bincount(klass, records[row] * p), 1.0)[klass])


def _max_matching(records: Ints, people: Ints, row: Ints, klass: Ints) -> int:
    """Return how many records of overlapping boxes can have different owners: the largest flow to people."""
    if not len(row):
        return 0
    rows, row = np.unique(row, return_inverse=True)
    classes, klass = np.unique(klass, return_inverse=True)
    n, n_people = records[rows], np.minimum(people[classes], MAX_FLOW - 1)
    pairs = scipy.sparse.csr_array((np.minimum(n[row], n_people[klass]), (row, klass)), shape=(len(n), len(n_people)))
    blocks = [
        [scipy.sparse.csr_array((1, 1), dtype=np.int64), scipy.sparse.csr_array(n[None, :]), None, None],
        [None, None, pairs, None],
        [None, None, None, scipy.sparse.csr_array(n_people[:, None])],
        [None, None, None, scipy.sparse.csr_array((1, 1), dtype=np.int64)],
    ]
    if n.sum() >= MAX_FLOW:
        raise UnmaskError(f"{n.sum():,} records of boxes that overlap are too many, expected below {MAX_FLOW:,}")
    graph = scipy.sparse.block_array(blocks, format="csr").astype(np.int32)
    return int(scipy.sparse.csgraph.maximum_flow(graph, 0, graph.shape[0] - 1).flow_value)
