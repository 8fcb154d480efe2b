"""Local topological anonymity: similarity of a node to the neighbors of its neighbors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

import numpy as np

from unmask.core.arrays import Floats
from unmask.graphs import _kernels
from unmask.graphs.graph import SocialGraph
from unmask.ranges import check_type

Variant = Literal["A", "B", "C", "degree"]
"""Variants of local topological anonymity."""

_DECIMALS: Final = 12  # equal neighborhoods tie exactly, although their sums are added in another order


def local_anonymity(graph: SocialGraph, variant: Variant = "A") -> Floats:
    """Return the local topological anonymity (LTA) of each node: its similarity to the nodes that attacks compare it
    with.

    V_i is the set of neighbors of node i. V2_i is the set of other nodes at the end of a two-edge path from i; it
    includes neighbors that close a triangle. CosSim(i, k) = |V_i intersect V_k| / sqrt(|V_i| |V_k|). Then

    "A"      : mean over V2_i of CosSim                                                                        (4.3)
    "B"      : sum over V2_i of CosSim / max(|V_i|, 2)                                                          (4.4)
    "C"      : A / max(sigma, 1), sigma the sample standard deviation over k in V2_i of | |V_k| - |V_i| |       (4.5)
    "degree" : |V_i|                                                                                            (4.6)

    For A, B and C, a low value means that the node is easily re-identified. For "degree", a high value does. A and C
    are in (0, 1], and B is above 0.

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
    The sum needs no enumeration of two-edge paths: sum over k of CosSim(i, k) = sum over x in V_i of (sum over k in V_x
    of |V_k|^(-1/2) - |V_i|^(-1/2)) / |V_i|^(1/2), which is two products of a sparse matrix and a vector.

    G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015, section 4.1.1.
    As in the author's program, V2_i includes neighbors that close a triangle, and sigma is over absolute differences.

    Examples
    --------
    >>> path = SocialGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> local_anonymity(path)
    array([0.70710678, 0.5       , 0.70710678, 0.5       , 0.70710678])
    >>> local_anonymity(path, "degree")
    array([1., 2., 2., 2., 1.])
    """
    return local_anonymities(graph, [variant])[variant]


def local_anonymities(graph: SocialGraph, variants: Iterable[Variant]) -> dict[Variant, Floats]:
    """Return `local_anonymity` in several variants, which share most of the work.

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
        check_type("variant", variant, Variant)
    values = {variant: graph.degree.astype(np.float64) for variant in wanted}
    if {*wanted} <= {"degree"} or not graph.n_nodes:
        return values
    reached, total, squares = np.zeros((3, graph.n_nodes))
    last_visitor = np.full(graph.n_nodes, -1, dtype=np.int32)
    degree = graph.degree.astype(np.int32)
    _kernels.two_hops(graph.indptr, graph.neighbor, degree, last_visitor, reached, total, squares)
    n = np.maximum(reached, 1)
    variance = (squares - total * total / n) / np.maximum(n - 1, 1)
    divisors = {"A": n, "B": np.maximum(graph.degree, 2), "C": n * np.sqrt(np.maximum(variance, 1.0))}
    similarity = _similarity(graph)
    for variant in {*wanted} - {"degree"}:
        values[variant] = np.where(reached > 0, np.round(similarity / divisors[variant], _DECIMALS), np.nan)
    return values


def _similarity(graph: SocialGraph) -> Floats:
    """Return (n_nodes,) the sum of CosSim over all nodes at the end of a two-edge path."""
    adjacency = graph.adjacency().astype(np.float64)
    inverse_root = 1.0 / np.sqrt(np.maximum(graph.degree, 1))
    similarity: Floats = adjacency @ (adjacency @ inverse_root) - graph.degree * inverse_root
    return similarity * inverse_root
