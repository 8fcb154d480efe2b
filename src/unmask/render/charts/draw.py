"""Seven forms of charts as SVG: `draw` shows columns of a table as a `Chart` names them."""

from __future__ import annotations

from unmask.render.charts.planes import draw_plane
from unmask.render.charts.row_charts import draw_dots, draw_histogram, draw_tornado
from unmask.render.charts.svg import Drawing
from unmask.results.blocks import Chart
from unmask.results.table import Table

ROW_FORMS = {"dots": draw_dots, "histogram": draw_histogram, "tornado": draw_tornado}
"""Forms without a vertical axis."""


def draw(chart: Chart, table: Table) -> Drawing:
    r"""Draw columns of a table.

    Parameters
    ----------
    chart : Chart
        Form and columns.
    table : Table
        The table that the chart names, as it may be shown: nothing is suppressed here.

    Returns
    -------
    Drawing
        SVG for a page, or for a file. The same table has the same bytes on every machine.

    Examples
    --------
    >>> from unmask.results import Column
    >>> columns = (Column("k", "k", "number"), Column("risk", "Risk", "share"))
    >>> table = Table.from_records("risk", columns, [(3, 0.4), (9, 0.1)])
    >>> draw(Chart("lines", "risk", "k", "risk", title="Risk"), table).label
    'Risk, by k, from 3 to 9: 40.0\xa0% to 10.0\xa0%.'
    """
    return ROW_FORMS.get(chart.form, draw_plane)(chart, table.where(**chart.where))
