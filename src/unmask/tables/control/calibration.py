"""Calibration of beliefs in values by control people, whose values are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from unmask.core.calibration_check import Check
from unmask.core.inference import HELD_OUT
from unmask.core.posterior import Posterior, Status, equal_weights
from unmask.core.truth import Truth
from unmask.measures import realized_success, success_probability
from unmask.tables.attacks.backoff import STRENGTHS

MAX_ERROR = 0.03
"""By how much announced success may be off."""

N_PARTS = 5
"""Parts of a half of the control people, each told by the others how much they count."""

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


def calibrate_by_control(belief: Posterior, control: Posterior, truth: Truth) -> tuple[Posterior, Posterior]:
    """Return the beliefs about people and about control people, calibrated by control people whose values are known.

    Each person is calibrated by the half of the control people without them; others are halved by turns, too. So no
    value has a part in the belief about its own person, and no member's value in any belief:

        p'(s | x) = (h_s + a p(s | x)) / (n + a)

    with n the people of that half with the same likeliest value t, and about as much, and h_s those of them
    who have s. "About as much" are the blocks of an isotonic regression (pool adjacent violators) of having t on
    p(t | x). a, one of `STRENGTHS`, makes the values of that half likeliest, each told by four fifths of it. A p above
    0 stays so.

    control : the same attack on control people, who count by their weights; truth : their values, of which those that
              no person could have before carry no information
    Where nothing told helps, as with few control people, or where p is right, a is 1e12 for either half, and both
    beliefs are returned as they are. Else the first is `calibrated` if announcements about control people were right,
    within 3 points, and they are at least 100; the check is in its `provenance["check"]`, both a in
    `provenance["strength"]` of either.

    A release that remembers its people tells more of them than of control people. What is believed of them is then too
    little, by their excess: no control person can tell an adversary that.

    C. Gupta & A. Ramdas, "Top-label calibration and multiclass-to-binary reductions", ICLR 2022 (one value at a time);
    B. Zadrozny & C. Elkan, "Transforming classifier scores into accurate multiclass probability estimates", KDD 2002
    (isotonic regression); the form is that of `BackOff`, with a column more.

    >>> sure = Posterior.from_dense(np.tile([0.9, 0.1], (400, 1)), status="model")
    >>> told, _ = calibrate_by_control(sure, sure, Truth(np.arange(400) // 240))
    >>> told.to_dense()[0].round(2), told.status
    (array([0.6, 0.4]), 'calibrated')
    """
    possible = np.broadcast_to(np.isfinite(control.log_prior), control.n_candidates)
    targets = np.flatnonzero((truth.candidate >= 0) & possible[truth.candidate] & (control.weight > 0))
    if len(targets) < 4:  # two in a half, one to tell the other
        return belief, control
    half = np.zeros(control.n_targets, dtype=np.int64)
    half[targets] = np.arange(len(targets)) % 2
    kinds, observation = _Kinds.of_rows(control), control.observation
    believed = kinds.p[observation, np.maximum(truth.candidate, 0)]
    people = _People(kinds.kind_of_row[observation], truth.candidate, believed, control.weight)
    halves = [people.only(targets[half[targets] == number]) for number in (0, 1)]
    models, strength = (
        [_Calibration.fit(half_of_people, kinds) for half_of_people in halves],
        tuple(_strength(half_of_people, kinds) for half_of_people in halves),
    )
    if set(strength) == {STRENGTHS[-1]}:
        return belief, control
    calibrated_control = _believed(control, kinds, half, models, strength, status=control.status)
    check = _check(calibrated_control, truth, targets)
    status: Status = belief.status if check.refuted or len(targets) < HELD_OUT else "calibrated"
    turn = np.arange(belief.n_targets) % 2
    calibrated = _believed(belief, _Kinds.of_rows(belief), turn, models, strength, status=status, check=str(check))
    return calibrated, calibrated_control


class _Kinds(NamedTuple):
    """The rows of a belief by the value that is believed most, and by how much.

    p  : (n_rows, n_values)
    kind_of_row : (n_rows,) the kind of each; top, sure : (n_kinds,) both of each kind, ascending
    """

    p: Floats
    kind_of_row: Numbers
    top: Numbers
    sure: Floats

    @classmethod
    def of_rows(cls, belief: Posterior) -> Self:
        """Return the same for all rows, with or without a target."""
        n = belief.n_observations
        p = replace(belief, observation=np.arange(n), weight=equal_weights(n)).to_dense()
        top = p.argmax(axis=1)
        sure = p[np.arange(len(p)), top]
        kinds, kind_of_row = np.unique(np.stack([top, sure]), axis=1, return_inverse=True)
        return cls(p, kind_of_row.reshape(-1), kinds[0].astype(np.int64), kinds[1])

    @property
    def n_values(self) -> int:
        """Return the number of values."""
        return int(self.p.shape[1])


class _People(NamedTuple):
    """The kind of belief about some people, the value that they have, how much it is believed, and what they weigh."""

    kind: Numbers
    value: Numbers
    own_belief: Floats
    weight: Floats

    def only(self, rows: Numbers | NDArray[np.bool_]) -> Self:
        """Return some of them."""
        return type(self)(self.kind[rows], self.value[rows], self.own_belief[rows], self.weight[rows])


class _Calibration(NamedTuple):
    """Calibration by some people: by value t, the p(t | x) at which blocks begin, and (n_blocks, n_values) who has
    what.
    """

    blocks: Mapping[int, tuple[Floats, Floats]]

    @classmethod
    def fit(cls, people: _People, kinds: _Kinds) -> Self:
        """Fit to the beliefs about people; their weights are scaled to the effective n."""
        weight, cells = people.weight, (len(kinds.top), kinds.n_values)
        weight = weight * weight.sum() / (weight @ weight)
        place = people.kind * kinds.n_values + people.value
        counted = np.bincount(place, weights=weight, minlength=cells[0] * cells[1])
        has: Floats = counted.astype(np.float64).reshape(cells)
        kinds_present = np.flatnonzero(np.bincount(people.kind, minlength=cells[0]))
        has, top, sure = has[kinds_present], kinds.top[kinds_present], kinds.sure[kinds_present]
        ends = [0, *(np.flatnonzero(np.diff(top)) + 1).tolist(), len(top)]
        return cls({int(top[i]): _blocks(has[i:j], int(top[i]), sure[i:j]) for i, j in pairwise(ends)})

    def counts(self, kinds: _Kinds) -> tuple[Floats, Floats]:
        """Return (n_kinds, n_values) h, and (n_kinds, 1) n; 0 for a likeliest value without people."""
        has = np.zeros((len(kinds.top), kinds.n_values))
        for t, (start, those) in self.blocks.items():
            block = slice(*np.searchsorted(kinds.top, (t, t + 1)).tolist())
            has[block] = those[np.maximum(np.searchsorted(start, kinds.sure[block], side="right") - 1, 0)]
        return has, has.sum(axis=1, keepdims=True)


def _blocks(has: Floats, t: int, sure: Floats) -> tuple[Floats, Floats]:
    """Return the blocks of the isotonic regression of who has t on the belief in t, ascending."""
    from scipy.optimize import isotonic_regression  # not at the top: half a second that only a calibration needs

    people = has.sum(axis=1)
    first = isotonic_regression(has[:, t] / people, weights=people).blocks[:-1]
    return sure[first], np.add.reduceat(has, first)


def _strength(people: _People, kinds: _Kinds) -> float:
    """Return a: what makes the values of a half of the people likeliest, each told by four fifths of it."""
    likely, turn = np.zeros(len(STRENGTHS)), np.arange(len(people.value)) % N_PARTS
    for mine in (turn == number for number in range(min(N_PARTS, len(turn)))):
        left_out = people.only(mine)
        has, n = _Calibration.fit(people.only(~mine), kinds).counts(kinds)
        has, n = has[left_out.kind, left_out.value], n[left_out.kind, 0]
        probability = [(has + a * left_out.own_belief) / (n + a) for a in STRENGTHS]
        likely += np.log(np.maximum(probability, 1e-300)) @ left_out.weight
    return STRENGTHS[-1 - int(np.argmax(likely[::-1]))]


def _believed(
    belief: Posterior,
    kinds: _Kinds,
    half: Numbers,
    models: Sequence[_Calibration],
    strength: tuple[float, ...],
    *,
    status: Status,
    **provenance: str,
) -> Posterior:
    """Return the belief about either half, calibrated by the other; kinds : of its rows."""
    p = kinds.p
    counts = ((*model.counts(kinds), a) for model, a in zip(models[::-1], strength[::-1], strict=True))
    return Posterior.from_dense(
        np.concatenate([(has[kinds.kind_of_row] + a * p) / (n[kinds.kind_of_row] + a) for has, n, a in counts]),
        prior=np.exp(np.broadcast_to(belief.log_prior, belief.n_candidates)),
        observation=belief.observation + half * len(p),
        weight=belief.weight,
        status=status,
        provenance={**belief.provenance, "strength": strength, **provenance},
        candidate_label=belief.candidate_label,
    )


def _check(control: Posterior, truth: Truth, targets: Numbers) -> Check:
    """Return whether announcements about control people were right."""
    assert realized_success.realized is not None
    announced, realized = success_probability.per_target(control), realized_success.realized(control, truth)
    return Check.of(announced[targets], realized[targets], control.weight[targets], within=MAX_ERROR)
