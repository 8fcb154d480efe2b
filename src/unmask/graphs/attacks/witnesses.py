"""KorulaLattanzi: an attack that counts witnesses, from nodes of high degree to nodes of low degree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.graphs.attacks._structs import Marks, Rule, Side, Wedges
from unmask.graphs.attacks.base import Count, Matching, make_side, score_matching, seed_images
from unmask.graphs.graph import SocialGraph
from unmask.graphs.similarity import Auxiliary
from unmask.ranges import check_ranges


@dataclass(frozen=True)
class KorulaLattanzi:
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

    def __post_init__(self) -> None:
        check_ranges(self)

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary, *, rng: np.random.Generator | None = None
    ) -> Matching:
        """Return the belief about each node of the adversary's graph."""
        image, inverse = seed_images(release, knowledge)
        source, target = make_counting_side(knowledge.graph, image), make_counting_side(release, inverse)
        max_degree = int(min(knowledge.graph.degree.max(), release.degree.max()))
        sweeps: list[int] = []
        total_visits = 0
        while not sweeps or sweeps[-1]:
            sweeps.append(0)
            for bucket in range(max_degree.bit_length() - 1, self.witnesses.bit_length() - 2, -1):
                matches, visits = self._match_bucket(source, target, min_degree=2**bucket)
                sweeps[-1] += matches
                total_visits += visits
        rule = Rule(False, False, 0.0)
        return score_matching(
            source, target, rule, listed=self.listed, sweeps=sweeps, visits=total_visits, attack=repr(self)
        )

    def _match_bucket(self, source: Side, target: Side, *, min_degree: int) -> tuple[int, int]:
        """Match nodes of at least `min_degree` and write both images; return the numbers of matches and of visits."""
        from unmask.graphs.attacks._percolation import find_mutual_best

        nodes = np.flatnonzero((source.image < 0) & (source.degree >= min_degree)).astype(np.int32)
        is_free = (target.image < 0) & (target.degree >= min_degree)
        n_target = len(is_free)
        top_marks, owner = np.full(n_target, self.witnesses - 1, np.int32), np.full(n_target, -1, np.int32)
        winner = np.full(len(nodes), -1, np.int32)
        relation, scratch = make_wedges(source, target), Marks.empty(n_target)
        visits = find_mutual_best(nodes, relation, is_free, self.witnesses, scratch, top_marks, owner, winner)
        matched = winner >= 0
        source.image[nodes[matched]], target.image[winner[matched]] = winner[matched], nodes[matched]
        return int(matched.sum()), visits


def make_counting_side(graph: SocialGraph, image: NDArray[np.int32]) -> Side:
    """Return a side whose scores are numbers of witnesses."""
    ones = np.ones(len(image))
    return make_side(graph, image, weight=ones, size=ones)


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
