"""The audit of tables that stay in an engine: as in `cases.tables`, from combinations, not people."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from unmask.audit import SELF_ASSESSED, price_measures
from unmask.cases.price import Motive, campaigns_not_run, price_releases
from unmask.cases.tables.audit import Evidence, facing, priced_adversary
from unmask.cases.tables.case import OWN_PRIOR, PROSECUTOR, REGISTER, Case
from unmask.cases.tables.facts import distribution
from unmask.cases.tables.words import adversaries, assumptions, knows_all, who
from unmask.errors import FailedError, UnmaskError
from unmask.measures import Measure
from unmask.measures.tally import Tally, joined, row, tally
from unmask.posterior import Posterior
from unmask.reports import ReportData
from unmask.reports.data import COLUMNS
from unmask.reports.facts.price import Price
from unmask.reports.facts.tables import ColumnRisk, Distribution
from unmask.results import Row
from unmask.tables import AttributeInference, Background, ClassAttack, RegisterAttack, criteria
from unmask.tables.attacks.counted import Boxes, from_sizes, joins, linked
from unmask.tables.attacks.pairing import shared_columns
from unmask.tables.attacks.possible import columns_that_overlap
from unmask.tables.counted import Combinations
from unmask.tables.criteria.evaluation import examine, together
from unmask.tables.large import Reduced


@dataclass(frozen=True, eq=False)
class Held:
    """A release that an engine holds, and in how many parts its combinations are taken into memory.

    at_once : how many combinations a part may have at most; None for any number.
    """

    table: Reduced
    parts: int = 1
    at_once: int | None = None


def study_large(
    releases: Mapping[str, Held],
    *,
    register: Combinations | None = None,
    coverage: float = 1.0,
    title: str = "Audit of a table",
    reproduce: Mapping[str, object] | None = None,
    motive: Motive | None = None,
) -> ReportData:
    """Attack every release as prosecutor (identity and each sensitive column) and, with a register, as its holder.

    coverage : probability that the person behind a record is in the register

    The adversaries, measures and numbers are those of `audit_tables` without an original, whose beliefs list every
    record: equal to 1e-12, and to 1e-6 where the records are so many that they are held in single precision. Where the
    combinations exceed the memory they are taken in parts, and what the parts say is added up; not so where a cell of
    the register fits several of a release, whose people may then own records of several parts. The register stays in
    memory. With more than 131,072 different values of a measure its quantiles are rounded to about that part of its
    range.
    """
    first, evidence = next(iter(releases.values())).table.face, Evidence(register=register, coverage=coverage)
    wide = [note for name, held in releases.items() for note in _wide_cells(name, held.table)]
    motive = None if motive is None else facing(motive, evidence)
    found = {name: _attacked(name, held, evidence, register, motive) for name, held in releases.items()}
    price = None if motive is None else _price(motive, priced_adversary(evidence), found)
    return ReportData(
        title=title,
        who=who(first, evidence),
        rows=tuple(row for one in found.values() for row in one.rows),
        criteria={name: _criteria(one.criteria) for name, one in found.items()},
        column_risk=tuple(risk for one in found.values() for risk in one.columns),
        distribution=tuple(shares for one in found.values() for shares in one.distributions),
        assumptions=(*assumptions(first, evidence), *wide),
        not_run=tuple(_not_run(evidence, price)),
        reproduce=reproduce or {},
        adversaries=adversaries(first, evidence) | _who_knows_all(held.table for held in releases.values()),
        subjects=() if price is None else (price,),
    )


def _wide_cells(name: str, table: Reduced) -> Iterator[str]:
    """Cells that may be one another: a wildcard is refused, of sets it is said what is taken for granted."""
    columns = [column.name for column in columns_that_overlap(table.quasi_identifiers, missing=table.missing)]
    if columns and table.missing == "wildcard":
        raise UnmaskError(
            f"{name} has missing cells that may be any value, and what adversaries believe then needs the rows in "
            "memory; leave --engine out, or choose another rule for missing cells (--missing own)"
        )
    if columns:
        yield (
            f"{name}: cells of {', '.join(columns)} overlap. Everybody is taken as seen in the class of their own "
            "record, the best case; without --engine the adversary holds every record that fits."
        )


def _all_known(table: Reduced) -> bool:
    """Whether somebody may know more than the quasi-identifiers; a wildcard fits rows that the engine tells apart."""
    return bool(table.kept) and table.missing != "wildcard"


def _who_knows_all(tables: Iterable[Reduced]) -> dict[str, str]:
    """What this adversary knows of the first table where there is more to know."""
    counts = (len(table.quasi_identifiers) + len(table.kept) for table in tables if _all_known(table))
    first = next(counts, None)
    return {} if first is None else {COLUMNS: knows_all(first)}


def _not_run(evidence: Evidence, price: Price | None) -> Iterator[tuple[str, str]]:
    yield "Realized success", "needs the original in memory"
    if evidence.register is None:
        yield "Linkage to a register of named people", "needs a register (--register)"
    yield "Sensitive values by every released column, insiders, and what columns give away", "needs the table in memory"
    yield "Which values are inferred", "needs the table in memory"
    yield "The order of the rows", "needs the original in memory"
    yield from campaigns_not_run(price)


# --- one release, part by part --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Found:
    """What was found of one release. priced : the belief about identity whose price is asked for."""

    criteria: criteria.Criteria
    rows: tuple[Row, ...]
    distributions: tuple[Distribution, ...]
    columns: tuple[ColumnRisk, ...]
    priced: Posterior


@dataclass(frozen=True, eq=False)
class _Said:
    """What the people of one part say about one attack: each of its measures, and its distribution."""

    tallies: Mapping[Measure, Tally]
    distribution: Distribution
    status: str

    @classmethod
    def of(cls, attack: Case, people: int, measures: Sequence[Measure]) -> _Said:
        """Take measures of a belief."""
        found = {one: tally(one, attack.belief, people) for one in measures}
        return cls(found, distribution(attack, people), attack.belief.status)

    def and_then(self, other: _Said) -> _Said:
        """What both say, so that what is in memory does not grow with the number of parts."""
        tallies = {one: joined(one, (found, other.tallies[one])) for one, found in self.tallies.items()}
        return _Said(tallies, _together(self.distribution, other.distribution), self.status)


def _together(one: Distribution, two: Distribution) -> Distribution:
    """The people of two parts."""
    people = one.people + two.people
    shares = tuple((a * one.people + b * two.people) / people for a, b in zip(one.shares, two.shares, strict=True))
    above = {limit: int(n) + int(two.above[limit]) for limit, n in one.above.items()}
    return replace(one, shares=shares, people=people, above=above)


def _attacked(
    name: str, held: Held, evidence: Evidence, register: Combinations | None, motive: Motive | None
) -> _Found:
    """Every attack on a release; with a motive, the one whose belief is priced is also acted on."""
    priced = priced_adversary(evidence)
    acted = () if motive is None else price_measures(motive.attacker)
    acting = tuple(measure for measure in acted if not measure.needs_truth)
    said: dict[tuple[str, str], _Said] = {}

    def hear(adversary: str, target: str, belief: Posterior, people: int) -> None:
        measures = SELF_ASSESSED + (acting if (adversary, target) == (priced, "identity") else ())
        whom = adversary, target
        found = _Said.of(Case(name, *whom, belief, None), people, measures)
        said[whom] = said[whom].and_then(found) if whom in said else found

    found, belief, named = _by_class(held, hear)
    if _all_known(held.table):
        for alike in held.table.alike():
            people = int(alike.sum())
            hear(COLUMNS, "identity", from_sizes(alike, alike / people, n_candidates=held.table.n_complete), people)
    if register is not None:
        belief = _by_register(held, register, evidence.coverage, hear)
    return _Found(
        found,
        tuple(row for whom, found in said.items() for row in _rows(name, *whom, found)),
        tuple(found.distribution for found in said.values()),
        tuple(_column_risks(name, held.table, found, named)),
        belief,
    )


_Hear = Callable[[str, str, Posterior, int], None]
"""Takes the adversary, their target, their belief about the people of a part, and how many these are."""


def _by_class(held: Held, hear: _Hear) -> tuple[criteria.Criteria, Posterior, dict[str, Counter[str]]]:
    """The prosecutor, part by part; the criteria, the belief about identity by the size of classes, and `named` without
    each of the quasi-identifiers that does not tell the part: classes that differ in another are in several.
    """
    table, examined, sizes, named = held.table, [], [], defaultdict[str, Counter[str]](Counter)
    by = table.dividing(held.parts, at_once=held.at_once)
    for part in table.parts(held.parts, by=by):
        examined.append(examine(part))
        sizes.append(np.unique(part.counts, return_counts=True))
        for column in part.quasi_identifiers if len(part.quasi_identifiers) > 1 else ():
            if column.name not in by:
                named[column.name].update(part.named(column.name))
        link = ClassAttack()(part)
        hear(PROSECUTOR, "identity", link, part.n_rows)
        for column in part.sensitive:
            hear(PROSECUTOR, column.name, AttributeInference(column.name).through(link, part), part.n_rows)
        del part, link  # before the next is made
    found = together(examined, missing=table.missing, n_rows=table.n_rows)
    size, classes = np.concatenate(sizes, axis=1)
    return found, from_sizes(size, size * classes / found.rows, n_candidates=found.rows), named


def _by_register(held: Held, register: Combinations, coverage: float, hear: _Hear) -> Posterior:
    """The holder of a register; their belief about all records, those that as many people fit put together."""
    seen = held.table.narrowed([cell.name for cell, _ in shared_columns(held.table.face, register)])
    if joins(seen.face, register):
        belief = _in_parts(seen, held, register, coverage, hear)
    elif held.at_once is not None and seen.n_coded > held.at_once:
        raise FailedError(
            f"people of the register fit several cells of the release, and its {seen.n_coded:,} combinations must then "
            f"be in memory at once, expected at most {held.at_once:,}: give more (--memory-limit), or coarsen a column"
        )
    else:  # boxes that have people in common may be of different parts
        belief = RegisterAttack(coverage)(seen.whole(), Background(register))
        hear(REGISTER, "identity", belief, seen.n_rows)
    seen.engine.drop(f"{seen.name}_packed")
    return belief


def _in_parts(seen: Reduced, held: Held, register: Combinations, coverage: float, hear: _Hear) -> Posterior:
    """The same where boxes have nobody in common: a pass to count them, and one to attack."""
    by = seen.dividing(held.parts, at_once=held.at_once)
    boxes = Boxes.of(seen.parts(held.parts, by=by), register)
    z = boxes.strength(coverage)
    for part in seen.parts(held.parts, by=by):
        hear(REGISTER, "identity", linked(part, register, coverage=coverage, z=z), part.n_rows)
        del part  # before the next is made
    return boxes.belief(register.n_rows, coverage=coverage, z=z)


def _rows(release: str, adversary: str, target: str, said: _Said) -> Iterator[Row]:
    for measure, found in said.tallies.items():
        one = row(measure, found, release=release, adversary=adversary, target=target)
        linked_to = REGISTER if adversary == REGISTER else ""
        yield replace(one, status=said.status, linked_to=linked_to, note="" if target == "identity" else OWN_PRIOR)


def _price(motive: Motive, adversary: str, found: Mapping[str, _Found]) -> Price:
    beliefs = {name: one.priced for name, one in found.items()}
    people = {name: one.criteria.rows for name, one in found.items()}
    return price_releases(motive, adversary, beliefs, people=people)


# --- what the report shows besides ----------------------------------------------------------------------------


def _criteria(found: criteria.Criteria) -> dict[str, float | int | str | None]:
    return {item.name: getattr(found, item.name) for item in fields(found) if item.name != "columns"}


def _column_risks(
    release: str, table: Reduced, found: criteria.Criteria, named: Mapping[str, Mapping[str, int]]
) -> Iterator[ColumnRisk]:
    """The mean success of the adversary who sees classes, with every quasi-identifier and without each of them."""
    if len(table.quasi_identifiers) < 2:
        return
    right = {name: round(column.average_privacy_risk * found.rows) for name, column in found.columns.items()}
    for column in table.quasi_identifiers:
        less = named.get(column.name) or table.named(column.name)
        for target, rows in {"identity": found.classes, **right}.items():
            yield ColumnRisk(release, target, column.name, rows / found.rows, less[target] / found.rows)
