"""Runs of an attack on perturbed networks: seeds by name, so that a part run alone gives the figures of the whole."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from unmask.graphs import Attack, Auxiliary, Pair, SeedPairs, SocialGraph, datasets, select_seeds, split

MAIN = ("slashdot", "epinions")
"""The networks of the published figures that are at hand."""

STAND_IN = "cond-mat-2005"
"""In place of LJ66k, which was never published: a third of its people, too, have at most three neighbors."""


@cache
def network(name: str) -> SocialGraph:
    """A public network."""
    return datasets.network(name)


def rng_of(*names: object) -> np.random.Generator:
    """Random numbers that depend on these names only."""
    return np.random.default_rng(zlib.crc32("/".join(map(str, names)).encode()))


def perturb(name: str, node_overlap: float, edge_overlap: float, number: int) -> Pair:
    """A perturbation of a network."""
    return split(
        network(name),
        node_overlap,
        edge_overlap,
        rng_of(name, node_overlap, edge_overlap, number),
        largest_component=True,
    )


def seeded(pair: Pair, method: str, n: int, *names: object) -> SeedPairs:
    """A seed set of a pair."""
    return select_seeds(pair, method, n, rng_of(method, n, *names))


@dataclass(frozen=True, eq=False)
class Run:
    """What one attack on one pair found. All arrays are over the source nodes.

    common     : whether the person is in the target too
    free       : everyone but the seeds
    hit, wrong : named rightly, and wrongly (those who are not in the target included); neither holds for seeds
    degree     : in the source
    sweeps     : matches in each pass
    """

    common: NDArray[np.bool_]
    free: NDArray[np.bool_]
    hit: NDArray[np.bool_]
    wrong: NDArray[np.bool_]
    degree: NDArray[np.int32]
    sweeps: tuple[int, ...]

    @classmethod
    def of(cls, pair: Pair, attack: Attack, seeds: SeedPairs) -> Run:
        """Run the attack."""
        belief = attack(pair.target, Auxiliary(pair.source, seeds))
        free = np.ones(pair.source.n_nodes, dtype=np.bool_)
        free[seeds.source] = False
        hit = free & (pair.truth >= 0) & (belief.mapping == pair.truth)
        wrong = free & (belief.mapping >= 0) & ~hit
        return cls(
            pair.truth >= 0, free, hit, wrong, pair.source.degree.astype(np.int32), tuple(belief.sweeps.tolist())
        )

    @property
    def published_recall(self) -> float:
        """Hits without seeds / all people in both graphs: what the table has."""
        return float(self.hit.sum() / self.common.sum())

    @property
    def recall(self) -> float:
        """Hits / people in both graphs, seeds out of both."""
        return float(self.hit.sum() / max((self.free & self.common).sum(), 1))

    @property
    def error(self) -> float:
        """People in both graphs who are named wrongly / all people in both graphs."""
        return float((self.wrong & self.common).sum() / self.common.sum())

    @property
    def all_errors(self) -> float:
        """All who are named wrongly, those who are not in the target included / people in both graphs."""
        return float(self.wrong.sum() / self.common.sum())

    @property
    def precision(self) -> float:
        """Hits / matches made; 1 where none was made."""
        made = self.hit.sum() + self.wrong.sum()
        return float(self.hit.sum() / made) if made else 1.0


Overlap = tuple[float, float]


def percent(share: float) -> str:
    """A share in per cent, with one digit."""
    return f"{100 * share:.1f}"


def span(shares: list[float]) -> str:
    """Mean (smallest-largest) in per cent."""
    return f"{percent(float(np.mean(shares)))} ({percent(min(shares))}-{percent(max(shares))})"
