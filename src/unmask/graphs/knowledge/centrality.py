"""Centrality of nodes: betweenness, closeness and local clustering coefficient."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.arrays import Floats, Integers
from unmask.graphs._kernels import dependencies, distances, triangles
from unmask.graphs.graph import SocialGraph, check_nodes

_MAX_EXACT_STEPS: Final = 10**10  # (sources * edge ends) for exact betweenness: one to two minutes


def betweenness(graph: SocialGraph, *, rng: np.random.Generator | None = None) -> Floats:
    """Return the betweenness centrality of each node: the number of shortest paths through it.

    b(v) = sum over unordered pairs {s, t} without v of (shortest paths s-t through v) / (shortest paths s-t). A pair
    without a path adds 0.

    Parameters
    ----------
    graph : SocialGraph
        Graph.
    rng : numpy.random.Generator or None
        None: exact, with one breadth-first search from each node of degree 2 or more. Nodes of degree 1 are folded into
        their neighbor. A generator: if the number of searches times the number of edge ends exceeds 1e10, searches
        start from a random sample of nodes, and the sum is scaled to an unbiased estimate.

    Returns
    -------
    float64 array
        Betweenness of each node, from 0 to (n - 1) (n - 2) / 2.

    References
    ----------
    U. Brandes, "A faster algorithm for betweenness centrality", Journal of Mathematical Sociology 25, 2001; M. Baglioni
    et al., "Fast exact computation of betweenness centrality in social networks", ASONAM 2012 (folding).

    Examples
    --------
    >>> betweenness(SocialGraph.from_edges([0, 1, 2, 2], [1, 2, 3, 4]))
    array([0., 3., 5., 0., 0.])
    """
    core, leaves = _fold_leaves(graph)
    inner = graph.take(core)
    walks = np.arange(inner.n_nodes)
    n_walks = max(1, _MAX_EXACT_STEPS // max(1, len(inner.neighbor)))
    if rng is not None and n_walks < len(walks):
        walks = np.sort(rng.permutation(len(walks))[:n_walks])
    n_leaves = leaves[core]
    through = dependencies(inner.indptr, inner.neighbor, walks, 1.0 + n_leaves) * (len(core) / max(1, len(walks))) / 2
    of_core = graph.n_nodes and _component_size(graph)[core]
    result = np.zeros(graph.n_nodes)
    result[core] = through + n_leaves * (of_core - 1 - n_leaves) + n_leaves * (n_leaves - 1) / 2
    return result


def _fold_leaves(graph: SocialGraph) -> tuple[Integers, Floats]:
    """Return the nodes that remain after nodes of degree 1 are folded into their neighbor, and the folded count of
    each.

    Of two nodes that are connected only to each other, the second is folded into the first.
    """
    leaf = graph.degree == 1
    ends = np.flatnonzero(leaf)
    holder = graph.neighbor[graph.indptr[ends]]
    folded = ~leaf[holder] | (holder < ends)
    leaf[ends[~folded]] = False
    leaves = np.bincount(holder[folded], minlength=graph.n_nodes).astype(np.float64)
    remaining = np.flatnonzero(~leaf)
    return remaining[np.argsort(-graph.degree[remaining], kind="stable")], leaves  # hubs first: fewer cache misses


def _component_size(graph: SocialGraph) -> Integers:
    from scipy.sparse import csgraph

    _, component = csgraph.connected_components(graph.adjacency(), directed=False)
    return np.asarray(np.bincount(component)[component], dtype=np.int64)


def closeness(graph: SocialGraph, nodes: ArrayLike | None = None) -> Floats:
    """Return the closeness centrality of each node: inverse mean distance to reachable nodes, times their share.

    c(v) = (r - 1) / (sum of the distances from v) * (r - 1) / (n - 1), where r counts the nodes reachable from v,
    including v. In a connected graph the second factor is 1. c(v) = 0 for a node without neighbors.

    Parameters
    ----------
    graph : SocialGraph
        Graph.
    nodes : (k,) array-like or None
        Nodes to measure; None: all.

    Returns
    -------
    float64 array
        Closeness of each node, 0 to 1.

    References
    ----------
    L. Freeman, "Centrality in social networks", Social Networks 1, 1979; the share: S. Wasserman, K. Faust, "Social
    network analysis", 1994, section 5.2.2.

    Examples
    --------
    >>> closeness(SocialGraph.from_edges([0, 1], [1, 2], n_nodes=4)).round(3)
    array([0.444, 0.667, 0.444, 0.   ])
    """
    chosen = np.arange(graph.n_nodes) if nodes is None else np.asarray(nodes, dtype=np.int64).reshape(-1)
    check_nodes(chosen, graph.n_nodes)
    reached, total = distances(graph.indptr, graph.neighbor, chosen)
    return (reached - 1.0) ** 2 / np.maximum(total, 1) / max(graph.n_nodes - 1, 1)


def clustering(graph: SocialGraph) -> Floats:
    """Return the local clustering coefficient of each node: share of adjacent pairs among the pairs of its neighbors.

    LCC(v) = triangles with v / (d (d - 1) / 2), where d is the degree of v; 0 if d < 2.

    Parameters
    ----------
    graph : SocialGraph
        Graph.

    Returns
    -------
    float64 array
        Clustering coefficient of each node, 0 to 1.

    References
    ----------
    D. Watts, S. Strogatz, "Collective dynamics of 'small-world' networks", Nature 393, 1998.

    Examples
    --------
    >>> clustering(SocialGraph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])).round(3)
    array([1.   , 1.   , 0.333, 0.   ])
    """
    pairs = graph.degree * (graph.degree - 1) / 2
    return triangles(graph.indptr, graph.neighbor) / np.maximum(pairs, 1.0)
