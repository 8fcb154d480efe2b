"""Climb and its support against literal dense matrices, and what they owe to anybody's graphs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings

from tests.graphs.problems import check_renumbering, graph, noisy_pair, probability, problems
from unmask.errors import UnmaskError
from unmask.graphs import Auxiliary, Climb, Similarity, Support
from unmask.graphs.attacks.support import rematched


def shares(support, gamma, ways=None, gaps=None):
    """The formulas of `Climb`, on matrices; ways: those of who links to whom, where links have directions; gaps: a list
    of what s is to the largest score, at each step.
    """
    a, b = (one.adjacency().toarray().astype(float) for one in (support.source, support.target))
    relations = [(a, b)] if ways is None else [ways, (ways[0].T, ways[1].T)]
    inside, alike = np.zeros((len(a), len(b)), dtype=bool), np.zeros((len(a), len(b)))
    inside[support.row, support.candidate] = True
    if support.ratio is not None:
        alike[support.row, support.candidate] = support.ratio / Climb().scale
    free = inside & (support.image < 0)[:, None]
    degree, degree_there = np.maximum(a.sum(axis=1), 1), np.maximum(b.sum(axis=1), 1)
    rare = np.maximum(0.1, np.log(max(b.sum(), 2) / (10 * degree_there)))
    p = inside / np.maximum(inside.sum(axis=1, keepdims=True), 1)
    p = p if support.ratio is None else scaled(8 * alike, inside)
    for t in range(25):
        h = sum(x @ (p * rare) @ y.T for x, y in relations) / np.outer(degree, degree_there) ** gamma
        gap = np.where(free, np.where(free, h, 0).max(axis=1, keepdims=True) - h, 0)
        s = np.sqrt(np.mean(gap[free] ** 2)) if free.any() else 0
        most = h[free].max(initial=0)
        if gaps is not None and most > 0:
            gaps.append(s / most)
        s = s if s > 1e-6 * most else 1
        p = p + 2 / (t + 3) * (scaled((3 + t) * (alike - gap / s), inside) - p)
    return p


def scaled(logit, inside):
    """Rows and columns in turns, 20 times, and rows once more."""
    top = np.where(inside, logit, -np.inf).max(axis=1, keepdims=True, initial=-1e9)
    mass, column = np.where(inside, np.exp(np.minimum(logit - top, 0)), 0), np.ones(inside.shape[1])
    for _ in range(20):
        row = 1 / ((mass * column).sum(axis=1) + np.exp(-60))
        column = 1 / np.maximum((mass * row[:, None]).sum(axis=0), 1)
    q = mass * column
    return q / (q.sum(axis=1, keepdims=True) + np.exp(-60))


@pytest.mark.parametrize("gamma", [0.0, 0.5])
@given(problem=problems())
@settings(max_examples=8, deadline=None)
def test_it_finds_the_shares_of_its_formulas(gamma, problem):
    source, target, seeds = problem
    support = Support.of(target, Auxiliary(source, seeds))
    climb, expected = Climb(gamma=gamma), shares(support, gamma, gaps=(gaps := []))
    assume(not any(1e-13 < gap < 1e-4 for gap in gaps))  # by which rounding is scaled up
    assert climb.shares(support) == pytest.approx(expected[support.row, support.candidate], abs=1e-9)
    belief = climb.on(support)
    for u in range(source.n_nodes):
        assert set(probability(belief, u)) == set(np.flatnonzero(expected[u] >= 0.03))


def test_with_a_similarity_it_finds_the_shares_of_its_formulas_too():
    source, target, truth = noisy_pair(np.random.default_rng(8))
    u, c = np.indices((40, 40)).reshape(2, -1)
    weight = np.random.default_rng(9).random((40, 40))
    weight[truth[0], truth[1]] += 0.5
    known = Auxiliary(source, (truth[0][:9], truth[1][:9]), Similarity(u, c, weight.ravel()))
    support = Support.of(target, known)
    assert support.ratio is not None
    expected = shares(support, 0.25)[support.row, support.candidate]
    assert Climb().shares(support) == pytest.approx(expected, abs=1e-9)


def test_it_tells_those_who_link_to_somebody_from_those_whom_they_link_to():
    source, target, truth = noisy_pair(np.random.default_rng(6))
    rng, sides, ways = np.random.default_rng(7), [], []
    for one in (source, target):
        matrix = np.triu(one.adjacency().toarray()).astype(float)
        turned = rng.random(matrix.shape)
        matrix = matrix * (turned < 0.7) + (matrix * (turned > 0.4)).T
        way = (matrix + 2 * matrix.T)[np.repeat(np.arange(40), one.degree), one.neighbor]
        sides.append(replace(one, way=way.astype(np.int8)))
        ways.append(matrix)
    plain, directed = (
        Support.of(there, Auxiliary(here, (truth[0][:9], truth[1][:9]))) for here, there in ((source, target), sides)
    )
    pairs = directed.row, directed.candidate
    assert Climb().shares(directed) == pytest.approx(shares(directed, 0.25, ways)[pairs], abs=1e-9)
    assert not np.allclose(Climb().shares(directed), Climb().shares(plain))
    half = replace(directed, source=source)
    assert np.array_equal(Climb().shares(half), Climb().shares(plain))  # directions on one side tell nothing


def profiles(one, seeds):
    """The profiles of `Support`, on matrices."""
    step = one.adjacency().toarray() / np.maximum(one.degree, 1)[:, None]
    visits = start = np.eye(one.n_nodes)[seeds]
    for _ in range(12):
        visits = 0.15 * start + 0.85 * visits @ step
    x = np.log(1 + visits.T / np.maximum(one.degree, 1)[:, None] * 2 * one.n_edges / 10)
    x -= x.mean(axis=0)
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300)


def test_its_support_holds_the_candidates_of_rematch_and_the_nearest_profiles():
    source, target, truth = noisy_pair(np.random.default_rng(3), n_nodes=150)
    seeds = (truth[0][:20], truth[1][:20])
    known = Auxiliary(source, seeds)
    alike = profiles(source, seeds[0]) @ profiles(target, seeds[1]).T
    free = ~np.isin(np.arange(150), seeds[0]) & (source.degree > 0)
    free_there = ~np.isin(np.arange(150), seeds[1]) & (target.degree > 0)
    alike[~free] = alike[:, ~free_there] = -np.inf
    expected = (alike > np.sort(alike)[:, [-101]]) | (alike > np.sort(alike, axis=0)[[-34]])
    for belief, turned in zip(rematched(target, known), (False, True), strict=True):
        row = np.repeat(np.arange(150), np.diff(belief.indptr))
        expected[(belief.candidate, row) if turned else (row, belief.candidate)] = True
    expected &= free[:, None] & free_there
    expected[seeds] = True
    support = Support.of(target, known)
    found = np.zeros((150, 150), dtype=bool)
    found[support.row, support.candidate] = True
    assert np.array_equal(found, expected)
    assert len(support) == expected.sum() - 20 < 0.9 * free.sum() * free_there.sum()


def test_a_support_from_lists_that_are_there_is_the_same_and_serves_several_climbs():
    source, target, truth = noisy_pair(np.random.default_rng(4), n_nodes=60)
    known = Auxiliary(source, (truth[0][:10], truth[1][:10]))
    support = Support.of(target, known, lists=rematched(target, known))
    for gamma in (0.0, 0.5):
        assert np.array_equal(Climb(gamma=gamma).on(support).mapping, Climb(gamma=gamma)(target, known).mapping)


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


def test_nobody_is_left_or_has_an_edge():
    pair = graph(3, [(0, 1)])
    every, empty = np.arange(3), graph(3, [])
    assert Climb()(pair, Auxiliary(pair, (every, every))).mapping.tolist() == [0, 1, 2]
    assert Climb()(empty, Auxiliary(empty, (every[:1], every[:1]))).mapping.tolist() == [0, -1, -1]


def test_a_negative_discount_is_refused():
    with pytest.raises(UnmaskError, match=r"gamma is -1, expected at least 0"):
        Climb(gamma=-1)
