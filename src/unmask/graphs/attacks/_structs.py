"""Structures that the attacks hand to their compiled loops: graphs in compressed rows, the acceptance rule, scratch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

TIE = 1e-9
"""Scores closer than this share of the larger one are tied. An exact test would not do: 1 / sqrt(3) and 3 / sqrt(27)
differ in the last bit, and two candidates that differ at all have eccentricity sqrt(2).
"""

NONE, UNKNOWN = -1, -2

GRID = 65536.0
"""Weights of witnesses are whole multiples of 1 / GRID, so that equal sums are equal whatever their order."""

NEGLIGIBLE = 40.0
"""Candidates whose odds are exp(-40) of those of the best, or less, are left out."""

DIRECTION_UNIT = 2.0**26
"""Weight of a link into a node in a directed graph. Links out of it weigh 1, so that one sum holds both counts."""

Links = tuple[NDArray[np.int64], NDArray[np.int32]]
"""indptr and neighbor of a graph; or, of pairs, the first pair of each source node and the candidates."""

Unsigned = tuple[NDArray[np.uint64], NDArray[np.uint32]]
"""The same in types that cannot be negative."""


class Side(NamedTuple):
    """One of the two graphs, with what is known of its nodes.

    An undirected graph has one row for each node. A directed graph has two: row 2 v is the links out of node v, row
    2 v + 1 the links into it. `weight` and `size` have one entry for each row.

    indptr, neighbor : the graph in compressed rows
    image            : (n,) int32, the node of the other graph that each node is mapped to, -1 if unmapped
    weight           : (n_rows,) what a mapped node adds to the score of every neighbor of its image that this row of
                       the image leads to; scores are added up in this type, and float32 is exact for counts
    size             : (n_rows,) float64, what scores are divided by, see `Rule`
    leader, rival    : (n,) int32, verdicts that hold until a neighbor of the node is mapped anew. leader c and no rival
                       (-1): c stands out as long as it is a candidate; both: they are tied as long as both are
                       candidates, and none stands out; leader -1: none will; leader -2: unknown, score the node
    """

    indptr: NDArray[np.int64]
    neighbor: NDArray[np.int32]
    image: NDArray[np.int32]
    weight: NDArray[np.float32] | NDArray[np.float64]
    size: NDArray[np.float64]
    leader: NDArray[np.int32]
    rival: NDArray[np.int32]

    @property
    def degree(self) -> NDArray[np.int64]:
        """Return (n,) number of links of each node."""
        return np.asarray(np.diff(self.indptr).reshape(max(len(self.image), 1), -1).sum(axis=1), dtype=np.int64)


class Rule(NamedTuple):
    """Rule by which weights become a score and the best candidate is accepted.

    ratio  : the score is W min(size_v / size_c, size_c / size_v) instead of W / size_c, with W the weights added up
    revise : mapped nodes are candidates too, sigma is the population's and a single candidate is refused; otherwise
             only free nodes are candidates, sigma is the sample's and a single candidate is accepted
    theta  : least eccentricity (best - second best) / sigma over the scored candidates; ties are refused
    """

    ratio: bool
    revise: bool
    theta: float


class Scratch(NamedTuple):
    """Memory in which one thread adds up the scores of one node after the other.

    total     : (n_target,) sum of weights, 0 between two nodes; minus infinity marks nodes that are not candidates, so
                that one look-up is enough
    candidate : the candidates in the order in which they were met
    score     : their scores
    """

    total: NDArray[np.float32] | NDArray[np.float64]
    candidate: NDArray[np.int32]
    score: NDArray[np.float64]

    @classmethod
    def for_side(cls, source: Side, target: Side, rule: Rule) -> Scratch:
        """Return scratch for candidates in `target`: all if matches are revised, else the free ones."""
        n = len(target.image)
        total: NDArray[Any] = np.zeros(n, dtype=source.weight.dtype.type)
        if not rule.revise:
            total[target.image >= 0] = -np.inf
        return cls(total, np.empty(n + 1, dtype=np.int32), np.empty(n))


class Marks(NamedTuple):
    """Memory for the marks of one node. mark : (n_target,) 0 between two nodes; touched : target nodes with marks."""

    mark: NDArray[np.int32]
    touched: NDArray[np.int32]

    @classmethod
    def empty(cls, n_target: int) -> Marks:
        """Return unmarked memory for so many target nodes."""
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
