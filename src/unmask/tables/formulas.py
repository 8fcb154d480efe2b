"""Cells that a spreadsheet would run: texts that begin like a formula and are no number."""

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
"""What is done about them: nothing, an apostrophe before them, or no release."""


def formula_cells(table: Table) -> dict[str, int]:
    """Cells of each column that begin with =, +, -, @, a tab or a carriage return and are no number; none, no column.

    A column whose name does counts one more.

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


def escaped(table: Table) -> Table:
    """Return the table with an apostrophe before every such cell and name."""

    def escape_column(column: Column) -> Column:
        labels = tuple(map(escape_formula, column.levels.labels))
        return replace(column, name=escape_formula(column.name), levels=replace(column.levels, labels=labels))

    return replace(
        table,
        quasi_identifiers=tuple(map(escape_column, table.quasi_identifiers)),
        sensitive=tuple(map(escape_column, table.sensitive)),
        kept=tuple(map(escape_column, table.kept)),
        order=tuple(map(escape_formula, table.order)),
    )


def check_formulas(cells: Mapping[str, int], handling: Formulas) -> None:
    """Raise an error for a release with such cells if they are to be refused. cells : column -> number of cells."""
    if cells and handling == "refuse":
        listing = ", ".join(f"{name} {n:,}" for name, n in cells.items())
        raise UnmaskError(
            f"cells that a spreadsheet would run as formulas, by column: {listing}; --formulas escape puts an "
            "apostrophe before them, keep leaves them"
        )
