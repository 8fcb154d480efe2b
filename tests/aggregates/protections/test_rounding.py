"""Rounding of counts, and noise by cell keys."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.aggregates import AggregateRelease, Domain, Rule, tabulate
from unmask.aggregates.protections import (
    PerturbByCellKeys,
    RoundCounts,
    draw_cell_keys,
    measure_loss,
    perturb_counts,
    round_controlled,
    round_randomly,
    transition_matrix,
)
from unmask.core.errors import UnmaskError

DOMAIN = Domain({"sex": ("f", "m"), "age": ("child", "adult", "old")})
COLUMNS = (("sex", "age"), ("sex",), ("age",), ())


def exact_tables(rng, n=60):
    records = {name: rng.choice(np.array(labels), n) for name, labels in DOMAIN.categories.items()}
    tables = AggregateRelease(DOMAIN, tuple(tabulate(records, columns, Rule(), DOMAIN) for columns in COLUMNS))
    return tables, tables.cell_counts(records)


@given(st.lists(st.integers(0, 40), min_size=6, max_size=6), st.integers(2, 11))
@settings(max_examples=25, deadline=None)
def test_controlled_rounding_adds_up_and_moves_no_cell_by_the_base(counts, base):
    rows = np.vstack([np.eye(6), np.kron(np.eye(2), np.ones(3)), np.kron(np.ones(2), np.eye(3)), np.ones((1, 6))])
    rounded = round_controlled(sp.csr_array(rows), np.array(counts, dtype=float), base)
    assert (rounded % base == 0).all()
    assert (np.abs(rounded - rows @ counts) < base).all()
    assert rounded.tolist() == (rows @ rounded[:6]).tolist()


def test_random_rounding_is_unbiased():
    rng = np.random.default_rng(3)
    values = np.repeat(np.arange(11.0), 20_000)
    rounded = round_randomly(values, 5, rng=rng).reshape(11, -1)
    assert np.abs(rounded.mean(axis=1) - np.arange(11)).max() < 4 * 2.5 / np.sqrt(20_000)
    assert (np.abs(rounded - np.arange(11.0)[:, None]) < 5).all()


@pytest.mark.parametrize(
    "protection", [RoundCounts(5), RoundCounts(5, "controlled"), RoundCounts(4, "nearest"), PerturbByCellKeys(4, 1.5)]
)
def test_stated_rule_contains_the_true_counts(protection):
    exact, counts = exact_tables(np.random.default_rng(1))
    release = protection(exact, counts)
    low, high = release.bounds()
    values = exact.matrix @ counts[0]
    assert ((low <= values) & (values <= high)).all()
    assert {table.rule for table in release.tabulations} == {protection.rule}


@pytest.mark.parametrize(
    ("max_noise", "variance", "forbidden"), [(1, 0.5, 0), (3, 1.0, 0), (5, 2.0, 0), (5, 4.0, 2), (8, 4.0, 2)]
)
def test_transitions_are_unbiased_with_fixed_variance_and_no_negative_count(max_noise, variance, forbidden):
    table = transition_matrix(max_noise, variance, forbidden=forbidden)
    noise = np.arange(-max_noise, max_noise + 1)
    assert table.sum(axis=1) == pytest.approx(np.ones(len(table)))
    assert table @ noise == pytest.approx(np.zeros(len(table)), abs=1e-8)
    assert table[1:] @ noise**2 == pytest.approx(np.full(len(table) - 1, variance))
    for count, row in enumerate(table):
        released = count + noise[row > 0]
        assert released.min() >= 0
        assert not {*released.tolist()} & {*range(1, forbidden + 1)}
    assert table[-1] == pytest.approx(table[-1][::-1])  # far from zero the noise is symmetric


def test_transitions_maximize_entropy():
    row = transition_matrix(2, 1.0)[1]
    used = row[1:]
    # Distributions of noise -1, 0, 1, 2 with mean 0 and variance 1 differ by multiples of this direction.
    direction = np.array([1.0, -3.0, 3.0, -1.0])
    assert np.abs([direction.sum(), direction @ [-1, 0, 1, 2], direction @ [1, 0, 1, 4]]).max() == 0
    entropies = [-(moved * np.log(moved)).sum() for moved in (used, used + 1e-3 * direction, used - 1e-3 * direction)]
    assert entropies[0] == max(entropies)


def test_impossible_variance_is_refused():
    with pytest.raises(UnmaskError, match="choose another variance"):
        transition_matrix(5, 1.0, forbidden=2)  # a one becomes 0 or at least 3: variance 2
    with pytest.raises(UnmaskError, match="choose another variance"):
        PerturbByCellKeys(1, 5.0)


def test_equal_contributors_have_equal_noise_and_others_have_the_stated_distribution():
    rng = np.random.default_rng(8)
    atoms = rng.integers(0, 3, 4000).astype(float)
    rows = sp.vstack([sp.eye_array(4000), sp.eye_array(4000), sp.csr_array(np.ones((2, 4000)))], format="csr")
    keys = draw_cell_keys(rows, atoms, rng=rng)
    released = perturb_counts(rows @ atoms, keys, transition_matrix(3, 1.0))
    assert released[:4000].tolist() == released[4000:8000].tolist()
    assert released[8000] == released[8001]
    noise = (released - rows @ atoms)[:4000]
    for count in range(3):
        seen = np.bincount((noise[atoms == count] + 3).astype(int), minlength=7) / (atoms == count).sum()
        assert np.abs(seen - transition_matrix(3, 1.0)[count]).max() < 0.05


def test_zero_records_do_not_change_a_key():
    rows = sp.csr_array(np.array([[1, 0], [1, 1]]))
    first, second = draw_cell_keys(rows, np.array([3.0, 0.0]))
    assert first == second


def test_a_release_without_a_seed_differs_from_the_next():
    exact, counts = exact_tables(np.random.default_rng(1), 4000)
    for protection in (RoundCounts(97), PerturbByCellKeys(20, 19.0)):
        first, second = (
            np.concatenate([table.values.ravel() for table in protection(exact, counts).tabulations]) for _ in "ab"
        )
        assert (first != second).any()


def test_information_loss_of_suppressed_and_perturbed_cells():
    values = np.array([4.0, 1.0, 5.0])
    suppressed = measure_loss(values, values, np.array([True, False, False]))
    assert (suppressed.cells, suppressed.suppressed, suppressed.suppressed_value) == (3, 1, 0.4)
    assert suppressed.mean_absolute_deviation == 0
    moved = measure_loss(values, np.array([4.0, 2.0, 4.0]), np.zeros(3, dtype=bool))
    assert moved.mean_absolute_deviation == pytest.approx(2 / 3)
    expected = np.sqrt(((np.sqrt([0.4, 0.1, 0.5]) - np.sqrt([0.4, 0.2, 0.4])) ** 2).sum() / 2)
    assert moved.hellinger == pytest.approx(expected)
