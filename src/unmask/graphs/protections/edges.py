"""Protections that change edges: each person has one node, and some edges of the release are false."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from unmask.core.arrays import Integers
from unmask.core.errors import UnmaskError
from unmask.core.randomness import secret_unless
from unmask.graphs.graph import SocialGraph
from unmask.graphs.protections.identities import Role, Separated
from unmask.ranges import CheckedParameters, Range

MAX_WALKS_PER_EDGE = 10
"""M in the source of `RandomWalk`."""

Ends = tuple[Integers, Integers]


class ChangedEdges(CheckedParameters):
    """Protection that releases other edges; each person has one node, and nodes are in random order."""

    def draw(self, graph: SocialGraph, rng: np.random.Generator) -> Ends:
        """Return the ends of the edges of the release."""
        raise NotImplementedError

    def __call__(self, graph: SocialGraph, *, rng: np.random.Generator | None = None) -> Separated:
        """Return the release, and the node behind each of its nodes."""
        rng, n = secret_unless(rng), graph.n_nodes
        u, v = self.draw(graph, rng)
        origin = rng.permutation(n)
        new = np.argsort(origin)
        release = SocialGraph.from_edges(new[u], new[v], n_nodes=n)
        return Separated(release, origin, np.full(n, Role.WHOLE, np.int8), np.zeros(0, np.int64))


@dataclass(frozen=True)
class PerturbEdges(ChangedEdges):
    """Delete random edges, add random ones, or both.

    Nodes are shuffled and have no labels.

    Parameters
    ----------
    delete : float
        Share of the m edges to delete: round(delete m) edges, uniformly without replacement.
    add : float
        Number of edges to add, as a share of m: round(add m) pairs without an edge, or all such pairs.

    Notes
    -----
    Assumes: the adversary does not know which edges were drawn.

    Fails when: the remaining true edges suffice to recognize people. Structural attacks tolerate many missing and false
    edges. The protection guarantees no k and no epsilon.

    References
    ----------
    M. Hay, G. Miklau, D. Jensen, P. Weis, S. Srivastava, "Anonymizing social networks", University of Massachusetts,
    Technical Report 07-19, 2007.

    Examples
    --------
    >>> star = SocialGraph.from_edges([0, 0, 0], [1, 2, 3])
    >>> release, origin = PerturbEdges(delete=1.0, add=1.0)(star, rng=np.random.default_rng(1))
    >>> release.n_edges, int(release.degree[origin == 0][0])
    (3, 0)
    """

    delete: Annotated[float, Range(0, 1)] = 0.1
    add: Annotated[float, Range(0)] = 0.1

    def draw(self, graph: SocialGraph, rng: np.random.Generator) -> Ends:
        """Return the ends of the edges of the release."""
        u, v = (end.astype(np.int64) for end in graph.edges())
        n = graph.n_nodes
        remaining = np.sort(rng.permutation(len(u))[round(self.delete * len(u)) :])
        false = other_pairs(u * n + v, n, round(self.add * len(u)), rng)
        return np.concatenate((u[remaining], false // n)), np.concatenate((v[remaining], false % n))


@dataclass(frozen=True)
class SwitchEdges(ChangedEdges):
    """Switch the far ends of random pairs of edges, so that all people keep their degree.

    An edge may be switched several times, and back. With many tries (a share of 20) the result is
    a random graph with these degrees (1K series) or joint degrees (2K). Nodes are shuffled and have no labels.

    Parameters
    ----------
    share : float
        Number of tries, round(share m / 2) for m edges. A try draws edges t-u and v-w, each in a random direction.
        They become t-w and v-u unless this creates a self-loop or a second edge.
    keep : Literal['degrees', 'joint_degrees']
        "degrees" draws v-w from all edges. "joint_degrees" draws it from the edges with an end w of the same degree
        as u, so that the number of edges between degrees i and j does not change.

    Notes
    -----
    Assumes: the adversary does not know which edges were drawn.

    Fails when: degrees identify people, such as hubs; or the remaining true edges identify them. It
    guarantees no k and no epsilon.

    References
    ----------
    X. Ying, X. Wu, "Randomizing social networks: a spectrum preserving approach", SDM 2008, section 3; P. Mahadevan,
    D. Krioukov, K. Fall, A. Vahdat, "Systematic topology analysis and generation using degree correlations", SIGCOMM
    2006, section 4.1.4.

    Examples
    --------
    >>> ring = SocialGraph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> SwitchEdges(share=1.0)(ring, rng=np.random.default_rng(1)).release.degree
    array([2, 2, 2, 2])
    """

    share: Annotated[float, Range(0)] = 0.2
    keep: Literal["degrees", "joint_degrees"] = "degrees"

    def draw(self, graph: SocialGraph, rng: np.random.Generator) -> Ends:
        """Return the ends of the edges of the release."""
        ends = np.stack(graph.edges())
        m, arcs = ends.shape[1], np.concatenate((ends, ends[::-1]), axis=1)  # edge i in both directions: i and i + m
        alike = graph.degree[arcs[1]] if self.keep == "joint_degrees" else np.zeros(2 * m, np.int64)
        near, far = arcs.tolist()
        edge_set = set(zip(near, far, strict=True))
        for i, j in zip(*_draws(alike, round(self.share * m / 2), rng), strict=True):
            t, u, v, w = near[i], far[i], near[j], far[j]
            if len({t, u, v, w}) == 4 and (t, w) not in edge_set and (v, u) not in edge_set:
                edge_set -= {(t, u), (u, t), (v, w), (w, v)}
                edge_set |= {(t, w), (w, t), (v, u), (u, v)}
                far[i], far[j] = near[i - m], near[j - m] = w, u  # in both directions of each edge
        return np.array(near[:m], np.int64), np.array(far[:m], np.int64)


def _draws(alike: Integers, tries: int, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """Draw pairs of an element and another element of the same class, each uniform."""
    order = np.argsort(alike, kind="stable")
    ranked = alike[order]
    first_draw = rng.integers(max(len(alike), 1), size=tries if len(alike) else 0)
    first, last = (np.searchsorted(ranked, alike[first_draw], side=side) for side in ("left", "right"))
    return first_draw.tolist(), order[rng.integers(first, last)].tolist()


def other_pairs(edges: Integers, n: int, wanted: int, rng: np.random.Generator) -> Integers:
    """Draw pairs u < v that are not edges, as u n + v, uniformly without replacement; all if there are fewer.

    Repeated draws are rejected, which is fast unless nearly all pairs are edges.
    """
    free = n * (n - 1) // 2 - len(edges)
    if 2 * wanted > free:
        rows, columns = np.triu_indices(n, 1)
        return rng.permutation(np.setdiff1d(rows * n + columns, edges))[:wanted]
    drawn = np.zeros(0, np.int64)
    while len(drawn) < wanted:
        u, v = rng.integers(n, size=(2, 2 * (wanted - len(drawn)) + 8))
        pairs = np.minimum(u, v) * n + np.maximum(u, v)
        new = np.concatenate((drawn, pairs[(u != v) & ~np.isin(pairs, edges)]))
        drawn = new[np.sort(np.unique(new, return_index=True)[1])]  # in order of the draws
    return drawn[:wanted]


def check_enough(n: int, k: int) -> None:
    """Raise if n people are too few for a group of k."""
    if n < k:
        raise UnmaskError(f"k is {k} and there are {n} people, expected at least as many people")


def distinct(pairs: Integers, late: Integers) -> Integers:
    """Return the pairs with -1 for repetitions; of equal pairs, those at the positions `late` count as last.

    >>> distinct(np.array([7, 8, 7]), np.array([0]))
    array([-1,  8,  7])
    """
    order = np.append(np.setdiff1d(np.arange(len(pairs)), late), late)
    first = order[np.unique(pairs[order], return_index=True)[1]]
    result = np.full(len(pairs), -1, dtype=np.int64)
    result[first] = pairs[first]
    return result


@dataclass(frozen=True)
class RandomWalk(ChangedEdges):
    """Replace the far end of each edge by the end of a random walk that starts with it.

    For a person u with d contacts in random order, the walk through the first contact always makes an edge from u to
    its end. The walk through each other contact does so with probability (d / 2 - 1) / (d - 1). On average, d / 2 edges
    start at u if d is at least 2 (1 if d is 1), and d / 2 end there. A walk that ends at u, or would repeat an edge, is
    repeated up to 10 times. Nodes are shuffled and have no labels.

    Parameters
    ----------
    length : int
        Steps of the walk, including the first edge. With 1, the far end is kept.

    Notes
    -----
    Assumes: the adversary does not know the walks.

    Fails when: communities or degrees identify people, because hubs remain hubs, and short walks stay in the
    neighborhood. The protection guarantees no k and no epsilon.

    References
    ----------
    P. Mittal, C. Papamanthou, D. Song, "Preserving link privacy in social network based systems", NDSS 2013, algorithm
    1.

    Examples
    --------
    >>> pair = SocialGraph.from_edges([0], [1])
    >>> RandomWalk(length=3)(pair, rng=np.random.default_rng(1)).release.n_edges
    1
    """

    length: Annotated[int, Range(1)] = 3

    def draw(self, graph: SocialGraph, rng: np.random.Generator) -> Ends:
        """Return the ends of the edges of the release."""
        u, first = _draw_starts(graph, rng)
        n, pairs = graph.n_nodes, np.full(len(u), -1, dtype=np.int64)
        for _ in range(MAX_WALKS_PER_EDGE):
            again = np.flatnonzero(pairs < 0)
            end = _walk(graph, first[again], self.length - 1, rng)
            key = np.minimum(u[again], end) * n + np.maximum(u[again], end)
            pairs[again] = np.where(u[again] == end, -1, key)
            pairs = distinct(pairs, again)
        ends = pairs[pairs >= 0]
        return ends // n, ends % n


def _draw_starts(graph: SocialGraph, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Draw the nodes from which an edge starts, and the first step of its walk."""
    degree = graph.degree
    stays = np.flatnonzero(degree)
    chance = np.repeat(np.maximum(degree / 2 - 1, 0) / np.maximum(degree - 1, 1), degree)
    chance[graph.indptr[stays] + rng.integers(degree[stays])] = 1.0
    chosen = rng.random(len(chance)) < chance
    return np.repeat(np.arange(graph.n_nodes), degree)[chosen], graph.neighbor[chosen].astype(np.int64)


def _walk(graph: SocialGraph, node: Integers, steps: int, rng: np.random.Generator) -> Integers:
    """Return the ends of random walks with this number of steps."""
    for _ in range(steps):
        node = graph.neighbor[graph.indptr[node] + rng.integers(graph.degree[node])].astype(np.int64)
    return node
