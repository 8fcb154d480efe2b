"""An attack that weighs mapped neighbours and revises its mapping: Grasshopper."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.graphs.attacks._kernels import Rule, Side, mutual
from unmask.graphs.attacks.matching import (
    Matching,
    Seeds,
    believe,
    check_at_least_one,
    check_theta,
    positive_degree,
    seeded,
    side,
)
from unmask.graphs.release import SocialGraph

Weighting = Literal["released", "printed"]


@dataclass(frozen=True)
class Grasshopper:
    """Propagation that trusts a mapped neighbour the more, the more of his own neighbours are mapped alike.

    With n(x) the neighbours x' of a mapped node x whose image is next to the image y of x:

        released : omega(x) = omega(y) = (1 + n(x)) / sqrt(deg x deg y), S_c = sum of omega over the neighbours of v
                   whose image is next to c
        printed  : omega(x) = omega(y) = 1 + n(x) / sqrt(deg x deg y), 1 for a node that is not mapped;
                   S_c = (neighbours of v whose image is next to c) omega(c)

    The printed pseudo code finds far less than was published; the program of its authors weighs as `released`. All
    nodes next to an image are candidates, mapped ones too. The best is a proposal if (max S - second max S) / sigma(S)
    is at least theta, with sigma the population deviation over the candidates; ties and single candidates are
    refused. All nodes are scored against the mapping of the step before; mutual proposals then replace what their two
    nodes were mapped to, so that a match, a seed too, may be moved or dropped. Steps end when none changes the
    mapping, or at `max_steps`, for the mapping may oscillate.

    theta     : least eccentricity, at least 0
    listed    : candidates that the belief lists of an unmapped node, at most
    threads   : results do not depend on it, so it is no part of the attack's name

    >>> from unmask.graphs.release import SocialGraph
    >>> kite = SocialGraph.from_edges([0, 0, 1, 2], [1, 2, 2, 3])
    >>> Grasshopper()(kite, kite, (np.array([0, 1]), np.array([0, 1]))).mapping
    array([ 0,  1,  2, -1], dtype=int32)

    B. Simon, G. G. Gulyas & S. Imre, "Analysis of Grasshopper, a novel social network de-anonymization algorithm",
    2014; G. G. Gulyas, "Structural de-anonymization and identity separation", 2015, algorithm 3.
    """

    theta: float = 0.01
    weighting: Weighting = "released"
    max_steps: int = 40
    listed: int = 10
    threads: int = field(default=1, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_theta(self.theta)
        if self.weighting not in get_args(Weighting):
            raise UnmaskError(f"weighting is {self.weighting!r}, expected one of {', '.join(get_args(Weighting))}")
        for name in ("max_steps", "listed", "threads"):
            check_at_least_one(getattr(self, name), name)

    def __call__(self, target: SocialGraph, auxiliary: SocialGraph, seeds: Seeds) -> Matching:
        """The belief about each node of the auxiliary graph, given (auxiliary nodes, target nodes) as seeds."""
        image, inverse = seeded(auxiliary, target, seeds)
        rule = Rule(False, True, float(self.theta))
        nodes = np.arange(len(image), dtype=np.int32)
        sweeps: list[int] = []
        visits = 0
        here, there = _weighed(auxiliary, target, image, inverse, self.weighting)
        while len(sweeps) < self.max_steps and (not sweeps or sweeps[-1]):
            node, candidate, seen = mutual(nodes, here, there, rule, threads=self.threads)
            new = image[node] != candidate
            _replace(image, inverse, node[new], candidate[new])
            sweeps.append(int(new.sum()))
            visits += seen
            here, there = _weighed(auxiliary, target, image, inverse, self.weighting)
        return believe(here, there, rule, listed=self.listed, sweeps=sweeps, visits=visits, attack=repr(self))


def _replace(
    image: NDArray[np.int32], inverse: NDArray[np.int32], node: NDArray[np.int32], candidate: NDArray[np.int32]
) -> None:
    """Map each node to its candidate; former partners of both, unless paired anew themselves, are left unmapped."""
    old_image, old_node = image[node], inverse[candidate]
    inverse[old_image[old_image >= 0]] = -1
    image[old_node[old_node >= 0]] = -1
    image[node], inverse[candidate] = candidate, node


def _weighed(
    auxiliary: SocialGraph,
    target: SocialGraph,
    image: NDArray[np.int32],
    inverse: NDArray[np.int32],
    weighting: Weighting,
) -> tuple[Side, Side]:
    """Both graphs with their weights: on the mapped neighbours (released) or on the candidates (printed)."""
    x = np.flatnonzero(image >= 0)
    y = image[x]
    root = np.sqrt(positive_degree(auxiliary)[x] * positive_degree(target)[y])
    common = _common(auxiliary, target, image)[x]
    omega, omega_there = np.ones(len(image)), np.ones(len(inverse))
    omega[x] = omega_there[y] = (1 + common) / root if weighting == "released" else 1 + common / root
    one, one_there = np.ones(len(image)), np.ones(len(inverse))
    if weighting == "released":
        return side(auxiliary, image, weight=omega, size=one), side(target, inverse, weight=omega_there, size=one_there)
    return (
        side(auxiliary, image, weight=one, size=1 / omega),
        side(target, inverse, weight=one_there, size=1 / omega_there),
    )


def _common(auxiliary: SocialGraph, target: SocialGraph, image: NDArray[np.int32]) -> NDArray[np.int64]:
    """(n_source,) neighbours of each mapped node whose image is next to the node's own image, 0 for unmapped nodes."""
    row = np.repeat(np.arange(len(image)), auxiliary.degree)
    both = (image[row] >= 0) & (image[auxiliary.neighbour] >= 0)
    row, neighbour = row[both], auxiliary.neighbour[both]
    kept = target.has_edges(image[row], image[neighbour])
    return np.bincount(row[kept], minlength=len(image))
