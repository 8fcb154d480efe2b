"""Two overlapping graphs out of one, as most published attacks are measured."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.graphs.graph import SocialGraph
from unmask.graphs.knowledge.pair import NOBODY, Pair


def split(
    graph: SocialGraph,
    node_overlap: float,
    edge_overlap: float,
    rng: np.random.Generator,
    *,
    largest_component: bool = False,
) -> Pair:
    """Two overlapping graphs out of one: the perturbation that most published attacks were measured with.

    The people are shuffled; round(a |V|) of them, a = node_overlap, are common, the others are halved between the two
    graphs: each has |V| (1 + a) / 2 people and the Jaccard index of the people is a. Each graph by itself keeps a
    random share q = 2 b / (1 + b), b = edge_overlap, of all edges of the parent, and of these the ones among its own
    people: the Jaccard index of the edges among the common people is q / (2 - q) = b, within sampling error. Node
    numbers are drawn anew for each graph.

    The source keeps the labels (or the parent's node numbers as labels): the people the adversary knows. The target
    has none. Common people with a node outside the component count as absent.

    Parameters
    ----------
    graph : SocialGraph
        Graph.
    node_overlap : float
        Jaccard index a of the people, 0 to 1. 0 is the control without common people.
    edge_overlap : float
        Jaccard index b of the edges among common people, above 0, to 1. If a paper gives the share s of the edges that
        each graph retains (Pedarsani and Grossglauser; Korula and Lattanzi), b = s / (2 - s).
    rng : numpy.random.Generator
        Source of the random draws.
    largest_component : bool
        Cut each graph to its largest connected component, as published figures do: all people of the others are
        left out. It lowers the overlap of people and raises that of edges.

    Returns
    -------
    Pair
        The two graphs and the truth.

    References
    ----------
    A. Narayanan, V. Shmatikov, "De-anonymizing social networks", IEEE S&P 2009, section 6; G. Gulyas, "Protecting
    privacy against structural de-anonymization attacks in social networks", 2015, section 3.3. The cut to the
    component is not in the text but in the program that made the published figures.

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
    source = _thinned(graph, share, rng).take(source_people)
    target = _thinned(graph, share, rng).take(target_people)
    names = np.arange(graph.n_nodes) if graph.labels is None else graph.labels
    number = np.full(graph.n_nodes, NOBODY, dtype=np.int64)
    number[target_people] = np.arange(len(target_people))
    labeled_source = replace(source, labels=names[source_people])
    pair = Pair(labeled_source, target, number[source_people])
    return pair.take(labeled_source.largest_component(), target.largest_component()) if largest_component else pair


def _check_share(name: str, share: float, *, lowest: float) -> None:
    if not lowest <= share <= 1:
        bound = "0 to 1" if lowest == 0 else "above 0, to 1"
        raise UnmaskError(f"{name} is {share}, expected {bound}")


def _thinned(graph: SocialGraph, share: float, rng: np.random.Generator) -> SocialGraph:
    return graph.with_edges(rng.permutation(graph.n_edges)[: round(share * graph.n_edges)])
