"""Small HTML tables for notebooks, without styles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from unmask.core.errors import visible

SHOWN = 5
"""Largest number of displayed table rows, and of displayed targets of a belief."""


def html_table(caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return an HTML table. None becomes an empty cell; floats have four digits.

    >>> html_table("Belief", ["who", "probability"], [("ann & bob", 0.25)])
    '<table><caption>Belief</caption><tr><th>who</th><th>probability</th></tr><tr><td>ann &amp; bob</td><td>0.25</td></tr></table>'
    """  # noqa: E501  # one line is what it returns
    heads = "".join(f"<th>{_cell(cell)}</th>" for cell in head)
    lines = ("".join(f"<td>{_cell(cell)}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><caption>{_cell(caption)}</caption><tr>{heads}</tr>{body}</table>"


def _cell(value: object) -> str:
    text = "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
    return escape(visible(text))
