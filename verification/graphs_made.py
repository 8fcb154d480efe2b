"""Networks made of others: with fewer edges, with wrong ones, with twins, with two parts."""

from __future__ import annotations

import numpy as np

from unmask.graphs import Pair, SocialGraph


def thinned(graph: SocialGraph, kept: float, rng: np.random.Generator) -> Pair:
    """The graph and itself with this share of its edges."""
    edges = np.flatnonzero(rng.random(graph.n_edges) < kept)
    return Pair(graph, graph.with_edges(edges), np.arange(graph.n_nodes))


def noisy(graph: SocialGraph, kept: float, wrong: float, rng: np.random.Generator) -> SocialGraph:
    """The graph with this share of its edges, and a share as many again between strangers."""
    some, n = rng.random(graph.n_edges) < kept, graph.n_nodes
    strangers = rng.integers(n, size=(2, round(wrong * np.count_nonzero(some))))
    strangers = strangers[:, strangers[0] != strangers[1]]
    ends = (np.append(end[some], other) for end, other in zip(graph.edges(), strangers, strict=True))
    return SocialGraph.from_edges(*ends, n_nodes=n)


def twinned(graph: SocialGraph) -> SocialGraph:
    """Everybody twice, each with the contacts of both."""
    (u, v), n = graph.edges(), graph.n_nodes
    return SocialGraph.from_edges(
        np.concatenate((u, u, u + n, u + n)), np.concatenate((v, v + n, v, v + n)), n_nodes=2 * n
    )


def beside(graph: SocialGraph, other: SocialGraph) -> SocialGraph:
    """Both, without an edge between them."""
    ends = (np.concatenate((a, b + graph.n_nodes)) for a, b in zip(graph.edges(), other.edges(), strict=True))
    return SocialGraph.from_edges(*ends, n_nodes=graph.n_nodes + other.n_nodes)
