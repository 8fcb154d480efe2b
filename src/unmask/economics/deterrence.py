"""Turned round: which fine, price or gain decides whether they attack, and which parameter sways them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.errors import UnmaskError
from unmask.economics.arms import Arms
from unmask.economics.attacker import Attacker, amounts, as_number
from unmask.economics.campaign import attack, campaigner
from unmask.economics.exploitation import Floats
from unmask.economics.groups import Who
from unmask.economics.prices import Thresholds, exploitation_table
from unmask.economics.records import price_records

PRECISION: Final = 1e-7
"""Relative width at which a bisection stops."""

SMALLEST_AMOUNT: Final = 2.0**-60
"""The amount below which none is looked for: one of any size may do, and none at all may not."""

LARGEST_AMOUNT: Final = 2.0**60
"""A fine or price above which none is looked for."""


def deter(
    attacker: Attacker,
    who: Who,
    budget: float,
    *,
    amount: Literal["fine", "access_cost"] = "fine",
    loss: ArrayLike = 1.0,
) -> float:
    """A fine, or access price, with which no campaign brings the risk of a file above `budget`; the least found.

    The risk is the sum over targets of loss times the highest chance with which a best campaign re-identifies them
    (`Campaign.most_success`): one attacker faces them all, pays for access once, and is fined `max_fines` times in all.

    loss : (n,) or one number, what the publisher loses when a target is re-identified
    The payoff falls with a fine or a price, so that an amount that keeps every campaign away is never too high by more
    than its bounds are apart; where some are to be re-identified, a lower amount that does as well may exist. inf where
    2^60 is not enough. The amount returned meets the budget; one that is smaller by a 1e-7th may not.

    >>> case = Attacker(
    ...     gain=8000, exploit_cost=10, max_fines=math.inf, fine=1000, detection_base=-4.59, detection_growth=0.0
    ... )
    >>> deter(case, [1, 2, 2, 40], budget=1.0) > deter(case, [1, 2, 2, 40], budget=3.0)
    True
    """
    if not as_number("the risk budget", budget) >= 0:
        raise UnmaskError(f"the risk budget is {budget:g}, expected at least 0")
    if amount not in ("fine", "access_cost"):
        raise UnmaskError(f"amount is {amount!r}, expected fine or access_cost")
    arms = Arms.of(campaigner(with_parameter(attacker, amount, 0.0)), who, None)
    losses = amounts("loss", loss, len(arms.of_target))

    def meets(value: float) -> bool:
        return float(attack(arms.facing(**{amount: value})).most_success @ losses) <= budget

    return least_with(meets, 1.0)[1]


def least_with(holds: Callable[[float], bool], first: float, precision: float = PRECISION) -> tuple[float, float]:
    """The ends of a narrow bracket: it does not hold at the first, it holds at the second; probes double."""
    if holds(0.0):
        return 0.0, 0.0
    low, high = 0.0, first
    while not holds(high):
        low, high = high, 2 * high
        if high > LARGEST_AMOUNT:
            return low, math.inf
    while high - low > precision * max(high, SMALLEST_AMOUNT):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high


def least_root(over: Callable[[float], float], first: float, precision: float = PRECISION) -> tuple[float, float]:
    """The same for what is no more than 0: `least_with(lambda value: over(value) <= 0, ...)`, with few probes where
    `over` is about convex and falls.

    The line through the last two places above 0 meets 0 before such a function does, and where it is a line at once:
    probes are a little beyond that place and before it. Where that halves the bracket less than once, its middle is.
    """
    low, above, high, slope = 0.0, over(0.0), math.inf, 0.0
    if above <= 0:
        return 0.0, 0.0

    def probe(value: float) -> None:
        nonlocal low, above, high, slope
        left = over(value)
        if left <= 0:
            high = min(high, value)
        elif value > low:
            slope, low, above = (above - left) / (value - low), value, left

    def wide() -> bool:
        return high == math.inf or high - low > precision * max(high, SMALLEST_AMOUNT)

    probe(first)
    while wide():
        before = high - low
        if slope > 0:
            root = low + above / slope
            for beside in (root * (1 + precision / 3), root * (1 - precision / 3)):
                if low < beside < high and wide():
                    probe(beside)
        if high == math.inf or high - low > before / 2:
            probe(2 * low if high == math.inf else (low + high) / 2)
        if low > LARGEST_AMOUNT:
            return low, math.inf
    return low, high


class StoppingFine(NamedTuple):
    """The fine that stops every campaign, as far as it is known.

    pays  : a campaign pays at this fine, and at any smaller one; 0 where none pays without a fine
    stops : no campaign pays at this fine, or at any higher one; inf where no fine stops them all
    """

    pays: float
    stops: float


def stopping_fine(attacker: Attacker, who: Who, *, people: ArrayLike | None = None) -> StoppingFine:
    """Between which fines the one lies that just stops a campaign against all targets; n fines of it in all.

    With F the value of the release to somebody who cannot be fined, n fines of C_p cost at most n C_p: the attack pays
    whenever F - n C_p exceeds the price of access. people : how many people each target stands for, see `campaign`.

    >>> from unmask.economics import read_attacker
    >>> case = read_attacker("case-study")
    >>> round(stopping_fine(case, [60]).stops), round(stopping_fine(case, [60] * 50).stops)
    (8229, 238383)
    """
    arms = Arms.of(campaigner(attacker), who, people)

    @cache
    def against(fine: float) -> tuple[bool, bool]:
        """Whether a campaign is known to pay, and whether one may."""
        found = attack(arms.facing(fine=fine))
        return found.access, found.upper > 0

    first = max(attacker.fine, 1.0)
    stops = least_with(lambda fine: not against(fine)[1], first)
    pays = stops if math.isinf(stops[1]) else least_with(lambda fine: not against(fine)[0], first)
    return StoppingFine(pays[0], stops[1])


def risk_by_fine(attacker: Attacker, who: Who, fines: ArrayLike, *, people: ArrayLike | None = None) -> Floats:
    """(n_fines, n_targets) the highest chance with which a best campaign re-identifies each target, at each fine."""
    arms = Arms.of(campaigner(attacker), who, people)
    return np.stack([attack(arms.facing(fine=float(fine))).most_success for fine in np.asarray(fines)])


def sweep(attacker: Attacker, parameter: str, values: Sequence[float], max_size: int) -> list[Thresholds]:
    """The sizes that escape, at each value of one parameter of the attacker (Figure 10)."""
    return [exploitation_table(with_parameter(attacker, parameter, value), max_size).thresholds for value in values]


@dataclass(frozen=True)
class Sway:
    """The payoff of one group with a parameter lower and higher, all others as they are."""

    parameter: str
    low: float
    high: float
    payoff_low: float
    payoff_high: float


def tornado(attacker: Attacker, size: int, change: float = 0.1) -> list[Sway]:
    """How far the payoff of a group of `size` moves when a parameter is lower or higher by the share `change`.

    Amounts, prior, and "detection", the chance of the first try that can be detected: a schedule is scaled to it, of a
    sigmoid the base is moved. Parameters that are 0 are left out; the widest swing comes first. Each end is solved
    anew, so that a change of plan counts.
    """
    if not 0 < change < 1:
        raise UnmaskError(f"the change is {change:g}, expected a share between 0 and 1")
    found = []
    for parameter in ("gain", "access_cost", "link_cost", "exploit_cost", "fine", "prior", "detection"):
        now = first_detection(attacker) if parameter == "detection" else getattr(attacker, parameter)
        low, high = now * (1 - change), now * (1 + change)
        if parameter in ("prior", "detection"):
            high = min(high, 1.0)
        if now > 0:
            ends = [
                float(price_records(with_parameter(attacker, parameter, value), [size]).payoff[0])
                for value in (low, high)
            ]
            found.append(Sway(parameter, low, high, *ends))
    return sorted(found, key=lambda sway: -abs(sway.payoff_high - sway.payoff_low))


def with_parameter(attacker: Attacker, parameter: str, value: float) -> Attacker:
    """The attacker with one parameter changed; "detection" is the first chance to be detected, see `tornado`."""
    if parameter != "detection":
        if parameter not in (item.name for item in fields(Attacker)):
            raise UnmaskError(f"{parameter!r} is no parameter of an attacker; give one, such as fine or gain")
        changes: dict[str, Any] = {parameter: value}
        return replace(attacker, **changes)
    now = first_detection(attacker)
    if attacker.detection_prior is not None:
        weight = sum(attacker.detection_prior)
        return replace(attacker, detection_prior=(value * weight, (1 - value) * weight))
    if attacker.detection is not None and now > 0:
        return replace(attacker, detection=tuple(min(1.0, q * value / now) for q in attacker.detection))
    if attacker.detection_base is None or attacker.detection_growth is None or not 0 < value < 1:
        return replace(attacker, detection=(value,), detection_base=None, detection_growth=None)
    first = math.log(value / (1 - value)) - attacker.detection_growth * (attacker.audit_every - 1)
    return replace(attacker, detection_base=first)


def first_detection(attacker: Attacker) -> float:
    """The chance of the first try that can be detected, 0 if none can."""
    length = 1 if attacker.detection is None else len(attacker.detection)
    chances = attacker.detection_at(length * attacker.audit_every)
    return float(next((q for q in chances if q > 0), 0.0))
