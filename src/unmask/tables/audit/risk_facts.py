"""Facts about the beliefs of one attack: success over people, calibration, and what is inferred of values."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.posterior import Posterior, equal_weights
from unmask.core.truth import UNKNOWN
from unmask.measures import success_probability
from unmask.measures.sensitive_values import mask_sensitive_values, rank_by_frequency, sensitive_probability
from unmask.reports.data import LIMITS
from unmask.reports.facts.tables import Distribution
from unmask.reports.words import IDENTITY
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.inferred_values import ValueRisk

EDGES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.09, 0.2, 0.5, 1.0)
"""Success probabilities between which people are counted, the upper one included; each of `LIMITS` is one of them."""


def distribution(case: AttackRun) -> Distribution:
    """People by the adversary's probability of being right about them, self-assessed: about which record is theirs, or
    about the likeliest secret, which the commonest value is not. Nobody is right about a record that is not released.
    Of several targets of one person the one counts by which they are most at risk.
    """
    (success, weight), people = _spread(case), case.n_people
    values = np.unique(success)
    mass = np.bincount(np.searchsorted(values, success), weight)
    bins = np.maximum(np.searchsorted(EDGES, values, side="left") - 1, 0)
    counts = np.bincount(bins, mass, len(EDGES) - 1)
    shares = tuple(float(share) for share in counts / counts.sum())
    each = tuple(zip(values.tolist(), mass.tolist(), strict=True))
    of_all = case.drawn_from or 0
    drawn_from = int(of_all) if people < of_all < math.inf else 0
    found = Distribution(case.release, case.adversary, case.target, EDGES, shares, people, {}, each, drawn_from)
    return found.at(LIMITS.values())


def _spread(case: AttackRun) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Success, and how much of the weight has it."""
    assert success_probability.self_assessed is not None
    about = success_probability.self_assessed if case.target == IDENTITY else sensitive_probability
    success = np.round(about(case.belief), 9)  # 1 / 10 by its logarithm is not below 0.1
    weight, gone = case.belief.observation_weight, case.unreleased
    if case.whose is not None:
        each, most = success[case.belief.observation], np.zeros(case.n_people)
        np.maximum.at(most, case.whose, each if gone is None else np.where(gone, 0.0, each))
        return most, equal_weights(case.n_people)
    if gone is not None:
        out = np.bincount(case.belief.observation, case.belief.weight * gone, len(weight))
        success, weight = np.append(success, 0.0), np.append(weight - out, out.sum())
    return success, weight


def by_value(case: AttackRun) -> tuple[ValueRisk, ...]:
    """For each value what was believed of it before, the most that is believed of anybody, who is found to have it, and
    how many of these have it; the secrets that rise most come first, the commonest value last.

    Missing values, and those that nobody is believed to have, are left out. The others go by their place among the
    commonest before the release: no cell is repeated in a report.

    >>> from unmask import Posterior, Truth
    >>> belief = Posterior.from_dense(
    ...     np.array([[0.9, 0.1], [0.4, 0.6]]), prior=np.array([0.8, 0.2]), candidate_label=("none", "HIV")
    ... )
    >>> [
    ...     (one.value, one.secret, round(one.prior, 2), round(one.highest, 2), one.people, one.right)
    ...     for one in by_value(AttackRun("r", "prosecutor", "ill", belief, Truth([0, 0])))
    ... ]
    [('no. 2', True, 0.2, 0.6, 1, 0.0), ('no. 1', False, 0.8, 0.9, 1, 1.0)]
    """
    belief, places = case.belief, rank_by_frequency(case.belief)
    assert belief.candidate_label is not None
    row = np.repeat(np.arange(belief.n_observations), belief.row_length)
    seen = belief.observation_weight[row] > 0
    row, value, p = row[seen], belief.candidate[seen], np.exp(belief.log_probability[seen].astype(np.float64))
    highest = np.zeros(belief.n_candidates)
    np.maximum.at(highest, value, p)
    found = _found(case, row, value, p)
    before = np.exp(belief.prior_of(np.arange(belief.n_candidates, dtype=np.int32)))
    secret = mask_sensitive_values(belief)
    return tuple(
        ValueRisk(
            case.release,
            case.target,
            places[v],
            float(before[v]),
            float(highest[v]),
            round(float(found.people[v])),
            case.n_people,
            secret=bool(secret[v]),
            believed=_ratio(found.believed[v], found.mass[v]),
            right=None if case.truth is None else _ratio(found.right[v], found.judged[v]),
        )
        for v in np.lexsort((before - highest, ~secret)).tolist()
        if highest[v] > 0 and belief.candidate_label[v]
    )


class _People(NamedTuple):
    """(n_values,) how many people are found to have a value, by more than one half; their weight, and the sum of what
    is believed of them; of how many of it the truth is known, and how many of these have it.
    """

    people: NDArray[np.float64]
    mass: NDArray[np.float64]
    believed: NDArray[np.float64]
    judged: NDArray[np.float64]
    right: NDArray[np.float64]


def _found(case: AttackRun, row: NDArray[np.int64], value: NDArray[np.int32], p: NDArray[np.float64]) -> _People:
    belief, surer = case.belief, np.round(p, 9) > LIMITS["value"]  # as in `distribution`
    said, sure = np.full(belief.n_observations, -1), np.zeros(belief.n_observations)
    said[row[surer]], sure[row[surer]] = value[surer], p[surer]
    told = np.flatnonzero(said >= 0)
    weight = belief.observation_weight[told] * case.n_targets
    mass, believed = (_sums(said[told], each, belief) for each in (weight, weight * sure[told]))
    people = mass
    if case.whose is not None:
        theirs = np.flatnonzero(said[belief.observation] >= 0)
        counted = case.people_in(said[belief.observation[theirs]], theirs)
        people = np.pad(counted, (0, belief.n_candidates - len(counted))).astype(np.float64)
    if case.truth is None:
        return _People(people, mass, believed, *np.zeros((2, belief.n_candidates)))
    asked = np.flatnonzero((case.truth.candidate != UNKNOWN) & (said[belief.observation] >= 0))
    value_of, weight = said[belief.observation[asked]], belief.weight[asked] * belief.n_targets
    right = weight * (case.truth.candidate[asked] == value_of)
    return _People(people, mass, believed, *(_sums(value_of, each, belief) for each in (weight, right)))


def _sums(value: NDArray[np.int64], each: NDArray[np.float64], belief: Posterior) -> NDArray[np.float64]:
    return np.bincount(value, each, belief.n_candidates).astype(np.float64)  # of nobody they are whole numbers


def _ratio(part: float, whole: float) -> float | None:
    return float(part / whole) if whole > 0 else None
