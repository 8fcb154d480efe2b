"""Background knowledge of an adversary about a table, and the interface of every attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.tables.column import Column
from unmask.tables.table import Table


@dataclass(frozen=True, eq=False)
class Background:
    """Background knowledge of the adversary, without the release.

    people     : those they look for, a row each with what is known of them: targets, the people of a register, the
                 source in its order. None: everybody of the release itself, each known by their own cells.
    population : whose values say what is believed of anybody before the release; None: the release itself.
    others     : those of the population who are not looked for, where these are of it, too; None: all of it.

    >>> from unmask.tables import ClassAttack
    >>> release = Table.read({"age": ["20-29", "20-29"]}, quasi_identifiers="age")
    >>> ClassAttack()(release, Background(Table.read({"age": [25]}, quasi_identifiers="age"))).candidate
    array([0, 1], dtype=int32)
    """

    people: Table | None = None
    population: Table | None = None
    others: Table | None = None

    @property
    def in_general(self) -> Table | None:
        """Return the population without the targets; None if no such people are known."""
        population = self.population if self.others is None else self.others
        return None if population is None or not population.n_rows else population

    @classmethod
    def of(cls, knowledge: object) -> Background:
        """Return the background knowledge of an attack, empty for None; reject a table alone as ambiguous."""
        if knowledge is None:
            return cls()
        if not isinstance(knowledge, Background):
            raise UnmaskError(f"the knowledge is a {type(knowledge).__name__}, expected Background(people, population)")
        return knowledge


class Attack(Protocol):
    """From a release and what is known to a belief about each target. rng : of an attack that draws; none here does."""

    def __call__(
        self, release: Table, knowledge: Background | None = None, *, rng: np.random.Generator | None = None
    ) -> Posterior:
        """Return the belief."""


Rng = np.random.Generator | None


def people_of(knowledge: Background | None, attack: Attack) -> Table:
    """Return the people that an attack needs; raise without them."""
    people = Background.of(knowledge).people
    if people is None:
        raise UnmaskError(f"{attack!r} needs people; give Background(people), or use ClassAttack")
    return people


def prior_of(released: Column, population: Table | None) -> tuple[tuple[str, ...], NDArray[np.float64], str]:
    """Return the possible values of a column, their prior probabilities, and the source of these shares.

    The source is "population", or "release" without a population. The values are those of both columns, the released
    ones first. A released value that the population lacks weighs half a person.
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


def hidden_values(release: Table, released: Column, population: Table | None) -> tuple[float, NDArray[np.float64]]:
    """Return the share of a column's missing cells that hide a value, and (n_values,) the shares of values among them.

    A population that misses the column with share m explains n m of n released rows, and three standard errors of n
    draws more, 3 sqrt(n m (1 - m)): rows may be some of its people, or made to be like them. If more are missing, those
    beyond n m hide what is stated too seldom: with q the population's share of a value and n_s the rows that state it,
    n q - n_s rows, and half a row of each value that occurs. Without a population nothing is known to be hidden,
    and a missing cell is a value of its own.

    Values as of `prior_of`; none of them is to be missing.
    """
    labels, prior, _ = prior_of(released, population)
    gap = released.levels.missing
    if population is None or gap < 0:
        return 0.0, prior
    counts = release.totals_of(released)
    population_column, n = population.column(released.name), int(counts.sum())
    people, gaps = (
        population_column.n_rows,
        int(population_column.counts[population_column.levels.missing]) if population_column.levels.missing >= 0 else 0,
    )
    hidden = (int(counts[gap]) * people - gaps * n) / people  # exactly 0 where both miss the same share
    chance = n * gaps * (people - gaps) / people**2
    if hidden <= 0 or hidden**2 <= 9 * chance:
        return 0.0, prior
    stated_rows = np.append(counts, np.zeros(len(labels) - len(counts)))
    short = np.where(prior > 0, np.maximum(n * prior - stated_rows, 0.0) + 0.5, 0.0)
    short[gap] = 0.0
    return float(hidden / counts[gap]), short / short.sum()
