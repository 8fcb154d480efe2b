"""Every criterion against its textbook definition, computed the slow way."""

import math
import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from unmask.core.errors import UnmaskError
from unmask.core.grouping import class_counts, count_distinct, group
from unmask.tables import criteria, datasets
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.table import Table

MATRICES = st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=1, max_size=6).map(
    lambda rows: np.array([row for row in rows if sum(row)] or [[1, 0, 0, 0]])
)
TREE = np.array([[0, 1, 2, 3], [0, 0, 1, 1]], np.int32)


def table(columns, *, quasi_identifiers, sensitive=(), **settings):
    return Table.read(columns, quasi_identifiers=quasi_identifiers, sensitive=sensitive, **settings)


# ----------------------------------------------------------------------------------------------- counts


@pytest.mark.parametrize("space", [50, 2**40, 2**62])
def test_distinct_keys_are_the_same_by_counting_by_sorting_and_by_argsort(space):
    rng = np.random.default_rng(4)
    key, weight = rng.integers(0, 50, 20_000) * (space // 50), rng.integers(1, 9, 20_000)
    keys, times = np.unique(key, return_counts=True)
    for actual, expected in (
        (count_distinct(key.copy(), space), times),
        (count_distinct(key.copy(), space, weight=weight), [weight[key == value].sum() for value in keys]),
    ):
        assert actual[0].tolist() == keys.tolist()
        assert actual[1].tolist() == list(expected)


@pytest.mark.parametrize("space", [50, 2**40, 2**62])
def test_rows_of_weight_zero_are_not_a_key_however_keys_are_counted(space):
    empty = np.array([], dtype=np.int64)
    assert [part.tolist() for part in count_distinct(empty, space, weight=empty)] == [[], []]
    result = count_distinct(np.array([7, 3, 5, 3]), space, weight=np.array([0, 1, 0, 2]))
    assert [part.tolist() for part in result] == [[3], [3]]
    nothing = count_distinct(np.array([7, 3]), space, weight=np.array([0, 0]))
    assert [part.tolist() for part in nothing] == [[], []]


@given(st.data(), st.integers(1, 40), st.integers(1, 4))
def test_group_is_unique_of_the_rows(data, n, d):
    n_levels = data.draw(st.lists(st.sampled_from([1, 2, 3, 2**31 - 1]), min_size=d, max_size=d))
    cells = [data.draw(st.lists(st.integers(0, min(size, 4) - 1), min_size=n, max_size=n)) for size in n_levels]
    of_row, sizes, levels = group([np.array(c, np.int32) for c in cells], n_levels)
    expected, inverse, counts = np.unique(np.array(cells).T, axis=0, return_inverse=True, return_counts=True)
    assert np.array_equal(levels, expected)
    assert np.array_equal(of_row, inverse.ravel())
    assert np.array_equal(sizes, counts)


def test_group_orders_classes_when_the_keys_exceed_63_bits():
    rng = np.random.default_rng(3)
    codes = [rng.integers(0, 2**31 - 1, 500).astype(np.int32) for _ in range(4)]
    codes = [np.concatenate((c, c[:100])) for c in codes]
    of_row, sizes, levels = group(codes, [2**31 - 1] * 4)
    assert (len(sizes), sizes.sum(), sizes.max()) == (500, 600, 2)
    assert [tuple(row) for row in levels] == sorted({tuple(row) for row in np.array(codes).T})
    assert np.array_equal(levels[of_row], np.array(codes).T)


@pytest.mark.parametrize("space", [40, 2**30, 2**60])
def test_group_takes_the_same_classes_by_counting_by_sorting_and_by_argsort(space):
    codes = np.array([39, 0, 7, 39, 7, 7], np.int64)
    of_row, sizes, levels = group([codes], [space])
    assert of_row.tolist() == [2, 0, 1, 2, 1, 1]
    assert sizes.tolist() == [1, 3, 2]
    assert levels[:, 0].tolist() == [0, 7, 39]


def test_group_refuses_codes_without_a_level():
    with pytest.raises(UnmaskError, match="column 1 has codes outside 0 to 2"):
        group([np.array([0, 1], np.int32), np.array([0, 3], np.int32)], [2, 3])
    with pytest.raises(UnmaskError, match="0 columns"):
        group([], [])
    with pytest.raises(UnmaskError, match="column 1 has 1 rows, expected 2"):
        group([np.array([0, 1], np.int32), np.array([0], np.int32)], [2, 3])


@given(MATRICES)
def test_class_counts_rebuilds_the_matrix_it_was_spread_from(matrix):
    classes, values = np.nonzero(matrix)
    repeat = matrix[classes, values]
    rows = [np.repeat(x, repeat).astype(np.int32) for x in (classes, values)]
    result = class_counts(rows[0], len(matrix), rows[1], matrix.shape[1])
    assert np.array_equal(result.to_scipy().toarray(), matrix)
    assert len(result.data) == np.count_nonzero(matrix)


# ----------------------------------------------------------------------------------------------- definitions


def shares(matrix):
    p = matrix / matrix.sum(axis=1, keepdims=True)
    return p, matrix.sum(axis=0) / matrix.sum()


def transport(p, q, cost):
    """Earth mover's distance as the linear program that defines it."""
    m = len(p)
    rows = np.kron(np.eye(m), np.ones(m))
    columns = np.kron(np.ones(m), np.eye(m))
    return linprog(cost.ravel(), A_eq=np.vstack((rows, columns)), b_eq=np.concatenate((p, q))).fun


@given(MATRICES)
def test_diversity_by_definition(matrix):
    p, _ = shares(matrix)
    assert criteria.l_distinct(matrix).tolist() == (matrix > 0).sum(axis=1).tolist()
    entropy = [-sum(x * math.log(x) for x in row if x) for row in p]
    assert criteria.l_entropy(matrix) == pytest.approx(np.exp(entropy))
    assert criteria.alpha(matrix) == pytest.approx(p.max(axis=1))
    assert criteria.map_error(matrix) == pytest.approx(1 - matrix.max(axis=1).sum() / matrix.sum())


@given(MATRICES, st.integers(1, 5))
def test_recursive_diversity_by_definition(matrix, least_size):
    for row, result in zip(matrix, criteria.l_recursive(matrix, l=least_size), strict=True):
        ordered = sorted((int(x) for x in row), reverse=True)
        tail = sum(ordered[least_size - 1 :])
        assert result == (math.inf if tail == 0 else pytest.approx(float(Fraction(ordered[0], tail))))


@given(MATRICES)
def test_closeness_by_definition(matrix):
    p, q = shares(matrix)
    used = q > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ratio = np.log(p[:, used] / q[used])
        kl = np.where(p[:, used] > 0, p[:, used] * log_ratio, 0).sum(axis=1)
    assert criteria.t_equal(matrix) == pytest.approx(0.5 * np.abs(p - q).sum(axis=1))
    assert criteria.t_kl(matrix) == pytest.approx(kl, abs=1e-12)
    assert criteria.delta_disclosure(matrix) == pytest.approx(np.abs(log_ratio).max(axis=1), abs=1e-12)
    assert criteria.delta_up(matrix) == pytest.approx(log_ratio.max(axis=1), abs=1e-12)
    gaps = np.abs(np.cumsum(p[:, used] - q[used], axis=1)).sum(axis=1)
    assert criteria.t_ordered(matrix) == pytest.approx(gaps / max(1, used.sum() - 1), abs=1e-12)
    assert np.all(criteria.t_equal(matrix) <= np.sqrt(criteria.t_kl(matrix) / 2) + 1e-12)  # Pinsker, in nats


@settings(max_examples=25, deadline=None)
@given(MATRICES)
def test_ordered_and_hierarchical_closeness_are_earth_movers_distances(matrix):
    matrix = np.vstack((matrix, [1, 1, 1, 1]))  # every value occurs, so ranks are positions
    p, q = shares(matrix)
    rank = np.arange(4)
    line = np.abs(rank[:, None] - rank) / 3
    tree = np.where(rank[:, None] == rank, 0, np.where(rank[:, None] // 2 == rank // 2, 0.5, 1.0))
    for row, ordered, nested in zip(p, criteria.t_ordered(matrix), criteria.t_hierarchical(matrix, TREE), strict=True):
        assert ordered == pytest.approx(transport(row, q, line), abs=1e-7)
        assert nested == pytest.approx(transport(row, q, tree), abs=1e-7)


@given(MATRICES)
def test_beta_likeness_is_the_smallest_beta_that_holds(matrix):
    p, q = shares(matrix)

    def holds(row, beta):
        return all(b == 0 or a <= b or (a - b) / b <= min(beta, -math.log(b)) for a, b in zip(row, q, strict=True))

    for row, beta, basic in zip(p, criteria.beta_likeness(matrix), criteria.beta_basic(matrix), strict=True):
        assert holds(row, beta * (1 + 1e-9) + 1e-9) is bool(np.isfinite(beta))
        assert beta == math.inf or not (beta > 1e-6 and holds(row, beta * (1 - 1e-6)))
        assert basic == pytest.approx(max([(a - b) / b for a, b in zip(row, q, strict=True) if a > b], default=0))


@given(MATRICES, st.permutations(range(4)))
def test_the_order_of_values_matters_to_no_criterion_but_the_ordered_one(matrix, order):
    shuffled = matrix[:, order]
    for name in ("l_distinct", "l_entropy", "l_recursive", "t_equal", "t_kl", "delta_disclosure", "delta_up"):
        measure = getattr(criteria, name)
        assert measure(shuffled) == pytest.approx(measure(matrix), abs=1e-12)


def test_the_salary_example_of_t_closeness():
    # Li, Li, Venkatasubramanian 2007, section 4.1: salaries 3k to 11k; {3k,4k,5k} is 0.375 away, {6k,8k,11k} 0.167
    salaries = np.zeros((3, 9), dtype=np.int64)
    salaries[0, [0, 1, 2]] = salaries[1, [3, 5, 8]] = salaries[2, [4, 6, 7]] = 1
    assert criteria.t_ordered(salaries)[:2] == pytest.approx([0.375, 1 / 6])


def test_hierarchical_closeness_at_the_height_of_a_skewed_tree():
    # two leaves under one node and a third alone: moving within the node costs 1/2, between the nodes 1
    paths = np.array([[0, 1, 2], [0, 0, 1]], np.int32)
    result = criteria.t_hierarchical(np.array([[2, 0, 0], [0, 2, 0], [0, 0, 4]]), paths)
    assert result == pytest.approx([0.25 * 0.5 + 0.5, 0.25 * 0.5 + 0.5, 0.5])


def test_classes_without_rows_and_values_without_rows_change_nothing():
    small, padded = np.array([[3, 1], [1, 1]]), np.array([[3, 0, 1], [0, 0, 0], [1, 0, 1]])
    for name in ("l_entropy", "t_equal", "t_ordered", "delta_disclosure", "beta_likeness"):
        assert getattr(criteria, name)(padded).tolist() == getattr(criteria, name)(small).tolist()


def test_bad_matrices_are_refused():
    with pytest.raises(UnmaskError, match="0 rows"):
        criteria.l_distinct(np.zeros((2, 2), dtype=np.int64))
    with pytest.raises(UnmaskError, match="negative"):
        criteria.l_distinct(np.array([[1, -1]]))
    with pytest.raises(UnmaskError, match="l is 0"):
        criteria.l_recursive(np.array([[1, 1]]), l=0)


# ----------------------------------------------------------------------------------------------- identity


def test_journalist_average_takes_the_larger_of_its_two_terms():
    # El Emam 2013: max(J / sum N, (1/n) sum n/N)
    risk = criteria.journalist(np.array([10, 1]), np.array([10, 100]))
    assert risk.maximum == pytest.approx(1 / 10)
    assert risk.average == pytest.approx((1 + 1 / 100) / 11)
    assert criteria.journalist(np.array([1, 3]), np.array([4, 6])).average == pytest.approx(2 / 10)
    assert criteria.marketer(np.array([1, 3]), np.array([4, 6])) == pytest.approx((1 / 4 + 3 / 6) / 4)


def test_a_population_equal_to_the_release_gives_the_prosecutors_numbers():
    sizes = np.array([1, 2, 7])
    assert criteria.journalist(sizes, sizes) == criteria.prosecutor(sizes)


@pytest.mark.parametrize(("population", "words"), [([4, 0], "1 of 2 classes .* absent"), ([4, 2], "fewer rows")])
def test_a_population_without_the_people_of_the_release_is_refused(population, words):
    with pytest.raises(UnmaskError, match=words):
        criteria.journalist(np.array([1, 3]), np.array(population))
    with pytest.raises(UnmaskError, match=words):
        criteria.marketer(np.array([1, 3]), np.array(population))


@pytest.mark.parametrize("F_over_f", [1.0, 1.0005, 1.5, 2.0, 3.17, 10.0, 400.0])
@pytest.mark.parametrize("f", [1, 2, 3, 5, 29, 30, 200])
def test_sample_weight_risk_is_the_posterior_mean_of_one_over_F(f, F_over_f):
    # F given f is f + negative binomial (f, p): E[1/F] = int_0^1 t^(f-1) (p / (1 - (1-p) t))^f dt
    p = Fraction(1 / F_over_f)
    t, weight = np.polynomial.legendre.leggauss(400)
    t, weight = (t + 1) / 2, weight / 2
    t, weight = 1 - (1 - t) ** 4, weight * 4 * (1 - t) ** 3  # the integrand is steep at 1
    expected = weight @ (t ** (f - 1) * (float(p) / (1 - float(1 - p) * t)) ** f)
    actual = criteria.sample_weight_risk(np.array([f]), np.array([f * F_over_f]))
    assert actual[0] == pytest.approx(expected, rel=1e-9)


def test_sample_weight_risk_has_the_published_values():
    result = criteria.sample_weight_risk(np.array([3]), np.array([108.0]))
    assert result == pytest.approx(0.01355297, abs=1e-8)  # sdcMicro, tests of indivRisk
    frequency = np.array([1, 2, 3, 8])
    assert criteria.sample_weight_risk(frequency, frequency.astype(float)) == pytest.approx(1 / frequency)
    with pytest.raises(UnmaskError, match="1 population estimates are below"):
        criteria.sample_weight_risk(np.array([3]), np.array([2.0]))


# ----------------------------------------------------------------------------------------------- tables


def test_two_sensitive_columns_are_judged_apart_and_the_weakest_leads():
    people = table(
        {"zip": ["1", "1", "2", "2"], "ill": ["a", "b", "a", "b"], "pay": ["x", "x", "x", "y"]},
        quasi_identifiers="zip",
        sensitive=["ill", "pay"],
    )
    result = criteria.evaluate(people)
    assert (result.columns["ill"].l_distinct, result.columns["pay"].l_distinct) == (2, 1)
    assert result.l_distinct == 1
    assert result.t_equal == result.columns["pay"].t_equal == 0.25
    assert result.columns["ill"].t_equal == 0
    assert criteria.evaluate(people, sensitive="ill").l_distinct == 2
    assert list(criteria.evaluate(people, sensitive=["pay"]).columns) == ["pay"]


def test_without_a_sensitive_column_only_identity_is_judged():
    result = criteria.evaluate(table({"zip": ["1", "1", "2"]}, quasi_identifiers="zip"))
    assert (result.k, result.unique_rows, result.classes, result.rows) == (1, 1, 2, 3)
    assert result.l_distinct is None
    assert result.t_equal is None
    assert result.columns == {}


def test_the_ordered_distance_needs_an_order():
    people = {"zip": ["1", "1", "2", "2"], "grade": ["low", "high", "mid", "high"]}
    roles = {"quasi_identifiers": "zip", "sensitive": "grade"}
    assert criteria.evaluate(table(people, **roles)).t_ordered is None
    ranked = table(people, **roles, orders={"grade": ["low", "mid", "high"]})
    # p = (1/2, 0, 1/2), q = (1/4, 1/4, 1/2): cumulative gaps 1/4 and 0, over m - 1 = 2
    assert criteria.evaluate(ranked).t_ordered == pytest.approx(0.125)
    gap = table({**people, "grade": ["low", "", "mid", "high"]}, **roles, orders={"grade": ["low", "mid", "high"]})
    assert criteria.evaluate(gap).t_ordered is None
    assert criteria.evaluate(gap).l_distinct == 2  # a missing sensitive cell is a value of its own


def test_numeric_sensitive_values_are_ranked_by_number_and_not_by_text():
    people = {"zip": ["1"] * 3 + ["2"] * 3, "pay": ["9", "10", "100", "9", "10", "100"]}
    roles = {"quasi_identifiers": "zip", "sensitive": "pay"}
    assert criteria.evaluate(table(people, **roles)).t_ordered == 0
    people["pay"] = ["9", "9", "10", "100", "100", "10"]  # p = (2/3, 1/3, 0), q uniform
    assert criteria.evaluate(table(people, **roles)).t_ordered == pytest.approx((1 / 3 + 1 / 3) / 2)


def test_the_hierarchical_distance_reads_the_columns_tree_whatever_the_order_of_its_leaves():
    paths = [("flu", "lung", "*"), ("ulcer", "stomach", "*"), ("asthma", "lung", "*"), ("gastritis", "stomach", "*")]
    people = {"zip": ["1", "1", "2", "2"], "ill": ["flu", "asthma", "ulcer", "gastritis"]}
    for order in (paths, paths[::-1]):
        tree = Hierarchy.from_paths(order)
        result = criteria.evaluate(table(people, quasi_identifiers="zip", sensitive="ill", hierarchies={"ill": tree}))
        assert result.t_hierarchical == pytest.approx(0.5)  # TV is 1/2 at both heights
    people["ill"] = ["flu", "ulcer", "asthma", "gastritis"]  # each class has one of each branch: TV 1/2, then 0
    result = criteria.evaluate(table(people, quasi_identifiers="zip", sensitive="ill", hierarchies={"ill": tree}))
    assert result.t_hierarchical == pytest.approx(0.25)


WITH_GAPS = {"zip": ["1", "1", "2", ""], "age": ["30", "30", "30", "30"], "ill": ["a", "b", "a", "c"]}


@pytest.mark.parametrize(
    ("policy", "rows", "classes", "k", "unique", "average", "excluded"),
    [
        ("own", 4, 3, 1, 2, 3 / 4, 0),
        ("excluded", 3, 2, 1, 1, 2 / 3, 1),
        # candidates: rows of zip 1 have 3, of zip 2 have 2, the row with the gap 4
        ("wildcard", 4, 3, 2, 0, (1 / 3 + 1 / 3 + 1 / 2 + 1 / 4) / 4, 0),
    ],
)
def test_missing_cells_follow_the_stated_policy(policy, rows, classes, k, unique, average, excluded):
    people = table(WITH_GAPS, quasi_identifiers=["zip", "age"], sensitive="ill", missing=policy)
    result = criteria.evaluate(people)
    assert (result.rows, result.classes, result.k, result.unique_rows) == (rows, classes, k, unique)
    assert result.prosecutor_average == pytest.approx(average)
    assert (result.missing, result.rows_missing, result.rows_excluded) == (policy, 1, excluded)
    assert result.l_distinct == {"own": 1, "excluded": 1, "wildcard": 2}[policy]


def test_wildcards_against_every_pair_of_rows():
    rng = np.random.default_rng(11)
    cells = rng.integers(0, 3, (60, 3)).astype(str)
    cells[rng.random((60, 3)) < 0.2] = ""
    ill = rng.integers(0, 4, 60)
    columns = {name: cells[:, j].tolist() for j, name in enumerate("abc")} | {"ill": ill.astype(str).tolist()}
    weight = rng.uniform(1, 5, 60)
    people = table(columns, quasi_identifiers=list("abc"), sensitive="ill", missing="wildcard")
    fits = np.all((cells[:, None] == cells) | (cells[:, None] == "") | (cells == ""), axis=2)
    counts = fits.astype(int) @ np.eye(4, dtype=int)[ill]
    result = criteria.evaluate(replace(people, weight=weight))
    assert result.k == fits.sum(axis=1).min()
    assert result.prosecutor_average == pytest.approx((1 / fits.sum(axis=1)).mean())
    assert result.l_distinct == (counts > 0).sum(axis=1).min()
    assert result.map_error == pytest.approx(1 - (counts.max(axis=1) / counts.sum(axis=1)).mean())
    q = np.bincount(ill) / 60
    p = counts / counts.sum(axis=1, keepdims=True)
    assert result.t_equal == pytest.approx(0.5 * np.abs(p - q).sum(axis=1).max())
    risk = criteria.sample_weight_risk(fits.sum(axis=1), fits @ weight)
    assert result.individual_risk_average == pytest.approx(risk.mean())
    assert result.individual_risk_max == pytest.approx(risk.max())


def test_a_table_whose_rows_are_all_excluded_is_refused():
    people = table({"zip": ["", ""], "age": ["1", "2"]}, quasi_identifiers=["zip", "age"], missing="excluded")
    with pytest.raises(UnmaskError, match="every row has a missing"):
        criteria.evaluate(people)


def test_a_population_is_matched_by_the_meaning_of_cells():
    release = table(
        {"age": ["[20, 30)", "[20, 30)", "[30, 40)"], "sex": ["f", "f", "*"]}, quasi_identifiers=["age", "sex"]
    )
    register = table(
        {"age": ["20", "25", "29", "30", "39", "41"], "sex": ["f", "f", "m", "m", "f", "f"]},
        quasi_identifiers=["age", "sex"],
    )
    sizes = criteria.population_sizes(release, register)
    assert dict(zip(release.classes.sizes.tolist(), sizes.tolist(), strict=True)) == {2: 2, 1: 2}
    result = criteria.evaluate(release, population=register)
    assert result.journalist_max == pytest.approx(1 / 2)
    assert result.marketer == pytest.approx((2 / 2 + 1 / 2) / 3)
    with pytest.raises(UnmaskError, match="absent from the population"):
        criteria.evaluate(release, population=register.take(np.array([0, 1, 5])))


def test_overlapping_classes_count_a_person_in_each():
    release = table({"age": ["[20, 30]", "[25, 40]"]}, quasi_identifiers="age")
    register = table({"age": ["20", "27", "27", "40"]}, quasi_identifiers="age")
    assert criteria.population_sizes(release, register).tolist() == [3, 3]


# ----------------------------------------------------------------------------------------------- Adult


def test_adult_reference_values():
    # measured by ARX, openmed and own code alike: 6,072 classes, 3,187 uniques, average prosecutor risk 0.2013
    adult = datasets.adult()
    result = criteria.evaluate(adult)
    assert (result.rows, result.classes, result.unique_rows, result.k) == (30_162, 6_072, 3_187, 1)
    assert result.prosecutor_average == pytest.approx(6_072 / 30_162)
    assert result.prior_error == pytest.approx(1 - 0.1339, abs=5e-5)  # most common occupation
    assert result.average_privacy_risk == 1 - result.map_error


@pytest.mark.skipif(not os.environ.get("UNMASK_DATA"), reason="UNMASK_DATA names no folder with the data")
@pytest.mark.parametrize(("k", "classes"), [(3, 2_837), (10, 462), (20, 89)])
def test_published_releases_have_the_k_of_their_name(k, classes):
    path = Path(os.environ["UNMASK_DATA"]) / f"tables/adult/releases/adult_k{k}.csv.gz"
    quasi_identifiers = ["age", "education", "occupation", "relationship", "sex", "native-country"]
    result = criteria.evaluate(Table.read(path, quasi_identifiers=quasi_identifiers, sensitive="salary-class"))
    assert result.classes == classes
    assert result.k == k
