"""The grammar of charts: legends whole and in order, words inside the chart, room for names, the same bytes."""

from __future__ import annotations

import html
import math
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.reports import bars, scales, svg
from unmask.reports.charts import ends, plot
from unmask.reports.marks import Key, Line, Spot
from unmask.reports.people import Spread, people
from unmask.reports.planes import plane
from unmask.reports.room import wide, wrapped

LONG = "an adversary who knows age, sex, the first three digits of the zip code and the year of birth"


def drawn(*lines: Line, **more) -> svg.Drawing:
    return plot(scales.shares(), scales.shares(), lines, label="x", **more)


def words(drawing: object) -> list[str]:
    """All words of a drawing, the legend among them."""
    return [html.unescape(said) for said in re.findall(r"<(?:text|span)[^>]*>([^<]*)<", str(drawing))]


def line(name: str, style: int, *values: float) -> Line:
    return Line(name, [(i / 4, value) for i, value in enumerate(values)], style)


def test_a_legend_has_all_names_in_the_order_of_letters_and_cuts_none():
    found = drawn(line("B  short", 1, 0.1, 0.2), line(f"A  {LONG}", 0, 0.3, 0.4), keys=[Key("C  key", 2)])
    assert [said for said in words(found) if said[1:3] == "  "] == ["C  key", f"A  {LONG}", "B  short"]


@given(st.lists(st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=1), min_size=1, max_size=8))
def test_wrapping_loses_no_letter_and_stays_in_its_room(names):
    text = " ".join(names)
    lines = wrapped(text, 60)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(wide(one) <= 60 or len(one) == 1 for one in lines)


def test_a_missing_value_is_a_gap_and_a_single_line_needs_no_legend():
    found = drawn(line("alone", 0, 0.1, math.nan, 0.3, 0.4))
    (path,) = re.findall(
        r'<path d="([^"]*)" fill="none" vector-effect="non-scaling-stroke" stroke="var\(--s1', str(found)
    )
    assert path.count("M") == 2
    assert "alone" not in words(found)
    assert ends([line("alone", 0, 0.1, math.nan, 0.3)]).replace("\u00a0", " ") == "alone: 10.0 % to 30.0 %."


def test_dominated_spots_are_hollow_and_only_the_others_are_joined_by_steps():
    spots = [Spot(0.1, 0.3, 0, "a"), Spot(0.4, 0.7, 0, "b"), Spot(0.4, 0.2, 0, "c", hollow=True)]
    found = str(plane(scales.shares(), scales.shares(), spots, keys=[], label="x"))
    assert re.findall(r'class="mark"[^>]* fill="(\S+)"', found).count("var(--paper,#ffffff)") == 1
    (front,) = re.findall(r'<path d="M([^"]*)"[^>]*opacity', found)
    corners = [tuple(map(float, one.split(","))) for one in front.split("L")]
    assert [a[0] == b[0] or a[1] == b[1] for a, b in pairwise(corners)] == [True, True]
    assert {"a", "b", "c"} <= {*words(found)}


def test_words_for_what_has_no_value_stand_where_it_would_stand():
    found = bars.dots([("k=3", [bars.Dot(0, 0.4, 0.3, 0.5, 0.1, "40 %"), bars.Absent("failed")])], label="x")
    assert {"k=3", "40 %", "failed", "guessing 10.0\u00a0%"} <= {*words(found)}
    assert 'font-style="italic"' in str(found)


def test_names_are_escaped_and_unseen_letters_shown():
    found = str(drawn(line("<b>\x07", 0, 0.1), line("y", 1, 0.2)))
    assert "<b>" not in found
    assert "&lt;b&gt;\\x07" in found


@pytest.mark.parametrize("values", [[0.0], [0.0, 0.0], [5.0], [1e-9, 1.0], [1.0, 1e12]])
def test_scales_of_any_amounts_have_labels_between_their_ends(values):
    scale = scales.amounts(values)
    assert scale.ticks
    assert all(scale.low - 1e-9 <= place <= scale.high + 1e-9 for place, _ in scale.ticks)
    assert all(0 <= scale.at(value) <= 1 for value in values)


@given(st.floats(1e-6, 1.0))
def test_the_axis_of_dots_reaches_as_far_as_they_do(value):  # U22
    found = bars.dots([("k=3", [bars.Dot(0, value, value, value, 0.0, "x")])], label="x")
    at = float(re.search(r'<circle class="mark" cx="([\d.]+)%"', str(found))[1])
    labels = [float(x) for x in re.findall(r'<text x="([\d.]+)%"[^>]*>[\d.,]+\u00a0%<', str(found))]
    assert at <= max(labels) + 0.01


def test_a_pointer_finds_spots_and_no_corner_of_a_frontier_and_names_stay_when_a_series_is_hidden():
    spots = [Spot(0.1, 0.3, 0, "a", of="A", told="a: 10 %"), Spot(0.4, 0.7, 0, "b", of="A", told="b: 40 %")]
    found = str(plane(scales.shares(), scales.shares(), spots, keys=[], label="x"))
    assert re.findall("<title>([^<]*)</title>", found) == ["a: 10 %", "b: 40 %"]
    hidden = re.sub(r'<g data-of="A">.*?</g>(?=<g data-of|<text|<line|<svg x|</svg>)', "", found)
    assert {"a", "b"} <= {*words(hidden)}


def test_bars_are_as_high_as_people_are_many_and_the_fewest_are_seen():
    spread = Spread("release", (0.7, 0.0, 0.29, 0.01), 1000)
    drawn = people([spread], (0.0, 0.02, 0.05, 0.09, 1.0), style=0, limit=0.05, label="People.")
    bars = [float(one) for one in re.findall(r'<rect [^>]*height="([\d.]+)"', "".join(drawn.parts))]
    assert bars == [pytest.approx(64), pytest.approx(64 * 0.29 / 0.7, abs=0.01), 2]
    assert re.findall(r"people \((.*?)\)", "".join(drawn.parts)) == ["70\u00a0%", "29\u00a0%", "1\u00a0%"]


def test_a_bar_of_few_people_does_not_say_how_few():
    spread = Spread("release", (0.7, 0.29, 0.01), 1000, "fewer than 10 above 9 %", least=10)
    drawn = "".join(people([spread], (0.0, 0.05, 0.09, 1.0), style=0, limit=0.09, label="People.").parts)
    assert re.findall(r">(at most 10|10)<", drawn) == ["at most 10"] * drawn.count(">at most 10<")
    assert "at most 10 people" in drawn
    assert ">290<" in drawn


def test_figures_at_both_sides_of_a_limit_do_not_touch():
    drawn = people([Spread("r", (0.0, 0.5, 0.5, 0.0), 1400)], (0, 0.08, 0.09, 0.1, 1), style=0, limit=0.09, label="P.")
    shown = re.findall(r'<text x="([\d.]+)%"[^>]*?(?: dx="(-?[\d.]+)")?[^>]*>700<', "".join(drawn.parts))
    assert [abs(float(dx)) for _, dx in shown if dx] == [4.0] * len(shown)
    assert shown
