"""Several identities of one person."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from tests.graphs import slow
from tests.graphs.problems import as_dict, graph, noisy_pair, pairs_of, probability, problems, seed_pairs
from unmask import UnmaskError
from unmask.graphs import Auxiliary
from unmask.graphs.attacks.grasshopper import Grasshopper
from unmask.graphs.attacks.iterated import Iterated
from unmask.graphs.attacks.propagation import Bumblebee, Nar09
from unmask.graphs.attacks.witnesses import KorulaLattanzi
from unmask.graphs.graph import SocialGraph


def separated(target, persons, rng):
    """The target with two identities of these nodes, each edge at one of them; and whose identity every node is."""
    second = np.full(target.n_nodes, -1)
    second[persons] = target.n_nodes + np.arange(len(persons))
    ends = [np.where((second[v] >= 0) & (rng.random(len(v)) < 0.5), second[v], v) for v in target.edges()]
    owner = np.concatenate((np.arange(target.n_nodes), persons))
    return SocialGraph.from_edges(*ends, n_nodes=len(owner)), owner


@settings(max_examples=100, deadline=None)
@given(problems())
def test_every_round_is_the_attack_with_copies_of_those_found(problem):
    source, target, seeds = problem
    belief = Iterated(Nar09(theta=0.3), rounds=3)(target, Auxiliary(source, seeds))
    near, person, mu, rounds = as_dict(source), dict.fromkeys(range(source.n_nodes)), seed_pairs(seeds), []
    person = {v: v for v in near}
    for number in range(3):
        after, _ = slow.nar09(near, as_dict(target), mu, theta=0.3, synchronous=True)
        new = {v: c for v, c in after.items() if v not in mu or number == 0}
        rounds.append({person[v]: c for v, c in new.items()})
        mu = after
        if not new:
            break
        near = {v: set(friends) for v, friends in near.items()}
        for v in sorted(new):
            copy = len(near)
            person[copy], near[copy] = person[v], set(as_dict(source)[person[v]])
            for friend in near[copy]:
                near[friend].add(copy)
    assert [pairs_of(row) for row in belief.rounds] == rounds + [{}] * (3 - len(rounds))


def test_one_round_is_the_attack_itself():
    source, target, truth = noisy_pair(np.random.default_rng(1))
    seeds = (truth[0][:9], truth[1][:9])
    iterated, plain = (
        Iterated(Bumblebee(), rounds=1)(target, Auxiliary(source, seeds)),
        Bumblebee()(target, Auxiliary(source, seeds)),
    )
    assert iterated.rounds.tolist() == [plain.mapping.tolist()]
    for name in ("mapping", "sweeps", "indptr", "candidate", "n_unlisted"):
        assert np.array_equal(getattr(iterated, name), getattr(plain, name))
    assert iterated.log_probability == pytest.approx(plain.log_probability, abs=1e-6)
    assert iterated.unlisted == pytest.approx(plain.unlisted)


@pytest.mark.parametrize("attack", [Nar09(), Bumblebee(theta=0.5), KorulaLattanzi()], ids=repr)
def test_both_identities_of_most_people_are_found_where_there_is_no_noise(attack):
    rng = np.random.default_rng(2)
    source, target, truth = noisy_pair(rng, n_nodes=200, degree=16.0, share_kept=1.0)
    release, owner = separated(target, truth[1][40:70], rng)
    belief = Iterated(attack)(release, Auxiliary(source, (truth[0][:40], truth[1][:40])))
    result = np.where(belief.rounds >= 0, owner[belief.rounds], -1)
    is_right = result[:, truth[0][40:70]] == truth[1][40:70]
    assert np.mean(np.all(is_right, axis=0)) > 0.6
    assert np.mean(np.all(belief.rounds[:, truth[0][40:70]] >= 0, axis=0)) > 0.6


def test_the_belief_covers_all_rounds():
    person = graph(4, [(0, 1), (0, 2), (0, 3)])
    split = graph(6, [(0, 1), (0, 2), (4, 3)])
    friends = np.array([1, 2, 3])
    belief = Iterated(Nar09(), rounds=5)(split, Auxiliary(person, (friends, friends)))
    assert belief.rounds.tolist() == [[0, 1, 2, 3], [4, -1, -1, -1], *[[-1] * 4] * 3]
    assert belief.mapping.tolist() == [0, 1, 2, 3]
    assert probability(belief, 0) == pytest.approx({0: 0.5, 4: 0.5})
    assert probability(belief, 1) == {1: 1.0}
    assert belief.unlisted.tolist() == [0.0] * 4
    assert belief.sweeps.tolist() == [1, 0, 1, 0, 0]


def test_an_identity_is_found_once_and_seeds_may_be_moved():
    """Grasshopper drops matches, seeds too: no target node may come back in a later round."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        source, target, truth = noisy_pair(rng, n_nodes=60, degree=10.0, share_kept=0.9)
        wrong_targets = truth[1][:20].copy()
        wrong_targets[:4] = np.roll(wrong_targets[:4], 1)
        belief = Iterated(Grasshopper(), rounds=3)(target, Auxiliary(source, (truth[0][:20], wrong_targets)))
        result = belief.rounds[belief.rounds >= 0]
        assert len(np.unique(result)) == len(result)


def test_inputs_are_left_unchanged_repr_rebuilds_and_no_rounds_are_refused():
    source, target, truth = noisy_pair(np.random.default_rng(4))
    seeds = (truth[0][:9].copy(), truth[1][:9].copy())
    initial = [array.copy() for array in (source.neighbor, target.neighbor, *seeds)]
    attack = Iterated(Nar09(theta=0.2), rounds=2)
    belief = attack(target, Auxiliary(source, seeds))
    after = [source.neighbor, target.neighbor, *seeds]
    assert all(np.array_equal(a, b) for a, b in zip(after, initial, strict=True))
    again = eval(repr(attack), {"Iterated": Iterated, "Nar09": Nar09})
    assert again(target, Auxiliary(source, seeds)).rounds.tobytes() == belief.rounds.tobytes()
    with pytest.raises(UnmaskError, match="rounds is 0"):
        Iterated(Nar09(), rounds=0)
