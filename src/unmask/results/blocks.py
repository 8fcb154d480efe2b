"""A finding as a value: a sentence, and the charts, tables and notes that support it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from unmask.results.table import Table

Sentence = Callable[[Mapping[str, Table]], str]
"""Function that writes a sentence from tables by name."""


@dataclass(frozen=True)
class Fact:
    """A label and the words behind it, such as "Most telling" and "the adversary is wrong in 3 % of cases there".

    Parameters
    ----------
    section : str, optional
        Section of the page that the label links to.
    """

    label: str
    text: str
    section: str = ""


@dataclass(frozen=True)
class View:
    """Part of a table that a page shows.

    Parameters
    ----------
    table : str
        Name of the table.
    columns : tuple of str
        Columns to show; by default, all columns.
    where : mapping of str to value
        Values of columns that select the rows; by default, all rows.
    title : str, optional
        Line above the table.
    limit : int
        Rows to show; 0 for all.
    transposed : bool
        True if the page has a line for each column, with its meaning, and a column for each release.
    """

    table: str
    columns: tuple[str, ...] = ()
    where: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    limit: int = 0
    transposed: bool = False


Form = Literal["dots", "lines", "steps", "points", "bars", "histogram", "tornado"]


@dataclass(frozen=True)
class Chart:
    """A chart of a table.

    Parameters
    ----------
    form : {"dots", "lines", "steps", "points", "bars", "histogram", "tornado"}
        Form of the marks. "dots" shows a value per row with its baseline and interval, in groups by `y`; "lines" join
        values; "steps" hold a value up to the next row; "points" stand alone; "bars" have an interval or a category on
        the horizontal axis, and the baseline as bars behind a stepped line; "histogram" counts people in intervals of
        risk, a strip for each series; "tornado" has two bars around the baseline for each `y`.
    table : str
        Name of the table.
    x, y : str
        Columns on the axes.
    by : str, optional
        Column that distinguishes series.
    title : str, optional
        Line above the chart.
    label : str, optional
        Description for readers who do not see the chart, before its numbers; the title if it is empty.
    baseline : str, optional
        Column of the value without the release.
    low, high : str, optional
        Columns of the ends of a 95 % interval.
    style : str, optional
        Column with the number of an adversary's color and shape. Without it, series are numbered in their order and
        have the colors of things that are not adversaries.
    text : str, optional
        Column of the words next to a mark: a name, a value, the reason why there is no value, or what a strip counts.
    size : str, optional
        Column of the area of points.
    mark : str, optional
        Column with "point", "hollow" (a reference, or a point that another one dominates) or "curve" (a vertex of a
        line without marks, such as a theoretical limit). Without it, every row is a point.
    ring : str, optional
        Column with "solid" or "dashed" for points with a ring, such as the one that a reader selected.
    link : str, optional
        Column of the address that a point opens.
    front : bool
        True if the filled points of each series, in the order of their rows, are a Pareto front: steps join them, and
        the vertical axis spans the values instead of starting at 0.
    rules : mapping of str to float
        Label of a limit line -> its value on the vertical axis.
    x_rules : mapping of str to float
        Label of a limit line -> its value on the horizontal axis.
    diagonal : str, optional
        Label of the line on which both axes have the same value.
    log : {"", "x", "y", "xy"}
        Axes that are logarithmic if their values span more than a factor of 30.
    x_max, y_max : float, optional
        Least end of an axis, so that charts can be compared with each other.
    where : mapping of str to value
        Values of columns that select the rows to draw; by default, all rows.
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
    style: str = ""
    text: str = ""
    size: str = ""
    mark: str = ""
    ring: str = ""
    link: str = ""
    front: bool = False
    rules: Mapping[str, float] = field(default_factory=dict)
    x_rules: Mapping[str, float] = field(default_factory=dict)
    diagonal: str = ""
    log: Literal["", "x", "y", "xy"] = ""
    x_max: float = 0.0
    y_max: float = 0.0
    where: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Block:
    """One finding of a page.

    Parameters
    ----------
    name : str
        Anchor of the block on the page.
    heading : str
        Heading on the page.
    sentence : str or callable
        The finding in one sentence, or a function that writes it from the tables without small counts. It is shown
        below the heading and in the list of findings.
    charts : tuple of Chart
        Charts below the sentence.
    tables : tuple of str or View
        Names or parts of tables below the charts.
    facts : tuple of Fact
        Labels and words before the charts, such as questions and answers.
    introduction : str
        What a reader needs to know before the charts and tables.
    notes : tuple of str
        How to read the charts and tables.
    open : bool
        True if charts and tables are visible before a reader opens the block.
    is_finding : bool
        True if the sentence is listed among the findings; False if it only summarizes the charts and tables.
    """

    name: str
    heading: str
    sentence: str | Sentence = ""
    charts: tuple[Chart, ...] = ()
    tables: tuple[str | View, ...] = ()
    introduction: str = ""
    notes: tuple[str, ...] = ()
    open: bool = False
    is_finding: bool = True
    facts: tuple[Fact, ...] = ()

    def describe(self, tables: Mapping[str, Table]) -> str:
        """Return the sentence, written from tables without small counts."""
        return self.sentence if isinstance(self.sentence, str) else self.sentence(tables)
