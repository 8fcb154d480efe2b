"""Campaigns against every interleaving: `python verification/economics_campaign.py --games 50000` (four CPU minutes).

Random games of two to four groups, sizes up to 9, 6 and 4, one to four fines; the optimum of all interleavings is that
of `economics_joint`, which shares nothing with the package, and in the first games also that of the plain recursion in
`tests/economics/literal.py`. The package's bounds are taken without its own search of all interleavings, which would
make them exact in every game drawn here.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from economics_case import oracle
from economics_joint import best_order, interleaved, stages
from show import Section, Verdict, run

from unmask import Posterior
from unmask.economics import Attacker, campaign

campaigns = importlib.import_module("unmask.economics.campaign")  # the module; the package has the function

FAMILIES = ("one prior", "prior 1", "free tries", "link cost", "several priors", "growing")
LARGEST = {2: 9, 3: 6, 4: 4}
PRIORS = (1.0, 0.9, 0.63, 0.3)
SLACK = 1e-7
"""Of the gain: two solvers that agree."""

TWICE = 300
"""Games whose optimum is also that of the plain recursion."""

ALIKE = 1e-12
"""Of the gain: by how much two optima of a game may differ, all its rounding errors together."""


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
    """One game before access, in gains: the package's bounds, the optimum, what it is worth without fines.

    ordered : the best that attacks the groups one after another, each left for good
    """

    family: str
    lower: float
    upper: float
    best: float
    ordered: float
    free: float

    @property
    def width(self) -> float:
        """(U - L) / F."""
        return (self.upper - self.lower) / self.free if self.free else 0.0


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
    found, free = (campaign(one, who) for one in (attacker, replace(attacker, max_fines=0)))
    odds, tries = stages(game.sizes, game.inside)
    money = np.array([attacker.gain, attacker.exploit_cost, attacker.fine, attacker.link_cost])
    table = odds, attacker.detection_at(max(game.sizes)), tries, money, int(attacker.max_fines)
    values = (found.payoff, found.upper, interleaved(*table), best_order(*table), free.payoff)
    return Bounded(family, *(value / attacker.gain for value in values))


def recursed(game: Game) -> float:
    """The optimum of a game by the plain recursion, in gains."""
    return float(oracle().campaign_value(game.attacker, game.sizes, game.inside)) / game.attacker.gain


def all_games(n: int) -> Iterator[tuple[Game, str]]:
    """So many games, of all families in turn."""
    for i in range(n):
        family = FAMILIES[i % len(FAMILIES)]
        yield drawn(np.random.default_rng([2015, i]), family), family


def games(n: int) -> Iterator[Bounded]:
    """So many games, bounds without the search of all interleavings."""
    kept, campaigns.EXACT_STATES = campaigns.EXACT_STATES, 0
    try:
        yield from (bounded(game, family) for game, family in all_games(n))
    finally:
        campaigns.EXACT_STATES = kept


def bounds(n: int = 3000) -> Section:
    """Where the bounds lie, and whether any is violated."""
    found = list(games(n))
    rows = [_row(family, [one for one in found if one.family == family]) for family in FAMILIES]
    return Section(
        f"Campaigns: {n:,} games against all interleavings; quantiles are 50 / 90 / 99 % / worst",
        ("games", "n", "returns pay", "L = U", "(U-J)/F", "(J-L)/F", "(U-J)/J", "(J-L)/J", "J = 0 certified"),
        tuple(rows),
        (
            "L and U: the package without its own search of all interleavings; J: the optimum; F: without fines.",
            "Shares of F where F > 0; shares of J where J > F / 5. Returns pay: no order without return is worth J.",
        ),
        (*_held(found), *_narrow(found)),
    )


def _held(found: Sequence[Bounded]) -> Iterator[Verdict]:
    """What must hold in every game."""
    differ = max(abs(recursed(game) - one.best) for (game, _), one in zip(all_games(TWICE), found, strict=False))
    yield Verdict("both optima of the first games agree", f"{ALIKE:.0e} gains", f"{differ:.0e}", differ <= ALIKE)
    wrong = sum(one.lower > one.best + SLACK or one.upper < one.best - SLACK for one in found)
    yield Verdict("no bound is violated", "0", f"{wrong} of {len(found):,}", not wrong)
    sure = [one for one in found if one.family == "prior 1"]
    late = sum(one.best - one.lower > SLACK for one in sure)
    yield Verdict("prior 1: the plan found is the best", "all", f"{late} of {len(sure):,} are not", late == 0)


def _narrow(found: Sequence[Bounded]) -> Iterator[Verdict]:
    """How far the bounds are apart."""
    width = np.array([one.width for one in found if one.free > 0])
    meet = float(np.mean([one.upper - one.lower <= SLACK for one in found]))
    yield Verdict("the bounds meet", "at least 90 %", f"{meet:.1%}", meet >= 0.9)
    tenth, widest, worst = np.quantile(width, (0.9, 0.99, 1.0)).tolist()
    yield Verdict("(U - L) / F, 90th percentile", "<= 1e-9", f"{tenth:.0e}", tenth <= 1e-9)
    yield Verdict("(U - L) / F, 99th percentile", "<= 1.5 %", f"{widest:.2%}", widest <= 0.015)
    yield Verdict("(U - L) / F, worst", "<= 10 %", f"{worst:.2%}", worst <= 0.1)


def _row(family: str, found: Sequence[Bounded]) -> tuple[str, ...]:
    some, much = ([one for one in found if one.free > 0 and one.best >= one.free * share] for share in (0.0, 0.2))
    nothing = [one for one in some if one.best <= SLACK]
    return (
        family,
        f"{len(found):,}",
        f"{np.mean([one.best - one.ordered > SLACK for one in found]):.2%}",
        f"{np.mean([one.upper - one.lower <= SLACK for one in found]):.1%}",
        _quantiles([(one.upper - one.best) / one.free for one in some]),
        _quantiles([(one.best - one.lower) / one.free for one in some]),
        _quantiles([(one.upper - one.best) / one.best for one in much]),
        _quantiles([(one.best - one.lower) / one.best for one in much]),
        f"{np.mean([one.upper <= SLACK for one in nothing]):.1%}",
    )


def _quantiles(values: Sequence[float]) -> str:
    """Median, 90th and 99th percentile, and the worst; below 1e-12 it is rounding."""
    found = np.quantile(values, (0.5, 0.9, 0.99, 1.0))
    return " / ".join(f"{value:.1e}" if value > ALIKE else "0" for value in found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=3000, help="random games")
    given = parser.parse_args()
    sys.exit(run([lambda: bounds(given.games)]))
