"""Local topological anonymity: similarity of a node and its neighbors' neighbors, from the release alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.graphs.graph import SocialGraph

Variant = Literal["A", "B", "C", "degree"]
"""Variants of local topological anonymity."""

_DECIMALS: Final = 12  # like places tie exactly, whatever the order in which their sums were taken


def local_anonymity(graph: SocialGraph, variant: Variant = "A") -> NDArray[np.float64]:
    """Return local topological anonymity (LTA): the similarity of a node to the nodes that an attack compares it with.

    V_i are the neighbors of node i, V2_i the other nodes at the end of a path of two edges from i (a neighbor of i is
    among them if it closes a triangle), and CosSim(i, k) = |V_i and V_k in common| / sqrt(|V_i| |V_k|). Then

    "A"      : mean over V2_i of CosSim                                                                        (4.3)
    "B"      : sum over V2_i of CosSim / max(|V_i|, 2)                                                          (4.4)
    "C"      : A / max(sigma, 1), sigma the sample standard deviation over k in V2_i of | |V_k| - |V_i| |       (4.5)
    "degree" : |V_i|                                                                                            (4.6)

    A, B, C: a low value says that the node is easily found. "degree" points the other way: a node with many neighbors
    is easily found. A is in (0, 1], C in (0, 1], B is above 0.

    Parameters
    ----------
    graph : SocialGraph
        Graph.
    variant : Variant
        Variant of the measure.

    Returns
    -------
    float64 array
        Anonymity of each node, rounded to 12 decimals.

    References
    ----------
    The sum needs no walk over two hops: sum over k of CosSim(i, k) = sum over x in V_i of (sum over k in V_x of
    |V_k|^(-1/2) - |V_i|^(-1/2)) / |V_i|^(1/2), two products of a sparse matrix and a vector.

    G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015, section 4.1.1;
    neighbors that close a triangle, and sigma over absolute differences, as in the program that made its figures.

    Examples
    --------
    >>> path = SocialGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> local_anonymity(path)
    array([0.70710678, 0.5       , 0.70710678, 0.5       , 0.70710678])
    >>> local_anonymity(path, "degree")
    array([1., 2., 2., 2., 1.])
    """
    return local_anonymities(graph, [variant])[variant]


def local_anonymities(graph: SocialGraph, variants: Iterable[Variant]) -> dict[Variant, NDArray[np.float64]]:
    """`local_anonymity` in several variants, for the work of one.

    Parameters
    ----------
    graph : SocialGraph
        Graph.
    variants : Iterable[Variant]
        Variants to compute.

    Returns
    -------
    array
        Values of each variant.

    Examples
    --------
    >>> list(local_anonymities(SocialGraph.from_edges([0, 1], [1, 2]), ["A", "degree"]).values())
    [array([ 1., nan,  1.]), array([1., 2., 1.])]
    """
    wanted = tuple(variants)
    for variant in wanted:
        if variant not in get_args(Variant):
            raise UnmaskError(f"the variant is {variant!r}, expected one of {', '.join(get_args(Variant))}")
    values = {variant: graph.degree.astype(np.float64) for variant in wanted}
    if {*wanted} <= {"degree"} or not graph.n_nodes:
        return values
    from unmask.graphs._kernels import two_hops  # numba is imported where a kernel runs

    reached, total, squares = np.zeros((3, graph.n_nodes))
    last_visitor = np.full(graph.n_nodes, -1, dtype=np.int32)
    two_hops(graph.indptr, graph.neighbor, graph.degree.astype(np.int32), last_visitor, reached, total, squares)
    n = np.maximum(reached, 1)
    variance = (squares - total * total / n) / np.maximum(n - 1, 1)
    divisors = {"A": n, "B": np.maximum(graph.degree, 2), "C": n * np.sqrt(np.maximum(variance, 1.0))}
    similarity = _similarity(graph)
    for variant in {*wanted} - {"degree"}:
        values[variant] = np.where(reached > 0, np.round(similarity / divisors[variant], _DECIMALS), np.nan)
    return values


def _similarity(graph: SocialGraph) -> NDArray[np.float64]:
    """Return (n_nodes,) sum of CosSim over all nodes two hops away."""
    adjacency = graph.adjacency().astype(np.float64)
    inverse_root = 1.0 / np.sqrt(np.maximum(graph.degree, 1))
    similarity: NDArray[np.float64] = adjacency @ (adjacency @ inverse_root) - graph.degree * inverse_root
    return similarity * inverse_root
