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
class Seen:
    """What was seen of one plan."""

    plan: str
    cells: int
    seconds: float
    killed_at: int
    ran_again: int
    same: bool
    done: int
    page_seconds: float
    page_bytes: int


def watch(plan: Path, folder: Path) -> Seen:
    """Run the plan undisturbed and disturbed, and make its page."""
    whole, broken, page = folder / f"{plan.stem}-whole", folder / f"{plan.stem}-broken", folder / f"{plan.stem}.html"
    start = time.perf_counter()
    subprocess.run(study(plan, whole), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    cells = lines(whole)
    killed_at = kill(plan, broken, at=max(cells // 3, 1))
    subprocess.run(study(plan, broken), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    start = time.perf_counter()
    subprocess.run((*UNMASK, "report", str(whole), "-o", str(page), "--force"), check=True, stdout=subprocess.DEVNULL)
    return Seen(
        plan=plan.stem,
        cells=cells,
        seconds=seconds,
        killed_at=killed_at,
        ran_again=lines(broken) - cells,
        same=rows(whole) == rows(broken),
        done=int(
            duckdb.sql(f"select count(distinct cell) from '{results(whole)}' where status = 'done'").fetchall()[0][0]
        ),
        page_seconds=time.perf_counter() - start,
        page_bytes=page.stat().st_size,
    )


def study(plan: Path, folder: Path) -> tuple[str, ...]:
    """The command of a user."""
    return (*UNMASK, "study", str(plan), "-o", str(folder))


def kill(plan: Path, folder: Path, *, at: int) -> int:
    """Start the plan and kill it, workers and all, when so many cells are finished; how many were."""
    process = subprocess.Popen(
        study(plan, folder), start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while process.poll() is None and lines(folder) < at:
        time.sleep(0.01)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return lines(folder)


def lines(folder: Path) -> int:
    """Finished cells in the journal of a run."""
    journal = folder / "journal.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def results(folder: Path) -> Path:
    """The rows of a run."""
    return folder / "results.parquet"


def rows(folder: Path) -> list[tuple[object, ...]]:
    """All rows of a run but for the seconds that they took."""
    return duckdb.sql(
        f"select cell, status, * exclude (cell, status, seconds) from '{results(folder)}' order by all"
    ).fetchall()


def section(seen: list[Seen]) -> Section:
    """What was seen of all plans."""
    header = ("plan", "cells", "done", "seconds", "killed at", "run twice", "page s", "page kB")
    return Section(
        title="Plans of examples/, run, killed and resumed",
        header=header,
        rows=tuple(
            (
                one.plan,
                f"{one.cells}",
                f"{one.done}",
                f"{one.seconds:.1f}",
                f"{one.killed_at}",
                f"{one.ran_again}",
                f"{one.page_seconds:.1f}",
                f"{one.page_bytes / 1000:.0f}",
            )
            for one in seen
        ),
        verdicts=tuple(
            Verdict(
                f"{one.plan}: killed and resumed, the same rows",
                "no cell lost or run twice, every cell done",
                f"{'same' if one.same else 'OTHER'} rows, {one.ran_again} run twice, {one.cells - one.done} not done",
                one.same and one.ran_again == 0 and one.done == one.cells,
            )
            for one in seen
        ),
    )


def main() -> int:
    """Watch the plans one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", choices=[plan.stem for plan in PLANS], help="run one plan alone")
    parser.add_argument("--folder", type=Path, help="keep runs and pages here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        folder = given.folder or Path(own)
        if given.folder is not None and given.folder.exists():
            parser.error(f"{given.folder} is there already; name a new folder")
        folder.mkdir(parents=True, exist_ok=True)
        seen: list[Seen] = []
        for plan in PLANS:
            if given.plan in (None, plan.stem):
                seen.append(watch(plan, folder))
                print(f"{plan.stem}: {seen[-1].seconds:.1f} s", file=sys.stderr, flush=True)
    return run([lambda: section(seen)])


if __name__ == "__main__":
    sys.exit(main())
