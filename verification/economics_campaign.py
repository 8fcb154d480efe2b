"""Campaigns against every interleaving: `python verification/economics_campaign.py --games 50000` (about ten minutes).

Random games of two to four groups, sizes up to 9, 6 and 4, one to four fines; the optimum of all interleavings is the
oracle's, `tests/economics/literal.py`, which shares nothing with the package. The package's bounds are taken without
its own search of all interleavings, which would make them exact in every game drawn here.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from economics_case import oracle
from show import Section, Verdict, run

from unmask import Posterior
from unmask.economics import Attacker, campaign

campaigns = importlib.import_module("unmask.economics.campaign")  # the module; the package has the function

FAMILIES = ("one prior", "prior 1", "free tries", "link cost", "several priors", "growing")
LARGEST = {2: 9, 3: 6, 4: 4}
PRIORS = (1.0, 0.9, 0.63, 0.3)
SLACK = 1e-7
"""Of the gain: two solvers that agree."""


@dataclass(frozen=True)
class Game:
    """One campaign: the attacker, the sizes, and the chance that each target is in its group."""

    attacker: Attacker
    sizes: tuple[int, ...]
    inside: tuple[float, ...]

    def belief(self) -> Posterior:
        """The same as a belief, a row for each target."""
        dense = np.zeros((len(self.sizes), sum(self.sizes)))
        ends = np.cumsum((0, *self.sizes))
        for row, (start, end, inside) in enumerate(zip(ends[:-1], ends[1:], self.inside, strict=True)):
            dense[row, start:end] = inside / (end - start)
        return Posterior.from_dense(dense)


@dataclass(frozen=True)
class Bounded:
    """The bounds of one game before access, the oracle's optimum, and what it is worth without fines; in gains."""

    family: str
    lower: float
    upper: float
    best: float
    free: float


def drawn(rng: np.random.Generator, family: str) -> Game:
    """A random game of a family."""
    m = int(rng.integers(2, 5))
    q = float(rng.choice([0.001, 0.01, 0.05, 0.1, 0.3, 0.6, 0.9]))
    prior = 1.0 if family == "prior 1" else float(rng.choice(PRIORS))
    gain = float(rng.choice([500.0, 1000.0, 8000.0]))
    caught = {"detection": (q,)}
    if family == "growing":
        growth = float(rng.choice([0.1, 0.3, 1.0, 2.0]))
        caught = {"detection_base": math.log(q / (1 - q)), "detection_growth": growth}
    attacker = Attacker(
        gain=gain,
        link_cost=gain * float(rng.uniform(0.01, 0.1)) if family == "link cost" else 0.0,
        exploit_cost=0.0 if family == "free tries" else gain * float(rng.choice([0.0, 0.001, 0.01, 0.05])),
        fine=gain * float(np.exp(rng.uniform(math.log(0.03), math.log(16)))),
        max_fines=int(rng.integers(1, 5)),
        prior=prior,
        **caught,
    )
    sizes = tuple(rng.integers(1, LARGEST[m] + 1, m).tolist())
    several = tuple(rng.choice(PRIORS, m).tolist())
    return Game(attacker, sizes, several if family == "several priors" else (prior,) * m)


def bounded(game: Game, family: str) -> Bounded:
    """Bounds and optimum of one game."""
    attacker = game.attacker
    who: Posterior | Sequence[int] = game.belief() if family == "several priors" else game.sizes
    found = campaign(attacker, who)
    best = oracle().campaign_value(attacker, game.sizes, game.inside)
    free = campaign(
        Attacker(
            gain=attacker.gain,
            exploit_cost=attacker.exploit_cost,
            link_cost=attacker.link_cost,
            max_fines=0,
            prior=attacker.prior,
        ),
        who,
    ).payoff
    return Bounded(family, *(value / attacker.gain for value in (found.payoff, found.upper, best, free)))


def games(n: int) -> Iterator[Bounded]:
    """So many games of all families in turn, bounds without the search of all interleavings."""
    kept, campaigns.EXACT_STATES = campaigns.EXACT_STATES, 0
    try:
        for i in range(n):
            family = FAMILIES[i % len(FAMILIES)]
            yield bounded(drawn(np.random.default_rng([2015, i]), family), family)
    finally:
        campaigns.EXACT_STATES = kept


def bounds(n: int = 3000) -> Section:
    """Where the bounds lie, and whether any is violated."""
    found = list(games(n))
    rows = [_row(family, [one for one in found if one.family == family]) for family in FAMILIES]
    wrong = [one for one in found if one.lower > one.best + SLACK or one.upper < one.best - SLACK]
    meet = np.mean([one.upper - one.lower <= SLACK for one in found])
    sure = [one for one in found if one.family == "prior 1"]
    late = sum(one.best - one.lower > SLACK for one in sure)
    width = np.array([(one.upper - one.lower) / one.free for one in found if one.free > 0])
    widest, worst = np.quantile(width, 0.99), width.max()
    verdicts = (
        Verdict("no bound is violated", "0", f"{len(wrong)} of {n:,}", not wrong),
        Verdict("the bounds meet", "at least 90 %", f"{meet:.1%}", bool(meet >= 0.9)),
        Verdict("prior 1: the plan found is the best", "all", f"{late} of {len(sure):,} are not", late == 0),
        Verdict("(upper - lower) / F, 99th percentile", "<= 1.5 %", f"{widest:.2%}", bool(widest <= 0.015)),
        Verdict("(upper - lower) / F, worst", "<= 10 %", f"{worst:.2%}", bool(worst <= 0.1)),
    )
    return Section(
        f"Campaigns: {n:,} games against all interleavings",
        ("games", "n", "bounds meet", "(U-J)/F 50/90/99/worst", "(J-L)/F 50/90/99/worst"),
        tuple(rows),
        ("L and U: the package without its own search of all interleavings; J: the oracle's; F: without fines.",),
        verdicts,
    )


def _row(family: str, found: Sequence[Bounded]) -> tuple[str, ...]:
    def quantiles(values: Sequence[float]) -> str:
        return " / ".join(f"{value:.1e}" for value in np.quantile(values, (0.5, 0.9, 0.99, 1.0)))

    open_ones = [one for one in found if one.free > 0]
    above = [max(one.upper - one.best, 0.0) / one.free for one in open_ones]
    below = [max(one.best - one.lower, 0.0) / one.free for one in open_ones]
    meet = np.mean([one.upper - one.lower <= SLACK for one in found])
    return family, f"{len(found):,}", f"{meet:.1%}", quantiles(above), quantiles(below)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=3000, help="random games")
    given = parser.parse_args()
    sys.exit(run([lambda: bounds(given.games)]))
