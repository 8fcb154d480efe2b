"""Grouped random graph: random edges within and between groups, with a bound for all adversaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from unmask.core.arrays import Integers
from unmask.graphs.graph import SocialGraph
from unmask.graphs.protections.edges import ChangedEdges, Ends, check_enough, distinct
from unmask.ranges import Range


@dataclass(frozen=True)
class GroupNodes(ChangedEdges):
    """Divide people into groups of at least k, and release a random graph with equal numbers of edges between groups.

    Groups are consecutive by degree, with ties at random. If c pairs of people of two groups (or of one group) are
    edges, c random pairs of them are edges of the release. The people of a group are therefore interchangeable. Without
    seeds, an adversary finds a person with probability at most 1 / k, whatever they know, even the original graph and
    the groups. Nodes are shuffled and have no labels.

    Parameters
    ----------
    k : int
        Smallest number of people in a group. The graph must have at least k people.

    Notes
    -----
    Assumes: nothing about the adversary. The draws are secret.

    Fails when: group membership or edges must be hidden. If all pairs of two groups are edges, every edge is disclosed.

    References
    ----------
    M. Hay, G. Miklau, D. Jensen, D. Towsley, P. Weis, "Resisting structural re-identification in anonymized social
    networks", VLDB 2008, section 4; there, groups maximize the likelihood of the release, by simulated annealing.

    Examples
    --------
    >>> star = SocialGraph.from_edges([0, 0, 0], [1, 2, 3])
    >>> GroupNodes(k=4)(star, rng=np.random.default_rng(1)).release.n_edges
    3
    """

    k: Annotated[int, Range(1)] = 5

    def draw(self, graph: SocialGraph, rng: np.random.Generator) -> Ends:
        """Return the ends of the edges of the release."""
        n = graph.n_nodes
        check_enough(n, self.k)
        shuffled_nodes = rng.permutation(n)
        order = shuffled_nodes[np.argsort(graph.degree[shuffled_nodes], kind="stable")]
        cut = np.append(np.arange(n // self.k) * self.k, n)  # the last group includes the remainder
        group = np.empty(n, dtype=np.int64)
        group[order] = np.repeat(np.arange(len(cut) - 1), np.diff(cut))
        u_ends, v_ends = graph.edges()
        return _draw_edges(group[u_ends], group[v_ends], order, cut, rng)


def _draw_edges(u_group: Integers, v_group: Integers, order: Integers, cut: Integers, rng: np.random.Generator) -> Ends:
    """Draw distinct edges between these groups, uniformly without replacement, by rejection sampling."""
    n = len(order)
    pairs = np.full(len(u_group), -1, dtype=np.int64)
    while len(missing := np.flatnonzero(pairs < 0)):
        u, v = (order[rng.integers(cut[group[missing]], cut[group[missing] + 1])] for group in (u_group, v_group))
        pairs[missing] = np.where(u == v, -1, np.minimum(u, v) * n + np.maximum(u, v))
        pairs = distinct(pairs, missing)
    return pairs // n, pairs % n
