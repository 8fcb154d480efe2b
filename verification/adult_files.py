"""Files of Adult that other packages publish, in `$UNMASK_DATA/tables/adult`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from unmask.tables import Hierarchy, Table

COLUMNS = ("age", "education_num", "marital", "race", "sex")
"""The quasi-identifiers of the synthetic records and their control people."""


def _path(name: str) -> Path:
    return Path(os.environ["UNMASK_DATA"]) / "tables" / "adult" / name


def complete_rows(*, quasi_identifiers: Sequence[str], hierarchies: dict[str, Hierarchy]) -> Table:
    """Read nine columns of Adult, which its hierarchies belong to: 30,162 complete rows (ARX example data)."""
    return Table.read(_path("adult_complete_rows.csv.gz"), quasi_identifiers=quasi_identifiers, hierarchies=hierarchies)


def hierarchies() -> dict[str, Hierarchy]:
    """Read the nine generalization hierarchies of Adult by column name (ARX example data, Apache-2.0)."""
    return {path.stem: Hierarchy.read(path) for path in sorted(_path("hierarchies").glob("*.csv"))}


def synthetic(*, quasi_identifiers: Sequence[str] = COLUMNS, sensitive: str | Sequence[str] = "occupation") -> Table:
    """Read 39,040 synthetic records made by CTGAN from Adult (Anonymeter example data, BSD-3-Clause-Clear)."""
    path = _path("synthetic/synthetic_ctgan.csv.gz")
    return Table.read(path, quasi_identifiers=quasi_identifiers, sensitive=sensitive, na=())


def control(*, quasi_identifiers: Sequence[str] = COLUMNS, sensitive: str | Sequence[str] = "occupation") -> Table:
    """Read 9,758 Adult records that `synthetic` was not made from: control people of an attack on it."""
    path = _path("synthetic/control.csv.gz")
    return Table.read(path, quasi_identifiers=quasi_identifiers, sensitive=sensitive, na=())
