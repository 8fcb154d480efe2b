import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graphs.disclosed import counts, recall
from tests.graphs.problems import Owned
from unmask.core.errors import UnmaskError
from unmask.core.truth import Truth
from unmask.graphs import Auxiliary, Nar09, select_seeds, split
from unmask.graphs.attacks.iterated import Iterated
from unmask.graphs.datasets import barabasi_albert, network
from unmask.graphs.disclosure import (
    disclosure,
    discovery,
    seed_pair,
)
from unmask.graphs.evaluation import Outcome, outcomes
from unmask.graphs.graph import SocialGraph
from unmask.graphs.knowledge import Pair, SeedPairs
from unmask.graphs.protections import Decoy, IdentitySeparation, Role

NETWORK = barabasi_albert(60, 4, rng=np.random.default_rng(5))
MODELS = ["basic", "realistic", "realistic_minimal", "best", "worst"]


def rng(seed=1):
    return np.random.default_rng(seed)


def separated_pair(seed, model="basic", y=3):
    pair = split(NETWORK, 0.6, 0.8, rng(seed))
    protection = IdentitySeparation(model, identities=y, adopters=0.5, minimum_degree=1)
    return pair, protection(pair.target, rng=rng(seed), eligible=pair.truth[pair.common])


def random_mapping(pair, separated, draw):
    """A one-to-one mapping of which a half is right."""
    mapping = np.full(pair.source.n_nodes, -1)
    targets = draw.permutation(separated.release.n_nodes).tolist()
    owned = Owned(pair.truth, separated.origin)
    for v in draw.permutation(pair.source.n_nodes).tolist():
        own_nodes = [x for x in draw.permutation(owned.nodes_of(v)).tolist() if x in targets]
        kind = draw.random()
        if kind < 0.4 and own_nodes:
            mapping[v] = own_nodes[0]
        elif kind < 0.8:
            mapping[v] = targets[0]
        if mapping[v] >= 0:
            targets.remove(mapping[v])
    return mapping


# --- the truth, one to many -------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000))
def test_identities_are_all_released_nodes_of_a_person(seed):
    draw = rng(seed)
    origin = draw.integers(0, 6, size=8)
    truth = draw.choice([-2, -1, *range(8)], size=5)
    target, person_right = Truth(truth, person=origin).list_pairs()
    owned = Owned(np.where(truth >= 0, origin[truth], -1), origin)
    for v, node in enumerate(truth.tolist()):
        assert person_right[target == v].tolist() == (owned.nodes_of(v).tolist() if node >= 0 else [node])


@given(st.integers(0, 10_000))
def test_any_row_of_a_person_is_right(seed):
    draw = rng(seed)
    n_source, n_target = 6, 9
    rows = [(int(draw.integers(n_source)), x) for x in draw.permutation(n_target)[: draw.integers(1, 10)].tolist()]
    graph, release = SocialGraph.from_edges([0], [1], n_nodes=n_source), SocialGraph.from_edges([0], [1], n_nodes=9)
    full_pair = Pair.from_labels(graph, release, *zip(*rows, strict=True))
    first = full_pair.truth
    assert first.tolist() == [next((x for u, x in rows if u == v), -1) for v in range(n_source)]
    mapping = draw.integers(-1, n_target, size=n_source)
    places = draw.permutation(n_target)
    pair = full_pair.take(np.arange(n_source), places)
    is_right = [(v, int(places[x])) in rows if x >= 0 else False for v, x in enumerate(mapping.tolist())]
    truth = pair.truth_for(mapping)
    assert ((truth == mapping) & (mapping >= 0)).tolist() == is_right
    assert [places[x] if x >= 0 else -1 for x in truth[~np.array(is_right)]] == first[~np.array(is_right)].tolist()
    assert pair.identities.tolist() == [sum(u == v for u, _ in rows) for v in range(n_source)]
    assert (pair.origin is None) == (max(pair.identities) == 1)


def test_an_origin_of_another_length_is_refused():
    pair, separated = separated_pair(1)
    with pytest.raises(UnmaskError, match="the origin has 3 rows"):
        Pair(pair.source, separated.release, np.full(pair.source.n_nodes, -1), np.arange(3))


def test_seeds_are_chosen_among_people_who_are_whole_or_who_are_not():
    pair, separated = separated_pair(1)
    whole_seeds, adopters = seed_pair(pair, separated), seed_pair(pair, separated, "adopters")
    assert len(whole_seeds.common) + len(adopters.common) == len(pair.common)
    for seeds, role in ((whole_seeds, Role.WHOLE), (adopters, Role.IDENTITY)):
        assert len(seeds.common) > 5
        np.testing.assert_array_equal(separated.origin[seeds.truth[seeds.common]], pair.truth[seeds.common])
        assert set(separated.role[seeds.truth[seeds.common]].tolist()) == {role}


# --- recall and disclosure --------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.sampled_from(MODELS))
def test_rates_are_those_of_the_equations(seed, model):
    # equations (3.2) to (3.5), person by person
    draw = rng(seed)
    pair, separated = separated_pair(seed % 20, model)
    mapping = random_mapping(pair, separated, draw)
    seeds = draw.permutation(pair.source.n_nodes)[:6]
    hits = present = adopter_hits = adopters = 0
    announced = []
    for v in range(pair.source.n_nodes):
        node = int(pair.truth[v])
        if v in seeds or node < 0:
            continue
        is_right = mapping[v] >= 0 and separated.origin[mapping[v]] == node
        hits, present = hits + is_right, present + 1
        if node in separated.adopters:
            adopter_hits, adopters = adopter_hits + is_right, adopters + 1
            near = separated.release.neighbors(int(mapping[v])) if is_right else []
            announced.append(len({int(separated.origin[x]) for x in near}) / pair.target.degree[node])
    result = disclosure(pair, separated, mapping, seeds)
    arguments = (pair, separated, mapping, seeds)
    assert (counts(*arguments)[Outcome.HIT], recall(*arguments)) == (hits, hits / present)
    assert ((result.role >= 0).sum(), len(result.person)) == (adopter_hits, adopters)
    np.testing.assert_allclose(result.share, announced)
    assert result.rate == pytest.approx(np.mean(announced))
    assert result.share.max() <= 1
    if model == "basic":  # where nobody doubles a contact, the degree of the identity is what (3.4) says
        is_right = result.role >= 0
        degree = separated.release.degree[mapping[result.person[is_right]]]
        np.testing.assert_allclose(
            result.share[is_right], degree / pair.target.degree[pair.truth[result.person[is_right]]]
        )


def test_without_separation_the_rates_are_the_plain_ones():
    pair = split(NETWORK, 0.6, 0.8, rng())
    separated = IdentitySeparation(adopters=0)(pair.target, rng=rng())
    mapping = random_mapping(pair, separated, rng(2))
    result = disclosure(pair, separated, mapping, [1, 2])
    new = np.argsort(separated.origin)
    plain = outcomes(mapping, np.where(pair.truth >= 0, new[pair.truth], -1), [1, 2])
    assert list(counts(pair, separated, mapping, [1, 2]).values()) == np.bincount(plain, minlength=6).tolist()
    assert Outcome.HIT in plain
    assert result.rate is None
    assert result.decoyed is None
    assert not len(result.person)


def test_people_who_have_left_the_release_disclose_nothing_and_cannot_be_found():
    pair = split(NETWORK, 0.6, 0.8, rng())
    separated = IdentitySeparation(identities=0, adopters=5)(pair.target, rng=rng(), eligible=pair.truth[pair.common])
    mapping = np.zeros(pair.source.n_nodes, dtype=int)
    result = disclosure(pair, separated, mapping, [])
    assert len(result.person) == 5
    assert result.rate == 0.0
    assert not (result.role >= 0).any()
    assert counts(pair, separated, mapping, [])[Outcome.MISS] <= len(pair.common) - 5


def test_all_identities_together_tell_every_contact():
    for model in ("basic", "worst"):
        pair, separated = separated_pair(3, model)
        owned = Owned(pair.truth, separated.origin)
        rounds = np.full((3, pair.source.n_nodes), -1)
        for v in pair.common.tolist():
            rounds[: owned.count[v], v] = owned.nodes_of(v)
        result = disclosure(pair, separated, rounds, [])
        np.testing.assert_allclose(result.share, 1.0)
        assert recall(pair, separated, rounds, []) == 1.0
        assert disclosure(pair, separated, rounds[0], []).rate < 0.7


def test_a_right_round_counts_before_a_wrong_one():
    pair, separated = separated_pair(3)
    person = int(disclosure(pair, separated, np.full(pair.source.n_nodes, -1), []).person[0])
    own_node = Owned(pair.truth, separated.origin).nodes_of(person)[0]
    rounds = np.full((2, pair.source.n_nodes), -1)
    rounds[:, person] = (own_node + 1) % separated.release.n_nodes, own_node
    assert counts(pair, separated, rounds, [])[Outcome.HIT] == 1
    rounds[1, person] = -1
    assert counts(pair, separated, rounds, [])[Outcome.MISS] == 1


def test_decoys_succeed_where_the_public_node_alone_is_found():
    pair = split(NETWORK, 1.0, 1.0, rng())
    separated = Decoy(minimum_degree=10, adopters=4)(pair.target, rng=rng())
    owned = Owned(pair.truth, separated.origin)
    people = np.flatnonzero(np.isin(pair.truth, separated.adopters)).tolist()
    faces = {v: sorted(owned.nodes_of(v).tolist(), key=lambda x: separated.role[x]) for v in people}  # public, hidden
    rounds = np.full((2, pair.source.n_nodes), -1)
    rounds[0, people[0]] = faces[people[0]][0]
    rounds[:, people[1]] = faces[people[1]]
    rounds[0, people[2]] = faces[people[2]][1]
    result = disclosure(pair, separated, rounds, [])
    assert result.role.tolist() == [Role.PUBLIC, Role.HIDDEN, Role.HIDDEN, -1]
    assert (result.decoyed, result.exposed) == (0.25, 0.5)
    assert disclosure(pair, separated, rounds[0], []).decoyed == 0.5


def test_a_mapping_of_other_people_is_refused():
    pair, separated = separated_pair(1)
    with pytest.raises(UnmaskError, match=r"the mapping has shape \(3,\)"):
        disclosure(pair, separated, np.array([0, 1, 2]), [])


# --- can each identity be found? --------------------------------------------------------------------------------------


class Watching:
    """An attack that knows the answer by a label it has hidden, and tells what it saw."""

    def __init__(self, source, answer):
        self.source, self.answer, self.releases = source, answer, []

    def __call__(self, release, knowledge, *, rng=None):
        assert knowledge.graph is self.source
        self.releases.append((release, knowledge.seeds))
        return self.answer(release, knowledge.seeds)


def test_discovery_leaves_one_identity_of_each_person():
    pair, separated = separated_pair(4, y=3)
    people = np.flatnonzero(np.isin(pair.truth, separated.adopters))[:6]
    owned = Owned(pair.truth, separated.origin)

    class Belief:
        mapping = np.zeros(pair.source.n_nodes, dtype=int)  # names released node 0 for all_people

    attack = Watching(pair.source, lambda target, seeds: Belief)
    result = discovery(
        pair,
        separated,
        people,
        attack,
        lambda pair_given, draw: select_seeds(pair_given, "random", 4, draw),
        runs=2,
        rng=rng(),
    )
    n, most_identities = separated.release.n_nodes, owned.count[people].max()
    assert len(attack.releases) == 2 * most_identities
    for i, (release, _) in enumerate(attack.releases):
        n_left = (owned.count[people] > i // 2).sum()
        assert release.n_nodes == n - owned.count[people].sum() + n_left
    np.testing.assert_array_equal(result.person, np.repeat(people, owned.count[people]))
    assert result.runs == 2
    assert set((result.hits + result.misses).tolist()) == {2}


def test_seeds_of_discovery_are_the_same_people_in_every_round():
    pair, separated = separated_pair(4)
    people = np.flatnonzero(np.isin(pair.truth, separated.adopters))[:4]

    class Belief:
        mapping = np.full(pair.source.n_nodes, -1)

    attack = Watching(pair.source, lambda target, seeds: Belief)
    discovery(
        pair,
        separated,
        people,
        attack,
        lambda pair_given, draw: select_seeds(pair_given, "random", 4, draw),
        runs=2,
        rng=rng(),
    )
    for run in (0, 1):
        sources = {tuple(seeds.source.tolist()) for _, seeds in attack.releases[run::2]}
        degrees = {tuple(release.degree[seeds.target].tolist()) for release, seeds in attack.releases[run::2]}
        assert len(sources) == 1
        assert not set(next(iter(sources))) & set(np.flatnonzero(np.isin(pair.truth, separated.adopters)).tolist())
        assert len(degrees) >= 1
    assert attack.releases[0][1].source.tolist() != attack.releases[1][1].source.tolist()


def test_an_identity_with_all_contacts_is_found_and_an_empty_one_is_not():
    graph = barabasi_albert(400, 6, rng=rng(2))
    pair = split(graph, 1.0, 1.0, rng())
    protection = IdentitySeparation(identities=2, sorting=(1.0, 0.0), adopters=5, cooperation="degree")
    separated = protection(pair.target, rng=rng())
    people = np.flatnonzero(np.isin(pair.truth, separated.adopters))
    result = discovery(
        pair,
        separated,
        people,
        Nar09(),
        lambda pair_given, draw: select_seeds(pair_given, "random", 60, draw),
        runs=3,
        rng=rng(),
    )
    full = separated.release.degree[result.node] > 0
    assert full.sum() == (~full).sum() == 5
    np.testing.assert_array_equal(result.probability[full], 1.0)
    np.testing.assert_array_equal(result.hits[~full], 0)
    assert result.reversed == 0.0
    assert (result.score[~full] <= 0).all()


def test_discovery_without_people_is_refused():
    pair, separated = separated_pair(4)
    with pytest.raises(UnmaskError, match="10 runs for 0 people"):
        discovery(
            pair,
            separated,
            [],
            Nar09(),
            lambda pair_given, draw: SeedPairs(pair_given.common, pair_given.common),
            rng=rng(),
        )


# --- further identities -----------------------------------------------------------------------------------------------


def test_an_iterated_attack_finds_further_identities():
    graph = barabasi_albert(400, 8, rng=rng(2))
    pair = split(graph, 1.0, 1.0, rng())
    separated = IdentitySeparation(identities=2, adopters=10, cooperation="degree")(pair.target, rng=rng())
    seeds = select_seeds(seed_pair(pair, separated), "random", 150, rng())
    belief = Iterated(Nar09(), rounds=2)(separated.release, Auxiliary(pair.source, seeds))
    first = disclosure(pair, separated, belief.mapping, seeds.source)
    by_pair = disclosure(pair, separated, belief.rounds, seeds.source)
    assert by_pair.rate > first.rate + 0.1


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("UNMASK_DATA"), reason="UNMASK_DATA names no folder with the data")
def test_five_identities_of_the_best_model_tell_little():
    # Gulyas 2015, section 5.3.4: |V_ids| = .1, disclosure "topped at 2.33 %, typically around or under 1 %"
    pair = split(network("epinions"), 0.5, 0.75, rng(), largest_component=True)
    for protection, low, high in [
        (IdentitySeparation("best", identities=5), 0.005, 0.03),
        (IdentitySeparation("basic", identities=2), 0.15, 0.27),
    ]:
        separated = protection(pair.target, rng=rng(), eligible=pair.truth[pair.common])
        seeds = select_seeds(seed_pair(pair, separated), "random.25", 1_000, rng())
        mapping = Nar09()(separated.release, Auxiliary(pair.source, seeds)).mapping
        result = disclosure(pair, separated, mapping, seeds.source)
        assert low < result.rate < high
        assert 0.18 < recall(pair, separated, mapping, seeds.source) < 0.28


def test_a_pair_keeps_its_own_truth():
    pair, separated = separated_pair(1)
    assert isinstance(seed_pair(pair, separated), Pair)
    assert seed_pair(pair, separated).target is separated.release
