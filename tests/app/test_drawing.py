"""What a column looks like."""

import pytest

from unmask.app.drawing import MISSED, SHORT, Spot, histogram, plane
from unmask.app.shapes import Shape
from unmask.tables import Table


def test_cells_without_an_end_are_not_drawn():
    table = Table.read({"age": ["*", "<=20", "[20, 30]", "[30, 40]"]}, quasi_identifiers="age")
    drawn, ends = histogram(table.quasi_identifiers[0])
    assert drawn.count("<rect") == 2
    assert ends == ("20", "40")


@pytest.mark.parametrize(("times", "words"), [(8.0, MISSED), (1 / 100, SHORT)])
def test_what_is_beyond_the_limit_is_not_cut_where_the_limit_is_far_right(times: float, words: str):
    spots = [Spot(value, 0.5, "k = 2", "", True, value <= 1, "/protect") for value in (times, times / 2)]
    assert f">{words}</text>" in plane(spots, chosen=None, against=None)


def test_a_missing_cell_is_no_value():
    read = Table.read(
        {"zip": ["01067", "01067", "01109", None, "02445"]}, quasi_identifiers="zip", types={"zip": "code"}
    )
    shape = Shape.of(read.column("zip"))
    assert (shape.values, [rung.distinct for rung in shape.ladder[:3]]) == (3, [3, 3, 3])
    assert shape.drawing.count("<rect") == 3
    assert Shape.of(Table.read({"sex": ["f", "m"]}, quasi_identifiers="sex").column("sex")).values == 2
