"""The standard audit of tables: which adversaries, knowing what, against which releases."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from unmask.audit import Audit
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.economics.audit import AttackerSource, list_not_run
from unmask.policy.coverage import coverage_notes
from unmask.reports import ORIGINAL, ReportData
from unmask.reports.data import COLUMNS, CROSSING, INSIDER, ORDER
from unmask.reports.facts import wp216
from unmask.tables.attacks import AttributeInference, BackOff, OrderAttack, RegisterAttack
from unmask.tables.audit import assumptions, cautions, release_facts, several
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.attacked_release import LEARNER, PROSECUTOR, REGISTER, AttackedRelease
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, placed
from unmask.tables.audit.collector import Found, add_excluded_people, facing
from unmask.tables.audit.column_exposure import ColumnExposure
from unmask.tables.audit.column_shapes import column_bins
from unmask.tables.audit.linked_parts import linkability
from unmask.tables.audit.linked_rows import by_traces
from unmask.tables.audit.mechanism_aware import by_mechanism
from unmask.tables.audit.membership import membership
from unmask.tables.audit.perturbed import by_distance
from unmask.tables.audit.release_facts import Counts
from unmask.tables.audit.result import TableFacts, make_result
from unmask.tables.audit.several_releases import crossing
from unmask.tables.audit.singling_out import singling_out
from unmask.tables.audit.threads import MANY, two_at_once
from unmask.tables.column import Column
from unmask.tables.table import Table


def audit_tables(
    releases: Mapping[str, Table],
    evidence: AuditorKnowledge | None = None,
    *,
    title: str = "Audit of a table",
    motive: AttackerSource | None = None,
) -> ReportData:
    """Attack every release as prosecutor (identity and each sensitive column), as those who know every released column,
    by the order of its rows (with an original) and, with a register, as its holder.

    The same people are attacked in every release. With an original, the original itself is attacked too, as the case
    without protection. With a motive, the strongest knowledge about identity, the register's if there is one, is also
    priced: what a rational attacker does with it. All results are in the rows; nothing in them identifies a person. Who
    is at risk goes to `AuditorKnowledge.watched` alone.

    A release that an engine counts is attacked by those who need no rows, and has no original. The numbers are those of
    the same table read row by row, whose beliefs list every record: equal to 1e-12, and to 1e-6 if beliefs about many
    records are held in single precision.
    """
    evidence = evidence or AuditorKnowledge()
    _check(releases, evidence)
    tables = {name: table for name, table in releases.items() if table.counts is None}
    foreign: Mapping[str, float | None] = (
        dict.fromkeys(tables)
        if evidence.synthetic
        else release_facts.foreign(tables, evidence.original, evidence.origins)
    )
    everything = releases if evidence.original is None else {ORIGINAL: evidence.original, **releases}
    complete = evidence.complete.drawn()
    counts = {
        name: Counts(
            name, one, complete.original, name in foreign, evidence.people_of(name, one), evidence.population_of(one)
        )
        for name, one in everything.items()
    }
    asked = (None if motive is None else facing(motive, evidence)), complete, foreign

    def attacked(count: Counts) -> Found:
        return Found(*asked).take(count.release, count.table, _cases(count, complete))

    found, long = Found(*asked), evidence.original is not None and evidence.original.n_rows >= MANY
    for one in (two_at_once if long else map)(attacked, counts.values()):
        found.join(one)
    own = {name: table for name, table in tables.items() if name not in foreign}
    for scene, cases in crossing(own, complete):
        found.join(Found(*asked).take(scene.release, scene.table, cases))
    of_each = {name: [row for row in found.rows if row.release == name] for name in everything}
    found.rows = [row for name, own_rows in of_each.items() for row in add_excluded_people(own_rows, everything[name])]
    if evidence.watched is not None:
        evidence.watched.by_release(tuple(releases))
    return _reported(title, found, releases, tables, counts, evidence)


def _check(releases: Mapping[str, Table], evidence: AuditorKnowledge) -> None:
    """Refuse evidence that cannot be held against these releases."""
    if not releases:
        raise UnmaskError("0 releases were given, expected at least 1 table to attack")
    if evidence.together and len(releases) < 2:
        raise UnmaskError("1 release was given, and who has several together crosses two at least (--together)")
    counted = [name for name, table in releases.items() if table.counts is not None]
    if evidence.original is not None and counted:
        raise UnmaskError("an original was given, and what it is compared with needs every row; read the releases")
    if evidence.original is None and evidence.control is not None:
        raise UnmaskError("control people stand beside those of the original, and none was given; give both")
    if len(counted) < len(releases) and evidence.register is not None and evidence.register.counts is not None:
        raise UnmaskError("the register is counted, and a release in memory is linked row by row; read the register")


def _reported(
    title: str,
    found: Found,
    releases: Mapping[str, Table],
    tables: Mapping[str, Table],
    counts: Mapping[str, Counts],
    evidence: AuditorKnowledge,
) -> ReportData:
    """What was found, and all that is said of the releases besides. tables : those in memory"""
    original = evidence.original
    first, price = next(iter(releases.values())), found.price()
    traced = (
        [] if original is None else [(name, original, one) for name, one in tables.items() if name in evidence.origins]
    )
    given, ungiven = release_facts.given_by(releases if original is None else {ORIGINAL: original})
    knowing = assumptions.adversaries(first, evidence) | assumptions.insiders(first, original) | dict(wp216.WORDS)
    hidden = assumptions.hidden(tables, original)
    bins = [item for name, before, one in traced for item in column_bins(name, before, one, evidence.origins[name])]
    criteria = {name: count.criteria() for name, count in counts.items()}
    facts = TableFacts(
        criteria=criteria,
        utility={name: release_facts.utility_of(before, one, evidence.origins[name]) for name, before, one in traced},
        calibration=found.promises,
        values=found.values,
        classes=found.classes,
        contributions=given,
        column_risks=[risk for count in counts.values() for risk in count.column_risks()],
        bins=bins,
        exposure=_exposure(tables, found.foreign, evidence),
        price=price,
    )
    return ReportData(
        title=title,
        who=" ".join((assumptions.who(first, evidence), *assumptions.of_nobody(found.foreign))),
        rows=tuple(found.rows),
        unit=several.unit_of(first, evidence),
        criteria=criteria,
        distribution=tuple(found.spread),
        assumptions=(
            *assumptions.assumptions(first, evidence),
            *assumptions.alone(releases, any(row.adversary == CROSSING for row in found.rows)),
            *assumptions.columns_known(tables),
            *hidden,
        ),
        cautions=(
            *coverage_notes(row for row in found.rows if row.release != ORIGINAL),
            *cautions.unfitting(release_facts.unfitting(tables, original, evidence.origins)),
            *cautions.of_releases(found.foreign, tables, evidence),
            *several.several_rows(first, evidence, criteria),
        ),
        not_run=(
            *_not_run(found, releases, tables),
            *ungiven,
            *found.unasked,
            *assumptions.grouped(found.not_run),
            *list_not_run(price),
        ),
        adversaries={name: said for name, said in knowing.items() if name in {row.adversary for row in found.rows}},
        result=make_result(title, tuple(found.rows), facts),
    )


def _not_run(found: Found, releases: Mapping[str, Table], tables: Mapping[str, Table]) -> Iterator[tuple[str, str]]:
    """What was not asked at all, and what it needs."""
    evidence, foreign, original = found.evidence, found.foreign, found.evidence.original
    yield from assumptions.nobodys(foreign)
    unstated = {name: one for name, one in tables.items() if name not in foreign and name not in evidence.origins}
    yield from assumptions.asked_about(release_facts.doubted(unstated, original))
    if tables:
        yield from assumptions.missing_evidence(evidence, () if evidence.synthetic else tables)
    if len(tables) < len(releases):
        yield from assumptions.NEED_ROWS
    if evidence.register is None:
        yield assumptions.NO_REGISTER
    yield from assumptions.unlike(evidence)
    yield from assumptions.left_out(evidence)
    yield from assumptions.unweighted((*releases.values(), *(() if original is None else (original,))))
    if original is not None and evidence.control is None and next(iter(releases.values())).sensitive:
        yield assumptions.NO_CONTROL


def _exposure(tables: Mapping[str, Table], foreign: Collection[str], evidence: AuditorKnowledge) -> ColumnExposure:
    own = {name: table for name, table in tables.items() if name not in foreign}
    return release_facts.exposure(own, evidence.original, evidence.origins)


def _cases(count: Counts, evidence: AuditorKnowledge) -> Iterator[AttackRun | Audit]:
    """Return beliefs of adversaries about a release, and answers to further questions."""
    name, table = count.release, count.table
    origin = evidence.origins.get(name)
    if name == ORIGINAL:
        origin = placed(np.arange(table.n_rows), among=table.complete_rows)
    scene = evidence.beside(replace(AttackedRelease.of(name, table, origin, evidence.known), foreign=count.foreign))
    _ = count.found, count.without  # in the thread of the release
    yield from standard(scene, evidence)
    if name != ORIGINAL and table.counts is None:
        yield from by_mechanism(scene, evidence)
        yield from by_distance(scene, evidence)
        yield membership(scene, evidence)
        yield singling_out(scene, evidence)
        yield linkability(scene, evidence)


def standard(scene: AttackedRelease, evidence: AuditorKnowledge) -> Iterator[AttackRun | Audit]:
    """Return beliefs of the standard adversaries about a release."""
    link = scene.link()
    if not scene.foreign:
        yield scene.identity(PROSECUTOR, link)
    for column in scene.table.sensitive:
        yield from values(scene, column, link)
    del link
    yield from _by_columns(scene)
    if scene.foreign:
        return
    if evidence.register is not None:
        attack = RegisterAttack(coverage=evidence.coverage)
        yield scene.linked(REGISTER, attack, evidence.register, evidence.register_origin)
    if scene.known is not None:
        yield scene.order(ORDER, OrderAttack())
    yield from by_traces(scene, evidence)


def values(scene: AttackedRelease, column: Column, link: Posterior) -> Iterator[AttackRun | Audit]:
    """What is believed of a value by whose record it may be, and by what all rows say of people like them; the one is
    the baseline of the other. Where no row is anybody's, by the latter alone.
    """
    why, attack = _unlearned(scene, column), BackOff(column.name)
    if scene.known is None or why:
        yield from why
        yield scene.value(PROSECUTOR, AttributeInference(column.name), link)
        return
    learned = scene.learning(attack.tuned(scene.table, scene.told(column.name, scene.known)))
    if not scene.foreign:
        yield scene.value(PROSECUTOR, AttributeInference(column.name), link, learned=learned)
    yield scene.learned(LEARNER, column.name, learned)


def _unlearned(scene: AttackedRelease, column: Column, more: Sequence[Column] = ()) -> list[Audit]:
    """Why all rows are not asked about a value, if they are not."""
    if scene.known is None:
        return []
    told = scene.told(column.name, scene.known, more)
    why = BackOff(column.name).refusal(scene.learned_from(column.name, more), told)
    return [Audit((), ((f"What all rows say of {column.name}", why),))] if why else []


def _by_columns(scene: AttackedRelease) -> Iterator[AttackRun | Audit]:
    """Adversaries who know more than the quasi-identifiers, where there is more.

    Besides the quasi-identifiers, which they compare as everybody does, they know released columns as exact values. An
    attribute is inferred from every other column; the insider, from the other sensitive ones, too. Without an original
    each person's own row is taken as what is known.
    """
    if scene.table.uncounted:
        if scene.table.record_sizes is not None:
            yield scene.known_records(COLUMNS)
        return
    kept, sensitive = scene.as_it_was(scene.table.kept), scene.as_it_was(scene.table.sensitive)
    if kept:
        link = scene.link(kept)
        if not scene.foreign:
            yield scene.identity(COLUMNS, link)
        for column in scene.table.sensitive:
            yield from _by_more(scene, COLUMNS, column, link, kept)
    if sensitive and not scene.foreign:
        yield scene.identity(INSIDER, scene.link([*kept, *sensitive]))
    for column in sensitive if len(sensitive) > 1 else ():
        more = [*kept, *(other for other in sensitive if other is not column)]
        yield from _by_more(scene, INSIDER, column, scene.link(more), more)


def _by_more(
    scene: AttackedRelease, adversary: str, column: Column, link: Posterior, more: Sequence[Column]
) -> Iterator[AttackRun | Audit]:
    """A value, inferred from more columns: from a record that may be theirs, or where no row is anybody's from all."""
    if not scene.foreign:
        yield scene.value(adversary, AttributeInference(column.name), link, more)
    elif why := _unlearned(scene, column, more):
        yield from why
    else:
        yield scene.learned(adversary, column.name, scene.learning(BackOff(column.name), more), more)
