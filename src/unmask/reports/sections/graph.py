"""Whom attacks on a network re-identify: by edges, by score, from how few seeds, by overlap of the two networks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate

from unmask.render import Figure
from unmask.reports.data import Scope
from unmask.reports.facts.graph import GraphRisk, OverlapPoint, SeparationPoint, StructureAttack, TransitionPoint
from unmask.reports.figures import Line
from unmask.reports.findings.graph import (
    bound,
    by_ties,
    degrees,
    few_seeds,
    others,
    overlaps,
    recall_of,
    seed_words,
    separated,
    several_releases,
    strongest_first,
    transition_lines,
)
from unmask.reports.findings.graph import findings as findings
from unmask.reports.findings.setting import cautions, setting
from unmask.reports.parts import Fold, Grid, Loose, Section, grid, grouped, minds, notes, parts
from unmask.reports.screens.graph import advice as advice
from unmask.reports.screens.graph import at_risk as at_risk
from unmask.reports.sections.foretelling import by_criterion
from unmask.reports.sections.looks import LINES, Looks, Named, block, figure, of_release, shown
from unmask.results import Column
from unmask.results.formats import percent
from unmask.results.words import listed, plural, rate

SCORE = "The score of a match is the probability that the model of the attack Rematch gives it, uncalibrated."

OWN_SCORE = " Ensemble gives its matches scores of its own."

PANELS = 3
"""Attacks that have charts of their own over both overlaps."""

MATCHES = Column("matches", "", "number")

COLUMNS: Mapping[str, tuple[str, Callable[[StructureAttack], str]]] = {
    "Recall": ("share of the people in both networks whom the adversary re-identifies, seeds aside", recall_of),
    "Precision": ("share of all matches they make that are right, seeds aside", lambda item: rate(item.precision)),
    "At least": (
        "the same of all matches, if nobody without an entry in the truth is in the release",
        lambda item: rate(item.precision_at_least),
    ),
    "Wrong": ("share of the people in both networks whom they match wrongly", lambda item: rate(item.named_wrongly)),
    "False positives": (
        "share of the matches that are of people who are not in the release at all",
        lambda item: rate(item.false_positives),
    ),
    "Coverage": ("share of all other people of their network whom they match", lambda item: rate(item.coverage)),
    "Matches": ("how many matches they make, on average", lambda item: f"{item.names:,}"),
}
"""Head of a column -> its meaning, and its cell for an attack."""


def section(graph: GraphRisk, scope: Scope) -> Section:
    """The section of a page."""
    looks, least = Looks.of(graph, scope), scope.data.least
    left_out = (
        [f"Groups of fewer than {least:,} people, or matches, are left out of what follows."] if least > 1 else []
    )
    shown = parts(
        setting(graph),
        minds(cautions(graph)),
        _attacks(graph, looks),
        notes([*_attack_notes(graph), *left_out]),
        _separations(graph, looks),
        _by_degree(graph, looks),
        _by_score(graph, looks),
        _by_seeds(graph, looks),
        _by_overlap(graph, looks),
        _by_pass(graph, looks),
        by_criterion(graph),
    )
    attacks = strongest_first(graph.attacks, graph.truth_known)
    said = others(attacks, graph) or bound(attacks[0], graph)
    return Section("graph", "Who is re-identified in the network", shown, said)


# --- attacks ---------------------------------------------------------------------------------------------------------


def _attacks(graph: GraphRisk, looks: Looks) -> Grid:
    """Attack by attack: whom it re-identifies, and how often it is wrong. A rate that none has is no column."""
    releases = several_releases(graph)
    rates = _rates(graph)

    def cells(i: int, item: StructureAttack) -> Iterator[str]:
        yield from (item.release,) * releases
        yield looks.said(item.attack, item.attack)
        yield f"{item.n_seeds:,} {item.seeds}"
        yield f"{item.spread_in:,} of {plural(item.runs, 'run')}"
        yield from (column[i] for column in rates.values())

    head = (*("Release",) * releases, "Attack", "Seeds", "Spread in", *rates)
    rows = ((item.release, cells(i, item)) for i, item in enumerate(graph.attacks))
    return grouped(head, rows, named=False, text=2 + releases)


def _rates(graph: GraphRisk) -> dict[str, list[str]]:
    """Head -> the cells of a column that has any."""
    columns = {name: [cell(item) for item in graph.attacks] for name, (_, cell) in COLUMNS.items()}
    return {name: cells for name, cells in columns.items() if {*cells} != {rate(None)}}


def _attack_notes(graph: GraphRisk) -> Iterator[str]:
    """What the columns mean, and how seeds are chosen."""
    yield " ".join(f"{name}: {COLUMNS[name][0]}." for name in _rates(graph))
    if any(attack.recall_low is not None for attack in graph.attacks):
        yield "Brackets are 95 % intervals over runs; each run has other networks or other seeds."
    yield (
        "Spread in: runs in which the attack ran through the network, and did not die out near its seeds; rates are "
        "means over all runs."
    )
    ways = dict.fromkeys(attack.seeds for attack in graph.attacks)
    said = [f"{seeds}: {seed_words(seeds)}" for seeds in ways if seed_words(seeds) != seeds]
    if said:
        yield f"Seeds are the identities that the attack starts from. {'; '.join(said)}."


# --- several identities ----------------------------------------------------------------------------------------------


def _separations(graph: GraphRisk, looks: Looks) -> tuple[Loose, ...]:
    """Without and with separation, attack by attack: who is re-identified, and what is told of those who separated."""
    if not graph.separations:
        return ()
    adopters = any(point.adopters for point in graph.separations)
    decoys = any(point.exposed is not None for point in graph.separations)
    head = ("Attack", "Everybody re-identified")
    roles = ["Adopters", "Adopters re-identified", "Their contacts told"] * adopters
    roles += ["Decoy found", "Hidden found"] * decoys
    both = any(point.recall_before is not None for point in graph.separations)
    how = "Left of the arrow: the release without the protection; same runs, same people." * both
    how += (
        " Adopters are the people who have several identities. A person is re-identified by any of them, and what is "
        "told are the contacts of the one that is named; with one identity, all of them."
    ) * adopters
    rows = ((point.release, _separation(point, looks, adopters=adopters, decoys=decoys)) for point in graph.separations)
    title = "Where people have several identities" if adopters else "With protection"
    return block(title, (), [how], grouped((*head, *roles), rows), said=next(separated(graph), ""))


def _separation(point: SeparationPoint, looks: Looks, *, adopters: bool, decoys: bool) -> tuple[str, ...]:
    changes = (
        (point.adopter_recall_before, point.adopter_recall),
        (point.adopter_recall_before, point.disclosure),
    )
    theirs = (f"{point.adopters:,}", *(_change(before, after) for before, after in changes))
    return (
        looks.said(point.attack, point.attack),
        _change(point.recall_before, point.recall),
        *(theirs if adopters else ()),
        *((rate(point.decoyed), rate(point.exposed)) if decoys else ()),
    )


def _change(before: float | None, after: float | None) -> str:
    return rate(after) if before is None else f"{rate(before)} \u2192 {rate(after)}"


# --- by ties, by score, by pass --------------------------------------------------------------------------------------


def _by_degree(graph: GraphRisk, looks: Looks) -> tuple[Loose, ...]:
    """Recall and precision by degree class, and the same as a table."""
    attacks = [(name, attack) for name, attack in shown(graph) if attack.by_degree]
    known = {(item.low, item.high): item for _, attack in reversed(attacks) for item in attack.by_degree}
    order = sorted(known, key=lambda key: key[0])
    x = Column("edges", "Edges of the person")

    def lines(what: str) -> list[Line]:
        return looks.lines([(looks.said(name, one.attack), one.attack, values(one, what)) for name, one in attacks])

    def values(attack: StructureAttack, what: str) -> list[tuple[str, float]]:
        own = {(item.low, item.high): getattr(item, what) for item in attack.by_degree}
        return [(degrees(known[key]), _nan(own.get(key))) for key in order]

    figures = [*figure("People re-identified", lines("recall"), x)]
    figures += figure("Matches that are right", lines("precision"), x)
    whose = "People are those in both networks without the seeds, by edges in the adversary's own."
    tables = [_degree_table(attacks[:LINES], order, looks)] if figures else []
    strongest = strongest_first(graph.attacks, graph.truth_known)[0]
    said = by_ties(strongest, graph) or "Nothing shows that it depends on edges."
    return block("Who is re-identified, by edges", figures, [*of_release(graph), whose], *tables, said=said)


def _degree_table(
    attacks: Sequence[tuple[str, StructureAttack]], order: Sequence[tuple[int, int | None]], looks: Looks
) -> Grid:
    rows = []
    for key in order:
        own = [next((item for item in a.by_degree if (item.low, item.high) == key), None) for _, a in attacks]
        first = next(item for item in own if item is not None)
        cells = (rate(None) if item is None else f"{rate(item.recall)} / {rate(item.precision)}" for item in own)
        rows.append((degrees(first), f"{first.people:,}", *cells))
    head = ("Edges", "People", *(looks.said(name, attack.attack) for name, attack in attacks))
    return grid(head, rows, "People re-identified / matches that are right")


def _nan(value: float | None) -> float:
    return math.nan if value is None else value


def _by_score(graph: GraphRisk, looks: Looks) -> tuple[Loose, ...]:
    """Scores against what is right, and how many matches there are from each score on."""
    right: list[Named] = []
    sure: list[Named] = []
    for name, attack in shown(graph):
        bins = [item for item in attack.certainty if item.matches]
        falling = reversed(list(accumulate(item.matches for item in reversed(bins))))
        said = looks.said(name, attack.attack)
        right.append((said, attack.attack, [(item.sure, item.right) for item in bins]))
        sure.append((said, attack.attack, [(item.low, float(n)) for item, n in zip(bins, falling, strict=True)]))
    reliable, given = looks.lines(right), looks.lines(sure)
    announced = Column("score", "Score: probability announced", "share")
    rightly = [*figure("Matches that are right", reliable, announced, diagonal="score = share that is right")]
    made = figure("Matches made", given, Column("score", "Score, at least", "share"), y=MATCHES)
    own = any(attack.announced is not None for _, attack in shown(graph))
    how = f"{SCORE}{OWN_SCORE * own} Who took it at its word would be wrong wherever a line leaves the dotted one."
    told = [*of_release(graph), *([how] if rightly else []), "Matches made: so many matches have at least that score."]
    said = _scores(graph) if rightly else ""
    return block("How many matches are right, by their score", [*rightly, *made], told, said=said)


def _scores(graph: GraphRisk) -> str:
    """Whether the scores that are drawn are probabilities, and what it means where a line leaves the dotted one."""
    drawn = [attack for _, attack in shown(graph)]
    sure = dict.fromkeys(
        one.attack for one in drawn if one.announced is not None and one.announced.if_there is not None
    )
    if sure:
        return f"{listed([*sure])} speaks of people in the release alone; matches of others pull its line down."
    return "A score is no probability: where a line leaves the dotted one, it promises too much or too little."


def _by_pass(graph: GraphRisk, looks: Looks) -> tuple[Loose, ...]:
    """Matches made or changed in each pass of the first run; an ensemble has rounds, which begin anew."""
    lines = looks.lines(
        [
            (looks.said(name, a.attack), a.attack, [(i, n) for i, n in enumerate(a.steps, 1)])
            for name, a in shown(graph)
            if len(a.steps) > 1 and a.announced is None
        ]
    )
    x = Column("pass", "Pass over the network", "number")
    figures = figure("Matches made or changed in the pass", lines, x, y=MATCHES)
    how = "Of the first run. An attack ends with a pass that changes nothing, or is cut off."
    most = max((len(line.points) for line in lines), default=0)
    said = f"The first run ends after {plural(most, 'pass', 'passes')} at the most."
    return block("How the attack runs through the network", figures, [*of_release(graph), how], said=said)


# --- how much the adversary must know --------------------------------------------------------------------------------


def _by_seeds(graph: GraphRisk, looks: Looks) -> tuple[Loose, ...]:
    """Recall, and share of runs that spread, against the number of seeds."""
    lines = transition_lines(graph)
    if len({point.n_seeds for own in lines.values() for point in own}) < 2:
        return ()
    x = Column("seeds", "Leaked identities", "number")
    points = {(looks.said(name, own[0].attack), own[0].attack): own for name, own in lines.items()}
    reach = looks.lines([(*who, [(p.n_seeds, _reach(p)) for p in own]) for who, own in points.items()])
    spread = looks.lines([(*who, [(p.n_seeds, p.spread_in / p.runs) for p in own]) for who, own in points.items()])
    named = "re-identified" if graph.truth_known else "matched"
    figures = [*figure(f"People {named}", reach, x, log="x")]
    figures += figure("Runs in which the attack spreads", spread, x, log="x")
    rows = (
        (looks.said(p.attack, p.attack), p.seeds, f"{p.n_seeds:,}", f"{p.spread_in:,} of {p.runs:,}", rate(_reach(p)))
        for own in lines.values()
        for p in own
    )
    table = grid(("Attack", "Seeds", "Leaked identities", "Runs that spread", named.capitalize()), rows, text=2)
    runs = sorted({point.runs for point in graph.transition})
    many = f"{runs[0]:,} to {runs[-1]:,}" if len(runs) > 1 else f"{runs[0]:,}"
    how = (
        "An attack either dies out near its seeds or runs through the network; in between there is little. People "
        f"{named} are means over all runs, {many} for each point."
    )
    behind = Fold("The figures behind these charts", (table,))
    return block("From how few leaked identities", figures, [how], behind, said=few_seeds(graph))


def _reach(point: TransitionPoint) -> float:
    """Recall; where nobody knows it, coverage."""
    return point.coverage if point.recall is None else point.recall


def _by_overlap(graph: GraphRisk, looks: Looks) -> tuple[Loose, ...]:
    """Recall and error against how much the two networks share."""
    points = sorted(graph.overlaps, key=lambda point: (point.node_overlap, point.edge_overlap))
    pairs = {(point.node_overlap, point.edge_overlap) for point in points}
    if len(pairs) < 2:
        return ()
    attacks = list(dict.fromkeys(point.attack for point in graph.overlaps))
    nodes, edges = (len({pair[i] for pair in pairs}) for i in (0, 1))
    figures: list[Figure] = []
    more = []
    if len(pairs) in (nodes, edges):
        by_edges = len(pairs) == edges
        lines = {looks.said(name, name): (name, [p for p in points if p.attack == name]) for name in attacks}
        figures += _overlap_figures("", lines, looks, by_edges=by_edges)
        still = "" if edges > 1 else f" {percent(points[0].edge_overlap, 0)} of edges are."
        still = f" {percent(points[0].node_overlap, 0)} of people are." if by_edges and nodes == 1 else still
    else:
        still = " Each line is one share of people in both networks."
        more = [f"The first {PANELS} attacks are drawn; the table has all {len(attacks)}."] * (len(attacks) > PANELS)
        for attack in attacks[:PANELS]:
            own = [point for point in points if point.attack == attack]
            lines = {
                f"{percent(share, 0)} of people": (attack, [p for p in own if p.node_overlap == share])
                for share in dict.fromkeys(point.node_overlap for point in own)
            }
            caption = f": {looks.said(attack, attack)}" if len(attacks) > 1 else ""
            figures += _overlap_figures(caption, lines, looks, by_edges=True, shade=True)
    how = f"Overlap: of the people, or the edges among common people, in either network, the share in both.{still}"
    told = [how, "Charts of wrong matches have a scale of their own.", *more]
    return block(
        "By overlap of the two networks",
        figures,
        told,
        Fold("The figures behind these charts", (_overlap_table(points, looks),)),
        said=overlaps(graph),
    )


def _overlap_figures(
    caption: str,
    lines: Mapping[str, tuple[str, Sequence[OverlapPoint]]],
    looks: Looks,
    *,
    by_edges: bool,
    shade: bool = False,
) -> Iterator[Figure]:
    """Recall at the left, error at the right."""

    def over(what: str) -> list[Line]:
        place = "edge_overlap" if by_edges else "node_overlap"
        named = [
            (name, attack, [(getattr(p, place), getattr(p, what)) for p in own])
            for name, (attack, own) in lines.items()
        ]
        return looks.lines(named, shade=shade)

    x = Column("overlap", "Overlap of edges" if by_edges else "Overlap of people", "share")
    for what, name in (("People re-identified", "recall"), ("People matched wrongly", "named_wrongly")):
        yield from figure(f"{what}{caption}", over(name), x, adversaries=not shade)


def _overlap_table(points: Sequence[OverlapPoint], looks: Looks) -> Grid:
    def cells(p: OverlapPoint) -> Iterator[str]:
        yield looks.said(p.attack, p.attack)
        yield from (percent(share, 0) for share in (p.node_overlap, p.edge_overlap))
        yield from (rate(value) for value in (p.recall, p.precision, p.named_wrongly, p.spread))

    head = ("Attack", "Overlap of people", "Overlap of edges", "Recall", "Precision", "Wrong")
    return grouped((*head, "Runs that spread"), ((p.attack, cells(p)) for p in points), named=False)
