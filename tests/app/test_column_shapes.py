"""Histograms and levels of columns."""

from unmask.app.column_shapes import Shape
from unmask.tables import Table


def test_cells_without_an_end_are_not_drawn():
    table = Table.read({"age": ["*", "<=20", "[20, 30]", "[30, 40]"]}, quasi_identifiers="age")
    shape = Shape.of(table.quasi_identifiers[0])
    assert shape.histogram.count("<rect") == 2
    assert shape.ends == ("20", "40")


def test_a_missing_cell_is_no_value():
    read = Table.read(
        {"zip": ["01067", "01067", "01109", None, "02445"]}, quasi_identifiers="zip", types={"zip": "code"}
    )
    shape = Shape.of(read.column("zip"))
    assert [rung.distinct for rung in shape.ladder[:3]] == [3, 3, 3]
    assert shape.histogram.count("<rect") == 3
    assert Shape.of(Table.read({"sex": ["f", "m"]}, quasi_identifiers="sex").column("sex")).ladder[0].distinct == 2
