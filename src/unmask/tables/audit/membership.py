"""Who is in the table? Members and control people are told apart by adversaries who know some of their columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unmask.audit import Audit, audit
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, equal_weights, log_odds
from unmask.core.truth import Truth
from unmask.measures import calibration_error, log_loss_bits, realized_success, success_probability
from unmask.measures.base import build_row
from unmask.measures.membership import (
    IN,
    OUT,
    RATES,
    MembershipRows,
    auc,
    epsilon_at_least,
    evaluate_membership,
    rank_correlation,
    true_positive_rate,
    vulnerability_correlation,
)
from unmask.reports.at_risk import Watched
from unmask.reports.words import MEMBERSHIP, RARE
from unmask.results import Row
from unmask.tables.attacks import ClosestRecord, MarginalRatio
from unmask.tables.attacks.marginal_counts import Margins
from unmask.tables.attacks.membership import margins_of
from unmask.tables.audit.attacked_release import PROSECUTOR, AttackedRelease
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, unlike
from unmask.tables.background import Attack, Background
from unmask.tables.control.holdout import Sample
from unmask.tables.control.membership import VULNERABLE_SHARE, MembershipSample, cross_fit, join_scores
from unmask.tables.control.similarity import shift_by
from unmask.tables.knowledge import Knowledge
from unmask.tables.protections.releasing import Released
from unmask.tables.table import Table

RECORD = "whole record"
"""The adversary who knows every released column of people, sensitive ones, too."""

MOST = 1000
"""Members, and as many control people, who are judged where no number of targets is asked for."""

FEWEST = 50
"""Of either kind; below, no rate of false alarms is measured."""

MARGINS, CLOSEST = "margins alone", "closest record alone"

ALONE = (MARGINS, CLOSEST)
"""The scores that are joined, by the name that each has alone: a companion, on which no verdict rests."""

COIN = "a bound only where chance decided, for each person alone, whether they are in the table"

TELLING = {
    RECORD: "knows every released column of people (sensitive ones, too)",
    MARGINS: "compares nothing but the margins of the release with those of people in general",
    CLOSEST: "looks at nothing but the distance to the closest record",
}
"""What they know, in words that complete "an adversary who ..."."""

MEASURES = (success_probability, realized_success, calibration_error, log_loss_bits)

TOLD = (auc.name, *(true_positive_rate(rate).name for rate in RATES), epsilon_at_least.name)
"""The measures that cells of a study may have besides."""

QUESTION = "Who is in the table"

TOO_FEW = f"needs {FEWEST} members and {2 * FEWEST} control people, half of whom are the reference"

NO_CONTROL = "needs control people, who are not in it, beside the original (--original, --control)"


def membership(scene: AttackedRelease, evidence: AuditorKnowledge) -> Audit:
    """What adversaries can tell of who is in a release: those who know quasi-identifiers, and whole records."""
    if evidence.original is None or evidence.control is None:
        return Audit((), ((QUESTION, NO_CONTROL),))
    inside, most = _members(scene, evidence.original), evidence.targets or MOST
    members, control = evidence.original.take(inside), evidence.control.take(evidence.control.complete_rows)
    if min(members.n_people, control.n_people // 2, most) < FEWEST:
        return Audit((), ((QUESTION, TOO_FEW),))
    judged = MembershipSample.of(members, control, max_members=most, rng=np.random.default_rng(evidence.seed))
    if len(judged.inside) < 2 * FEWEST:
        return Audit(
            (), ((QUESTION, f"{judged.twins:,} of those judged have the same record as one of the other kind"),)
        )
    known = _known(scene, judged)
    why = {adversary: evidence.unlike(names) for adversary, names in known.items()}
    release = replace(scene.table, quasi_identifiers=scene.table.columns, sensitive=(), kept=(), weight=None)
    margins = margins_of(judged.people, (release, judged.reference), judged.reference)
    asked = [
        _Judgment.of(scene.release, adversary, judged.known_by(names), release, margins)
        for adversary, names in known.items()
        if not why[adversary]
    ]
    if evidence.watched is not None:
        for one in asked:
            one.watch(evidence.watched, evidence.rows(inside[judged.member]))
    found = [one.audited() for one in asked]
    rows = [row for one in found for row in one.rows if row.adversary not in ALONE or one is found[-1]]
    told_apart = ((f"{QUESTION}, {adversary}", one) for adversary, one in why.items() if one)
    return Audit(tuple(rows), (*told_apart, *(line for one in found for line in one.not_run)))


def _members(scene: AttackedRelease, original: Table) -> NDArray[np.int64]:
    """The rows of the people of the original who are in the release: of those who take part, as far as their origin
    tells who was left out. Who a protection drops for what they are is no member, and others like them are control
    people: that they are told apart is true of the release.
    """
    everybody = original.complete_rows
    inside = everybody[np.isin(everybody, scene.origin)] if scene.traced else everybody
    return inside if len(inside) else everybody


def _known(scene: AttackedRelease, judged: MembershipSample) -> dict[str, list[str]]:
    """By adversary, the columns by which they know people: of those that are released."""
    there, table = set(judged.people.names), scene.table
    some = [column.name for column in table.quasi_identifiers if column.name in there]
    every = [name for name in table.names if name in there]
    return ({PROSECUTOR: some} if some else {}) | ({RECORD: every} if len(every) > len(some) else {})


@dataclass(frozen=True, eq=False)
class _Judgment:
    """What one adversary scores the people who are judged by.

    scores : by the name that each has alone
    rarity : (n_people,) how rare everybody is in the reference, by its margins
    """

    release: str
    adversary: str
    judged: MembershipSample
    scores: Mapping[str, Posterior]
    rarity: NDArray[np.float64]

    @classmethod
    def of(cls, name: str, adversary: str, judged: MembershipSample, release: Table, margins: Margins) -> Self:
        """By the columns that people are judged by; margins : of the release and of the reference, by all of theirs"""
        names = judged.people.names
        closest = ClosestRecord()(release, Background(judged.people))
        scores = {MARGINS: MarginalRatio().by(margins, names), CLOSEST: closest}
        return cls(name, adversary, judged, scores, -margins.log_shares(names)[1])

    @cached_property
    def score(self) -> Posterior:
        """One of all."""
        return join_scores(list(self.scores.values()), self.judged.inside)

    @cached_property
    def belief(self) -> Posterior:
        """What it is worth."""
        return cross_fit(list(self.scores.values()), self.judged.inside)

    def watch(self, watched: Watched, rows: NDArray[np.int64]) -> None:
        """Take down the members whom it is believed most that they are in: a twentieth, and those who equal them, of a
        belief that came true. rows : of each member
        """
        sure = self.belief.to_dense()[: len(rows), IN]
        worst = np.flatnonzero((sure > 0.5) & (sure >= np.quantile(sure, 1 - VULNERABLE_SHARE)))
        if self.belief.status == "calibrated" and len(worst):
            belief = replace(self.belief, observation=worst, weight=equal_weights(len(worst)))
            watched.see(belief, rows[worst], release=self.release, adversary=self.adversary, target=MEMBERSHIP)

    def audited(self) -> Audit:
        """The rows of all people, of the most vulnerable ones, and of each score alone."""
        judged, score, belief = self.judged, self.score, self.belief
        rare = self.rarity >= np.quantile(self.rarity, 1 - VULNERABLE_SHARE)  # the twentieth, and those who equal them
        found = audit(belief, judged.truth, target=MEMBERSHIP, measures=MEASURES, drawn_from=math.inf)
        of_all = evaluate_membership(score, judged.truth)
        alone = {name: evaluate_membership(one, judged.truth, adversary=name) for name, one in self.scores.items()}
        epsilon = replace(alone[MARGINS].rows[-1], note=COIN)
        rows = [*found.rows, *_rates(of_all), epsilon, self._correlation(), *self._rare(score, rare)]
        said = (
            *(replace(row, adversary=self.adversary) for row in rows),
            *chain.from_iterable(map(_rates, alone.values())),
        )
        missing = (*of_all.not_run, *found.not_run)
        whom = f"({self.adversary}, {MEMBERSHIP})"
        return Audit(tuple(map(self._filed, said)), tuple((f"{measure} {whom}", why) for measure, why in missing))

    def _rare(self, score: Posterior, rare: NDArray[np.bool_]) -> Sequence[Row]:
        """How far the most vulnerable ones are told apart; none where they are of one kind."""
        inside = self.judged.inside[rare]
        if inside.all() or not inside.any():
            return ()
        some = replace(score, observation=score.observation[rare], weight=equal_weights(len(inside)))
        return [
            replace(row, target=RARE) for row in _rates(evaluate_membership(some, Truth(np.where(inside, IN, OUT))))
        ]

    def _filed(self, row: Row) -> Row:
        """Of the release, with who was judged in its note."""
        judged = self.judged
        who = (
            f"{len(judged.inside) // 2:,} members and as many control people are judged; {judged.reference.n_rows:,} "
            "other control people are the reference"
        )
        if judged.twins:
            who += f"; {judged.twins:,} people were left out who have the same record as one of the other kind"
        own = "" if row.note.endswith(" control people") else row.note
        return replace(row, release=self.release, note="; ".join(filter(None, (own, who))))

    def _correlation(self) -> Row:
        """Of members: whether those who are rare are told to be in."""
        inside = self.judged.inside
        value = log_odds(self.score)[inside]
        rho, interval = rank_correlation(self.rarity[inside], value)
        n = len(value)
        return build_row(
            vulnerability_correlation,
            (0.0, rho),
            interval,
            (np.full(1, rho), np.ones(1)),
            n=n,
            n_observations=n,
            worst=rho,
            worst_observation=0,
            names=("", "", MEMBERSHIP, ""),
            status=self.score.status,
        )


def asked_of(
    scene: AttackedRelease, adversary: str, judged: MembershipSample, attack: Attack, *, rng: np.random.Generator
) -> Audit:
    """The rows of any attack whose candidates are "in" and "out": its own belief if it announces one, else that which
    its scores are worth, and how far it tells people apart.
    """
    counts = np.bincount(~judged.inside, minlength=2)
    if counts.min() < FEWEST:
        said = f"{counts[0]} members and {counts[1]} control people are judged: {TOO_FEW.partition(',')[0]}"
        raise UnmaskError(f"{said} after doubles are left out; hold more people back from the release")
    scores = attack(scene.table, Background(judged.people, judged.reference), rng=rng)
    belief = scores if scores.status != "scores" else cross_fit(scores, judged.inside)
    names: dict[str, Any] = {"release": scene.release, "adversary": adversary}
    found = audit(belief, judged.truth, **names, target=MEMBERSHIP, measures=MEASURES, drawn_from=math.inf)
    of_scores = evaluate_membership(scores, judged.truth, **names)
    return Audit((*found.rows, *of_scores.rows), (*found.not_run, *of_scores.not_run))


def _rates(found: MembershipRows) -> Sequence[Row]:
    """Without the bound on epsilon, which only scores bear that are fitted to nobody's truth."""
    return [row for row in found.rows if row.measure != epsilon_at_least.name]


def judged_of(population: Sample, made: Released, knows: Knowledge, rng: np.random.Generator) -> MembershipSample:
    """Members who are in the release, and as many control people, the others of whom are the reference: those held
    back, else those whom a protection that samples has left out. targets : how many of either kind
    """
    names = [column.name for column in made.release.quasi_identifiers] if knows.columns is None else knows.columns
    members, control = population.members, population.control
    if control is not None and (why := unlike(names, shift_by(names, members, control))):
        raise UnmaskError(why)
    if made.origin is not None:
        who = np.arange(members.n_rows) if members.person is None else members.person
        inside = np.isin(who, who[made.origin[made.origin >= 0]])
        members, control = members.take(inside), members.take(~inside) if control is None else control
    if control is None or not control.n_rows:
        raise UnmaskError(
            "everybody of the population is in the release, so nobody is told from them; hold people back"
        )
    return MembershipSample.of(members, control, max_members=knows.targets or MOST, rng=rng).known_by(names)
