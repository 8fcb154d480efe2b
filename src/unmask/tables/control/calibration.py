"""Calibration of attribute inference with a control group, whose sensitive values are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.calibration_check import Check
from unmask.core.inference import HELD_OUT
from unmask.core.posterior import Posterior, Status, equal_weights
from unmask.core.truth import Truth
from unmask.measures import realized_success, success_probability
from unmask.tables.attacks.backoff import STRENGTHS

MAX_ERROR = 0.03
"""Largest difference between announced and realized success of a calibrated belief."""

N_FOLDS = 5
"""Folds of the cross-validation that chooses the strength of the calibration."""


def calibrate_by_control(belief: Posterior, control: Posterior, truth: Truth) -> tuple[Posterior, Posterior]:
    """Calibrate beliefs in sensitive values with a control group whose values are known.

    The calibrated belief is a weighted mean of the belief and of frequencies in the control group:

        p'(s | x) = (h_s + a p(s | x)) / (n + a)

    n counts the people of a calibration half who have the same likeliest value t and a similar p(t | x); h_s counts
    those of them whose value is s. People are similar if the isotonic regression of "has t" on p(t | x) puts them into
    one block. The strength a, one of `STRENGTHS`, maximizes the likelihood of the half in five-fold cross-validation.

    The control group is split into halves. Each half is calibrated by the other, and attacked people alternate between
    the halves. Therefore no person's value enters the belief about this person. Positive probabilities stay positive.

    Parameters
    ----------
    belief : Posterior
        Belief about the attacked people.
    control : Posterior
        Belief of the same attack about the control group, with a weight for each person.
    truth : Truth
        Values of the control group. Values with prior probability 0 are not used.

    Returns
    -------
    tuple of two Posterior
        Calibrated beliefs about the attacked people and about the control group. If calibration does not help, for
        example because the group is small or p is right already, both beliefs are returned unchanged.
        Otherwise the first has status `calibrated` if the control group has at least 100 people and their announced
        success is right within 3 points. Its `provenance["check"]` has this check; `provenance["strength"]` has a for
        each half.

    Notes
    -----
    A release that memorizes its people reveals more about them than about a control group. The calibrated belief then
    understates their risk by the excess: no control group can show it.

    References
    ----------
    C. Gupta & A. Ramdas, "Top-label calibration and multiclass-to-binary reductions", ICLR 2022; B. Zadrozny & C.
    Elkan, "Transforming classifier scores into accurate multiclass probability estimates", KDD 2002. The formula is
    that of `BackOff`, with one more column.

    Examples
    --------
    >>> confident = Posterior.from_dense(np.tile([0.9, 0.1], (400, 1)), status="model")
    >>> calibrated, _ = calibrate_by_control(confident, confident, Truth(np.arange(400) // 240))
    >>> calibrated.to_dense()[0].round(2), calibrated.status
    (array([0.6, 0.4]), 'calibrated')
    """
    possible = np.broadcast_to(np.isfinite(control.log_prior), control.n_candidates)
    targets = np.flatnonzero((truth.candidate >= 0) & possible[truth.candidate] & (control.weight > 0))
    if len(targets) < 4:  # each half needs two people for cross-validation
        return belief, control
    half = np.zeros(control.n_targets, dtype=np.int64)
    half[targets] = np.arange(len(targets)) % 2
    rows, observation = _Rows.of(control), control.observation
    p_value = rows.probabilities[observation, np.maximum(truth.candidate, 0)]
    people = _People(rows.group_of_row[observation], truth.candidate, p_value, control.weight)
    halves = [people.take(targets[half[targets] == number]) for number in (0, 1)]
    calibrations = [(_fit_blocks(people, rows), _choose_strength(people, rows)) for people in halves]
    if {strength for _, strength in calibrations} == {STRENGTHS[-1]}:
        return belief, control
    calibrated_control = _calibrate(control, rows, half, calibrations, status=control.status)
    check = _check(calibrated_control, truth, targets)
    status: Status = belief.status if check.refuted or len(targets) < HELD_OUT else "calibrated"
    alternating = np.arange(belief.n_targets) % 2
    calibrated = _calibrate(belief, _Rows.of(belief), alternating, calibrations, status=status, check=str(check))
    return calibrated, calibrated_control


class _Rows(NamedTuple):
    """Rows of a belief, grouped by their likeliest value and its probability.

    probabilities : (n_rows, n_values)
    group_of_row : (n_rows,) number of each row's group
    top, confidence : (n_groups,) likeliest value and its probability, in ascending order
    """

    probabilities: Floats
    group_of_row: Integers
    top: Integers
    confidence: Floats

    @classmethod
    def of(cls, belief: Posterior) -> Self:
        """Group all rows of a belief, including rows without a target."""
        n = belief.n_observations
        p = replace(belief, observation=np.arange(n), weight=equal_weights(n)).to_dense()
        top = p.argmax(axis=1)
        confidence = p[np.arange(len(p)), top]
        groups, group_of_row = np.unique(np.stack([top, confidence]), axis=1, return_inverse=True)
        return cls(p, group_of_row.reshape(-1), groups[0].astype(np.int64), groups[1])

    @property
    def n_values(self) -> int:
        """Return the number of values."""
        return int(self.probabilities.shape[1])


class _People(NamedTuple):
    """People of a control group.

    group : group of the row of their belief, see `_Rows`
    value : their sensitive value
    p_value : probability of this value in the belief
    weight : their weight
    """

    group: Integers
    value: Integers
    p_value: Floats
    weight: Floats

    def take(self, rows: Integers | Booleans) -> Self:
        """Return a selection of the people."""
        return type(self)(self.group[rows], self.value[rows], self.p_value[rows], self.weight[rows])


_Blocks = Mapping[int, tuple[Floats, Floats]]
"""Isotonic regression of "has t" on p(t | x) for each likeliest value t: p(t | x) at which each block starts, and
(n_blocks, n_values) counts of values.
"""


def _fit_blocks(people: _People, rows: _Rows) -> _Blocks:
    """Fit the regressions, with weights scaled to the effective number of people."""
    from scipy.optimize import isotonic_regression  # importing it takes half a second

    weight, shape = people.weight, (len(rows.top), rows.n_values)
    weight = weight * weight.sum() / (weight @ weight)
    cell = people.group * rows.n_values + people.value
    all_counts = np.bincount(cell, weights=weight, minlength=shape[0] * shape[1]).astype(np.float64).reshape(shape)
    present = np.flatnonzero(np.bincount(people.group, minlength=shape[0]))
    blocks = {}
    for groups in np.split(present, np.flatnonzero(np.diff(rows.top[present])) + 1):
        t, counts = int(rows.top[groups[0]]), all_counts[groups]
        n_people = counts.sum(axis=1)
        first = isotonic_regression(counts[:, t] / n_people, weights=n_people).blocks[:-1]
        blocks[t] = rows.confidence[groups][first], np.add.reduceat(counts, first)
    return blocks


def _count_similar(blocks: _Blocks, rows: _Rows) -> tuple[Floats, Floats]:
    """Return (n_groups, n_values) h and (n_groups, 1) n of similar people; 0 without such people."""
    h = np.zeros((len(rows.top), rows.n_values))
    for t, (start, counts) in blocks.items():
        groups = slice(*np.searchsorted(rows.top, (t, t + 1)).tolist())
        h[groups] = counts[np.maximum(np.searchsorted(start, rows.confidence[groups], side="right") - 1, 0)]
    return h, h.sum(axis=1, keepdims=True)


def _choose_strength(people: _People, rows: _Rows) -> float:
    """Return the a with the largest cross-validated likelihood; the largest a of equally good ones."""
    likelihood, fold = np.zeros(len(STRENGTHS)), np.arange(len(people.value)) % N_FOLDS
    for in_fold in (fold == number for number in range(min(N_FOLDS, len(fold)))):
        test = people.take(in_fold)
        h, n = _count_similar(_fit_blocks(people.take(~in_fold), rows), rows)
        h, n = h[test.group, test.value], n[test.group, 0]
        probability = [(h + a * test.p_value) / (n + a) for a in STRENGTHS]
        likelihood += np.log(np.maximum(probability, 1e-300)) @ test.weight
    return STRENGTHS[-1 - int(np.argmax(likelihood[::-1]))]


def _calibrate(
    belief: Posterior,
    rows: _Rows,
    half: Integers,
    calibrations: Sequence[tuple[_Blocks, float]],
    *,
    status: Status,
    **provenance: str,
) -> Posterior:
    """Return the belief about both halves, each calibrated by the model of the other half."""
    p, group = rows.probabilities, rows.group_of_row
    similar = ((*_count_similar(blocks, rows), a) for blocks, a in reversed(calibrations))
    return Posterior.from_dense(
        np.concatenate([(h[group] + a * p) / (n[group] + a) for h, n, a in similar]),
        prior=np.exp(np.broadcast_to(belief.log_prior, belief.n_candidates)),
        observation=belief.observation + half * len(p),
        weight=belief.weight,
        status=status,
        provenance={**belief.provenance, "strength": tuple(a for _, a in calibrations), **provenance},
        candidate_label=belief.candidate_label,
    )


def _check(control: Posterior, truth: Truth, targets: Integers) -> Check:
    """Compare announced with realized success in the control group."""
    assert realized_success.realized is not None
    announced, realized = success_probability.per_target(control), realized_success.realized(control, truth)
    return Check.of(announced[targets], realized[targets], control.weight[targets], within=MAX_ERROR)
