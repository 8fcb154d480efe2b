"""Attacks that spread from seeds and never take a match back: Nar09 and Bumblebee."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.graphs.attacks._kernels import mutual, ranked, scratch, unsettle, write_back
from unmask.graphs.attacks._sides import Rule, Side
from unmask.graphs.attacks.beliefs import believe
from unmask.graphs.attacks.matching import (
    Matching,
    check_at_least_one,
    check_theta,
    positive_degree,
    seeded,
    side,
)
from unmask.graphs.auxiliary import Auxiliary
from unmask.graphs.graph import SocialGraph

_MANY = 200_000  # nodes, whose counts fit a cache better as float32; fewer share the loops of attacks that weigh

Order = Literal["number", "degree"]


@dataclass(frozen=True)
class Nar09:
    """Narayanan and Shmatikov's attack: who shares most mapped neighbors with you, and you with them?

    Of an unmapped source node v, every unmapped target node c next to the image of a neighbor of v is a candidate,
    S_c = (neighbors of v whose image is next to c) / sqrt(deg c). The best is a proposal if its eccentricity
    (max S - second max S) / sigma(S) is at least theta, with sigma the sample deviation over the candidates; ties are
    refused and a single candidate is taken. It becomes a match if v is likewise the proposal of c with the graphs
    exchanged. Passes over the nodes are repeated until one makes no match; a match, seeds included, is never revised.

    All nodes of a pass are scored against the matches of the pass before, so that the numbers of the nodes say nothing.
    The published algorithm takes one node after the other, and its result depends on their order (`synchronous`).

    theta       : least eccentricity, at least 0. With sigma over all nodes instead (the printed pseudo code) theta is
                  on another scale.
    synchronous : as above; False: each match counts at once for the nodes after it
    order       : where it does: nodes are visited by `number`, or by `degree` from the highest, ties by number. Numbers
                  must not be shared by the two graphs, or the order tells the truth.
    threads     : used by the synchronous form

    Work: a pass visits, of every unmapped node, the neighbors of the images of its mapped neighbors; but not where
    the verdict of an earlier pass must still hold, as no neighbor was mapped and the best two are still there.

    Assumes: both graphs have mostly the same people and edges, seeds are right, and a person's neighbors point at the
    same person.

    Fails when: seeds are too few to spread, below a threshold that `unmask audit graph --transition` finds; or people
    have few contacts, or several identities.

    >>> from unmask.graphs.graph import SocialGraph
    >>> path = SocialGraph.from_edges([0, 1], [1, 2])
    >>> belief = Nar09(theta=0.01)(path, Auxiliary(path, (np.array([0]), np.array([2]))))
    >>> belief.mapping, belief.sweeps
    (array([2, 1, 0], dtype=int32), array([1, 1, 0]))

    A. Narayanan & V. Shmatikov, "De-anonymizing social networks", IEEE S&P 2009, section 5.2; G. G. Gulyas,
    "Protecting privacy against structural de-anonymization attacks in social networks",
    2015, algorithm 2 (undirected).
    """

    theta: float = 0.01
    synchronous: bool = True
    order: Order = "number"
    listed: int = 10
    threads: int = field(default=1, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check(self.theta, self.order, self.listed, self.threads)

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary[SocialGraph], *, rng: np.random.Generator | None = None
    ) -> Matching:
        """The belief about each node of the adversary's graph."""
        return _propagate(self, release, knowledge, np.sqrt, ratio=False)


@dataclass(frozen=True)
class Bumblebee:
    """Nar09 with a score that prefers candidates of a like degree.

    S_c = (neighbors of v whose image is next to c) min(deg v / deg c, deg c / deg v)^delta; all else, and all other
    parameters, as in `Nar09`. It spreads from fewer seeds. With theta 0.01 it also maps many nodes that have no
    counterpart; a theta of 0.5 gives up little recall for fewer of those.

    delta : 0 to 32; 0 counts shared neighbors alone

    Assumes: a person has about as many contacts in both graphs.

    Fails when: one graph was sampled more thinly than the other, or many have no counterpart: with a small theta they
    are mapped all the same.

    >>> from unmask.graphs.graph import SocialGraph
    >>> path = SocialGraph.from_edges([0, 1], [1, 2])
    >>> Bumblebee(delta=0.5)(path, Auxiliary(path, (np.array([0]), np.array([2])))).mapping
    array([2, 1, 0], dtype=int32)

    G. G. Gulyas, B. Simon & S. Imre, "An efficient and robust social network de-anonymization attack", WPES 2016.
    """

    delta: float = 0.5
    theta: float = 0.01
    synchronous: bool = True
    order: Order = "number"
    listed: int = 10
    threads: int = field(default=1, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0.0 <= self.delta <= 32.0:  # a degree to this power is still a number
            raise UnmaskError(f"delta is {self.delta}, expected 0 to 32: the weight of unlike degrees")
        _check(self.theta, self.order, self.listed, self.threads)

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary[SocialGraph], *, rng: np.random.Generator | None = None
    ) -> Matching:
        """The belief about each node of the adversary's graph."""
        return _propagate(self, release, knowledge, lambda degree: np.power(degree, self.delta), ratio=True)


def _propagate(
    attack: Nar09 | Bumblebee,
    release: SocialGraph,
    knowledge: Auxiliary[SocialGraph],
    size: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    *,
    ratio: bool,
) -> Matching:
    """Passes until one makes no match; scores are divided by the size of a degree."""
    from unmask.graphs.attacks._loops import sweep

    many = max(knowledge.graph.n_nodes, release.n_nodes) > _MANY
    source_side, target_side = (
        side(
            graph,
            image,
            weight=np.ones(len(image), np.float32) if many else np.ones(len(image)),
            size=size(positive_degree(graph)),
        )
        for graph, image in zip((knowledge.graph, release), seeded(release, knowledge), strict=True)
    )
    rule = Rule(ratio, False, float(attack.theta))
    inside = ranked(source_side, target_side)
    here, there = inside[:2]
    nodes = np.argsort(inside[2] if attack.order == "number" else -np.diff(here.indptr), kind="stable").astype(np.int32)
    sweeps: list[int] = []
    visits = 0
    while not sweeps or sweeps[-1]:
        nodes = nodes[here.image[nodes] < 0]
        if attack.synchronous:
            matches, seen = _step(nodes, here, there, rule, threads=attack.threads)
        else:
            forth, back = scratch(here, there, rule), scratch(there, here, rule)
            matches, seen = sweep(nodes, here, there, rule, forth, back)
        sweeps.append(matches)
        visits += seen
    write_back(source_side, target_side, inside)
    del inside, here, there, nodes  # copies of both graphs
    return believe(
        source_side,
        target_side,
        rule,
        listed=attack.listed,
        sweeps=sweeps,
        visits=visits,
        attack=repr(attack),
        threads=attack.threads,
    )


def _step(nodes: NDArray[np.int32], here: Side, there: Side, rule: Rule, *, threads: int) -> tuple[int, int]:
    """One synchronous pass, written into both images; the matches made and the candidates visited."""
    node, candidate, visits = mutual(nodes, here, there, rule, threads=threads)
    here.image[node], there.image[candidate] = candidate, node
    unsettle(node, here)
    unsettle(candidate, there)
    return len(node), visits


def _check(theta: float, order: str, listed: int, threads: int) -> None:
    check_theta(theta)
    if order not in get_args(Order):
        raise UnmaskError(f"order is {order!r}, expected one of {', '.join(get_args(Order))}")
    check_at_least_one(listed, "listed")
    check_at_least_one(threads, "threads")
