"""Calibration check: announced success compared with realized success of people whose truth is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import dot
from unmask.core.tolerances import CALIBRATION_ROUNDING

FALSE_ALARM = 1e-3
"""Largest probability that a calibrated belief is rejected."""

TENTHS = 10


@dataclass(frozen=True)
class Check:
    """Announced success of people whose truth is known, compared with their realized success.

    people, announced, realized : number of people and their mean success, for all people or for the rejected tenth
    sure : range of announced success of the rejected tenth; None for all people
    refuted : True if chance does not explain the difference

    Let a_i be the announced success and r_i the realized one, from 0 to 1, with mean a_i if the belief is calibrated.
    With weights w_i of at most 1, A = sum w a / n and R = sum w r / n,
    P(R at least as far from A) <= 2 exp(-n KL(R || A)). This holds for people who are independent or negatively
    dependent, such as members of a class. The test is applied to all people and to each tenth of announced success, at
    level `FALSE_ALARM` / 11. A belief that claims only approximate calibration (`within`) must also differ by more than
    that.

    >>> print(Check.of(np.full(200, 0.9), np.arange(200) % 2 == 0))
    announced 90.0 %, realized 50.0 % of 200 people
    >>> Check.of(np.full(200, 0.9), np.arange(200) % 10 != 0).refuted
    False

    W. Hoeffding, "Probability inequalities for sums of bounded random variables", JASA 1963, theorem 1 (and section 6
    for sampling without replacement).
    """

    people: int
    announced: float
    realized: float
    refuted: bool
    sure: tuple[float, float] | None = None

    @classmethod
    def of(
        cls,
        announced: NDArray[np.floating],
        realized: NDArray[np.generic],
        weight: Floats | None = None,
        people: Integers | None = None,
        *,
        within: float = 0.0,
    ) -> Check:
        """Return the check with the most evidence against a belief; the check of all people if none rejects the belief.

        Checks cover all people, and each tenth of announced success.

        announced, realized, weight : (n,) for each person, or for each group of `people` equal people with their total
        weight. Without `weight`, all people have equal weights.
        """
        a, r = announced.astype(np.float64), realized.astype(np.float64)
        people = np.ones(len(a), dtype=np.int64) if people is None else people
        weight = people.astype(np.float64) if weight is None else weight
        tenth = np.minimum((a * (TENTHS + 1e-9)).astype(np.int64), TENTHS - 1)
        parts: list[tuple[float, Check]] = []
        for number in (None, *np.unique(tenth).tolist()):
            mask = weight > 0 if number is None else (weight > 0) & (tenth == number)
            if mask.any():
                parts.append(_weigh_evidence(a[mask], r[mask], weight[mask], people[mask], within, number))
        return max(parts, key=lambda part: (part[1].refuted, part[1].refuted and part[0]))[1]

    def __str__(self) -> str:
        group = ""
        if self.sure is not None:
            group = f" they were {100 * self.sure[0]:.0f} to {100 * self.sure[1]:.0f} % sure of"
        text = f"announced {100 * self.announced:.1f} %, realized {100 * self.realized:.1f} %"
        return f"{text} of {self.people:,} people{group}"


def _weigh_evidence(
    announced: Floats, realized: Floats, weight: Floats, people: Integers, within: float, tenth: int | None
) -> tuple[float, Check]:
    """Return the check of some people, and its evidence against the belief (-log of the significance level)."""
    n, share = int(people.sum()), weight / (weight / people).max()
    a, r = dot(share, announced) / n, dot(share, realized) / n
    evidence = n * _divergence(r, a) if abs(r - a) > CALIBRATION_ROUNDING else 0.0
    mean_a, mean_r = a * n / share.sum(), r * n / share.sum()
    refuted = 2 * (TENTHS + 1) * np.exp(-evidence) < FALSE_ALARM and abs(mean_r - mean_a) > within
    sure = None if tenth is None else (tenth / TENTHS, (tenth + 1) / TENTHS)
    return evidence, Check(n, float(mean_a), float(mean_r), bool(refuted), sure)


def _divergence(r: float, a: float) -> float:
    """Return the Kullback-Leibler divergence of two Bernoulli probabilities, in nats."""
    with np.errstate(divide="ignore"):
        parts = [x * float(np.log(x / y if y > 0 else np.inf)) for x, y in ((r, a), (1 - r, 1 - a)) if x > 0]
    return max(sum(parts), 0.0)
