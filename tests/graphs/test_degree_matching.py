"""The adversary who knows degrees alone, and the protection that is about them."""

import numpy as np
import pytest

from unmask.graphs import Auxiliary, DegreeMatching, KDegree, SocialGraph, datasets


def list_unique_degrees(graph):
    """List the nodes of unique degree."""
    return np.bincount(graph.degree)[graph.degree] == 1


def test_exactly_those_of_a_degree_of_their_own_are_named():
    graph = datasets.barabasi_albert(200, 3, rng=np.random.default_rng(0))
    auxiliary = Auxiliary(graph, (np.array([150]), np.array([150])))
    assert not list_unique_degrees(graph)[150]
    belief = DegreeMatching()(graph, auxiliary)
    expected = np.where(list_unique_degrees(graph), np.arange(200), -1)
    expected[150] = 150
    assert belief.mapping.tolist() == expected.tolist()


def test_shared_degrees_match_no_person():
    graph = datasets.barabasi_albert(200, 3, rng=np.random.default_rng(0))
    release, origin = KDegree(k=2)(graph, rng=np.random.default_rng(1))
    seed = int(np.argmin(graph.degree))
    auxiliary = Auxiliary(graph, (np.array([seed]), np.flatnonzero(origin == seed)))
    assert (DegreeMatching()(release, auxiliary).mapping >= 0).sum() == 1


def test_candidates_share_alike_and_too_many_are_not_listed():
    star = SocialGraph.from_edges([0, 0, 0, 0, 4], [1, 2, 3, 4, 5])  # degrees 4, 1, 1, 1, 2, 1
    belief = DegreeMatching(listed=3)(star, Auxiliary(star, (np.array([5]), np.array([5]))))
    start, end = belief.indptr[1:3]
    assert sorted(belief.candidate[start:end]) == [1, 2, 3]
    assert np.exp(belief.log_probability[start:end]) == pytest.approx(1 / 3)
    belief_of_star = DegreeMatching(listed=2)(star, Auxiliary(star, (np.array([5]), np.array([5]))))
    assert belief_of_star.indptr[2] == belief_of_star.indptr[1]


@pytest.mark.parametrize("smaller", ["release", "graph"])
def test_no_person_is_left_if_all_nodes_of_a_network_are_seeds(smaller):
    pair, path = SocialGraph.from_edges([0], [1]), SocialGraph.from_edges([0, 1], [1, 2])
    seeds = np.array([0, 1])
    release, graph = (pair, path) if smaller == "release" else (path, pair)
    belief = DegreeMatching()(release, Auxiliary(graph, (seeds, seeds)))
    assert belief.mapping.tolist() == [0, 1, -1][: graph.n_nodes]
    assert DegreeMatching()(pair, Auxiliary(pair, (seeds, seeds))).mapping.tolist() == [0, 1]


def test_people_of_a_common_degree_are_not_paired_with_each_other():
    leaves = np.arange(1, 1001)
    star = SocialGraph.from_edges(np.zeros(1000, dtype=np.int64), leaves)
    belief = DegreeMatching()(star, Auxiliary(star, (np.array([1]), np.array([1]))))
    assert belief.visits <= 10 * star.n_nodes
