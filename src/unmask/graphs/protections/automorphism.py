"""k-automorphism: everybody has k - 1 others whose place in the network is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from unmask.graphs.communities import communities
from unmask.graphs.protections.edges import check_enough, shuffled
from unmask.graphs.protections.identities import Separated
from unmask.graphs.release import SocialGraph
from unmask.randomness import secret_unless
from unmask.ranges import Range, check_ranges


@dataclass(frozen=True)
class KAutomorphism:
    """Add edges until k - 1 renumberings leave the network as it is that move everybody, each to somebody else.

    k : people whose places are the same, at least; the graph has to have as many

    People are divided into circles of k, by community (`communities`) and falling degree, ties at random; the last
    takes who is left over. Everybody has a successor in their circle, and where u-v is an edge, the edge of their
    successors becomes one, and so on: at most k edges of one (of the last circle, the least common multiple of both
    lengths). Those of a circle take their places in it one by one, such that the fewest edges come of those to people
    who have theirs; the source cuts the graph into k blocks and aligns these. Nodes are shuffled, without labels.

    So k people see the same from their places, as far as one looks: each degree, neighborhood (k-neighborhood anonymity
    of Zhou and Pei) and subgraph is there k times. Who has the original graph, and knows nobody in the release, finds a
    person with a probability of at most 1 / k.

    Assumes: the adversary knows nobody in the release to start from.

    Fails when: they do: all true edges are there to go on by.

    >>> path = SocialGraph.from_edges([0, 1, 2], [1, 2, 3])
    >>> np.sort(KAutomorphism(k=2)(path, rng=np.random.default_rng(1)).release.degree)
    array([2, 2, 2, 2])

    L. Zou, L. Chen, M. T. Ozsu, "k-automorphism: a general framework for privacy preserving network publication", VLDB
    2009, definitions 3 and 5; B. Zhou, J. Pei, "Preserving privacy in social networks against neighborhood attacks",
    ICDE 2008.
    """

    k: Annotated[int, Range(1)] = 5

    def __post_init__(self) -> None:
        check_ranges(self)

    def __call__(self, graph: SocialGraph, *, rng: np.random.Generator | None = None) -> Separated:
        """The release, and the node behind each of its nodes."""
        n = graph.n_nodes
        check_enough(n, self.k)
        rng = secret_unless(rng)
        order = np.lexsort((rng.permutation(n), -graph.degree, communities(graph)))
        circles = np.split(order, np.arange(1, n // self.k) * self.k)
        edges = _closed(*graph.edges(), _successors(graph, circles))
        return shuffled(edges // n, edges % n, n, rng)


def _successors(graph: SocialGraph, circles: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """(n_nodes,) who comes after each node in its circle, once all have their places."""
    following = np.empty(graph.n_nodes, dtype=np.int64)
    circle, place = np.full(graph.n_nodes, -1), np.zeros(graph.n_nodes, dtype=np.int64)
    for number, members in enumerate(circles):
        free, kinds = set(range(len(members))), set[tuple[int, int]]()
        for node in members.tolist():
            near = graph.neighbors(node)
            near = near[circle[near] >= 0]
            ends = list(zip(circle[near].tolist(), place[near].tolist(), strict=True))
            of = {at: {(other, (end - at) % len(members)) for other, end in ends} for at in free}
            _, best = min((len(of[at] - kinds), at) for at in free)
            free.remove(best)
            kinds |= of[best]
            place[node] = best
        circle[members] = number
        seated = members[np.argsort(place[members])]
        following[seated] = np.roll(seated, -1)
    return following


def _closed(u: NDArray[np.integer], v: NDArray[np.integer], following: NDArray[np.int64]) -> NDArray[np.int64]:
    """Edges u n + v, u < v, and those of the successors of their ends, of theirs, and so on until the first is back."""
    n = len(following)
    one, other = u.astype(np.int64), v.astype(np.int64)
    first = one * n + other
    found = [first]
    while len(first):
        one, other = following[one], following[other]
        key = np.minimum(one, other) * n + np.maximum(one, other)
        goes_on = key != first
        one, other, first = one[goes_on], other[goes_on], first[goes_on]
        found.append(key)
    return np.unique(np.concatenate(found))
