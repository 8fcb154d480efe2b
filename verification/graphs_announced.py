"""What scores of attacks on real pairs would announce, read as probabilities, and what comes true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from graphs_draws import PAIRS, SEEDS
from graphs_runs import Attack, percent, rng_of
from numpy.typing import NDArray
from scipy import special
from show import Section, Verdict

from unmask.graphs import (
    Auxiliary,
    Bumblebee,
    Matching,
    Nar09,
    Pair,
    Rematch,
    SeedPairs,
    datasets,
    log_odds,
    select_seeds,
)
from unmask.graphs.evaluation import rates

ATTACKS: dict[str, Attack] = {
    "nar09": Nar09(),
    "bumblebee 0.5": Bumblebee(theta=0.5),
    "rematch": Rematch(),
    "rematch, forced": Rematch(forced=True),
}


class Attacked(NamedTuple):
    """What one attack made of one pair."""

    pair: Pair
    seeds: SeedPairs
    belief: Matching
    score: NDArray[np.float64]

    @property
    def names(self) -> NDArray[np.int64]:
        """The source nodes that are named, seeds aside."""
        return np.setdiff1d(np.flatnonzero(self.belief.mapping >= 0), self.seeds.source)

    @property
    def right(self) -> NDArray[np.bool_]:
        """(n_source,) named rightly."""
        return (self.belief.mapping == self.pair.truth) & (self.pair.truth >= 0)


def announced() -> Section:
    """What the model of `Rematch` announces of the matches of attacks, next to what comes true."""
    found = {(name, attack): _attacked(name, attack) for name in PAIRS for attack in ATTACKS}
    return Section(
        title=f"Real pairs, {SEEDS:.0%} random seeds: names that are right, announced and realized, over all names",
        header=("pair", "attack", "recall", "precision", "the model says"),
        rows=tuple(_row(key, one) for key, one in found.items()),
        notes=("Realized: names of people who are in one network only are wrong.",),
        verdicts=tuple(_verdicts(found)),
    )


def _attacked(name: str, attack: str) -> Attacked:
    pair = datasets.pair(name).shuffled(rng=rng_of("pair", name))
    seeds = select_seeds(pair, "random", round(SEEDS * len(pair.common)), rng_of("seeds", name))
    belief = ATTACKS[attack](pair.target, Auxiliary(pair.source, seeds))
    return Attacked(pair, seeds, belief, log_odds(pair.target, pair.source, belief.mapping))


def _row(key: tuple[str, str], one: Attacked) -> tuple[str, ...]:
    found = rates(one.belief.mapping, one.pair.truth, one.seeds.source)
    says = special.expit(one.score[one.names]).mean()
    return (*key, percent(found.recall or 0.0), percent(found.precision or 0.0), percent(says))


def _verdicts(found: dict[tuple[str, str], Attacked]) -> Iterator[Verdict]:
    off = {
        key: float(special.expit(one.score[one.names]).mean() - one.right[one.names].mean())
        for key, one in found.items()
    }
    worst = max(off, key=lambda key: abs(off[key]))
    yield Verdict(
        "no belief of an attack is called a probability: its status is scores", "-",
        f"the model is off by {100 * off[worst]:+.1f} points for {worst[1]} on {worst[0]}",
        all(one.belief.status == "scores" for one in found.values()),
    )  # fmt: skip
