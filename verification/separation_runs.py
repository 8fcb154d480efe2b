"""Attacks on networks whose people separate their identities, and claims about them; random numbers by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np
from graphs_runs import perturb, rank_by_betweenness, rng_of
from show import Section, Verdict, percent

from unmask.graphs import Attack, Auxiliary, Bumblebee, Grasshopper, Nar09, Pair, Rematch, SeedPairs, select_seeds
from unmask.graphs.disclosure import Disclosure, SeparatedPair, disclosure, seed_pair
from unmask.graphs.protections import Decoy, EgoPatterns, IdentitySeparation, Separated, Together
from unmask.measures.rates import Matches

OVERLAP: Final = (0.5, 0.75)

ATTACKS: Mapping[str, tuple[Attack, int]] = {
    "Nar09": (Nar09(), 1000),
    "Grasshopper": (Grasshopper(), 100),
    "Bumblebee": (Bumblebee(theta=0.5), 100),
    "Rematch": (Rematch(), 100),
}
"""Attacks, and the number of their seeds: random.25."""

STOPPED: Final = 0.05
"""Recall below which an attack is stopped: Figure 5.17 reads "drops below 5%"."""

NOISE: Final = 0.01
"""Largest difference due to chance: section 3.4.1 reads "only minor deviations [...], usually less than a percent"."""

Protection = IdentitySeparation | Decoy | EgoPatterns | Together


def basic(adopters: float, y: Any = 2, **options: Any) -> IdentitySeparation:
    """Return the basic model."""
    return IdentitySeparation("basic", y, adopters=adopters, **options)


def best_model(adopters: float, y: int = 5, **options: Any) -> IdentitySeparation:
    """Return the best model."""
    return IdentitySeparation("best", y, adopters=adopters, **options)


MODELS: Mapping[str, Callable[..., IdentitySeparation]] = {"basic, Y = 2": basic, "best, Y = 5": best_model}


@dataclass(frozen=True, eq=False)
class ProtectedPair:
    """A perturbation of a network in which some people have separated their identities."""

    pair: Pair
    separated: Separated | None
    names: tuple[object, ...]

    def select_seeds(self, method: str, n: int, group: str, number: int) -> SeedPairs:
        """Return n seeds, or all if there are fewer, from a group: "whole", "adopters", or "mixed" for half of each.

        "whole" are the people who have not adopted the protection.
        """
        if group == "mixed":
            halves = [self.select_seeds(method, n // 2, half, number) for half in ("whole", "adopters")]
            return SeedPairs(*(np.concatenate(side) for side in zip(*halves, strict=True)))
        pair = self.pair if self.separated is None else seed_pair(self.pair, self.separated, group)  # type: ignore[arg-type]
        if method == "betwc.1":
            return _select_central(pair, n, rng_of(method, *self.names))
        limit = {"random.25": 0.25, "random.1": 0.1}.get(method, 1.0) * len(pair.common)
        return select_seeds(pair, method, min(n, int(limit)), rng_of(method, n, group, *self.names, number))


def _select_central(pair: Pair, n: int, rng: np.random.Generator) -> SeedPairs:
    chosen = rank_by_betweenness(pair, rng)[:n]
    return SeedPairs(chosen, pair.truth[chosen])


@lru_cache(maxsize=4)
def perturb_network(name: str, number: int) -> Pair:
    """Return a perturbation of a network, at the overlaps of the figures."""
    return perturb(name, *OVERLAP, number)


@lru_cache(maxsize=4)
def protect(name: str, protection: Protection | None, perturbation: int = 0) -> ProtectedPair:
    """Return a network in which people in both graphs may adopt the protection."""
    pair = perturb_network(name, perturbation)
    if protection is None:
        return ProtectedPair(pair, None, (name, perturbation))
    eligible = np.unique(pair.truth[pair.common])
    separated = protection(pair.target, rng=rng_of("separation", name, perturbation), eligible=eligible)
    return ProtectedPair(pair, separated, (name, perturbation))


@dataclass(frozen=True)
class Rates:
    """Rates of an attack.

    recall         : people found, seeds left out, of all in both graphs, as in the figures
    adopter_recall : recall of people who separated their identities, seeds left out of both
    disclosure     : disclosure rate, equation (3.5)
    error          : people in both graphs who are matched wrongly, of all of them
    exposed        : people with decoys whose hidden node is found, of all of them
    decoyed        : people with decoys whose public node is found, of all of them
    """

    recall: float
    adopter_recall: float
    disclosure: float
    error: float
    exposed: float
    decoyed: float

    def __str__(self) -> str:
        """Return recall / disclosure, in percent."""
        return f"{percent(self.recall)} / {percent(self.disclosure)}"


def run_attack(
    name: str, protection: Protection | None, attacker: str, method: str, n: int, group: str, number: int
) -> tuple[Disclosure, Rates]:
    """Run an attack once; without a protection, on an unchanged release. A rate is 0 without people."""
    protected = protect(name, protection, number)
    pair, seeds = protected.pair, protected.select_seeds(method, n, group, number)
    separated = protected.separated or _leave_unchanged(pair)
    belief = ATTACKS[attacker][0](separated.release, Auxiliary(pair.source, seeds))
    result = disclosure(pair, separated, belief.mapping, seeds.source)
    matched, right, present = Matches.of(belief, SeparatedPair.of(pair, separated).to_truth(seeds))
    n_present = max(np.count_nonzero(present), 1)
    rates = Rates(
        recall=float(right[present].sum() / len(pair.common)),
        adopter_recall=float(np.mean(result.role >= 0)) if len(result.role) else 0.0,
        disclosure=result.rate or 0.0,
        error=float((matched - right)[present].sum() / n_present),
        exposed=result.exposed or 0.0,
        decoyed=result.decoyed or 0.0,
    )
    return result, rates


def _leave_unchanged(pair: Pair) -> Separated:
    n = pair.target.n_nodes
    return Separated(pair.target, np.arange(n), np.zeros(n, np.int8), np.zeros(0, np.int64))


@cache
def attack(
    name: str,
    protection: Protection | None = None,
    attacker: str = "Nar09",
    *,
    method: str = "random.25",
    n: int | None = None,
    group: str = "whole",
    runs: int = 1,
) -> Rates:
    """Return mean rates over runs, each on another perturbation with another seed set."""
    count = ATTACKS[attacker][1] if n is None else n
    results = [run_attack(name, protection, attacker, method, count, group, number)[1] for number in range(runs)]
    return Rates(*(float(np.mean([getattr(rates, field.name) for rates in results])) for field in fields(Rates)))


# --- tables and claims ----------------------------------------------------------------------------------------------

Curves = Mapping[tuple[str, ...], Mapping[float, Rates]]
"""Rates by network and names of the setting, and by share of adopters."""


def recalls(curve: Mapping[float, Rates]) -> list[float]:
    """Return the recall at each share."""
    return [rates.recall for rates in curve.values()]


def make_table(
    title: str, curves: Curves, verdicts: Iterator[Verdict], *notes: str, names: tuple[str, ...] = ("who", "how")
) -> Section:
    """Return a section with a row for each network and setting, a column for each share: recall / disclosure."""
    shares = list(next(iter(curves.values())))
    header = ("network", *names[: len(next(iter(curves))) - 1], *(f"{share:g}" for share in shares))
    rows = ((*key, *curve.values()) for key, curve in curves.items())
    return Section(f"{title}; recall / disclosure, percent", header, rows, notes, verdicts)


def compare(claim: str, reading: str, ours: str, holds: bool, *, why: str = "", refutes: bool = False) -> Verdict:
    """Return a verdict next to the source's reading.

    why     : the reason if it does not hold: a measurement, or that the data are not the source's
    refutes : True if it contradicts the source when it does not hold, see `Verdict`
    """
    text = ours if holds or not why else f"{ours}: {why}"
    return Verdict(claim, reading, text, bool(holds), required=not why, refutes=refutes)


def claims_about(name: str) -> Callable[..., Verdict]:
    """Return `compare` for claims about a network: the reading is a quotation, the claim ends with the name."""

    def check(claim: str, reading: str, ours: str, holds: bool, **options: Any) -> Verdict:
        return compare(f"{claim}, {name}", f"reads {reading}" if reading else "not tried", ours, holds, **options)

    return check
