"""Verdicts, tables of plain aligned text, and the run of a program's parts."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

CLOSING = "{} verdicts hold, {} differ as explained, {} fail"
"""The line that a program ends with."""


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


def run(parts: Iterable[Callable[[], Section]]) -> int:
    """Work out and print one part after the other, then how many verdicts hold; exit code 1 if one that must fails."""
    verdicts: list[Verdict] = []
    for part in parts:
        wall, cpu = time.perf_counter(), time.process_time()
        section = part()
        _show(section)
        print(f"   ({time.perf_counter() - wall:.0f} s, CPU {time.process_time() - cpu:.0f} s)", flush=True)
        verdicts += section.verdicts
    held = sum(verdict.holds for verdict in verdicts)
    wrong = [verdict for verdict in verdicts if verdict.required and not verdict.holds]
    print("\n" + CLOSING.format(held, len(verdicts) - held - len(wrong), len(wrong)))
    for verdict in wrong:
        print(f"  FAILS: {verdict.claim}")
    return 1 if wrong else 0


def tallied(output: str) -> tuple[int, int, int] | None:
    """How many verdicts hold, differ and fail by the closing line in a program's output; None without one."""
    found = re.search(CLOSING.replace("{}", "([0-9]+)"), output)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))


def _show(section: Section) -> None:
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


def _is_numeric(cells: Sequence[str]) -> bool:
    return all(cell == "" or cell[0].isdigit() or cell[0] in "-+." for cell in cells)


def _cells(verdict: Verdict) -> tuple[str, ...]:
    word = "holds" if verdict.holds else "FAILS" if verdict.required else "differs"
    return verdict.claim, verdict.published, verdict.ours, word
