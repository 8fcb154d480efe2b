"""How one kind of attacker answers a release: their best campaign, or bounds where that is not known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.signal import convolve
from scipy.stats import binom

from unmask.economics.arms import Arms
from unmask.economics.attacker import Attacker
from unmask.economics.campaign import Campaign, attack, campaigner
from unmask.economics.exploitation import SUCCESS, TIE, TRIES, VALUE, Floats
from unmask.economics.groups import Who

STEPS: Final = (1e-3, 1e-2, 0.1, 0.3)
"""Shares of an amount by which it is moved to bound the slope of a campaign's worth in it."""

ALIKE: Final = 1e-9
"""Two plans whose numbers differ by a smaller share are the same."""


class Bounds(NamedTuple):
    """What a number is at least and at most; both are the number itself where it is known."""

    low: float
    high: float


NOTHING: Final = Bounds(0.0, 0.0)


@dataclass(frozen=True)
class Raid:
    """The best campaign against a release once the outside data are paid for, whatever these cost.

    worth         : Y, what it pays
    re_identified : people it re-identifies in expectation
    fines         : fines it pays in expectation
    reached       : probability that it re-identifies at least so many people as were asked about
    """

    worth: Bounds
    re_identified: Bounds
    fines: Bounds
    reached: Bounds


def raid(attacker: Attacker, who: Who, *, people: ArrayLike | None = None, at_least: int | None = None) -> Raid:
    """The best campaign of an attacker who has the outside data; `at_least` : a number of people, 0 chance if None.

    Exact where the bounds of `campaign` meet. Else, since Y is convex and piecewise linear in the gain G with the
    slope N, the people re-identified, N lies between (L(G) - U(G - e)) / e and (U(G + e) - L(G)) / e for every e > 0,
    and between L / G and all who can be; the fines in the same way between slopes in the fine. P(named >= h) is that
    of a sum of independent trials where the plan tries all that it would try without fines, else it is bounded from N
    (Markov's inequality, and its reverse for a number that cannot exceed all people).

    >>> from unmask.economics import read_attacker
    >>> case = replace(read_attacker("case-study"), detection_growth=0.0)
    >>> found = raid(case, [10] * 100, at_least=63)
    >>> round(found.worth.low), round(found.re_identified.low, 6), round(found.reached.low, 3)
    (486843, 63.0, 0.545)
    """
    planner = replace(campaigner(attacker), access_cost=0.0)
    arms = Arms.of(planner, who, people)
    found = attack(arms)
    count = _counts(arms, people)
    worth = Bounds(found.payoff, found.upper)
    if found.exact:
        named = float(found.success_probability @ count)
        re_identified, fines = Bounds(named, named), Bounds(found.expected_fines, found.expected_fines)
    else:
        re_identified = _named(planner, who, people, worth, float(found.most_success @ count))
        fines = _fined(arms, worth)
    return Raid(worth, re_identified, fines, _reached(arms, found, re_identified, at_least))


def _counts(arms: Arms, people: ArrayLike | None) -> Floats:
    """(n_targets,) how many people each target stands for."""
    return np.broadcast_to(np.asarray(1.0 if people is None else people, dtype=np.float64), arms.of_target.shape)


def _named(planner: Attacker, who: Who, people: ArrayLike | None, worth: Bounds, most: float) -> Bounds:
    """People re-identified, from slopes in the gain."""
    low, high = worth.low / planner.gain, most
    for step in (share * planner.gain for share in STEPS):
        less, more = (attack(Arms.of(replace(planner, gain=planner.gain + by), who, people)) for by in (-step, step))
        low, high = max(low, (worth.low - less.upper) / step), min(high, (more.upper - worth.low) / step)
    return Bounds(low, max(low, high))


def _fined(arms: Arms, worth: Bounds) -> Bounds:
    """Fines paid, from slopes in the fine."""
    fine = arms.attacker.fine
    low, high = 0.0, float(arms.attacker.max_fines)
    for step in (share * fine for share in STEPS):
        less, more = (attack(arms.facing(fine=fine + by)) for by in (-step, step))
        low, high = max(low, (worth.low - more.upper) / step), min(high, (less.upper - worth.low) / step)
    return Bounds(low, max(low, high))


def _reached(arms: Arms, found: Campaign, named: Bounds, at_least: int | None) -> Bounds:
    """Probability that at least so many people are re-identified."""
    if at_least is None or not named.high:
        return NOTHING
    free = arms.free
    everything = float(arms.count @ free[TRIES]), float(arms.count @ free[SUCCESS])
    tries_all = np.allclose((found.expected_tries, named.low), everything, rtol=ALIKE, atol=0)
    if found.exact and tries_all:
        chance = _at_least(free[SUCCESS], arms.count, at_least)
        return Bounds(chance, chance)
    most = int(arms.count @ (free[VALUE] > 0))
    if most < at_least:
        return NOTHING
    low = (named.low - (at_least - 1)) / (most - at_least + 1)
    return Bounds(max(low, 0.0), min(named.high / at_least, 1.0))


def _at_least(chance: Floats, count: Floats | ArrayLike, h: int) -> float:
    """P(at least h of independent trials succeed), `count` trials of each `chance`."""
    below = np.zeros(h)
    below[0] = 1.0
    for p, n in zip(np.minimum(chance, 1.0).tolist(), np.asarray(count).tolist(), strict=True):
        below = convolve(below, binom.pmf(np.arange(min(h, n + 1)), n, p))[:h]
    return float(np.clip(1.0 - below.sum(), 0.0, 1.0))


def pays(raided: Raid, attacker: Attacker, price: float) -> bool | None:
    """Whether the campaign pays at a price of access in all; None where its bounds leave that open."""
    tie = TIE * attacker.gain
    if raided.worth.low - price > tie:
        return True
    return None if raided.worth.high - price > tie else False
