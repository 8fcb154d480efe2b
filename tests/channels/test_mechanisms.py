import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import dblquad

from unmask.channels import degradation
from unmask.channels.datasets import Grid
from unmask.channels.mechanisms import (
    Coin,
    Generalize,
    Geometric,
    PlanarGaussian,
    PlanarLaplace,
    RandomizedResponse,
    Shrink,
)
from unmask.core.errors import UnmaskError
from unmask.measures import estimation_error

GRID = Grid(5, 4, 100.0, (-130.0, 70.0))


def row_log_ratios(channel):
    """(n_x, n_x) max over y of ln p(y given x) - ln p(y given x')."""
    log_p = np.log(channel.dense())
    return (log_p[:, None, :] - log_p[None, :, :]).max(axis=2)


def distances(points):
    return np.linalg.norm(points[:, None] - points[None], axis=-1)


def error_of(channel, loss=None):
    belief = channel.posterior()
    return float(belief.weight @ estimation_error("hamming" if loss is None else loss).per_target(belief))


CHANNELS = [
    RandomizedResponse(1.5, 6).channel(),
    RandomizedResponse(0.0, 6).channel(),
    RandomizedResponse(2.0, 1).channel(),
    Geometric(0.3, 9).channel(),
    Geometric(0.3, 1).channel(),
    Coin(0.4).channel(np.array([0.2, 0.5, 0.3])),
    Generalize(("a", "b", "a")).channel(),
    PlanarLaplace(0.01).channel(GRID),
    PlanarLaplace(0.01).channel(GRID.points),
    PlanarGaussian(80.0).channel(GRID),
    PlanarGaussian(80.0).channel(GRID.points),
    Shrink(80.0, 150.0).channel(GRID),
]


@pytest.mark.parametrize("channel", CHANNELS, ids=range(len(CHANNELS)))
def test_every_channel_is_stochastic_and_its_posterior_a_martingale(channel):
    assert np.abs(channel.dense().sum(axis=1) - 1).max() < 1e-12
    assert channel.dense().min() >= 0
    belief = channel.posterior()
    mean = np.bincount(
        belief.candidate,
        weights=np.exp(belief.log_probability.astype(np.float64)) * np.repeat(belief.weight, belief.row_length),
        minlength=channel.n_x,
    )
    np.testing.assert_allclose(mean, channel.prior, atol=1e-6)


@pytest.mark.parametrize(
    ("channel", "n"),
    [
        (RandomizedResponse(np.inf, 4).channel(), 4),
        (Geometric(np.inf, 4).channel(), 4),
        (Coin(1.0).channel(np.full(4, 0.25)), 4),
        (Generalize(tuple(range(4))).channel(), 4),
        (PlanarLaplace(np.inf).channel(GRID), 20),
        (PlanarLaplace(np.inf).channel(GRID.points), 20),
        (PlanarGaussian(0.0).channel(GRID), 20),
        (PlanarGaussian(0.0).channel(GRID.points), 20),
        (Shrink(0.0, 1.0).channel(GRID), 20),
    ],
)
def test_the_setting_without_protection_is_the_identity(channel, n):
    np.testing.assert_allclose(channel.dense(), np.eye(n), rtol=1e-14)  # zeros exactly


@pytest.mark.parametrize(
    "protection",
    [
        RandomizedResponse(1.5, 6),
        Geometric(0.3, 9),
        Coin(0.4),
        Generalize(("a", "b")),
        PlanarLaplace(0.01),
        PlanarGaussian(80.0),
        Shrink(80.0, 150.0),
    ],
)
def test_repr_rebuilds_the_protection(protection):
    assert eval(repr(protection)) == protection


# --- epsilon ---------------------------------------------------------------------------------------------------------


@given(st.floats(0.01, 5.0), st.integers(2, 12))
def test_randomized_response_has_its_epsilon(epsilon, n):
    ratio = row_log_ratios(RandomizedResponse(epsilon, n).channel())
    np.testing.assert_allclose(ratio[~np.eye(n, dtype=bool)], epsilon, rtol=1e-9)


@given(st.floats(0.01, 3.0), st.integers(2, 12))
def test_the_geometric_mechanism_has_its_epsilon_for_each_step(epsilon, n):
    ratio = row_log_ratios(Geometric(epsilon, n).channel())
    step = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    np.testing.assert_allclose(ratio, epsilon * step, atol=1e-9)


@pytest.mark.parametrize("epsilon", [0.001, 0.01, 0.08])
def test_planar_laplace_keeps_its_epsilon_a_meter_and_comes_near_it(epsilon):
    ratio, distance = row_log_ratios(PlanarLaplace(epsilon).channel(GRID)), distances(GRID.points)
    assert np.all(ratio <= epsilon * distance + 1e-9)
    away = distance > 0
    assert (ratio[away] / (epsilon * distance[away])).max() > 0.95  # not more noise than was asked for


def test_planar_laplace_between_points_keeps_twice_its_epsilon_and_not_once():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [1.1, 0.0], [1.2, 0.0], [1.0, 0.1]])
    ratio = row_log_ratios(PlanarLaplace(1.0).channel(points))
    distance = distances(points)
    assert np.all(ratio <= 2 * distance + 1e-9)
    assert np.any(ratio > 1.05 * distance)


# --- planar noise: masses --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.01, 0.1])
def test_planar_laplace_masses_are_integrals_of_the_density(epsilon):
    table = PlanarLaplace(epsilon).channel(GRID).dense()
    for x, (i, j) in ((5, (1, 2)), (0, (2, 1)), (9, (3, 2))):
        east, north = GRID.points[x]

        def density(v, u, east=east, north=north):
            return epsilon**2 / (2 * np.pi) * np.exp(-epsilon * np.hypot(u - east, v - north))

        low, high = GRID.east_edges[i : i + 2], GRID.north_edges[j : j + 2]
        mass, _ = dblquad(density, *low, *high, epsabs=1e-13, epsrel=1e-10)
        assert table[x, i * GRID.m + j] == pytest.approx(mass, rel=1e-9)


def test_planar_laplace_own_cell_and_far_cells_are_resolved(monkeypatch):
    # the step of the rule halved changes no mass, down to e^-100 of the whole
    grid = Grid(1, 14, 1.0)
    coarse = PlanarLaplace(8.0).channel(grid).dense()
    monkeypatch.setattr("unmask.channels.mechanisms.planar.WIDTH_STEP", 0.02)
    fine = PlanarLaplace(8.0).channel(grid).dense()
    assert coarse.min() < np.exp(-97)
    np.testing.assert_allclose(coarse, fine, rtol=1e-9)


@pytest.mark.parametrize("protection", [PlanarLaplace(0.01), PlanarGaussian(90.0), Shrink(90.0, 150.0, (20.0, 10.0))])
def test_the_channel_on_a_grid_is_the_noisy_point_put_in_its_nearest_cell(protection):
    x, n = 6, 100_000
    outputs = protection(np.tile(GRID.points[x], (n, 1)), rng=np.random.default_rng(8))
    low = np.array([GRID.east_edges[0], GRID.north_edges[0]])
    high = np.array([GRID.east_edges[-1], GRID.north_edges[-1]]) - 1e-9
    share = np.bincount(GRID.cell_of(np.clip(outputs, low, high)), minlength=20) / n
    p = protection.channel(GRID).dense()[x]
    assert np.all(np.abs(share - p) <= 4.5 * np.sqrt(p * (1 - p) / n))


def test_noise_between_points_follows_the_density():
    points = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 10.0]])
    row = np.array([1.0, np.exp(-0.5 * 5), np.exp(-0.5 * 10)])
    np.testing.assert_allclose(PlanarLaplace(0.5).channel(points).dense()[0], row / row.sum())
    row = np.array([1.0, np.exp(-(5**2) / 8), np.exp(-(10**2) / 8)])
    np.testing.assert_allclose(PlanarGaussian(2.0).channel(points).dense()[0], row / row.sum())


# --- planar noise: points --------------------------------------------------------------------------------------------


def within_errors(sample, expected):
    return abs(sample.mean() - expected) <= 4.5 * sample.std() / np.sqrt(len(sample))


def test_planar_noise_has_its_mean_distances_and_no_direction():
    rng = np.random.default_rng(2)
    zero = np.zeros((50_000, 2))
    laplace = PlanarLaplace(0.02)(zero, rng=rng)
    distance = np.linalg.norm(laplace, axis=1)
    assert within_errors(distance, 2 / 0.02)
    assert within_errors(distance**2, 6 / 0.02**2)
    assert within_errors(laplace[:, 0], 0)
    assert within_errors(laplace[:, 0] * laplace[:, 1], 0)
    gaussian = PlanarGaussian(30.0)(zero, rng=rng)
    assert within_errors((gaussian**2).sum(axis=1), 2 * 30.0**2)
    assert zero.max() == 0


def test_the_shrunk_point_costs_what_the_adversary_errs():
    # section VI-A with s = 100 m, sigma = 50 m: P = 2 s^2 sigma^2 / (s^2 + sigma^2) = 4000, D = 2 sigma^2 = 5000
    protection = Shrink(50.0, 100.0, (7.0, -3.0))
    assert protection.distortion == pytest.approx(4000.0)
    rng = np.random.default_rng(3)
    x = np.array([7.0, -3.0]) + 100.0 * rng.standard_normal((100_000, 2))
    shrunk = protection(x, rng=rng)
    assert within_errors(((shrunk - x) ** 2).sum(axis=1), 4000.0)
    # the best linear estimate from the shrunk point is the shrunk point: nothing more to be gained
    assert np.sum((shrunk - [7.0, -3.0]) * (x - [7.0, -3.0])) / np.sum((shrunk - [7.0, -3.0]) ** 2) == pytest.approx(
        1.0, abs=0.01
    )


def test_the_shrunk_point_on_a_fine_grid_has_the_closed_form_error():
    s, sigma = 1.0, 0.5
    grid = Grid(41, 1, 0.25, (-41 * 0.125, -0.125))
    x = grid.points[:, 0]
    prior = np.exp(-(x**2) / (2 * s**2))
    prior /= prior.sum()
    loss = np.subtract.outer(np.linspace(-3, 3, 601), x) ** 2  # answers finer than the grid
    error = error_of(Shrink(sigma, s).channel(grid, prior), loss)
    # one axis: s^2 sigma^2 / (s^2 + sigma^2), plus about size^2 / 12 for showing the cell, not the point
    assert error == pytest.approx(0.2, abs=0.25**2 / 12 + 0.002)


# --- finite alphabets ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protection", [RandomizedResponse(1.0, 5), Geometric(0.7, 5)])
def test_perturbed_values_have_the_frequencies_of_the_channel(protection):
    table, n = protection.channel().dense(), 40_000
    for x in (0, 3):
        outputs = protection(np.full(n, x), rng=np.random.default_rng(x))
        share = np.bincount(outputs, minlength=5) / n
        assert np.all(np.abs(share - table[x]) <= 4.5 * np.sqrt(table[x] * (1 - table[x]) / n))


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 1.0))
def test_the_coin_costs_what_the_adversary_errs_for_any_loss(seed, keep):
    rng = np.random.default_rng(seed)
    prior, loss = rng.dirichlet(np.ones(6)), rng.random((6, 6))  # answers x truths, not symmetric
    np.fill_diagonal(loss, 0.0)
    for d, used in ((1.0 - np.eye(6), None), (loss, loss)):
        prior_loss = (d @ prior).min()
        channel = Coin(keep).channel(prior, loss=used)
        distortion = float(np.sum(channel.joint() * d.T))
        assert distortion == pytest.approx((1 - keep) * prior_loss, abs=1e-12)
        assert error_of(channel, d) == pytest.approx((1 - keep) * prior_loss, abs=1e-6)


def test_equally_good_guesses_of_the_coin_share_their_chance():
    np.testing.assert_allclose(Coin(0.0).channel(np.array([0.4, 0.2, 0.4])).dense(), np.tile([0.5, 0, 0.5], (3, 1)))


def test_a_generalization_shows_the_block_and_nothing_else():
    protection = Generalize(("a", "b", "b", "a", "b"))
    channel = protection.channel(np.array([0.1, 0.2, 0.3, 0.1, 0.3]))
    np.testing.assert_allclose(channel.p_y, [0.2, 0.8])
    assert error_of(channel) == pytest.approx(1 - 0.1 - 0.3, abs=1e-6)
    np.testing.assert_array_equal(protection(np.array([4, 3])), [1, 0])
    assert Generalize(("b", "a", "b")).channel().y_labels == ("b", "a")


def test_blocks_of_a_grid_refine_each_other():
    grid = Grid(4, 4)
    fine, coarse = (Generalize(grid.blocks(k, k)).channel() for k in (1, 2))
    assert degradation(fine, coarse) is not None
    assert degradation(coarse, fine) is None


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: RandomizedResponse(-1.0, 3), "epsilon is -1.0, expected a number at least 0"),
        (lambda: RandomizedResponse(np.nan, 3), "epsilon is nan"),
        (lambda: RandomizedResponse(1.0, 0), "n is 0"),
        (lambda: Geometric(0.0, 3), "epsilon is 0.0, expected a number above 0"),
        (lambda: Coin(1.5), "keep is 1.5"),
        (lambda: Coin(0.5).channel(np.array([0.5, 0.6])), "prior sums to 1.1"),
        (lambda: Coin(0.5).channel(np.array([0.5, 0.5]), loss=np.eye(3)), r"shape \(3, 3\)"),
        (lambda: Generalize(()), "labels is empty"),
        (lambda: PlanarLaplace(0.0), "epsilon is 0.0"),
        (lambda: PlanarGaussian(-1.0), "sigma is -1.0"),
        (lambda: Shrink(1.0, 0.0), "spread is 0.0"),
        (lambda: PlanarGaussian(1.0).channel(np.ones((3, 3))), "two coordinates"),
        (lambda: PlanarGaussian(1.0).channel(Grid(200, 200)), "40000 cells"),
        (lambda: Geometric(1.0, 3)(np.array([3]), rng=np.random.default_rng(0)), "from 0 to 2"),
        (lambda: Geometric(1.0, 3)(np.array([0.5]), rng=np.random.default_rng(0)), "whole number"),
        (lambda: PlanarLaplace(1.0)(np.array([[np.nan, 0]]), rng=np.random.default_rng(0)), "not numbers"),
    ],
)
def test_wrong_parameters_are_refused(make, words):
    with pytest.raises(UnmaskError, match=words):
        make()
