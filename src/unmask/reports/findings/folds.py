"""What each folded section of an audit's page says, in one sentence: closed, the page reads as a list of findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from unmask.facts import ColumnFacts
from unmask.measures.registry import UTILITIES, needs_truth
from unmask.reports.data import ORIGINAL, Scope
from unmask.reports.facts.exposure import Exposure
from unmask.reports.findings.rows import added_most, contrasts, leading, risky, told_most
from unmask.reports.parts import Section
from unmask.reports.words import FAILURES, IDENTITY, MEMBERSHIP, letter, name_of, points, row_estimate, what, written
from unmask.results import Row
from unmask.results.formats import percent
from unmask.results.words import listed, plural, release_name


def told_of(section: Section, scope: Scope) -> Section:
    """The section with what it says, where it does not know that itself."""
    say = SENTENCES.get(section.name)
    return section if section.told or say is None else replace(section, told=say(scope))


def _of(row: Row, scope: Scope) -> str:
    """Which release a sentence is about, where there are several."""
    return f"From {release_name(row.release)}, " if len(scope.protected) > 1 else ""


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


def _success(scope: Scope) -> str:
    """What hides identities and not values; else how far values are inferred."""
    found = contrasts(scope)
    rows = [row for key, row in leading(scope.heads).items() if key[0] in scope.protected]
    values = [row for row in rows if row.target not in (IDENTITY, MEMBERSHIP) and row.unit == "probability"]
    if found or not values or scope.cases:
        return next(iter(found), "")
    best = max(values, key=risky)
    reached = f"{best.target} is inferred for {row_estimate(best)} of {best.n:,} people"
    beside = "guessing gives" if best.control is None else "of people who are not in it for"
    return _begun(
        f"{_of(best, scope)}{reached}; {beside} {percent(best.prior if best.control is None else best.control)}."
    )


def _added(scope: Scope) -> str:
    best = max(added_most(scope), key=lambda row: row.excess or 0.0, default=None)
    if best is None:
        return ""
    if (best.excess_low or 0.0) <= 0:
        return f"Nothing shows that people\u2019s own records give their {best.target} away ({points(best)})."
    return _begun(f"{_of(best, scope)}own records add {points(best)} to what is known of people\u2019s {best.target}.")


def _membership(scope: Scope) -> str:
    best = told_most(scope)
    if best is None:
        return ""
    return f"Right about {row_estimate(best)} of {best.n:,} people; a coin about {percent(best.prior)}."


def _measures(scope: Scope) -> str:
    rows = [row for row in scope.data.rows if row.status not in FAILURES]
    refuted = list(dict.fromkeys(row.adversary for row in rows if row.status == "refuted"))
    if refuted:
        return f"The truth refutes what {listed(refuted)} {'expects' if len(refuted) == 1 else 'expect'}."
    announced = [row for row in rows if row.status != "scores"]
    checked = _keys(announced, "success_probability") & _keys(rows, "realized_success")
    held = "; where the truth is known, nothing refutes what they expect" if checked else ""
    n = len({row.measure for row in rows})
    return f"{plural(len(scope.adversaries), 'adversary', 'adversaries')} by {plural(n, 'measure')}{held}."


def _keys(rows: Sequence[Row], measure: str) -> set[tuple[str, str, str]]:
    return {(row.release, row.adversary, row.target) for row in rows if row.measure == measure}


def _people(scope: Scope) -> str:
    rows = [row for key, row in leading(scope.heads).items() if key[0] in scope.protected]
    keys = {(row.release, row.adversary, row.target) for row in rows if row.target == IDENTITY} or {
        (row.release, row.adversary, row.target) for row in rows
    }
    told = [row for row in scope.data.rows if (row.release, row.adversary, row.target) in keys]
    told = [row for row in told if not needs_truth(row.measure) and row.measure in scope.data.success and row.quantiles]
    if not told:
        return ""
    best = max(told, key=lambda row: row.quantiles[3])
    return _begun(f"{_of(best, scope)}a quarter of the people are known with {percent(best.quantiles[3])} or more.")


def _where(scope: Scope) -> str:
    own = [one for one in scope.data.column_risk if one.release in scope.protected]
    own = [one for one in own if one.target == IDENTITY] or own
    if not own:
        return ""
    best = max(own, key=lambda one: one.success_with - one.success_without)
    if best.success_with - best.success_without < 0.0005:
        return "No single column decides: without any of them the adversary does as well."
    falls = f"from {percent(best.success_with)} to {percent(best.success_without)}"
    return f"{what(best.target).split(':')[0]}: without {best.column} success falls {falls}."


def _utility(scope: Scope) -> str:
    losses = {name: own for name, own in scope.data.utility.items() if name != ORIGINAL}
    told = []
    for name, own in losses.items():
        first = next(((loss, value) for loss, value in own.items() if isinstance(value, int | float)), None)
        if first is not None:
            told.append((name, *first))
    if not told:
        return ""
    said = [f"{f'{release_name(name)} ' if len(told) > 1 else ''}{written(loss, value)}" for name, loss, value in told]
    return f"{name_of(told[0][1], UTILITIES)}: {listed(said[:4])}."


def _criteria(scope: Scope) -> str:
    letters = {"k": "k", "l_distinct": "l"}
    told = []
    for name, own in scope.data.criteria.items():
        values = [f"{letters[key]} = {own[key]:,}" for key in letters if isinstance(own.get(key), int)]
        if values and name != ORIGINAL:
            told.append(f"{f'{release_name(name)}: ' if len(scope.protected) > 1 else ''}{listed(values)}")
    return f"{'; '.join(told[:4])}." if told else ""


def _not_run(scope: Scope) -> str:
    reasons = {why for _, why in scope.data.not_run}
    failed = sum(why.lower().startswith("failed") for why in reasons)
    told = f"{plural(len(reasons), 'reason')} why something is not known"
    return f"{told}, {failed} of them a failure." if failed else f"{told}; nothing failed."


def _exposure(scope: Scope) -> str:
    """Which column alone tells most people apart; where none does, which one with the others."""
    exposure: Exposure | None = scope.data.subject("exposure")
    told = {} if exposure is None else exposure.columns
    found = [fact for name, facts in told.items() for fact in facts if name in scope.protected]
    alone = [(fact.alone / fact.rows, fact.name) for fact in found if isinstance(fact.alone, int) and fact.rows]
    if not alone or not max(alone)[0]:
        return f"No column alone tells a released row apart from all others{_together(found)}."
    share, name = max(alone)
    return f"{name} alone tells {percent(share)} of the released rows apart from all others."


def _together(found: Sequence[ColumnFacts]) -> str:
    """The column that tells most rows apart together with the quasi-identifiers, where any does."""
    told = [(one.together / one.rows, one.name) for one in found if isinstance(one.together, int) and one.rows]
    share, name = max(told, default=(0.0, ""))
    return f"; with the others {name} does so for {percent(share)}" if share else ""


def _adversaries(scope: Scope) -> str:
    if len(scope.adversaries) == 1:
        return f"{_begun(scope.subject(scope.adversaries[0]))}."
    return f"{'; '.join(f'{letter(style)} {name}' for name, style in scope.styles.items())}."


SENTENCES: Mapping[str, Callable[[Scope], str]] = {
    "success": _success,
    "added": _added,
    "membership": _membership,
    "measures": _measures,
    "people": _people,
    "where": _where,
    "exposure": _exposure,
    "utility": _utility,
    "criteria": _criteria,
    "not-run": _not_run,
    "adversaries": _adversaries,
}
"""Name of a section -> its sentence."""
