"""Columns that are read as a whole are read as they are cell by cell, and many rows are compared as few are."""

from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.tables import Table, cells, types

AT = st.datetimes(min_value=datetime(900, 1, 1))
USUAL = (
    st.integers(-20, 200).map(str),
    st.tuples(st.integers(-20, 20), st.integers(-20, 200)).map(lambda ends: f"[{ends[0]}, {ends[1]}]"),
    st.decimals(-3, 3000, places=2).map(str),
    st.decimals(-3, 3, places=4).map(str),
    AT.map(lambda moment: f"{moment:%Y-%m-%d}"),
    AT.map(lambda moment: f"{moment:%Y-%m-%d %H:%M:%S}"),
    AT.map(lambda moment: f"{moment:%Y-%m-%d} 00:00"),
    st.from_regex(r"[A-C][0-9]{2}\.[0-9]", fullmatch=True),
    st.from_regex(r"[0-9]{5}", fullmatch=True),
)
OTHERS = st.sampled_from((
    "", "NA", "-", "*", "48*", "{a, b}", "b, c", "-0", "-0.0", "0.10", "1e5", "+3", "20-30", "<5", "1,5", "1.234",
    "2019", "2023-02-30", "1/2/1970", "13.2.1970", "1931-00-07", "2024-01-02 24:00", "none", "[20, 30)",
))  # fmt: skip


@st.composite
def columns(draw: st.DrawFn) -> list[str]:
    """A column in one notation or two, with a cell of another kind now and then."""
    kinds = draw(st.lists(st.sampled_from(USUAL), min_size=1, max_size=2, unique=True))
    cell = st.one_of(*kinds)
    return draw(st.lists(cell if draw(st.booleans()) else st.one_of(cell, OTHERS), min_size=1, max_size=12))


def read(column: list[str], kind: str | None) -> object:
    """Read a column; return its properties, or the error."""
    try:
        table = Table.read(
            {"c": column, "d": range(len(column))}, quasi_identifiers="c,d", types={"c": kind} if kind else {}
        )
    except ValueError as error:
        return str(error)
    column_read = table.column("c")
    bounds = np.stack([column_read.levels.low, column_read.levels.high]).tolist()
    properties = (
        column_read.type,
        column_read.levels.labels,
        column_read.levels.domain,
        column_read.levels.missing,
        column_read.codes.tolist(),
        table.notes,
    )
    return properties, repr(bounds), column_read.levels.members.to_scipy().toarray().tolist()


@settings(max_examples=150)
@given(columns(), st.sampled_from([None, "number", "date", "datetime", "text", "code"]))
def test_a_column_means_the_same_however_it_is_read(column: list[str], kind: str | None):
    combined = read(column, kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(types, "form_of", lambda _: None)
        patch.setattr(cells, "_read_plain", lambda *_: None)
        assert combined == read(column, kind)


@pytest.mark.parametrize("plain_text", ["3", "0.25", "[1, 2]", "2019-07-01", "2019-07-01 10:00"])
def test_a_cell_of_two_lines_is_not_read_as_two_cells(plain_text: str):
    column = Table.read({"c": [plain_text, f"{plain_text}\n{plain_text}"]}, quasi_identifiers="c").column("c")
    assert (column.type, len(column.levels.labels)) == ("text", 2)
