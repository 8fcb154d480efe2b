"""Pareto fronts: alternatives that no other alternative dominates."""

from __future__ import annotations

from collections.abc import Sequence
from operator import le


def find_pareto_front(costs: Sequence[Sequence[float]]) -> list[bool]:
    """Return for each alternative True if it is on the Pareto front: no alternative is better in one cost and worse in
    none.

    Parameters
    ----------
    costs : sequence of sequence of float
        Costs of each alternative, such as risk and minus utility. An alternative with an undefined cost neither
        dominates nor is dominated. Equal alternatives are all on the front.

    Examples
    --------
    >>> find_pareto_front([(0.1, -0.5), (0.2, -0.4), (0.2, -0.9)])
    [True, False, True]
    """
    alternatives = [tuple(cost) for cost in costs]
    return [not any(other != cost and all(map(le, other, cost)) for other in alternatives) for cost in alternatives]
