"""Success that withheld seeds estimate: bags of rounds, leaders, ties, and the margin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from unmask.graphs import Auxiliary, SocialGraph
from unmask.graphs.ensemble.bagging import Round, Tally, find_leaders, split_seeds
from unmask.graphs.ensemble.success import (
    VoteData,
    count_right,
    estimate_success,
    rank_candidates,
)

KITE = SocialGraph.from_edges([0, 0, 1, 1, 2, 3, 4], [1, 2, 2, 3, 3, 4, 5])


def kite(*seeds):
    known_seeds = np.array(seeds)
    return VoteData(KITE, Auxiliary(KITE, (known_seeds, known_seeds)))


def vote(data, votes, withheld=None):
    """Return a round of votes {(person, candidate): share}, equal for each kind of attack."""
    withheld = np.zeros(data.n_seeds, bool) if withheld is None else np.array(withheld)
    n = data.release.n_nodes
    pair = np.array(sorted(u * n + c for u, c in votes), dtype=np.int64)
    share = np.array([votes[divmod(index, n)] for index in pair.tolist()], np.float32)
    return Round(withheld, pair, np.repeat(share[:, None], len(data.kinds), axis=1))


def test_the_leader_has_the_largest_mean_share():
    tally = Tally(np.array([3, 3, 4]), np.array([1, 2, 5]), np.array([[0.2, 0.4], [0.6, 0.2], [0.1, 0.1]]))
    person, candidate, share = find_leaders(tally)
    assert (person.tolist(), candidate.tolist()) == ([3, 4], [2, 5])
    assert_allclose(share, [0.4, 0.1])


def test_withheld_seeds_count_who_is_matched_rightly():
    data = kite(0)
    correct_vote = vote(data, {(0, 0): 0.6, (0, 1): 0.4}, [True])
    assert count_right(data, [correct_vote, vote(data, {(2, 2): 1.0})]) == (1, 1)
    incorrect_vote = vote(data, {(0, 0): 0.3, (0, 1): 0.4}, [True])
    assert count_right(data, [incorrect_vote, vote(data, {(2, 2): 1.0})]) == (0, 1)


def test_the_votes_for_a_seed_are_those_of_the_rounds_that_withheld_it():
    data = kite(0, 1)
    rounds = [
        vote(data, {(0, 0): 1.0}, [True, False]),
        vote(data, {(1, 2): 1.0}, [False, True]),
        vote(data, {(0, 3): 1.0, (1, 1): 1.0}, [True, True]),
    ]
    tally, people = data.tally_withheld(rounds)
    assert people.tolist() == [0, 1]
    assert list(zip(tally.person.tolist(), tally.candidate.tolist(), strict=True)) == [(0, 0), (0, 3), (1, 1), (1, 2)]
    assert np.all(tally.share == 0.5)


def test_candidates_have_the_mean_of_their_probabilities_over_bags_and_the_likeliest_comes_first():
    data = kite(0)
    model, rng = [data.initial_model], np.random.default_rng(0)
    bags = [[vote(data, {(2, 2): 1.0, (3, 4): 0.2})], [vote(data, {(2, 2): 1.0, (3, 3): 0.9})]]
    single_ranks = [rank_candidates(data, [bag], model, rng=rng) for bag in bags]
    joint_ranks = rank_candidates(data, bags, model, rng=rng)
    assert (joint_ranks.person.tolist(), joint_ranks.candidate.tolist()) == ([2, 3, 3], [2, 3, 4])
    assert joint_ranks.rank.tolist() == [0, 0, 1]
    expected = [single_ranks[0].probability[0], single_ranks[1].probability[1] / 2, single_ranks[0].probability[1] / 2]
    assert_allclose(joint_ranks.probability, expected)


@pytest.fixture(scope="module")
def estimate():
    """Fifty seeds and fifty others, who are matched with even odds in each round."""
    rng, n = np.random.default_rng(0), 100
    ring, seeds = SocialGraph.from_edges(np.arange(n), np.roll(np.arange(n), 1)), np.arange(50)
    data, parts = VoteData(ring, Auxiliary(ring, (seeds, seeds))), split_seeds(50, rng=rng)
    is_right = rng.random(n) < 0.5

    def rank_withheld(withheld):
        voters = np.append(seeds[withheld], np.arange(50, n))
        return vote(data, {(u, u if is_right[u] else 50 + (u + 1) % 50): 1.0 for u in voters.tolist()}, withheld)

    rounds = [rank_withheld(part) for part in parts]
    full_ranks = rank_withheld(np.zeros(50, bool))
    return is_right, *estimate_success(data, rounds[:2], rounds[2:], full_ranks, rng=rng)


def test_success_is_that_of_withheld_seeds_with_their_luck_as_margin(estimate):
    is_right, candidates, success = estimate
    assert success.mean == pytest.approx(is_right[:50].mean(), abs=0.02)
    assert_allclose(candidates.probability[candidates.first], is_right[:50].mean(), atol=0.05)
    assert success.error == pytest.approx(0.5 / 50**0.5, rel=0.1)
    assert success.margin == pytest.approx(1.96 * np.hypot(success.error, 0.015))
    assert success.margin < success.blind_margin


def test_the_curve_has_the_success_of_single_rounds_by_the_share_of_seeds(estimate):
    is_right, _, success = estimate
    assert_allclose(success.curve, [(0.5, is_right[:50].mean()), (0.8, is_right[:50].mean())])
