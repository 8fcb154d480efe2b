"""What the attacks on a graph share: the seeds, and the belief that a mapping amounts to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unmask.core.csr_rows import distinct
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.graphs.attacks._kernels import read_only
from unmask.graphs.attacks._sides import UNSETTLED, Side
from unmask.graphs.auxiliary import Auxiliary, Graph
from unmask.graphs.graph import SocialGraph

_MOST = 2**31 - 1  # node numbers are int32, and so are counts in the loops


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Matching(Posterior):
    """The belief of an attack that maps nodes: which target node is each source node?

    Its observations are the source nodes, its candidates the target nodes, its prior is uniform over them. Attacks that
    only score (status `scores`: the order is theirs, the sureness is not calibrated) hold a mapped node, seeds
    included, for certain. Of a node left unmapped they list the best candidates with
    p(c) = exp(S_c) / (sum over the listed of exp(S) + n_unlisted): the softmax over all target nodes, those that are
    not listed counting as S = 0 and sharing the rest alike; a node that no seed ever reached keeps the prior. What
    `Rematch` and `calibrated` make of their matches stands there.

    mapping : (n_observations,) int32, the target node of each source node, -1 where the attack names none
    sweeps  : (n_sweeps,) int64, matches made or changed in each pass over the nodes; the last entry is 0 unless a cap
              on the number of passes was reached
    visits  : candidates visited in all passes, repetitions included: the work done
    """

    mapping: NDArray[np.int32]
    sweeps: NDArray[np.int64]
    visits: int

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("mapping", "sweeps"):
            view = getattr(self, name).view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)

    @property
    def named(self) -> NDArray[np.integer]:
        """The mapping: whom the attack takes each node for."""
        return self.mapping


class Attack(Protocol):
    """An attack on a graph: what it believes about each node of the adversary's graph. No attack sees the truth.

    None draws random numbers: `rng` is there for attacks of your own. Parameters of several attacks: `theta` is the
    least eccentricity of a match, at least 0; `listed` how many candidates the belief lists of an unmapped node, at
    most; `threads` changes no result, so it is no part of an attack's name.
    """

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary[SocialGraph], *, rng: np.random.Generator | None = None
    ) -> Matching:
        """The belief about each node of the adversary's graph."""


def check_theta(theta: float) -> None:
    """Refuse a threshold that is no number of at least 0."""
    if not 0.0 <= theta < np.inf:
        raise UnmaskError(f"theta is {theta}, expected a number of at least 0: the least eccentricity of a match")


def check_at_least_one(value: int, name: str) -> None:
    """Refuse a count below 1, and one that the loops' numbers do not hold."""
    if value < 1:
        raise UnmaskError(f"{name} is {value}, expected at least 1")
    if value > _MOST:
        raise UnmaskError(f"{name} is {value}, expected at most {_MOST}")


def seeded(release: Graph, knowledge: Auxiliary[Graph]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Images of the nodes of the auxiliary graph, then of the release, after seeding: -1 for all nodes but the seeds.

    Refused are no seeds, lists of unequal length, nodes outside their graph, and a node that is named twice.
    """
    n_source, n_target = knowledge.graph.n_nodes, release.n_nodes
    source, target = _nodes(knowledge.seeds[0], n_source, "source"), _nodes(knowledge.seeds[1], n_target, "target")
    if len(source) != len(target):
        raise UnmaskError(f"{len(source)} source seeds come with {len(target)} target seeds, expected as many")
    if not len(source):
        raise UnmaskError("there are no seeds, expected at least one: propagation has nowhere to start")
    image, inverse = np.full(n_source, -1, np.int32), np.full(n_target, -1, np.int32)
    image[source], inverse[target] = target, source
    return image, inverse


def positive_degree(graph: SocialGraph) -> NDArray[np.float64]:
    """(n_nodes,) number of neighbors, read as 1 where it is 0: such a node is never scored, but would divide by 0."""
    return np.maximum(np.diff(graph.indptr), 1).astype(np.float64)


def side(
    graph: SocialGraph,
    image: NDArray[np.int32],
    *,
    weight: NDArray[np.float32] | NDArray[np.float64],
    size: NDArray[np.float64],
) -> Side:
    """A graph as the kernels take it; its own arrays are passed as views that cannot be written to."""
    best, rival = np.full((2, len(image)), UNSETTLED, dtype=np.int32)
    return Side(*read_only(graph.indptr, graph.neighbor), image, weight, size, best, rival)


def _nodes(nodes: NDArray[np.integer], n: int, which: str) -> NDArray[np.int64]:
    listed = np.asarray(nodes)
    if listed.ndim != 1 or (len(listed) and not np.issubdtype(listed.dtype, np.integer)):
        raise UnmaskError(f"the {which} seeds are not a list of node numbers")
    if len(listed) and (listed.min() < 0 or listed.max() >= n):
        wrong = int(np.flatnonzero((listed < 0) | (listed >= n))[0])
        raise UnmaskError(f"{which} seed {wrong} is node {listed[wrong]}, expected 0..{n - 1}")
    if len(distinct(listed)) != len(listed):
        raise UnmaskError(f"a node is named twice among the {which} seeds, expected each person once")
    return listed.astype(np.int64)
