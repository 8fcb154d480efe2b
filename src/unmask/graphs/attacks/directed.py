"""Narayanan and Shmatikov's attack in the form they gave it, for graphs whose edges have a direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.graphs.attacks._kernels import mutual, read_only
from unmask.graphs.attacks._sides import Arcs, Rule
from unmask.graphs.attacks.beliefs import believe
from unmask.graphs.attacks.matching import Matching, check_at_least_one, check_theta, seeded
from unmask.graphs.auxiliary import Auxiliary, Graph
from unmask.graphs.directed import DirectedGraph
from unmask.graphs.graph import SocialGraph


@dataclass(frozen=True)
class DirectedNar09:
    """`Nar09` for two directed graphs: links in and links out vouch separately.

    Of an unmapped source node v, an unmapped target node c has the score S_c = (nodes that link to v, whose image links
    to c) / sqrt(in-degree of c) + (nodes that v links to, whose image c links to) / sqrt(out-degree of c). All else,
    and both parameters, as in `Nar09`: eccentricity with sigma over the candidates, the reverse test, matches counting
    from the next pass on, passes until one makes no match. Of a `SocialGraph` it sees the directions that its file had
    (`way`). An edge without a direction is a link both ways: between undirected graphs it finds what `Nar09` finds.

    Assumes: as `Nar09` does, and that links mean the same in both graphs.

    Fails when: as `Nar09` does; where one graph shows mutual links alone, the direction of the other's tells nothing.

    >>> from unmask.graphs.directed import DirectedGraph
    >>> star = DirectedGraph.from_edges([0, 2], [1, 0])  # 2 follows 0, 0 follows 1: undirected, 1 and 2 are twins
    >>> DirectedNar09()(star, Auxiliary(star, (np.array([0]), np.array([0])))).mapping
    array([0, 1, 2], dtype=int32)

    A. Narayanan & V. Shmatikov, "De-anonymizing social networks", IEEE S&P 2009, section 5.2 and its pseudo code, in
    which mapped nodes are never candidates.
    """

    theta: float = 0.01
    listed: int = 10

    def __post_init__(self) -> None:
        check_theta(self.theta)
        check_at_least_one(self.listed, "listed")

    def __call__(
        self, release: Graph, knowledge: Auxiliary[Graph], *, rng: np.random.Generator | None = None
    ) -> Matching:
        """The belief about each node of the adversary's graph."""
        image, inverse = seeded(release, knowledge)
        here, there = _arcs(knowledge.graph, image), _arcs(release, inverse)
        rule = Rule(False, False, float(self.theta))
        sweeps: list[int] = []
        visits = 0
        while not sweeps or sweeps[-1]:
            free = np.flatnonzero(image < 0).astype(np.int32)
            node, candidate, seen = mutual(free, here, there, rule, threads=1)
            image[node], inverse[candidate] = candidate, node
            sweeps.append(len(node))
            visits += seen
        return believe(here, there, rule, listed=self.listed, sweeps=sweeps, visits=visits, attack=repr(self))


def _arcs(graph: SocialGraph | DirectedGraph, image: NDArray[np.int32]) -> Arcs:
    if isinstance(graph, SocialGraph):
        if graph.way is None:
            size, rows = np.sqrt(np.maximum(graph.degree, 1)), read_only(graph.indptr, graph.neighbor)
            return Arcs(*rows, *rows, image, size, size)
        graph = DirectedGraph.of(graph)
    out, back = read_only(graph.out_indptr, graph.out_neighbor), read_only(graph.in_indptr, graph.in_neighbor)
    return Arcs(*out, *back, image, *(np.sqrt(np.maximum(degree, 1)) for degree in (graph.out_degree, graph.in_degree)))
