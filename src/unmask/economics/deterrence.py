"""Deterrence: the fine, price or gain that decides whether an attack pays, and the inputs that matter most."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Attacker, Floats, as_amounts
from unmask.economics.campaign import attack, remove_discount
from unmask.economics.groups import TargetInput, Targets, group_targets
from unmask.economics.plan import VALUE, CandidateGroups
from unmask.economics.prices import Thresholds, exploitation_table, find_break_even, solve_linked_plans
from unmask.economics.records import price_records
from unmask.ranges import Range, check_type

Amount = Literal["fine", "exploit_cost", "access_cost", "gain"]

PRECISION: Final = 1e-7
"""Relative width at which a bisection stops."""

SMALLEST_AMOUNT: Final = 2.0**-60
"""Least amount of a search that is not 0."""

LARGEST_AMOUNT: Final = 2.0**60
"""Largest fine or price of a search."""

SLOPE_PRECISION: Final = 1e-10
"""Share of the money at stake below which two plans are equally good."""

MAX_BREAKPOINTS: Final = 100
"""Largest number of breakpoints of one function."""


def break_even(attacker: Attacker, targets: TargetInput, amount: Amount = "fine") -> Floats:
    """Compute the amount at which an attack on a target alone is worth nothing, all other inputs as they are.

    The payoff is convex and piecewise linear in each amount. Newton's method from the attacked side is therefore exact
    after finitely many steps; its slopes come with the plan (envelope theorem).

    Parameters
    ----------
    attacker : Attacker
        The attacker.
    targets : (n,) array_like of int or Posterior
        Group sizes, or a belief.
    amount : {"fine", "exploit_cost", "access_cost", "gain"}
        The input that is searched.

    Returns
    -------
    (n,) array
        For the first three the least amount that deters, 0 if none is needed, inf if none deters. For the gain the
        largest one that does not attract; inf for a group without candidates.

    Examples
    --------
    >>> from unmask.economics import read_attacker
    >>> case = replace(read_attacker("case-study"), detection_growth=0.0)
    >>> break_even(case, [1, 5, 50]).round()
    array([490508., 132620.,  16143.])
    """
    if amount not in get_args(Amount):
        raise UnmaskError(f"amount is {amount!r}, expected one of {', '.join(get_args(Amount))}")
    if amount == "access_cost":
        plan = group_targets(attacker, targets).spread(lambda groups: solve_linked_plans(attacker, groups))
        return np.asarray(attacker.discount * plan[VALUE])
    if amount == "gain":
        free = replace(attacker, gain=1.0, access_cost=0.0, link_cost=0.0, exploit_cost=0.0, fine=0.0)
        gains = group_targets(free, targets).spread(
            lambda groups: _break_even_gain(attacker, groups)[None], otherwise=math.inf
        )
        return np.asarray(gains[0])
    free = replace(attacker, fine=0.0) if amount == "fine" else replace(attacker, exploit_cost=0.0)
    amounts = group_targets(free, targets).spread(
        lambda groups: find_break_even(attacker, groups, np.zeros(len(groups.size)), amount)[None]
    )
    return np.asarray(amounts[0])


def _break_even_gain(attacker: Attacker, groups: CandidateGroups) -> Floats:
    hit = groups.first_chance
    paid = attacker.access_cost + attacker.link_cost + attacker.exploit_cost + attacker.fine
    start = np.where(hit > 0, 2 * paid / (np.where(hit > 0, hit, 1.0) * attacker.discount**4), 0.0)
    return np.where(hit > 0, find_break_even(attacker, groups, start, "gain"), math.inf)


def deter(
    attacker: Attacker,
    targets: TargetInput,
    budget: float,
    *,
    amount: Literal["fine", "access_cost"] = "fine",
    loss: ArrayLike = 1.0,
) -> float:
    """Find a fine, or a price of access, with which no campaign brings the risk of a file above a budget.

    The risk is the sum over targets of the loss times `Campaign.most_success`: one attacker faces them all, pays for
    access once, and is fined `max_fines` times in all. The payoff falls with a fine or a price. An amount that deters
    every campaign is therefore never too high by more than the gap of its bounds. If some targets may be
    re-identified, a lower amount that does as well may exist.

    Parameters
    ----------
    attacker : Attacker
        The attacker.
    targets : (n,) array_like of int or Posterior
        Group sizes, or a belief.
    budget : float
        Largest risk.
    amount : {"fine", "access_cost"}
        The input that is searched.
    loss : (n,) array_like
        Loss of the publisher for each target, or one number.

    Returns
    -------
    float
        The least amount that is found, with a relative width of 1e-7; inf if 2^60 is not enough.

    Examples
    --------
    >>> case = Attacker(
    ...     gain=8000, exploit_cost=10, max_fines=math.inf, fine=1000, detection_base=-4.59, detection_growth=0.0
    ... )
    >>> deter(case, [1, 2, 2, 40], budget=1.0) > deter(case, [1, 2, 2, 40], budget=3.0)
    True
    """
    check_type("budget", budget, Annotated[float, Range(0)])
    if amount not in ("fine", "access_cost"):
        raise UnmaskError(f"amount is {amount!r}, expected fine or access_cost")
    unfined = Targets.of(remove_discount(with_parameter(attacker, amount, 0.0)), targets, None)
    losses = as_amounts("loss", loss, len(unfined.group))

    def meets(value: float) -> bool:
        return float(attack(unfined.with_attacker(**{amount: value})).most_success @ losses) <= budget

    return bisect(meets, 1.0)[1]


def bisect(holds: Callable[[float], bool], first: float, precision: float = PRECISION) -> tuple[float, float]:
    """Return a narrow bracket: the condition fails at the first amount and holds at the second; probes double."""
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


def find_root(function: Callable[[float], float], first: float, precision: float = PRECISION) -> tuple[float, float]:
    """Return the same bracket for function(amount) <= 0, with few probes if the function is about convex and falls.

    The line through the last two amounts above 0 meets 0 earlier than such a function does, and at the root of a line:
    probes are a little beyond and below that amount. If that halves the bracket less than once, its middle is probed.
    """
    low, excess, high, slope = 0.0, function(0.0), math.inf, 0.0
    if excess <= 0:
        return 0.0, 0.0

    def probe(amount: float) -> None:
        nonlocal low, excess, high, slope
        value = function(amount)
        if value <= 0:
            high = min(high, amount)
        elif amount > low:
            slope, low, excess = (excess - value) / (amount - low), amount, value

    def is_wide() -> bool:
        return high == math.inf or high - low > precision * max(high, SMALLEST_AMOUNT)

    probe(first)
    while is_wide():
        width = high - low
        if slope > 0:
            root = low + excess / slope
            for amount in (root * (1 + precision / 3), root * (1 - precision / 3)):
                if low < amount < high and is_wide():
                    probe(amount)
        if high == math.inf or high - low > width / 2:
            probe(2 * low if high == math.inf else (low + high) / 2)
        if low > LARGEST_AMOUNT:
            return low, math.inf
    return low, high


def find_breakpoints(line: Callable[[float], tuple[float, float]], low: float, high: float) -> list[float]:
    """Return the ascending amounts at which a convex piecewise linear function changes its slope.

    line : amount -> value and slope; at most 2 calls for each breakpoint and 1 more, as the tangents of two amounts
           meet at a breakpoint if the function is as low there as they are

    M. Eisner and D. Severance, "Mathematical techniques for efficient record segmentation", 1976.

    >>> find_breakpoints(lambda x: (max(0.0, 6 - 2 * x, 4 - x), -2.0 if x < 2 else -1.0 if x < 4 else 0.0), 0, 10)
    [2.0, 4.0]
    """
    breakpoints: list[float] = []
    spans = [((low, *line(low)), (high, *line(high)))]
    while spans and len(breakpoints) < MAX_BREAKPOINTS:
        (a, value_a, slope_a), (b, value_b, slope_b) = spans.pop()
        if slope_b - slope_a <= SLOPE_PRECISION * abs(slope_a):
            continue
        meet = (value_a - slope_a * a - value_b + slope_b * b) / (slope_b - slope_a)
        value, slope = line(meet)
        if not a < meet < b or value <= value_a + slope_a * (meet - a) + SLOPE_PRECISION * abs(value_a):
            breakpoints.append(min(max(meet, a), b))
        else:
            spans += [((a, value_a, slope_a), (meet, value, slope)), ((meet, value, slope), (b, value_b, slope_b))]
    return sorted(breakpoints)


class StoppingFine(NamedTuple):
    """Bounds on the fine that stops every campaign.

    Parameters
    ----------
    pays : float
        A campaign pays at this fine, and at any smaller one; 0 if none pays without a fine.
    stops : float
        No campaign pays at this fine, or at any higher one; inf if no fine stops them all.
    """

    pays: float
    stops: float


def stopping_fine(attacker: Attacker, targets: TargetInput, *, people: ArrayLike | None = None) -> StoppingFine:
    """Bound the fine that just stops a campaign against all targets.

    With F the value of the release to an attacker who cannot be fined, n fines of C_p cost at most n C_p: the attack
    pays whenever F - n C_p exceeds the price of access.

    Parameters
    ----------
    attacker : Attacker
        The attacker.
    targets : (n,) array_like of int or Posterior
        Group sizes, or a belief.
    people : (n,) array_like of int, optional
        Number of people behind each target, see `campaign`.

    Returns
    -------
    StoppingFine
        The bounds.

    Examples
    --------
    >>> from unmask.economics import read_attacker
    >>> case = read_attacker("case-study")
    >>> round(stopping_fine(case, [60]).stops), round(stopping_fine(case, [60] * 50).stops)
    (8229, 238383)
    """
    unfined = Targets.of(remove_discount(attacker), targets, people)

    @cache
    def is_paying(fine: float) -> tuple[bool, bool]:
        """Return True if a campaign surely pays, and True if one may."""
        campaign = attack(unfined.with_attacker(fine=fine))
        return campaign.access, campaign.upper > 0

    first = max(attacker.fine, 1.0)
    stops = bisect(lambda fine: not is_paying(fine)[1], first)
    pays = stops if math.isinf(stops[1]) else bisect(lambda fine: not is_paying(fine)[0], first)
    return StoppingFine(pays[0], stops[1])


def risk_by_fine(
    attacker: Attacker, targets: TargetInput, fines: ArrayLike, *, people: ArrayLike | None = None
) -> Floats:
    """Compute the highest probability with which a best campaign re-identifies each target, at each fine.

    Parameters
    ----------
    attacker : Attacker
        The attacker.
    targets : (n_targets,) array_like of int or Posterior
        Group sizes, or a belief.
    fines : (n_fines,) array_like
        Fines.
    people : (n_targets,) array_like of int, optional
        Number of people behind each target, see `campaign`.

    Returns
    -------
    (n_fines, n_targets) array
        Probabilities.
    """
    unfined = Targets.of(remove_discount(attacker), targets, people)
    return np.stack([attack(unfined.with_attacker(fine=float(fine))).most_success for fine in np.asarray(fines)])


def sweep(attacker: Attacker, parameter: str, values: Sequence[float], max_size: int) -> list[Thresholds]:
    """Compute the sizes that escape at each value of one parameter of the attacker (Figure 10).

    Parameters
    ----------
    attacker : Attacker
        The attacker.
    parameter : str
        A field of `Attacker`, or "detection", see `tornado`.
    values : sequence of float
        Values of the parameter.
    max_size : int
        Largest group size.

    Returns
    -------
    list of Thresholds
        Thresholds at each value.
    """
    return [exploitation_table(with_parameter(attacker, parameter, value), max_size).thresholds for value in values]


@dataclass(frozen=True)
class TornadoRow:
    """Payoff of one group with a lower and a higher parameter, all others as they are.

    Parameters
    ----------
    parameter : str
        Name of the parameter.
    low, high : float
        The two values.
    payoff_low, payoff_high : float
        Payoffs at these values.
    """

    parameter: str
    low: float
    high: float
    payoff_low: float
    payoff_high: float


def tornado(attacker: Attacker, size: int, change: float = 0.1) -> list[TornadoRow]:
    """Compute the payoff of a group with each parameter lower and higher by a share.

    Parameters are the amounts, the prior, and "detection", the probability that the first try that can be detected is:
    a schedule is scaled to it, of a sigmoid the base is moved. Each end is solved anew: a change of plan counts.

    Parameters
    ----------
    attacker : Attacker
        The attacker.
    size : int
        Size of the group.
    change : float
        Share between 0 and 1.

    Returns
    -------
    list of TornadoRow
        Parameters above 0, the widest swing first.
    """
    if not 0 < change < 1:
        raise UnmaskError(f"the change is {change:g}, expected a share between 0 and 1")
    rows = []
    for parameter in ("gain", "access_cost", "link_cost", "exploit_cost", "fine", "prior", "detection"):
        value = first_detection(attacker) if parameter == "detection" else getattr(attacker, parameter)
        low, high = value * (1 - change), value * (1 + change)
        if parameter in ("prior", "detection"):
            high = min(high, 1.0)
        if value > 0:
            payoffs = [
                float(price_records(with_parameter(attacker, parameter, end), [size]).payoff[0]) for end in (low, high)
            ]
            rows.append(TornadoRow(parameter, low, high, *payoffs))
    return sorted(rows, key=lambda row: -abs(row.payoff_high - row.payoff_low))


def with_parameter(attacker: Attacker, parameter: str, value: float) -> Attacker:
    """Return the attacker with one parameter changed; "detection" as in `tornado`."""
    if parameter != "detection":
        if parameter not in (item.name for item in fields(Attacker)):
            raise UnmaskError(f"{parameter!r} is not a parameter of an attacker; give one, such as fine or gain")
        changes: dict[str, Any] = {parameter: value}
        return replace(attacker, **changes)
    first = first_detection(attacker)
    if attacker.detection_prior is not None:
        weight = sum(attacker.detection_prior)
        return replace(attacker, detection_prior=(value * weight, (1 - value) * weight))
    if attacker.detection is not None and first > 0:
        return replace(attacker, detection=tuple(min(1.0, q * value / first) for q in attacker.detection))
    if attacker.detection_base is None or attacker.detection_growth is None or not 0 < value < 1:
        return replace(attacker, detection=(value,), detection_base=None, detection_growth=None)
    base = math.log(value / (1 - value)) - attacker.detection_growth * (attacker.audit_every - 1)
    return replace(attacker, detection_base=base)


def first_detection(attacker: Attacker) -> float:
    """Return the probability that the first try that can be detected is; 0 if none can."""
    length = 1 if attacker.detection is None else len(attacker.detection)
    chances = attacker.detection_at(length * attacker.audit_every)
    return float(next((q for q in chances if q > 0), 0.0))
