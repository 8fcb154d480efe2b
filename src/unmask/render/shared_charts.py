"""Figures that sections share: success of adversaries as dots, lines of series, and people over their risk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from unmask.languages import gettext as _
from unmask.languages import localize, mark
from unmask.render import Figure
from unmask.results import Chart, Column, Table
from unmask.results.distribution import Distribution

# --- dots ------------------------------------------------------------------------------------------------------------


class Dot(NamedTuple):
    """A value of an adversary with its baseline and interval.

    group    : heading of the rows that belong together, such as a release
    name     : name of the row; "" if a group has one row only
    style    : number of the adversary's color and shape
    value    : None without a value
    text     : words next to the dot, or the reason why there is no value; the value with its interval if empty
    """

    group: str
    name: str
    style: int
    value: float | None = None
    baseline: float | None = None
    low: float | None = None
    high: float | None = None
    text: str = ""


def dots_figure(title: str, dots: Iterable[Dot], label: str) -> Figure:
    """Return shares as dots."""
    columns = (
        Column("group"), Column("name"), Column("style"), Column("value", title, "share"),
        Column("baseline", "guessing", "share"), Column("low", "", "share"), Column("high", "", "share"),
        Column("text"),
    )  # fmt: skip
    table = Table.from_records("dots", columns, dots)
    chart = Chart(
        "dots", table.name, "value", "group", "name", title, label, baseline="baseline", low="low", high="high",
        style="style", text="text",
    )  # fmt: skip
    return Figure(chart, table)


# --- people over their risk ------------------------------------------------------------------------------------------


def risk_figure(
    title: str,
    spreads: Sequence[tuple[str, str, Distribution]],
    limit: float,
    least: int,
    *,
    style: int = 0,
    most: float = 0.0,
    people: str = mark("people"),
    label: str = "",
) -> Figure:
    """Return a histogram of people by their risk.

    spreads : name of each strip, words at its right, and the people
    limit   : a share that is marked if a bin ends there
    least   : counts are multiples of this number of people
    most    : people of the highest bar among the charts that are compared
    """
    records = [
        (name, words, style, ends, _count(share * spread.people, least))
        for name, words, spread in spreads
        for ends, share in zip(pairwise(spread.edges), spread.shares, strict=True)
    ]
    columns = (
        Column("release"), Column("above"), Column("style"), Column("risk", "Success probability", "interval", "share"),
        Column("people", _(people), "people"),
    )  # fmt: skip
    table = Table.from_records("distribution", columns, records)
    rules = {_("limit {share}\u00a0%", share=localize(f"{100 * limit:g}")): limit}
    chart = Chart(
        "histogram", table.name, "risk", "people", "release", title=title, label=label, text="above", style="style",
        x_rules=rules, y_max=most,
    )  # fmt: skip
    return Figure(chart, table)


def _count(people: float, least: int) -> int | str:
    count = round(people)
    return _("at most {n}", n=count) if least > 1 and 0 < count <= least else count
