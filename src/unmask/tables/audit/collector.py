"""What cases give, as they come: rows of results, who is at risk, and what is shown besides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from unmask.audit import STANDARD, Audit, price_measures
from unmask.core.posterior import Posterior
from unmask.economics.audit import AttackerSource, PriceFacts, price_releases
from unmask.measures import Measure
from unmask.reports import ORIGINAL
from unmask.reports.data import APART
from unmask.reports.facts.tables import Distribution
from unmask.results import Row
from unmask.tables.audit import risk_facts
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.attacked_release import LEARNER, PROSECUTOR, REGISTER
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.calibration import CalibrationBin, calibration_bins
from unmask.tables.audit.equivalence_classes import Seen
from unmask.tables.audit.inferred_values import ValueRisk
from unmask.tables.audit.riskiest_classes import ClassRisk
from unmask.tables.table import Table


@dataclass(eq=False)
class Found:
    """What cases give, as they come: no belief is held longer than its turn, but those that are priced.

    people : release -> how many its targets stand for, if they are not everybody themselves
    """

    motive: AttackerSource | None
    evidence: AuditorKnowledge
    foreign: Mapping[str, float | None]
    people: dict[str, int] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    not_run: list[tuple[str, str, str]] = field(default_factory=list)
    unasked: dict[tuple[str, str], None] = field(default_factory=dict)
    spread: list[Distribution] = field(default_factory=list)
    promises: list[CalibrationBin] = field(default_factory=list)
    values: list[ValueRisk] = field(default_factory=list)
    classes: list[ClassRisk] = field(default_factory=list)
    priced: dict[str, Posterior] = field(default_factory=dict)

    def join(self, other: Found) -> None:
        """What was found of another release, too."""
        for name in ("rows", "not_run", "spread", "promises", "values", "classes"):
            getattr(self, name).extend(getattr(other, name))
        for name in ("people", "unasked", "priced"):
            getattr(self, name).update(getattr(other, name))

    def take(self, release: str, table: Table, cases: Iterable[AttackRun | Audit]) -> Self:
        """Take all cases of a release."""
        seen = None if release == ORIGINAL or table.counts is not None else Seen(release, table.complete_rows)
        for case in cases:
            if isinstance(case, Audit):
                self.rows += case.rows
                self.unasked.update(dict.fromkeys(case.not_run))
                continue
            if case.adversary in self.evidence.without:
                continue
            if self._is_priced(case):
                self.priced[case.release] = case.belief
                if case.drawn_from is not None or case.whose is not None or case.people is not None:
                    self.people[case.release] = int(case.drawn_from or case.n_people)
            self._add(case, seen)
            del case  # before the next is made
        self.rows = list(beside_best(self.rows))
        self.classes += [] if seen is None else seen.found
        return self

    @cached_property
    def _acted(self) -> tuple[Measure, ...]:
        return () if self.motive is None else price_measures(self.motive.attacker)

    def _measures(self, case: AttackRun) -> tuple[Measure, ...]:
        return STANDARD + self._acted if self._is_priced(case) else STANDARD

    def _is_priced(self, case: AttackRun) -> bool:
        whom = priced_adversary(self.evidence), "identity"
        return self.motive is not None and (case.adversary, case.target) == whom

    def _add(self, case: AttackRun, seen: Seen | None) -> None:
        """Take the measures of a case; seen : the classes of a release that is no original."""
        promised = [] if case.release == ORIGINAL else list(calibration_bins(case))
        audited = case.audited(self._measures(case))  # and forgets where the truth stands
        self.rows += audited.rows
        self.not_run += [(measure, f"{case.adversary}, {case.target}", why) for measure, why in audited.not_run]
        self.spread.append(risk_facts.distribution(case))
        if case.release == ORIGINAL:
            return
        self.promises += promised
        if seen is not None and case.adversary == PROSECUTOR:
            seen.see(case)
        if case.target != "identity" and case.adversary == (LEARNER if case.release in self.foreign else PROSECUTOR):
            self.values += risk_facts.by_value(case)
        if self.evidence.watched is not None and seen is not None and case.adversary not in APART:
            assert case.rows is not None
            names: dict[str, Any] = {"release": case.release, "adversary": case.adversary, "target": case.target}
            names |= {"at": seen.where(case.rows), "unreleased": case.unreleased, "picked": case.picked}
            self.evidence.watched.see(case.belief, self.evidence.rows(case.rows), **names)

    def price(self) -> PriceFacts | None:
        """Return the attacks of a rational attacker with the beliefs of the strongest adversary."""
        if self.motive is None:
            return None
        realized = {row.release: row.posterior for row in self.rows if row.measure == "realized_rational_success"}
        adversary = priced_adversary(self.evidence)
        return price_releases(self.motive, adversary, self.priced, people=self.people, realized=realized)


def beside_best(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows, with the most that anybody with the same knowledge reaches on control people."""
    best: dict[tuple[str, str, str], float] = {}
    same = {PROSECUTOR, LEARNER}
    for row in rows:
        if row.control is not None and row.adversary in same:
            what = row.release, row.target, row.measure
            stronger = max if row.direction == "high" else min
            best[what] = stronger(best.get(what, row.control), row.control)
    for row in rows:
        known = row.adversary in same and row.control is not None
        yield replace(row, baseline=best[row.release, row.target, row.measure]) if known else row


def priced_adversary(evidence: AuditorKnowledge) -> str:
    """The adversary whose knowledge is priced: to hold a register costs money, and so does every name tried."""
    return PROSECUTOR if evidence.register is None else REGISTER


def facing(motive: AttackerSource, evidence: AuditorKnowledge) -> AttackerSource:
    """The probability that a target is among the candidates is known here: the coverage of the register, or 1."""
    inside = 1.0 if evidence.register is None else evidence.coverage
    return replace(motive, attacker=replace(motive.attacker, prior=inside))


def add_excluded_people(rows: Iterable[Row], table: Table) -> list[Row]:
    """Return the rows of a release with the share of its people whom the rule for missing cells leaves."""
    people, judged = table.n_people, table.complete.n_people
    if judged == people:
        return list(rows)
    drawn = ((row, people if row.n_drawn is None else row.n_drawn) for row in rows)
    return [
        replace(row, n_people=row.n_people or people, n_drawn=n, n_judged=round(n * judged / people))
        for row, n in drawn
    ]
