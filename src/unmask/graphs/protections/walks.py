"""Edges that lead where a random walk ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from unmask.core.randomness import secret_unless
from unmask.graphs.graph import SocialGraph
from unmask.graphs.protections.edges import distinct, shuffled
from unmask.graphs.protections.identities import Separated
from unmask.ranges import Range, check_ranges

TRIES = 10
"""Walks for one edge, at most: the M of the source."""


@dataclass(frozen=True)
class RandomWalk:
    """Replace the far end of each edge by the end of a random walk that starts with it.

    Of each person u with d contacts, the walk from the first of them, in random order, makes an edge u-z with its end
    z, that from each other with a probability of (d / 2 - 1) / (d - 1): so at u, of two contacts or more, d / 2 edges
    are made on average, 1 of one contact, and d / 2 end there. A walk that ends at u or makes an edge twice is walked
    again, 10 times at most. Nodes are shuffled, without labels.

    Parameters
    ----------
    length : int
        Steps of the walk, the edge included; 1 keeps the far end.

    Notes
    -----
    Assumes: the adversary does not know where walks went.

    Fails when: the community of a person gives them away, or degrees do: hubs remain hubs, and short walks remain near.
    It guarantees no k, and no epsilon.

    References
    ----------
    P. Mittal, C. Papamanthou, D. Song, "Preserving link privacy in social network based systems", NDSS 2013,
    algorithm 1.

    Examples
    --------
    >>> pair = SocialGraph.from_edges([0], [1])
    >>> RandomWalk(length=3)(pair, rng=np.random.default_rng(1)).release.n_edges
    1
    """

    length: Annotated[int, Range(1)] = 3

    def __post_init__(self) -> None:
        check_ranges(self)

    def __call__(self, graph: SocialGraph, *, rng: np.random.Generator | None = None) -> Separated:
        """Return the release, and the node behind each of its nodes."""
        rng = secret_unless(rng)
        u, first = _starts(graph, rng)
        n, pairs = graph.n_nodes, np.full(len(u), -1, dtype=np.int64)
        for _ in range(TRIES):
            again = np.flatnonzero(pairs < 0)
            end = _walked(graph, first[again], self.length - 1, rng)
            key = np.minimum(u[again], end) * n + np.maximum(u[again], end)
            pairs[again] = np.where(u[again] == end, -1, key)
            pairs = distinct(pairs, again)
        ends = pairs[pairs >= 0]
        return shuffled(ends // n, ends % n, n, rng)


def _starts(graph: SocialGraph, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw the nodes that make an edge, and the first step of its walk."""
    degree = graph.degree
    stays = np.flatnonzero(degree)
    chance = np.repeat(np.maximum(degree / 2 - 1, 0) / np.maximum(degree - 1, 1), degree)
    chance[graph.indptr[stays] + rng.integers(degree[stays])] = 1.0
    chosen = rng.random(len(chance)) < chance
    return np.repeat(np.arange(graph.n_nodes), degree)[chosen], graph.neighbor[chosen].astype(np.int64)


def _walked(graph: SocialGraph, node: NDArray[np.int64], steps: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the ends of random walks of so many steps."""
    for _ in range(steps):
        node = graph.neighbor[graph.indptr[node] + rng.integers(graph.degree[node])].astype(np.int64)
    return node
