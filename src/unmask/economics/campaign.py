"""Many targets at once: the outside data are paid for once, and fines may be capped for the whole campaign."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from unmask.economics.attacker import Attacker
from unmask.economics.exploitation import FINES, SUCCESS, TIE, TRIES, VALUE, Floats, Games
from unmask.economics.groups import groups_of
from unmask.economics.prices import sunk_plans
from unmask.errors import UnmaskError
from unmask.posterior import Posterior

MAX_STEPS = 5 * 10**8
"""Tries times fines that a capped campaign may look at: some minutes."""


@dataclass(frozen=True, eq=False)
class Campaign:
    """One attack on many targets.

    access              : whether the outside data are worth buying for all of them together
    payoff              : expected payoff of the campaign, at least 0
    success_probability : (n,) chance that each target is named
    expected_tries      : exploits to expect in all
    expected_fines      : fines to expect in all
    exact               : whether this is the best campaign. False: the targets are attacked one after another, and a
                          cleverer order or interleaving may pay more, so `payoff` is a lower bound.
    """

    access: bool
    payoff: float
    success_probability: Floats
    expected_tries: float
    expected_fines: float
    exact: bool


def campaign(attacker: Attacker, who: ArrayLike | Posterior) -> Campaign:
    """The attack on all targets together: access is paid once, `max_fines` and an arrest hold for the whole campaign.

    who : (n,) group sizes, or a belief, whose targets are attacked

    Uncapped fines: once access is paid the targets are separate, and what is worth trying is tried; exact.
    Capped fines: the targets are attacked one after another, the most rewarding first (the smallest group). With p
    fines paid, being caught raises what the remaining targets are worth from V(p) to V(p + 1), so that each target is
    the game of one target with the fine C_p - (V(p + 1) - V(p)). With constant detection and one prior this order was
    the optimum in all of some hundred small games that were enumerated (not proved); with a detection that rises
    within a target, or candidates of different chance, interleaving can pay more. An arrest is a fine of C_p + V.
    The campaign is not discounted, since its steps have no common clock; UnmaskError for a discount below 1.

    >>> import math
    >>> case = Attacker(
    ...     gain=8000,
    ...     access_cost=5000,
    ...     exploit_cost=10,
    ...     fine=10_000,
    ...     max_fines=math.inf,
    ...     prior=0.63,
    ...     detection_base=-4.59,
    ...     detection_growth=0.0,
    ... )
    >>> campaign(case, [60]).access, round(campaign(case, [60] * 40).payoff)
    (False, 13532)
    """
    if attacker.discount != 1:
        raise UnmaskError(f"the discount is {attacker.discount:g}, expected 1: a campaign has no common clock")
    if attacker.ties == "attack":
        raise UnmaskError("ties is 'attack', and a campaign walks away from what is worth nothing; give 'walk_away'")
    if not (attacker.arrest or (attacker.capped and attacker.fine > 0)):
        return _separate(attacker, who)
    return _in_turn(attacker, who)


def _targets(values: Floats, who: ArrayLike | Posterior) -> Floats:
    """From observations to targets, where there is a difference."""
    return values[:, who.observation] if isinstance(who, Posterior) else values


def _separate(attacker: Attacker, who: ArrayLike | Posterior) -> Campaign:
    plan = _targets(groups_of(attacker, who).spread(lambda games: sunk_plans(attacker, games)), who)
    payoff = float(plan[VALUE].sum()) - attacker.access_cost
    access = payoff > TIE * attacker.gain
    plan = plan * access
    return Campaign(
        access=access,
        payoff=payoff if access else 0.0,
        success_probability=np.minimum(plan[SUCCESS], 1.0),
        expected_tries=float(plan[TRIES].sum()),
        expected_fines=float(plan[FINES].sum()),
        exact=True,
    )


@dataclass(frozen=True)
class _Game:
    """One group of candidates, as lists for a recursion that is sequential by nature, and the targets that it is.

    hit, large, caught : h_j, S_j (one more: S after the last try) and q_j
    profit             : gain h_j - S_j exploit_cost, the try without its fine
    immune             : value from try j on without any fine
    named, tried       : chance to be named, and tries to expect, without any fine
    """

    hit: list[float]
    large: list[float]
    caught: list[float]
    profit: list[float]
    immune: list[float]
    named: float
    tried: float
    targets: list[int]


def _in_turn(attacker: Attacker, who: ArrayLike | Posterior) -> Campaign:
    """Backwards: what the remaining targets are worth with p fines paid. Forwards: what then happens to each."""
    unfined = replace(attacker, fine=0.0, arrest=False, max_fines=0)
    games = sorted(_games(unfined, who), key=lambda game: -game.immune[0])
    order = [(game, target) for game in games for target in game.targets]
    n = who.n_targets if isinstance(who, Posterior) else len(np.asarray(who))
    cap = 0 if attacker.arrest else int(min(attacker.max_fines, sum(len(game.hit) for game, _ in order)))
    steps = sum(len(game.hit) for game, _ in order) * max(cap, 1)
    if steps > MAX_STEPS:
        raise UnmaskError(
            f"a campaign with capped fines needs {steps:.0e} steps for these groups, expected at most {MAX_STEPS:.0e}: "
            "give max_tries, or fewer targets"
        )
    worth = [[0.0] * (cap + 1)]  # of the targets from the i-th on, by fines paid
    for game, _ in reversed(order):
        plans = _plans(attacker, game, worth[-1])
        worth.append(
            [later + max(0.0, plan[0] - attacker.link_cost) for later, plan in zip(worth[-1], plans, strict=True)]
        )
    payoff = worth[-1][0] - attacker.access_cost
    access = payoff > TIE * attacker.gain
    success, tries, fines = np.zeros(n), 0.0, 0.0
    if access:
        level = [1.0] + [0.0] * cap
        for (game, target), later in zip(order, reversed(worth[:-1]), strict=True):
            if not attacker.arrest and sum(level[:-1]) < TIE:  # he cannot be fined any more
                success[target], tries = level[-1] * game.named, tries + level[-1] * game.tried
                continue
            played = _played(attacker, game, _plans(attacker, game, later), level)
            success[target], level = played.success, played.level
            tries, fines = tries + played.tries, fines + played.fines
    alike = len({round(game.hit[0] * len(game.hit), 12) for game in games}) <= 1
    alike &= all(max(game.hit) - min(game.hit) <= TIE for game in games)
    return Campaign(
        access=access,
        payoff=payoff if access else 0.0,
        success_probability=np.minimum(success, 1.0),
        expected_tries=tries,
        expected_fines=fines,
        exact=not attacker.arrest and attacker.constant_detection and attacker.max_tries is None and alike,
    )


def _games(unfined: Attacker, who: ArrayLike | Posterior) -> Iterator[_Game]:
    """The distinct games that are worth playing without a fine, and the targets that each of them is."""
    groups = groups_of(unfined, who)
    observation = who.observation if isinstance(who, Posterior) else np.arange(groups.n)
    for part in groups.parts:
        of_member = np.full(groups.n, -1)
        of_member[part.member] = part.game
        of_target = of_member[observation]
        value = sunk_plans(unfined, part.games)[VALUE]
        for game in np.flatnonzero(value > 0).tolist():
            yield _listed(unfined, part.games, game, np.flatnonzero(of_target == game).tolist())


def _listed(unfined: Attacker, games: Games, game: int, targets: list[int]) -> _Game:
    one = slice(game, game + 1)
    n_tries = int(games.size[game])
    n_tries = n_tries if unfined.max_tries is None else min(n_tries, unfined.max_tries)
    hit = [float(games.hit(j, one)[0]) for j in range(n_tries)]
    large = [float(games.at_large(j, one)[0]) for j in range(n_tries)]
    profit = [unfined.gain * h - s * unfined.exploit_cost for h, s in zip(hit, large, strict=True)]
    immune = [0.0] * (n_tries + 1)
    for j in range(n_tries - 1, -1, -1):
        immune[j] = max(0.0, profit[j] + immune[j + 1])
    stop = immune.index(0.0)
    return _Game(
        hit=hit,
        large=[*large, large[-1] - hit[-1]],
        caught=unfined.detection_at(n_tries).tolist(),
        profit=profit,
        immune=immune,
        named=sum(hit[:stop]),
        tried=sum(large[:stop]),
        targets=targets,
    )


def _plans(attacker: Attacker, game: _Game, later: list[float]) -> list[list[float]]:
    """For each number of fines paid, the value of trying on after j failures, beyond what the later targets are worth.

    0 where he stops: a tie is walked away from.
    """
    levels = len(later) - 1
    if attacker.arrest:
        fine = (attacker.fine if attacker.max_fines else 0.0) + later[0]
        return [_one_plan(game, fine, [0.0] * len(game.immune), attacker.gain)]
    plans = [game.immune]
    for p in range(levels - 1, -1, -1):
        plans.append(_one_plan(game, attacker.fine - (later[p + 1] - later[p]), plans[-1], attacker.gain))
    return plans[::-1]


def _one_plan(game: _Game, fine: float, caught_then: list[float], gain: float) -> list[float]:
    """The value of trying on by number of failures, at a fine and at what trying on is worth once caught."""
    tie = TIE * gain
    if abs(fine) <= tie and caught_then is game.immune:  # being caught costs nothing: soon so, in a large campaign
        return game.immune
    plan, value = [0.0] * len(game.immune), 0.0
    for j in range(len(game.hit) - 1, -1, -1):
        q = game.caught[j]
        value = game.profit[j] - game.large[j] * q * fine + q * caught_then[j + 1] + (1 - q) * value
        value = value if value > tie else 0.0
        plan[j] = value
    return plan


@dataclass(frozen=True)
class _Played:
    """What happens to one target: chance to be named, tries and fines to expect, chances of the fines paid after it."""

    success: float
    tries: float
    fines: float
    level: list[float]


def _played(attacker: Attacker, game: _Game, plans: list[list[float]], level: list[float]) -> _Played:
    """Forwards through the tries on one target, from the chances of the fines paid before it.

    An arrest takes what is caught out of the campaign: the chances then sum to less than 1.
    """
    trying = [chance if plan[0] > attacker.link_cost else 0.0 for chance, plan in zip(level, plans, strict=True)]
    after = [chance - tried for chance, tried in zip(level, trying, strict=True)]
    success = tries = fines = 0.0
    last = len(level) - 1
    for j, (hit, large, q) in enumerate(zip(game.hit, game.large, game.caught, strict=False)):
        going = [chance if plan[j] > 0 else 0.0 for chance, plan in zip(trying, plans, strict=True)]
        after = [a + large * (t - g) for a, t, g in zip(after, trying, going, strict=True)]
        now = sum(going)
        if now == 0:
            trying = going
            break
        success, tries = success + now * hit, tries + now * large
        fined = now if attacker.arrest else now - going[last]
        fines += large * q * fined if attacker.max_fines else 0.0
        trying = _caught(going, q, arrest=attacker.arrest)
        after = [a + hit * t for a, t in zip(after, trying, strict=True)]
    return _Played(success, tries, fines, [a + game.large[-1] * t for a, t in zip(after, trying, strict=True)])


def _caught(chance: list[float], q: float, *, arrest: bool) -> list[float]:
    """The chances of the fines paid after an exploit that is detected with chance q."""
    stays = [(1 - q) * c for c in chance]
    if arrest:
        return stays
    stays[-1] += q * chance[-1]
    return [
        stay + (q * before if p else 0.0) for p, (stay, before) in enumerate(zip(stays, [0.0, *chance], strict=False))
    ]
