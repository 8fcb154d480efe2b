"""Nodes that no attack on the structure can tell apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.graphs.criteria._refinement import numbered, refine, row_sums, tokens
from unmask.graphs.graph import SocialGraph


def structural_equivalence(graph: SocialGraph, *, directed: bool = False) -> NDArray[np.int64]:
    """Return (n_nodes,) the class of each node, numbered from 0: nodes of one class have the same neighbors.

    Two nodes are equivalent (twins) if they have the same neighbors, or the same ones but for each other; swapping
    them leaves the graph as it is, so no adversary who sees the structure alone can tell which is which. Nodes without
    a neighbor are one class. Neighbor sets are compared by sums of 64-bit tokens.

    Parameters
    ----------
    graph : SocialGraph
        Graph.
    directed : bool
        Whether they must also link to, and be linked by, the same; where the graph has directions.

    Returns
    -------
    int64 array
        Class of each node, numbered from 0.

    References
    ----------
    A class of k nodes that are not adjacent is what G. Gulyas, 2015, definition 4, calls (k, 2)-anonymous.
    F. Lorrain, H. C. White, "Structural equivalence of individuals in social networks", J. Math. Sociology 1971.

    Examples
    --------
    >>> star = SocialGraph.from_edges([0, 0, 0, 4], [1, 2, 3, 5])
    >>> class_sizes(structural_equivalence(star))
    array([1, 3, 3, 3, 2, 2])
    """
    mutual = 3  # a link in both directions, such as each edge of an undirected graph
    way = graph.way if directed and graph.way is not None else mutual
    own_token = tokens(4 * np.arange(graph.n_nodes) + mutual)
    outside = row_sums(graph.indptr, tokens(4 * graph.neighbor.astype(np.int64) + way))
    # No node is both kinds of twin: of those who share `outside` none are tied, of those who share `inside` all are.
    inside = outside + own_token
    twins_inside = class_sizes(numbered(inside)) > 1
    return numbered(np.where(twins_inside, inside, outside))


def color_classes(graph: SocialGraph, rounds: int | None = None) -> NDArray[np.int64]:
    """Return (n_nodes,) the class of each node under color refinement, numbered from 0.

    Nodes are in one class if they have as many neighbors of each class: what is left alike for an adversary who
    starts from degrees and looks ever further, without seeds. Nodes that some automorphism maps to each other are in
    one class, and twins are such nodes, so that n_nodes >= twin classes >= orbits >= color classes.

    Parameters
    ----------
    graph : SocialGraph
        Graph.
    rounds : int, optional
        Rounds of refinement after the degrees; by default, until no class is split.

    Returns
    -------
    int64 array
        Class of each node, numbered from 0.

    References
    ----------
    M. Hay et al., "Resisting structural re-identification in anonymized social networks", VLDB 2008: k-candidate
    anonymity under the vertex refinement query H_(rounds + 1), with H_1 the degree, and H_infinity by default;
    C. Berkholz et al., "Tight lower and upper bounds for the complexity of canonical color refinement", 2013.

    Examples
    --------
    >>> path = SocialGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> class_sizes(color_classes(path)), class_sizes(color_classes(path, rounds=0))
    (array([2, 2, 1, 2, 2]), array([2, 3, 3, 3, 2]))
    """
    return refine(graph.indptr, graph.neighbor, rounds=rounds)


def class_sizes(classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (n,) the number of nodes, itself among them, in the class of each node: its anonymity set.

    Parameters
    ----------
    classes : int64 array
        Class of each node.

    Returns
    -------
    int64 array
        Number of nodes in the class of each node, its anonymity set.

    Examples
    --------
    >>> class_sizes(np.array([0, 1, 0]))
    array([2, 1, 2])
    """
    sizes: NDArray[np.int64] = np.bincount(classes)[classes]
    return sizes


def degree_anonymity(graph: SocialGraph) -> NDArray[np.int64]:
    """Return (n_nodes,) the number of nodes, itself among them, that have as many neighbors as each node.

    The graph is k-degree anonymous for k up to the least of them: an adversary who knows nothing but the degree of a
    node finds it with probability 1 over its number.

    Parameters
    ----------
    graph : SocialGraph
        Graph.

    Returns
    -------
    int64 array
        Number of nodes with the degree of each node, itself included.

    References
    ----------
    K. Liu, E. Terzi, "Towards identity anonymization on graphs", SIGMOD 2008, definition 2.

    Examples
    --------
    >>> star = SocialGraph.from_edges([0, 0, 0], [1, 2, 3])
    >>> degree_anonymity(star)
    array([1, 3, 3, 3])
    """
    sizes: NDArray[np.int64] = np.bincount(graph.degree)[graph.degree]
    return sizes


def spearman(score: NDArray[np.floating | np.integer], anonymity: NDArray[np.floating | np.integer]) -> float | None:
    """Return the rank correlation of the success of an attack with a criterion, in [-1, 1]; ties share their mean rank.

    Nodes for which either is nan are left out; None where fewer than two are left, or all of them tie.

    Parameters
    ----------
    score : (n,) array
        How often each node is found, `Score.score` or `Score.hit_share`.
    anonymity : (n,) array
        a criterion of the same nodes; a good one has a correlation near -1, the degree near 1.

    Returns
    -------
    float or None
        Rank correlation; None with fewer than two nodes, or if all tie.

    References
    ----------
    C. Spearman, "The proof and measurement of association between two things", 1904; used like this by G. Gulyas, 2015,
    section 4.1.2.

    Examples
    --------
    >>> spearman(np.array([3, 0, 1, 2]), np.array([0.1, np.nan, 0.5, 0.4]))
    -1.0
    """
    if score.shape != anonymity.shape or score.ndim != 1:
        raise UnmaskError(f"there are {score.size} scores for {anonymity.size} nodes, expected one for each")
    is_known = np.isfinite(score) & np.isfinite(anonymity)
    a, b = score[is_known], anonymity[is_known]
    if len(a) < 2 or a.min() == a.max() or b.min() == b.max():
        return None
    return float(np.corrcoef(mean_ranks(a), mean_ranks(b))[0, 1])


def mean_ranks(values: NDArray[np.floating | np.integer]) -> NDArray[np.float64]:
    """Return (n,) the rank of each value, from 1; equal ones share their mean rank. SciPy's import is slow.

    >>> mean_ranks(np.array([7, 3, 7]))
    array([2.5, 1. , 2.5])
    """
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(times) - (times - 1) / 2)[place])
