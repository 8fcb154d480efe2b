"""Rules that publish counts: suppression, rounding and perturbation, and the true counts behind a published value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.tolerances import MASS_TOLERANCE
from unmask.ranges import FINITE, Range, check_ranges

UNBOUNDED = 2**31 - 1
"""Upper bound of a count about which nothing is known."""

NOISE_REACH = {"laplace": 40.0, "gaussian": 9.0}
"""Largest noise in units of its scale; more noise has a probability below 1e-17."""

Rounding = Literal["half-up", "half-down", "half-even", "unstated", "random"]

Counts = NDArray[np.int64]


class Marker(IntEnum):
    """State of a published cell."""

    PUBLISHED = 0
    SUPPRESSED = 1
    SECONDARY = 2
    UNPUBLISHED = 3


MARKERS = {marker.name.lower(): marker for marker in Marker if marker}
"""Text of a cell without a number -> its state."""


@dataclass(frozen=True)
class Rule:
    """Rule that turns a true count into a published value. The default publishes the exact count.

    Counts below `threshold` are suppressed first. The others are rounded to a multiple of `base`, or perturbed.

    Parameters
    ----------
    threshold : int
        smallest count that is published; 0 and 1 suppress no positive count
    zeros : {"shown", "hidden"}
        "hidden" if a suppressed cell may be a zero
    secondary : bool
        True if suppressed cells may also hide larger counts, so that small counts cannot be computed from totals
    base : int
        published counts are multiples of this number
    rounding : {"half-up", "half-down", "half-even", "unstated", "random"}
        rounding of a count halfway between two multiples; "random" rounds to one of the two nearest multiples, to the
        nearer one with a higher probability (unbiased)
    perturbation : sequence of sequences of float
        row n has the probabilities of the noise -D, ..., D of a true count n, as in the cell key method; counts beyond
        the last row have its probabilities
    noise : {"none", "laplace", "gaussian"}
        discrete noise of differential privacy
    scale : float
        exp(-1 / scale) is the decay of discrete Laplace noise; standard deviation of discrete Gaussian noise

    References
    ----------
    A. Hundepool et al., "Statistical Disclosure Control", Wiley 2012, chapters 4 and 5.
    """

    threshold: Annotated[int, Range(0, UNBOUNDED)] = 0
    zeros: Literal["shown", "hidden"] = "shown"
    secondary: bool = False
    base: Annotated[int, Range(1, UNBOUNDED)] = 1
    rounding: Rounding = "half-up"
    perturbation: Sequence[Sequence[float]] = ()
    noise: Literal["none", "laplace", "gaussian"] = "none"
    scale: Annotated[float, FINITE] = 1.0

    def __post_init__(self) -> None:
        check_ranges(self)
        object.__setattr__(self, "perturbation", tuple(map(tuple, self.perturbation)))
        if sum((self.base > 1, bool(self.perturbation), self.noise != "none")) > 1:
            raise UnmaskError(
                "a rule rounds, perturbs by a table, or adds noise; expected one of base, perturbation, noise"
            )
        if self.perturbation:
            _check_perturbation(self.perturbation)

    @property
    def is_random(self) -> bool:
        """Return whether published numbers of a count have different probabilities."""
        return bool(self.perturbation) or self.noise != "none" or (self.base > 1 and self.rounding == "random")

    @property
    def is_deterministic(self) -> bool:
        """Return whether equal counts are always published equally."""
        is_rounded = self.base == 1 or self.rounding not in ("unstated", "random")
        return is_rounded and not self.perturbation and self.noise == "none" and not self.secondary

    @property
    def _table(self) -> NDArray[np.float64]:
        return np.array(self.perturbation, dtype=np.float64)

    def describe(self) -> str:
        """Return the rule in words, for a sentence such as "Counts are ..."."""
        if self.noise != "none":
            words = f"published with discrete {self.noise.capitalize()} noise of scale {self.scale:g}"
        elif self.perturbation:
            words = f"perturbed by at most {len(self.perturbation[0]) // 2}, with public probabilities"
        elif self.base > 1:
            words = f"rounded to multiples of {self.base} ({self.rounding})"
        else:
            words = "published as they are"
        if self.threshold > 1 or (self.threshold == 1 and self.zeros == "hidden"):
            zeros = "0" if self.zeros == "hidden" else "1"
            words = f"suppressed from {zeros} to {self.threshold - 1}, otherwise {words}"
        return f"{words}; suppressed cells may hide larger counts" if self.secondary else words

    def apply(self, counts: Counts) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Publish counts by a deterministic rule.

        Parameters
        ----------
        counts : array of int
            True counts of any shape.

        Returns
        -------
        values, markers : arrays of the same shape
            NaN where the marker is not `Marker.PUBLISHED`.

        Raises
        ------
        UnmaskError
            If the rule draws random numbers, or suppresses secondary cells.

        Examples
        --------
        >>> Rule(threshold=3, base=5).apply(np.array([0, 2, 3, 12, 13]))[0]
        array([ 0., nan,  5., 10., 15.])
        """
        if not self.is_deterministic:
            raise UnmaskError(
                "the rule is random, or suppresses secondary cells; use a protection that draws or selects"
            )
        hidden = (counts < self.threshold) & ((counts > 0) | (self.zeros == "hidden"))
        markers = np.where(hidden, Marker.SUPPRESSED, Marker.PUBLISHED).astype(np.int8)
        return np.where(hidden, np.nan, self._round(counts)), markers

    def _round(self, counts: Counts) -> Counts:
        base = self.base
        if self.rounding == "half-up":
            return (2 * counts + base) // (2 * base) * base
        if self.rounding == "half-down":
            return -((base - 2 * counts) // (2 * base)) * base
        quotient, remainder = np.divmod(counts, base)
        up = (2 * remainder > base) | ((2 * remainder == base) & (quotient % 2 == 1))
        return np.asarray((quotient + up) * base, dtype=np.int64)

    def check_values(self, values: NDArray[np.float64], place: str) -> None:
        """Raise an error for a number that the rule cannot publish. place : name of the table, for the error"""
        published = values[~np.isnan(values)]
        if not np.isfinite(published).all() or (published != np.rint(published)).any():
            raise UnmaskError(f"{place} has a number that is not whole, expected counts; remove it or fix the file")
        if self.noise == "none" and (published < 0).any():
            raise UnmaskError(f"{place} has a negative count, which the stated rule cannot publish; check [rule]")
        if (published % self.base).any():
            raise UnmaskError(f"{place} has a count that is not a multiple of {self.base}; check base in [rule]")
        if (np.abs(published) >= UNBOUNDED).any():
            raise UnmaskError(f"{place} has a count above {UNBOUNDED - 1:,}, expected less; split the release")

    def bounds(self, values: NDArray[np.float64], markers: NDArray[np.int8]) -> tuple[Counts, Counts]:
        """Return the smallest and the largest true count that a published cell may stand for.

        Parameters
        ----------
        values : array of float
            Published numbers; ignored where a marker hides the number.
        markers : array of int
            `Marker` of each cell.

        Returns
        -------
        low, high : arrays of int64
            Inclusive bounds; `UNBOUNDED` without an upper bound. Noise of differential privacy has no bounds; counts
            that need noise beyond `NOISE_REACH` are left out.

        Examples
        --------
        >>> rule = Rule(threshold=8, zeros="hidden", base=5)
        >>> low, high = rule.bounds(np.array([10.0, np.nan]), np.array([0, 1]))
        >>> low.tolist(), high.tolist()
        ([8, 0], [12, 7])
        """
        published = np.where(markers == Marker.PUBLISHED, values, 0.0)
        below, above = self._spread(published)
        rounded = np.rint(published).astype(np.int64)
        low = np.maximum(rounded - below, 0)
        high = np.minimum(np.maximum(rounded + above, 0), UNBOUNDED)
        if self.threshold:  # a shown zero is a zero, unless a large base rounds counts above the threshold to zero
            shown_zero = (rounded == 0) & (self.zeros == "shown")
            high = np.where(shown_zero & (high < self.threshold), 0, high)
            low = np.where(shown_zero, low, np.maximum(low, self.threshold))
        hidden = markers == Marker.SUPPRESSED
        low = np.where(hidden, int(self.zeros == "shown"), low)
        high = np.where(hidden, UNBOUNDED if self.secondary else max(self.threshold - 1, 0), high)
        unknown = markers >= Marker.SECONDARY
        low = np.where(unknown, 0, low)
        return low, np.where(unknown, UNBOUNDED, high)

    def _spread(self, values: NDArray[np.float64]) -> tuple[Any, Any]:
        """Return how far a true count may be below and above a published number."""
        if self.noise != "none":
            farthest = int(np.ceil(NOISE_REACH[self.noise] * self.scale))
            return farthest, farthest
        if self.perturbation:
            return self._perturbation_spread(np.rint(values).astype(np.int64))
        half, is_even = self.base // 2, self.base % 2 == 0
        if self.base == 1:
            return 0, 0
        if self.rounding == "random":
            return self.base - 1, self.base - 1
        if self.rounding == "half-even" and is_even:
            even_multiple = np.rint(values / self.base) % 2 == 0
            reach = np.where(even_multiple, half, half - 1)
            return reach, reach
        below = half - (is_even and self.rounding == "half-down")
        return below, half - (is_even and self.rounding == "half-up")

    def _perturbation_spread(self, values: Counts) -> tuple[Counts, Counts]:
        table = self._table
        largest = table.shape[1] // 2
        counts = values[..., None] + np.arange(-largest, largest + 1)
        rows = np.clip(counts, 0, len(table) - 1)
        possible = (counts >= 0) & (table[rows, np.arange(2 * largest, -1, -1)] > 0)
        below = largest - possible.argmax(axis=-1)
        above = largest - possible[..., ::-1].argmax(axis=-1)
        return below, above

    def likelihood(self, value: float, marker: int, counts: Counts) -> NDArray[np.float64]:
        """Return the probability that each true count is published as this cell.

        Parameters
        ----------
        value : float
            Published number.
        marker : int
            `Marker` of the cell.
        counts : array of int
            True counts.

        Returns
        -------
        array of float
            A rule without random numbers gives 0 or 1.

        Examples
        --------
        >>> Rule(base=5, rounding="random").likelihood(5.0, 0, np.array([3, 5, 9, 10]))
        array([0.6, 1. , 0.2, 0. ])
        """
        low, high = self.bounds(np.array([value]), np.array([marker]))
        inside = np.asarray((counts >= low[0]) & (counts <= high[0]), dtype=np.float64)
        if marker != Marker.PUBLISHED:
            return inside
        deviation = np.rint(value).astype(np.int64) - counts
        if self.perturbation:
            table = self._table
            largest = table.shape[1] // 2
            columns = np.clip(deviation + largest, 0, table.shape[1] - 1)
            chances = table[np.clip(counts, 0, len(table) - 1), columns]
            return np.asarray(inside * chances * (np.abs(deviation) <= largest))
        if self.noise == "laplace":
            decay = np.exp(-1.0 / self.scale)
            return np.asarray((1 - decay) / (1 + decay) * decay ** np.abs(deviation), dtype=np.float64)
        if self.noise == "gaussian":
            reach = np.arange(-np.ceil(12 * self.scale), np.ceil(12 * self.scale) + 1)
            total = np.exp(-(reach**2) / (2 * self.scale**2)).sum()
            return np.asarray(np.exp(-(deviation.astype(np.float64) ** 2) / (2 * self.scale**2)) / total)
        if self.base > 1 and self.rounding == "random":
            return np.asarray(inside * (1.0 - np.abs(deviation) / self.base))
        return np.asarray(inside)


def _check_perturbation(rows: Sequence[Sequence[float]]) -> None:
    lengths = {len(row) for row in rows}
    if len(lengths) > 1 or any(length % 2 == 0 for length in lengths):
        raise UnmaskError("perturbation has rows of even or unequal length; expected the noise -D, ..., D in each row")
    table = np.array(rows, dtype=np.float64)
    if (table < 0).any() or (np.abs(table.sum(axis=1) - 1) > MASS_TOLERANCE).any():
        raise UnmaskError("perturbation has a row that is not a distribution; expected probabilities that sum to 1")
    largest = table.shape[1] // 2
    if any(table[n, : largest - n].any() for n in range(min(largest, len(table)))):
        raise UnmaskError("perturbation makes a count negative; expected probability 0 of noise below -n in row n")
