"""Protections by changed edges against what defines them, by enumeration where one can."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask import UnmaskError
from unmask.graphs import (
    GroupNodes,
    KDegree,
    NoisyDegrees,
    PerturbEdges,
    RandomizeEdges,
    RandomWalk,
    SocialGraph,
    SwitchEdges,
    datasets,
)
from unmask.graphs.protections.degrees import anonymous_degrees
from unmask.graphs.protections.private import FOR_COUNT, answers
from unmask.graphs.utility import lost

CHANGED = (
    PerturbEdges(), SwitchEdges(), SwitchEdges(keep="joint_degrees"), KDegree(k=2), GroupNodes(k=2),
    RandomWalk(), RandomizeEdges(), NoisyDegrees(),
)  # fmt: skip


def original(result):
    """The released edges between the people behind them."""
    ends = np.sort([result.origin[end] for end in result.release.edges()], axis=0)
    return set(map(tuple, ends.T.tolist()))


def edges(graph):
    return set(map(tuple, np.transpose(graph.edges()).tolist()))


def drawn(protection, graph, times, seed):
    """Count releases by their set of edges, in the numbers of the original."""
    rng = np.random.default_rng(seed)
    outputs = [str(sorted(original(protection(graph, rng=rng)))) for _ in range(times)]
    return dict(zip(*np.unique(outputs, return_counts=True), strict=True))


@pytest.mark.parametrize(("delete", "add"), [(0.0, 0.0), (0.25, 0.0), (0.0, 0.25), (1.0, 1.0), (0.1, 2.0)])
def test_so_many_edges_go_and_so_many_false_ones_come(delete, add):
    graph = datasets.barabasi_albert(60, 3, rng=np.random.default_rng(1))
    result = original(PerturbEdges(delete, add)(graph, rng=np.random.default_rng(2)))
    assert len(edges(graph) - result) == round(delete * graph.n_edges)
    assert len(result - edges(graph)) == round(add * graph.n_edges)


def test_every_pair_that_was_no_edge_is_added_equally_often():
    path = SocialGraph.from_edges([0, 1, 2], [1, 2, 3])
    times = np.array([*drawn(PerturbEdges(0.0, 0.34), path, 1500, 3).values()])
    assert len(times) == 3
    assert np.abs(times - 500).max() < 75  # 18 is the standard deviation


def test_false_edges_run_out_in_a_complete_graph():
    full = datasets.erdos_renyi(5, 1.0, rng=np.random.default_rng(1))
    assert PerturbEdges(0.5, 0.5)(full, rng=np.random.default_rng(1)).release.n_edges == 5


@pytest.mark.parametrize("share", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("keep", ["degrees", "joint_degrees"])
def test_switching_leaves_everybody_their_degree(share, keep):
    graph = datasets.barabasi_albert(80, 3, rng=np.random.default_rng(1))
    result = SwitchEdges(share, keep)(graph, rng=np.random.default_rng(2))
    assert result.release.degree.tolist() == graph.degree[result.origin].tolist()
    assert (original(result) == edges(graph)) == (share == 0)


def joint(graph):
    """Count the edges between people of each two degrees."""
    pairs = np.sort([graph.degree[end] for end in graph.edges()], axis=0)
    return np.unique(pairs, axis=1, return_counts=True)


def test_joint_degrees_are_kept_only_where_that_is_asked_for():
    graph = datasets.barabasi_albert(80, 3, rng=np.random.default_rng(1))
    joint_kept, lost = (
        SwitchEdges(9.0, keep)(graph, rng=np.random.default_rng(2)) for keep in ("joint_degrees", "degrees")
    )
    initial, after, degrees_only = (joint(network) for network in (graph, joint_kept.release, lost.release))
    assert all(np.array_equal(first, two) for first, two in zip(initial, after, strict=True))
    assert initial[0].shape != degrees_only[0].shape or not np.array_equal(initial[1], degrees_only[1])
    assert len(original(joint_kept) - edges(graph)) > graph.n_edges / 4


def test_switching_reaches_all_pairings_of_six_people_alike():
    pairs = SocialGraph.from_edges([0, 2, 4], [1, 3, 5])
    times = np.array([*drawn(SwitchEdges(14.0), pairs, 1500, 4).values()])
    assert len(times) == 15
    assert np.abs(times - 100).max() < 50  # 10 is the standard deviation


# --- k-degree anonymity -----------------------------------------------------------------------------------------------


def partitions(people, k):
    """All ways to divide people into groups of at least k."""
    if not people:
        yield []
        return
    first, *rest_of_people = people
    for size in range(k - 1, len(rest_of_people) + 1):
        for partners in itertools.combinations(rest_of_people, size):
            people_left = [person for person in rest_of_people if person not in partners]
            yield from ([(first, *partners), *partition] for partition in partitions(people_left, k))


@given(degree=st.lists(st.integers(0, 9), min_size=3, max_size=8), k=st.integers(1, 3))
@settings(max_examples=80, deadline=None)
def test_degrees_are_raised_at_the_least_cost_of_any_grouping(degree, k):
    result = anonymous_degrees(degree, k)
    cost = min(
        sum(len(group) * max(degree[i] for i in group) for group in grouping)
        for grouping in partitions(list(range(len(degree))), k)
    )
    assert result.sum() == cost
    assert (result >= degree).all()
    assert np.unique(result, return_counts=True)[1].min() >= k


@pytest.mark.parametrize("k", [1, 2, 5, 20])
@pytest.mark.parametrize("seed", range(3))
def test_everybody_shares_their_degree_with_k_minus_one_and_no_edge_is_lost(k, seed):
    rng = np.random.default_rng(seed)
    graph = datasets.chung_lu(datasets.power_law_degrees(150, exponent=2.3, mean=6), rng=rng)
    result = KDegree(k=k)(graph, rng=rng)
    assert np.unique(result.release.degree, return_counts=True)[1].min() >= k
    assert edges(graph) <= original(result)
    assert (edges(graph) == original(result)) == (k == 1)


def test_more_people_of_a_degree_than_people_is_one_sentence():
    for protection in (KDegree(k=4), GroupNodes(k=4)):
        with pytest.raises(UnmaskError, match="k is 4 and there are 3 people"):
            protection(SocialGraph.from_edges([0, 1], [1, 2]))


# --- groups, walks ----------------------------------------------------------------------------------------------------


def test_people_of_one_group_are_interchangeable():
    """All releases with as many edges between groups come alike, so that swapping two of a group changes no chance."""
    low_mid_high = SocialGraph.from_edges([4, 4, 4, 5, 5, 2], [5, 2, 0, 3, 1, 3])  # degrees 1, 1 | 2, 2 | 3, 3
    times = np.array([*drawn(GroupNodes(k=2), low_mid_high, 1080, 1).values()])
    assert len(times) == 6 * 6  # two edges of four pairs, twice
    assert ((times - 30) ** 2 / 30).sum() < 75  # chi-square of 35 degrees of freedom: 1 in 10,000


def test_as_many_edges_stay_within_and_between_groups():
    graph = SocialGraph.from_edges([0, 0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 2, 3, 4])  # degrees 4, 4 | 2, 2, 2
    for seed in range(20):
        result = original(GroupNodes(k=2)(graph, rng=np.random.default_rng(seed)))
        assert len(result) == 7
        assert (0, 1) in result


@pytest.mark.parametrize("length", [1, 2, 4])
def test_an_edge_leads_where_a_walk_of_that_length_ends(length):
    graph = datasets.watts_strogatz(400, 4, 0.02, rng=np.random.default_rng(1))
    reach = np.linalg.matrix_power(graph.adjacency().toarray().astype(float), length) > 0
    result = original(RandomWalk(length)(graph, rng=np.random.default_rng(2)))
    assert all(reach[first, second] for first, second in result)
    assert (len(result & edges(graph)) == len(result)) == (length == 1)


def test_walks_keep_the_number_of_edges_about():
    graph = datasets.barabasi_albert(2000, 5, rng=np.random.default_rng(1))
    result = RandomWalk(4)(graph, rng=np.random.default_rng(2)).release.n_edges
    assert abs(result / graph.n_edges - 1) < 0.05


# --- edge differential privacy ----------------------------------------------------------------------------------------

PAIRS = list(itertools.combinations(range(4), 2))
GRAPHS = [frozenset(edges) for m in range(7) for edges in itertools.combinations(PAIRS, m)]


def released(graph, epsilon):
    """(64,) the exact probability of each graph of four people as the release of one."""
    spent, ratio = (1 - FOR_COUNT) * epsilon, math.exp(-FOR_COUNT * epsilon)
    counts = range(-400, 400)
    chance = np.array([(1 - ratio) / (1 + ratio) * ratio ** abs(count - len(graph)) for count in counts])
    result = np.zeros(len(GRAPHS))
    for m in range(7):
        p, q = answers(m, 6, spent)
        of_count = chance[[min(max(count, 0), 6) == m for count in counts]].sum()
        for i, second in enumerate(GRAPHS):
            n_shared, new = len(graph & second), len(second - graph)
            result[i] += (
                of_count * p**n_shared * (1 - p) ** (len(graph) - n_shared) * q**new * (1 - q) ** (6 - len(graph) - new)
            )
    return result


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_an_edge_changes_no_probability_of_a_release_by_more_than_epsilon(epsilon):
    distributions = {graph: released(graph, epsilon) for graph in GRAPHS}
    for graph, distribution in distributions.items():
        assert distribution.sum() == pytest.approx(1)
        for pair in PAIRS:
            neighboring = distributions[graph ^ {pair}]
            assert (distribution <= neighboring * math.exp(epsilon) * (1 + 1e-9)).all()


def test_releases_come_as_often_as_their_probability_says():
    path = frozenset({(0, 1), (1, 2)})
    actual = drawn(RandomizeEdges(3.0), SocialGraph.from_edges([0, 1], [1, 2], n_nodes=4), 2000, 5)
    expected = 2000 * released(path, 3.0)
    times = np.array([actual.get(str(sorted(edges)), 0) for edges in GRAPHS])
    assert ((times - expected) ** 2 / expected).sum() < 110  # chi-square of 63 degrees of freedom: 1 in 4,000


def test_noisy_degrees_are_nearly_the_degrees_where_epsilon_is_large():
    graph = datasets.barabasi_albert(300, 4, rng=np.random.default_rng(1))
    rng = np.random.default_rng(2)
    releases = [NoisyDegrees(100.0)(graph, rng=rng) for _ in range(100)]
    mean = np.mean([release.release.degree[np.argsort(release.origin)] for release in releases], axis=0)
    is_ordinary = graph.degree < 30
    assert np.abs(mean - graph.degree)[is_ordinary].max() < 3
    assert NoisyDegrees(0.01)(graph, rng=rng).release.degree.std() != pytest.approx(graph.degree.std(), rel=0.1)


@pytest.mark.parametrize("protection", CHANGED, ids=repr)
def test_a_network_without_edges_gets_none_but_by_noise(protection):
    empty = SocialGraph.from_edges([], [], n_nodes=3)
    result = protection(empty, rng=np.random.default_rng(1))
    assert result.release.n_nodes == 3
    assert isinstance(protection, RandomizeEdges | NoisyDegrees) or result.release.n_edges == 0


@pytest.mark.parametrize("n", [0, 3])
def test_a_network_without_edges_has_nothing_to_lose(n):
    no_edges = np.zeros(0, dtype=np.int64)
    empty = SocialGraph.from_edges(no_edges, no_edges, n_nodes=n)
    assert set(lost(empty, empty, np.arange(n)).values()) == {0.0}
