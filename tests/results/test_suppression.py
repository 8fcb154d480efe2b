"""A shared result describes no group of fewer people than the smallest that may be shown."""

from __future__ import annotations

import math
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from unmask.results import AtRisk, AuditResult, Block, Chart, Column, Fact, Table
from unmask.results.suppression import mark_people

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
    shared = table.without_small(least)
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
    for row in table.without_small(least).rows:
        true = original[row["name"]]
        assert row["share"] is None or row["share"] >= true["share"] - 1e-9
        assert isinstance(row["at_risk"], str) or row["at_risk"] >= true["at_risk"]


@given(tables(), st.integers(1, 40))
def test_suppressing_again_changes_nothing(table, least):
    shared = table.without_small(least)
    kept = shared.select(name for name in ("name", "k", "n", "judged", "at_risk"))
    assert kept.without_small(least) == kept


@given(tables())
def test_the_owner_of_the_data_sees_every_number(table):
    assert table.without_small(1) == table


@given(st.integers(0, 50), st.integers(1, 40))
def test_counts_in_sentences_follow_the_same_rule(count, least):
    sentence = f"{mark_people(count)} of 1,000 people"
    chart = Chart("points", "t", "x", "y", label=sentence)
    block = Block("b", "B", sentence, (chart,), introduction=sentence, notes=(sentence,))
    risk = AtRisk(mark_people(count), sentence, (Fact("Found", sentence),))
    result = AuditResult("t", "k", "c", "s", sentence, (), blocks=(block,), at_risk=risk).without_small(least)
    expected = f"fewer than {least}" if 0 < count < least else str(count)
    (shared,) = result.blocks
    texts = (result.headline, shared.sentence, shared.introduction, *shared.notes, shared.charts[0].label)
    assert {*texts, result.at_risk.sentence, result.at_risk.facts[0].text} == {f"{expected} of 1,000 people"}
    assert result.at_risk.figure == expected
