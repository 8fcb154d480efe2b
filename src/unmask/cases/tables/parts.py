"""A release that an engine counts, attacked part by part: the cases of a table in memory, each in parts that add up."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unmask.cases.tables import facts, words
from unmask.cases.tables.case import REGISTER, Case, Scene
from unmask.errors import FailedError, UnmaskError
from unmask.measures import Measure
from unmask.measures.tally import Tally, joined, row, tally
from unmask.posterior import Posterior
from unmask.reports import COLUMNS, ColumnRisk, Distribution
from unmask.reports.words import Value
from unmask.results import Row
from unmask.tables import Background, RegisterAttack, Table
from unmask.tables.attacks.counted import Boxes, from_sizes, joins, linked
from unmask.tables.attacks.pairing import shared_columns
from unmask.tables.attacks.possible import columns_that_overlap
from unmask.tables.counted import Combinations
from unmask.tables.counting import Reduced
from unmask.tables.criteria.evaluation import Criteria, Examined, examine, together


@dataclass(frozen=True, eq=False)
class Sums:
    """What the parts of a case say so far: each of its measures, and its distribution."""

    names: Mapping[str, Any]
    tallies: Mapping[Measure, Tally]
    distribution: Distribution

    @classmethod
    def of(cls, case: Case, measures: Sequence[Measure]) -> Self:
        """Take measures of one part."""
        assert case.people is not None
        names = {name: getattr(case, name) for name in ("release", "adversary", "target", "linked_to", "note")}
        tallies = {one: tally(one, case.belief, case.people) for one in measures if not one.needs_truth}
        return cls({**names, "status": case.belief.status}, tallies, facts.distribution(case))

    def __add__(self, other: Sums) -> Sums:
        """What both say, so that what is in memory does not grow with the number of parts."""
        tallies = {one: joined(one, (found, other.tallies[one])) for one, found in self.tallies.items()}
        return Sums(self.names, tallies, facts.people_of_both(self.distribution, other.distribution))

    def rows(self) -> Iterator[Row]:
        """The rows of the whole."""
        for measure, found in self.tallies.items():
            yield replace(row(measure, found), **self.names)


@dataclass(eq=False)
class Parts:
    """A release that an engine counts, and what its parts say besides the beliefs of adversaries as `cases` goes on.

    register, coverage : of who holds a register
    examined : what each part contributes to the criteria
    sizes    : (2, J) sizes of classes and how many classes have each, of each part
    named    : column -> `named` without it, of columns that do not tell the part
    linked   : what the holder of the register believes of all records
    """

    release: str
    table: Reduced
    register: Table | None = None
    coverage: float = 1.0
    examined: list[Examined] = field(default_factory=list)
    sizes: list[NDArray[np.int64]] = field(default_factory=list)
    named: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    linked: Posterior | None = None

    def __post_init__(self) -> None:
        if self.table.missing == "wildcard" and self._wide:
            raise UnmaskError(
                f"{self.release} has missing cells that may be any value, and what adversaries believe then needs the "
                "rows in memory; leave --engine out, or choose another rule for missing cells (--missing own)"
            )

    @cached_property
    def face(self) -> Table:
        """Its columns and their roles."""
        return self.table.face

    @cached_property
    def _wide(self) -> list[str]:
        """The columns with cells that may be one another."""
        table = self.table
        return [column.name for column in columns_that_overlap(table.quasi_identifiers, missing=table.missing)]

    @property
    def _all_known(self) -> bool:
        """Whether somebody may know more than quasi-identifiers; a wildcard fits rows that the engine tells apart."""
        return bool(self.table.kept) and self.table.missing != "wildcard"

    def assumptions(self) -> Iterator[str]:
        """What is taken for granted of it."""
        if self._wide:
            yield (
                f"{self.release}: cells of {', '.join(self._wide)} overlap. Everybody is taken as seen in the class of "
                "their own record, the best case; without --engine the adversary holds every record that fits."
            )

    def insiders(self) -> Iterator[tuple[str, str]]:
        """Who knows more than the quasi-identifiers, and what."""
        if self._all_known:
            yield COLUMNS, words.knows_all(len(self.table.quasi_identifiers) + len(self.table.kept))

    # ----- adversaries

    def cases(self) -> Iterator[Case]:
        """The adversaries of a table in memory who need no rows, part by part; no part is held when the next is made.

        Not so where a cell of the register fits several of the release: their people may own records of several parts.
        """
        table, by = self.table, self.table.dividing()
        for part in table.parts(by=by):
            self._see(part, by)
            yield from Scene.counted(self.release, part).by_class()
            del part
        if self._all_known:
            for alike in table.alike():
                people = int(alike.sum())
                belief = from_sizes(alike, alike / people, n_candidates=table.n_complete)
                yield Case(self.release, COLUMNS, "identity", belief, people=people)
        if self.register is not None:
            yield from self._by_register(self.register, self.coverage)

    def _see(self, part: Combinations, by: Sequence[str]) -> None:
        """Classes that differ in a column of `by` are in several parts, and are not counted without it here."""
        self.examined.append(examine(part))
        self.sizes.append(np.stack(np.unique(part.counts, return_counts=True)))
        for column in part.quasi_identifiers if len(part.quasi_identifiers) > 1 else ():
            if column.name not in by:
                self.named[column.name].update(part.named(column.name))

    def _by_register(self, register: Table, coverage: float) -> Iterator[Case]:
        """The holder of a register, about what of the table it knows."""
        seen = self.table.narrowed([cell.name for cell, _ in shared_columns(self.table.face, register)])
        about: dict[str, Any] = {"release": self.release, "adversary": REGISTER, "target": "identity"}
        if joins(seen.face, register):  # a pass to count the boxes, and one to attack
            by = seen.dividing()
            boxes = Boxes.of(seen.parts(by=by), register)
            z = boxes.strength(coverage)
            for part in seen.parts(by=by):
                belief = linked(part, register, coverage=coverage, z=z)
                yield Case(**about, belief=belief, linked_to=REGISTER, people=part.n_rows)
                del part, belief
            self.linked = boxes.belief(register.n_rows, coverage=coverage, z=z)
        elif seen.at_once is not None and seen.n_coded > seen.at_once:
            raise FailedError(
                f"people of the register fit several cells of the release, and its {seen.n_coded:,} combinations must "
                f"then be in memory at once, expected at most {seen.at_once:,}: give more (--memory-limit), or coarsen "
                "a column"
            )
        else:
            self.linked = RegisterAttack(coverage)(seen.whole(), Background(register))
            yield Case(**about, belief=self.linked, linked_to=REGISTER, people=seen.n_rows)
        seen.engine.drop(f"{seen.name}_packed")

    # ----- what is known once all cases were taken

    @cached_property
    def _criteria(self) -> Criteria:
        return together(self.examined, missing=self.table.missing, n_rows=self.table.n_rows)

    def criteria(self) -> dict[str, Value]:
        """As a report shows them."""
        return facts.shown(self._criteria)

    def strongest(self) -> Posterior:
        """The belief about identity of all people, of the register's holder if there is one; those who see as many
        candidates are put together.
        """
        if self.linked is not None:
            return self.linked
        size, classes = np.concatenate(self.sizes, axis=1)
        n = self.table.n_complete
        return from_sizes(size, size * classes / n, n_candidates=n)

    def column_risks(self) -> Iterator[ColumnRisk]:
        """As `facts.column_risks`, counted."""
        if len(self.table.quasi_identifiers) < 2:
            return
        found, n = self._criteria, self.table.n_complete
        right = {name: round(column.average_privacy_risk * n) for name, column in found.columns.items()}
        for column in self.table.quasi_identifiers:
            less = self.named.get(column.name) or self.table.named(column.name)
            for target, rows in {"identity": found.classes, **right}.items():
                yield ColumnRisk(self.release, target, column.name, rows / n, less[target] / n)
