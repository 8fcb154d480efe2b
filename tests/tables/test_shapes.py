"""Columns before and after protection: the bins that are counted, and the chart of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.render.text_boxes import assert_legible
from tests.reports.test_html import single
from unmask.render import Figure
from unmask.render.charts.boxes import BROAD, NARROW
from unmask.render.page import render
from unmask.results.suppression import suppress_small_counts
from unmask.tables.audit.auditor_knowledge import Release
from unmask.tables.audit.column_shapes import ColumnBin, bin_table, column_bins, shape_block
from unmask.tables.audit.result import TableFacts, make_result
from unmask.tables.table import Table


def table(**columns: list) -> Table:
    return Table.read(columns, quasi_identifiers=[*columns])


def counted(original: dict, after: dict, origin: list[int]) -> list[ColumnBin]:
    return list(column_bins(Release("r", table(**after), np.array(origin)), table(**original)))


def test_cells_are_spread_evenly_and_rows_that_were_lost_over_all_values():
    bins = counted({"age": [20, 20, 30, 40]}, {"age": ["20", "20", "30-40"]}, [0, 1, 2])
    assert sum(item.before for item in bins) == pytest.approx(1.0)
    assert sum(item.after for item in bins) == pytest.approx(1.0)
    shares = {item.bin[0]: (item.before, item.after) for item in bins}
    lost = 0.25 / 3  # one row of four, over three values
    assert shares[20] == pytest.approx((0.5, 0.5 + lost))
    assert shares[30] == pytest.approx((0.25, 0.125 + lost))


def test_bins_of_numbers_end_at_round_values_and_names_are_by_how_common_they_are():
    ages = [16, 17, 93, *range(20, 90)]
    bins = counted({"age": ages}, {"age": list(map(str, ages))}, [*range(len(ages))])
    assert (bins[0].bin[0], bins[-1].bin[1], len(bins)) == (15, 95, 16)
    jobs = ["cook"] * 3 + ["smith"] * 7
    bins = counted({"job": jobs}, {"job": jobs}, [*range(10)])
    assert [(item.rank, item.bin, item.before) for item in bins] == [("no. 1", None, 0.7), ("no. 2", None, 0.3)]


def test_nothing_of_the_original_about_few_people_is_handed_on():
    """A release without its extremes: neither they nor their place can be read from the page."""
    ages = [3] + [40] * 50 + [41] * 4 + [60] * 45
    release = ["*"] + ["40-60"] * 99
    rows = suppress_small_counts(bin_table(counted({"age": ages}, {"age": release}, [*range(100)])), 10).rows
    assert (rows[0]["bin"][0], rows[-1]["bin"][1]) == (40, 65)
    shares = [row[name] for row in rows for name in ("before", "after")]
    assert all(row["before"] == 0 or row["before"] * 100 >= 10 for row in rows)
    assert all(share * 10 == pytest.approx(round(share * 10)) for share in shares)
    rare = counted({"age": [1, 2, 3]}, {"age": ["1", "2", "3"]}, [0, 1, 2])
    assert suppress_small_counts(bin_table(rare), 10).rows == ()


def bins(release: str, column: str, kind: str, ends: list, shares: list, share_gone: float = 0.0) -> list[ColumnBin]:
    places = {"number": lambda end: (end, None, None), "date": lambda end: (None, end, None)}
    place = places.get(kind, lambda end: (None, None, end))
    return [
        ColumnBin(release, column, kind, *place(end), *share, 0.0, share_gone, 1000)
        for end, share in zip(ends, shares, strict=True)
    ]


BINS = [
    *bins("k=3", "age", "number", [(15, 20), (20, 25)], [(0.4, 0.5), (0.6, 0.5)]),
    *bins("k=3", "born", "date", [(0.0, 3652.5), (3652.5, 7305.0)], [(0.4, 0.5), (0.6, 0.5)], share_gone=0.1),
    *bins("k=3", "job", "text", ["no. 1", "no. 2"], [(0.7, 0.5), (0.3, 0.5)]),
]  # fmt: skip


def test_the_page_shows_no_value_of_a_name_and_writes_the_figures():
    page = render(make_result("t", single().rows, TableFacts(bins=BINS)))
    assert "20 to 25; before: 60.0\u00a0%; after: 50.0\u00a0%" in page
    assert "1970-01 to 1980-01" in page
    assert "no. 1; before: 70.0\u00a0%; after: 50.0\u00a0%" in page
    assert "Without a value: 0 before, 100 after." in page
    assert "job changed most: 200 of 1,000 people are in another bin." in page


def test_few_people_of_a_bin_are_rounded_up():
    rare_bins = bins("k=3", "age", "number", [(15, 20), (20, 25)], [(0.013, 0.5), (0.987, 0.5)])
    assert suppress_small_counts(bin_table(rare_bins), 10).values("before") == [0.02, 0.99]


@pytest.mark.parametrize("width", [NARROW, BROAD])
def test_no_word_is_cut_and_no_words_overlap(width):
    for chart in shape_block(BINS).charts:
        assert_legible(Figure(chart, bin_table(BINS)).drawing, width)
