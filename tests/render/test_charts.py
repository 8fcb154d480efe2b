"""Charts: every form shows its columns, its words are legible at any width, and the same table has the same bytes."""

from __future__ import annotations

import html
import math
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.render.text_boxes import assert_legible
from unmask.render import draw
from unmask.render.charts.boxes import BROAD, MIDDLE, NARROW, text_width, wrap_text
from unmask.render.charts.scales import value_scale
from unmask.results import Chart, Column, Table

LONG = "an adversary who knows age, sex, the first three digits of the zip code and the year of birth"

K, RISK, NAME = Column("k", "k", "number"), Column("risk", "Success", "share"), Column("name")
STYLE, LOW, HIGH, TEXT, MARK = (Column(name) for name in ("style", "low", "high", "text", "mark"))
BASELINE = Column("baseline", "guessing", "share")
BIN, PEOPLE = Column("bin", "Risk", "interval", "share"), Column("people", "people", "people")
PAYOFF, NOW = Column("payoff", "Payoff", "number"), Column("now", "now", "number")
LOSS = Column("loss", "Utility", "share")


def words(drawing: object) -> list[str]:
    """All words of a drawing, the legend among them."""
    return [html.unescape(text) for text in re.findall(r"<(?:text|span)[^>]*>([^<]*)<", str(drawing))]


def titles(drawing: object) -> list[str]:
    return [title.replace("\u00a0", " ") for title in re.findall("<title>([^<]*)</title>", str(drawing))]


def lines(*series: tuple[str, int, list[float]], form: str = "lines", **options):
    rows = [(k, risk, name, style) for name, style, values in series for k, risk in enumerate(values)]
    table = Table.from_records("t", (K, RISK, NAME, STYLE), rows)
    return draw(Chart(form, "t", "k", "risk", "name", style="style", title="Chart", **options), table)


def points(*rows: tuple, **options):
    table = Table.from_records("t", (RISK, LOSS, NAME, STYLE, TEXT, MARK), rows)
    chart = Chart(
        "points", "t", "risk", "loss", "name", style="style", text="text", mark="mark", title="Chart", **options
    )
    return draw(chart, table)


def dots(*rows: tuple):
    table = Table.from_records("t", (NAME, RISK, LOW, HIGH, BASELINE, TEXT), rows)
    chart = Chart("dots", "t", "risk", "name", baseline="baseline", low="low", high="high", text="text", title="Chart")
    return draw(chart, table)


def histogram(people: list[object], edges: tuple[float, ...] = (0.0, 0.02, 0.05, 0.09, 1.0), limit: float = 0.05):
    rows = [(ends, n, "release", "300 above") for ends, n in zip(pairwise(edges), people, strict=True)]
    table = Table.from_records("t", (BIN, PEOPLE, NAME, TEXT), rows)
    return draw(Chart("histogram", "t", "bin", "people", "name", text="text", x_rules={"limit": limit}), table)


def bars():
    rows = [((10.0 * i, 10.0 * i + 10), share, 0.1) for i, share in enumerate((0.2, 0.5, 0.3))]
    columns = (Column("age", "Age", "interval"), Column("after", "after", "share"), BASELINE)
    return draw(Chart("bars", "t", "age", "after", baseline="baseline"), Table.from_records("t", columns, rows))


def tornado(*swings: tuple[str, float, float]):
    rows = [
        (name, end, value, 400, f"{value:g}") for name, *ends in swings for end, value in zip("lh", ends, strict=True)
    ]
    table = Table.from_records("t", (NAME, Column("end"), PAYOFF, NOW, TEXT), rows)
    return draw(Chart("tornado", "t", "payoff", "name", "end", baseline="now", text="text"), table)


FORMS = {
    "lines": lambda: lines(("A  short", 0, [0.1, 0.2, 0.1]), (f"B  {LONG}", 1, [0.2, 0.3, 0.2]), rules={"limit": 0.09}),
    "steps": lambda: lines(("", 0, [0.1, 0.2, 1.0]), form="steps", x_rules={LONG: 1.5, "worst": 0.2}),
    "points": lambda: points(
        *((0.1 * i, 0.5 + 0.01 * i, "A", 0, f"Mondrian k={i}", "point") for i in range(1, 9)), front=True
    ),
    "dots": lambda: dots((LONG, 0.4, 0.3, 0.5, 0.1, ""), ("k=3", None, None, None, 0.1, "failed")),
    "histogram": lambda: histogram([700, 0, 290, "at most 10"]),
    "bars": bars,
    "tornado": lambda: tornado(("Gain", 100, 900), ("Cost", 700, 0), ("Fine", 400, 400)),
}


@pytest.mark.parametrize("width", [NARROW, 330.0, MIDDLE - 1, MIDDLE, 640.0, BROAD])
@pytest.mark.parametrize("form", FORMS)
def test_no_word_is_cut_and_none_is_drawn_over_another_one(form, width):
    assert_legible(FORMS[form](), width)


@pytest.mark.parametrize("form", FORMS)
def test_a_chart_has_its_numbers_in_words_and_the_same_bytes_again(form):
    drawing = FORMS[form]()
    assert re.search(r"\d", drawing.label)
    assert f'aria-label="{html.escape(drawing.label)}"' in str(drawing)
    assert str(drawing) == str(FORMS[form]())
    assert "<title>" in str(drawing)


@pytest.mark.parametrize("form", FORMS)
def test_colors_are_those_of_the_page_and_in_a_file_the_light_ones(form):
    drawing = FORMS[form]()
    bare = re.sub(r"var\(--[\w-]+,#\w+\)", "", str(drawing))
    assert not re.search(r'(fill|stroke)="(?!none|")[^"]', bare)
    assert "var(" not in drawing.to_file()
    assert drawing.to_file().startswith('<svg xmlns="http://www.w3.org/2000/svg"')


@given(st.lists(st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=1), min_size=1, max_size=8))
def test_wrapping_loses_no_letter_and_stays_in_its_room(names):
    text = " ".join(names)
    wrapped = wrap_text(text, 60)
    assert "".join(wrapped).replace(" ", "") == text.replace(" ", "")
    assert all(text_width(line) <= 60 or len(line) == 1 for line in wrapped)


def test_a_legend_has_all_names_in_their_order_and_cuts_none():
    drawing = lines((f"A  {LONG}", 0, [0.3, 0.4]), ("B  short", 1, [0.31, 0.41]))
    assert [entry.name for entry in drawing.legend] == [f"A  {LONG}", "B  short"]
    assert f"A  {LONG}" in html.unescape(str(drawing))


def test_names_of_lines_are_written_at_their_ends_where_all_fit():
    drawing = lines(("one", 0, [0.1, 0.2]), ("two", 1, [0.9, 0.8]))
    assert not drawing.legend
    assert {"one", "two"} <= {*words(drawing)}


def test_a_missing_value_is_a_gap_and_a_single_line_needs_no_legend():
    drawing = lines(("alone", 0, [0.1, math.nan, 0.3, 0.4]))
    (path,) = re.findall(r'<path d="([^"]*)" fill="none" vector-effect', str(drawing))
    assert path.count("M") == 2
    assert "alone" not in words(drawing)
    assert drawing.label.replace("\u00a0", " ").endswith("alone: 10.0 % to 40.0 %.")


def test_steps_hold_a_value_up_to_the_next_row():
    drawing = lines(("", 0, [0.5, 1.0]), form="steps")
    (path,) = re.findall(r'<path d="M([^"]*)" fill="none" vector-effect', str(drawing))
    corners = [tuple(map(float, corner.split(","))) for corner in path.split("L")]
    assert [a[0] == b[0] or a[1] == b[1] for a, b in pairwise(corners)] == [True] * (len(corners) - 1)
    assert corners[0][1] == corners[1][1] > corners[2][1]


def test_dominated_points_are_hollow_and_only_the_others_are_joined_by_steps():
    drawing = points(
        (0.1, 0.3, "A", 0, "a", "point"),
        (0.4, 0.7, "A", 0, "b", "point"),
        (0.4, 0.2, "A", 0, "c", "hollow"),
        front=True,
    )
    assert re.findall(r'class="mark"[^>]* fill="(\S+)"', str(drawing)).count("var(--paper,#ffffff)") == 1
    (front,) = re.findall(r'<path d="M([^"]*)"[^>]*opacity', str(drawing))
    corners = [tuple(map(float, corner.split(","))) for corner in front.split("L")]
    assert {a[0] == b[0] or a[1] == b[1] for a, b in pairwise(corners) if a != b} == {True}
    assert {"a", "b", "c"} <= {*words(drawing)}
    assert titles(drawing)[-1].endswith(": Success: 40.0 %; Utility: 70.0 %")


def test_a_curve_is_a_line_without_marks_in_a_color_of_no_adversary():
    rows = [(0.1, 0.1, "A", 0, "", "point"), *((x / 10, x / 9, "the limit", 0, "", "curve") for x in range(4))]
    drawing = points(*rows)
    assert len(re.findall('class="mark"', str(drawing).partition("</ul>")[2])) == len(titles(drawing)) == 1
    assert 'fill="none" vector-effect="non-scaling-stroke" stroke="var(--ink-2,#474e56)"' in str(drawing)
    assert [entry.name for entry in drawing.legend] == ["A", "the limit"]


def test_the_reason_for_a_missing_value_is_written_in_its_place():
    drawing = dots(("k=3", 0.4, 0.3, 0.5, 0.1, "40 %"), ("k=9", None, None, None, 0.1, "failed"))
    assert {"k=3", "40 %", "failed", "guessing 10.0\u00a0%"} <= {*words(drawing)}
    assert 'font-style="italic"' in str(drawing)


def test_bars_of_both_values_on_one_side_are_both_drawn():
    drawing = tornado(("Fine", 500, 700))
    assert len(re.findall("<rect ", str(drawing))) == 2
    assert {"500", "700", "now 400", "Fine"} <= {*words(drawing)}


def test_names_are_escaped_and_unseen_letters_shown():
    drawing = str(lines(("<b>\x07", 0, [0.1]), ("y", 1, [0.2])))
    assert "<b>" not in drawing
    assert "&lt;b&gt;\\x07" in drawing


@pytest.mark.parametrize(
    "values", [[0.0], [0.0, 0.0], [5.0], [1e-9, 1.0], [1.0, 1e12], [0.0, 1.0, 31.0], [-2.0, 3.0], []]
)
def test_scales_of_any_amounts_have_labels_between_their_ends(values):
    scale = value_scale(values, Column("x"), log=True, rounded=True)
    assert scale.ticks
    assert all(-1e-9 <= index <= 1 + 1e-9 for index, _ in scale.labels)
    assert all(0 <= scale.locate(value) <= 1 for value in values)


def test_a_logarithmic_scale_is_used_only_if_values_span_widely_and_its_title_states_it():
    far, near = (value_scale(values, Column("x", "Fine"), log=True) for values in ([1, 31], [1, 30]))
    assert (far.log, far.title, near.log, near.title) == (True, "Fine (logarithmic)", False, "Fine")


@given(st.floats(1e-6, 1.0))
def test_the_axis_of_dots_reaches_as_far_as_they_do(value):
    drawing = dots(("k=3", value, value, value, 0.0, "x"))
    index = float(re.search(r'<circle class="mark" cx="([\d.]+)%"', str(drawing))[1])
    labels = [float(x) for x in re.findall(r'<text x="([\d.]+)%"[^>]*>[\d.,]+\u00a0%<', str(drawing))]
    assert index <= max(labels) + 0.01


def test_bars_are_as_high_as_people_are_many_and_the_fewest_are_seen():
    drawing = histogram([700, 0, 290, 10])
    heights = [float(height) for height in re.findall(r'<rect [^>]*height="([\d.]+)"', "".join(drawing.parts))]
    assert heights == [pytest.approx(64), pytest.approx(64 * 0.29 / 0.7, abs=0.01), 2]
    assert titles(drawing) == ["0 % to 2.0 %: 700 people", "5.0 % to 9.0 %: 290 people", "9.0 % to 100 %: 10 people"]


def test_a_bar_of_few_people_does_not_show_how_few():
    drawing = histogram([700, 0, 290, "at most 10"])
    assert "at most 10 people" in str(drawing)
    assert "at most 10" in words(drawing)
    assert not {"10", "9"} & {*words(drawing)}


def test_figures_at_both_sides_of_a_limit_do_not_touch():
    drawing = histogram([0, 700, 700, 0], (0, 0.08, 0.09, 0.1, 1), 0.09)
    label_positions = re.findall(r'<text x="([\d.]+)%"[^>]*?(?: dx="(-?[\d.]+)")?[^>]*>700<', "".join(drawing.parts))
    assert [abs(float(dx)) for _, dx in label_positions if dx] == [4.0] * len(label_positions)
    assert label_positions
