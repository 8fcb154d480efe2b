"""Outcomes, rates, degrees, runs and hops, against counts by hand and closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csgraph

from unmask import UnmaskError
from unmask.graphs.evaluation import (
    UNNAMED,
    UNREACHABLE,
    Outcome,
    by_degree,
    hop_distance,
    outcomes,
    score,
)
from unmask.graphs.graph import SocialGraph
from unmask.measures.interval import of_runs

# nine source nodes: two hits, a miss, one not named, two false positives, one rightly left, a right and a lost seed
MAPPING = np.array([0, 1, 9, -1, 7, 8, -1, 5, -1])
TRUTH = np.array([0, 1, 2, 3, -1, -1, -1, 5, 6])
SEEDS = np.array([7, 8])


def graph(n_nodes, edges):
    ends = np.array(list(edges), dtype=np.int64).reshape(-1, 2)
    return SocialGraph.from_edges(ends[:, 0], ends[:, 1], n_nodes=n_nodes)


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 12))
    possible = list(itertools.combinations(range(n), 2))
    return graph(n, draw(st.lists(st.sampled_from(possible), max_size=14)) if possible else [])


nodes = hnp.arrays(np.int64, 12, elements=st.integers(-1, 11))


# --- outcomes and rates ---------------------------------------------------------------------------------------------


def test_every_node_has_one_outcome():
    names = [Outcome(code).name for code in outcomes(MAPPING, TRUTH, SEEDS)]
    assert names == ["HIT", "HIT", "MISS", "UNMAPPED", "FALSE_POSITIVE", "FALSE_POSITIVE", "ABSENT", "SEED", "SEED"]


def test_impossible_outcomes_are_refused():
    with pytest.raises(UnmaskError, match=r"shape \(9,\) and the truth \(8,\)"):
        outcomes(MAPPING, TRUTH[:-1], SEEDS)
    with pytest.raises(UnmaskError, match="seeds go from 9 to 9, expected 0 to 8"):
        outcomes(MAPPING, TRUTH, [9])


# --- by degree ------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    mapping=nodes,
    truth=nodes,
    degree=hnp.arrays(np.int64, 12, elements=st.integers(0, 40)),
    seeds=st.sets(st.integers(0, 11)),
)
def test_degree_classes_add_up_to_the_rates(mapping, truth, degree, seeds):
    outcome = outcomes(mapping, truth, sorted(seeds))
    classes = by_degree(degree, outcome)
    assert sum(degree_class.people for degree_class in classes) == np.count_nonzero(outcome <= Outcome.UNMAPPED)
    assert sum(
        degree_class.people * degree_class.recall for degree_class in classes if degree_class.people
    ) == pytest.approx(np.count_nonzero(outcome == Outcome.HIT))
    for degree_class in classes:
        inside = (
            (degree >= degree_class.low)
            & (degree <= (np.inf if degree_class.high is None else degree_class.high))
            & (outcome != Outcome.SEED)
        )
        assert inside.any()
        hits = np.count_nonzero(inside & (outcome == Outcome.HIT))
        n_matched = np.count_nonzero(inside & np.isin(outcome, [Outcome.HIT, Outcome.MISS, Outcome.FALSE_POSITIVE]))
        assert degree_class.precision == (hits / n_matched if n_matched else None)


def test_the_default_classes():
    classes = by_degree(np.array([0, 1, 2, 3, 4, 7, 8, 15, 16, 999]), np.zeros(10, dtype=np.int8))
    assert [(degree_class.low, degree_class.high, degree_class.people) for degree_class in classes] == [
        (0, 0, 1),
        (1, 1, 1),
        (2, 2, 1),
        (3, 3, 1),
        (4, 7, 2),
        (8, 15, 2),
        (16, None, 2),
    ]


def test_each_node_needs_an_outcome():
    with pytest.raises(UnmaskError, match="there are 2 degrees and 1 outcomes"):
        by_degree(np.array([1, 2]), np.array([0], dtype=np.int8))


# --- over runs ------------------------------------------------------------------------------------------------------


def test_hits_and_misses_of_a_person_are_kept_apart():
    hit, miss, unmapped, ghost, absent, seed = (int(outcome) for outcome in Outcome)
    run = [np.array(codes, dtype=np.int8) for codes in ([hit, miss, unmapped, ghost], [miss, hit, seed, absent])]
    result = score(run, [[0, 1, 2, 3], [0, 2, 1, 4]], n_people=6)
    np.testing.assert_array_equal(result.hits, [1, 0, 1, 0, 0, 0])
    np.testing.assert_array_equal(result.misses, [1, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(result.findable, [2, 1, 2, 0, 0, 0])
    np.testing.assert_array_equal(result.score, [0, -1, 1, 0, 0, 0])
    np.testing.assert_array_equal(result.hit_share, [0.5, 0.0, 0.5, np.nan, np.nan, np.nan])


def test_the_interval_over_runs_is_students():
    # t quantile of 2 degrees of freedom 4.30265; half width 4.30265 * 0.01 / sqrt(3)
    assert of_runs([0.42, 0.43, 0.44])[:2] == pytest.approx((0.405159, 0.454841), abs=1e-6)
    assert of_runs([0.0, 1.0], within=(0.0, 1.0))[:2] == (0.0, 1.0)


# --- in hops --------------------------------------------------------------------------------------------------------


def all_distances(network):
    return csgraph.shortest_path(network.adjacency().astype(float), unweighted=True)


@settings(max_examples=150, deadline=None)
@given(network=graphs(), data=st.data())
def test_hops_are_those_of_the_shortest_path(network, data):
    ends = hnp.arrays(np.int64, 12, elements=st.integers(-1, network.n_nodes - 1))
    mapping, truth = data.draw(ends), np.sort(data.draw(ends))  # sorted: searches from one end are shared
    distance = all_distances(network)
    for guess, true_node, hops in zip(mapping, truth, hop_distance(network, mapping, truth), strict=True):
        if guess < 0 or true_node < 0:
            assert hops == UNNAMED
        elif np.isinf(distance[guess, true_node]):
            assert hops == UNREACHABLE
        else:
            assert hops == distance[guess, true_node]


def test_hops_on_a_graph_with_hubs():
    rng = np.random.default_rng(3)
    network = graph(500, rng.zipf(1.7, (700, 2)) % 500)
    start, end = rng.integers(0, 500, 3000), np.sort(rng.integers(0, 500, 3000))
    distance = all_distances(network)[start, end]
    assert 10 < np.isinf(distance).sum() < 2900
    np.testing.assert_array_equal(
        hop_distance(network, start, end), np.where(np.isinf(distance), UNREACHABLE, distance)
    )
