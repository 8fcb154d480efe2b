"""An attack that counts witnesses, from the nodes of high degree to those of low: Korula and Lattanzi's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.graphs.attacks._sides import Marks, Rule, Side, Wedges
from unmask.graphs.attacks.beliefs import believe
from unmask.graphs.attacks.matching import Matching, check_at_least_one, seeded, side
from unmask.graphs.auxiliary import Auxiliary
from unmask.graphs.graph import SocialGraph


@dataclass(frozen=True)
class KorulaLattanzi:
    """Reconciliation by witnesses: of the pairs whose nodes both have many neighbors, the mutually best are matched.

    A witness of a source node u and a target node c is a neighbor of u that is mapped to a neighbor of c. A pass goes
    through the buckets j = floor(log2(highest degree)), ..., floor(log2(witnesses)): among the unmapped nodes of degree
    at least 2^j of both graphs, u is mapped to c if the pair has at least `witnesses` witnesses and more than any other
    pair of u or c; all pairs of a bucket at once, ties are refused. Hubs thus have no rivals of low degree, and vouch
    for the others when their turn comes. Passes are repeated until one makes no match; a match, seeds included, is
    never revised.

    witnesses : least number of them, at least 1; with 1, a single wrong match makes others
    listed    : see `Attack`; the score of a candidate is its number of witnesses

    Nodes below the last bucket have too few neighbors for a match. The paper's last bucket is j = 1, for 2 witnesses.

    Assumes: hubs are in both graphs, and seeds are near them.

    Fails when: people have fewer common contacts than `witnesses`, or it is 1: a wrong match then makes others.

    >>> from unmask.graphs.graph import SocialGraph
    >>> kite = SocialGraph.from_edges([0, 0, 1, 2], [1, 2, 2, 3])
    >>> KorulaLattanzi()(kite, Auxiliary(kite, (np.array([0, 1]), np.array([0, 1])))).mapping
    array([ 0,  1,  2, -1], dtype=int32)

    N. Korula & S. Lattanzi, "An efficient reconciliation algorithm for social networks", VLDB 2014, section 3.2.
    """

    witnesses: int = 2
    listed: int = 10

    def __post_init__(self) -> None:
        check_at_least_one(self.witnesses, "witnesses")
        check_at_least_one(self.listed, "listed")

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary[SocialGraph], *, rng: np.random.Generator | None = None
    ) -> Matching:
        """The belief about each node of the adversary's graph."""
        image, inverse = seeded(release, knowledge)
        here, there = plain(knowledge.graph, image), plain(release, inverse)
        highest = int(min(knowledge.graph.degree.max(), release.degree.max()))
        sweeps: list[int] = []
        visits = 0
        while not sweeps or sweeps[-1]:
            sweeps.append(0)
            for bucket in range(highest.bit_length() - 1, self.witnesses.bit_length() - 2, -1):
                matches, seen = self._bucket(here, there, least=2**bucket)
                sweeps[-1] += matches
                visits += seen
        rule = Rule(False, False, 0.0)
        return believe(here, there, rule, listed=self.listed, sweeps=sweeps, visits=visits, attack=repr(self))

    def _bucket(self, here: Side, there: Side, *, least: int) -> tuple[int, int]:
        """Match the nodes of at least this degree, written into both images; the matches and the visits."""
        from unmask.graphs.attacks._percolation import mutual_best

        nodes = np.flatnonzero((here.image < 0) & (np.diff(here.indptr) >= least))
        others = (there.image < 0) & (np.diff(there.indptr) >= least)
        most, owner = np.full(len(others), self.witnesses - 1, np.int32), np.full(len(others), -1, np.int32)
        best, scratch = np.full(len(nodes), -1, np.int32), Marks.of(len(others))
        relation = wedges(here, there)
        visits = mutual_best(nodes.astype(np.int32), relation, others, self.witnesses, scratch, most, owner, best)
        found = best >= 0
        here.image[nodes[found]], there.image[best[found]] = best[found], nodes[found]
        return int(found.sum()), visits


def plain(graph: SocialGraph, image: NDArray[np.int32]) -> Side:
    """A graph whose scores are numbers of witnesses."""
    one = np.ones(len(image))
    return side(graph, image, weight=one, size=one)


def wedges(here: Side, there: Side, more: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None) -> Wedges:
    """Both graphs, and the mapping as the relation whose pairs vouch; `more` pairs do so too, each counted once."""
    node = np.flatnonzero(here.image >= 0)
    image = here.image[node]
    if more is not None and len(more[0]):
        other = here.image[more[0]] != more[1]
        node, image = np.concatenate((node, more[0][other])), np.concatenate((image, more[1][other]))
        order = np.argsort(node, kind="stable")
        node, image = node[order], image[order]
    vouched = np.concatenate(([0], np.cumsum(np.bincount(node, minlength=len(here.image)))))
    return Wedges(here.indptr, here.neighbor, there.indptr, there.neighbor, vouched, image)
