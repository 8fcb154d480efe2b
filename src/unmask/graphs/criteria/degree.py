"""How many nodes have as many neighbors: the plainest thing an adversary may know of a node."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.graphs.graph import SocialGraph


def degree_anonymity(graph: SocialGraph) -> NDArray[np.int64]:
    """(n_nodes,) the number of nodes, itself among them, that have as many neighbors as each node.

    The graph is k-degree anonymous for k up to the least of them: an adversary who knows nothing but the degree of a
    node finds it with probability 1 over its number.

    >>> star = SocialGraph.from_edges([0, 0, 0], [1, 2, 3])
    >>> degree_anonymity(star)
    array([1, 3, 3, 3])

    K. Liu, E. Terzi, "Towards identity anonymization on graphs", SIGMOD 2008, definition 2.
    """
    sizes: NDArray[np.int64] = np.bincount(graph.degree)[graph.degree]
    return sizes
