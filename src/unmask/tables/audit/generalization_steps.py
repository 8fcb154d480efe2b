"""What one step of generalization of each column would buy: made of the release, and attacked as the release was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.measures import evaluate, success_probability
from unmask.reports.data import LIMITS, ReportData
from unmask.reports.facts.tables import Distribution
from unmask.reports.words import IDENTITY
from unmask.tables.attacks import AttributeInference
from unmask.tables.audit import risk_facts
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.attacked_release import PROSECUTOR, AttackedRelease
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, placed
from unmask.tables.audit.quasi_identifiers import GeneralizationStep
from unmask.tables.audit.standard_attacks import values
from unmask.tables.audit.threads import MANY, two_at_once
from unmask.tables.notation import EVERYTHING
from unmask.tables.protections.generalization import Generalize, next_level
from unmask.tables.table import Table
from unmask.tables.utility.columns import Cells, ColumnLoss


def steps(found: ReportData, releases: Mapping[str, Table], evidence: AuditorKnowledge) -> Iterator[GeneralizationStep]:
    """For each quasi-identifier of each release whose original and origin are known: one step coarser, and what the
    adversary who knows the quasi-identifiers then expects, and how much information is left.

    Cells are recoded as they stand in the release (`tables.Generalize`), so what made it is not run again. Columns that
    tell nothing are left out. found : the audit of the releases
    """
    for name, release in releases.items():
        if evidence.original is None or name not in evidence.origins or evidence.synthetic:
            continue
        kept = release.complete_rows  # also where a coarser cell is no longer missing
        release = release.take(kept)
        now, present = _told(found, name), _Attacked(name, release, evidence.origins[name][kept], evidence)
        told = (c.name for c in release.quasi_identifiers if now and np.count_nonzero(c.counts) > 1)
        tried = two_at_once if release.n_rows >= MANY else map
        for step in tried(partial(present.step, present=now), told):
            yield from step


Told = Mapping[str, tuple[float, Distribution]]
"""By target the success that the adversary who knows the quasi-identifiers expects, and how it is spread."""


def _told(found: ReportData, release: str) -> Told:
    """The same of an audit."""
    spread = {one.target: one for one in found.distribution if (one.release, one.adversary) == (release, PROSECUTOR)}
    whom = release, PROSECUTOR, success_probability.name
    rows = [row for row in found.rows if (row.release, row.adversary, row.measure) == whom]
    return {row.target: (row.posterior, spread[row.target]) for row in rows if row.target in spread}


@dataclass(frozen=True, eq=False)
class _Attacked:
    """A release, attacked by those who know the quasi-identifiers."""

    name: str
    release: Table
    origin: NDArray[np.int64]
    evidence: AuditorKnowledge

    def step(self, name: str, present: Told) -> list[GeneralizationStep]:
        """One column made coarser, by target."""
        level, made, origin = self._coarser(name)
        changed = _Attacked(self.name, made, origin, self.evidence)
        before, after = self.lost, {**self.lost, name: changed.lost_by(name)}
        column = self.release.column(name)
        ladder = column.type if column.hierarchy is None else "hierarchy"
        utility = [1.0 - float(np.mean([*lost.values()])) for lost in (before, after)]
        found = []
        for target, (success, spread) in present.items():
            now, then = changed.found[target]
            limit = LIMITS[IDENTITY if target == IDENTITY else "value"]
            above = int(spread.above[limit]), int(then.above[limit])
            names, rates = (self.name, name, ladder, level, target), (success, now)
            found.append(GeneralizationStep(*names, *rates, *above, spread.people, *utility))
        return found

    def _coarser(self, name: str) -> tuple[float | str, Table, NDArray[np.int64]]:
        assert self.evidence.original is not None
        level = next_level(self.release.column(name), self.evidence.original.column(name))
        rng = np.random.default_rng(0)  # of the order of equal rows, which nobody is shown
        try:
            made, order = Generalize({name: level})(self.release, rng=rng)
        except UnmaskError:  # values that its hierarchy does not know
            level = EVERYTHING
            made, order = Generalize({name: level})(self.release, rng=rng)
        return level, made, self.origin[order]

    @cached_property
    def found(self) -> Told:
        """What the adversary gets."""
        assert self.evidence.original is not None
        origin = placed(self.origin, among=self.evidence.original.complete_rows)
        scene = AttackedRelease.of(self.name, self.release, origin, self.evidence.complete.known)
        link = scene.link()
        cases = [scene.identity(PROSECUTOR, link), *(_inferred(scene, c.name, link) for c in self.release.sensitive)]
        return {
            case.target: (evaluate(success_probability, case.belief).posterior, risk_facts.distribution(case))
            for case in cases
        }

    @cached_property
    def lost(self) -> dict[str, float]:
        """The normalized certainty penalty of each quasi-identifier of the original."""
        assert self.evidence.original is not None
        return {column.name: self.lost_by(column.name) for column in self.evidence.original.quasi_identifiers}

    def lost_by(self, name: str) -> float:
        """The penalty of one of them."""
        assert self.evidence.original is not None
        gone = np.ones(self.evidence.original.n_rows, dtype=np.bool_)
        gone[self.origin] = False
        before, after = self.evidence.original.column(name), self.release.column(name)
        return ColumnLoss.of(Cells.of_rows(before, after, self.origin, gone)).ncp


def _inferred(scene: AttackedRelease, column: str, link: Posterior) -> AttackRun:
    """What is believed of a value; what all rows say is learned only for those whom no record fits."""
    if (link.row_length > 0).all():
        return scene.value(PROSECUTOR, AttributeInference(column), link)
    return next(case for case in values(scene, scene.table.column(column), link) if isinstance(case, AttackRun))
