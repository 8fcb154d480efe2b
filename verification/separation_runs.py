"""Runs of an attack on networks whose people separate their identities; random numbers by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

import numpy as np
from graphs_runs import Attack, percent, rng_of
from graphs_runs import perturbed as perturbed_anew
from show import Verdict

from unmask.graphs import Auxiliary, Bumblebee, Grasshopper, Nar09, Pair, SeedPairs, select_seeds
from unmask.graphs.attacks.rematch import Rematch
from unmask.graphs.disclosure import Disclosure, disclosure, seed_pair
from unmask.graphs.knowledge import betweenness
from unmask.graphs.protections import Decoy, EgoPatterns, IdentitySeparation, Separated, Together

OVERLAP: Final = (0.5, 0.75)

NAR09: Final = "Nar09"

ATTACKS: Mapping[str, tuple[Attack, int]] = {
    NAR09: (Nar09(), 1000),
    "Grasshopper": (Grasshopper(), 100),
    "Bumblebee": (Bumblebee(theta=0.5), 100),
    "Rematch": (Rematch(), 100),
}
"""Attacks, and the seeds that each is given: random.25."""

STOPPED: Final = 0.05
"""Recall below which an attack is stopped: Figure 5.17 reads "drops below 5%"."""

NOISE: Final = 0.01
"""What is no difference: section 3.4.1 reads "only minor deviations [...], usually less than a percent"."""

Protection = IdentitySeparation | Decoy | EgoPatterns | Together


def basic(adopters: float, y: int = 2, **other: object) -> IdentitySeparation:
    """The basic model."""
    return IdentitySeparation("basic", y, adopters=adopters, **other)  # type: ignore[arg-type]


def best(adopters: float, y: int = 5, **other: object) -> IdentitySeparation:
    """The best model."""
    return IdentitySeparation("best", y, adopters=adopters, **other)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Protected:
    """A perturbation of a network in which some have separated their identities."""

    pair: Pair
    separated: Separated | None
    names: tuple[object, ...]

    def seeds(self, method: str, n: int, who: str, number: int) -> SeedPairs:
        """Seeds among the people who have not adopted the protection; mixed: half of them adopters.

        As many as there are, where they are fewer than n.
        """
        if who == "mixed":
            halves = [self._seeds(method, n // 2, part, number) for part in ("whole", "adopters")]
            return SeedPairs(*(np.concatenate(side) for side in zip(*halves, strict=True)))
        return self._seeds(method, n, who, number)

    def _seeds(self, method: str, n: int, who: str, number: int) -> SeedPairs:
        open_to_seeds = self.pair if self.separated is None else seed_pair(self.pair, self.separated, who)  # type: ignore[arg-type]
        if method == "betwc.1":
            return _central(open_to_seeds, n, rng_of(method, *self.names))
        most = {
            "random.25": 0.25,
            "random.1": 0.1,
        }.get(method, 1.0) * len(open_to_seeds.common)
        return select_seeds(open_to_seeds, method, min(n, int(most)), rng_of(method, n, who, *self.names, number))


def _central(pair: Pair, n: int, rng: np.random.Generator) -> SeedPairs:
    """The n most central of the best known tenth, in the graph of that tenth: so the source's program does betwc.1."""
    by_degree = pair.common[np.argsort(-pair.source.degree[pair.common], kind="stable")]
    pool = by_degree[: math.ceil(0.1 * len(by_degree))]
    chosen = pool[np.argsort(-betweenness(pair.source.take(pool), rng=rng), kind="stable")][:n]
    return SeedPairs(chosen, pair.truth[chosen])


@lru_cache(maxsize=4)
def perturbed(name: str, number: int) -> Pair:
    """A perturbation of a network, at the overlaps of the figures."""
    return perturbed_anew(name, *OVERLAP, number)


@lru_cache(maxsize=4)
def protected(name: str, protection: Protection | None, perturbation: int = 0) -> Protected:
    """A network whose people in both graphs may adopt the protection."""
    pair = perturbed(name, perturbation)
    if protection is None:
        return Protected(pair, None, (name, perturbation))
    eligible = np.unique(pair.truth[pair.common])
    separated = protection(pair.target, rng=rng_of("separation", name, perturbation), eligible=eligible)
    return Protected(pair, separated, (name, perturbation))


@dataclass(frozen=True)
class Found:
    """What an attack found.

    recall    : people found, seeds out, of all in both graphs: what the figures have
    own       : the same of the people who separated their identities, seeds out of both
    rate      : disclosure rate, equation (3.5)
    precision : names that are right, of all that are given
    error     : people in both graphs who are named wrongly, of all of them
    exposed   : of those with decoys, whose hidden node is found; decoyed: whose public one is
    """

    recall: float
    own: float
    rate: float
    precision: float
    error: float
    exposed: float
    decoyed: float

    @classmethod
    def of(cls, found: Disclosure) -> Found:
        """What is shown of a disclosure; 0 where there is nobody to have it of."""
        everybody = found.everybody
        return cls(
            everybody.recall_of_all or 0.0,
            found.adopters.recall or 0.0,
            found.rate or 0.0,
            1.0 if everybody.precision is None else everybody.precision,
            everybody.error or 0.0,
            found.exposed or 0.0,
            found.decoyed or 0.0,
        )

    def both(self) -> str:
        """Recall / disclosure, in per cent."""
        return f"{percent(self.recall)} / {percent(self.rate)}"


def disclosed(
    name: str, protection: Protection | None, attacker: str, method: str, n: int, who: str, number: int
) -> Disclosure:
    """One run. Without a protection, of a release that nobody has changed."""
    scene = protected(name, protection, number)
    seeds = scene.seeds(method, n, who, number)
    separated = scene.separated or _unchanged(scene.pair)
    belief = ATTACKS[attacker][0](separated.release, Auxiliary(scene.pair.source, seeds))
    return disclosure(scene.pair, separated, belief.mapping, seeds.source)


def _unchanged(pair: Pair) -> Separated:
    n = pair.target.n_nodes
    return Separated(pair.target, np.arange(n), np.zeros(n, np.int8), np.zeros(0, np.int64))


@cache
def attack(
    name: str,
    protection: Protection | None = None,
    attacker: str = NAR09,
    *,
    method: str = "random.25",
    n: int | None = None,
    who: str = "whole",
    runs: int = 1,
) -> Found:
    """Means over runs, each on a perturbation of its own with a seed set of its own."""
    count = ATTACKS[attacker][1] if n is None else n
    each = [Found.of(disclosed(name, protection, attacker, method, count, who, number)) for number in range(runs)]
    return Found(*np.mean([list(vars(one).values()) for one in each], axis=0).tolist())


# --- what is shown --------------------------------------------------------------------------------------------------


def given(*shares: float, **named: float) -> str:
    """Shares in per cent, some with their names."""
    return ", ".join((*map(percent, shares), *(f"{name} {percent(share)}" for name, share in named.items())))


def yes(claim: str, published: str, ours: str, holds: bool, *, why: str = "", refutes: bool = False) -> Verdict:
    """A verdict beside what the source reads.

    why     : the reason where it does not hold: what was measured, or that the data are others than the source's
    refutes : whether it contradicts the source where it does not hold, see `Verdict`; then `why` is what is known
    """
    told = ours if holds or not why else f"{ours}: {why}"
    return Verdict(claim, published, told, bool(holds), required=not why, refutes=refutes)
