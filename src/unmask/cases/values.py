"""Which values an adversary comes to believe in: an average hides a rare one behind the one that most people have."""

from __future__ import annotations

import numpy as np

from unmask.posterior import Posterior
from unmask.reports import ValueRisk


def by_value(belief: Posterior, *, release: str, target: str) -> tuple[ValueRisk, ...]:
    """For each value what was believed of it before, the most that is believed of anybody, and of how many more than
    half; the values that rise most come first.

    belief : about the values of a column. Missing ones, and those that nobody is believed to have, are left out. The
             others go by their place among the commonest before the release: no cell is repeated in a report.

    >>> belief = Posterior.from_dense(
    ...     np.array([[0.9, 0.1], [0.4, 0.6]]), prior=np.array([0.8, 0.2]), candidate_label=("none", "HIV")
    ... )
    >>> [
    ...     (one.value, round(one.prior, 2), round(one.highest, 2), one.people)
    ...     for one in by_value(belief, release="r", target="ill")
    ... ]
    [('no. 2', 0.2, 0.6, 1), ('no. 1', 0.8, 0.9, 1)]
    """
    assert belief.candidate_label is not None
    row = np.repeat(np.arange(belief.n_observations), belief.row_length)
    seen = belief.observation_weight[row] > 0
    row, value, p = row[seen], belief.candidate[seen], np.exp(belief.log_probability[seen].astype(np.float64))
    highest = np.zeros(belief.n_candidates)
    np.maximum.at(highest, value, p)
    surer = p > 0.5
    told = np.bincount(value[surer], belief.observation_weight[row[surer]], belief.n_candidates) * belief.n_targets
    before = np.exp(belief.prior_of(np.arange(belief.n_candidates, dtype=np.int32)))
    order, place = np.argsort(before - highest, kind="stable"), np.argsort(np.argsort(-before, kind="stable"))
    return tuple(
        ValueRisk(release, target, rank, float(before[v]), float(highest[v]), round(float(told[v])), belief.n_targets)
        for v, rank in ((v, f"no. {place[v] + 1}") for v in order.tolist())
        if highest[v] > 0 and belief.candidate_label[v]
    )
