"""What votes are worth: draws of rounds, leaders, and the correction for names that rest on more rounds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special

from unmask.graphs import Auxiliary, SocialGraph
from unmask.graphs.attacks.rounds import HELD, Round, Tally, deal, leaders
from unmask.graphs.attacks.weighing import (
    STEEP,
    Bag,
    Found,
    Learned,
    Scene,
    Told,
    Voted,
    _gain,
    _pooled,
    _raised,
    _steepness,
    dealt,
    told_by,
    weighed,
)
from unmask.promise import Check

KITE = SocialGraph.from_edges([0, 0, 1, 1, 2, 3, 4], [1, 2, 2, 3, 3, 4, 5])


def voted(*rounds, parts=None):
    """Rounds of votes {(person, candidate): share} among the six people of a kite, of whom 0 is known."""
    scene = Scene(KITE, Auxiliary(KITE, (np.array([0]), np.array([0]))))
    parts = np.zeros((len(rounds), 1), np.int8) if parts is None else parts
    made = []
    for part, votes in zip(parts, rounds, strict=True):
        pair = np.array([u * 6 + c for u, c in votes], dtype=np.int64)
        made.append(Round(part, pair, np.array([[share] for share in votes.values()], np.float32)))
    return Found(scene, parts, tuple(made))


def test_each_round_of_a_person_has_its_turn_and_no_other():
    among = np.random.default_rng(0).random((20, 50)) < 0.5
    turn = dealt(among, np.random.default_rng(1))
    for own, turns in zip(among.T, turn.T, strict=True):
        assert sorted(turns[own]) == list(range(own.sum()))
        assert np.all(turns[~own] == -1)


def test_bags_share_no_round_of_a_person():
    votes = [{(2, c): 1.0} for c in range(1, 5)]
    bags = voted(*votes).bags_of_others(2, np.random.default_rng(0))
    assert sorted(c for bag in bags for c in bag.candidate.tolist()) == [1, 2, 3, 4]
    assert all(bag.share.tolist() == [[0.5], [0.5]] for bag in bags)


def test_the_leader_has_the_largest_mean_share():
    tally = Tally(np.array([3, 3, 4]), np.array([1, 2, 5]), np.array([[0.2, 0.4], [0.6, 0.2], [0.1, 0.1]]))
    person, candidate, share = leaders(tally)
    assert (person.tolist(), candidate.tolist()) == ([3, 4], [2, 5])
    assert_allclose(share, [0.4, 0.1])


def test_unsettled_is_the_share_of_votes_for_new_leaders():
    same = {(2, 2): 1.0, (3, 3): 1.0}
    assert voted(same, same).unsettled == 0.0
    found = voted(same, {(2, 2): 1.0, (3, 4): 1.0, (4, 3): 1.0}, {(2, 2): 1.0, (3, 4): 1.0})
    assert found.unsettled == pytest.approx((2 / 3) / (1 + 2 / 3 + 1 / 3))  # 3 has changed to 4; 4 is not new


def test_held_seeds_count_who_is_named_rightly():
    parts = np.array([[HELD], [0]], np.int8)
    assert voted({(0, 0): 0.6, (0, 1): 0.4}, {(2, 2): 1.0}, parts=parts).rightly == (1, 1)
    assert voted({(0, 0): 0.3, (0, 1): 0.4}, {(2, 2): 1.0}, parts=parts).rightly == (0, 1)


def test_names_from_no_more_rounds_than_a_seed_has_gain_nothing():
    found = voted({(0, 0): 1.0}, parts=np.full((1, 1), HELD, np.int8))
    assert _gain(found, np.zeros(6, np.int64), np.random.default_rng(0)) == 0.0


def told(there):
    """Two candidates of person 1 and one of person 2; nobody is there for certain."""
    there = np.array(there)
    return Told(np.array([1, 1, 2]), np.array([4, 5, 4]), there, there / 2)


def test_the_log_odds_of_the_first_candidate_are_raised_and_probabilities_stay_so():
    found = _raised(told([0.7, 0.2, 0.4]), np.array([0.5, 0.0]))
    assert_allclose(special.logit(found.there[0]), special.logit(0.7) + 0.5)
    assert found.there[2] == pytest.approx(0.4)
    assert_allclose(found.there[1] / (1 - found.there[0]), 0.2 / 0.3)  # the others share what is left as before
    assert_allclose(found.all, found.there / 2)
    certain = _raised(told([1.0, 0.0, 0.0]), np.array([9.0, 9.0]))
    assert_allclose(certain.there, [1.0, 0.0, 0.0], atol=1e-9)


def test_bags_are_apart_where_some_are_sure_of_what_others_exclude():
    tally = Tally(np.array([1, 1, 2]), np.array([4, 5, 4]), np.ones((3, 1)))
    values = [np.array([1.0, 0.6, 0.9]), np.array([0.0, 0.6, 0.5])]
    _, mean, apart = _pooled([tally, tally], values, 6, np.array([0.5, 0.5]))
    assert_allclose(mean, [0.5, 0.6, 0.7])
    assert_allclose(apart, [1.0, 0.0, 0.2**2 / (0.7 * 0.3)], atol=1e-12)


def test_only_those_about_whom_bags_disagree_are_announced_likelier_than_their_mean():
    scene, top = Scene(KITE, Auxiliary(KITE, (np.array([0]), np.array([0])))), np.array([0.6])
    tally = Tally(np.array([1, 2]), np.array([4, 5]), np.ones((2, 1)))
    bags = [Bag(tally, np.array([0.6, 0.9])), Bag(tally, np.array([0.6, 0.3]))]
    learned = Learned(Check.of(top, top), 2.0, top, *([(np.zeros((0, 1)), np.zeros(0, np.int64))] * 2))
    found = told_by(scene, Voted(bags, learned), None, np.random.default_rng(0))
    assert_allclose(found.there, [0.6, special.expit(special.logit(0.6) + 2 * 0.3**2 / 0.24)])


def test_what_bags_that_disagree_gain_is_found_again():
    rng = np.random.default_rng(0)
    p, apart = rng.random((2, 20_000))
    right = rng.random(20_000) < special.expit(special.logit(p) + 2.0 * apart)
    assert _steepness(p, apart, right.astype(np.float64)) == pytest.approx(2.0, abs=0.15)
    assert _steepness(p, np.zeros(20_000), right.astype(np.float64)) == pytest.approx(0.0, abs=0.01)
    assert _steepness(p, apart, np.zeros(20_000)) == pytest.approx(0.0, abs=0.01)
    assert _steepness(p[:30], apart[:30], np.ones(30)) < 3 * STEEP  # few seeds, all of them right


def test_seeds_that_are_held_less_often_than_most_tell_nothing_of_the_gain():
    three = np.arange(3)
    scene = Scene(KITE, Auxiliary(KITE, (three, three)))
    parts = np.array([[HELD, HELD, HELD], [HELD, HELD, 0]], np.int8)
    rounds = tuple(Round(part, np.array([0, 7]), np.ones((2, 1), np.float32)) for part in parts)
    bags, people = Found(scene, parts, rounds).bags_of_seeds(HELD, 1, np.random.default_rng(0))
    assert people.tolist() == [0, 1]
    assert [bag.person.tolist() for bag in bags] == [[0, 1], [0, 1]]


# --- the round from all seeds ---------------------------------------------------------------------------------------


def surer(by):
    """Ten rounds of 50 seeds and 50 others, who are named with odds of one to one, and a round from all seeds in which
    others are named with `by` to one.
    """
    rng, n = np.random.default_rng(0), 100
    graph, seeds = SocialGraph.from_edges(np.arange(n), np.roll(np.arange(n), 1)), np.arange(50)
    scene, parts = Scene(graph, Auxiliary(graph, (seeds, seeds))), deal(50, 10, rng)

    def made(part, voters, odds):
        right = np.where(np.isin(voters, seeds), rng.random(len(voters)) < 0.5, True)
        wrong = 50 + (voters + 1) % 50
        vote = np.zeros((n, n), np.float32)
        vote[voters, wrong] = np.where(right, 1, odds) / (1 + odds)
        vote[voters, voters] = np.where(right, odds, 1) / (1 + odds)
        pair = np.flatnonzero(vote)
        return Round(part, pair, np.repeat(vote.ravel()[pair][:, None], len(scene.kinds), axis=1))

    rounds = tuple(made(part, np.append(seeds[part == HELD], np.arange(50, n)), 1) for part in parts)
    return Found(scene, parts, rounds, made(np.zeros(50, np.int8), np.arange(50, n), by))


def test_a_round_from_all_seeds_counts_the_more_the_more_seeds_gain():
    weights = [weighed(surer(by), np.random.default_rng(0)).whole[1] for by in (0.2, 1, 1.1, 9)]
    same = weights[1]
    assert same == pytest.approx(0.0, abs=1e-9)
    assert 0 < weights[2] < 1
    assert weights[3] == 1.0


def test_a_round_from_all_seeds_is_averaged_with_the_bags_by_its_weight():
    scene, person = voted({}).scene, np.array([1, 1, 2])
    bags = [
        Bag(Tally(person, np.array([4, 5, 4]), np.zeros((3, 1))), np.array(p)) for p in ([0.6, 0.2, 0.4], [0.2, 0.4, 0])
    ]
    whole = Bag(Tally(np.array([1]), np.array([3]), np.zeros((1, 1))), np.array([0.9]))
    found = told_by(scene, Voted(bags, whole=(whole, 0.5)), [np.full(5, 0.5), np.ones(5)], np.random.default_rng(0))
    assert (found.person.tolist(), found.candidate.tolist()) == ([1, 1, 1, 2], [3, 4, 5, 4])
    assert_allclose(found.there, [0.45, 0.2, 0.15, 0.1])
    assert_allclose(found.all, [0.45 * 0.75, 0.125, 0.125, 0.05])
