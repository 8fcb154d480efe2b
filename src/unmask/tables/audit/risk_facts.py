"""Facts about the belief of one attack: success over people, calibration, and what is inferred of values."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.posterior import equal_weights
from unmask.core.truth import UNKNOWN
from unmask.measures import success_probability
from unmask.measures.sensitive_values import mask_sensitive_values, rank_by_frequency, sensitive_probability
from unmask.results.distribution import Distribution
from unmask.results.names import IDENTITY, LIMITS
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.inferred_values import ValueRisk

SUCCESS_EDGES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.09, 0.2, 0.5, 1.0)
"""Success probabilities between which people are counted, the upper one included; each of `LIMITS` is one of them."""


def distribute_success(run: AttackRun) -> Distribution:
    """Count people by the adversary's self-assessed probability of being right about them.

    The adversary is right about a record, or about the likeliest sensitive value. The probability of a person who is
    not released is 0. A person with several targets counts by the riskiest one.
    """
    (success, weight), people = _weigh_success(run), run.n_people
    values = np.unique(success)
    mass = np.bincount(np.searchsorted(values, success), weight)
    counts = np.bincount(
        np.maximum(np.searchsorted(SUCCESS_EDGES, values, side="left") - 1, 0), mass, len(SUCCESS_EDGES) - 1
    )
    population = run.drawn_from or 0
    distribution = Distribution(
        run.release,
        run.adversary,
        run.target,
        SUCCESS_EDGES,
        tuple(float(share) for share in counts / counts.sum()),
        people,
        each=tuple(zip(values.tolist(), mass.tolist(), strict=True)),
        drawn_from=int(population) if people < population < math.inf else 0,
    )
    return distribution.at(LIMITS.values())


def _weigh_success(run: AttackRun) -> tuple[Floats, Floats]:
    """Return success probabilities, and the weight of people with each."""
    assert success_probability.self_assessed is not None
    probability = success_probability.self_assessed if run.target == IDENTITY else sensitive_probability
    success = np.round(probability(run.belief), 9)  # 1 / 10 by its logarithm is not below 0.1
    weight, unreleased = run.belief.observation_weight, run.is_unreleased
    if run.person is not None:
        row_success, riskiest = success[run.belief.observation], np.zeros(run.n_people)
        np.maximum.at(
            riskiest, run.person, row_success if unreleased is None else np.where(unreleased, 0.0, row_success)
        )
        return riskiest, equal_weights(run.n_people)
    if unreleased is not None:
        excluded_weight = np.bincount(run.belief.observation, run.belief.weight * unreleased, len(weight))
        success, weight = np.append(success, 0.0), np.append(weight - excluded_weight, excluded_weight.sum())
    return success, weight


def list_value_risks(run: AttackRun) -> tuple[ValueRisk, ...]:
    """Return for each sensitive value its prior, the highest belief, and the people with this inference.

    Values that rise most come first, the most common value last. Missing values and impossible ones are left out. A
    value has its rank before the release for a name: no cell is repeated in a report.

    >>> from unmask import Posterior, Truth
    >>> belief = Posterior.from_dense(
    ...     np.array([[0.9, 0.1], [0.4, 0.6]]), prior=np.array([0.8, 0.2]), candidate_label=("none", "HIV")
    ... )
    >>> [
    ...     (risk.value, risk.secret, round(risk.prior, 2), round(risk.highest, 2), risk.people, risk.right)
    ...     for risk in list_value_risks(AttackRun("r", "prosecutor", "ill", belief, Truth([0, 0])))
    ... ]
    [('no. 2', True, 0.2, 0.6, 1, 0.0), ('no. 1', False, 0.8, 0.9, 1, 1.0)]
    """
    belief, rank = run.belief, rank_by_frequency(run.belief)
    assert belief.candidate_label is not None
    row = np.repeat(np.arange(belief.n_observations), belief.row_length)
    attacked = belief.observation_weight[row] > 0
    row, value, p = (
        row[attacked],
        belief.candidate[attacked],
        np.exp(belief.log_probability[attacked].astype(np.float64)),
    )
    highest = np.zeros(belief.n_candidates)
    np.maximum.at(highest, value, p)
    inferred = _count_inferred(run, row, value, p)
    prior = np.exp(belief.prior_of(np.arange(belief.n_candidates, dtype=np.int32)))
    is_sensitive = mask_sensitive_values(belief)
    return tuple(
        ValueRisk(
            run.release,
            run.target,
            rank[v],
            float(prior[v]),
            float(highest[v]),
            round(float(inferred.people[v])),
            run.n_people,
            secret=bool(is_sensitive[v]),
            believed=_ratio(inferred.believed[v], inferred.weight[v]),
            right=None if run.truth is None else _ratio(inferred.right_weight[v], inferred.judged_weight[v]),
        )
        for v in np.lexsort((prior - highest, ~is_sensitive)).tolist()
        if highest[v] > 0 and belief.candidate_label[v]
    )


class _Inferred(NamedTuple):
    """People with each value as more likely than not, arrays of length n_values.

    weight and believed are their weight and the sum of the beliefs; judged_weight and right_weight are the
    weight of those with a known truth, and of those who have the value.
    """

    people: Floats
    weight: Floats
    believed: Floats
    judged_weight: Floats
    right_weight: Floats


def _count_inferred(run: AttackRun, row: Integers, value: NDArray[np.int32], p: Floats) -> _Inferred:
    belief, n = run.belief, run.belief.n_candidates
    likely = np.round(p, 9) > LIMITS["value"]  # as in `distribute_success`
    inferred, probability = np.full(belief.n_observations, -1), np.zeros(belief.n_observations)
    inferred[row[likely]], probability[row[likely]] = value[likely], p[likely]
    rows = np.flatnonzero(inferred >= 0)
    mass = belief.observation_weight[rows] * run.n_targets
    weight, believed = (_sum_by_value(inferred[rows], values, n) for values in (mass, mass * probability[rows]))
    people, of_target = weight, inferred[belief.observation]
    if run.person is not None:
        targets = np.flatnonzero(of_target >= 0)
        counted = run.count_people(of_target[targets], targets)
        people = np.pad(counted, (0, n - len(counted))).astype(np.float64)
    if run.truth is None:
        return _Inferred(people, weight, believed, *np.zeros((2, n)))
    judged_people = np.flatnonzero((run.truth.candidate != UNKNOWN) & (of_target >= 0))
    mass = belief.weight[judged_people] * belief.n_targets
    is_right = run.truth.candidate[judged_people] == of_target[judged_people]
    n_judged, n_right = (_sum_by_value(of_target[judged_people], values, n) for values in (mass, mass * is_right))
    return _Inferred(people, weight, believed, n_judged, n_right)


def _sum_by_value(value: Integers, mass: Floats, n_values: int) -> Floats:
    return np.bincount(value, mass, n_values).astype(np.float64)  # integers if there are no people


def _ratio(part: float, total: float) -> float | None:
    return float(part / total) if total > 0 else None
