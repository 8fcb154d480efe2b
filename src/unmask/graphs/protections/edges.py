"""Protections by changed edges: everybody stays one node, and some edges of the release are not true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.graphs.protections.identities import Role, Separated
from unmask.graphs.release import SocialGraph
from unmask.randomness import secret_unless
from unmask.ranges import Range


@dataclass(frozen=True)
class PerturbEdges:
    """Delete random edges, and add as many random ones that were none.

    share : round(share m) of the m edges are deleted, uniformly without replacement, and as many of the pairs that were
            no edge are added, or all such pairs where there are fewer

    The number of edges stays; degrees do not. Nodes are shuffled, without labels. `eligible` changes nothing.

    Assumes: the adversary does not know which edges were drawn.

    Fails when: the true edges that remain suffice to recognize people: attacks by structure bear many missing and
    false edges. It guarantees no k, and no epsilon.

    >>> star = SocialGraph.from_edges([0, 0, 0], [1, 2, 3])
    >>> release, origin = PerturbEdges(share=1.0)(star, rng=np.random.default_rng(1))
    >>> release.n_edges, int(release.degree[origin == 0][0])
    (3, 0)

    M. Hay, G. Miklau, D. Jensen, P. Weis, S. Srivastava, "Anonymizing social networks", University of Massachusetts,
    Technical Report 07-19, 2007.
    """

    share: Annotated[float, Range(0, 1)] = 0.1

    def __call__(
        self, graph: SocialGraph, *, rng: np.random.Generator | None = None, eligible: ArrayLike | None = None
    ) -> Separated:
        """The release, and the node behind each of its nodes."""
        del eligible
        rng = secret_unless(rng)
        u, v = (end.astype(np.int64) for end in graph.edges())
        n = graph.n_nodes
        changed = round(self.share * len(u))
        kept = np.sort(rng.permutation(len(u))[changed:])
        false = _other_pairs(u * n + v, n, changed, rng)
        return _shuffled(np.concatenate((u[kept], false // n)), np.concatenate((v[kept], false % n)), n, rng)


@dataclass(frozen=True)
class SwitchEdges:
    """Switch the far ends of random pairs of edges, so that everybody keeps their degree.

    share : round(share m / 2) tries, m edges. A try draws two edges t-u and v-w, and with equal probability which way
            round the second is read; they become t-w and v-u unless a self-loop or a second edge would come of it

    An edge may be switched several times, and back. Nodes are shuffled, without labels. `eligible` changes nothing.

    Assumes: the adversary does not know which edges were drawn.

    Fails when: degrees alone give people away, as they do for hubs; or the true edges that remain suffice. It
    guarantees no k, and no epsilon.

    >>> ring = SocialGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> SwitchEdges(share=1.0)(ring, rng=np.random.default_rng(1)).release.degree
    array([2, 2, 2, 2])

    X. Ying, X. Wu, "Randomizing social networks: a spectrum preserving approach", SDM 2008, section 3.
    """

    share: Annotated[float, Range(0)] = 0.2

    def __call__(
        self, graph: SocialGraph, *, rng: np.random.Generator | None = None, eligible: ArrayLike | None = None
    ) -> Separated:
        """The release, and the node behind each of its nodes."""
        del eligible
        rng = secret_unless(rng)
        u, v = (end.tolist() for end in graph.edges())
        there = set(zip(u, v, strict=True))
        tries = round(self.share * len(u) / 2)
        drawn = rng.integers(max(len(u), 1), size=(tries, 2)).tolist()
        for (i, j), turned in zip(drawn, rng.random(tries) < 0.5, strict=True):
            t, far, here, w = u[i], v[i], *((v[j], u[j]) if turned else (u[j], v[j]))
            one, other = (min(t, w), max(t, w)), (min(here, far), max(here, far))
            if len({t, far, here, w}) == 4 and one not in there and other not in there:
                there -= {(u[i], v[i]), (u[j], v[j])}
                there |= {one, other}
                (u[i], v[i]), (u[j], v[j]) = one, other
        return _shuffled(np.array(u, np.int64), np.array(v, np.int64), graph.n_nodes, rng)


def _other_pairs(edges: NDArray[np.int64], n: int, wanted: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """So many of the pairs u < v that are no edge, as u n + v, uniform without replacement; all where there are fewer.

    Draws again what is taken, which is quick unless nearly all pairs are.
    """
    free = n * (n - 1) // 2 - len(edges)
    if 2 * wanted > free:
        rows, columns = np.triu_indices(n, 1)
        return rng.permutation(np.setdiff1d(rows * n + columns, edges))[:wanted]
    found = np.zeros(0, np.int64)
    while len(found) < wanted:
        one, other = rng.integers(n, size=(2, 2 * (wanted - len(found)) + 8))
        pairs = np.minimum(one, other) * n + np.maximum(one, other)
        new = np.concatenate((found, pairs[(one != other) & ~np.isin(pairs, edges)]))
        found = new[np.sort(np.unique(new, return_index=True)[1])]  # in the order of draws
    return found[:wanted]


def _shuffled(u: NDArray[np.int64], v: NDArray[np.int64], n: int, rng: np.random.Generator) -> Separated:
    """A release with these edges in which everybody is one node."""
    origin = rng.permutation(n)
    new = np.argsort(origin)
    release = SocialGraph.from_edges(new[u], new[v], n_nodes=n)
    return Separated(release, origin, np.full(n, Role.WHOLE, np.int8), np.zeros(0, np.int64))
