"""Protections that perturb each cell independently: post-randomization, noise and rank swapping.

`row_kernel(true, released, rng=)` returns the probability of each released cell of a column, given the true cell. An
adversary who knows the protection without its random numbers knows this kernel. Protections without a kernel, such as
those that form classes, have `allowed_pairs` instead, which returns the rows that may belong to a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.randomness import secret_unless
from unmask.ranges import Range, check_ranges, check_types
from unmask.tables.attacks.product_sums import Kernel
from unmask.tables.cells import read_levels
from unmask.tables.column import Column
from unmask.tables.levels import Levels
from unmask.tables.matching import compatible
from unmask.tables.protections.base import (
    Released,
    check_ordered,
    column_position,
    exact_numbers,
    format_call,
    protected_rows,
    release_columns,
    takes_part,
)
from unmask.tables.protections.recoding import write_cells
from unmask.tables.table import Table

Rng = np.random.Generator

MIN_RUNS, MIN_SWAPS = 6, 200_000
"""Smallest number of simulations of a swapped column, and of simulated swaps in total."""

MAX_BINS = 400
"""Largest number of bins of ranks. All values in a bin have the same kernel."""

MARGIN_SHARE = 0.001
"""Share of a simulated kernel that is the column's marginal distribution, because a simulation cannot prove that
an event is impossible.
"""


@dataclass(frozen=True)
class PRAM:
    """Post-randomization: each cell of a quasi-identifier is kept with a given probability, otherwise drawn at random.

        K(r given x) = keep [r = x] + (1 - keep) q(r)

    q is the share of each value in the table, and cells are independent. The expected margins are therefore unchanged.
    The cell of a person may be drawn for other rows, so that their record has an effect beyond their own row. A column
    with a matrix P has K(r given x) = P[x][r].

    P changes the expected counts t of values to t P. An invariant column has K = R instead, with t R = t:

        R = P B',  B[x][v] = P[x][v] t[x] / sum_y P[y][v] t[y]

    A value is drawn from P, and a true value that may have become it is drawn by Bayes' rule. The adversary takes the
    released counts for t. In an invariant column without a matrix, the cells that are not kept change places, so that
    the counts stay exactly (data swapping).

    Assumes: a kept cell looks like a drawn one.

    Fails when: several columns are known, because kept cells together identify a row, and impossible combinations show
        which cells were drawn (`MechanismAttack`). Cross tables change, also of invariant columns.

    Parameters
    ----------
    keep : float or mapping of str to float
        Probability for every quasi-identifier, or by name. Columns that are not named are not changed.
    matrices : mapping, optional
        For each column, a mapping from each true value to the probabilities of the released values, which sum to 1.
        Values that are not named are not changed.
    invariant : str or tuple of str
        Columns whose counts stay: in expectation with a matrix, and exactly without one.

    References
    ----------
    J. M. Gouweleeuw, P. Kooiman, L. Willenborg & P.-P. de Wolf, "Post randomisation for statistical disclosure control:
    theory and implementation", Journal of Official Statistics 14(4), 1998. T. Dalenius & S. P. Reiss, "Data-swapping: a
    technique for disclosure control", Journal of Statistical Planning and Inference 6(1), 1982.

    Examples
    --------
    >>> table = Table.read({"age": [30, 30, 41, 41]}, quasi_identifiers="age")
    >>> release, origin = PRAM(keep=0.5)(table, rng=np.random.default_rng(1))
    >>> release["age"].tolist(), table["age"][origin].tolist()
    (['30', '30', '30', '41'], ['30', '41', '30', '41'])
    >>> sexes = Table.read({"sex": list("fffm")}, quasi_identifiers="sex").column("sex")
    >>> matrix = {"f": {"f": 0.9, "m": 0.1}, "m": {"f": 0.2, "m": 0.8}}
    >>> kernel = PRAM(matrices={"sex": matrix}, invariant="sex").row_kernel(sexes, sexes, rng=np.random.default_rng(1))
    >>> np.exp(kernel.log_k).round(3), np.array([3, 1]) @ np.exp(kernel.log_k)
    (array([[0.865, 0.135],
           [0.404, 0.596]]), array([3., 1.]))
    """

    keep: Annotated[float, Range(0, 1)] | Mapping[str, Annotated[float, Range(0, 1)]] = field(default=0.8, hash=False)
    matrices: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict, hash=False)
    invariant: str | tuple[str, ...] = ()

    __repr__ = format_call

    def __post_init__(self) -> None:
        names = (self.invariant,) if isinstance(self.invariant, str) else tuple(self.invariant)
        object.__setattr__(self, "invariant", names)
        check_types(type(self), {"keep": self.keep, "matrices": self.matrices, "invariant": self.invariant})
        for name, matrix in self.matrices.items():
            for value, row in matrix.items():
                if min(row.values(), default=-1.0) < 0 or abs(sum(row.values()) - 1) > 1e-9:
                    raise UnmaskError(f"matrices: {name}, {value}: expected probabilities that sum to 1")

    def __call__(self, table: Table, *, rng: Rng | None = None) -> Released:
        """Return the release with randomized cells, and its origin."""
        rng, columns = secret_unless(rng), protected_rows(table).quasi_identifiers
        for name in (*self.matrices, *self.invariant, *(self.keep if isinstance(self.keep, Mapping) else ())):
            column_position(table, name)
        return release_columns(table, [self._draw(column, rng) for column in columns], rng)

    def row_kernel(self, true: Column, released: Column, *, rng: Rng) -> Kernel:  # noqa: ARG002 - closed form
        """Return K of a column; q is the distribution of the released cells."""
        if true.name in self.matrices:
            labels = true.levels.labels, released.levels.labels
            return Kernel.of(self._probabilities(true.name, *labels, released.counts))
        keep, q = self._keep(true.name), released.counts / released.counts.sum()
        return Kernel.of(keep * compatible(true.levels, released.levels, missing="own") + (1 - keep) * q)

    def _keep(self, name: str) -> float:
        return self.keep.get(name, 1.0) if isinstance(self.keep, Mapping) else self.keep

    def _draw(self, column: Column, rng: Rng) -> Column:
        name, codes, n = column.name, column.codes, column.codes.size
        if name not in self.matrices:
            is_kept = rng.random(n) < self._keep(name)
            drawn = rng.choice(codes, n)
            if name in self.invariant:
                drawn[~is_kept] = rng.permutation(codes[~is_kept])
            return replace(column, codes=np.where(is_kept, codes, drawn))
        if unknown := [value for value in self.matrices[name] if value not in column.levels.labels]:
            raise UnmaskError(f"matrices: column {name!r} has no value {unknown[0]!r}; correct the value, or remove it")
        levels = column.levels
        if name not in self.invariant:
            new = (value for row in self.matrices[name].values() for value in row)
            labels = list(dict.fromkeys((*levels.labels, *new)))
            levels, _ = read_levels(labels, as_type=column.type, column=name, hierarchy=column.hierarchy)
        table = self._probabilities(name, column.levels.labels, levels.labels, column.counts)
        cumulative = np.cumsum(table, axis=1)[codes]
        drawn = (cumulative <= rng.random((n, 1)) * cumulative[:, -1:]).sum(axis=1).astype(np.int32)
        return replace(column, levels=levels, codes=drawn)

    def _probabilities(
        self, name: str, true: Sequence[str], released: Sequence[str], counts: NDArray[np.integer[Any]]
    ) -> Floats:
        """Return (n_true, n_released) K of a column with a matrix.

        counts : (n_released,) t of an invariant column
        """
        if name not in self.invariant:
            return self._read_matrix(name, true, released)
        drawn = list(dict.fromkeys([*true, *released, *(v for row in self.matrices[name].values() for v in row)]))
        joint = self._read_matrix(name, released, drawn) * counts[:, None]
        backward = joint / np.maximum(joint.sum(axis=0), np.finfo(float).tiny)
        return np.asarray(self._read_matrix(name, true, drawn) @ backward.T)

    def _read_matrix(self, name: str, true: Sequence[str], released: Sequence[str]) -> Floats:
        place = {label: level for level, label in enumerate(released)}
        table = np.zeros((len(true), len(released)))
        for level, label in enumerate(true):
            for value, p in self.matrices[name].get(label, {label: 1.0}).items():
                if value in place:
                    table[level, place[value]] = p
        return table


@dataclass(frozen=True)
class AddNoise:
    """Add Gaussian noise to numbers and round them, independently for each cell.

        r = b round((x + e) / b),  K(r given x) = Phi((r + b/2 - x) / sd) - Phi((r - b/2 - x) / sd)

    e is normal with mean 0 and standard deviation sd. With sd = 0, numbers are only rounded: K = [x is rounded to r].
    Other columns and missing cells are not changed. Other cells of these columns must be exact numbers.

    Assumes: the noise is large compared with the gaps between people.

    Fails when: a person is far from all others, or many noisy columns are known, which together identify a row.

    Parameters
    ----------
    sd : mapping of str to float, optional
        Standard deviation of the noise by column, in units of the column. The default is 0 for columns in `base`.
    base : mapping of str to float, optional
        Rounding base b by column. The default is 1 for columns in `sd`.

    References
    ----------
    J. J. Kim, "A method for limiting disclosure in microdata based on random noise and transformation", ASA Proceedings
    of the Section on Survey Research Methods, 1986.

    Examples
    --------
    >>> table = Table.read({"age": [30, 31, 33, 47]}, quasi_identifiers="age")
    >>> AddNoise(base={"age": 5})(table, rng=np.random.default_rng(1))[0]["age"].tolist()
    ['30', '30', '35', '45']
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
        """Return the release with noisy, rounded numbers, and its origin."""
        rng, columns = secret_unless(rng), protected_rows(table).quasi_identifiers
        for name in (*self.sd, *self.base):
            column_position(table, name)
        return release_columns(table, [self._add_noise(column, rng) for column in columns], rng)

    def row_kernel(self, true: Column, released: Column, *, rng: Rng) -> Kernel:  # noqa: ARG002 - closed form
        """Return K of a column."""
        equal_cells = Kernel.of(compatible(true.levels, released.levels, missing="own").astype(np.float64))
        if not self._is_changed(true.name):
            return equal_cells
        sd, base = self.sd.get(true.name, 0.0), self.base.get(true.name, 1.0)
        x, r = exact_numbers(true)[:, None], exact_numbers(released)
        with np.errstate(invalid="ignore", divide="ignore"):  # a missing cell is nan
            if sd == 0:
                log_kernel = np.log((np.abs(_round(x, base) - r) < base / 2).astype(np.float64))
            else:
                upper, lower = (scipy.special.log_ndtr((end - np.abs(x - r)) / sd) for end in (base / 2, -base / 2))
                log_kernel = upper + np.log1p(-np.exp(lower - upper))
        gap = (true.levels.is_missing | true.levels.unknown)[:, None] | released.levels.is_missing
        return equal_cells._replace(log_k=np.where(gap, equal_cells.log_k, log_kernel))

    def _is_changed(self, name: str) -> bool:
        return name in self.sd or name in self.base

    def _add_noise(self, column: Column, rng: Rng) -> Column:
        if not self._is_changed(column.name):
            return column
        x, missing = exact_numbers(column)[column.codes], column.codes == column.levels.missing
        noisy = _round(x + rng.normal(0, self.sd.get(column.name, 0.0), x.size), self.base.get(column.name, 1.0))
        values, of_row = np.unique(np.where(missing, np.inf, noisy), return_inverse=True)
        texts = ["" if np.isinf(value) else column.levels.scale.write(value, value) for value in values.tolist()]
        return write_cells(column, texts, of_row)


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

    share: Annotated[float, Range(0, 1, above=True)] = 0.05
    columns: str | tuple[str, ...] = ()

    __repr__ = format_call

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", (self.columns,) if isinstance(self.columns, str) else tuple(self.columns))
        check_ranges(self)

    def __call__(self, table: Table, *, rng: Rng | None = None) -> Released:
        """Return the release with swapped values, and its origin."""
        rng, columns = secret_unless(rng), protected_rows(table).quasi_identifiers
        check_ordered(table, self.columns)
        swapped = [self._swap(column, rng) if takes_part(column, self.columns) else column for column in columns]
        return release_columns(table, swapped, rng)

    def row_kernel(self, true: Column, released: Column, *, rng: Rng) -> Kernel:
        """Return K of a column, simulated with as many ranks as were released.

        All ranks in a bin have the same probabilities.
        """
        if not takes_part(true, self.columns):
            return Kernel.of(compatible(true.levels, released.levels, missing="own").astype(np.float64))
        counts = np.where(released.levels.is_missing, 0, released.counts)
        cell, ranks = _bin_levels(counts)
        n = len(ranks)
        swaps = _simulate_swaps(ranks.shape[1], int(counts.sum()), self.share, rng)
        transitions = ranks / np.maximum(ranks.sum(axis=1, keepdims=True), 1) @ swaps @ (ranks / ranks.sum(axis=0)).T
        kernel = np.eye(n + 1)  # the last row is a missing cell, which is not swapped
        kernel[:n, :n] = (1 - MARGIN_SHARE) * transitions + MARGIN_SHARE * ranks.sum(axis=1) / ranks.sum()
        place = np.where(released.levels.is_missing, n, cell).astype(np.int32)
        return Kernel.of(kernel)._replace(true=place[_match_levels(true.levels, released)], released=place)

    def _swap(self, column: Column, rng: Rng) -> Column:
        codes = column.codes
        free = np.flatnonzero(codes != column.levels.missing)
        ranked = free[np.lexsort((rng.random(free.size), codes[free]))]
        swapped = codes.copy()
        swapped[ranked] = codes[ranked[_partners(free.size, self.share, rng)]]
        return replace(column, codes=swapped)


def _partners(n: int, share: float, rng: Rng) -> Integers:
    """Return (n,) the rank with which each rank is swapped."""
    from unmask.tables.protections._kernels import choose_swap_partners  # numba is imported where a kernel runs

    return choose_swap_partners(max(1, round(share * n)), rng.random((n, 17)))


def _simulate_swaps(n_bins: int, n: int, share: float, rng: Rng) -> Floats:
    """Return (n_bins, n_bins) share of the ranks of a bin that are swapped into another bin, over many simulations.

    Neighboring bins have similar shares at equal distance. Counts are therefore smoothed along the diagonals, over an
    eighth of the swapping window on either side.
    """
    of_rank, pair_counts = np.arange(n) * n_bins // n, np.zeros((n_bins, n_bins))
    for _ in range(max(MIN_RUNS, -(-MIN_SWAPS // n))):
        pairs = of_rank * n_bins + of_rank[_partners(n, share, rng)]
        pair_counts += np.bincount(pairs, minlength=n_bins**2).reshape(n_bins, n_bins)
    reach = int(share * n_bins / 8)
    padded = np.pad(pair_counts, reach)
    shifts = (slice(offset, offset + n_bins) for offset in range(2 * reach + 1))
    total = sum((padded[shift, shift] for shift in shifts), np.zeros_like(pair_counts))
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def _bin_levels(counts: Integers) -> tuple[Integers, Floats]:
    """Return the bin of each level, by its middle rank, and (n_used_bins, n_bins) ranks of these levels in bins."""
    n = int(counts.sum())
    n_bins = min(MAX_BINS, n)
    middle = np.minimum((np.cumsum(counts) - counts / 2) / n * n_bins, n_bins - 1).astype(np.int64)
    used = np.unique(middle[counts > 0])
    cell = np.minimum(np.searchsorted(used, middle), len(used) - 1)
    ranks = np.bincount(np.repeat(cell, counts) * n_bins + np.arange(n) * n_bins // n, minlength=len(used) * n_bins)
    return cell, ranks.reshape(len(used), n_bins).astype(np.float64)


def _match_levels(true: Levels, released: Column) -> Integers:
    """Return the released level that represents each true level: itself if it occurs, otherwise the next in order."""
    place = {label: position for position, label in enumerate(released.levels.labels) if released.counts[position]}
    occurs = np.array(sorted(place.values()))
    released_values = released.levels.low[occurs] if true.kind == released.levels.kind == "numeric" else occurs
    values = true.low if true.kind == released.levels.kind == "numeric" else np.arange(len(true))
    near = occurs[np.minimum(np.searchsorted(released_values, values), len(occurs) - 1)]
    return np.array([place.get(label, int(position)) for label, position in zip(true.labels, near, strict=True)])


def _round(x: Floats, base: float) -> Floats:
    """Return multiples of the base, rounded in decimals: 0.1 times 3 is 0.3."""
    return np.round(np.rint(x / base) * base, 12) + 0.0
