"""Centrality of nodes: betweenness, closeness, and local clustering."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError
from unmask.graphs.graph import SocialGraph

_MOST_STEPS: Final = 10**10  # walks times ends of edges up to which betweenness is exact: one to two minutes


def betweenness(graph: SocialGraph, *, rng: np.random.Generator | None = None) -> NDArray[np.float64]:
    """Return betweenness centrality: on how many shortest paths between two others a node lies.

    b(v) = sum over unordered pairs {s, t} without v of (shortest paths s-t through v) / (shortest paths s-t); pairs
    that are not connected add 0.

    Parameters
    ----------
    graph : SocialGraph
        Graph.
    rng : numpy.random.Generator or None
        None: exact, by a walk from every node that has two neighbors or more (those with one are folded into
        theirs). A generator: if these walks times the ends of all edges exceed 1e10, walks from a random sample
        of the nodes, scaled up so that the expected value is unchanged.

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
    from unmask.graphs._kernels import dependencies  # numba is imported where a kernel runs

    core, leaves = _folded(graph)
    inner = graph.take(core)
    walks = np.arange(inner.n_nodes)
    n_walks = max(1, _MOST_STEPS // max(1, len(inner.neighbor)))
    if rng is not None and n_walks < len(walks):
        walks = np.sort(rng.permutation(len(walks))[:n_walks])
    n_leaves = leaves[core]
    through = dependencies(inner.indptr, inner.neighbor, walks, 1.0 + n_leaves) * (len(core) / max(1, len(walks))) / 2
    of_core = graph.n_nodes and _component_size(graph)[core]
    result = np.zeros(graph.n_nodes)
    result[core] = through + n_leaves * (of_core - 1 - n_leaves) + n_leaves * (n_leaves - 1) / 2
    return result


def _folded(graph: SocialGraph) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the nodes that are left when those with one neighbor are folded into it, and how many each has taken in.

    Of two who have only each other the first takes in the second.
    """
    leaf = graph.degree == 1
    ends = np.flatnonzero(leaf)
    holder = graph.neighbor[graph.indptr[ends]]
    folded = ~leaf[holder] | (holder < ends)
    leaf[ends[~folded]] = False
    leaves = np.bincount(holder[folded], minlength=graph.n_nodes).astype(np.float64)
    remaining = np.flatnonzero(~leaf)
    return remaining[np.argsort(-graph.degree[remaining], kind="stable")], leaves  # in this order the caches serve best


def _component_size(graph: SocialGraph) -> NDArray[np.int64]:
    from scipy.sparse import csgraph

    _, component = csgraph.connected_components(graph.adjacency(), directed=False)
    return np.asarray(np.bincount(component)[component], dtype=np.int64)


def closeness(graph: SocialGraph, nodes: ArrayLike | None = None) -> NDArray[np.float64]:
    """Return closeness centrality: the inverse of the mean distance to reachable nodes, times their share.

    c(v) = (r - 1) / (sum of the distances from v) * (r - 1) / (n - 1), r being the nodes that v reaches, itself
    included. In a connected graph the second factor is 1. 0 for a node without neighbors.

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
    from unmask.graphs._kernels import distances  # numba is imported where a kernel runs

    chosen = np.arange(graph.n_nodes) if nodes is None else np.asarray(nodes, dtype=np.int64).reshape(-1)
    if len(chosen) and not 0 <= chosen.min() <= chosen.max() < graph.n_nodes:
        raise UnmaskError(f"nodes go from {chosen.min()} to {chosen.max()}, expected 0 to {graph.n_nodes - 1}")
    reached, total = distances(graph.indptr, graph.neighbor, chosen)
    return (reached - 1.0) ** 2 / np.maximum(total, 1) / max(graph.n_nodes - 1, 1)


def clustering(graph: SocialGraph) -> NDArray[np.float64]:
    """Return local clustering coefficient: which share of the pairs of a node's neighbors know each other.

    LCC(v) = triangles with v / (d (d - 1) / 2), d the number of v's neighbors; 0 where d is below 2.

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
    from unmask.graphs._kernels import triangles  # numba is imported where a kernel runs

    pairs = graph.degree * (graph.degree - 1) / 2
    return triangles(graph.indptr, graph.neighbor) / np.maximum(pairs, 1.0)
