"""The results of a study, gathered over its seeds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import duckdb

from unmask.core.errors import FailedError
from unmask.data.databases import escape_path, explain_failure, open_database
from unmask.measures.registry import SHARES, described
from unmask.policy.verdict import CRITERION, Criterion
from unmask.reports.facts.study import Missing
from unmask.results import Row
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
    control, excess        : see `Row`; means over the seeds, None where no seed has control people
    excess_low, excess_high : 95 % interval of the excess, over seeds as above
    quantiles              : see `Row`; means over the seeds, () where a seed has none
    n_people, n_drawn, n_judged : see `Row`; the fewest judged of any seed
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
    control: float | None = None
    excess: float | None = None
    excess_low: float | None = None
    excess_high: float | None = None
    quantiles: tuple[float, ...] = ()
    n_people: int | None = None
    n_drawn: int | None = None
    n_judged: int | None = None

    @property
    def item(self) -> Row | Criterion:
        """The row or the criterion that conditions are about: its release is the protection."""
        if self.adversary == CRITERION:
            return Criterion(self.protection, self.measure, self.posterior)
        shared = {field.name: getattr(self, field.name) for field in fields(Row) if hasattr(self, field.name)}
        return Row(**shared, release=self.protection, n_observations=self.n, worst_observation=0, status="")


@dataclass(frozen=True)
class Results:
    """All that a study found, in the order of its plan, and what it could not find.

    summaries : measures of adversaries; criteria : criteria of releases, in the place of an adversary `CRITERION`
    """

    summaries: tuple[Summary, ...]
    gaps: tuple[Missing, ...]
    criteria: tuple[Summary, ...] = ()

    def of(self, dataset: str) -> tuple[Summary, ...]:
        """Return the measures and the criteria of a dataset."""
        return tuple(one for one in (*self.summaries, *self.criteria) if one.dataset == dataset)

    @property
    def items(self) -> tuple[Row | Criterion, ...]:
        """The rows and criteria that conditions are about, of all datasets."""
        return tuple(one.item for one in (*self.summaries, *self.criteria))


_AGAIN = "run the study again: it writes the file from its journal"


def read_results(folder: Path) -> Results:
    """What the folder of a study holds."""
    path = folder / RESULTS
    if not path.is_file():
        raise FailedError(f"{folder} has no {RESULTS}; run `unmask study PLAN -o {folder}` first")
    with open_database() as connection:
        try:
            found = [_summary(**row) for row in _rows(connection, _SUMMARIES, path)]
            return Results(
                tuple(one for one in found if one.adversary != CRITERION),
                tuple(Missing(**row) for row in _rows(connection, _GAPS, path)),
                tuple(one for one in found if one.adversary == CRITERION),
            )
        except duckdb.BinderException:  # a column is missing
            raise FailedError(f"{path} is of another version; {_AGAIN}") from None
        except duckdb.Error as error:
            raise explain_failure(error, f"{path} is damaged; {_AGAIN}") from None


def _rows(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a query, by name of column."""
    found = connection.execute(query, [escape_path(path)])
    names = [name for name, *_ in found.description or ()]
    return (dict(zip(names, row, strict=True)) for row in found.fetchall())


_SUMMARIES = """
    select dataset, protection, adversary, target, measure, any_value(unit) as unit, any_value(direction) as direction,
           avg(prior) as prior, avg(posterior) as posterior, avg(gain) as gain,
           case when any_value(direction) = 'high' then max(worst) else min(worst) end as worst,
           stddev_samp(posterior) as spread, stddev_samp(gain) as gain_spread, count(posterior) as seeds,
           any_value(low) as low, any_value(high) as high, any_value("interval") as "interval",
           any_value(cells) as cells, max(n) as n, any_value(linked_to) as linked_to,
           avg(control) as control, avg(excess) as excess, stddev_samp(excess) as excess_spread,
           any_value(excess_low) as excess_low, any_value(excess_high) as excess_high,
           max(n_people)::bigint as n_people, max(n_drawn)::bigint as n_drawn, min(n_judged)::bigint as n_judged,
           [avg(q05), avg(q25), avg(q50), avg(q75), avg(q95)] as quantiles
    from (
        select *, count(distinct seed) over (partition by dataset, protection, adversary) as cells
        from read_parquet(?, file_row_number = true) where status = 'done'
        qualify adversary <> 'criterion'  -- which the cells of all adversaries have
             or row_number() over (partition by dataset, protection, adversary, seed, measure) = 1
    )
    group by dataset, protection, adversary, target, measure
    order by min(file_row_number)
"""

_GAPS = """
    select dataset, protection, adversary, status, count(distinct cell) as cells, any_value(reason) as reason
    from read_parquet(?, file_row_number = true) where status <> 'done'
    group by dataset, protection, adversary, status
    order by min(file_row_number)
"""


def _summary(*, spread: float | None, gain_spread: float | None, excess_spread: float | None, **found: Any) -> Summary:
    """One row of `_SUMMARIES`, with the interval over seeds where there are several."""
    found |= {
        name: math.nan if found[name] is None else found[name] for name in ("prior", "posterior", "gain", "worst")
    }
    if (ends := _over_seeds(found["posterior"], spread, found["seeds"])) is not None:
        low, high = _within(found["measure"], found["unit"], ends)
        found |= {"low": low, "high": high, "interval": "seeds"}
    if (ends := _over_seeds(found["excess"], excess_spread, found["seeds"])) is not None:
        found |= {"excess_low": ends[0], "excess_high": ends[1]}
    found["quantiles"] = () if None in found["quantiles"] else tuple(found["quantiles"])
    gains = _over_seeds(found["gain"], gain_spread, found["seeds"]) or (None, None)
    return Summary(**found, gain_low=gains[0], gain_high=gains[1])


def _over_seeds(mean: float | None, spread: float | None, n: int) -> tuple[float, float] | None:
    """Student's interval of a mean over seeds; None where seeds change nothing."""
    if mean is None or spread is None or n < 2 or not spread > SAME * max(abs(mean), 1.0):
        return None
    return _student(mean, spread, n)


def _student(mean: float, deviation: float, n: int) -> tuple[float, float]:
    from scipy.special import stdtrit  # not at the top: slow to load, and only this needs it

    reach = float(stdtrit(n - 1, 0.975)) * deviation / math.sqrt(n)
    return mean - reach, mean + reach


def _within(measure: str, unit: str, ends: tuple[float, float]) -> tuple[float | None, float | None]:
    """The ends within what a measure can be: shares from 0 to 1, the rest from 0, a utility that is a loss up to 0."""
    known = described(measure)
    if known is not None and known.range[0] < 0:
        return ends
    least, most = (0.0, 1.0) if unit in SHARES else (-math.inf, 0.0) if measure == "utility" else (0.0, math.inf)
    low, high = (None if math.isnan(end) else min(max(end, least), most) for end in ends)
    return low, high
