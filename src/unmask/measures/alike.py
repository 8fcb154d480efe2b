"""Observations of a belief that no measure of rows tells apart: each such kind is looked at once.

A million people in nearly as many classes see beliefs of a handful of kinds: one record of a class of three is as good
as one of another.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.posterior import Posterior
from unmask.measures.rows import Rows, per_row
from unmask.remembered import remembered

FEW = 1 << 12
"""Up to so many observations a measure is quicker than looking for those that are alike. As many are tried of more, or
as have `TRIED` entries, spread over all, and the others only where a sixteenth of these are like another."""

TRIED = 1 << 18


class Kinds(NamedTuple):
    """The same belief with a row for each kind of observation.

    belief : its targets are those of the belief; no candidate but the first of a kind stands in it
    first  : (n_kinds,) the first observation of each kind that a target produced; -1 for none
    """

    belief: Posterior
    first: NDArray[np.int64]


@remembered(4)  # of a belief and of control people, of either of its places, too; `audit` clears it
def alike(belief: Posterior) -> Kinds:
    """The kinds of observations: rows of one length whose entries have the same belief, the same prior and stand for as
    many, in turn.

    >>> belief = Posterior.from_dense(np.tile(np.eye(4), (2_000, 1)))
    >>> kinds = alike(belief)
    >>> kinds.belief.n_observations, kinds.belief.n_targets, kinds.first
    (1, 8000, array([0]))
    """
    n = belief.n_observations
    some = np.arange(0, n, max(n // max(FEW, n * TRIED // max(len(belief.candidate), 1)), 1))
    if n > FEW and len(np.unique(per_row(rows_of(belief, some), _mark))) <= 15 * len(some) // 16:
        return kinds_of(belief)
    return Kinds(belief, np.arange(n))


def kinds_of(belief: Posterior) -> Kinds:
    """The same, however long it takes to look for them."""
    n, of = belief.n_observations, _kind_of(belief)
    example = np.zeros(of.max() + 1, dtype=np.int64)
    example[of[::-1]] = np.arange(n)[::-1]
    first = np.full(len(example), -1, dtype=np.int64)
    first[of[belief.seen[::-1]]] = belief.seen[::-1]
    kinds = rows_of(belief, example)
    return Kinds(replace(kinds, observation=of[belief.observation], weight=belief.weight), first)


def _mark(rows: Rows) -> NDArray[np.float64]:
    """A number that rows of one kind share, and others hardly ever."""
    each = np.sqrt(rows.p) * (np.pi - rows.log_q) * np.sqrt(1.0 + rows.place)
    return np.asarray(rows.sum(each) + np.e * rows.unlisted + np.sqrt(3.0) * rows.n_unlisted)


def _kind_of(belief: Posterior) -> NDArray[np.int64]:
    """(n_observations,) the kind of each; one that shares the mark of another kind is a kind by itself."""
    marks = per_row(belief, _mark)
    of = np.searchsorted(np.unique(marks), marks)
    example = np.zeros(of.max() + 1, dtype=np.int64)
    example[of] = np.arange(len(of))
    unlike = np.flatnonzero(~_same(belief, example[of]))
    of[unlike] = len(example) + np.arange(len(unlike))
    return np.unique(of, return_inverse=True)[1] if len(unlike) else of


def _same(belief: Posterior, example: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(n_observations,) whether each is of one kind with another."""
    length, start, times = np.diff(belief.indptr), belief.indptr[:-1], belief.times
    same: NDArray[np.bool_] = length == length[example]
    same &= (belief.unlisted == belief.unlisted[example]) & (belief.n_unlisted == belief.n_unlisted[example])
    away = np.repeat(np.where(same, start[example] - start, 0), length)  # 0: rows that differ meet themselves
    other = away + np.arange(len(away))
    differ = belief.log_probability != belief.log_probability[other]
    if isinstance(belief.log_prior, np.ndarray):
        prior = belief.prior_of(belief.candidate)
        differ |= prior != prior[other]
    if times is not None:
        differ |= times != times[other]
    unlike = np.flatnonzero(differ)
    same[np.searchsorted(belief.indptr, unlike, side="right") - 1] = False
    return same


def rows_of(belief: Posterior, rows: NDArray[np.int64]) -> Posterior:
    """Some rows of a belief, a target for each."""
    length = np.diff(belief.indptr)[rows]
    indptr = np.concatenate(([0], np.cumsum(length)))
    entry = np.repeat(belief.indptr[rows] - indptr[:-1], length) + np.arange(indptr[-1])
    return Posterior(
        indptr=indptr,
        candidate=belief.candidate[entry],
        log_probability=belief.log_probability[entry],
        unlisted=belief.unlisted[rows],
        n_unlisted=belief.n_unlisted[rows],
        observation=np.arange(len(rows)),
        weight=np.full(len(rows), 1.0 / len(rows)),
        n_candidates=belief.n_candidates,
        log_prior=belief.log_prior,
        status=belief.status,
        provenance=belief.provenance,
        candidate_label=belief.candidate_label,
        representative=belief.representative,
    )
