"""Test whether the seeds are dispersed over two networks like a random sample of people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.graphs.graph import SocialGraph
from unmask.graphs.utility import communities

MAX_P_VALUE = 0.005
"""Significance level of each of the two tests. It is reached only if no draw exceeds the seeds."""

MIN_RATIO, MIN_COMMUNITY_RATIO = 1.2, 1.5
"""Smallest effect sizes. Below them, clustering of the common people explains the result, even if it is significant."""

N_DRAWS = 199  # the smallest p-value is 0.005
MAX_STRATA = 10
MIN_STRATUM_SEEDS = 10

_MIN_EXPECTED = 0.5  # smallest expected number of seeds of a community, a divisor
_BLOCK_CELLS = 20_000_000  # nodes times draws in memory


@dataclass(frozen=True)
class SeedDispersion:
    """Dispersion of seeds relative to random nodes with the same degrees; the larger p-value and the smaller ratio of
    both networks.

    p_value, ratio                     : share of seeds among neighbors, and among the neighbors of neighbors
    community_p_value, community_ratio : unevenness of seeds over communities
    """

    p_value: float
    ratio: float
    community_p_value: float
    community_ratio: float

    @property
    def is_clustered(self) -> bool:
        """Return True if either test rejects a random sample."""
        is_dense = self.p_value <= MAX_P_VALUE and self.ratio >= MIN_RATIO
        return is_dense or (self.community_p_value <= MAX_P_VALUE and self.community_ratio >= MIN_COMMUNITY_RATIO)


def measure_seed_dispersion(
    auxiliary: SocialGraph,
    release: SocialGraph,
    seeds: tuple[NDArray[np.integer], NDArray[np.integer]],
    *,
    rng: np.random.Generator,
) -> SeedDispersion:
    """Compare the dispersion of the seeds over both networks with random draws.

    With adjacency M, degrees d, seed indicator s and w = 1 / (d - 1), the statistics are

        T = mean over seeds of (y + z) / 2, y = M s / d, z = (M (w M s) - s M w) / (neighbors of degree above 1)
        C = sum over communities c of (seeds of c - expected)^2 / max(expected, .5)

    y is the share of seeds among the neighbors of a node, and z is their share among the other neighbors of its
    neighbors. A draw has as many nodes as the seeds in each degree stratum. Strata are cut at quantiles of the seeds'
    degrees: at most 10 strata, each with at least 10 seeds. Communities are detected by the Louvain method.

    Parameters
    ----------
    auxiliary, release : SocialGraph
        The adversary's network and the released one, each with an edge.
    seeds : pair of (n_seeds,) arrays
        Source nodes of the seeds, and their nodes in the release.

    Returns
    -------
    SeedDispersion
        Clustered seeds have small p-values and large ratios in both networks.

    Raises
    ------
    UnmaskError
        If a network has no edge, or there are no seeds.

    Examples
    --------
    >>> from unmask.graphs import datasets
    >>> graph = datasets.watts_strogatz(400, 6, 0.05, rng=np.random.default_rng(0))
    >>> for seeds in (np.arange(60), np.arange(0, 400, 7)):
    ...     spread = measure_seed_dispersion(graph, graph, (seeds, seeds), rng=np.random.default_rng(0))
    ...     print(spread.is_clustered)
    True
    False
    """
    if not len(seeds[0]) or not (auxiliary.n_edges and release.n_edges):
        raise UnmaskError("dispersion needs at least 1 seed, and at least 1 edge in each network")
    results = [_compare(graph, nodes, rng) for graph, nodes in zip((auxiliary, release), seeds, strict=True)]
    p_values, ratios = np.max([p for p, _ in results], axis=0), np.min([ratio for _, ratio in results], axis=0)
    return SeedDispersion(float(p_values[0]), float(ratios[0]), float(p_values[1]), float(ratios[1]))


def _compare(graph: SocialGraph, seeds: NDArray[np.integer], rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return p-values and ratios of T and C in one network."""
    strata = _strata(graph.degree, seeds)
    label, n = communities(graph), graph.n_nodes
    membership = scipy.sparse.csr_array((np.ones(n), (label, np.arange(n))))
    quota = np.bincount(strata[seeds], minlength=strata.max() + 1) / np.maximum(np.bincount(strata), 1)
    expected = np.asarray(membership @ quota[strata])
    blocks = [_statistics(graph, chosen, membership, expected) for chosen in _draws(strata, seeds, rng)]
    values = np.concatenate(blocks, axis=1)
    observed, drawn = values[:, :1], values[:, 1:]
    p_values = (1 + np.count_nonzero(drawn >= observed * (1 - 1e-9), axis=1)) / (1 + N_DRAWS)
    with np.errstate(divide="ignore", invalid="ignore"):
        return p_values, np.nan_to_num(observed[:, 0] / drawn.mean(axis=1), nan=1.0, posinf=np.inf)


def _strata(degree: Integers, seeds: NDArray[np.integer]) -> Integers:
    """Return (n_nodes,) the degree stratum of each node."""
    n_strata = max(1, min(MAX_STRATA, len(seeds) // MIN_STRATUM_SEEDS))
    cuts = np.unique(np.quantile(degree[seeds], np.arange(1, n_strata) / n_strata))
    return np.searchsorted(cuts, degree, side="right")


def _draws(strata: Integers, seeds: NDArray[np.integer], rng: np.random.Generator) -> Iterator[Floats]:
    """Yield (n_nodes, n_columns) indicators of the seeds, then of the draws, in blocks of columns."""
    counts = np.bincount(strata[seeds], minlength=strata.max() + 1)
    members = [np.flatnonzero(strata == stratum) for stratum in range(len(counts))]
    width = max(1, _BLOCK_CELLS // len(strata))
    for start in range(0, N_DRAWS + 1, width):
        chosen = np.zeros((len(strata), min(width, N_DRAWS + 1 - start)))
        for column in range(chosen.shape[1]):
            drawn = [rng.choice(nodes, n, replace=False) for nodes, n in zip(members, counts, strict=True)]
            chosen[np.concatenate(drawn) if start + column else seeds, column] = 1.0
        yield chosen


def _statistics(graph: SocialGraph, chosen: Floats, membership: scipy.sparse.csr_array, expected: Floats) -> Floats:
    """Return (2, n_columns) T and C for each column of indicators."""
    matrix, degree = graph.adjacency().astype(np.float64), graph.degree
    back = np.where(degree > 1, 1.0 / np.maximum(degree - 1, 1), 0.0)
    near = matrix @ chosen
    further = matrix @ (back[:, None] * near) - chosen * (matrix @ back)[:, None]
    share = near / np.maximum(degree, 1)[:, None] + further / np.maximum(matrix @ (degree > 1), 1)[:, None]
    excess = membership @ chosen - expected[:, None]
    uneven = (excess**2 / np.maximum(expected, _MIN_EXPECTED)[:, None]).sum(axis=0)
    return np.array([(chosen * share).sum(axis=0) / (2 * chosen.sum(axis=0)), uneven])
