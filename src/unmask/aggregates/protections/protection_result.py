"""The result of a protection of tables: what the adversary still computes, and the lost information."""

from __future__ import annotations

import math

from unmask.aggregates.protections.protect_files import MAX_CHECK_SECONDS, MAX_CHECKED, ProtectedTables
from unmask.results import Block, Chart, Column, Decision, Result, Table

CHECK = "aggregate_check"
LOSS = "aggregate_loss"

CHECK_COLUMNS = (
    Column("tables", "Tables", kind="number"),
    Column("cells", "Cells", kind="number"),
    Column("small", "Cells to protect", kind="number"),
    Column("suppressed", "Suppressed cells", kind="number"),
    Column("gap", "Excess over the best pattern, at most", kind="share"),
    Column("checked", "Attacked cells", kind="number"),
    Column("determined", "Determined cells", kind="number"),
    Column("narrowest", "Narrowest interval", kind="number"),
)
SUM_COLUMNS = (
    *CHECK_COLUMNS[:-1],
    Column("narrowest", "Closest estimate of a contribution, too high by", unit="%", kind="number"),
)

LOSS_COLUMNS = (
    Column("table", "Table"),
    Column("cells", "Cells", kind="number"),
    Column("suppressed", "Suppressed", kind="number"),
    Column("suppressed_value", "Suppressed part of the sum", kind="share"),
    Column("mean_absolute_deviation", "Mean deviation", kind="number"),
    Column("hellinger", "Hellinger distance", kind="number"),
)


def describe(protected: ProtectedTables) -> Result:
    """Return the result that a page, a terminal and JSON show.

    Parameters
    ----------
    protected : ProtectedTables
        Protected tables.

    Returns
    -------
    Result
        It holds numbers of cells, and no content of a cell.
    """
    *tables, (_, total) = protected.loss
    gap = None if math.isnan(protected.gap) else protected.gap
    narrowest = protected.narrowest if math.isfinite(protected.narrowest) else None
    check = (
        len(tables), total.cells, protected.small, total.suppressed, gap, protected.checked, protected.determined,
        narrowest,
    )  # fmt: skip
    losses = [(name, *vars(loss).values()) for name, loss in protected.loss]
    return Result(
        title="Protected tables",
        kind="Protection",
        command="protect aggregates",
        setting="An adversary who knows the rule, and who solves all published tables together.",
        headline=_describe_check(protected),
        rows=(),
        preferred_measures=(),
        facts=(
            Table.from_records(CHECK, SUM_COLUMNS if protected.is_sum else CHECK_COLUMNS, [check]),
            Table.from_records(LOSS, LOSS_COLUMNS, losses),
        ),
        blocks=(
            Block("loss", "Information loss", _describe_loss(protected), (_CHART,), (LOSS,), open=True),
            Block("check", "What the adversary computes", _describe_gap(protected), tables=(CHECK,)),
        ),
        decision=_decide(protected),
        assumptions=(
            "The adversary has no other tables of the same records.",
            "Categories that occur in no record are not published.",
        ),
        not_run=_list_unchecked(protected),
        about_people=False,
    )


_CHART = Chart(
    "dots", LOSS, x="hellinger", y="table", title="Hellinger distance of each table, from 0 (equal) to 1", x_max=0.1
)


def _decide(protected: ProtectedTables) -> Decision:
    if protected.determined:
        answer = f"{protected.determined:,} of {protected.checked:,} attacked cells are determined."
        return Decision("missed", answer, "", question="")
    return Decision("met", "No attacked cell is determined.", "", question="")


def _describe_check(protected: ProtectedTables) -> str:
    sample = " (a sample)" if protected.unchecked else ""
    words = f"{protected.determined:,} of {protected.checked:,} attacked cells{sample} are determined"
    if not math.isfinite(protected.narrowest):
        return f"{words}."
    if protected.is_sum:
        return f"{words}; the closest estimate of a contribution is {protected.narrowest:.3g} % too high."
    return f"{words}; the narrowest interval has a width of {protected.narrowest:,.0f}."


def _list_unchecked(protected: ProtectedTables) -> tuple[tuple[str, str], ...]:
    if not protected.unchecked:
        return ()
    reason = f"the attack stops after {MAX_CHECKED:,} cells or {MAX_CHECK_SECONDS:.0f} seconds"
    return ((f"Intervals of {protected.unchecked:,} suppressed or small cells", reason),)


def _describe_loss(protected: ProtectedTables) -> str:
    total = protected.loss[-1][1]
    if math.isnan(protected.gap):
        return (
            f"Numbers of {total.cells:,} cells differ by {total.mean_absolute_deviation:.2f} on average; the Hellinger "
            f"distance is {total.hellinger:.3f}."
        )
    return (
        f"{total.suppressed:,} of {total.cells:,} cells are suppressed, {protected.small:,} of them by the rule and "
        "the others because totals would disclose these."
    )


def _describe_gap(protected: ProtectedTables) -> str:
    if math.isnan(protected.gap):
        return "The adversary knows the rule, and computes the interval of each small count from all tables."
    if protected.gap == 0:
        return "No pattern with a smaller cost protects the tables."
    return f"The cost of the pattern exceeds that of the best one by at most {100 * protected.gap:.2g} % of the cost."
