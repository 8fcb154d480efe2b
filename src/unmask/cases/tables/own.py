"""What did each person's own record add? What made a release is run again without them: leave-one-out."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.audit import Audit
from unmask.cases.at_risk import AtRisk
from unmask.cases.tables.case import LEARNER, MECHANISM, PROSECUTOR, Scene
from unmask.cases.tables.evidence import Evidence
from unmask.cases.tables.mechanism import at_most, declares, drawn, fewer, named, tells_no_more
from unmask.core.errors import UnmaskError
from unmask.measures.added import Added
from unmask.reports.facts.own import How, OwnRecord
from unmask.results import Row
from unmask.tables.attacks import AttributeInference, BackOff, MechanismAttack
from unmask.tables.generators import released
from unmask.tables.release import Table
from unmask.tables.without import Asked, LeftOut, leave_one_out, removed, taken_out, twice_rotated

Rows = NDArray[np.int64]

WHOLE = 50_000
"""Rows of a table up to which as many people are left out as `Runs` says; of n more rows, WHOLE / n of them."""

LONGEST = 600.0
"""CPU seconds that leave-one-out may take."""

APART = 0.02
"""By so much, and three standard errors, what is believed of a release may differ from one that is made again."""

SAME = 1e-6
"""The same of a protection that draws nothing."""

RAISED = 0.05
"""Belief that a record must have added for its person to be listed."""

FEWEST = 20
"""People; below, none is left out."""

WHAT = "What each person's own record added"

NEEDS = "needs the original, and what made the release, to run it again (--original, --protection)"

STILL_THERE = "people have several rows, of which one is taken out at a time, and the others still tell of them"

ADDED = "their own record added {:.1f} points to the belief in their true value: {:.1%} without it, {:.1%} with it"


@dataclass(frozen=True)
class OwnRecords(Audit):
    """Rows of what own records added, and what a page shows of them."""

    shown: tuple[OwnRecord, ...] = ()


def own_records(scene: Scene, evidence: Evidence) -> Audit:
    """What each person's own record added to what is believed of each of their sensitive values."""
    protection, original = evidence.protections.get(scene.release), evidence.original
    if protection is None or scene.known is None or original is None:
        return Audit((), ((WHAT, NEEDS),))
    if evidence.person is not None:
        return Audit((), ((WHAT, STILL_THERE),))
    found, not_run = [], []
    for column in (one.name for one in scene.table.sensitive if one.name in original.names):
        about = f"{WHAT} to {column} in {scene.release}"
        try:
            found.append(_Asked(scene, evidence, protection, column, about).told())
        except UnmaskError as error:
            not_run.append((about, str(error)))
    if not scene.table.sensitive:
        not_run.append((WHAT, "is about what is believed of sensitive values, and no column is sensitive"))
    return OwnRecords(tuple(one.row for one in found), tuple(not_run), tuple(one.shown for one in found))


class Told(NamedTuple):
    """The row of what was added to one column, and what a page shows of it."""

    row: Row
    shown: OwnRecord


class Runs(NamedTuple):
    """How much is tried: samples of 90 %, `folds` times `repeats`; people left out alone, at random and the worst-off.

    >>> Runs.of(30_000), Runs.of(1_000_000).alone
    (Runs(folds=10, repeats=8, some=200, worst=50), 30)
    """

    folds: int = 10
    repeats: int = 8
    some: int = 200
    worst: int = 50

    @classmethod
    def of(cls, n_rows: int) -> Runs:
        """Of a table of so many rows."""
        part, all_ = min(WHOLE / n_rows, 1.0), cls()
        return cls(
            repeats=max(round(all_.repeats * part), 2),
            some=max(round(all_.some * part), FEWEST),
            worst=max(round(all_.worst * part), FEWEST // 2),
        )

    @property
    def samples(self) -> int:
        """Releases of 90 %."""
        return self.folds * self.repeats

    @property
    def alone(self) -> int:
        """Releases without one person."""
        return self.some + self.worst


@dataclass(frozen=True, eq=False)
class _Asked:
    """One adversary, and the column that they ask for; about : the two in words."""

    scene: Scene
    evidence: Evidence
    protection: Any
    column: str
    about: str

    @cached_property
    def row(self) -> Rows:
        """The row of the original that each of those is who take part."""
        assert self.evidence.original is not None
        return self.evidence.original.taking_part

    @cached_property
    def table(self) -> Table:
        """Those who take part."""
        assert self.evidence.original is not None
        return self.evidence.original.take(self.row)

    @cached_property
    def adversary(self) -> str:
        """Who asks: where no row is anybody's they learn from all, else they know what made the release if that tells
        more than its cells.
        """
        if self.scene.foreign:
            return LEARNER
        more = declares(self.protection) and not tells_no_more(self.protection, fewer(self.scene, self.evidence.seed))
        return MECHANISM if more else PROSECUTOR

    @cached_property
    def attack(self) -> Any:
        """How they ask."""
        if self.adversary == LEARNER:
            return BackOff(self.column)
        plain = AttributeInference(self.column)
        return (
            plain if self.adversary == PROSECUTOR else AttributeInference(self.column, MechanismAttack(self.protection))
        )

    def told(self) -> Told:
        """What was added; what is about to be run is said before."""
        if self.table.n_rows < FEWEST:
            raise UnmaskError(f"{self.table.n_rows} people are in the table, expected at least {FEWEST}")
        found, how = self._left_out()
        self._watch(found.worst)
        names = {"release": self.scene.release, "adversary": self.adversary, "target": self.column}
        return Told(found.some.row(**names), OwnRecord.of(found.some, found.worst, how=how, **names))

    def _left_out(self) -> tuple[LeftOut, How]:
        """By the way that is exact for the protection, or the cheapest."""
        n, rng, runs = self.table.n_rows, np.random.default_rng(self.evidence.seed), Runs.of(self.table.n_rows)
        everybody = self.adversary != MECHANISM
        people, some = np.arange(n) if everybody else drawn(n, at_most(n), rng), drawn(n, runs.some, rng)
        if getattr(self.protection, "by_row", False) and self.scene.traced:
            return self._removed(people, runs, rng), "removed"
        ask = Asked(self.attack, self.table)
        seconds, draws = self._tried(ask, people, some)
        how: dict[str, Any]
        if draws:
            runs = runs._replace(repeats=max(runs.repeats, 4))  # of either half two, which differ by the error
            self._announce(runs.samples, runs.samples * seconds.sampled)
            how = {"repeats": runs.repeats, "worst": runs.worst, "rng": rng}
            return twice_rotated(self.protection, self.table, ask, people, **how), "sampled"
        self._announce(runs.samples + runs.alone, runs.samples * seconds.sampled + runs.alone * seconds.alone)
        how = {**runs._asdict(), "people": people, "rng": rng}
        return leave_one_out(self.protection, self.table, ask, **how), "rerun"

    def _removed(self, people: Rows, runs: Runs, rng: np.random.Generator) -> LeftOut:
        place = np.full(int(self.row.max()) + 1, -1)
        place[self.row] = np.arange(len(self.row))
        release, origin = self.scene.table, place[self.scene.origin]
        found = removed(self.attack, self.table, release, origin, people)
        worst = found.worst(runs.worst)
        if self.adversary != MECHANISM:
            return LeftOut(found, found, found.among(worst))
        some = found.person[drawn(len(found.person), runs.some, rng)]
        ask, start = Asked(self.attack, self.table), time.process_time()
        taken_out(ask, release, origin, some[:1])
        self._announce(runs.alone, runs.alone * (time.process_time() - start), "attacks")
        return LeftOut(found, *(taken_out(ask, release, origin, who) for who in (some, worst)))

    def _tried(self, ask: Asked, people: Rows, some: Rows) -> tuple[_Seconds, bool]:
        """What one release costs, and whether two of them differ; an error where the release is no such one."""
        given, start = ask(self.scene.table, some), time.process_time()
        made = [released(self.protection, self.table, rng=np.random.default_rng(seed)).release for seed in (0, 1)]
        protected = time.process_time()
        one, other = (ask(release, some) for release in made)
        made_once, asked = (protected - start) / 2, time.process_time()
        draws = not np.allclose(one, other, rtol=0, atol=SAME, equal_nan=True)
        self._check(one, given, APART if draws else SAME)
        ask(made[0], people)
        seconds = _Seconds(made_once + time.process_time() - asked, made_once + (asked - protected) / 2)
        return seconds, draws

    def _check(self, again: NDArray[np.float64], given: NDArray[np.float64], within: float) -> None:
        """Refuse a release that the protection does not make."""
        apart = (given - again)[~np.isnan(given - again)]
        if not len(apart):
            raise UnmaskError("nobody's value is known")
        error = 3 * apart.std() / np.sqrt(len(apart)) if within > SAME else 0.0
        if abs(apart.mean()) > within + error:
            raise UnmaskError(
                f"{named(self.protection)} does not make such a release: of one that it makes, "
                f"{np.nanmean(again):.3f} is believed in what is true, and of this one {np.nanmean(given):.3f}"
            )

    def _announce(self, releases: int, seconds: float, does: str = "runs") -> None:
        """Say what it costs; an error where that is too much."""
        often = f"{releases:,} times on {self.table.n_rows:,} rows"
        cost = f"{does} {named(self.protection)} {often}, about {seconds:,.0f} s"
        if seconds > LONGEST:
            raise UnmaskError(f"{cost}, above {LONGEST:,.0f} s; unmask.tables.without has the same with fewer people")
        self.evidence.progress(f"{self.about}: {cost}")

    def _watch(self, worst: Added) -> None:
        """Take down the worst-off whose record added something that counts."""
        if self.evidence.watched is None:
            return
        rows = self.evidence.rows(self.row[worst.person])
        for row, before, after in zip(rows.tolist(), worst.outside.tolist(), worst.inside.tolist(), strict=True):
            if after - before > RAISED:
                reason = ADDED.format(100 * (after - before), before, after)
                names = (self.scene.release, row, self.adversary, self.column)
                self.evidence.watched.found.append(AtRisk(*names, after, reason))


class _Seconds(NamedTuple):
    """CPU seconds of a release that is asked about everybody, and about some."""

    sampled: float
    alone: float
