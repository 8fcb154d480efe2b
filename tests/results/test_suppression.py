"""A shared result describes no group of fewer people than the smallest that may be shown."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.results import AtRisk, Block, Chart, Column, Fact, Result, Row, StudyRow, Table
from unmask.results.suppression import mark_people, suppress_rows, suppress_small_counts

COLUMNS = (
    Column("name"),
    Column("k", kind="number"),
    Column("n", kind="group"),
    Column("judged", kind="people"),
    Column("at_risk", kind="people"),
    Column("share", kind="share_of_people", of="judged"),
)


@st.composite
def tables(draw):
    """Return a table of groups with a count of people, some of them at risk, and their share."""
    rows = []
    for i in range(draw(st.integers(0, 8))):
        judged = draw(st.integers(1, 3000))
        at_risk = draw(st.integers(0, judged))
        group = draw(st.none() | st.integers(1, 60))
        rows.append((f"row {i}", draw(st.integers(1, 9)), group, judged, at_risk, at_risk / judged))
    return Table.from_records("groups", COLUMNS, rows)


@given(tables(), st.integers(2, 40))
def test_no_cell_and_no_difference_of_cells_is_a_count_of_few_people(table, least):
    shared = suppress_small_counts(table, least)
    names = {row["name"] for row in table.rows if row["n"] is None or row["n"] >= least}
    assert {row["name"] for row in shared.rows} == names
    counts = [value for name in ("n", "judged", "at_risk") for value in shared.values(name) if isinstance(value, int)]
    assert all(count % least == 0 for count in counts)
    assert all(a == b or abs(a - b) >= least for a, b in combinations(counts, 2))
    original = {row["name"]: row for row in table.rows}
    for row in shared.rows:
        if row["share"] is not None and row["share"] < 1:
            n_described = row["share"] * original[row["name"]]["judged"]
            assert math.isclose(n_described / least, round(n_described / least), abs_tol=1e-6)
        assert row["k"] == original[row["name"]]["k"]


@given(tables(), st.integers(2, 40))
def test_a_shared_count_is_never_smaller_than_the_true_one(table, least):
    original = {row["name"]: row for row in table.rows}
    for row in suppress_small_counts(table, least).rows:
        true = original[row["name"]]
        assert row["share"] is None or row["share"] >= true["share"] - 1e-9
        assert isinstance(row["at_risk"], str) or row["at_risk"] >= true["at_risk"]


@given(tables(), st.integers(1, 40))
def test_suppressing_again_changes_nothing(table, least):
    shared = suppress_small_counts(table, least)
    kept = shared.select(name for name in ("name", "k", "n", "judged", "at_risk"))
    assert suppress_small_counts(kept, least) == kept


@given(tables())
def test_the_owner_of_the_data_sees_every_number(table):
    assert suppress_small_counts(table, 1) == table


@given(st.integers(0, 50), st.integers(1, 40))
def test_counts_in_sentences_follow_the_same_rule(count, least):
    sentence = f"{mark_people(count)} of 1,000 people"
    chart = Chart("points", "t", "x", "y", label=sentence)
    block = Block("b", "B", sentence, (chart,), introduction=sentence, notes=(sentence,))
    risk = AtRisk(mark_people(count), sentence, (Fact("Found", sentence),))
    result = Result(
        "t", "s", (), headline=sentence, blocks=(block,), at_risk=risk, smallest_shown=least
    ).without_small()
    expected = f"fewer than {least}" if 0 < count < least else str(count)
    (shared,) = result.blocks
    texts = (result.headline, shared.sentence, shared.introduction, *shared.notes, shared.charts[0].label)
    assert {*texts, result.at_risk.sentence, result.at_risk.facts[0].text} == {f"{expected} of 1,000 people"}
    assert result.at_risk.figure == expected


VALUES = (
    Column("column"),
    Column("value", kind="name", of="prior"),
    Column("prior", kind="share", of="n"),
    Column("inferred", kind="people", of="n"),
    Column("right", kind="percent_of_people", of="inferred"),
    Column("n", kind="number"),
)


@st.composite
def value_tables(draw):
    """Return a table of the values of one or two columns: people who have each, people for whom each is inferred."""
    rows = []
    n = draw(st.integers(20, 3000))
    for i in range(draw(st.integers(0, 8))):
        holders, inferred = draw(st.integers(0, n)), draw(st.integers(0, n))
        right = draw(st.integers(0, inferred)) / inferred if inferred else None
        rows.append((draw(st.sampled_from("ab")), f"value {i}", holders / n, inferred, right, n))
    table = Table.from_records("values", VALUES, sorted(rows, key=lambda row: row[0]))
    return replace(table, series=("column",))


@given(value_tables(), st.integers(2, 40))
def test_no_value_of_few_people_is_named_and_no_share_describes_few_of_them(table, least):
    shared = suppress_small_counts(table, least)
    holders = {row["value"]: round(row["prior"] * row["n"]) for row in table.rows}
    named = {value for value in shared.values("value") if value.startswith("value")}
    assert named == {value for value, count in holders.items() if count >= least}
    replaced = [row["column"] for row in shared.rows if row["value"] not in named]
    assert len(replaced) == len(set(replaced)) == len({r["column"] for r in table.rows if holders[r["value"]] < least})
    for row in shared.rows:
        assert isinstance(row["inferred"], str) or row["inferred"] % least == 0 or row["inferred"] == row["n"]
        assert row["right"] is None or (not isinstance(row["inferred"], str) and row["right"] == round(row["right"], 2))
    names = ("column", "value", "prior", "inferred", "n")
    assert suppress_small_counts(shared.select(names), least) == shared.select(names)
    assert suppress_small_counts(table, 1) == table


@given(st.lists(st.integers(0, 60), max_size=12), st.integers(2, 40))
def test_small_bins_are_empty_and_cut_at_the_ends(counts, least):
    n = sum(counts) + 1
    columns = (Column("place", kind="number"), Column("before", kind="bin", of="n"), Column("n", kind="number"))
    table = Table.from_records("bins", columns, [(place, count / n, n) for place, count in enumerate(counts)])
    shared = suppress_small_counts(table, least)
    large = [place for place, count in enumerate(counts) if count >= least]
    assert shared.values("place") == (list(range(large[0], large[-1] + 1)) if large else [])
    assert [row["place"] for row in shared.rows if row["before"] > 0] == large
    assert all(
        row["before"] == 1
        or math.isclose(row["before"] * n % least, 0, abs_tol=1e-6)
        or math.isclose(row["before"] * n % least, least, abs_tol=1e-6)
        for row in shared.rows
    )
    assert suppress_small_counts(shared, least) == shared


@given(st.lists(st.integers(0, 60), max_size=12), st.integers(2, 40))
def test_exact_counts_are_hidden_if_small_and_a_series_is_limited_after_that(counts, least):
    columns = (
        Column("release"),
        Column("class_size", kind="group", exact=True),
        Column("unique", kind="people", exact=True),
    )
    table = Table.from_records("t", columns, [("r", count, count) for count in counts])
    shared = suppress_small_counts(replace(table, series=("release",), limit=2), least)
    assert shared.values("class_size") == [count for count in counts if count >= least][:2]
    assert shared.values("unique") == shared.values("class_size")
    unique = suppress_small_counts(table.select(["unique"]), least).values("unique")
    assert unique == [f"fewer than {least}" if 0 < count < least else count for count in counts]


def test_a_sentence_can_be_written_from_the_suppressed_tables():
    table = Table.from_records("t", (Column("n", kind="people"),), [(3,)])
    block = Block("b", "B", lambda tables: f"{tables['t'].rows[0]['n']} people")
    result = Result("t", "s", (), facts=(table,), blocks=(block,))
    assert result.without_small().sentences() == ["fewer than 10 people"]
    assert replace(result, smallest_shown=1).without_small().sentences() == ["3 people"]


def measure(kind, **values):
    """Return a measure with these values, of an audit or of a study."""
    numbers = {"prior": 0.0, "gain": values["posterior"], "low": 0.0, "high": 1.0, "n_observations": 1, "worst": 1.0}
    texts = {"release": "r", "adversary": "a", "unit": "share", "direction": "high", "interval": "", "status": "exact"}
    return kind(**texts, **numbers, worst_observation=0, quantiles=(), **values)


@given(
    st.sampled_from([Row, StudyRow]),
    st.sampled_from(["identity", "adopters", "membership of the rare"]),
    st.sampled_from(["rational_access", "recall"]),
    st.integers(1, 300), st.integers(0, 300), st.integers(0, 300), st.integers(2, 40),
)  # fmt: skip
def test_measures_of_audits_and_studies_describe_no_few_people(kind, target, name, n, attacked, judged, least):
    attacked, judged = min(attacked, n), min(judged, n)
    row = measure(kind, target=target, measure=name, posterior=attacked / n, n=n, n_drawn=n, n_judged=judged)
    shared = list(suppress_rows([row], least))
    assert (shared == []) == (target != "identity" and n < least)
    for item in shared:
        assert item.n_judged is None or not 0 < item.n_drawn - item.n_judged < least
        if name == "rational_access":
            count = item.posterior * n
            assert count == pytest.approx(n) or math.isclose(count / least, round(count / least), abs_tol=1e-6)
            assert item.posterior >= row.posterior - 1e-9
            assert item.low is None
        else:
            assert item.posterior == row.posterior
    assert list(suppress_rows(shared, least)) == shared
    assert list(suppress_rows([row], 1)) == [row]
