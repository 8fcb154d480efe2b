"""A finding as a value: a sentence, and the charts, tables and notes that support it."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.results.chart import Chart


@dataclass(frozen=True)
class Fact:
    """A label and the words behind it, such as "Most telling" and "the adversary is wrong in 3 % of cases there"."""

    label: str
    text: str


@dataclass(frozen=True)
class Block:
    """One finding of a page.

    Parameters
    ----------
    name : str
        Anchor of the block on the page.
    heading : str
        Heading on the page.
    sentence : str
        The finding in one sentence; it stands below the heading and in the list of findings.
    charts : tuple of Chart
        Charts below the sentence.
    tables : tuple of str
        Names of tables below the charts.
    introduction : str
        What a reader needs to know before the charts and tables.
    notes : tuple of str
        How to read the charts and tables.
    open : bool
        True if charts and tables are visible before a reader opens the block.
    """

    name: str
    heading: str
    sentence: str = ""
    charts: tuple[Chart, ...] = ()
    tables: tuple[str, ...] = ()
    introduction: str = ""
    notes: tuple[str, ...] = ()
    open: bool = False
