"""Targets whose truth stands in one place share what a measure of that says: nothing changes but the time it takes."""

from dataclasses import replace

import numpy as np
import pytest

from unmask import Posterior, Truth
from unmask.core.calibration_check import Check
from unmask.core.truth import ABSENT, UNKNOWN
from unmask.measures import evaluate
from unmask.measures import measure as declaration
from unmask.measures.truth_positions import locate_each, locate_truth
from unmask.scoring import STANDARD

NUMBERS = ("prior", "posterior", "gain", "low", "high", "worst", "quantiles")


def crowd(rng: np.random.Generator, n: int = 4_000) -> tuple[Posterior, Truth]:
    """Many people in few kinds of rows, some unlisted, some absent, some unknown, some leaked."""
    table = np.array([[0.5, 0.3, 0.1, 0.0], [0.1, 0.5, 0.3, 0.0], [0.25] * 4, [0.0, 0.0, 0.0, 0.6]])[
        rng.integers(0, 4, 300)
    ]
    observation, true = rng.integers(0, len(table), n), rng.integers(ABSENT, 4, n)
    return Posterior.from_dense(table, observation=observation), Truth(true, leaked=rng.random(n) < 0.1)


def test_a_measure_of_positions_is_that_of_each_target(monkeypatch: pytest.MonkeyPatch) -> None:
    belief, truth = crowd(np.random.default_rng(0))
    result = locate_truth(belief, truth)
    assert len(result.n_targets) < belief.n_targets / 2
    assert result.n_targets.sum() == belief.n_targets
    assert {ABSENT, UNKNOWN} <= set(result.truth.candidate.tolist())
    measures = [measure for measure in STANDARD if measure.of_positions is not None]
    assert len(measures) == 6
    evaluated_together = [evaluate(measure, belief, truth, drawn_from=10_000) for measure in measures]
    monkeypatch.setattr(declaration, "locate_truth", locate_each)
    for row, measure in zip(evaluated_together, measures, strict=True):
        evaluated_alone = evaluate(measure, belief, truth, drawn_from=10_000)
        assert replace(row, **dict.fromkeys(NUMBERS, 0.0)) == replace(evaluated_alone, **dict.fromkeys(NUMBERS, 0.0))
        for name in NUMBERS:
            mine, theirs = (np.array(getattr(row, name), dtype=float) for row in (row, evaluated_alone))  # none is nan
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("reason", ["several candidates", "weights"])
def test_targets_that_are_not_alike_stand_alone(reason: str) -> None:
    rng = np.random.default_rng(0)
    belief, truth = crowd(rng)
    if reason == "weights":
        weight = rng.random(belief.n_targets)
        belief = replace(belief, weight=weight / weight.sum())
    else:
        truth = Truth(truth.candidate, person=np.array([0, 1, 1, 2]))
    assert len(locate_truth(belief, truth).n_targets) == belief.n_targets


def test_a_promise_to_many_alike_is_that_to_each() -> None:
    people = np.array([400, 100, 300])
    announced, realized, weight = np.array([0.95, 0.95, 0.31]), np.array([1.0, 0.0, 0.2]), people / people.sum()
    joint_check = Check.of(announced, realized, weight, people)
    repeated = [np.repeat(probabilities, people) for probabilities in (announced, realized)]
    single_check = Check.of(*repeated, np.full(800, 1 / 800))
    assert joint_check.refuted
    assert joint_check.people == single_check.people
    assert joint_check.sure == single_check.sure
    assert (joint_check.announced, joint_check.realized) == pytest.approx(
        (single_check.announced, single_check.realized), rel=1e-12
    )
