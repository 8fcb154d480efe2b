"""Beliefs in values, calibrated by control people: by hand, and by people who differ from the rows."""

import numpy as np
import pytest

import unmask
from unmask import Posterior, Truth
from unmask.scoring import check_status
from unmask.tables.attacks.backoff import STRENGTHS
from unmask.tables.control.calibration import calibrate_by_control


def drawn(n, seed, *, share_wrong=0.0):
    """Return beliefs in three values and the truth: some people with the first value as belief have the third."""
    rng = np.random.default_rng(seed)
    p = np.random.default_rng(9).dirichlet((1, 1, 1), 20)[rng.integers(0, 20, n)]
    value = (p.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    return p, np.where((p.argmax(axis=1) == 0) & (rng.random(n) < share_wrong), 2, value)


def believed(p):
    return Posterior.from_dense(p, prior=np.full(p.shape[1], 1 / p.shape[1]), status="model")


def by_hand(p, value, targets, strength):
    """Apply the formula: blocks of people in which the right share never falls: each the largest mean from there on."""
    beliefs = targets.copy()
    for t in range(p.shape[1]):
        mine = [(x[t], v) for x, v in sorted(zip(p.tolist(), value, strict=True), key=lambda pair: pair[0][t])
                if max(x) == x[t]]  # fmt: skip
        levels = sorted({x for x, _ in mine})
        has = [[v for x, v in mine if x == level] for level in levels]
        start = 0
        blocks = []
        while start < len(levels):  # greatest convex minorant
            means = [
                np.mean([v == t for value in has[start : end + 1] for v in value]) for end in range(start, len(has))
            ]
            end = start + max(i for i, m in enumerate(means) if m == min(means))
            blocks.append((levels[start], [v for value in has[start : end + 1] for v in value]))
            start = end + 1
        for row in np.flatnonzero(targets.argmax(axis=1) == t):
            those = next((b for b in reversed(blocks) if b[0] <= targets[row, t]), blocks[0])[1]
            counts = np.bincount(those, minlength=p.shape[1])
            beliefs[row] = (counts + strength * targets[row]) / (len(those) + strength)
    return beliefs


def test_by_hand():
    (p, value), (targets, _) = drawn(400, 0, share_wrong=0.6), drawn(50, 1)
    belief, mean_belief = calibrate_by_control(believed(targets), believed(p), Truth(value))
    strengths = belief.provenance["strength"]
    assert set(strengths) < set(STRENGTHS[:-1])
    half = np.arange(400) % 2
    for number in (0, 1):
        half_beliefs, strength = half != number, strengths[1 - number]
        expected = by_hand(p[half_beliefs], value[half_beliefs], p[~half_beliefs], strength)
        assert mean_belief.to_dense()[~half_beliefs] == pytest.approx(expected, abs=1e-12)
        assert belief.to_dense()[number::2] == pytest.approx(
            by_hand(p[half_beliefs], value[half_beliefs], targets[number::2], strength), abs=1e-12
        )


@pytest.mark.parametrize("n", range(1, 7))
def test_a_handful_of_people_may_tell(n):
    p, value = drawn(n, 0, share_wrong=0.6)
    belief, _ = calibrate_by_control(believed(p), believed(p), Truth(value))
    assert np.allclose(belief.to_dense().sum(axis=1), 1)
    assert n >= 4 or belief.to_dense() == pytest.approx(p)
    assert belief.status != "calibrated"


def test_calibration_corrects_wrong_beliefs_and_is_rewarded():
    """Beliefs that announce 16 points too much are refuted as they are; told by control people they keep their word."""
    (p, value), (targets, is_right) = drawn(4000, 0, share_wrong=0.6), drawn(4000, 1, share_wrong=0.6)
    assert check_status(believed(targets), Truth(is_right))[0] == "refuted"
    belief, _ = calibrate_by_control(believed(targets), believed(p), Truth(value))
    assert belief.status == "calibrated"
    assert check_status(belief, Truth(is_right))[0] == "calibrated"


def test_calibration_leaves_right_beliefs():
    """Calibration changes nothing if beliefs are right, or people are too few."""
    (p, value), (targets, _) = drawn(60, 2), drawn(10, 3)
    belief, _ = calibrate_by_control(believed(targets), believed(p), Truth(value))
    assert np.abs(belief.to_dense() - targets).max() < 0.1
    unchanged, strength = calibrate_by_control(believed(targets), believed(p), Truth(np.full(60, -1)))
    assert unchanged.status == strength.status == "model"
    assert unchanged.to_dense() == pytest.approx(targets)


@pytest.mark.parametrize("owner", [1, 41, 399])
def test_a_persons_own_value_does_not_calibrate_them(owner):
    """Whoever's value changes, what is believed of the people of their own half does not."""
    p, value = drawn(400, 4, share_wrong=0.6)
    changed = value.copy()
    changed[owner] = (value[owner] + 1) % 3
    beliefs = [calibrate_by_control(believed(p), believed(p), Truth(truth))[1].to_dense() for truth in (value, changed)]
    assert np.array_equal(beliefs[0][1::2], beliefs[1][1::2])
    assert not np.array_equal(beliefs[0][::2], beliefs[1][::2])


def test_people_who_weigh_nothing_tell_nothing():
    p, value = drawn(400, 5, share_wrong=0.6)
    weights = np.repeat([1.0, 0.0], 200) / 200
    weighed = Posterior.from_dense(p, prior=np.full(3, 1 / 3), weight=weights, status="model")
    weighed_belief, unweighed_belief = (
        calibrate_by_control(believed(p[:9]), control, Truth(truth))[0].to_dense()
        for control, truth in ((weighed, value), (believed(p[:200]), value[:200]))
    )
    assert weighed_belief == pytest.approx(unweighed_belief, abs=1e-12)


def test_a_value_of_prior_zero_calibrates_nothing():
    """The prior of the value is 0."""
    p, value = drawn(400, 6, share_wrong=0.6)
    p = np.insert(p, 3, 0.0, axis=1)
    belief = Posterior.from_dense(p, prior=np.array([1, 1, 1, 0]) / 3, status="model")
    value[::7] = 3
    result, _ = calibrate_by_control(belief, belief, Truth(value))
    assert max(result.provenance["strength"]) < STRENGTHS[-1]
    assert not result.to_dense()[:, 3].any()


def test_an_audit_with_control_people_tells_the_learner():
    """Rows that say of everybody the wrong value: without control people refuted, with them calibrated."""
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 3000)
    ill = np.where((sex == "f") ^ (rng.random(3000) < 0.3), "flu", "gout")
    mistaken = np.where(ill == "flu", "gout", "flu")
    people = [
        unmask.read_table({"sex": sex[part], "ill": ill[part]}, quasi_identifiers="sex", sensitive="ill")
        for part in (slice(0, 1000), slice(1000, 3000))
    ]
    cells = {"sex": sex, "ill": np.where(rng.random(3000) < 0.8, mistaken, ill)}
    release = unmask.read_table(cells, quasi_identifiers="sex", sensitive="ill")
    statuses, loss = [], []
    for control in (None, people[1]):
        result = unmask.audit(release, original=people[0], control=control, synthetic=True)
        rows = {row.measure: row for row in result.rows if (row.release, row.adversary) == ("release", "modeler")}
        statuses.append(rows["realized_success"].status)
        loss.append(rows["log_loss_bits"].posterior)
    assert statuses == ["refuted", "calibrated"]
    assert loss[1] < 1 < loss[0]
