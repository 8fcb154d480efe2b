"""What an adversary of graphs knows: a graph of their own, and some of its people re-identified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from unmask.graphs.directed import DirectedGraph
from unmask.graphs.release import SocialGraph

Graph = TypeVar("Graph", SocialGraph, DirectedGraph)

Seeds = tuple[NDArray[np.integer], NDArray[np.integer]]
"""People whom the adversary has re-identified before they start: source nodes, and the target node of each."""


@dataclass(frozen=True, eq=False)
class Auxiliary(Generic[Graph]):
    """The knowledge of an attack on a graph: `attack(release, Auxiliary(graph, seeds))`.

    graph : the adversary's own graph; its nodes are the people looked for, the targets of the belief
    seeds : (nodes of it, nodes of the release), (n,) each: seeds[0][i] is seeds[1][i], or so the adversary believes

    >>> path = SocialGraph.from_edges([0, 1], [1, 2])
    >>> Auxiliary(path, (np.array([0]), np.array([2])))
    Auxiliary(SocialGraph(3 nodes, 2 edges), 1 seeds)
    """

    graph: Graph
    seeds: Seeds

    def __repr__(self) -> str:
        return f"Auxiliary({self.graph!r}, {len(self.seeds[0])} seeds)"
