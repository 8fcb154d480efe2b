"""How a report speaks of attacks on a network: who is re-identified, how surely, from how few leaked identities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from unmask.measures.interval import wilson
from unmask.reports.data import Scope
from unmask.reports.facts.graph import (
    DegreeRisk,
    GraphRisk,
    SeparationPoint,
    StructureAttack,
    TransitionPoint,
)
from unmask.reports.words import IDENTITY
from unmask.results.formats import estimate, percent
from unmask.results.words import listed, plural, rate, release_name

SEEDS = {
    "random": "drawn",
    "top": "those with most edges",
    "clique": "cliques of {size}",
    "neighborhood": "groups of {size} around one person",
    "betweenness": "highest betweenness",
    "closeness": "highest closeness",
    "lta": "lowest local anonymity",
    "clustering": "highest clustering",
    "match_profiles": "people with like surroundings, taken for each other without the truth; some may be wrong",
    "match_top": "those with most edges in either network, taken for each other without the truth; some may be wrong",
    "match_cliques": "cliques that look alike, taken for each other without the truth; some may be wrong",
}
"""Way of choosing seeds -> words; others show the name they were filed under."""

GUESSED = ("match_profiles", "match_top", "match_cliques")
"""Ways of choosing seeds that need no truth: the adversary believes, and does not know, who they are."""

MANY_TIES = 5
"""Fewest people of a degree class that a finding speaks of."""


def seed_words(seeds: str) -> str:
    """How seeds were chosen, in words; digits behind the dot are decimals, but for the size of a group.

    >>> seed_words("random.5"), seed_words("clique.4.05"), seed_words("leaked.csv")
    ('drawn among the 50 % with most edges', 'cliques of 4 among the 5 % with most edges', 'leaked.csv')
    """
    name, *parts = seeds.split(".")
    words = SEEDS.get(name, "")
    grouped = "{size}" in words
    if not words or len(parts) not in ((1, 2) if grouped else (0, 1)) or not all(part.isdecimal() for part in parts):
        return seeds
    said = words.format(size=parts.pop(0)) if grouped else words
    if parts:
        return f"{said} among the {100 * float(f'0.{parts[0]}'):g} % with most edges"
    return "drawn at random" if name == "random" else said


def leaked(n: int, *, guessed: bool = False) -> str:
    """So many leaked identities, or guessed ones.

    >>> leaked(1), leaked(1000, guessed=True)
    ('1 leaked identity', '1,000 guessed identities')
    """
    return f"{n:,} {'guessed' if guessed else 'leaked'} identit{'y' if n == 1 else 'ies'}"


def degrees(item: DegreeRisk) -> str:
    """The degrees of a class.

    >>> degrees(DegreeRisk(4, 7, 10, 0.5, None)), degrees(DegreeRisk(16, None, 10, 0.5, None))
    ('4\u20137', '16+')
    """
    if item.high is None:
        return f"{item.low:,}+"
    return f"{item.low:,}" if item.high == item.low else f"{item.low:,}\u2013{item.high:,}"


def ties(item: DegreeRisk) -> str:
    """The same in a sentence: "1 edge", "4 to 7 edges", "16 or more edges"."""
    if item.high is None:
        return f"{item.low:,} or more edges"
    if item.high == item.low:
        return f"{item.low:,} edge{'' if item.low == 1 else 's'}"
    return f"{item.low:,} to {item.high:,} edges"


def known(value: float | None) -> bool:
    """Whether there is a value."""
    return value is not None and not math.isnan(value)


def several_releases(graph: GraphRisk) -> bool:
    """Whether it must be said which release an attack is on."""
    return len({attack.release for attack in graph.attacks}) > 1


def recall_of(attack: StructureAttack) -> str:
    """Recall with its interval over runs."""
    if attack.recall is None:
        return rate(None)
    return estimate(attack.recall, "share", attack.recall_low, attack.recall_high)


def strongest_first(attacks: Iterable[StructureAttack], truth_known: bool = True) -> list[StructureAttack]:
    """The attacks by recall, then by precision; without truth by how many matches they make."""

    def place(attack: StructureAttack) -> tuple[float, float]:
        reach = attack.recall if truth_known else attack.coverage
        return -(reach or 0.0), -(attack.precision if attack.precision is not None and known(attack.precision) else 0.0)

    return sorted(attacks, key=place)


def findings(graph: GraphRisk, scope: Scope) -> list[str]:
    """Who is re-identified, by edges, from how few seeds, the bound, and what to do."""
    attacks = strongest_first(graph.attacks, graph.truth_known)
    first = attacks[0]
    said = [" ".join(filter(None, (_named(first, graph, scope), _spread(first), others(attacks, graph))))]
    found = (
        *announcements(graph),
        _not_run(graph),
        by_ties(first, graph),
        few_seeds(graph),
        overlaps(graph),
        bound(first, graph),
        _next(graph),
    )
    return said + [sentence for sentence in (*separated(graph), *found) if sentence]


def _named(attack: StructureAttack, graph: GraphRisk, scope: Scope) -> str:
    where = f"From {release_name(attack.release)}, with" if several_releases(graph) else "With"
    who = scope.subject(attack.attack) if attack.attack in scope.words else f"the adversary {attack.attack}"
    known = leaked(attack.n_seeds, guessed=attack.seeds in GUESSED)
    start = f"{where} {known}{', and knowing how similar people are,' if graph.similar else ''} {who}"
    names = plural(attack.names, "match", "matches")
    if not graph.truth_known:
        why = "scores are no probabilities" if attack.announced is None else "what follows was not checked"
        return (
            f"{start} matches {percent(attack.coverage)} of the other people of their own network ({names}). "
            f"How many are right is not known: the truth was not given, and {why}."
        )
    people = people_of(attack, graph, scope)
    many = f"{people:,} " if people else ""
    start += f" re-identifies {recall_of(attack)} of the {many}people who are in both graphs"
    if attack.precision is None:
        return f"{start}: they make no match at all." if not attack.names else f"{start}."
    given = f"{start}; of the {names} they make"
    if attack.precision_at_least is None:
        return f"{given} {percent(attack.precision)} {'is' if attack.names == 1 else 'are'} right."
    return (
        f"{given}, {percent(attack.precision)} are right among people with an entry in the truth, which is partial; if "
        f"nobody else is in the release, {percent(attack.precision_at_least)} of all are."
    )


def announcements(graph: GraphRisk) -> Iterator[str]:
    """The success that attacks announce, or why they refuse to, next to what came true."""
    for attack in graph.attacks:
        if (said := attack.announced) is None:
            continue
        name = attack.attack + (f" on {release_name(attack.release)}" if several_releases(graph) else "")
        if said.if_there_high is None:
            yield f"{name} announces no probability: {'; '.join(said.refused)}."
            continue
        came = f"; it re-identifies {percent(attack.recall)}" if attack.recall is not None else ""
        expected = f"at most {percent(said.if_there_high)} of the people in the release (a bound)"
        if said.if_there is not None and said.if_there_low is not None:
            interval = f"{percent(said.if_there_low)} to {percent(said.if_there_high)}"
            expected = f"{percent(said.if_there)} of the people in the release (calibrated, {interval})"
        anybody = ""
        if said.of_anybody_high is not None:
            realized = f"; it matches {percent(said.came_true)}" if said.came_true is not None else ""
            high = percent(said.of_anybody_high)
            anybody = f" Of all people it matches at most {high} rightly (a bound, not an estimate){realized}."
        curve = "; ".join(f"{percent(right)} from {percent(share, 0)} of the seeds" for share, right in said.curve)
        single = f" One round re-identifies of the held-back seeds {curve}." if curve else ""
        held = f" Held-back seeds: {said.held}." if said.held else ""
        yield f"{name} announces that it re-identifies {expected}{came}.{anybody}{held}{single}"


def people_of(attack: StructureAttack, graph: GraphRisk, scope: Scope) -> int:
    """How many people the recall is of: as its row says, else by the degree classes; seeds are not among them."""
    row = scope.heads.get((attack.release, attack.attack, IDENTITY))
    if row is not None and row.measure == "recall":
        return row.n
    return sum(item.people for item in attack.by_degree) or graph.common or 0


def _spread(attack: StructureAttack) -> str:
    """A caution where runs end at their seeds: rates say nothing of them."""
    if attack.spread_in == attack.runs:
        return ""
    runs = plural(attack.runs, "run")
    if attack.spread_in == 0:
        return f"In none of {runs} does it spread beyond the surroundings of the seeds."
    return f"It spreads in {attack.spread_in:,} of {runs} and dies out in the others; rates are means over all runs."


def others(attacks: Sequence[StructureAttack], graph: GraphRisk) -> str:
    """How far the next strongest attack goes; of several releases, the strongest on the one that hides most people."""
    ends = [attack for attack in attacks if known(attack.recall)]
    if len(ends) < 2 or not graph.truth_known:
        return ""
    strongest = {one.release: one for one in reversed(ends)}.values()
    several = len(strongest) > 1
    one = max(strongest, key=ends.index) if several else ends[1]
    other = one.attack != ends[0].attack
    seeds = "" if (several or other) and one.n_seeds == ends[0].n_seeds else f" with {one.n_seeds:,} seeds"
    if several:
        by = f", by {one.attack}" if other else ""
        return f"The least, from {release_name(one.release)}{seeds}, is {recall_of(one)}{by}."
    return f"The next strongest of {len(attacks)} attacks, {one.attack}{seeds}, re-identifies {recall_of(one)}."


def _not_run(graph: GraphRisk) -> str:
    """The attacks that might find more."""
    silent = "it was not asked for"
    told = [f"{name} was not run: {why}." for name, why in graph.not_run if why != silent]
    rest = [name for name, why in graph.not_run if why == silent]
    told += [f"Attacks that were not asked for may re-identify more: {listed(rest)}."] if rest else []
    return " ".join(told)


def most_and_least(attack: StructureAttack, graph: GraphRisk) -> tuple[DegreeRisk, DegreeRisk] | None:
    """The classes of most and of least recall, where they differ by more than chance."""
    classes = [item for item in attack.by_degree if item.people >= MANY_TIES and known(item.recall)]
    if len(classes) < 2 or not graph.truth_known or not attack.spread_in:
        return None
    most, least = (pick(classes, key=lambda item: (item.recall, item.low)) for pick in (max, min))
    apart = wilson(most.recall, most.people)[0] > wilson(least.recall, least.people)[1]
    return (most, least) if apart else None


def by_ties(attack: StructureAttack, graph: GraphRisk) -> str:
    """Who is re-identified most, by edges."""
    found = most_and_least(attack, graph)
    if found is None:
        return ""
    most, least = found
    return (
        f"Who is re-identified depends on edges: they re-identify {percent(most.recall)} of the people with "
        f"{ties(most)}, and {percent(least.recall)} of those with {ties(least)}."
    )


def enough(points: Sequence[TransitionPoint]) -> TransitionPoint | None:
    """The fewest seeds from which on the attack spreads in every run; None where it does not even with the most."""
    found = None
    for point in sorted(points, key=lambda point: -point.n_seeds):
        if point.spread_in < point.runs:
            break
        found = point
    return found


def few_seeds(graph: GraphRisk) -> str:
    """From how few seeds each attack unravels the network, the one that needs fewest first."""
    lines = transition_lines(graph)
    firsts = [(point, name) for name, points in lines.items() if (point := enough(points)) is not None]
    firsts.sort(key=lambda item: (item[0].n_seeds, -(item[0].recall or item[0].coverage)))
    never = [name for name in lines if name not in {name for _, name in firsts}]
    if not lines:
        return ""
    most = max(point.n_seeds for points in lines.values() for point in points)
    guessed = all(point.seeds in GUESSED for point in graph.transition)
    if not firsts:
        return f"With up to {leaked(most, guessed=guessed)} no attack spreads through the network in every run."
    point, name = firsts[0]
    runs = {1: "in its only run", 2: "in both runs"}.get(point.runs, f"in all {point.runs:,} runs")
    verb = "is" if point.n_seeds == 1 else "are"
    first = f"{leaked(point.n_seeds, guessed=guessed)} {verb} enough for {name} to spread through the network {runs}"
    said = [f"{first}, where it {_reach(point)}"]
    said += [f"{other} needs {more.n_seeds:,}" for more, other in firsts[1:]]
    said += [f"for {listed(never)} {most:,} are too few"] if never else []
    return "; ".join(said) + "."


def _reach(point: TransitionPoint) -> str:
    if point.recall is None:
        return f"matches {percent(point.coverage)}"
    return f"re-identifies {percent(point.recall)}"


def transition_lines(graph: GraphRisk) -> dict[str, list[TransitionPoint]]:
    """Attack -> its points by rising number of seeds; named with the way of seeding where there are several."""
    several = len({point.seeds for point in graph.transition}) > 1
    lines: dict[str, list[TransitionPoint]] = {}
    for point in sorted(graph.transition, key=lambda point: point.n_seeds):
        lines.setdefault(f"{point.attack}, {point.seeds}" if several else point.attack, []).append(point)
    order = list(dict.fromkeys(point.attack for point in graph.transition))
    return dict(sorted(lines.items(), key=lambda item: order.index(item[1][0].attack)))


def overlaps(graph: GraphRisk) -> str:
    """The highest recall of any attack where the graphs share least and most."""
    measured = [point for point in graph.overlaps if known(point.recall)]
    places = sorted({(p.node_overlap, p.edge_overlap) for p in measured}, key=lambda at: (at[0] * at[1], at))
    if len(places) < 2:
        return ""
    least, most = (
        max((p for p in measured if (p.node_overlap, p.edge_overlap) == place), key=lambda p: p.recall)
        for place in (places[0], places[-1])
    )
    where = [f"{percent(p.node_overlap, 0)} of people and {percent(p.edge_overlap, 0)} of edges" for p in (least, most)]
    other = "" if least.attack == most.attack else f"{most.attack} re-identifies "
    return (
        f"What the two networks share decides: with {where[0]} in both, {least.attack} re-identifies "
        f"{percent(least.recall)}; with {where[1]}, {other}{percent(most.recall)}."
    )


def separated(graph: GraphRisk) -> Iterator[str]:
    """Of each protected release, what the attack that finds most makes of it, or of those with several identities."""
    for release in dict.fromkeys(point.release for point in graph.separations):
        points = [point for point in graph.separations if point.release == release]
        if not any(point.adopters for point in points):
            most = max(points, key=lambda point: point.recall)
            changed = f"{percent(most.recall)} of people instead of {rate(most.recall_before)}"
            yield f"From {release_name(release)}, {most.attack} re-identifies {changed}."
        own = [point for point in points if point.adopter_recall is not None]
        for point in sorted(own, key=lambda point: -(point.adopter_recall or 0.0))[:1]:
            yield f"{_adopters(point)}{_more_contacts(point, own)}."


def _adopters(point: SeparationPoint) -> str:
    before = point.adopter_recall_before
    instead = "" if before is None else f" instead of {percent(before)}"
    decoy = "" if point.exposed is None else f" and finds {percent(point.exposed)} by the identity that they hide"
    mark = "," if decoy else " and"
    who = "the only one who has" if point.adopters == 1 else f"the {point.adopters:,} people who have"
    return (
        f"Of {who} several identities in {release_name(point.release)}, {point.attack} re-identifies "
        f"{rate(point.adopter_recall)}{instead}{mark} learns {rate(point.disclosure)} of their contacts{decoy}"
    )


def _more_contacts(best: SeparationPoint, points: Sequence[SeparationPoint]) -> str:
    """The attack that learns most contacts, where it is not the one that finds most people."""

    def learned(point: SeparationPoint) -> float:
        return point.disclosure if point.disclosure is not None and known(point.disclosure) else 0.0

    most = max(points, key=learned)
    return f"; {most.attack} learns {rate(most.disclosure)} of their contacts" if learned(most) > learned(best) else ""


def bound(attack: StructureAttack, graph: GraphRisk) -> str:
    """Say what no attack by edges alone can pass because of twins; empty where nobody is spared."""
    where = f" in {release_name(attack.release)}" if several_releases(graph) else ""
    most = twins_bound(graph)
    said = (
        f"By edges alone no attack can be expected to re-identify more than {most} of people{where}: the others have "
        "structural twins, from whom nothing tells them apart."
    )
    return said if most else ""


def twins_bound(graph: GraphRisk) -> str:
    """Return the bound on recall by structural twins in words; empty where nobody is spared."""
    most = graph.most_recall
    return percent(most) if most is not None and most < 1 else ""  # nan is not below 1


def _next(graph: GraphRisk) -> str:
    """What an owner can do, where somebody is found."""
    if not graph.truth_known or graph.separations or not any(attack.recall for attack in graph.attacks):
        return ""
    if graph.acquired:
        return (
            "To see what protection would change, protect the network with `unmask protect graph`, and audit that "
            "release: its --origin says who is who in it."
        )
    return (
        "To see what protection would change, run `unmask audit graph` with --with (changed edges, or several "
        "identities for a person); `unmask protect graph` writes such a release."
    )
