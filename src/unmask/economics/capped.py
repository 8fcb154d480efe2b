"""Capped fines in closed form: candidates alike, detection constant, money undiscounted, groups of any size.

With k fines left and j failures the next try brings, unconditionally,

    d_k(j) = G h - S_j (C_e + q C_p) + q T_{k-1}(j+1),    T_k(j) = max(0, d_k(j) + (1 - q) T_k(j+1)),   S_j = 1 - j h

and T_0, the rest of the group without any fine, is all of it or nothing. Two cases need no recursion:

* One fine is left (k = 1). d_1 is a concave parabola: tries go on until the last j with d_1(j) > 0, or nothing.
* Trying on is worth something at every j until the last try. Then it solves the recursion; see `whole`.

Otherwise d_k may be above 0, below and above again (a group of 62, n = 5, q = .23), and a recursion decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


SPLIT = 16
"""Parts that a block of tries is split into."""

MOST_BLOCKS = 2**14
"""Blocks that are looked at, at once."""

LEAST = 1e-100
"""Chance of detection below which it changes no digit of how many tries come before a fine; its square underflows."""


@dataclass(frozen=True, eq=False)
class Flat:
    """Groups of candidates that are alike, (n_games,) each: chance h of a try, tries at most, and the money.

    q      : chance that a try is detected, above 0 and below 1
    margin : what a plan must be worth
    """

    hit: Floats
    tries: Floats
    gain: Floats
    cost: Floats
    fine: Floats
    q: float
    margin: Floats

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Flat:
        """Some of the groups."""
        money = (self.gain[chosen], self.cost[chosen], self.fine[chosen])
        return Flat(self.hit[chosen], self.tries[chosen], *money, self.q, self.margin[chosen])

    def whole(self, cap: int) -> NDArray[np.bool_]:
        """Where it is certain that all are tried or none: trying on to the end is worth more than 0 from every j on.

        Without a fine the rest is worth phi_j, which is concave in j, and its fines cost C_p q sum of S_i P(fewer than
        n fines in i - j tries), which falls with j. So phi at both ends of a block above the fines at its beginning
        settles the block, and from the first try on that pays although it is fined there is nothing to settle. Cheaper
        where it holds: all pays although every detection is fined.
        """
        start = np.zeros_like(self.tries)
        first = np.floor(np.clip(self._paying(), 0.0, self.tries))
        settled = self._rest(start) > (self.q * self.fine) * self._tried(start) + self.margin
        nothing = self._rest(start) <= 0
        some = np.flatnonzero(~settled & ~nothing & (first < self.tries))
        settled[some] = self.take(some)._settled(first[some], cap)
        return np.asarray(settled | nothing)

    def _paying(self) -> Floats:
        """The j from which on a try pays although it is fined; beyond the last try where none does."""
        paid = self.cost + self.q * self.fine
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            j = (1 - self.gain * self.hit / paid) / self.hit + 1
        return np.where(self._next(self.tries - 1) > self.margin, np.nan_to_num(j), self.tries)

    def _settled(self, end: Floats, cap: int) -> NDArray[np.bool_]:
        """Whether every block of [0, end) is settled: those that are not are split, until one is known not to be."""
        game, low, high = np.arange(len(end)), np.zeros_like(end), end
        fails = np.zeros(len(end), dtype=bool)
        while len(game) and len(game) < MOST_BLOCKS:
            j = np.floor(low + np.linspace(0, 1, SPLIT + 1)[:, None] * (high - low))
            those = self.take(game)
            fined, places = those._until(those.tries - j, cap)
            fines = those.fine * self.q * ((1 - j * those.hit) * fined - those.hit * places) + those.margin
            rest = those._rest(j)
            fails[game[(rest <= fines)[:-1].any(axis=0)]] = True
            later = np.where(j[1:] - j[:-1] > 1, rest[1:], np.inf)  # a block of one try ends before the next begins
            block, column = np.nonzero((np.minimum(rest[:-1], later) <= fines[:-1]) & ~fails[game])
            game, low, high = game[column], j[block, column], j[block + 1, column]
        fails[game] = True
        return ~fails

    def plans(self, cap: int) -> Floats:
        """(4, n_games) success, tries and fines of the best plan, and its tries if never caught and never lucky.

        For groups that are tried as a whole or not at all, and for a cap of 1.
        """
        clean = self._threshold() if cap == 1 else self.tries
        stopped = np.exp(clean * np.log1p(-self.q)) * (clean < self.tries)  # the only fine was not paid before
        fined, places = self._until(clean, cap)
        success = self.hit * (self.tries - stopped * (self.tries - clean))
        tries = self._tried(np.zeros_like(clean)) - stopped * self._tried(clean)
        fines = self.q * (fined - self.hit * places)
        worth = self.gain * success - self.cost * tries - self.fine * fines > self.margin
        return np.where(worth & (self._rest(np.zeros_like(clean)) > 0), np.stack([success, tries, fines, clean]), 0.0)

    def _next(self, j: Floats) -> Floats:
        """What a try brings, less its cost and its fine."""
        return np.asarray(self.gain * self.hit - (1 - j * self.hit) * (self.cost + self.q * self.fine))

    def _tried(self, j: Floats) -> Floats:
        """Tries to expect from failure j on, if all are made."""
        left = self.tries - j
        return np.asarray(left - self.hit * left * (self.tries + j - 1) / 2)

    def _rest(self, j: Floats) -> Floats:
        """T_0(j): the rest of the group without any fine."""
        return np.maximum(self.gain * self.hit * (self.tries - j) - self.cost * self._tried(j), 0.0)

    def _threshold(self) -> Floats:
        """m_1: the try after the last one that pays, from the peak of the parabola on; 0 for none."""

        def pays(j: Floats) -> NDArray[np.bool_]:
            return np.asarray(self._next(j) + self.q * self._rest(j + 1) > self.margin)

        steep = self.q * self.cost * self.hit / 2  # d_1 falls by steep j^2, and rises by slope j
        slope = self.hit * (self.cost + self.q * self.fine) - self.q * (self.gain * self.hit - self.cost) - steep
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            peak = np.where(steep > 0, np.round(slope / (2 * steep)), np.where(slope > 0, np.inf, 0.0))
        low, top = np.clip(peak, 0.0, self.tries - 1), self.tries.copy()
        none = ~pays(low)
        while np.any(top - low > 1):
            middle = np.floor((low + top) / 2)
            right = pays(middle)
            low, top = np.where(right, middle, low), np.where(right, top, middle)
        return np.where(none, 0.0, low + 1)

    def _until(self, length: Floats, cap: int) -> tuple[Floats, Floats]:
        """Tries of `length` before fine number `cap`, and the sum of their places, in expectation.

        P(e fines in i tries), summed over i < length, is I_q(e + 1, length - e) / q; with weights i it is
        (e + 1) I_q(e + 2, length - e) / q^2 less that sum. I_q is the regularized incomplete beta function.
        """
        from scipy.special import betainc

        q, tries, places = max(self.q, LEAST), np.zeros_like(length), np.zeros_like(length)
        for e in range(min(cap, int(length.max(initial=0.0)))):
            some = length > e
            rest = np.where(some, length - e, 1.0)
            once = np.where(some, betainc(e + 1, rest, q) / q, 0.0)
            tries += once
            places += np.where(some, (e + 1) * betainc(e + 2, rest, q) / q**2, 0.0) - once
        return tries, places
