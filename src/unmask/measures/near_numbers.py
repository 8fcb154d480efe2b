"""Success of an adversary who guesses a number: right if it is near the truth."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures.measure import Measure, UndefinedError
from unmask.measures.registry import FAMILIES
from unmask.ranges import Range, check_type

SOURCE = "M. Giomi et al., 'A unified framework for quantifying privacy risk in synthetic data', PoPETs 2023, with 5 %"


class _Guesses(NamedTuple):
    """Best guess of each row: its probability of being near, the numbers that it is near, and all numbers."""

    probability: Floats
    low: Floats
    high: Floats
    numbers: Floats


def _find_guesses(belief: Posterior, share: float) -> _Guesses:
    """Return the guess of each row that is near the truth with the highest probability; ties: the least number.

    A guess g is near x if |g - x| <= share |x|. One guess is near all numbers of one sign from a to a (1 + share) /
    (1 - share).
    """
    numbers = np.array([_read_number(label) for label in belief.candidate_label or ()])
    if np.count_nonzero(np.isfinite(numbers)) < 2:
        raise UndefinedError("the candidates are not numbers, so that no guess is near one")
    row, x, p = belief.row, numbers[belief.candidate], np.exp(belief.log_probability.astype(np.float64))
    is_number = np.isfinite(x)
    row, x, p = row[is_number], x[is_number], p[is_number]
    group = 3 * row.astype(np.int64) + np.sign(x).astype(np.int64) + 1
    order = np.lexsort((np.abs(x), group))
    row, x, p, group = row[order], x[order], p[order], group[order]
    sizes = np.unique(np.abs(x))
    last = np.searchsorted(sizes, np.abs(x) * (1 + share) / (1 - share) * (1 + 1e-12), side="right")
    key = group * (len(sizes) + 1) + np.searchsorted(sizes, np.abs(x))
    stop = np.searchsorted(key, group * (len(sizes) + 1) + last)
    total = np.concatenate(([0.0], np.cumsum(p)))
    mass = total[stop] - total[: len(p)]
    best = _find_first_best(row, mass, belief.n_observations)
    has_number = best >= 0
    ends = np.stack([x[best], x[stop[best] - 1]])
    return _Guesses(
        np.where(has_number, np.clip(mass[best], 0.0, 1.0), 0.0),
        np.where(has_number, ends.min(axis=0), np.nan),
        np.where(has_number, ends.max(axis=0), np.nan),
        numbers,
    )


def _read_number(label: str) -> float:
    try:
        return float(label)
    except ValueError:
        return np.nan


def _find_first_best(row: Integers, mass: Floats, n_rows: int) -> Integers:
    """Return (n_rows,) the first entry of each row with the largest mass, up to rounding; -1 without entries."""
    best = np.full(n_rows, -1)
    order = np.lexsort((-np.arange(len(row)), np.round(mass, 12), row))  # the last one of each row wins
    best[row[order]] = order
    return best


def success_within(share: float) -> Measure:
    """Return the measure "the best guess of a number is within a share of the truth", as the adversary believes.

    Parameters
    ----------
    share : float
        Largest difference, as a share of the truth, from 0 and below 1.

    Returns
    -------
    Measure

    Raises
    ------
    UnmaskError
        If the share is outside this range.

    Examples
    --------
    >>> import dataclasses
    >>> belief = Posterior.from_dense(np.array([[0.4, 0.35, 0.25]]))
    >>> belief = dataclasses.replace(belief, candidate_label=("100", "500", "540"))
    >>> success_within(0.1)(belief), realized_success_within(0.1)(belief, Truth([2]))
    (0.6, 1.0)
    """
    return _declare(share, "success_within", "", lambda belief: _find_guesses(belief, share).probability)


def realized_success_within(share: float) -> Measure:
    """Return the realized side of `success_within`: the share of best guesses that are near the truth.

    Parameters
    ----------
    share : float
        Largest difference, as a share of the truth, from 0 and below 1.

    Returns
    -------
    Measure
    """

    def is_near(belief: Posterior, truth: Truth) -> Floats:
        if truth.person is not None:
            raise UndefinedError("people have several values, so that no single number is the truth")
        guesses = _find_guesses(belief, share)
        value = np.where(truth.candidate >= 0, guesses.numbers[truth.candidate], np.nan)
        row = belief.observation
        return ((guesses.low[row] <= value) & (value <= guesses.high[row])).astype(np.float64)

    return _declare(share, "realized_success_within", f"success_within_{share:g}", is_near)


def _declare(share: float, name: str, realizes: str, function: object) -> Measure:
    check_type("share", share, Annotated[float, Range(0, 1, below=True)])
    side = {"realized" if realizes else "self_assessed": function}
    return Measure(
        f"{name}_{share:g}", f"Success within {100 * share:g} %",
        f"probability that the best guess of a number differs from the truth by at most {100 * share:g} %",
        "probability", range=(0.0, 1.0), source=SOURCE, realizes=realizes, rate=True,
        needs_probabilities=not realizes, **side,  # type: ignore[arg-type]
    )  # fmt: skip


FAMILIES[r"success_within_([\d.]+)"] = success_within
FAMILIES[r"realized_success_within_([\d.]+)"] = realized_success_within
