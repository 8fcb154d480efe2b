"""Sections about tables: success, the people behind the mean, values, columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from unmask.findings.row_words import format_target, row_estimate
from unmask.findings.sentences import list_contrasts, select_leading, severity
from unmask.measures.registry import needs_truth
from unmask.render import Figure
from unmask.render.page_parts import Figures, Grid, Section, folded, grid, lead, parts
from unmask.render.shared_charts import Dot, dots_figure, risk_figure
from unmask.results import Result, Row
from unmask.results.distribution import Distribution
from unmask.results.formats import SPACE, percent
from unmask.results.names import APART, FAILURES, IDENTITY, LIMITS, MEMBERSHIP, ORDER_READER
from unmask.results.rows import PreferredRows
from unmask.results.scope import Scope
from unmask.results.words import format_count, start_with_release

# --- success ---------------------------------------------------------------------------------------------------------


def success_section(scope: Scope) -> Section | None:
    """Return the success of each adversary, by release."""
    figures = success_figures(scope)
    if not figures:
        return None
    scales = " Each panel has its own scale, from 0." if len(figures) > 1 else ""
    content = parts(lead(scope.replace_people(success_note(scope.heads)) + scales), Figures(figures))
    return Section("success", "How often the adversary is right", content, success_finding(scope), open=True)


def success_finding(scope: Scope) -> str:
    """Return what hides identities and not values; otherwise, how often values are inferred."""
    contrast_sentences = list_contrasts(scope)
    rows = [row for key, row in select_leading(scope.heads).items() if key[0] in scope.protected]
    values = [row for row in rows if row.target not in (IDENTITY, MEMBERSHIP) and row.unit == "probability"]
    if contrast_sentences or not values or scope.cases:
        return next(iter(contrast_sentences), "")
    strongest = max(values, key=severity)
    baseline = "guessing gives" if strongest.control is None else "the control group gives"
    compared = f"{baseline} {percent(strongest.prior if strongest.control is None else strongest.control)}"
    sentence = f"{strongest.target} is inferred for {row_estimate(strongest)} of {strongest.n:,} people; {compared}."
    return start_with_release(sentence, strongest.release, several=len(scope.protected) > 1)


def success_figures(scope: Scope) -> tuple[Figure, ...]:
    """Return a chart of success by release for each target with a value. n is shown if it differs. Membership has its
    own section.
    """
    figures = []
    for target in (target for target in scope.targets if target != MEMBERSHIP):
        heads = {key[:2]: row for key, row in scope.heads.items() if key[2] == target}
        with_n = len({row.n for row in heads.values()}) > 1
        dots = [
            _dot(scope, heads.get((release, name)), (release, name, target), with_n)
            for release in scope.releases
            for name in scope.adversaries
            if any(name == adversary for _, adversary in heads)
        ]
        label = f"Success by release. {format_target(target)}."
        figures += [dots_figure(format_target(target), dots, label)] if heads else []
    return tuple(figures)


def _dot(scope: Scope, row: Row | None, key: tuple[str, str, str], with_n: bool) -> Dot:
    style, adversary = scope.styles[key[1]], scope.label(key[1])
    if row is None:
        return Dot(key[0], adversary, style, text=_why_not(scope.result, *key))
    if not math.isfinite(row.posterior + row.prior):
        return Dot(key[0], adversary, style, text="undefined")
    text = row_estimate(row) + (f", n {row.n:,}" if with_n else "")
    return Dot(key[0], adversary, style, row.posterior, row.prior, row.low, row.high, text)


def success_note(heads: PreferredRows[Row]) -> str:
    """Return the meaning of the marks of the chart, and the number of people behind them."""
    sizes = sorted({row.n for row in heads.values()})
    sizes_text = (
        f"n = {sizes[0]:,} people for every mark."
        if len(sizes) == 1
        else "n is written next to the marks or in the table."
    )
    bounds = any(row.low is not None for row in heads.values())
    reasons = dict.fromkeys(row.interval.removeprefix("none: ") for row in heads.values() if row.interval != "none")
    lines = (
        ", thin lines 95 % intervals" if bounds else f" without an interval ({'; '.join(reasons)})" if reasons else ""
    )
    quantity = "people re-identified" if {row.measure for row in heads.values()} == {"recall"} else "success"
    ticks = "The black tick is guessing without the release, the band is the gain"
    return f"Dots are {quantity}{lines}. {ticks}. {sizes_text}"


def _why_not(result: Result, release: str, adversary: str, target: str) -> str:
    """Return the word for success without a value: the status of the failed row, or "not run" without a row."""
    matching = (row for row in result.rows if (row.release, row.adversary, row.target) == (release, adversary, target))
    return next(
        (row.status for row in matching if row.measure in result.preferred_measures and row.status in FAILURES),
        "not run",
    )


# --- people ----------------------------------------------------------------------------------------------------------


def people_section(scope: Scope) -> Section | None:
    """Return the distribution of risk: a chart for each adversary and target, and a table of quantiles for people."""
    people, tables, result = scope.replace_people("people"), [] if scope.cases else quantile_tables(scope), scope.result
    if not result.distribution and not tables:
        return None
    drawn = (
        f"Each bar counts the {people} whose success probability lies between the edges below it. Small bars are drawn "
        "high enough to be seen. Bars above the limit have its color."
    )
    if any(item.target != IDENTITY for item in result.distribution):
        drawn += (
            " For a value: the probability of their likeliest value, except the most common one, which is not a secret."
        )
    if not scope.cases and result.smallest_shown > 1:
        drawn += f" Figures are rounded up to a multiple of {result.smallest_shown:,} people."
    counted = (
        "Success probability that this part of the people reaches or exceeds, as the adversary believes. People above "
        f"two limits are counted in steps of {result.smallest_shown:,}."
    )
    figures = distribution_figures(scope)
    fold = folded("How many people are above which probability", tables)
    content = parts(lead(drawn) if figures else None, Figures(figures), lead(counted) if tables else None, fold)
    return Section(
        "people",
        f"Risk of each {scope.replace_people('person')}, not only the mean",
        content,
        people_finding(scope) or quantile_finding(scope),
    )


def quantile_finding(scope: Scope) -> str:
    """Return how sure the strongest adversary is of the most exposed quarter of the people."""
    rows = [row for key, row in select_leading(scope.heads).items() if key[0] in scope.protected]
    rows = [row for row in rows if row.target == IDENTITY] or rows
    keys = {(row.release, row.adversary, row.target) for row in rows}
    beliefs = [row for row in scope.result.rows if (row.release, row.adversary, row.target) in keys and row.quantiles]
    beliefs = [
        row for row in beliefs if not needs_truth(row.measure) and row.measure in scope.result.preferred_measures
    ]
    if not beliefs:
        return ""
    strongest = max(beliefs, key=lambda row: row.quantiles[3])
    sentence = f"a quarter of the people are known with {percent(strongest.quantiles[3])} or more."
    return start_with_release(sentence, strongest.release, several=len(scope.protected) > 1)


def people_finding(scope: Scope) -> str:
    """Return the number of people above the limit for each target, for the riskiest release and adversary."""
    phrases = []
    for target in scope.targets:
        spread = [
            item for item in scope.result.distribution if item.target == target and item.release in scope.protected
        ]
        limit = LIMITS[IDENTITY if target == IDENTITY else "value"]
        spread = [item for item in spread if limit in item.above and item.adversary not in {*APART, ORDER_READER}]
        if spread:
            largest = max(spread, key=lambda item: _number(item, limit))
            phrases.append(_describe_above(largest, limit))
    text = "; ".join(phrases)
    return f"{text[0].upper()}{text[1:]}." if phrases else ""


def _number(item: Distribution, limit: float) -> float:
    count = item.above[limit]
    return count if isinstance(count, int) else 0.5


def _describe_above(item: Distribution, limit: float) -> str:
    count = f"{format_count(item.above[limit])} of {item.people:,} people"
    if item.target == IDENTITY:
        return f"{count} are re-identified with more than {percent(limit, 0)}"
    return f"for {count} the adversary infers a value of {item.target} other than the most common one"


def distribution_figures(scope: Scope) -> tuple[Figure, ...]:
    """Return people by success probability, a chart for each adversary and target."""
    groups: dict[tuple[str, str], list[Distribution]] = {}
    for item in scope.result.distribution:
        groups.setdefault((item.adversary, item.target), []).append(item)
    tallest = max((share * item.people for item in scope.result.distribution for share in item.shares), default=1.0)
    targets, adversaries = (list(dict.fromkeys(key[i] for key in groups)) for i in (1, 0))
    figures, people = [], scope.replace_people("people")
    for adversary, target in sorted(groups, key=lambda key: (adversaries.index(key[0]), targets.index(key[1]))):
        style, spread = scope.styles.get(adversary, len(scope.styles)), groups[adversary, target]
        name = scope.label(adversary)
        caption = f"{_spread(target)} ({name})" if name else _spread(target)
        limit = LIMITS["identity" if target == IDENTITY else "value"]
        strips = [(item.release, describe_above(item, limit, people), item) for item in spread]
        label = f"{people.capitalize()} by success probability. {caption}"
        smallest_group = scope.result.smallest_shown
        figures.append(
            risk_figure(caption, strips, limit, smallest_group, style=style, most=tallest, people=people, label=label)
        )
    return tuple(figures)


def describe_above(item: Distribution, limit: float, people: str = "people") -> str:
    """Return the number of people above a limit, in words."""
    count = item.above.get(limit)
    count_text = count if isinstance(count, str) else f"{count:,} {people}" if count else "none"
    return "" if count is None else f"{count_text} above {_limit(limit)}"


def _spread(target: str) -> str:
    return format_target(target) if target == IDENTITY else f"{target}: a value that is not the most common one"


def quantile_tables(scope: Scope) -> list[Grid]:
    """Return the success that half, a quarter and a twentieth of the people reach at smallest_group, as expected by the
    adversary.

    Further columns count the people above the limits of `Distribution.above`, if they were counted. For values, the
    only column counts the people with an inferred value that is not the most common one.
    """
    result = scope.result
    rows = [
        r
        for r in result.rows
        if r.measure in result.preferred_measures and not needs_truth(r.measure) and r.status not in FAILURES
    ]
    counted = {(item.release, item.adversary, item.target): item.above for item in result.distribution}
    limits = tuple(dict.fromkeys(limit for counts in counted.values() for limit in counts))
    tables = []
    for target in scope.targets:
        distributions = [item for item in result.distribution if item.target == target != IDENTITY]
        if distributions:
            lines = [
                (*scope.row_labels(item.release, item.adversary), *_count_cells(item.above, (LIMITS["value"],)))
                for item in distributions
            ]
            tables.append(
                grid((*scope.row_label_heads, "People found"), lines, _spread(target), text=len(scope.row_label_heads))
            )
            continue
        cells = tuple(
            (
                *scope.row_labels(row.release, row.adversary),
                *(percent(row.quantiles[i]) for i in (2, 3, 4)),
                percent(row.worst),
                *_count_cells(counted.get((row.release, row.adversary, target), {}), limits),
            )
            for release in scope.releases
            for adversary in scope.adversaries
            for row in rows
            if (row.release, row.adversary, row.target) == (release, adversary, target) and len(row.quantiles) == 5
        )
        if cells:
            parts = ("Half of people", "Most exposed 25\u00a0%", "Most exposed 5\u00a0%", "Most exposed person")
            head = (*scope.row_label_heads, *parts, *(f"People above {_limit(limit)}" for limit in limits))
            tables.append(Grid(head, (("", cells),), text=len(scope.row_label_heads), caption=format_target(target)))
    return tables


def _count_cells(counted: Mapping[float, int | str], limits: Sequence[float]) -> Iterator[str]:
    for limit in limits:
        value = counted.get(limit, "not run")
        yield value if isinstance(value, str) else f"{value:,}"


def _limit(share: float) -> str:
    return f"{100 * share:g}{SPACE}%"
