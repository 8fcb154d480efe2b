"""Neighborhood anonymity against an adversary who knows the edges among a person's neighbors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from unmask.core.arrays import Booleans, Integers
from unmask.core.csr_rows import distinct
from unmask.graphs._kernels import neighborhood_edges
from unmask.graphs.criteria.equivalence import numbered, refine, row_sums, tokens
from unmask.graphs.graph import SocialGraph

_MAX_IDENTIFIED: Final = 5  # color refinement distinguishes all connected graphs of up to 5 nodes, but not of 6
_MAX_COMPARED: Final = 50  # largest connected component of a neighborhood that is compared node by node


@dataclass(frozen=True, eq=False)
class NeighborhoodAnonymity:
    """Number of nodes with an isomorphic neighborhood, for each node.

    Parameters
    ----------
    size : (n_nodes,) int64 array
        Number of nodes with an isomorphic neighborhood, including the node.
    exact : (n_nodes,) bool array
        True if the size is exact, False if it is an upper bound.
    """

    size: Integers
    exact: Booleans


def neighborhood_anonymity(graph: SocialGraph) -> NeighborhoodAnonymity:
    """Return the number of nodes whose neighborhood is isomorphic to that of each node: k-neighborhood anonymity.

    The neighborhood of a node is the graph induced by its neighbors. Two neighborhoods are isomorphic if their
    connected components are isomorphic one by one. The graph is k-neighborhood anonymous for each k up to the smallest
    size. All isolated nodes have isomorphic neighborhoods.

    Components are compared by color refinement. It is exact for trees, complete graphs, components of at most 5 nodes,
    and components with distinct colors. Other components with equal colors are compared node by node up to 50 nodes.
    Larger ones count as isomorphic; the size is then an upper bound, and `exact` is False.

    Parameters
    ----------
    graph : SocialGraph
        Graph.

    Returns
    -------
    NeighborhoodAnonymity
        Number of nodes with an isomorphic neighborhood, and whether the number is exact.

    References
    ----------
    B. Zhou, J. Pei, "Preserving privacy in social networks against neighborhood attacks", ICDE 2008. Which graphs
    color refinement identifies: V. Arvind et al., "On the power of color refinement", 2015.

    Examples
    --------
    >>> bow_tie = SocialGraph.from_edges([0, 0, 1, 0, 0, 3, 4], [1, 2, 2, 3, 4, 4, 5])
    >>> neighborhood_anonymity(bow_tie).size
    array([1, 3, 3, 3, 1, 1])
    """
    indptr, neighbor = neighborhood_edges(graph.indptr, graph.neighbor)
    pieces = _Pieces.split(indptr, neighbor)
    rough = _combine(graph, pieces, pieces.kind)
    shared = np.bincount(rough)[rough] > 1
    needed = np.zeros(len(pieces.size), dtype=np.bool_)
    needed[pieces.of_node[np.repeat(shared, graph.degree)]] = True
    fine = _combine(graph, pieces, _isomorphism_classes(pieces, needed))
    size = np.bincount(fine)[fine]
    doubtful = ~pieces.identified & (pieces.size > _MAX_COMPARED)
    unsure = np.zeros(graph.n_nodes, dtype=np.bool_)
    unsure[np.repeat(np.arange(graph.n_nodes), graph.degree)[doubtful[pieces.of_node]]] = True
    return NeighborhoodAnonymity(size, ~unsure | (size == 1))


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Connected components of all neighborhoods. Their nodes are the entries of `graph.neighbor`.

    color      : (n_entries,) stable color
    of_node    : (n_entries,) component of each node
    size       : (n_pieces,) number of nodes
    kind       : (n_pieces,) number of the color multiset
    identified : (n_pieces,) True if all components with this color multiset are known to be isomorphic
    """

    indptr: Integers
    neighbor: Integers
    color: Integers
    of_node: Integers
    size: Integers
    kind: Integers
    identified: Booleans

    @classmethod
    def split(cls, indptr: Integers, neighbor: Integers) -> _Pieces:
        n = len(indptr) - 1
        color = refine(indptr, neighbor)
        ones = np.ones(len(neighbor), dtype=np.int8)
        count, label = scipy.sparse.csgraph.connected_components(
            scipy.sparse.csr_array((ones, neighbor, indptr), shape=(n, n)), False
        )
        of_node = label.astype(np.int64)
        size = np.bincount(of_node, minlength=count)
        edges = np.bincount(of_node, weights=np.diff(indptr), minlength=count).astype(np.int64) // 2
        multiset = np.zeros(count, dtype=np.uint64)
        np.add.at(multiset, of_node, tokens(color))
        colors = np.bincount(distinct(of_node * (n + 1) + color) // (n + 1), minlength=count)
        plain = (size <= _MAX_IDENTIFIED) | (edges == size - 1) | (edges == size * (size - 1) // 2) | (colors == size)
        return cls(indptr, neighbor, color, of_node, size, numbered(multiset), plain)

    def nodes(self, piece: Integers) -> Iterator[Integers]:
        """Yield the nodes of each of these components."""
        order = np.argsort(self.of_node, kind="stable")
        begin = np.searchsorted(self.of_node[order], piece)
        for first, size in zip(begin.tolist(), self.size[piece].tolist(), strict=True):
            yield order[first : first + size]

    def isomorphic(self, piece: Integers, other_piece: Integers) -> bool:
        """Return True if two components with equal color multisets, given by their nodes, are isomorphic."""
        nodes = np.concatenate((piece, other_piece))
        number = dict(zip(nodes.tolist(), range(len(nodes)), strict=True))
        rows = [self.neighbor[self.indptr[x] : self.indptr[x + 1]] for x in nodes]
        neighbor = np.array([number[x] for x in np.concatenate(rows).tolist()], dtype=np.int64)
        indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
        return _match(indptr, neighbor, numbered(self.color[nodes].astype(np.uint64)))


def _combine(graph: SocialGraph, pieces: _Pieces, kind: Integers) -> Integers:
    """Return (n_nodes,) the class of each node: the multiset of the kinds of its components, weighted by size."""
    return numbered(row_sums(graph.indptr, tokens(kind)[pieces.of_node]))


def _isomorphism_classes(pieces: _Pieces, needed: Booleans) -> Integers:
    """Return (n_pieces,) kinds, split so that components of one kind are isomorphic."""
    open_ones = np.flatnonzero(needed & ~pieces.identified & (pieces.size <= _MAX_COMPARED))
    kind = pieces.kind.copy()
    following = int(kind.max(initial=-1)) + 1
    models: dict[int, list[tuple[Integers, int]]] = {}
    for piece, nodes in zip(open_ones.tolist(), pieces.nodes(open_ones), strict=True):
        representatives = models.setdefault(int(pieces.kind[piece]), [])
        match = next((number for model, number in representatives if pieces.isomorphic(nodes, model)), None)
        if match is None:
            match = following if representatives else int(kind[piece])
            following += bool(representatives)
            representatives.append((nodes, match))
        kind[piece] = match
    return kind


def _match(indptr: Integers, neighbor: Integers, color: Integers) -> bool:
    """Return True if the first half of a graph is isomorphic to the second; no edge joins the halves.

    Individualization and refinement: a node of the first half without a unique color is matched with each node of that
    color in the second half, and colors are refined. The search stops if all colors are unique, or if the halves
    differ. It is exponential in the worst case.
    """
    color = refine(indptr, neighbor, color)
    half, n_colors = len(color) // 2, int(color.max()) + 1
    size = np.bincount(color[:half], minlength=n_colors)
    if not np.array_equal(size, np.bincount(color[half:], minlength=n_colors)):
        return False
    if size.max() == 1:
        return True
    smallest = int(np.argmin(np.where(size > 1, size, half + 1)))
    first, *other_nodes = np.flatnonzero(color == smallest).tolist()
    for other_node in other_nodes[int(size[smallest]) - 1 :]:
        fixed = color.copy()
        fixed[[first, other_node]] = n_colors
        if _match(indptr, neighbor, fixed):
            return True
    return False
