"""Calibration: scores become the share of matches that are right, on people who took no part in the fit."""

from __future__ import annotations

import numpy as np
import pytest

from unmask import UnmaskError
from unmask.graphs import Auxiliary
from unmask.graphs.attacks.calibration import calibrated
from unmask.graphs.attacks.matching import Matching
from unmask.graphs.attacks.rematch import Rematch, log_odds
from unmask.graphs.datasets import chung_lu, power_law_degrees
from unmask.graphs.knowledge import select_seeds, split


def matching(mapping, n_target):
    """An attack's belief that holds its matches for certain."""
    mapping = np.asarray(mapping, dtype=np.int32)
    n, mapped = len(mapping), mapping >= 0
    return Matching(
        indptr=np.concatenate(([0], np.cumsum(mapped))),
        candidate=mapping[mapped],
        log_probability=np.zeros(mapped.sum(), dtype=np.float32),
        unlisted=np.where(mapped, 0.0, 1.0),
        n_unlisted=np.where(mapped, 0, n_target),
        observation=np.arange(n),
        weight=np.full(n, 1 / n),
        n_candidates=n_target,
        log_prior=-float(np.log(n_target)),
        status="scores",
        provenance={"attack": "test"},
        mapping=mapping,
        sweeps=np.array([0]),
        visits=0,
    )


def probability(belief):
    """(n_source,) of each match, 0 where there is none."""
    return 1.0 - belief.unlisted


def calibration_error(stated, right):
    """Expected calibration error in ten bins of equal width."""
    at = np.minimum((stated * 10).astype(int), 9)
    gap = np.abs(np.bincount(at, stated, 10) - np.bincount(at, right, 10))
    return gap.sum() / len(stated)


def test_the_fit_pools_what_is_out_of_order():
    """Of scores 1 to 5, 2, 3 and 5 are right: pooled, 0, 2/3, 2/3, 2/3 and 1, kept within 1/7 and 6/7."""
    belief = matching([0, 1, 2, 3, 4, -1, 5, 6], 8)
    score = np.array([1.0, 2, 3, 4, 5, -np.inf, 1.5, 9])
    result = calibrated(belief, score, np.arange(5), np.array([-1, 1, 2, 7, 4]))
    expected = [1 / 7, 2 / 3, 2 / 3, 2 / 3, 6 / 7, 0, (1 / 7 + 2 / 3) / 2, 6 / 7]
    assert probability(result) == pytest.approx(expected, abs=1e-6)
    assert result.status == "scores"  # five known people earn nothing
    assert result.provenance["calibrated_on"] == 5
    assert result.n_unlisted.tolist() == [7, 7, 7, 7, 7, 8, 7, 7]


def test_equal_scores_share_their_chance_whatever_their_order():
    belief = matching([0, 1, 2, 3], 4)
    for known in ([0, 1, 2, 3], [3, 2, 1, 0]):
        truth = np.array([0, 1, 2, -1])[known]
        assert probability(calibrated(belief, np.ones(4), np.array(known), truth)) == pytest.approx([3 / 4] * 4)


def test_a_people_of_known_chances_gets_them_back():
    """10,000 matches, right with probability sigma(score) squared: the fit on 2,000 is calibrated on the others."""
    rng = np.random.default_rng(1)
    score = rng.normal(1.0, 2.0, size=10_000)
    chance = (1 / (1 + np.exp(-score))) ** 2
    right = rng.random(10_000) < chance
    mapping = rng.permutation(10_000)
    known = rng.permutation(10_000)[:2_000]
    truth = np.where(right, mapping, -1)
    result = calibrated(matching(mapping, 10_000), score, known, truth[known])
    stated = probability(result)
    assert result.status == "calibrated"
    assert result.provenance["check"].endswith("of 2,000 people")
    others = np.setdiff1d(np.arange(10_000), known)
    assert calibration_error(stated[others], right[others]) < 0.03
    assert np.abs(stated - chance)[others].mean() < 0.04
    order = np.argsort(score)
    assert np.all(np.diff(stated[order]) >= 0)


def test_g3_the_status_is_earned_on_people_who_took_no_part_in_the_fit():
    """What one half of the known people says of a score is not so of the other half."""
    belief, score = matching(np.arange(400), 400), np.ones(400)
    even = np.where(np.arange(400) % 2 == 0, np.arange(400), -1)
    assert calibrated(belief, score, np.arange(400), even).status == "scores"
    mixed = np.where(np.arange(400) % 4 < 2, np.arange(400), -1)
    assert calibrated(belief, score, np.arange(400), mixed).status == "calibrated"
    assert calibrated(belief, score, np.arange(80), mixed[:80]).status == "scores"  # too few


def test_matches_of_score_infinity_stay_certain():
    belief = matching([0, 1, 2], 3)
    result = calibrated(belief, np.array([np.inf, 1.0, 1.0]), np.array([1]), np.array([1]))
    assert probability(result) == pytest.approx([1, 2 / 3, 2 / 3])
    assert result.n_unlisted[0] == 0


def test_rematch_is_calibrated_on_people_held_out_and_not_before():
    """One person in ten is known, those without a counterpart among them; the error is that of all the others."""
    rng = np.random.default_rng(5)
    pair = split(chung_lu(power_law_degrees(24_000, exponent=2.5, mean=12), rng=rng), 0.5, 0.75, rng)
    seeds = select_seeds(pair, "random.25", 100, rng)
    belief = Rematch(margin=0.1, floor=-8.0)(pair.target, Auxiliary(pair.source, seeds))
    score = log_odds(pair.target, pair.source, belief.mapping)
    score[seeds.source] = np.inf
    people = np.setdiff1d(np.arange(pair.source.n_nodes), seeds.source)
    known = rng.permutation(people)[: len(people) // 10]
    others = np.setdiff1d(people[belief.mapping[people] >= 0], known)
    right = belief.mapping[others] == pair.truth[others]
    stated = probability(calibrated(belief, score, known, pair.truth[known]))[others]
    model = 1 / (1 + np.exp(-score[others]))
    assert calibration_error(stated, right) < 0.03 < calibration_error(model, right)
    common = known[pair.truth[known] >= 0]
    too_sure = probability(calibrated(belief, score, common, pair.truth[common]))[others]
    assert too_sure.mean() > right.mean() + 0.02


@pytest.mark.parametrize(
    ("score", "source", "target", "message"),
    [
        ([1.0, 2.0], [0], [0], "not 3 numbers"),
        ([1.0, np.nan, 2.0], [0], [0], "not 3 numbers"),
        ([1.0, 2.0, 3.0], [0, 1], [0], "2 known source nodes come with 1"),
        ([1.0, 2.0, 3.0], [3], [0], r"outside 0\.\.2"),
        ([1.0, 2.0, 3.0], [1, 1], [0, 0], "twice"),
        ([1.0, 2.0, 3.0], [2], [0], "none of the 1 known people has a match"),
        ([1.0, 2.0, 3.0], [], [], "none of the 0 known people"),
        ([np.inf, 2.0, 3.0], [0], [0], "seeds"),
        ([-np.inf, 2.0, 3.0], [0], [0], "finite"),
    ],
)
def test_what_cannot_be_fitted_is_refused(score, source, target, message):
    with pytest.raises(UnmaskError, match=message):
        calibrated(matching([0, 1, -1], 3), np.array(score), np.array(source, dtype=int), np.array(target, dtype=int))
