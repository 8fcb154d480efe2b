"""Columns before and after: what is counted, and what the page shows of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.render.text_boxes import assert_legible
from tests.reports.test_html import single
from unmask.render.boxes import BROAD, NARROW
from unmask.reports import render
from unmask.reports.facts.shapes import Shape
from unmask.reports.sections.shapes import shapes_section
from unmask.tables.audit.column_shapes import shapes
from unmask.tables.table import Table


def table(**columns: list) -> Table:
    return Table.read(columns, quasi_identifiers=[*columns])


def counted(before: dict, after: dict, origin: list[int]) -> list[Shape]:
    return list(shapes("r", table(**before), table(**after), np.array(origin)))


def test_cells_are_spread_evenly_and_rows_that_were_lost_over_all_values():
    (age,) = counted({"age": [20, 20, 30, 40]}, {"age": ["20", "20", "30-40"]}, [0, 1, 2])
    assert sum(age.before) == pytest.approx(1.0)
    assert sum(age.after) == pytest.approx(1.0)
    at = {edge: (was, now) for edge, was, now in zip(age.edges, age.before, age.after, strict=False)}
    lost = 0.25 / 3  # one row of four, over three values
    assert at[20] == pytest.approx((0.5, 0.5 + lost))
    assert at[30] == pytest.approx((0.25, 0.125 + lost))


def test_bins_of_numbers_end_at_round_values_and_names_are_by_how_common_they_are():
    ages = [16, 17, 93, *range(20, 90)]
    (age,) = counted({"age": ages}, {"age": list(map(str, ages))}, [*range(len(ages))])
    assert (age.edges[0], age.edges[-1]) == (15, 95)
    assert len(age.edges) == 17
    jobs = ["cook"] * 3 + ["smith"] * 7
    (job,) = counted({"job": jobs}, {"job": jobs}, [*range(10)])
    assert (job.edges, job.before) == ((), (0.7, 0.3))


def test_nothing_of_the_original_about_few_people_is_handed_on():
    """A release without its extremes: neither they nor where they stand come back by the page."""
    ages = [3] + [40] * 50 + [41] * 4 + [60] * 45
    release = ["*"] + ["40-60"] * 99
    (age,) = (one.without_small(10) for one in counted({"age": ages}, {"age": release}, [*range(100)]))
    assert (age.edges[0], age.edges[-1]) == (40, 65)
    assert all(share == 0 or share * 100 >= 10 for share in age.before)
    assert all(share * 10 == pytest.approx(round(share * 10)) for share in (*age.before, *age.after))
    (rare,) = (one.without_small(10) for one in counted({"age": [1, 2, 3]}, {"age": ["1", "2", "3"]}, [0, 1, 2]))
    assert rare.before == ()


SHAPES = (
    Shape("k=3", "age", "number", (15, 20, 25), (0.4, 0.6), (0.5, 0.5), 0.0, 0.0, 1000),
    Shape("k=3", "born", "date", (0.0, 3652.5, 7305.0), (0.4, 0.6), (0.5, 0.5), 0.0, 0.1, 1000),
    Shape("k=3", "job", "text", (), (0.7, 0.3), (0.5, 0.5), 0.0, 0.0, 1000),
)


def test_the_page_shows_no_value_of_a_name_and_says_the_figures():
    found = render(replace(single(), shapes=SHAPES))
    assert "20 to 25; before: 60.0\u00a0%; after: 50.0\u00a0%" in found
    assert "1970-01 to 1980-01" in found
    assert "no. 1; before: 70.0\u00a0%; after: 50.0\u00a0%" in found
    assert "Without a value: 0\u00a0% before, 10.0\u00a0% after." in found


def test_few_people_of_a_bin_are_rounded_up():
    (few,) = [replace(SHAPES[0], before=(0.013, 0.987)).without_small(10)]
    assert few.before == (0.02, 0.99)


@pytest.mark.parametrize("width", [NARROW, BROAD])
def test_no_word_is_cut_and_none_stands_on_another(width):
    section = shapes_section(replace(single(), shapes=SHAPES))
    assert section
    for figure in section.parts[-1].items:
        assert_legible(figure.drawing, width)
