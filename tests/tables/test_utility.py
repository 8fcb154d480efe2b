"""Utility measures against their definitions, cell by cell."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.core.errors import UnmaskError
from unmask.tables import datasets, utility
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.protections.generalization import Identity
from unmask.tables.protections.mondrian import Mondrian
from unmask.tables.protections.suppression import Suppress
from unmask.tables.table import Table
from unmask.tables.utility import evaluation


def table(columns, *, sensitive=(), **settings):
    names = [name for name in columns if name not in sensitive]
    return Table.read(columns, quasi_identifiers=names, sensitive=sensitive, **settings)


def compare(initial, after, origin=None, *, sensitive=(), orders=None, hierarchies=None, **settings):
    options = {"sensitive": sensitive, "orders": orders, "hierarchies": hierarchies}
    original, release = table(initial, **options), table(after, **options)
    rows = np.arange(release.n_rows) if origin is None else np.array(origin)
    return utility.evaluate(original, release, rows, **settings)


def test_an_untouched_table_loses_nothing():
    people = datasets.adult()
    release, origin = Identity()(people, rng=np.random.default_rng(1))
    result = utility.evaluate(people, release, origin)
    assert result.gcp == 0
    assert set(result.ncp.values()) == {0.0}
    assert max(result.marginal_distance.values()) == pytest.approx(0, abs=1e-12)
    assert max(result.pairwise_distance.values()) == pytest.approx(0, abs=1e-12)
    assert result.query_error == pytest.approx(0, abs=1e-12)
    assert result.discernibility == int((people.classes.sizes**2).sum())
    assert set(result.precision.values()) == {None}
    assert list(result.pairwise_distance) == list(combinations([*result.ncp, "occupation"], 2))


def test_the_loss_of_information_is_the_same_without_the_rest():
    people = datasets.adult()
    release, origin = Mondrian(k=50)(people, rng=np.random.default_rng(1))
    rows_chosen = np.arange(0, release.n_rows, 2)
    part, rows = release.take(rows_chosen), origin[rows_chosen]
    losses = vars(utility.information_loss(people, part, rows))
    assert losses == {name: getattr(utility.evaluate(people, part, rows), name) for name in losses}


def test_ncp_is_a_share_of_the_originals_range_and_of_the_domain():
    original = {"age": [20, 30, 40, 60], "job": ["a", "b", "c", "d"]}
    after = {"age": ["20-30", "30", "*", "[10, 100]"], "job": ["{a, b}", "b", "*", "{b, c, d}"]}
    comparison = compare(original, after)
    assert comparison.ncp["age"] == pytest.approx((10 / 40 + 0 + 1 + 1) / 4)  # bounds cut to 20 and 60
    assert comparison.ncp["job"] == pytest.approx((2 / 4 + 0 + 1 + 3 / 4) / 4)
    assert comparison.gcp == pytest.approx((comparison.ncp["age"] + comparison.ncp["job"]) / 2)


def test_ncp_counts_the_leaves_of_the_hierarchy():
    tree = Hierarchy.from_paths([("flu", "lung", "*"), ("asthma", "lung", "*"), ("ulcer", "belly", "*")])
    original = {"ill": ["flu", "asthma", "ulcer"]}
    comparison = compare(original, {"ill": ["lung", "lung", "ulcer"]}, hierarchies={"ill": tree})
    assert comparison.ncp["ill"] == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert comparison.precision["ill"] == pytest.approx(1 - (1 / 2 + 1 / 2 + 0) / 3)
    suppressed = compare(original, {"ill": ["*"]}, [2], hierarchies={"ill": tree})
    assert suppressed.precision["ill"] == pytest.approx(0)  # one cell at the root, two rows suppressed
    # a set that is no node is as high as the lowest node above it
    mixed = compare(original, {"ill": ["flu", "{asthma, ulcer}", "ulcer"]}, hierarchies={"ill": tree})
    assert mixed.precision["ill"] == pytest.approx(1 - 1 / 3)


def test_suppressed_rows_are_rows_of_stars():
    original = {"age": [0, 1, 2, 3], "job": ["a", "a", "b", "b"]}
    short = compare(original, {"age": [0, 1], "job": ["a", "a"]}, [0, 1])
    stars = compare(original, {"age": ["0", "1", "*", "*"], "job": ["a", "a", "*", "*"]})
    for name in ("ncp", "gcp", "marginal_distance", "pairwise_distance", "query_error"):
        assert getattr(short, name) == pytest.approx(getattr(stars, name))
    assert short.discernibility == 1 + 1 + 2 * 4


def test_everything_suppressed_is_the_worst_release():
    original = {"age": [0, 1, 2, 3], "job": ["a", "a", "b", "b"]}
    people = table(original)
    result = utility.evaluate(people, people.take(np.zeros(0, dtype=np.int64)), np.zeros(0, dtype=np.int64))
    assert result.gcp == 1
    assert result.discernibility == 4 * 4


def test_a_missing_cell_costs_everything_unless_it_was_missing():
    original = {"age": ["0", "", "2", "4"], "job": ["a", "", "b", "a"]}
    after = {"age": ["0", "", "", "4"], "job": ["a", "", "", "a"]}
    comparison = compare(original, after)
    assert comparison.ncp == {"age": 0.25, "job": 0.25}
    assert comparison.marginal_distance == {"age": 0.25, "job": 0.25}


def test_marginal_and_pairwise_distances_spread_cells_over_their_atoms():
    original = {"age": [1, 1, 2, 3], "job": ["a", "b", "b", "b"]}
    after = {"age": ["1-2", "1-2", "1-2", "3"], "job": ["a", "b", "b", "b"]}
    comparison = compare(original, after)
    assert comparison.marginal_distance["age"] == pytest.approx(0.5 * (0.5 + 0.5) / 4)
    assert comparison.marginal_distance["job"] == pytest.approx(0)
    # before: 1a 1, 1b 1, 2b 1, 3b 1; after: 1a .5, 2a .5, 1b 1, 2b 1, 3b 1
    assert comparison.pairwise_distance["age", "job"] == pytest.approx(0.5 * (0.5 + 0.5) / 4)


def test_changed_values_outside_the_original_domain_are_atoms_of_their_own():
    comparison = compare({"age": [1, 2], "job": ["a", "b"]}, {"age": ["1", "7.5"], "job": ["a", "z"]})
    assert comparison.marginal_distance == {"age": 0.5, "job": 0.5}
    assert comparison.ncp == {"age": 0.5, "job": 0.5}


def test_a_cell_that_was_moved_costs_its_distance_and_never_more_than_a_hidden_one():
    people = {"age": [10, 20, 30, 50], "job": list("aabc")}
    noisy = {"age": ["14", "[30, 40]", "30", "9000"], "job": ["a", "{b, c}", "b", "a"]}

    comparison = compare(people, noisy)

    # ages: 4 / 40; a fourth of the range open, and 10 to 20, 15 on average, away; exact; 1 at most
    assert comparison.ncp["age"] == pytest.approx((0.1 + 0.25 + 10 / 40 + 0 + 1) / 4)
    assert comparison.ncp["job"] == pytest.approx((0 + 1 + 0 + 1) / 4)


def test_more_noise_never_leaves_more():
    rng = np.random.default_rng(0)
    people = Table.read(
        {"age": rng.integers(20, 80, 300), "pay": rng.normal(100, 15, 300)}, quasi_identifiers=["age", "pay"]
    )
    noise = rng.normal(size=(2, 300))
    utilities = []
    for sd in (0, 0.1, 1, 10, 100, 1000):
        cells = {"age": people.quasi_identifiers[0].levels.low[people.quasi_identifiers[0].codes] + sd * noise[0]}
        cells["pay"] = people.quasi_identifiers[1].levels.low[people.quasi_identifiers[1].codes] + sd * noise[1]
        utilities.append(
            1 - utility.evaluate(people, Table.read(cells, quasi_identifiers=["age", "pay"]), np.arange(300)).gcp
        )
    assert utilities[0] == 1
    assert utilities == sorted(utilities, reverse=True)
    assert utilities[-1] < 0.1


def test_sensitive_columns_count_in_distributions_and_not_in_losses():
    comparison = compare({"age": [1, 2], "ill": ["a", "b"]}, {"age": [1, 2], "ill": ["b", "b"]}, sensitive=["ill"])
    assert comparison.marginal_distance == {"age": 0, "ill": 0.5}
    assert list(comparison.ncp) == ["age"]
    assert comparison.gcp == 0


def test_a_release_of_stars_is_read_whatever_the_kind_of_the_original():
    comparison = compare(
        {"age": [1, 2, 3], "grade": ["b", "a", "c"], "job": ["x", "y", "y"]},
        {"age": ["*"] * 3, "grade": ["*"] * 3, "job": ["*"] * 3},
    )
    assert comparison.ncp == {"age": 1, "grade": 1, "job": 1}
    assert comparison.marginal_distance["job"] == pytest.approx(1 / 6)
    assert comparison.marginal_distance["age"] == pytest.approx(0)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_every_share_stays_a_share(data):
    n = data.draw(st.integers(2, 12))
    ages = data.draw(st.lists(st.integers(-5, 5), min_size=n, max_size=n))
    jobs = data.draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    keep = data.draw(st.lists(st.integers(0, n - 1), unique=True, min_size=1, max_size=n))
    wide = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    after_age = [f"[{ages[i] - wide[i]}, {ages[i] + wide[i]}]" for i in keep]
    after_job = ["*" if wide[i] > 2 else jobs[i] for i in keep]
    comparison = compare({"age": ages, "job": jobs}, {"age": after_age, "job": after_job}, keep)
    for share in (
        comparison.gcp,
        *comparison.ncp.values(),
        *comparison.marginal_distance.values(),
    ):
        assert -1e-12 <= share <= 1 + 1e-12
    assert -1e-12 <= comparison.pairwise_distance["age", "job"] <= 1 + 1e-12
    # a pair of columns differs at least as much as either of them (data processing)
    assert comparison.pairwise_distance["age", "job"] >= max(comparison.marginal_distance.values()) - 1e-12


def test_large_domains_are_compared_on_bins():
    rng = np.random.default_rng(2)
    income = np.round(rng.lognormal(size=5_000), 6)
    zips = rng.integers(0, 3_000, 5_000)
    original = {"income": income, "zip": [f"z{v}" for v in zips]}
    unchanged = compare(original, original)
    assert max(unchanged.marginal_distance.values()) == pytest.approx(0, abs=1e-12)
    assert unchanged.pairwise_distance["income", "zip"] == pytest.approx(0, abs=1e-12)
    order = np.argsort(income)
    halves = np.empty(5_000, dtype=object)
    low, high = order[:2_500], order[2_500:]
    halves[low] = f"[{income[low].min()}, {income[low].max()}]"
    halves[high] = f"[{income[high].min()}, {income[high].max()}]"
    cut = compare(original, {**original, "income": halves.tolist()})
    assert cut.marginal_distance["income"] < 0.02  # uniform over atoms of equal count: the marginal survives
    assert cut.pairwise_distance["income", "zip"] > 0.5


def test_query_error_grows_with_k_and_follows_its_seed():
    people = datasets.adult()
    errors = []
    for k in (3, 100):
        release, origin = Mondrian(k=k)(people, rng=np.random.default_rng(1))
        errors.append(utility.evaluate(people, release, origin).query_error)
        again = utility.evaluate(people, release, origin, rng=np.random.default_rng(0)).query_error
        other_seed = utility.evaluate(people, release, origin, rng=np.random.default_rng(9)).query_error
        assert again == errors[-1] != other_seed
    assert 0 < errors[0] < errors[1] < 1


@pytest.mark.parametrize("columns", [["job"], ["job", "age"]])
def test_query_error_by_hand(columns):
    # one value each, so that every query asks for all 4 rows; one of them is blanked: 3 for 4
    original, after = {"job": ["a"] * 4, "age": [5] * 4}, {"job": ["a", "a", "a", ""], "age": [5] * 4}
    comparison = compare({name: original[name] for name in columns}, {name: after[name] for name in columns})
    assert comparison.query_error == pytest.approx(1 / 4)
    with pytest.raises(UnmaskError, match="queries is 0"):
        compare(original, after, queries=0)


def test_mondrian_on_adult_loses_what_the_reference_loses():
    # 25 lines of NumPy with the nearest allowable cut: 1,343 classes, NCP 2.4 % at k = 10
    people = datasets.adult()
    release, origin = Mondrian(k=10)(people, rng=np.random.default_rng(1))
    result = utility.evaluate(people, release, origin)
    assert 0.01 < result.gcp < 0.04


def test_suppressing_small_classes_is_counted():
    people = datasets.adult()
    release, origin = Suppress(k=2)(people, rng=np.random.default_rng(1))
    result = utility.evaluate(people, release, origin)
    assert result.gcp == pytest.approx(3_187 / 30_162)  # the unique rows of Adult
    assert result.discernibility == int((people.classes.sizes**2).sum()) - 3_187 + 3_187 * 30_162


@pytest.mark.parametrize(
    ("origin", "words"),
    [([0], r"origin has shape \(1,\), expected \(2,\)"), ([0, 2], "outside the 2 rows"), ([1, 1], "twice")],
)
def test_an_origin_that_does_not_fit_is_refused(origin, words):
    people = table({"age": [1, 2]})
    with pytest.raises(UnmaskError, match=words):
        utility.evaluate(people, people, np.array(origin))


def test_of_many_columns_only_pairs_that_are_asked_about_are_counted(monkeypatch):  # T17
    rng, counted = np.random.default_rng(0), []
    names = [f"c{index}" for index in range(40)]
    table = Table.read({name: rng.integers(0, 5, 30) for name in names}, quasi_identifiers=names)
    joint = evaluation.joint
    monkeypatch.setattr(evaluation, "joint", lambda a, b: counted.append(1) or joint(a, b))
    utility.evaluate(table, table, np.arange(30), queries=20)
    assert 780 < len(counted) <= 780 + 20  # every pair once for its association, and those of the queries


def test_few_levels_are_compared_as_many_are(monkeypatch):
    """Shares multiplied as arrays, and as sparse matrices, where some rows are not released."""
    rng = np.random.default_rng(3)
    table = Table.read(
        {"age": rng.integers(20, 60, 300), "town": rng.choice(list("abc"), 300)}, quasi_identifiers=["age", "town"]
    )
    release, origin = Mondrian(k=7)(table, rng=rng)
    rows_chosen = np.arange(250)
    as_arrays = utility.evaluate(table, release.take(rows_chosen), origin[rows_chosen])
    monkeypatch.setattr("unmask.tables.utility.column_loss._MAX_DENSE", 0)
    as_sparse = utility.evaluate(table, release.take(rows_chosen), origin[rows_chosen])
    for pair, distance in as_arrays.pairwise_distance.items():
        assert as_sparse.pairwise_distance[pair] == pytest.approx(distance, abs=1e-12)
    assert as_sparse.query_error == pytest.approx(as_arrays.query_error, abs=1e-12)
