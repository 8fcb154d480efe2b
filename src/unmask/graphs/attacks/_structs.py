"""Data structures for the compiled loops: graphs in compressed rows, acceptance rule, scratch memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

TIE = 1e-9
"""Relative difference below which two scores are tied. An exact comparison fails: 1 / sqrt(3) and 3 / sqrt(27) differ
in the last bit, and any two distinct scores have eccentricity sqrt(2).
"""

NONE, UNKNOWN = -1, -2

FREE = -1
"""State of an unmapped node that may be selected; smaller states are excluded from the selection."""

GRID = 65536.0
"""Witness weights are integer multiples of 1 / GRID, so that sums do not depend on the order of addition."""

NEGLIGIBLE = 40.0
"""Candidates whose log-odds are 40 or more below the best are not listed."""

DIRECTION_UNIT = 2.0**26
"""Weight of a link to a node in a directed graph. A link from it has weight 1, so one sum holds both counts."""

Links = tuple[NDArray[np.int64], NDArray[np.int32]]
"""indptr and neighbor of a graph; for a list of pairs, the first pair of each source node and the candidates."""

Unsigned = tuple[NDArray[np.uint64], NDArray[np.uint32]]
"""`Links` in unsigned types."""


class Side(NamedTuple):
    """One of the two graphs, with its mapping and cached candidates.

    An undirected graph has one row for each node. A directed graph has two: row 2 v has the links from node v, row
    2 v + 1 the links to it. `weight` and `size` have one entry for each row.

    indptr, neighbor : the graph in compressed rows
    image            : (n,) int32, the mapped node of the other graph, -1 if unmapped
    weight           : (n_rows,) contribution of a mapped node to the scores of the neighbors in this row of its image.
                       The dtype is the dtype of the sums; float32 is exact for counts.
    size             : (n_rows,) float64, divisor of scores, see `Rule`
    leader, rival    : (n,) int32, result of the last scoring of the node, valid until the mapping of a neighbor
                       changes. leader without rival (-1): the leader is accepted while it remains a candidate. leader
                       and rival: a tie, nothing is accepted while both remain candidates. leader -1: no candidate is
                       accepted. leader -2: not cached, the node must be scored.
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
        """Return (n,) the number of links of each node."""
        return np.asarray(np.diff(self.indptr).reshape(max(len(self.image), 1), -1).sum(axis=1), dtype=np.int64)


class Rule(NamedTuple):
    """Rule that computes scores and accepts the best candidate.

    W is the sum of weights. A candidate is accepted if its eccentricity is at least theta; ties are rejected.

    ratio  : True: score = W min(size_v / size_c, size_c / size_v); False: score = W / size_c
    revise : True: mapped nodes are candidates, sigma is the population standard deviation, and a single candidate is
             rejected. False: only free nodes are candidates, sigma is the sample standard deviation, and a single
             candidate is accepted.
    theta  : smallest eccentricity (best - second best) / sigma over the scored candidates
    prunes : True: the loops of `_pruned` are used. `ratio` and `revise` are False, all weights are 1, in float32, and
             sizes ascend with the node number.
    """

    ratio: bool
    revise: bool
    theta: float
    prunes: bool = False


class Scratch(NamedTuple):
    """Scratch memory of one thread for the scores of one node at a time.

    total     : (n_target,) sum of weights, 0 between two nodes; -inf for nodes that cannot be candidates, which saves a
                second look-up
    candidate : candidates in the order of their first visit
    score     : score of each candidate
    """

    total: NDArray[np.float32] | NDArray[np.float64]
    candidate: NDArray[np.int32]
    score: NDArray[np.float64]

    @classmethod
    def for_side(cls, source: Side, target: Side, rule: Rule) -> Scratch:
        """Return scratch for candidates in `target`: all nodes if matches are revised, otherwise free nodes."""
        n = len(target.image)
        total: NDArray[Any] = np.zeros(n, dtype=source.weight.dtype.type)
        if not rule.revise:
            total[target.image >= 0] = -np.inf
        return cls(total, np.empty(n + 1, dtype=np.int32), np.empty(n))


class Wedges(NamedTuple):
    """Two graphs in compressed rows, and a relation between their nodes. A related pair marks all pairs of neighbors.

    The number of marks of (u, c) is the number of related pairs (x, y) with x adjacent to u and y adjacent to c. A
    mapping is a relation with at most one y for each x; its marks are the witnesses of (u, c).

    related_indptr, related : source node x is related to the target nodes `related[related_indptr[x]:related_indptr[x +
                              1]]`
    """

    indptr: NDArray[np.int64]
    neighbor: NDArray[np.int32]
    target_indptr: NDArray[np.int64]
    target_neighbor: NDArray[np.int32]
    related_indptr: NDArray[np.int64]
    related: NDArray[np.int32]
