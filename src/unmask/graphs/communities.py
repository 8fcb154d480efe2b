"""Groups of people who keep to themselves: how they are found, and how far a network falls into them."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.graphs.graph import SocialGraph


def communities(graph: SocialGraph) -> NDArray[np.int64]:
    """Return (n_nodes,) the community of each node, from 0, by the method of Louvain: to join two adds no `modularity`.

    Nodes in their order join the neighboring community by which modularity gains most, until none gains; then each
    community is a node, and so on, until none joins another; single nodes may gain by a move again then. The same
    numbering gives the same communities.

    >>> communities(SocialGraph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]))
    array([0, 0, 0, 1, 1, 1])

    V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities in large networks",
    Journal of Statistical Mechanics P10008, 2008.
    """
    from unmask.graphs._kernels import joined  # numba is imported where a kernel runs

    matrix = graph.adjacency().astype(np.float64).tocsr()
    label, count = np.arange(graph.n_nodes), graph.n_nodes + 1
    while count > matrix.shape[0]:
        count = matrix.shape[0]
        strength = np.asarray(matrix.sum(axis=1), dtype=np.float64).reshape(-1)
        joined_to = joined(matrix.indptr, matrix.indices, matrix.data, strength)
        joined_to = np.unique(joined_to, return_inverse=True)[1].reshape(-1)
        label = joined_to[label]
        into = scipy.sparse.csr_array(
            (np.ones(count), (np.arange(count), joined_to)), shape=(count, joined_to.max(initial=-1) + 1)
        )
        matrix = (into.T @ matrix @ into).tocsr()
    return label


def two_sided(graph: SocialGraph) -> bool:
    """Return True for a bipartite graph, such as one of people and their groups or events.

    It is so by chance where edges are few, so that it takes more of them than nodes. A graph has two sides if each of
    its components falls in two when every node is doubled, and every edge leads to the double of its other end.

    >>> members_and_clubs = SocialGraph.from_edges([0, 0, 1, 1, 2, 2], [3, 4, 3, 4, 3, 4])
    >>> two_sided(members_and_clubs), two_sided(SocialGraph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]))
    (True, False)
    """
    if graph.n_edges <= graph.n_nodes:
        return False
    matrix = graph.adjacency()
    doubled = scipy.sparse.block_array([[None, matrix], [matrix, None]])
    once, twice = (
        scipy.sparse.csgraph.connected_components(adjacency, directed=False)[1].max() + 1
        for adjacency in (matrix, doubled)
    )
    return bool(twice == 2 * once)


def modularity(graph: SocialGraph, community: NDArray[np.int64]) -> float:
    """Q = sum over communities c of (edges within c) / m - (sum of degrees in c / 2 m)^2; 0 without an edge.

    The share of edges within communities less what it would be if edges joined people of these degrees at random;
    below 1, and 0 where all are in one community.

    >>> two = SocialGraph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> round(modularity(two, np.array([0, 0, 0, 1, 1, 1])), 3), modularity(two, np.zeros(6, np.int64))
    (0.357, 0.0)

    M. E. J. Newman, M. Girvan, "Finding and evaluating community structure in networks", Physical Review E 69, 2004.
    """
    m = graph.n_edges
    if not m:
        return 0.0
    u, v = graph.edges()
    share = np.bincount(community, weights=graph.degree) / (2 * m)
    return float(np.mean(community[u] == community[v]) - share @ share)
