"""Distinct cells of one column, and the set of values that each cell means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import CsrRows
from unmask.tables.dates import DAYS, MOMENTS
from unmask.tables.notation import EVERYTHING, MASK, UNKNOWN
from unmask.tables.scales import NUMBERS, Scale

Type = Literal["number", "date", "datetime", "code", "text", "ordinal"]
"""Type of the values of a column: how their texts are read, generalized and written.

number : `20`, `3.5` or `[20, 30]`. date, datetime : days and times. code : text whose prefix is most informative, such
    as a zip code, even if it has only digits. text : names without an order. ordinal : names with a declared order.
"""

Kind = Literal["numeric", "ordinal", "categorical"]
"""Comparison of the values of a type: by size, by a declared order, or by equality only."""

KIND: Mapping[Type, Kind] = {
    "number": "numeric",
    "date": "numeric",
    "datetime": "numeric",
    "code": "categorical",
    "text": "categorical",
    "ordinal": "ordinal",
}

SCALES: Mapping[Type, Scale] = {"number": NUMBERS, "date": DAYS, "datetime": MOMENTS}
"""Notation of numeric columns. Dates are days, and times are seconds, since 1970."""

Missing = Literal["own", "wildcard", "excluded"]
"""Meaning of a missing cell: a value of its own, any value, or a row that is left out."""


@dataclass(frozen=True, eq=False)
class Levels:
    """Distinct cells of one column. Each cell means a set of atomic values.

    A cell is in one of four states: stated, missing (`is_missing`), suppressed (`suppressed`, written `*`), or unknown
    to the adversary (`unknown`; no file contains it).

    labels : canonical text of each of the L levels, unique; a missing cell is the empty text.
    type : type of the values, which determines `kind`. "numeric" levels are intervals, "ordinal" and "categorical"
        levels are subsets of `domain`.
    low, high : (L,) inclusive bounds of a numeric level, on the `scale` of its type. An open end is stored as the next
        value inwards, `*` is -inf to inf, a missing cell is nan. Empty for the other kinds.
    domain : the D atomic values. Ordinal values are in rank order; values with a hierarchy are its leaves in file
        order. () if numeric.
    members : (L, D) CSR, the atomic values of each level; all for `*`, none for a missing cell. (L, 0) if numeric.
    missing : index of the missing level, or -1.

    >>> from unmask.tables.cells import read_levels
    >>> levels, _ = read_levels(["20", "[20, 30)", "*"], as_type="number", column="age")
    >>> levels.labels, levels.atomic.tolist()
    (('*', '20', '[20, 30)'), [False, True, False])
    """

    labels: tuple[str, ...]
    type: Type
    low: Floats
    high: Floats
    domain: tuple[str, ...]
    members: CsrRows
    missing: int

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def is_missing(self) -> Booleans:
        """(L,) mask of the missing level."""
        return np.asarray(np.arange(len(self)) == self.missing)

    @cached_property
    def suppressed(self) -> Booleans:
        """(L,) mask of the level `*`, which may be any value."""
        return self._is(EVERYTHING)

    @cached_property
    def unknown(self) -> Booleans:
        """(L,) mask of the level that the adversary does not know."""
        return self._is(UNKNOWN)

    @cached_property
    def is_set(self) -> Booleans:
        """(L,) mask of the stated levels with several values: intervals, sets, masks and hierarchy nodes."""
        return np.asarray(~(self.atomic | self.is_missing | self.suppressed | self.unknown))

    def open(self, missing: Missing) -> Booleans:
        """Return (L,) mask of the levels that are compatible with every cell: suppressed, unknown, and missing
        under "wildcard".
        """
        opened = self.suppressed | self.unknown
        return opened | self.is_missing if missing == "wildcard" else opened

    def _is(self, label: str) -> Booleans:
        level = self.labels.index(label) if label in self.labels else -1
        return np.asarray(np.arange(len(self)) == level)

    @property
    def kind(self) -> Kind:
        """Comparison of the values: numeric, ordinal or categorical."""
        return KIND[self.type]

    @property
    def scale(self) -> Scale:
        """Notation of the numbers of a numeric column."""
        return SCALES[self.type]

    @cached_property
    def atomic(self) -> Booleans:
        """(L,) mask of the levels with one exact value. Masked cells and `*` are never exact, whatever the domain."""
        if self.kind == "numeric":
            exact: Booleans = self.low == self.high
            return exact
        is_set = (np.diff(self.members.indptr) == 1) & ~self.suppressed
        is_set[list(self.masks)] = False
        return np.asarray(is_set | (self.place >= 0))

    @cached_property
    def place(self) -> Integers:
        """(L,) position in the domain of the value that is the label; -1 for other levels and numeric columns."""
        index = {value: position for position, value in enumerate(self.domain)}
        return np.fromiter((index.get(label, -1) for label in self.labels), dtype=np.int64, count=len(self))

    @cached_property
    def masks(self) -> Mapping[int, str]:
        """Text of each masked level, such as `123**`, by level."""
        levels = np.flatnonzero(self.place < 0).tolist() if self.kind != "numeric" else []
        return {level: self.labels[level] for level in levels if MASK.fullmatch(self.labels[level])}

    @cached_property
    def longest(self) -> int:
        """Number of characters of the longest code or mask."""
        return max((len(text) for text in (*self.domain, *self.masks.values())), default=0)

    @property
    def by_prefix(self) -> bool:
        """True if prefixes are meaningful; codes of one or two characters are categories."""
        return self.type == "code" and self.longest > 2

    def covered(self, level: int) -> NDArray[np.int32]:
        """Return the positions in the domain of a level's values, ascending."""
        return np.asarray(self.members.indices[self.members.indptr[level] : self.members.indptr[level + 1]])

    def select(self, indices: NDArray[np.intp] | Sequence[int]) -> Levels:
        """Return a selection of the levels in the given order; the domain is unchanged."""
        index = np.asarray(indices, dtype=np.intp)
        if np.array_equal(index, np.arange(len(self))):
            return self
        missing_at = np.flatnonzero(index == self.missing)
        return replace(
            self,
            labels=tuple(self.labels[i] for i in index),
            low=self.low[index] if self.kind == "numeric" else self.low,
            high=self.high[index] if self.kind == "numeric" else self.high,
            members=self.members.take(index),
            missing=int(missing_at[0]) if self.missing >= 0 and missing_at.size else -1,
        )

    def on_scale_of(self, other_levels: Levels) -> Levels:
        """Return numeric levels on the finer scale of two columns; nan for a label that this scale cannot read.

        This compares dates with times, and years that look like numbers with dates.
        """
        finer = max(self.type, other_levels.type, key=list(SCALES).index)
        if finer == self.type:
            return self
        bounds = [SCALES[finer].read(label) or (np.nan, np.nan) for label in self.labels]
        low, high = np.array(bounds, dtype=np.float64).reshape(-1, 2).T
        return replace(self, type=finer, low=low, high=high)


def on_one_scale(first: Levels, second: Levels) -> tuple[Levels, Levels]:
    """Return numeric levels of two columns on the finer scale of the two."""
    return first.on_scale_of(second), second.on_scale_of(first)


def ends_of_sets(levels: Levels) -> tuple[Floats, Floats]:
    """Return the first and the last position in the domain of each level's values; -1 for a level without values.

    >>> from unmask.tables.cells import read_levels
    >>> levels, _ = read_levels(["b", "{a, c}", None], as_type="text", column="c")
    >>> ends_of_sets(levels)
    (array([ 1.,  0., -1.]), array([ 1.,  2., -1.]))
    """
    first, last = np.full((2, len(levels)), -1.0)
    begin, end = levels.members.indptr[:-1], levels.members.indptr[1:]
    full = begin < end
    first[full], last[full] = levels.members.indices[begin[full]], levels.members.indices[end[full] - 1]
    return first, last
