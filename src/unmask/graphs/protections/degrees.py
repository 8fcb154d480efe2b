"""k-degree anonymity: each person has the same degree as at least k - 1 others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.arrays import Integers
from unmask.graphs.graph import SocialGraph
from unmask.graphs.protections.edges import ChangedEdges, Ends, check_enough
from unmask.ranges import Range


@dataclass(frozen=True)
class KDegree(ChangedEdges):
    """Add edges until every person shares their degree with at least k - 1 others.

    `anonymous_degrees` raises the degrees at the smallest cost. Edges are added from the person with the largest
    deficit to the people with the next largest deficits (Havel and Hakimi). If ends of edges are left over, the degrees
    of as many random people are raised by one, and the procedure is repeated (the probing step of the paper). Nodes are
    shuffled and have no labels.

    Parameters
    ----------
    k : int
        Smallest number of people of each degree. The graph must have at least k people.

    Notes
    -----
    Assumes: the adversary knows how many contacts a person has, and nothing else.

    Fails when: the adversary knows any edges. All true edges are in the release, and structural attacks use them.

    References
    ----------
    K. Liu, E. Terzi, "Towards identity anonymization on graphs", SIGMOD 2008, sections 5 and 6.

    Examples
    --------
    >>> star = SocialGraph.from_edges([0, 0, 0], [1, 2, 3])
    >>> np.sort(KDegree(k=2)(star, rng=np.random.default_rng(1)).release.degree)
    array([2, 2, 3, 3])
    """

    k: Annotated[int, Range(1)] = 5

    def draw(self, graph: SocialGraph, rng: np.random.Generator) -> Ends:
        """Return the ends of the edges of the release."""
        raised = graph.degree.copy()
        added, n_left = _edges(graph, anonymous_degrees(raised, self.k) - graph.degree, rng)
        while n_left:  # ends at the latest with the complete graph
            candidates = rng.permutation(np.flatnonzero(raised < graph.n_nodes - 1))
            raised[candidates[:n_left]] += 1
            added, n_left = _edges(graph, anonymous_degrees(raised, self.k) - graph.degree, rng)
        u, v = np.concatenate((np.stack(graph.edges()), added), axis=1, dtype=np.int64)
        return u, v


def anonymous_degrees(degree: ArrayLike, k: int) -> Integers:
    """Return (n,) raised degrees such that each value occurs at least k times; their sum is minimal.

    In descending order, groups are consecutive and are raised to their largest degree. An optimal grouping has only
    groups of k to 2 k - 1 people, because larger groups can be split. With I(i, j) the cost of raising i..j to the
    degree of i,

        cost(j) = min over i, k <= j - i + 1 <= 2 k - 1, of cost(i - 1) + I(i, j)

    degree : (n,) with n >= k

    >>> anonymous_degrees([4, 1, 1, 5, 1], 2)
    array([5, 1, 1, 5, 1])

    K. Liu, E. Terzi, 2008, section 5.1.
    """
    degrees = np.asarray(degree, dtype=np.int64)
    n = len(degrees)
    check_enough(n, k)
    order = np.argsort(-degrees, kind="stable")
    high, total = degrees[order], np.concatenate(([0], np.cumsum(degrees[order])))
    cost, start = np.full(n + 1, np.inf), np.zeros(n + 1, dtype=np.int64)
    cost[0] = 0
    for end in range(k, n + 1):
        first = np.arange(max(0, end - 2 * k + 1), end - k + 1)
        costs = cost[first] + (end - first) * high[first] - (total[end] - total[first])
        start[end], cost[end] = first[np.argmin(costs)], costs.min()
    result, end = np.empty(n, dtype=np.int64), n
    while end:
        result[order[start[end] : end]] = high[start[end]]
        end = start[end]
    return result


def _edges(graph: SocialGraph, lacking: Integers, rng: np.random.Generator) -> tuple[Integers, int]:
    """Return (2, n_new) ends of new edges that raise degrees as required, and the number of unmatched ends."""
    free = rng.permutation(np.flatnonzero(lacking))  # random order among equal deficits
    open_ends, n_left = lacking.copy(), 0
    joined: list[Integers] = [np.zeros((2, 0), np.int64)]
    for _ in range(len(free)):
        free = free[np.argsort(-open_ends[free], kind="stable")]
        node, partners = free[0], free[1:]
        partners = partners[(open_ends[partners] > 0) & ~np.isin(partners, graph.neighbors(int(node)))]
        chosen = partners[: open_ends[node]]
        n_left += int(open_ends[node]) - len(chosen)
        open_ends[chosen] -= 1
        joined.append(np.stack((np.full(len(chosen), node), chosen)))
        free = free[1:]
    return np.concatenate(joined, axis=1), n_left
