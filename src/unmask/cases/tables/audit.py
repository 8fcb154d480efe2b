"""The standard audit of tables: which adversaries, knowing what, against which releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from unmask.audit import STANDARD, price_measures
from unmask.cases.at_risk import Watched
from unmask.cases.price import Motive, campaigns_not_run, price_releases
from unmask.cases.tables import facts, words
from unmask.cases.tables.case import PROSECUTOR, REGISTER, Case, Scene
from unmask.errors import UnmaskError
from unmask.posterior import Posterior
from unmask.reports import ORIGINAL, ReportData
from unmask.reports.data import APART, COLUMNS, INSIDER, ORDER
from unmask.reports.facts.price import Price
from unmask.reports.facts.tables import Distribution, ValueRisk
from unmask.results import Row
from unmask.tables.attacks import AttributeInference, OrderAttack, RegisterAttack
from unmask.tables.knowledge import Knowledge, Known
from unmask.tables.release import Table


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the auditor has besides the releases.

    original : the table before protection: gives the targets, and their true sensitive values
    origins  : release -> (n_released,) the row of the original behind each released record: gives the true record.
               Without it the realized identity success cannot be measured and is said not to be run.
    register : named people with quasi-identifiers, for the adversary who links records to people
    coverage : probability that the person behind a record is in the register
    register_origin : (n_register,) the row of the original that each person of the register is, below 0 for others:
               gives the realized success of the register's holder
    targets  : people attacked, drawn from the original; None: everyone
    seed     : of that draw
    """

    original: Table | None = None
    origins: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    register: Table | None = None
    coverage: float = 1.0
    register_origin: NDArray[np.int64] | None = None
    targets: int | None = None
    seed: int = 0

    def known(self) -> Known | None:
        """The people attacked; drawn once, so that releases are compared on the same targets."""
        if self.original is None:
            return None
        return Knowledge(self.targets)(self.original, rng=np.random.default_rng(self.seed))


def audit_tables(
    releases: Mapping[str, Table],
    evidence: Evidence | None = None,
    *,
    title: str = "Audit of a table",
    reproduce: Mapping[str, object] | None = None,
    motive: Motive | None = None,
    watched: Watched | None = None,
) -> ReportData:
    """Attack every release as prosecutor (identity and each sensitive column), as those who know every released column,
    by the order of its rows (with an original) and, with a register, as its holder.

    The same people are attacked in every release. With an original, the original itself is attacked too, as the case
    without protection. With a motive, the strongest knowledge about identity, the register's if there is one, is also
    priced: what a rational attacker does with it. All results are in the rows; nothing in them identifies a person. Who
    is at risk goes to `watched` alone.
    """
    if not releases:
        raise UnmaskError("0 releases were given, expected at least 1 table to attack")
    evidence = evidence or Evidence()
    original, origins = evidence.original, dict(evidence.origins)
    foreign = facts.foreign(releases, original, origins)
    everything = dict(releases)
    if original is not None:
        everything, origins = {ORIGINAL: original, **releases}, {**origins, ORIGINAL: np.arange(original.n_rows)}
    found, known = _Found(None if motive is None else facing(motive, evidence), evidence, watched), evidence.known()
    for name, table in everything.items():
        scene = Scene.of(name, table, origins.get(name), known)
        for case in standard(replace(scene, foreign=name in foreign), evidence):
            found.add(case)
    first, price = next(iter(releases.values())), found.price()
    exposure = facts.exposure({n: t for n, t in releases.items() if n not in foreign}, original, origins)
    return ReportData(
        title=title,
        who=" ".join((words.who(first, evidence), *words.of_nobody(foreign))),
        rows=tuple(found.rows),
        criteria={name: facts.criteria_of(t, original, foreign=name in foreign) for name, t in everything.items()},
        utility={
            name: facts.utility_of(original, table, origins[name])
            for name, table in releases.items()
            if original is not None and name in origins
        },
        column_risk=tuple(
            risk
            for name, table in releases.items()
            for risk in facts.column_risks(name, table, foreign=name in foreign)
        ),
        values=tuple(found.values),
        distribution=tuple(found.spread),
        assumptions=(*words.assumptions(first, evidence), words.KNOWN_COLUMNS),
        not_run=(
            *words.nobodys(foreign),
            *words.missing_evidence(evidence, releases),
            *words.grouped(found.not_run),
            *campaigns_not_run(price),
        ),
        reproduce=reproduce or {},
        adversaries=words.adversaries(first, evidence) | words.insiders(first, original),
        subjects=tuple(filter(None, (exposure, price))),
    )


def standard(scene: Scene, evidence: Evidence) -> Iterator[Case]:
    """The standard adversaries of a release."""
    link = scene.link()
    if not scene.foreign:
        yield scene.identity(PROSECUTOR, link)
    for column in scene.table.sensitive:
        yield scene.value(PROSECUTOR, AttributeInference(column.name), link)
    yield from _by_columns(scene)
    if scene.foreign:
        return
    if evidence.register is not None:
        attack = RegisterAttack(coverage=evidence.coverage)
        yield scene.linked(REGISTER, attack, evidence.register, evidence.register_origin)
    if scene.known is not None:
        yield scene.order(ORDER, OrderAttack())


def _by_columns(scene: Scene) -> Iterator[Case]:
    """Adversaries who know more than the quasi-identifiers, where there is more.

    Besides the quasi-identifiers, which they compare as everybody does, they know released columns as exact values. An
    attribute is inferred from every other column; the insider, from the other sensitive ones, too. Without an original
    each person's own row is taken as what is known.
    """
    kept, sensitive = scene.comparable(scene.table.kept), scene.comparable(scene.table.sensitive)
    if kept:
        link = scene.link(kept)
        if not scene.foreign:
            yield scene.identity(COLUMNS, link)
        for column in scene.table.sensitive:
            yield scene.value(COLUMNS, AttributeInference(column.name), link)
    if sensitive and not scene.foreign:
        yield scene.identity(INSIDER, scene.link([*kept, *sensitive]))
    for column in sensitive if len(sensitive) > 1 else ():
        others = [other for other in sensitive if other is not column]
        yield scene.value(INSIDER, AttributeInference(column.name), scene.link([*kept, *others]))


@dataclass(eq=False)
class _Found:
    """What cases give, as they come: no belief is held longer than its turn, but those that are priced."""

    motive: Motive | None
    evidence: Evidence
    watched: Watched | None
    rows: list[Row] = field(default_factory=list)
    not_run: list[tuple[str, str, str]] = field(default_factory=list)
    spread: list[Distribution] = field(default_factory=list)
    values: list[ValueRisk] = field(default_factory=list)
    priced: dict[str, Posterior] = field(default_factory=dict)

    def add(self, case: Case) -> None:
        """Take its measures."""
        measures = STANDARD
        if self.motive is not None and (case.adversary, case.target) == (priced_adversary(self.evidence), "identity"):
            measures += price_measures(self.motive.attacker)
            self.priced[case.release] = case.belief
        audited = case.audited(measures)
        self.rows += audited.rows
        self.not_run += [(measure, f"{case.adversary}, {case.target}", why) for measure, why in audited.not_run]
        self.spread.append(facts.distribution(case))
        if case.release == ORIGINAL:
            return
        if case.adversary == PROSECUTOR and case.target != "identity":
            self.values += facts.by_value(case)
        if self.watched is not None and case.adversary not in APART:
            names = {"release": case.release, "adversary": case.adversary, "target": case.target}
            assert case.rows is not None
            self.watched.see(case.belief, case.rows, **names)

    def price(self) -> Price | None:
        """What a rational attacker does with what the strongest adversary believes."""
        if self.motive is None:
            return None
        played = {row.release: row.posterior for row in self.rows if row.measure == "realized_rational_success"}
        return price_releases(self.motive, priced_adversary(self.evidence), self.priced, played=played)


def priced_adversary(evidence: Evidence) -> str:
    """The adversary whose knowledge is priced: to hold a register costs money, and so does every name tried."""
    return PROSECUTOR if evidence.register is None else REGISTER


def facing(motive: Motive, evidence: Evidence) -> Motive:
    """The probability that a target is among the candidates is known here: the coverage of the register, or 1."""
    inside = 1.0 if evidence.register is None else evidence.coverage
    return replace(motive, attacker=replace(motive.attacker, prior=inside))
