"""Coverage of 95 % intervals for targets drawn from a fixed release.

A made census of 2,000 people, Mondrian (k = 5), every person attacked: identity and diagnosis. From them 50,
200 and 800 are drawn, 500 times each. An interval that covers the mean over all 2,000 in fewer than 93 % of draws is
too short, in more than 97 % too long; a measure for which that cannot be had has no interval. 500 draws have a standard
error of one point, so the verdict on a measure is over its three sizes; none may be below 92 or above 98.

    python verification/intervals.py [--draws N]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from show import Section, Verdict, main

from unmask import Posterior, Truth
from unmask.core.posterior import equal_weights
from unmask.measures import (
    Measure,
    calibration_error,
    effective_set_size,
    evaluate,
    information_gain_bits,
    log_loss_bits,
    rank,
    realized_success,
    renyi_entropy,
    success_probability,
)
from unmask.tables import AttributeInference, Background, ClassAttack, Knowledge, Mondrian, Table, datasets
from unmask.tables.knowledge import attribute_truth

PEOPLE, SIZES = 2000, (50, 200, 800)
MEASURES = (
    success_probability,
    realized_success,
    effective_set_size,
    renyi_entropy(np.inf),
    information_gain_bits,
    log_loss_bits,
    rank,
)
MEAN_RANGE, RANGE = (0.93, 0.97), (0.92, 0.98)


def make_beliefs() -> dict[str, tuple[Posterior, Truth]]:
    """Return beliefs about identity and diagnosis of everybody, and the truth."""
    rng = np.random.default_rng(0)
    columns = datasets.synthetic_census(PEOPLE, rng=rng)
    people = Table.read(columns, quasi_identifiers=["age", "sex", "zip"], sensitive="diagnosis")
    release, origin = Mondrian(k=5)(people, rng=rng)
    knowledge = Knowledge(targets=None)(people, origin, rng=rng)
    belief = AttributeInference("diagnosis")(release, Background(knowledge.people))
    return {
        "identity": (ClassAttack()(release, knowledge.background), knowledge.truth),
        "diagnosis": (belief, attribute_truth(people, knowledge.person, belief, "diagnosis")),
    }


def measure_coverage(measure: Measure, belief: Posterior, truth: Truth, size: int, draws: int) -> float | None:
    """Return the share of intervals that cover the mean; None if the measure has no interval."""
    everybody = evaluate(measure, belief, truth).posterior
    outcomes = [_cover_mean(measure, belief, truth, everybody, size, seed) for seed in range(draws)]
    defined = [hit for hit in outcomes if hit is not None]
    return float(np.mean(defined)) if defined else None


def _cover_mean(measure: Measure, belief: Posterior, truth: Truth, mean: float, size: int, seed: int) -> bool | None:
    drawn = np.random.default_rng([seed, size]).choice(PEOPLE, size, replace=False)
    sample = replace(belief, observation=belief.observation[drawn], weight=equal_weights(size))
    row = evaluate(measure, sample, Truth(truth.candidate[drawn]), drawn_from=PEOPLE)
    return None if row.low is None or row.high is None else row.low <= mean <= row.high


def verify_coverage(draws: int) -> Section:
    """Measure the coverage of each measure."""
    rows, verdicts = [], []
    for target, (belief, truth) in make_beliefs().items():
        for measure in MEASURES:
            shares = [measure_coverage(measure, belief, truth, size, draws) for size in SIZES]
            rows.append((target, measure.name, *("no interval" if x is None else f"{x:.3f}" for x in shares)))
            verdicts += _make_verdict(target, measure.name, [x for x in shares if x is not None])
        calibration = measure_coverage(calibration_error, belief, truth, SIZES[0], 2)
        rows.append(
            (target, calibration_error.name, *["no interval" if calibration is None else "AN INTERVAL"] * len(SIZES))
        )
    return Section(
        f"Coverage of 95 % intervals, {draws} draws from {PEOPLE:,} people",
        ("target", "measure", *(f"n = {size}" for size in SIZES)),
        tuple(rows),
        verdicts=tuple(verdicts),
    )


def _make_verdict(target: str, name: str, shares: list[float]) -> Iterator[Verdict]:
    if shares:
        mean = float(np.mean(shares))
        holds = MEAN_RANGE[0] <= mean <= MEAN_RANGE[1] and RANGE[0] <= min(shares) and max(shares) <= RANGE[1]
        yield Verdict(f"{name} ({target}) covers", "93-97 %", f"{100 * mean:.1f} %", holds)


if __name__ == "__main__":
    sys.exit(main(__doc__, {"coverage": verify_coverage}, draws=500))
