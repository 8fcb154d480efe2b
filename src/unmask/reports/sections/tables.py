"""Sections about tables: success, the people behind the mean, values, columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from unmask.measures.registry import needs_truth
from unmask.render import Figure
from unmask.reports.data import APART, LIMITS, ORDER, Heads, ReportData, Scope
from unmask.reports.figures import Dot, dots_figure, risk_figure
from unmask.reports.findings.rows import contrasts, leading, risky
from unmask.reports.parts import Figures, Grid, Section, folded, grid, lead, parts
from unmask.reports.words import FAILURES, IDENTITY, MEMBERSHIP, lettered, row_estimate, what
from unmask.results import Row
from unmask.results.distribution import Distribution
from unmask.results.formats import SPACE, percent
from unmask.results.words import counted, start_with_release

# --- success ---------------------------------------------------------------------------------------------------------


def success_section(scope: Scope) -> Section | None:
    """How often each adversary is right, by release."""
    figures = success_figures(scope)
    if not figures:
        return None
    scales = " Each panel has its own scale, from 0." if len(figures) > 1 else ""
    shown = parts(lead(scope.said(success_note(scope.heads)) + scales), Figures(figures))
    return Section("success", "How often the adversary is right", shown, success_finding(scope), open=True)


def success_finding(scope: Scope) -> str:
    """Return what hides identities and not values; otherwise, how often values are inferred."""
    found = contrasts(scope)
    rows = [row for key, row in leading(scope.heads).items() if key[0] in scope.protected]
    values = [row for row in rows if row.target not in (IDENTITY, MEMBERSHIP) and row.unit == "probability"]
    if found or not values or scope.cases:
        return next(iter(found), "")
    best = max(values, key=risky)
    baseline = "guessing gives" if best.control is None else "of people who are not in it for"
    compared = f"{baseline} {percent(best.prior if best.control is None else best.control)}"
    sentence = f"{best.target} is inferred for {row_estimate(best)} of {best.n:,} people; {compared}."
    return start_with_release(sentence, best.release, several=len(scope.protected) > 1)


def success_figures(scope: Scope) -> tuple[Figure, ...]:
    """Success by release, a chart for each target that has a value, of the adversaries who ask for it in any release; n
    is written where it differs. Who is in the table has a section of its own.
    """
    figures = []
    for target in (target for target in scope.targets if target != MEMBERSHIP):
        own = {key[:2]: row for key, row in scope.heads.items() if key[2] == target}
        with_n = len({row.n for row in own.values()}) > 1
        dots = [
            _dot(scope, own.get((release, name)), (release, name, target), with_n)
            for release in scope.releases
            for name in scope.adversaries
            if any(name == adversary for _, adversary in own)
        ]
        label = f"Success by release. {what(target)}."
        figures += [dots_figure(what(target), dots, label=label)] if own else []
    return tuple(figures)


def _dot(scope: Scope, row: Row | None, key: tuple[str, str, str], with_n: bool) -> Dot:
    style, whose = scope.styles[key[1]], scope.marked(key[1])
    if row is None:
        return Dot(key[0], whose, style, text=_why_not(scope.data, *key))
    if not math.isfinite(row.posterior + row.prior):
        return Dot(key[0], whose, style, text="undefined")
    said = row_estimate(row) + (f", n {row.n:,}" if with_n else "")
    return Dot(key[0], whose, style, row.posterior, row.prior, row.low, row.high, said)


def success_note(heads: Heads) -> str:
    """What the marks of the chart mean, and how many people stand behind them."""
    sizes = sorted({row.n for row in heads.values()})
    who = (
        f"n = {sizes[0]:,} people for every mark."
        if len(sizes) == 1
        else "n is written beside the marks or in the table."
    )
    bounds = any(row.low is not None for row in heads.values())
    why = dict.fromkeys(row.interval.removeprefix("none: ") for row in heads.values() if row.interval != "none")
    lines = ", thin lines 95 % intervals" if bounds else f" without an interval ({'; '.join(why)})" if why else ""
    what = "people re-identified" if {row.measure for row in heads.values()} == {"recall"} else "success"
    return f"Dots are {what}{lines}; the black tick is guessing without the release, the band is what it gives. {who}"


def _why_not(data: ReportData, release: str, adversary: str, target: str) -> str:
    """The word for success that has no value: the status of the row that failed, or "not run" where there is none."""
    asked = (row for row in data.rows if (row.release, row.adversary, row.target) == (release, adversary, target))
    return next((row.status for row in asked if row.measure in data.success and row.status in FAILURES), "not run")


# --- people ----------------------------------------------------------------------------------------------------------


def people_section(scope: Scope) -> Section | None:
    """How success is spread: a chart for each adversary and target, and the worst-off; cases are no people."""
    of, tables, data = scope.said("people"), [] if scope.cases else quantile_tables(scope), scope.data
    if not data.distribution and not tables:
        return None
    drawn = (
        f"Each bar is the {of} whose success probability lies between the edges below it; it is as high as they "
        "are many, and a bar of few is drawn high enough to be seen. What is above the limit has its color."
    )
    if any(one.target != IDENTITY for one in data.distribution):
        drawn += " Of a value: the probability of their likeliest value that is not the commonest, which is no secret."
    if not scope.cases and data.least > 1:
        drawn += f" Figures are rounded up to a multiple of {data.least:,} people."
    counted = (
        "Success probability, as the adversary believes it, that this part of the people reaches or exceeds; and how "
        f"many people are above two limits, in steps of {data.least:,}."
    )
    figures = distribution_figures(scope)
    told = folded("How many people are above which probability", tables)
    shown = parts(lead(drawn) if figures else None, Figures(figures), lead(counted) if tables else None, told)
    return Section(
        "people",
        f"Over {of}: the worst-off matter more than the mean",
        shown,
        people_finding(scope) or quantile_finding(scope),
    )


def quantile_finding(scope: Scope) -> str:
    """Return how sure the strongest adversary is of the worst-off quarter of the people."""
    rows = [row for key, row in leading(scope.heads).items() if key[0] in scope.protected]
    rows = [row for row in rows if row.target == IDENTITY] or rows
    keys = {(row.release, row.adversary, row.target) for row in rows}
    known = [row for row in scope.data.rows if (row.release, row.adversary, row.target) in keys and row.quantiles]
    known = [row for row in known if not needs_truth(row.measure) and row.measure in scope.data.success]
    if not known:
        return ""
    best = max(known, key=lambda row: row.quantiles[3])
    sentence = f"a quarter of the people are known with {percent(best.quantiles[3])} or more."
    return start_with_release(sentence, best.release, several=len(scope.protected) > 1)


def people_finding(scope: Scope) -> str:
    """How many people are above the limits, of the release and the adversary who has most of them, by target."""
    told = []
    for target in scope.targets:
        spread = [one for one in scope.data.distribution if one.target == target and one.release in scope.protected]
        limit = LIMITS[IDENTITY if target == IDENTITY else "value"]
        spread = [one for one in spread if limit in one.above and one.adversary not in {*APART, ORDER}]
        if spread:
            most = max(spread, key=lambda one: _number(one, limit))
            told.append(_describe_above(most, limit))
    said = "; ".join(told)
    return f"{said[0].upper()}{said[1:]}." if told else ""


def _number(one: Distribution, limit: float) -> float:
    above = one.above[limit]
    return above if isinstance(above, int) else 0.5


def _describe_above(one: Distribution, limit: float) -> str:
    many = f"{counted(one.above[limit])} of {one.people:,} people"
    if one.target == IDENTITY:
        return f"{many} are re-identified with more than {percent(limit, 0)}"
    return f"{many} are found to have a value of {one.target} that is not the commonest"


def distribution_figures(scope: Scope) -> tuple[Figure, ...]:
    """People by success probability, a chart for each adversary and target."""
    groups: dict[tuple[str, str], list[Distribution]] = {}
    for item in scope.data.distribution:
        groups.setdefault((item.adversary, item.target), []).append(item)
    tallest = max((share * item.people for item in scope.data.distribution for share in item.shares), default=1.0)
    targets, adversaries = (list(dict.fromkeys(key[i] for key in groups)) for i in (1, 0))
    figures, of = [], scope.said("people")
    for adversary, target in sorted(groups, key=lambda key: (adversaries.index(key[0]), targets.index(key[1]))):
        style, spread = scope.styles.get(adversary, len(scope.styles)), groups[adversary, target]
        caption = lettered(_spread(target), style, len(scope.adversaries))
        limit = LIMITS["identity" if target == IDENTITY else "value"]
        strips = [(item.release, above_words(item, limit, of), item) for item in spread]
        label = f"{of.capitalize()} by success probability. {caption}"
        least = scope.data.least
        figures.append(risk_figure(caption, strips, limit, least, style=style, most=tallest, people=of, label=label))
    return tuple(figures)


def above_words(item: Distribution, limit: float, of: str = "people") -> str:
    """How many are above a limit."""
    above = item.above.get(limit)
    said = above if isinstance(above, str) else f"{above:,} {of}" if above else "none"
    return "" if above is None else f"{said} above {_limit(limit)}"


def _spread(target: str) -> str:
    return what(target) if target == IDENTITY else f"{target}: a value that is not the commonest"


def quantile_tables(scope: Scope) -> list[Grid]:
    """The worst-off: what success is at least, for half, a quarter, a twentieth of the people; of beliefs, not hits.

    Beside them how many people exceed the limits of `Distribution.above`, where they were counted. Of values only how
    many people are found to have one that is not the commonest.
    """
    data = scope.data
    rows = [
        r for r in data.rows if r.measure in data.success and not needs_truth(r.measure) and r.status not in FAILURES
    ]
    counted = {(item.release, item.adversary, item.target): item.above for item in data.distribution}
    limits = tuple(dict.fromkeys(limit for above in counted.values() for limit in above))
    tables = []
    for target in scope.targets:
        found = [one for one in data.distribution if one.target == target != IDENTITY]
        if found:
            lines = [(*scope.who(one.release, one.adversary), *_above(one.above, (LIMITS["value"],))) for one in found]
            tables.append(grid((*scope.who_head, "People found"), lines, _spread(target), text=len(scope.who_head)))
            continue
        cells = tuple(
            (
                *scope.who(row.release, row.adversary),
                *(percent(row.quantiles[i]) for i in (2, 3, 4)),
                percent(row.worst),
                *_above(counted.get((row.release, row.adversary, target), {}), limits),
            )
            for release in scope.releases
            for adversary in scope.adversaries
            for row in rows
            if (row.release, row.adversary, row.target) == (release, adversary, target) and len(row.quantiles) == 5
        )
        if cells:
            parts = ("Half of people", "Worst-off 25\u00a0%", "Worst-off 5\u00a0%", "Worst-off person")
            head = (*scope.who_head, *parts, *(f"People above {_limit(limit)}" for limit in limits))
            tables.append(Grid(head, (("", cells),), text=len(scope.who_head), caption=what(target)))
    return tables


def _above(counted: Mapping[float, int | str], limits: Sequence[float]) -> Iterator[str]:
    for limit in limits:
        value = counted.get(limit, "not run")
        yield value if isinstance(value, str) else f"{value:,}"


def _limit(share: float) -> str:
    return f"{100 * share:g}{SPACE}%"
