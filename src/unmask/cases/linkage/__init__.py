"""Cases of pseudonyms: what adversaries who say which items belong together do to every subject.

A case is a guess, the truth and what counts as linked too far; beside it stand guesses of the same shape at random.
`audit` reports some, and a cell of a study is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.cases.linkage.case import Case, Sensitivity, met_by
from unmask.cases.linkage.report import report
from unmask.core.errors import UnmaskError
from unmask.core.partition import Partition, View
from unmask.data.columns import list_columns, read_columns
from unmask.domains import named, with_fields
from unmask.linkage import Items
from unmask.linkage.label_files import parse_shares
from unmask.measures.clustering.unlinkability import RATES
from unmask.plan import Cell, Part
from unmask.reports import ReportData
from unmask.results import Row
from unmask.schema import dict_of, parameters

DATASET = {
    **parameters("unmask.linkage:Items.read", "pseudonym", "features", "kinds", "item", "time", "context", "na"),
    "own": dict_of(str),
}
COLUMNS = ("pseudonym", "features", "kinds", "item", "time", "context")
ROLES: Mapping[str, str] = {"features": "features", "tolerance": "features"}
ADVERSARY = parameters("unmask.cases.linkage.case:Sensitivity", "alpha", "beta", "wanted", "min_size", "shuffles")
MEASURES = (*(rate.name for rate in RATES), "utility")

Released = tuple[Items, Partition]


@with_fields(Sensitivity)
def audit(
    release: Partition | View | Mapping[str, Partition | View],
    *,
    truth: Partition | None = None,
    own: Mapping[str, ArrayLike] | None = None,
    **sensitivity: Any,
) -> ReportData:
    """Evaluate which items an adversary links: who is breached, who is one merge away.

    release     : the clusters that adversaries put the items in
    truth       : the subjects of the items
    own         : what items weigh and their subjects mind, see `case.met_by`
    sensitivity : the fields of `case.Sensitivity`
    """
    guesses = named(release)
    if truth is None or not all(isinstance(guess, Partition | View) for guess in guesses.values()):
        raise UnmaskError("clusters are judged against the subjects of the items; give them as truth, a Partition")
    asked = Sensitivity(**sensitivity)
    return report(met_by(truth, guesses, asked, own), asked)


def check(adversary: Part) -> Sensitivity:
    """What counts as linked too far for an adversary of a plan; refused where nobody can be judged by it."""
    return Sensitivity(**adversary.settings)


def columns(dataset: Part) -> list[str]:
    """The columns of a file of items."""
    return list_columns(dataset.settings["file"])


def load(dataset: Part, made: Any) -> Items | Released:
    """Items whose pseudonyms are the users; or a release with its solution, as the public sets are."""
    if isinstance(made, Items | tuple):
        return made
    reading = {key: value for key, value in dataset.settings.items() if key in DATASET and key != "own"}
    return Items.read(made, **reading)


def protect(population: Items | Released, protection: Any, rng: np.random.Generator) -> Released:
    """The items under new pseudonyms, and whose they are."""
    if isinstance(population, Items):
        return (population, population.partition) if protection is None else protection(population, rng=rng)
    if protection is not None:
        raise UnmaskError("this dataset is a release already: nothing can protect it further; use protection none")
    return population


def attack(cell: Cell, _population: Items | Released, released: Released, attack: Any) -> list[Row]:
    """The rows of the adversary's guess, over subjects, and how much stays linked for those who use the release."""
    items, solution = released
    name, asked = cell.adversary.name, check(cell.adversary)
    met = met_by(solution, {name: attack(items)}, asked, _own(cell.dataset, solution))[name]
    used, note = len(items) / max(items.partition.n_clusters, 1), "items that stay linked by a pseudonym"
    utility = cell.row("utility", "items", used, prior=1.0, n=len(items), note=note)
    return [*Case(name, met, asked).rows(cell.protection.name), utility]


def _own(dataset: Part, solution: Partition) -> dict[str, NDArray[Any]]:
    """What the items of the solution weigh and their subjects mind, from the columns of the file that `own` names."""
    own = dataset.settings.get("own", {})
    if not own:
        return {}
    if "file" not in dataset.settings:
        raise UnmaskError("own names columns of a file, and this dataset has none; leave it out")
    item = dataset.settings.get("item")
    columns = read_columns(dataset.settings["file"], list(dict.fromkeys([*own.values(), *([item] if item else [])])))
    ids = columns[item].tolist() if item else range(len(next(iter(columns.values()))))
    place = {one: at for at, one in enumerate(ids)}
    rows = [place[one] for one in (range(len(solution)) if solution.items is None else solution.items.tolist())]
    return {name: parse_shares(name, columns[column][rows]) for name, column in own.items()}
