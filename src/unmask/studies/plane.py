"""The nodes of a lattice in a game: all are bounded, and those that may be the best become protections like others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

import numpy as np

from unmask.cases.tables.plane import Plane
from unmask.economics import Expected, Protected, Publisher, PublisherGame, Terms, Unknown
from unmask.economics.many import ManyReleases
from unmask.economics.unknowns import at
from unmask.plan import Cell, Part, Plan
from unmask.reports.facts.game import Nodes
from unmask.studies.cells import nodes

LATTICE: Final = "tables.Lattice"
"""`use` of a protection whose nodes are all weighed."""

MOST: Final = 4
"""Nodes of a lattice that become protections."""

GAP: Final = 1e-3
"""Share of the benefit by which a node that is left out may be better."""


@dataclass(frozen=True)
class Weighed:
    """What is weighed, and by whom.

    terms : every price, fine and audit rate that is listed
    """

    publisher: Publisher
    attackers: Mapping[str, Expected]
    adversary: Mapping[str, str]
    unknowns: Sequence[Unknown]
    terms: Sequence[Terms]


def unfolded(plan: Plan, part: Part, weighed: Weighed) -> tuple[tuple[Part, ...], Nodes]:
    """The nodes of a lattice that may be the best, as protections; and what is known of all nodes.

    The best at the terms listed where every range is at its middle, at its worst and at its best for the publisher, and
    the best at each of these terms.
    """
    named = {one.name: one for one in plan.adversaries}
    whose = {kind: name or plan.adversaries[0].name for kind, name in weighed.adversary.items()}
    cells = [Cell(plan.datasets[0], part, named[name], plan.seeds[0], ()) for name in dict.fromkeys(whose.values())]
    found: Plane = nodes(cells)
    game = ManyReleases(
        weighed.publisher,
        weighed.attackers,
        {kind: found.releases[name] for kind, name in whose.items()},
        found.utility,
        found.nodes,
        found.whole,
        weighed.terms,
        GAP,
    )
    best = game.best()
    places = [] if best is None else [best[0]]
    for worst in (True, False):
        if weighed.unknowns:
            ended = _at_end(game, weighed.unknowns, worst=worst).best()
            places += [] if ended is None else [ended[0]]
    low, high = _ends(game)
    places += [int(game.payoffs(terms)[0].argmax()) for terms in weighed.terms]
    chosen = list(dict.fromkeys(places))[:MOST]
    parts = tuple(_node(part, found, place) for place in chosen)
    levels = {one.name: {name: of for name, (of,) in one.parameters["levels"].items()} for one in parts}
    return parts, Nodes(part.name, tuple(found.utility.tolist()), low, high, levels, game.solved, game.undecided())


def _at_end(game: ManyReleases, unknowns: Sequence[Unknown], *, worst: bool) -> ManyReleases:
    """The game where every range is at the end that is worst, or best, for the publisher."""
    small = PublisherGame(game.publisher, {"": Protected([1])}, game.attackers)
    moved = at(small, unknowns, [one.end(worst=worst) for one in unknowns])
    return replace(game, publisher=moved.publisher, attackers=moved.attackers)


def _ends(game: ManyReleases) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """What each node leaves at its best terms, at least and at most."""
    ends = np.stack([game.payoffs(terms) for terms in game.terms])
    low, high = ends.max(axis=0)
    return tuple(low.tolist()), tuple(high.tolist())


def _node(part: Part, found: Plane, place: int) -> Part:
    """A node as a protection of its own."""
    name = f"{part.name} {'-'.join(map(str, found.nodes[place].tolist()))}"
    return replace(part, name=name, parameters={**part.parameters, "levels": found.at(place)})


def all_terms(asked: Mapping[str, Sequence[float]]) -> list[Terms]:
    """Every price, fine and audit rate that is listed, together."""
    return [Terms(price=a, fine=f, audit=q) for a, f, q in product(*asked.values())]
