"""The dispersion of seeds against literal matrices, for random samples and for snowballs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.graphs.problems import renumbered
from unmask import UnmaskError
from unmask.graphs import SocialGraph, datasets
from unmask.graphs.ensemble.seed_dispersion import SeedDispersion, _statistics, measure_seed_dispersion
from unmask.graphs.utility import communities


@given(draw=st.integers(0, 9999), n=st.integers(2, 12), share=st.floats(0.1, 0.9))
@settings(max_examples=30, deadline=None)
def test_the_statistics_are_those_of_walks_that_do_not_turn_back(draw, n, share):
    rng = np.random.default_rng(draw)
    graph = datasets.erdos_renyi(n, 0.4, rng=rng)
    chosen = rng.random(n) < share
    chosen[rng.integers(n)] = True
    expected = []
    for v in np.flatnonzero(chosen).tolist():
        near = graph.neighbors(v).tolist()
        other_contacts = [[x for x in graph.neighbors(u).tolist() if x != v] for u in near]
        shares = [np.mean(chosen[further]) for further in other_contacts if further]
        direct = np.mean(chosen[near]) if near else 0
        expected.append((direct + (np.mean(shares) if shares else 0)) / 2)
    label = communities(graph)
    quota = rng.random(label.max() + 1)
    actual = _statistics(graph, chosen[:, None].astype(float), np.eye(len(quota))[:, label], quota)
    count = np.bincount(label[chosen], minlength=label.max() + 1)
    uneven = sum((count - quota) ** 2 / np.maximum(quota, 0.5))
    assert_allclose(actual[:, 0], [np.mean(expected), uneven], atol=1e-12)


def network(seed):
    return datasets.watts_strogatz(600, 6, 0.1, rng=np.random.default_rng(seed))


def test_of_forty_random_samples_at_most_one_is_clustered():
    clustered = []
    for draw in range(40):
        rng = np.random.default_rng(draw)
        seeds = rng.choice(600, 80, replace=False)
        clustered.append(measure_seed_dispersion(network(0), network(0), (seeds, seeds), rng=rng).is_clustered)
    assert sum(clustered) <= 1


@given(start=st.integers(0, 599), n=st.integers(40, 150))
@settings(max_examples=10, deadline=None)
def test_neighbors_are_clustered_under_any_numbers(start, n):
    rng = np.random.default_rng(start)
    graph, number = network(0), rng.permutation(600)
    seeds = (start + np.arange(n)) % 600  # a ring
    spread = measure_seed_dispersion(graph, renumbered(graph, number), (seeds, number[seeds]), rng=rng)
    assert spread.is_clustered
    assert spread.ratio > 2


def test_seeds_that_are_near_each_other_in_one_network_alone_are_not_clustered():
    """Clusters of absent people make a random sample clustered in one network, rarely in both."""
    rng = np.random.default_rng(0)
    near, far = np.arange(80), rng.choice(600, 80, replace=False)
    assert not measure_seed_dispersion(network(0), network(1), (near, far), rng=rng).is_clustered


def test_everybody_is_no_cluster():
    everybody = np.arange(600)
    spread = measure_seed_dispersion(network(0), network(0), (everybody, everybody), rng=np.random.default_rng(0))
    assert spread == SeedDispersion(1.0, 1.0, 1.0, pytest.approx(1.0))


def test_a_network_without_edges_is_refused():
    seeds, graph = np.arange(3), SocialGraph.from_edges([0], [1], n_nodes=5)
    empty = SocialGraph.from_edges(seeds[:0], seeds[:0], n_nodes=5)
    with pytest.raises(UnmaskError, match="at least 1 seed, and at least 1 edge"):
        measure_seed_dispersion(graph, empty, (seeds, seeds), rng=np.random.default_rng(0))
