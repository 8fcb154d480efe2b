"""Holdback: people who are kept out of a release at random and serve as its control group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from unmask.core.arrays import Integers
from unmask.core.errors import UnmaskError
from unmask.core.randomness import secret_unless
from unmask.tables.table import Table


@dataclass(frozen=True, eq=False)
class Sample:
    """Members of a release, and a control group of the same population.

    Parameters
    ----------
    members : Table
        People who are released.
    control : Table or None
        Control group; None if there is no such group.
    member, held : array of int or None
        Integers of the population that are members and control group; None if these come from another table.
    """

    members: Table
    control: Table | None = None
    member: Integers | None = None
    held: Integers | None = None


def hold_back(table: Table, share: float, *, rng: np.random.Generator | None = None) -> Sample:
    """Hold back round(share n) of n people, each with the same probability.

    All rows of a person are held back together. People that a protection suppresses, for example because of rare
    values, are not a control group, because they are not drawn at random.

    Parameters
    ----------
    table : Table
        The population.
    share : float
        Share of the people to hold back, between 0 and 1.
    rng : numpy.random.Generator, optional
        For tests and studies only. The list of held-back people is as secret as the origin of a release.

    Raises
    ------
    UnmaskError
        If the share leaves no members or no control group.

    Examples
    --------
    >>> table = Table.read({"age": range(10)}, quasi_identifiers="age")
    >>> people = hold_back(table, 0.2, rng=np.random.default_rng(0))
    >>> people.members.n_rows, people.held
    (8, array([6, 7]))
    """
    rows, person_of_row, people = _complete(table)
    drawn = secret_unless(rng).choice(people, size=_count(share, len(people)), replace=False)
    return _split(table, rows[np.isin(person_of_row, drawn)])


def find_held_back(table: Table, share: float, origins: Iterable[Integers]) -> Sample:
    """Return the people who were held back: people of the table who are in no release.

    Parameters
    ----------
    table : Table
        The population.
    share : float
        Share of the people who were held back.
    origins : iterable of array of int
        Row of the table behind each record, for each release.

    Raises
    ------
    UnmaskError
        If another number of people is missing from the releases. A protection has then suppressed some of them, and
        the people who were held back at random are unknown.
    """
    rows, person_of_row, people = _complete(table)
    released = np.concatenate([np.zeros(0, dtype=np.int64), *origins])
    absent = np.setdiff1d(people, released if table.person is None else table.person[released])
    expected = _count(share, len(people))
    if len(absent) != expected:
        raise UnmaskError(
            f"hold_back is {share:g}, which is {expected:,} people, and {len(absent):,} are in no release; give the "
            "share with which the release was made, or the table of those who were held back as control"
        )
    return _split(table, rows[np.isin(person_of_row, absent)])


def _complete(table: Table) -> tuple[Integers, Integers, Integers]:
    """Return the complete rows, the person of each of them, and all these people."""
    rows = table.complete_rows
    person_of_row = rows if table.person is None else table.person[rows]
    return rows, person_of_row, np.unique(person_of_row)


def _count(share: float, n: int) -> int:
    if not 0 < share < 1 or not 0 < round(share * n) < n:
        raise UnmaskError(
            f"hold_back is {share} of {n:,} people, expected a share between 0 and 1 that holds back some people and "
            "releases some"
        )
    return round(share * n)


def _split(table: Table, held_rows: Integers) -> Sample:
    member = np.setdiff1d(np.arange(table.n_rows), held_rows)
    return Sample(table.take(member), table.take(held_rows), member, held_rows)
