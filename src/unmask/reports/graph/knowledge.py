"""How much the adversary must know: people named by the number of leaked identities, and by overlap of the networks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from unmask.reports.graph import plots
from unmask.reports.graph.looks import Block, Looks, Named, figure
from unmask.reports.graph.values import GraphRisk, OverlapPoint, TransitionPoint
from unmask.reports.graph.words import rate, transition_lines
from unmask.reports.lines import Line
from unmask.reports.sections import Figure, Grid
from unmask.reports.words import percent

PANELS = 3
"""Attacks that have charts of their own over both overlaps."""


def transition_block(graph: GraphRisk, looks: Looks) -> Block:
    """Recall, and share of runs that spread, against the number of seeds."""
    lines = transition_lines(graph)
    if not lines:
        return Block("")
    scale = plots.magnitudes(
        [point.n_seeds for point in graph.transition], "Leaked identities, each step as many times"
    )
    recall: list[Named] = []
    spread: list[Named] = []
    for name, points in lines.items():
        attack = points[0].attack
        said = looks.said(name, attack)
        recall.append((said, attack, [(plots.magnitude(p.n_seeds), _reach(p)) for p in points]))
        spread.append((said, attack, [(plots.magnitude(p.n_seeds), p.percolated / p.runs) for p in points]))
    named = "People named" if graph.truth_known else "People given a name"
    figures = figure(named, looks.lines(recall), scale, key="seeds-named", said=", by leaked identities")
    caption = "Runs in which the attack spreads"
    figures += figure(caption, looks.lines(spread), scale, key="seeds-spread", said=", by leaked identities")
    rows = tuple(
        (looks.said(p.attack, p.attack), p.seeds, f"{p.n_seeds:,}", f"{p.percolated:,} of {p.runs:,}", rate(_reach(p)))
        for points in lines.values()
        for p in points
    )
    head = ("Attack", "Seeds", "Leaked identities", "Runs that spread", named.removeprefix("People ").capitalize())
    table = Grid(head, (("", rows),), text=2)
    notes = (
        (
            "An attack either dies out near its seeds or runs through the network; in between there is little. People "
            f"{named.removeprefix('People ')} are means over all runs, {_runs(graph)} for each point."
        ),
    )
    return Block("From how few leaked identities", figures, notes, folded=(table,))


def _reach(point: TransitionPoint) -> float:
    """Recall; where nobody knows it, coverage."""
    return point.coverage if point.recall is None else point.recall


def _runs(graph: GraphRisk) -> str:
    runs = sorted({point.runs for point in graph.transition})
    return f"{runs[0]:,} to {runs[-1]:,}" if len(runs) > 1 else f"{runs[0]:,}"


# --- overlap ------------------------------------------------------------------------------------------------------


def overlap_block(graph: GraphRisk, looks: Looks) -> Block:
    """Recall and error against how much the two networks share."""
    points = sorted(graph.overlaps, key=lambda point: (point.node_overlap, point.edge_overlap))
    if not points:
        return Block("")
    attacks = list(dict.fromkeys(point.attack for point in graph.overlaps))
    pairs = {(point.node_overlap, point.edge_overlap) for point in points}
    nodes, edges = (len({pair[i] for pair in pairs}) for i in (0, 1))
    if len(pairs) in (nodes, edges):
        by_edges = len(pairs) == edges
        named = {attack: [p for p in points if p.attack == attack] for attack in attacks}
        lines = {looks.said(attack, attack): (attack, own) for attack, own in named.items()}
        figures = _overlap_figures("", lines, looks, by_edges=by_edges, key="overlap")
        still = "" if not (by_edges and nodes == 1) else f" {percent(points[0].node_overlap, 0)} of people are."
        still = still or ("" if edges > 1 else f" {percent(points[0].edge_overlap, 0)} of ties are.")
    else:
        figures, still = (), " Each line is one share of people in both networks."
        for i, attack in enumerate(attacks[:PANELS]):
            own = [point for point in points if point.attack == attack]
            lines = {
                f"{percent(share, 0)} of people": (attack, [p for p in own if p.node_overlap == share])
                for share in dict.fromkeys(point.node_overlap for point in own)
            }
            caption = f": {looks.said(attack, attack)}" if len(attacks) > 1 else ""
            figures += _overlap_figures(caption, lines, looks, by_edges=True, key=f"overlap{i}", shade=True)
    notes = [f"Overlap: of the people, or the ties among common people, in either network, the share in both.{still}"]
    notes.append("Charts of wrong names have a scale of their own.")
    if len(attacks) > PANELS and len(pairs) not in (nodes, edges):
        notes.append(f"The first {PANELS} attacks are drawn; the table has all {len(attacks)}.")
    return Block("By overlap of the two networks", figures, tuple(notes), folded=(_overlap_table(points, looks),))


def _overlap_figures(
    caption: str,
    lines: Mapping[str, tuple[str, Sequence[OverlapPoint]]],
    looks: Looks,
    *,
    by_edges: bool,
    key: str,
    shade: bool = False,
) -> tuple[Figure, ...]:
    """Recall at the left, error at the right."""
    scale = plots.shares("Overlap of ties" if by_edges else "Overlap of people")

    def over(what: str) -> list[Line]:
        return looks.lines(
            [
                (name, attack, [(p.edge_overlap if by_edges else p.node_overlap, getattr(p, what)) for p in own])
                for name, (attack, own) in lines.items()
            ],
            shade=shade,
        )

    wrong = over("error")
    top = max((y for line in wrong for _, y in line.points if math.isfinite(y)), default=0.0) or 0.01
    figures = figure(f"People named{caption}", over("recall"), scale, key=f"{key}-named")
    return figures + figure(f"People given a wrong name{caption}", wrong, scale, key=f"{key}-wrong", top=top)


def _overlap_table(points: Sequence[OverlapPoint], looks: Looks) -> Grid:
    groups: dict[str, list[tuple[str, ...]]] = {}
    for p in points:
        rates = (rate(value) for value in (p.recall, p.precision, p.error, p.percolated))
        cells = (looks.said(p.attack, p.attack), percent(p.node_overlap, 0), percent(p.edge_overlap, 0), *rates)
        groups.setdefault(p.attack, []).append(cells)
    head = ("Attack", "Overlap of people", "Overlap of ties", "Named", "Names right", "Wrong", "Runs that spread")
    return Grid(head, tuple(("", tuple(rows)) for rows in groups.values()))
