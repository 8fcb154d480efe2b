"""The results of a study, gathered over its seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import duckdb
import numpy as np

from unmask.engines.sql import exact_path
from unmask.errors import FailedError
from unmask.files import engine
from unmask.measures.registry import SHARES
from unmask.studies.run import RESULTS

SAME = 1e-9
"""Values of several seeds that differ by no more than this part are one value: nothing was drawn."""


@dataclass(frozen=True)
class Summary:
    """One measure of one adversary on one protected dataset.

    prior, posterior, gain : means over the seeds; nan where no seed has a value
    low, high              : 95 % interval of the posterior; None where there is none
    interval               : what it is over: "seeds" (Student's t), or that of one seed where seeds change nothing
    gain_low, gain_high    : 95 % interval of the gain over seeds, each seed against its own prior; or None
    seeds, cells           : seeds with a value, and seeds that have a result at all
    n                      : targets of one seed
    linked_to              : see `Row`
    worst                  : the worst value of any seed's worst-off target
    """

    dataset: str
    protection: str
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
    gain_low: float | None
    gain_high: float | None
    seeds: int
    cells: int
    n: int
    worst: float
    linked_to: str = ""


@dataclass(frozen=True)
class Gap:
    """Cells of one adversary on one protected dataset that have no result, and the reason of one of them."""

    dataset: str
    protection: str
    adversary: str
    status: str
    cells: int
    reason: str


@dataclass(frozen=True)
class Results:
    """All that a study found, in the order of its plan, and what it could not find."""

    summaries: tuple[Summary, ...]
    gaps: tuple[Gap, ...]


def read_results(folder: Path) -> Results:
    """What the folder of a study holds."""
    path = folder / RESULTS
    if not path.is_file():
        raise FailedError(f"{folder} has no {RESULTS}; run `unmask study PLAN -o {folder}` first")
    with engine() as connection:
        try:
            return Results(
                tuple(_summary(row) for row in connection.execute(_SUMMARIES, [exact_path(path)]).fetchall()),
                tuple(Gap(*row) for row in connection.execute(_GAPS, [exact_path(path)]).fetchall()),
            )
        except duckdb.Error:
            raise FailedError(
                f"{path} is damaged or of another version; run the study again: it writes the file from its journal"
            ) from None


_SUMMARIES = """
    select dataset, protection, adversary, target, measure, any_value(unit), any_value(direction),
           avg(prior), avg(posterior), avg(gain),
           case when any_value(direction) = 'high' then max(worst) else min(worst) end,
           stddev_samp(posterior), stddev_samp(gain), count(posterior), any_value(low), any_value(high),
           any_value("interval"), any_value(cells), max(n), any_value(linked_to)
    from (
        select *, count(distinct cell) over (partition by dataset, protection, adversary) as cells
        from read_parquet(?, file_row_number = true) where status = 'done'
    )
    group by dataset, protection, adversary, target, measure
    order by min(file_row_number)
"""

_GAPS = """
    select dataset, protection, adversary, status, count(distinct cell), any_value(reason)
    from read_parquet(?, file_row_number = true) where status <> 'done'
    group by dataset, protection, adversary, status
    order by min(file_row_number)
"""


def _summary(row: Sequence[Any]) -> Summary:
    """One row of `_SUMMARIES`, with the interval over seeds where there are several."""
    (
        *names,
        prior,
        posterior,
        gain,
        worst,
        deviation,
        gain_deviation,
        seeds,
        low,
        high,
        interval,
        cells,
        n,
        linked_to,
    ) = row
    dataset, protection, adversary, target, measure, unit, direction = names
    gains: tuple[float | None, float | None] = None, None
    if seeds > 1 and deviation > SAME * max(abs(posterior), 1.0):
        low, high = _within(measure, unit, _student(posterior, deviation, seeds))
        interval = "seeds"
    if seeds > 1 and gain_deviation is not None and gain_deviation > SAME * max(abs(gain), 1.0):
        gains = _student(gain, gain_deviation, seeds)
    return Summary(
        dataset,
        protection,
        adversary,
        target,
        measure,
        unit,
        direction,
        _known(prior),
        _known(posterior),
        _known(gain),
        low,
        high,
        interval,
        *gains,
        seeds,
        cells,
        n,
        _known(worst),
        linked_to,
    )


def _student(mean: float, deviation: float, n: int) -> tuple[float, float]:
    from scipy.special import stdtrit  # not at the top: slow to load, and only this needs it

    reach = float(stdtrit(n - 1, 0.975)) * deviation / math.sqrt(n)
    return mean - reach, mean + reach


def _within(measure: str, unit: str, ends: tuple[float, float]) -> tuple[float | None, float | None]:
    """The ends within what a measure can be: shares from 0 to 1, the rest from 0, a utility that is a loss up to 0."""
    least, most = (0.0, 1.0) if unit in SHARES else (-math.inf, 0.0) if measure == "utility" else (0.0, math.inf)
    low, high = (None if math.isnan(end) else min(max(end, least), most) for end in ends)
    return low, high


def _known(value: float | None) -> float:
    return math.nan if value is None else value


def undominated(risks: Sequence[Sequence[float]], utility: Sequence[float]) -> list[bool]:
    """Whether no other point has at most each of its risks and at least its utility, and one of them strictly.

    >>> undominated([[0.1], [0.2], [0.2]], [0.5, 0.4, 0.9])
    [True, False, True]
    """
    r, u = np.asarray(risks), np.asarray(utility)
    better = (r[None] <= r[:, None]).all(axis=2) & (u[None, :] >= u[:, None])
    strictly = (r[None] < r[:, None]).any(axis=2) | (u[None, :] > u[:, None])
    return [not one for one in np.any(better & strictly, axis=1).tolist()]
