"""How a report speaks of attacks on a network: who is named, with what certainty, from how few leaked identities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from unmask.measures.interval import wilson
from unmask.reports.data import Heads, Scope
from unmask.reports.graph.seeds import GUESSED, leaked
from unmask.reports.graph.values import CertaintyBin, DegreeRisk, GraphRisk, StructureAttack, TransitionPoint
from unmask.reports.words import IDENTITY, estimate, percent, release_name

RECALL = "recall"
"""The measure that the first finding is about, where the truth is known."""

TOLD = (RECALL, "coverage")
"""Measures that are told here, with what belongs to them, and not once more from their rows."""

CRITERIA = {
    "lta_a": ("LTA A", "mean likeness of a person's ties to those of friends of friends; low: easy to tell apart"),
    "lta_b": ("LTA B", "sum of these likenesses for each of the person's ties; low: easy to tell apart"),
    "lta_c": ("LTA C", "LTA A over the spread of degrees among friends of friends; low: easy to tell apart"),
    "degree": ("Degree", "number of ties; high: easy to tell apart"),
}
"""Criterion of local anonymity -> name and meaning for readers."""

SURE = 0.9
"""From this stated probability on an adversary calls himself sure."""

MANY_TIES = 5
"""Fewest people of a degree class that a finding speaks of."""

TENTHS = ("hardly any", "one", "two", "three", "four", "half", "six", "seven", "eight", "nine")


def of_ten(share: float) -> str:
    """How many of the names are right, as one would say it.

    >>> of_ten(0.913), of_ten(0.97), of_ten(0.52), of_ten(1.0), of_ten(0.03)
    ('nine of ten names', '97 of 100 names', 'half of the names', 'all names', 'hardly any of the names')
    """
    if share >= 0.9995:
        return "all names"
    if share >= 0.95:
        return f"{min(99, round(100 * share))} of 100 names"
    tenth = math.floor(10 * share + 0.5)
    if tenth in (0, 5):
        return f"{TENTHS[tenth]} of the names"
    return f"{TENTHS[tenth] if tenth < 10 else 'nine'} of ten names"


def degrees(item: DegreeRisk) -> str:
    """The degrees of a class.

    >>> degrees(DegreeRisk(4, 7, 10, 0.5, None)), degrees(DegreeRisk(16, None, 10, 0.5, None))
    ('4\u20137', '16+')
    """
    if item.high is None:
        return f"{item.low:,}+"
    return f"{item.low:,}" if item.high == item.low else f"{item.low:,}\u2013{item.high:,}"


def ties(item: DegreeRisk) -> str:
    """The same in a sentence: "1 tie", "4 to 7 ties", "16 or more ties"."""
    if item.high is None:
        return f"{item.low:,} or more ties"
    if item.high == item.low:
        return f"{item.low:,} tie{'' if item.low == 1 else 's'}"
    return f"{item.low:,} to {item.high:,} ties"


def known(value: float | None) -> bool:
    """Whether there is a value."""
    return value is not None and not math.isnan(value)


def rate(value: float | None) -> str:
    """A share in percent, a dash where there is none."""
    return "\u2013" if value is None or math.isnan(value) else percent(value)


def recall_of(attack: StructureAttack) -> str:
    """Recall with its interval over runs."""
    if math.isnan(attack.recall):
        return "\u2013"
    return estimate(attack.recall, "share", attack.recall_low, attack.recall_high)


def strongest_first(attacks: Iterable[StructureAttack], truth_known: bool = True) -> list[StructureAttack]:
    """The attacks by recall, then by precision; without truth by how many names they give."""

    def place(attack: StructureAttack) -> tuple[float, float]:
        reach = attack.recall if truth_known and not math.isnan(attack.recall) else attack.coverage
        return -reach, -(attack.precision if attack.precision is not None and known(attack.precision) else 0.0)

    return sorted(attacks, key=place)


def graph_findings(graph: GraphRisk | None, scope: Scope, heads: Heads) -> list[str]:
    """Who is named and how many names are right, by ties, with what certainty, from how few seeds, and the bound."""
    if graph is None:
        return []
    attacks = strongest_first(graph.attacks, graph.truth_known)
    first = attacks[0]
    said = [" ".join(filter(None, (_named(first, graph, scope, heads), _spread(first), _others(attacks, graph))))]
    found = (_by_ties(first, graph), _certain(attacks), _few_seeds(graph), _overlaps(graph), _bound(first, graph))
    return said + [sentence for sentence in (*_separated(graph), *found) if sentence]


def _named(attack: StructureAttack, graph: GraphRisk, scope: Scope, heads: Heads) -> str:
    where = f"From {release_name(attack.release)}, with" if len({a.release for a in graph.attacks}) > 1 else "With"
    who = scope.subject(attack.attack) if attack.attack in scope.words else f"the adversary {attack.attack}"
    start = f"{where} {leaked(attack.n_seeds, guessed=attack.seeds in GUESSED)} {who}"
    if not graph.truth_known:
        given = f"{start} gives a name to {percent(attack.coverage)} of the other people of his own network"
        if attack.precision is None or math.isnan(attack.precision):
            return f"{given}, and does not say how sure he is. Nothing was checked: the truth is not known."
        right = f"and expects {of_ten(attack.precision)} to be right ({percent(attack.precision)})"
        return f"{given}, {right}. Nothing was checked: the truth is not known."
    people = f"{recall_of(attack)} of the {_people(attack, graph, heads)}people who are in both graphs"
    if attack.precision is None or math.isnan(attack.precision):
        return f"{start} names {people}: he gives no name at all." if attack.recall == 0 else f"{start} names {people}."
    one = "is" if (share := of_ten(attack.precision)).startswith(("hardly any", "one ")) else "are"
    return f"{start} names {people}, and {share} he gives {one} right ({percent(attack.precision)})."


def _people(attack: StructureAttack, graph: GraphRisk, heads: Heads) -> str:
    """How many people the recall is of: as its row says, else by the degree classes; seeds are not among them."""
    row = heads.get((attack.release, attack.attack, IDENTITY))
    if row is not None and row.measure == RECALL:
        return f"{row.n:,} "
    people = sum(item.people for item in attack.by_degree)
    return f"{people:,} " if people else f"{graph.common:,} " if graph.common is not None else ""


def _spread(attack: StructureAttack) -> str:
    """A caution where runs end at their seeds: rates say nothing of them."""
    if attack.percolated == attack.runs:
        return ""
    runs = f"{attack.runs:,} run{'' if attack.runs == 1 else 's'}"
    if attack.percolated == 0:
        return f"In none of {runs} does it spread beyond the surroundings of the seeds."
    only = "run in which" if attack.percolated == 1 else "runs in which"
    return (
        f"It spreads in {attack.percolated:,} of {runs} and dies out in the others; rates are of the {only} it spreads."
    )


def _others(attacks: Sequence[StructureAttack], graph: GraphRisk) -> str:
    """How far the weakest of the other attacks, or releases, goes."""
    ends = [attack for attack in attacks if known(attack.recall)]
    if len(ends) < 2 or not graph.truth_known:
        return ""
    last = ends[-1]
    name = last.attack if last.attack != ends[0].attack else ""
    if len({attack.release for attack in graph.attacks}) > 1:
        name = " on ".join(filter(None, (name, release_name(last.release))))
    seeds = "" if name and last.n_seeds == ends[0].n_seeds else f" with {last.n_seeds:,} seeds"
    return f"The weakest of {len(attacks)} attacks, {name or last.attack}{seeds}, names {recall_of(last)}."


def _by_ties(attack: StructureAttack, graph: GraphRisk) -> str:
    """The classes of most and of least recall, where they differ by more than chance."""
    classes = [item for item in attack.by_degree if item.people >= MANY_TIES and known(item.recall)]
    if len(classes) < 2 or not graph.truth_known or not attack.percolated:
        return ""
    most, least = (pick(classes, key=lambda item: item.recall) for pick in (max, min))
    if wilson(most.recall, most.people)[0] <= wilson(least.recall, least.people)[1]:
        return ""
    return (
        f"Who is named depends on ties: he names {percent(most.recall)} of the people with {ties(most)}, and "
        f"{percent(least.recall)} of those with {ties(least)}."
    )


@dataclass(frozen=True)
class Sureness:
    """Names given with at least a stated probability, and the share of them that is right."""

    names: int
    right: float


def at_least(bins: Sequence[CertaintyBin], least: float) -> Sureness:
    """The names in bins from `least` on, and how many of them are right; nan where there are none or truth is unknown.

    >>> at_least((CertaintyBin(0.5, 0.9, 60, 0.7, 0.7), CertaintyBin(0.9, 1.0, 40, 0.95, 0.95)), 0.9)
    Sureness(names=40, right=0.95)
    """
    chosen = [item for item in bins if item.low >= least - 1e-9 and item.matches]
    names = sum(item.matches for item in chosen)
    return Sureness(names, sum(item.matches * item.right for item in chosen) / names if names else math.nan)


def _certain(attacks: Sequence[StructureAttack]) -> str:
    """Of how many names the strongest attack that states probabilities is sure, and whether he is right to be."""
    attack = next((attack for attack in attacks if any(item.matches for item in attack.certainty)), None)
    if attack is None:
        return ""
    sure, total = at_least(attack.certainty, SURE), sum(item.matches for item in attack.certainty)
    who = "he" if attack is attacks[0] else f"the adversary {attack.attack}"
    known_names = f"of {sure.names:,} of the {total:,} names he gives"
    if sure.names == 0:
        return f"Of none of {total:,} names {who} is at least {percent(SURE, 0)} sure."
    start = f"{who[0].upper()}{who[1:]} is at least {percent(SURE, 0)} sure {known_names}"
    return f"{start}, and {percent(sure.right)} of these are right." if known(sure.right) else f"{start}."


def enough(points: Sequence[TransitionPoint]) -> TransitionPoint | None:
    """The fewest seeds from which on the attack spreads in every run; None where it does not even with the most."""
    found = None
    for point in sorted(points, key=lambda point: -point.n_seeds):
        if point.percolated < point.runs:
            break
        found = point
    return found


def _few_seeds(graph: GraphRisk) -> str:
    """From how few seeds each attack unravels the network, the one that needs fewest first."""
    lines = transition_lines(graph)
    firsts = [(point, name) for name, points in lines.items() if (point := enough(points)) is not None]
    firsts.sort(key=lambda item: (item[0].n_seeds, -item[0].recall))
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
    said = [f"{first}, where it names {percent(point.recall)}"]
    said += [f"{other} needs {more.n_seeds:,}" for more, other in firsts[1:]]
    said += [f"for {_listed(never)} {most:,} are too few"] if never else []
    return "; ".join(said) + "."


def transition_lines(graph: GraphRisk) -> dict[str, list[TransitionPoint]]:
    """Attack -> its points by rising number of seeds; named with the way of seeding where there are several."""
    several = len({point.seeds for point in graph.transition}) > 1
    lines: dict[str, list[TransitionPoint]] = {}
    for point in sorted(graph.transition, key=lambda point: point.n_seeds):
        lines.setdefault(f"{point.attack}, {point.seeds}" if several else point.attack, []).append(point)
    order = list(dict.fromkeys(point.attack for point in graph.transition))
    return dict(sorted(lines.items(), key=lambda item: order.index(item[1][0].attack)))


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _overlaps(graph: GraphRisk) -> str:
    """The highest recall of any attack where the graphs share least and most."""
    measured = [point for point in graph.overlaps if known(point.recall)]
    places = sorted({(p.node_overlap, p.edge_overlap) for p in measured}, key=lambda at: (at[0] * at[1], at))
    if len(places) < 2:
        return ""
    least, most = (
        max((p for p in measured if (p.node_overlap, p.edge_overlap) == place), key=lambda p: p.recall)
        for place in (places[0], places[-1])
    )
    where = [f"{percent(p.node_overlap, 0)} of people and {percent(p.edge_overlap, 0)} of ties" for p in (least, most)]
    other = "" if least.attack == most.attack else f"{most.attack} names "
    return (
        f"What the two networks share decides: with {where[0]} in both, {least.attack} names {percent(least.recall)}; "
        f"with {where[1]}, {other}{percent(most.recall)}."
    )


def _separated(graph: GraphRisk) -> Iterator[str]:
    """Of each release in which people have several identities, what the attack makes of them that finds most."""
    for release in dict.fromkeys(point.release for point in graph.separations):
        own = [point for point in graph.separations if point.release == release and point.adopter_recall is not None]
        for point in sorted(own, key=lambda point: -(point.adopter_recall or 0.0))[:1]:
            before = point.adopter_recall_before
            instead = "" if before is None else f" instead of {percent(before)}"
            decoy = (
                "" if point.exposed is None else f" and finds {percent(point.exposed)} by the identity that they hide"
            )
            mark = "," if decoy else " and"
            who = "the only one who has" if point.adopters == 1 else f"the {point.adopters:,} people who have"
            yield (
                f"Of {who} several identities in {release_name(release)}, "
                f"{point.attack} names {rate(point.adopter_recall)}{instead}{mark} learns {rate(point.disclosure)} of "
                f"their contacts{decoy}."
            )


def _bound(attack: StructureAttack, graph: GraphRisk) -> str:
    if graph.most_recall is None or math.isnan(graph.most_recall) or graph.most_recall >= 1:
        return ""
    where = f" in {release_name(attack.release)}" if len({a.release for a in graph.attacks}) > 1 else ""
    return (
        f"By ties alone no attack can be expected to name more than {percent(graph.most_recall)} of people{where}: the "
        "others have structural twins, from whom nothing tells them apart."
    )


def setting(graph: GraphRisk) -> str:
    """What the adversary holds, what he sees, and who is in both."""
    own = f"{graph.source_nodes:,} people and {graph.source_edges:,} ties"
    seen = f"{graph.target_nodes:,} people and {graph.target_edges:,} ties"
    both = "" if graph.common is None else f" {graph.common:,} people are in both."
    start = "leaked identities, the seeds, of whom he knows who they are in the release"
    if all(attack.seeds in GUESSED for attack in graph.attacks):
        start = "seeds, people of whom he guesses by their looks who they are in the release"
    return (
        f"The adversary holds a network of his own, with names: {own}. He sees the released network, without names: "
        f"{seen}.{both} He starts from {start}, and finds the others by their ties alone."
    )


def cautions(graph: GraphRisk) -> list[str]:
    """What a reader must know before he trusts the rates."""
    said = []
    if not graph.truth_known:
        said.append(
            "Nothing was checked against the truth. Shares of right names are what the adversary expects by his own "
            "probabilities; a dash stands where an attack states none."
        )
    torn = [attack for attack in graph.attacks if 0 < attack.percolated < attack.runs]
    if torn:
        names = _listed(list(dict.fromkeys(attack.attack for attack in torn)))
        said.append(
            f"In some runs {names} spread{'s' if len({a.attack for a in torn}) == 1 else ''} through the network, in "
            "others not. Rates are those of the runs that spread: read in how many runs that was beside them."
        )
    return said
