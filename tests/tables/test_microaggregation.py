"""Microaggregation by MDAV, against its definition; and the adversary who simulates it."""

import statistics

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from unmask import FailedError, UnmaskError
from unmask.measures import log_loss_bits, realized_success, success_probability
from unmask.tables import Background, Knowledge, MechanismAttack, Microaggregate, NearestNeighbor, Table
from unmask.tables.attacks.reprotection import NearestClasses, conditional_logit, log_class_probabilities
from unmask.tables.protections.microaggregation import Euclid, mdav

NAMES = ("a", "b", "c")


def table_of(n, *, seed, whole_numbers=False):
    """Numbers that go together, and a column that is not a number."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=n)
    columns = {name: common + scale * rng.lognormal(size=n) for name, scale in zip(NAMES, (0.5, 2, 1), strict=True)}
    columns = {name: np.round(x, 0 if whole_numbers else 3) for name, x in columns.items()}
    return Table.read({**columns, "sex": rng.choice(["f", "m"], n)}, quasi_identifiers=NAMES, keep="sex")


# --- the protection ---------------------------------------------------------------------------------------------------


def literally(x, k):
    """The algorithm as it is written down, one distance after another."""
    ungrouped, groups = list(range(len(x))), []

    def away(i, point):
        return sum((x[i] - point) ** 2)

    def leave(around):
        group = sorted(ungrouped, key=lambda i: away(i, x[around]))[:k]
        groups.append(frozenset(group))
        ungrouped[:] = [i for i in ungrouped if i not in group]

    while len(ungrouped) >= 3 * k:
        center = x[ungrouped].mean(axis=0)
        first = max(ungrouped, key=lambda i: away(i, center))
        second = max(ungrouped, key=lambda i: away(i, x[first]))
        leave(first)
        leave(second)
    if len(ungrouped) >= 2 * k:
        center = x[ungrouped].mean(axis=0)
        leave(max(ungrouped, key=lambda i: away(i, center)))
    return {*groups, frozenset(ungrouped)}


@pytest.mark.parametrize("k", [2, 3, 5])
def test_groups_are_those_of_the_algorithm(k):
    rng = np.random.default_rng(k)
    for n in (*range(k, 6 * k), 97):
        x = rng.normal(size=(n, 1 + n % 3))
        group = mdav(x, k, Euclid())
        assert {frozenset(np.flatnonzero(group == g).tolist()) for g in np.unique(group)} == literally(x, k)


@pytest.mark.parametrize("whole_numbers", [False, True])
def test_groups_have_k_to_2k_less_one_also_where_many_are_equal(whole_numbers):
    rng = np.random.default_rng(0)
    for k in (2, 3, 7):
        for n in range(k, 50):
            x = rng.integers(0, 3, (n, 2)).astype(float) if whole_numbers else rng.normal(size=(n, 2))
            sizes = np.bincount(mdav(x, k, Euclid()))
            assert k <= sizes.min() <= sizes.max() <= 2 * k - 1


@pytest.mark.parametrize("whole_numbers", [False, True])
@pytest.mark.parametrize("k", [2, 3, 10])
def test_means_stay_and_everybody_is_one_of_k(k, whole_numbers):
    table = table_of(301, seed=1, whole_numbers=whole_numbers)
    release, origin = Microaggregate(k)(table, rng=np.random.default_rng(0))
    assert sorted(origin) == list(range(301))
    assert release.classes.sizes.min() >= k
    assert (release["sex"] == table["sex"][origin]).all()
    for name in NAMES:
        original, after = (np.array([float(cell) for cell in table[name]]) for table in (table, release))
        assert abs(original.mean() - after.mean()) < 1e-10
        for j in range(len(release.classes.sizes)):
            members = release.classes.of_row == j
            assert abs(original[origin[members]].mean() - after[members][0]) < 1e-10


def test_four_people_are_two_pairs():
    table = Table.read({"a": [1, 2, 9, 11], "b": [5, 7, 1, 0]}, quasi_identifiers=("a", "b"))
    release, origin = Microaggregate(2)(table, rng=np.random.default_rng(0))
    assert_array_equal(release["a"].astype(float)[np.argsort(origin)], [1.5, 1.5, 10, 10])
    assert_array_equal(release["b"].astype(float)[np.argsort(origin)], [6, 6, 0.5, 0.5])


@pytest.mark.parametrize("whole_numbers", [False, True])
def test_the_order_of_the_rows_says_nothing(whole_numbers):
    table = table_of(200, seed=2, whole_numbers=whole_numbers)
    shuffled = table.take(np.random.default_rng(0).permutation(200))
    first, second = (
        Microaggregate(3)(table_given, rng=np.random.default_rng(1))[0] for table_given in (table, shuffled)
    )
    for name in NAMES:
        assert (first[name] == second[name]).all()


def test_only_the_columns_named_are_averaged():
    table = table_of(50, seed=3)
    release, origin = Microaggregate(3, columns="b")(table, rng=np.random.default_rng(0))
    assert (release["a"] == table["a"][origin]).all()
    assert len(set(release["b"])) <= 50 // 3


def test_medians_are_those_of_the_groups():
    table = table_of(101, seed=4)
    release, origin = Microaggregate(3, aggregate="median")(table, rng=np.random.default_rng(0))
    assert release.classes.sizes.min() >= 3
    for name in NAMES:
        original, after = (np.array([float(cell) for cell in side[name]]) for side in (table, release))
        for j in range(len(release.classes.sizes)):
            members = release.classes.of_row == j
            assert after[members][0] == pytest.approx(np.median(original[origin[members]]), abs=1e-10)


def test_groups_of_strata_agree_in_them_so_that_k_holds():
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=120), "b": rng.normal(size=120), "region": rng.choice(["n", "s", "w"], 120)}
    table = Table.read(columns, quasi_identifiers=list(columns))
    plain, _ = Microaggregate(4)(table, rng=rng)
    release, origin = Microaggregate(4, strata="region")(table, rng=rng)
    assert plain.classes.sizes.min() < 4 <= release.classes.sizes.min()
    assert (release["region"] == table["region"][origin]).all()

    belief = MechanismAttack(Microaggregate(4, strata="region"))(release, Background(table, table), rng=rng)
    for person in range(20):
        rows = [record.candidate for record in belief.candidates(person)]
        assert {release["region"][row] for row in rows} == {table["region"][person]}


MIXED = ("age", "income", "grade", "job")
GRADES = ("low", "middle", "high")


def mixed_of(n, *, seed):
    """Two numbers, an ordered category, and one without an order."""
    rng = np.random.default_rng(seed)
    age = np.round(rng.normal(40, 10, n), 3)
    columns = {"age": age, "income": np.round(age + rng.normal(0, 30, n), 3), "grade": rng.choice(GRADES, n),
               "job": np.where(age > 40, "a", rng.choice(["b", "c"], n))}  # fmt: skip
    return Table.read(columns, quasi_identifiers=MIXED, orders={"grade": GRADES})


def gower(first, second, ranges):
    """Return the distance of two rows: differences in ranges for numbers and ranks, and 0 or 1 for jobs."""
    parts = [abs(a - b) / width for a, b, width in zip(first, second, ranges, strict=False)]
    return sum(parts) + (first[3] != second[3])


def center_of(rows, *, number=statistics.fmean):
    """Return means of the numbers, the lower median of the ranks, and the first of the most frequent jobs."""
    age, income, grade, job = zip(*rows, strict=True)
    return number(age), number(income), statistics.median_low(grade), max(sorted(set(job)), key=job.count)


def aggregate_literally(rows, k, number):
    """Return the released cells of each row: the algorithm as it is written down, one distance after another."""
    ranges = [max(column) - min(column) for column in list(zip(*rows, strict=True))[:3]]
    ungrouped, released = list(range(len(rows))), [None] * len(rows)

    def form_group(group):
        for i in group:
            released[i] = center_of([rows[j] for j in group], number=number)
        ungrouped[:] = [i for i in ungrouped if i not in group]

    while len(ungrouped) >= 2 * k:
        center = center_of([rows[i] for i in ungrouped])
        for _ in range(2 if len(ungrouped) >= 3 * k else 1):
            first = max(ungrouped, key=lambda i: gower(rows[i], center, ranges))
            center = rows[first]
            form_group(sorted(ungrouped, key=lambda i: gower(rows[i], center, ranges))[:k])
    form_group(ungrouped)
    return released


@pytest.mark.parametrize("aggregate", ["mean", "median"])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_mixed_columns_are_aggregated_as_mdav_generic_says(k, aggregate):
    number = {"mean": statistics.fmean, "median": statistics.median}[aggregate]
    for n in (k, 2 * k, 3 * k - 1, 3 * k, 61):
        table = mixed_of(n, seed=n)
        release, origin = Microaggregate(k, aggregate=aggregate, distance="gower")(table, rng=np.random.default_rng(0))
        assert release.classes.sizes.min() >= k
        cells = zip(*(table[name] for name in MIXED), strict=True)
        rows = [(float(age), float(income), GRADES.index(grade), job) for age, income, grade, job in cells]
        for i, expected in zip(origin.argsort(), aggregate_literally(rows, k, number), strict=True):
            age, income, grade, job = (release[name][i] for name in MIXED)
            assert (float(age), float(income)) == pytest.approx(expected[:2], abs=1e-9)
            assert (GRADES.index(grade), job) == expected[2:]


def test_dates_become_the_median_date_and_a_missing_category_is_a_value():
    columns = {"birth": ["2000-01-01", "2000-01-05", "2000-01-06", "2020-05-01", "2020-05-02", "2020-07-01"],
               "job": ["a", None, None, "b", "b", "c"]}  # fmt: skip
    table = Table.read(columns, quasi_identifiers=list(columns), types={"birth": "date"})
    release, _ = Microaggregate(3, distance="gower")(table)
    rows = set(zip(release["birth"], release["job"], strict=True))
    assert rows == {("2000-01-05", None), ("2020-05-02", "b")}


def test_adversary_who_simulates_mixed_groups_announces_what_is_realized():
    table, general = mixed_of(800, seed=8), mixed_of(1600, seed=9)
    protection = Microaggregate(3, distance="gower")
    release, origin = protection(table, rng=np.random.default_rng(0))
    knowledge = Knowledge(targets=600)(table, origin, rng=np.random.default_rng(1))
    background = Background(knowledge.people, general)
    belief = MechanismAttack(protection)(release, background, rng=np.random.default_rng(2))
    realized = realized_success.per_target(belief, knowledge.truth)
    error = realized.std() / np.sqrt(len(realized))
    assert abs(success_probability(belief, knowledge.truth) - realized.mean()) < 3 * error
    nearest = realized_success(NearestNeighbor()(release, background), knowledge.truth)
    assert realized.mean() > nearest - 2 * error
    assert log_loss_bits(belief, knowledge.truth) < np.log2(800) - 4


def test_strata_with_too_few_rows_and_wrong_names_are_refused():
    columns = {"a": [1, 2, 3, 4], "sex": list("fffm")}
    table = Table.read(columns, quasi_identifiers=list(columns))
    with pytest.raises(FailedError, match="1 of 2 strata have fewer than k = 2 rows"):
        Microaggregate(2, strata="sex")(table)
    with pytest.raises(UnmaskError, match="'a' is aggregated and a stratum"):
        Microaggregate(2, columns="a", strata=("a", "sex"))
    with pytest.raises(UnmaskError, match="aggregate"):
        Microaggregate(2, aggregate="mode")
    with pytest.raises(UnmaskError, match="sxe"):
        Microaggregate(2, strata="sxe")(table)


def test_a_column_without_a_mean_is_refused():
    words = Table.read({"a": ["x", "y", "z"]}, quasi_identifiers="a")
    gaps = Table.read({"a": [1, None, 3]}, quasi_identifiers="a", types={"a": "number"})
    ranges = Table.read({"a": ["[1, 2]", "3", "4"]}, quasi_identifiers="a", types={"a": "number"})
    for table, protection, message in (
        (words, Microaggregate(2), "needs a numeric quasi-identifier"),
        (words, Microaggregate(2, columns="a"), "not exact numbers"),
        (gaps, Microaggregate(2), "missing='excluded'"),
        (ranges, Microaggregate(2), "not exact numbers"),
    ):
        with pytest.raises(UnmaskError, match=message):
            protection(table)
    with pytest.raises(FailedError, match="at least k = 5"):
        Microaggregate(5)(table_of(4, seed=0))
    with pytest.raises(UnmaskError, match="k"):
        Microaggregate(1)


# --- the adversary ----------------------------------------------------------------------------------------------------


def choices(weights, n=3000, m=6):
    """People who choose one of m by a conditional logit."""
    rng = np.random.default_rng(0)
    features, log_size = rng.normal(size=(n, m, len(weights))), np.log(rng.integers(1, 4, (n, m)))
    near = NearestClasses(np.tile(np.arange(m), (n, 1)), rng.random((n, m)) < 0.9, features, log_size)
    near.possible[:, 0] = True
    drawn = np.cumsum(np.exp(log_class_probabilities(near, weights)), axis=1) < rng.random((n, 1))
    return near, np.arange(m) == drawn.sum(axis=1)[:, None]


def test_the_weights_of_choices_are_found_again():
    weights = np.array([1.5, -0.7, 0.0])
    near, chosen = choices(weights)
    result = conditional_logit(near, chosen)
    assert np.abs(result - weights).max() < 0.12
    for step in 0.01 * np.concatenate([np.eye(3), -np.eye(3)]):  # it is a maximum

        def worth(w):
            return log_class_probabilities(near, w)[chosen].sum() - w @ w / 2

        assert worth(result) > worth(result + step)


def nearest_centroid(release, people, like, truth):
    """Return bits lost by an adversary who takes the nearest group and knows its success rate, and that rate."""
    codes = [(table.column(name), like.column(name)) for name in NAMES for table in (release, people)]
    places = [c.levels.low[c.codes] / g.levels.low[g.codes].std() for c, g in codes]
    theirs, mine = np.stack(places[::2], axis=1), np.stack(places[1::2], axis=1)
    d = ((mine[:, None] - theirs) ** 2).sum(axis=2)
    first = np.isclose(d, d.min(axis=1, keepdims=True), rtol=1e-9, atol=1e-12)
    is_right = first[np.arange(len(d)), truth.candidate]
    s, size = is_right.mean(), first.sum(axis=1)
    return -np.log2(np.where(is_right, s / size, (1 - s) / (d.shape[1] - size))), np.mean(is_right / size)


@pytest.mark.parametrize(("k", "whole_numbers"), [(3, False), (10, False), (3, True)])
def test_to_simulate_the_groups_is_better_than_the_nearest_and_says_what_it_finds(k, whole_numbers):
    table, general = (
        table_of(1500, seed=4, whole_numbers=whole_numbers),
        table_of(3000, seed=5, whole_numbers=whole_numbers),
    )
    release, origin = Microaggregate(k)(table, rng=np.random.default_rng(0))
    knowledge = Knowledge(targets=1000)(table, origin, rng=np.random.default_rng(1))
    belief = MechanismAttack(Microaggregate(k))(
        release, Background(knowledge.people, general), rng=np.random.default_rng(2)
    )
    lost, result = nearest_centroid(release, knowledge.people, general, knowledge.truth)
    gain = log_loss_bits.per_target(belief, knowledge.truth) - lost
    assert gain.mean() < -2 * gain.std() / np.sqrt(len(gain))
    realized = realized_success.per_target(belief, knowledge.truth)
    error = realized.std() / np.sqrt(len(realized))
    announced = np.maximum.reduceat(np.exp(belief.log_probability), belief.indptr[:-1])[belief.observation]
    assert abs(announced.mean() - realized.mean()) < 3 * error
    assert realized.mean() > result - 2 * error


def test_columns_that_stay_are_used_and_what_is_not_known_is_not():
    tables, names = (table_of(600, seed=6), table_of(1200, seed=7)), (*NAMES, "sex")
    table, general = (Table.read({name: table[name] for name in names}, quasi_identifiers=names) for table in tables)
    protection = Microaggregate(3)
    release, origin = protection(table, rng=np.random.default_rng(0))
    losses = []
    for knowledge in (Knowledge(targets=300), Knowledge(targets=300, missing=0.3), Knowledge(columns=("sex",))):
        drawn = knowledge(table, origin, rng=np.random.default_rng(1))
        background = Background(drawn.people, general)
        belief = MechanismAttack(protection)(release, background, rng=np.random.default_rng(2))
        assert np.isfinite(log_loss_bits(belief, drawn.truth))
        losses.append(success_probability(belief, drawn.truth))
        if not knowledge.missing:
            person = drawn.people["sex"][np.unique(belief.observation, return_index=True)[1]]
            assert (release["sex"][belief.candidate] == np.repeat(person, belief.row_length)).all()
    assert losses[0] > 1.5 * losses[1] > 10 * losses[2]


def test_without_people_in_general_nothing_can_be_simulated():
    table = table_of(60, seed=8)
    release, _ = Microaggregate(3)(table, rng=np.random.default_rng(0))
    with pytest.raises(UnmaskError, match="people in general"):
        MechanismAttack(Microaggregate(3))(release, Background(table))
    words = Table.read({"a": list("xyzz"), "b": [1, 2, 3, 4], "c": [1, 2, 3, 4]}, quasi_identifiers=NAMES)
    with pytest.raises(UnmaskError, match="not exact numbers"):
        MechanismAttack(Microaggregate(3))(release, Background(table, words))
    with pytest.raises(UnmaskError, match="ShadowMembership"):
        MechanismAttack(Microaggregate(3), asks="membership")(release, Background(table, table))
