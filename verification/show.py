"""Verdicts, tables of aligned text, the command line of a program with parts, and a browser."""

from __future__ import annotations

import argparse
import inspect
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import Any

CLOSING = "{} verdicts hold, {} differ as explained, {} fail"
"""Last line of a program."""


@dataclass(frozen=True)
class Verdict:
    """A claim, its published value, our value, and whether it holds.

    required : False if a difference is expected and explained. It is printed and does not fail the program.
    refutes  : True if a difference contradicts the source on the same data and attack. It does not fail the program.
    """

    claim: str
    published: object
    ours: object
    holds: bool
    required: bool = True
    refutes: bool = False


@dataclass(frozen=True)
class Number:
    """A number: the claim, its source, the expected value, a function that computes ours, and the tolerance."""

    claim: str
    source: str
    expected: float
    compute: Callable[[], float]
    tolerance: float = 1e-6

    def verify(self, digits: int = 6) -> Verdict:
        """Return the verdict: our value is within the tolerance."""
        ours = self.compute()
        holds = abs(ours - self.expected) <= self.tolerance
        return Verdict(f"{self.claim} ({self.source})", f"{self.expected:.{digits}g}", f"{ours:.{digits}g}", holds)


@dataclass(frozen=True)
class Section:
    """One part of the output: a title, a table, notes for its readers, and verdicts. Any iterable becomes a tuple."""

    title: str
    header: Sequence[str] = ()
    rows: Iterable[Sequence[object]] = ()
    notes: Iterable[str] = ()
    verdicts: Iterable[Verdict] = ()

    def __post_init__(self) -> None:
        """Evaluate generators once."""
        for name in ("rows", "notes", "verdicts"):
            object.__setattr__(self, name, tuple(getattr(self, name)))


Part = Callable[..., Section]


def main(document: str | None, parts: Mapping[str, Part | Sequence[Part]], **options: object) -> int:
    """Run all parts of a program, or those after `--part`; return the exit code.

    Parameters
    ----------
    document : str
        Docstring of the program, shown by `--help`.
    parts : mapping
        Name of a part -> the function, or functions, that return its sections.
    options
        Further command-line options: a default value, or a type. Each is passed to the functions that accept it.
    """
    parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=list(parts), action="append", help="run this part alone; repeatable")
    for name, default in options.items():
        kind = default if isinstance(default, type) else type(default)
        parser.add_argument(f"--{name}", type=kind, default=None if default is kind else default)
    values = vars(parser.parse_args())
    names = values.pop("part") or list(parts)
    chosen = [parts[name] for name in parts if name in names]
    functions = [part for entry in chosen for part in ((entry,) if callable(entry) else entry)]
    return run(partial(part, **_select_options(part, values)) for part in functions)


def _select_options(part: Part, values: Mapping[str, object]) -> dict[str, object]:
    accepted = inspect.signature(part).parameters
    return {name: value for name, value in values.items() if name in accepted}


def run(parts: Iterable[Callable[[], Section]]) -> int:
    """Print the section of each part and the number of verdicts; return 1 if a required verdict fails."""
    verdicts: list[Verdict] = []
    for part in parts:
        wall, cpu = time.perf_counter(), time.process_time()
        section = part()
        _print_section(section)
        print(f"   ({time.perf_counter() - wall:.0f} s, CPU {time.process_time() - cpu:.0f} s)", flush=True)
        verdicts += section.verdicts
    n_held = sum(bool(verdict.holds) for verdict in verdicts)
    failures = [verdict for verdict in verdicts if _name_outcome(verdict) == "FAILS"]
    print("\n" + CLOSING.format(n_held, len(verdicts) - n_held - len(failures), len(failures)))
    for verdict in failures:
        print(f"  FAILS: {verdict.claim}")
    return 1 if failures else 0


@contextmanager
def open_browser() -> Iterator[Any]:
    """Open Chromium by playwright."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        yield browser
        browser.close()


AXE = (Path(__file__).parents[1] / "tests" / "app" / "axe" / "axe.min.js").read_text(encoding="utf-8")

LIST_FAULTS = """() => {
  const closed = [...document.querySelectorAll("details:not([open])")];
  const show = (open) => closed.forEach(fold => { fold.open = open; });
  show(true);
  return axe.run().then(found => (show(false), found.violations
    .filter(fault => ["serious", "critical"].includes(fault.impact))
    .map(fault => `${fault.id}: ${fault.nodes.map(node => node.html.slice(0, 200)).join(" ")}`)));
}"""


def list_serious_faults(page: Any) -> list[str]:
    """Return the faults that axe-core calls serious or critical on a page with its folds open."""
    page.evaluate(AXE)
    return list(page.evaluate(LIST_FAULTS))


def read_tally(output: str) -> tuple[int, int, int] | None:
    """Return the verdicts that hold, differ and fail by the last line of an output; None without such a line."""
    match = re.search(CLOSING.replace("{}", "([0-9]+)"), output)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3]))


def _print_section(section: Section) -> None:
    print(f"\n== {section.title}\n")
    if section.header:
        print(align(section.header, section.rows))
    for note in section.notes:
        print(f"   {note}")
    if section.verdicts:
        lines = [
            (verdict.claim, verdict.published, verdict.ours, _name_outcome(verdict)) for verdict in section.verdicts
        ]
        print("\n" + align(("claim", "published", "ours", "verdict"), lines))


def _name_outcome(verdict: Verdict) -> str:
    if verdict.holds:
        return "holds"
    return "refuted" if verdict.refutes else "FAILS" if verdict.required else "differs"


def align(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return columns two blanks apart, columns of numbers to the right."""
    lines = [tuple(header), *(tuple(map(format_cell, row)) for row in rows)]
    assert all(len(line) == len(header) for line in lines)
    widths = [max(len(line[j]) for line in lines) for j in range(len(header))]
    numeric = [_is_numeric([row[j] for row in lines[1:]]) for j in range(len(header))]
    text = [
        "  ".join(
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in lines
    ]
    return "\n".join([text[0], "-" * min(160, sum(widths) + 2 * len(widths) - 2), *text[1:]])


def format_cell(value: object) -> str:
    """Return a count with commas, another number with four digits, and any other value as text."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return str(value)
    return f"{value:,}" if isinstance(value, Integral) else f"{float(value):.4g}"


def _is_numeric(cells: Sequence[str]) -> bool:
    return all(cell == "" or cell[0].isdigit() or cell[0] in "-+." for cell in cells)


def percent(share: float) -> str:
    """Return a share in percent, with one digit."""
    return f"{100 * share:.1f}"


def percents(*shares: float, **named: float) -> str:
    """Return shares in percent, some with their names."""
    return ", ".join((*map(percent, shares), *(f"{name} {percent(share)}" for name, share in named.items())))


def span(low: float | None, high: float | None, digits: int = 4, *, sign: str = "") -> str:
    """Return an interval as text; "-" without ends."""
    return "-" if low is None or high is None else f"{low:{sign}.{digits}f} to {high:{sign}.{digits}f}"
