"""What people's own records added, as values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from unmask.measures.added import Added
from unmask.reports.few import rounded_up
from unmask.reports.subject import Subject

EDGES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Beliefs added between which people are counted, the upper one included; whose record took from it are in the first.
"""

How = Literal["removed", "rerun", "sampled"]


@dataclass(frozen=True)
class OwnRecord:
    """What people's own records added to the belief in their true value.

    how         : their record was "removed" from the release, the protection was "rerun" without each of them, or it
                  was run on samples of 90 % that they were in and not in ("sampled")
    people      : those asked about, drawn at random where not everybody is; shares : of them by `EDGES`
    mean, low, high, half, most_people, most : the mean and its interval; what half and 95 % are below; the most
    error       : standard error of one person, in the middle; nan where it is exact or not known
    worst       : the worst-off, chosen apart from what is said of them; worst_shares, worst_mean, worst_most the same
    """

    release: str
    adversary: str
    target: str
    how: How
    people: int
    shares: tuple[float, ...]
    mean: float
    low: float | None
    high: float | None
    half: float
    most_people: float
    most: float
    error: float
    worst: int
    worst_shares: tuple[float, ...]
    worst_mean: float
    worst_most: float

    @classmethod
    def of(cls, some: Added, worst: Added, *, release: str, adversary: str, target: str, how: How) -> Self:
        """From people drawn at random, and the worst-off."""
        each, theirs = (one.each[~np.isnan(one.each)] for one in (some, worst))
        mean, (low, high, _) = some.mean()
        half, most_people = np.quantile(each, (0.5, 0.95), method="inverted_cdf").tolist()
        error = some.error[some.error > 0]
        return cls(
            release, adversary, target, how, len(each), _shares(each), mean, low, high, half, most_people,
            float(each.max()), float(np.median(error)) if len(error) else float("nan"), len(theirs), _shares(theirs),
            float(theirs.mean()), float(theirs.max()),
        )  # fmt: skip


def _shares(each: NDArray[np.float64]) -> tuple[float, ...]:
    bins = np.maximum(np.searchsorted(EDGES, np.round(each, 9), side="left") - 1, 0)
    return tuple((np.bincount(bins, minlength=len(EDGES) - 1) / len(each)).tolist())


@dataclass(frozen=True)
class OwnRecords(Subject):
    """Of every release and column."""

    name: ClassVar = "own_records"
    shown_by: ClassVar = "unmask.reports.sections.own"
    before: ClassVar = "membership"

    told: ClassVar = frozenset({"added"})

    records: tuple[OwnRecord, ...]

    def without_small(self, least: int) -> Self:
        """Counts of a bin in multiples of `least`; the mean and the most of the worst-off stand as they are."""
        return replace(self, records=tuple(_rounded(one, least) for one in self.records))


def _rounded(one: OwnRecord, least: int) -> OwnRecord:
    shares = tuple(rounded_up(share, one.people, least) for share in one.shares)
    return replace(one, shares=shares, worst_shares=tuple(rounded_up(s, one.worst, least) for s in one.worst_shares))
