"""The grammar of charts: legends whole and in order, words inside the chart, room for names, the same bytes."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.reports import bars, scales, svg
from unmask.reports.charts import Key, Line, Rule, Spot, ends, plane, plot

LONG = "an adversary who knows age, sex, the first three digits of the zip code and the year of birth"


def drawn(*lines: Line, **more) -> str:
    return plot(scales.shares(), scales.shares(), lines, label="x", **more)


def words(drawing: str) -> list[tuple[float, float, str, str]]:
    """(x, y, anchor, words) of every upright text."""
    found = re.findall(r'<text x="([-\d.]+)" y="([-\d.]+)"([^>]*)>([^<]*)<', drawing)
    return [
        (float(x), float(y), "end" if '"end"' in rest else "middle" if '"middle"' in rest else "", said)
        for x, y, rest, said in found
        if "rotate" not in rest
    ]


def line(name: str, style: int, *values: float) -> Line:
    return Line(name, [(i / 4, value) for i, value in enumerate(values)], style)


def test_a_legend_has_all_names_in_the_order_of_letters_and_cuts_none():
    found = drawn(line("B  short", 1, 0.1, 0.2), line(f"A  {LONG}", 0, 0.3, 0.4), keys=[Key("C  key", 2)])
    said = " ".join(text for *_, text in words(found))
    assert said.index(["C", "key"][0]) < said.index("A ") < said.index("B ")
    assert all(word in said for word in LONG.split())


@given(st.lists(st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=1), min_size=1, max_size=8))
def test_wrapping_loses_no_letter_and_stays_in_its_room(names):
    text = " ".join(names)
    lines = svg.wrapped(text, 60)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(svg.wide(one) <= 60 or len(one) == 1 for one in lines)


def test_no_words_leave_the_chart():
    big = scales.amounts([0.0, 10.0, 1e6], "Fine")
    lines = [Line(LONG, [(0.0, 0.9), (1e6, 0.1)], 0), Line("x", [(10.0, 0.5)], 1)]
    rules = [Rule(5e5, "fine now 500,000"), Rule(0.5, "half of all people", across=True)]
    for x, _, anchor, said in words(plot(big, scales.shares(), lines, rules=rules, label="x")):
        left = x - svg.wide(said) * {"": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        assert left >= -1, said
        assert left + svg.wide(said) * 0.92 <= svg.PANEL, said


def test_a_missing_value_is_a_gap_and_a_single_line_needs_no_legend():
    found = drawn(line("alone", 0, 0.1, math.nan, 0.3, 0.4))
    (path,) = re.findall(r'<path d="([^"]*)" fill="none" stroke="#12436d"', found)
    assert path.count("M") == 2
    assert ">alone<" not in found
    assert ends([line("alone", 0, 0.1, math.nan, 0.3)]).replace("\u00a0", " ") == "alone: 10.0 % to 30.0 %."


def test_dominated_spots_are_hollow_and_only_the_others_are_joined():
    spots = [Spot(0.1, 0.3, 0, "a"), Spot(0.2, 0.1, 0, "b", 0.05, 0.2), Spot(0.2, 0.2, 0, "c", hollow=True)]
    found = plane(scales.shares(), scales.shares(), spots, label="x")
    assert re.findall(r'class="mark"[^>]* fill="(\S+)"', found).count("white") == 1
    (front,) = re.findall(r'<path d="([^"]*)"[^>]*opacity', found)
    assert len(re.findall("[ML]", front)) == 2
    assert {"a", "b", "c"} <= {said for *_, said in words(found)}


def test_words_for_what_has_no_value_stand_where_it_would_stand():
    found = bars.dots([("k=3", [bars.Dot(0, 0.4, 0.3, 0.5, 0.1, "40 %"), bars.Absent("failed")])], label="x")
    assert {"k=3", "40 %", "failed", "guessing 10.0\u00a0%"} <= {said for *_, said in words(found)}
    assert 'font-style="italic"' in found


def test_names_are_escaped_and_unseen_letters_shown():
    found = drawn(line("<b>\x07", 0, 0.1), line("y", 1, 0.2))
    assert "<b>" not in found
    assert "&lt;b&gt;\\x07" in found


@pytest.mark.parametrize("values", [[0.0], [0.0, 0.0], [5.0], [1e-9, 1.0], [1.0, 1e12]])
def test_scales_of_any_amounts_have_labels_between_their_ends(values):
    scale = scales.amounts(values)
    assert scale.ticks
    assert all(scale.low - 1e-9 <= place <= scale.high + 1e-9 for place, _ in scale.ticks)
    assert all(0 <= scale.at(value) <= 1 for value in values)
