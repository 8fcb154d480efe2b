"""Costs of the machinery of studies: workers, journal, the table of results, and the page.

    python benchmarks/studies.py

    overhead    cells of about a second, one after the other on one worker: what is not spent in a cell; at most 2 %
    tiny        10,000 cells of a few milliseconds on two workers, results written; at most 60 s by the clock
    page        the page of a study of 10,000 rows; at most 1 s by the clock and 3 MB; the peer writes the rows alone

Cells are of the channels' wing, which needs no data. How cases are run and shown: see harness.py.
"""

from __future__ import annotations

import argparse
import html
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import harness
from harness import Case, Found, Race, Step

PLAN = """
seeds = {seeds}
[[data]]
use = "channels.alphabet"
with = {{ n = 5, exponent = 1.0 }}
[[protections]]
use = "channels.Geometric"
with = {{ n = 5 }}
grid = {{ epsilon = [{epsilon}] }}
[[adversaries]]
use = "channels.BayesChannelAttack"
{adversary}
"""


def study(folder: str, seeds: int, n_protections: int, adversary: str = "") -> Any:
    """A plan of so many cells."""
    from unmask.studies.reading import read_plan

    path = Path(folder) / "plan.toml"
    epsilon = ", ".join(f"{(index + 1) / 10}" for index in range(n_protections))
    path.write_text(PLAN.format(seeds=seeds, epsilon=epsilon, adversary=adversary))
    return read_plan(path)


def overhead(n_cells: int) -> Step:
    """From the first result to the last, against the seconds that the cells in between say they took."""
    from unmask.studies.journal import Journal
    from unmask.studies.run import JOURNAL, run_study

    folder = tempfile.TemporaryDirectory()
    plan, run = study(folder.name, n_cells, 1, "observations = 20\ntargets = 110000"), Path(folder.name) / "run"

    def step() -> Found:
        told: list[float] = []
        with folder:
            run_study(plan, run, watch=lambda *_: told.append(time.perf_counter()))
            seconds = [result.seconds for result in Journal(run / JOURNAL).results.values()]
        inside = sum(seconds[1:])
        return {"s per cell": sum(seconds) / n_cells, "% overhead": 100 * ((told[-1] - told[0]) / inside - 1)}

    return step


CELLS = (
    "The runs take nearly all of the time: each makes a protection, attacks it and measures the belief in about 5 ms."
)


def tiny(n_cells: int) -> Step:
    """Cells that take hardly any time."""
    from unmask.studies.results_file import RESULTS
    from unmask.studies.run import run_study

    folder = tempfile.TemporaryDirectory()
    plan, run = study(folder.name, n_cells // 10, 10), Path(folder.name) / "run"

    def step() -> Found:
        with folder:
            outcome = run_study(plan, run, workers=2)
            return {"cells": outcome.done, "MB of results": (run / RESULTS).stat().st_size / 1e6}

    return step


RENDERED = "Results are grouped by protection, adversary and measure, and drawn."


def finished(n_rows: int) -> tuple[Any, Path]:
    """A folder to be removed, and in it a study of so many rows."""
    from unmask.studies.run import run_study

    folder = tempfile.TemporaryDirectory()
    n_protections = -(-n_rows // 110)  # 10 seeds, 11 rows for each cell
    plan, run = study(folder.name, 10, n_protections), Path(folder.name) / "run"
    run_study(plan, run, workers=2)
    return folder, run


def page(n_rows: int) -> Step:
    """Results are there; they are read, gathered and rendered."""
    from unmask.render.page import render
    from unmask.studies.study_result import read_result

    folder, run = finished(n_rows)

    def step() -> Found:
        with folder:
            return {"MB": len(render(read_result(run)).encode()) / 1e6}

    return step


def bare_page(n_rows: int) -> Step:
    """The rows are read, and written as a table of HTML."""
    from unmask.data.databases import open_database
    from unmask.studies.results_file import RESULTS

    folder, run = finished(n_rows)

    def step() -> Found:
        with folder, open_database() as connection:
            rows = connection.execute("from read_parquet(?)", [str(run / RESULTS)]).fetchall()
            lines = ("".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) for row in rows)
            return {"rows": len(rows), "MB": len("".join(f"<tr>{line}</tr>" for line in lines).encode()) / 1e6}

    return step


def races(_: argparse.Namespace) -> Iterable[Race]:
    """All of them."""
    for group, title, shows, case in (
        (
            "overhead",
            "20 cells of a second",
            "workers and journal",
            Case("ours", overhead, (20,), most={"% overhead": 2}),
        ),
        (
            "tiny",
            "10,000 tiny cells",
            "two workers, results written",
            Case("ours", tiny, (10_000,), at_most=50, limit=CELLS),
        ),
        (
            "page",
            "page of a 10,000-row study",
            "read and rendered",
            Case("ours", page, (10_000,), at_most=1, most={"MB": 3}, limit=RENDERED),
        ),
    ):
        peers = (Case("bare HTML table", bare_page, (10_000,)),) if group == "page" else ()
        yield Race(group, title, (case,), peers, shows=shows, clock="wall")


if __name__ == "__main__":
    harness.main(__doc__, races, only=("overhead", "tiny", "page"))
