"""Closed forms of capped fines: equal candidates, constant detection, undiscounted money, groups of any size.

S_j = 1 - j h is the probability that j tries fail. With k fines left, the next try is worth, times S_j,

    d_k(j) = G h - S_j (C_e + q C_p) + q T_{k-1}(j+1),    T_k(j) = max(0, d_k(j) + (1 - q) T_k(j+1)).

T_0 is the worth of the rest of the group without any fine: all of it is tried, or nothing. Two cases need no recursion:

* One fine is left (k = 1). d_1 is a concave parabola: tries go on until the last j with d_1(j) > 0, or nothing.
* Another try is worth something at every j until the last try. Then it solves the recursion; see `is_whole`.

Otherwise d_k may change its sign several times (a group of 62, n = 5, q = .23), and a recursion decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


BLOCK_PARTS = 16
"""Number of parts that a block of tries is split into."""

MAX_BLOCKS = 2**14
"""Largest number of blocks in memory at once."""

MIN_DETECTION = 1e-100
"""Probability of detection below which the tries before a fine do not change; its square underflows."""


@dataclass(frozen=True, eq=False)
class FlatGroups:
    """Groups of equal candidates, (n_groups,) each: chance h of a try, largest number of tries, and the fine.

    gain, cost : gain, and cost of a try
    q      : chance that a try is detected, above 0 and below 1
    margin : least worth of a plan
    """

    hit: Floats
    tries: Floats
    gain: float
    cost: float
    fine: Floats
    q: float
    margin: float

    def take(self, groups: NDArray[np.bool_] | NDArray[np.int64]) -> FlatGroups:
        """Return some of the groups."""
        return replace(self, hit=self.hit[groups], tries=self.tries[groups], fine=self.fine[groups])

    def is_whole(self, cap: int) -> NDArray[np.bool_]:
        """Return a mask of the groups of which surely all are tried or none: the rest is worth more than 0 at every j.

        Without a fine, the rest from try j on is worth phi_j, which is concave in j. Its fines cost C_p q times the sum
        of S_i P(fewer than n fines in i - j tries), which falls with j. A block of tries is settled if phi at both of
        its ends is above the fines at its beginning. No later try is open after the first one that pays although it is
        fined.
        """
        start = np.zeros_like(self.tries)
        first = np.floor(np.clip(self._find_first_paying(), 0.0, self.tries))
        settled = self._value_unfined(start) > (self.q * self.fine) * self._expect_tries(start) + self.margin
        nothing = self._value_unfined(start) <= 0
        unclear = np.flatnonzero(~settled & ~nothing & (first < self.tries))
        settled[unclear] = self.take(unclear)._are_settled(first[unclear], cap)
        return np.asarray(settled | nothing)

    def _find_first_paying(self) -> Floats:
        """Return the j from which on a try pays although it is fined; beyond the last try if none does."""
        paid = self.cost + self.q * self.fine
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            j = (1 - self.gain * self.hit / paid) / self.hit + 1
        return np.where(self._value_try(self.tries - 1) > self.margin, np.nan_to_num(j), self.tries)

    def _are_settled(self, end: Floats, cap: int) -> NDArray[np.bool_]:
        """Return a mask of the groups with every block of [0, end) settled; open blocks are split until one fails."""
        group, low, high = np.arange(len(end)), np.zeros_like(end), end
        fails = np.zeros(len(end), dtype=bool)
        while len(group) and len(group) < MAX_BLOCKS:
            j = np.floor(low + np.linspace(0, 1, BLOCK_PARTS + 1)[:, None] * (high - low))
            flat = self.take(group)
            fined, places = flat._expect_until_cap(flat.tries - j, cap)
            fines = flat.fine * self.q * ((1 - j * flat.hit) * fined - flat.hit * places) + flat.margin
            values = flat._value_unfined(j)
            fails[group[(values <= fines)[:-1].any(axis=0)]] = True
            later = np.where(j[1:] - j[:-1] > 1, values[1:], np.inf)  # a block of one try ends before the next begins
            block, column = np.nonzero((np.minimum(values[:-1], later) <= fines[:-1]) & ~fails[group])
            group, low, high = group[column], j[block, column], j[block + 1, column]
        fails[group] = True
        return ~fails

    def solve_plans(self, cap: int) -> Floats:
        """Return (4, n_groups) success, tries, fines of the best plan, and its tries if never caught and never lucky.

        It holds for groups that are tried as a whole or not at all, and for a cap of 1.
        """
        clean = self._find_last_paying() if cap == 1 else self.tries
        stopped = np.exp(clean * np.log1p(-self.q)) * (clean < self.tries)  # the only fine was not paid earlier
        fined, places = self._expect_until_cap(clean, cap)
        success = self.hit * (self.tries - stopped * (self.tries - clean))
        tries = self._expect_tries(np.zeros_like(clean)) - stopped * self._expect_tries(clean)
        return self._keep_worthwhile(success, tries, self.q * (fined - self.hit * places), clean)

    def solve_whole(self, cap: int) -> Floats:
        """Return (cap + 1, 4, n_groups) the plans of `solve_plans` for each cap, of groups with `is_whole`.

        The plans for a cap of 1 hold only if the group is tried as a whole then, too.
        """
        fines = np.zeros((cap + 1, len(self.hit)))
        for e, (fined, places) in enumerate(self._expect_between_fines(self.tries, cap)):
            fines[e + 1] = self.q * (fined - self.hit * places)
        tries = self._expect_tries(np.zeros_like(self.tries))
        plans = [self._keep_worthwhile(self.hit * self.tries, tries, paid, self.tries) for paid in fines.cumsum(axis=0)]
        return np.stack(plans)

    def _keep_worthwhile(self, success: Floats, tries: Floats, fines: Floats, clean: Floats) -> Floats:
        """Return (4, n_groups) the plans, 0 if not worth it."""
        is_worth = self.gain * success - self.cost * tries - self.fine * fines > self.margin
        is_worth &= self._value_unfined(np.zeros_like(clean)) > 0
        return np.where(is_worth, np.stack([success, tries, fines, clean]), 0.0)

    def _value_try(self, j: Floats) -> Floats:
        """Return the worth of a try, less its cost and its fine."""
        return np.asarray(self.gain * self.hit - (1 - j * self.hit) * (self.cost + self.q * self.fine))

    def _expect_tries(self, j: Floats) -> Floats:
        """Return the expected tries from failure j on, if all are made."""
        n = self.tries - j
        return np.asarray(n - self.hit * n * (self.tries + j - 1) / 2)

    def _value_unfined(self, j: Floats) -> Floats:
        """Return T_0(j), the worth of the rest of the group without any fine."""
        return np.maximum(self.gain * self.hit * (self.tries - j) - self.cost * self._expect_tries(j), 0.0)

    def _find_last_paying(self) -> Floats:
        """Return m_1, the try after the last one that pays, from the peak of the parabola on; 0 for none."""

        def pays(j: Floats) -> NDArray[np.bool_]:
            return np.asarray(self._value_try(j) + self.q * self._value_unfined(j + 1) > self.margin)

        steep = self.q * self.cost * self.hit / 2  # d_1 falls by steep j^2, and rises by slope j
        slope = self.hit * (self.cost + self.q * self.fine) - self.q * (self.gain * self.hit - self.cost) - steep
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            peak = np.where(steep > 0, np.round(slope / (2 * steep)), np.where(slope > 0, np.inf, 0.0))
        low, top = np.clip(peak, 0.0, self.tries - 1), self.tries.copy()
        worthless = ~pays(low)
        while np.any(top - low > 1):
            middle = np.floor((low + top) / 2)
            is_paying = pays(middle)
            low, top = np.where(is_paying, middle, low), np.where(is_paying, top, middle)
        return np.where(worthless, 0.0, low + 1)

    def _expect_until_cap(self, length: Floats, cap: int) -> tuple[Floats, Floats]:
        """Return the expected tries of `length` up to fine number `cap`, and the sum of their positions."""
        tries, places = np.zeros_like(length), np.zeros_like(length)
        for fined, positions in self._expect_between_fines(length, cap):
            tries += fined
            places += positions
        return tries, places

    def _expect_between_fines(self, length: Floats, cap: int) -> Iterator[tuple[Floats, Floats]]:
        """Yield the expected tries of `length` with e = 0, 1, ... fines paid, and the sum of their positions.

        P(e fines in i tries), summed over i < length, is I_q(e + 1, length - e) / q; with weights i it is
        (e + 1) I_q(e + 2, length - e) / q^2 less that sum. I_q is the regularized incomplete beta function.
        """
        from scipy.special import betainc

        q = max(self.q, MIN_DETECTION)
        for e in range(min(cap, int(length.max(initial=0.0)))):
            is_long = length > e
            n = np.where(is_long, length - e, 1.0)
            expected = np.where(is_long, betainc(e + 1, n, q) / q, 0.0)
            yield expected, np.where(is_long, (e + 1) * betainc(e + 2, n, q) / q**2, 0.0) - expected
