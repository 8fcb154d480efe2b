"""Study cells of published tables: records are tabulated, the tables are protected, and attacked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.aggregates.attacks.reconstructor import Reconstructor
from unmask.aggregates.audit.aggregate_audit import RECONSTRUCTOR, describe_run
from unmask.aggregates.audit.facts import find_targets
from unmask.aggregates.domain import Domain
from unmask.aggregates.release import AggregateRelease, tabulate
from unmask.aggregates.rules import Rule
from unmask.core.errors import UnmaskError
from unmask.data.columns import list_columns, read_columns
from unmask.measures.names import areas_reconstructed, records_reconstructed, values_certain
from unmask.plan import Cell, Part
from unmask.results import Row
from unmask.schema import list_of
from unmask.scoring import STANDARD

DATASET: Mapping[str, Any] = {"tables": list_of(str), "geography": str}
COLUMNS = ("geography",)
ROLES: Mapping[str, str] = {}
ADVERSARY: Mapping[str, Any] = {"sensitive": list_of(str), "known_columns": list_of(str)}
MEASURES = (
    *(item.name for item in (areas_reconstructed, records_reconstructed, values_certain)),
    *(measure.name for measure in STANDARD),
)


@dataclass(frozen=True, eq=False)
class Population:
    """Records and their exact tables.

    Parameters
    ----------
    records : mapping of str to array
        Column -> value of each record.
    release : AggregateRelease
        Exact tables.
    """

    records: Mapping[str, NDArray[Any]]
    release: AggregateRelease


def check(adversary: Part) -> None:
    """Refuse columns that are sensitive and known."""
    if both := {*adversary.settings.get("sensitive", ())} & {*adversary.settings.get("known_columns", ())}:
        raise UnmaskError(f"{min(both)!r} is sensitive and known; leave it out of one of both")


def columns(dataset: Part) -> list[str]:
    """Return the columns of a file of records."""
    return list_columns(dataset.settings["file"])


def load(dataset: Part, made: Any) -> Population:
    """Return the records and their exact tables."""
    if isinstance(made, Population):
        return made
    if not dataset.settings.get("tables"):
        raise UnmaskError('the dataset has no tables; expected a list such as tables = ["sex*age", "age*race"]')
    queries = [parse_columns(text) for text in dataset.settings["tables"]]
    geography = dataset.settings.get("geography", "")
    names = list(dict.fromkeys(column for query in queries for column in query))
    source = str(made) if isinstance(made, Path) else made
    return tabulate_records(read_columns(source, [*names, *([geography] if geography else [])]), queries, geography)


def parse_columns(text: str) -> tuple[str, ...]:
    """Return the columns of a table that is written as "sex*age"."""
    return tuple(part.strip() for part in text.split("*") if part.strip())


def tabulate_records(
    records: Mapping[str, NDArray[Any]], queries: Sequence[Sequence[str]], geography: str = ""
) -> Population:
    """Return records with their exact tables; the categories are the values that occur.

    Parameters
    ----------
    records : mapping of str to array
        Column -> value of each record.
    queries : sequence of sequences of str
        Columns of each table, without the column of areas.
    geography : str
        Column of areas; "" for none.
    """
    names = list(dict.fromkeys(column for query in queries for column in query))
    domain = Domain({name: tuple(sorted({*np.asarray(records[name]).astype(str).tolist()})) for name in names})
    areas = tuple(sorted({*np.asarray(records[geography]).astype(str).tolist()})) if geography else ()
    tables = [tabulate(records, query, Rule(), domain, geography=geography, areas=areas) for query in queries]
    return Population(records, AggregateRelease(domain, tuple(tables), geography, areas))


def protect(population: Population, protection: Any, rng: np.random.Generator) -> AggregateRelease:
    """Return the protected tables."""
    release = population.release
    if protection is None:
        return release
    protected: AggregateRelease = protection(release, release.cell_counts(population.records), rng=rng)
    return protected


def attack(cell: Cell, population: Population, released: AggregateRelease, attack: Reconstructor) -> list[Row]:
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
