"""No word of a chart is cut, and no two stand on each other, from a phone to a wide screen."""

from __future__ import annotations

import re
from functools import cache
from itertools import product

import pytest

from tests.render.text_boxes import assert_legible
from tests.reports.test_export import KINDS
from unmask.render import Drawing, Figure
from unmask.render.charts.boxes import BROAD, FONT_SIZE, MIDDLE, NARROW
from unmask.render.files import items

WIDTHS = (NARROW, 330.0, MIDDLE - 1, MIDDLE, 640.0, BROAD)


@cache
def charts(kind: str) -> dict[str, Drawing]:
    found = {name: one.drawing for name, _, one in items(KINDS[kind]()) if isinstance(one, Figure)}
    assert found
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_no_word_is_cut_and_none_stands_on_another(kind):  # U22
    for drawing, width in product(charts(kind).values(), WIDTHS):
        assert_legible(drawing, width)


@pytest.mark.parametrize("kind", KINDS)
def test_words_never_shrink_with_a_chart(kind):  # U22
    for drawing in charts(kind).values():
        assert str(drawing).count(f'font-size="{FONT_SIZE}"') == str(drawing).count("font-size") == 1
        assert FONT_SIZE >= 13
        outer = re.search(r'<svg role="img"[^>]*>', str(drawing))
        assert outer
        assert "viewBox" not in outer[0]


@pytest.mark.parametrize("kind", KINDS)
def test_every_chart_says_its_numbers_to_readers_who_do_not_see_it(kind):
    for name, drawing in charts(kind).items():
        assert re.search(r"\d", drawing.label), name
        assert "figures" not in drawing.label, (name, drawing.label)
