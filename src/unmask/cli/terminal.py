"""The output of commands: no name, note or error can hide, move or color text of the terminal."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import click

from unmask.core.errors import visible

if TYPE_CHECKING:
    from unmask.results import Table

QUIET = f"{__name__}.quiet"
"""Key of the context of a command that shall show results, errors and warnings only."""

LOUD = ("Error", "missed", "not tested", "warning")
"""Beginnings of lines that are shown all the same."""


def print_line(line: str = "", *, err: bool = False, color: bool | None = None, **style: Any) -> None:
    """Write one line, with escapes for characters that a terminal obeys, line ends among them.

    style : of `click.style`
    """
    text, context = visible(line), click.get_current_context(silent=True)
    if err and context and context.meta.get(QUIET) and not text.startswith(LOUD):
        return
    click.echo(click.style(text, **style) if style else text, err=err, color=color)


def print_table(table: Table) -> None:
    """Write a table below its headings, texts at the left and numbers at the right."""
    from unmask.results.formats import format_cell  # here: most commands print none

    lines = [[column.label or column.name for column in table.columns]]
    lines += [[format_cell(column, row[column.name]) for column in table.columns] for row in table.rows]
    widths = [max(map(len, map(visible, cells))) for cells in zip(*lines, strict=True)]
    aligned = ["<" if column.kind == "text" else ">" for column in table.columns]
    for line in lines:
        cells = (
            f"{visible(text):{alignment}{width}}" for text, alignment, width in zip(line, aligned, widths, strict=True)
        )
        print_line("  ".join(cells).rstrip())


def print_text(text: str) -> None:
    """Write the lines of a text."""
    for line in text.removesuffix("\n").split("\n"):
        print_line(line)


def rewrite_line(line: str) -> None:
    """Write a line of progress over the one before it."""
    click.echo(f"\r{visible(line)}   ", err=True, nl=False)


class Notes(logging.Handler):
    """The notes of readers, as lines on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a note."""
        print_line(record.getMessage(), err=True)
