from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from unmask.core.errors import UnmaskError
from unmask.tables import criteria
from unmask.tables.protections import constraints as module
from unmask.tables.protections.constraints import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    DistinctL,
    EntropyL,
    KAnonymity,
    RecursiveL,
    TCloseness,
    all_allow,
)

PATHS = np.array([[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0, 0, 0, 0, 1]], dtype=np.int32)  # the root is understood
EVERY = (
    KAnonymity(3),
    DistinctL(2),
    EntropyL(1.5),
    RecursiveL(c=2.0, l=2),
    TCloseness(0.2),
    TCloseness(0.2, "ordered"),
    TCloseness(0.2, distance="hierarchical"),
    TCloseness(0.2, distance="kl"),
    DeltaDisclosure(1.0),
    BetaLikeness(1.0),
    AlphaK(0.5),
)


@st.composite
def partitions(draw):
    """Histograms of classes that together are the table."""
    m = 5
    row = st.lists(st.integers(0, 6), min_size=m, max_size=m).filter(any)
    histogram = np.array(draw(st.lists(row, min_size=1, max_size=6)))
    return histogram, histogram.sum(axis=0)


def transport(p, q, ground):
    """Earth mover's distance as the linear program it is."""
    m = len(p)
    sums = np.vstack([np.kron(np.eye(m), np.ones(m)), np.kron(np.ones(m), np.eye(m))])
    solution = linprog(ground.reshape(-1), A_eq=sums, b_eq=np.concatenate([p, q]), method="highs")
    return solution.fun


def ground(distance, overall):
    used = np.flatnonzero(overall)
    m = used.size
    if distance == "equal":
        return 1.0 - np.eye(m)
    if distance == "ordered":
        return np.abs(np.subtract.outer(np.arange(m), np.arange(m))) / max(m - 1, 1)
    height = np.array([[np.count_nonzero(PATHS[:, a] != PATHS[:, b]) for b in used] for a in used])
    return height / len(PATHS)


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
@given(partitions())
@settings(max_examples=40, deadline=None)
def test_closeness_is_the_earth_movers_distance(distance, partition):
    histogram, overall = partition
    used = overall > 0
    p, q = histogram[:, used] / histogram.sum(axis=1, keepdims=True), overall[used] / overall.sum()
    expected = [transport(row, q, ground(distance, overall)) for row in p]
    assert_allclose(TCloseness(0.1, distance).value(histogram, overall, paths=PATHS), expected, atol=1e-9)


def test_closeness_of_the_papers_example():
    # Li et al. 2007, section 4.1: salaries 3k..11k; {3k, 4k, 5k} is 0.375 from the whole, {6k, 8k, 11k} 0.167
    overall = np.ones(9, dtype=int)
    histogram = np.array([[1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0, 1]])
    assert_allclose(TCloseness(0.2, "ordered").value(histogram, overall), [0.375, 1 / 6])
    assert_array_equal(TCloseness(0.375, "ordered").allows(histogram, overall), [True, True])
    assert_array_equal(TCloseness(0.374, "ordered").allows(histogram, overall), [False, True])


@given(partitions(), st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_values_equal_the_criteria_of_a_release(partition, diversity):
    histogram, overall = partition
    pairs = [
        (KAnonymity(1), histogram.sum(axis=1)),
        (DistinctL(1), criteria.l_distinct(histogram)),
        (EntropyL(1), criteria.l_entropy(histogram)),
        (RecursiveL(c=1.0, l=diversity), criteria.l_recursive(histogram, l=diversity)),
        (AlphaK(1), criteria.alpha(histogram)),
        (TCloseness(0), criteria.t_equal(histogram)),
        (TCloseness(0, "ordered"), criteria.t_ordered(histogram)),
        (TCloseness(0, "hierarchical"), criteria.t_hierarchical(histogram, PATHS)),
        (TCloseness(0, "kl"), criteria.t_kl(histogram)),
        (DeltaDisclosure(1), criteria.delta_disclosure(histogram)),
        (BetaLikeness(1), criteria.beta_likeness(histogram)),
    ]
    for constraint, expected in pairs:
        value = constraint.value(histogram, overall, paths=PATHS)
        assert_allclose(value, expected, atol=1e-9, err_msg=repr(constraint))


@given(partitions(), st.fractions(Fraction(1, 20), 3, max_denominator=20))
@settings(max_examples=100, deadline=None)
def test_rational_bounds_are_decided_exactly(partition, bound):
    histogram, overall = partition
    for row in histogram.tolist():
        n = sum(row)
        p = [Fraction(count, n) for count in row]
        q = [Fraction(int(count), int(overall.sum())) for count in overall]
        ordered = sorted(row, reverse=True)
        decided = {
            RecursiveL(c=float(bound), l=2): ordered[0] < bound * sum(ordered[1:]),
            AlphaK(float(bound)): max(p) <= bound,
            TCloseness(float(bound)): sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2 <= bound,
        }
        gains = [(a / b - 1, -math.log(b)) for a, b in zip(p, q, strict=True) if b]
        assume(all(abs(float(gain) - limit) > 1e-6 for gain, limit in gains))
        decided[BetaLikeness(float(bound))] = all(gain <= bound and gain <= limit for gain, limit in gains)
        for constraint, expected in decided.items():
            assert constraint.allows(np.array([row]), overall)[0] == expected, constraint


@pytest.mark.parametrize("values", range(1, 40))
def test_a_uniform_class_has_entropy_l_equal_to_its_values(values):
    # the trap of int(exp(H)): uniform over 2, 3, 6, 7, 10 values gave 1, 2, 5, 6, 9
    histogram = np.full((1, values), 7)
    assert EntropyL(values).allows(histogram, histogram[0])[0]
    assert not EntropyL(values + 1e-6).allows(histogram, histogram[0])[0]


def test_recursive_sorts_from_the_commonest_and_is_strict():
    # the trap of ascending counts: (7, 2, 1) with l = 3 needs c above 7
    row = np.array([[1, 7, 2]])
    assert not RecursiveL(c=7.0, l=3).allows(row, row[0])[0]
    assert RecursiveL(c=7.001, l=3).allows(row, row[0])[0]
    assert not RecursiveL(c=1e9, l=4).allows(row, row[0])[0]


def test_delta_is_strict_and_fails_without_a_value():
    histogram = np.array([[2, 1], [1, 2], [1, 0]])
    overall = np.array([1, 1])
    bound = math.log(3 / 2)
    assert_array_equal(DeltaDisclosure(bound).allows(histogram, overall), [False, False, False])
    assert_array_equal(DeltaDisclosure(bound + 1e-6).allows(histogram, overall), [True, True, False])
    assert_array_equal(DeltaDisclosure(1e6).allows(histogram, overall), [True, True, False])


def test_beta_is_bounded_by_each_values_own_share():
    # the first class doubles the rare value, which beta = 1 allows; the second raises the common one by a mere 1/9,
    # but its own bound -ln q is ln(10/9) = 0.105, so that no beta will do
    overall = np.array([9, 1])
    assert_array_equal(BetaLikeness(1.0).allows(np.array([[8, 2], [10, 0]]), overall), [True, False])
    assert_array_equal(BetaLikeness(1e9).allows(np.array([[8, 2], [10, 0]]), overall), [True, False])


def test_hierarchical_does_not_overflow():
    # two classes of 100,000 rows at opposite ends: the true distance is 1/2 (32-bit products accept 0.3)
    histogram = np.array([[100_000, 0], [0, 100_000]], dtype=np.int32)
    paths = np.array([[0, 1]], dtype=np.int32)
    allowed = TCloseness(0.3, "hierarchical").allows(histogram, histogram.sum(axis=0), paths=paths)
    assert_array_equal(allowed, [False, False])


def test_kl_is_infinite_for_a_value_the_table_does_not_have():
    assert TCloseness(1.0, "kl").value(np.array([[1, 1]]), np.array([2, 0]))[0] == math.inf


@pytest.mark.parametrize("constraint", EVERY, ids=repr)
def test_walks_the_conformance(constraint):
    rng = np.random.default_rng(1)
    histogram = rng.integers(0, 5, size=(50, 5))
    histogram[7] = 0
    initial, overall = histogram.copy(), histogram.sum(axis=0)
    allowed = constraint.allows(histogram, overall, paths=PATHS)
    assert allowed.dtype == np.bool_
    assert allowed.shape == (50,)
    assert allowed.any()
    assert not allowed.all()
    assert not allowed[7]
    assert_array_equal(histogram, initial)
    assert_array_equal(constraint.allows(histogram.astype(np.float64), overall, paths=PATHS), allowed)
    assert_array_equal(constraint.allows(histogram[::-1], overall, paths=PATHS)[::-1], allowed)
    assert constraint.allows(np.empty((0, 5), dtype=int), overall, paths=PATHS).shape == (0,)
    rebuilt = eval(repr(constraint), vars(module))
    assert rebuilt == constraint
    assert hash(rebuilt) == hash(constraint)
    bound = module.bound_of(constraint)
    value = constraint.value(histogram, overall, paths=PATHS)
    good = {"at least": value >= bound, "at most": value <= bound, "below": value < bound}[constraint.comparison.sense]
    filled = histogram.any(axis=1)
    assert_array_equal(good[filled], allowed[filled])


def test_conjunction_is_the_logical_and():
    rng = np.random.default_rng(2)
    histogram = rng.integers(0, 9, size=(300, 5))
    overall = histogram.sum(axis=0)
    constraints = (KAnonymity(12), EntropyL(3.0), TCloseness(0.25), TCloseness(0.3, "hierarchical"))
    verdicts = [constraint.allows(histogram, overall, paths=PATHS) for constraint in constraints]
    jointly = all_allow(constraints, histogram, overall, paths=PATHS)
    assert_array_equal(jointly, np.all(verdicts, axis=0))
    assert 0 < jointly.sum() < min(verdict.sum() for verdict in verdicts)
    assert all_allow((), histogram, overall).all()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: KAnonymity(0), "k is 0, expected a whole number at least 1"),
        (lambda: DistinctL(2.5), "l is 2.5"),
        (lambda: DistinctL(True), "l is True"),
        (lambda: EntropyL(0.5), "l is 0.5, expected a number at least 1 and finite"),
        (lambda: RecursiveL(c=0.0, l=2), "c is 0.0, expected a number above 0"),
        (lambda: RecursiveL(c=1.0, l=0), "l is 0"),
        (lambda: TCloseness(math.nan), "t is nan"),
        (lambda: TCloseness(0.1, "euclid"), "expected one of equal, ordered, hierarchical, kl"),
        (lambda: DeltaDisclosure(0), "delta is 0, expected a number above 0"),
        (lambda: BetaLikeness(-1.0), "beta is -1.0"),
        (lambda: AlphaK("0.5"), "alpha is a str, expected a number"),
    ],
)
def test_refuses_parameters_that_mean_nothing(build, message):
    with pytest.raises(UnmaskError, match=message):
        build()


def test_hierarchical_asks_for_a_hierarchy():
    with pytest.raises(UnmaskError, match="give one for the column"):
        TCloseness(0.1, "hierarchical").allows(np.array([[1, 1]]), np.array([1, 1]))
