"""An attack that maps greedily and then mends its mapping over and over: Irma."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.graphs.attacks._sides import Marks, Rule, Side, Wedges
from unmask.graphs.attacks.beliefs import believe
from unmask.graphs.attacks.matching import Matching, check_at_least_one, seeded
from unmask.graphs.attacks.witnesses import plain, wedges
from unmask.graphs.auxiliary import Auxiliary
from unmask.graphs.graph import SocialGraph

Ties = Literal["open", "broken"]
Pairs = tuple[NDArray[np.int32], NDArray[np.int32]]
"""Source nodes and the target node of each."""

_GROWTH = 1.02  # a repair that keeps fewer than 2 % more edges is the last of its kind, as in the authors' program
_LEAST_REPAIRS, _LAST_REPAIRS = 4, 4  # before and after the exploring one, as there
_HIGH_TIER = 8  # pairs of many marks are chosen first, by themselves: fewer pairs have to be listed, with one outcome


@dataclass(frozen=True)
class Irma:
    """Iterative repair: a mapping, right or wrong, marks the pairs of neighbors, and the marks make a better mapping.

    A pair (x, y) marks every pair (u, c) with u next to x and c next to y. A greedy choice takes unmapped nodes' pairs
    of at least `least` marks by falling marks, then by rising |deg u - deg c|; a pair taken rules out all others of
    its two nodes. Seeds are mapped throughout.

    1. Percolation (expand when stuck): mapped pairs mark, the choice with least = 2 adds to the mapping, until nothing
       is added. Then all pairs of unmapped nodes that have a mark mark too, as if they were mapped, and it goes on
       until again nothing is added.
    2. Repair: the mapping marks, then it is given up, and the choice with least = 2 makes a new one. Repeated, 4 times
       or more, while the number of edges that are mapped onto edges grows by 2 %.
    3. One more repair explores: it goes on with least = 1, so that many nodes are mapped and few of them well. Four
       repairs with least = 2 follow.

    ties   : what becomes of a pair of a node that has an equal pair (marks, difference of degrees) with another free
             node: `open` leaves all nodes of such pairs out of this choice; `broken` takes them in the order of a hash
             of the two numbers, at random as it were. That is what the published program amounts to. It maps more
             nodes, the additional ones hardly better than by a guess, and structural twins among them
    listed : see `Attack`; the score of a candidate is its number of marks

    `sweeps` are the matches added in each pass of the percolation, then the source nodes mapped otherwise than before
    in each repair; the last one need not be 0. Percolation and repair are the form that its authors run in parallel:
    all marks of a pass first, then the choice. Of further standstills, which they expand too, little came.

    Work: each repair visits, for every source node, the neighbors of the images of its neighbors, and sorts the
    pairs of 2 marks or more: several times the edges, so a graph of 10 million edges needs many gigabytes.

    Assumes: right pairs gather more marks than wrong ones.

    Fails when: few people are in both graphs: the others are mapped too, and wrongly; or the graph is so large that
    pairs exceed the memory.

    >>> from unmask.graphs.graph import SocialGraph
    >>> kite = SocialGraph.from_edges([0, 0, 1, 2], [1, 2, 2, 3])
    >>> Irma()(kite, Auxiliary(kite, (np.array([0, 1]), np.array([0, 1])))).mapping
    array([ 0,  1,  2, -1], dtype=int32)

    B. Babayov & Y. Louzoun, "IRMA: iterative repair for graph matching", 2022, sections 3-4; percolation: E. Kazemi,
    S. H. Hassani & M. Grossglauser, "Growing a graph matching from a handful of seeds", VLDB 2015.
    """

    ties: Ties = "open"
    listed: int = 10

    def __post_init__(self) -> None:
        if self.ties not in get_args(Ties):
            raise UnmaskError(f"ties is {self.ties!r}, expected one of {', '.join(get_args(Ties))}")
        check_at_least_one(self.listed, "listed")

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary[SocialGraph], *, rng: np.random.Generator | None = None
    ) -> Matching:
        """The belief about each node of the adversary's graph."""
        image, inverse = seeded(release, knowledge)
        graphs = knowledge.graph, release
        work = _Work(*graphs, plain(graphs[0], image), plain(release, inverse), self.ties == "broken")
        seed = np.flatnonzero(image >= 0)
        known = seed.astype(np.int32), image[seed]
        sweeps, visits = _percolate(work)
        for least in _repairs(work):
            changed, seen = _repair(work, known, least)
            sweeps.append(changed)
            visits += seen
        rule = Rule(False, False, 0.0)
        return believe(work.here, work.there, rule, listed=self.listed, sweeps=sweeps, visits=visits, attack=repr(self))


class _Work(NamedTuple):
    """Both graphs with their images, which are written to, and whether ties are broken."""

    auxiliary: SocialGraph
    target: SocialGraph
    here: Side
    there: Side
    broken: bool

    def kept_edges(self) -> int:
        """Edges of the auxiliary graph that are mapped onto edges of the target."""
        u, v = self.auxiliary.edges()
        image = self.here.image
        both = (image[u] >= 0) & (image[v] >= 0)
        return int(self.target.has_edges(image[u[both]], image[v[both]]).sum())


def _percolate(work: _Work) -> tuple[list[int], int]:
    """Step 1, written into the images; the matches of each pass and the candidates visited."""
    sweeps: list[int] = []
    visits, stuck = 0, 0
    expanded: Pairs = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32)
    while stuck < 2:
        matches, seen = _choose(work, wedges(work.here, work.there, expanded), least=2)
        sweeps.append(matches)
        visits += seen
        stuck += matches == 0
        if stuck == 1 and not len(expanded[0]):
            free = np.flatnonzero(work.here.image < 0).astype(np.int32)
            node, candidate, _, seen = _marked(free, wedges(work.here, work.there), work.there.image < 0, 1)
            expanded = node, candidate
            visits += seen
    return sweeps, visits


def _repairs(work: _Work) -> Iterator[int]:
    """The least marks of each repair, read off the mapping as it is when the next one is asked for."""
    done, kept, before = 0, work.kept_edges(), 0
    while done < _LEAST_REPAIRS or kept > _GROWTH * before:
        yield 2
        done, kept, before = done + 1, work.kept_edges(), kept
    yield 1
    yield from [2] * _LAST_REPAIRS


def _repair(work: _Work, known: Pairs, least: int) -> tuple[int, int]:
    """The mapping made anew from its own marks; the source nodes mapped otherwise and the candidates visited."""
    relation, before = wedges(work.here, work.there), work.here.image.copy()
    work.here.image[:], work.there.image[:] = -1, -1
    work.here.image[known[0]], work.there.image[known[1]] = known[1], known[0]
    _, visits = _choose(work, relation, least)
    return int((work.here.image != before).sum()), visits


def _choose(work: _Work, relation: Wedges, least: int) -> tuple[int, int]:
    """Add the greedy choice among free nodes to the images; the matches made and the candidates visited."""
    from unmask.graphs.attacks._percolation import greedy

    image, inverse = work.here.image, work.there.image
    matches, visits = 0, 0
    for tier in sorted({_HIGH_TIER, 2, least}, reverse=True):
        free = np.flatnonzero(image == -1).astype(np.int32)
        node, candidate, marks, seen = _marked(free, relation, inverse == -1, tier)
        claims = np.zeros(len(image), dtype=np.int32), np.zeros(len(inverse), dtype=np.int32)
        matches += greedy(*_classes(work, node, candidate, marks), image, inverse, *claims)
        visits += seen
    image[image < 0], inverse[inverse < 0] = -1, -1
    return matches, visits


def _marked(
    nodes: NDArray[np.int32], relation: Wedges, open_target: NDArray[np.bool_], least: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], int]:
    """All pairs (node, open target node) with at least `least` marks: nodes, target nodes, marks; and the visits."""
    from unmask.graphs.attacks._percolation import marked

    scratch, parts, visits = Marks.of(len(open_target)), [np.empty((3, 0), dtype=np.int32)], 0
    pairs = np.empty((3, 2**20 + len(open_target)), dtype=np.int32)
    while len(nodes):
        done, found, seen = marked(nodes, relation, open_target, least, scratch, pairs)
        parts.append(pairs[:, :found].copy())
        nodes, visits = nodes[done:], visits + seen
    node, candidate, marks = np.concatenate(parts, axis=1)
    return node, candidate, marks, visits


def _classes(
    work: _Work, node: NDArray[np.int32], candidate: NDArray[np.int32], marks: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """The pairs from best to worst, with the bounds of the classes of equal ones."""
    gap = np.abs(work.auxiliary.degree[node] - work.target.degree[candidate])
    rank = (int(marks.max(initial=0)) - marks.astype(np.int64)) * 2**32 + gap
    order = np.lexsort((scattered(node, candidate), rank)) if work.broken else np.argsort(rank)
    rank = rank[order]
    first = np.ones(len(rank), dtype=np.bool_)
    if not work.broken:
        first[1:] = rank[1:] != rank[:-1]
    return np.append(np.flatnonzero(first), len(rank)), node[order], candidate[order]


def scattered(node: NDArray[np.int32], candidate: NDArray[np.int32]) -> NDArray[np.uint64]:
    """A number for each pair of node numbers, different for different pairs, in no order that means anything."""
    pair = node.astype(np.uint64) << np.uint64(32) | candidate.astype(np.uint64)
    pair = (pair ^ (pair >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    pair = (pair ^ (pair >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)  # the finalizer of SplitMix64: one to one
    return pair ^ (pair >> np.uint64(31))
