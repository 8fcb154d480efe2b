"""Rows and facts of all attacks on one release. Beliefs are dropped after use, except those that are priced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from unmask.core.posterior import Posterior
from unmask.measures import Measure
from unmask.results import Block, Row
from unmask.results import Table as ResultTable
from unmask.results.distribution import Distribution
from unmask.results.names import APART, IDENTITY, JOURNALIST, MODELER, PROSECUTOR
from unmask.results.rows import ORIGINAL
from unmask.scoring import STANDARD, Audit, price_measures
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, Release
from unmask.tables.audit.calibration import CalibrationBin, calibration_bins
from unmask.tables.audit.equivalence_classes import ClassRisk, TargetClasses
from unmask.tables.audit.not_run import NotRun
from unmask.tables.audit.risk_facts import ValueRisk, distribute_success, list_value_risks
from unmask.tables.criteria.evaluation import Frame
from unmask.tables.criteria.risk import population_sizes
from unmask.tables.meanings import scale_weights
from unmask.tables.risk.singling_columns import SinglingSearch
from unmask.tables.table import Table

if TYPE_CHECKING:
    from unmask.economics.audit import AttackerSource, OutsideGroups, PriceFacts


@dataclass(eq=False)
class AttackScores:
    """Results of the attacks on one release.

    `unmeasured` has (measure, adversary and target, reason); `priced` the belief that is priced, and the number of
    people that its targets stand for, None if they are everybody.
    """

    release: str
    rows: list[Row] = field(default_factory=list)
    not_run: list[NotRun] = field(default_factory=list)
    unmeasured: list[tuple[str, str, str]] = field(default_factory=list)
    distributions: list[Distribution] = field(default_factory=list)
    calibration: list[CalibrationBin] = field(default_factory=list)
    values: list[ValueRisk] = field(default_factory=list)
    classes: list[ClassRisk] = field(default_factory=list)
    priced: tuple[Posterior, int | None] | None = None


class Priced(NamedTuple):
    """Parts of a result about the prices of attacks; empty without an attacker."""

    tables: Sequence[ResultTable] = ()
    blocks: Sequence[Block] = ()
    not_run: Sequence[NotRun] = ()
    cautions: tuple[str, ...] = ()

    @classmethod
    def of(cls, facts: PriceFacts) -> Self:
        """Return the tables, findings and cautions of prices."""
        from unmask.economics.audit import list_not_run, make_blocks, make_tables  # here: most audits price nothing

        return cls(make_tables(facts), make_blocks(facts), [*list_not_run(facts)], facts.source.attacker.warnings)


@dataclass(frozen=True, eq=False)
class Scorer:
    """Scoring of attacks: knowledge of the auditor, attacker and measures."""

    knowledge: AuditorKnowledge
    attacker: AttackerSource | None = None
    measures: tuple[Measure, ...] = STANDARD

    def score(self, release: Release, runs: Iterable[AttackRun | Audit]) -> AttackScores:
        """Score all attacks on a release."""
        scores, classes = AttackScores(release.name), None
        is_searched = release.has_rows and not release.is_foreign and release.name != ORIGINAL
        columns = release.search_columns(self.knowledge.known) if is_searched else None
        for run in runs:
            if isinstance(run, Audit):
                scores.rows += run.rows
                scores.not_run += run.not_run
                continue
            if run.adversary in self.knowledge.without:
                continue
            if release.has_rows and release.name != ORIGINAL and run.adversary == PROSECUTOR:
                if run.target == IDENTITY and self.knowledge.knowledge.is_complete:  # else a person fits several
                    classes = TargetClasses.of(run, release.table)
                scores.classes += () if classes is None else classes.riskiest(run, columns)
            self._measure(run, scores, MODELER if release.is_foreign else PROSECUTOR)
            if release.name == ORIGINAL:
                continue
            if release.has_rows and run.adversary not in APART:
                self._record_risks(run, classes, columns)
            del run  # before the next belief is formed
        scores.rows = list(_with_common_baseline(scores.rows))
        return scores

    def _measure(self, run: AttackRun, scores: AttackScores, reader: str) -> None:
        """Add the rows and facts of a run; `reader` is the adversary whose inferred values are listed."""
        is_priced = self.attacker is not None and (run.adversary, run.target) == (self.priced_adversary, IDENTITY)
        if is_priced:
            is_sample = run.drawn_from is not None or run.person is not None or run.people is not None
            scores.priced = run.belief, int(run.drawn_from or run.n_people) if is_sample else None
        is_original = run.release == ORIGINAL
        scores.distributions.append(distribute_success(run))  # before scoring, which drops the distinct rows
        if not is_original:  # before scoring, which drops the positions of the truth
            scores.calibration += calibration_bins(run)
        prices = price_measures(self.attacker.attacker) if is_priced and self.attacker is not None else ()
        audited = run.score((*self.measures, *prices))
        scores.rows += audited.rows
        scores.unmeasured += [(measure, f"{run.adversary}, {run.target}", note) for measure, note in audited.not_run]
        if not is_original and run.target != IDENTITY and run.adversary == reader:
            scores.values += list_value_risks(run)

    def _record_risks(self, run: AttackRun, classes: TargetClasses | None, columns: SinglingSearch | None) -> None:
        """Add people at risk to the owner's list."""
        if self.knowledge.watched is None:
            return
        run = run.by_row()
        assert run.rows is not None
        rows = run.rows
        self.knowledge.watched.see(
            run.belief,
            self.knowledge.rows(rows),
            release=run.release,
            adversary=run.adversary,
            target=run.target,
            at=None if classes is None else classes.locate(rows),
            unreleased=run.is_unreleased,
            picked=run.picked,
            why=(lambda _: "") if columns is None else (lambda target: columns.describe(int(rows[target]))),
        )

    @property
    def priced_adversary(self) -> str:
        """The adversary whose knowledge is priced: a register costs money, and so does every name tried."""
        return PROSECUTOR if self.knowledge.register is None else JOURNALIST

    def price(self, scores: Sequence[AttackScores], releases: Sequence[Release]) -> Priced:
        """Price the attacks of a rational attacker with the strongest knowledge about identity; releases have rows."""
        if self.attacker is None:
            return Priced()
        from unmask.economics.audit import price_releases

        priced = {score.release: score.priced for score in scores if score.priced is not None}
        success = "realized_rational_success"
        groups = {release.name: _count_outside(release, self.knowledge.register) for release in releases}
        facts = price_releases(
            self.attacker,
            self.priced_adversary,
            {name: belief for name, (belief, _) in priced.items()},
            people={name: people for name, (_, people) in priced.items() if people is not None},
            realized={row.release: row.posterior for score in scores for row in score.rows if row.measure == success},
            outside={name: counted for name, counted in groups.items() if counted is not None},
        )
        return Priced.of(facts)


def _count_outside(release: Release, register: Table | None) -> OutsideGroups | None:
    """Count the people outside who fit each record, by a register or by survey weights; None without both."""
    from unmask.economics.audit import OutsideGroups

    if register is not None:
        shared = tuple(column for column in release.table.quasi_identifiers if column.name in register.names)
        frame = Frame.of(replace(release.table, quasi_identifiers=shared))
        return OutsideGroups(population_sizes(frame.table, register)[frame.table.classes.of_row], register.n_rows)
    frame = Frame.of(release.table)
    of_row, weight = frame.table.classes.of_row, scale_weights(frame.table.weight)
    if weight is None:
        return None
    people = round(float(weight.sum()))
    return OutsideGroups(np.minimum(np.rint(frame.sum_weights(weight)), people).astype(np.int64)[of_row], people)


def _with_common_baseline(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield rows whose baseline is the best result on the control group of all adversaries with the same knowledge."""
    bound: dict[tuple[str, str], float] = {}
    compared = [row.control is not None and row.adversary in (PROSECUTOR, MODELER) for row in rows]
    for row, is_compared in zip(rows, compared, strict=True):
        if is_compared and row.control is not None:
            stronger = max if row.direction == "high" else min
            bound[row.target, row.measure] = stronger(bound.get((row.target, row.measure), row.control), row.control)
    for row, is_compared in zip(rows, compared, strict=True):
        yield replace(row, baseline=bound[row.target, row.measure]) if is_compared else row
