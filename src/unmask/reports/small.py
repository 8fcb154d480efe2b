"""What may be handed on: a page, its files and its JSON tell nothing about fewer people than a stated number.

Criteria of a release and rates over all people stand as they are: k, the worst-off person and an average are what a
report is for. What counts the people of one cell does not: a class, a bin, a group of people.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from unmask.facts import Count
from unmask.reports.data import Distribution, ReportData, ValueRisk
from unmask.reports.facts.exposure import Exposure
from unmask.reports.facts.graph import GraphRisk, StructureAttack
from unmask.reports.facts.linkage import GuessLinkage, Linkage
from unmask.reports.facts.price import Price
from unmask.reports.words import ADOPTERS, Value
from unmask.results import Row

COUNTS = frozenset({"unique_rows", "rows_missing", "rows_excluded"})
"""Criteria that count people of one kind."""

ATTACKED = frozenset({"rational_access"})
"""Measures whose mean is a share of people with something in common."""

TENTH = 10
"""Groups into which people are divided where a page speaks of a tenth of them."""


def handed_on(least: int, *, cases: bool = False) -> str:
    """For whom a page is; cases : it is about a mechanism, and about nobody."""
    if cases:
        return (
            "This page may be handed on: it is about a mechanism, and shows nobody's secret, no file path and no seed."
        )
    if least <= 1:
        return "For the owner of the data alone: this page shows groups of any size, single people among them."
    return (
        "This page may be handed to those who decide about the release and to those who get it. It shows no record, no "
        f"file path and no seed; besides k and the worst-off, it shows nothing about fewer than {least:,} people."
    )


def few(count: int | str, least: int) -> int | str:
    """A count of people as a cell of a page.

    >>> few(0, 10), few(3, 10), few(10, 10)
    (0, 'fewer than 10', 10)
    """
    return f"fewer than {least:,}" if isinstance(count, int) and 0 < count < least else count


def rounded_up(share: float, people: int, least: int) -> float:
    """A share of people, rounded up to a multiple of `least` of them, so that no difference of shares tells fewer.

    >>> rounded_up(0.003, 1000, 10), rounded_up(0.51, 1000, 10), rounded_up(0.0, 1000, 10)
    (0.01, 0.51, 0.0)
    """
    return min(1.0, least * math.ceil(round(share * people / least, 6)) / people)


def without_small(data: ReportData) -> ReportData:
    """The same without what tells about fewer than `data.least` people; doing it again changes nothing."""
    least = data.least
    return replace(
        data,
        rows=tuple(_row(row, least) for row in data.rows if row.target != ADOPTERS or row.n >= least),
        criteria={name: {key: _criterion(key, own[key], least) for key in own} for name, own in data.criteria.items()},
        values=tuple(_values(data.values, least)),
        distribution=tuple(_spread(item, least) for item in data.distribution),
        price=data.price and _price(data.price, least),
        linkage=data.linkage and _linkage(data.linkage, least),
        graph=data.graph and _graph(data.graph, least),
        exposure=data.exposure and _exposure(data.exposure, least),
    )


def _row(row: Row, least: int) -> Row:
    if row.measure not in ATTACKED or not math.isfinite(row.posterior):
        return row
    posterior = rounded_up(row.posterior, row.n, least)
    return replace(row, posterior=posterior, gain=posterior - row.prior, low=None, high=None)


def _criterion(name: str, value: Value, least: int) -> Value:
    return few(value, least) if name in COUNTS and isinstance(value, int | str) else value


def _values(values: Sequence[ValueRisk], least: int) -> Iterator[ValueRisk]:
    """Without the names of values that few people have: of each column the one that rises most stands for them."""
    others = f"a value that fewer than {least:,} people have"
    told: set[tuple[str, str]] = set()
    for one in values:
        rare = one.value != others and one.prior * one.n < least - 0.5
        if rare and (one.release, one.target) in told:
            continue
        if rare:
            told.add((one.release, one.target))
        yield replace(one, value=others if rare else one.value, people=_in_steps(one.people, least))


def _spread(item: Distribution, least: int) -> Distribution:
    """People above a limit in multiples of `least`, too: one count less another is a bin."""
    above = {limit: _in_steps(n, least) for limit, n in item.above.items()}
    shares = tuple(rounded_up(share, item.people, least) for share in item.shares)
    return replace(item, shares=shares, above=above)


def _in_steps(count: Count, least: int) -> Count:
    """A count of people in multiples of `least`, rounded up."""
    return few(count, least) if isinstance(count, str) or count < least else least * math.ceil(count / least)


def _exposure(exposure: Exposure, least: int) -> Exposure:
    """Rows that a column singles out, and people who are seen to be inside, in multiples of `least`."""

    def told(found: tuple[Any, ...], *names: str) -> tuple[Any, ...]:
        return tuple(replace(one, **{name: known(getattr(one, name)) for name in names}) for one in found)

    def known(count: Count | None) -> Count | None:
        return None if count is None else _in_steps(count, least)

    columns, printed, restored = exposure.columns, exposure.printed, exposure.restored
    return Exposure(
        columns={name: told(found, "missing", "alone", "together") for name, found in columns.items()},
        restored={name: tuple(one for one in found if one.cells >= least) for name, found in restored.items()},
        printed={name: told(found, "alone") for name, found in printed.items()},
    )


def _price(price: Price, least: int) -> Price:
    releases = (replace(one, attacked=rounded_up(one.attacked, one.n, least)) for one in price.releases)
    return replace(price, releases=tuple(releases))


def _linkage(linkage: Linkage, least: int) -> Linkage:
    tenths = linkage.counted >= TENTH * least
    return replace(linkage, guesses=tuple(_guess(one, least, tenths=tenths) for one in linkage.guesses))


def _guess(guess: GuessLinkage, least: int, *, tenths: bool) -> GuessLinkage:
    kept = replace(guess, miss_include=tuple(point for point in guess.miss_include if point[2] >= least))
    return kept if tenths else replace(kept, worst_linked=(), worst_mixed=())


def _graph(graph: GraphRisk, least: int) -> GraphRisk:
    tenths = graph.common is None or graph.common >= TENTH * least
    return replace(
        graph,
        attacks=tuple(_attack(one, least) for one in graph.attacks),
        anonymity=graph.anonymity if tenths else tuple(replace(one, ranked=()) for one in graph.anonymity),
        separations=tuple(one for one in graph.separations if one.adopters >= least),
    )


def _attack(attack: StructureAttack, least: int) -> StructureAttack:
    return replace(
        attack,
        by_degree=tuple(one for one in attack.by_degree if one.people >= least),
        certainty=tuple(one for one in attack.certainty if one.matches >= least),
    )
