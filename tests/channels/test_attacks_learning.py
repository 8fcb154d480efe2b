"""Attackers who learn the channel from samples, against the error of the best attacker of a known channel."""

import numpy as np
import pytest

from unmask.channels import FrequencyAttack, NearestNeighborAttack, Samples
from unmask.channels.channel import Channel
from unmask.core.errors import UnmaskError
from unmask.core.truth import Truth
from unmask.measures import realized_success


def sampled(channel, n, rng):
    x = rng.choice(channel.n_x, size=n, p=channel.prior)
    return Samples(x, channel.sample(x, rng=rng), channel.n_x, channel.n_y)


def bayes_risk(channel):
    return 1.0 - (channel.prior[:, None] * channel.dense()).max(axis=0).sum()


def held_out(attack, trained, fresh):
    """Share of wrong best guesses about other samples."""
    return 1.0 - realized_success.realized(attack(fresh.y, trained), Truth(fresh.x)).mean()


def wide_channel(rng, n_x=20, n_y=1000):
    """Many outputs, few samples of each: what a learned attack does not know well."""
    return Channel(rng.dirichlet(np.full(n_y, 0.3), n_x))


def test_too_few_samples_resubstitution_below_the_truth_below_held_out():
    # specs 2.7 in small (m = 10,000 outputs, N = 1e4 there): 0.309 < 0.695 < 0.882, a third of p(y) never seen
    rng = np.random.default_rng(0)
    channel = wide_channel(rng)
    risk = bayes_risk(channel)
    attack, trained, fresh = FrequencyAttack(), sampled(channel, 1000, rng), sampled(channel, 4000, rng)
    few_samples, again = held_out(attack, trained, fresh), held_out(attack, trained, trained)
    assert again < risk - 0.1
    assert few_samples > risk + 0.05
    assert 0.1 < np.isin(fresh.y, trained.y, invert=True).mean() < 0.6
    trained = sampled(channel, 50_000, rng)
    many_samples = held_out(attack, trained, fresh)
    assert risk - 0.03 < many_samples < few_samples
    assert abs(held_out(attack, trained, trained) - risk) < abs(again - risk)


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
    risk = held_out(FrequencyAttack(), Samples(trained, 0 * trained, 2, 1), Samples(fresh, fresh, 2))
    assert risk == pytest.approx(0.5)


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
    wide, nearest = (held_out(NearestNeighborAttack(k=k), train, fresh) for k in (75, 1))
    assert abs(wide - 0.15866) < 0.02
    assert nearest > wide + 0.02
    assert held_out(NearestNeighborAttack(k=1), train, train) == 0.0  # each sample is its own nearest neighbor


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
    ],
)
def test_wrong_use_is_refused(make, message):
    with pytest.raises(UnmaskError, match=message):
        make()
