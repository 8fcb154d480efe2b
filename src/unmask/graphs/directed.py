"""A social graph whose edges have a direction: who follows, cites or trusts whom."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.graphs.edge_lists import EdgeListOptions
from unmask.graphs.graph import SocialGraph
from unmask.graphs.reading import read_links


@dataclass(frozen=True, eq=False)
class DirectedGraph:
    """A simple directed graph: no self-loops, no repeated links. Build it with `from_edges` or `read`.

    out_indptr, out_neighbor : (n_nodes + 1,) int64 and (n_links,) int32; node v links to
                                `out_neighbor[out_indptr[v]:out_indptr[v + 1]]`, ascending
    in_indptr, in_neighbor   : the same links by their ends: who links to v
    labels                    : (n_nodes,) what the nodes are called, each once; None: their numbers

    >>> follows = DirectedGraph.from_edges([0, 1, 2, 2, 2], [1, 0, 1, 1, 2])
    >>> follows, follows.in_degree, follows.out_degree
    (DirectedGraph(3 nodes, 3 links), array([1, 2, 0]), array([1, 1, 1]))
    """

    out_indptr: NDArray[np.int64]
    out_neighbor: NDArray[np.int32]
    in_indptr: NDArray[np.int64]
    in_neighbor: NDArray[np.int32]
    labels: NDArray[Any] | None = None

    def __repr__(self) -> str:
        return f"DirectedGraph({self.n_nodes} nodes, {self.n_links} links)"

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.out_indptr) - 1

    @property
    def n_links(self) -> int:
        """Number of links; two nodes that link to each other have two."""
        return len(self.out_neighbor)

    @cached_property
    def out_degree(self) -> NDArray[np.int64]:
        """(n_nodes,) number of links from each node."""
        return np.diff(self.out_indptr)

    @cached_property
    def in_degree(self) -> NDArray[np.int64]:
        """(n_nodes,) number of links to each node."""
        return np.diff(self.in_indptr)

    def undirected(self) -> SocialGraph:
        """The same nodes, with an edge where there is a link in either direction.

        >>> DirectedGraph.from_edges([0, 1], [1, 0]).undirected()
        SocialGraph(2 nodes, 1 edges)
        """
        start = np.repeat(np.arange(self.n_nodes, dtype=np.int32), self.out_degree)
        return SocialGraph.from_edges(start, self.out_neighbor, labels=self.labels, n_nodes=self.n_nodes)

    @classmethod
    def of(cls, graph: SocialGraph) -> Self:
        """The links of a graph that was read with directions; an edge without one is a link both ways.

        >>> DirectedGraph.of(SocialGraph.from_edges([0], [1]))
        DirectedGraph(2 nodes, 2 links)
        """
        start = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), graph.degree)
        out = np.full(len(start), True) if graph.way is None else (graph.way & 1) > 0
        return cls.from_edges(start[out], graph.neighbor[out], labels=graph.labels, n_nodes=graph.n_nodes)

    @classmethod
    def from_edges(
        cls, u: ArrayLike, v: ArrayLike, *, labels: ArrayLike | None = None, n_nodes: int | None = None
    ) -> Self:
        """The graph with a link from u[i] to v[i], for every i; repetitions and self-loops are dropped.

        u, v, labels, n_nodes : as in `SocialGraph.from_edges`
        """
        checked = SocialGraph.from_edges(u, v, labels=labels, n_nodes=n_nodes)
        start, end = np.asarray(u, dtype=np.int64), np.asarray(v, dtype=np.int64)
        proper = start != end
        out = _rows(start[proper], end[proper], checked.n_nodes)
        back = _rows(end[proper], start[proper], checked.n_nodes)
        return cls(*out, *back, checked.labels)

    @classmethod
    def read(cls, source: object, **options: Any) -> Self:
        """Read a graph from a file, a matrix or a graph object; the first end of a line links to the second.

        Sources and options are those of `SocialGraph.read`. An undirected object gives each edge in the one direction
        in which it is stored.
        """
        links = read_links(source, EdgeListOptions(**options))
        return cls.from_edges(links.u, links.v, labels=links.labels, n_nodes=links.n_nodes)


def _rows(
    start: NDArray[np.int64], end: NDArray[np.int64], n_nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Distinct links by their start, then by their end."""
    key = np.sort(start * n_nodes + end)
    key = key[np.append(True, key[1:] != key[:-1])] if len(key) else key
    count = np.bincount(key // max(n_nodes, 1), minlength=n_nodes)
    return np.concatenate(([0], np.cumsum(count))), (key % max(n_nodes, 1)).astype(np.int32)
