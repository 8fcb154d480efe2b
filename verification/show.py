"""Verdicts, and tables of plain aligned text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """A claim beside what was published and what was found, and whether it holds.

    required : False where a difference is expected and explained; it is shown and does not fail the program.
    """

    claim: str
    published: str
    ours: str
    holds: bool
    required: bool = True


@dataclass(frozen=True)
class Section:
    """One part of the program's output: a title, a table, what a reader must know, and verdicts that must hold."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()


def show(section: Section) -> None:
    """Print a section."""
    print(f"\n== {section.title}\n")
    print(aligned(section.header, section.rows))
    for note in section.notes:
        print(f"   {note}")
    if section.verdicts:
        print()
        print(aligned(("claim", "published", "ours", "verdict"), [_cells(verdict) for verdict in section.verdicts]))


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns two blanks apart; a column of numbers is set right, any other left."""
    lines = [tuple(header), *(tuple(row) for row in rows)]
    assert all(len(line) == len(header) for line in lines)
    widths = [max(len(line[j]) for line in lines) for j in range(len(header))]
    right = [_is_numeric([row[j] for row in rows]) for j in range(len(header))]
    text = [
        "  ".join(
            cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    ]
    return "\n".join([text[0], "-" * min(160, sum(widths) + 2 * len(widths) - 2), *text[1:]])


def failures(sections: Sequence[Section]) -> list[Verdict]:
    """The verdicts that must hold and do not."""
    return [verdict for section in sections for verdict in section.verdicts if verdict.required and not verdict.holds]


def _is_numeric(cells: Sequence[str]) -> bool:
    return all(cell == "" or cell[0].isdigit() or cell[0] in "-+." for cell in cells)


def _cells(verdict: Verdict) -> tuple[str, ...]:
    word = "holds" if verdict.holds else "FAILS" if verdict.required else "differs"
    return verdict.claim, verdict.published, verdict.ours, word
