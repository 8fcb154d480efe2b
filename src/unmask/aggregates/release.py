"""Releases of published tables of counts, and the linear system of the true counts behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from unmask.aggregates.domain import LEVEL_MARK, Domain, check_labels, find_positions
from unmask.aggregates.rules import Counts, Marker, Rule
from unmask.aggregates.statistics import Group, Statistic
from unmask.core.errors import UnmaskError

MAX_CELLS: Final = 1_000_000
"""Largest cross of columns, in cells, of which the counts are unknowns of one system."""


@dataclass(frozen=True, eq=False)
class Tabulation:
    """Published counts of the records, by columns.

    Parameters
    ----------
    name : str
        Name for reports.
    columns : sequence of str
        Columns or levels of the domain, in the order of the axes; without a column it is a total.
    values : array of float
        Published numbers: an axis for each column, behind an axis for areas if `by_area`. NaN without a number.
    markers : array of int, optional
        `Marker` of each cell; by default all cells are published.
    rule : Rule
        Rule by which the counts were published.
    where : mapping of str to sequence of str, optional
        Column -> categories of the records that are counted; by default all records.
    by_area : bool
        True if each area of the release has its own counts.
    """

    name: str
    columns: tuple[str, ...]
    values: NDArray[np.float64]
    markers: NDArray[np.int8] = field(default_factory=lambda: np.zeros(0, dtype=np.int8))
    rule: Rule = field(default_factory=Rule)
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    by_area: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "values", np.asarray(self.values, dtype=np.float64))
        is_marked = np.size(self.markers) > 0
        markers = np.asarray(self.markers, dtype=np.int8) if is_marked else np.zeros(self.values.shape, dtype=np.int8)
        object.__setattr__(self, "markers", markers)
        if markers.shape != self.values.shape or (np.isnan(self.values) & (markers == Marker.PUBLISHED)).any():
            raise UnmaskError(f"table {self.name!r} has cells without a number and without a marker; mark each of them")
        self.rule.check_values(np.where(markers == Marker.PUBLISHED, self.values, np.nan), f"table {self.name!r}")

    @property
    def base_columns(self) -> tuple[str, ...]:
        """Return the columns of the domain that the table refers to, by an axis or by `where`."""
        names = (*(column.partition(LEVEL_MARK)[0] for column in self.columns), *self.where)
        return tuple(dict.fromkeys(names))

    def matrix(self, domain: Domain, columns: Sequence[str]) -> sparse.csr_array:
        """Return the 0/1 matrix whose product with the counts of all cells is this table.

        Parameters
        ----------
        domain : Domain
            Categories of the records.
        columns : sequence of str
            Columns whose cross has a count for each cell, in C order; all that the table refers to are among them.

        Returns
        -------
        csr_array (cells of the table, cells of the cross)
            Rows in C order of the axes of the table.
        """
        return group_matrix(self.columns, self.where, domain, columns)


@dataclass(frozen=True, eq=False)
class AggregateRelease:
    """Tables about the same records.

    Parameters
    ----------
    domain : Domain
        Categories of the records.
    tabulations : sequence of Tabulation
        The published tables.
    geography : str, optional
        Column of areas. Each area is a system of its own, made of the tables that have this column.
    areas : sequence of str
        Names of the areas.
    statistics : sequence of Statistic
        Published means, medians and sums of numeric columns.

    Raises
    ------
    UnmaskError
        If a table does not fit the domain, or the cross of the columns has more than `MAX_CELLS` cells.
    """

    domain: Domain
    tabulations: tuple[Tabulation, ...]
    geography: str = ""
    areas: tuple[str, ...] = ()
    statistics: tuple[Statistic, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "tabulations", tuple(self.tabulations))
        object.__setattr__(self, "statistics", tuple(self.statistics))
        if not self.tabulations:
            raise UnmaskError("the release has 0 tables, expected at least 1; name its files in tables")
        if self.geography:
            check_labels(f"column {self.geography!r}", self.areas)
        names = [table.name for table in self.published_tables]
        if len({*names}) < len(names):
            raise UnmaskError("two tables have the same name, expected different names; rename one of the files")
        for table in self.published_tables:
            self._check(table)
        for statistic in self.statistics:
            statistic.read_numbers(self.domain)
        if self.geography and not self.by_area:
            raise UnmaskError(
                f"no table has the column {self.geography!r} of areas; add it to a table, or remove geography"
            )
        if self.domain.size(self.columns) > MAX_CELLS:
            raise UnmaskError(
                f"the columns {', '.join(self.columns)} have a cross of more than {MAX_CELLS:,} cells; "
                "leave out tables whose columns do not matter, or use coarser categories"
            )

    def _check(self, tabulation: Tabulation | Statistic) -> None:
        place, domain = f"table {tabulation.name!r}", self.domain
        bases = [column.partition(LEVEL_MARK)[0] for column in tabulation.columns]
        if len({*bases}) < len(bases):
            raise UnmaskError(f"{place} has a column twice, expected each column once, by one of its levels")
        shape = tuple(len(domain.labels(column)) for column in tabulation.columns)
        shape = (len(self.areas), *shape) if tabulation.by_area else shape
        if tabulation.values.shape != shape:
            raise UnmaskError(f"{place} has shape {tabulation.values.shape}, expected {shape} by the domain")
        for column, categories in tabulation.where.items():
            if not {*categories} <= {*domain.labels(column)}:
                raise UnmaskError(f"{place} counts categories of {column!r} that are not in the domain; fix where")

    @property
    def published_tables(self) -> tuple[Tabulation | Statistic, ...]:
        """Return the tables of counts, and the statistics behind them."""
        return (*self.tabulations, *self.statistics)

    @cached_property
    def by_area(self) -> tuple[Tabulation, ...]:
        """Return the tables that form the system of an area: all of them if the release has no geography."""
        return tuple(item for item in self.tabulations if item.by_area == bool(self.geography))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Return the columns of the system, in the order of the domain."""
        used = {column for item in self.by_area for column in item.base_columns}
        used.update(column for item in self.statistics for column in item.base_columns)
        return tuple(column for column in self.domain.columns if column in used) or self.domain.columns[:1]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of categories of each column of the system."""
        return tuple(len(self.domain.categories[column]) for column in self.columns)

    @property
    def n_areas(self) -> int:
        """Return the number of systems: 1 without a geography."""
        return len(self.areas) if self.geography else 1

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """Return the matrix A of the system low <= A x <= high, the same for each area.

        Rows are the cells of the tables `by_area`, in order. Columns are the cells of the cross of `columns`, in C
        order.
        """
        return sparse.csr_array(sparse.vstack([item.matrix(self.domain, self.columns) for item in self.by_area]))

    @cached_property
    def matrix_by_cell(self) -> sparse.csc_array:
        """Return `matrix` in the order of its columns."""
        return sparse.csc_array(self.matrix)

    @cached_property
    def row_tables(self) -> NDArray[np.int64]:
        """Return the position in `by_area` of the table of each row of `matrix`."""
        sizes = [self.domain.size(item.columns) for item in self.by_area]
        return np.repeat(np.arange(len(sizes)), sizes)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Return the published numbers of the rows of `matrix`: (n_areas, n_rows), nan without a number."""
        return np.concatenate([item.values.reshape(self.n_areas, -1) for item in self.by_area], axis=1)

    @cached_property
    def markers(self) -> NDArray[np.int8]:
        """Return the markers of the rows of `matrix`: (n_areas, n_rows)."""
        return np.concatenate([item.markers.reshape(self.n_areas, -1) for item in self.by_area], axis=1)

    @cached_property
    def bounds_by_area(self) -> tuple[Counts, Counts]:
        """Return the bounds of the rows of `matrix`, two arrays (n_areas, n_rows), see `Rule.bounds`."""
        shape = (self.n_areas, -1)
        bounds = [item.rule.bounds(item.values.reshape(shape), item.markers.reshape(shape)) for item in self.by_area]
        return np.concatenate([low for low, _ in bounds], axis=1), np.concatenate([high for _, high in bounds], axis=1)

    def bounds(self, area: int = 0) -> tuple[Counts, Counts]:
        """Return the bounds low and high of the rows of the system of an area."""
        low, high = self.bounds_by_area
        return low[area], high[area]

    def groups(self, area: int = 0) -> list[Group]:
        """Return the groups of an area with a published mean, median or sum, over the cells of the system."""
        codes, groups = np.indices(self.shape).reshape(len(self.shape), -1), []
        for item in self.statistics:
            if item.by_area == bool(self.geography):
                numbers = item.read_numbers(self.domain)[codes[self.columns.index(item.of)]]
                members = group_matrix(item.columns, item.where, self.domain, self.columns)
                values, slack = item.values[area if item.by_area else ...].ravel(), 0.5 * 10.0**-item.digits + 1e-9
                for row in np.flatnonzero(~np.isnan(values)).tolist():
                    inside, value = members[[row]].toarray().ravel() > 0, float(values[row])
                    groups.append(Group(item.name, item.kind, inside, numbers, value - slack, value + slack))
        return groups

    def cell_counts(self, records: Mapping[str, ArrayLike]) -> Counts:
        """Return the true counts of the system of each area.

        Parameters
        ----------
        records : mapping of str to array of str
            Column -> value of each record.

        Returns
        -------
        array of int64 (areas, cells)
        """
        return _count_cells(records, self.columns, self.domain, self.geography, self.areas)

    def encode(self, records: Mapping[str, ArrayLike]) -> tuple[NDArray[np.int64], ...]:
        """Return the category of each record in each column of the system."""
        return tuple(self.domain.encode(column, records[column]) for column in self.columns)

    def encode_areas(self, records: Mapping[str, ArrayLike]) -> NDArray[np.int64]:
        """Return the area of each record."""
        if not self.geography:
            return np.zeros(len(np.asarray(records[self.columns[0]])), dtype=np.int64)
        return find_positions(self.areas, records[self.geography], f"column {self.geography!r}")


def group_matrix(
    groups: Sequence[str], where: Mapping[str, Sequence[str]], domain: Domain, columns: Sequence[str]
) -> sparse.csr_array:
    """Return the 0/1 matrix (groups, cells) of the cells of the cross of columns that are in each group.

    groups : columns or levels whose cross are the groups, in C order; where : column -> categories in any group
    """
    axes = {column.partition(LEVEL_MARK)[0]: column for column in groups}
    factors = []
    for column in columns:
        categories = list(domain.categories[column])
        counted = np.isin(categories, list(where[column])) if column in where else np.ones(len(categories))
        axis = domain.membership(axes[column]) if column in axes else np.ones((1, len(categories)))
        factors.append(sparse.csr_array(axis * counted))
    matrix = reduce(lambda left, right: sparse.csr_array(sparse.kron(left, right)), factors, sparse.csr_array([[1.0]]))
    ordered = [column for column in columns if column in axes]  # axes of the product
    shape = [len(domain.labels(axes[column])) for column in ordered]
    wanted = [ordered.index(column.partition(LEVEL_MARK)[0]) for column in groups]
    rows = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape).transpose(wanted).ravel()
    ordered_rows = sparse.csr_array(matrix[rows])
    ordered_rows.eliminate_zeros()  # kron stores dense blocks
    return ordered_rows


def tabulate(
    records: Mapping[str, ArrayLike],
    columns: Sequence[str],
    rule: Rule,
    domain: Domain,
    *,
    name: str = "",
    where: Mapping[str, Sequence[str]] | None = None,
    geography: str = "",
    areas: Sequence[str] = (),
) -> Tabulation:
    """Count records by columns, and publish the counts by a deterministic rule.

    Parameters
    ----------
    records : mapping of str to array of str
        Column -> value of each record.
    columns : sequence of str
        Columns of the table, without the column of areas; levels such as "age:decade" are possible.
    rule : Rule
        Rule that publishes counts. For random rules, count with `Rule()` and apply a protection.
    domain : Domain
        Categories of the records.
    name : str, optional
        Name of the table; by default its columns, joined by "-".
    where : mapping, optional
        Column -> categories of the records to count.
    geography, areas : str and sequence of str, optional
        Column of areas, and their names, for a table with counts of each area.

    Returns
    -------
    Tabulation

    Examples
    --------
    >>> domain = Domain({"sex": ("f", "m")})
    >>> tabulate({"sex": ["f", "f", "m"]}, ["sex"], Rule(threshold=2), domain).values
    array([ 2., nan])
    """
    counts = count_records(records, columns, domain, where=where, geography=geography, areas=areas)
    values, markers = rule.apply(counts)
    title = name or "-".join(column.replace(LEVEL_MARK, "_") for column in columns) or "total"
    return Tabulation(title, tuple(columns), values, markers, rule, dict(where or {}), bool(geography))


def count_records(
    records: Mapping[str, ArrayLike],
    columns: Sequence[str],
    domain: Domain,
    *,
    where: Mapping[str, Sequence[str]] | None = None,
    geography: str = "",
    areas: Sequence[str] = (),
) -> Counts:
    """Return the true counts of a table, see `tabulate`: an axis for each column, behind an axis for areas."""
    selected = where or {}
    bases = list(dict.fromkeys([*(column.partition(LEVEL_MARK)[0] for column in columns), *selected]))
    counts = _count_cells(records, bases, domain, geography, areas)
    table = group_matrix(columns, selected, domain, bases) @ counts.T
    shape = [len(areas)] * bool(geography) + [len(domain.labels(column)) for column in columns]
    return np.asarray(np.rint(table.T), dtype=np.int64).reshape(shape)


def _count_cells(
    records: Mapping[str, ArrayLike], columns: Sequence[str], domain: Domain, geography: str, areas: Sequence[str]
) -> Counts:
    """Return the counts of records in the cross of columns, in C order, for each area: (areas, cells)."""
    n_cells, n_areas = domain.size(columns), len(areas) if geography else 1
    cells = np.zeros(len(np.asarray(next(iter(records.values())))), dtype=np.int64)
    if geography:
        cells += find_positions(areas, records[geography], f"column {geography!r}")
    for column in columns:
        cells = cells * len(domain.categories[column]) + domain.encode(column, records[column])
    counts: Counts = np.bincount(cells, minlength=n_areas * n_cells).reshape(n_areas, n_cells)
    return counts
