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


def compare(before, after, origin=None, *, sensitive=(), orders=None, hierarchies=None, **settings):
    how = {"sensitive": sensitive, "orders": orders, "hierarchies": hierarchies}
    original, release = table(before, **how), table(after, **how)
    rows = np.arange(release.n_rows) if origin is None else np.array(origin)
    return utility.evaluate(original, release, rows, **settings)


def test_an_untouched_table_loses_nothing():
    people = datasets.adult()
    release, origin = Identity()(people, rng=np.random.default_rng(1))
    found = utility.evaluate(people, release, origin)
    assert found.gcp == 0
    assert set(found.ncp.values()) == set(found.distortion.values()) == {0.0}
    assert max(found.marginal_distance.values()) == pytest.approx(0, abs=1e-12)
    assert max(found.pairwise_distance.values()) == pytest.approx(0, abs=1e-12)
    assert found.query_error == pytest.approx(0, abs=1e-12)
    assert (found.suppressed_rows, found.suppressed_cells) == (0, 0)
    assert found.discernibility == int((people.classes.sizes**2).sum())
    assert set(found.precision.values()) == {None}
    assert list(found.pairwise_distance) == list(combinations([*found.ncp, "occupation"], 2))


def test_the_loss_of_information_is_the_same_without_the_rest():
    people = datasets.adult()
    release, origin = Mondrian(k=50)(people, rng=np.random.default_rng(1))
    some = np.arange(0, release.n_rows, 2)
    part, rows = release.take(some), origin[some]
    told = vars(utility.information_loss(people, part, rows, k=10))
    assert told == {name: getattr(utility.evaluate(people, part, rows, k=10), name) for name in told}


def test_ncp_is_a_share_of_the_originals_range_and_of_the_domain():
    before = {"age": [20, 30, 40, 60], "job": ["a", "b", "c", "d"]}
    after = {"age": ["20-30", "30", "*", "[10, 100]"], "job": ["{a, b}", "b", "*", "{b, c, d}"]}
    found = compare(before, after)
    assert found.ncp["age"] == pytest.approx((10 / 40 + 0 + 1 + 1) / 4)  # bounds cut to 20 and 60
    assert found.ncp["job"] == pytest.approx((2 / 4 + 0 + 1 + 3 / 4) / 4)
    assert found.gcp == pytest.approx((found.ncp["age"] + found.ncp["job"]) / 2)
    assert found.suppressed_cells == 3


def test_ncp_counts_the_leaves_of_the_hierarchy():
    tree = Hierarchy.from_paths([("flu", "lung", "*"), ("asthma", "lung", "*"), ("ulcer", "belly", "*")])
    before = {"ill": ["flu", "asthma", "ulcer"]}
    found = compare(before, {"ill": ["lung", "lung", "ulcer"]}, hierarchies={"ill": tree})
    assert found.ncp["ill"] == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert found.precision["ill"] == pytest.approx(1 - (1 / 2 + 1 / 2 + 0) / 3)
    gone = compare(before, {"ill": ["*"]}, [2], hierarchies={"ill": tree})
    assert gone.precision["ill"] == pytest.approx(0)  # one cell at the root, two rows suppressed
    # a set that is no node is as high as the lowest node above it
    mixed = compare(before, {"ill": ["flu", "{asthma, ulcer}", "ulcer"]}, hierarchies={"ill": tree})
    assert mixed.precision["ill"] == pytest.approx(1 - 1 / 3)


def test_suppressed_rows_are_rows_of_stars():
    before = {"age": [0, 1, 2, 3], "job": ["a", "a", "b", "b"]}
    short = compare(before, {"age": [0, 1], "job": ["a", "a"]}, [0, 1])
    stars = compare(before, {"age": ["0", "1", "*", "*"], "job": ["a", "a", "*", "*"]})
    assert (short.suppressed_rows, short.released_rows, short.suppressed_cells) == (2, 2, 0)
    assert (stars.suppressed_rows, stars.released_rows, stars.suppressed_cells) == (0, 4, 4)
    for name in ("ncp", "gcp", "distortion", "marginal_distance", "pairwise_distance", "query_error"):
        assert getattr(short, name) == pytest.approx(getattr(stars, name))
    assert short.discernibility == 1 + 1 + 2 * 4
    assert short.average_class_size == 1  # 2 rows, 2 classes, k = 1: suppressed rows do not count


def test_everything_suppressed_is_the_worst_release():
    before = {"age": [0, 1, 2, 3], "job": ["a", "a", "b", "b"]}
    people = table(before)
    found = utility.evaluate(people, people.take(np.zeros(0, dtype=np.int64)), np.zeros(0, dtype=np.int64))
    assert found.gcp == 1
    assert found.average_class_size is None
    assert found.discernibility == 4 * 4
    assert found.released_rows == 0


def test_average_class_size_in_units_of_k():
    before = {"age": [1, 2, 3, 4, 5, 6]}
    after = {"age": ["1-2", "1-2", "3-6", "3-6", "3-6", "3-6"]}
    assert compare(before, after).average_class_size == 6 / (2 * 2)
    assert compare(before, after, k=1).average_class_size == 3
    assert compare(before, after).discernibility == 4 + 16
    with pytest.raises(UnmaskError, match="k is 0"):
        compare(before, after, k=0)


def test_distortion_is_the_mean_distance_to_a_uniform_draw():
    before = {"age": [0, 4, 10], "job": ["a", "b", "c"], "grade": ["low", "mid", "high"]}
    after = {"age": ["0-4", "*", "10"], "job": ["{a, b}", "b", "a"], "grade": ["{low, mid}", "high", "*"]}
    found = compare(before, after, orders={"grade": ["low", "mid", "high"]})
    # age: 0 against {0, 4}; 4 against {0, 4, 10}; 10 against 10 - over a range of 10
    assert found.distortion["age"] == pytest.approx((2 + (4 + 0 + 6) / 3 + 0) / 10 / 3)
    assert found.distortion["job"] == pytest.approx((1 / 2 + 0 + 1) / 3)
    # grade, in ranks over 2: low against {low, mid}; mid against high; high against all
    assert found.distortion["grade"] == pytest.approx((0.5 + 1 + (2 + 1 + 0) / 3) / 2 / 3)


def test_a_missing_cell_costs_everything_unless_it_was_missing():
    before = {"age": ["0", "", "2", "4"], "job": ["a", "", "b", "a"]}
    after = {"age": ["0", "", "", "4"], "job": ["a", "", "", "a"]}
    found = compare(before, after)
    assert found.ncp == {"age": 0.25, "job": 0.25}
    assert found.distortion == {"age": 0.25, "job": 0.25}
    assert found.suppressed_cells == 2
    assert found.marginal_distance == {"age": 0.25, "job": 0.25}


def test_marginal_and_pairwise_distances_spread_cells_over_their_atoms():
    before = {"age": [1, 1, 2, 3], "job": ["a", "b", "b", "b"]}
    after = {"age": ["1-2", "1-2", "1-2", "3"], "job": ["a", "b", "b", "b"]}
    found = compare(before, after)
    assert found.marginal_distance["age"] == pytest.approx(0.5 * (0.5 + 0.5) / 4)
    assert found.marginal_distance["job"] == pytest.approx(0)
    # before: 1a 1, 1b 1, 2b 1, 3b 1; after: 1a .5, 2a .5, 1b 1, 2b 1, 3b 1
    assert found.pairwise_distance["age", "job"] == pytest.approx(0.5 * (0.5 + 0.5) / 4)


def test_changed_values_outside_the_original_domain_are_atoms_of_their_own():
    found = compare({"age": [1, 2], "job": ["a", "b"]}, {"age": ["1", "7.5"], "job": ["a", "z"]})
    assert found.marginal_distance == {"age": 0.5, "job": 0.5}
    assert found.distortion["job"] == 0.5
    assert found.ncp == {"age": 0.5, "job": 0.5}


def test_a_cell_that_was_moved_costs_its_distance_and_never_more_than_a_hidden_one():
    people = {"age": [10, 20, 30, 50], "job": list("aabc")}
    moved = {"age": ["14", "[30, 40]", "30", "9000"], "job": ["a", "{b, c}", "b", "a"]}

    found = compare(people, moved)

    # ages: 4 / 40; a fourth of the range open, and 10 to 20, 15 on average, away; exact; 1 at most
    assert found.ncp["age"] == pytest.approx((0.1 + 0.25 + 10 / 40 + 0 + 1) / 4)
    assert found.ncp["job"] == pytest.approx((0 + 1 + 0 + 1) / 4)


def test_more_noise_never_leaves_more():
    rng = np.random.default_rng(0)
    people = Table.read(
        {"age": rng.integers(20, 80, 300), "pay": rng.normal(100, 15, 300)}, quasi_identifiers=["age", "pay"]
    )
    noise = rng.normal(size=(2, 300))
    left = []
    for sd in (0, 0.1, 1, 10, 100, 1000):
        cells = {"age": people.quasi_identifiers[0].levels.low[people.quasi_identifiers[0].codes] + sd * noise[0]}
        cells["pay"] = people.quasi_identifiers[1].levels.low[people.quasi_identifiers[1].codes] + sd * noise[1]
        left.append(
            1 - utility.evaluate(people, Table.read(cells, quasi_identifiers=["age", "pay"]), np.arange(300)).gcp
        )
    assert left[0] == 1
    assert left == sorted(left, reverse=True)
    assert left[-1] < 0.1


def test_sensitive_columns_count_in_distributions_and_not_in_losses():
    found = compare({"age": [1, 2], "ill": ["a", "b"]}, {"age": [1, 2], "ill": ["b", "b"]}, sensitive=["ill"])
    assert found.marginal_distance == {"age": 0, "ill": 0.5}
    assert list(found.ncp) == ["age"]
    assert found.gcp == 0


def test_a_release_of_stars_is_read_whatever_the_kind_of_the_original():
    found = compare(
        {"age": [1, 2, 3], "grade": ["b", "a", "c"], "job": ["x", "y", "y"]},
        {"age": ["*"] * 3, "grade": ["*"] * 3, "job": ["*"] * 3},
    )
    assert found.ncp == {"age": 1, "grade": 1, "job": 1}
    assert found.suppressed_cells == 9
    assert found.marginal_distance["job"] == pytest.approx(1 / 6)
    assert found.marginal_distance["age"] == pytest.approx(0)


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
    found = compare({"age": ages, "job": jobs}, {"age": after_age, "job": after_job}, keep)
    for share in (found.gcp, *found.ncp.values(), *found.distortion.values(), *found.marginal_distance.values()):
        assert -1e-12 <= share <= 1 + 1e-12
    assert -1e-12 <= found.pairwise_distance["age", "job"] <= 1 + 1e-12
    # a pair of columns differs at least as much as either of them (data processing)
    assert found.pairwise_distance["age", "job"] >= max(found.marginal_distance.values()) - 1e-12


def test_large_domains_are_compared_on_bins():
    rng = np.random.default_rng(2)
    income = np.round(rng.lognormal(size=5_000), 6)
    zips = rng.integers(0, 3_000, 5_000)
    before = {"income": income, "zip": [f"z{v}" for v in zips]}
    same = compare(before, before)
    assert max(same.marginal_distance.values()) == pytest.approx(0, abs=1e-12)
    assert same.pairwise_distance["income", "zip"] == pytest.approx(0, abs=1e-12)
    order = np.argsort(income)
    halves = np.empty(5_000, dtype=object)
    low, high = order[:2_500], order[2_500:]
    halves[low] = f"[{income[low].min()}, {income[low].max()}]"
    halves[high] = f"[{income[high].min()}, {income[high].max()}]"
    cut = compare(before, {**before, "income": halves.tolist()})
    assert cut.marginal_distance["income"] < 0.02  # uniform over atoms of equal count: the marginal survives
    assert cut.pairwise_distance["income", "zip"] > 0.5


def test_query_error_grows_with_k_and_follows_its_seed():
    people = datasets.adult()
    errors = []
    for k in (3, 100):
        release, origin = Mondrian(k=k)(people, rng=np.random.default_rng(1))
        errors.append(utility.evaluate(people, release, origin).query_error)
        again = utility.evaluate(people, release, origin, rng=np.random.default_rng(0)).query_error
        other = utility.evaluate(people, release, origin, rng=np.random.default_rng(9)).query_error
        assert again == errors[-1] != other
    assert 0 < errors[0] < errors[1] < 1


@pytest.mark.parametrize("columns", [["job"], ["job", "age"]])
def test_query_error_by_hand(columns):
    # one value each, so that every query asks for all 4 rows; one of them is blanked: 3 for 4
    before, after = {"job": ["a"] * 4, "age": [5] * 4}, {"job": ["a", "a", "a", ""], "age": [5] * 4}
    found = compare({name: before[name] for name in columns}, {name: after[name] for name in columns})
    assert found.query_error == pytest.approx(1 / 4)
    with pytest.raises(UnmaskError, match="queries is 0"):
        compare(before, after, queries=0)


def test_mondrian_on_adult_loses_what_the_reference_loses():
    # 25 lines of NumPy with the nearest allowable cut: 1,343 classes, NCP 2.4 % at k = 10
    people = datasets.adult()
    release, origin = Mondrian(k=10)(people, rng=np.random.default_rng(1))
    found = utility.evaluate(people, release, origin)
    assert 0.01 < found.gcp < 0.04
    assert found.class_size >= 10
    assert found.average_class_size < 5


def test_suppressing_small_classes_is_counted():
    people = datasets.adult()
    release, origin = Suppress(k=2)(people, rng=np.random.default_rng(1))
    found = utility.evaluate(people, release, origin)
    assert found.suppressed_rows == 3_187  # the unique rows of Adult
    assert found.gcp == pytest.approx(3_187 / 30_162)
    assert found.discernibility == int((people.classes.sizes**2).sum()) - 3_187 + 3_187 * 30_162


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
    names = [f"c{at}" for at in range(40)]
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
    some = np.arange(250)
    as_arrays = utility.evaluate(table, release.take(some), origin[some])
    monkeypatch.setattr("unmask.tables.utility.columns._FEW", 0)
    as_sparse = utility.evaluate(table, release.take(some), origin[some])
    for pair, distance in as_arrays.pairwise_distance.items():
        assert as_sparse.pairwise_distance[pair] == pytest.approx(distance, abs=1e-12)
    assert as_sparse.query_error == pytest.approx(as_arrays.query_error, abs=1e-12)
