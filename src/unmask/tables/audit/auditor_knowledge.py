"""Knowledge of the auditor of tables: the people that adversaries look for, and the releases."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.arrays import Integers
from unmask.core.errors import UnmaskError
from unmask.core.truth import ABSENT
from unmask.findings.people_at_risk import Watched
from unmask.ranges import Option, Range
from unmask.results.rows import ORIGINAL
from unmask.tables import criteria
from unmask.tables.attacks.relation import relation_of
from unmask.tables.audit.attacked_release import AttackedRelease
from unmask.tables.control.holdout import find_held_back
from unmask.tables.control.similarity import Shift, measure_shift, shift_by
from unmask.tables.knowledge import Knowledge, Known
from unmask.tables.risk.singling_columns import SinglingSearch
from unmask.tables.table import Table

MAX_POPULATION = 10**10
"""Largest number of people of a population."""


@dataclass(frozen=True, eq=False)
class AuditorKnowledge:
    """Tables and settings of an audit besides the releases.

    Parameters
    ----------
    original : Table, optional
        table before protection: gives targets and truth
    origins : mapping
        Row of the original behind each record, by release.
    register : Table, optional
        table of people with some of the quasi-identifiers
    register_origin : (n_register,) array, optional
        Row of the original that each person of the register is, below 0 for others.
    coverage : float
        probability that the person behind a record is in the register
    population : int, optional
        number of people that the release is a random sample of, to estimate how many are unique among them
    control : Table, optional
        control group: similar people who are not in the original, to show what being in it adds
    synthetic : bool
        no released row is a person's, and only inference of values is tested
    parts : pair of tuples of str, optional
        two parts of columns, A,B:C,D, that an adversary has from two sources and tries to link
    targets : int, optional
        number of people attacked, drawn from the original (default: all)
    seed : int
        random seed of every draw
    without : sequence of str
        standard adversaries to leave out, listed as not run: acquaintance, insider, modeler, order reader, observer
    together : bool
        all the releases are published, and an adversary combines them. By default only one is, and they are compared
    watched : Watched, optional
        list of people at risk, for the owner
    row : (n_original,) array, optional
        Row of each person in the owner's table, if the original is a part of it.
    protections : mapping
        Protection of each release, if it is known.
    knowledge : Knowledge
        Knowledge of adversaries about the people attacked and the control group; by default all quasi-identifiers.
    attacks : mapping
        Name of a further adversary -> attack that needs people and a release.
    is_register_unlinked : bool
        Whether a register was given and is not linked.
    criteria : sequence of str
        Criteria that are computed on request, such as k_pairs.
    """

    original: Table | None = None
    origins: Mapping[str, Integers] = field(default_factory=dict)
    register: Table | None = None
    coverage: Annotated[float, Range(0, 1, above=True), Option(key="register.coverage")] = 1.0
    population: Annotated[Annotated[int, Range(1, MAX_POPULATION)] | None, Option(key="audit.population")] = None
    register_origin: Integers | None = None
    control: Table | None = None
    synthetic: bool = False
    parts: Annotated[tuple[Sequence[str], Sequence[str]] | None, Option(metavar="A,B:C,D", key="linkability.parts")] = (
        None
    )
    targets: Annotated[Annotated[int, Range(1)] | None, Option(key="audit.targets")] = None
    seed: Annotated[int, Range(0), Option(key="audit.seed")] = 0
    without: Annotated[Sequence[str], Option(metavar="ADVERSARY", key="audit.without")] = ()
    together: Annotated[bool, Option(key="audit.together")] = False
    watched: Watched | None = None
    row: Integers | None = None
    protections: Mapping[str, Any] = field(default_factory=dict)
    knowledge: Knowledge = field(default_factory=lambda: Knowledge(None))
    attacks: Mapping[str, Any] = field(default_factory=dict)
    is_register_unlinked: bool = False
    criteria: Sequence[str] = ()

    def without_unlinked_register(self) -> Self:
        """Return the knowledge without a register if people have several rows: it would link rows as people."""
        if self.register is None or self.person is None:
            return self
        return replace(self, register=None, register_origin=None, is_register_unlinked=True)

    # ----- people of the original

    @property
    def person(self) -> Integers | None:
        """(n_original,) the person of each row of the original if people have several rows; None: each is a person."""
        return None if self.original is None else self.original.person

    def rows(self, rows: Integers) -> Integers:
        """Return the rows of the owner's table that rows of the original are."""
        return rows if self.row is None else self.row[rows]

    def hold_back(self, share: float) -> Self:
        """Return the knowledge with held-back people as control group, see `tables.control.holdout.find_held_back`."""
        assert self.original is not None
        people = find_held_back(self.original, share, self.origins.values())
        assert people.member is not None
        return replace(self._select(people.member), control=people.control)

    @cached_property
    def complete(self) -> AuditorKnowledge:
        """The knowledge without the people that the original's rule for missing cells leaves out."""
        if self.original is None:
            return self
        rows = self.original.complete_rows
        return self if len(rows) == self.original.n_rows else self._select(rows)

    def _select(self, people: Integers) -> Self:
        """Return the knowledge about some people of the original, by their rows."""
        assert self.original is not None
        origins = {name: locate_rows(rows, people) for name, rows in self.origins.items()}
        register = None if self.register_origin is None else locate_rows(self.register_origin, people)
        original, row = self.original.take(people), self.rows(people)
        return replace(self, original=original, origins=origins, register_origin=register, row=row)

    # ----- targets and the control group

    @cached_property
    def known(self) -> Known | None:
        """The people attacked; drawn once, so that releases are compared on the same targets."""
        if self.original is None:
            return None
        return replace(self.knowledge, targets=self.targets)(self.original, rng=np.random.default_rng(self.seed))

    @cached_property
    def control_people(self) -> Known | None:
        """The control group, each person by one row drawn at random."""
        if self.control is None:
            return None
        everybody = replace(self.knowledge, targets=None)
        return everybody(self.control, rng=np.random.default_rng(self.seed)).take_first_row_of_each_person()

    @cached_property
    def shift(self) -> Shift | None:
        """Difference between control group and the people attacked."""
        if self.known is None or self.control_people is None:
            return None
        return measure_shift(self.known.people, self.control_people.people)

    def add_control(self, scene: AttackedRelease) -> AttackedRelease:
        """Return an attacked release with the control group, if it is similar enough."""
        if self.shift is None or self.shift.is_different:
            return scene
        return replace(scene, control=self.control_people, weight=None if self.shift.is_similar else self.shift.weight)

    @cached_property
    def _shifts(self) -> dict[frozenset[str], Shift]:
        """Differences that were computed, by columns."""
        if self.shift is None or self.known is None or self.control is None:
            return {}
        names = (column.name for column in self.known.people.quasi_identifiers)
        return {frozenset(names) & frozenset(self.control.names): self.shift}

    def explain_shift(self, names: Collection[str]) -> str:
        """Return why members cannot be compared with the control group by these columns; "" if they can.

        Suppressed people count as members, too: if similar people of the control group differ from the members, the
        release is the reason.
        """
        assert self.original is not None
        assert self.control is not None
        columns = frozenset(names)
        if columns not in self._shifts:
            self._shifts[columns] = shift_by(names, self.original, self.control)
        return explain_shift(names, self._shifts[columns])


def explain_shift(names: Collection[str], shift: Shift) -> str:
    """Return why members cannot be compared with the control group; "" if they are alike enough."""
    if not shift.differs_significantly:
        return ""
    return (
        f"without any release, members differ from the control group by {', '.join(names)} "
        f"(AUC {shift.auc:.2f}; 0.5 if "
        "they are alike): draw both from the same people, with the same columns"
    )


def locate_rows(rows: Integers, ascending: Integers) -> Integers:
    """Return the place of each row in an ascending list of rows; ABSENT if it is not in the list.

    >>> locate_rows(np.array([4, 2, -1]), np.array([2, 3, 4])).tolist()
    [2, 0, -2]
    """
    place = np.minimum(np.searchsorted(ascending, rows), len(ascending) - 1)
    return np.where(ascending[place] == rows, place, ABSENT)


def check_row_numbers(name: str, rows: ArrayLike, table: Table | None) -> Integers:
    """Return an argument as (n_rows,) row numbers, one for each row of a table."""
    if table is None:
        raise UnmaskError(f"{name} is about a table that was not given; give both")
    numbers = np.asarray(rows)
    if numbers.shape != (table.n_rows,) or numbers.dtype.kind not in "iu":
        raise UnmaskError(f"{name} needs an array of {table.n_rows} whole numbers, one for each row of the table")
    return numbers


# --- releases ---------------------------------------------------------------------------------------------------------

MIN_OWN_ROWS = 0.99
"""Share of released rows that must be able to be different people of the original for re-identification to be tested.

Rows that were only generalized or suppressed reach 1. Of Adult, other 2,000 people reach 0.86 of 2,000 with age and sex
alone and 0.44 with five columns; a synthetic release of 39,040 rows reaches 0.97 and 0.66 of all 48,842.
"""


@dataclass(frozen=True, eq=False)
class Release:
    """A release, and what the auditor knows about its rows.

    Parameters
    ----------
    name : str
        Name of the release, or `ORIGINAL`.
    table : Table
        Rows, or the combinations that an engine counted.
    origin : (n_rows,) array, optional
        Row of the original behind each row; None if it is not known.
    is_foreign : bool
        Whether the rows are not people of the original.
    own_rows : float, optional
        Share of the rows of a foreign release that may be different people of the original; None if the auditor states
        that it is synthetic.
    """

    name: str
    table: Table
    origin: Integers | None = None
    is_foreign: bool = False
    own_rows: float | None = None

    @property
    def has_rows(self) -> bool:
        """Return whether the rows are in memory."""
        return self.table.counts is None

    @cached_property
    def complete(self) -> Table:
        """The rows that the rule for missing cells keeps."""
        return self.table.complete

    @cached_property
    def complete_rows(self) -> Integers:
        """Their numbers in the table."""
        return self.table.complete_rows

    @cached_property
    def overlaps(self) -> bool:
        """True if equivalence classes may contain the same people."""
        return relation_of(self.complete) is not None

    def search_columns(self, known: Known | None) -> SinglingSearch:
        """Return the search for columns that single people out; without known people, the released rows are people."""
        if known is None:
            return SinglingSearch(self.complete, rows=self.complete_rows)
        return SinglingSearch(self.complete, known.people, known.person)

    def attacked(self, origin: Integers | None, known: Known | None = None) -> AttackedRelease:
        """Return the complete rows as adversaries have them, who look for known people.

        `origin` has the row of the original behind each row; None if it is not known.
        """
        drawn_from = None if known is None else known.population.n_people
        rows = np.arange(0) if not self.has_rows else self.complete_rows
        rows = rows if origin is None else origin[rows]
        return AttackedRelease(self.name, self.complete, rows, origin is not None, known, drawn_from, self.is_foreign)

    def person(self, knowledge: AuditorKnowledge) -> Integers | None:
        """Return (n_rows,) the person of each row; None if each is a person, or if they are not known.

        Without an original the identifiers of the release decide.
        """
        if knowledge.original is None:
            return self.table.person
        if knowledge.person is None or self.name == ORIGINAL:
            return knowledge.person
        return None if self.origin is None or np.any(self.origin < 0) else knowledge.person[self.origin]

    def population(self, knowledge: AuditorKnowledge) -> Table | None:
        """Return the register if it lists everybody who may be in the release, with all quasi-identifiers."""
        register = knowledge.register
        if knowledge.coverage < 1 or register is None:
            return None
        names = {column.name for column in register.quasi_identifiers}
        return register if names == {column.name for column in self.table.quasi_identifiers} else None


def list_releases(tables: Mapping[str, Table], knowledge: AuditorKnowledge) -> Iterator[Release]:
    """Yield the releases; the rows of one without an origin are compared with the people of the original."""
    original = knowledge.original
    for name, table in tables.items():
        origin = knowledge.origins.get(name)
        if knowledge.synthetic or original is None or origin is not None:
            yield Release(name, table, origin, is_foreign=knowledge.synthetic)
            continue
        share = criteria.own_rows(table, original)
        is_foreign = share < MIN_OWN_ROWS
        yield Release(name, table, is_foreign=is_foreign, own_rows=share if is_foreign else None)
