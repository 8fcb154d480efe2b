"""Knowledge of an adversary of graphs: the adversary's graph, seeds, and node similarity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.graphs.graph import SocialGraph
from unmask.graphs.similarity import Ratios, Similarity

Seeds = tuple[NDArray[np.integer], NDArray[np.integer]]
"""People who are re-identified before the attack: source nodes, and the target node of each."""


@dataclass(frozen=True, eq=False)
class Auxiliary:
    """The knowledge of an attack on a graph: `attack(release, Auxiliary(graph, seeds))`.

    graph : the adversary's graph; its nodes are the targets of the belief
    seeds : (n,) source nodes and (n,) target nodes: the adversary believes that seeds[0][i] and seeds[1][i] are one
            person
    similarity : similarity of source nodes and target nodes, independent of edges; only some attacks use it

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
        """Return the knowledge with exchanged graphs: the release is the known graph, and this graph is attacked."""
        similarity = None if self.similarity is None else self.similarity.reversed()
        return Auxiliary(release, (self.seeds[1], self.seeds[0]), similarity)

    def ratios(self, release: SocialGraph) -> Ratios | None:
        """Return the likelihood ratios of the similarity, fitted to the seeds; None if it carries no information."""
        if self.similarity is None:
            return None
        ratios = self.similarity.ratios(self.graph.n_nodes, release.n_nodes, self.seeds)
        return ratios if ratios.exponent < 1 else None
