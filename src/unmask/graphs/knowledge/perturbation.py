"""Two overlapping graphs made from one, the standard evaluation of de-anonymization attacks."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.graphs.graph import SocialGraph
from unmask.graphs.knowledge.pair import NO_NODE, Pair


def split(
    graph: SocialGraph,
    node_overlap: float,
    edge_overlap: float,
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
    _check_share("node_overlap", node_overlap, lowest=0.0)
    _check_share("edge_overlap", edge_overlap, lowest=math.nextafter(0.0, 1.0))
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


def _check_share(name: str, share: float, *, lowest: float) -> None:
    if not lowest <= share <= 1:
        bound = "0 to 1" if lowest == 0 else "above 0, to 1"
        raise UnmaskError(f"{name} is {share}, expected {bound}")


def _thin(graph: SocialGraph, share: float, rng: np.random.Generator) -> SocialGraph:
    return graph.with_edges(rng.permutation(graph.n_edges)[: round(share * graph.n_edges)])
