"""How often the adversary is right: by their own account, and once the belief meets the truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.calibration_check import TENTHS
from unmask.core.csr_rows import chunks
from unmask.core.errors import UnmaskError
from unmask.core.posterior import LogProbabilities, Posterior
from unmask.core.truth import Truth
from unmask.measures.alike import alike
from unmask.measures.base import Measure
from unmask.measures.places import Places, Right, bisect, entry_of, right_of
from unmask.measures.registry import FAMILIES, declare_all
from unmask.measures.rows import Rows
from unmask.remembered import remembered


def best_guess(rows: Rows) -> NDArray[np.float64]:
    """(n_rows,) the probability of the likeliest candidate that can be named."""
    return np.maximum(np.exp(rows.top), _nameable_share(rows))


def missed(rows: Rows) -> NDArray[np.float64]:
    """(n_rows,) 1 - `best_guess`, as the sum of everything else: 1e-20 is not lost beside 1."""
    top, share = rows.max(rows.p), _nameable_share(rows)
    is_top = rows.p == rows.spread(top)
    listed = rows.sum(np.where(is_top, 0.0, rows.p)) + (rows.sum(is_top.astype(np.float64)) - 1) * top + rows.unlisted
    shared = rows.sum(rows.p) + (rows.n_sharing - 1) * share
    return np.clip(np.where(share > top, shared, listed), 0.0, 1.0)


def _nameable_share(rows: Rows) -> NDArray[np.float64]:
    return np.where(rows.n_unlisted > 0, rows.share, 0.0)


success_probability = Measure(
    name="success_probability",
    label="Success",
    meaning="probability that the adversary's best guess is right (Bayes vulnerability)",
    unit="probability",
    direction="high",
    range=(0.0, 1.0),
    source="Rebollo-Monedero et al. 2012, section V-A1: 1 - P(y) under Hamming loss, Bayes vulnerability",
    of_rows=best_guess,
    rate=True,
    needs_probabilities=True,
)
"""max_x p(x given y), Bayes vulnerability: the probability that the adversary's best single guess is right, by their
own belief.

Over a class of k alike it is 1/k. "None of these" is no guess: a belief that is all "none" has success 0. The worst-off
target is the one they are surest of (min-entropy); the mean is 1 - P_avg."""

bayes_vulnerability = success_probability
"""The field's name of `success_probability`."""


class Standing(NamedTuple):
    """Where the true candidate of each target stands: its probability, how many are strictly likelier, how many tie
    with it (itself included; 0 where the target is ABSENT), and how many of those are right: 1 unless a person is
    several candidates, in which case it stands where the best of them does and has the probability of all.
    """

    probability: NDArray[np.float64]
    better: NDArray[np.int64]
    tied: NDArray[np.int64]
    right: NDArray[np.int64]

    def at(self, place: NDArray[np.int64]) -> Standing:
        """Of those who stand where one of these does."""
        return Standing(self.probability[place], self.better[place], self.tied[place], self.right[place])


@remembered(3)  # of a belief, of its prior and of control people, measure by measure; `audit` clears it
def standing(belief: Posterior, truth: Truth) -> Standing:
    """Where the true candidate of each target stands in the adversary's list; position never breaks a tie.

    A true candidate that is not listed shares the unlisted mass if its number is known, has all of it if the number is
    unknown, and otherwise has probability 0 and ties with every candidate that was ruled out. UNKNOWN counts as ABSENT.
    """
    if truth.person is None:
        row, true = belief.observation, truth.candidate
        found = _standing(belief, row, *entry_of(belief, row, true), absent=true < 0)
    else:
        right = right_of(belief, truth.candidate, truth.person)
        each = _standing(belief, right.row, right.entry, right.listed, absent=right.absent)
        found = _best_of_each(each, right).at(right.of)
    for array in found:
        array.setflags(write=False)
    return found


def _best_of_each(each: Standing, right: Right) -> Standing:
    """Where somebody stands of whom these candidates are right."""
    better = np.minimum.reduceat(each.better, right.start)
    best = each.better == np.repeat(better, np.diff(right.start, append=len(each.better)))
    tied, ones = (np.where(best, one, 0) for one in (each.tied, each.right * right.times))
    mass = np.minimum(np.add.reduceat(each.probability * right.times, right.start), 1.0)
    return Standing(mass, better, np.maximum.reduceat(tied, right.start), np.add.reduceat(ones, right.start))


def _standing(
    belief: Posterior,
    observation: NDArray[np.int64],
    entry: NDArray[np.int64],
    listed: NDArray[np.bool_],
    *,
    absent: NDArray[np.bool_],
) -> Standing:
    """Where a candidate stands in an observation: asked once for those who stand in one place of rows that are alike,
    where that is less.
    """
    kinds, of = alike(belief).belief, np.full(belief.n_observations, -1)
    of[belief.observation] = kinds.observation
    row = of[observation]
    entry = entry + kinds.indptr[row] - belief.indptr[observation]
    n_entries, n_rows = len(kinds.candidate), kinds.n_observations
    n_places = n_entries + 2 * n_rows  # each entry, and of each row what is not listed, and "none of these"
    if n_places > len(row):
        return _standing_at(kinds, row, entry, listed=listed, absent=absent)
    rows, places = np.arange(n_rows), np.arange(n_places)
    inside, none = places < n_entries, places >= n_entries + n_rows
    each = _standing_at(kinds, np.concatenate((kinds.row, rows, rows)), places, listed=inside, absent=none)
    return each.at(np.where(listed, entry, n_entries + n_rows * absent + row))


def _standing_at(
    belief: Posterior,
    row: NDArray[np.int64],
    entry: NDArray[np.int64],
    *,
    listed: NDArray[np.bool_],
    absent: NDArray[np.bool_],
) -> Standing:
    """The same of one who is this entry of the row, is not listed in it, or is no candidate at all."""
    log_listed = np.zeros(len(row))
    log_listed[listed] = belief.log_probability[entry[listed]]
    unlisted, n_unlisted = belief.unlisted, belief.n_unlisted
    sharing = np.where(unlisted > 0, np.maximum(n_unlisted, 0), 0)
    share = np.where(sharing > 0, unlisted / np.maximum(sharing, 1), 0.0)

    rest = np.where(n_unlisted == -1, unlisted, share)
    elsewhere = np.where(absent, np.where(n_unlisted > 0, 0.0, unlisted)[row], rest[row])
    probability = np.where(listed, np.exp(log_listed), elsewhere)

    mass = np.where(sharing > 0, unlisted, 1.0)  # by its logarithm: a share of the smallest numbers is 0
    log_share, sharing = (np.log(mass) - np.log(np.maximum(sharing, 1)))[row], sharing[row]
    log_own, tie = np.where(listed, log_listed, log_share), belief.resolution
    below, upto = _placed(belief, row, log_own - tie, log_own + tie)
    length = belief.row_length[row]
    better = length - upto + np.where(log_share > log_own + tie, sharing, 0)
    tied = upto - below + np.where(np.abs(log_share - log_own) <= tie, sharing, 0)

    ruled_out = ~listed & (sharing == 0)
    better = np.where(absent, belief.n_candidates, np.where(ruled_out, length, better))
    tied = np.where(absent, 0, np.where(ruled_out, np.maximum(belief.n_candidates - length, 1), tied))
    return Standing(probability, better, tied, np.ones_like(tied))


def _find(
    belief: Posterior, row: NDArray[np.int64], true: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Whether each candidate is listed in its row, and its log-probability (0 where it is not)."""
    entry, listed = entry_of(belief, row, true)
    found = np.zeros(len(row))
    found[listed] = belief.log_probability[entry[listed]]
    return listed, found


def _placed(
    belief: Posterior, row: NDArray[np.int64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many candidates of some rows have a log-probability below `low`, and how many one of at most `high`."""
    below, upto = np.empty((2, len(row)), dtype=np.int64)
    order = None if np.all(row[1:] >= row[:-1]) else np.argsort(row, kind="stable")
    ordered = row if order is None else row[order]
    for first, last in chunks(belief.indptr, SORTED):  # a sorted copy of all entries may be a third of the memory
        some: Any = slice(*np.searchsorted(ordered, (first, last)).tolist())
        if some.start < some.stop:
            some = some if order is None else order[some]
            below[some], upto[some] = _placed_in(belief, first, last, row[some], (low[some], high[some]))
    return below, upto


SORTED = 1 << 20
"""Entries that are sorted at once, in whole rows."""


def _placed_in(
    belief: Posterior, first: int, last: int, row: NDArray[np.int64], ends: tuple[NDArray[np.float64], ...]
) -> tuple[NDArray[np.int64], ...]:
    """The same of rows from one to before another."""
    indptr = belief.indptr[first : last + 1]
    values, before = _sorted_rows(belief, indptr)
    start, stop = indptr[row - first] - indptr[0], indptr[row - first + 1] - indptr[0]
    found = (bisect(values, start, stop, end, right=right) for end, right in zip(ends, (False, True), strict=True))
    return tuple(before(at) - before(start) for at in found)


def _sorted_rows(
    belief: Posterior, indptr: NDArray[np.int64]
) -> tuple[LogProbabilities, Callable[[NDArray[np.int64]], NDArray[np.int64]]]:
    """The log-probabilities of some rows, ascending within each, and how many candidates stand before each place."""
    entries, length = slice(indptr[0], indptr[-1]), np.diff(indptr)
    log_p = belief.log_probability[entries]
    if belief.times is not None:
        order = np.lexsort((log_p, np.repeat(np.arange(len(length)), length)))
        counted = np.concatenate(([0], np.cumsum(belief.times[entries][order])))
        return log_p[order], counted.__getitem__
    log_p = log_p.copy()
    for n in np.unique(length[length > 1]).tolist():  # rows of one length are sorted together
        if np.all(length == n):
            log_p.reshape(-1, n).sort(axis=1)
        else:
            at = (indptr[:-1] - indptr[0])[length == n][:, None] + np.arange(n)
            log_p[at] = np.sort(log_p[at], axis=1)
    return log_p, lambda place: place


def _success_at(belief: Posterior, truth: Truth, k: int) -> NDArray[np.float64]:
    place = standing(belief, truth)
    if truth.person is None:
        return np.where(place.tied > 0, np.clip((k - place.better) / np.maximum(place.tied, 1), 0.0, 1.0), 0.0)
    missed = np.ones(len(truth))
    for drawn in range(k):  # one after the other of those that tie, without any right one
        wrong, left = place.tied - place.right - drawn, np.maximum(place.tied - drawn, 1)
        missed *= np.where(drawn < k - place.better, np.clip(wrong / left, 0.0, 1.0), 1.0)
    return np.where(place.tied > 0, 1.0 - missed, 0.0)


def realized_success_at(k: int) -> Measure:
    """Probability that the true candidate is among the adversary's k likeliest, ties broken at random:
    clip((k - better) / tied, 0, 1).

    `better` counts the candidates strictly likelier than the true one, `tied` those equal to it, itself included. A
    target that is ABSENT can never be found: 0. Of a person who is several candidates any one will do: with r of the
    tied right and m = k - better draws, 1 - C(tied - r, m) / C(tied, m).

    >>> from unmask import Posterior, Truth
    >>> belief = Posterior.from_dense(np.array([[0.25, 0.25, 0.5]]))
    >>> [float(realized_success_at(k).per_target(belief, Truth([0]))[0]) for k in (1, 2, 3)]
    [0.0, 0.5, 1.0]
    """
    if k < 1:
        raise UnmaskError(f"k is {k}, expected at least 1 guess")
    return Measure(
        name="realized_success" if k == 1 else f"realized_success_at_{k}",
        label="Success" if k == 1 else f"Success within {k} guesses",
        meaning="share of people for whom the adversary's best guess is right"
        if k == 1
        else f"probability that the truth is among the adversary's {k} likeliest candidates",
        realizes="success_probability" if k == 1 else "",
        unit="probability",
        direction="high",
        range=(0.0, 1.0),
        source="Rebollo-Monedero et al. 2012, section V-A1, the success of a MAP adversary",
        of_places=lambda places: _success_at(places.belief, places.truth, k),
        rate=True,
    )


realized_success = realized_success_at(1)
"""The probability that the best single guess is right, ties shared: the realized side of `success_probability`."""

FAMILIES[r"realized_success_at_(\d+)"] = lambda k: realized_success_at(int(k))


def _rank(places: Places) -> NDArray[np.float64]:
    belief, place = places.belief, standing(places.belief, places.truth)
    return np.where(place.tied > 0, place.better + (place.tied + 1) / (place.right + 1), belief.n_candidates + 1.0)


rank = Measure(
    name="rank",
    label="Guesses needed",
    meaning="place of the truth among the candidates, from most to least likely",
    unit="guesses",
    direction="low",
    range=(1.0, np.inf),
    source="J. L. Massey, 'Guessing and entropy', 1994: the guesses that are really needed",
    of_places=_rank,
)
"""How many guesses, from most to least likely, until the true candidate comes: better + (tied + 1) / (right + 1); the
number of candidates plus 1 where the target is ABSENT."""


def _log_loss(places: Places) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return -np.log2(standing(places.belief, places.truth).probability) + 0.0


log_loss_bits = Measure(
    name="log_loss_bits",
    label="Log loss",
    meaning="minus log2 of the probability given to the truth",
    unit="bits",
    direction="low",
    source="I. J. Good, 'Rational decisions', 1952",
    of_places=_log_loss,
    needs_probabilities=True,
)
"""-log2 p(x_true given y): infinite once the adversary ruled the truth out. For a belief that is exact its mean is the
conditional Shannon entropy."""


def _calibration(places: Places) -> NDArray[np.float64]:
    belief, judged = places.belief, places.truth.judged & (places.belief.weight > 0)
    announced = success_probability.per_target(belief)
    bins = tenth(announced * (1.0 + belief.resolution))
    weight, people = np.where(judged, belief.weight, 0.0), np.where(judged, places.people, 0)
    n, mass = _in_bins(bins, people), _in_bins(bins, weight)
    away = announced - _success_at(belief, places.truth, 1)
    gap = _in_bins(bins, weight * away) / np.where(mass > 0, mass, 1.0)
    gap = np.where(np.abs(gap) > belief.resolution, gap, 0.0)
    squares = weight**2 / places.people  # of as many targets of equal weight
    square = _in_bins(bins, squares * (away - gap[bins]) ** 2) / np.where(mass > 0, mass, 1.0) ** 2
    by_chance = np.where(n > 1, square * n / np.maximum(n - 1, 1), gap**2)
    return np.asarray(np.sqrt(np.maximum(gap**2 - by_chance, 0.0))[bins])


def tenth(probability: NDArray[np.float64]) -> NDArray[np.int64]:
    """The tenth of each probability; 1 is in the last."""
    return np.minimum((probability * TENTHS).astype(np.int64), TENTHS - 1)


def _in_bins(bins: NDArray[np.int64], values: NDArray[np.generic]) -> NDArray[np.float64]:
    return np.asarray(np.bincount(bins, weights=values, minlength=TENTHS))


calibration_error = Measure(
    name="calibration_error",
    label="Calibration error",
    meaning="how far announced success is from success that came true",
    unit="probability",
    direction="low",
    range=(0.0, 1.0),
    source="M. P. Naeini et al., 'Obtaining well calibrated probabilities using Bayesian binning', 2015 (ECE)",
    of_places=_calibration,
    needs_probabilities=True,
    has_interval=False,
)
"""Gap between announced and realized success in the target's tenth of announced success, beyond what chance makes of
few targets: sqrt(max(g^2 - s^2, 0)) with g = mean announced - mean realized and s^2 = n / (n - 1) sum w^2 (d - g)^2 the
variance of that mean; a tenth with one target says nothing: 0. Its mean is the expected calibration error with ten
equal bins, which without s^2 would be far above 0 for a belief that is exact.
A gap is a finding about the attack, not about privacy. It has no interval: an estimate that is cut at 0 has no honest
one; `unmask.core.calibration_check.Check` tests it.

A. Kumar, P. Liang & T. Ma, "Verified uncertainty calibration", 2019, section 4 (debiasing)."""

declare_all(success_probability, rank, log_loss_bits, calibration_error, realized_success)
