"""What the audit of a release that an engine counts has of its own: parts that add up, and adversaries across parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from unmask.cases.tables import facts
from unmask.cases.tables.belief import Case
from unmask.cases.tables.case import REGISTER
from unmask.core.errors import FailedError
from unmask.core.posterior import Posterior
from unmask.measures import Measure
from unmask.measures.tally import Tally, joined, row, tally
from unmask.reports.data import COLUMNS
from unmask.reports.facts.tables import Distribution
from unmask.results import Row
from unmask.tables import Background, RegisterAttack, Table
from unmask.tables.attacks.counted import Boxes, from_sizes, joins, linked
from unmask.tables.attacks.pairing import shared_columns
from unmask.tables.attacks.relation import columns_that_overlap
from unmask.tables.counting import Reduced


@dataclass(frozen=True, eq=False)
class Sums:
    """What the parts of a case say so far: each of its measures, and its distribution; names : as in `Row`."""

    names: Mapping[str, Any]
    tallies: Mapping[Measure, Tally]
    distribution: Distribution

    @classmethod
    def of(cls, case: Case, measures: Sequence[Measure]) -> Self:
        """Take measures of one part; those that need a truth are left out."""
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
        return (replace(row(measure, found), **self.names) for measure, found in self.tallies.items())


def covering(rows: Iterable[Row], table: Table | Reduced) -> list[Row]:
    """Return rows of a release with the share of its people whom the rule for missing cells leaves."""
    if isinstance(table, Table):
        people, judged = table.n_people, table.take(table.taking_part).n_people
    else:
        people, judged = table.n_rows, table.n_complete
    if judged == people:
        return list(rows)
    drawn = ((row, people if row.n_drawn is None else row.n_drawn) for row in rows)
    return [
        replace(row, n_people=row.n_people or people, n_drawn=n, n_judged=round(n * judged / people))
        for row, n in drawn
    ]


def overlaps(name: str, table: Table | Reduced) -> Iterator[str]:
    """Yield what is assumed of overlapping cells of a counted release whose parts are not compared with each other."""
    wide = [column.name for column in columns_that_overlap(table.quasi_identifiers, missing=table.missing)]
    if wide and isinstance(table, Reduced) and table.n_parts > 1:
        yield (
            f"{name}: cells of {', '.join(wide)} overlap. Everybody is taken as seen in the class of their own record, "
            "the best case; without --engine the adversary holds every record that fits."
        )


def by_every_column(name: str, table: Reduced) -> Iterator[Case]:
    """Those who know every released column that is not sensitive: which record is theirs?"""
    for alike in table.alike() if table.all_known else ():
        people = int(alike.sum())
        belief = from_sizes(alike, alike / people, n_candidates=table.n_complete)
        yield Case(name, COLUMNS, "identity", belief, people=people)


def by_register(name: str, table: Reduced, register: Table, coverage: float) -> Iterator[Case]:
    """The holder of a register, about what of the table it knows: part by part, and at last, of nobody, what they
    believe of all records, those that as many people fit put together.

    Where a cell of the register fits several of the release, people may own records of several parts, and all must be
    in memory.
    """
    seen = table.narrowed([cell.name for cell, _ in shared_columns(table.face, register)])

    def case(belief: Posterior, people: int) -> Case:
        return Case(name, REGISTER, "identity", belief, linked_to=REGISTER, people=people)

    if joins(seen.face, register):
        boxes = Boxes.of(seen.parts(), register)
        z = boxes.strength(coverage)
        for part in seen.parts():
            yield case(linked(part, register, coverage=coverage, z=z), part.n_rows)
            del part  # before the next is made
        yield case(boxes.belief(register.n_rows, coverage=coverage, z=z), 0)
    elif seen.at_once is not None and seen.n_coded > seen.at_once:
        raise FailedError(
            f"people of the register fit several cells of the release, and its {seen.n_coded:,} combinations must then "
            f"be in memory at once, expected at most {seen.at_once:,}: give more (--memory-limit), or coarsen a column"
        )
    else:
        belief = RegisterAttack(coverage)(seen.whole(), Background(register))
        yield from (case(belief, people) for people in (seen.n_rows, 0))
    seen.engine.drop(f"{seen.name}_packed")
