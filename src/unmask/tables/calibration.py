"""From what rows say of people to what can be believed: held against control people, whose values are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from unmask.inference import HELD_OUT
from unmask.measures import realized_success, success_probability
from unmask.posterior import Posterior, Status, equal_weights
from unmask.promise import Check
from unmask.tables.attacks.learned import STRENGTHS
from unmask.truth import Truth

WITHIN = 0.03
"""By how much announced success may be off."""

TURNS = 5
"""Parts of a half of the control people, each told by the others how much they count."""

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


def held_against(belief: Posterior, control: Posterior, truth: Truth) -> tuple[Posterior, Posterior]:
    """Beliefs in values, of anybody and of control people, as somebody has them who saw what such beliefs were worth on
    half of the control people. Everybody is told by the half that they are not of; others are halved by turns, too. So
    nobody's own value has a part in what is believed of them, and no member's in anything:

        p'(s | x) = (h_s + a p(s | x)) / (n + a)

    with n the people of that half of whom the same value t is believed most, and about as much, and h_s those of them
    who have s. "About as much" are the blocks of an isotonic regression (pool adjacent violators) of having t on
    p(t | x). a, one of `STRENGTHS`, makes the values of that half likeliest, each told by four fifths of it. A p above
    0 stays so.

    control : the same attack on control people, who count by their weights; truth : their values, of which those that
              nobody could have before tell nothing
    Where nothing told helps, as with few control people, or where p is right, a is 1e12 for either half, and both
    beliefs are returned as they are. Else they are `calibrated` if what is announced of control people came true,
    within 3 points, and they are at least 100; the check is in `provenance["check"]`, both a in
    `provenance["strength"]`.

    A release that remembers its people tells more of them than of control people. What is believed of them is then too
    little, by their excess: no control person can tell an adversary that.

    C. Gupta & A. Ramdas, "Top-label calibration and multiclass-to-binary reductions", ICLR 2022 (one value at a time);
    B. Zadrozny & C. Elkan, "Transforming classifier scores into accurate multiclass probability estimates", KDD 2002
    (isotonic regression); the form is that of `BackOff`, with a column more.

    >>> sure = Posterior.from_dense(np.tile([0.9, 0.1], (400, 1)), status="model")
    >>> told, _ = held_against(sure, sure, Truth(np.arange(400) // 240))
    >>> told.to_dense()[0].round(2), told.status
    (array([0.6, 0.4]), 'calibrated')
    """
    possible = np.broadcast_to(np.isfinite(control.log_prior), control.n_candidates)
    judged = np.flatnonzero((truth.candidate >= 0) & possible[truth.candidate] & (control.weight > 0))
    if len(judged) < 4:  # two in a half, one to tell the other
        return belief, control
    half = np.zeros(control.n_targets, dtype=np.int64)
    half[judged] = np.arange(len(judged)) % 2
    people = _People.of(control, truth)
    halves = [people.only(judged[half[judged] == number]) for number in (0, 1)]
    told, strength = [_Told.by(some) for some in halves], tuple(map(_strength, halves))
    if set(strength) == {STRENGTHS[-1]}:
        return belief, control
    one = _believed(belief, np.arange(belief.n_targets) % 2, told, strength)
    return _earned(one, _believed(control, half, told, strength), truth, judged)


class _People(NamedTuple):
    """Some people: the value that is believed of them most, how much, what they have, how much that is believed, and
    what they weigh; of so many values.
    """

    top: Numbers
    sure: Floats
    value: Numbers
    own: Floats
    weight: Floats
    n_values: int

    @classmethod
    def of(cls, belief: Posterior, truth: Truth) -> Self:
        p, at = _table(belief), belief.observation
        top = p.argmax(axis=1)
        sure, value = p[np.arange(len(p)), top], truth.candidate
        return cls(top[at], sure[at], value, p[at, np.maximum(value, 0)], belief.weight, p.shape[1])

    def only(self, some: Numbers | NDArray[np.bool_]) -> Self:
        """Some of them."""
        return type(self)(*(one[some] for one in self[:-1]), self.n_values)


class _Told(NamedTuple):
    """What some people told: by value t, the p(t | x) at which blocks begin, and (n_blocks, n_values) who has what."""

    blocks: Mapping[int, tuple[Floats, Floats]]

    @classmethod
    def by(cls, people: _People) -> Self:
        """What people tell of a belief about them; their weights are scaled to the effective n."""
        weight = people.weight
        people = people._replace(weight=weight * weight.sum() / (weight @ weight))
        tops = np.flatnonzero(np.bincount(people.top)).tolist()
        return cls({t: _blocks(people.only(people.top == t), t) for t in tops})

    def counts(self, top: Numbers, sure: Floats, n_values: int) -> tuple[Floats, Floats]:
        """(n, n_values) h by what is believed most and how much, and (n, 1) n; 0 where nobody told of that value."""
        has = np.zeros((len(top), n_values))
        for t, (start, those) in self.blocks.items():
            some = np.flatnonzero(top == t)
            has[some] = those[np.maximum(np.searchsorted(start, sure[some], side="right") - 1, 0)]
        return has, has.sum(axis=1, keepdims=True)


def _blocks(people: _People, t: int) -> tuple[Floats, Floats]:
    """Of people of whom t is believed most."""
    from scipy.optimize import isotonic_regression  # not at the top: half a second that only a calibration needs

    at, of = np.unique(people.sure, return_inverse=True)
    place, cells = of * people.n_values + people.value, len(at) * people.n_values
    has = np.bincount(place, weights=people.weight, minlength=cells).reshape(len(at), -1)
    each = has.sum(axis=1)
    first = isotonic_regression(has[:, t] / each, weights=each).blocks[:-1]
    return at[first], np.add.reduceat(has, first)


def _table(belief: Posterior) -> Floats:
    """(n_observations, n_values)"""
    n = belief.n_observations
    return replace(belief, observation=np.arange(n), weight=equal_weights(n)).to_dense()


def _strength(people: _People) -> float:
    """a: what makes the values of a half of the people likeliest, each told by four fifths of it."""
    likely, turn = np.zeros(len(STRENGTHS)), np.arange(len(people.value)) % TURNS
    for mine in (turn == one for one in range(min(TURNS, len(turn)))):
        some = people.only(mine)
        has, n = _Told.by(people.only(~mine)).counts(some.top, some.sure, some.n_values)
        has = has[np.arange(len(has)), some.value]
        each = [(has + a * some.own) / (n[:, 0] + a) for a in STRENGTHS]
        likely += np.log(np.maximum(each, 1e-300)) @ some.weight
    return STRENGTHS[-1 - int(np.argmax(likely[::-1]))]


def _believed(belief: Posterior, half: Numbers, told: Sequence[_Told], strength: tuple[float, ...]) -> Posterior:
    """The belief of people of either half, as the other told it."""
    p = _table(belief)
    top = p.argmax(axis=1)
    sure = p[np.arange(len(p)), top]
    counts = ((*by.counts(top, sure, p.shape[1]), a) for by, a in zip(told[::-1], strength[::-1], strict=True))
    found = Posterior.from_dense(
        np.concatenate([(has + a * p) / (n + a) for has, n, a in counts]),
        observation=belief.observation + half * len(p),
        weight=belief.weight,
        status=belief.status,
        provenance={**belief.provenance, "strength": strength},
        candidate_label=belief.candidate_label,
    )
    return replace(found, log_prior=belief.log_prior)


def _earned(one: Posterior, control: Posterior, truth: Truth, judged: Numbers) -> tuple[Posterior, Posterior]:
    """Both with the status that they earned on control people."""
    assert realized_success.realized is not None
    announced, realized = success_probability.per_target(control), realized_success.realized(control, truth)
    check = Check.of(announced[judged], realized[judged], control.weight[judged], within=WITHIN)
    status: Status = one.status if check.refuted or len(judged) < HELD_OUT else "calibrated"
    sides = (
        replace(side, status=status, provenance={**side.provenance, "check": str(check)}) for side in (one, control)
    )
    return next(sides), next(sides)
