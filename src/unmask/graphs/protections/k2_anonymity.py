"""(k, 2)-anonymity: an identity with the same neighbors as k - 1 others, which no structural attack can distinguish."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.arrays import Integers
from unmask.core.errors import UnmaskError
from unmask.graphs.graph import SocialGraph, check_nodes
from unmask.graphs.protections.identities import spans


def same_neighbors(graph: SocialGraph) -> Integers:
    """Return (n_nodes,) |A|: the number of nodes with exactly the same neighbors as each node, including the node.

    A node is (k, 2)-anonymous if the number is at least k. Nodes with the same neighbors are not adjacent. A node
    without neighbors has no friends of friends, and its number is 1.

    Parameters
    ----------
    graph : SocialGraph
        Graph.

    Returns
    -------
    int64 array
        Number of nodes with exactly the neighbors of each node, itself included.

    References
    ----------
    G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015, definition 4.

    Examples
    --------
    >>> same_neighbors(SocialGraph.from_edges([0, 0, 2], [1, 2, 3]))
    array([1, 1, 1, 1])
    >>> same_neighbors(SocialGraph.from_edges([0, 0, 2, 2], [1, 3, 1, 3]))
    array([2, 2, 2, 2])
    """
    from unmask.graphs.criteria import class_sizes, structural_equivalence

    classes = structural_equivalence(graph)
    u, v = graph.edges()
    tied = np.zeros(graph.n_nodes, dtype=np.bool_)
    tied[classes[u[classes[u] == classes[v]]]] = True  # classes of adjacent twins
    return np.where(tied[classes] | (graph.degree == 0), 1, class_sizes(classes))


@dataclass(frozen=True, eq=False)
class AnonymousIdentity:
    """New identity that is (k, 2)-anonymous, and its contacts.

    Parameters
    ----------
    members : int64 array
        (at least k - 1,) indistinguishable nodes, ascending.
    existing : int64 array
        (c - new,) contacts of the person that the identity takes over, ascending.
    new : int64 array
        Nodes that are not contacts of the person and need a new edge, ascending.
    """

    members: Integers
    existing: Integers
    new: Integers


def anonymous_identity(graph: SocialGraph, node: int, *, contacts: int, k: int) -> AnonymousIdentity | None:
    """Return a new (k, 2)-anonymous identity with a given number of contacts and the fewest new edges, or None.

    Let v_i be the node, and let v_j be friends of friends of v_i with c = `contacts` neighbors, at least one of them a
    neighbor of v_i. The method searches groups of at least k - 1 nodes v_j with the same neighbors, c' of them
    neighbors of v_i. The new identity takes over these c' contacts and makes c - c' new ones. It chooses the largest
    c', then the largest group, then the group with the smallest node number. v_i itself is not a neighbor here. No node
    of kappa, the v_j with the same c' common neighbors, is a neighbor either.

    This is algorithm 1 of the source without the enumeration of subsets. The k - 1 nodes of gamma have c neighbors and
    share c' of them with v_i, so they share the other c - c' neighbors, too. Therefore gamma is a group of v_j with the
    same neighbors, and one pass finds all groups. In line 8, "|V_i| = c" is read as |V_j| = c, because an identity must
    have as many neighbors as the nodes of its group.

    Parameters
    ----------
    graph : SocialGraph
        Graph.
    node : int
        Node of the graph.
    contacts : int
        Number of contacts of the new identity.
    k : int
        Size of the group with the identity, at least 2.

    Returns
    -------
    AnonymousIdentity or None
        The identity, or None.

    References
    ----------
    G. Gulyas, 2015, section 6.4.1.

    Examples
    --------
    >>> graph = SocialGraph.from_edges([0, 0, 3, 3, 4, 4], [1, 2, 1, 2, 1, 5])
    >>> found = anonymous_identity(graph, 0, contacts=2, k=2)
    >>> found.members, found.existing, found.new
    (array([3]), array([1, 2]), array([], dtype=int64))
    """
    if contacts < 1 or k < 2:
        raise UnmaskError(f"contacts is {contacts} and k is {k}, expected at least 1 contact and k of at least 2")
    check_nodes(np.array([node]), graph.n_nodes)
    near = graph.neighbor[graph.indptr[node] : graph.indptr[node + 1]].astype(np.int64)
    candidate, rows = _candidates(graph, node, near, contacts)
    is_known = np.isin(rows, near)
    shared = is_known.sum(axis=1)
    group = _group_equal_rows(np.sort(np.where(is_known, rows, -1), axis=1))  # kappa: equal common neighbors
    of_node = np.full(graph.n_nodes, -1, dtype=np.int64)
    of_node[candidate] = group
    free = ~(of_node[rows] == group[:, None]).any(axis=1)
    candidate, rows, is_known, shared = candidate[free], rows[free], is_known[free], shared[free]
    twins = _group_equal_rows(rows)
    size = np.bincount(twins)[twins]
    large = np.flatnonzero(size >= k - 1)
    if not len(large):
        return None
    chosen = large[np.lexsort((candidate[large], -size[large], -shared[large]))[0]]
    return AnonymousIdentity(
        candidate[twins == twins[chosen]],
        rows[chosen][is_known[chosen]],
        rows[chosen][~is_known[chosen]],
    )


def _candidates(graph: SocialGraph, node: int, near: Integers, contacts: int) -> tuple[Integers, Integers]:
    """Return the friends of friends with this number of neighbors, without the node, and their neighbors, ascending."""
    block, place = spans(graph.degree[near])
    beyond = np.unique(graph.neighbor[graph.indptr[near[block]] + place])
    candidate = beyond[(graph.degree[beyond] == contacts) & (beyond != node)].astype(np.int64)
    rows = graph.neighbor[graph.indptr[candidate][:, None] + np.arange(contacts)].astype(np.int64)
    is_separate = ~(rows == node).any(axis=1)
    return candidate[is_separate], rows[is_separate]


def _group_equal_rows(rows: Integers) -> Integers:
    """Return (n,) the class of each row; equal rows have the same class."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def new_ties(graph: SocialGraph, nodes: ArrayLike, *, contacts: int, k: int) -> Integers:
    """Return (n_nodes,) the number of new edges of a (k, 2)-anonymous identity of each node, -1 without one.

    Parameters
    ----------
    graph : SocialGraph
        Graph.
    nodes : array-like
        Nodes of the graph.
    contacts : int
        Number of contacts of the new identity.
    k : int
        Smallest number of indistinguishable nodes, including the identity.

    Returns
    -------
    int64 array
        Number of new edges for each node, -1 if there is no such identity.

    References
    ----------
    G. Gulyas, 2015, figure 6.5.

    Examples
    --------
    >>> new_ties(SocialGraph.from_edges([0, 0, 3, 3, 4, 4], [1, 2, 1, 2, 1, 5]), [0, 5], contacts=2, k=2)
    array([ 0, -1])
    """
    ties = (anonymous_identity(graph, int(node), contacts=contacts, k=k) for node in np.asarray(nodes).reshape(-1))
    return np.array([-1 if tie is None else len(tie.new) for tie in ties], dtype=np.int64)
