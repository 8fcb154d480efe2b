import math

import numpy as np
import pytest

from unmask.core.errors import UnmaskError
from unmask.graphs.criteria import local_anonymity
from unmask.graphs.datasets import barabasi_albert
from unmask.graphs.graph import SocialGraph
from unmask.graphs.protections import choose_adopters

NETWORK = barabasi_albert(400, 2, rng=np.random.default_rng(5))


def rng(seed=1):
    return np.random.default_rng(seed)


def test_a_share_is_of_the_eligible_nodes_of_enough_degree():
    eligible = np.arange(0, 400, 2)
    chosen = choose_adopters(NETWORK, 0.5, rng=rng(), eligible=eligible)
    candidates = eligible[NETWORK.degree[eligible] > 2]
    assert 0 < len(candidates) < len(eligible)
    assert len(chosen) == round(0.5 * len(candidates))
    assert set(chosen.tolist()) <= set(candidates.tolist())
    np.testing.assert_array_equal(choose_adopters(NETWORK, 1.0, rng=rng(), eligible=eligible), candidates)


def test_every_candidate_is_as_likely():
    ring = SocialGraph.from_edges(np.arange(10), (np.arange(10) + 1) % 10)
    draw = rng()
    runs = 2_000
    count = sum(np.bincount(choose_adopters(ring, 3, rng=draw, minimum_degree=2), minlength=10) for _ in range(runs))
    np.testing.assert_allclose(count / runs, 0.3, atol=4 * math.sqrt(0.21 / runs))


@pytest.mark.parametrize("cooperation", ["local", "degree", "lta"])
def test_cooperation_takes_a_share_of_all_eligible_nodes(cooperation):
    chosen = choose_adopters(NETWORK, 0.25, cooperation=cooperation, rng=rng(), eligible=np.arange(200))
    assert len(np.unique(chosen)) == 50
    assert chosen.max() < 200


def test_cooperation_by_degree_takes_the_highest():
    chosen = choose_adopters(NETWORK, 40, cooperation="degree", rng=rng())
    other_nodes = np.setdiff1d(np.arange(400), chosen)
    assert NETWORK.degree[chosen].min() >= NETWORK.degree[other_nodes].max()


def test_cooperation_by_anonymity_takes_the_lowest_and_those_without_one_last():
    graph = SocialGraph.from_edges(*NETWORK.edges(), n_nodes=410)  # ten more without a neighbor
    anonymity = local_anonymity(graph)
    chosen = choose_adopters(graph, 40, cooperation="lta", rng=rng())
    other_nodes = np.setdiff1d(np.arange(400), chosen)
    assert anonymity[chosen].max() <= anonymity[other_nodes].min()
    last = np.setdiff1d(np.arange(410), choose_adopters(graph, 400, cooperation="lta", rng=rng()))
    np.testing.assert_array_equal(last, np.arange(400, 410))


def test_ties_are_broken_at_random():
    ring = SocialGraph.from_edges(np.arange(10), (np.arange(10) + 1) % 10)
    for cooperation in ("degree", "lta"):
        chosen = {tuple(choose_adopters(ring, 2, cooperation=cooperation, rng=rng(i)).tolist()) for i in range(20)}
        assert len(chosen) > 5


def test_local_groups_are_neighbors():
    # 30 cliques of 5 beside each other: groups of 5 are cliques, groups of 3 lie in one
    u, v = np.triu_indices(5, 1)
    index = 5 * np.arange(30)[:, None]
    cliques = SocialGraph.from_edges((index + u).ravel(), (index + v).ravel())
    groups_chosen = choose_adopters(cliques, 20, cooperation="local", group=5, rng=rng())
    assert sorted(np.bincount(groups_chosen // 5).tolist())[-4:] == [5, 5, 5, 5]
    parts = choose_adopters(cliques, 12, cooperation="local", group=3, rng=rng())
    assert set(np.bincount(parts // 5).tolist()) <= {0, 2, 3, 4, 5}  # no lone first of a group
    assert len(choose_adopters(cliques, 150, cooperation="local", group=7, rng=rng())) == 150


def test_local_groups_hold_no_more_than_their_size():
    star = SocialGraph.from_edges([0] * 20, range(1, 21))
    for seed in range(10):
        chosen = choose_adopters(star, 4, cooperation="local", group=4, rng=rng(seed))
        assert len(chosen) == 4


def test_the_top_refuses_and_still_counts():
    for cooperation in ("none", "local", "degree", "lta"):
        options = {"cooperation": cooperation, "rng": rng(), "minimum_degree": 0}
        chosen = choose_adopters(NETWORK, 0.5, refuse_top=0.1, **options)
        assert len(chosen) == 200
        top = np.sort(NETWORK.degree)[-40:]
        assert NETWORK.degree[chosen].max() <= top.min()
    with pytest.raises(UnmaskError, match="400 people should adopt the protection, but only 360 may"):
        choose_adopters(NETWORK, 1.0, refuse_top=0.1, minimum_degree=0, rng=rng())


def test_one_is_one_person_and_one_point_zero_everybody():
    assert len(choose_adopters(NETWORK, 1, rng=rng())) == 1
    assert len(choose_adopters(NETWORK, 1.0, minimum_degree=0, rng=rng())) == 400
    assert len(choose_adopters(NETWORK, 0.0, rng=rng())) == 0


@pytest.mark.parametrize(
    ("adopters", "options", "message"),
    [
        (1.5, {}, "adopters is 1.5"),
        (-1, {}, "adopters is -1"),
        (True, {}, "adopters is True"),
        (0.1, {"cooperation": "global"}, "cooperation is 'global'"),
        (0.1, {"refuse_top": 2.0}, "refuse_top is 2.0"),
        (0.1, {"group": 0}, "group is 0"),
        (0.1, {"eligible": [-1, 4]}, "eligible nodes go from -1 to 4"),
        (401, {"minimum_degree": 0}, "401 people should adopt"),
    ],
)
def test_wrong_use_is_refused(adopters, options, message):
    with pytest.raises(UnmaskError, match=message):
        choose_adopters(NETWORK, adopters, rng=rng(), **options)
