"""Releases in which a column links the rows of a person: whoever knows some of the rows has them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from unmask.core.arrays import Integers
from unmask.core.csr_rows import list_members
from unmask.core.errors import NotRunError
from unmask.core.truth import Truth
from unmask.data.column_names import find_role
from unmask.tables.attacks import SeveralRows, Traces
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.attacked_release import AttackedRelease
from unmask.tables.column import Column
from unmask.tables.unit import key_rank

SEEN = 4
"""Number of times that each person was seen."""

MAX_PSEUDONYMS, MAX_PAIRS = 1000, 20_000_000
"""Largest number of pseudonyms attacked, and of pairs of one of them and any pseudonym."""


def attack_person(scene: AttackedRelease, adversary: str, attack: Any, rng: np.random.Generator) -> AttackRun:
    """Run an attack of a study on single rows of people, or on several rows of each if the attack links rows."""
    if not isinstance(attack, SeveralRows):
        run, column = scene.run(adversary, attack), linking_column(scene)
        if column is None:
            return run
        reason = f"the column {column.name} links rows of a person; tables.SeveralRows knows several, this attack one"
        return replace(run, note="; ".join(filter(None, (run.note, reason))))
    assert scene.known is not None
    linked = link_rows(scene, adversary, attack, rng, n_pseudonyms=scene.known.n_people)
    if linked is None:
        raise NotRunError("no kept column has a value for each person, so no rows are linked")
    return linked


def link_rows(
    scene: AttackedRelease,
    adversary: str,
    attack: SeveralRows,
    rng: np.random.Generator,
    *,
    n_pseudonyms: int = MAX_PSEUDONYMS,
) -> AttackRun | None:
    """Find the pseudonym of each person from some of their rows; None if no column is a pseudonym."""
    column = linking_column(scene)
    if column is None:
        return None
    values, pseudonym = np.unique(column.codes, return_inverse=True)
    n = len(values)
    chosen = np.sort(rng.choice(n, min(n, n_pseudonyms, max(MAX_PAIRS // n, 1)), replace=False))
    row = _draw_rows(pseudonym, n, attack.times, rng)[chosen]
    if scene.known is None:
        belief = attack(scene.table, Traces(None, observations=row, pseudonym=pseudonym))
        return AttackRun(scene.release, adversary, "identity", belief, None, row[:, 0], drawn_from=n)
    rows, population = scene.origin[row], scene.known.population
    columns = (population.column(known_column.name) for known_column in scene.known.people.quasi_identifiers)
    people = population.known_by(columns).take(rows.ravel())
    belief = attack(
        scene.table, Traces(people, observations=np.arange(row.size).reshape(row.shape), pseudonym=pseudonym)
    )
    return AttackRun(scene.release, adversary, "identity", belief, Truth(chosen), rows[:, 0], drawn_from=n)


def _draw_rows(pseudonym: Integers, n: int, times: int, rng: np.random.Generator) -> Integers:
    """Draw (n, times) rows of each pseudonym at random."""
    order, size = list_members(pseudonym), np.bincount(pseudonym, minlength=n)
    first = np.cumsum(size) - size
    return np.asarray(order[first[:, None] + rng.integers(0, size[:, None], (n, times))], dtype=np.int64)


def linking_column(scene: AttackedRelease) -> Column | None:
    """Return the column that links rows of a person; without an original one that does by its name."""
    if scene.foreign:
        return None
    if scene.known is None:
        column = find_pseudonym(scene.table.kept, scene.table.person)
        return column or (next(find_repeated_keys(scene.table.kept), None) if scene.table.person is None else None)
    person = scene.known.population.person
    if not scene.traced or person is None or np.any(scene.origin < 0):
        return None
    return find_pseudonym(scene.table.kept, person[scene.origin])


def find_pseudonym(columns: Iterable[Column], person: Integers | None) -> Column | None:
    """Return the column whose values each belong to one person, some of several rows; the one with fewest values.

    Parameters
    ----------
    columns : iterable of Column
        Released columns.
    person : (n_rows,) array, optional
        Person of each row; None if that is not known.
    """
    if person is None:
        return None
    complete = [(column, column.counts) for column in columns if column.levels.missing < 0]
    linking = [(c, sizes) for c, sizes in complete if sizes.max(initial=0) > 1 and _is_of_one_person(c, person)]
    return min(linking, key=lambda candidate: np.count_nonzero(candidate[1]), default=(None, None))[0]


def _is_of_one_person(column: Column, person: Integers) -> bool:
    """Return whether no value of the column is of two people."""
    owner = np.zeros(len(column.levels), dtype=np.int64)
    owner[column.codes] = person
    return bool(np.array_equal(owner[column.codes], person))


def find_repeated_keys(columns: Iterable[Column]) -> Iterator[Column]:
    """Yield released columns that number people by their name, and that have a value twice."""
    for column in columns:
        identifies = find_role(column.name) == "identifier"
        if key_rank(column.name, len(column.levels), identifies=identifies) and column.counts.max(initial=0) > 1:
            yield column
