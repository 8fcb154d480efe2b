"""From how sure an attack is to how often it is right: one isotonic fit on people whose counterpart is known."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.graphs.attacks.matching import Matching
from unmask.promise import Check

_HELD_OUT = 100
"""Fewest known matches on whom a status of `calibrated` can be earned."""


def calibrated(
    belief: Matching,
    score: NDArray[np.floating],
    known_source: NDArray[np.integer],
    known_target: NDArray[np.integer],
) -> Matching:
    """The matches of an attack with the probability that each is right, as read from people who are known.

    P(match is right | score) is the non-decreasing function of the score that fits the matches of the known people
    best (least squares, by pooling adjacent violators), linear between their scores, constant beyond. k matches say
    nothing finer than 1 in k, so probabilities stay within 1 / (k + 2) and (k + 1) / (k + 2). Every other candidate of
    a matched node, and all candidates of an unmatched one, share what is left: one number cannot order them.

    score        : (n_source,) how sure the attack is of each match, any scale; `log_odds` gives one. -inf or any
                   number where there is no match; +inf holds a match for certain (seeds)
    known_source : (k,) source nodes, each once, that were not seeds. Draw them from all people of the source, those
                   who are not in the target included: seeds that were held back are in both graphs, matches of people
                   who are in one alone are all wrong, and a fit without these is too sure.
    known_target : (k,) their target nodes, -1 for a person who is not in the target

    Returned is the same mapping. Its status is `calibrated` if that is earned on people who took no part in a fit: the
    known matches are split into two halves, each is announced by the fit of the other, and that is held against what
    came true (`unmask.promise.Check`, 3 points allowed); refuted, or with fewer than 100 known matches, it is `scores`.
    The check is in `provenance["check"]`. Refused are scores that are nan, and known people without a single match
    among them.

    >>> from unmask.graphs import Auxiliary, Nar09
    >>> from unmask.graphs.release import SocialGraph
    >>> path = SocialGraph.from_edges([0, 1, 2], [1, 2, 3])
    >>> belief = Nar09()(path, Auxiliary(path, (np.array([0]), np.array([0]))))
    >>> np.exp(calibrated(belief, np.array([np.inf, 2.0, 2.0, 1.0]), np.array([2]), np.array([2])).log_probability)
    array([1.        , 0.666..., 0.666..., 0.666...], dtype=float32)

    R. Barlow et al., "Statistical inference under order restrictions", 1972, section 1.2; B. Zadrozny & C. Elkan,
    "Transforming classifier scores into accurate multiclass probability estimates", KDD 2002.
    """
    _check(belief, score, known_source, known_target)
    matched = belief.mapping[known_source] >= 0
    judged = known_source[matched]
    if not len(judged):
        raise UnmaskError(f"none of the {len(known_source)} known people has a match; give more people who are known")
    right = belief.mapping[judged] == known_target[matched]
    fit, check = _Fit.of(score[judged], right), _check_of(score[judged], right)
    earned = len(judged) >= _HELD_OUT and check is not None and not check.refuted
    row = np.flatnonzero(belief.mapping >= 0)
    probability = fit(score[row])
    length = (belief.mapping >= 0).astype(np.int64)
    unlisted = np.ones(len(belief.mapping))
    unlisted[row] -= probability
    return replace(
        belief,
        indptr=np.concatenate(([0], np.cumsum(length))),
        candidate=belief.mapping[row],
        log_probability=np.log(probability).astype(np.float32),
        unlisted=unlisted,
        n_unlisted=np.where(unlisted > 0, belief.n_candidates - length, 0),
        status="calibrated" if earned else "scores",
        provenance={**belief.provenance, "calibrated_on": len(judged), "check": None if check is None else str(check)},
    )


def _check_of(score: NDArray[np.floating], right: NDArray[np.bool_]) -> Check | None:
    """What the fit of each half of the known matches announces of the other half, beside what came true."""
    stated, half = np.empty(len(score)), np.arange(len(score)) % 2 == 0
    if len(score) < 2:
        return None
    for mine in (half, ~half):
        stated[~mine] = _Fit.of(score[mine], right[mine])(score[~mine])
    return Check.of(stated, right, within=0.03)


class _Fit(NamedTuple):
    """A non-decreasing function: its value at each score that was seen, ascending."""

    score: NDArray[np.float64]
    probability: NDArray[np.float64]

    @classmethod
    def of(cls, score: NDArray[np.floating], right: NDArray[np.bool_]) -> _Fit:
        seen, which, times = np.unique(score, return_inverse=True, return_counts=True)
        share = np.bincount(which, weights=right) / times
        fitted = scipy.optimize.isotonic_regression(share, weights=times).x
        k = len(score)
        return cls(seen, np.clip(fitted, 1 / (k + 2), (k + 1) / (k + 2)))

    def __call__(self, score: NDArray[np.floating]) -> NDArray[np.float64]:
        sure = np.isposinf(score)
        between = np.interp(np.where(sure, self.score[0], score), self.score, self.probability)
        return np.where(sure, 1.0, between)


def _check(
    belief: Matching,
    score: NDArray[np.floating],
    known_source: NDArray[np.integer],
    known_target: NDArray[np.integer],
) -> None:
    n = len(belief.mapping)
    if len(score) != n or np.isnan(score).any():
        raise UnmaskError(
            f"the scores are not {n} numbers, one for each source node; give -inf where there is no match"
        )
    if len(known_source) != len(known_target):
        raise UnmaskError(f"{len(known_source)} known source nodes come with {len(known_target)} target nodes")
    if len(known_source) and not 0 <= min(known_source) <= max(known_source) < n:
        raise UnmaskError(f"a known source node is outside 0..{n - 1}")
    if len(np.unique(known_source)) != len(known_source):
        raise UnmaskError("a known source node is named twice, expected each person once")
    if np.isneginf(score[belief.mapping >= 0]).any():
        raise UnmaskError("a match has the score -inf, expected a finite one, or +inf for a match that is certain")
    if np.isposinf(score[known_source]).any():
        raise UnmaskError("a known person has the score +inf: seeds say nothing about the matches of others")
