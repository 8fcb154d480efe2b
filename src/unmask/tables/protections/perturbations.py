"""Ways to protect a table that change its cells by chance, column by column; each says how, for those who attack it.

`row_kernel(true, released, rng=)` is, for one column, how likely each released cell is, given the true one. An
adversary knows this kernel if they know the protection without its random numbers. Protections that
have no kernel, such as those that form classes, say by `fits` which rows can be whose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.randomness import secret_unless
from unmask.tables.attacks.product_sums import Kernel
from unmask.tables.cells import read_levels
from unmask.tables.column import Column
from unmask.tables.levels import Levels
from unmask.tables.matching import compatible
from unmask.tables.protections.base import (
    Released,
    column_position,
    evaluated_rows,
    exact_numbers,
    format_call,
    release_rows,
)
from unmask.tables.protections.recoding import Recoded
from unmask.tables.table import Table

Floats = NDArray[np.float64]
Rng = np.random.Generator

RUNS, SWAPS = 6, 200_000
"""Simulated swaps of a column: how often, and of how many ranks together, at least."""

CELLS = 400
"""Bins of ranks at most, within which all values are swapped alike."""

ANYWHERE = 0.001
"""Share of a simulated kernel that is the column's margin: no simulation shows that something never happens."""


@dataclass(frozen=True)
class PRAM:
    """Post-randomization: each cell of a quasi-identifier is kept with a given probability, otherwise drawn at random.

        K(r given x) = keep [r = x] + (1 - keep) q(r)

    q is the share of each value in the table, and cells are independent. The expected margins are therefore unchanged.
    The cell of a person may be drawn for other rows, so that their record has an effect beyond their own row. A column
    with a matrix has K(r given x) = matrix[x][r].

    Assumes: a kept cell looks like a drawn one.

    Fails when: several columns are known, because kept cells together identify a row, and impossible combinations show
    which cells were drawn (`MechanismAttack`).

    Parameters
    ----------
    keep : float or mapping of str to float
        Probability for every quasi-identifier, or by name. Columns that are not named are not changed.
    matrices : mapping, optional
        For each column, a mapping from each true value to the probabilities of the released values, which sum to 1.
        Values that are not named are not changed.

    References
    ----------
    J. M. Gouweleeuw, P. Kooiman, L. Willenborg & P.-P. de Wolf, "Post randomisation for statistical disclosure control:
    theory and implementation", Journal of Official Statistics 14(4), 1998.

    Examples
    --------
    >>> table = Table.read({"age": [30, 30, 41, 41]}, quasi_identifiers="age")
    >>> release, origin = PRAM(keep=0.5)(table, rng=np.random.default_rng(1))
    >>> release["age"].tolist(), table["age"][origin].tolist()
    (['30', '30', '30', '41'], ['30', '41', '30', '41'])
    """

    keep: float | Mapping[str, float] = field(default=0.8, hash=False)
    matrices: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict, hash=False)

    __repr__ = format_call

    def __post_init__(self) -> None:
        for rate in self.keep.values() if isinstance(self.keep, Mapping) else (self.keep,):
            if not 0 <= rate <= 1:
                raise UnmaskError(f"keep is {rate!r}, expected a probability between 0 and 1")
        for name, matrix in self.matrices.items():
            for value, row in matrix.items():
                if min(row.values(), default=-1.0) < 0 or abs(sum(row.values()) - 1) > 1e-9:
                    raise UnmaskError(f"matrices: {name}, {value}: expected probabilities that sum to 1")

    def __call__(self, table: Table, *, rng: Rng | None = None) -> Released:
        """Draw the cells that are not kept."""
        rng, rows = secret_unless(rng), evaluated_rows(table)
        for name in (*self.matrices, *(self.keep if isinstance(self.keep, Mapping) else ())):
            column_position(table, name)
        drawn = [self._drawn(column.take(rows), rng) for column in table.quasi_identifiers]
        return release_rows(table, rows, drawn, rng)

    def row_kernel(self, true: Column, released: Column, *, rng: Rng) -> Kernel:  # noqa: ARG002 - stated, not simulated
        """K of a column; q is what was released."""
        if true.name in self.matrices:
            return Kernel.of(self._probabilities(true.name, true.levels, released.levels))
        keep, q = self._keep(true.name), released.counts / released.counts.sum()
        return Kernel.of(keep * compatible(true.levels, released.levels, missing="own") + (1 - keep) * q)

    def _keep(self, name: str) -> float:
        return self.keep.get(name, 1.0) if isinstance(self.keep, Mapping) else self.keep

    def _drawn(self, column: Column, rng: Rng) -> Recoded:
        codes, n = column.codes, column.codes.size
        if column.name not in self.matrices:
            return column.levels, np.where(rng.random(n) < self._keep(column.name), codes, rng.choice(codes, n))
        new = (value for row in self.matrices[column.name].values() for value in row)
        labels = list(dict.fromkeys((*column.levels.labels, *new)))
        levels, _ = read_levels(labels, as_type=column.type, column=column.name, hierarchy=column.hierarchy)
        upto = np.cumsum(self._probabilities(column.name, column.levels, levels), axis=1)[codes]
        return levels, (upto <= rng.random((n, 1)) * upto[:, -1:]).sum(axis=1).astype(np.int32)

    def _probabilities(self, name: str, true: Levels, released: Levels) -> Floats:
        place = {label: level for level, label in enumerate(released.labels)}
        table = np.zeros((len(true), len(released)))
        for level, label in enumerate(true.labels):
            for value, p in self.matrices[name].get(label, {label: 1.0}).items():
                if value in place:
                    table[level, place[value]] = p
        return table


@dataclass(frozen=True)
class AddNoise:
    """Add Gaussian noise to numbers and round them; each cell on its own.

    r = b round((x + e) / b) with e normal of deviation sd, so K(r given x) = Phi((r + b/2 - x) / sd) - Phi((r - b/2 -
    x) / sd); with sd = 0 pure rounding, K = [x is rounded to r].

    sd   : standard deviation of the noise by column, in its units; 0 where `base` alone names it
    base : what is rounded to, by column; 1 where `sd` alone names it

    Other columns are not changed, nor are missing cells; other cells of these columns must be exact numbers.

    Assumes: the noise is large compared with the gaps between people.

    Fails when: a person is far from all others, or many noisy columns are known: together they point at one row.

    >>> table = Table.read({"age": [30, 31, 33, 47]}, quasi_identifiers="age")
    >>> AddNoise(base={"age": 5})(table, rng=np.random.default_rng(1))[0]["age"].tolist()
    ['30', '30', '35', '45']

    J. J. Kim, "A method for limiting disclosure in microdata based on random noise and transformation", ASA Proceedings
    of the Section on Survey Research Methods, 1986.
    """

    sd: Mapping[str, float] = field(default_factory=dict, hash=False)
    base: Mapping[str, float] = field(default_factory=dict, hash=False)

    __repr__ = format_call

    def __post_init__(self) -> None:
        for parameter, by_column, minimum in (("sd", self.sd, 0.0), ("base", self.base, np.nextafter(0.0, 1.0))):
            if invalid := [f"{name} {value!r}" for name, value in by_column.items() if not minimum <= value < np.inf]:
                raise UnmaskError(
                    f"{parameter} is {invalid[0]}, expected a number {'from' if minimum == 0 else 'above'} 0"
                )

    def __call__(self, table: Table, *, rng: Rng | None = None) -> Released:
        """Add noise, and round."""
        rng, rows = secret_unless(rng), evaluated_rows(table)
        for name in (*self.sd, *self.base):
            column_position(table, name)
        return release_rows(
            table, rows, [self._noisy(column.take(rows), rng) for column in table.quasi_identifiers], rng
        )

    def row_kernel(self, true: Column, released: Column, *, rng: Rng) -> Kernel:  # noqa: ARG002 - closed form
        """K of a column."""
        equal_cells = Kernel.of(compatible(true.levels, released.levels, missing="own").astype(np.float64))
        if not self._changes(true.name):
            return equal_cells
        sd, base = self.sd.get(true.name, 0.0), self.base.get(true.name, 1.0)
        x, r = exact_numbers(true)[:, None], exact_numbers(released)
        with np.errstate(invalid="ignore", divide="ignore"):  # nan where a cell is missing
            if sd == 0:
                log_kernel = np.log((np.abs(_rounded(x, base) - r) < base / 2).astype(np.float64))
            else:
                upper, lower = (scipy.special.log_ndtr((end - np.abs(x - r)) / sd) for end in (base / 2, -base / 2))
                log_kernel = upper + np.log1p(-np.exp(lower - upper))
        gap = (true.levels.gaps | true.levels.unknown)[:, None] | released.levels.gaps
        return equal_cells._replace(log_k=np.where(gap, equal_cells.log_k, log_kernel))

    def _changes(self, name: str) -> bool:
        return name in self.sd or name in self.base

    def _noisy(self, column: Column, rng: Rng) -> Recoded:
        if not self._changes(column.name):
            return column.levels, column.codes
        x, missing = exact_numbers(column)[column.codes], column.codes == column.levels.missing
        noisy = _rounded(x + rng.normal(0, self.sd.get(column.name, 0.0), x.size), self.base.get(column.name, 1.0))
        values, of_row = np.unique(np.where(missing, np.inf, noisy), return_inverse=True)
        texts = ["" if np.isinf(value) else column.levels.scale.write(value, value) for value in values.tolist()]
        levels, code = read_levels(texts, as_type=column.type, column=column.name)
        return levels, code[of_row]


@dataclass(frozen=True)
class RankSwap:
    """Swap the values of a column between rows whose ranks differ by at most a given share of the rows.

    In each column, from the lowest rank up, each row that has not been swapped yet exchanges its value with one of the
    unswapped rows among the next `share` n rows, chosen at random. Equal values are ranked at random. Margins are
    unchanged, and missing cells stay where they are.

    Assumes: people who are close in one column are not close in the others.

    Fails when: the adversary knows the share. Each column then leaves few candidates, and all columns together often
    leave one (`MechanismAttack`).

    Parameters
    ----------
    share : float
        Largest difference of ranks, as a share of the rows.
    columns : sequence of str, optional
        Quasi-identifiers to swap. The default is all columns whose values have an order.

    References
    ----------
    R. A. Moore, "Controlled data-swapping techniques for masking public use microdata sets", US Bureau of the Census,
    1996. J. Nin, J. Herranz & V. Torra, "Rethinking rank swapping to decrease disclosure risk", Data & Knowledge
    Engineering 64(1), 2008, for an adversary who knows the method.

    Examples
    --------
    >>> table = Table.read({"age": [30, 31, 50, 51]}, quasi_identifiers="age")
    >>> release, origin = RankSwap(share=0.25)(table, rng=np.random.default_rng(1))
    >>> release["age"].tolist(), table["age"][origin].tolist()
    (['30', '31', '50', '51'], ['31', '30', '51', '50'])
    """

    share: float = 0.05
    columns: str | tuple[str, ...] = ()

    __repr__ = format_call

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", (self.columns,) if isinstance(self.columns, str) else tuple(self.columns))
        if not 0 < self.share <= 1:
            raise UnmaskError(f"share is {self.share!r}, expected above 0 and at most 1")

    def __call__(self, table: Table, *, rng: Rng | None = None) -> Released:
        """Swap values, column by column."""
        rng, rows = secret_unless(rng), evaluated_rows(table)
        for name in self.columns:
            if table.quasi_identifiers[column_position(table, name)].levels.kind == "categorical":
                raise UnmaskError(f"the values of {name!r} have no order; give it one (ordinal), or leave it out")
        columns = (column.take(rows) for column in table.quasi_identifiers)
        swapped = [
            (
                column.levels,
                self._swapped(column.codes, column.levels.missing, rng) if self._swaps(column) else column.codes,
            )
            for column in columns
        ]
        return release_rows(table, rows, swapped, rng)

    def row_kernel(self, true: Column, released: Column, *, rng: Rng) -> Kernel:
        """K of a column, by swapping as many ranks as were released again; those of one bin are swapped alike."""
        if not self._swaps(true):
            return Kernel.of(compatible(true.levels, released.levels, missing="own").astype(np.float64))
        counts = np.where(released.levels.gaps, 0, released.counts)
        cell, ranks = _cells(counts)
        n = len(ranks)
        swaps = _between(ranks.shape[1], int(counts.sum()), self.share, rng)
        transitions = ranks / np.maximum(ranks.sum(axis=1, keepdims=True), 1) @ swaps @ (ranks / ranks.sum(axis=0)).T
        kernel = np.eye(n + 1)  # the last is a missing cell, which stays
        kernel[:n, :n] = (1 - ANYWHERE) * transitions + ANYWHERE * ranks.sum(axis=1) / ranks.sum()
        place = np.where(released.levels.gaps, n, cell).astype(np.int32)
        return Kernel.of(kernel)._replace(true=place[_nearest(true.levels, released)], released=place)

    def _swaps(self, column: Column) -> bool:
        return column.name in self.columns if self.columns else column.levels.kind != "categorical"

    def _swapped(self, codes: NDArray[np.int32], missing: int, rng: Rng) -> NDArray[np.int32]:
        free = np.flatnonzero(codes != missing)
        ranked = free[np.lexsort((rng.random(free.size), codes[free]))]
        swapped = codes.copy()
        swapped[ranked] = codes[ranked[_partners(free.size, self.share, rng)]]
        return swapped


def _partners(n: int, share: float, rng: Rng) -> NDArray[np.int64]:
    """(n,) the rank that each rank changes places with."""
    from unmask.tables.protections._kernels import swapped  # numba is imported where a kernel runs

    return swapped(max(1, round(share * n)), rng.random((n, 17)))


def _between(n_bins: int, n: int, share: float, rng: Rng) -> Floats:
    """(n_bins, n_bins) share of the ranks of a bin that are swapped into another, over many runs.

    Neighboring bins are swapped alike, but for the distance from the ends: counts are summed along the diagonal over an
    eighth of the window on either side.
    """
    of_rank, pair_counts = np.arange(n) * n_bins // n, np.zeros((n_bins, n_bins))
    for _ in range(max(RUNS, -(-SWAPS // n))):
        pairs = of_rank * n_bins + of_rank[_partners(n, share, rng)]
        pair_counts += np.bincount(pairs, minlength=n_bins**2).reshape(n_bins, n_bins)
    reach = int(share * n_bins / 8)
    padded = np.pad(pair_counts, reach)
    total = sum(
        (padded[offset : offset + n_bins, offset : offset + n_bins] for offset in range(2 * reach + 1)),
        np.zeros_like(pair_counts),
    )
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def _cells(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
    """Return the cell of each level, by the bin of its middle rank, and (n_cells, n_bins) ranks of cells in bins."""
    n = int(counts.sum())
    n_bins = min(CELLS, n)
    middle = np.minimum((np.cumsum(counts) - counts / 2) / n * n_bins, n_bins - 1).astype(np.int64)
    used = np.unique(middle[counts > 0])
    cell = np.minimum(np.searchsorted(used, middle), len(used) - 1)
    ranks = np.bincount(np.repeat(cell, counts) * n_bins + np.arange(n) * n_bins // n, minlength=len(used) * n_bins)
    return cell, ranks.reshape(len(used), n_bins).astype(np.float64)


def _nearest(true: Levels, released: Column) -> NDArray[np.int64]:
    """Return the released level that each true one is swapped like: itself if it occurs, else the next in order."""
    place = {label: position for position, label in enumerate(released.levels.labels) if released.counts[position]}
    occurs = np.array(sorted(place.values()))
    released_values = released.levels.low[occurs] if true.kind == released.levels.kind == "numeric" else occurs
    values = true.low if true.kind == released.levels.kind == "numeric" else np.arange(len(true))
    near = occurs[np.minimum(np.searchsorted(released_values, values), len(occurs) - 1)]
    return np.array([place.get(label, int(position)) for label, position in zip(true.labels, near, strict=True)])


def _rounded(x: Floats, base: float) -> Floats:
    """Whole multiples, in decimals as they are written: 0.1 times 3 is 0.3."""
    return np.round(np.rint(x / base) * base, 12) + 0.0
