"""Equivalence classes with the highest risk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from unmask.results import Block, Column, Table
from unmask.results.formats import percent
from unmask.results.names import IDENTITY, LIMITS
from unmask.results.table import Record
from unmask.results.words import start_with_release
from unmask.tables.audit.risk_facts import name_value

N_CLASSES = 5
"""Classes of a release that are shown for each target."""


class ClassRisk(NamedTuple):
    """People with the same matching records, and the highest risk among them.

    Parameters
    ----------
    release, target : str
        Release, and "identity" or a sensitive column.
    row : int
        Row of the release, counted from 0, of the first record that matches them.
    people : int
        Number of attacked people in the class.
    probability : float
        Highest probability of re-identification, or of a value that is not the most common one.
    value : str
        That value, as in `ValueRisk`; "" for identity.
    columns : tuple of str
        Smallest set of columns that singles out the person with that probability, see `SinglingColumns`.
    """

    release: str
    target: str
    row: int
    people: int
    probability: float
    value: str = ""
    columns: tuple[str, ...] = ()


COLUMNS = (
    Column("release", "Release"), Column("target", "Target"), Column("value", "Value"),
    Column("row", "Row of the release"), Column("people", "People", "group", exact=True),
    Column("probability", "Highest risk", "share"), Column("columns", "Singled out by"),
)  # fmt: skip

EXPLANATION = (
    "People of one class match the same records. The row of a class is the first of these records in the release, "
    "counted from 0. The same row of the origin file tells who it is, and the owner's list (--at-risk) has it for all "
    "people above a limit. A class is singled out by the smallest set of columns that leaves no more records than all "
    "columns together. Small classes are not shown. The risk of a sensitive column is the highest belief in a value "
    "that is not the most common one."
)


def class_table(classes: Iterable[ClassRisk]) -> Table:
    """Return the table of the riskiest classes, the worst first."""
    records = (
        (
            item.release,
            item.target,
            item.value or None,
            item.row,
            item.people,
            item.probability,
            ", ".join(item.columns) or None,
        )
        for item in classes
    )
    table = Table.from_records("classes", COLUMNS, records)
    return replace(table, series=("release", "target"), limit=N_CLASSES)


def class_block() -> Block:
    """Return the classes, and the one that is most at risk."""
    return Block("classes", "The classes most at risk", describe_classes, (), ("classes",), EXPLANATION)


def describe_classes(tables: Mapping[str, Table]) -> str:
    """Return the class that is farthest above the limit of a target."""
    rows = tables["classes"].rows
    if not rows:
        return ""
    row = max(rows, key=_excess)
    risk = percent(row["probability"])
    if row["target"] == IDENTITY:
        effect = f"each is re-identified with up to {risk}"
    else:
        effect = f"each has {name_value(row['value'])} of {row['target']} with up to {risk}, as the adversary believes"
    by = f" They are singled out by {' and '.join(row['columns'].rsplit(', ', 1))}." if row["columns"] else ""
    sentence = (
        f"of the classes large enough to be shown, the {row['people']:,} people at row {row['row']} of the release are "
        f"most at risk: {effect}.{by}"
    )
    several = len({row["release"] for row in rows}) > 1
    return start_with_release(sentence, row["release"], several=several)


def _excess(row: Record) -> tuple[float, int]:
    return row["probability"] / LIMITS[IDENTITY if row["target"] == IDENTITY else "value"], row["people"]
