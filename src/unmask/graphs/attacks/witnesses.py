"""KorulaLattanzi and Irma: attacks that count the mapped neighbors of a pair, its witnesses or marks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Integers
from unmask.core.csr_rows import argsort_digits
from unmask.graphs.attacks._kernels import find_rivals
from unmask.graphs.attacks._percolation import NOT_FREE, choose_greedily, list_marked_pairs
from unmask.graphs.attacks._structs import FREE, Rule, Side, Wedges
from unmask.graphs.attacks.base import Count, Matching, ScoringAttack, make_side, score_matching, seed_images, shared
from unmask.graphs.graph import SocialGraph
from unmask.graphs.similarity import Auxiliary

Pairs = tuple[NDArray[np.int32], NDArray[np.int32]]
"""Source nodes and the target node of each."""

MIN_GROWTH = 1.02
"""Growth of the number of preserved edges below which repairs stop, as in the authors' program."""
MIN_REPAIRS, FINAL_REPAIRS = 4, 4
"""Number of repairs before and after the exploration, as in the authors' program."""
HIGH_TIER = 8
"""Pairs with at least so many marks are selected first. This shortens the lists of pairs and has the same result."""


@dataclass(frozen=True)
class KorulaLattanzi(ScoringAttack):
    """Reconciliation by witnesses: match the mutually best pairs, in buckets of decreasing degree.

    A witness of a source node u and a target node c is a neighbor of u that is mapped to a neighbor of c. A pass
    processes the buckets j = floor(log2(highest degree)), ..., floor(log2(witnesses)). Bucket j contains the unmapped
    nodes of both graphs with degree at least 2^j. u is mapped to c if the pair has at least `witnesses` witnesses, and
    more than any other pair of u or c. All pairs of a bucket are matched simultaneously, and ties are rejected. Hubs
    therefore compete only with hubs, and are witnesses in the later buckets. Passes are repeated until one makes no
    match. Matches and seeds are never revised.

    Parameters
    ----------
    witnesses : int
        Smallest number of witnesses of a match, at least 1. With 1, a single wrong match causes further wrong ones.
    listed : int
        Largest number of candidates of an unmapped node in the belief. Their score is the number of witnesses.

    Notes
    -----
    Nodes below the last bucket have too few neighbors for a match. The paper's last bucket is j = 1, for 2 witnesses.

    Assumes: hubs are in both graphs, and seeds are near them.

    Fails when: people have fewer common contacts than `witnesses`; or it is 1, and a wrong match causes others.

    References
    ----------
    N. Korula & S. Lattanzi, "An efficient reconciliation algorithm for social networks", VLDB 2014, section 3.2.

    Examples
    --------
    >>> kite = SocialGraph.from_edges([0, 0, 1, 2], [1, 2, 2, 3])
    >>> KorulaLattanzi()(kite, Auxiliary(kite, (np.array([0, 1]), np.array([0, 1])))).mapping
    array([ 0,  1,  2, -1], dtype=int32)
    """

    witnesses: Count = 2
    listed: Count = 10

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary, *, rng: np.random.Generator | None = None
    ) -> Matching:
        """Return the belief about each node of the adversary's graph."""
        image, inverse = seed_images(release, knowledge)
        source, target = make_side(knowledge.graph, image), make_side(release, inverse)
        max_degree = int(min(knowledge.graph.degree.max(), release.degree.max()))
        buckets = range(max_degree.bit_length() - 1, self.witnesses.bit_length() - 2, -1)
        passes: list[tuple[int, int]] = []
        while not passes or passes[-1][0]:
            counts = [self._match_bucket(source, target, min_degree=2**bucket) for bucket in buckets]
            passes.append((sum(matches for matches, _ in counts), sum(visits for _, visits in counts)))
        return score_matching(self, source, target, Rule(False, False, 0.0), passes)

    def _match_bucket(self, source: Side, target: Side, *, min_degree: int) -> tuple[int, int]:
        """Match nodes of at least `min_degree` and write both images; return the numbers of matches and of visits."""
        nodes = np.flatnonzero((source.image < 0) & (source.degree >= min_degree)).astype(np.int32)
        is_free = (target.image < 0) & (target.degree >= min_degree)
        node, candidate, marks, visits = _list_marked(nodes, make_wedges(source, target), is_free, self.witnesses)
        is_best = marks > find_rivals(node, candidate, marks)
        source.image[node[is_best]], target.image[candidate[is_best]] = candidate[is_best], node[is_best]
        return int(is_best.sum()), visits


def make_wedges(
    source: Side, target: Side, extra_pairs: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None
) -> Wedges:
    """Return both graphs, with the mapping and the extra pairs as the relation; each pair counts once."""
    node = np.flatnonzero(source.image >= 0)
    image = source.image[node]
    if extra_pairs is not None and len(extra_pairs[0]):
        extra_node, extra_image = extra_pairs
        is_new = source.image[extra_node] != extra_image
        node, image = np.concatenate((node, extra_node[is_new])), np.concatenate((image, extra_image[is_new]))
        order = np.argsort(node, kind="stable")
        node, image = node[order], image[order]
    related_indptr = np.concatenate(([0], np.cumsum(np.bincount(node, minlength=len(source.image)))))
    return Wedges(source.indptr, source.neighbor, target.indptr, target.neighbor, related_indptr, image)


@dataclass(frozen=True)
class Irma(ScoringAttack):
    """Iterative repair: pairs of a mapping mark the pairs of their neighbors, and the marks determine a better mapping.

    A pair (x, y) marks every pair (u, c) with u a neighbor of x and c a neighbor of y. A greedy selection takes the
    pairs of unmapped nodes with at least m marks, by decreasing marks and then by increasing |deg u - deg c|. A
    selected pair excludes all other pairs of its two nodes. Equal pairs of a node with several free nodes exclude all
    of these nodes from the selection; the published program breaks such ties. Seeds are always mapped.

    1. Percolation (expand when stuck): mapped pairs mark, and the selection with m = 2 extends the mapping, until it
       adds no pair. Then all marked pairs of unmapped nodes mark, too, as if they were mapped, and percolation
       continues until it adds no pair again.
    2. Repair: the mapping marks, and the selection with m = 2 makes a new mapping from the marks. This is repeated at
       least 4 times, while the number of edges mapped onto edges grows by 2 %.
    3. Exploration: one repair continues with m = 1, so that many nodes are mapped, and few of them correctly. Four
       repairs with m = 2 follow.

    Parameters
    ----------
    listed : int
        Largest number of candidates of an unmapped node in the belief. Their score is the number of marks.

    Notes
    -----
    `sweeps` has the matches added in each pass of the percolation, then the number of source nodes with a new image in
    each repair. Percolation and repair are the parallel form of the authors: all marks of a pass first, then the
    selection. Expanding at further standstills, as they do, changed little.

    Work: each repair visits the neighbors of the images of the neighbors of every source node, and sorts the pairs with
    2 or more marks. This is several times the number of edges: a graph of 10 million edges needs many gigabytes.

    Assumes: right pairs collect more marks than wrong ones.

    Fails when: few people are in both graphs, because the others are mapped, too; or pairs exceed the memory.

    References
    ----------
    B. Babayov & Y. Louzoun, "IRMA: iterative repair for graph matching", 2022, sections 3-4; percolation: E. Kazemi, S.
    H. Hassani & M. Grossglauser, "Growing a graph matching from a handful of seeds", VLDB 2015.

    Examples
    --------
    >>> kite = SocialGraph.from_edges([0, 0, 1, 2], [1, 2, 2, 3])
    >>> Irma()(kite, Auxiliary(kite, (np.array([0, 1]), np.array([0, 1])))).mapping
    array([ 0,  1,  2, -1], dtype=int32)
    """

    listed: Count = 10

    @shared
    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary, *, rng: np.random.Generator | None = None
    ) -> Matching:
        """Return the belief about each node of the adversary's graph."""
        image, inverse = seed_images(release, knowledge)
        sides = make_side(knowledge.graph, image), make_side(release, inverse)
        state = _State(knowledge.graph, release, *sides)
        seeds = np.flatnonzero(image >= 0)
        seed_pairs = seeds.astype(np.int32), image[seeds]
        passes = _percolate(state)
        passes += [_repair(state, seed_pairs, min_marks) for min_marks in _plan_repairs(state)]
        return score_matching(self, *sides, Rule(False, False, 0.0), passes)


class _State(NamedTuple):
    """Both graphs with their images, which are written to."""

    auxiliary: SocialGraph
    release: SocialGraph
    source: Side
    target: Side

    def count_preserved_edges(self) -> int:
        """Return the number of edges of the auxiliary graph that are mapped to edges of the target."""
        u, v = self.auxiliary.edges()
        image = self.source.image
        is_mapped = (image[u] >= 0) & (image[v] >= 0)
        return int(self.release.has_edges(image[u[is_mapped]], image[v[is_mapped]]).sum())


def _percolate(state: _State) -> list[tuple[int, int]]:
    """Run step 1 and write the images; return the numbers of matches and of visits of each pass."""
    passes: list[tuple[int, int]] = []
    standstills = 0
    expanded: Pairs = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32)
    while standstills < 2:
        matches, visits = _choose_pairs(state, make_wedges(state.source, state.target, expanded), min_marks=2)
        standstills += matches == 0
        if standstills == 1 and not len(expanded[0]):
            free = np.flatnonzero(state.source.image < 0).astype(np.int32)
            relation = make_wedges(state.source, state.target)
            node, candidate, _, further_visits = _list_marked(free, relation, state.target.image < 0, 1)
            expanded, visits = (node, candidate), visits + further_visits
        passes.append((matches, visits))
    return passes


def _plan_repairs(state: _State) -> Iterator[int]:
    """Yield the minimum number of marks for each repair, which depends on the current mapping."""
    n_repairs, preserved, previous = 0, state.count_preserved_edges(), 0
    while n_repairs < MIN_REPAIRS or preserved > MIN_GROWTH * previous:
        yield 2
        n_repairs, preserved, previous = n_repairs + 1, state.count_preserved_edges(), preserved
    yield 1
    yield from [2] * FINAL_REPAIRS


def _repair(state: _State, seed_pairs: Pairs, min_marks: int) -> tuple[int, int]:
    """Rebuild the mapping from its own marks; return the numbers of source nodes with a new image and of visits."""
    relation, old_image = make_wedges(state.source, state.target), state.source.image.copy()
    state.source.image[:], state.target.image[:] = -1, -1
    state.source.image[seed_pairs[0]], state.target.image[seed_pairs[1]] = seed_pairs[1], seed_pairs[0]
    _, visits = _choose_pairs(state, relation, min_marks)
    return int((state.source.image != old_image).sum()), visits


def _choose_pairs(state: _State, relation: Wedges, min_marks: int) -> tuple[int, int]:
    """Add the greedy selection among free nodes to the images; return the numbers of matches and of visits."""
    image, inverse = state.source.image, state.target.image
    matches, total_visits = 0, 0
    for tier in sorted({HIGH_TIER, 2, min_marks}, reverse=True):
        free = np.flatnonzero(image == FREE).astype(np.int32)
        node, candidate, marks, visits = _list_marked(free, relation, inverse == FREE, tier)
        matches += choose_greedily(*_sort_into_classes(state, node, candidate, marks), image, inverse)
        total_visits += visits
    image[image < 0], inverse[inverse < 0] = FREE, FREE
    return matches, total_visits


def _list_marked(
    nodes: NDArray[np.int32], relation: Wedges, is_free: Booleans, min_marks: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], int]:
    """Return all pairs (node, free target node) with at least `min_marks` marks: nodes, targets, marks, visits."""
    parts, total_visits = [np.empty((3, 0), dtype=np.int32)], 0
    pairs = np.empty((3, 2**20 + len(is_free)), dtype=np.int32)
    while len(nodes):
        mark = np.where(is_free, 0, NOT_FREE)
        n_nodes, n_pairs, visits = list_marked_pairs(nodes, relation, min_marks, mark, pairs)
        parts.append(pairs[:, :n_pairs].copy())
        nodes, total_visits = nodes[n_nodes:], total_visits + visits
    node, candidate, marks = np.concatenate(parts, axis=1)
    return node, candidate, marks, total_visits


def _sort_into_classes(
    state: _State, node: NDArray[np.int32], candidate: NDArray[np.int32], marks: NDArray[np.int32]
) -> tuple[Integers, NDArray[np.int32], NDArray[np.int32]]:
    """Return the bounds of the classes of equally good pairs, and the pairs from best to worst."""
    gap = np.abs(state.auxiliary.degree[node] - state.release.degree[candidate])
    n_gaps, top = int(gap.max(initial=0)) + 1, int(marks.max(initial=0))
    rank = (top - marks.astype(np.int64)) * n_gaps + gap
    order = argsort_digits(rank, (top + 1) * n_gaps)
    rank = rank[order]
    is_first = np.ones(len(rank), dtype=np.bool_)
    is_first[1:] = rank[1:] != rank[:-1]
    return np.append(np.flatnonzero(is_first), len(rank)), node[order], candidate[order]
