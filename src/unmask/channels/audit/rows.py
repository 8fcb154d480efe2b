"""Rows for numbers about a whole system, which have no distribution over targets."""

from __future__ import annotations

import math

from unmask.core.posterior import Status
from unmask.measures.registry import MEASURES
from unmask.results import Row


def make_row(
    release: str,
    adversary: str,
    measure: str,
    value: float,
    *,
    prior: float = math.nan,
    low: float | None = None,
    high: float | None = None,
    interval: str = "none",
    n: int = 1,
    status: Status = "exact",
    note: str = "",
) -> Row:
    """Return the row of one number; its unit and direction are those of the registry."""
    quantity = MEASURES[measure]
    return Row(
        release=release, adversary=adversary, target="system", measure=measure, unit=quantity.unit,
        direction=quantity.direction, prior=prior, posterior=value,
        gain=value - prior if quantity.direction == "high" else prior - value, low=low, high=high, interval=interval,
        n=n, n_observations=n, worst=value, worst_observation=0, quantiles=(value,) * 5, status=status, note=note,
    )  # fmt: skip
