"""Nar09 and Bumblebee: propagation attacks that start from seeds and never revise a match."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats
from unmask.graphs.attacks._kernels import (
    directed_rows,
    find_mutual,
    invalidate,
    rank_by_degree,
    rank_candidates,
    renumber_image,
    write_back,
)
from unmask.graphs.attacks._loops import sweep
from unmask.graphs.attacks._structs import DIRECTION_UNIT, Rule, Scratch, Side
from unmask.graphs.attacks.base import (
    Count,
    Matching,
    ScoringAttack,
    Theta,
    make_side,
    positive_degree,
    score_matching,
    seed_images,
)
from unmask.graphs.graph import SocialGraph
from unmask.graphs.similarity import Auxiliary
from unmask.ranges import Range

MIN_LARGE_NODES = 200_000
"""Number of nodes above which counts are float32, to fit the cache, and candidates are pruned (`_pruned`).

Smaller graphs reuse the loops that other attacks compile, and gain little.
"""


@dataclass(frozen=True)
class Nar09(ScoringAttack):
    """Propagation attack of Narayanan and Shmatikov: match the two nodes that share the most mapped neighbors.

    The candidates of an unmapped source node v are the unmapped target nodes that are neighbors of images of v's
    neighbors. The score is

        S_c = (neighbors of v whose image is next to c) / sqrt(deg c)

    The best candidate is a proposal if its eccentricity (max S - second max S) / sigma(S) is at least theta, with sigma
    the sample standard deviation over the candidates. Ties are rejected, and a single candidate is accepted. A proposal
    becomes a match if v is the proposal of c with the graphs exchanged. Passes over the nodes are repeated until one
    finds no match. Matches and seeds are never revised.

    All nodes of a pass are scored with the matches of the pass before, so that node numbers have no effect. The
    published algorithm processes one node after the other, and its result depends on their order (`synchronous`).

    In directed graphs, incoming and outgoing links have separate scores: S_c = (nodes that link to v, whose image links
    to c) / sqrt(in-degree of c) + (nodes that v links to, whose image c links to) / sqrt(out-degree of c). The
    directions are those of the file (`SocialGraph.way`). An edge without a direction is a link in both directions.

    Parameters
    ----------
    theta : float
        Smallest eccentricity of a match, at least 0. The printed pseudo code computes sigma over all nodes, so that its
        theta has another scale.
    synchronous : bool
        If False, each match affects the nodes after it in the same pass, by node number. If both graphs share their
        numbers, this order discloses the truth.
    directed : bool
        Use the directions of links. They must have the same meaning in both graphs. If one graph contains mutual links
        only, the directions of the other are not informative.
    listed : int
        Largest number of candidates of an unmapped node in the belief.
    threads : int
        Threads of the synchronous form.

    Notes
    -----
    Work: a pass visits the neighbors of the images of the mapped neighbors of every unmapped node. It skips nodes whose
    result cannot have changed: no neighbor was mapped, and the best two candidates are still unmapped. In graphs of
    more than 200,000 nodes, it also skips candidates that cannot be among the best two.

    Assumes: both graphs have mostly the same people and edges, seeds are right, and the neighbors of a person support
    the same candidate.

    Fails when: seeds are too few to spread, below a threshold that `unmask audit graph --transition` finds; or people
    have few contacts, or several identities.

    References
    ----------
    A. Narayanan & V. Shmatikov, "De-anonymizing social networks", IEEE S&P 2009, section 5.2 and its pseudo code
    (directed); G. G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015,
    algorithm 2 (undirected).

    Examples
    --------
    >>> path = SocialGraph.from_edges([0, 1], [1, 2])
    >>> belief = Nar09(theta=0.01)(path, Auxiliary(path, (np.array([0]), np.array([2]))))
    >>> belief.mapping, belief.sweeps
    (array([2, 1, 0], dtype=int32), array([1, 1, 0]))

    >>> star = SocialGraph.from_edges([0, 2], [1, 0], directed=True)  # undirected, 1 and 2 are twins
    >>> Nar09(directed=True)(star, Auxiliary(star, (np.array([0]), np.array([0])))).mapping
    array([0, 1, 2], dtype=int32)
    """

    theta: Theta = 0.01
    synchronous: bool = True
    directed: bool = False
    listed: Count = 10
    threads: Count = field(default=1, repr=False, compare=False)

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary, *, rng: np.random.Generator | None = None
    ) -> Matching:
        """Return the belief about each node of the adversary's graph."""
        return _propagate(self, release, knowledge, np.sqrt, ratio=False, directed=self.directed)


@dataclass(frozen=True)
class Bumblebee(ScoringAttack):
    """Nar09 with a score that prefers candidates of a similar degree.

        S_c = (neighbors of v whose image is next to c) min(deg v / deg c, deg c / deg v)^delta

    The algorithm and all other parameters are those of `Nar09`. The attack spreads from fewer seeds. With theta 0.01 it
    also maps many nodes without a counterpart; a theta of 0.5 maps far fewer of them and loses little recall.

    Parameters
    ----------
    delta : float
        Exponent from 0 to 32. With 0, only shared neighbors count.
    theta : float
        Smallest eccentricity of a match, at least 0.
    synchronous : bool
        If False, each match affects the nodes after it in the same pass, by node number. If both graphs share their
        numbers, this order discloses the truth.
    listed : int
        Largest number of candidates of an unmapped node in the belief.
    threads : int
        Threads of the synchronous form.

    Notes
    -----
    Assumes: a person has a similar number of contacts in both graphs.

    Fails when: one graph was sampled more thinly than the other, or many people have no counterpart: a small theta maps
    them, too.

    References
    ----------
    G. G. Gulyas, B. Simon & S. Imre, "An efficient and robust social network de-anonymization attack", WPES 2016.

    Examples
    --------
    >>> path = SocialGraph.from_edges([0, 1], [1, 2])
    >>> Bumblebee(delta=0.5)(path, Auxiliary(path, (np.array([0]), np.array([2])))).mapping
    array([2, 1, 0], dtype=int32)
    """

    delta: Annotated[float, Range(0, 32)] = 0.5  # beyond 32, a power of a degree overflows
    theta: Theta = 0.01
    synchronous: bool = True
    listed: Count = 10
    threads: Count = field(default=1, repr=False, compare=False)

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary, *, rng: np.random.Generator | None = None
    ) -> Matching:
        """Return the belief about each node of the adversary's graph."""
        return _propagate(self, release, knowledge, lambda degree: np.power(degree, self.delta), ratio=True)


def _propagate(
    attack: Nar09 | Bumblebee,
    release: SocialGraph,
    knowledge: Auxiliary,
    size: Callable[[Floats], Floats],
    *,
    ratio: bool,
    directed: bool = False,
) -> Matching:
    """Run passes until one makes no match; scores are divided by `size` of the degree."""
    is_large = max(knowledge.graph.n_nodes, release.n_nodes) > MIN_LARGE_NODES
    dtype = np.float32 if is_large else np.float64
    images = seed_images(release, knowledge)
    source, target = (
        _make_side(graph, image, size, directed=directed, dtype=dtype)
        for graph, image in zip((knowledge.graph, release), images, strict=True)
    )
    ranked = rank_by_degree(source, target)
    side, other_side, order, target_order = ranked
    prunes = is_large and side is not source and not ratio
    rule = Rule(ratio, False, float(attack.theta), prunes)
    nodes = np.argsort(order, kind="stable").astype(np.int32)
    passes: list[tuple[int, int]] = []
    while not passes or passes[-1][0]:
        nodes = nodes[side.image[nodes] < 0]
        if attack.synchronous:
            passes.append(_match_mutual(nodes, side, other_side, rule, threads=attack.threads))
        else:
            scratch = Scratch.for_side(side, other_side, rule), Scratch.for_side(other_side, side, rule)
            passes.append(sweep(nodes, side, other_side, rule, *scratch))
    nodes = nodes[side.image[nodes] < 0]
    candidate, score = rank_candidates(nodes, side, other_side, rule, width=attack.listed + 1, threads=attack.threads)
    best = renumber_image(candidate, target_order), score
    write_back(source, target, ranked)
    del ranked, side, other_side, nodes, candidate  # free the copies of both graphs
    return score_matching(attack, source, target, rule, passes, best=best)


def _make_side(
    graph: SocialGraph,
    image: NDArray[np.int32],
    size: Callable[[Floats], Floats],
    *,
    directed: bool,
    dtype: type[np.floating],
) -> Side:
    """Return a side with unit weights; in a directed one, a float64 sum holds the counts of both directions."""
    if not directed:
        return make_side(graph, image, weight=np.ones(len(image), dtype), size=size(positive_degree(graph)))
    rows, weight = directed_rows(graph), np.tile([DIRECTION_UNIT, 1.0], graph.n_nodes)
    degree = np.maximum(np.diff(rows[0]), 1).astype(np.float64)
    return make_side(graph, image, weight=weight, size=size(degree), rows=rows)


def _match_mutual(nodes: NDArray[np.int32], source: Side, target: Side, rule: Rule, *, threads: int) -> tuple[int, int]:
    """Write the matches of one synchronous pass into both images; return the numbers of matches and of visits."""
    node, candidate, visits = find_mutual(nodes, source, target, rule, threads=threads)
    source.image[node], target.image[candidate] = candidate, node
    invalidate(node, source)
    invalidate(candidate, target)
    return len(node), visits
