"""Control people: those of a population who are held back, at random, before the others are protected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.randomness import secret_unless
from unmask.tables.table import Table

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sample:
    """Some people of a population: members, who are released, and control people, who are not.

    control : None if no control people are known
    member, held : the rows of the population that they are; None where that is another table
    """

    members: Table
    control: Table | None = None
    member: Rows | None = None
    held: Rows | None = None


def hold_back(table: Table, share: float, *, rng: np.random.Generator | None = None) -> Sample:
    """Hold people back: round(share n) of the n people, each with the same probability.

    All rows of a person are held back together.

    A protection drops further people by what they are, such as their rare values; those are no control people. `rng` is
    for tests and studies: who was held back is as secret as the origin of a release.

    >>> table = Table.read({"age": range(10)}, quasi_identifiers="age")
    >>> people = hold_back(table, 0.2, rng=np.random.default_rng(0))
    >>> people.members.n_rows, people.held
    (8, array([6, 7]))
    """
    able, person_of_row, people = _able(table)
    drawn = secret_unless(rng).choice(people, size=_number(share, len(people)), replace=False)
    return _parted(table, able[np.isin(person_of_row, drawn)])


def find_held_back(table: Table, share: float, origins: Iterable[Rows]) -> Sample:
    """Find the people who were held back: those of the table who are in no release.

    share : of the people who took part; where more are left out, a protection has dropped some, by what they are, and
            those who were held back at random are unknown: an error
    origins : of each release, the row of the table behind each of its records
    """
    able, person_of_row, people = _able(table)
    released = np.concatenate([np.zeros(0, dtype=np.int64), *origins])
    absent = np.setdiff1d(people, released if table.person is None else table.person[released])
    wanted = _number(share, len(people))
    if len(absent) != wanted:
        raise UnmaskError(
            f"hold_back is {share:g}, which is {wanted:,} people, and {len(absent):,} are in no release; give the "
            "share with which the release was made, or the table of those who were held back as control"
        )
    return _parted(table, able[np.isin(person_of_row, absent)])


def _able(table: Table) -> tuple[Rows, Rows, Rows]:
    """Return the usable rows, the person of each, and these people."""
    able = table.complete_rows
    person_of_row = able if table.person is None else table.person[able]
    return able, person_of_row, np.unique(person_of_row)


def _number(share: float, n: int) -> int:
    if not 0 < share < 1 or not 0 < round(share * n) < n:
        raise UnmaskError(
            f"hold_back is {share} of {n:,} people, expected a share between 0 and 1 that leaves some, and keeps some"
        )
    return round(share * n)


def _parted(table: Table, held_rows: Rows) -> Sample:
    member = np.setdiff1d(np.arange(table.n_rows), held_rows)
    return Sample(table.take(member), table.take(held_rows), member, held_rows)
