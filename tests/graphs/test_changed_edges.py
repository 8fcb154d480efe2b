"""Protections by changed edges against what defines them, and their place in a study."""

import numpy as np
import pytest

from unmask.graphs import PerturbEdges, SocialGraph, SwitchEdges, datasets


def original(found):
    """The released edges between the people behind them."""
    ends = np.sort([found.origin[end] for end in found.release.edges()], axis=0)
    return set(map(tuple, ends.T.tolist()))


def edges(graph):
    return set(map(tuple, np.transpose(graph.edges()).tolist()))


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_as_many_edges_go_as_false_ones_come(share):
    graph = datasets.barabasi_albert(60, 3, rng=np.random.default_rng(1))
    found = original(PerturbEdges(share)(graph, rng=np.random.default_rng(2)))
    changed = round(share * graph.n_edges)
    assert len(edges(graph) - found) == len(found - edges(graph)) == changed


def test_every_pair_that_was_no_edge_is_added_equally_often():
    path, rng = SocialGraph.from_edges([0, 1, 2], [1, 2, 3]), np.random.default_rng(3)
    drawn = [next(iter(original(PerturbEdges(0.34)(path, rng=rng)) - edges(path))) for _ in range(3000)]
    times = np.unique(drawn, axis=0, return_counts=True)[1]
    assert len(times) == 3
    assert np.abs(times - 1000).max() < 100  # 26 is the standard deviation


def test_false_edges_run_out_in_a_complete_graph():
    full = datasets.erdos_renyi(5, 1.0, rng=np.random.default_rng(1))
    assert PerturbEdges(0.5)(full, rng=np.random.default_rng(1)).release.n_edges == 5


@pytest.mark.parametrize("share", [0.0, 0.5, 3.0])
def test_switching_leaves_everybody_their_degree(share):
    graph = datasets.barabasi_albert(80, 3, rng=np.random.default_rng(1))
    found = SwitchEdges(share)(graph, rng=np.random.default_rng(2))
    assert found.release.degree.tolist() == graph.degree[found.origin].tolist()
    assert (original(found) == edges(graph)) == (share == 0)


def test_switching_reaches_all_pairings_of_six_people_alike():
    pairs, rng = SocialGraph.from_edges([0, 2, 4], [1, 3, 5]), np.random.default_rng(4)
    seen = [str(sorted(original(SwitchEdges(14.0)(pairs, rng=rng)))) for _ in range(3000)]
    times = np.unique(seen, return_counts=True)[1]
    assert len(times) == 15
    assert np.abs(times - 200).max() < 70  # 14 is the standard deviation


@pytest.mark.parametrize("protection", [PerturbEdges(), SwitchEdges()])
def test_a_network_without_edges_stays_without(protection):
    empty = SocialGraph.from_edges([], [], n_nodes=3)
    assert protection(empty, rng=np.random.default_rng(1)).release.n_edges == 0
