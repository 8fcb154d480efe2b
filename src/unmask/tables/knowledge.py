"""Knowledge of an adversary: draws of people with known columns, and the truth about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from unmask.core.arrays import Booleans, Integers
from unmask.core.errors import UnmaskError, explain_unknown
from unmask.core.posterior import Posterior, weigh_people_equally
from unmask.core.truth import ABSENT, UNKNOWN, Truth
from unmask.ranges import Range, check_ranges, check_types
from unmask.tables.background import Background
from unmask.tables.column import Column
from unmask.tables.levels import Levels
from unmask.tables.notation import MISSING
from unmask.tables.notation import UNKNOWN as NOT_KNOWN
from unmask.tables.table import Table


@dataclass(frozen=True, eq=False)
class Known:
    """Targets, the knowledge about them, and the truth.

    Parameters
    ----------
    people : Table
        Known values, one row for each target.
    person : (n_targets,) array of int
        Row of the population of each target.
    truth : Truth
        Released record of each target; for a register, the person behind each record.
    population : Table
        Table from which the targets were drawn.
    """

    people: Table
    person: Integers
    truth: Truth
    population: Table

    @property
    def background(self) -> Background:
        """Return the background knowledge that an attack receives."""
        return Background(self.people, self.population, self.person)

    @cached_property
    def person_number(self) -> Integers | None:
        """Return (n_targets,) the number of the person of each row, from 0; None if each row is a person."""
        person = self.population.person
        return None if person is None else np.unique(person[self.person], return_inverse=True)[1]

    @property
    def n_people(self) -> int:
        """Return the number of distinct people."""
        return len(self.person) if self.person_number is None else int(self.person_number.max(initial=-1)) + 1

    def each_once(self, belief: Posterior) -> Posterior:
        """Return the belief with equal weight for each person, divided among the rows of the person."""
        if self.person_number is None:
            return belief
        return replace(belief, weight=weigh_people_equally(self.person_number))

    def draw_people(self, n: int, rng: np.random.Generator) -> Known:
        """Draw at most n targets at random, and keep their order.

        If people have several rows, all rows of a person are drawn or none, for at least one person.
        """
        if self.person_number is None:
            return self.take(np.sort(rng.choice(len(self.person), min(n, len(self.person)), replace=False)))
        order = rng.permutation(self.n_people)
        is_chosen = np.cumsum(np.bincount(self.person_number)[order]) <= n
        is_chosen[0] = True
        return self.take(np.flatnonzero(np.isin(self.person_number, order[is_chosen])))

    def take_first_row_of_each_person(self) -> Known:
        """Return the first row of each person."""
        if self.person_number is None:
            return self
        return self.take(np.sort(np.unique(self.person_number, return_index=True)[1]))

    def take(self, rows: Integers) -> Known:
        """Return a selection of the targets."""
        return Known(self.people.take(rows), self.person[rows], Truth(self.truth.candidate[rows]), self.population)

    def truth_in(self, origin: Integers) -> Truth:
        """Return the released record of each person in another release of the same population, ABSENT without one."""
        return found_in(self.person, origin)

    def person_in(self, origin: Integers, link: Posterior) -> Truth:
        """Return the truth if any record of a person is right.

        If a person's drawn row is not released, the truth is another of their rows. People without a fitting record
        are ABSENT.
        """
        person, own_truth = self.population.person, self.truth_in(origin)
        if person is None:
            return own_truth
        behind = np.where(origin < 0, person.max() + 1, person[origin])
        other_rows = found_in(person[self.person], behind).candidate
        is_unlinked = ((link.row_length == 0) & (link.n_unlisted == 0))[link.observation]
        linked = np.where(own_truth.candidate < 0, other_rows, own_truth.candidate)
        return Truth(np.where(is_unlinked, ABSENT, linked), person=behind)


def found_in(wanted: Integers, candidates: Integers) -> Truth:
    """Return the position of each wanted row in the candidates, ABSENT if they lack it.

    wanted, candidates : rows of one population; a candidate outside the population is below 0.
    """
    place = np.full(max(int(wanted.max(initial=0)), int(candidates.max(initial=0))) + 1, ABSENT, dtype=np.int64)
    is_released = np.flatnonzero(candidates >= 0)
    place[candidates[is_released]] = is_released
    return Truth(place[wanted])


@dataclass(frozen=True)
class Knowledge:
    """Knowledge of the quasi-identifiers of some people, possibly with missing and wrong values.

    Parameters
    ----------
    targets : int or None
        Number of people, drawn without replacement and shuffled. None: all people. People with several rows are known
        by each of their rows.
    columns : tuple of str, int or None
        Known quasi-identifiers. A number: so many of each person, drawn at random. None: all of them.
    missing : float
        Probability that a cell is unknown, independently.
    error : float
        Probability that a cell is replaced by a draw from its column.

    Examples
    --------
    >>> Knowledge(targets=100, columns=("age", "zip"))
    Knowledge(targets=100, columns=('age', 'zip'), missing=0.0, error=0.0)
    """

    targets: Annotated[int, Range(1)] | None = 1000
    columns: tuple[str, ...] | Annotated[int, Range(1)] | None = None
    missing: Annotated[float, Range(0, 1)] = 0.0
    error: Annotated[float, Range(0, 1)] = 0.0

    def __post_init__(self) -> None:
        check_ranges(self)
        check_types(type(self), {"columns": self.columns})

    @property
    def is_complete(self) -> bool:
        """Return whether every cell of every quasi-identifier is known, and right."""
        return self.columns is None and self.missing == self.error == 0

    def __call__(self, population: Table, origin: Integers | None = None, *, rng: np.random.Generator) -> Known:
        """Draw the targets and the knowledge about them.

        population : the original table
        origin : (n_released,) row of the population behind each released record. Without it, all people may be targets,
            and their records are UNKNOWN
        """
        released = np.full(population.n_rows, ABSENT if origin is not None else UNKNOWN, dtype=np.int64)
        if origin is not None:
            released[origin] = np.arange(len(origin))
        person = self._people(released, population.person, rng)
        table = population.take(person)
        names = self.columns if isinstance(self.columns, tuple) else [c.name for c in table.quasi_identifiers]
        columns = [self._blur(table.column(name), population.column(name), rng) for name in names]
        if isinstance(self.columns, int):
            columns = _hide_columns(columns, self.columns, rng)
        return Known(table.known_by(columns), person, Truth(released[person]), population)

    def _people(self, released: Integers, person: Integers | None, rng: np.random.Generator) -> Integers:
        inside = np.flatnonzero(released != ABSENT)
        people = inside if person is None else np.unique(person[inside])
        n = len(people) if self.targets is None else min(self.targets, len(people))
        drawn = rng.choice(people, n, replace=False)
        rows = drawn if person is None else inside[np.isin(person[inside], drawn)]
        return np.asarray(rng.permutation(rows), dtype=np.int64)

    def _blur(self, column: Column, population: Column, rng: np.random.Generator) -> Column:
        """Replace and hide cells.

        The same numbers are drawn for all rates, so that a rate changes neither the targets nor other errors.
        """
        n = len(column.codes)
        u_error, redrawn, u_missing = rng.random(n), rng.choice(population.codes, n), rng.random(n)
        codes = np.where(u_error < self.error, redrawn, column.codes).astype(np.int32)
        redrawn_column = replace(column, codes=codes)
        return redrawn_column if self.missing == 0.0 else _hide(redrawn_column, u_missing < self.missing)


def _hide_columns(columns: Sequence[Column], n_known: int, rng: np.random.Generator) -> list[Column]:
    """Hide all cells of each person but those of some columns, drawn at random."""
    if n_known > len(columns):
        raise UnmaskError(f"columns is {n_known}, expected at most the {len(columns)} quasi-identifiers of the people")
    rank = rng.random((len(columns[0].codes), len(columns))).argsort(axis=1).argsort(axis=1)
    return [_hide(column, rank[:, i] >= n_known) for i, column in enumerate(columns)]


def _hide(column: Column, is_hidden: Booleans) -> Column:
    """Return the column with cells that the adversary does not know."""
    levels = column.levels if column.levels.unknown.any() else _with_unknown(column.levels)
    hidden = int(levels.unknown.argmax())
    return replace(column, codes=np.where(is_hidden, hidden, column.codes).astype(np.int32), levels=levels)


def _with_unknown(levels: Levels) -> Levels:
    """Return the levels, with a last level for values that the adversary does not know."""
    values = levels.members
    n_levels, n_values = values.shape
    bound = [np.nan] if levels.kind == "numeric" else []
    return replace(
        levels,
        labels=(*levels.labels, NOT_KNOWN),
        low=np.append(levels.low, bound),
        high=np.append(levels.high, bound),
        members=values._replace(indptr=np.append(values.indptr, values.indptr[-1]), shape=(n_levels + 1, n_values)),
    )


KNOWS = ("missing", "error", "columns")
"""Keys of the knowledge of the standard adversaries."""


def read_knowledge(knows: str | Mapping[str, Any] | None) -> Knowledge:
    """Return the knowledge of the standard adversaries about all people.

    Parameters
    ----------
    knows : str or mapping, optional
        missing=RATE, error=RATE and columns=NUMBER or columns=NAME+NAME, separated by commas; or a mapping. By default
        every quasi-identifier is known.

    Raises
    ------
    UnmaskError
        For another key, or a value that is not a number in its range.

    Examples
    --------
    >>> read_knowledge("missing=0.4,columns=2"), read_knowledge({"columns": ["age"]}).columns
    (Knowledge(targets=None, columns=2, missing=0.4, error=0.0), ('age',))
    """
    if knows is None:
        return Knowledge(None)
    settings = dict(knows) if isinstance(knows, Mapping) else _parse_knows(knows)
    for key in settings:
        if key not in KNOWS:
            raise UnmaskError(explain_unknown(key, KNOWS, "knows"))
    if isinstance(settings.get("columns"), list):
        settings["columns"] = tuple(settings["columns"])
    check_types(Knowledge, settings)
    return Knowledge(None, **settings)


def _parse_knows(text: str) -> dict[str, Any]:
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(value.strip() for _, _, value in pairs):
        raise UnmaskError("knows is not KEY=VALUE, separated by commas; expected for example missing=0.4,columns=3")
    return {key.strip(): _parse_known(key.strip(), value.strip()) for key, _, value in pairs}


def _parse_known(key: str, value: str) -> Any:
    if key == "columns":
        return int(value) if value.isdecimal() else tuple(name.strip() for name in value.split("+"))
    try:
        return float(value)
    except ValueError:
        raise UnmaskError(f"{key} of knows is {value!r}, expected a number") from None


@dataclass(frozen=True)
class Register:
    """Knowledge from a register of named people, which covers a part of the population.

    Parameters
    ----------
    columns : tuple of str or None
        Quasi-identifiers in the register. None: all of them.
    coverage : float
        Share of the population in the register, above 0 and at most 1. `RegisterAttack(coverage)` needs the same value;
        a study sets both.

    Examples
    --------
    >>> Register(coverage=0.8)
    Register(columns=None, coverage=0.8)
    """

    columns: tuple[str, ...] | None = None
    coverage: Annotated[float, Range(0, 1, above=True)] = 1.0

    def __post_init__(self) -> None:
        check_ranges(self)
        check_types(type(self), {"columns": self.columns})

    def __call__(self, population: Table, origin: Integers, *, rng: np.random.Generator) -> Known:
        """Draw the register in random order, with the row of the person behind each record, or ABSENT."""
        person = rng.permutation(population.n_rows)[: max(1, round(self.coverage * population.n_rows))]
        table = population.take(person)
        columns = table.quasi_identifiers if self.columns is None else map(table.column, self.columns)
        return Known(table.known_by(columns), person, found_in(origin, person), population)


def attribute_truth(population: Table, person: Integers, belief: Posterior, sensitive: str) -> Truth:
    """Return the true sensitive value of each person, as a candidate of the labeled belief.

    A value without a candidate is ABSENT. A missing cell is a value of its own, as in beliefs and criteria. It is
    UNKNOWN if it is not a candidate, or if no person of the population has another value.
    """
    true = population.column(sensitive)
    position = {label: code for code, label in enumerate(belief.candidate_label or ())}
    code = np.array([position.get(label, ABSENT) for label in true.levels.labels], dtype=np.int64)
    if true.levels.missing >= 0:
        empty = bool((true.codes == true.levels.missing).all())
        code[true.levels.missing] = UNKNOWN if empty else position.get(MISSING, UNKNOWN)
    return Truth(code[true.codes[person]])
