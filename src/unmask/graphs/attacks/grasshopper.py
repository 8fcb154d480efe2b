"""An attack that weighs mapped neighbors and revises its mapping: Grasshopper."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.graphs.attacks._kernels import common, mutual, ranked, unsettle, write_back
from unmask.graphs.attacks._sides import UNSETTLED, Rule, Side
from unmask.graphs.attacks.beliefs import believe
from unmask.graphs.attacks.matching import (
    Matching,
    check_at_least_one,
    check_theta,
    seeded,
    side,
)
from unmask.graphs.auxiliary import Auxiliary
from unmask.graphs.graph import SocialGraph

Weighting = Literal["released", "printed"]


@dataclass(frozen=True)
class Grasshopper:
    """Propagation that trusts a mapped neighbor the more, the more of its own neighbors are mapped alike.

    With n(x) the neighbors x' of a mapped node x whose image is next to the image y of x:

        released : omega(x) = omega(y) = (1 + n(x)) / sqrt(deg x deg y), S_c = sum of omega over the neighbors of v
                   whose image is next to c
        printed  : omega(x) = omega(y) = 1 + n(x) / sqrt(deg x deg y), 1 for a node that is not mapped;
                   S_c = (neighbors of v whose image is next to c) omega(c)

    The printed pseudo code finds far less than was published; the program of its authors weighs as `released`. All
    nodes next to an image are candidates, mapped ones too. The best is a proposal if (max S - second max S) / sigma(S)
    is at least theta, with sigma the population deviation over the candidates; ties and single candidates are
    refused. All nodes are scored against the mapping of the step before; mutual proposals then replace what their two
    nodes were mapped to, so that a match, a seed too, may be moved or dropped. Steps end when none changes the
    mapping, or at `max_steps`, for the mapping may oscillate.

    Assumes: as `Nar09` does, and that right matches have neighbors who are mapped alike.

    Fails when: seeds are too few to spread; nodes of few neighbors get equal scores, which are refused; the mapping may
    oscillate.

    >>> from unmask.graphs.graph import SocialGraph
    >>> kite = SocialGraph.from_edges([0, 0, 1, 2], [1, 2, 2, 3])
    >>> Grasshopper()(kite, Auxiliary(kite, (np.array([0, 1]), np.array([0, 1])))).mapping
    array([ 0,  1,  2, -1], dtype=int32)

    B. Simon, G. G. Gulyas & S. Imre, "Analysis of Grasshopper, a novel social network de-anonymization algorithm",
    2014; G. G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks",
    2015, algorithm 3.
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

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary[SocialGraph], *, rng: np.random.Generator | None = None
    ) -> Matching:
        """The belief about each node of the adversary's graph."""
        source, other = (
            side(graph, image, weight=np.ones(len(image)), size=np.ones(len(image)))
            for graph, image in zip((knowledge.graph, release), seeded(release, knowledge), strict=True)
        )
        rule = Rule(False, True, float(self.theta))
        inside = ranked(source, other)
        here, there = inside[:2]
        nodes = np.arange(len(here.image), dtype=np.int32)
        sweeps: list[int] = []
        visits = 0
        while len(sweeps) < self.max_steps and (not sweeps or sweeps[-1]):
            _weigh(here, there, self.weighting)
            node, candidate, seen = mutual(nodes, here, there, rule, threads=self.threads)
            sweeps.append(_replace(here, there, node, candidate))
            visits += seen
        write_back(source, other, inside)
        _weigh(source, other, self.weighting)
        return believe(
            source,
            other,
            rule,
            listed=self.listed,
            sweeps=sweeps,
            visits=visits,
            attack=repr(self),
            threads=self.threads,
        )


def _replace(here: Side, there: Side, node: NDArray[np.int32], candidate: NDArray[np.int32]) -> int:
    """Map each node to its candidate; former partners of both, unless paired anew themselves, are left unmapped.

    Verdicts on the neighbors of all of them are forgotten. Returns how many pairs are new.
    """
    new = here.image[node] != candidate
    node, candidate = node[new], candidate[new]
    old_image, old_node = here.image[node], there.image[candidate]
    old_image, old_node = old_image[old_image >= 0], old_node[old_node >= 0]
    there.image[old_image] = -1
    here.image[old_node] = -1
    here.image[node], there.image[candidate] = candidate, node
    unsettle(np.concatenate((node, old_node)), here)
    unsettle(np.concatenate((candidate, old_image)), there)
    return len(node)


def _weigh(here: Side, there: Side, weighting: Weighting) -> None:
    """Write the weights of mapped neighbors (released) or of candidates (printed); forget verdicts that they touch."""
    x = np.flatnonzero(here.image >= 0)
    y = here.image[x]
    root = np.sqrt(np.maximum(np.diff(here.indptr)[x], 1) * np.maximum(np.diff(there.indptr)[y], 1))
    shared = common((here.indptr, here.neighbor), (there.indptr, there.neighbor), here.image)[x]
    pair = (1 + shared) / root if weighting == "released" else 1 + shared / root
    for one, mapped in ((here, x), (there, y)):
        omega = np.ones(len(one.image))
        omega[mapped] = pair
        if weighting == "released":
            unsettle(np.flatnonzero(one.weight != omega).astype(np.int32), one)
            one.weight[:] = omega
        else:
            one.size[:] = 1 / omega
            here.best[:] = there.best[:] = UNSETTLED
