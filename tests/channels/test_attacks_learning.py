"""Attackers who learn the channel from samples, against the error of the best attacker of a known channel."""

import numpy as np
import pytest

from unmask.channels import FrequencyAttack, NearestNeighborAttack, Samples
from unmask.channels.channel import Channel
from unmask.channels.criteria import cover_hart_bound, learned_risk
from unmask.core.errors import UnmaskError


def sampled(channel, n, rng):
    x = rng.choice(channel.n_x, size=n, p=channel.prior)
    return Samples(x, channel.sample(x, rng=rng), channel.n_x, channel.n_y)


def bayes_risk(channel):
    return 1.0 - (channel.prior[:, None] * channel.dense()).max(axis=0).sum()


def wide_channel(rng, n_x=20, n_y=1000):
    """Many outputs, few samples of each: what a learned attack does not know well."""
    return Channel(rng.dirichlet(np.full(n_y, 0.3), n_x))


def test_too_few_samples_resubstitution_below_the_truth_below_held_out():
    # specs 2.7 in small (m = 10,000 outputs, N = 1e4 there): 0.309 < 0.695 < 0.882, a third of p(y) never seen
    rng = np.random.default_rng(0)
    channel = wide_channel(rng)
    risk = bayes_risk(channel)
    attack, trained, fresh = FrequencyAttack(), sampled(channel, 1000, rng), sampled(channel, 4000, rng)
    few_samples, again = learned_risk(attack, trained, fresh), learned_risk(attack, trained, trained).held_out
    assert again < risk - 0.1
    assert few_samples.low > risk + 0.05  # the interval is about this attack: it does not contain R*
    assert 0.1 < few_samples.unseen < 0.6
    trained = sampled(channel, 50_000, rng)
    many_samples = learned_risk(attack, trained, fresh)
    assert risk - 0.03 < many_samples.held_out < few_samples.held_out
    assert abs(learned_risk(attack, trained, trained).held_out - risk) < abs(again - risk)


def test_interval_is_wilson_s():
    # 40 wrong of 200: Wilson 95 % [0.1503, 0.2608] (E. B. Wilson 1927, computed by hand)
    x = np.repeat([0, 1], [160, 40])
    trained = Samples(np.array([0]), np.array([0]), n_x=2, n_y=1)
    risk = learned_risk(FrequencyAttack(), trained, Samples(x, np.zeros(200, dtype=int), n_x=2))
    z = 1.959963984540054
    center, half = 0.2 + z * z / 400, z * np.sqrt(0.2 * 0.8 / 200 + z * z / 160_000)
    assert risk.held_out == pytest.approx(0.2)
    assert risk.low == pytest.approx((center - half) / (1 + z * z / 200), abs=1e-9)
    assert risk.high == pytest.approx((center + half) / (1 + z * z / 200), abs=1e-9)


def test_interval_covers_the_error_of_the_attack():
    rng = np.random.default_rng(1)
    channel = Channel(rng.dirichlet(np.ones(8), 5))
    attack, trained = FrequencyAttack(smoothing=0.5), sampled(channel, 100, rng)
    joint = channel.prior[:, None] * channel.dense()
    p = np.zeros((8, 5))
    belief = attack(np.arange(8), trained)
    p[np.repeat(np.arange(8), belief.row_length), belief.candidate] = belief.log_probability
    p[p == 0] = -99
    true_error = 1 - joint[p.argmax(axis=1), np.arange(8)].sum()
    inside = 0
    for _ in range(200):
        risk = learned_risk(attack, trained, sampled(channel, 300, rng))
        inside += risk.low <= true_error <= risk.high
    assert 180 <= inside <= 199  # 95 % of 200 is 190, standard deviation 3.1


def test_frequencies_are_counts_and_unseen_outputs_get_the_mix():
    samples = Samples(np.array([0, 0, 1, 2]), np.array([0, 0, 0, 1]), n_x=3, n_y=3)
    belief = FrequencyAttack(smoothing=1.0)(np.array([0, 2]), samples)
    q = np.array([0.5, 0.25, 0.25])
    p = np.exp(belief.log_probability).reshape(2, 3)
    np.testing.assert_allclose(p[0], (np.array([2, 1, 0]) + q) / 4, atol=1e-6)
    np.testing.assert_allclose(p[1], q, atol=1e-6)
    np.testing.assert_allclose(np.exp(belief.log_prior), q)


def test_ties_share_their_chance():
    # both secrets equally often behind the only output: the rule is right half of the time whatever their numbers
    trained, fresh = np.array([0, 1]), np.zeros(10, dtype=int)
    risk = learned_risk(FrequencyAttack(), Samples(trained, 0 * trained, 2, 1), Samples(fresh, fresh, 2))
    assert risk.held_out == pytest.approx(0.5)


def test_order_of_samples_is_no_information():
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 3, 60), rng.integers(0, 4, 60).astype(float)
    order = rng.permutation(60)
    points = np.array([0.0, 1.4, 3.0])
    a = NearestNeighborAttack(k=7)(points, Samples(x, y, n_x=3))
    b = NearestNeighborAttack(k=7)(points, Samples(x[order], y[order], n_x=3))
    np.testing.assert_array_equal(a.candidate, b.candidate)
    np.testing.assert_allclose(a.log_probability, b.log_probability, atol=1e-6)


def test_neighbors_against_a_plain_loop():
    rng = np.random.default_rng(3)
    x, y, points = rng.integers(0, 4, 50), rng.normal(size=(50, 2)), rng.normal(size=(6, 2))
    belief = NearestNeighborAttack(k=5)(points, Samples(x, y, n_x=4))
    p = np.zeros((6, 4))
    p[np.repeat(np.arange(6), belief.row_length), belief.candidate] = np.exp(belief.log_probability)
    for row, point in enumerate(points):
        nearest = np.argsort(((y - point) ** 2).sum(axis=1))[:5]
        np.testing.assert_allclose(p[row], np.bincount(x[nearest], minlength=4) / 5, atol=1e-6)


@pytest.mark.parametrize("k", [1, 3, 10, 60])
def test_c11_ties_on_a_lattice_against_a_plain_loop(k):
    rng = np.random.default_rng(6)
    x, y, points = rng.integers(0, 3, 60), rng.integers(0, 5, (60, 2)).astype(float), rng.integers(0, 5, (9, 2)) * 1.0
    belief = NearestNeighborAttack(k=k)(points, Samples(x, y, n_x=3))
    p = np.zeros((9, 3))
    p[np.repeat(np.arange(9), belief.row_length), belief.candidate] = np.exp(belief.log_probability)
    for row, point in enumerate(points):
        away = np.sqrt(((y - point) ** 2).sum(axis=1))
        last = np.sort(away)[k - 1]
        nearer, tied = away < last, away == last
        share = nearer + tied * (k - nearer.sum()) / tied.sum()
        np.testing.assert_allclose(p[row], np.bincount(x, weights=share, minlength=3) / k, atol=1e-12)


def test_neighbors_approach_bayes_for_gaussian_outputs():
    # two secrets, outputs N(+-1, 1): R* = Phi(-1) = 0.15866
    rng = np.random.default_rng(4)

    def draw(n):
        x = rng.integers(0, 2, n)
        return Samples(x, rng.normal(2.0 * x - 1.0, 1.0), n_x=2)

    train, fresh = draw(3000), draw(3000)
    wide = learned_risk(NearestNeighborAttack(k=75), train, fresh)
    risk = learned_risk(NearestNeighborAttack(k=1), train, fresh)
    assert wide.low < 0.15866 < wide.high + 0.01
    assert risk.held_out > wide.high
    in_sample = learned_risk(NearestNeighborAttack(k=1), train, train)
    assert in_sample.held_out == 0.0  # each sample is its own nearest neighbor
    assert 0.08 < risk.cover_hart < 0.15866
    assert wide.cover_hart == 0.0


def test_cover_hart_is_the_inverse_of_the_upper_bound():
    for m in (2, 5, 100):
        for risk in (0.0, 0.1, 0.3, 0.5 * (m - 1) / m, (m - 1) / m):
            nearest = risk * (2 - m * risk / (m - 1))
            # the square root is steep at the right end: half of the digits remain
            assert cover_hart_bound(nearest, n_x=m) == pytest.approx(risk, abs=1e-7)
    assert cover_hart_bound(0.9, n_x=2) == 0.5


ONE = Samples(np.array([0]), np.array([0.0]), n_x=2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Samples(np.array([0, 3]), np.array([0, 0]), n_x=2, n_y=1), r"numbers 0\.\.1"),
        (lambda: Samples(np.array([0]), np.array([0, 0]), n_x=2, n_y=1), "1 secrets came with 2 outputs"),
        (lambda: FrequencyAttack(smoothing=-1.0), "smoothing"),
        (lambda: FrequencyAttack()(np.array([1]), Samples(np.array([0]), np.array([0]), n_x=2, n_y=1)), r"0\.\.0"),
        (lambda: FrequencyAttack()(np.array([0]), Samples(np.array([0]), np.array([0]), n_x=2)), "give n_y"),
        (lambda: NearestNeighborAttack(k=0), "k is 0"),
        (lambda: NearestNeighborAttack(k=2)(ONE.y, ONE), "k is 2"),
        (lambda: NearestNeighborAttack()(np.array([np.nan]), ONE), "finite"),
        (lambda: cover_hart_bound(0.2, n_x=1), "at least 2"),
    ],
)
def test_wrong_use_is_refused(make, message):
    with pytest.raises(UnmaskError, match=message):
        make()
