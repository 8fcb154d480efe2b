"""Measures of a belief that comes in parts: sums over its classes, which add up to the row of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.core.posterior import Posterior
from unmask.measures.base import Measure, agree, filed
from unmask.measures.interval import EVERYBODY, Interval
from unmask.results import Row

Floats = NDArray[np.float64]

KEPT = 1 << 17
"""Values that are kept apart. More are rounded to this part of their range, and their quantiles with them."""


@dataclass(frozen=True, eq=False)
class Tally:
    """What the classes of a part say about a measure; a class is all people who see the same.

    people, classes : how many. before, after : mean over people of the prior's and the posterior's value.
    value, weight : the values that occur, ascending, and the people of each.
    worst, worst_class : the value of the worst-off class, and its number.
    """

    people: int
    classes: int
    before: float
    after: float
    value: Floats
    weight: Floats
    worst: float
    worst_class: int


def tally(measure: Measure, belief: Posterior, people: int) -> Tally:
    """What a part says. belief : a target is a class of people who see the same, and of no other target; its weight is
    their share of the `people` of the part. Classes whose belief is alike may be targets of one observation.
    """
    assert measure.self_assessed is not None
    value = measure.self_assessed(belief)
    after, before = value[belief.observation], measure.per_target(belief.prior())
    worst = after.max() if measure.direction == "high" else after.min()
    mean = float(np.clip(belief.weight @ after, after.min(), after.max()))
    return Tally(
        people,
        len(after),
        float(np.clip(belief.weight @ before, before.min(), before.max())),
        mean,
        *_summed(value, belief.observation_weight * people),
        float(worst),
        int(np.argmax(agree(after, worst))),
    )


def joined(measure: Measure, parts: Sequence[Tally]) -> Tally:
    """The tally of all parts, whose classes are numbered on from one part to the next."""
    if len(parts) == 1:
        return parts[0]
    people = np.array([part.people for part in parts], dtype=np.float64)
    first = np.cumsum([0, *(part.classes for part in parts)])
    after = float(people @ [part.after for part in parts] / people.sum())
    values, weights = (np.concatenate(of) for of in zip(*((part.value, part.weight) for part in parts), strict=True))
    each = np.array([part.worst for part in parts])
    worst = each.max() if measure.direction == "high" else each.min()
    at = int(np.argmax(agree(each, worst)))
    return Tally(
        int(people.sum()),
        int(first[-1]),
        float(people @ [part.before for part in parts] / people.sum()),
        after,
        *_summed(values, weights),
        float(worst),
        int(first[at]) + parts[at].worst_class,
    )


def row(
    measure: Measure,
    found: Tally,
    *,
    release: str = "release",
    adversary: str = "adversary",
    target: str = "identity",
) -> Row:
    """The row of a measure over all people, which is exact."""
    return filed(
        measure,
        (found.before, found.after),
        Interval(None, None, EVERYBODY),
        (found.value, found.weight),
        n=found.people,
        n_observations=found.classes,
        worst=found.worst,
        worst_observation=found.worst_class,
        names=(release, adversary, target, ""),
    )


def _summed(value: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """The values that occur, ascending, and the weight of each; values that are rounded stand at their mean."""
    if len(value) > KEPT:
        value, weight = _rounded(value, weight)
    order = np.argsort(value, kind="stable")
    value, weight = value[order], weight[order]
    new = np.flatnonzero(np.append(True, value[1:] != value[:-1]))
    return value[new], np.add.reduceat(weight, new)


def _rounded(value: Floats, weight: Floats) -> tuple[Floats, Floats]:
    finite = np.isfinite(value)
    if not finite.all():
        rest = float(weight[~finite].sum())
        value, weight = _rounded(value[finite], weight[finite]) if finite.any() else (value[:0], weight[:0])
        return np.append(value, np.inf), np.append(weight, rest)
    low, width = value.min(), float(np.ptp(value)) or 1.0
    bucket = np.minimum((value - low) * (KEPT / width), KEPT - 1).astype(np.int64)
    mass, sums = np.bincount(bucket, weight, KEPT), np.bincount(bucket, weight * (value - low), KEPT)
    used = np.flatnonzero(mass)
    return low + sums[used] / mass[used], np.asarray(mass[used], dtype=np.float64)
