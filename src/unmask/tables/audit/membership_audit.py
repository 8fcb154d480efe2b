"""Membership inference: adversaries who know some columns of people separate members from the control group."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, log_odds
from unmask.core.truth import Truth
from unmask.findings.people_at_risk import Watched
from unmask.languages import mark
from unmask.measures import calibration_error, log_loss_bits, realized_success, success_probability
from unmask.measures.interval import Interval
from unmask.measures.measure import build_number_row
from unmask.measures.membership import (
    IN,
    OUT,
    RATES,
    MembershipRows,
    auc,
    epsilon_at_least,
    evaluate_membership,
    membership_success_at_most,
    rank_correlation,
    true_positive_rate,
    vulnerability_correlation,
)
from unmask.results import Row
from unmask.results.names import MEMBERSHIP, PROSECUTOR, RARE
from unmask.scoring import Audit, score
from unmask.tables.attacks import ClosestRecord, MarginalRatio
from unmask.tables.attacks.marginal_counts import Margins
from unmask.tables.audit.attacked_release import AttackedRelease
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, explain_shift
from unmask.tables.background import Attack, Background
from unmask.tables.control.holdout import Sample
from unmask.tables.control.membership_calibration import VULNERABLE_SHARE, MembershipSample, cross_fit, join_scores
from unmask.tables.control.similarity import shift_by
from unmask.tables.knowledge import Knowledge
from unmask.tables.protections.releasing import Released
from unmask.tables.table import Table

RECORD = "whole record"
"""The adversary who knows every released column of people, sensitive ones, too."""

MAX_MEMBERS = 1000
"""Default number of members, and of people of the control group, who are attacked."""

MIN_MEMBERS = 50
"""Smallest number of members, and of people of the control group, for false-positive rates."""

MARGINS, CLOSEST = "margins alone", "closest record alone"

COMPANIONS = (MARGINS, CLOSEST)
"""Single scores that are joined; the row of each is a companion, on which no verdict rests."""

COIN = "a bound only if chance decided, for each person alone, whether they are in the table"

MEASURES = (success_probability, realized_success, calibration_error, log_loss_bits)

MEMBERSHIP_MEASURES = (
    auc.name, *(true_positive_rate(rate).name for rate in RATES), epsilon_at_least.name, membership_success_at_most.name
)  # fmt: skip
"""Further measures of study cells."""

QUESTION = mark("Who is in the table")


def audit_membership(scene: AttackedRelease, knowledge: AuditorKnowledge) -> Audit:
    """Return the rows of adversaries who know quasi-identifiers, and of those who know whole records."""
    original, control_people = knowledge.original, knowledge.control
    if original is None or control_people is None:
        return Audit((), ((QUESTION, mark("needs the original and a control group (--original, --control)")),))
    inside, max_members = _member_rows(scene, original), knowledge.targets or MAX_MEMBERS
    members, control = original.take(inside), control_people.take(control_people.complete_rows)
    if min(members.n_people, control.n_people // 2, max_members) < MIN_MEMBERS:
        needed = f"needs {MIN_MEMBERS} members and a control group of {2 * MIN_MEMBERS} people, half of it as reference"
        return Audit((), ((QUESTION, needed),))
    sample = MembershipSample.of(members, control, max_members=max_members, rng=np.random.default_rng(knowledge.seed))
    if len(sample.inside) < 2 * MIN_MEMBERS:
        twins = f"{sample.twins:,} people of the sample have the same record as a person of the other kind"
        return Audit((), ((QUESTION, twins),))
    release = scene.table.known_by(scene.table.columns)
    margins = Margins.of(sample.people, (release, sample.reference), sample.reference)
    attacks, not_run = [], []
    for adversary, names in _known_columns(scene.table, sample).items():
        if reason := knowledge.explain_shift(names):
            not_run.append((f"{QUESTION}, {adversary}", reason))
        else:
            attacks.append(MembershipAttack.run(adversary, sample.known_by(names), release, margins))
    rows: list[Row] = []
    for attack in attacks:
        if knowledge.watched is not None:
            attack.record_risks(knowledge.watched, scene.release, knowledge.rows(inside[sample.member]))
        audited = attack.audit()
        rows += audited.rows
        not_run += audited.not_run
        protection = knowledge.protections.get(scene.release)
        rows += limit_by_epsilon(protection, sample, release=scene.release, adversary=attack.adversary)
    rows += attacks[-1].companion_rows() if attacks else ()
    return Audit(tuple(_describe_sample(row, scene.release, sample) for row in rows), tuple(not_run))


def _member_rows(scene: AttackedRelease, original: Table) -> Integers:
    """Return the rows of people of the original who are in the release, as far as their origin is known.

    Suppressed people are not members, and similar people belong to the control group. If the two differ, the release
    is the reason.
    """
    everybody = original.complete_rows
    members = everybody[np.isin(everybody, scene.origin)] if scene.traced else everybody
    return members if len(members) else everybody


def _known_columns(table: Table, sample: MembershipSample) -> dict[str, list[str]]:
    """Return the released columns by which adversaries know people."""
    available = set(sample.people.names)
    quasi_identifiers = [column.name for column in table.quasi_identifiers if column.name in available]
    columns = [name for name in table.names if name in available]
    return ({PROSECUTOR: quasi_identifiers} if quasi_identifiers else {}) | (
        {RECORD: columns} if len(columns) > len(quasi_identifiers) else {}
    )


def _describe_sample(row: Row, release: str, sample: MembershipSample) -> Row:
    n = len(sample.inside) // 2
    notes = [
        "" if row.note.endswith(" control group") else row.note,
        (
            f"{n:,} members and as many people of the control group are attacked; {sample.reference.n_rows:,} others "
            "are the reference"
        ),
        f"{sample.twins:,} people have the record of a person of the other kind and are left out"
        if sample.twins
        else "",
    ]
    return replace(row, release=release, note="; ".join(filter(None, notes)))


@dataclass(frozen=True, eq=False)
class MembershipAttack:
    """Scores of one adversary for members and the control group.

    Parameters
    ----------
    adversary : str
        Name of the adversary.
    sample : MembershipSample
        People, by the columns that the adversary knows.
    scores : mapping of Posterior
        Single scores by name, see `COMPANIONS`.
    rarity : (n_people,) array
        Rarity of each person in the reference, by its margins.
    """

    adversary: str
    sample: MembershipSample
    scores: Mapping[str, Posterior]
    rarity: Floats

    @classmethod
    def run(cls, adversary: str, sample: MembershipSample, release: Table, margins: Margins) -> Self:
        """Score people by the columns of the sample; `margins` are those of the release and of the reference."""
        names = sample.people.names
        closest = ClosestRecord()(release, Background(sample.people))
        scores = {MARGINS: MarginalRatio().score_margins(margins, names), CLOSEST: closest}
        return cls(adversary, sample, scores, -margins.log_shares(names)[1])

    @cached_property
    def score(self) -> Posterior:
        """The scores joined."""
        return join_scores(list(self.scores.values()), self.sample.inside)

    @cached_property
    def belief(self) -> Posterior:
        """The calibrated belief."""
        return cross_fit(list(self.scores.values()), self.sample.inside)

    @cached_property
    def companions(self) -> dict[str, MembershipRows]:
        """The rows of each score alone."""
        truth = self.sample.truth
        return {name: evaluate_membership(score, truth, adversary=name) for name, score in self.scores.items()}

    def companion_rows(self) -> list[Row]:
        """Return the rates of each score alone."""
        return [row for rows in self.companions.values() for row in _without_epsilon(rows.rows)]

    def audit(self) -> Audit:
        """Return the rows of all people and of the rarest ones."""
        audited = score(self.belief, self.sample.truth, target=MEMBERSHIP, measures=MEASURES, drawn_from=math.inf)
        rates = evaluate_membership(self.score, self.sample.truth)
        epsilon = replace(self.companions[MARGINS].rows[-1], note=COIN)
        rows = (*audited.rows, *_without_epsilon(rates.rows), epsilon, self._correlation(), *self._rates_of_rare())
        missing = (*rates.not_run, *audited.not_run)
        return Audit(
            tuple(replace(row, adversary=self.adversary) for row in rows),
            tuple((f"{measure} ({self.adversary}, {MEMBERSHIP})", reason) for measure, reason in missing),
        )

    def _rates_of_rare(self) -> list[Row]:
        """Return the rates of the rarest twentieth, ties included; none if they are all members or all others."""
        rare = self.rarity >= np.quantile(self.rarity, 1 - VULNERABLE_SHARE)
        inside = self.sample.inside[rare]
        if inside.all() or not inside.any():
            return []
        rates = evaluate_membership(self.score.take(rare), Truth(np.where(inside, IN, OUT)))
        return [replace(row, target=RARE) for row in _without_epsilon(rates.rows)]

    def _correlation(self) -> Row:
        """Return whether the score of members rises with their rarity."""
        inside = self.sample.inside
        scores = log_odds(self.score)[inside]
        rho, interval = rank_correlation(self.rarity[inside], scores)
        names = {"release": "", "adversary": "", "target": MEMBERSHIP, "status": self.score.status}
        return build_number_row(vulnerability_correlation, rho, interval, **names, prior=0.0, n=len(scores))

    def record_risks(self, watched: Watched, release: str, rows: Integers) -> None:
        """Add the twentieth of the members with the highest beliefs to the owner's list, if the belief is calibrated.

        `rows` has the row of each member.
        """
        probability = self.belief.to_dense()[: len(rows), IN]
        limit = np.quantile(probability, 1 - VULNERABLE_SHARE)
        highest = np.flatnonzero((probability > 0.5) & (probability >= limit))
        if self.belief.status == "calibrated" and len(highest):
            risky = self.belief.take(highest)
            watched.see(risky, rows[highest], release=release, adversary=self.adversary, target=MEMBERSHIP)


def limit_by_epsilon(protection: Any, sample: MembershipSample, **names: Any) -> list[Row]:
    """Return the largest success of any adversary, if the protection has an epsilon.

    names : release and adversary of the row
    """
    if (epsilon := getattr(protection, "epsilon", None)) is None:
        return []
    interval = Interval(None, None, "none: it is a limit itself")
    row = build_number_row(
        membership_success_at_most, 1 / (1 + math.exp(-epsilon)), interval, **names, target=MEMBERSHIP, prior=0.5,
        n=len(sample.inside), note="for a person who is in the table with probability 1/2",
    )  # fmt: skip
    return [row]


def _without_epsilon(rows: Iterable[Row]) -> Sequence[Row]:
    """Return rows without the bound on epsilon, which only holds for scores that are not fitted to any truth."""
    return [row for row in rows if row.measure != epsilon_at_least.name]


# ----- study cells


def measure_membership(
    scene: AttackedRelease, adversary: str, sample: MembershipSample, attack: Attack, *, rng: np.random.Generator
) -> tuple[Row, ...]:
    """Return the rows of any attack whose candidates are "in" and "out".

    Scores are calibrated; a belief that the attack announces is taken as it is.
    """
    n_members, n_control = np.bincount(~sample.inside, minlength=2).tolist()
    if min(n_members, n_control) < MIN_MEMBERS:
        raise UnmaskError(
            f"{n_members} members and {n_control} people of the control group are attacked, without doubles; needs "
            f"{MIN_MEMBERS} "
            f"members and a control group of {2 * MIN_MEMBERS} people: hold more people back from the release"
        )
    scores = attack(scene.table, Background(sample.people, sample.reference), rng=rng)
    belief = scores if scores.status != "scores" else cross_fit(scores, sample.inside)
    names: dict[str, Any] = {"release": scene.release, "adversary": adversary}
    audited = score(belief, sample.truth, **names, target=MEMBERSHIP, measures=MEASURES, drawn_from=math.inf)
    return (*audited.rows, *evaluate_membership(scores, sample.truth, **names).rows)


def sample_members(
    population: Sample, released: Released, knowledge: Knowledge, rng: np.random.Generator
) -> MembershipSample:
    """Draw members who are in the release, and as many people of the control group; the rest is the reference.

    The control group is the people held back, or those that a sampling protection left out.
    """
    if isinstance(knowledge.columns, int):
        raise UnmaskError(f"columns is {knowledge.columns}, expected names of columns in an attack on membership")
    columns = [column.name for column in released.release.quasi_identifiers]
    names = columns if knowledge.columns is None else knowledge.columns
    members, control = population.members, population.control
    if control is not None and (reason := explain_shift(names, shift_by(names, members, control))):
        raise UnmaskError(reason)
    if released.origin is not None:
        person = np.arange(members.n_rows) if members.person is None else members.person
        inside = np.isin(person, person[released.origin[released.origin >= 0]])
        members, control = members.take(inside), members.take(~inside) if control is None else control
    if control is None or not control.n_rows:
        raise UnmaskError("the release has everybody of the population, so there is no control group; hold people back")
    sample = MembershipSample.of(members, control, max_members=knowledge.targets or MAX_MEMBERS, rng=rng)
    return sample.known_by(names)
