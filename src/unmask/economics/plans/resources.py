"""Attackers who choose one of several outside resources: the best single one for each target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from unmask.economics.plans.prices import Prices, Thresholds

ASSUMPTION: Final = (
    "Each target is attacked with the best single resource, and a campaign uses one resource for all. No combination "
    "is tried: an attacker who combines resources may gain more."
)


def choose_resources(prices: Sequence[Prices]) -> tuple[Prices, NDArray[np.int64]]:
    """Choose the resource with the largest payoff for each target.

    Parameters
    ----------
    prices : sequence of Prices
        Prices of the same targets with each resource.

    Returns
    -------
    prices : Prices
        Prices with the chosen resources.
    choice : (n,) array of int
        Position of the resource. Payoffs of 0 are compared with the outside data at hand, ties take the first.

    Examples
    --------
    >>> from unmask.economics import Attacker, price_records
    >>> costs = {"register": 10, "broker": 200}, {"register": 0.3, "broker": 0.9}
    >>> attackers = [
    ...     Attacker(gain=1000, access_cost=costs[0][name], prior=costs[1][name], exploit_cost=20, max_fines=0)
    ...     for name in ("register", "broker")
    ... ]
    >>> prices, choice = choose_resources([price_records(attacker, [1, 15]) for attacker in attackers])
    >>> choice, prices.success_probability
    (array([1, 1]), array([0.9, 0.9]))
    """
    payoff, sunk_payoff = (np.stack([getattr(item, name) for item in prices]) for name in ("payoff", "sunk_payoff"))
    choice = np.where(payoff.max(axis=0) > 0, payoff.argmax(axis=0), sunk_payoff.argmax(axis=0))
    target = np.arange(payoff.shape[1])
    stacked = {item.name: np.stack([getattr(price, item.name) for price in prices]) for item in fields(Prices)}
    return Prices(**{name: values[choice, target] for name, values in stacked.items()}), choice


def merge_thresholds(thresholds: Sequence[Thresholds]) -> Thresholds:
    """Return the smallest sizes that escape an attack with every resource; None if a size of the table is attacked.

    >>> merge_thresholds([Thresholds(14, 48, 77), Thresholds(3, 50, None)])
    Thresholds(exhausted=14, attacked=50, sunk=None)
    """
    return Thresholds(*(None if None in sizes else max(sizes) for sizes in zip(*thresholds, strict=True)))


def name_choices(choice: NDArray[np.int64], resources: Mapping[str, object]) -> list[str]:
    """Return the name of each chosen resource."""
    return [list(resources)[position] for position in choice.tolist()]
