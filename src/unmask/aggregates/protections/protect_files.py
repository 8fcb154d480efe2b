"""Tables of a file of records: counted, protected, and attacked before they are published."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from unmask.aggregates.magnitudes import MagnitudeCells, SensitivityRule, audit_magnitudes, suppress_magnitudes
from unmask.aggregates.programs import SOLVER_SLACK, Floats, Mask
from unmask.aggregates.protections.count_protections import (
    CountProtection,
    PerturbByCellKeys,
    RoundCounts,
    SuppressSmallCounts,
    publish,
)
from unmask.aggregates.protections.exact_tables import ExactTables, count_tables
from unmask.aggregates.protections.information_loss import TableLoss, measure_loss
from unmask.aggregates.protections.release_check import compute_intervals
from unmask.aggregates.release import AggregateRelease
from unmask.aggregates.table_files import write_release, write_table
from unmask.core.errors import FailedError, UnmaskError
from unmask.data.writing import explain_write_errors
from unmask.ranges import Option, Range

MAX_CHECKED = 2_000
"""Cells whose interval is computed before a release; of more cells, evenly spaced ones are checked."""

MAX_CHECK_SECONDS = 60.0
"""Seconds of the check of counts. Intervals that are not found in this time are reported as not computed."""


@dataclass(frozen=True, eq=False)
class ProtectedTables:
    """Tables to publish, the information they lose, and what an adversary still computes.

    Parameters
    ----------
    write : callable
        Writes the tables as new files of a folder: counts in the form that `audit aggregates` reads, sums as CSV files
        alone, because parameters of the rule would help an adversary.
    loss : tuple of (str, TableLoss)
        Information loss of each table, and of all of them.
    small : int
        Cells that the protection is about: counts below the threshold or the base, or not above the largest noise; or
        sensitive sums.
    gap : float
        Largest excess over the best suppression pattern, as a share of its cost; nan without suppression.
    checked : int
        Suppressed or small cells whose interval was computed against all tables together.
    unchecked : int
        Suppressed or small cells whose interval was not computed, because of `MAX_CHECKED` or `MAX_CHECK_SECONDS`.
    determined : int
        Checked cells whose interval is a single value.
    narrowest : float
        Smallest width of an interval; of sums, smallest excess of an estimate of a contribution, in percent.
    is_sum : bool
        True for sums of a magnitude.
    """

    write: Callable[[Path], None]
    loss: tuple[tuple[str, TableLoss], ...]
    small: int
    gap: float
    checked: int
    unchecked: int
    determined: int
    narrowest: float
    is_sum: bool = False


def protect_files(
    records: Path,
    *,
    tables: Annotated[Sequence[str], Option("Input", commas=True, metavar="COLUMN*COLUMN,...")],
    geography: Annotated[str | None, Option("Input")] = None,
    threshold: Annotated[int, Range(2), Option("Protection")] | None = None,
    zeros: Annotated[Literal["shown", "hidden"], Option("Protection")] = "shown",
    sliding: Annotated[int, Range(0), Option("Protection")] = 0,
    base: Annotated[int, Range(2), Option("Protection", "--round")] | None = None,
    rounding: Annotated[Literal["random", "controlled", "nearest"], Option("Protection")] = "random",
    cell_key: Annotated[str | None, Option("Protection", metavar="NOISE,VARIANCE")] = None,
    value: Annotated[str | None, Option("Magnitudes")] = None,
    holding: Annotated[str | None, Option("Magnitudes")] = None,
    dominance: Annotated[str | None, Option("Magnitudes", metavar="N,K")] = None,
    p_percent: Annotated[float, Range(0, above=True), Option("Magnitudes")] | None = None,
    prior_posterior: Annotated[str | None, Option("Magnitudes", metavar="P,Q")] = None,
    min_contributors: Annotated[int, Range(1), Option("Magnitudes")] = 1,
    weight: Annotated[Literal["cells", "value"], Option("Protection")] = "cells",
    seconds: Annotated[float, Range(0), Option("Protection")] = 10.0,
) -> ProtectedTables:
    """Count records in tables with all totals, and suppress, round or perturb the counts.

    Parameters
    ----------
    records : path
        File with a record in each row.
    tables : sequence of str
        Tables to publish with all their totals, columns joined by *, such as sex*age,sex*region.
    geography : str, optional
        Column of areas. Each area has its own tables and totals.
    threshold : int, optional
        Suppress counts below this number, and further cells so that totals do not disclose them.
    zeros : {"shown", "hidden"}
        Publish zeros, or suppress them like small counts.
    sliding : int
        Smallest width of the interval of a suppressed count.
    base : int, optional
        Round counts to multiples of this number.
    rounding : {"random", "controlled", "nearest"}
        Method of rounding: unbiased, additive, or to the nearest multiple.
    cell_key : str, optional
        Perturb counts by cell keys with this largest noise and variance, such as 5,2.
    value : str, optional
        Column of a magnitude: publish its sums in place of counts.
    holding : str, optional
        Column of enterprises: their respondents are one contributor. By default each record is one.
    dominance : str, optional
        Suppress sums of which N contributors have more than K percent, such as 1,85.
    p_percent : float, optional
        Suppress sums whose largest contribution its competitor estimates within this percentage.
    prior_posterior : str, optional
        Suppress sums whose contributions are estimated within P percent, if they were known within Q percent.
    min_contributors : int
        Suppress sums of fewer contributors.
    weight : {"cells", "value"}
        Suppress few cells, or cells of a small sum.
    seconds : float
        Time to improve the suppression and to prove its gap. Areas share it.

    Returns
    -------
    ProtectedTables

    Raises
    ------
    UnmaskError
        If options do not fit.
    FailedError
        If the tables cannot be protected, or the check finds a suppressed cell that the rule does not allow.
    """
    if value is not None:
        if (threshold, base, cell_key, geography) != (None,) * 4:
            raise UnmaskError(
                "`threshold`, `base`, `cell_key` and `geography` are about counts; leave them or `value` out"
            )
        rule = SensitivityRule(
            _parse_dominance(dominance),
            p_percent,
            _parse_numbers(prior_posterior, "prior_posterior", "10,50"),
            min_contributors,
        )
        exact = count_tables(records, tables, further=[name for name in (value, holding) if name])
        return protect_magnitudes(exact, value, rule, holding=holding, weight=weight, seconds=seconds)
    if dominance or p_percent or prior_posterior or holding or min_contributors > 1:
        raise UnmaskError(
            "`dominance`, `p_percent`, `prior_posterior`, `holding` and `min_contributors` are about sums; add `value`"
        )
    protections: list[CountProtection] = []
    if threshold is not None:
        protections.append(SuppressSmallCounts(threshold, zeros=zeros, sliding=sliding, weight=weight, seconds=seconds))
    if base is not None:
        protections.append(RoundCounts(base, rounding))
    if cell_key is not None:
        noise, variance = _parse_numbers(cell_key, "cell_key", "5,2") or (0, 0)
        protections.append(PerturbByCellKeys(int(noise), variance))
    if len(protections) != 1:
        raise UnmaskError(
            f"{len(protections)} protections were given, expected one: `threshold`, `base`, `cell_key`, or `value`"
        )
    return protect_counts(count_tables(records, tables, geography=geography or ""), protections[0])


def _parse_numbers(text: str | None, name: str, example: str) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        first, second = map(float, text.split(","))
    except ValueError:
        raise UnmaskError(f"`{name}` is not two numbers, expected for example {example}") from None
    return first, second


def _parse_dominance(text: str | None) -> tuple[int, float] | None:
    numbers = _parse_numbers(text, "dominance", "1,85")
    if numbers is not None and not numbers[0].is_integer():
        raise UnmaskError("`dominance` has a fraction of a contributor, expected for example 1,85")
    return numbers and (int(numbers[0]), numbers[1])


# --- counts -----------------------------------------------------------------------------------------------------------


def protect_counts(exact: ExactTables, protection: CountProtection) -> ProtectedTables:
    """Protect tables of counts, and attack them.

    Parameters
    ----------
    exact : ExactTables
        Exact tables.
    protection : SuppressSmallCounts, RoundCounts or PerturbByCellKeys
        Protection.

    Returns
    -------
    ProtectedTables

    Raises
    ------
    FailedError
        If a suppressed count is known to be below the threshold, although all tables were protected together.
    """
    counts, gap = exact.counts, float("nan")
    if isinstance(protection, SuppressSmallCounts):
        chosen = protection.choose_patterns(exact.tables, counts)
        gap = max(pattern.gap for _, pattern in chosen)
        hidden = np.array([hidden for hidden, _ in chosen])
        release = publish(exact.tables, protection.rule, exact.tables.values, hidden)
    else:
        release = protection(exact.tables, counts)
    values, published = exact.tables.values, release.values
    hidden = np.isnan(published)
    small = (values < protection.smallest) & ((values > 0) | hidden)
    places = np.argwhere(hidden | small)
    chosen = places[np.unique(np.linspace(0, len(places) - 1, min(len(places), MAX_CHECKED)).astype(int))]
    ends = _check_cells(release, chosen)
    is_known = ~np.isnan(ends[:, 0])
    chosen, ends = chosen[is_known], ends[is_known]
    checked_small = small[chosen[:, 0], chosen[:, 1]]
    if isinstance(protection, SuppressSmallCounts) and (ends[checked_small, 1] < protection.threshold).any():
        raise FailedError(
            "a suppressed count is known to be below the threshold after all tables were protected together; allow "
            "more `seconds`, or publish fewer tables"
        )
    width = np.diff(ends, axis=1).ravel()
    return ProtectedTables(
        partial(write_release, release),
        tuple(_list_losses(exact.tables, values, published)),
        int(small.sum()),
        gap,
        len(chosen),
        len(places) - len(chosen),
        int((width == 0).sum()),
        float(width.min(initial=np.inf)),
    )


def _check_cells(release: AggregateRelease, places: NDArray[np.int64]) -> Floats:
    """Return the intervals of cells (area, row), see `compute_intervals`; areas share the time."""
    stop, ends = time.monotonic() + MAX_CHECK_SECONDS, np.zeros((len(places), 2))
    areas = np.unique(places[:, 0]).tolist()
    for number, area in enumerate(areas):
        inside = places[:, 0] == area
        seconds = max(stop - time.monotonic(), 0.0) / (len(areas) - number)
        ends[inside] = compute_intervals(release, area, places[inside, 1], seconds=seconds)
    return ends


def _list_losses(tables: AggregateRelease, values: Floats, published: Floats) -> Iterator[tuple[str, TableLoss]]:
    for number, table in enumerate(tables.by_area):
        rows = tables.row_tables == number
        part = published[:, rows].ravel()
        yield table.name, measure_loss(values[:, rows].ravel(), part, np.isnan(part))
    yield "all tables", measure_loss(values.ravel(), published.ravel(), np.isnan(published).ravel())


# --- magnitudes -------------------------------------------------------------------------------------------------------


def protect_magnitudes(
    exact: ExactTables,
    value: str,
    rule: SensitivityRule,
    *,
    holding: str | None = None,
    weight: Literal["cells", "value"] = "value",
    seconds: float = 10.0,
) -> ProtectedTables:
    """Suppress sums of a magnitude, and attack them as an outsider and as the largest contributors.

    Parameters
    ----------
    exact : ExactTables
        Tables of the records.
    value : str
        Column of the magnitude.
    rule : SensitivityRule
        Rule of primary suppression.
    holding : str, optional
        Column of enterprises.
    weight : {"cells", "value"}
        Suppress few cells, or cells of a small sum.
    seconds : float
        Time to improve the pattern and to prove its gap.

    Returns
    -------
    ProtectedTables
    """
    magnitude, n_records = _read_numbers(value, exact.records[value]), len(exact.records[value])
    holdings = np.arange(n_records) if holding is None else exact.records[holding].astype(str)
    cells, positive = MagnitudeCells.build(exact.tables.matrix, exact.atoms, magnitude, holdings)
    values = np.zeros(len(positive))
    values[positive] = cells.linked().values
    weights = 1 + values[positive] / max(values.sum(), 1e-300) if weight == "cells" else None
    suppressed = suppress_magnitudes(cells, rule, weights=weights, seconds=seconds)
    sensitive = suppressed.levels > 0
    audit = audit_magnitudes(cells, suppressed.pattern.hidden)
    excess = audit.excess[sensitive[audit.cells]]
    if rule.p_percent is not None and (excess < rule.p_percent * (1 - SOLVER_SLACK)).any():
        raise FailedError(
            "a contributor estimates another within the percentage after all tables were protected together; publish "
            "fewer tables"
        )
    hidden: Mask = np.zeros((1, len(values)), dtype=bool)
    hidden[0, positive] = suppressed.pattern.hidden
    published = np.where(hidden, np.nan, values[None, :])
    width = np.diff(audit.outside, axis=1).ravel()
    return ProtectedTables(
        partial(_write_sums, exact.tables, published[0], value),
        tuple(_list_losses(exact.tables, values[None, :], published)),
        int(sensitive.sum()),
        suppressed.pattern.gap,
        len(audit.cells),
        0,
        int((width <= SOLVER_SLACK * values.max()).sum()),
        float(excess.min(initial=np.inf)),
        is_sum=True,
    )


def _write_sums(tables: AggregateRelease, published: Floats, name: str, folder: Path) -> None:
    """Write a CSV file for each table."""
    with explain_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for number, table in enumerate(tables.by_area):
        sums = published[tables.row_tables == number].tolist()
        cells = ["suppressed" if np.isnan(value) else f"{value:.12g}" for value in sums]
        labels = list(map(tables.domain.labels, table.columns))
        write_table(folder / f"{table.name}.csv", [*table.columns, name], labels, cells)


def _read_numbers(name: str, values: NDArray[Any]) -> Floats:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise UnmaskError(f"column {name!r} has a cell that is not a number, expected one in each; fix it") from None
