"""Calibration of membership scores with people whose membership is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from unmask.core.arrays import Booleans, Floats, Integers
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
    fit_steps,
    fit_weights,
    stack_people,
)
from unmask.tables.column import classes_of
from unmask.tables.table import Table

N_FOLDS = 5
"""Folds of the cross-validated calibration."""

MAX_ERROR = 0.03
"""Largest difference between announced and realized success of a calibrated belief."""


def join_scores(beliefs: Sequence[Posterior], inside: Booleans) -> Posterior:
    """Combine several membership scores into one, because the best score depends on the protection.

    The combined score is the log-odds of a logistic regression of membership. Its inputs are the log-odds of each score
    after isotonic regression (`fit_isotonic`). The model for each half of the people is fitted to the other half, so
    that no person's membership enters their own score.

    Parameters
    ----------
    beliefs : sequence of Posterior
        Scores of the same people.
    inside : (n_targets,) array of bool
        True for members.

    Returns
    -------
    Posterior
        With status `scores`.
    """
    inside = _check_inside(inside, beliefs, fewest=2)
    scores, score = _scores(beliefs), np.empty(len(inside))
    for half in _folds(inside, n=2):
        score[half] = _fit_combination(scores, inside, ~half)(half)
    return belief_from_scores(score, np.arange(len(score)), attack_name=_attack_names(beliefs))


def _check_inside(inside: Booleans, beliefs: Sequence[Posterior], *, fewest: int) -> Booleans:
    """Return the mask of members; raise an error if the members or the control group are too few."""
    inside = check_mask(inside, beliefs[0].n_targets)
    members, control = np.bincount(~inside, minlength=2).tolist()
    if min(members, control) < fewest:
        raise UnmaskError(
            f"{members} members and a control group of {control}, expected at least {fewest} people of each"
        )
    return inside


def _scores(beliefs: Sequence[Posterior]) -> list[Floats]:
    return [np.clip(log_odds(belief), -1e3, 1e3) for belief in beliefs]


def _attack_names(beliefs: Sequence[Posterior]) -> str:
    return " and ".join(belief.provenance["attack"] for belief in beliefs)


def _fit_combination(scores: Sequence[Floats], inside: Booleans, people: Booleans) -> Callable[[Booleans], Floats]:
    """Fit the combined score to some people, and return the function that computes it for a selection of people."""
    calibrations = [fit_isotonic(score[people], inside[people]) for score in scores]

    def log_odds_of(chosen: Booleans) -> Floats:
        return np.stack(
            [
                _log_odds(np.interp(score[chosen], *calibration))
                for score, calibration in zip(scores, calibrations, strict=True)
            ],
            axis=1,
        )

    constant, *weight = fit_weights(log_odds_of(people), inside[people])
    return lambda points: np.asarray(constant + log_odds_of(points) @ np.array(weight))


def _log_odds(p: Floats) -> Floats:
    return np.asarray(np.log(p) - np.log1p(-p))


def _folds(inside: Booleans, people: Booleans | None = None, n: int = N_FOLDS) -> list[Booleans]:
    """Split the people, or a selection, into n stratified folds; fewer than n if there are fewer members or others."""
    is_chosen = np.ones(len(inside), dtype=np.bool_) if people is None else people
    counts, fold = np.bincount(~inside[is_chosen], minlength=2), np.full(len(inside), -1)
    for is_kind in (inside & is_chosen, ~inside & is_chosen):
        fold[is_kind] = np.arange(np.count_nonzero(is_kind)) % min(n, counts.min())
    return [fold == number for number in range(fold.max() + 1)]


def cross_fit(belief: Posterior | Sequence[Posterior], inside: Booleans) -> Posterior:
    """Calibrate membership scores by five-fold cross-validation, with even prior odds.

    The belief about the people of a fold is `attacks.membership.fit_steps` of the people in the other folds.

    Several scores are combined as in `join_scores`. The people of the other folds are halved for this: one half fits
    the combination, the other half calibrates it, and then the halves change roles. The belief is the mean of the two.
    A combination and a calibration fitted to the same people are biased: in Chow-Liu networks of 1,000 people,
    probabilities of 30 to 40 % were 5 points too low; with halves they are 1 point too low.

    Parameters
    ----------
    belief : Posterior or sequence of Posterior
        One score, or several scores of the same people.
    inside : (n_targets,) array of bool
        True for members.

    Returns
    -------
    Posterior
        Members have half of the total weight, so that means are at even odds, too. The status is `calibrated` if
        the success announced for held-out people is right within 3 points, and there are at least 100 members and 100
        others; otherwise it stays `scores`. The check is in `provenance["check"]`.
    """
    beliefs = [belief] if isinstance(belief, Posterior) else list(belief)
    inside = _check_inside(inside, beliefs, fewest=2 if len(beliefs) == 1 else 3)  # one left out, and the rest halved
    scores, p = _scores(beliefs), np.empty(len(inside))
    for fold in _folds(inside):
        if len(scores) == 1:
            p[fold] = _calibrate(scores[0], inside, ~fold, fold)
        else:
            p[fold] = _combine_and_calibrate(scores, inside, ~fold, fold)
    counts = np.bincount(~inside, minlength=2)
    attack_names = {"attack": _attack_names(beliefs)} if len(scores) > 1 else {}
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


def _calibrate(score: Floats, inside: Booleans, fitted_on: Booleans, targets: Booleans) -> Floats:
    """Return the calibrated probabilities of the targets, fitted on other people."""
    steps, p = fit_steps(score[fitted_on], inside[fitted_on])
    return np.asarray(p[np.searchsorted(steps, score[targets])])


def _combine_and_calibrate(
    scores: Sequence[Floats], inside: Booleans, fitted_on: Booleans, targets: Booleans
) -> Floats:
    """Return the same for several scores: one half fits the combination, the other half calibrates it."""
    beliefs, halves = [], _folds(inside, fitted_on, n=2)
    for first_half, second_half in (halves, halves[::-1]):
        score = _fit_combination(scores, inside, first_half)(np.ones(len(inside), dtype=np.bool_))
        beliefs.append(_calibrate(score, inside, second_half, targets))
    return np.asarray(np.mean(beliefs, axis=0))


@dataclass(frozen=True, eq=False)
class MembershipSample:
    """Sample of people for membership attacks: equal numbers of members and others, and a reference.

    Parameters
    ----------
    people : Table
        People whose membership is tested, with the columns that the adversary knows. Members come first.
    inside : (n_people,) array of bool
        True for members.
    reference : Table
        The rest of the control group, which is not tested.
    member : (n_people / 2,) array of int
        Row of each member in the table of members.
    twins : int
        Number of people who were left out because a person of the other group has the same record. Their membership
        is undefined.

    Notes
    -----
    People who agree in the known columns only are kept, and share a score. Without them only rare records would be
    tested, and the result would depend on the sample size (Adult, five columns, k = 10: AUC 0.53 for 1,000 members and
    0.57 for 8,000; with them 0.52 for both).
    """

    people: Table
    inside: Booleans
    reference: Table
    member: Integers
    twins: int = 0

    @classmethod
    def of(cls, members: Table, control: Table, *, max_members: int, rng: np.random.Generator) -> Self:
        """Draw equal numbers of members and others: at most `max_members`, and at most half of the control group.

        The sample has the columns that both tables have. If a person has several rows, one row is drawn.
        """
        names = [name for name in members.names if name in control.names]
        n = min(max_members, members.n_people, control.n_people // 2)
        drawn, control_people = members.draw_row_of_each_person(rng)[:n], control.draw_row_of_each_person(rng)
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
        """Return the same people with a selection of their columns."""
        people, reference = (table.known_by(map(table.column, names)) for table in (self.people, self.reference))
        return replace(self, people=people, reference=reference)

    @property
    def truth(self) -> Truth:
        """Return the membership of each person, "in" or "out"."""
        return Truth(np.where(self.inside, IN, OUT))


VULNERABLE_SHARE = 0.05
"""Share of the most vulnerable people, who are evaluated separately."""


def find_twins(people: Table, inside: Booleans) -> Booleans:
    """Return a mask of people whose record a person of the other group has, too."""
    classes, inside = classes_of(people.quasi_identifiers), check_mask(inside, people.n_rows)
    has_members, has_others = (
        np.bincount(classes.of_row[in_group], minlength=len(classes.sizes)) > 0 for in_group in (inside, ~inside)
    )
    return np.asarray((has_members & has_others)[classes.of_row])
