"""Cells that a spreadsheet would run as formulas: texts that begin like a formula and are not numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.data.writing import STARTS, escape_formula, is_formula
from unmask.tables.column import Column
from unmask.tables.table import Table

Formulas: TypeAlias = Literal["keep", "escape", "refuse"]
"""Handling of such cells: no change, an apostrophe before them, or no release."""


def formula_cells(table: Table) -> dict[str, int]:
    """Count the cells of each column that begin with =, +, -, @, a tab or a carriage return and are not numbers.

    Columns without such cells are left out. A column whose name begins like a formula counts one more.

    >>> formula_cells(Table.read({"note": ["=1+1", "-3", "-"]}, quasi_identifiers="note"))
    {'note': 1}
    """
    counts = {}
    for column in table.columns:
        any_formula = re.search(rf"(?m)^[{re.escape(STARTS)}]", "\n".join(column.levels.labels))
        like = [is_formula(label) for label in column.levels.labels] if any_formula else []
        if n := int(column.counts[np.flatnonzero(like)].sum()) + is_formula(column.name):
            counts[column.name] = n
    return counts


def escape_table(table: Table) -> Table:
    """Return the table with an apostrophe before every such cell and column name."""

    def escape_column(column: Column) -> Column:
        labels = tuple(map(escape_formula, column.levels.labels))
        return replace(column, name=escape_formula(column.name), levels=replace(column.levels, labels=labels))

    columns = (tuple(map(escape_column, role)) for role in (table.quasi_identifiers, table.sensitive, table.kept))
    quasi_identifiers, sensitive, unchanged = columns
    order = tuple(map(escape_formula, table.order))
    return replace(table, quasi_identifiers=quasi_identifiers, sensitive=sensitive, kept=unchanged, order=order)


def check_formulas(cells: Mapping[str, int], handling: Formulas) -> None:
    """Raise UnmaskError if a release has such cells and they are refused.

    cells : number of such cells by column
    """
    if cells and handling == "refuse":
        listing = ", ".join(f"{name} {n:,}" for name, n in cells.items())
        raise UnmaskError(
            f"cells that a spreadsheet would run as formulas, by column: {listing}; formulas='escape' puts an "
            "apostrophe before them, keep leaves them"
        )
