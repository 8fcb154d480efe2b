"""What the attacks hand to their compiled loops: graphs in compressed rows, and when a candidate is accepted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

TIE = 1e-9
"""Scores closer than this share of the larger one are tied. An exact test would not do: 1 / sqrt(3) and 3 / sqrt(27)
differ in the last bit, and two candidates that differ at all have eccentricity sqrt(2).
"""

NONE, UNSETTLED = -1, -2

Links = tuple[NDArray[np.int64], NDArray[np.int32]]
"""indptr and neighbor of a graph; or, of pairs, the first pair of each source node and the candidates."""

Unsigned = tuple[NDArray[np.uint64], NDArray[np.uint32]]
"""The same in types that cannot be negative."""


class Side(NamedTuple):
    """One of the two graphs, with what is known of its nodes.

    indptr, neighbor : the graph in compressed rows
    image             : (n,) int32, the node of the other graph that each node is mapped to, -1 where none is
    weight            : (n,) what a mapped node adds to the score of every neighbor of its image; scores are added up
                        in this type, and float32 is exact for counts
    size              : (n,) float64, what scores are divided by, see `Rule`
    best, rival       : (n,) int32, verdicts that hold until a neighbor of the node is mapped anew. best c and no rival
                        (-1): c stands out as long as it is a candidate; both: they are tied as long as both are
                        candidates, and none stands out; best -1: none will; best -2: not known, score the node
    """

    indptr: NDArray[np.int64]
    neighbor: NDArray[np.int32]
    image: NDArray[np.int32]
    weight: NDArray[np.float32] | NDArray[np.float64]
    size: NDArray[np.float64]
    best: NDArray[np.int32]
    rival: NDArray[np.int32]


class Rule(NamedTuple):
    """How weights become a score and when the best candidate is accepted.

    ratio  : the score is W min(size_v / size_c, size_c / size_v) instead of W / size_c, with W the weights added up
    revise : mapped nodes are candidates too, sigma is the population's and a single candidate is refused; otherwise
             only free nodes are candidates, sigma is the sample's and a single candidate is accepted
    theta  : least eccentricity (best - second best) / sigma over the scored candidates; ties are refused
    """

    ratio: bool
    revise: bool
    theta: float


class Arcs(NamedTuple):
    """A directed graph with the node of the other graph that each node is mapped to, -1 where none is.

    in_size, out_size : (n,) square roots of the degrees
    """

    out_indptr: NDArray[np.int64]
    out_neighbor: NDArray[np.int32]
    in_indptr: NDArray[np.int64]
    in_neighbor: NDArray[np.int32]
    image: NDArray[np.int32]
    out_size: NDArray[np.float64]
    in_size: NDArray[np.float64]


class Scratch(NamedTuple):
    """Where one thread adds up the scores of one node after the other.

    total     : (n_there,) weights added up, 0 between two nodes; minus infinity marks a node that is no candidate, so
                that one look-up tells whether it is one and what it has
    candidate : the candidates in the order in which they were met
    score     : their scores
    """

    total: NDArray[np.float32] | NDArray[np.float64]
    candidate: NDArray[np.int32]
    score: NDArray[np.float64]

    @classmethod
    def of(cls, there: Side | Arcs, *, revise: bool, dtype: type[np.floating]) -> Scratch:
        """For candidates of this side; all of them where matches are revised, else those that are free."""
        n = len(there.image)
        total = np.zeros(n, dtype=dtype)
        if not revise:
            total[there.image >= 0] = -np.inf
        return cls(total, np.empty(n + 1, dtype=np.int32), np.empty(n))


class Marks(NamedTuple):
    """Where the marks of one node are counted. mark : (n_target,) 0 between two nodes; touched : those that are not."""

    mark: NDArray[np.int32]
    touched: NDArray[np.int32]

    @classmethod
    def of(cls, n_target: int) -> Marks:
        """For so many target nodes."""
        return cls(np.zeros(n_target, dtype=np.int32), np.empty(n_target, dtype=np.int32))


class Wedges(NamedTuple):
    """Two graphs in compressed rows, and a relation between them whose pairs mark all pairs of their neighbors.

    A source node u and a target node c have as many marks as there are pairs (x, y) of the relation with x next to u
    and y next to c. A mapping is a relation with at most one y for each x; its marks are the witnesses of (u, c).

    vouched, voucher : the target nodes that source node x is related to are `voucher[vouched[x]:vouched[x + 1]]`
    """

    indptr: NDArray[np.int64]
    neighbor: NDArray[np.int32]
    target_indptr: NDArray[np.int64]
    target_neighbor: NDArray[np.int32]
    vouched: NDArray[np.int64]
    voucher: NDArray[np.int32]
