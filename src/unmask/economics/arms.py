"""The groups of a campaign as the arms of a bandit: equal ones together, with what each is worth on its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.posterior import Posterior
from unmask.economics.attacker import Attacker, fined_at_most
from unmask.economics.exploitation import TIE, VALUE, Floats, Games, Stakes, entries, refuse_too_large
from unmask.economics.groups import Who, groups_of, people_of
from unmask.economics.prices import sunk_plans, sunk_plans_by_cap

MOST_KEPT = 4 * 10**6
"""Tries of all distinct arms up to which they are kept, listed, from one fine to the next."""

LISTED_BYTES = 100.0
"""What a listed try takes, with what is needed to list it."""


class Listed(NamedTuple):
    """Arms try by try, one after another; each has an entry more than tries, which is its end.

    start        : (m + 1,) where the entries of each arm begin
    hit, large   : h_j, 0 at the end, and S_j
    caught       : (most tries,) q_j of every arm
    free         : S_j f(j), what the arm is worth from failure j on without any fine
    named, tried : success and tries of that
    """

    start: NDArray[np.int64]
    hit: Floats
    large: Floats
    caught: Floats
    free: Floats
    named: Floats
    tried: Floats


@dataclass(frozen=True, eq=False)
class Arms:
    """The distinct games of a campaign that are worth something without any fine, and how many of each.

    count     : (m,) targets that play each game
    of_target : (n_targets,) the game of each target, -1 for none
    """

    attacker: Attacker
    parts: tuple[Games, ...]
    count: NDArray[np.int64]
    of_target: NDArray[np.int64]

    @classmethod
    def of(cls, attacker: Attacker, who: Who, people: ArrayLike | None) -> Arms:
        """The arms behind group sizes or a belief; people: how many each target stands for."""
        unfined = replace(attacker, fine=0.0, arrest=False, max_fines=0)
        groups = groups_of(unfined, who)
        of_member = who.observation if isinstance(who, Posterior) else np.arange(groups.n)
        given = people_of(people, len(of_member))
        asked = np.bincount(of_member, weights=given, minlength=groups.n) > 0
        arm, parts, m = np.full(groups.n, -1), [], 0
        for part in groups.parts:
            worth = sunk_plans(unfined, part.games)[VALUE] > 0
            worth &= np.bincount(part.game, weights=asked[part.member], minlength=len(worth)) > 0
            arm[part.member] = np.where(worth, np.cumsum(worth) - 1 + m, -1)[part.game]
            parts.append(part.games.take(np.flatnonzero(worth)))
            m += int(worth.sum())
        of_target = arm[of_member]
        count = np.bincount(of_target[of_target >= 0], weights=given[of_target >= 0], minlength=m)
        return cls(attacker, tuple(parts), np.rint(count).astype(np.int64), of_target)

    def facing(self, **changes: float) -> Arms:
        """The same arms for an attacker with another fine, cap, arrest or price of access: what is free stays."""
        kept = {name: getattr(self, name) for name in ("free", "inside", "size", "tries")}
        kept |= {"listed": self.listed} if 0 < int(self.tries.sum()) <= MOST_KEPT else {}
        other = replace(self, attacker=replace(self.attacker, **changes))  # type: ignore[arg-type]
        vars(other).update(kept)
        return other

    def __len__(self) -> int:
        return len(self.count)

    def own(self, cap: float, fine: Floats | None = None, *, arrest: bool = False) -> Floats:
        """(8, m) the best plan of each arm alone, with a cap and a fine of its own, linking included."""
        alone = fined_at_most(self.attacker, cap, arrest)
        found = [sunk_plans(alone, *part) for part in self._at_stake(fine)]
        return np.concatenate([np.zeros((8, 0)), *found], axis=-1)

    def own_by_cap(self, cap: int, fine: Floats | None = None) -> Floats:
        """(cap + 1, 8, m) the same for every cap from 0 to this one."""
        alone = fined_at_most(self.attacker, cap, False)
        found = [sunk_plans_by_cap(alone, *part) for part in self._at_stake(fine)]
        return np.concatenate([np.zeros((cap + 1, 8, 0)), *found], axis=-1)

    def _at_stake(self, fine: Floats | None) -> Iterator[tuple[Games, Stakes | None]]:
        for games, at in zip(self.parts, self._starts(), strict=True):
            yield games, None if fine is None else Stakes(fine=fine[at : at + len(games.size)])

    @cached_property
    def free(self) -> Floats:
        """(8, m) the plan of each arm without any fine."""
        return self.own(0)

    @cached_property
    def size(self) -> NDArray[np.int64]:
        """(m,) candidates."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *(games.size for games in self.parts)])

    @cached_property
    def inside(self) -> Floats:
        """(m,) chance that the target is one of the candidates that may be tried."""
        limit = self.tries
        found = []
        for games, at in zip(self.parts, self._starts(), strict=True):
            last = limit[at : at + len(games.size)] - 1
            found += [
                float(1.0 - games.at_large(int(j), slice(i, i + 1))[0] + games.hit(int(j), slice(i, i + 1))[0])
                for i, j in enumerate(last)
            ]
        return np.asarray(np.minimum(np.array(found), 1.0))

    @cached_property
    def tries(self) -> NDArray[np.int64]:
        """(m,) tries at most."""
        most = self.attacker.max_tries
        return self.size if most is None else np.asarray(np.minimum(self.size, most))

    @cached_property
    def listed(self) -> Listed:
        """The arms try by try."""
        from unmask.economics._kernels import listed

        refuse_too_large(LISTED_BYTES * float(self.tries.sum()), 0.0)
        one = self.attacker
        money = np.array([one.gain, one.exploit_cost, one.link_cost, TIE * one.gain])
        found = [
            listed(self.tries[at : at + len(games.size)], *entries(games), money)
            for games, at in zip(self.parts, self._starts(), strict=True)
        ]
        hit, large, free, named, tried = (np.concatenate(part) for part in zip(*found, strict=True))
        start = np.concatenate(([0], np.cumsum(self.tries + 1)))
        return Listed(start, hit, large, one.detection_at(int(self.tries.max())), free, named, tried)

    def _starts(self) -> list[int]:
        ends = np.cumsum([0, *(len(games.size) for games in self.parts)])
        return [int(end) for end in ends[:-1]]
