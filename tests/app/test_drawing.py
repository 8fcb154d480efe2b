"""What a column looks like."""

from unmask.app.drawing import histogram
from unmask.tables import Table


def test_cells_without_an_end_are_not_drawn():
    table = Table.read({"age": ["*", "<=20", "[20, 30]", "[30, 40]"]}, quasi_identifiers="age")
    drawn, ends = histogram(table.quasi_identifiers[0])
    assert drawn.count("<rect") == 2
    assert ends == ("20", "40")
