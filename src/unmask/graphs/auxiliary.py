"""Knowledge of an adversary of graphs: a graph of their own, and seeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.graphs.graph import SocialGraph
from unmask.graphs.similarity import Ratios, Similarity

Seeds = tuple[NDArray[np.integer], NDArray[np.integer]]
"""People re-identified before the attack starts: source nodes, and the target node of each."""


@dataclass(frozen=True, eq=False)
class Auxiliary:
    """The knowledge of an attack on a graph: `attack(release, Auxiliary(graph, seeds))`.

    graph : the adversary's own graph; its nodes are the people looked for, the targets of the belief
    seeds : (nodes of it, nodes of the release), (n,) each: seeds[0][i] is seeds[1][i], or so the adversary believes
    similarity : of its nodes and those of the release, by anything but edges; attacks that use it say so

    >>> path = SocialGraph.from_edges([0, 1], [1, 2])
    >>> Auxiliary(path, (np.array([0]), np.array([2])))
    Auxiliary(SocialGraph(3 nodes, 2 edges), 1 seeds)
    """

    graph: SocialGraph
    seeds: Seeds
    similarity: Similarity | None = None

    def __repr__(self) -> str:
        besides = "" if self.similarity is None else f", {self.similarity!r}"
        return f"Auxiliary({self.graph!r}, {len(self.seeds[0])} seeds{besides})"

    def reversed(self, release: SocialGraph) -> Auxiliary:
        """Return the same knowledge of one who has the release and looks for its people in this graph."""
        similarity = None if self.similarity is None else self.similarity.reversed()
        return Auxiliary(release, (self.seeds[1], self.seeds[0]), similarity)

    def ratios(self, release: SocialGraph) -> Ratios | None:
        """Return the likelihood ratios of the similarity, fitted to the seeds; None if it carries no information."""
        if self.similarity is None:
            return None
        ratios = self.similarity.ratios(self.graph.n_nodes, release.n_nodes, self.seeds)
        return ratios if ratios.exponent < 1 else None
