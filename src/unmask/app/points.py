"""Releases that were tried, as points of risk and utility."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from unmask.app.kind import Trials
from unmask.core.pareto import find_pareto_front


@dataclass(frozen=True)
class Point:
    """A protection that was tried. times : its worst condition as a multiple of the limit; nan of one that asks none.

    asked : its parameters; nothing where nothing is protected
    front : whether no other point risks as little and keeps as much
    lost  : what a loss is called -> the share
    """

    words: str
    asked: Mapping[str, Any]
    utility: float
    times: float
    met: bool
    why: tuple[str, ...] = ()
    front: bool = False
    lost: Mapping[str, float] = field(default_factory=dict)


def ranked(points: Sequence[Point], trials: Trials) -> tuple[Point, ...]:
    """Those that are known and differ, in the order of their parameters, the last one first."""
    known = [one for one in points if math.isfinite(one.times + one.utility)]
    differing = [one for one in known if not any(_is_the_same(one, other) for other in known)]
    best = find_pareto_front([(one.times, -one.utility) for one in differing])
    marked = (replace(one, front=front) for one, front in zip(differing, best, strict=True))
    return tuple(sorted(marked, key=lambda one: (bool(one.asked), *_order(one, trials))))


def _is_the_same(one: Point, other: Point) -> bool:
    """Whether another point is asked for less, and comes to the same: what is asked besides has changed nothing."""
    less = bool(other.asked) and other.asked.items() < one.asked.items()
    return less and (one.times, one.utility) == (other.times, other.utility)


def _order(point: Point, trials: Trials) -> Iterator[float]:
    return (point.asked.get(one.name) or 0 for one in reversed(trials.parameters))
