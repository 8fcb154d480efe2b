"""A finding as a value: a sentence, and the charts, tables and notes that support it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from unmask.results.chart import Chart
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
