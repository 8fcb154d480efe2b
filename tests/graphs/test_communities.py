"""Communities against planted ones, and against joining any two; what is lost of them."""

import numpy as np
import pytest

from unmask.graphs import SocialGraph, SwitchEdges, datasets
from unmask.graphs.utility import communities, communities_lost, modularity


def cliques(count, size):
    """A ring of complete graphs, one edge from each to the next."""
    index = np.arange(count)[:, None] * size
    u, v = np.triu_indices(size, 1)
    starts = np.arange(count) * size
    return SocialGraph.from_edges(
        np.append((index + u).ravel(), starts), np.append((index + v).ravel(), np.roll(starts, -1) + 1)
    )


def test_cliques_in_a_ring_are_found():
    graph = cliques(8, 6)
    result = communities(graph)
    assert np.array_equal(result, np.repeat(np.arange(8), 6))
    assert modularity(graph, result) == pytest.approx(8 * (15 / 128 - (32 / 256) ** 2))  # 15 of 128 edges, each


@pytest.mark.parametrize("seed", range(4))
def test_no_two_communities_gain_by_joining(seed):
    graph = datasets.barabasi_albert(60, 3, rng=np.random.default_rng(seed))
    result = communities(graph)
    highest = modularity(graph, result)
    for first in range(result.max()):
        for second in range(first + 1, result.max() + 1):
            assert modularity(graph, np.where(result == second, first, result)) <= highest + 1e-12


def test_people_without_contacts_are_alone_and_a_network_without_edges_has_no_communities():
    graph = SocialGraph.from_edges([0], [1], n_nodes=4)
    assert communities(graph).tolist() == [0, 0, 1, 2]
    bare = SocialGraph.from_edges([], [], n_nodes=3)
    assert modularity(bare, communities(bare)) == 0
    assert communities_lost(bare, bare, np.arange(3)) == 0
    assert communities_lost(graph, bare, np.arange(3)) == 0  # one pair is no structure: its modularity is 0


def test_switched_edges_lose_the_communities_and_a_renumbering_loses_none():
    graph = cliques(8, 6)
    rng = np.random.default_rng(0)
    assert communities_lost(graph, *SwitchEdges(share=0.0)(graph, rng=rng)) == pytest.approx(0)
    assert communities_lost(graph, *SwitchEdges(share=20.0)(graph, rng=rng)) > 0.8
