"""Very many releases at once: what campaigns against them are worth, bounded by sums over their groups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.economics.attacker import Attacker
from unmask.economics.bounds import LEAST
from unmask.economics.exploitation import FINES, VALUE, Alike, Floats
from unmask.economics.groups import Grouped
from unmask.economics.prices import sunk_plans, sunk_plans_by_cap

Ints = NDArray[np.int64]
Group = tuple[Ints, Floats, Ints]
"""Candidates, the probability that the target is one of them, and how many people there are of each such kind."""

RARE: Final = 0.2
"""Chance of no fine below which a group is taken for one of this chance, or for one that surely costs all fines:
series of smaller chances would lose their digits.
"""

MOST_COUNTED: Final = 8
"""Fines up to which they are counted one by one; a higher cap is bounded by this one, or by all its fines."""

RATES: Final = np.linspace(-3.0, 6.0, 19)
"""log(L C_p) at which `_exponential` is taken."""

REACH: Final = 256
"""Tries of a group that `_exponential` looks at."""


@dataclass(frozen=True, eq=False)
class Releases:
    """Many releases, as a kind of attacker finds them.

    games  : the distinct groups: candidates, and the probability that the target is one of them
    people : (n, g) how many people of each release are in such groups, CSR
    """

    games: Grouped
    people: csr_array

    @classmethod
    def of(cls, each: Iterable[Group]) -> Self:
        """The releases, one after the other.

        >>> Releases.of([(np.array([1, 2]), np.ones(2), np.array([1, 2])), (np.array([3]), np.ones(1), np.array([3]))])
        Releases(2 of 3 groups)
        """
        size, inside, people = zip(*each, strict=True)
        ends = np.concatenate(([0], np.cumsum([len(one) for one in size])))
        pair = np.empty(int(ends[-1]), dtype=[("size", np.int64), ("inside", np.float64)])
        pair["size"], pair["inside"] = np.concatenate(size), np.concatenate(inside)
        games, at = np.unique(pair, return_inverse=True)
        counted = csr_array((np.concatenate(people), at.astype(np.int64), ends), shape=(len(size), len(games)))
        return cls(Grouped(games["size"].copy(), games["inside"].copy()), counted)

    def __repr__(self) -> str:
        return f"Releases({self.people.shape[0]} of {self.people.shape[1]} groups)"

    def one(self, place: int) -> tuple[Grouped, Ints]:
        """A release: who is attacked, and how many people each target stands for."""
        at = self.people.indices[self.people.indptr[place] : self.people.indptr[place + 1]]
        counts = self.people.data[self.people.indptr[place] : self.people.indptr[place + 1]]
        return Grouped(self.games.size[at], self.games.inside[at]), counts

    def summed(self, value: Floats) -> Floats:
        """(..., n) a value of each group, (..., g), over all people of a release."""
        return np.asarray((self.people @ value.T).T, dtype=np.float64)

    def alike(self, attacker: Attacker) -> Alike:
        """The groups as an attacker plays them."""
        return Alike(self.games.size, self.games.inside * attacker.confirmation)


def roughly(attacker: Attacker, releases: Releases) -> Floats:
    """(2, n) what the best campaign under a cap on fines or an arrest is worth at least and at most, access paid.

    F is the worth of a release to somebody who cannot be fined. Who tries what they would try then pays n fines C_p at
    most: F - n C_p at least. At most F - C_p (1 - prod_i (1 - (f_i - V_i) / C_p)), with f_i and V_i what group i is
    worth alone without a fine, and with one at most (`bounds.convolved`, the cap lowered to 1); with an arrest what all
    groups are worth alone.
    """
    games = releases.alike(attacker)
    if attacker.arrest:
        high = releases.summed(sunk_plans(attacker, games)[VALUE])
        return np.stack([np.zeros_like(high), high])
    free, once = (sunk_plans(one, games)[VALUE] for one in (unfined(attacker), replace(attacker, max_fines=1)))
    total, fine = releases.summed(free), attacker.fine
    with np.errstate(divide="ignore"):
        high = total + fine * np.expm1(releases.summed(np.log1p(-np.clip((free - once) / fine, 0.0, 1.0))))
    low = np.maximum(total - attacker.max_fines * fine, 0.0)
    return np.stack([low, np.maximum(high, low)])


def closely(attacker: Attacker, releases: Releases) -> Floats:
    """(2, n) the same as `roughly`, without an arrest; closer, and some hundred times as long.

    Each bound is made of sums over the groups of a release, so that all releases cost little more than one. With F, C_p
    and n as there:

    at least : F - C_p E min(n, D), with D the fines of trying all that is worth it without fines; that is a plan
    at most  : the least of F - C_p E min(n, D') (`bounds.convolved`) and of `bounds.exponential`, at listed rates

    E min(n, .) of a sum of independent counts follows from its chances below n, the first coefficients of a product of
    power series: the exponential of the sum of their logarithms.
    """
    games, cap, fine = releases.alike(attacker), _counted(attacker), attacker.fine
    total = releases.summed(sunk_plans(unfined(attacker), games)[VALUE])
    fines = np.full(len(total), float(attacker.max_fines))
    if attacker.max_fines == cap:
        tried = sunk_plans_by_cap(replace(attacker, max_fines=cap, fine=0.0), games)[1:, FINES]
        fines = _fines(tried, releases, 0.0)
    low = np.maximum(total - fine * fines, 0.0)
    return np.stack([low, np.maximum(at_most(attacker, releases), low)])


def at_most(attacker: Attacker, releases: Releases) -> Floats:
    """(n,) what no campaign is worth more than, as closely as `closely` has it."""
    games, cap = releases.alike(attacker), _counted(attacker)
    free, fine = sunk_plans(unfined(attacker), games)[VALUE], attacker.fine
    alone = sunk_plans_by_cap(replace(attacker, max_fines=cap), games)[1:, VALUE]
    fines, total = _fines((free - alone) / fine, releases, RARE), releases.summed(free)
    return np.minimum(total - fine * fines, _exponential(attacker, releases, total))


def _counted(attacker: Attacker) -> int:
    """Fines that are counted one by one."""
    return int(min(attacker.max_fines, MOST_COUNTED))


def unfined(attacker: Attacker) -> Attacker:
    """The same attacker whom nobody fines or arrests."""
    return replace(attacker, fine=0.0, arrest=False, max_fines=0)


def _fines(capped: Floats, releases: Releases, rare: float) -> Floats:
    """(n,) E min(n, sum of all D), from E min(k, D_i) of each group, k = 1..n; 0 if these are no expectations.

    rare : what a chance of no fine below `RARE` is taken for, and else one fine: `RARE` bounds the fines from below; 0,
           and else n fines, from above
    """
    cap = len(capped)
    tail = np.diff(capped, axis=0, prepend=0.0)
    chance = -np.diff(tail, axis=0, prepend=1.0)  # P(D = k), k < n
    if chance.min(initial=0.0) < LEAST:
        return np.full(releases.people.shape[0], 0.0 if rare else float(cap))
    chance, seldom = np.maximum(chance, 0.0), chance[0] < RARE
    chance[:, seldom] = 0.0
    chance[0, seldom], chance[1:2, seldom] = rare, 1 - rare if rare else 0.0
    first = np.exp(releases.summed(np.log(np.maximum(chance[0], np.finfo(float).tiny))))
    powers = _logarithm(chance / np.where(chance[0] > 0, chance[0], 1.0))
    return np.asarray(cap - (cap - np.arange(cap)) @ (first * _exponentiated(releases.summed(powers))))


def _logarithm(series: Floats) -> Floats:
    """Coefficients of the logarithm of power series, (n, m), that begin with 1."""
    found = np.zeros_like(series)
    for k in range(1, len(series)):
        found[k] = series[k] - sum((j / k) * found[j] * series[k - j] for j in range(1, k))
    return found


def _exponentiated(series: Floats) -> Floats:
    """Coefficients of the exponential of power series, (n, m), that begin with 0."""
    found = np.zeros_like(series)
    found[0] = 1.0
    for k in range(1, len(series)):
        found[k] = sum((j / k) * series[j] * found[k - j] for j in range(1, k + 1))
    return found


def _exponential(attacker: Attacker, releases: Releases, total: Floats) -> Floats:
    """(n,) the least of `bounds.exponential` at the rates listed, with A = 1 after `REACH` tries, which is a bound."""
    from unmask.economics._kernels import exponentials  # numba is imported where a kernel runs

    games, fine, cap = releases.alike(attacker), attacker.fine, float(attacker.max_fines)
    tries = np.minimum(games.size, attacker.max_tries or games.size)
    rates = np.exp(RATES if cap > 1 else RATES[RATES >= 0]) / fine
    money = np.array([attacker.gain, attacker.exploit_cost, attacker.link_cost, fine])
    hit, caught = games.inside / np.maximum(games.size, 1), attacker.detection_at(REACH)
    exponent = releases.summed(exponentials(tries, hit, caught, money, rates, cap == 1))
    exponent += (rates * cap * fine - 1)[:, None]
    with np.errstate(over="ignore"):
        return np.asarray(total - cap * fine + (np.exp(exponent) / rates[:, None]).min(axis=0))
