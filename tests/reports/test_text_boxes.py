"""No word of a chart is cut, and no two stand on each other, from a phone to a wide screen."""

from __future__ import annotations

import re
from functools import cache
from itertools import product

import pytest

from tests.reports.test_export import KINDS
from tests.reports.text_boxes import crossing, text_boxes
from unmask.reports.export import items
from unmask.reports.parts import Figure
from unmask.reports.room import BROAD, MIDDLE, NARROW, SIZE, STEP
from unmask.reports.svg import Drawing

WIDTHS = (NARROW, 330.0, MIDDLE - 1, MIDDLE, 640.0, BROAD)


@cache
def charts(kind: str) -> dict[str, Drawing]:
    found = {name: one.svg for name, _, one in items(KINDS[kind]()) if isinstance(one, Figure)}
    assert found
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_no_word_is_cut_and_none_stands_on_another(kind):  # U22
    for (name, drawing), width in product(charts(kind).items(), WIDTHS):
        boxes = text_boxes(str(drawing), width, second=width >= MIDDLE)
        cut = [one.said for one in boxes if one.left < -drawing.left - STEP or one.right > width + drawing.right + STEP]
        assert not cut, (name, cut)
        assert not crossing(boxes), name
        assert all(one.top >= -2 and one.bottom <= drawing.height + 4 for one in boxes), name


@pytest.mark.parametrize("kind", KINDS)
def test_words_never_shrink_with_a_chart(kind):  # U22
    for drawing in charts(kind).values():
        assert str(drawing).count(f'font-size="{SIZE}"') == str(drawing).count("font-size") == 1
        assert SIZE >= 13
        outer = re.search(r'<svg role="img"[^>]*>', str(drawing))
        assert outer
        assert "viewBox" not in outer[0]


@pytest.mark.parametrize("kind", KINDS)
def test_every_chart_says_its_numbers_to_readers_who_do_not_see_it(kind):
    for name, drawing in charts(kind).items():
        assert re.search(r"\d", drawing.label), name
        assert "figures" not in drawing.label, (name, drawing.label)


@pytest.mark.parametrize("kind", KINDS)
def test_colors_are_those_of_the_page_and_alone_the_light_ones(kind):
    for drawing in charts(kind).values():
        bare = re.sub(r"var\(--[\w-]+,#\w+\)", "", str(drawing))
        assert not re.search(r'(fill|stroke)="(?!none|")[^"]', bare)
        assert "var(" not in drawing.alone()
