"""A study: what to take under its policy, who is still at risk with it, and the next-best choices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from unmask.core.pareto import find_pareto_front
from unmask.measures.registry import SHARES
from unmask.reports.facts.study import Option, StudyData
from unmask.reports.findings.rows import did, risky, without
from unmask.reports.findings.study import unprotected, utility_words
from unmask.reports.findings.verdict import NO_POLICY, called
from unmask.reports.parts import Advice, AtRisk, Checked, Screen, Tried
from unmask.reports.screens.conditions import checked, factor, first
from unmask.reports.words import IDENTITY, row_value
from unmask.results import Row, StudyRow
from unmask.results.formats import SPACE, number
from unmask.results.preferred_rows import ERRORS
from unmask.results.suppression import FEWEST, hide_few
from unmask.results.words import UNITLESS, plural, rate, release_name

NEXT = 4
"""Protections that the last column tells: the best one, and the next three."""

COUNTED = {"identity": "re-identified", "linkage": "breached"}
"""Target of which a share of people, or subjects, is a count of them -> what they are."""

NONE = (
    "No limit was set, so that nothing here is said to be acceptable.",
    "State one in the document of the study, or choose by one, as beside.",
)


def screen(data: StudyData) -> Screen:
    """The first screen of a study: of the protection to take, or, of several datasets, of each of them."""
    best = {one.dataset: one for one in reversed(data.options)}
    taken = {name: best[name].protection if name in best else _least(data, name) for name in data.datasets}
    shown = next((name for name in data.datasets if name in best), data.datasets[0])
    found = Screen("none", *NO_POLICY, _lede(data, shown, taken[shown]), (), NONE)
    if best:
        options = [best[name] for name in data.datasets if name in best]
        state, opening, rest = _verdict(data, options)
        several = len(options) > 1
        items = [_dataset(one) for one in options] if several else [checked(one, FEWEST) for one in options[0].judged]
        asked = "Is it acceptable?" if several else f"Is {release_name(options[0].protection)} acceptable?"
        found = replace(found, state=state, first=opening, rest=rest, items=first(items), words=(), asked=asked)
    if failed := sum(one.cells for one in data.missing if one.status in ("failed", "timed out")):
        found = replace(
            found, rest=f"{found.rest} {plural(failed, 'cell')} of the study failed: numbers are missing here."
        )
    return replace(found, who=_who(data, shown, taken[shown]), next=_next(data, shown))


def _verdict(data: StudyData, best: Sequence[Option]) -> tuple[str, str, str]:
    """The state, the first words and the rest of the sentence."""
    met = [one for one in best if one.state == "met"]
    open_ = [one for one in best if one.state == "untested"]
    state = "met" if len(met) == len(best) else "untested" if len(met) + len(open_) == len(best) else "missed"
    words = {"met": "Acceptable", "missed": "Not acceptable", "untested": "No verdict"}[state]
    if len(best) > 1:
        return state, words, f"under {data.policy}: {len(met)} of {len(best)} datasets have an acceptable protection."
    own = [one for one in data.options if one.dataset == best[0].dataset]
    n = sum(one.state == "met" for one in own)
    if n:
        keeps = f"{n} of {plural(len(own), 'protection')} {'meets' if n == 1 else 'meet'} every condition"
        return state, words, f"under {data.policy} with {release_name(best[0].protection)}: {keeps}."
    if state == "untested":
        return state, words, f"under {data.policy}: of {plural(len(own), 'protection')} none is known to meet all."
    return state, words, f"under {data.policy}: none of {plural(len(own), 'protection')} meets every condition."


def _dataset(one: Option) -> Checked:
    """A dataset as a line: the protection to take, and its worst condition."""
    order = {"missed": 2, "untested": 1, "met": 0}
    most = max(one.judged, key=lambda judged: (order[judged.state], factor(judged) or 0.0))
    told = f"with {release_name(one.protection)}: {_told(one)}"
    shown = checked(most, FEWEST)
    return replace(shown, state=one.state, name=one.dataset, told=told, about=called(most.requirement))


def _told(one: Option) -> str:
    if one.missed:
        far = f", up to {number(one.farthest, 1)} times the limit" if one.farthest > 1 else ""
        return f"{plural(one.missed, 'condition')} missed{far}"
    why = next(iter(one.open), "a condition is not tested")
    return "every condition met" if one.state == "met" else f"not known: {why}"


def _lede(data: StudyData, dataset: str, protection: str) -> str:
    """What the strongest adversary still reaches with a protection."""
    item = _strongest(data, dataset, protection)
    if item is None:
        return "Nothing is known: no cell has a result with a measure of success or error."
    where = f"With {release_name(protection)}" + (f" on {release_name(dataset)}" if len(data.datasets) > 1 else "")
    return f"{where} the adversary {item.adversary} {did(item)}; {without(item)}."


def _strongest(data: StudyData, dataset: str, protection: str) -> StudyRow | None:
    """The adversary who does best after a protection: about whose record it is, if anybody asks."""
    own = [item for key, item in data.spoken[dataset].items() if key[0] == protection]
    named = [item for item in own if item.target == IDENTITY] or own
    return max(named, key=lambda item: risky(item), default=None)


def _least(data: StudyData, dataset: str) -> str:
    """The protection of a dataset that leaves the strongest adversary least."""
    names = list(dict.fromkeys(key[0] for key in data.spoken[dataset]))
    risks = {name: risky(item) for name in names if (item := _strongest(data, dataset, name)) is not None}
    return min(risks, key=lambda name: risks[name], default=data.protections[0])


def _who(data: StudyData, dataset: str, protection: str) -> AtRisk | None:
    item = _strongest(data, dataset, protection)
    if item is None:
        return None
    row = item
    big, said = _valued(row), f"is what {row.adversary} reaches, of {row.n:,} cases"
    if row.measure in ERRORS and row.unit not in SHARES:
        said = f"is how far off {row.adversary} is on average, over {row.n:,} cases"
    if row.target in COUNTED and row.unit in SHARES and math.isfinite(row.posterior):
        count = hide_few(round(row.posterior * row.n), FEWEST)
        people = "subjects" if row.target == "linkage" else "people"
        big, said = _number(count), f"of {row.n:,} {people} are {COUNTED[row.target]} by {row.adversary}"
    elif row.unit in SHARES:
        said = f"of {row.n:,} cases, by {row.adversary}: {row.target}"
    facts = [("With", protection), *(("On", dataset) for _ in data.datasets[1:2])]
    bare = None if protection in data.unprotected else unprotected(data, data.spoken[dataset], row)
    facts += [("Unprotected", _valued(bare))] if bare is not None else []
    if math.isfinite(row.worst) and row.unit in SHARES and row.measure == "success_probability":
        facts.append(("Worst-off", row_value(replace(row, posterior=row.worst, low=None, high=None))))
    return AtRisk(big, said, facts=tuple(facts))


def _valued(row: Row) -> str:
    """What a row says, with its unit where that says something."""
    return row_value(row) + ("" if row.unit in SHARES or row.unit in UNITLESS else f"{SPACE}{row.unit}")


def _number(count: int | str) -> str:
    return count if isinstance(count, str) else f"{count:,}"


def _next(data: StudyData, dataset: str) -> Advice:
    """The protection to take and the next three; of several datasets, what to take for each; without a policy, those
    that no other beats in the two figures that stand beside them.
    """
    datasets = dict.fromkeys(one.dataset for one in data.options)
    if len(datasets) > 1:
        best = [next(one for one in data.options if one.dataset == name) for name in datasets]
        changes = tuple(_option(one, one.dataset, unprotected=False) for one in best)
        return Advice("", "unmask choose RESULTS", changes[: NEXT + 2], ("utility",))
    if data.options:
        bare = data.unprotected
        changes = tuple(_option(one, one.protection, unprotected=one.protection in bare) for one in data.options[:NEXT])
        top = data.options[0]
        take = f"Take {release_name(top.protection)}: of what is acceptable it keeps the most."
        return Advice(take if top.state == "met" else "", "unmask choose RESULTS", changes, ("utility",))
    changes = tuple(_undominated(data, dataset))
    return Advice("", f"unmask choose RESULTS --policy {_condition(data, dataset)}", changes, ("reached", "utility"))


def _condition(data: StudyData, dataset: str) -> str:
    """A policy to choose by: one that comes with unmask where people are re-identified, else a condition to fill in."""
    rows = list(data.spoken[dataset].values())
    if not rows or any(row.target == IDENTITY for row in rows):
        return "ema-0.09"
    row = max(rows, key=risky)
    return f'"{row.measure}{"<=" if row.direction == "high" else ">="}NUMBER"'


def _option(one: Option, name: str, *, unprotected: bool) -> Tried:
    utility = rate(None) if math.isnan(one.utility) else utility_words(one.unit, one.utility)
    told = _told(one) if name == one.protection else f"{one.protection}: {_told(one)}"
    return Tried(name, told, one.state, (utility,), now=unprotected)


def _undominated(data: StudyData, dataset: str) -> list[Tried]:
    """Protections that no other beats in what the strongest adversary reaches and in utility, the safest first.

    Those of the plane that others beat in these two are left out: they are there for another target.
    """
    plane = next((one for one in data.planes if one.dataset == dataset), None)
    if plane is None:
        return []
    found = []
    for name in plane.undominated:
        own = [spot for spot in plane.spots if spot.protection == name]
        item = _strongest(data, dataset, name)
        if item is not None:
            found.append((risky(item), own[0].utility, name, item))
    found.sort(key=lambda one: one[0])
    best = find_pareto_front([(risk, -kept) for risk, kept, *_ in found])
    shown = [one for one, kept in zip(found, best, strict=True) if kept][:NEXT]
    return [
        Tried(name, "", "", (_valued(row), utility_words(plane.unit, kept)), now=name in data.unprotected)
        for _, kept, name, row in shown
    ]
