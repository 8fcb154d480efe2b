"""The excess over control people against published intervals, and against loops over clusters and people."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from scipy import stats

from unmask import Posterior, Truth
from unmask.measures import log_loss_bits, realized_success, success_probability
from unmask.measures.excess import People, difference
from unmask.measures.excess import excess as of_people
from unmask.measures.interval import clustered_wilson, wilson
from unmask.measures.measure import UndefinedError

# R. G. Newcombe, Statistics in Medicine 1998, table II, method 10
PUBLISHED = (
    (56, 70, 48, 80, 0.0524, 0.3339),
    (9, 10, 3, 10, 0.1705, 0.8090),
    (6, 7, 2, 7, 0.0582, 0.8062),
    (5, 56, 0, 29, -0.0381, 0.1926),
    (0, 10, 0, 20, -0.1611, 0.2775),
    (0, 10, 0, 10, -0.2775, 0.2775),
    (10, 10, 0, 20, 0.6791, 1.0000),
    (10, 10, 0, 10, 0.6075, 1.0000),
)


def excess(measure, belief, truth=None, *, inside, cluster=None):
    """Return the excess of members over control people in one belief."""
    return of_people(
        measure, *(People.of(measure, belief, truth, cluster=cluster, mask=mask) for mask in (inside, ~inside))
    )


@pytest.mark.parametrize(("a", "m", "b", "n", "low", "high"), PUBLISHED)
def test_two_proportions_have_newcombes_interval(a, m, b, n, low, high):
    inside = np.arange(m + n) < m
    is_right = np.concatenate([np.arange(m) < a, np.arange(n) < b])
    belief = Posterior.from_dense(np.tile([0.9, 0.1], (m + n, 1)))
    gain = excess(realized_success, belief, Truth(np.where(is_right, 0, 1)), inside=inside)
    assert gain.excess == pytest.approx(a / m - b / n)
    assert (gain.low, gain.high) == pytest.approx((low, high), abs=5e-5)


def problem(seed, n=800, *, boxes=40):
    rng = np.random.default_rng(seed)
    belief = Posterior.from_dense(rng.dirichlet(np.ones(3), n), weight=rng.dirichlet(np.ones(n)))
    return belief, Truth(rng.integers(0, 3, n)), rng.random(n) < 0.6, rng.integers(0, boxes, n)


def literal(values, weights, inside, cluster):
    """The two means, their variances between clusters, and the correlation, one person after the other."""
    means, deviations = [], []
    for side in (True, False):
        members = [i for i in range(len(values)) if inside[i] == side]
        total = sum(weights[i] for i in members)
        mean = sum(weights[i] * values[i] for i in members) / total
        sums = dict.fromkeys(cluster.tolist(), 0.0)
        for i in members:
            sums[int(cluster[i])] += weights[i] / total * (values[i] - mean)
        n_clusters = len({int(cluster[i]) for i in members})
        means.append(mean)
        deviations.append((sums, n_clusters))
    (first, n), (second, m) = deviations
    products = [sum(x[g] * y[g] for g in first) for x, y in ((first, first), (second, second), (first, second))]
    return means, (products[0] * n / (n - 1), products[1] * m / (m - 1)), products[2] / sqrt(products[0] * products[1])


@pytest.mark.parametrize("seed", range(5))
def test_a_mean_against_the_loop(seed):
    belief, truth, inside, cluster = problem(seed)
    gain = excess(log_loss_bits, belief, truth, inside=inside, cluster=cluster)
    values = log_loss_bits.per_target(belief, truth)
    (p, q), variance, r = literal(values, belief.weight, inside, cluster)
    half = [stats.t.ppf(0.975, 39) * sqrt(v) for v in variance]
    width = sqrt(half[0] ** 2 - 2 * r * half[0] * half[1] + half[1] ** 2)
    assert (gain.members, gain.control) == pytest.approx((p, q))
    assert (gain.low, gain.high) == pytest.approx((p - q - width, p - q + width))


@pytest.mark.parametrize("seed", range(5))
def test_a_rate_against_the_loop(seed):
    belief, truth, inside, cluster = problem(seed)
    gain = excess(realized_success, belief, truth, inside=inside, cluster=cluster)
    values = realized_success.per_target(belief, truth)
    _, _, r = literal(values, belief.weight, inside, cluster)
    sides = []
    for mask in (inside, ~inside):
        weight = belief.weight[mask] / belief.weight[mask].sum()
        sides.append((float(weight @ values[mask]), *clustered_wilson(values[mask], weight, cluster[mask])[:2]))
    assert (gain.low, gain.high) == pytest.approx(difference(*sides, correlation=r))


def test_sharing_a_box_makes_a_difference_surer():
    """Mondrian's boxes hold members and control people whose luck is the same: half of the error cancels."""
    rng = np.random.default_rng(0)
    n, boxes = 2000, 50
    cluster, inside = rng.integers(0, boxes, n), rng.random(n) < 0.5
    luck = rng.random(boxes)
    truth = Truth((rng.random(n) > luck[cluster]).astype(int))
    belief = Posterior.from_dense(np.tile([0.6, 0.4], (n, 1)))
    joint_gain = excess(realized_success, belief, truth, inside=inside, cluster=cluster)
    separate_gain = excess(realized_success, belief, truth, inside=inside, cluster=cluster + boxes * inside)
    assert joint_gain.high - joint_gain.low < 0.7 * (separate_gain.high - separate_gain.low)


def test_few_boxes_are_no_sample_of_boxes():
    # of six boxes of a coarse release what they differ by was taken for luck that both sides share, and cancelled
    rng = np.random.default_rng(0)
    n = 2000
    cluster, inside = rng.integers(0, 6, n), rng.random(n) < 0.5
    truth = Truth((rng.random(n) > np.linspace(0.1, 0.9, 6)[cluster]).astype(int))
    belief = Posterior.from_dense(np.tile([0.6, 0.4], (n, 1)))
    clustered_gain, plain_gain = (
        excess(realized_success, belief, truth, inside=inside, cluster=cluster_given)
        for cluster_given in (cluster, None)
    )
    assert clustered_gain == plain_gain


def test_few_boxes_count_as_few_next_to_people_in_no_box():
    # people in no box were counted as boxes of their own, so that the six that hold the others passed for many
    rng = np.random.default_rng(0)
    n = 2000
    cluster, inside = rng.integers(0, 6, n), rng.random(n) < 0.5
    truth = Truth((rng.random(n) > np.linspace(0.1, 0.9, 6)[cluster]).astype(int))
    belief = Posterior.from_dense(np.tile([0.6, 0.4], (n, 1)))
    cluster = np.where(rng.random(n) < 0.2, 6 + np.arange(n), cluster)
    clustered_gain, plain_gain = (
        excess(realized_success, belief, truth, inside=inside, cluster=cluster_given)
        for cluster_given in (cluster, None)
    )
    assert clustered_gain == plain_gain


def test_unequal_clusters_are_effectively_fewer():
    people = People(np.zeros(4), np.array([1.0, 1.0, 2.0, 4.0]), np.array([5, 5, 0, 1]))
    assert people.n_clusters == pytest.approx(8**2 / (2**2 + 2**2 + 4**2))
    assert people._replace(cluster=None).n_clusters == pytest.approx(8**2 / (1 + 1 + 2**2 + 4**2))


def test_some_excesses_need_no_truth():
    belief, _, inside, _ = problem(1)
    gain = excess(success_probability, belief, inside=inside)
    value, weight = belief.to_dense().max(axis=1), belief.weight
    assert gain.members == pytest.approx(np.average(value[inside], weights=weight[inside]))
    assert gain.control == pytest.approx(np.average(value[~inside], weights=weight[~inside]))


def test_people_known_before_are_left_out():
    belief, truth, inside, _ = problem(2)
    is_judged = np.arange(800) % 3 > 0
    belief_of_judged = replace(
        belief,
        observation=belief.observation[is_judged],
        weight=belief.weight[is_judged] / belief.weight[is_judged].sum(),
    )
    expected = excess(realized_success, belief_of_judged, Truth(truth.candidate[is_judged]), inside=inside[is_judged])
    leaked = Truth(truth.candidate, leaked=np.flatnonzero(~is_judged))
    assert excess(realized_success, belief, leaked, inside=inside)[:4] == pytest.approx(expected[:4])


def test_an_infinite_loss_and_a_single_person_have_no_interval():
    certain = Posterior.from_dense(np.tile([1.0, 0.0], (10, 1)))
    inside, truth = np.arange(10) < 5, Truth(np.arange(10) % 2)
    gain = excess(log_loss_bits, certain, truth, inside=inside)
    assert (gain.low, gain.high, gain.over) == (None, None, "none: the value is unbounded")
    belief = Posterior.from_dense(np.tile([0.6, 0.4], (10, 1)))
    assert excess(log_loss_bits, belief, truth, inside=np.arange(10) < 1).low is None
    with pytest.raises(UndefinedError, match="give both"):
        excess(realized_success, belief, truth, inside=np.ones(10, bool))


@pytest.mark.parametrize(("p", "q", "n"), [(0.35, 0.28, 400), (0.02, 0.01, 200), (1.0, 0.97, 100)])
def test_the_interval_covers(p, q, n):
    rng = np.random.default_rng(3)
    hits, draws = 0, 2000
    for a, b in zip(rng.binomial(n, p, draws) / n, rng.binomial(n, q, draws) / n, strict=True):
        low, high = difference((a, *wilson(a, n)), (b, *wilson(b, n)))
        hits += low <= p - q <= high
    assert hits / draws > 0.94
