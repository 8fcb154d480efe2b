"""Variations of an attacker: one parameter at other values, all others as they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from unmask.core.errors import UnmaskError
from unmask.economics.attacker import Attacker
from unmask.economics.plans.prices import MAX_TABLE_SIZE, Thresholds, exploitation_table
from unmask.economics.plans.records import price_records


def sweep(
    attacker: Attacker, parameter: str, values: Sequence[float], max_size: int = MAX_TABLE_SIZE
) -> list[Thresholds]:
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
