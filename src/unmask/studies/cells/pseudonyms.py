"""Cells of pseudonyms: items are put under pseudonyms, and an adversary says which belong together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.cases.rows import plain_row
from unmask.errors import UnmaskError
from unmask.plan import Cell, Part
from unmask.pseudonyms import Items
from unmask.pseudonyms.labels import numbers
from unmask.pseudonyms.reading import column_names, read_columns
from unmask.results import Row
from unmask.studies.linkage import LINKAGE_MEASURES, Sensitivity, linkage_rows
from unmask.view import Partition

DATASET = ("pseudonym", "features", "kinds", "item", "time", "context", "na", "own")
COLUMNS = ("pseudonym", "features", "kinds", "item", "time", "context")
ROLES: Mapping[str, str] = {"features": "features", "tolerance": "features"}
ADVERSARY = ("alpha", "beta", "wanted", "min_size", "shuffles")
MEASURES = (*(name for name, *_ in LINKAGE_MEASURES), "utility")

Released = tuple[Items, Partition]


def check(adversary: Part) -> None:
    """Refuse settings that nobody can be judged by."""
    _sensitivity(adversary)


def columns(file: Path) -> list[str]:
    """The columns of a file of items."""
    return column_names(file)


def load(dataset: Part, made: Any) -> Items | Released:
    """Items whose pseudonyms are the users; or a release with its solution, as the public sets are."""
    if isinstance(made, Items | tuple):
        return made
    reading = {key: value for key, value in dataset.settings.items() if key in DATASET and key != "own"}
    return Items.read(made, **reading)


def protect(population: Items | Released, protection: Any, rng: np.random.Generator) -> Released:
    """The items under new pseudonyms, and whose they are."""
    if isinstance(population, Items):
        if protection is not None:
            released, solution = protection(population, rng=rng)
            return released, solution
        return population, population.partition
    if protection is not None:
        raise UnmaskError("this dataset is a release already: nothing can protect it further; use protection none")
    return population


def attack(cell: Cell, _population: Items | Released, released: Released, attack: Any) -> list[Row]:
    """The rows of his guess, over subjects, and how much stays linked for those who use the release."""
    items, solution = released
    asked = _sensitivity(cell.adversary)
    rows = linkage_rows(cell.adversary.name, solution, attack(items), asked, _own(cell.dataset, solution))
    used = len(items) / max(items.partition.n_clusters, 1)
    return [
        *(replace(row, release=cell.protection.name) for row in rows),
        plain_row(
            cell, "utility", "items", used, prior=1.0, n=len(items), note="items that stay linked by a pseudonym"
        ),
    ]


def _own(dataset: Part, solution: Partition) -> dict[str, NDArray[Any]]:
    """What the items of the solution weigh and their subjects mind, from the columns of the file that `own` names."""
    own = dataset.settings.get("own", {})
    if not isinstance(own, dict):
        raise UnmaskError('own is no table; expected for example own = { weight = "sensitivity", alpha = "a" }')
    if not own:
        return {}
    if "file" not in dataset.settings:
        raise UnmaskError("own names columns of a file, and this dataset has none; leave it out")
    item = dataset.settings.get("item")
    columns = read_columns(dataset.settings["file"], list(dict.fromkeys([*own.values(), *([item] if item else [])])))
    ids = columns[item].tolist() if item else range(len(next(iter(columns.values()))))
    place = {one: at for at, one in enumerate(ids)}
    rows = [place[one] for one in (range(len(solution)) if solution.items is None else solution.items.tolist())]
    return {name: numbers(name, columns[column][rows]) for name, column in own.items()}


def _sensitivity(adversary: Part) -> Sensitivity:
    asked = Sensitivity(**adversary.settings)
    if not (0 <= asked.alpha <= 1 and 0 < asked.beta <= 1 and asked.min_size >= 1 and asked.shuffles >= 0):
        raise UnmaskError("expected alpha from 0 to 1, beta above 0 to 1, min_size from 1 and shuffles from 0")
    return asked
