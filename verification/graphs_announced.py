"""What attacks on real pairs announce by themselves, and calibrated on known people, and what comes true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from graphs_draws import PAIRS, SEEDS, WITHIN
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
    calibrated,
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

KNOWN = (0.1, 0.5)
"""Shares of all people of the source, seeds aside, on whom a belief is calibrated."""

DRAWS = 10


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
    """What the model announces, and what a calibration on known people does, beside what comes true."""
    found = {(name, attack): _attacked(name, attack) for name in PAIRS for attack in ATTACKS}
    gaps = {(key, share): _gaps(one, share) for key, one in found.items() for share in KNOWN}
    return Section(
        title=f"Real pairs, {SEEDS:.0%} random seeds: names that are right, announced and realized, over all names",
        header=("pair", "attack", "recall", "precision", "the model says", *(f"off, {s:.0%} known" for s in KNOWN)),
        rows=tuple(_row(key, one, gaps) for key, one in found.items()),
        notes=(
            f"Off: mean distance (largest) of announced from realized precision, over {DRAWS} draws of known people.",
            "Realized: of the people who were not known. Names of people who are in one network only are wrong.",
        ),
        verdicts=tuple(_verdicts(found, gaps)),
    )


def _attacked(name: str, attack: str) -> Attacked:
    pair = datasets.pair(name).shuffled(rng=rng_of("pair", name))
    seeds = select_seeds(pair, "random", round(SEEDS * len(pair.common)), rng_of("seeds", name))
    belief = ATTACKS[attack](pair.target, Auxiliary(pair.source, seeds))
    return Attacked(pair, seeds, belief, log_odds(pair.target, pair.source, belief.mapping))


def _gaps(one: Attacked, share: float) -> NDArray[np.float64]:
    """(2, DRAWS) announced minus realized precision, of the names of people who were not known; and its standard error.

    The error is that of two samples: of the names by which it was calibrated, and of those that are announced.
    """
    score, people = one.score.copy(), np.setdiff1d(np.arange(one.pair.source.n_nodes), one.seeds.source)
    score[one.seeds.source] = np.inf
    found = []
    for draw in range(DRAWS):
        known = rng_of("known", share, draw).permutation(people)[: round(share * len(people))]
        fitted = calibrated(one.belief, score, known, one.pair.truth[known])
        asked = np.setdiff1d(one.names, known)
        stated = np.exp(fitted.log_probability[fitted.indptr[asked]].astype(np.float64))
        realized = one.right[asked].mean()
        sampled = 1 / fitted.provenance["calibrated_on"] + 1 / len(asked)
        found.append((stated.mean() - realized, np.sqrt(realized * (1 - realized) * sampled)))
    return np.array(found).T


def _row(
    key: tuple[str, str], one: Attacked, gaps: dict[tuple[tuple[str, str], float], NDArray[np.float64]]
) -> tuple[str, ...]:
    found = rates(one.belief.mapping, one.pair.truth, one.seeds.source)
    says = special.expit(one.score[one.names]).mean()
    off = (f"{percent(np.abs(gaps[key, s][0]).mean())} ({percent(np.abs(gaps[key, s][0]).max())})" for s in KNOWN)
    return (*key, percent(found.recall or 0.0), percent(found.precision or 0.0), percent(says), *off)


def _verdicts(
    found: dict[tuple[str, str], Attacked], gaps: dict[tuple[tuple[str, str], float], NDArray[np.float64]]
) -> Iterator[Verdict]:
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
    for share in KNOWN:
        gap, error = np.concatenate([gaps[key, share] for key in found], axis=1)
        mean, inside = float(np.abs(gap).mean()), float(np.mean(np.abs(gap) <= 1.96 * error))
        yield Verdict(
            f"calibrated on {share:.0%} of the people, announced is realized within 3 points, on average", "-",
            f"{percent(mean)}, the largest of {len(gap)} {percent(float(np.abs(gap).max()))}", mean <= WITHIN,
        )  # fmt: skip
        yield Verdict(
            f"and within the error of its samples in nine of ten draws, {share:.0%}", "-",
            f"{percent(inside)} % of draws", inside >= 0.9,
        )  # fmt: skip
