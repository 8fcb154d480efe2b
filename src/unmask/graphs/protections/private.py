"""Releases with edge differential privacy: one edge changes no probability by more than a factor e^epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy

from unmask.core.arrays import Integers
from unmask.graphs.graph import SocialGraph
from unmask.graphs.protections.edges import ChangedEdges, Ends, other_pairs
from unmask.graphs.random_graphs import chung_lu
from unmask.ranges import Range

Epsilon = Annotated[float, Range(0, above=True)]

FOR_COUNT = 0.1
"""Share of epsilon for the number of edges."""


@dataclass(frozen=True)
class RandomizeEdges(ChangedEdges):
    """Randomized response for each pair of people: an edge differentially private graph.

    An edge is kept with probability p, and any other pair becomes an edge with probability q = p e^-e, independently. e
    is nine tenths of epsilon. To release about m' edges among N pairs,

        p = min(m' / (m' + e^-e (N - m')), 1 / (1 + e^-e))

    which also keeps (1 - q) / (1 - p) <= e^e. The network is useful only if e^e is about N / m. In a sparse network, a
    small epsilon gives a random graph. Nodes are shuffled and have no labels.

    Parameters
    ----------
    epsilon : float
        Privacy budget of one edge. A tenth of it is spent on the number of edges m, which becomes m' with geometric
        noise.

    Notes
    -----
    Assumes: the adversary may know every other edge. The number of people is public.

    Fails when: people, not edges, must be hidden. At an epsilon that makes the network useful, most edges are kept, and
    they identify people.

    References
    ----------
    V. Karwa, P. Krivitsky, A. Slavkovic, "Sharing social network data: differentially private estimation of exponential
    family random-graph models", JRSS C 66, 2017; the number of edges is kept as by H. H. Nguyen, A. Imine, M.
    Rusinowitch, "Differentially private publication of social graphs at linear cost", ASONAM 2015.

    Examples
    --------
    >>> star = SocialGraph.from_edges([0, 0, 0], [1, 2, 3])
    >>> RandomizeEdges(epsilon=100.0)(star, rng=np.random.default_rng(1)).release.n_edges
    3
    """

    epsilon: Epsilon = 8.0

    def draw(self, graph: SocialGraph, rng: np.random.Generator) -> Ends:
        """Return the ends of the edges of the release."""
        u, v = (end.astype(np.int64) for end in graph.edges())
        n, m = graph.n_nodes, len(u)
        pairs = n * (n - 1) // 2
        count = int(np.clip(m + _noise(1, FOR_COUNT * self.epsilon, rng)[0], 0, pairs))
        p, q = answers(count, pairs, (1 - FOR_COUNT) * self.epsilon)
        stays = rng.random(m) < p
        false = other_pairs(u * n + v, n, int(rng.binomial(pairs - m, q)), rng)
        return np.concatenate((u[stays], false // n)), np.concatenate((v[stays], false % n))


def answers(edges: int, pairs: int, epsilon: float) -> tuple[float, float]:
    """Return p and q of `RandomizeEdges`: probabilities that an edge is kept, and that another pair becomes an edge.

    >>> [round(chance, 3) for chance in answers(10, 1000, math.log(99))]
    [0.5, 0.005]
    """
    rare = math.exp(-epsilon)
    p = min(edges / (edges + rare * (pairs - edges)), 1 / (1 + rare)) if edges else 0.0
    return p, p * rare


@dataclass(frozen=True)
class NoisyDegrees(ChangedEdges):
    """Release a random graph with noisy degrees, which is edge differentially private. Nothing else of the network
    remains.

    Integer noise with P(z) proportional to e^(-epsilon |z| / 2) is added to the ascending degrees. The nearest
    ascending sequence by least squares is the sequence of expected degrees of `random_graphs.chung_lu`. Node i
    represents the person of rank i by degree, with ties at random. Nodes are shuffled and have no labels.

    Parameters
    ----------
    epsilon : float
        Privacy budget of one edge, which changes two degrees by 1.

    Notes
    -----
    Assumes: the adversary may know every other edge. The number of people is public.

    Fails when: degrees are unique, as those of hubs are. The rank of such a person survives the noise.

    References
    ----------
    M. Hay, C. Li, G. Miklau, D. Jensen, "Accurate estimation of the degree distribution of private networks", ICDM
    2009.

    Examples
    --------
    >>> star = SocialGraph.from_edges([0] * 99, range(1, 100))
    >>> release, origin = NoisyDegrees(epsilon=2.0)(star, rng=np.random.default_rng(1))
    >>> int(origin[np.argmax(release.degree)])
    0
    """

    epsilon: Epsilon = 1.0

    def draw(self, graph: SocialGraph, rng: np.random.Generator) -> Ends:
        """Return the ends of the edges of the release."""
        n = graph.n_nodes
        alike = rng.permutation(n)
        rank = alike[np.argsort(graph.degree[alike], kind="stable")]
        noisy = graph.degree[rank] + _noise(n, self.epsilon / 2, rng)
        expected = np.clip(scipy.optimize.isotonic_regression(noisy).x, 0, n - 1) if n else noisy
        u, v = chung_lu(expected, rng=rng).edges()
        return rank[u], rank[v]


def _noise(n: int, epsilon: float, rng: np.random.Generator) -> Integers:
    """Return (n,) integers z with P(z) proportional to e^(-epsilon |z|)."""
    first, second = rng.geometric(-math.expm1(-epsilon), size=(2, n))
    return np.asarray(first - second, dtype=np.int64)
