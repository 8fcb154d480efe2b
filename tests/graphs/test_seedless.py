"""First matches without seeds: found where the networks share people, refused where chance does as well."""

import numpy as np
import pytest

from unmask import UnmaskError
from unmask.cases.graphs.scenes import Acquired, Plan
from unmask.cases.graphs.standard import audit_graph
from unmask.graphs import Nar09, SocialGraph, datasets, match_profiles, split
from unmask.graphs.knowledge.seedless import _profiles


def friends(seed=0, n=300):
    return datasets.chung_lu(datasets.power_law_degrees(n, exponent=2.5, mean=8), rng=np.random.default_rng(seed))


def shared():
    rng = np.random.default_rng(1)
    return split(friends(n=400), 0.9, 0.95, rng).shuffled(rng=rng)


def test_people_are_found_without_a_seed():
    pair = shared()
    seeds = match_profiles(pair.source, pair.target, 40, rng=np.random.default_rng(0))
    assert np.mean(pair.truth[seeds.source] == seeds.target) > 0.9
    assert len(set(seeds.target.tolist())) == 40
    assert seeds.said.startswith("Matches from the guessed identities keep ")


def test_the_order_of_nodes_tells_nothing():
    pair = shared()
    new = np.random.default_rng(2).permutation(pair.target.n_nodes)
    here, there = (
        match_profiles(pair.source, target, 20, rng=np.random.default_rng(0))
        for target in (pair.target, pair.target.take(new))
    )
    same = dict(zip(here.source.tolist(), here.target.tolist(), strict=True))
    moved = dict(zip(there.source.tolist(), new[there.target].tolist(), strict=True))
    assert sum(moved.get(u) == c for u, c in same.items()) >= 18


@pytest.mark.parametrize(
    "other", [friends(7), SocialGraph.from_edges([], [], n_nodes=5), SocialGraph.from_edges([0, 1, 2], [1, 2, 0])]
)
def test_where_nobody_is_shared_it_refuses(other):
    with pytest.raises(UnmaskError, match="nobody is found without seeds: the matches keep"):
        match_profiles(friends(), other, 10, rng=np.random.default_rng(0))


def test_two_regular_networks_refuse_since_nothing_tells_people_apart():
    ring = SocialGraph.from_edges(np.arange(50), (np.arange(50) + 1) % 50)
    with pytest.raises(UnmaskError, match="nobody is found"):
        match_profiles(ring, ring, 10, rng=np.random.default_rng(0))


def test_more_than_are_found_and_none_are_refused():
    graph = friends()
    with pytest.raises(UnmaskError, match="people are found without seeds, 299 were asked for; ask for fewer"):
        match_profiles(graph, graph, 299, rng=np.random.default_rng(0))
    with pytest.raises(UnmaskError, match="n is 0, expected at least 1 seed"):
        match_profiles(graph, graph, 0, rng=np.random.default_rng(0))


def test_a_profile_is_the_mean_over_walks():
    star, path = SocialGraph.from_edges([0, 0, 0], [1, 2, 3]), SocialGraph.from_edges([0, 1], [1, 2])
    here, there = _profiles(star, path)
    both = np.concatenate((here, there))
    assert np.allclose(here[1], here[2])
    assert np.allclose(both.mean(axis=0), 0, atol=1e-6)
    own = np.log1p(np.array([3, 1, 1, 1, 1, 2, 1]))
    assert np.allclose(both[:, 0], 2 * (own - own.mean()) / own.std(), atol=1e-5)


def test_the_page_says_what_speaks_for_guessed_identities():
    pair = shared()
    plan = Plan({"Nar09": Nar09()}, "match_profiles", 20, runs=4)
    found = audit_graph({"r": Acquired(pair.target, pair.source)}, plan)
    assert any("edges; on networks with the same degrees" in said for said in found.assumptions)
    assert found.subject("graph").attacks[0].runs == 1
