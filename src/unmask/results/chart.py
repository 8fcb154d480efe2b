"""A chart as a value: its form, and the columns of a table that it shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Form = Literal["dots", "lines", "steps", "points", "bars", "histogram", "tornado"]


@dataclass(frozen=True)
class Chart:
    """A chart of a table.

    Parameters
    ----------
    form : {"dots", "lines", "steps", "points", "bars", "histogram", "tornado"}
        Form of the marks. "dots" shows one value per row with its baseline and interval; the others have two axes.
    table : str
        Name of the table.
    x, y : str
        Columns on the axes.
    by : str, optional
        Column that distinguishes series.
    title : str, optional
        Line above the chart.
    label : str, optional
        Description for readers who do not see the chart.
    baseline : str, optional
        Column of the value without the release.
    low, high : str, optional
        Columns of the ends of a 95 % interval.
    rules : mapping of str to float
        Label of a limit line -> its value on the vertical axis.
    """

    form: Form
    table: str
    x: str
    y: str
    by: str = ""
    title: str = ""
    label: str = ""
    baseline: str = ""
    low: str = ""
    high: str = ""
    rules: Mapping[str, float] = field(default_factory=dict)
