"""Simple undirected graphs of people: a release, or a network that the adversary knows."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Booleans, Integers
from unmask.core.errors import UnmaskError
from unmask.graphs.compressed_rows import CompressedRows, compress_entries, compress_links, list_entries
from unmask.graphs.files.edge_lists import EdgeListOptions
from unmask.graphs.files.link_reading import read_links
from unmask.graphs.files.node_numbers import MAX_NODES, LinkList
from unmask.graphs.files.writing import write_graph

_log = logging.getLogger(__name__)

_MAX_NAMED = 8  # attributes named in a sentence


@dataclass(frozen=True)
class Dropped:
    """Counts of links that are not edges; links = edges + self_loops + duplicates + reversed.

    Parameters
    ----------
    self_loops : int
        Links from a node to itself.
    duplicates : int
        Repetitions of a link in the same direction.
    reversed : int
        Links whose opposite is also in the list, counted once for each pair.
    attributes : tuple of str
        Names of other attributes of the source. "direction" is first if the source has directions, or if it lists some
        links in both directions and others in one.

    Examples
    --------
    >>> str(Dropped(attributes=("direction", "weight"))), str(Dropped(duplicates=3))
    ('direction (except by Nar09:directed=true and Climb) and weight are left out', '')
    """

    self_loops: int = 0
    duplicates: int = 0
    reversed: int = 0
    attributes: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: CompressedRows, n_links: int) -> Self:
        """Count the links of a list that are not in `rows`."""
        n_edges = len(rows.neighbor) // 2
        return cls(rows.n_loops, n_links - rows.n_loops - rows.n_distinct, rows.n_distinct - n_edges)

    def __str__(self) -> str:
        """Return a sentence about the attributes, or an empty text."""
        notes = {"direction": "direction (except by Nar09:directed=true and Climb)"}
        names = _join_names([notes.get(name, name) for name in self.attributes])
        return f"{names} {'are' if len(self.attributes) > 1 else 'is'} left out" if names else ""

    @property
    def besides_edges(self) -> str:
        """Names of the attributes that no attack uses, in words.

        >>> Dropped(attributes=("direction", "weight", "since")).besides_edges
        'weight and since'
        """
        return _join_names([name for name in self.attributes if name != "direction"])


def _join_names(names: list[str]) -> str:
    *first, last = [*names[:_MAX_NAMED], *(["other attributes"] * (len(names) > _MAX_NAMED))] or [""]
    return f"{', '.join(first)} and {last}" if first else last


@dataclass(frozen=True, eq=False)
class SocialGraph:
    """Simple undirected graph without self-loops and repeated edges; build it with `from_edges` or `read`.

    Parameters
    ----------
    indptr : (n_nodes + 1,) int64 array
        The neighbors of node v are `neighbor[indptr[v]:indptr[v + 1]]`.
    neighbor : (2 n_edges,) int32 array
        Neighbors of each node, ascending. Every edge has an entry at both of its ends.
    labels : (n_nodes,) array, optional
        Distinct names of the nodes; None if nodes have only numbers.
    dropped : Dropped
        Links that are not edges.
    way : (2 n_edges,) int8 array, optional
        Direction of each entry of `neighbor`: 1 from the node, 2 to the node, 3 for both; None without directions.

    Examples
    --------
    >>> graph = SocialGraph.from_edges([0, 1, 2, 2], [1, 0, 1, 2])
    >>> graph, graph.dropped
    (SocialGraph(3 nodes, 2 edges), Dropped(self_loops=1, duplicates=0, reversed=1, attributes=()))
    >>> graph.degree, graph.neighbors(1)
    (array([1, 2, 1]), array([0, 2], dtype=int32))
    """

    indptr: Integers
    neighbor: NDArray[np.int32]
    labels: NDArray[Any] | None = None
    dropped: Dropped = Dropped()
    way: NDArray[np.int8] | None = None

    def __post_init__(self) -> None:
        if not len(self.indptr) or self.indptr[0] != 0 or self.indptr[-1] != len(self.neighbor):
            raise UnmaskError("indptr does not begin with 0 and end with the number of neighbors; use from_edges")
        if self.labels is not None and len(self.labels) != self.n_nodes:
            raise UnmaskError(f"there are {len(self.labels)} labels, expected one for each of {self.n_nodes} nodes")

    def __repr__(self) -> str:
        return f"SocialGraph({self.n_nodes} nodes, {self.n_edges} edges)"

    @cached_property
    def n_nodes(self) -> int:
        """Number of nodes, including nodes without an edge."""
        return len(self.indptr) - 1

    @cached_property
    def n_edges(self) -> int:
        """Number of undirected edges."""
        return len(self.neighbor) // 2

    @cached_property
    def degree(self) -> Integers:
        """(n_nodes,) number of neighbors."""
        return np.diff(self.indptr)

    def neighbors(self, node: int) -> NDArray[np.int32]:
        """Return the neighbors of a node, ascending."""
        if not 0 <= node < self.n_nodes:
            raise UnmaskError(f"node {node} is not in the graph, expected 0 to {self.n_nodes - 1}")
        return self.neighbor[self.indptr[node] : self.indptr[node + 1]]

    def edges(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the ends u < v of every edge once, ascending by (u, v).

        >>> SocialGraph.from_edges([2, 1], [0, 0]).edges()
        (array([0, 0], dtype=int32), array([1, 2], dtype=int32))
        """
        u = np.repeat(np.arange(self.n_nodes, dtype=np.int32), self.degree)
        once = u < self.neighbor
        return u[once], self.neighbor[once]

    def has_edges(self, u: ArrayLike, v: ArrayLike) -> Booleans:
        """Return a mask of the pairs (u[i], v[i]) of node numbers that are edges.

        >>> SocialGraph.from_edges([0, 1], [1, 2]).has_edges([1, 0], [0, 2])
        array([ True, False])
        """
        for nodes in map(np.asarray, (u, v)):
            check_nodes(nodes, self.n_nodes)
        wanted = np.asarray(u, dtype=np.int64) * self.n_nodes + np.asarray(v, dtype=np.int64)
        keys = np.repeat(np.arange(self.n_nodes), self.degree) * self.n_nodes + self.neighbor
        if not len(keys):
            return np.zeros(wanted.shape, dtype=np.bool_)
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.asarray(keys[places] == wanted)

    def link_directions(self) -> tuple[Booleans, Booleans]:
        """Return two masks over `neighbor`: the node links to the neighbor, and the neighbor links to the node.

        An edge without a direction is a link in both directions.

        >>> SocialGraph.from_edges([0], [1], directed=True).link_directions()
        (array([ True, False]), array([False,  True]))
        """
        way = np.full(len(self.neighbor), 3, dtype=np.int8) if self.way is None else self.way
        return (way & 1) > 0, (way & 2) > 0

    def nodes_called(self, labels: Iterable[Any]) -> Integers:
        """Return the node of each label, -1 if unknown; labels are compared as texts.

        The label of a node in a graph without labels is its number.

        >>> SocialGraph.from_edges([0], [1], labels=[7, 30]).nodes_called(["30", "a"])
        array([ 1, -1])
        """
        names = range(self.n_nodes) if self.labels is None else self.labels.tolist()
        number = {str(name): node for node, name in enumerate(names)}
        return np.array([number.get(str(label), -1) for label in labels], dtype=np.int64)

    def take(self, nodes: ArrayLike) -> SocialGraph:
        """Return the induced subgraph of these nodes, numbered in this order.

        >>> SocialGraph.from_edges([0, 1, 2], [1, 2, 3], labels=["a", "b", "c", "d"]).take([3, 2, 0]).labels
        array(['d', 'c', 'a'], dtype=object)
        """
        chosen = np.asarray(nodes, dtype=np.int64).reshape(-1)
        number = _numbers_of(chosen, self.n_nodes)
        u, v = self.edges()
        is_inside = (number[u] >= 0) & (number[v] >= 0)
        part = self._with(number[u[is_inside]], number[v[is_inside]], is_inside, len(chosen))
        return part if self.labels is None else replace(part, labels=self.labels[chosen])

    def with_edges(self, chosen: NDArray[np.integer]) -> SocialGraph:
        """Return the graph with a subset of the edges, given by positions in `edges()`, and without labels.

        >>> SocialGraph.from_edges([0, 1, 2], [1, 2, 3]).with_edges(np.array([2])).edges()
        (array([2], dtype=int32), array([3], dtype=int32))
        """
        u, v = self.edges()
        return self._with(u[chosen], v[chosen], chosen, self.n_nodes)

    def _with(self, u: NDArray[np.integer], v: NDArray[np.integer], chosen: NDArray[Any], n_nodes: int) -> SocialGraph:
        """Return a graph of selected edges with new ends, and with their directions."""
        if self.way is None:
            return SocialGraph(*compress_links(u, v, n_nodes)[:2])
        way = self.way[np.repeat(np.arange(self.n_nodes), self.degree) < self.neighbor][chosen]
        forth, back = (way & 1) > 0, (way & 2) > 0
        ends = np.concatenate((u[forth], v[back])), np.concatenate((v[forth], u[back]))
        rows = compress_links(*ends, n_nodes)
        return SocialGraph(rows.indptr, rows.neighbor, way=rows.way)

    def largest_component(self) -> Integers:
        """Return the nodes of the largest connected component, ascending.

        Ties between components are resolved by the smallest node number.

        >>> SocialGraph.from_edges([0, 2, 3], [1, 3, 4]).largest_component()
        array([2, 3, 4])
        """
        if not self.n_nodes:
            return np.zeros(0, dtype=np.int64)
        _, component = scipy.sparse.csgraph.connected_components(self.adjacency(), directed=False)
        _, first, of_node, size = np.unique(component, return_index=True, return_inverse=True, return_counts=True)
        largest = np.lexsort((first, -size))[0]
        return np.flatnonzero(of_node == largest)

    def adjacency(self) -> scipy.sparse.csr_array[Any, tuple[int, int]]:
        """Return the symmetric 0/1 matrix of the graph, int8."""
        ones = np.ones(len(self.neighbor), dtype=np.int8)
        small = np.int32 if len(ones) < 2**31 else np.int64  # SciPy copies indices of another type than indptr
        shape = (self.n_nodes, self.n_nodes)
        return scipy.sparse.csr_array((ones, self.neighbor, self.indptr.astype(small)), shape=shape)

    @classmethod
    def from_edges(
        cls,
        u: ArrayLike,
        v: ArrayLike,
        *,
        labels: ArrayLike | Iterable[Any] | None = None,
        n_nodes: int | None = None,
        directed: bool = False,
    ) -> Self:
        """Return the graph with an edge between u[i] and v[i] for each i, without repetitions and self-loops.

        Parameters
        ----------
        u, v : (m,) array of int
            Node numbers from 0.
        labels : (n_nodes,) array, optional
            Distinct names of the nodes.
        n_nodes : int, optional
            Number of nodes. Default: number of labels, or largest node number plus 1.
        directed : bool
            Store in `way` that u[i] links to v[i].

        Returns
        -------
        SocialGraph
            Above 16.8 million links, the arrays are memory-mapped temporary files.
        """
        names = None if labels is None else _names(labels)
        ends = (_numbers(u, "u"), _numbers(v, "v"))
        if len(ends[0]) != len(ends[1]):
            raise UnmaskError(f"u has {len(ends[0])} ends and v has {len(ends[1])}, expected equal counts")
        n = _size(ends, None if names is None else len(names), n_nodes)
        rows = compress_links(*ends, n)
        way = rows.way if directed else None
        return cls(rows.indptr, rows.neighbor, names, Dropped.of(rows, len(ends[0])), way)

    @classmethod
    def read(cls, source: object, /, **options: Any) -> Self:
        """Read a graph from a file, a matrix or a graph object, and log a line about the ignored parts of the file.

        Parameters
        ----------
        source : path or object
            A file with an edge on each line, an adjacency list (a node and its neighbors on each line), or a square
            matrix whose nonzero entries are edges; Parquet (.parquet, .pq); Pajek (.net); GraphML or GEXF (.graphml,
            .gexf); node-link JSON (.json). Text files may be compressed. Or a square sparse matrix of SciPy, a networkx
            or an igraph graph.
        **options
            Options for a file: the fields of `graphs.EdgeListOptions`.

        Returns
        -------
        SocialGraph
            Above 16.8 million links, the arrays are memory-mapped temporary files.

        Raises
        ------
        AmbiguousInput
            If another reading of the file fits nearly as well, or if a line does not fit. The message names the options
            that decide.

        Notes
        -----
        Delimiter, header and end columns are those of the reading that fits best to the first 2,000 lines and to 1,000
        further lines. An edge of weight 0 is ignored, but its ends are nodes.

        Weights, dates and all other attributes are ignored; `dropped` has their names. `way` has the directions if the
        source has directions, or if it lists some edges in both directions and others in one.

        Ids are integers if all of them are, otherwise texts. Nodes are numbered by ascending id; nodes of Pajek files
        and of objects keep their order. `labels` has the ids. A node that has only self-loops is a node.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "friends.txt"
        ...     _ = file.write_text("# friendships" + chr(10) + "30 7" + chr(10) + "7 1412" + chr(10))
        ...     SocialGraph.read(file).labels
        array([   7,   30, 1412])
        """
        links = read_links(source, EdgeListOptions(**options))
        n_links, entries = len(links.u), list_entries(links.u, links.v)
        links = replace(links, u=entries[:0], v=entries[:0])  # free memory before the entries are sorted
        rows = compress_entries(entries, n_links, links.n_nodes)
        dropped = Dropped.of(rows, n_links)
        partly = 0 < dropped.reversed < len(rows.neighbor) // 2
        direction = ("direction",) if partly and "direction" not in links.attributes else ()
        dropped = replace(dropped, attributes=(*direction, *links.attributes))
        if isinstance(source, str | os.PathLike):
            _log.warning("%s: %s", Path(source).name, _account(links, len(rows.neighbor) // 2, dropped))
        way = rows.way if "direction" in dropped.attributes else None
        return cls(rows.indptr, rows.neighbor, links.labels, dropped, way)

    def write(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write the graph with each edge once and with its labels. The write is atomic.

        Parameters
        ----------
        path : path
            The suffix selects the format: .txt and .tsv (ids separated by a tab), .csv (with header), .parquet, .net
            (Pajek), .graphml; texts also compressed (.gz). Only Pajek and GraphML store nodes without an edge.
        force : bool
            Replace an existing file.

        Raises
        ------
        UnmaskError
            If the file exists, or if its format cannot store a label or a node.
        """
        u, v = self.edges()
        write_graph(path, u=u, v=v, labels=self.labels, n_nodes=self.n_nodes, force=force)


# --- checks ---------------------------------------------------------------------------------------------------------


def check_nodes(nodes: NDArray[np.integer[Any]], n_nodes: int, name: str = "nodes") -> None:
    """Raise for node numbers beyond those of a graph."""
    if nodes.size and not 0 <= nodes.min() <= nodes.max() < n_nodes:
        raise UnmaskError(f"{name} go from {nodes.min()} to {nodes.max()}, expected 0 to {n_nodes - 1}")


def _numbers(ends: ArrayLike, name: str) -> NDArray[np.integer[Any]]:
    array = np.asarray(ends)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise UnmaskError(f"{name} is not a list of node numbers; give numbers from 0, and names as labels")
    return array if array.size else array.astype(np.int64)


def _names(labels: ArrayLike | Iterable[Any]) -> NDArray[Any]:
    names = np.asarray(labels if isinstance(labels, np.ndarray) else list(labels))  # type: ignore[arg-type]
    distinct = set(names.tolist()) if names.dtype.kind == "O" and names.ndim == 1 else np.unique(names)
    if names.ndim != 1 or len(distinct) != len(names):
        raise UnmaskError("the labels are not a list of distinct names; remove repetitions")
    return names.astype(object) if names.dtype.kind in "UT" else names


def _size(
    ends: tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]], n_labels: int | None, n_nodes: int | None
) -> int:
    lowest = min((int(end.min()) for end in ends if len(end)), default=0)
    highest = max((int(end.max()) for end in ends if len(end)), default=-1)
    n = next((size for size in (n_nodes, n_labels) if size is not None), highest + 1)
    if n_labels is not None and n_labels != n:
        raise UnmaskError(f"there are {n_labels} labels for {n} nodes, expected one for each")
    if lowest < 0 or highest >= n or n > MAX_NODES:
        raise UnmaskError(f"node numbers go from {lowest} to {highest}, expected 0 to {min(n, MAX_NODES) - 1}")
    return n


def _numbers_of(chosen: Integers, n_nodes: int) -> Integers:
    """Return the new number of each node, -1 if it is not chosen."""
    check_nodes(chosen, n_nodes)
    number = np.full(n_nodes, -1, dtype=np.int64)
    number[chosen] = np.arange(len(chosen))
    if np.count_nonzero(number >= 0) != len(chosen):
        raise UnmaskError("a node is chosen twice, expected each node at most once")
    return number


def _account(links: LinkList, n_edges: int, dropped: Dropped) -> str:
    """Return one line about a file: people, edges, columns, and ignored links."""
    repeated = dropped.duplicates + dropped.reversed
    size = f"{links.n_nodes:,} people, {n_edges:,} edges"
    ignored = f"{dropped.self_loops:,} loops, {repeated:,} repeated"
    return "; ".join(filter(None, (size, links.account, ignored, str(dropped))))
