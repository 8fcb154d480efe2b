"""The distinct cells of one column and what each of them means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unmask.tables.notation import EVERYTHING, MASK

Kind = Literal["numeric", "ordinal", "categorical"]
"""Whether values are ordered by size, by a stated order, or not at all."""

Missing = Literal["own", "wildcard", "excluded"]
"""What a missing cell means: a value of its own, any value, or a row that is left out."""


@dataclass(frozen=True, eq=False)
class Levels:
    """The distinct cells of one column and what each of them means: a set of atomic values.

    labels : canonical text of each of the L levels, unique; a missing cell is the empty text.
    kind : "numeric" (sets are intervals), "ordinal" or "categorical" (sets are subsets of `domain`).
    low, high : (L,) inclusive bounds of a numeric level; an open end is stored as the next float inwards,
        `*` is -inf to inf, a missing cell is nan. Empty arrays for the other kinds.
    domain : the D atomic values, for "ordinal" in rank order; with a hierarchy its leaves in file order; () if numeric.
    members : (L, D) which atomic values a level covers; `*` covers all, a missing cell none. (L, 0) if numeric.
        It may be a read-only view.
    missing : index of the level that stands for a missing cell, or -1.

    >>> from unmask.tables.cells import parse_levels
    >>> levels = parse_levels(["20", "[20, 30)", "*"], kind="numeric", column="age")
    >>> levels.labels, levels.atomic.tolist()
    (('20', '[20, 30)', '*'), [True, False, False])
    """

    labels: tuple[str, ...]
    kind: Kind
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    domain: tuple[str, ...]
    members: NDArray[np.bool_]
    missing: int

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def atomic(self) -> NDArray[np.bool_]:
        """(L,) levels that are one exact value; a masked cell and `*` never are, whatever the domain."""
        if self.kind == "numeric":
            exact: NDArray[np.bool_] = self.low == self.high
            return exact
        one = self.place >= 0
        for at in np.flatnonzero(~one):
            exact_set = self.labels[at] != EVERYTHING and not self.mask(int(at))
            one[at] = exact_set and np.count_nonzero(self.members[at]) == 1
        return one

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """(L,) place in the domain of the value that is a level's label, -1 for other levels and numeric ones."""
        index = {value: at for at, value in enumerate(self.domain)}
        return np.fromiter((index.get(label, -1) for label in self.labels), dtype=np.int64, count=len(self))

    def mask(self, at: int) -> str:
        """The masked text of a level such as `123**`, or "" for a level that is none."""
        label = self.labels[at]
        return label if self.kind != "numeric" and self.place[at] < 0 and MASK.fullmatch(label) else ""

    def select(self, at: NDArray[np.intp] | Sequence[int]) -> Levels:
        """The levels at the given places, in that order; the domain stays."""
        index = np.asarray(at, dtype=np.intp)
        where = np.flatnonzero(index == self.missing)
        return Levels(
            tuple(self.labels[i] for i in index),
            self.kind,
            self.low[index] if self.kind == "numeric" else self.low,
            self.high[index] if self.kind == "numeric" else self.high,
            self.domain,
            self.members[index],
            int(where[0]) if self.missing >= 0 and where.size else -1,
        )
