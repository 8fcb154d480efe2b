"""Is this person in the release? The adversary knows how it was made, and makes it again, with them and without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from unmask.core.calibration_check import Check
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, Status, log_odds
from unmask.core.randomness import secret_unless
from unmask.tables.attacks.membership import (
    ClosestRecord,
    MarginalRatio,
    belief_from_scores,
    fit_isotonic,
    fit_logistic,
    reference_of,
    stack_people,
)
from unmask.tables.background import Attack, Background, Rng, people_of
from unmask.tables.table import Table

Floats = NDArray[np.float64]

MIN_SHADOWS = 40
"""Shadows below which nothing is announced."""

PRIOR_SHADOWS = 20
"""Shadows that the median spread of all people counts for, beside a person's own."""

MAX_EVIDENCE = 30.0
"""Evidence beyond which one shadow is no stronger, in nats."""

MAX_ERROR = 0.03
"""By how much announced success may be off."""


class Protection(Protocol):
    """Protection of a table that can be run again."""

    def __call__(self, table: Table, *, rng: np.random.Generator | None = None) -> tuple[Table, NDArray[np.int64]]:
        """Return the release, and the row behind each of its rows; of a generator, any."""


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
        Protection to run again, with the columns that are known of the targets. None: the protection of the release, in
        a study.
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
        """Return the belief about the people known, with even odds before."""
        if self.protection is None:
            raise UnmaskError(f"{self!r} needs a protection; name the one that made the release")
        rng, people, reference = secret_unless(rng), people_of(knowledge, self), reference_of(knowledge, self)
        if not people.n_rows <= release.n_rows <= reference.n_rows:
            raise UnmaskError(
                f"{people.n_rows} targets, {release.n_rows} released rows and {reference.n_rows} people in general; "
                "worlds as large as the release are drawn from people in general and the targets: give more people, "
                "or fewer targets"
            )
        inside = rng.random((self.shadows, people.n_rows)) < 0.5
        worlds = _worlds(people, reference, inside, n_rows=release.n_rows, rng=rng)
        again = (self.protection(world, rng=rng)[0] for world in worlds)
        scores = np.stack([self._scores(world, knowledge, rng) for world in again])
        evidence, check = _held_out(scores, inside)
        p = _believed(evidence, inside, _evidence(scores, inside, self._scores(release, knowledge, rng)[None]))[0]
        belief = belief_from_scores(np.log(p) - np.log1p(-p), np.arange(people.n_rows), attack_name=repr(self))
        status: Status = "scores" if check.refuted or self.shadows < MIN_SHADOWS else "calibrated"
        return replace(belief, status=status, provenance={**belief.provenance, "check": str(check)})

    def knowing(self, protection: Protection) -> Self:
        """Return the same with the protection of the release, unless there is one."""
        return self if self.protection is not None else replace(self, protection=protection)

    def _scores(self, release: Table, knowledge: Background | None, rng: np.random.Generator) -> Floats:
        """Return (n_people, n_scores)."""
        scores = [log_odds(attack(release, knowledge, rng=rng)) for attack in self.scores]
        return np.clip(np.stack(scores, axis=1), -700, 700)


def _worlds(
    people: Table, reference: Table, inside: NDArray[np.bool_], *, n_rows: int, rng: np.random.Generator
) -> Iterator[Table]:
    """Yield a table of n_rows people for each row of `inside`: those targets, and people of the reference."""
    names = [column.name for column in people.quasi_identifiers if column.name in reference.names]
    everybody = stack_people(people, reference, names)
    for targets in inside:
        reference_rows = rng.choice(reference.n_rows, n_rows - np.count_nonzero(targets), replace=False)
        yield everybody.take(np.concatenate([np.flatnonzero(targets), people.n_rows + reference_rows]))


def _held_out(scores: Floats, inside: NDArray[np.bool_]) -> tuple[Floats, Check]:
    """Return the evidence of each world by those of the other half, and whether its announcements are right."""
    evidence, p, half = np.empty(scores.shape), np.empty(inside.shape), np.arange(len(inside)) % 2 == 0
    for part in (half, ~half):
        evidence[part] = _evidence(scores[~part], inside[~part], scores[part])
    for part in (half, ~half):
        p[part] = _believed(evidence[~part], inside[~part], evidence[part])
    return evidence, Check.of(np.maximum(p, 1 - p).ravel(), ((p > 0.5) == inside).ravel(), within=MAX_ERROR)


def _evidence(scores: Floats, inside: NDArray[np.bool_], wanted: Floats) -> Floats:
    """Return (n_asked, n_people, n_scores) log L of scores, by the worlds seen.

    scores : (n_worlds, n_people, n_scores); inside : (n_worlds, n_people); wanted : (n_asked, n_people, n_scores)
    """
    square, means = np.zeros(scores.shape[1:]), []
    for is_side in (inside[..., None], ~inside[..., None]):
        mean = (scores * is_side).sum(axis=0) / np.maximum(is_side.sum(axis=0), 1)
        square += ((scores - mean) ** 2 * is_side).sum(axis=0)
        means.append(np.where(is_side.any(axis=0), mean, np.nan))
    variance = square / (len(scores) - 2)
    spread = (PRIOR_SHADOWS * np.median(variance, axis=0) + len(scores) * variance) / (PRIOR_SHADOWS + len(scores))
    log_ratio = ((wanted - means[1]) ** 2 - (wanted - means[0]) ** 2) / (2 * np.maximum(spread, 1e-12))
    log_ratio = np.nan_to_num(log_ratio)  # of one who was never in, or never out, nothing is known
    return np.asarray(np.clip(log_ratio, -MAX_EVIDENCE, MAX_EVIDENCE))


def _believed(evidence: Floats, inside: NDArray[np.bool_], wanted: Floats) -> Floats:
    """Return (n_asked, n_people) p(in), as far as the evidence was right."""
    of_known, of_asked = (_joined(evidence, inside, item) for item in (evidence, wanted))
    return np.asarray(np.interp(of_asked, *fit_isotonic(of_known.ravel(), inside.ravel())))


def _joined(evidence: Floats, inside: NDArray[np.bool_], wanted: Floats) -> Floats:
    """Return (n_asked, n_people) log-odds: logistic regression of who is in on the evidence of all scores."""
    constant, *weight = fit_logistic(evidence.reshape(-1, evidence.shape[-1]), inside.reshape(-1))
    return np.asarray(constant + wanted @ np.array(weight))
