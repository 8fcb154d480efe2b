"""Study cells of linkage: items under pseudonyms, a protection, and a linkage attack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition
from unmask.data.columns import list_columns, read_columns
from unmask.linkage.audit.facts import Sensitivity
from unmask.linkage.audit.judged_guess import JudgedGuess, compare_guesses
from unmask.linkage.items import Items
from unmask.linkage.label_files import parse_shares
from unmask.measures.clustering.subject_rates import RATES
from unmask.plan import Cell, Part
from unmask.results import Row
from unmask.schema import dict_of, parameters

DATASET = {
    **parameters("unmask.linkage:Items.read", "pseudonym", "features", "kinds", "item", "time", "context", "na"),
    "own": dict_of(str),
}
COLUMNS = ("pseudonym", "features", "kinds", "item", "time", "context")
ROLES: Mapping[str, str] = {"features": "features"}
ADVERSARY = parameters(
    "unmask.linkage.audit.facts:Sensitivity", "alpha", "beta", "wanted", "min_size", "baseline", "shuffles"
)
MEASURES = (*(rate.name for rate in RATES), "utility")

Released = tuple[Items, Partition]


def check(adversary: Part) -> Sensitivity:
    """Return the definition of a breach in an adversary's settings."""
    return Sensitivity(**adversary.settings)


def columns(dataset: Part) -> list[str]:
    """Return the columns of a file of items."""
    return list_columns(dataset.settings["file"])


def load(dataset: Part, data: Any) -> Items | Released:
    """Return items with users as pseudonyms; for public data sets, a release with its truth."""
    if isinstance(data, Items | tuple):
        return data
    reading = {key: value for key, value in dataset.settings.items() if key in DATASET and key != "own"}
    return Items.read(data, **reading)


def protect(population: Items | Released, protection: Any, rng: np.random.Generator) -> Released:
    """Return the items under new pseudonyms, and their subjects."""
    if isinstance(population, Items):
        return (population, population.partition) if protection is None else protection(population, rng=rng)
    if protection is not None:
        raise UnmaskError("this dataset is already a release and cannot be protected; use protection none")
    return population


def attack(cell: Cell, _population: Items | Released, released: Released, attack: Any) -> list[Row]:
    """Return the rows of the adversary's guess over subjects, and the utility: items linked by one pseudonym."""
    items, solution = released
    name, sensitivity = cell.adversary.name, check(cell.adversary)
    contingencies = compare_guesses(
        solution, {name: attack(items)}, sensitivity, _read_own_values(cell.dataset, solution)
    )
    used, note = len(items) / max(items.partition.n_clusters, 1), "items that stay linked by a pseudonym"
    utility = cell.row("utility", "items", used, prior=1.0, n=len(items), note=note)
    return [*JudgedGuess(name, contingencies[name], sensitivity).rows(cell.protection.name), utility]


def _read_own_values(dataset: Part, solution: Partition) -> dict[str, NDArray[Any]]:
    """Return the values of items and subjects in the columns that `own` names."""
    column_names = dataset.settings.get("own", {})
    if not column_names:
        return {}
    if "file" not in dataset.settings:
        raise UnmaskError("own names columns of a file, but this dataset has no file; remove own")
    item = dataset.settings.get("item")
    columns = read_columns(
        dataset.settings["file"], list(dict.fromkeys([*column_names.values(), *([item] if item else [])]))
    )
    ids = columns[item].tolist() if item else range(len(next(iter(columns.values()))))
    place = {item_id: position for position, item_id in enumerate(ids)}
    rows = [place[item_id] for item_id in (range(len(solution)) if solution.items is None else solution.items.tolist())]
    return {name: parse_shares(name, columns[column][rows]) for name, column in column_names.items()}
