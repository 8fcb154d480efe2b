"""The nodes of a lattice in a game: all are bounded, and those that may be the best become protections like others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

import numpy as np

from unmask.cases.tables.plane import Plane
from unmask.economics import Expected, Publisher, Terms
from unmask.economics.many import ManyReleases
from unmask.plan import Cell, Part, Plan
from unmask.reports.facts.game import Nodes
from unmask.studies.cells import nodes

LATTICE: Final = "tables.Lattice"
"""`use` of a protection whose nodes are all weighed."""

MOST: Final = 4
"""Nodes of a lattice that become protections."""

GAP: Final = 1e-3
"""Share of the benefit by which a node that is left out may be better."""


MOST_SOLVED: Final = 100
"""Nodes and terms whose campaigns are solved; more are asked for where many kinds of attackers pull apart."""


@dataclass(frozen=True)
class Weighed:
    """What is weighed, and by whom.

    terms : every price, fine and audit rate that is listed
    """

    publisher: Publisher
    attackers: Mapping[str, Expected]
    adversary: Mapping[str, str]
    terms: Sequence[Terms]


def unfolded(plan: Plan, part: Part, weighed: Weighed) -> tuple[tuple[Part, ...], Nodes]:
    """The nodes of a lattice that may be the best, as protections; and what is known of all nodes."""
    whose = {kind: name or plan.adversaries[0].name for kind, name in weighed.adversary.items()}
    named = {one.name: one for one in plan.adversaries}
    cells = [Cell(plan.datasets[0], part, named[name], plan.seeds[0], ()) for name in dict.fromkeys(whose.values())]
    found: Plane = nodes(cells)
    releases = {kind: found.releases[name] for kind, name in whose.items()}
    what = (found.utility, found.nodes, found.whole)
    game = ManyReleases(weighed.publisher, weighed.attackers, releases, *what, weighed.terms, GAP)
    parts = tuple(_node(part, found, place) for place in _offered(game)[:MOST])
    levels = {one.name: {name: of for name, (of,) in one.parameters["levels"].items()} for one in parts}
    low, high = np.stack([game.payoffs(terms) for terms in game.terms]).max(axis=0).tolist()
    unsure = (game.solved, game.undecided(), game.short())
    return parts, Nodes(part.name, tuple(found.utility.tolist()), tuple(low), tuple(high), levels, *unsure)


def _offered(game: ManyReleases) -> list[int]:
    """Nodes that may be the best, the best first: of all terms listed, and of each of them."""
    best = game.best(MOST_SOLVED)
    at_terms = [int(game.payoffs(terms)[0].argmax()) for terms in game.terms]
    return list(dict.fromkeys([*([] if best is None else best[:1]), *at_terms]))


def _node(part: Part, found: Plane, place: int) -> Part:
    """A node as a protection of its own."""
    name = f"{part.name} {'-'.join(map(str, found.nodes[place].tolist()))}"
    return replace(part, name=name, parameters={**part.parameters, "levels": found.at(place)})


def all_terms(asked: Mapping[str, Sequence[float]]) -> list[Terms]:
    """Every price, fine and audit rate that is listed, together."""
    return [Terms(price=a, fine=f, audit=q) for a, f, q in product(*asked.values())]
