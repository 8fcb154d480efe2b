"""Communities of a network: Louvain detection, modularity, and a test for bipartite networks."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.graphs.graph import SocialGraph


def communities(graph: SocialGraph) -> NDArray[np.int64]:
    """Return (n_nodes,) the community of each node, numbered from 0, by the Louvain method.

    Each node in order joins the neighboring community with the largest gain of `modularity`, until no move gains. Each
    community then becomes a node, and the procedure repeats until no communities merge. Between levels, single nodes
    may move again. The result is deterministic for a given node numbering.

    >>> communities(SocialGraph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]))
    array([0, 0, 0, 1, 1, 1])

    V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities in large networks",
    Journal of Statistical Mechanics P10008, 2008.
    """
    from unmask.graphs._kernels import joined  # late import: numba is slow to load

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
    """Return True for a bipartite graph, such as a graph of people and their groups or events.

    A sparse graph can be bipartite by chance, so the graph must also have more edges than nodes. The test is a double
    cover: each node gets a copy, and each edge connects a node with a copy. A component is bipartite if its cover has
    two components.

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
    """Return the modularity: sum over communities c of (edges within c) / m - (sum of degrees in c / 2 m)^2.

    It is the share of edges within communities minus its expected value if edges were random for the given degrees. It
    is below 1, and 0 for a single community or a graph without edges.

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
