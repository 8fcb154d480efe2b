"""Published means, medians and sums of a numeric column, as conditions on the counts of an area."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.aggregates.domain import LEVEL_MARK, Domain
from unmask.aggregates.programs import Floats, Mask
from unmask.core.errors import UnmaskError, nearest

Kind = Literal["mean", "median", "sum"]

MAX_DIGITS: Final = 9
"""Largest number of decimal places."""


@dataclass(frozen=True, eq=False)
class Statistic:
    """Published means, medians or sums of a numeric column, by columns.

    Parameters
    ----------
    name : str
        Name for reports.
    columns : sequence of str
        Columns or levels of the domain, in the order of the axes; without a column it is about all records.
    values : array of float
        Published numbers: an axis for each column, behind an axis for areas if `by_area`. NaN without a number.
    kind : {"mean", "median", "sum"}
        The median of an even number of values is the mean of the two in the middle.
    of : str
        Column of the domain whose categories are numbers.
    digits : int
        Decimal places of the published numbers, to which they are rounded.
    where : mapping of str to sequence of str, optional
        Column -> categories of the records that are counted; by default all records.
    by_area : bool
        True if each area of the release has its own numbers.
    """

    name: str
    columns: tuple[str, ...]
    values: Floats
    kind: Kind
    of: str
    digits: int = 0
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    by_area: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "values", np.asarray(self.values, dtype=np.float64))
        if np.isinf(self.values).any() or not 0 <= self.digits <= MAX_DIGITS:
            raise UnmaskError(
                f"statistic {self.name!r} has an infinite number, or {self.digits} digits; expected finite numbers of "
                f"0 to {MAX_DIGITS} digits"
            )

    def describe(self) -> str:
        """Return what the numbers are, such as "mean of age"."""
        return f"{self.kind} of {self.of}"

    @property
    def base_columns(self) -> tuple[str, ...]:
        """Return the columns of the domain that the statistic refers to."""
        return (*(column.partition(LEVEL_MARK)[0] for column in self.columns), *self.where, self.of)

    def read_numbers(self, domain: Domain) -> Floats:
        """Return the categories of the column as numbers."""
        if self.of not in domain.categories:
            raise UnmaskError(f"statistic {self.name!r} is of {self.of!r}; {nearest(self.of, domain.columns)}")
        try:
            return np.array(domain.categories[self.of], dtype=np.float64)
        except ValueError:
            raise UnmaskError(
                f"statistic {self.name!r} is of {self.of!r}, which has a category that is not a number; name another "
                "column in of, or leave it out"
            ) from None


class Group(NamedTuple):
    """People with a published statistic.

    name, kind : name of the statistic, and what it is
    members : (n_cells,) cells of the group
    numbers : (n_cells,) number of each cell
    low, high : ends of the statistic before it was rounded
    people : number of people of the group, 0 if it is not known
    """

    name: str
    kind: Kind
    members: Mask
    numbers: Floats
    low: float
    high: float
    people: int = 0

    def holds(self, counts: NDArray[Any]) -> Mask:
        """Return whether the statistic of each row of counts (n, n_cells) is the published one."""
        order = np.flatnonzero(self.members)[np.argsort(self.numbers[self.members], kind="stable")]
        numbers, sorted_counts = self.numbers[order], counts[:, order].astype(np.float64)
        sums, total = np.cumsum(sorted_counts, axis=1), sorted_counts.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.kind == "median":
                middle = [np.argmax(2 * sums >= total[:, None] + above, axis=1) for above in (0, 1)]
                value = (numbers[middle[0]] + numbers[middle[1]]) / 2
            else:
                value = sorted_counts @ numbers / (total if self.kind == "mean" else 1.0)
        return np.asarray((value >= self.low) & (value <= self.high) & ((total > 0) | (self.kind == "sum")))

    def halves(self) -> tuple[Mask, Mask]:
        """Return the members below and above the median; at most half of the people are in each of both."""
        return self.members & (self.numbers < self.low), self.members & (self.numbers > self.high)
