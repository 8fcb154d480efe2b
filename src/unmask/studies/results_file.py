"""The results file of a study: written from its journal, and aggregated over seeds on reading."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from unmask.core.errors import FailedError
from unmask.data.databases import escape_path, explain_failure, open_database
from unmask.data.sql import quote_text
from unmask.data.writing import replace_file
from unmask.measures.interval import student
from unmask.measures.registry import SHARES, described
from unmask.plan import Cell, Plan
from unmask.policy.condition import QUANTILES
from unmask.policy.verdict import CRITERION, Criterion
from unmask.results import Row, StudyRow
from unmask.studies.journal import Journal, Result

RESULTS = "results.parquet"

COLUMNS = (
    "cell", "dataset", "protection", "adversary", "seed", "measure", "unit", "prior", "posterior", "gain", "low",
    "high", "n", "status", "reason", "target", "direction", "interval", "worst", "note", "seconds",
    "linked_to", "control", "excess", "excess_low", "excess_high",
    "n_people", "n_drawn", "n_judged", *QUANTILES,
)  # fmt: skip
"""Columns of the file."""

_NUMBERS = (
    "prior", "posterior", "gain", "low", "high", "worst", "seconds", "control", "excess", "excess_low", "excess_high",
    "n_people", "n_drawn", "n_judged", *QUANTILES,
)  # fmt: skip

EQUAL_SEEDS = 1e-9
"""Relative standard deviation over seeds below which all seeds have the same value."""


@dataclass(frozen=True)
class MissingCells:
    """Cells of one protection and adversary without a result: status, number, and the reason of one of them.

    The status is "failed", "timed out", "skipped" or "not run".
    """

    dataset: str
    protection: str
    adversary: str
    status: str
    cells: int
    reason: str


@dataclass(frozen=True)
class Results:
    """Results of a study, in the order of its plan.

    Parameters
    ----------
    rows : tuple of StudyRow
        Measures of adversaries.
    gaps : tuple of MissingCells
        Cells without a result.
    criteria : tuple of StudyRow
        Criteria of releases, with `CRITERION` as adversary.
    """

    rows: tuple[StudyRow, ...]
    gaps: tuple[MissingCells, ...]
    criteria: tuple[StudyRow, ...] = ()

    def rows_of(self, dataset: str) -> tuple[StudyRow, ...]:
        """Return the measures and the criteria of a dataset."""
        return tuple(row for row in (*self.rows, *self.criteria) if row.dataset == dataset)

    @property
    def items(self) -> tuple[Row | Criterion, ...]:
        """Return the rows and criteria of all datasets to which conditions may apply."""
        return (*self.rows, *map(as_criterion, self.criteria))


def as_criterion(row: StudyRow) -> Criterion:
    """Return the criterion in a row."""
    return Criterion(row.release, row.measure, row.posterior)


_AGAIN = "run the study again: it writes the file from its journal"


def read_results(folder: Path) -> Results:
    """Return the results in a study's folder, aggregated over seeds."""
    path = folder / RESULTS
    if not path.is_file():
        raise FailedError(f"{folder} has no {RESULTS}; run `unmask study PLAN -o {folder}` first")
    with open_database() as connection:
        try:
            rows = [_gather(**record) for record in _select(connection, _GATHERED, path)]
            return Results(
                tuple(row for row in rows if row.adversary != CRITERION),
                tuple(MissingCells(**record) for record in _select(connection, _GAPS, path)),
                tuple(row for row in rows if row.adversary == CRITERION),
            )
        except duckdb.BinderException:  # a column is missing
            raise FailedError(f"{path} is of another version; {_AGAIN}") from None
        except duckdb.Error as error:
            raise explain_failure(error, f"{path} is damaged; {_AGAIN}") from None


def _select(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a query as dictionaries by column."""
    cursor = connection.execute(query, [escape_path(path)])
    names = [name for name, *_ in cursor.description or ()]
    return (dict(zip(names, record, strict=True)) for record in cursor.fetchall())


_GATHERED = """
    select dataset, protection as release, adversary, target, measure, any_value(unit) as unit,
           any_value(direction) as direction,
           avg(prior) as prior, avg(posterior) as posterior, avg(gain) as gain,
           case when any_value(direction) = 'high' then max(worst) else min(worst) end as worst,
           stddev_samp(posterior) as spread, stddev_samp(gain) as gain_spread, count(posterior) as seeds,
           any_value(low) as low, any_value(high) as high, min("interval") as "interval",
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


def _gather(*, spread: float | None, gain_spread: float | None, excess_spread: float | None, **record: Any) -> StudyRow:
    """Return a record of `_GATHERED` as a row, with intervals over seeds if values differ between seeds."""
    for name in ("prior", "posterior", "gain", "worst"):
        record[name] = math.nan if record[name] is None else record[name]
    if (ends := _interval_over_seeds(record["posterior"], spread, record["seeds"])) is not None:
        low, high = _clip(record["measure"], record["unit"], ends)
        record |= {"low": low, "high": high, "interval": "seeds"}
    if (ends := _interval_over_seeds(record["excess"], excess_spread, record["seeds"])) is not None:
        record |= {"excess_low": ends[0], "excess_high": ends[1]}
    record["quantiles"] = () if None in record["quantiles"] else tuple(record["quantiles"])
    gains = _interval_over_seeds(record["gain"], gain_spread, record["seeds"]) or (None, None)
    constants = {"n_observations": record["n"], "worst_observation": 0, "status": ""}
    return StudyRow(**record, **constants, gain_low=gains[0], gain_high=gains[1])


def _interval_over_seeds(mean: float | None, spread: float | None, n: int) -> tuple[float, float] | None:
    """Return Student's t interval of a mean over seeds; None if all seeds have the same value."""
    if mean is None or spread is None or n < 2 or not spread > EQUAL_SEEDS * max(abs(mean), 1.0):
        return None
    reach = student(n - 1) * spread / math.sqrt(n)
    return mean - reach, mean + reach


def _clip(measure: str, unit: str, ends: tuple[float, float]) -> tuple[float | None, float | None]:
    """Return an interval clipped to possible values: shares to 0..1, utilities that are losses to at most 0, others to
    at least 0.
    """
    quantity = described(measure)
    if quantity is not None and quantity.range[0] < 0:
        return ends
    smallest, largest = (0.0, 1.0) if unit in SHARES else (-math.inf, 0.0) if measure == "utility" else (0.0, math.inf)
    low, high = (None if math.isnan(end) else min(max(end, smallest), largest) for end in ends)
    return low, high


# --- writing ---------------------------------------------------------------------------------------------------------


def write_results(plan: Plan, journal: Journal, path: Path) -> None:
    """Write all rows in the order of the plan. The write is atomic; a cell without rows has a row with its reason."""
    rows = [row for cell in plan.cells() for row in _list_rows(cell, journal.results.get(cell.key))]
    columns: dict[str, Any] = {}
    for name in COLUMNS:
        values = [row.get(name) for row in rows]
        if name in _NUMBERS:
            columns[name] = np.array(values, dtype=np.float64)  # None is nan, and infinities are texts
        elif name in ("seed", "n"):
            columns[name] = np.array([value or 0 for value in values], dtype=np.int64)
        else:
            columns[name] = np.array([value or "" for value in values], dtype=object)
    nullable = [name for name in _NUMBERS if name != "seconds"]
    selected = ", ".join(f"nullif({name}, 'nan'::double) as {name}" if name in nullable else name for name in COLUMNS)
    with replace_file(path) as place, open_database() as connection:
        connection.register("written", columns)
        try:
            connection.execute(
                f"copy (select {selected} from written) to {quote_text(str(place))} (format parquet, compression zstd)"
            )
        except duckdb.Error as error:
            raise explain_failure(error, f"{path} cannot be written; choose another folder, nothing is lost") from None


def _list_rows(cell: Cell, result: Result | None) -> Iterator[dict[str, Any]]:
    names = {
        "cell": cell.key,
        "dataset": cell.dataset.name,
        "protection": cell.protection.name,
        "adversary": cell.adversary.name,
        "seed": cell.seed,
    }
    if result is None:
        yield {**names, "status": "skipped", "reason": "not started before the study stopped; run it again"}
    elif not result.rows:
        yield {**names, "status": result.status, "reason": result.reason, "seconds": result.seconds}
    else:
        for row in result.rows:
            quantiles = dict(zip(QUANTILES, row.get("quantiles", ()), strict=False))
            labels = names | ({"adversary": CRITERION} if row.get("adversary") == CRITERION else {})
            yield {**row, **quantiles, **labels, "status": result.status, "reason": "", "seconds": result.seconds}
