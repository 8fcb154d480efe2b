"""What each folded section of an audit's page says, in one sentence: closed, the page reads as a list of findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from unmask.measures.registry import needs_truth
from unmask.reports.data import Scope
from unmask.reports.findings.rows import contrasts, leading, risky
from unmask.reports.parts import Section
from unmask.reports.words import FAILURES, IDENTITY, MEMBERSHIP, letter, row_estimate
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


def _not_run(scope: Scope) -> str:
    reasons = {why for _, why in scope.data.not_run}
    failed = sum(why.lower().startswith("failed") for why in reasons)
    told = f"{plural(len(reasons), 'reason')} why something is not known"
    return f"{told}, {failed} of them a failure." if failed else f"{told}; nothing failed."


def _adversaries(scope: Scope) -> str:
    if len(scope.adversaries) == 1:
        return f"{_begun(scope.subject(scope.adversaries[0]))}."
    return f"{'; '.join(f'{letter(style)} {name}' for name, style in scope.styles.items())}."


SENTENCES: Mapping[str, Callable[[Scope], str]] = {
    "success": _success,
    "measures": _measures,
    "people": _people,
    "not-run": _not_run,
    "adversaries": _adversaries,
}
"""Name of a section -> its sentence."""
