"""Criteria of nodes against what the definitions say when written out with sets and permutations."""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from unmask import UnmaskError
from unmask.graphs import Auxiliary, _kernels
from unmask.graphs.attacks import Nar09
from unmask.graphs.criteria import (
    class_sizes,
    color_classes,
    degree_anonymity,
    local_anonymities,
    local_anonymity,
    neighborhood_anonymity,
    spearman,
    structural_equivalence,
)
from unmask.graphs.evaluation import most_recall
from unmask.graphs.graph import SocialGraph
from unmask.graphs.knowledge import Pair, SeedPairs, split


def graph(n_nodes, edges):
    ends = np.array(list(edges), dtype=np.int64).reshape(-1, 2)
    return SocialGraph.from_edges(ends[:, 0], ends[:, 1], n_nodes=n_nodes)


@st.composite
def graphs(draw, max_nodes=9):
    n = draw(st.integers(1, max_nodes))
    possible = list(itertools.combinations(range(n), 2))
    return graph(n, [pair for pair in possible if draw(st.booleans())])


def sets_of(network):
    return [set(network.neighbors(v).tolist()) for v in range(network.n_nodes)]


def renumbered(network, rng):
    number = rng.permutation(network.n_nodes)
    u, v = network.edges()
    return graph(network.n_nodes, zip(number[u], number[v], strict=True)), number


# --- local topological anonymity ------------------------------------------------------------------------------------


def slow_local_anonymity(network, variant):
    friends = sets_of(network)
    for v, mine in enumerate(friends):
        two_hops = set().union(*(friends[x] for x in mine)) - {v} if mine else set()
        if not two_hops:
            yield math.nan
            continue
        total = sum(len(mine & friends[k]) / math.sqrt(len(mine) * len(friends[k])) for k in two_hops)
        gaps = [abs(len(friends[k]) - len(mine)) for k in two_hops]
        sigma = max(statistics.stdev(gaps) if len(gaps) > 1 else 0.0, 1.0)
        yield total / {"A": len(two_hops), "B": max(len(mine), 2), "C": len(two_hops) * sigma}[variant]


@pytest.mark.parametrize("variant", ["A", "B", "C"])
@settings(max_examples=60, deadline=None)
@given(network=graphs())
def test_local_anonymity_is_the_mean_similarity_two_hops_away(variant, network):
    np.testing.assert_allclose(
        local_anonymity(network, variant), list(slow_local_anonymity(network, variant)), atol=2e-12
    )


def test_local_anonymity_with_a_spread_of_degrees_is_divided_by_it():
    # node 0 sees 2 (one friend) and 3 (eleven friends) through 1: gaps 0 and 10, sample deviation sqrt(50)
    network = graph(14, [(0, 1), (1, 2), (1, 3), *((3, leaf) for leaf in range(4, 14))])
    a, c = local_anonymity(network, "A")[0], local_anonymity(network, "C")[0]
    assert a == pytest.approx((1 + 1 / math.sqrt(11)) / 2)
    assert a / c == pytest.approx(math.sqrt(50))


def test_a_neighbor_counts_among_the_friends_of_friends_if_it_closes_a_triangle():
    triangle_with_tail = graph(4, [(0, 1), (0, 2), (1, 2), (2, 3)])
    # of node 0: 1, 2 and 3; similarities 1 / 2, 1 / sqrt(6), 1 / sqrt(2)
    expected = (1 / 2 + 1 / math.sqrt(6) + 1 / math.sqrt(2)) / 3
    assert local_anonymity(triangle_with_tail)[0] == pytest.approx(expected)


def test_local_anonymity_is_undefined_without_people_two_hops_away():
    network = graph(6, [(0, 1), (2, 3), (3, 4)])  # a couple, a path of three, a hermit
    assert np.isnan(local_anonymity(network)).tolist() == [True, True, False, True, False, True]
    np.testing.assert_array_equal(local_anonymity(network, "degree"), [1, 1, 1, 2, 1, 0])


@pytest.mark.parametrize("variant", ["A", "B", "C"])
def test_like_places_tie_exactly_under_any_numbering(variant):
    rng = np.random.default_rng(4)
    network = split(graph(300, rng.integers(0, 300, (900, 2))), 1, 1, rng).source
    renamed, number = renumbered(network, rng)
    np.testing.assert_array_equal(local_anonymity(renamed, variant)[number], local_anonymity(network, variant))
    value = local_anonymity(network, variant)
    for members in np.split(
        np.argsort(structural_equivalence(network)), np.cumsum(np.bincount(structural_equivalence(network)))
    ):
        assert len(set(value[members].tolist())) <= 1


def test_several_variants_take_one_walk(monkeypatch):
    network = graph(4, [(0, 1), (0, 2), (1, 2), (2, 3)])
    walks = []
    walk = _kernels.two_hops
    monkeypatch.setattr(_kernels, "two_hops", lambda *rows: walks.append(1) or walk(*rows))
    result = local_anonymities(network, ["A", "B", "C", "degree"])
    assert len(walks) == 1
    for variant, value in result.items():
        np.testing.assert_array_equal(value, local_anonymity(network, variant))


def test_an_unknown_variant_is_refused():
    with pytest.raises(UnmaskError, match="'D', expected one of A, B, C, degree"):
        local_anonymity(graph(2, [(0, 1)]), "D")


def test_an_empty_graph_has_no_values():
    nobody = SocialGraph.from_edges([], [])
    assert len(local_anonymity(nobody)) == len(structural_equivalence(nobody)) == len(color_classes(nobody)) == 0
    assert len(neighborhood_anonymity(nobody).size) == len(degree_anonymity(nobody)) == 0


# --- twins and colors ----------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(network=graphs())
def test_twins_are_the_pairs_whose_swap_leaves_the_graph_as_it_is(network):
    twin, friends = structural_equivalence(network), sets_of(network)
    for u, v in itertools.combinations(range(network.n_nodes), 2):
        assert (twin[u] == twin[v]) == (friends[u] - {v} == friends[v] - {u})


@settings(max_examples=100, deadline=None)
@given(links=st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda link: link[0] != link[1])))
def test_directed_twins_are_the_pairs_whose_swap_leaves_all_links_as_they_are(links):
    u, v = np.array(sorted(links), dtype=np.int64).reshape(-1, 2).T
    network = SocialGraph.read(sparse.coo_array((np.ones(len(u)), (u, v)), shape=(5, 5)))
    twin = structural_equivalence(network, directed=True)
    for i, j in itertools.combinations(range(5), 2):
        swapped = {i: j, j: i}
        is_unchanged = {(swapped.get(a, a), swapped.get(b, b)) for a, b in links} == links
        assert (twin[i] == twin[j]) == is_unchanged


@settings(max_examples=60, deadline=None)
@given(network=graphs(max_nodes=6))
def test_orbits_lie_between_twins_and_colors(network):
    edges = {frozenset(edge) for edge in zip(*(ends.tolist() for ends in network.edges()), strict=True)}
    twin, color = structural_equivalence(network), color_classes(network)
    for image in itertools.permutations(range(network.n_nodes)):
        if {frozenset(image[x] for x in edge) for edge in edges} == edges:
            assert all(color[v] == color[image[v]] for v in range(network.n_nodes))
    for u, v in itertools.combinations(range(network.n_nodes), 2):
        assert twin[u] != twin[v] or color[u] == color[v]


@settings(max_examples=60, deadline=None)
@given(network=graphs())
def test_colors_are_equitable_and_the_coarsest_such(network):
    friends = sets_of(network)
    color = [0] * network.n_nodes
    for _ in range(network.n_nodes):
        signatures = [(color[v], tuple(sorted(color[x] for x in friends[v]))) for v in range(network.n_nodes)]
        color = [sorted(set(signatures)).index(key) for key in signatures]
    assert len(set(zip(color, color_classes(network).tolist(), strict=True))) == len(set(color))
    assert len(set(color)) == color_classes(network).max() + 1


def test_degree_anonymity_counts_nodes_of_like_degree():
    np.testing.assert_array_equal(degree_anonymity(graph(5, [(0, 1), (0, 2), (0, 3)])), [1, 3, 3, 3, 1])


# --- neighborhoods -------------------------------------------------------------------------------------------------


def canonical(friends, nodes):
    """The least sorted edge list over all numberings of these nodes."""
    edges = [(a, b) for a, b in itertools.combinations(nodes, 2) if b in friends[a]]
    numberings = (dict(zip(nodes, order, strict=True)) for order in itertools.permutations(range(len(nodes))))
    return len(nodes), min(tuple(sorted(tuple(sorted((to[a], to[b]))) for a, b in edges)) for to in numberings)


@settings(max_examples=40, deadline=None)
@given(network=graphs(max_nodes=7))
def test_neighborhoods_are_alike_if_and_only_if_they_are_isomorphic(network):
    friends = sets_of(network)
    form = [canonical(friends, sorted(friends[v])) for v in range(network.n_nodes)]
    result = neighborhood_anonymity(network)
    assert result.size.tolist() == [form.count(mine) for mine in form]
    assert result.exact.all()


def hubs_over(*pieces):
    """One graph with a hub for each piece (a number of nodes and its edges), tied to all of its nodes."""
    edges, hubs, first = [], [], 0
    for n, inside in pieces:
        hubs.append(first)
        edges += [(first, first + 1 + x) for x in range(n)] + [(first + 1 + a, first + 1 + b) for a, b in inside]
        first += n + 1
    return graph(first, edges), hubs


def test_colors_distinguish_every_connected_graph_of_up_to_five_nodes():
    for n in range(1, 6):
        possible = list(itertools.combinations(range(n), 2))
        chosen = [list(itertools.compress(possible, bits)) for bits in itertools.product([0, 1], repeat=len(possible))]
        sample = chosen[:: max(1, len(chosen) // 150)]
        network, hubs = hubs_over(*((n, edges) for edges in sample))
        forms = [canonical(sets_of(graph(n, edges)), list(range(n))) for edges in sample]
        size = neighborhood_anonymity(network).size[hubs]
        # other nodes of the graph may be alike to a hub, but hubs of one form have one size and other forms come apart
        for form in set(forms):
            alike = [index for index, mine in enumerate(forms) if mine == form]
            assert len(set(size[alike].tolist())) == 1
            assert size[alike[0]] >= len(alike)
        assert neighborhood_anonymity(network).exact.all()


PRISM = (6, [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (0, 3), (1, 4), (2, 5)])
UTILITIES = (6, [(a, b) for a in range(3) for b in range(3, 6)])  # K_3,3: as the prism, all of its nodes have 3 friends


def test_neighborhoods_that_colors_confuse_are_compared_node_by_node():
    network, (first, second, third) = hubs_over(PRISM, UTILITIES, PRISM)
    result = neighborhood_anonymity(network)
    assert result.size[[first, second, third]].tolist() == [2, 1, 2]
    assert result.exact.all()


def test_three_neighborhoods_that_colors_confuse_come_apart():
    braid = 8, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 0), (0, 2), (1, 3), (4, 6), (5, 7)]
    cube, wagner = ladder(4, twisted=False), ladder(4, twisted=True)  # on 8 nodes, all of which have 3 friends
    network, hubs = hubs_over(cube, wagner, braid, cube)
    assert neighborhood_anonymity(network).size[hubs].tolist() == [2, 1, 1, 2]


def ladder(rungs, *, twisted):
    rails = [(side * rungs + i, side * rungs + i + 1) for side in (0, 1) for i in range(rungs - 1)]
    ends = [(rungs - 1, rungs), (2 * rungs - 1, 0)] if twisted else [(rungs - 1, 0), (2 * rungs - 1, rungs)]
    return 2 * rungs, [*rails, *ends, *((i, rungs + i) for i in range(rungs))]


@pytest.mark.parametrize(("rungs", "size", "exact"), [(25, 1, True), (26, 2, False)])
def test_above_fifty_nodes_the_size_is_an_upper_bound_and_says_so(rungs, size, exact):
    network, hubs = hubs_over(ladder(rungs, twisted=False), ladder(rungs, twisted=True))
    result = neighborhood_anonymity(network)
    assert result.size[hubs].tolist() == [size, size]
    assert result.exact[hubs].tolist() == [exact, exact]


def test_neighborhoods_do_not_depend_on_the_numbering():
    rng = np.random.default_rng(8)
    network = graph(60, rng.integers(0, 60, (300, 2)))
    renamed, number = renumbered(network, rng)
    np.testing.assert_array_equal(neighborhood_anonymity(renamed).size[number], neighborhood_anonymity(network).size)


# --- the most that can be recalled ----------------------------------------------------------------------------------


def mean_hits(pair, mapping):
    """Expected hits of a mapping when all nodes that are equivalent are swapped at random, exactly."""
    source, target = structural_equivalence(pair.source), structural_equivalence(pair.target)
    s, k = class_sizes(source), class_sizes(target)
    hits = 0.0
    for v in np.flatnonzero(mapping >= 0):
        c = mapping[v]
        block = (source == source[v]) & (pair.truth >= 0) & (target[pair.truth] == target[c])
        hits += np.count_nonzero(block) / (s[v] * k[c])
    return hits


@settings(max_examples=60, deadline=None)
@given(network=graphs(), second=graphs(), rng=st.randoms(use_true_random=False))
def test_no_mapping_is_right_more_often_than_the_bound(network, second, rng):
    n_shared = min(network.n_nodes, second.n_nodes)
    truth = np.full(network.n_nodes, -1)
    truth[rng.sample(range(network.n_nodes), n_shared)] = rng.sample(range(second.n_nodes), n_shared)
    pair = Pair(network, second, truth)
    bound = most_recall(pair)
    assert mean_hits(pair, truth) <= bound * n_shared + 1e-9
    for _ in range(5):
        mapping = np.full(network.n_nodes, -1)
        mapping[rng.sample(range(network.n_nodes), n_shared)] = rng.sample(range(second.n_nodes), n_shared)
        assert mean_hits(pair, mapping) <= bound * n_shared + 1e-9


@settings(max_examples=60, deadline=None)
@given(network=graphs())
def test_of_a_perfect_copy_one_of_each_class_is_found(network):
    pair = Pair(network, network, np.arange(network.n_nodes))
    assert most_recall(pair) == pytest.approx(len(set(structural_equivalence(network).tolist())) / network.n_nodes)
    assert most_recall(pair) * network.n_nodes == pytest.approx(mean_hits(pair, pair.truth))


def test_twins_on_either_side_hide_a_person():
    star, chain = graph(4, [(0, 1), (0, 2), (0, 3)]), graph(4, [(0, 1), (1, 2), (0, 3)])  # no twins in the chain
    for pair in (Pair(star, chain, np.arange(4)), Pair(chain, star, np.arange(4))):
        assert most_recall(pair) == pytest.approx((1 + 3 * 1 / 3) / 4)


def test_a_seed_among_twins_leaves_fewer_to_confuse():
    star = graph(4, [(0, 1), (0, 2), (0, 3)])
    pair = Pair(star, star, np.arange(4))
    assert most_recall(pair, SeedPairs(np.array([1, 2]), np.array([1, 2]))) == 1.0
    assert most_recall(pair, SeedPairs(np.array([1]), np.array([1]))) == pytest.approx((1 + 1 / 2 + 1 / 2) / 3)
    assert most_recall(pair, SeedPairs(np.arange(4), np.arange(4))) is None
    assert most_recall(Pair(star, star, np.full(4, -1))) is None


def test_an_attack_on_a_perfect_copy_stays_below_the_bound():
    rng = np.random.default_rng(2)
    ends = rng.zipf(1.6, (3000, 2)) % 400
    pair = split(graph(400, ends), 1, 1, rng, largest_component=True)
    seeds = SeedPairs(pair.common[:40], pair.truth[pair.common[:40]])
    mapping, free = Nar09()(pair.target, Auxiliary(pair.source, seeds)).mapping, pair.common[40:]
    assert 0.3 < np.mean(mapping[free] == pair.truth[free]) <= most_recall(pair, seeds) < 1.0


# --- correlation ----------------------------------------------------------------------------------------------------


def test_spearman_of_the_textbook():
    # IQ and hours of television of ten people, Wikipedia "Spearman's rank correlation coefficient": -29 / 165
    iq = np.array([106, 100, 86, 101, 99, 103, 97, 113, 112, 110])
    hours = np.array([7, 27, 2, 50, 28, 29, 20, 12, 6, 17])
    assert spearman(iq, hours) == pytest.approx(-29 / 165)
    assert spearman(np.append(iq, 500), np.append(hours.astype(float), np.nan)) == pytest.approx(-29 / 165)


def test_spearman_needs_a_spread():
    assert spearman(np.array([1, 1, 1]), np.array([1, 2, 3])) is None
    assert spearman(np.array([1, 2]), np.array([math.nan, 3])) is None
    with pytest.raises(UnmaskError, match="2 scores for 3 nodes"):
        spearman(np.array([1, 2]), np.array([1, 2, 3]))
