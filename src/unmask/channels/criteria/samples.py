"""What samples of a system say of it: its leakage, corrected for what chance shows, and the error of who learned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unmask.channels._matrices import Ints
from unmask.channels.attacks.learning import FrequencyAttack, NearestNeighborAttack, Samples, as_points
from unmask.core.errors import UnmaskError
from unmask.core.truth import Truth
from unmask.measures.interval import wilson
from unmask.measures.success import realized_success


class CountedInformation(NamedTuple):
    """The leakage I(X; Y) in bits that samples show.

    counted   : of the shares of the counts; too high on average, the more so the fewer samples a cell has
    by_chance : the mean of the same where the outputs are dealt out again at random, so that nothing leaks
    corrected : counted - by_chance, cut at 0. Where much leaks, chance adds less than by_chance and the correction is
                too large: as a rule the truth lies between `corrected` and `counted`
    low, high : 95 % interval of the leakage: `corrected` less, and the correction of Miller and Madow by occupied cells
                plus, 1.96 standard errors of the counts and of the deals
    p_value   : how often chance shows at least as much, (1 + number of such deals) / (1 + deals): valid whatever the
                counts. Above 0.05 the samples do not show that anything leaks, which is no proof that nothing does
    n         : samples
    """

    counted: float
    by_chance: float
    corrected: float
    low: float
    high: float
    p_value: float
    n: int


def counted_information(counts: ArrayLike, *, rng: np.random.Generator, deals: int = 199) -> CountedInformation:
    """The leakage of a system from counts (n_x, n_y) of secret and output, with a permutation test that nothing leaks.

    deals : times that the outputs are dealt out to the secrets at random, both margins kept

    >>> found = counted_information(np.array([[30, 10], [10, 30]]), rng=np.random.default_rng(0))
    >>> round(found.counted, 3), found.by_chance < 0.02, found.p_value
    (0.189, True, 0.005)

    T. Chothia, Y. Kawamoto, C. Novakovic, "LeakWatch: estimating information leakage from Java programs", ESORICS 2014;
    for the test E. J. G. Pitman, "Significance tests which may be applied to samples from any populations", 1937.
    """
    from scipy.stats import random_table  # not at the top: slow to load

    table = np.asarray(counts)
    if table.ndim != 2 or not table.size or np.any(table < 0) or np.any(table % 1) or not table.sum():
        raise UnmaskError("the counts must be a table of secrets x outputs of whole numbers from 0 on, not all 0")
    table = table.astype(np.int64)
    counted, n = _bits(table), int(table.sum())
    margins = random_table(table.sum(axis=1), table.sum(axis=0), seed=rng)
    dealt = [
        _bits(margins.rvs(method="patefield").astype(np.int64)) for _ in range(deals)
    ]  # one at a time: tables may be large
    reached = 1 + sum(value >= counted - 1e-12 for value in dealt)
    chance = float(np.mean(dealt)) if dealt else 0.0
    corrected, reach = max(counted - chance, 0.0), 1.96 * _standard_error(table, counted, dealt)
    occupied = np.count_nonzero(table) - sum(np.count_nonzero(table.sum(axis=axis)) for axis in (0, 1)) + 1
    least = max(counted - max(occupied, 0) / (2 * np.log(2) * n), corrected)
    low, high = max(corrected - reach, 0.0), least + reach
    return CountedInformation(counted, chance, corrected, low, high, reached / (1 + deals), n)


def _standard_error(table: Ints, counted: float, dealt: list[float]) -> float:
    """Return the standard error of the counted leakage: by the delta method, and of what chance shows."""
    x, y = np.nonzero(table)
    p = table[x, y] / table.sum()
    bits = np.log2(p / (table.sum(axis=1)[x] * (table.sum(axis=0)[y] / table.sum() ** 2)))
    return float(np.sqrt(max(p @ bits**2 - counted**2, 0.0) / table.sum() + (np.var(dealt) if dealt else 0.0)))


def _bits(table: Ints) -> float:
    """I(X; Y) of the shares, in bits."""
    x, y = np.nonzero(table)
    p = table[x, y] / table.sum()
    apart = table.sum(axis=1)[x] * (table.sum(axis=0)[y] / table.sum() ** 2)
    return max(float(p @ np.log2(p / apart)), 0.0)


class LearnedRisk(NamedTuple):
    """The error of one learned attack, measured by the adversary on samples of their own.

    held_out          : share of fresh samples that it gets wrong: what *this attack* leaves of privacy
    low, high         : 95 % Wilson interval of `held_out`; over the drawing of the fresh samples, for this attack as
                        trained. It says nothing about R*, the error of the best attack
    cover_hart        : lower bound on R* from the held-out error; see `cover_hart_bound`. Only for the nearest
                        neighbor, k = 1; 0 otherwise. At `low` of the interval
    unseen            : share of fresh samples whose output was never seen in training
    n                 : fresh samples
    """

    held_out: float
    low: float
    high: float
    cover_hart: float
    unseen: float
    n: int

    @property
    def note(self) -> str:
        """What may and may not be concluded."""
        return (
            f"held-out error {self.held_out:.4g}, 95 % interval {self.low:.4g} to {self.high:.4g} over {self.n} fresh "
            "samples: of this attack, an upper bound on what the best attack leaves. The error of the best attack is "
            "not estimated."
        )


def learned_risk(attack: FrequencyAttack | NearestNeighborAttack, trained: Samples, fresh: Samples) -> LearnedRisk:
    """How often an attack that learned from samples is wrong on others: 1 - mean of [x is its best guess] / draws.

    trained : the knowledge of the attack; fresh : samples of the system, none of them used in training.
    Equal scores share their probability. R* <= E held_out always. The samples of its training in the place of fresh
    ones give the error by resubstitution, which is too low, often by far: its mean is at most R* for the frequency rule
    without smoothing.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(0, 2, 4000)
    >>> y = np.where(rng.random(4000) < 0.2, 1 - x, x)
    >>> trained, fresh = Samples(x[:2000], y[:2000], n_x=2, n_y=2), Samples(x[2000:], y[2000:], n_x=2, n_y=2)
    >>> found = learned_risk(FrequencyAttack(), trained, fresh)
    >>> found.low < 0.2 < found.high
    True

    E. B. Wilson, JASA 1927; T. M. Cover & P. E. Hart, "Nearest neighbor pattern classification", 1967.
    """
    belief = attack(fresh.y, trained)  # type: ignore[arg-type]  # each attack checks its own outputs
    assert realized_success.realized is not None
    rate = 1.0 - float(realized_success.realized(belief, Truth(fresh.x)).mean())
    low, high = wilson(rate, len(fresh))
    first = isinstance(attack, NearestNeighborAttack) and attack.k == 1 and attack.smoothing == 0
    known, seen = as_points(trained.y), as_points(fresh.y)
    _, place = np.unique(np.concatenate([known, seen]), axis=0, return_inverse=True)
    unseen = ~np.isin(place.ravel()[len(known) :], place.ravel()[: len(known)])
    return LearnedRisk(
        held_out=rate,
        low=low,
        high=high,
        cover_hart=cover_hart_bound(low, n_x=trained.n_x) if first else 0.0,
        unseen=float(unseen.mean()),
        n=len(fresh),
    )


def cover_hart_bound(nearest_neighbor_error: float, *, n_x: int) -> float:
    """A lower bound on the Bayes risk R* from the error R of the nearest-neighbor rule with M secrets.

    R* >= (M - 1) / M [1 - sqrt(1 - M R / (M - 1))], the inverse of R <= R* (2 - M R* / (M - 1)). Holds as the number of
    samples grows without bound; with few samples R is still too high and so may the bound be. R above (M - 1) / M,
    worse than guessing, counts as that.

    >>> round(cover_hart_bound(0.5, n_x=2), 4), round(cover_hart_bound(0.18, n_x=2), 4)
    (0.5, 0.1)

    T. M. Cover & P. E. Hart, "Nearest neighbor pattern classification", IEEE Trans. Inf. Theory 1967, theorem 1.
    """
    if n_x < 2 or not 0 <= nearest_neighbor_error <= 1:
        raise UnmaskError(f"the error is {nearest_neighbor_error} with {n_x} secrets, expected 0..1 and at least 2")
    most = (n_x - 1) / n_x
    return float(most * (1.0 - np.sqrt(max(0.0, 1.0 - nearest_neighbor_error / most))))
