"""Campaigns against every interleaving: `python verification/economics_campaign.py --games 50000` (four CPU minutes).

Random games of two to four groups, sizes up to 9, 6 and 4, one to four fines. The optimum of all interleavings is that
of `economics_joint`, which shares no code with the package, and in the first games also that of the plain recursion in
`tests/economics/literal.py`. The package's bounds are taken without its own search of all interleavings, which would
make them exact in every game.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from unittest import mock

import numpy as np
from economics_case import oracle
from economics_joint import best_order, interleaved, stages
from show import Section, Verdict, main

from unmask import Posterior
from unmask.economics import Attacker, campaign
from unmask.economics.campaigns import campaign as campaigns

FAMILIES = ("one prior", "prior 1", "free tries", "link cost", "several priors", "growing")
LARGEST = {2: 9, 3: 6, 4: 4}
PRIORS = (1.0, 0.9, 0.63, 0.3)
SLACK = 1e-7
"""Largest difference of two solvers that agree, in gains."""

RECURSED = 300
"""Games whose optimum is also that of the plain recursion."""

ROUNDING = 1e-12
"""Largest difference of two optima of a game by rounding, in gains."""


@dataclass(frozen=True)
class Game:
    """One campaign: the attacker, the sizes, and the probability that each target is in its group."""

    family: str
    attacker: Attacker
    sizes: tuple[int, ...]
    inside: tuple[float, ...]

    def belief(self) -> Posterior:
        """Return the game as a belief, a row for each target."""
        dense = np.zeros((len(self.sizes), sum(self.sizes)))
        ends = np.cumsum((0, *self.sizes))
        for row, (start, end, inside) in enumerate(zip(ends[:-1], ends[1:], self.inside, strict=True)):
            dense[row, start:end] = inside / (end - start)
        return Posterior.from_dense(dense)


@dataclass(frozen=True)
class Bounded:
    """Values of one game before access, in gains: the package's bounds, the optimum, the value without fines.

    ordered : the best that attacks the groups one after another, without a return
    """

    family: str
    lower: float
    upper: float
    optimum: float
    ordered: float
    free: float

    @property
    def meets(self) -> bool:
        """True if the bounds meet."""
        return self.upper - self.lower <= SLACK


def draw_game(number: int) -> Game:
    """Draw the random game of a number; families take turns."""
    rng, family = np.random.default_rng([2015, number]), FAMILIES[number % len(FAMILIES)]
    m = int(rng.integers(2, 5))
    q = float(rng.choice([0.001, 0.01, 0.05, 0.1, 0.3, 0.6, 0.9]))
    prior = 1.0 if family == "prior 1" else float(rng.choice(PRIORS))
    gain = float(rng.choice([500.0, 1000.0, 8000.0]))
    detection: dict[str, object] = {"detection": (q,)}
    if family == "growing":
        growth = float(rng.choice([0.1, 0.3, 1.0, 2.0]))
        detection = {"detection_base": math.log(q / (1 - q)), "detection_growth": growth}
    attacker = Attacker(
        gain=gain,
        link_cost=gain * float(rng.uniform(0.01, 0.1)) if family == "link cost" else 0.0,
        exploit_cost=0.0 if family == "free tries" else gain * float(rng.choice([0.0, 0.001, 0.01, 0.05])),
        fine=gain * float(np.exp(rng.uniform(math.log(0.03), math.log(16)))),
        max_fines=int(rng.integers(1, 5)),
        prior=prior,
        **detection,  # type: ignore[arg-type]
    )
    sizes = tuple(rng.integers(1, LARGEST[m] + 1, m).tolist())
    several = tuple(rng.choice(PRIORS, m).tolist())
    return Game(family, attacker, sizes, several if family == "several priors" else (prior,) * m)


def bound_game(game: Game) -> Bounded:
    """Return bounds and optimum of one game."""
    attacker = game.attacker
    targets: Posterior | Sequence[int] = game.belief() if game.family == "several priors" else game.sizes
    result, free = (campaign(each, targets) for each in (attacker, replace(attacker, max_fines=0)))
    odds, tries = stages(game.sizes, game.inside)
    money = np.array([attacker.gain, attacker.exploit_cost, attacker.fine, attacker.link_cost])
    table = odds, attacker.detection_at(max(game.sizes)), tries, money, int(attacker.max_fines)
    values = (result.payoff, result.upper, interleaved(*table), best_order(*table), free.payoff)
    return Bounded(game.family, *(value / attacker.gain for value in values))


def verify_campaigns(games: int = 3000) -> Section:
    """Count violated bounds, and measure how far the bounds are apart."""
    with mock.patch.object(campaigns, "EXACT_STATES", 0):  # no search of all interleavings
        results = [bound_game(draw_game(number)) for number in range(games)]
    return Section(
        f"Campaigns: {games:,} games against all interleavings; quantiles are 50 / 90 / 99 % / worst",
        ("games", "n", "returns pay", "L = U", "(U-J)/F", "(J-L)/F", "(U-J)/J", "(J-L)/J", "J = 0 certified"),
        (_format_family(family, [game for game in results if game.family == family]) for family in FAMILIES),
        (
            "L and U: the package without its own search of all interleavings; J: the optimum; F: without fines.",
            "Shares of F if F > 0; shares of J if J > F / 5. Returns pay: no order without return is worth J.",
        ),
        (*_required_everywhere(results), *_widths(results)),
    )


def _required_everywhere(results: Sequence[Bounded]) -> Iterator[Verdict]:
    differences = []
    for number, result in enumerate(results[:RECURSED]):
        game = draw_game(number)
        value = float(oracle().campaign_value(game.attacker, game.sizes, game.inside)) / game.attacker.gain
        differences.append(abs(value - result.optimum))
    claim, largest = "both optima of the first games agree", max(differences)
    yield Verdict(claim, f"{ROUNDING:.0e} gains", f"{largest:.0e}", largest <= ROUNDING)
    violated = sum(r.lower > r.optimum + SLACK or r.upper < r.optimum - SLACK for r in results)
    yield Verdict("no bound is violated", "0", f"{violated} of {len(results):,}", not violated)
    certain = [r for r in results if r.family == "prior 1"]
    below = sum(r.optimum - r.lower > SLACK for r in certain)
    yield Verdict("prior 1: the plan is the best", "all", f"{below} of {len(certain):,} are not", below == 0)


def _widths(results: Sequence[Bounded]) -> Iterator[Verdict]:
    meet = float(np.mean([result.meets for result in results]))
    yield Verdict("the bounds meet", "at least 90 %", f"{meet:.1%}", meet >= 0.9)
    widths = [(result.upper - result.lower) / result.free for result in results if result.free > 0]
    ninety, ninety_nine, worst = np.quantile(widths, (0.9, 0.99, 1.0)).tolist()
    yield Verdict("(U - L) / F, 90th percentile", "<= 1e-9", f"{ninety:.0e}", ninety <= 1e-9)
    yield Verdict("(U - L) / F, 99th percentile", "<= 1.5 %", f"{ninety_nine:.2%}", ninety_nine <= 0.015)
    yield Verdict("(U - L) / F, worst", "<= 10 %", f"{worst:.2%}", worst <= 0.1)


def _format_family(family: str, results: Sequence[Bounded]) -> tuple[object, ...]:
    worth, high = ([r for r in results if r.free > 0 and r.optimum >= r.free * share] for share in (0.0, 0.2))
    zero = [r for r in worth if r.optimum <= SLACK]
    return (
        family,
        len(results),
        f"{np.mean([r.optimum - r.ordered > SLACK for r in results]):.2%}",
        f"{np.mean([r.meets for r in results]):.1%}",
        _format_quantiles([(r.upper - r.optimum) / r.free for r in worth]),
        _format_quantiles([(r.optimum - r.lower) / r.free for r in worth]),
        _format_quantiles([(r.upper - r.optimum) / r.optimum for r in high]),
        _format_quantiles([(r.optimum - r.lower) / r.optimum for r in high]),
        f"{np.mean([r.upper <= SLACK for r in zero]):.1%}",
    )


def _format_quantiles(values: Sequence[float]) -> str:
    """Return median, 90th and 99th percentile, and the worst; below 1e-12 it is rounding."""
    quantiles = np.quantile(values, (0.5, 0.9, 0.99, 1.0))
    return " / ".join(f"{value:.1e}" if value > ROUNDING else "0" for value in quantiles)


if __name__ == "__main__":
    sys.exit(main(__doc__, {"campaigns": verify_campaigns}, games=3000))
