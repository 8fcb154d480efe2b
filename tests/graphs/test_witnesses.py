"""The attacks that count witnesses, against their slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import slow_more
from tests.graphs.problems import (
    as_dict,
    check_renumbering,
    graph,
    noisy_pair,
    pairs_of,
    probability,
    problems,
    seed_pairs,
)
from unmask import UnmaskError
from unmask.graphs import Auxiliary
from unmask.graphs.attacks.witnesses import Irma, KorulaLattanzi

ATTACKS = [KorulaLattanzi(), KorulaLattanzi(witnesses=1), Irma()]


@settings(max_examples=150, deadline=None)
@given(problems(), st.sampled_from([1, 2, 3]))
def test_korula_lattanzi_finds_the_pairs_of_its_definition(problem, witnesses):
    source, target, seeds = problem
    belief = KorulaLattanzi(witnesses=witnesses)(target, Auxiliary(source, seeds))
    mu, sweeps = slow_more.korula_lattanzi(as_dict(source), as_dict(target), seed_pairs(seeds), witnesses=witnesses)
    assert pairs_of(belief.mapping) == mu
    assert belief.sweeps.tolist() == sweeps


@settings(max_examples=150, deadline=None)
@given(problems())
def test_irma_finds_the_pairs_of_its_definition(problem):
    source, target, seeds = problem
    belief = Irma()(target, Auxiliary(source, seeds))
    mu, sweeps = slow_more.irma(as_dict(source), as_dict(target), seed_pairs(seeds))
    assert pairs_of(belief.mapping) == mu
    assert belief.sweeps.tolist() == sweeps


def test_pairs_of_many_marks_may_be_chosen_first():
    """Dense graphs, so that many pairs have more than 8 marks: the choice in tiers has the outcome of one choice."""
    rng = np.random.default_rng(7)
    for _ in range(3):
        source, target, truth = noisy_pair(rng, n_nodes=50, degree=22.0, share_kept=0.8)
        seeds = (truth[0][:12], truth[1][:12])
        mu, sweeps = slow_more.irma(as_dict(source), as_dict(target), seed_pairs(seeds))
        marks = slow_more.marks(as_dict(source), as_dict(target), set(mu.items()))
        assert sum(n > 8 for n in marks.values()) > 50
        belief = Irma()(target, Auxiliary(source, seeds))
        assert pairs_of(belief.mapping) == mu
        assert belief.sweeps.tolist() == sweeps


def test_hubs_are_matched_without_rivals_of_low_degree():
    """u has 4 neighbors; c (degree 4) and d (degree 2) both have its 2 witnesses: a tie but for the buckets."""
    source = graph(7, [(6, 0), (6, 1), (6, 2), (6, 3)])
    target = graph(8, [(6, 0), (6, 1), (6, 2), (6, 3), (7, 0), (7, 1)])
    seeds = (np.array([0, 1]), np.array([0, 1]))
    assert KorulaLattanzi()(target, Auxiliary(source, seeds)).mapping[6] == 6
    assert KorulaLattanzi(witnesses=3)(target, Auxiliary(source, seeds)).mapping[6] == -1


def test_repair_takes_back_what_percolation_got_wrong():
    """Some first matches are wrong; after the repairs fewer are, of more matches."""
    source, target, truth = noisy_pair(np.random.default_rng(5), n_nodes=300, degree=14.0, share_kept=0.8)
    image = np.empty(300, dtype=np.int64)
    image[truth[0]] = truth[1]
    seeds = (truth[0][:6], truth[1][:6])
    belief = Irma()(target, Auxiliary(source, seeds))
    once, _ = slow_more.irma(as_dict(source), as_dict(target), seed_pairs(seeds))
    assert pairs_of(belief.mapping) == once
    first = percolated(source, target, seeds)
    assert np.mean([image[v] == c for v, c in first.items()]) < 0.9
    assert np.mean(belief.mapping == image) > 0.9
    assert np.mean(belief.mapping[belief.mapping >= 0] == image[belief.mapping >= 0]) > 0.95


def percolated(source, target, seeds):
    mu, new = seed_pairs(seeds), {0: 0}
    while new:
        marks = slow_more.marks(as_dict(source), as_dict(target), set(mu.items()))
        new = slow_more._greedy(as_dict(source), as_dict(target), marks, mu, 2)
        mu |= new
    return mu


@pytest.mark.parametrize("attack", ATTACKS, ids=repr)
def test_the_copies_are_found_and_belief_and_mapping_agree(attack):
    source, target, truth = noisy_pair(np.random.default_rng(3), n_nodes=120, degree=12.0, share_kept=0.95)
    belief = attack(target, Auxiliary(source, (truth[0][:20], truth[1][:20])))
    image = np.empty(120, dtype=np.int64)
    image[truth[0]] = truth[1]
    assert np.mean(belief.mapping == image) > 0.9
    assert np.array_equal(belief.mapping[truth[0][:20]], truth[1][:20])
    for v, c in pairs_of(belief.mapping).items():
        assert probability(belief, v) == {c: 1.0}
    assert belief.status == "scores"


@pytest.mark.parametrize("attack", [KorulaLattanzi(), KorulaLattanzi(witnesses=1), Irma()], ids=repr)
def test_twins_share_the_belief(attack):
    """Nodes 2, 3 and 4 are next to 0 and 1, nothing else: none is mapped, and they share their chance."""
    edges = [(hub, leaf) for hub in (0, 1) for leaf in (2, 3, 4)]
    net = graph(6, edges)
    belief = attack(net, Auxiliary(net, (np.array([0, 1]), np.array([0, 1]))))
    assert belief.mapping.tolist() == [0, 1, -1, -1, -1, -1]
    for v in (2, 3, 4):
        p = probability(belief, v)
        assert list(p) == [2, 3, 4]
        assert list(p.values()) == pytest.approx([p[2]] * 3)
        assert p[2] == pytest.approx(np.exp(2) / (3 * np.exp(2) + 3))  # 2 witnesses, 3 others
    assert (belief.row_length[5], belief.unlisted[5]) == (0, 1.0)


def test_pairs_that_are_listed_in_several_parts_are_all_listed():
    n = 1100  # more pairs than one part has room for, all of them equal
    star = graph(n + 1, [(0, leaf) for leaf in range(1, n + 1)])
    belief = Irma()(star, Auxiliary(star, (np.array([0]), np.array([0]))))
    assert np.flatnonzero(belief.mapping >= 0).tolist() == [0]
    assert belief.visits == 24 * n * n  # eleven passes of two tiers, and the pairs of one mark twice


@pytest.mark.parametrize("attack", [KorulaLattanzi(), KorulaLattanzi(witnesses=1), Irma()], ids=repr)
def test_renumbering_the_nodes_renumbers_the_matches(attack):
    check_renumbering(attack)


@pytest.mark.parametrize("attack", ATTACKS, ids=repr)
def test_inputs_are_left_unchanged_and_repr_rebuilds_the_attack(attack):
    source, target, truth = noisy_pair(np.random.default_rng(4))
    seeds = (truth[0][:9], truth[1][:9])
    inputs = [source.indptr, source.neighbor, target.indptr, target.neighbor, *seeds]
    initial = [array.copy() for array in inputs]
    belief = attack(target, Auxiliary(source, seeds))
    assert all(np.array_equal(a, b) and a.flags.writeable for a, b in zip(inputs, initial, strict=True))
    again = eval(repr(attack), {"KorulaLattanzi": KorulaLattanzi, "Irma": Irma})
    assert again == attack
    assert again(target, Auxiliary(source, seeds)).mapping.tobytes() == belief.mapping.tobytes()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: KorulaLattanzi(witnesses=0), "witnesses is 0, expected a whole number from 1"),
        (lambda: KorulaLattanzi(listed=0), "listed is 0"),
        (lambda: Irma(listed=0), "listed is 0"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make, says):
    with pytest.raises(UnmaskError, match=says):
        make()
