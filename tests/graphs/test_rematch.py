"""Rematch against its slow twin, and what its matches and beliefs are worth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import slow_rematch as slow
from unmask import UnmaskError
from unmask.graphs import Auxiliary, Similarity
from unmask.graphs.attacks.rematch import Rematch, log_odds
from unmask.graphs.datasets import chung_lu, power_law_degrees
from unmask.graphs.graph import SocialGraph
from unmask.graphs.knowledge import select_seeds, split


def graph(n_nodes, edges):
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return SocialGraph.from_edges(ends[:, 0], ends[:, 1], n_nodes=n_nodes)


def as_dict(network):
    return {v: set(network.neighbors(v).tolist()) for v in range(network.n_nodes)}


def noisy_pair(rng, *, n_nodes, degree, share_kept=0.85):
    """Two noisy copies of a random graph, numbered independently, and the numbers of its nodes in both."""
    a, b = np.nonzero(np.triu(rng.random((n_nodes, n_nodes)) < degree / n_nodes, 1))
    sides, number = [], []
    for _ in range(2):
        keep, new = rng.random(len(a)) < share_kept, rng.permutation(n_nodes)
        sides.append(SocialGraph.from_edges(new[a[keep]], new[b[keep]], n_nodes=n_nodes))
        number.append(new)
    return sides[0], sides[1], number


@st.composite
def problems(draw):
    """Sparse graphs of unequal size: isolated nodes, twins, single candidates and ties come by themselves."""
    if draw(st.booleans()):
        source, target, number = noisy_pair(np.random.default_rng(draw(st.integers(0, 9999))), n_nodes=40, degree=6.0)
        n = draw(st.integers(3, 20))
        return source, target, (number[0][:n], number[1][:n])
    sizes = [draw(st.integers(3, 11)) for _ in range(2)]
    sides = []
    for n in sizes:
        all_pairs = [(a, b) for a in range(n) for b in range(a)]
        sides.append(graph(n, draw(st.lists(st.sampled_from(all_pairs), unique=True, max_size=22))))
    k = draw(st.integers(1, min(sizes)))
    seeds = [np.array(draw(st.permutations(range(n)))[:k]) for n in sizes]
    return sides[0], sides[1], (seeds[0], seeds[1])


def similarity_of(source, target, seeds, rng):
    """Draw a similarity that the seeds trust; the score that it adds to each pair, and its proposals."""
    pairs = rng.permutation(source.n_nodes * target.n_nodes)[: rng.integers(1, 3 * source.n_nodes)]
    pairs = np.unique(np.append(pairs, seeds[0] * target.n_nodes + seeds[1]))
    u, c = np.divmod(pairs, target.n_nodes)
    weight = np.where(np.isin(u, seeds[0]) & np.isin(c, seeds[1]), 9, rng.integers(0, 5, len(pairs)))
    auxiliary = Auxiliary(source, seeds, Similarity(u, c, weight.astype(float)))
    ratios = auxiliary.ratios(target)
    if ratios is None:
        return auxiliary, ({}, {})
    all_candidates = np.indices((source.n_nodes, target.n_nodes)).reshape(2, -1)
    near = ratios.nearest(100)
    similar = {int(u): set(ratios.candidate[near & (ratios.row == u)].tolist()) for u in range(source.n_nodes)}
    return auxiliary, (
        dict(zip(zip(*all_candidates.tolist(), strict=True), ratios.look_up(*all_candidates), strict=True)),
        similar,
    )


def twin_of(problem, attack, alike=({}, {})):
    source, target, seeds = problem
    mapping_given = dict(zip(seeds[0].tolist(), seeds[1].tolist(), strict=True))
    mu, sweeps = slow.rematch(
        as_dict(source), as_dict(target), mapping_given,
        margin=attack.margin, floor=attack.floor, steps=attack.steps, greedy=attack.assignment == "greedy",
        reach=attack.reach, n_listed=attack.listed, alike=alike,
    )  # fmt: skip
    return slow.Given(as_dict(source), as_dict(target), mapping_given, mu, *alike), sweeps


ATTACKS = st.builds(
    Rematch,
    margin=st.sampled_from([0.0, 0.5, 1.7]),
    floor=st.sampled_from([-math.inf, -6.0, -1.0]),
    steps=st.sampled_from([1, 5]),
    assignment=st.sampled_from(["mutual", "greedy"]),
    reach=st.sampled_from([1, 9, 20, 500]),
    listed=st.sampled_from([1, 2, 10]),
)


@settings(max_examples=150, deadline=None)
@given(problems(), ATTACKS)
def test_it_finds_the_pairs_of_its_definition(problem, attack):
    source, target, seeds = problem
    belief = attack(target, Auxiliary(source, seeds))
    state, sweeps = twin_of(problem, attack)
    assert {int(v): int(belief.mapping[v]) for v in np.flatnonzero(belief.mapping >= 0)} == state.mu
    assert belief.sweeps.tolist() == sweeps


@pytest.mark.parametrize("seed", [0, 4, 7, 10])
def test_a_mapping_that_swings_goes_on_as_if_it_were_scored_again(seed):
    rng = np.random.default_rng(seed)
    pair = split(chung_lu(power_law_degrees(40, exponent=2.5, mean=6), rng=rng), 0.8, 0.6, rng, largest_component=True)
    seeds, attack = select_seeds(pair, "random", 5, rng), Rematch(steps=12)
    belief = attack(pair.target, Auxiliary(pair.source, seeds))
    state, sweeps = twin_of((pair.source, pair.target, seeds), attack)
    assert belief.sweeps[-1] == belief.sweeps[-2] > 0  # it swings to the end
    assert belief.sweeps.tolist() == sweeps
    assert {int(v): int(belief.mapping[v]) for v in np.flatnonzero(belief.mapping >= 0)} == state.mu


@settings(max_examples=40, deadline=None)
@given(problems(), ATTACKS, st.integers(0, 9999))
def test_with_a_similarity_it_finds_the_pairs_of_its_definition_too(problem, attack, seed):
    source, target, seeds = problem
    auxiliary, alike = similarity_of(source, target, seeds, np.random.default_rng(seed))
    belief = attack(target, auxiliary)
    state, sweeps = twin_of(problem, attack, alike)
    assert {int(v): int(belief.mapping[v]) for v in np.flatnonzero(belief.mapping >= 0)} == state.mu
    assert belief.sweeps.tolist() == sweeps


@settings(max_examples=150, deadline=None)
@given(problems(), ATTACKS)
def test_the_belief_is_the_softmax_of_the_log_odds_with_none_among_them(problem, attack):
    source, target, seeds = problem
    belief = attack(target, Auxiliary(source, seeds))
    state, _ = twin_of(problem, attack)
    score = slow.scores(state, attack.reach)
    table = slow.keep_best(score, -math.inf, attack.listed)
    for u, scores_of in score.items():
        own_candidate = {state.mu[u]} if u in state.mu else set()
        all_scores = scores_of | {c: slow.log_odds(u, c, state, slow.model(state)) for c in own_candidate}
        evidence = 1 + sum(math.exp(v) for v in all_scores.values())
        row = slice(belief.indptr[u], belief.indptr[u + 1])
        listed_scores = dict(zip(belief.candidate[row].tolist(), belief.log_probability[row].tolist(), strict=True))
        expected = {c: all_scores[c] - math.log(evidence) for c in table[u].keys() | own_candidate}
        assert listed_scores == pytest.approx(expected, abs=1e-4)
        assert belief.unlisted[u] == pytest.approx(1 - sum(math.exp(v) for v in expected.values()), abs=1e-4)
        assert belief.n_unlisted[u] == target.n_nodes - len(expected)


@settings(max_examples=150, deadline=None)
@given(problems(), st.sampled_from([1, 9, 500]))
def test_log_odds_weigh_each_match_against_the_other_candidates_of_its_node(problem, reach):
    source, target, seeds = problem
    mu = dict(zip(seeds[0].tolist(), seeds[1].tolist(), strict=True))
    mapping = np.full(source.n_nodes, -1)
    mapping[seeds[0]] = seeds[1]
    state = slow.Given(as_dict(source), as_dict(target), {}, mu)
    score, read = slow.scores(state, reach), slow.model(state)
    expected = np.full(source.n_nodes, -np.inf)
    for u, c in mu.items():
        total = 1 + sum(math.exp(v) for d, v in score[u].items() if d != c)
        expected[u] = slow.log_odds(u, c, state, read) - math.log(total)
    np.testing.assert_allclose(log_odds(target, source, mapping, reach=reach), expected, atol=1e-4)


@pytest.mark.parametrize("assignment", ["mutual", "greedy"])
def test_structural_twins_stay_undistinguished(assignment):
    """Leaves 3 and 4 hang on one node, 5 hangs alone."""
    network = graph(6, [(0, 1), (1, 2), (0, 2), (0, 3), (0, 4), (1, 5)])
    seeds = (np.array([0, 1, 2]), np.array([0, 1, 2]))
    belief = Rematch(margin=0.0, floor=-math.inf, assignment=assignment)(network, Auxiliary(network, seeds))
    assert belief.mapping.tolist() == [0, 1, 2, -1, -1, 5]
    row = slice(belief.indptr[3], belief.indptr[4])
    assert belief.candidate[row].tolist() == [3, 4]
    assert belief.log_probability[row][0] == belief.log_probability[row][1] < np.log(0.5)


def test_forced_matching_maps_twins_too_and_no_person_twice():
    network = graph(6, [(0, 1), (1, 2), (0, 2), (0, 3), (0, 4), (1, 5)])
    seeds = (np.array([0, 1, 2]), np.array([0, 1, 2]))
    mapping = Rematch(forced=True)(network, Auxiliary(network, seeds)).mapping
    assert sorted(mapping.tolist()) == [0, 1, 2, 3, 4, 5]
    assert mapping[5] == 5


@pytest.fixture(scope="module")
def social():
    rng = np.random.default_rng(7)
    pair = split(chung_lu(power_law_degrees(4000, exponent=2.5, mean=16), rng=rng), 0.6, 0.75, rng)
    return pair, select_seeds(pair, "random.25", 60, rng)


def quality(pair, seeds, mapping):
    """Recall, seeds out of both sides, and precision of all matches but the seeds."""
    free = np.ones(len(mapping), dtype=bool)
    free[seeds.source] = False
    is_right = free & (mapping >= 0) & (mapping == pair.truth)
    return is_right.sum() / (free & (pair.truth >= 0)).sum(), is_right.sum() / (free & (mapping >= 0)).sum()


def test_it_names_most_people_and_few_wrongly(social):
    pair, seeds = social
    recall, precision = quality(pair, seeds, Rematch()(pair.target, Auxiliary(pair.source, seeds)).mapping)
    assert recall > 0.7
    assert precision > 0.93


def test_forced_keeps_the_matches_and_names_more_people(social):
    pair, seeds = social
    mapping = Rematch()(pair.target, Auxiliary(pair.source, seeds)).mapping
    belief = Rematch(forced=True)(pair.target, Auxiliary(pair.source, seeds))
    assert np.array_equal(belief.mapping[mapping >= 0], mapping[mapping >= 0])
    guesses = belief.mapping[belief.mapping >= 0]
    assert len(np.unique(guesses)) == len(guesses) > (mapping >= 0).sum()
    assert quality(pair, seeds, belief.mapping)[0] > quality(pair, seeds, mapping)[0]
    row = np.repeat(np.arange(pair.source.n_nodes), belief.row_length)
    is_listed = np.zeros(pair.source.n_nodes, dtype=bool)
    is_listed[row[belief.candidate == belief.mapping[row]]] = True
    assert is_listed[belief.mapping >= 0].all()


def test_runs_with_the_same_knowledge_find_what_each_finds_alone(social):
    pair, seeds = social
    knowledge = Auxiliary(pair.source, seeds)
    for attack in (Rematch(), Rematch(forced=True), Rematch(steps=2, forced=True), Rematch(margin=2.0)):
        together, alone = attack(pair.target, knowledge), attack(pair.target, Auxiliary(pair.source, seeds))
        for name in ("mapping", "sweeps", "visits", "indptr", "candidate", "log_probability"):
            assert np.array_equal(getattr(together, name), getattr(alone, name))


def test_a_small_reach_costs_little(social):
    pair, seeds = social
    wide, narrow = (Rematch(reach=reach)(pair.target, Auxiliary(pair.source, seeds)) for reach in (10**9, 60))
    assert narrow.visits < wide.visits / 2
    assert quality(pair, seeds, narrow.mapping)[0] > quality(pair, seeds, wide.mapping)[0] - 0.02


def test_node_numbers_do_not_matter(social):
    pair, seeds = social
    rng = np.random.default_rng(3)
    source_of, target_of = rng.permutation(pair.source.n_nodes), rng.permutation(pair.target.n_nodes)
    old = Rematch()(pair.target, Auxiliary(pair.source, seeds))
    number, number_there = np.argsort(source_of), np.append(np.argsort(target_of), -1)
    new_seeds = (number[seeds.source], number_there[seeds.target])
    new = Rematch()(pair.target.take(target_of), Auxiliary(pair.source.take(source_of), new_seeds))
    assert np.array_equal(new.mapping, number_there[old.mapping[source_of]])
    np.testing.assert_allclose(new.unlisted, old.unlisted[source_of], atol=1e-6)


def test_surer_matches_are_righter_and_none_but_seeds_are_certain(social):
    pair, seeds = social
    belief = Rematch()(pair.target, Auxiliary(pair.source, seeds))
    assert belief.status == "scores"
    assert np.all(belief.unlisted[seeds.source] == 0)
    free = np.setdiff1d(np.flatnonzero(belief.mapping >= 0), seeds.source)
    sure = log_odds(pair.target, pair.source, belief.mapping)[free]
    is_right = belief.mapping[free] == pair.truth[free]
    assert np.isfinite(sure).all()
    assert is_right[sure > 8].mean() > 0.99
    assert is_right[sure < 0].mean() < 0.85
    row = np.repeat(np.arange(pair.source.n_nodes), belief.row_length)
    is_guess = belief.candidate == belief.mapping[row]
    is_guess[np.isin(row, seeds.source)] = False
    p = np.exp(belief.log_probability[is_guess], dtype=np.float64)  # rows come in order
    assert p.max() <= 1
    np.testing.assert_allclose(p, 1 / (1 + np.exp(-sure)), atol=1e-4)


def test_people_whom_no_seed_reaches_keep_the_prior():
    network = graph(5, [(0, 1), (3, 4)])
    belief = Rematch()(network, Auxiliary(network, (np.array([0]), np.array([0]))))
    assert belief.mapping[[2, 3, 4]].tolist() == [-1, -1, -1]
    assert belief.unlisted[[2, 3, 4]].tolist() == [1.0, 1.0, 1.0]
    assert belief.n_unlisted[[2, 3, 4]].tolist() == [5, 5, 5]


def test_the_same_again_and_inputs_unchanged(social):
    pair, seeds = social
    initial = [array.copy() for array in (pair.source.neighbor, pair.target.neighbor, *seeds)]
    attack = Rematch(margin=0.2, forced=True)
    first, second = (
        attack(pair.target, Auxiliary(pair.source, seeds)),
        eval(repr(attack))(pair.target, Auxiliary(pair.source, seeds)),
    )
    assert np.array_equal(first.mapping, second.mapping)
    assert np.array_equal(first.log_probability, second.log_probability)
    for old, new in zip(initial, (pair.source.neighbor, pair.target.neighbor, *seeds), strict=True):
        assert np.array_equal(old, new)


@pytest.mark.parametrize(
    "settings", [{"margin": -1.0}, {"margin": math.nan}, {"floor": math.nan}, {"floor": math.inf}, {"steps": 0},
              {"listed": 0}, {"reach": 0}, {"assignment": "best"}],
)  # fmt: skip
def test_parameters_out_of_range_are_refused(settings):
    with pytest.raises(UnmaskError, match=f"{next(iter(settings))} is"):
        Rematch(**settings)


def test_log_odds_refuse_a_mapping_of_another_graph_and_match_no_person_without_a_mapping():
    network = graph(3, [(0, 1), (1, 2)])
    with pytest.raises(UnmaskError, match="2 rows, expected one for each of 3"):
        log_odds(network, network, np.array([0, 1]))
    with pytest.raises(UnmaskError, match="repeated"):
        log_odds(network, network, np.array([0, 0, -1]))
    assert log_odds(network, network, np.array([-1, -1, -1])).tolist() == [-math.inf] * 3
