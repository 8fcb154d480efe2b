"""Advice for one person: the numbers are those of criteria and game, and none describes another person."""

from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest

from unmask.core.errors import UnmaskError
from unmask.graphs import Nar09, SocialGraph, datasets
from unmask.graphs.advice.identity_advice import advise, in_clique, simulated_discovery
from unmask.graphs.advice.identity_sentences import sentences
from unmask.graphs.advice.seeding_loss import TOP_SHARE
from unmask.graphs.criteria import clique_failure, local_anonymity, top_failure
from unmask.graphs.identity_game import best_assignment, expected_loss
from unmask.studies.reading import read_plan

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def network() -> SocialGraph:
    degrees = datasets.power_law_degrees(300, exponent=2.5, mean=12)
    graph = datasets.chung_lu(degrees, rng=np.random.default_rng(3))
    return graph.take(graph.largest_component())


def complete(n: int) -> SocialGraph:
    u, v = np.triu_indices(n, 1)
    return SocialGraph.from_edges(u, v)


def test_seeding_failure_is_that_of_even_shares(network):
    hub = int(np.argmax(network.degree))
    advice = advise(network, hub)
    border = int(np.sort(network.degree)[-round(TOP_SHARE * network.n_nodes)])
    assert in_clique(network, hub)
    assert [escape.identities for escape in advice.escapes] == [2, 3, 4, 5]
    for escape in advice.escapes:
        even = [1 / escape.identities] * escape.identities
        assert escape.cliques == clique_failure(int(network.degree[hub]), even)
        assert escape.best_known == top_failure(int(network.degree[hub]), even, border)
    assert advice.escapes[0].best_known < advice.escapes[-1].best_known


def test_rank_counts_those_who_are_found_more_easily(network):
    anonymity = local_anonymity(network)
    order = np.argsort(anonymity)
    assert advise(network, int(order[0])).rank == 1
    node = int(order[40])
    advice = advise(network, node)
    assert advice.rank == 1 + sum(value < anonymity[node] for value in anonymity)
    assert advice.anonymity == anonymity[node]


@pytest.mark.parametrize("n", [3, 4, 7])
def test_a_clique_of_four_takes_three_friends_who_know_each_other(n):
    assert in_clique(complete(n), 0) is (n >= 4)


def test_cliques_of_four_by_looking_at_all_triples(network):
    small = network.take(np.argsort(-network.degree)[:60])
    ties = small.adjacency().toarray()
    for node in range(small.n_nodes):
        near = small.neighbors(node)
        slow = any(ties[a, b] and ties[b, c] and ties[a, c] for a in near for b in near for c in near)
        assert in_clique(small, node) is slow


def test_one_who_is_in_no_clique_is_never_found_by_cliques():
    star = SocialGraph.from_edges([0] * 9, range(1, 10))
    advice = advise(star, 0)
    assert not advice.in_clique
    assert {escape.cliques for escape in advice.escapes} == {1.0}


def test_the_secret_goes_where_it_is_found_least(network):
    chances = [0.6, 0.2, 0.3]
    advice = advise(network, 0, discovery=chances)
    assert advice.weak.assignment == tuple(best_assignment(chances)) == (0.0, 1.0, 0.0)
    assert advice.weak.loss == expected_loss([0, 1, 0], discovery=chances)
    assert advice.strong.assignment == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert advice.strong.loss == pytest.approx(advice.unknown.loss) == pytest.approx(1 / 3)


def test_identities_are_never_more_than_contacts():
    path = SocialGraph.from_edges([0, 1, 2], [1, 2, 3])
    assert len(advise(path, 1).strong.assignment) == 2
    single = advise(path, 0)
    assert (single.escapes, single.strong.loss) == ((), 1.0)
    assert any("too few contacts" in sentence for sentence in sentences(single))


def test_without_friends_of_friends_anonymity_is_undefined():
    pairs = SocialGraph.from_edges([0, 2, 3], [1, 3, 4])
    advice = advise(pairs, 0)
    assert (advice.anonymity, advice.rank) == (None, None)
    assert "not defined" in next(sentences(advice))
    assert not any(value != value for value in astuple(advice) if isinstance(value, float))


def test_unknown_values_are_shown_as_unknown(network):
    unknown, with_discovery = advise(network, 5), advise(network, 5, discovery=[0.0, 0.4])
    assert unknown.weak is None
    assert any("is not known" in sentence for sentence in sentences(unknown))
    assert not any("is not known" in sentence for sentence in sentences(with_discovery))
    assert any("identity 1: they learn it with 0\u00a0%" in sentence for sentence in sentences(with_discovery))
    simulated = list(sentences(replace(with_discovery, runs=5)))
    assert any("found in 0, 2 of 5" in sentence for sentence in simulated)
    assert any(
        "not found in 5 attacks may still be found with a probability of up to 43.4\u00a0%" in sentence
        for sentence in simulated
    )


def test_near_certainty_is_not_rounded_to_it():
    advice = advise(complete(14), 0)
    assert 0.9995 <= advice.escapes[0].cliques < 1
    (sentence,) = (sentence for sentence in sentences(advice) if "cliques of 4" in sentence)
    assert "probability of >99.9\u00a0%, " in sentence
    assert "100" not in sentence


def test_advice_is_the_same_whatever_the_others_are_called(network):
    """A relabeled network gives the same numbers: none of them tells who anybody is."""
    order = np.random.default_rng(1).permutation(network.n_nodes)
    shuffled = network.take(order)
    assert advise(network, int(order[7])) == advise(shuffled, 7)


# --- simulated discovery --------------------------------------------------------------------------------------------


def nobody(release, knowledge, *, rng=None):
    """An attack without any match."""
    belief = Nar09()(release, knowledge)
    return replace(belief, mapping=np.full(knowledge.graph.n_nodes, -1, dtype=np.int32))


def test_an_attack_without_matches_finds_no_identity(network):
    hub = int(np.argmax(network.degree))
    rng = np.random.default_rng(1)
    result = simulated_discovery(network, hub, nobody, identities=3, n_seeds=15, runs=2, rng=rng)
    assert result.tolist() == [0, 0, 0]


def test_the_largest_identity_comes_first(network):
    hub = int(np.argmax(network.degree))
    rng = np.random.default_rng(2)
    result = simulated_discovery(network, hub, Nar09(), identities=2, n_seeds=30, runs=4, rng=rng)
    assert result.shape == (2,)
    assert set(result) <= {0, 0.25, 0.5, 0.75, 1}
    assert result[0] > 0


def test_a_person_outside_every_split_is_reported():
    """A node without a tie is never found by its ties; one of another part of the network is in half of the splits."""
    u, v = np.triu_indices(12, 1)
    graph = SocialGraph.from_edges([*u, 12], [*v, 13], n_nodes=15)
    settings = {"identities": 1, "n_seeds": 2, "runs": 1}
    assert simulated_discovery(graph, 13, Nar09(), **settings, rng=np.random.default_rng(1)).tolist() == [0]
    with pytest.raises(UnmaskError, match="give its discovery chances instead"):
        simulated_discovery(graph, 14, Nar09(), identities=1, n_seeds=2, runs=1, rng=np.random.default_rng(1))


def test_the_example_is_a_plan():
    plan = read_plan(EXAMPLES / "identity-separation.toml")
    protections = {part.parameters.get("cooperation", "none") for part in plan.protections}
    assert protections == {"none", "local", "lta", "degree"}
    assert {part.use for part in plan.protections} >= {"none", "graphs.IdentitySeparation", "graphs.Decoy"}
    assert len({part.use for part in plan.adversaries}) > 1
