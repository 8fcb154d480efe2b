"""Runs of an attack on perturbed networks; seeds by name, so that a part gives the same numbers as the whole."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from show import percent

from unmask.graphs import Attack, Auxiliary, Pair, SeedPairs, SocialGraph, datasets, select_seeds, split
from unmask.graphs.knowledge import betweenness
from unmask.measures.rates import MIN_SPREAD

MAIN = ("slashdot", "epinions")
"""Networks of the published figures that are at hand."""

STAND_IN = "cond-mat-2005"
"""Stands for LJ66k, which was never published: a third of its people, too, have at most three neighbors."""

Overlap = tuple[float, float]
"""Overlap of people, and of edges."""


@cache
def network(name: str) -> SocialGraph:
    """Return a public network."""
    return datasets.network(name)


def rng_of(*names: object) -> np.random.Generator:
    """Return random numbers that depend on these names alone."""
    return np.random.default_rng(zlib.crc32("/".join(map(str, names)).encode()))


def perturb(name: str, node_overlap: float, edge_overlap: float, number: int) -> Pair:
    """Return a perturbation of a network."""
    rng = rng_of(name, node_overlap, edge_overlap, number)
    return split(network(name), node_overlap, edge_overlap, rng, largest_component=True)


def seed_set(pair: Pair, method: str, n: int, *names: object) -> SeedPairs:
    """Return a seed set of a pair."""
    return select_seeds(pair, method, n, rng_of(method, n, *names))


def rank_by_betweenness(pair: Pair, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the tenth of the common people with most contacts, the most central in the graph of that tenth first.

    The source's program computes betwc.1 in this way.
    """
    by_degree = pair.common[np.argsort(-pair.source.degree[pair.common], kind="stable")]
    pool = by_degree[: math.ceil(0.1 * len(by_degree))]
    return pool[np.argsort(-betweenness(pair.source.take(pool), rng=rng), kind="stable")]


@dataclass(frozen=True, eq=False)
class Run:
    """Outcome of one attack on one pair. All arrays are over the source nodes.

    common    : True if the person is in the target too
    free      : True for everyone but the seeds
    hit       : matched correctly; never a seed
    incorrect : matched incorrectly, people who are not in the target included; never a seed
    degree    : in the source
    sweeps    : matches in each pass
    """

    common: NDArray[np.bool_]
    free: NDArray[np.bool_]
    hit: NDArray[np.bool_]
    incorrect: NDArray[np.bool_]
    degree: NDArray[np.int32]
    sweeps: tuple[int, ...]

    @classmethod
    def of(cls, pair: Pair, attack: Attack, seeds: SeedPairs) -> Run:
        """Run the attack."""
        belief = attack(pair.target, Auxiliary(pair.source, seeds))
        free = np.ones(pair.source.n_nodes, dtype=np.bool_)
        free[seeds.source] = False
        hit = free & (pair.truth >= 0) & (belief.mapping == pair.truth)
        incorrect = free & (belief.mapping >= 0) & ~hit
        degree = pair.source.degree.astype(np.int32)
        return cls(pair.truth >= 0, free, hit, incorrect, degree, tuple(belief.sweeps.tolist()))

    @property
    def published_recall(self) -> float:
        """Hits without seeds / all people in both graphs, as in the table."""
        return float(self.hit.sum() / self.common.sum())

    @property
    def recall(self) -> float:
        """Hits / people in both graphs, seeds left out of both."""
        return float(self.hit.sum() / max((self.free & self.common).sum(), 1))

    @property
    def spreads(self) -> bool:
        """True if the attack goes beyond its seeds."""
        return self.recall >= MIN_SPREAD

    @property
    def error(self) -> float:
        """People in both graphs who are matched incorrectly / all people in both graphs."""
        return float((self.incorrect & self.common).sum() / self.common.sum())

    @property
    def all_errors(self) -> float:
        """All who are matched incorrectly, people who are not in the target included / people in both graphs."""
        return float(self.incorrect.sum() / self.common.sum())

    @property
    def precision(self) -> float:
        """Hits / matches; 1 without a match."""
        n_matches = self.hit.sum() + self.incorrect.sum()
        return float(self.hit.sum() / n_matches) if n_matches else 1.0


def mean_recall(runs: Sequence[Run]) -> float:
    """Return the mean recall of runs, as published."""
    return float(np.mean([run.published_recall for run in runs]))


def count_spreading(runs: Sequence[Run]) -> int:
    """Return the number of runs that spread."""
    return sum(run.spreads for run in runs)


def format_range(shares: Sequence[float]) -> str:
    """Return mean (smallest-largest) in percent."""
    return f"{percent(float(np.mean(shares)))} ({percent(min(shares))}-{percent(max(shares))})"
