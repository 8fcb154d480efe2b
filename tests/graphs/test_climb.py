"""Climb and its support against literal dense matrices, and what they owe to anybody's graphs."""

import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs.problems import check_renumbering, graph, noisy_pair, probability, problems
from unmask.core.errors import UnmaskError
from unmask.graphs import Auxiliary, Climb, Similarity, Support
from unmask.graphs.attacks.climb import climb
from unmask.graphs.attacks.support import rematched


def score(support, share, gamma, ways=None):
    """The distances of the formulas of `Climb` from the largest H of their rows, on matrices; and that H.

    ways : matrices of the links of each side, where links have directions
    """
    a, b = (network.adjacency().toarray().astype(float) for network in (support.source, support.target))
    relations = [(a, b)] if ways is None else [ways, (ways[0].T, ways[1].T)]
    degree, degree_target = np.maximum(a.sum(axis=1), 1), np.maximum(b.sum(axis=1), 1)
    weight = np.maximum(0.1, np.log(max(b.sum(), 2) / (10 * degree_target)))
    h = sum(x @ (share * weight) @ y.T for x, y in relations) / np.outer(degree, degree_target) ** gamma
    free = inside(support) & (support.image < 0)[:, None]
    row_maximum = np.where(free, h, 0).max(axis=1, keepdims=True)
    gap = np.where(free, row_maximum - h, 0)
    return np.where(gap < 1e-5 * row_maximum, 0, gap), row_maximum.max(initial=0)


def inside(support):
    pairs = np.zeros((support.source.n_nodes, support.target.n_nodes), dtype=bool)
    pairs[support.row, support.candidate] = True
    return pairs


def shares(support, gamma, *, ways=None, steps=range(25), cuts=(4, 8, 14)):
    """The formulas of `Climb`, on matrices."""
    pairs, alike = inside(support), np.zeros((support.source.n_nodes, support.target.n_nodes))
    if support.ratio is not None:
        alike[support.row, support.candidate] = support.ratio / Climb().scale
    p = pairs / np.maximum(pairs.sum(axis=1, keepdims=True), 1)
    p = p if support.ratio is None else scaled(8 * alike, pairs)
    lost = 0
    for t in steps:
        gap = np.where(pairs, score(support, p, gamma, ways)[0], 0)
        s = np.sqrt((np.sum(gap**2) + lost) / max(len(support), 1))
        p = p + 2 / (t + 3) * (scaled((3 + t) * (alike - gap / (s if s > 0 else 1)), pairs) - p)
        if t in cuts:
            small = pairs & (p < 0.01 * p.max(axis=1, keepdims=True))
            lost += np.sum(gap[small] ** 2)
            pairs, p = pairs & ~small, np.where(small, 0, p)
    return p


def scaled(logit, pairs):
    """Rows and columns in turns, 20 times, and rows once more."""
    top = np.where(pairs, logit, -np.inf).max(axis=1, keepdims=True, initial=-1e9)
    mass, column = np.where(pairs, np.exp(np.minimum(logit - top, 0)), 0), np.ones(pairs.shape[1])
    for _ in range(20):
        row = 1 / ((mass * column).sum(axis=1) + np.exp(-60))
        column = 1 / np.maximum((mass * row[:, None]).sum(axis=0), 1)
    q = mass * column
    return q / (q.sum(axis=1, keepdims=True) + np.exp(-60))


@pytest.mark.parametrize("gamma", [0.0, 0.5])
@given(problem=problems(), step=st.integers(0, 24), draw=st.integers(0, 9999))
@settings(max_examples=20, deadline=None)
def test_a_step_is_that_of_its_formulas_within_the_bound_of_its_rounding(gamma, problem, step, draw):
    """Scores have an error of some 1e-7 of the largest, which the exponent scales by (3 + t) / s; balancing does not
    add to the error of a logarithm, but for a factor. A step from arbitrary shares has no other error.
    """
    source, target, seeds = problem
    support = Support.of(target, Auxiliary(source, seeds))
    start = np.random.default_rng(draw).uniform(-3, 0, len(support.candidate))
    actual = climb(support, gamma=gamma, start=start, steps=range(step, step + 1), cut_steps=())
    logit = np.zeros((source.n_nodes, target.n_nodes))
    logit[support.row, support.candidate] = start
    p = scaled(logit, inside(support))
    gap, upper_bound = score(support, p, gamma)
    s = np.sqrt(np.sum(gap**2) / max(len(support), 1)) or 1.0
    q = scaled(-(3 + step) * gap / s, inside(support))
    expected = (p + 2 / (step + 3) * (q - p))[support.row, support.candidate]
    bound = (
        1e-5 + 4 * (3 + step) * 2e-5 * upper_bound / s
    )  # 1e-5 of the largest: gaps that are rounding on one side alone
    assert np.abs(actual - expected).max(initial=0) <= bound


@pytest.mark.parametrize("gamma", [0.0, 0.25, 0.5])
def test_all_steps_are_those_of_its_formulas_with_pairs_dropped_on_the_way(gamma):
    source, target, truth = noisy_pair(np.random.default_rng(2), n_nodes=80)
    support = Support.of(target, Auxiliary(source, (truth[0][:20], truth[1][:20])))
    expected, uncut = (shares(support, gamma, cuts=cuts) for cuts in ((4, 8, 14), ()))
    actual = Climb(gamma=gamma).shares(support)
    assert actual == pytest.approx(expected[support.row, support.candidate], abs=1e-3)
    assert np.array_equal(actual == 0, expected[support.row, support.candidate] == 0)
    uncut_climb = climb(support, gamma=gamma, cut_steps=())
    assert uncut_climb == pytest.approx(uncut[support.row, support.candidate], abs=1e-3)
    assert np.mean(actual == 0) > 0.1


def test_with_a_similarity_it_finds_the_shares_of_its_formulas_too():
    source, target, truth = noisy_pair(np.random.default_rng(8))
    u, c = np.indices((40, 40)).reshape(2, -1)
    weight = np.random.default_rng(9).random((40, 40))
    weight[truth[0], truth[1]] += 0.5
    auxiliary = Auxiliary(source, (truth[0][:9], truth[1][:9]), Similarity(u, c, weight.ravel()))
    support = Support.of(target, auxiliary)
    assert support.ratio is not None
    expected = shares(support, 0.25)[support.row, support.candidate]
    assert Climb().shares(support) == pytest.approx(expected, abs=1e-3)


def test_it_separates_people_who_link_to_a_person_from_people_linked_by_that_person():
    source, target, truth = noisy_pair(np.random.default_rng(6))
    rng, sides, ways = np.random.default_rng(7), [], []
    for network in (source, target):
        matrix = np.triu(network.adjacency().toarray()).astype(float)
        turned = rng.random(matrix.shape)
        matrix = matrix * (turned < 0.7) + (matrix * (turned > 0.4)).T
        way = (matrix + 2 * matrix.T)[np.repeat(np.arange(40), network.degree), network.neighbor]
        sides.append(replace(network, way=way.astype(np.int8)))
        ways.append(matrix)
    plain, directed = (
        Support.of(released_graph, Auxiliary(known_graph, (truth[0][:9], truth[1][:9])))
        for known_graph, released_graph in ((source, target), sides)
    )
    pairs = directed.row, directed.candidate
    assert Climb().shares(directed) == pytest.approx(shares(directed, 0.25, ways=ways)[pairs], abs=1e-3)
    assert not np.allclose(Climb().shares(directed), Climb().shares(plain))
    half = replace(directed, source=source)
    assert np.array_equal(Climb().shares(half), Climb().shares(plain))  # directions on one side tell nothing


def profiles(network, seeds):
    """The profiles of `Support`, on matrices."""
    step = network.adjacency().toarray() / np.maximum(network.degree, 1)[:, None]
    visits = start = np.eye(network.n_nodes)[seeds]
    for _ in range(12):
        visits = 0.15 * start + 0.85 * visits @ step
    x = np.log(1 + visits.T / np.maximum(network.degree, 1)[:, None] * 2 * network.n_edges / 10)
    x -= x.mean(axis=0)
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300)


def test_its_support_holds_the_candidates_of_rematch_and_the_nearest_profiles():
    source, target, truth = noisy_pair(np.random.default_rng(3), n_nodes=150)
    seeds = (truth[0][:20], truth[1][:20])
    auxiliary = Auxiliary(source, seeds)
    alike = profiles(source, seeds[0]) @ profiles(target, seeds[1]).T
    free = ~np.isin(np.arange(150), seeds[0]) & (source.degree > 0)
    free_there = ~np.isin(np.arange(150), seeds[1]) & (target.degree > 0)
    alike[~free] = alike[:, ~free_there] = -np.inf
    expected = (alike > np.sort(alike)[:, [-101]]) | (alike > np.sort(alike, axis=0)[[-34]])
    for belief, turned in zip(rematched(target, auxiliary), (False, True), strict=True):
        row = np.repeat(np.arange(150), np.diff(belief.indptr))
        expected[(belief.candidate, row) if turned else (row, belief.candidate)] = True
    expected &= free[:, None] & free_there
    expected[seeds] = True
    support = Support.of(target, auxiliary)
    is_candidate = np.zeros((150, 150), dtype=bool)
    is_candidate[support.row, support.candidate] = True
    assert np.array_equal(is_candidate, expected)
    assert len(support) == expected.sum() - 20 < 0.9 * free.sum() * free_there.sum()


def test_climbs_with_the_same_knowledge_share_a_support_while_the_knowledge_exists():
    source, target, truth = noisy_pair(np.random.default_rng(4), n_nodes=60)
    seeds = truth[0][:10], truth[1][:10]
    auxiliary, equal = Auxiliary(source, seeds), Auxiliary(source, seeds)
    support = Support.of(target, auxiliary)
    assert Support.of(target, auxiliary) is support
    assert Support.of(target, equal) is not support
    for gamma in (0.0, 0.5):
        assert np.array_equal(Climb(gamma=gamma).on(support).mapping, Climb(gamma=gamma)(target, equal).mapping)
    last_use = weakref.ref(support)
    del auxiliary, support
    assert last_use() is None


def test_it_finds_the_people_of_two_noisy_copies():
    source, target, truth = noisy_pair(np.random.default_rng(5), n_nodes=300, degree=10)
    belief = Climb()(target, Auxiliary(source, (truth[0][:15], truth[1][:15])))
    assert np.mean(belief.mapping[truth[0][15:]] == truth[1][15:]) > 0.9


def test_other_numbers_of_nodes_are_matched_as_before():
    check_renumbering(Climb())


def test_twins_share_their_candidates_and_are_not_mapped():
    star = graph(6, [(0, 1), (0, 2), (0, 3), (3, 4), (4, 5)])
    belief = Climb()(star, Auxiliary(star, (np.array([0]), np.array([0]))))
    assert belief.mapping.tolist() == [0, -1, -1, 3, 4, 5]
    assert probability(belief, 1)[1] == pytest.approx(probability(belief, 1)[2])


def test_no_node_is_left_or_has_an_edge():
    pair = graph(3, [(0, 1)])
    no_seeds, empty = np.arange(3), graph(3, [])
    assert Climb()(pair, Auxiliary(pair, (no_seeds, no_seeds))).mapping.tolist() == [0, 1, 2]
    assert Climb()(empty, Auxiliary(empty, (no_seeds[:1], no_seeds[:1]))).mapping.tolist() == [0, -1, -1]


def test_a_negative_discount_is_refused():
    with pytest.raises(UnmaskError, match="gamma is -1, expected a number at least 0"):
        Climb(gamma=-1)
