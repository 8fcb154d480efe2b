"""Membership inference by shadow releases: the adversary protects tables with and without each target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, Self

import numpy as np

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.calibration_check import Check
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, Status, log_odds
from unmask.core.randomness import secret_unless
from unmask.tables.attacks.membership import (
    ClosestRecord,
    MarginalRatio,
    belief_from_scores,
    fit_isotonic,
    fit_weights,
    reference_of,
    stack_people,
)
from unmask.tables.background import Attack, Background, Rng, people_of
from unmask.tables.table import Table

MIN_SHADOWS = 40
"""Number of shadow releases below which the status is `scores`."""

PRIOR_SHADOWS = 20
"""Weight of the median variance of all people, in shadow releases."""

MAX_EVIDENCE = 30.0
"""Largest absolute log-likelihood ratio of one score, in nats."""

MAX_ERROR = 0.03
"""Largest difference between predicted and actual success of a `calibrated` belief."""


class Protection(Protocol):
    """Protection of a table that can be run several times."""

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> tuple[Table, Integers]:
        """Return the release, and the input row of each released row; arbitrary for a generator."""


@dataclass(frozen=True)
class ShadowMembership:
    """Membership attack of an adversary who runs the protection on tables with and without each target.

    A shadow release is made from people in general, with or without the target ("in" or "out"). For a score s of the
    target, the log-likelihood ratio is

        log L(s) = ((s - mu_out)^2 - (s - mu_in)^2) / (2 v)

    with the means of s over shadow releases with and without the target, and the joint variance v. v is shrunk towards
    the median of all people with the weight of 20 releases.

    One logistic regression for all people combines the scores, and `membership.fit_isotonic` calibrates them. Both are
    fitted to other shadow releases than the means. The status is `calibrated` if the model of each half of the releases
    announces the other half correctly, within 3 points. With fewer than 40 releases it is `scores`. People with known
    membership are not needed.

    `population` must have as many people as the release has rows, and none of the targets.

    Assumes: the adversary knows the protection and its parameters. People in general are like the others in the
        release.

    Fails when: `population` is unlike the release, or the shadow releases are too few.

    Parameters
    ----------
    protection : Protection | None, optional
        Protection to run, applied to the known columns of the targets. None: the protection of the release, in a study.
    scores : tuple[Attack, ...], optional
        Attacks whose candidates are "in" and "out".
    shadows : int, optional
        Number of shadow releases, which all targets share.

    References
    ----------
    N. Carlini et al., "Membership inference attacks from first principles", IEEE S&P 2022, section V; T. Stadler, B.
    Oprisanu & C. Troncoso, "Synthetic data - anonymisation groundhog day", USENIX Security 2022, section 4.

    Examples
    --------
    >>> from unmask.tables import Suppress
    >>> release = Table.read({"age": list(range(20, 60, 2))}, quasi_identifiers="age")
    >>> in_general = Table.read({"age": list(range(21, 61, 2))}, quasi_identifiers="age")
    >>> known = Table.read({"age": [30, 71]}, quasi_identifiers="age")
    >>> attack = ShadowMembership(Suppress(k=1), shadows=10)
    >>> belief = attack(release, Background(known, in_general), rng=np.random.default_rng(0))
    >>> belief.candidates(0)[0].candidate, belief.status  # 10 shadow releases are too few to announce a probability
    ('in', 'scores')
    """

    asks: ClassVar = "membership"

    protection: Protection | None = None
    scores: tuple[Attack, ...] = (MarginalRatio(), ClosestRecord())
    shadows: int = 160

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", tuple(self.scores))
        if self.shadows < 8 or not self.scores:
            raise UnmaskError(f"{self.shadows} shadows and {len(self.scores)} scores, expected at least 8 and 1")

    def __call__(self, release: Table, knowledge: Background | None = None, *, rng: Rng = None) -> Posterior:
        """Return the belief about the known people, with even prior odds."""
        if self.protection is None:
            raise UnmaskError(f"{self!r} needs a protection; name the one that made the release")
        rng, people, reference = secret_unless(rng), people_of(knowledge, self), reference_of(knowledge, self)
        if not people.n_rows <= release.n_rows <= reference.n_rows:
            raise UnmaskError(
                f"{people.n_rows} targets, {release.n_rows} released rows and {reference.n_rows} people in general, "
                "expected at most as many targets as rows and at least as many people in general; give more people or "
                "fewer targets"
            )
        is_member = rng.random((self.shadows, people.n_rows)) < 0.5
        tables = _shadow_tables(people, reference, is_member, n_rows=release.n_rows, rng=rng)
        shadow_releases = (self.protection(table, rng=rng)[0] for table in tables)
        scores = np.stack([self._scores(table, knowledge, rng) for table in shadow_releases])
        evidence, check = _cross_fit_evidence(scores, is_member)
        of_release = _evidence(scores, is_member, self._scores(release, knowledge, rng)[None])
        p = _calibrated_probability(evidence, is_member, of_release)[0]
        belief = belief_from_scores(np.log(p) - np.log1p(-p), np.arange(people.n_rows), attack_name=repr(self))
        status: Status = "scores" if check.refuted or self.shadows < MIN_SHADOWS else "calibrated"
        return replace(belief, status=status, provenance={**belief.provenance, "check": str(check)})

    def with_protection(self, protection: Protection) -> Self:
        """Return this attack with the protection of the release, unless it has one."""
        return self if self.protection is not None else replace(self, protection=protection)

    def _scores(self, release: Table, knowledge: Background | None, rng: np.random.Generator) -> Floats:
        """Return (n_people, n_scores) log-odds of membership by each attack in `scores`."""
        scores = [log_odds(attack(release, knowledge, rng=rng)) for attack in self.scores]
        return np.clip(np.stack(scores, axis=1), -700, 700)


def _shadow_tables(
    people: Table, reference: Table, is_member: Booleans, *, n_rows: int, rng: np.random.Generator
) -> Iterator[Table]:
    """Yield a table of n_rows people for each row of `is_member`: the targets in the mask, filled up with the
    reference.
    """
    names = [column.name for column in people.quasi_identifiers if column.name in reference.names]
    stacked = stack_people(people, reference, names)
    for targets in is_member:
        reference_rows = rng.choice(reference.n_rows, n_rows - np.count_nonzero(targets), replace=False)
        yield stacked.take(np.concatenate([np.flatnonzero(targets), people.n_rows + reference_rows]))


def _cross_fit_evidence(scores: Floats, is_member: Booleans) -> tuple[Floats, Check]:
    """Return the evidence of each shadow release, estimated from the other half, and a check of its calibration."""
    evidence, p, half = np.empty(scores.shape), np.empty(is_member.shape), np.arange(len(is_member)) % 2 == 0
    for part in (half, ~half):
        evidence[part] = _evidence(scores[~part], is_member[~part], scores[part])
    for part in (half, ~half):
        p[part] = _calibrated_probability(evidence[~part], is_member[~part], evidence[part])
    return evidence, Check.of(np.maximum(p, 1 - p).ravel(), ((p > 0.5) == is_member).ravel(), within=MAX_ERROR)


def _evidence(scores: Floats, is_member: Booleans, targets: Floats) -> Floats:
    """Return (n_releases, n_people, n_scores) log L of the scores in `targets`, estimated from shadow releases.

    scores    : (n_shadows, n_people, n_scores) scores of the shadow releases
    is_member : (n_shadows, n_people) True where the person is in the shadow table
    targets   : (n_releases, n_people, n_scores) scores to evaluate
    """
    square, means = np.zeros(scores.shape[1:]), []
    for is_side in (is_member[..., None], ~is_member[..., None]):
        mean = (scores * is_side).sum(axis=0) / np.maximum(is_side.sum(axis=0), 1)
        square += ((scores - mean) ** 2 * is_side).sum(axis=0)
        means.append(np.where(is_side.any(axis=0), mean, np.nan))
    variance = square / (len(scores) - 2)
    spread = (PRIOR_SHADOWS * np.median(variance, axis=0) + len(scores) * variance) / (PRIOR_SHADOWS + len(scores))
    log_ratio = ((targets - means[1]) ** 2 - (targets - means[0]) ** 2) / (2 * np.maximum(spread, 1e-12))
    log_ratio = np.nan_to_num(log_ratio)  # no evidence about a person who is in all shadow tables, or in none
    return np.asarray(np.clip(log_ratio, -MAX_EVIDENCE, MAX_EVIDENCE))


def _calibrated_probability(evidence: Floats, is_member: Booleans, targets: Floats) -> Floats:
    """Return (n_releases, n_people) p(in) for the evidence in `targets`, calibrated on the shadow releases.

    A logistic regression of membership joins the evidence of all scores.
    """
    constant, *weight = fit_weights(evidence.reshape(-1, evidence.shape[-1]), is_member.reshape(-1))
    of_shadows, of_targets = (constant + item @ np.array(weight) for item in (evidence, targets))
    return np.asarray(np.interp(of_targets, *fit_isotonic(of_shadows.ravel(), is_member.ravel())))
