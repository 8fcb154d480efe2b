"""Whom attacks on a network name: by ties, with what certainty, from how few seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from unmask.reports.data import Scope
from unmask.reports.graph import plots
from unmask.reports.graph.knowledge import overlap_block, transition_block
from unmask.reports.graph.looks import LINES, Block, Looks, Named, figure, of_release, shown
from unmask.reports.graph.seeds import seed_words
from unmask.reports.graph.values import GraphRisk, SeparationPoint, StructureAttack
from unmask.reports.graph.words import (
    CRITERIA,
    cautions,
    degrees,
    rate,
    recall_of,
    setting,
)
from unmask.reports.lines import legend_rows
from unmask.reports.sections import Grid
from unmask.reports.words import number

COLUMNS = {
    "Named": "share of the people in both networks whom the adversary names rightly, seeds aside",
    "Names right": "share of all names they give that are right, seeds aside",
    "At least": "the same of all names, if nobody without an entry in the truth is in the release",
    "Wrong": "share of the people in both networks to whom they give a wrong name",
    "Ghosts": "share of the names they give that are of people who are not in the release at all",
    "Given a name": "share of all other people of their network",
    "Names": "how many names they give, on average",
}
"""Rate of an attack -> its meaning."""


@dataclass(frozen=True)
class GraphSection:
    """All that the page says about attacks on a network; what is empty is left out."""

    setting: str
    cautions: tuple[str, ...]
    attacks: Grid
    attack_notes: tuple[str, ...]
    blocks: tuple[Block, ...]


def graph_section(graph: GraphRisk | None, scope: Scope, least: int) -> GraphSection | None:
    """The section, or None where no network was attacked."""
    if graph is None:
        return None
    styles = dict(scope.styles)
    told = (graph.attacks, graph.transition, graph.overlaps)
    for name in (str(item.attack) for items in told for item in items):
        styles.setdefault(name, len(styles))
    looks = Looks(styles, len(scope.adversaries))
    blocks = (
        separation_block(graph, looks),
        degree_block(graph, looks),
        certainty_block(graph, looks),
        transition_block(graph, looks),
        overlap_block(graph, looks),
        pass_block(graph, looks),
        anonymity_block(graph, looks),
    )
    return GraphSection(
        setting=setting(graph),
        cautions=tuple(cautions(graph)),
        attacks=attack_table(graph, looks),
        attack_notes=(*_attack_notes(graph), *_left_out(least)),
        blocks=tuple(block for block in blocks if block.figures or block.tables),
    )


# --- attacks ------------------------------------------------------------------------------------------------------


def attack_table(graph: GraphRisk, looks: Looks) -> Grid:
    """Attack by attack: whom it names, and how many of its names are wrong. A rate that none has is no column."""
    releases = len({attack.release for attack in graph.attacks}) > 1
    rates = _rates(graph)
    groups: dict[str, list[tuple[str, ...]]] = {}
    for i, item in enumerate(graph.attacks):
        cells = (
            *((item.release,) if releases else ()),
            looks.said(item.attack, item.attack),
            f"{item.n_seeds:,} {item.seeds}",
            f"{item.percolated:,} of {item.runs:,} run{'' if item.runs == 1 else 's'}",
            *(column[i] for column in rates.values()),
        )
        groups.setdefault(item.release, []).append(cells)
    head = (*(("Release",) if releases else ()), "Attack", "Seeds", "Spread in", *rates)
    return Grid(head, tuple(("", tuple(rows)) for rows in groups.values()), text=2 + releases)


def _rates(graph: GraphRisk) -> dict[str, list[str]]:
    """Head -> the cells of a column."""
    columns = {
        "Named": [recall_of(item) for item in graph.attacks],
        "Names right": [rate(item.precision) for item in graph.attacks],
        "At least": [rate(item.precision_at_least) for item in graph.attacks],
        "Wrong": [rate(item.error) for item in graph.attacks],
        "Ghosts": [rate(item.ghosts) for item in graph.attacks],
        "Given a name": [rate(item.coverage) for item in graph.attacks],
        "Names": [f"{item.names:,}" for item in graph.attacks],
    }
    return {name: cells for name, cells in columns.items() if {*cells} != {rate(None)}}


def _left_out(least: int) -> list[str]:
    """What charts and tables leave out."""
    return [f"Groups of fewer than {least:,} people, or names, are left out of what follows."] if least > 1 else []


def _attack_notes(graph: GraphRisk) -> list[str]:
    """What the columns mean, and how seeds are chosen."""
    rates = _rates(graph)
    notes = [f"{name}: {meaning}." for name, meaning in COLUMNS.items() if name in rates]
    notes = [" ".join(notes)]
    if any(attack.recall_low is not None for attack in graph.attacks):
        notes.append("Brackets are 95 % intervals over runs; each run has other networks or other seeds.")
    ways = dict.fromkeys(attack.seeds for attack in graph.attacks)
    said = [f"{seeds}: {seed_words(seeds)}" for seeds in ways if seed_words(seeds) != seeds]
    notes.append(
        "Spread in: runs in which the attack ran through the network, and did not die out near its seeds; "
        "rates are means over all runs."
    )
    return [*notes, *([f"Seeds are the identities that the attack starts from. {'; '.join(said)}."] if said else [])]


# --- several identities -------------------------------------------------------------------------------------------


def separation_block(graph: GraphRisk, looks: Looks) -> Block:
    """Without and with separation, attack by attack: who is named, and what is told of those who separated."""
    decoys = any(point.exposed is not None for point in graph.separations)
    groups: dict[str, list[tuple[str, ...]]] = {}
    for point in graph.separations:
        groups.setdefault(point.release, []).append(_separation(point, looks, decoys=decoys))
    head = ("Attack", "Adopters", "Everybody named", "Adopters named", "Their contacts told")
    roles = ("Decoy found", "Hidden found") if decoys else ()
    notes = (
        (
            "Adopters are the people who have several identities in the release. Left of the arrow: nobody has; same "
            "runs, same people. A person is named rightly by any of their identities, and what is told are the "
            "contacts of the one that is named; with one identity, all of them."
        ),
    )
    tables = (Grid((*head, *roles), tuple((name, tuple(rows)) for name, rows in groups.items())),)
    return Block("Where people have several identities", (), notes, tables if groups else ())


def _separation(point: SeparationPoint, looks: Looks, *, decoys: bool) -> tuple[str, ...]:
    changes = (
        (point.recall_before, point.recall),
        (point.adopter_recall_before, point.adopter_recall),
        (point.adopter_recall_before, point.disclosure),
    )
    return (
        looks.said(point.attack, point.attack),
        f"{point.adopters:,}",
        *(f"{rate(before)} \u2192 {rate(after)}" for before, after in changes),
        *((rate(point.decoyed), rate(point.exposed)) if decoys else ()),
    )


# --- by ties ------------------------------------------------------------------------------------------------------


def degree_block(graph: GraphRisk, looks: Looks) -> Block:
    """Recall and precision by degree class, and the same as a table."""
    attacks = [(name, attack) for name, attack in shown(graph) if attack.by_degree]
    known = {(item.low, item.high): item for _, attack in reversed(attacks) for item in attack.by_degree}
    order = sorted(known, key=lambda key: key[0])
    place = {key: float(i) for i, key in enumerate(order)}
    named: dict[str, list[Named]] = {"recall": [], "precision": []}
    for name, attack in attacks:
        for what, lines in named.items():
            points = [(place[item.low, item.high], _nan(getattr(item, what))) for item in attack.by_degree]
            lines.append((looks.said(name, attack.attack), attack.attack, points))
    words = [(degrees(known[key]), f"{known[key].people:,}") for key in order]
    scale = plots.classes(words, "Ties of the person; below them, people")
    recall, precision = (looks.lines(lines) for lines in named.values())
    figures = figure("People named", recall, scale, key="ties-named", said=", by ties of the person")
    figures += figure("Names that are right", precision, scale, key="ties-right", said=", by ties of the person")
    notes = (
        *of_release(graph),
        "People are those in both networks without the seeds, by ties in the adversary's own.",
    )
    if not figures:
        return Block("Who is named, by ties")
    return Block("Who is named, by ties", figures, notes, _degree_tables(attacks[:LINES], order, looks))


def _degree_tables(
    attacks: Sequence[tuple[str, StructureAttack]], order: Sequence[tuple[int, int | None]], looks: Looks
) -> tuple[Grid, ...]:
    rows = []
    for key in order:
        own = [next((item for item in a.by_degree if (item.low, item.high) == key), None) for _, a in attacks]
        first = next(item for item in own if item is not None)
        cells = ("\u2013" if item is None else f"{rate(item.recall)} / {rate(item.precision)}" for item in own)
        rows.append((degrees(first), f"{first.people:,}", *cells))
    head = ("Ties", "People", *(looks.said(name, attack.attack) for name, attack in attacks))
    return (Grid(head, (("", tuple(rows)),), text=1, caption="People named / names that are right"),)


def _nan(value: float | None) -> float:
    return math.nan if value is None else value


# --- certainty ----------------------------------------------------------------------------------------------------


def certainty_block(graph: GraphRisk, looks: Looks) -> Block:
    """Scores against what is right, and how many names there are from each score on."""
    right: list[Named] = []
    sure: list[Named] = []
    for name, attack in shown(graph):
        bins = [item for item in attack.certainty if item.matches]
        if bins:
            said = looks.said(name, attack.attack)
            right.append((said, attack.attack, [(item.sure, item.right) for item in bins]))
            falling = list(accumulate(item.matches for item in reversed(bins)))
            steps = [(item.low, float(n)) for item, n in zip(bins, reversed(falling), strict=True)]
            sure.append((said, attack.attack, steps))
    top = max((n for _, _, points in sure for _, n in points), default=1.0)
    rows = legend_rows(looks.lines(sure)) if len(sure) > 1 else 0
    scale = plots.shares("Score: what the model of rematch says")
    figures = figure("Names that are right", looks.lines(right), scale, key="sure-right", diagonal=True, rows=rows)
    scale = plots.shares("Score, at least")
    figures += figure("Names given", looks.lines(sure), scale, key="sure-names", top=top, share=False, rows=rows)
    notes = [*of_release(graph)]
    if looks.lines(right):
        notes.append(
            "The score of a name is the probability that the model of the attack rematch gives it. It is not "
            "calibrated: an adversary who took it at its word would be wrong wherever a line leaves the dotted one."
        )
    notes.append("Names given: so many names have at least that score.")
    return Block("How many names are right, by their score", figures, tuple(notes))


# --- passes, criteria ---------------------------------------------------------------------------------------------


def pass_block(graph: GraphRisk, looks: Looks) -> Block:
    """Matches made or changed in each pass of the first run."""
    named: list[Named] = [
        (looks.said(name, a.attack), a.attack, [(float(i), float(n)) for i, n in enumerate(a.steps, 1)])
        for name, a in shown(graph)
        if len(a.steps) > 1
    ]
    if not named:
        return Block("")
    scale = plots.counts([1, max(len(points) for _, _, points in named)], "Pass over the network")
    top = max(n for _, _, points in named for _, n in points) or 1.0
    caption = "Names given or changed in the pass"
    figures = figure(caption, looks.lines(named), scale, key="passes", top=top, share=False)
    notes = (*of_release(graph), "Of the first run. An attack ends with a pass that changes nothing, or is cut off.")
    return Block("How the attack runs through the network", figures, notes)


def anonymity_block(graph: GraphRisk, looks: Looks) -> Block:
    """Hit share against the percentile of each criterion, and its rank correlation."""
    named: list[Named] = [
        (CRITERIA.get(link.criterion, (link.criterion,))[0], "", link.ranked) for link in graph.anonymity
    ]
    drawn = Looks({"": 0}, looks.adversaries).lines(named, shade=True)
    scale = plots.shares("Percentile of the criterion, lowest values first")
    figures = figure("How often such a person is named", drawn, scale, key="criteria")
    rows = tuple(
        (*CRITERIA.get(link.criterion, (link.criterion, "")), number(link.correlation, 2)) for link in graph.anonymity
    )
    table = Grid(("Criterion", "Meaning", "Rank correlation"), (("", rows),), text=2, meaning=True)
    notes = (
        (
            "A criterion needs no attack: an owner can reckon it for everybody before release. The steeper its line, "
            "and the farther its rank correlation (Spearman, with the share of runs in which a person is named) from "
            "0, the better it foretells who is named."
        ),
    )
    return Block("What foretells who is named", figures, notes, (table,) if rows else ())
