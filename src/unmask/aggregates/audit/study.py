"""Study cells of published tables: records are tabulated, the tables are protected, and attacked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from unmask.aggregates.attacks.reconstructor import Reconstructor
from unmask.aggregates.audit.aggregate_audit import RECONSTRUCTOR, describe_run
from unmask.aggregates.audit.facts import find_targets
from unmask.aggregates.protections.exact_tables import ExactTables, count_tables
from unmask.aggregates.release import AggregateRelease
from unmask.core.errors import UnmaskError
from unmask.data.columns import list_columns
from unmask.plan import Cell, Part
from unmask.results import Row
from unmask.schema import list_of
from unmask.scoring import STANDARD

DATASET: Mapping[str, Any] = {"tables": list_of(str), "geography": str}
COLUMNS = ("geography",)
ROLES: Mapping[str, str] = {}
ADVERSARY: Mapping[str, Any] = {"sensitive": list_of(str), "known_columns": list_of(str)}
MEASURES = (
    "areas_reconstructed",
    "records_reconstructed",
    "values_certain",
    *(measure.name for measure in STANDARD),
)


def check(adversary: Part) -> None:
    """Refuse columns that are sensitive and known."""
    if common := {*adversary.settings.get("sensitive", ())} & {*adversary.settings.get("known_columns", ())}:
        raise UnmaskError(f"{min(common)!r} is sensitive and known; leave it out of one of both")


def columns(dataset: Part) -> list[str]:
    """Return the columns of a file of records."""
    return list_columns(dataset.settings["file"])


def load(dataset: Part, data: Any) -> ExactTables:
    """Return the records and their exact tables with all totals."""
    if isinstance(data, ExactTables):
        return data
    if not dataset.settings.get("tables"):
        raise UnmaskError('the dataset has no tables; expected a list such as tables = ["sex*age", "age*race"]')
    return count_tables(data, dataset.settings["tables"], geography=dataset.settings.get("geography", ""))


def protect(population: ExactTables, protection: Any, rng: np.random.Generator) -> AggregateRelease:
    """Return the protected tables."""
    if protection is None:
        return population.tables
    protected: AggregateRelease = protection(population.tables, population.counts, rng=rng)
    return protected


def attack(cell: Cell, population: ExactTables, released: AggregateRelease, attack: Reconstructor) -> list[Row]:
    """Return the rows of the adversary."""
    settings, rng = cell.adversary.settings, cell.rng("reconstruction")
    run = attack.run(released, settings.get("sensitive", ()), settings.get("known_columns", ()), rng=rng)
    targets = find_targets(run, population.records, rng)
    result = describe_run(cell.protection.name, run, targets, group_size=10, rng=rng)
    return [
        replace(row, adversary=cell.adversary.name)
        for row in result.rows
        if row.adversary == RECONSTRUCTOR and cell.wants(row.measure)
    ]
