"""Rules, tabulations and files of published tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.aggregates import AggregateRelease, Domain, Marker, Rule, Tabulation, read_release, tabulate, write_release
from unmask.core.errors import FailedError, UnmaskError

DOMAIN = Domain(
    {"sex": ("f", "m"), "age": ("0-4", "5-9", "10-14"), "ill": ("no", "yes")},
    {"age": {"half": {"young": ("0-4", "5-9"), "old": ("10-14",)}}},
)
TABLE = ((0.7, 0.3, 0.0), (0.2, 0.5, 0.3), (0.3, 0.4, 0.3))


def shifted(table):
    """Return a table of perturbations whose columns are the noise -1, 0, 1, with none below zero."""
    return ((0.0, 0.8, 0.2), *((0.2, 0.6, 0.2) for _ in table[1:]))


def draw_records(rng, n=40, areas=("a", "b")):
    columns = {name: rng.choice(np.array(labels), n) for name, labels in DOMAIN.categories.items()}
    return columns | {"block": rng.choice(np.array(areas), n)}


@given(
    st.integers(0, 12), st.sampled_from(["shown", "hidden"]), st.integers(1, 13),
    st.sampled_from(["half-up", "half-down", "half-even"]),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_bounds_are_exactly_the_counts_that_are_published_equally(threshold, zeros, base, rounding):
    rule = Rule(threshold=threshold, zeros=zeros, base=base, rounding=rounding)
    counts = np.arange(60)
    values, markers = rule.apply(counts)
    low, high = rule.bounds(values, markers)
    for n in range(30):
        same = counts[(markers == markers[n]) & ((values == values[n]) | np.isnan(values[n]))]
        if zeros == "shown" and n == 0 and len(same) > 1 and same[1] == threshold:
            same = np.arange(same[-1] + 1)  # zero and the counts that round to it; no interval excludes the gap
        assert (low[n], high[n]) == (same.min(), same.max())


@pytest.mark.parametrize(
    "rule",
    [Rule(base=5, rounding="random"), Rule(base=4, rounding="random"), Rule(perturbation=shifted(TABLE))],
)
def test_likelihood_sums_to_one_over_published_values_and_vanishes_outside_the_bounds(rule):
    counts = np.arange(12)
    published = np.arange(0, 30, rule.base)
    likelihood = np.array([rule.likelihood(float(value), 0, counts) for value in published])
    assert np.allclose(likelihood.sum(axis=0), 1.0)
    low, high = rule.bounds(published.astype(float), np.zeros(len(published), dtype=np.int8))
    for row, value_low, value_high in zip(likelihood, low, high, strict=True):
        possible = np.flatnonzero(row > 0)
        if len(possible):
            assert (value_low, min(value_high, 11)) == (possible[0], possible[-1])


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_noise_of_differential_privacy_is_a_distribution_and_its_bounds_hold_all_but_nothing_of_it(noise):
    rule = Rule(noise=noise, scale=2.0)
    values = np.arange(-200.0, 200.0)
    mass = np.array([rule.likelihood(value, 0, np.array([4]))[0] for value in values])
    low, high = rule.bounds(values, np.zeros(len(values), dtype=np.int8))
    assert mass.sum() == pytest.approx(1.0)
    assert mass[(low > 4) | (high < 4)].sum() < 1e-15


def test_matrix_times_true_counts_is_the_table_for_levels_subpopulations_and_any_order_of_columns():
    rng = np.random.default_rng(3)
    records = draw_records(rng)
    queries = [(["age", "sex"], None), (["ill", "age:half"], {"sex": ["f"]}), ([], None), (["sex"], {"ill": ["yes"]})]
    tables = [
        tabulate(records, columns, Rule(), DOMAIN, name=str(i), where=where, geography="block", areas=("a", "b"))
        for i, (columns, where) in enumerate(queries)
    ]
    release = AggregateRelease(DOMAIN, tuple(tables), "block", ("a", "b"))
    counts = release.cell_counts(records)
    for area in (0, 1):
        low, high = release.bounds(area)
        assert (release.matrix @ counts[area] == low).all()
        assert (low == high).all()
    young_women = sum(
        age in ("0-4", "5-9") and sex == "f" and ill == "yes" and block == "b"
        for age, sex, ill, block in zip(records["age"], records["sex"], records["ill"], records["block"], strict=True)
    )
    assert tables[1].values[1, 1, 0] == young_women


def test_a_release_is_read_as_it_was_written(tmp_path):
    records = draw_records(np.random.default_rng(5))
    rules = [Rule(threshold=4), Rule(threshold=3, zeros="hidden", base=5), Rule()]
    tables = [
        tabulate(records, columns, rule, DOMAIN, where=where, geography="block", areas=("a", "b"))
        for rule, columns, where in zip(
            rules, [["sex", "age:half"], ["ill"], []], [None, {"sex": ["m"]}, None], strict=True
        )
    ]
    noisy = Tabulation(
        "noisy", ("sex",), np.array([[3.0, 5.0], [0.0, 1.0]]), rule=Rule(perturbation=shifted(TABLE)), by_area=True
    )
    release = AggregateRelease(DOMAIN, (*tables, noisy), "block", ("a", "b"))
    write_release(release, tmp_path / "out")
    again = read_release(tmp_path / "out")
    assert again.domain == DOMAIN
    assert again.areas == ("a", "b")
    for before, after in zip(release.tabulations, again.tabulations, strict=True):
        assert (before.name, before.columns, before.rule) == (after.name, after.columns, after.rule)
        assert {key: list(kept) for key, kept in before.where.items()} == after.where
        assert np.array_equal(before.values, after.values, equal_nan=True)
        assert np.array_equal(before.markers, after.markers)
    assert np.array_equal(release.bounds(1)[1], again.bounds(1)[1])
    with pytest.raises(FailedError):
        write_release(release, tmp_path / "out")


def write(folder, description, **tables):
    (folder / "tables.toml").write_text(description)
    for name, text in tables.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


ONE = '[domain]\nsex = ["f", "m"]\n[[tables]]\nfile = "t.csv"\ncolumns = ["sex"]\n'
AGE = 'age = ["20", "50"]\n'
COUNTS = '[[tables]]\nfile = "n.csv"\ncolumns = []\n'


@pytest.mark.parametrize(
    ("description", "table", "words"),
    [
        (ONE, "sex,count\nf,1\nSECRET,2\n", "row 2"),
        (ONE, "sex,count\nf,1\n", "omitted"),
        (ONE, "sex,count\nf,1\nf,2\n", "two rows of the same cell"),
        (ONE, "sex,count\nf,1\nm,SECRET\n", "row 2"),
        (ONE, "sex,count\nf,1.5\nm,2\n", "not whole"),
        (ONE, "sex,count\nf,-1\nm,2\n", "negative"),
        (ONE, "sex,count\nf,inf\nm,2\n", "not whole"),
        (ONE, "sex,count\nf,nan\nm,2\n", "without a number"),
        (ONE, "sex,count\nf,1e300\nm,2\n", "above"),
        (ONE, "sex,count\nf,=1+1\nm,2\n", "neither a number nor a marker"),
        (ONE, "sex,number\nf,1\nm,2\n", "no column 'count'"),
        (ONE, "sex,count,name\nf,1,x\nm,2,SECRET\n", "further columns"),
        ("[rule]\nbase = 5\n" + ONE, "sex,count\nf,5\nm,12\n", "multiple of 5"),
        (ONE.replace("t.csv", "../t.csv"), "", "outside its folder"),
        (ONE.replace("t.csv", "/etc/passwd"), "", "outside its folder"),
        (ONE.replace("t.csv", "none.csv"), "", "does not exist"),
        (ONE.replace('"m"', '"=SECRET()"'), "sex,count\nf,1\n", "spreadsheet"),
        (ONE.replace('columns = ["sex"]', 'columns = ["sec"]'), "sec,count\nf,1\n", "did you mean 'sex'"),
        (ONE.replace('columns = ["sex"]', 'colums = ["sex"]'), "", "did you mean 'columns'"),
        (ONE + 'where = { sex = ["x"] }\n', "sex,count\nf,1\nm,2\n", "not in the domain"),
        (ONE + "rule = { base = 0 }\n", "sex,count\nf,1\nm,2\n", "from 1"),
        (ONE + 'statistic = "mean"\nof = "sex"\n' + COUNTS, "sex,mean\nf,1\nm,2\n", "not a number"),
        (ONE + 'statistic = "mean"\nof = "agee"\n' + COUNTS, "sex,mean\nf,1\nm,2\n", "did you mean 'age'"),
        (ONE + 'statistic = "mean"\n' + COUNTS, "sex,mean\nf,1\nm,2\n", "name a numeric one in of"),
        (ONE + 'statistic = "mean"\nof = "age"\n' + COUNTS, "sex,mean\nf,1\nm,inf\n", "infinite"),
        (ONE + "rule = { perturbation = [[0.5, 0.5, 0.0]] }\n", "sex,count\nf,1\nm,2\n", "negative"),
    ],
)
def test_files_that_do_not_fit_are_refused_without_their_content(tmp_path, description, table, words):
    with pytest.raises((UnmaskError, FailedError)) as error:
        read_release(write(tmp_path, description.replace("[[tables]]", AGE + "[[tables]]", 1), t=table, n="count\n3\n"))
    assert words in str(error.value)
    assert "SECRET" not in str(error.value)


def test_a_link_to_a_file_outside_the_folder_is_refused(tmp_path):
    (tmp_path / "private.csv").write_text("sex,count\nf,1\nm,2\n")
    folder = tmp_path / "release"
    folder.mkdir()
    write(folder, ONE)
    (folder / "t.csv").symlink_to(tmp_path / "private.csv")
    with pytest.raises(UnmaskError, match="outside its folder"):
        read_release(folder)


def test_markers_of_other_publishers_and_omitted_cells_are_read_as_described(tmp_path):
    text = (
        ONE.replace("[domain]", "[rule]\nthreshold = 5\n[domain]")
        + 'markers = { x = "suppressed" }\nomitted = "unpublished"\n'
    )
    release = read_release(write(tmp_path, text, t="sex,count\nf,x\n"))
    assert release.tabulations[0].markers.tolist() == [Marker.SUPPRESSED, Marker.UNPUBLISHED]
    low, high = release.bounds()
    assert (low.tolist(), high.tolist()) == ([1, 0], [4, 2**31 - 1])


def test_means_and_medians_are_read_with_their_digits_and_suppressed_numbers(tmp_path):
    text = ONE.replace("[[tables]]", AGE + "[[tables]]") + 'statistic = "median"\nof = "age"\ndigits = 1\n' + COUNTS
    release = read_release(write(tmp_path, text, t="sex,median\nf,suppressed\nm,35.0\n", n="count\n3\n"))
    (statistic,) = release.statistics
    assert (statistic.kind, statistic.of, statistic.digits) == ("median", "age", 1)
    assert np.isnan(statistic.values[0])
    assert release.columns == ("sex", "age")
    (group,) = release.groups()
    assert group.holds(np.array([[1, 0, 1, 1], [1, 0, 2, 0]])).tolist() == [True, False]


def test_a_cross_of_too_many_cells_is_refused():
    labels = tuple(map(str, range(101)))
    domain = Domain({"a": labels, "b": labels, "c": labels})
    tables = [Tabulation(name, (name,), np.zeros(101)) for name in "abc"]
    with pytest.raises(UnmaskError, match="1,000,000 cells"):
        AggregateRelease(domain, tuple(tables))
