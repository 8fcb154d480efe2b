"""Background knowledge of an adversary about a table, and the interface of every attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.tables.column import Column
from unmask.tables.table import Table


@dataclass(frozen=True, eq=False)
class Background:
    """Background knowledge of an adversary, without the release.

    Parameters
    ----------
    people : Table or None
        Targets, one row for each, with the values that the adversary knows. None: the people of the release, known by
        their released cells.
    population : Table or None
        Table whose distributions are the prior beliefs. None: the release.
    person : (n_people,) array, optional
        Row of the population that each target is. None: no target belongs to it.

    Examples
    --------
    >>> from unmask.tables import ClassAttack
    >>> release = Table.read({"age": ["20-29", "20-29"]}, quasi_identifiers="age")
    >>> ClassAttack()(release, Background(Table.read({"age": [25]}, quasi_identifiers="age"))).candidate
    array([0, 1], dtype=int32)
    """

    people: Table | None = None
    population: Table | None = None
    person: Integers | None = None

    @property
    def in_general(self) -> Table | None:
        """Return the population without the targets; None without such people."""
        population = self.population
        if population is not None and self.person is not None:
            population = population.take(np.setdiff1d(np.arange(population.n_rows), self.person))
        return population if population is not None and population.n_rows else None

    @classmethod
    def of(cls, knowledge: object) -> Background:
        """Return the knowledge, empty for None; raise an error for a bare table, which is ambiguous."""
        if knowledge is None:
            return cls()
        if not isinstance(knowledge, Background):
            raise UnmaskError(f"the knowledge is a {type(knowledge).__name__}, expected Background(people, population)")
        return knowledge


class Attack(Protocol):
    """Attack: maps a release and background knowledge to a belief about each target. `rng` is for attacks that draw."""

    def __call__(
        self, release: Table, knowledge: Background | None = None, *, rng: np.random.Generator | None = None
    ) -> Posterior:
        """Return the belief."""


Rng = np.random.Generator | None


def people_of(knowledge: Background | None, attack: Attack) -> Table:
    """Return the targets; raise an error without them."""
    people = Background.of(knowledge).people
    if people is None:
        raise UnmaskError(f"{attack!r} needs people; give Background(people), or use ClassAttack")
    return people


def in_general(column: Column, population: Table | None) -> Column:
    """Return the column of people in general with the same name; by default the column itself."""
    return column if population is None or column.name not in population.names else population.column(column.name)


Prior = tuple[tuple[str, ...], Floats, str]
"""Values of a column, their prior probabilities, and the source of the prior, see `prior_of`."""


def prior_of(released: Column, population: Table | None) -> Prior:
    """Return the possible values of a column, their prior probabilities, and the source of the prior.

    The source is "population" or, without one, "release". Released values come first, then values that occur in the
    population only. A released value that does not occur in the population counts as half a person.
    """
    if population is None:
        return released.levels.labels, released.counts / released.n_rows, "release"
    population_column = population.column(released.name)
    labels = tuple(dict.fromkeys(released.levels.labels + population_column.levels.labels))
    place = {label: position for position, label in enumerate(labels)}
    people = np.zeros(len(labels))
    people[[place[label] for label in population_column.levels.labels]] = population_column.counts
    occurs = np.bincount(released.codes, minlength=len(labels)) > 0
    people[occurs & (people == 0)] = 0.5
    return labels, people / people.sum(), "population"


def hidden_values(released: Column, counts: Integers, population: Table | None) -> tuple[float, Floats]:
    """Estimate the share of a column's missing cells that were suppressed, and the distribution of their values.

    If a share m of the population's cells is missing, n m missing cells are expected in n released rows, with a
    standard error of sqrt(n m (1 - m)). Missing cells count as suppressed if they exceed the expected number by more
    than three standard errors. The excess is distributed over the values that are released too rarely: in proportion
    to n q - n_s + 1/2 for a value with share q in the population and n_s released rows.

    Parameters
    ----------
    released : Column
        Column of the release.
    counts : (n_levels,) array
        Complete rows of each of its levels.
    population : Table or None
        Without a population, no cell counts as suppressed.

    Returns
    -------
    share : float
        Share of the missing cells that were suppressed.
    distribution : (n_values,) array
        Probabilities of their values, in the order of `prior_of`; 0 for "missing".
    """
    labels, prior, _ = prior_of(released, population)
    missing = released.levels.missing
    if population is None or missing < 0:
        return 0.0, prior
    population_column, n = population.column(released.name), int(counts.sum())
    people, population_missing = population_column.n_rows, population_column.levels.missing
    n_missing = int(population_column.counts[population_missing]) if population_missing >= 0 else 0
    excess = (int(counts[missing]) * people - n_missing * n) / people  # exactly 0 if both shares are equal
    variance = n * n_missing * (people - n_missing) / people**2
    if excess <= 0 or excess**2 <= 9 * variance:
        return 0.0, prior
    released_counts = np.append(counts, np.zeros(len(labels) - len(counts)))
    deficit = np.where(prior > 0, np.maximum(n * prior - released_counts, 0.0) + 0.5, 0.0)
    deficit[missing] = 0.0
    return float(excess / counts[missing]), deficit / deficit.sum()
