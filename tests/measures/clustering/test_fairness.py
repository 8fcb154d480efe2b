import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask import UnmaskError
from unmask.measures.clustering.fairness import fairness

values = st.lists(st.floats(0, 1e6), min_size=1, max_size=40)


@given(values)
def test_indices_by_their_definition(v):
    scores = fairness(v)
    a = np.array(v)
    if a.sum() > 1e-300:
        gini = np.abs(a[:, None] - a[None, :]).sum() / (2 * len(a) ** 2 * a.mean())
        assert scores.gini == pytest.approx(gini, abs=1e-9)
        b = a / a.max()
        assert scores.jain == pytest.approx(b.sum() ** 2 / (len(b) * (b**2).sum()))
    assert -1e-12 <= scores.gini <= 1 - 1 / len(v) + 1e-12
    assert 1 / len(v) - 1e-12 <= scores.jain <= 1 + 1e-12
    assert scores.mean == pytest.approx(np.mean(v))


@given(values)
def test_the_worst_tenth(v):
    scores = fairness(v)
    k = -(-len(v) // 10)
    tail = sorted(v, reverse=True)[:k]
    assert scores.worst_decile == pytest.approx(np.mean(tail))
    assert len(scores.worst) >= k
    limit = tail[-1]
    inside = [i for i, x in enumerate(v) if x >= limit]
    assert scores.worst.tolist() == inside


def test_known_values():
    scores = fairness([1, 2, 3, 4])  # Gini of 1..n is (n - 1)/(3 n)
    assert scores.gini == pytest.approx(0.25)
    assert scores.jain == pytest.approx(100 / (4 * 30))
    one_has_all = fairness([0, 0, 0, 0, 5])
    assert (one_has_all.gini, one_has_all.jain) == pytest.approx((0.8, 0.2))
    alike = fairness([3.0] * 7)
    assert (alike.gini, alike.jain, alike.worst_decile) == pytest.approx((0, 1, 3))


def test_all_zero_is_perfectly_even():
    scores = fairness([0.0, 0.0])
    assert (scores.gini, scores.jain, scores.worst_decile) == (0, 1, 0)
    assert scores.worst.tolist() == [0, 1]


def test_subjects_without_a_value_are_left_out():
    scores = fairness([np.nan, 2, np.nan, 4, 6])
    assert (scores.n, scores.mean) == (3, 4)
    assert scores.worst.tolist() == [4]


def test_fairness_without_any_value():
    scores = fairness([np.nan, np.nan])
    assert scores.n == 0
    assert np.isnan([scores.mean, scores.gini, scores.jain, scores.worst_decile]).all()
    assert not len(scores.worst)


@given(values)
def test_scale_changes_no_index(v):
    score, thousand = fairness(v), fairness([1024 * x for x in v])
    assert thousand.jain == pytest.approx(score.jain)
    assert thousand.gini == pytest.approx(score.gini, abs=1e-9)


def test_order_of_the_subjects_does_not_matter():
    rng = np.random.default_rng(2)
    v, order = rng.integers(0, 5, 60), rng.permutation(60)
    first, second = fairness(v), fairness(v[order])
    assert sorted(order[second.worst].tolist()) == first.worst.tolist()
    assert second.gini == pytest.approx(first.gini)


def test_extreme_values_do_not_overflow():
    assert fairness([1e200, 1e200]).jain == pytest.approx(1)
    assert fairness([1e-200, 0]).jain == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([-1, 2], "1 values are negative"),
        ([np.inf], "1 values are negative or infinite"),
        ([[1, 2]], "one for each subject"),
    ],
)
def test_wrong_use(value, words):
    with pytest.raises(UnmaskError, match=words):
        fairness(value)
