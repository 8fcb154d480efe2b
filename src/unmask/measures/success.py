"""Success of the adversary: announced by the posterior, and realized for the true candidates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.calibration_check import TENTHS
from unmask.core.csr_rows import chunks
from unmask.core.distinct_rows import cache_on_posterior, distinct_rows
from unmask.core.errors import UnmaskError
from unmask.core.posterior import LogProbabilities, Posterior
from unmask.core.truth import Truth
from unmask.measures.measure import Measure, implement
from unmask.measures.posterior_rows import Rows
from unmask.measures.registry import FAMILIES, declare, declare_all
from unmask.measures.truth_positions import (
    PersonEntries,
    TruthPositions,
    bisect,
    find_entries,
    find_person_entries,
    number_positions,
)

MAX_SORTED_ENTRIES = 1 << 20
"""Largest number of entries that are sorted together, in whole rows, to limit the memory of the sorted copy."""


def top_probability(rows: Rows) -> Floats:
    """Return the probability of the likeliest candidate of each row."""
    return np.maximum(np.exp(rows.top), _candidate_share(rows))


def bayes_error(rows: Rows) -> Floats:
    """Return 1 - `top_probability`, computed as the sum of all other probabilities, so that values such as 1e-20
    survive.
    """
    top, share = rows.max(rows.p), _candidate_share(rows)
    is_top = rows.p == rows.spread(top)
    n_top = rows.sum(is_top.astype(np.float64))
    if_listed = rows.sum(np.where(is_top, 0.0, rows.p)) + (n_top - 1) * top + rows.unlisted
    if_shared = rows.sum(rows.p) + (rows.n_sharing - 1) * share
    return np.clip(np.where(share > top, if_shared, if_listed), 0.0, 1.0)


def _candidate_share(rows: Rows) -> Floats:
    """Return the probability of one unlisted candidate out of a known number."""
    return np.where(rows.n_unlisted > 0, rows.share, 0.0)


success_probability = implement("success_probability", of_rows=top_probability, rate=True, needs_probabilities=True)
"""max_x p(x given y), Bayes vulnerability. It is 1/k in an equivalence class of k. "None of these" is not a guess."""

bayes_vulnerability = success_probability
"""Name of `success_probability` in quantitative information flow."""


class TruthRank(NamedTuple):
    """Rank of the true candidate of each target.

    A person with several candidates has the rank of the best of them and the probability of all.

    probability : (n_targets,) probability of the true candidate
    n_better : (n_targets,) candidates that are strictly likelier
    n_tied : (n_targets,) candidates of equal probability, including the true one; 0 if the target is ABSENT
    n_right : (n_targets,) right candidates among the tied; 1 unless a person has several candidates
    """

    probability: Floats
    n_better: Integers
    n_tied: Integers
    n_right: Integers

    def take(self, position: Integers) -> TruthRank:
        """Return the ranks at the given positions."""
        return TruthRank(
            self.probability[position], self.n_better[position], self.n_tied[position], self.n_right[position]
        )


@cache_on_posterior
def rank_truth(belief: Posterior, truth: Truth) -> TruthRank:
    """Return the rank of the true candidate of each target; the order of entries never breaks a tie.

    A true candidate that is not listed shares the unlisted mass if the number of unlisted candidates is known, has all
    of it if the number is unknown, and otherwise has probability 0 and ties with every excluded candidate. UNKNOWN
    counts as ABSENT.
    """
    if truth.person is None:
        row, candidate = belief.observation, truth.candidate
        entry, is_listed = find_entries(belief, row, candidate)
        ranks = _rank_entries(belief, row, entry, is_listed=is_listed, is_absent=candidate < 0)
    else:
        lines = find_person_entries(belief, truth.candidate, truth.person)
        line_ranks = _rank_entries(belief, lines.row, lines.entry, is_listed=lines.is_listed, is_absent=lines.is_absent)
        ranks = _merge_by_person(line_ranks, lines).take(lines.pair)
    for array in ranks:
        array.setflags(write=False)
    return ranks


def _merge_by_person(ranks: TruthRank, lines: PersonEntries) -> TruthRank:
    """Return the rank of each person in a row from the ranks of the candidates."""
    n_better = np.minimum.reduceat(ranks.n_better, lines.start)
    is_best = ranks.n_better == np.repeat(n_better, np.diff(lines.start, append=len(ranks.n_better)))
    n_tied, n_right = (np.where(is_best, count, 0) for count in (ranks.n_tied, ranks.n_right * lines.n_candidates))
    mass = np.minimum(np.add.reduceat(ranks.probability * lines.n_candidates, lines.start), 1.0)
    return TruthRank(mass, n_better, np.maximum.reduceat(n_tied, lines.start), np.add.reduceat(n_right, lines.start))


def _rank_entries(
    belief: Posterior, observation: Integers, entry: Integers, *, is_listed: Booleans, is_absent: Booleans
) -> TruthRank:
    """Return the rank of an entry of each row, computed once for each distinct position if these are fewer."""
    distinct, kind = distinct_rows(belief).posterior, np.full(belief.n_observations, -1)
    kind[belief.observation] = distinct.observation
    row = kind[observation]
    entry = entry + distinct.indptr[row] - belief.indptr[observation]
    n_entries, n_rows = len(distinct.candidate), distinct.n_observations
    if n_entries + 2 * n_rows > len(row):
        return _rank_positions(distinct, row, entry, is_listed=is_listed, is_absent=is_absent)
    rows, positions = np.arange(n_rows), np.arange(n_entries + 2 * n_rows)
    position_ranks = _rank_positions(
        distinct,
        np.concatenate((distinct.row, rows, rows)),
        positions,
        is_listed=positions < n_entries,
        is_absent=positions >= n_entries + n_rows,
    )
    return position_ranks.take(number_positions(distinct, row, entry, is_listed=is_listed, is_absent=is_absent))


def _rank_positions(
    belief: Posterior, row: Integers, entry: Integers, *, is_listed: Booleans, is_absent: Booleans
) -> TruthRank:
    """Return the rank of a listed entry of a row, or of an unlisted or absent candidate."""
    log_listed = np.zeros(len(row))
    log_listed[is_listed] = belief.log_probability[entry[is_listed]]
    unlisted, n_unlisted = belief.unlisted, belief.n_unlisted
    n_sharing = np.where(unlisted > 0, np.maximum(n_unlisted, 0), 0)
    share = np.where(n_sharing > 0, unlisted / np.maximum(n_sharing, 1), 0.0)

    hidden = np.where(n_unlisted == -1, unlisted, share)
    elsewhere = np.where(is_absent, np.where(n_unlisted > 0, 0.0, unlisted)[row], hidden[row])
    probability = np.where(is_listed, np.exp(log_listed), elsewhere)

    mass = np.where(n_sharing > 0, unlisted, 1.0)  # by its logarithm: a share of the smallest numbers is 0
    log_share, n_sharing = (np.log(mass) - np.log(np.maximum(n_sharing, 1)))[row], n_sharing[row]
    log_truth, tie = np.where(is_listed, log_listed, log_share), belief.resolution
    n_below, n_up_to = _count_below(belief, row, log_truth)
    length = belief.row_length[row]
    n_better = length - n_up_to + np.where(log_share > log_truth + tie, n_sharing, 0)
    n_tied = n_up_to - n_below + np.where(np.abs(log_share - log_truth) <= tie, n_sharing, 0)

    is_excluded = ~is_listed & (n_sharing == 0)
    n_better = np.where(is_absent, belief.n_candidates, np.where(is_excluded, length, n_better))
    n_excluded = np.maximum(belief.n_candidates - length, 1)
    n_tied = np.where(is_absent, 0, np.where(is_excluded, n_excluded, n_tied))
    return TruthRank(probability, n_better, n_tied, np.ones_like(n_tied))


def _count_below(belief: Posterior, row: Integers, log_p: Floats) -> Integers:
    """Return the numbers of candidates of each row that are less likely than its log_p, and at most as likely."""
    counts = np.empty((2, len(row)), dtype=np.int64)
    order = None if np.all(row[1:] >= row[:-1]) else np.argsort(row, kind="stable")
    ordered = row if order is None else row[order]
    for first, last in chunks(belief.indptr, MAX_SORTED_ENTRIES):
        part: Any = slice(*np.searchsorted(ordered, (first, last)).tolist())
        if part.start < part.stop:
            part = part if order is None else order[part]
            counts[:, part] = _count_below_in(belief, first, last, row[part], log_p[part])
    return counts


def _count_below_in(
    belief: Posterior, first: int, last: int, row: Integers, log_p: Floats
) -> tuple[Integers, Integers]:
    """Return the counts of `_count_below` for rows of the range first to last."""
    indptr = belief.indptr[first : last + 1]
    values, count_before = _sort_rows(belief, indptr)
    start, stop = indptr[row - first] - indptr[0], indptr[row - first + 1] - indptr[0]
    below = bisect(values, start, stop, log_p - belief.resolution, right=False)
    up_to = bisect(values, start, stop, log_p + belief.resolution, right=True)
    return count_before(below) - count_before(start), count_before(up_to) - count_before(start)


def _sort_rows(belief: Posterior, indptr: Integers) -> tuple[LogProbabilities, Callable[[Integers], Integers]]:
    """Return log-probabilities, ascending within each row, and a function that counts candidates before a position."""
    entries, length = slice(indptr[0], indptr[-1]), np.diff(indptr)
    log_p = belief.log_probability[entries]
    if belief.multiplicity is not None:
        order = np.lexsort((log_p, np.repeat(np.arange(len(length)), length)))
        n_before = np.concatenate(([0], np.cumsum(belief.multiplicity[entries][order])))
        return log_p[order], n_before.__getitem__
    log_p = log_p.copy()
    for n in np.unique(length[length > 1]).tolist():  # rows of one length are sorted together
        if np.all(length == n):
            log_p.reshape(-1, n).sort(axis=1)
        else:
            block = (indptr[:-1] - indptr[0])[length == n][:, None] + np.arange(n)
            log_p[block] = np.sort(log_p[block], axis=1)
    return log_p, lambda position: position


def _success_within(belief: Posterior, truth: Truth, k: int) -> Floats:
    ranks = rank_truth(belief, truth)
    if truth.person is None:
        share = np.clip((k - ranks.n_better) / np.maximum(ranks.n_tied, 1), 0.0, 1.0)
        return np.where(ranks.n_tied > 0, share, 0.0)
    miss = np.ones(len(truth))
    for n_drawn in range(k):  # one of the tied candidates after the other, none of them right
        n_wrong, n_left = ranks.n_tied - ranks.n_right - n_drawn, np.maximum(ranks.n_tied - n_drawn, 1)
        miss *= np.where(n_drawn < k - ranks.n_better, np.clip(n_wrong / n_left, 0.0, 1.0), 1.0)
    return np.where(ranks.n_tied > 0, 1.0 - miss, 0.0)


def realized_success_at(k: int) -> Measure:
    """Return the measure "the true candidate is among the k likeliest", ties broken at random.

    The value is clip((k - better) / tied, 0, 1): `better` candidates are strictly likelier than the true one, `tied`
    are equally likely, itself included. For a person with several candidates any one is right: with r of the tied right
    and m = k - better draws, it is 1 - C(tied - r, m) / C(tied, m). An ABSENT target has 0.

    Parameters
    ----------
    k : int
        Number of guesses, at least 1.

    Returns
    -------
    Measure
        `realized_success`, or `realized_success_at_k` for k above 1.

    Raises
    ------
    UnmaskError
        If k is below 1.

    Examples
    --------
    >>> from unmask import Posterior, Truth
    >>> belief = Posterior.from_dense(np.array([[0.25, 0.25, 0.5]]))
    >>> [float(realized_success_at(k).per_target(belief, Truth([0]))[0]) for k in (1, 2, 3)]
    [0.0, 0.5, 1.0]
    """
    if k < 1:
        raise UnmaskError(f"k is {k}, expected at least 1 guess")
    texts = {
        "name": f"realized_success_at_{k}",
        "label": f"Success within {k} guesses",
        "meaning": f"probability that the truth is among the adversary's {k} likeliest candidates",
        "realizes": "",
    }
    return implement(
        "realized_success",
        **(texts if k > 1 else {}),
        of_positions=lambda positions: _success_within(positions.posterior, positions.truth, k),
        rate=True,
    )


realized_success = realized_success_at(1)
"""Realized side of `success_probability`; ties share a success."""

FAMILIES[r"realized_success_at_(\d+)"] = lambda k: realized_success_at(int(k))

parts_linked = declare(implement("parts_linked", of_positions=realized_success.of_positions, rate=True))
"""Linkability in Opinion 05/2014 (WP216): `realized_success` of the other part of a record."""


def _guesses_needed(positions: TruthPositions) -> Floats:
    ranks = rank_truth(positions.posterior, positions.truth)
    guesses = ranks.n_better + (ranks.n_tied + 1) / (ranks.n_right + 1)
    return np.where(ranks.n_tied > 0, guesses, positions.posterior.n_candidates + 1.0)


rank = implement("rank", of_positions=_guesses_needed)
"""better + (tied + 1) / (right + 1) guesses; the number of candidates plus 1 if the target is ABSENT."""


def _log_loss(positions: TruthPositions) -> Floats:
    with np.errstate(divide="ignore"):
        return -np.log2(rank_truth(positions.posterior, positions.truth).probability) + 0.0


log_loss_bits = implement("log_loss_bits", of_positions=_log_loss, needs_probabilities=True)
"""-log2 p(x_true given y), infinite if the truth is excluded. The mean of an exact belief is its Shannon entropy."""


def _calibration_error(positions: TruthPositions) -> Floats:
    belief, truth = positions.posterior, positions.truth
    is_judged = truth.judged & (belief.weight > 0)
    announced = success_probability.per_target(belief)
    bins = tenth(announced * (1.0 + belief.resolution))
    weight, n_targets = np.where(is_judged, belief.weight, 0.0), np.where(is_judged, positions.n_targets, 0)
    n, mass = _sum_bins(bins, n_targets), _sum_bins(bins, weight)
    difference = announced - _success_within(belief, truth, 1)
    gap = _sum_bins(bins, weight * difference) / np.where(mass > 0, mass, 1.0)
    gap = np.where(np.abs(gap) > belief.resolution, gap, 0.0)
    squares = weight**2 / positions.n_targets * (difference - gap[bins]) ** 2  # of as many targets of equal weight
    square = _sum_bins(bins, squares) / np.where(mass > 0, mass, 1.0) ** 2
    variance = np.where(n > 1, square * n / np.maximum(n - 1, 1), gap**2)
    return np.asarray(np.sqrt(np.maximum(gap**2 - variance, 0.0))[bins])


def tenth(probability: Floats) -> Integers:
    """Return the tenth of each probability, from 0; 1 is in the last."""
    return np.minimum((probability * TENTHS).astype(np.int64), TENTHS - 1)


def _sum_bins(bins: Integers, values: NDArray[np.generic]) -> Floats:
    return np.asarray(np.bincount(bins, weights=values, minlength=TENTHS))


calibration_error = implement(
    "calibration_error", of_positions=_calibration_error, needs_probabilities=True, has_interval=False
)
"""Gap between announced and realized success in the target's tenth of announced success, beyond chance.

sqrt(max(g^2 - s^2, 0)) with g = mean announced - mean realized and s^2 = n / (n - 1) sum w^2 (d - g)^2, the variance of
that mean; a tenth with one target has 0. Without s^2 the expected calibration error of an exact belief is far above 0.
An estimate that is cut at 0 has no honest interval; `unmask.core.calibration_check.Check` tests it.

A. Kumar, P. Liang & T. Ma, "Verified uncertainty calibration", 2019, section 4 (debiasing)."""

declare_all(success_probability, rank, log_loss_bits, calibration_error, realized_success)
