import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array
from scipy.special import xlogy

from unmask.channels import Channel, degradation
from unmask.core.errors import UnmaskError
from unmask.measures import estimation_error, information_gain_bits


def random_channel(rng, n_x, n_y, *, zeros=0.0):
    """Rows and prior from a flat Dirichlet distribution, some entries 0, every row with at least one above 0."""
    table = rng.exponential(size=(n_x, n_y)) * (rng.random((n_x, n_y)) >= zeros)
    table[np.arange(n_x), rng.integers(n_y, size=n_x)] += 0.1
    return Channel(table / table.sum(axis=1, keepdims=True), rng.dirichlet(np.ones(n_x)))


def dense_posterior(channel):
    """(n_observations, n_x) p(x given y), from the posterior's own entries."""
    belief = channel.posterior()
    table = np.zeros((belief.n_observations, belief.n_candidates))
    row = np.repeat(np.arange(belief.n_observations), belief.row_length)
    table[row, belief.candidate] = np.exp(belief.log_probability.astype(np.float64))
    return table


def p_avg(channel, loss=None):
    belief = channel.posterior()
    return float(belief.weight @ estimation_error("hamming" if loss is None else loss).per_target(belief))


seeds = st.integers(0, 2**32 - 1)


# --- construction ----------------------------------------------------------------------------------------------------


def test_rows_and_prior_sum_to_one_after_rounding_errors():
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(7), size=5) * (1 + 5e-10)
    channel = Channel(table, np.full(5, 0.2) * (1 - 5e-10))
    assert np.abs(channel.dense().sum(axis=1) - 1).max() < 1e-14
    assert abs(channel.prior.sum() - 1) < 1e-14
    assert table.sum() > 5 + 2e-9  # what was given is not changed


@given(seeds)
def test_a_channel_made_of_a_channel_has_the_same_numbers(seed):
    channel = random_channel(np.random.default_rng(seed), 5, 4)
    for again in (Channel(channel.p_y_given_x, channel.prior), Channel(channel.dense().copy(), channel.prior.copy())):
        np.testing.assert_array_equal(again.dense(), channel.dense())
        np.testing.assert_array_equal(again.prior, channel.prior)


def test_prior_is_uniform_when_left_out():
    channel = Channel(np.eye(4))
    np.testing.assert_array_equal(channel.prior, np.full(4, 0.25))
    assert isinstance(channel.posterior().log_prior, float)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[1.0, 0.0], [0.5, 0.6], [0.2, 0.2]], "row 1 of the channel sums to 1.1"),
        ([[1.0, 0.0], [0.5, 0.5], [-0.5, 1.5]], "row 2 of the channel has entries that are negative"),
        ([[1.0, 0.0], [np.nan, 1.0], [0.0, 1.0]], "row 1 of the channel has entries"),
        ([[np.inf, 0.0], [0.0, 1.0], [0.0, 1.0]], "row 0 of the channel has entries"),
        ([[0.0, 0.0], [0.0, 1.0], [0.0, 1.0]], "row 0 of the channel sums to 0"),
    ],
)
def test_the_first_wrong_row_is_named(table, words, sparse):
    matrix = csr_array(np.array(table)) if sparse else np.array(table)
    with pytest.raises(UnmaskError, match=words):
        Channel(matrix)


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ([0.5, 0.6], "prior sums to 1.1"),
        ([1.5, -0.5], "prior has entries that are negative"),
        ([np.nan, 1.0], "prior has entries"),
        ([1.0], r"shape \(1,\), expected \(2,\)"),
    ],
)
def test_wrong_priors_are_refused(prior, words):
    with pytest.raises(UnmaskError, match=words):
        Channel(np.eye(2), np.array(prior))


def test_wrong_shapes_and_labels_are_refused():
    with pytest.raises(UnmaskError, match="expected secrets x outputs"):
        Channel(np.ones(3))
    with pytest.raises(UnmaskError, match="expected secrets x outputs"):
        Channel(csr_array((0, 3)))
    with pytest.raises(UnmaskError, match="y_labels has 3 names, expected 2"):
        Channel(np.eye(2), y_labels=("a", "b", "c"))
    assert Channel(np.eye(2), x_labels=("a", "b")).posterior().candidate_label == ("a", "b")


def test_a_channel_cannot_be_written_to_and_leaves_its_source_writable():
    matrix = np.eye(2)
    channel = Channel(matrix)
    with pytest.raises(ValueError, match="read-only"):
        channel.dense()[0, 0] = 0.5
    with pytest.raises(ValueError, match="read-only"):
        channel.prior[0] = 1.0
    matrix[0, 0] = 0.5
    assert channel.dense()[0, 0] == 1.0


def test_repeated_sparse_entries_are_added_up_and_zeros_dropped():
    pieces = coo_array((np.array([0.5, 0.5, 0.0, 1.0]), ([0, 0, 0, 1], [1, 1, 0, 0])), shape=(2, 2))
    channel = Channel(pieces)
    np.testing.assert_array_equal(channel.dense(), [[0.0, 1.0], [1.0, 0.0]])
    assert channel.p_y_given_x.nnz == 2


def test_c9_counts_are_no_exact_channel():
    counts = np.array([[3.0, 1.0], [0.0, 4.0], [2.0, 0.0]])
    channel = Channel.from_counts(counts)
    np.testing.assert_allclose(channel.prior, [0.4, 0.4, 0.2])
    np.testing.assert_allclose(channel.joint(), counts / 10)
    joint_channel = Channel.from_joint(counts / 10)
    assert (channel.samples, joint_channel.samples) == (10, None)
    assert (channel.posterior().status, joint_channel.posterior().status) == ("model", "exact")
    for built in (
        channel.with_prior(None),
        channel.then(np.eye(2)),
        channel.parallel(joint_channel),
        joint_channel.parallel(channel),
    ):
        assert built.posterior().status == "model"
    for make in (Channel.from_joint, Channel.from_counts):
        with pytest.raises(UnmaskError, match="row 1 of the joint table is empty"):
            make(np.array([[1.0], [0.0]]))
    with pytest.raises(UnmaskError, match=r"sums to 10, expected 1: use Channel\.from_counts"):
        Channel.from_joint(counts)
    with pytest.raises(UnmaskError, match="no whole numbers"):
        Channel.from_counts(counts / 10)


# --- posterior -------------------------------------------------------------------------------------------------------


@given(seeds, st.integers(1, 8), st.integers(1, 8), st.sampled_from([0.0, 0.5, 0.9]))
def test_the_posterior_is_bayes_rule_and_a_martingale(seed, n_x, n_y, zeros):
    channel = random_channel(np.random.default_rng(seed), n_x, n_y, zeros=zeros)
    joint = channel.prior[:, None] * channel.dense()
    p_y = joint.sum(axis=0)
    np.testing.assert_array_equal(channel.observed, np.flatnonzero(p_y))
    ours = dense_posterior(channel)
    # float32 logarithms: relative error 6e-8 (1 + |ln p|)
    np.testing.assert_allclose(ours, (joint[:, channel.observed] / p_y[channel.observed]).T, rtol=2e-6, atol=1e-12)
    belief = channel.posterior()
    np.testing.assert_allclose(belief.weight, p_y[channel.observed], rtol=1e-12)
    np.testing.assert_allclose(belief.weight @ ours, channel.prior, atol=1e-6)
    assert belief.status == "exact"


@given(seeds, st.integers(1, 8), st.integers(1, 8), st.sampled_from([0.0, 0.5, 0.9]))
def test_sparse_equals_dense(seed, n_x, n_y, zeros):
    rng = np.random.default_rng(seed)
    dense, second = (random_channel(rng, n_x, n, zeros=zeros) for n in (n_y, 3))
    sparse = Channel(csr_array(dense.dense()), dense.prior)
    np.testing.assert_allclose(sparse.p_y, dense.p_y, rtol=1e-14)
    a, b = sparse.posterior(), dense.posterior()
    np.testing.assert_array_equal(a.indptr, b.indptr)
    np.testing.assert_array_equal(a.candidate, b.candidate)
    np.testing.assert_allclose(a.log_probability, b.log_probability, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(sparse.joint().toarray(), dense.joint(), rtol=1e-14)
    after = random_channel(rng, n_y, 4, zeros=zeros)
    np.testing.assert_allclose(sparse.then(after).dense(), dense.then(after).dense(), rtol=1e-12)
    np.testing.assert_allclose(sparse.parallel(second).dense(), dense.parallel(second).dense(), rtol=1e-12)


def test_secrets_of_prior_zero_and_outputs_that_never_occur_are_left_out():
    table = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]])
    for given_table in (table, csr_array(table)):
        channel = Channel(given_table, np.array([0.5, 0.0, 0.5]))
        belief = channel.posterior()
        np.testing.assert_array_equal(channel.observed, [0, 1])
        np.testing.assert_array_equal(belief.candidate, [0, 0, 2])
        np.testing.assert_allclose(np.exp(belief.log_probability), [1, 1 / 3, 2 / 3], rtol=1e-6)
        np.testing.assert_allclose(belief.weight, [0.25, 0.75])
        assert belief.log_prior[1] == -np.inf


def test_probabilities_too_small_to_multiply_are_kept():
    tiny = 1e-300
    channel = Channel(np.array([[1 - tiny, tiny], [1.0, 0.0]]), np.array([1e-3, 1 - 1e-3]))
    belief = channel.posterior()
    assert belief.n_observations == 2
    assert np.isfinite(belief.log_probability).all()
    assert belief.candidate.tolist() == [0, 1, 0]


def test_another_prior_gives_another_belief_of_the_same_channel():
    channel = Channel(np.array([[0.9, 0.1], [0.2, 0.8]]), x_labels=("a", "b"))
    changed = channel.with_prior(np.array([0.9, 0.1]))
    np.testing.assert_array_equal(changed.dense(), channel.dense())
    assert changed.x_labels == ("a", "b")
    np.testing.assert_allclose(dense_posterior(changed)[0], np.array([0.81, 0.02]) / 0.83, rtol=1e-6)


def test_a_block_of_columns_at_a_time_changes_nothing(monkeypatch):
    rng = np.random.default_rng(3)
    for zeros in (0.0, 0.5):
        channel = random_channel(rng, 9, 11, zeros=zeros)
        posterior = channel.posterior()
        monkeypatch.setattr("unmask.channels._beliefs.LOG_BLOCK_ENTRIES", 20)
        pieces = channel.posterior()
        monkeypatch.undo()
        np.testing.assert_array_equal(posterior.candidate, pieces.candidate)
        np.testing.assert_array_equal(posterior.log_probability, pieces.log_probability)


# --- composition -----------------------------------------------------------------------------------------------------


@given(seeds)
def test_a_cascade_is_the_product_of_the_matrices(seed):
    rng = np.random.default_rng(seed)
    first, second = random_channel(rng, 5, 4), random_channel(rng, 4, 6)
    for after in (second, second.dense(), csr_array(second.dense())):
        cascade = first.then(after)
        np.testing.assert_allclose(cascade.dense(), first.dense() @ second.dense(), rtol=1e-12)
        np.testing.assert_array_equal(cascade.prior, first.prior)
    with pytest.raises(UnmaskError, match="takes 4 inputs, expected the 6 outputs"):
        second.then(second)


def test_side_by_side_outputs_multiply_and_are_numbered_by_the_first():
    a = Channel(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([0.3, 0.7]), y_labels=("u", "v"))
    b = Channel(np.array([[0.1, 0.2, 0.7], [0.0, 1.0, 0.0]]), y_labels=("1", "2", "3"))
    for second_form in (b, Channel(csr_array(b.dense()), y_labels=b.y_labels)):
        parallel = a.parallel(second_form)
        assert parallel.dense()[0, 1 * 3 + 2] == pytest.approx(0.5 * 0.7)
        assert parallel.dense()[1].tolist() == [0, 1, 0, 0, 0, 0]
        assert parallel.y_labels[5] == "v | 3"
        np.testing.assert_array_equal(parallel.prior, a.prior)
    with pytest.raises(UnmaskError, match="2 and 3 secrets"):
        a.parallel(Channel(np.eye(3)))


def test_two_large_dense_channels_are_not_multiplied_out(monkeypatch):
    monkeypatch.setattr("unmask.channels.channel.MAX_DENSE_ENTRIES", 10)
    with pytest.raises(UnmaskError, match="27 entries, at most 10"):
        Channel(np.eye(3)).parallel(Channel(np.eye(3)))
    assert Channel(np.eye(3)).parallel(Channel(csr_array(np.eye(3)))).n_y == 9


@given(seeds)
def test_seeing_both_outputs_is_seeing_one_after_the_other(seed):
    rng = np.random.default_rng(seed)
    a, b = random_channel(rng, 4, 3), random_channel(rng, 4, 5)
    beliefs = dense_posterior(a.parallel(b))
    first = dense_posterior(a)
    for y in range(3):
        again = dense_posterior(b.with_prior(first[y] / first[y].sum()))
        np.testing.assert_allclose(beliefs[5 * y : 5 * y + 5], again, rtol=1e-5, atol=1e-9)


# --- refinement ------------------------------------------------------------------------------------------------------


@given(seeds, st.sampled_from([(5, 4), (3, 6), (2, 9)]))  # with more outputs than secrets G is not unique
def test_a_processed_channel_is_refined_by_its_source(seed, shape):
    rng = np.random.default_rng(seed)
    fine, after = random_channel(rng, *shape), random_channel(rng, shape[1], 3, zeros=0.4)
    coarse = fine.then(after)
    assert degradation(fine, coarse) is not None
    result = degradation(fine, coarse)
    np.testing.assert_allclose(fine.then(result).dense(), coarse.dense(), atol=1e-9)


def test_refinement_has_negative_cases():
    # binary symmetric channels: only the noisier one is a degradation of the other
    clear, noisy = (Channel(np.array([[1 - p, p], [p, 1 - p]])) for p in (0.1, 0.3))
    assert degradation(clear, noisy) is not None
    assert degradation(noisy, clear) is None
    # and two that do not compare: each tells one pair of secrets apart that the other does not
    left_channel = Channel(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))
    right_channel = Channel(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    assert degradation(left_channel, right_channel) is None
    assert degradation(right_channel, left_channel) is None


def test_refinement_is_decided_near_the_border():
    def symmetric(p):
        return Channel(np.array([[1 - p, p], [p, 1 - p]]))

    assert degradation(symmetric(0.2), symmetric(0.2)) is not None
    assert degradation(symmetric(0.2 + 1e-7), symmetric(0.2)) is None
    assert degradation(symmetric(0.2 + 1e-7), symmetric(0.2), tolerance=1e-6) is not None


def test_an_output_that_never_occurs_does_not_matter():
    fine = Channel(np.array([[0.9, 0.0, 0.1], [0.1, 0.0, 0.9]]))
    assert degradation(fine, Channel(np.array([[0.7, 0.3], [0.3, 0.7]]))) is not None
    assert degradation(Channel(np.array([[0.7, 0.3, 0.0], [0.3, 0.7, 0.0]])), fine) is None


def test_everything_refines_nothing_and_the_order_ignores_priors():
    channel = Channel(np.array([[0.6, 0.4], [0.1, 0.9]]), np.array([1.0, 0.0]))
    silent = Channel(np.full((2, 3), 1 / 3))
    assert degradation(channel, silent) is not None
    assert degradation(silent, channel) is None
    with pytest.raises(UnmaskError, match="2 and 3 secrets"):
        degradation(channel, Channel(np.eye(3)))


@given(seeds)
def test_processing_the_output_never_lowers_the_bayes_error(seed):
    rng = np.random.default_rng(seed)
    fine, after = random_channel(rng, 5, 4), random_channel(rng, 4, 4)
    coarse = fine.then(after)
    loss = rng.random((6, 5))
    for d in (None, loss):
        assert p_avg(fine, d) <= p_avg(coarse, d) + 1e-6
    assert p_avg(fine.parallel(coarse)) <= p_avg(fine) + 1e-6


def test_bayes_error_of_the_binary_symmetric_channel():
    assert p_avg(Channel(np.array([[0.9, 0.1], [0.1, 0.9]]))) == pytest.approx(0.1, abs=1e-6)


# --- sampling --------------------------------------------------------------------------------------------------------


def test_sampling_has_the_frequencies_of_the_rows():
    rng = np.random.default_rng(5)
    table = np.array([[0.2, 0.0, 0.8], [0.5, 0.25, 0.25]])
    x = rng.integers(2, size=(200, 200))
    for channel in (Channel(table), Channel(csr_array(table))):
        y = channel.sample(x, rng=np.random.default_rng(1))
        assert y.shape == x.shape
        for secret in (0, 1):
            n = (x == secret).sum()
            share = np.bincount(y[x == secret], minlength=3) / n
            error = np.sqrt(table[secret] * (1 - table[secret]) / n)
            assert np.all(np.abs(share - table[secret]) <= 4.5 * error)
    with pytest.raises(UnmaskError, match=r"outside 0\.\.1"):
        channel.sample(np.array([2]), rng=rng)


def test_sparse_and_dense_channels_draw_alike_and_never_the_impossible():
    channel = random_channel(np.random.default_rng(0), 6, 7, zeros=0.6)
    x = np.random.default_rng(1).integers(6, size=5000)
    y = channel.sample(x, rng=np.random.default_rng(2))
    np.testing.assert_array_equal(y, Channel(csr_array(channel.dense())).sample(x, rng=np.random.default_rng(2)))
    assert (channel.dense()[x, y] > 0).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_the_direct_measures_are_those_of_the_posterior(sparse):
    rng = np.random.default_rng(8)
    table = rng.random((30, 20)) * (rng.random((30, 20)) < 0.4) + np.eye(30, 20) + 1e-9
    table[table < 1e-3] = 0.0
    table[:, 0] += 0.01
    table /= table.sum(axis=1, keepdims=True)
    channel = Channel(csr_array(table) if sparse else table, rng.dirichlet(np.ones(30)))
    belief = channel.posterior()
    assert channel.bayes_risk() == pytest.approx(p_avg(channel), abs=1e-6)
    assert channel.mutual_information() == pytest.approx(
        information_gain_bits.per_target(belief) @ belief.weight, abs=1e-5
    )


def test_c11_sparse_channels_are_measured_entry_by_entry():
    rng = np.random.default_rng(0)
    row, column = np.repeat(np.arange(20_000), 3), rng.integers(500_000, size=60_000)
    counts = csr_array((rng.integers(1, 9, size=60_000).astype(float), (row, column)), shape=(20_000, 500_000))
    channel = Channel.from_counts(counts)
    start = time.perf_counter()
    risk, bits = channel.bayes_risk(), channel.mutual_information()
    assert time.perf_counter() - start < 5  # row by row it took 27 s
    joint = channel.joint()
    assert risk == pytest.approx(1 - joint.max(axis=0).sum(), abs=1e-12)
    entropies = [-float(xlogy(p, p).sum()) / np.log(2) for p in (channel.prior, channel.p_y, joint.data)]
    assert bits == pytest.approx(entropies[0] + entropies[1] - entropies[2], abs=1e-9)
