"""Coverage of 95 % intervals for targets drawn from a fixed release.

A made census of 2,000 people, Mondrian (k = 5), every person attacked: who is it, and which diagnosis. From them 50,
200 and 800 are drawn, 500 times each. An interval that covers the mean over all 2,000 in fewer than 93 % of draws is
too short, in more than 97 % too long; a measure for which that cannot be had has no interval. 500 draws have a standard
error of one point, so the verdict on a measure is over its three sizes; none may be below 92 or above 98.

    python verification/intervals.py [--draws N]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from show import Section, Verdict, run

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
WANTED, ONCE = (0.93, 0.97), (0.92, 0.98)


def attacked() -> dict[str, tuple[Posterior, Truth]]:
    """The beliefs about everybody, who they are and what they have, and the truth."""
    rng = np.random.default_rng(0)
    columns = datasets.synthetic_census(PEOPLE, rng=rng)
    people = Table.read(columns, quasi_identifiers=["age", "sex", "zip"], sensitive="diagnosis")
    release, origin = Mondrian(k=5)(people, rng=rng)
    known = Knowledge(targets=None)(people, origin, rng=rng)
    belief = AttributeInference("diagnosis")(release, Background(known.people))
    return {
        "identity": (ClassAttack()(release, known.background), known.truth),
        "diagnosis": (belief, attribute_truth(people, known.person, belief, "diagnosis")),
    }


def covered(measure: Measure, belief: Posterior, truth: Truth, size: int, draws: int) -> float | None:
    """The share of intervals that cover; None where the measure has none."""
    everybody = evaluate(measure, belief, truth).posterior
    found = [_covers(measure, belief, truth, everybody, size, seed) for seed in range(draws)]
    told = [hit for hit in found if hit is not None]
    return float(np.mean(told)) if told else None


def _covers(measure: Measure, belief: Posterior, truth: Truth, mean: float, size: int, seed: int) -> bool | None:
    drawn = np.random.default_rng([seed, size]).choice(PEOPLE, size, replace=False)
    sample = replace(belief, observation=belief.observation[drawn], weight=equal_weights(size))
    row = evaluate(measure, sample, Truth(truth.candidate[drawn]), drawn_from=PEOPLE)
    return None if row.low is None or row.high is None else row.low <= mean <= row.high


def coverage(draws: int) -> Section:
    """The table, and a verdict for each measure."""
    rows, verdicts = [], []
    for target, (belief, truth) in attacked().items():
        for measure in MEASURES:
            found = [covered(measure, belief, truth, size, draws) for size in SIZES]
            rows.append((target, measure.name, *("no interval" if x is None else f"{x:.3f}" for x in found)))
            verdicts += _verdict(target, measure.name, [x for x in found if x is not None])
        one = covered(calibration_error, belief, truth, SIZES[0], 2)
        rows.append((target, calibration_error.name, *["no interval" if one is None else "AN INTERVAL"] * len(SIZES)))
    return Section(
        f"Coverage of 95 % intervals, {draws} draws from {PEOPLE:,} people",
        ("target", "measure", *(f"n = {size}" for size in SIZES)),
        tuple(rows),
        verdicts=tuple(verdicts),
    )


def _verdict(target: str, name: str, found: list[float]) -> Iterator[Verdict]:
    if found:
        mean = float(np.mean(found))
        holds = WANTED[0] <= mean <= WANTED[1] and ONCE[0] <= min(found) and max(found) <= ONCE[1]
        yield Verdict(f"{name} ({target}) covers", "93-97 %", f"{100 * mean:.1f} %", holds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=500)
    raise SystemExit(run([partial(coverage, parser.parse_args().draws)]))
