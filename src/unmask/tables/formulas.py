"""Cells that a spreadsheet would run: texts that begin like a formula and are no number."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.tables.column import Column
from unmask.tables.table import Table
from unmask.writing import STARTS, escape, is_formula

Formulas: TypeAlias = Literal["keep", "escape", "refuse"]
"""What is done about them: nothing, an apostrophe before them, or no release."""


def formula_cells(table: Table) -> dict[str, int]:
    """Cells of each column that begin with =, +, -, @, a tab or a carriage return and are no number; none, no column.

    A column whose name does counts one more.

    >>> formula_cells(Table.read({"note": ["=1+1", "-3", "-"]}, quasi_identifiers="note"))
    {'note': 1}
    """
    found = {}
    for column in table.columns:
        some = re.search(rf"(?m)^[{re.escape(STARTS)}]", "\n".join(column.levels.labels))
        like = [is_formula(label) for label in column.levels.labels] if some else []
        if n := int(column.counts[np.flatnonzero(like)].sum()) + is_formula(column.name):
            found[column.name] = n
    return found


def escaped(table: Table) -> Table:
    """The table to be written with an apostrophe before every such cell and name."""

    def of(column: Column) -> Column:
        labels = tuple(map(escape, column.levels.labels))
        return replace(column, name=escape(column.name), levels=replace(column.levels, labels=labels))

    return replace(
        table,
        quasi_identifiers=tuple(map(of, table.quasi_identifiers)),
        sensitive=tuple(map(of, table.sensitive)),
        kept=tuple(map(of, table.kept)),
        order=tuple(map(escape, table.order)),
    )


def check_formulas(found: Mapping[str, int], given: Formulas) -> None:
    """Refuse a release that has such cells, if that was asked for. found : column -> how many."""
    if found and given == "refuse":
        each = ", ".join(f"{name} {n:,}" for name, n in found.items())
        raise UnmaskError(
            f"cells that a spreadsheet would run as formulas, by column: {each}; --formulas escape puts an apostrophe "
            "before them, keep leaves them"
        )
