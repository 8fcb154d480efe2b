"""Two graphs with people in common, and the true match of each person."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from os import PathLike
from typing import Annotated, Final

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Integers
from unmask.core.csr_rows import distinct
from unmask.core.errors import UnmaskError
from unmask.core.truth import ABSENT, UNKNOWN, Truth
from unmask.graphs.graph import SocialGraph
from unmask.graphs.seeds import SeedPairs, from_file, nodes_of
from unmask.ranges import Range, check_types

NO_NODE: Final = -1
"""Entry of `Pair.truth` for a person without a target node."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two graphs with people in common, and the true matches that evaluate an attack. No attack sees the truth.

    Parameters
    ----------
    source : SocialGraph
        The adversary's graph. Its labels identify people.
    target : SocialGraph
        The release.
    truth : (source.n_nodes,) int64 array
        Target node of each person, -1 (`NO_NODE`) if the person is not in the target. The first node of a person with
        several nodes.
    origin : (target.n_nodes,) array or None
        Number of the person behind each target node, from 0. Nodes with the same number are identities of one person.
        None if each person has at most one node.

    Examples
    --------
    >>> pair = Pair(SocialGraph.from_edges([0], [1]), SocialGraph.from_edges([0], [1]), np.array([1, -1]))
    >>> pair, pair.common
    (Pair(2 source nodes, 2 target nodes, 1 in both), array([0]))
    """

    source: SocialGraph
    target: SocialGraph
    truth: Integers
    origin: Integers | None = None

    def __post_init__(self) -> None:
        if len(self.truth) != self.source.n_nodes:
            raise UnmaskError(f"the truth has {len(self.truth)} rows, expected one for each source node")
        if len(self.truth) and not NO_NODE <= self.truth.min() <= self.truth.max() < self.target.n_nodes:
            raise UnmaskError(
                f"the truth has nodes beyond the target's {self.target.n_nodes}; use -1 for people who are not in it"
            )
        if self.origin is not None and len(self.origin) != self.target.n_nodes:
            raise UnmaskError(f"the origin has {len(self.origin)} rows, expected one for each target node")

    def __repr__(self) -> str:
        sizes = f"{self.source.n_nodes} source nodes, {self.target.n_nodes} target nodes"
        return f"Pair({sizes}, {len(self.common)} in both)"

    @property
    def common(self) -> Integers:
        """Return the source nodes of the people who are also in the target, ascending."""
        return np.flatnonzero(self.truth >= 0)

    @property
    def identities(self) -> Integers:
        """Return (source.n_nodes,) the number of target nodes of each person; 0 if the person is not in the target."""
        if self.origin is None:
            return (self.truth >= 0).astype(np.int64)
        return np.where(self.truth >= 0, np.bincount(self.origin)[self.origin[self.truth]], 0)

    def truth_for(self, mapping: NDArray[np.integer]) -> Integers:
        """Return a truth with one node for each person that accepts each identity of the person.

        The result holds the mapped node if it belongs to the person, and `truth` otherwise. A comparison with the
        mapping then gives s(v, mu) of G. Gulyas, 2015, equation (3.2).

        mapping : (..., source.n_nodes) target nodes, -1 if unmapped

        >>> two = SocialGraph.from_edges([0], [1])
        >>> Pair(two, SocialGraph.from_edges([0, 1], [1, 2]), np.array([0, 2]), np.array([0, 0, 1])).truth_for(
        ...     np.array([1, 1])
        ... )
        array([1, 2])
        """
        return np.where(self.to_truth().accepts(mapping), mapping, self.truth)

    def to_truth(self, seeds: SeedPairs | None = None, *, partial: bool = False) -> Truth:
        """Return the truth of each source node for an audit. Seeds are leaked; each identity of a person is correct.

        partial : True if people without a node in `truth` may still be in the target

        >>> graph = SocialGraph.from_edges([0], [1])
        >>> Pair(graph, graph, np.array([1, -1])).to_truth().candidate
        array([ 1, -2])
        """
        no_match = UNKNOWN if partial else ABSENT
        leaked = () if seeds is None else seeds.source
        return Truth(np.where(self.truth >= 0, self.truth, no_match), person=self.origin, leaked=leaked)

    @property
    def node_overlap(self) -> float:
        """Return the Jaccard index of the people: common / (source + target - common); nan without people."""
        n = self.source.n_nodes + self.target.n_nodes - len(self.common)
        return len(self.common) / n if n else math.nan

    @property
    def edge_overlap(self) -> float:
        """Return the Jaccard index J of the edges between common people: in both / in either; nan without edges.

        This is the definition of Narayanan and Shmatikov and of Gulyas. Pedarsani and Grossglauser, Korula and Lattanzi
        and others report the probability that an edge of one graph is in the other: s = 2 J / (1 + J).
        """
        image = np.zeros(self.target.n_nodes, dtype=np.bool_)
        image[self.truth[self.common]] = True
        (u, v), (a, b) = self.source.edges(), self.target.edges()
        n_source, n_target = int(((self.truth[u] >= 0) & (self.truth[v] >= 0)).sum()), int((image[a] & image[b]).sum())
        n_shared = self.shared.n_edges
        either = n_source + n_target - n_shared
        return n_shared / either if either else math.nan

    @property
    def shared(self) -> SocialGraph:
        """Return the edges that are in both graphs, on the source nodes."""
        u, v = self.source.edges()
        is_common = (self.truth[u] >= 0) & (self.truth[v] >= 0)
        u, v = u[is_common], v[is_common]
        is_shared = self.target.has_edges(self.truth[u], self.truth[v])
        return SocialGraph.from_edges(u[is_shared], v[is_shared], n_nodes=self.source.n_nodes)

    def shuffled(self, *, rng: np.random.Generator) -> Pair:
        """Return the same people under random node numbers, so that the node order carries no information."""
        return self.take(rng.permutation(self.source.n_nodes), rng.permutation(self.target.n_nodes))

    def take(self, sources: Integers, targets: Integers) -> Pair:
        """Return the pair restricted to these nodes of each graph, numbered in this order."""
        number = np.full(self.target.n_nodes + 1, NO_NODE, dtype=np.int64)  # the last entry serves truth = -1
        number[targets] = np.arange(len(targets))
        origin = None if self.origin is None else self.origin[targets]
        return Pair(self.source.take(sources), self.target.take(targets), number[self.truth[sources]], origin)

    @classmethod
    def from_labels(
        cls, source: SocialGraph, target: SocialGraph, source_labels: ArrayLike, target_labels: ArrayLike
    ) -> Pair:
        """Return the pair in which source_labels[i] and target_labels[i] are the same person; all others are absent.

        Labels are compared as texts. The label of a node in a graph without labels is its number. Rows with a label
        that is not in the graph are ignored, because edge lists omit people without an edge. A source node in several
        rows is a person with several identities. Each identity is correct, and `truth` holds the first. If a person has
        several identities, source nodes that share a target node are treated as one person.

        >>> graph = SocialGraph.from_edges([0, 1], [1, 2], labels=["a", "b", "c"])
        >>> Pair.from_labels(graph, SocialGraph.from_edges([0], [1]), ["c", "a", "z"], [0, 1, 2]).truth
        array([ 1, -1,  0])
        """
        people, nodes = nodes_of(source, target, source_labels, target_labels)
        is_known = (people >= 0) & (nodes >= 0)
        if not is_known.any():
            raise UnmaskError(f"none of {len(people)} rows has a label of each graph; check the labels")
        truth = np.full(source.n_nodes, NO_NODE, dtype=np.int64)
        people, nodes = people[is_known], nodes[is_known]
        truth[people[::-1]] = nodes[::-1]  # reversed: the first node of a person wins
        origin = _origin(people, nodes, source.n_nodes, target.n_nodes)
        if origin is None:
            _check_once(truth, people, nodes, np.flatnonzero(is_known) + 1)
        return cls(source, target, truth, origin)

    @classmethod
    def read(cls, source: SocialGraph, target: SocialGraph, path: str | PathLike[str]) -> Pair:
        """Read the truth from a file with two columns, source label and target label; see `from_labels`.

        The labels are in the first two columns. The file has a format that `SocialGraph.read` accepts as edge list. The
        first line is a header if neither of its texts is a label.
        """
        return from_file(cls.from_labels, source, target, path)


def _check_once(truth: Integers, people: Integers, nodes: Integers, rows: Integers) -> None:
    """Raise if two people share a target node."""
    targets, count = np.unique(truth[truth != NO_NODE], return_counts=True)
    if (count > 1).any():
        first, second, *_ = rows[(nodes == targets[count > 1][0]) & (truth[people] == nodes)]
        raise UnmaskError(f"rows {first} and {second} give one node of the release to two people; correct one of them")


def _origin(people: Integers, nodes: Integers, n_source: int, n_target: int) -> Integers | None:
    """Return the person of each target node: connected components of the rows. None if each person has one node."""
    rows = scipy.sparse.coo_array((np.ones(len(people)), (people, n_source + nodes)), shape=(n_source + n_target,) * 2)
    person = scipy.sparse.csgraph.connected_components(rows, directed=False)[1][n_source:].astype(np.int64)
    return person if len(distinct(person)) < n_target else None


def split(
    graph: SocialGraph,
    node_overlap: Annotated[float, Range(0, 1)],
    edge_overlap: Annotated[float, Range(0, 1, above=True)],
    rng: np.random.Generator,
    *,
    largest_component: bool = False,
) -> Pair:
    """Make two overlapping graphs from one, as in most published evaluations.

    Of the people, round(a |V|) are in both graphs, with a = node_overlap. Each graph gets half of the others, so it has
    |V| (1 + a) / 2 people, and a is the Jaccard index of the people. Each graph independently keeps each edge of the
    parent with probability q = 2 b / (1 + b), with b = edge_overlap, if both ends are in the graph. The Jaccard index
    of the edges among common people is then q / (2 - q) = b, within sampling error. Node numbers are random in each
    graph.

    The source keeps the labels of the parent, or its node numbers as labels. The target has no labels. Common people
    without a node in the largest component count as absent.

    Parameters
    ----------
    graph : SocialGraph
        Graph.
    node_overlap : float
        Jaccard index a of the people, 0 to 1. 0 is the control without common people.
    edge_overlap : float
        Jaccard index b of the edges among common people, above 0, at most 1. For a paper that reports the share s of
        edges that each graph keeps (Pedarsani and Grossglauser; Korula and Lattanzi), use b = s / (2 - s).
    rng : numpy.random.Generator
        Source of the random draws.
    largest_component : bool
        Restrict each graph to its largest connected component, as published figures do. This lowers the overlap of
        people and raises the overlap of edges.

    Returns
    -------
    Pair
        The two graphs and the truth.

    References
    ----------
    A. Narayanan, V. Shmatikov, "De-anonymizing social networks", IEEE S&P 2009, section 6; G. Gulyas, "Protecting
    privacy against structural de-anonymization attacks in social networks", 2015, section 3.3. The restriction to the
    largest component is only in the program behind the published figures.

    Examples
    --------
    >>> parent = SocialGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> pair = split(parent, node_overlap=1, edge_overlap=1, rng=np.random.default_rng(1))
    >>> pair, pair.edge_overlap
    (Pair(4 source nodes, 4 target nodes, 4 in both), 1.0)
    """
    check_types(split, {"node_overlap": node_overlap, "edge_overlap": edge_overlap})
    people = rng.permutation(graph.n_nodes)
    n_common = round(node_overlap * graph.n_nodes)
    half = (graph.n_nodes - n_common) // 2
    common, first, second = np.split(people, [n_common, n_common + half])
    share = 2 * edge_overlap / (1 + edge_overlap)
    source_people = rng.permutation(np.concatenate((common, first)))
    target_people = rng.permutation(np.concatenate((common, second)))
    source = _thin(graph, share, rng).take(source_people)
    target = _thin(graph, share, rng).take(target_people)
    names = np.arange(graph.n_nodes) if graph.labels is None else graph.labels
    number = np.full(graph.n_nodes, NO_NODE, dtype=np.int64)
    number[target_people] = np.arange(len(target_people))
    labeled_source = replace(source, labels=names[source_people])
    pair = Pair(labeled_source, target, number[source_people])
    return pair.take(labeled_source.largest_component(), target.largest_component()) if largest_component else pair


def _thin(graph: SocialGraph, share: float, rng: np.random.Generator) -> SocialGraph:
    return graph.with_edges(rng.permutation(graph.n_edges)[: round(share * graph.n_edges)])
