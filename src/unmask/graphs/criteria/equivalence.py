"""Equivalence classes of nodes that no structural attack can distinguish."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.graphs.graph import SocialGraph


def tokens(number: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each number (the finalizer of SplitMix64).

    Sums of tokens represent multisets. Any two of n multisets collide with a probability of about n^2 / 2^65.
    """
    z = (number.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def row_sums(indptr: Integers, value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return (n,) the sum of the values of each row modulo 2^64; 0 for an empty row."""
    running = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(value, dtype=np.uint64)))
    return running[indptr[1:]] - running[indptr[:-1]]


def numbered(key: NDArray[np.uint64]) -> Integers:
    """Return (n,) the keys replaced by ranks 0, 1, 2, ... of the distinct keys."""
    return np.unique(key, return_inverse=True)[1].astype(np.int64).reshape(-1)


def refine(
    indptr: Integers, neighbor: NDArray[np.integer], start: Integers | None = None, *, rounds: int | None = None
) -> Integers:
    """Return (n,) the coarsest stable coloring, numbered from 0: nodes of a color have equally many neighbors of each.

    Nodes start with their degrees, or with the colors `start`. Each round splits the colors by the multisets of
    neighbor colors, until no color splits, or for `rounds`. Nodes that an automorphism maps to each other have the
    same color. Nodes of the same color are not always automorphic.
    """
    color = numbered(np.diff(indptr).astype(np.uint64)) if start is None else start
    for _ in itertools.count() if rounds is None else range(rounds):
        if not len(color):
            break
        further = finer(color, (indptr, neighbor))
        if further.max() == color.max():  # no color was split
            break
        color = further
    return color


def finer(color: Integers, *graphs: tuple[Integers, NDArray[np.integer]]) -> Integers:
    """Return (n,) the colors after one more round, from 0: each color is split by the multiset of neighbor colors.

    color : colors of the nodes of all graphs in sequence. graphs : (indptr, neighbor) of each graph
    """
    start, sums = 0, []
    for indptr, neighbor in graphs:
        graph_color = color[start : start + len(indptr) - 1]
        sums.append(row_sums(indptr, tokens(graph_color)[neighbor]))
        start += len(graph_color)
    return numbered(tokens(np.concatenate(sums) + tokens(tokens(color))))


def structural_equivalence(graph: SocialGraph, *, directed: bool = False) -> Integers:
    """Return (n_nodes,) the class of each node, numbered from 0: structurally equivalent nodes (twins).

    Two nodes are twins if they have the same neighbors apart from each other. Exchanging twins does not change the
    graph, so no structural attack can distinguish them. Nodes without neighbors form one class. Neighbor sets are
    compared by sums of 64-bit tokens.

    Parameters
    ----------
    graph : SocialGraph
        Graph.
    directed : bool
        Require equal incoming and equal outgoing links, if the graph has directions.

    Returns
    -------
    int64 array
        Class of each node, numbered from 0.

    References
    ----------
    A class of k nodes that are not adjacent is (k, 2)-anonymous by G. Gulyas, 2015, definition 4.
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
    # No node is both kinds of twin: nodes with equal `outside` are not adjacent, nodes with equal `inside` are.
    inside = outside + own_token
    twins_inside = class_sizes(numbered(inside)) > 1
    return numbered(np.where(twins_inside, inside, outside))


def color_classes(graph: SocialGraph, rounds: int | None = None) -> Integers:
    """Return (n_nodes,) the class of each node under color refinement, numbered from 0.

    Nodes of a class have equally many neighbors in each class. An adversary without seeds who compares degrees, then
    the degrees of neighbors, and so on, cannot distinguish them. Twins and nodes that an automorphism exchanges are in
    one class, so n_nodes >= twin classes >= orbits >= color classes.

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


def class_sizes(classes: Integers) -> Integers:
    """Return (n,) the size of the class of each node, including the node: its anonymity set.

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
    sizes: Integers = np.bincount(classes)[classes]
    return sizes


def degree_anonymity(graph: SocialGraph) -> Integers:
    """Return (n_nodes,) the number of nodes with the same degree as each node, including the node.

    The graph is k-degree anonymous for each k up to the smallest number. An adversary who knows only the degree of a
    node finds it with probability 1 / number.

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
    sizes: Integers = np.bincount(graph.degree)[graph.degree]
    return sizes


def spearman(score: NDArray[np.floating | np.integer], anonymity: NDArray[np.floating | np.integer]) -> float | None:
    """Return Spearman's rank correlation of attack success and a criterion, in [-1, 1]; ties have their mean rank.

    Nodes with a nan are excluded. None if fewer than two nodes remain, or if all values tie.

    Parameters
    ----------
    score : (n,) array
        Success on each node, `Score.score` or `Score.hit_share`.
    anonymity : (n,) array
        Criterion of each node. A good criterion has a correlation near -1; the degree has one near 1.

    Returns
    -------
    float or None
        Rank correlation; None with fewer than two nodes, or if all tie.

    References
    ----------
    C. Spearman, "The proof and measurement of association between two things", 1904; applied as in G. Gulyas, 2015,
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


def mean_ranks(values: NDArray[np.floating | np.integer]) -> Floats:
    """Return (n,) the rank of each value, from 1, with mean ranks for ties; avoids the slow import of SciPy.

    >>> mean_ranks(np.array([7, 3, 7]))
    array([2.5, 1. , 2.5])
    """
    _, place, times = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(times) - (times - 1) / 2)[place])
