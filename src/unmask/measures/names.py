"""Names, labels and definitions of the measures that other packages compute: the rows of `names.csv`.

The direction of a criterion is the one in which a class discloses more. A suffix in brackets names a column, as in
"t_equal (occupation)".
"""

from __future__ import annotations

import csv
from pathlib import Path

from unmask.measures.registry import CRITERIA, MEASURES, UTILITIES, Quantity, declare

PATH = Path(__file__).with_name("names.csv")

PARTITION_SCORES: dict[str, Quantity] = {}
"""Scores of a whole partition: see `clustering.metrics`. They are measures, too."""

REGISTRIES = {
    "measures": (MEASURES,),
    "criteria": (CRITERIA,),
    "utilities": (UTILITIES,),
    "partition scores": (MEASURES, PARTITION_SCORES),
}


def _declare_all() -> None:
    with PATH.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            registries, limits = REGISTRIES[row.pop("registry")], (float(row.pop("low")), float(row.pop("high")))
            quantity = Quantity(**row | {"range": limits, "needs_truth": bool(row["needs_truth"])})  # type: ignore[arg-type]
            for registry in registries:
                declare(quantity, registry)


_declare_all()
