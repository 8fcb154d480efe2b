"""A row of an audit: one measure of one adversary on one release; and the rows that findings mention."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

from unmask.results.envelope import EXACT_DIGITS, plain
from unmask.results.formats import SHARES
from unmask.results.names import NO_ATTACK

ORIGINAL = "original"
"""The release of this name is the table before protection: shown with the others, never counted among them."""

BOUNDS = "least and most"
"""Start of `Row.interval` if its ends are bounds and no confidence interval."""


@dataclass(frozen=True)
class Row:
    """One measure of one adversary on one release.

    release, adversary : names of the release and the adversary
    target             : "identity", or the name of a sensitive column
    measure, unit      : the quantity
    direction          : whether the adversary wants it "high" or "low"
    prior, posterior   : its mean over the targets before and after they saw the release
    gain               : what the release gave them, positive when they profit, whatever the direction
    low, high          : 95 % interval of `posterior`, None without an interval
    interval           : what the interval is over, and how it was made
    n, n_observations  : targets, and distinct observations they produced
    worst              : the value at the most exposed target, and the observation that attains it
    quantiles          : of the value over targets, at 5, 25, 50, 75 and 95 %
    status, note       : what the belief has earned, see `Posterior.status`, or `refuted` where the truth took it away;
                         what a reader must know about this number
    linked_to          : the other data about people that names are taken from, such as "register"; "" for none
    control            : result of the same attack on the control group, which is not in the release; None without it
    baseline           : best result of adversaries with the same knowledge on the control group
    n_people, n_drawn, n_judged : people of the file, those drawn from them at random to stand for all, and those of
                         the drawn who were judged; None where the number is not about people of a file
    excess, excess_low, excess_high : what members have more, as the adversary profits, and its 95 % interval, which is
                         for members and control groups like these
    """

    release: str
    adversary: str
    target: str
    measure: str
    unit: str
    direction: Literal["high", "low"]
    prior: float
    posterior: float
    gain: float
    low: float | None
    high: float | None
    interval: str
    n: int
    n_observations: int
    worst: float
    worst_observation: int
    quantiles: tuple[float, ...]
    status: str
    note: str = ""
    linked_to: str = ""
    control: float | None = None
    baseline: float | None = None
    excess: float | None = None
    excess_low: float | None = None
    excess_high: float | None = None
    n_people: int | None = None
    n_drawn: int | None = None
    n_judged: int | None = None

    @classmethod
    def of_number(
        cls,
        value: float,
        *,
        release: str,
        adversary: str,
        target: str,
        measure: str,
        unit: str,
        direction: Literal["high", "low"] = "high",
        prior: float = math.nan,
        n: int = 1,
        n_observations: int | None = None,
        quantiles: tuple[float, ...] = (),
        low: float | None = None,
        high: float | None = None,
        interval: str = "none",
        status: str = "exact",
        note: str = "",
    ) -> Row:
        """Return the row of a number that has no distribution over targets.

        >>> names = {"release": "a", "adversary": "b", "target": "c", "measure": "discovery", "unit": "share"}
        >>> Row.of_number(0.5, **names, prior=0.1).gain
        0.4
        """
        return cls(
            release=release, adversary=adversary, target=target, measure=measure, unit=unit, direction=direction,
            prior=prior, posterior=value, gain=value - prior if direction == "high" else prior - value, low=low,
            high=high, interval=interval, n=n, n_observations=n if n_observations is None else n_observations,
            worst=value, worst_observation=0, quantiles=quantiles, status=status, note=note,
        )  # fmt: skip

    def as_dict(self) -> dict[str, Any]:
        """Return the row as plain values for JSON, with all digits."""
        return {name: plain(value, digits=EXACT_DIGITS) for name, value in vars(self).items()}

    def record(self) -> dict[str, Any]:
        """Return the row for programs, without the number of the most exposed observation, which may be a person."""
        return {name: value for name, value in vars(self).items() if name != "worst_observation"}

    @property
    def shows_no_gain(self) -> bool:
        """Return whether the interval of the value includes its prior."""
        return self.low is not None and self.high is not None and self.low <= self.prior <= self.high


@dataclass(frozen=True)
class StudyRow(Row):
    """One measure of one adversary on one protected dataset, gathered over the seeds of a study.

    Values are means over seeds, `n` are the targets of one seed, and `worst` is the worst value of any seed.

    Parameters
    ----------
    release : str
        The protection.
    dataset : str
        The dataset.
    gain_low, gain_high : float, optional
        95 % interval of the gain over seeds, each seed compared with its own prior.
    seeds, cells : int
        Seeds with a value, and seeds with any result.
    """

    dataset: str = ""
    gain_low: float | None = None
    gain_high: float | None = None
    seeds: int = 1
    cells: int = 1

    def record(self) -> dict[str, Any]:
        """Return the row as programs get it, by dataset and protection."""
        values = super().record()
        for name in ("dataset", "release", "quantiles", "cells"):
            del values[name]
        return {"dataset": self.dataset, "protection": self.release, **values}

    @property
    def shows_no_gain(self) -> bool:
        """Return whether the interval of the gain includes 0; without one, see `Row`."""
        if self.gain_low is None or self.gain_high is None:
            return super().shows_no_gain
        return self.gain_low <= 0.0 <= self.gain_high


R = TypeVar("R", bound=Row)

PreferredRows = Mapping[tuple[str, str, str], R]
"""(release, adversary, target) -> the row that findings mention."""

RATIONAL: Final = ("realized_rational_success", "rational_success")
"""Success of an adversary who tries as many candidates as pay."""

SUCCESS: Final = (*RATIONAL, "realized_success", "recall", "success_probability", "breached", "linked_now")
"""Measures of success, the preferred one first: rational before one guess, realized before expected."""

ERRORS: Final = ("realized_error", "estimation_error")
"""Measures of error, for a graded loss or if no success was measured."""


def preferred_rows(rows: Iterable[R], measures: Sequence[str] = SUCCESS) -> dict[tuple[str, str, str], R]:
    """Return (release, adversary, target) -> the row of the first of these measures that was computed.

    >>> preferred_rows([])
    {}
    """
    preferred: dict[tuple[str, str, str], R] = {}
    for row in rows:
        if row.measure in measures and row.target != NO_ATTACK:
            key = (row.release, row.adversary, row.target)
            if key not in preferred or measures.index(row.measure) < measures.index(preferred[key].measure):
                preferred[key] = row
    return preferred


def mentioned_rows(rows: Sequence[R]) -> dict[tuple[str, str, str], R]:
    """Return (release, adversary, target) -> the row that findings of a study mention: success or error.

    It is an error for an adversary with a graded loss, and for all adversaries if no success was measured.
    """
    graded = {(row.adversary, row.target) for row in rows if row.measure in ERRORS and row.unit not in SHARES}
    by_error = preferred_rows((row for row in rows if (row.adversary, row.target) in graded), ERRORS)
    by_success = preferred_rows(row for row in rows if (row.adversary, row.target) not in graded)
    return {**by_success, **by_error} or preferred_rows(rows, ERRORS)
