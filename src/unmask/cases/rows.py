"""Rows that no belief gives: a number about a release."""

from __future__ import annotations

from typing import Literal

from unmask.plan import Cell
from unmask.reports.facts.study import NO_ATTACK
from unmask.results import Row


def plain_row(
    cell: Cell,
    measure: str,
    unit: str,
    value: float,
    *,
    prior: float,
    n: int,
    note: str = "",
    target: str = NO_ATTACK,
    direction: Literal["high", "low"] = "high",
    low: float | None = None,
    high: float | None = None,
    interval: str = "none",
) -> Row:
    """A number that has no distribution over people."""
    return Row(
        release=cell.protection.name,
        adversary=cell.adversary.name,
        target=target,
        measure=measure,
        unit=unit,
        direction=direction,
        prior=prior,
        posterior=value,
        gain=value - prior if direction == "high" else prior - value,
        low=low,
        high=high,
        interval=interval,
        n=n,
        n_observations=n,
        worst=value,
        worst_observation=0,
        quantiles=(),
        status="exact",
        note=note,
    )
