"""A network: how many people are re-identified, those with how many edges, and what several identities would change."""

from __future__ import annotations

import math
from collections.abc import Iterator

from unmask.reports.data import Scope
from unmask.reports.facts.graph import GraphRisk, StructureAttack
from unmask.reports.findings.graph import GUESSED, leaked, most_and_least, people_of, strongest_first, ties, twins_bound
from unmask.reports.parts import Advice, AtRisk, Tried
from unmask.results.formats import percent
from unmask.results.suppression import hide_few
from unmask.results.words import plural, rate

ASKED = "--with RandomWalk --with IdentitySeparation:identities=5:adopters=0.5"

PROTECT = "Changed edges make people harder to find. Audit that release in turn; its origin says who is who in it:"

SEPARATE = (
    "Changed edges, or several identities for a person, make people harder to find. The same attacks, once more, say "
    "by how much:"
)


def at_risk(graph: GraphRisk, scope: Scope) -> AtRisk:
    """How many people the strongest attack re-identifies."""
    best = strongest_first(graph.attacks, graph.truth_known)[0]
    if best.recall is None:
        said = "matches made; how many are right is not known, as the truth was not given"
        return AtRisk(f"{best.names:,}", said, facts=tuple(_facts(best, graph)))
    people = people_of(best, graph, scope)
    return AtRisk(
        _counted(best.recall, people, scope),
        f"of {people:,} people are re-identified",
        facts=tuple(_facts(best, graph)),
    )


def _counted(share: float, people: int, scope: Scope) -> str:
    count = hide_few(round(share * people), scope.data.least) if math.isfinite(share) else rate(None)
    return count if isinstance(count, str) else f"{count:,}"


def _facts(best: StructureAttack, graph: GraphRisk) -> Iterator[tuple[str, str]]:
    yield "Starts from", f"{leaked(best.n_seeds, guessed=best.seeds in GUESSED)}, {_spread(best)}"
    yield from (("How sure", said) for said in _sure(graph))
    if graph.similar:
        yield "Besides edges", f"how similar {graph.similar:,} pairs of people are"
    ends = most_and_least(best, graph)
    if ends:
        yield "Most at risk", f"people with {ties(ends[0])}: {percent(ends[0].recall)}"
    most = twins_bound(graph)
    if most:
        yield "At the most", f"{most}: the others have twins in the network"


def _sure(graph: GraphRisk) -> Iterator[str]:
    """The success that an attack announces on the first release."""
    said = next((one.announced for one in graph.attacks if one.announced is not None), None)
    if said is None:
        return
    if said.if_there_high is None:
        why = (reason.partition(",")[0].partition(":")[0] for reason in said.refused[:1])
        yield ": ".join(["no probability is announced", *why])
    elif said.if_there is None or said.if_there_low is None:
        yield f"at most {percent(said.if_there_high)} of the people in the release (a bound)"
    else:
        interval = f"{percent(said.if_there_low)} to {percent(said.if_there_high)}"
        yield f"{percent(said.if_there)} of the people in the release ({interval})"


def _spread(best: StructureAttack) -> str:
    runs = plural(best.runs, "run")
    return f"ran through the network in {best.spread_in:,} of {runs}" if best.spread_in < best.runs else f"{runs}"


def advice(graph: GraphRisk, scope: Scope) -> Advice | None:
    """Protected releases, where they were attacked; else the command that does it."""
    if not graph.truth_known or {one.state for one in scope.data.verdicts} == {"acceptable"}:
        return None
    releases = dict.fromkeys(one.release for one in graph.attacks)
    if len(releases) > 1:
        best = {name: strongest_first(one for one in graph.attacks if one.release == name)[0] for name in releases}
        changes = tuple(_change(one, graph, scope) for one in best.values())
        bare = {name: one.recall or 0.0 for name, one in best.items() if _bare(one, graph, scope)}
        protected = {name: one.recall or 0.0 for name, one in best.items() if name not in bare}
        if min(protected.values(), default=0.0) >= max(bare.values(), default=math.inf):
            return Advice("None of what was tried leaves fewer people found.", "", changes, ("people found",))
        least = min(protected, key=lambda name: protected[name], default=None)
        adopted = least is not None and _adopters(best[least], graph)
        how = "--identities N --adopters SHARE" if adopted else "--with NAME"
        return Advice("", f"unmask protect graph \u2026 {how}", changes, ("people found",))
    if graph.acquired:
        return Advice(PROTECT, "unmask protect graph \u2026 --with RandomWalk -o protected.txt --origin origin.csv")
    return Advice(SEPARATE, f"unmask audit graph \u2026 {ASKED} --report page.html")


def _change(one: StructureAttack, graph: GraphRisk, scope: Scope) -> Tried:
    verdicts = [verdict for verdict in scope.data.verdicts if verdict.release == one.release]
    missed = sum(verdict.count("missed") for verdict in verdicts)
    told = f"{plural(missed, 'condition')} missed" if missed else "every tested condition met" if verdicts else ""
    state = ("missed" if missed else "met") if verdicts else ""
    adopters = _adopters(one, graph)
    name = f"{one.release}: {adopters:,} people with several identities" if adopters else one.release
    figures = (_counted(one.recall or 0.0, people_of(one, graph, scope), scope),)
    return Tried(name, told, state, figures, now=_bare(one, graph, scope))


def _adopters(one: StructureAttack, graph: GraphRisk) -> int | None:
    return next((point.adopters for point in graph.separations if point.release == one.release), None)


def _bare(one: StructureAttack, graph: GraphRisk, scope: Scope) -> bool:
    """Whether the attack was on a release that nothing protects: no losses are known of it, and nobody separates."""
    return one.release not in scope.data.utility and _adopters(one, graph) is None
