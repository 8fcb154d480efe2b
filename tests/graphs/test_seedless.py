"""First matches without seeds: found where the networks share people, refused where chance does as well."""

import numpy as np
import pytest

from unmask import UnmaskError
from unmask.graphs import Nar09, SocialGraph, datasets, match_profiles, split
from unmask.graphs.audit import audit_networks
from unmask.graphs.audit.attack_plan import Plan
from unmask.graphs.audit.network_pairs import GivenPair
from unmask.graphs.knowledge.lookalike_seeds import _profiles


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
    assert seeds.evidence.startswith("Matches from the guessed identities keep ")


def test_the_order_of_nodes_tells_nothing():
    pair = shared()
    new = np.random.default_rng(2).permutation(pair.target.n_nodes)
    plain_match, renumbered_match = (
        match_profiles(pair.source, target, 20, rng=np.random.default_rng(0))
        for target in (pair.target, pair.target.take(new))
    )
    plain_mapping = dict(zip(plain_match.source.tolist(), plain_match.target.tolist(), strict=True))
    renumbered_mapping = dict(zip(renumbered_match.source.tolist(), new[renumbered_match.target].tolist(), strict=True))
    assert sum(renumbered_mapping.get(u) == c for u, c in plain_mapping.items()) >= 18


@pytest.mark.parametrize(
    "stranger", [friends(7), SocialGraph.from_edges([], [], n_nodes=5), SocialGraph.from_edges([0, 1, 2], [1, 2, 0])]
)
def test_matching_without_shared_people_is_refused(stranger):
    with pytest.raises(UnmaskError, match="no people are found without seeds: the matches keep"):
        match_profiles(friends(), stranger, 10, rng=np.random.default_rng(0))


def test_two_regular_networks_refuse_since_nothing_tells_people_apart():
    ring = SocialGraph.from_edges(np.arange(50), (np.arange(50) + 1) % 50)
    with pytest.raises(UnmaskError, match="no people are found"):
        match_profiles(ring, ring, 10, rng=np.random.default_rng(0))


def small_world(seed, n=400):
    """Six neighbors along a ring, one in ten links moved anywhere."""
    rng = np.random.default_rng(seed)
    u, step = np.repeat(np.arange(n), 3), np.tile([1, 2, 3], n)
    is_moved = rng.random(3 * n) < 0.1
    v = np.where(is_moved, rng.integers(0, n, 3 * n), (u + step) % n)
    return SocialGraph.from_edges(u[u != v], v[u != v], n_nodes=n)


def circles(seed, n=360, size=60):
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(n, 1)
    tied = rng.random(len(u)) < np.where(u // size == v // size, 0.25, 0.005)
    return SocialGraph.from_edges(u[tied], v[tied], n_nodes=n)


@pytest.mark.parametrize(("kind", "n"), [(small_world, 60), (circles, 1)])
def test_strangers_in_networks_of_one_kind_are_refused_however_few_are_asked_for(kind, n):
    with pytest.raises(UnmaskError, match="found again where a tenth of the edges is missing, expected at least half"):
        match_profiles(kind(1), kind(2), n, rng=np.random.default_rng(0))


def test_so_few_edges_that_chance_keeps_them_are_refused():
    path = SocialGraph.from_edges([0, 1, 2, 2, 3, 0], [1, 2, 3, 4, 5, 6])
    with pytest.raises(UnmaskError, match="expected at least 2 times as many, and at least 10"):
        match_profiles(path, path, 1, rng=np.random.default_rng(0))


def test_people_who_look_like_another_person_are_not_guessed():
    (u, v), n = friends(n=150).edges(), 150
    twins = SocialGraph.from_edges(np.concatenate((u, u, u + n, u + n)), np.concatenate((v, v + n, v, v + n)))
    with pytest.raises(UnmaskError, match="no people are found without seeds: 0 % of the surest"):
        match_profiles(twins, twins, 20, rng=np.random.default_rng(0))


def test_more_than_are_found_and_none_are_refused():
    graph = friends()
    with pytest.raises(UnmaskError, match=r"299 seeds are too many: \d+ people are found without seeds"):
        match_profiles(graph, graph, 299, rng=np.random.default_rng(0))
    with pytest.raises(UnmaskError, match="n is 0, expected a whole number at least 1"):
        match_profiles(graph, graph, 0, rng=np.random.default_rng(0))


def test_a_profile_is_the_mean_over_walks():
    star, path = SocialGraph.from_edges([0, 0, 0], [1, 2, 3]), SocialGraph.from_edges([0, 1], [1, 2])
    star_profiles, path_profiles = _profiles(star, path)
    all_profiles = np.concatenate((star_profiles, path_profiles))
    assert np.allclose(star_profiles[1], star_profiles[2])
    assert np.allclose(all_profiles.mean(axis=0), 0, atol=1e-6)
    expected = np.log1p(np.array([3, 1, 1, 1, 1, 2, 1]))
    assert np.allclose(all_profiles[:, 0], 2 * (expected - expected.mean()) / expected.std(), atol=1e-5)


def test_the_page_says_what_speaks_for_guessed_identities():
    pair = shared()
    plan = Plan({"Nar09": Nar09()}, "match_profiles", 20, runs=4)
    result = audit_networks({"r": GivenPair(pair.target, pair.source)}, plan)
    (assumption,) = (
        assumption
        for assumption in result.assumptions
        if "edges; on random networks with the same degrees" in assumption
    )
    assert "of the surest are found again where a tenth of the edges is missing. (r)" in assumption
    assert result.table("graph_attacks").values("runs") == [1]
