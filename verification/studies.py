"""Every document of examples/ as a user runs it, and again with an accident: `python verification/studies.py`.

A plan runs from start to end. It is started again in another folder, killed with SIGKILL when about a third of its
cells are finished, and resumed by the same command: the rows of both must be the same, and no cell may run twice. Then
the page of the study is made. The seconds are those of the machine, with one worker. Exit code 1 if a verdict fails.
About half an hour; `--plan NAME` runs one alone, `--folder DIR` keeps runs and pages. Needs UNMASK_DATA.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import duckdb
from show import Section, Verdict, run

PLANS = sorted((Path(__file__).resolve().parent.parent / "examples").glob("*.toml"))
UNMASK = (sys.executable, "-m", "unmask")


@dataclass(frozen=True)
class Outcome:
    """Outcome of one plan."""

    plan: str
    cells: int
    seconds: float
    killed_at: int
    ran_again: int
    is_equal: bool
    done: int
    page_seconds: float
    page_bytes: int


def run_plan(plan: Path, folder: Path) -> Outcome:
    """Run the plan undisturbed and disturbed, and make its page."""
    complete, broken, page = folder / f"{plan.stem}-whole", folder / f"{plan.stem}-broken", folder / f"{plan.stem}.html"
    start = time.perf_counter()
    subprocess.run(make_command(plan, complete), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    cells = count_cells(complete)
    killed_at = kill_plan(plan, broken, n_cells=max(cells // 3, 1))
    subprocess.run(make_command(plan, broken), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    start = time.perf_counter()
    subprocess.run(
        (*UNMASK, "report", str(complete), "-o", str(page), "--force"), check=True, stdout=subprocess.DEVNULL
    )
    return Outcome(
        plan=plan.stem,
        cells=cells,
        seconds=seconds,
        killed_at=killed_at,
        ran_again=count_cells(broken) - cells,
        is_equal=read_rows(complete) == read_rows(broken),
        done=int(
            duckdb.sql(
                f"select count(distinct cell) from '{locate_results(complete)}' where status = 'done'"
            ).fetchall()[0][0]
        ),
        page_seconds=time.perf_counter() - start,
        page_bytes=page.stat().st_size,
    )


def make_command(plan: Path, folder: Path) -> tuple[str, ...]:
    """Return the command of a user."""
    return (*UNMASK, "study", str(plan), "-o", str(folder))


def kill_plan(plan: Path, folder: Path, *, n_cells: int) -> int:
    """Start the plan, kill it with its workers after n finished cells, and return their number."""
    process = subprocess.Popen(
        make_command(plan, folder), start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while process.poll() is None and count_cells(folder) < n_cells:
        time.sleep(0.01)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return count_cells(folder)


def count_cells(folder: Path) -> int:
    """Count finished cells in the journal of a run."""
    journal = folder / "journal.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def locate_results(folder: Path) -> Path:
    """Return the path of the rows of a run."""
    return folder / "results.parquet"


def read_rows(folder: Path) -> list[tuple[object, ...]]:
    """Read all rows of a run, without their seconds."""
    return duckdb.sql(
        f"select cell, status, * exclude (cell, status, seconds) from '{locate_results(folder)}' order by all"
    ).fetchall()


def make_section(results: list[Outcome]) -> Section:
    """Return the section of all plans."""
    header = ("plan", "cells", "done", "seconds", "killed at", "run twice", "page s", "page kB")
    return Section(
        title="Plans of examples/, run, killed and resumed",
        header=header,
        rows=tuple(
            (
                result.plan,
                f"{result.cells}",
                f"{result.done}",
                f"{result.seconds:.1f}",
                f"{result.killed_at}",
                f"{result.ran_again}",
                f"{result.page_seconds:.1f}",
                f"{result.page_bytes / 1000:.0f}",
            )
            for result in results
        ),
        verdicts=tuple(
            Verdict(
                f"{result.plan}: killed and resumed, the same rows",
                "no cell lost or run twice, every cell done",
                f"{'same' if result.is_equal else 'OTHER'} rows, {result.ran_again} run twice, "
                f"{result.cells - result.done} not done",
                result.is_equal and result.ran_again == 0 and result.done == result.cells,
            )
            for result in results
        ),
    )


def main() -> int:
    """Run the plans one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", choices=[plan.stem for plan in PLANS], help="run one plan alone")
    parser.add_argument("--folder", type=Path, help="keep runs and pages here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if options.folder is not None and options.folder.exists():
            parser.error(f"{options.folder} is there already; name a new folder")
        folder.mkdir(parents=True, exist_ok=True)
        results: list[Outcome] = []
        for plan in PLANS:
            if options.plan in (None, plan.stem):
                results.append(run_plan(plan, folder))
                print(f"{plan.stem}: {results[-1].seconds:.1f} s", file=sys.stderr, flush=True)
    return run([lambda: make_section(results)])


if __name__ == "__main__":
    sys.exit(main())
