"""Exact tables of records with all their totals, before a protection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.aggregates.domain import LEVEL_MARK, Domain
from unmask.aggregates.release import AggregateRelease, tabulate
from unmask.aggregates.rules import Rule
from unmask.core.errors import UnmaskError
from unmask.data.columns import read_columns
from unmask.data.writing import is_formula

Source = str | PathLike[str] | Mapping[str, ArrayLike]


@dataclass(frozen=True, eq=False)
class ExactTables:
    """Exact tables, and the records behind them.

    Parameters
    ----------
    tables : AggregateRelease
        Tables with exact counts.
    records : mapping of str to array
        Column -> value of each record.
    """

    tables: AggregateRelease
    records: Mapping[str, NDArray[Any]]

    @property
    def counts(self) -> NDArray[np.int64]:
        """True counts of the atoms: (n_areas, n_atoms)."""
        return self.tables.cell_counts(self.records)

    @property
    def atoms(self) -> NDArray[np.int64]:
        """Atom of each record: (n_records,)."""
        return np.ravel_multi_index(self.tables.encode(self.records), self.tables.shape)


def list_tables(specs: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the columns of each table and of each of its totals, once each.

    Parameters
    ----------
    specs : sequence of str
        Tables such as "sex*age" or "sex*district:region", where column region is a level of column district.

    Returns
    -------
    list of tuple of str

    Examples
    --------
    >>> list_tables(["sex*age", "sex*region"])
    [('sex', 'age'), ('sex', 'region'), ('sex',), ('age',), ('region',), ()]
    """
    tables = [tuple(column.strip() for column in spec.split("*")) for spec in specs]
    if not tables or not all(all(columns) for columns in tables):
        raise UnmaskError(
            f"{len(tables)} tables were given, one of them without a column; expected columns joined by *, such as "
            "sex*age,sex*region"
        )
    totals = [part for columns in tables for n in range(len(columns)) for part in combinations(columns, n)]
    return sorted(dict.fromkeys([*tables, *totals]), key=lambda columns: -len(columns))


def count_tables(
    source: Source, specs: Sequence[str], *, geography: str = "", further: Sequence[str] = ()
) -> ExactTables:
    """Count the records of a file by the columns of tables.

    Parameters
    ----------
    source : path or mapping
        File with a record in each row, or its columns.
    specs : sequence of str
        Tables, see `list_tables`.
    geography : str
        Column of areas, each with tables of its own.
    further : sequence of str
        Further columns to read.

    Returns
    -------
    ExactTables
        Categories are those that occur, sorted.

    Raises
    ------
    UnmaskError
        If a column is missing, has empty cells or cannot be part of a file name, or a level is not one.
    """
    tables = list_tables(specs)
    used = list(dict.fromkeys(column for columns in tables for column in columns))
    names = list(dict.fromkeys(name for column in [*used, geography] if column for name in column.split(LEVEL_MARK)))
    for name in (*names, *further):
        if is_formula(name) or set("/\\") & {*name} or name.startswith("."):
            raise UnmaskError(
                f"column {name!r} is a formula or has a character of paths, and would name a file; rename the column"
            )
    columns = read_columns(source, [*names, *(name for name in further if name not in names)])
    records = {**columns, **{name: _as_text(name, columns[name]) for name in names}}
    bases = list(dict.fromkeys(column.partition(LEVEL_MARK)[0] for column in used))
    levels: dict[str, dict[str, dict[str, list[str]]]] = {}
    for base, mark, level in (column.partition(LEVEL_MARK) for column in used):
        if mark:
            levels.setdefault(base, {})[level] = _read_level(base, level, records)
    domain = Domain({base: tuple(_sort(records[base])) for base in bases}, levels)
    areas = tuple(_sort(records[geography])) if geography else ()
    tabulations = [tabulate(records, columns, Rule(), domain, geography=geography, areas=areas) for columns in tables]
    return ExactTables(AggregateRelease(domain, tuple(tabulations), geography, areas), records)


def _as_text(name: str, values: NDArray[Any]) -> NDArray[np.str_]:
    empty: NDArray[np.bool_] = np.array([value is None for value in values.tolist()])
    if empty.any():
        raise UnmaskError(
            f"column {name!r} has {int(empty.sum()):,} empty cells, expected a category in each; fill them, for "
            "example with unknown"
        )
    return values.astype(str)


def _sort(values: NDArray[np.str_]) -> list[str]:
    """Return the distinct texts, numbers by their value."""
    distinct: list[str] = np.unique(values).tolist()
    try:
        return sorted(distinct, key=float)
    except ValueError:
        return distinct


def _read_level(base: str, level: str, records: Mapping[str, NDArray[Any]]) -> dict[str, list[str]]:
    """Return the categories of a column in each category of another column that is a level of it."""
    pairs = np.unique(np.stack([records[base], records[level]]), axis=1).T
    if len(pairs) > len(np.unique(records[base])):
        raise UnmaskError(
            f"column {level!r} is not a level of {base!r}: a category of {base!r} occurs with several of its values; "
            "use the columns in tables without a colon"
        )
    return {label: pairs[pairs[:, 1] == label, 0].tolist() for label in _sort(records[level])}
