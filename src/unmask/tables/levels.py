"""The distinct cells of one column and what each of them means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unmask.core.csr_rows import CsrRows
from unmask.tables.dates import DAYS, MOMENTS
from unmask.tables.notation import EVERYTHING, MASK, UNKNOWN
from unmask.tables.scales import NUMBERS, Scale

Type = Literal["number", "date", "datetime", "code", "text", "ordinal"]
"""What the values of a column are, as its owner says it: how their texts are read, generalized and written.

number : any of `20`, `3.5`, `[20, 30]`. date, datetime : days and moments. code : text whose beginning says the most,
such as a zip code, also when it is all digits. text : names without an order. ordinal : names in a stated order.
"""

Kind = Literal["numeric", "ordinal", "categorical"]
"""How values compare, which follows from the type: by size, by a stated order, or not at all."""

KIND: Mapping[Type, Kind] = {
    "number": "numeric",
    "date": "numeric",
    "datetime": "numeric",
    "code": "categorical",
    "text": "categorical",
    "ordinal": "ordinal",
}

SCALES: Mapping[Type, Scale] = {"number": NUMBERS, "date": DAYS, "datetime": MOMENTS}
"""How the cells of a numeric column are written: days and seconds since 1970 stand for dates and moments."""

Missing = Literal["own", "wildcard", "excluded"]
"""What a missing cell means: a value of its own, any value, or a row that is left out."""


@dataclass(frozen=True, eq=False)
class Levels:
    """The distinct cells of one column and what each of them means: a set of atomic values.

    A cell has one of four states: stated, no value (`gaps`), suppressed (`suppressed`, written `*`), or unknown to the
    adversary (`unknown`, which no file holds).

    labels : canonical text of each of the L levels, unique; a missing cell is the empty text.
    type : what the values are; `kind` follows: "numeric" (sets are intervals), "ordinal" or "categorical" (sets are
        subsets of `domain`).
    low, high : (L,) inclusive bounds of a numeric level, on its type's `scale`; an open end is stored as the next value
        inwards, `*` is -inf to inf, a missing cell is nan. Empty arrays for the other kinds.
    domain : the D atomic values, for "ordinal" in rank order; with a hierarchy its leaves in file order; () if numeric.
    members : (L, D) CSR, which atomic values a level covers; `*` covers all, a missing cell none. (L, 0) if numeric.
    missing : index of the level that stands for a missing cell, or -1.

    >>> from unmask.tables.cells import parse_levels
    >>> levels = parse_levels(["20", "[20, 30)", "*"], as_type="number", column="age")
    >>> levels.labels, levels.atomic.tolist()
    (('20', '[20, 30)', '*'), [True, False, False])
    """

    labels: tuple[str, ...]
    type: Type
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    domain: tuple[str, ...]
    members: CsrRows
    missing: int

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def gaps(self) -> NDArray[np.bool_]:
        """(L,) whether a level stands for a missing cell."""
        return np.asarray(np.arange(len(self)) == self.missing)

    @cached_property
    def suppressed(self) -> NDArray[np.bool_]:
        """(L,) whether a level is `*`, which may be any value."""
        return self._is(EVERYTHING)

    @cached_property
    def unknown(self) -> NDArray[np.bool_]:
        """(L,) whether a level stands for a cell that the adversary does not know."""
        return self._is(UNKNOWN)

    @cached_property
    def sets(self) -> NDArray[np.bool_]:
        """(L,) stated levels of several values: an interval, a set, a mask or a node of a hierarchy."""
        return np.asarray(~(self.atomic | self.gaps | self.suppressed | self.unknown))

    def open(self, missing: Missing) -> NDArray[np.bool_]:
        """(L,) levels that meet every cell: suppressed, unknown, and under "wildcard" missing ones."""
        opened = self.suppressed | self.unknown
        return opened | self.gaps if missing == "wildcard" else opened

    def _is(self, label: str) -> NDArray[np.bool_]:
        level = self.labels.index(label) if label in self.labels else -1
        return np.asarray(np.arange(len(self)) == level)

    @property
    def kind(self) -> Kind:
        """Comparison of its values: numeric, ordinal or categorical."""
        return KIND[self.type]

    @property
    def scale(self) -> Scale:
        """Notation of the numbers of a numeric column."""
        return SCALES[self.type]

    @cached_property
    def atomic(self) -> NDArray[np.bool_]:
        """(L,) levels that are one exact value; a masked cell and `*` never are, whatever the domain."""
        if self.kind == "numeric":
            exact: NDArray[np.bool_] = self.low == self.high
            return exact
        is_set = (np.diff(self.members.indptr) == 1) & ~self.suppressed
        is_set[list(self.masks)] = False
        return np.asarray(is_set | (self.place >= 0))

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """(L,) place in the domain of the value that is a level's label, -1 for other levels and numeric ones."""
        index = {value: position for position, value in enumerate(self.domain)}
        return np.fromiter((index.get(label, -1) for label in self.labels), dtype=np.int64, count=len(self))

    @cached_property
    def masks(self) -> Mapping[int, str]:
        """Level -> its text, of masked levels such as `123**`."""
        levels = np.flatnonzero(self.place < 0).tolist() if self.kind != "numeric" else []
        return {level: self.labels[level] for level in levels if MASK.fullmatch(self.labels[level])}

    @cached_property
    def longest(self) -> int:
        """Characters of the longest code, or of the longest mask of one."""
        return max((len(text) for text in (*self.domain, *self.masks.values())), default=0)

    @property
    def by_prefix(self) -> bool:
        """True if beginnings of codes have a meaning; codes of one or two characters are categories."""
        return self.type == "code" and self.longest > 2

    def covered(self, level: int) -> NDArray[np.int32]:
        """Return the places in the domain of the values that a level covers, ascending."""
        return np.asarray(self.members.indices[self.members.indptr[level] : self.members.indptr[level + 1]])

    def select(self, indices: NDArray[np.intp] | Sequence[int]) -> Levels:
        """Select levels in the given order; the domain stays."""
        index = np.asarray(indices, dtype=np.intp)
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
        """Return numeric levels on the finer scale of two columns; nan for a label that it cannot read.

        So a date meets a moment, and the years of a column that looked like numbers meet dates.
        """
        finer = max(self.type, other_levels.type, key=list(SCALES).index)
        if finer == self.type:
            return self
        bounds = [SCALES[finer].read(label) or (np.nan, np.nan) for label in self.labels]
        low, high = np.array(bounds, dtype=np.float64).reshape(-1, 2).T
        return replace(self, type=finer, low=low, high=high)


def ends_of_sets(levels: Levels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the first and the last place in the domain that each level covers, -1 where it covers none.

    >>> from unmask.tables.cells import parse_levels
    >>> ends_of_sets(parse_levels(["b", "{a, c}", None], as_type="text", column="c"))
    (array([ 1.,  0., -1.]), array([ 1.,  2., -1.]))
    """
    first, last = np.full((2, len(levels)), -1.0)
    begin, end = levels.members.indptr[:-1], levels.members.indptr[1:]
    full = begin < end
    first[full], last[full] = levels.members.indices[begin[full]], levels.members.indices[end[full] - 1]
    return first, last
