"""Calibration of membership scores by people whose membership is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from unmask.core.calibration_check import Check
from unmask.core.errors import UnmaskError
from unmask.core.inference import HELD_OUT
from unmask.core.posterior import Posterior, log_odds
from unmask.core.truth import Truth
from unmask.measures.excess import check_mask
from unmask.measures.membership import IN, OUT
from unmask.tables.attacks.membership import (
    LABELS,
    belief_from_scores,
    fit_isotonic,
    fit_logistic,
    fit_steps,
    stack_people,
)
from unmask.tables.column import classes_of
from unmask.tables.table import Table

Floats = NDArray[np.float64]
Among = NDArray[np.bool_]

N_FOLDS = 5
"""Parts of the people, each of which is calibrated by the others."""

MAX_ERROR = 0.03
"""By how much announced success may be off."""


def join_scores(beliefs: Sequence[Posterior], inside: NDArray[np.bool_]) -> Posterior:
    """Return one score of several: which of them tells depends on how a release was made.

    It is the log-odds of a logistic regression of membership on the log-odds of each score by `fit_isotonic`. Each
    half of members and control people has it from the other half, so that no person has a part in their own.

    inside : (n_targets,) who is a member
    Its status is `scores`.
    """
    inside = _who_is_in(inside, beliefs, fewest=2)
    scores, score = _scores(beliefs), np.empty(len(inside))
    for half in _folds(inside, n=2):
        score[half] = _joining(scores, inside, ~half)(half)
    return belief_from_scores(score, np.arange(len(score)), attack_name=_attack_names(beliefs))


def _who_is_in(inside: Among, beliefs: Sequence[Posterior], *, fewest: int) -> Among:
    """Return who is a member, and raise an error for too few members or control people."""
    inside = check_mask(inside, beliefs[0].n_targets)
    members, control = np.bincount(~inside, minlength=2).tolist()
    if min(members, control) < fewest:
        raise UnmaskError(f"{members} members and {control} control people, expected at least {fewest} of each")
    return inside


def _scores(beliefs: Sequence[Posterior]) -> list[Floats]:
    return [np.clip(log_odds(belief), -1e3, 1e3) for belief in beliefs]


def _attack_names(beliefs: Sequence[Posterior]) -> str:
    return " and ".join(belief.provenance["attack"] for belief in beliefs)


def _joining(scores: Sequence[Floats], inside: Among, people: Among) -> Callable[[Among], Floats]:
    """Return the score of several that some people tell, of whomever."""
    calibrations = [fit_isotonic(score[people], inside[people]) for score in scores]

    def log_odds_of(chosen: Among) -> Floats:
        return np.stack(
            [
                _log_odds(np.interp(score[chosen], *calibration))
                for score, calibration in zip(scores, calibrations, strict=True)
            ],
            axis=1,
        )

    constant, *weight = fit_logistic(log_odds_of(people), inside[people])
    return lambda points: np.asarray(constant + log_odds_of(points) @ np.array(weight))


def _log_odds(p: Floats) -> Floats:
    return np.asarray(np.log(p) - np.log1p(-p))


def _folds(inside: Among, people: Among | None = None, n: int = N_FOLDS) -> list[Among]:
    """Return parts of the people, or of some of them, each with as large a part of the members as of the others; fewer
    than n where there are fewer of a kind.
    """
    is_chosen = np.ones(len(inside), dtype=np.bool_) if people is None else people
    counts, fold = np.bincount(~inside[is_chosen], minlength=2), np.full(len(inside), -1)
    for is_kind in (inside & is_chosen, ~inside & is_chosen):
        fold[is_kind] = np.arange(np.count_nonzero(is_kind)) % min(n, counts.min())
    return [fold == number for number in range(fold.max() + 1)]


def cross_fit(belief: Posterior | Sequence[Posterior], inside: NDArray[np.bool_]) -> Posterior:
    """Return the belief that rises with the scores as they held on other people: each fifth of members and control
    people is calibrated by the scores of the others, with even odds before.

    inside : (n_targets,) who is a member
    The belief is `attacks.membership.fit_steps` of the others. Of several scores, joined as in `join_scores`, the
    others are halved: either half joins the scores, and the other one tells what they are then worth; the belief is the
    mean of the two. So the calibration is of the same score, and uses no person's own truth. (Joined by all and then
    told by all, it was of a score joined otherwise: of Chow-Liu networks of 1,000 people, people who were believed to
    be in with 30 to 40 % were 5 points oftener in; so they are 1.)

    Members weigh half of all, so that means are at even odds, too. The status is `calibrated` if what is announced of
    people held out is right, within 3 points, of at least 100 of either kind; else it stays `scores`. The check is in
    `provenance["check"]`.
    """
    beliefs = [belief] if isinstance(belief, Posterior) else list(belief)
    inside = _who_is_in(inside, beliefs, fewest=2 if len(beliefs) == 1 else 3)  # one left out, and the rest halved
    scores, p = _scores(beliefs), np.empty(len(inside))
    for fold in _folds(inside):
        p[fold] = (
            _calibrated(scores[0], inside, ~fold, fold) if len(scores) == 1 else _joined(scores, inside, ~fold, fold)
        )
    counts, attack_names = (
        np.bincount(~inside, minlength=2),
        {"attack": _attack_names(beliefs)} if len(scores) > 1 else {},
    )
    weight = 0.5 / counts[np.where(inside, 0, 1)]
    is_right = np.where(p == 0.5, 0.5, (p > 0.5) == inside)
    check = Check.of(np.maximum(p, 1 - p), is_right, weight / weight.max(), within=MAX_ERROR)
    return Posterior.from_dense(
        np.stack([p, 1 - p], axis=1),
        weight=weight,
        status="calibrated" if not check.refuted and counts.min() >= HELD_OUT else "scores",
        provenance={**beliefs[0].provenance, **attack_names, "check": str(check)},
        candidate_label=LABELS,
    )


def _calibrated(score: Floats, inside: Among, fitted_on: Among, targets: Among) -> Floats:
    """Return the calibrated probabilities of some people from the scores of others."""
    steps, p = fit_steps(score[fitted_on], inside[fitted_on])
    return np.asarray(p[np.searchsorted(steps, score[targets])])


def _joined(scores: Sequence[Floats], inside: Among, fitted_on: Among, targets: Among) -> Floats:
    """Return the same for several scores, which either half joins for the other."""
    beliefs, halves = [], _folds(inside, fitted_on, n=2)
    for first_half, second_half in (halves, halves[::-1]):
        score = _joining(scores, inside, first_half)(np.ones(len(inside), dtype=np.bool_))
        beliefs.append(_calibrated(score, inside, second_half, targets))
    return np.asarray(np.mean(beliefs, axis=0))


@dataclass(frozen=True, eq=False)
class MembershipSample:
    """Sample of people for membership attacks: as many members as control people, and people in general.

    people : those who are judged, by what is known of them; inside : (n_people,) who is a member
    reference : control people who are not judged
    member : (n_people / 2,) the row of each member in the table of members, the first half of the people
    twins : how many were left out, because a person of the other kind has the same record: they are neither in nor out

    People who are alike in what an adversary knows, and not in all columns, stay: they share a score. Without them only
    the rare would be judged, and rarer ones the more are drawn (Adult, five columns, k = 10: AUC 0.53 of 1,000 of
    either kind, 0.57 of 8,000; with them 0.52 of either number).
    """

    people: Table
    inside: NDArray[np.bool_]
    reference: Table
    member: NDArray[np.int64]
    twins: int = 0

    @classmethod
    def of(cls, members: Table, control: Table, *, max_members: int, rng: np.random.Generator) -> Self:
        """Return half of the control people, at most so many, and as many members, by the columns that both tables
        have; of people with several rows by one of these, drawn at random.
        """
        names = [name for name in members.names if name in control.names]
        n = min(max_members, members.n_people, control.n_people // 2)
        drawn, control_people = members.one_each(rng)[:n], control.one_each(rng)
        people = stack_people(members.take(drawn), control.take(control_people[:n]), names)
        inside = np.arange(2 * n) < n
        is_distinct = ~find_twins(people, inside)
        rows_of_kind = [np.flatnonzero(is_distinct & is_kind) for is_kind in (inside, ~inside)]
        m = min(map(len, rows_of_kind))
        return cls(
            people=people.take(np.concatenate([rows[:m] for rows in rows_of_kind])),
            inside=np.arange(2 * m) < m,
            reference=stack_people(control.take(control_people[n:]), None, names),
            member=drawn[rows_of_kind[0][:m]],
            twins=int(np.count_nonzero(~is_distinct)),
        )

    def known_by(self, names: Sequence[str]) -> Self:
        """Return the same people by some of their columns."""
        tables = (
            replace(table, quasi_identifiers=tuple(map(table.column, names))) for table in (self.people, self.reference)
        )
        people, reference = tables
        return replace(self, people=people, reference=reference)

    @property
    def truth(self) -> Truth:
        """Return the truth: "in" or "out" for each person."""
        return Truth(np.where(self.inside, IN, OUT))


VULNERABLE_SHARE = 0.05
"""Share of the people who are judged apart."""


def find_twins(people: Table, inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return (n_people,) who is alike, cell for cell, with a person of the other kind: neither in nor out, to be left
    out.
    """
    alike, inside = classes_of(people.quasi_identifiers), check_mask(inside, people.n_rows)
    is_in_both = np.logical_and(
        *(np.bincount(alike.of_row[is_kind], minlength=len(alike.sizes)) > 0 for is_kind in (inside, ~inside))
    )
    return np.asarray(is_in_both[alike.of_row])
