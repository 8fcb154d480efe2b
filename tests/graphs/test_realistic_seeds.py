from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.core.errors import UnmaskError
from unmask.graphs.datasets import chung_lu, power_law_degrees
from unmask.graphs.graph import SocialGraph
from unmask.graphs.knowledge import guessed_seeds, match_cliques, match_top, split


def rng(seed=1):
    return np.random.default_rng(seed)


GRAPH = chung_lu(power_law_degrees(1_500, exponent=2.5, mean=16), rng=rng(3))
SAME = split(GRAPH, node_overlap=1, edge_overlap=1, rng=rng(4))
LIKE = split(GRAPH, node_overlap=0.9, edge_overlap=0.95, rng=rng(5), largest_component=True)


def share_right(pair, seeds):
    return (pair.truth[seeds.source] == seeds.target).mean()


# --- top ------------------------------------------------------------------------------------------------------------


def test_top_nodes_of_equal_graphs_are_matched_right():
    seeds = match_top(SAME.source, SAME.target, 20)
    assert share_right(SAME, seeds) == 1
    degree = SAME.source.degree[seeds.source]
    assert degree.tolist() == sorted(degree, reverse=True)
    assert degree[-1] >= np.sort(SAME.source.degree)[-40]


def test_a_missing_top_node_shifts_the_others():
    hub = int(np.argmax(SAME.source.degree))
    other_nodes = np.delete(np.arange(SAME.target.n_nodes), SAME.truth[hub])
    seeds = match_top(SAME.source, SAME.target.take(other_nodes), 3)
    assert seeds.source[0] == hub
    assert (other_nodes[seeds.target] != SAME.truth[seeds.source]).all()


def test_ties_are_passed_over():
    # Degrees 4, 3, 3, then leaves: the two of degree 3 differ in their neighbors' degrees only in the second graph.
    u, v = [0, 0, 0, 0, 1, 1, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]
    even = SocialGraph.from_edges(u, v)
    odd = SocialGraph.from_edges([*u, 7], [*v, 9])
    seeds = match_top(odd, odd, 3)
    assert (seeds.source.tolist(), seeds.target.tolist()) == ([0, 2, 1], [0, 2, 1])
    assert match_top(even, even, 1).source.tolist() == [0]
    for first, second in ((even, even), (even, odd), (odd, even)):
        with pytest.raises(UnmaskError, match="only 1 ranks have no tie"):
            match_top(first, second, 2)


def test_node_numbers_do_not_matter():
    initial = match_top(LIKE.source, LIKE.target, 30)
    cliques = match_cliques(LIKE.source, LIKE.target, n=8, tolerance=0.1, rng=rng())
    for seed in range(3):
        new = rng(seed).permutation(LIKE.target.n_nodes)
        target = LIKE.target.take(new)
        after = match_top(LIKE.source, target, 30)
        assert (after.source.tolist(), new[after.target].tolist()) == (initial.source.tolist(), initial.target.tolist())
        again = match_cliques(LIKE.source, target, n=8, tolerance=0.1, rng=rng())
        assert new[again.target].tolist() == cliques.target.tolist()


# --- cliques --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [3, 4])
def test_cliques_of_equal_graphs_are_matched_right(size):
    seeds = match_cliques(SAME.source, SAME.target, size=size, n=4 * size, rng=rng())
    assert share_right(SAME, seeds) == 1
    assert len(set(seeds.source.tolist())) == len(set(seeds.target.tolist())) == 4 * size
    border = np.sort(SAME.source.degree)[-int(0.2 * SAME.source.n_nodes) - 1]
    assert (SAME.source.degree[seeds.source] >= border).all()
    for index in range(0, 4 * size, size):
        for graph, nodes in ((SAME.source, seeds.source), (SAME.target, seeds.target)):
            assert graph.has_edges(*np.array(list(combinations(nodes[index : index + size], 2))).T).all()


def test_cliques_of_like_graphs_are_mostly_matched_right_and_far_above_chance():
    seeds = match_cliques(LIKE.source, LIKE.target, tolerance=0.1, n=16, rng=rng())
    assert share_right(LIKE, seeds) > 0.5
    looser = match_cliques(LIKE.source, LIKE.target, tolerance=0.3, n=16, rng=rng())
    assert share_right(LIKE, looser) < share_right(LIKE, seeds)  # look-alikes


def slow_alike(source, target, members, tolerance):
    """Every ordered clique of the target that looks like the members."""

    def degree(graph, v):
        return len(graph.neighbors(v))

    def shared(graph, a, b):
        return len(set(graph.neighbors(a).tolist()) & set(graph.neighbors(b).tolist()))

    def near(value, wanted):
        return wanted * (1 - tolerance) - 1e-9 <= value <= wanted * (1 + tolerance) + 1e-9

    return [
        clique
        for clique in permutations(range(target.n_nodes), len(members))
        if all(near(degree(target, c), degree(source, v)) for c, v in zip(clique, members, strict=True))
        and all(target.has_edges([c], [d])[0] for c, d in combinations(clique, 2))
        and all(
            near(shared(target, clique[i], clique[j]), shared(source, members[i], members[j]))
            for i, j in combinations(range(len(members)), 2)
        )
    ]


@st.composite
def graphs(draw):
    pairs = list(combinations(range(7), 2))
    absent = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=14))
    remaining_pairs = [pair for pair in pairs if pair not in absent]
    return SocialGraph.from_edges([a for a, _ in remaining_pairs], [b for _, b in remaining_pairs], n_nodes=7)


@given(graphs(), graphs(), st.booleans(), st.sampled_from([0.0, 0.1, 0.34, 0.5]))
def test_a_match_is_the_only_clique_that_looks_alike(source, target, is_same, tolerance):
    target = source.take([3, 1, 4, 0, 6, 5, 2]) if is_same else target
    cliques = [
        three for three in combinations(range(7), 3) if source.has_edges(*np.array([*combinations(three, 2)]).T).all()
    ]
    by_degree = np.argsort(target.degree, kind="stable")
    for three in cliques[:4]:
        members = np.array(three)[[2, 0, 1]]
        expected = slow_alike(source, target, members.tolist(), tolerance)
        actual = guessed_seeds._find_unique_match(source, target, members, by_degree, tolerance)
        assert actual == (list(expected[0]) if len(expected) == 1 else [])


def test_a_clique_that_is_like_itself_in_another_order_is_no_match():
    # Each corner of the triangle has two leaves: six orders look alike.
    leaves = SocialGraph.from_edges([0, 1, 2, *np.repeat([0, 1, 2], 2)], [1, 2, 0, *range(3, 9)])
    with pytest.raises(UnmaskError, match="only 0 of 3 seeds are found"):
        match_cliques(leaves, leaves, size=3, n=3, rng=rng())


@pytest.mark.parametrize("settings", [{"size": 2}, {"n": 6}, {"n": -4}, {"tolerance": 1.0}, {"tolerance": -0.1}])
def test_parameters_out_of_range_are_refused(settings):
    with pytest.raises(UnmaskError, match="expected"):
        match_cliques(SAME.source, SAME.target, **({"n": 4, "rng": rng()} | settings))
    with pytest.raises(UnmaskError, match="at least 0"):
        match_top(SAME.source, SAME.target, -1)
