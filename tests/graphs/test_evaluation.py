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
    convergence,
    hop_distance,
    outcomes,
    rates,
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


def test_the_rates_are_those_counted_by_hand():
    found = rates(MAPPING, TRUTH, SEEDS)
    assert (found.findable, found.matches) == (4, 5)
    assert (found.recall, found.recall_of_all) == (2 / 4, 2 / 6)
    assert (found.error, found.precision) == (1 / 4, 2 / 5)
    assert (found.false_positive_share, found.false_alarm, found.coverage) == (2 / 5, 2 / 3, 5 / 7)


@settings(max_examples=100, deadline=None)
@given(mapping=nodes, truth=nodes, seeds=st.sets(st.integers(0, 11)))
def test_the_rates_hang_together(mapping, truth, seeds):
    found = rates(mapping, truth, sorted(seeds))
    assert found.findable + found.false_positives + found.absent + len(seeds) == 12
    assert found.seeds_present <= len(seeds)
    for rate in (
        found.recall,
        found.precision,
        found.false_positive_share,
        found.false_alarm,
        found.coverage,
        found.error,
    ):
        assert rate is None or 0 <= rate <= 1
    if found.recall is not None:
        assert found.recall_of_all <= found.recall


def test_a_rate_without_a_base_is_none():
    nothing = rates(np.array([-1]), np.array([3]), [])
    assert (nothing.recall, nothing.precision, nothing.false_positive_share, nothing.false_alarm) == (
        0.0,
        None,
        None,
        None,
    )
    assert rates(np.array([2]), np.array([-1]), []).recall is None


def test_seeds_named_twice_count_once():
    assert rates(MAPPING, TRUTH, [7, 8, 7]) == rates(MAPPING, TRUTH, SEEDS)


def test_what_cannot_be_an_outcome_is_refused():
    with pytest.raises(UnmaskError, match=r"shape \(9,\) and the truth \(8,\)"):
        outcomes(MAPPING, TRUTH[:-1], SEEDS)
    with pytest.raises(UnmaskError, match="node 9 to 9, expected source nodes 0 to 8"):
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
    found, outcome = rates(mapping, truth, sorted(seeds)), outcomes(mapping, truth, sorted(seeds))
    classes = by_degree(degree, outcome)
    assert sum(one.people for one in classes) == found.findable
    assert sum(one.people * one.recall for one in classes if one.people) == pytest.approx(found.hits)
    for one in classes:
        inside = (
            (degree >= one.low) & (degree <= (np.inf if one.high is None else one.high)) & (outcome != Outcome.SEED)
        )
        assert inside.any()
        hits = np.count_nonzero(inside & (outcome == Outcome.HIT))
        named = np.count_nonzero(inside & np.isin(outcome, [Outcome.HIT, Outcome.MISS, Outcome.FALSE_POSITIVE]))
        assert one.precision == (hits / named if named else None)


def test_the_default_classes():
    classes = by_degree(np.array([0, 1, 2, 3, 4, 7, 8, 15, 16, 999]), np.zeros(10, dtype=np.int8))
    assert [(one.low, one.high, one.people) for one in classes] == [
        (0, 0, 1),
        (1, 1, 1),
        (2, 2, 1),
        (3, 3, 1),
        (4, 7, 2),
        (8, 15, 2),
        (16, None, 2),
    ]


def test_own_classes_may_begin_above_one_and_have_to_rise():
    few, many = by_degree(np.array([1, 9, 10]), np.array([2, 0, 0], dtype=np.int8), classes=[10])
    assert (few.low, few.high, few.recall) == (0, 9, 0.5)
    assert (many.low, many.high, many.recall) == (10, None, 1.0)
    with pytest.raises(UnmaskError, match="expected rising lowest degrees"):
        by_degree(np.array([1]), np.array([0], dtype=np.int8), classes=[4, 2])


# --- over runs ------------------------------------------------------------------------------------------------------


def test_hits_and_misses_of_a_person_are_kept_apart():
    hit, miss, unmapped, ghost, absent, seed = (int(one) for one in Outcome)
    run = [np.array(codes, dtype=np.int8) for codes in ([hit, miss, unmapped, ghost], [miss, hit, seed, absent])]
    found = score(run, [[0, 1, 2, 3], [0, 2, 1, 4]], n_people=6)
    np.testing.assert_array_equal(found.hits, [1, 0, 1, 0, 0, 0])
    np.testing.assert_array_equal(found.misses, [1, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(found.findable, [2, 1, 2, 0, 0, 0])
    np.testing.assert_array_equal(found.score, [0, -1, 1, 0, 0, 0])
    np.testing.assert_array_equal(found.hit_share, [0.5, 0.0, 0.5, np.nan, np.nan, np.nan])


def test_the_interval_over_runs_is_students():
    # t quantile of 2 degrees of freedom 4.30265; half width 4.30265 * 0.01 / sqrt(3)
    assert of_runs([0.42, 0.43, 0.44])[:2] == pytest.approx((0.405159, 0.454841), abs=1e-6)
    assert of_runs([0.0, 1.0], within=(0.0, 1.0))[:2] == (0.0, 1.0)


def test_convergence_is_the_share_found_so_far():
    # matches of nine sweeps on one network: the first three make 96 % of them
    share = convergence(np.array([3609, 2503, 483, 149, 73, 28, 10, 1, 0]))
    assert share[2] == pytest.approx(0.9619, abs=1e-4)
    assert share[-1] == 1.0
    np.testing.assert_array_equal(convergence(np.array([0])), [0.0])
    assert len(convergence(np.array([], dtype=np.int64))) == 0


# --- in hops --------------------------------------------------------------------------------------------------------


def all_distances(one):
    return csgraph.shortest_path(one.adjacency().astype(float), unweighted=True)


@settings(max_examples=150, deadline=None)
@given(one=graphs(), data=st.data())
def test_hops_are_those_of_the_shortest_path(one, data):
    ends = hnp.arrays(np.int64, 12, elements=st.integers(-1, one.n_nodes - 1))
    mapping, truth = data.draw(ends), np.sort(data.draw(ends))  # sorted: searches from one end are shared
    distance = all_distances(one)
    for named, right, hops in zip(mapping, truth, hop_distance(one, mapping, truth), strict=True):
        if named < 0 or right < 0:
            assert hops == UNNAMED
        elif np.isinf(distance[named, right]):
            assert hops == UNREACHABLE
        else:
            assert hops == distance[named, right]


def test_hops_on_a_graph_with_hubs():
    rng = np.random.default_rng(3)
    one = graph(500, rng.zipf(1.7, (700, 2)) % 500)
    start, end = rng.integers(0, 500, 3000), np.sort(rng.integers(0, 500, 3000))
    distance = all_distances(one)[start, end]
    assert 10 < np.isinf(distance).sum() < 2900
    np.testing.assert_array_equal(hop_distance(one, start, end), np.where(np.isinf(distance), UNREACHABLE, distance))
