"""Measures of linkage on request, against literal programs with sets, on random partitions."""

import math
from itertools import combinations

import numpy as np
import pytest

import unmask
from unmask import UnmaskError
from unmask.core.partition import Partition, View
from unmask.linkage.audit import Sensitivity, audit_contingencies, compare_guesses
from unmask.measures.clustering import Contingency
from unmask.measures.clustering.views import expected_distance, inconsistency


def clusters(labels):
    """Return the sets of items with equal labels."""
    return [{i for i, label in enumerate(labels) if label == name} for name in sorted(set(labels))]


def combined_errors(truth, guess, alpha):
    """Return e of each subject: the smallest alpha misses + (1 - alpha) includes over the clusters it touches."""
    return [
        min(alpha * len(c - d) + (1 - alpha) * len(d - c) for d in clusters(guess) if c & d) for c in clusters(truth)
    ]


def distance(first, second):
    """Return the variation of information of two labelings, in bits, from counts of pairs of labels."""
    n = len(first)
    total = 0.0
    for c in clusters(first):
        for d in clusters(second):
            if shared := len(c & d):
                total -= shared / n * (math.log2(shared / len(c)) + math.log2(shared / len(d)))
    return total


def rand(truth, guess):
    """Return the share of pairs of items that both treat alike."""
    pairs = list(combinations(range(len(truth)), 2))
    return sum((truth[a] == truth[b]) == (guess[a] == guess[b]) for a, b in pairs) / len(pairs)


def values(truth, guess, names, **sensitivity):
    options = {"min_size": 1, "shuffles": 1} | sensitivity
    result = unmask.audit(guess, truth, measures=names, **options)
    return {row["measure"]: row["posterior"] for row in result.results}


@pytest.mark.parametrize("alpha", [0.0, 1 / 3, 1.0])
def test_errors_and_rand_index_are_their_definitions(alpha):
    rng = np.random.default_rng(6)
    for _ in range(34):
        n = int(rng.integers(2, 12))
        truth, guess = rng.integers(0, 4, n).tolist(), rng.integers(0, 4, n).tolist()
        names = ["combined_error", "normalized_error", "rand_index", "variation_of_information"]
        found = values(Partition(truth), Partition(guess), names, alpha=alpha)
        errors = combined_errors(truth, guess, alpha)
        assert found["combined_error"] == pytest.approx(np.mean(errors))
        assert found["normalized_error"] == pytest.approx(np.mean(errors) / (n - 1))
        assert found["rand_index"] == pytest.approx(rand(truth, guess))
        assert found["variation_of_information"] == pytest.approx(distance(truth, guess))


def test_a_view_has_certainty_consistency_and_a_distance_by_default():
    rng = np.random.default_rng(7)
    for _ in range(100):
        n, k = int(rng.integers(2, 10)), int(rng.integers(2, 5))
        truth = rng.integers(0, 3, n).tolist()
        parts = [rng.integers(0, 3, n).tolist() for _ in range(k)]
        weight = rng.integers(1, 5, k)
        chance = (weight / weight.sum()).tolist()
        view = View([Partition(labels) for labels in parts], chance)
        found = values(Partition(truth), view, [])
        law = {}
        for p, labels in zip(chance, parts, strict=True):
            key = tuple(labels.index(label) for label in labels)
            law[key] = law.get(key, 0.0) + p
        certainty = 1.0 if len(law) == 1 else 1 + sum(p * math.log2(p) for p in law.values()) / math.log2(len(law))
        apart = sum(p * q * distance(a, b) for p, a in zip(chance, parts) for q, b in zip(chance, parts))  # noqa: B905
        assert found["certainty"] == pytest.approx(certainty, abs=1e-9)
        assert found["consistency"] == pytest.approx(1 - apart / math.log2(n), abs=1e-9)
        assert found["expected_distance"] == pytest.approx(
            sum(p * distance(truth, labels) for p, labels in zip(chance, parts, strict=True)), abs=1e-9
        )
        assert 1 - inconsistency(view) / math.log2(n) == pytest.approx(found["consistency"])
        assert expected_distance(Partition(truth), view) == pytest.approx(found["expected_distance"])


def test_three_guesses_of_the_introduction_have_these_errors():
    """Alice has five items and Bob two; section 1 of the paper, alpha 1/2."""
    truth = Partition(list("AAAAABB"))
    guesses = [[0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0, 2], [0, 0, 0, 1, 2, 3, 3]]
    errors = [values(truth, Partition(guess), ["normalized_error"])["normalized_error"] for guess in guesses]
    assert errors == pytest.approx([1 / 12, 1 / 6, 1 / 12])


def test_scores_have_a_prior_of_random_guesses():
    truth = Partition(np.repeat(np.arange(20), 5))
    result = audit_contingencies(
        compare_guesses(truth, {"all": truth}, Sensitivity()), Sensitivity(), measures=["adjusted_rand_index"]
    )
    row = next(row for row in result.rows if row.measure == "adjusted_rand_index")
    assert row.posterior == 1.0
    assert abs(row.prior) < 0.05
    assert (row.low, row.high) == (None, None)


def test_a_policy_takes_the_scores_that_it_names():
    truth, guess = Partition(list("aabbcc")), Partition(list("aabbcc"))
    assert unmask.audit(guess, truth, policy="normalized_error >= 0.1").verdicts[0].state == "not acceptable"
    assert unmask.audit(guess, truth, policy="transfer_distance <= 0").verdicts[0].state == "acceptable"


def test_every_score_of_the_table_has_a_row_on_request():
    truth = Partition(list("aabbcc"))
    guesses = {"guess": Contingency.of(truth, Partition(list("aabbcd")))}
    scores = audit_contingencies(guesses, Sensitivity(min_size=1)).table("linkage_scores")
    from unmask.linkage.audit.partition_scores import SHOWN_SCORES

    rows = audit_contingencies(guesses, Sensitivity(min_size=1), measures=SHOWN_SCORES).rows
    assert {row.posterior for row in rows if row.measure in SHOWN_SCORES} == {row["value"] for row in scores.rows}


def test_an_unknown_measure_is_one_clear_sentence():
    truth = Partition(list("aabb"))
    with pytest.raises(UnmaskError, match="did you mean 'rand_index'"):
        unmask.audit(truth, truth, measures=["rand_indx"])
