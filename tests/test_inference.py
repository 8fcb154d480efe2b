"""Beliefs against literal sums."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask import Posterior, Truth, UnmaskError, audit
from unmask.core.inference import (
    compose,
    from_classes,
    from_likelihood,
    from_scores,
)

SHARE = st.floats(0.01, 0.99)


def dense(belief):
    """(n_observations, n_candidates) probabilities of the listed candidates."""
    table = np.zeros((belief.n_observations, belief.n_candidates))
    row = np.repeat(np.arange(belief.n_observations), belief.row_length)
    table[row, belief.candidate] = np.exp(belief.log_probability)
    return table


# --- scores and their scale ---------------------------------------------------------------------------------------


def simulated(n_targets, n_candidates, scale, seed):
    """Scores, and for each target a true candidate drawn from softmax(scale * score)."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=(n_targets, n_candidates))
    p = np.exp(scale * score)
    p /= p.sum(axis=1, keepdims=True)
    truth = (rng.random(n_targets)[:, None] > np.cumsum(p, axis=1)).sum(axis=1)
    indptr = np.arange(0, n_targets * n_candidates + 1, n_candidates)
    candidate = np.tile(np.arange(n_candidates), n_targets)
    return from_scores(indptr, candidate, score.ravel(), n_candidates=n_candidates), truth


def test_a_claim_of_calibration_without_a_check_is_a_model():
    claimed = Posterior.from_dense(np.array([[0.9, 0.1]] * 4), status="calibrated")
    row = audit(claimed).row("success_probability")
    assert (row.status, row.note) == ("model", "never checked on held-out people")


def test_scores_announce_nothing():
    belief, truth = simulated(50, 4, 2.0, seed=4)
    result = audit(belief, Truth(truth))
    assert [row.measure for row in result.rows] == [
        "realized_success",
        "realized_error",
        "realized_success_at_3",
        "rank",
    ]
    assert {reason for _, reason in result.not_run} == {"the attack gives scores, not probabilities"}
    assert {row.status for row in result.rows} == {"scores"}


def test_scores_become_a_softmax_and_are_called_scores():
    belief = from_scores(np.array([0, 2]), np.array([0, 2]), np.log([1.0, 3.0]), n_candidates=3)
    assert np.allclose(dense(belief), [[0.25, 0.0, 0.75]])
    assert belief.status == "scores"


@pytest.mark.parametrize("score", [np.inf, -np.inf, np.nan])
def test_infinite_scores_are_refused(score):
    with pytest.raises(UnmaskError, match="infinite or missing scores"):
        from_scores(np.array([0, 1]), np.array([0]), np.array([score]), n_candidates=1)


# --- classes and likelihoods --------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_members_of_a_class_are_alike(classes):
    of_row = np.array(classes)
    table = dense(from_classes(of_row, of_row))[of_row]
    literal = (of_row[:, None] == of_row) / (of_row[:, None] == of_row).sum(axis=1, keepdims=True)
    assert np.allclose(table, literal)


@pytest.mark.parametrize("observed", [[1], [3]])  # an empty class in the middle, and a class above the last
def test_a_target_in_an_empty_class_is_refused(observed):
    with pytest.raises(UnmaskError, match="has no record"):
        from_classes(np.array([0, 0, 2]), np.array(observed))


@pytest.mark.parametrize("member", [-1, 2, 900_000])
def test_a_member_of_no_class_is_refused(member):
    with pytest.raises(UnmaskError, match="expected 0 to 1"):
        from_classes(np.array([0, 0, member]), np.array([0]), n_classes=2)


def test_likelihood_is_bayes_rule():
    likelihood = np.array([[0.2, 0.6], [0.5, 0.0]])
    belief = from_likelihood(
        np.array([0, 2, 3]),
        np.array([0, 1, 0]),
        np.log([0.2, 0.6, 0.5]),
        n_candidates=2,
        observation=np.array([0, 1]),
    )
    assert np.allclose(dense(belief), likelihood / likelihood.sum(axis=1, keepdims=True))


@given(st.lists(st.floats(-2000, 2000), min_size=1, max_size=6), st.floats(-500, 500))
def test_likelihoods_count_up_to_a_factor_however_small(log_likelihood, shift):
    def belief(values):
        return from_likelihood(
            np.array([0, len(values)]),
            np.arange(len(values)),
            values,
            n_candidates=len(values),
            observation=np.array([0]),
        )

    values = np.array(log_likelihood)
    assert np.allclose(dense(belief(values)), dense(belief(values + shift)), atol=1e-6)


def test_an_observation_that_no_candidate_explains_is_an_error_and_not_a_row_of_nan():
    with pytest.raises(UnmaskError, match="observation 1 is explained by no candidate"):
        from_likelihood(
            np.array([0, 1, 3]),
            np.array([0, 0, 1]),
            np.array([0.0, -np.inf, -np.inf]),
            n_candidates=2,
            observation=np.array([0, 1]),
        )


def test_an_observation_that_no_record_fits_is_absent():
    belief = from_likelihood(
        np.array([0, 1, 1]), np.array([1]), np.array([0.0]), n_candidates=2, observation=np.array([0, 1])
    )
    assert belief.unlisted.tolist() == [0.0, 1.0]
    assert np.allclose(dense(belief), [[0, 1], [0, 0]])


# --- one belief through another -----------------------------------------------------------------------------------


def literal_values(link, value, n_values):
    """p(value given observation), candidate by candidate: listed, sharing what is unlisted, or the prior's part."""
    n = link.n_candidates
    prior = [sum(value[x] == s for x in range(n)) / n for s in range(n_values)]
    table = np.zeros((link.n_observations, n_values))
    shares = dense(link)
    for y in range(link.n_observations):
        listed_candidates = set(link.candidate[link.indptr[y] : link.indptr[y + 1]].tolist())
        for x in range(n):
            if x in listed_candidates:
                table[y, value[x]] += shares[y, x]
            elif link.n_unlisted[y] > 0:
                table[y, value[x]] += link.unlisted[y] / link.n_unlisted[y]
        if link.n_unlisted[y] <= 0:
            table[y] += link.unlisted[y] * np.array(prior)
    return table


@given(st.integers(0, 2**32 - 1), st.sampled_from([0, -1, 1]), st.integers(2, 7), st.integers(1, 4))
def test_values_through_people_are_the_literal_sum(seed, sharing, n, n_values):
    rng = np.random.default_rng(seed)
    rows_kept = [np.sort(rng.choice(n, rng.integers(0, n), replace=False)) for _ in range(3)]
    mass = [rng.uniform(0.1, 0.9) if len(row) else 0.0 for row in rows_kept]
    p = np.concatenate([rng.dirichlet(np.ones(len(row))) * m for row, m in zip(rows_kept, mass, strict=True)])
    n_unlisted = [n - len(row) if sharing > 0 else sharing for row in rows_kept]
    link = Posterior(
        indptr=np.concatenate(([0], np.cumsum([len(row) for row in rows_kept]))),
        candidate=np.concatenate(rows_kept).astype(np.int32),
        log_probability=np.log(np.maximum(p, 1e-30)).astype(np.float32),
        unlisted=1.0 - np.array(mass),
        n_unlisted=np.array(n_unlisted),
        observation=np.arange(3),
        weight=np.full(3, 1 / 3),
        n_candidates=n,
        log_prior=-float(np.log(n)),
    )
    value = rng.integers(0, n_values, n).astype(np.int32)
    belief = compose(link, value, labels=tuple(f"value {s}" for s in range(n_values)))
    assert np.allclose(dense(belief), literal_values(link, value, n_values), atol=1e-6)
    assert np.allclose(np.exp(belief.log_prior), np.bincount(value, minlength=n_values) / n)
    assert not belief.unlisted.any()


def test_composition_keeps_targets_labels_and_status():
    link = replace(from_classes(np.array([0, 1, 1]), np.array([1, 1, 0])), weight=np.array([0.2, 0.3, 0.5]))
    belief = compose(link, np.array([0, 0, 1]), labels=("flu", "gout"), provenance={"column": "diagnosis"})
    assert belief.observation.tolist() == [1, 1, 0]
    assert belief.weight.tolist() == [0.2, 0.3, 0.5]
    assert belief.candidate_label == ("flu", "gout")
    assert belief.status == "exact"
    assert belief.provenance["column"] == "diagnosis"
