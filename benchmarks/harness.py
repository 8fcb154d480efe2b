"""Run cases, compare them with peers, and show them as a table or as JSON lines: the shared part of all programs.

A case is a function that makes its input and returns a step. The step is timed and returns what it found, as a
dictionary of numbers. Every case runs in a fresh process; libraries that thread by themselves get one thread. Seconds
are CPU seconds of the step alone, of all its threads and of processes that it ends; a case below five seconds, of CPU
and by the clock, runs three times and the median is shown (with `--quick` once). Peak memory is that of the whole
process, input and imports counted; "base" is what it was before the step. The ratio is a peer's seconds over those of
the first case of the race: 5 means that ours is five times faster. Peers that are packages live in environments of
their own, DIR/NAME, which `--install-peers` makes.

A new program joins in two steps. It ends with

    if __name__ == "__main__":
        harness.main(__doc__, races, only=("small", "large"), peers={"rival": ("rival==1.0",)})

where `races(options)` yields races such as

    Race("small", "1,000 rows", (Case("ours", ours, (1000,)),), (Case("rival", theirs, (1000,), peer="rival"),))

`ours` and `theirs` are functions at its top level, with arguments that JSON can hold; `long=True` marks a case of more
than about a minute. And its name goes into PROGRAMS of all.py.

The process that starts the cases must stay small: on Linux a child's peak counts from the size of its parent at the
fork. So this file and the programs import everything beyond the standard library where it is used.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

Found = dict[Any, float]
Step = Callable[[], Found]
Peers = dict[str, tuple[str, ...]]
"""What is installed for each peer."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
LEFT_OUT, NOT_INSTALLED = "left out by --quick", "not installed, see --peers"
"""Why a case was not tried."""

LONG_SECONDS, RUNS_OF_SHORT_CASES = 5.0, 3
"""Cases of fewer seconds, of CPU and by the clock, are run several times."""

LINE = "{:<43} {:<33} {:>9} {:>9} {:>8} {:>9} {:>9}  {}"


@dataclass(frozen=True)
class Case:
    """One thing to time: `prepare(*arguments)` makes the input and returns the step."""

    name: str
    prepare: Callable[..., Step]
    arguments: tuple[Any, ...] = ()
    peer: str = ""  # its environment; "" is this one
    long: bool = False  # left out by --quick
    times: float = 1.0  # the step does 1/times of the work, its seconds are multiplied
    at_most: float = 0.0  # seconds demanded, if any, on the clock of the race
    mib_at_most: float = 0.0  # peak memory demanded, if any
    limit: str = ""  # what keeps it from taking less, said where it misses what is demanded
    ratio_at_least: float = 0.0  # ratio demanded, if any
    most: Mapping[str, float] = field(default_factory=dict)  # what is demanded of the numbers found, if anything


def compare(result: Found, first: Found | None) -> str:
    """The numbers found; beside those of the first case only where they differ."""
    shared = {key: first[key] for key in result if key in first} if first else {}
    equal_keys = [key for key, x in shared.items() if math.isclose(result[key], x, rel_tol=1e-9, abs_tol=1e-9)]
    different = [f"{key} {number(x)}" for key, x in result.items() if key not in equal_keys]
    return ", ".join((["same " + ", ".join(equal_keys)] if equal_keys else []) + different)


@dataclass(frozen=True)
class Race:
    """Cases on one input. The first of ours is what all others are compared with.

    group : what `--only` picks it by.
    """

    group: str
    title: str
    ours: tuple[Case, ...]
    peers: tuple[Case, ...] = ()
    shows: str = ""
    clock: str = "seconds"  # what ratios are of: CPU "seconds", or seconds by the "wall"
    compare: Callable[[Found, Found | None], str] = compare


@dataclass(frozen=True)
class Outcome:
    """Time and findings of one case. Seconds are nan if it was not carried out, and `why` gives the reason."""

    seconds: float = math.nan
    wall: float = math.nan
    peak_mib: float = math.nan
    base_mib: float = math.nan
    found: Found = field(default_factory=dict)
    why: str = ""


# --- one case --------------------------------------------------------------------------------------------


def child(function: Callable[..., Any], arguments: tuple[Any, ...], python: str = sys.executable) -> list[str]:
    """The command that runs a function of this program in a process of its own."""
    return [python, sys.argv[0], "--case", json.dumps([function.__name__, *arguments], default=str)]


def run_apart(function: Callable[..., None], *arguments: Any) -> None:
    """Run a function of this program in a process of its own, so that its memory is not counted."""
    subprocess.run(child(function, arguments), check=True)


def peak() -> float:
    """Peak memory so far, in MiB: of this process, or of the largest that it started and that has ended."""
    largest = max(resource.getrusage(process).ru_maxrss for process in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return largest / (2**20 if sys.platform == "darwin" else 2**10)


def cpu() -> float:
    """CPU seconds of this process and of those that it started and that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def run_here(name: str, *arguments: Any) -> None:
    """Call a function of this program; if it returns a step, time that and print the outcome as JSON."""
    step = getattr(sys.modules["__main__"], name)(*arguments)
    if step is None:
        return
    base = peak()
    start, clock = cpu(), time.perf_counter()
    result = step()
    seconds, wall = cpu() - start, time.perf_counter() - clock
    print(json.dumps(asdict(Outcome(seconds, wall, peak(), base, result))))


def once(case: Case, python: str, limit: float) -> Outcome:
    """The case in a fresh process with one thread."""
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's Python compiles a module once, and not in every process
    command = child(case.prepare, case.arguments, python)
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=limit, check=True, env=environment)
    except subprocess.TimeoutExpired:
        return Outcome(why=f"stopped after {limit:.0f} s")
    except subprocess.CalledProcessError:
        return Outcome(why="failed")
    return Outcome(**json.loads(done.stdout.splitlines()[-1]))


def measured(case: Case, options: argparse.Namespace) -> Outcome:
    """The case, three times if it is short: median seconds, largest peak."""
    python = python_of(case.peer, options.peers)
    if options.quick and case.long:
        return Outcome(why=LEFT_OUT)
    if not python:
        return Outcome(why=NOT_INSTALLED)
    first = once(case, python, options.limit)
    once_is_enough = (
        options.quick or first.why or max(first.seconds, first.wall) >= LONG_SECONDS
    )  # a cluster takes long of its own
    again = 0 if once_is_enough else RUNS_OF_SHORT_CASES - 1
    runs = [first, *(once(case, python, options.limit) for _ in range(again))]
    seconds, wall = (case.times * statistics.median(getattr(run, key) for run in runs) for key in ("seconds", "wall"))
    return replace(first, seconds=seconds, wall=wall, peak_mib=max(run.peak_mib for run in runs))


def python_of(peer: str, folder: Path | None) -> str | None:
    """The interpreter that runs a case, None if it is a peer without an environment."""
    if not peer:
        return sys.executable
    python = folder / peer / "bin" / "python" if folder else None
    return str(python) if python and python.exists() else None


def install(peers: Peers, folder: Path) -> None:
    """Create an environment for each peer that has none yet."""
    for peer, requirements in peers.items():
        if not python_of(peer, folder):
            subprocess.run([sys.executable, "-m", "venv", folder / peer], check=True)
            subprocess.run([folder / peer / "bin" / "python", "-m", "pip", "install", "-q", *requirements], check=True)


# --- rows and programs -----------------------------------------------------------------------------------


def rows(race: Race, peers: Peers, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """One row for each case of a race, as JSON takes it: None is not known."""
    first: Outcome | None = None
    for case in (*race.ours, *race.peers):
        outcome_measured = measured(case, options)
        is_peer = case in race.peers
        ratio = getattr(outcome_measured, race.clock) / getattr(first, race.clock) if first and is_peer else math.nan
        judgments = list(verdicts(case, outcome_measured, race.clock, ratio))
        lines = [race.compare(outcome_measured.found, first and first.found), *judgments]
        row = {
            "race": race.title,
            "group": race.group,
            "shows": race.shows,
            "case": case.name,
            "packages": peers.get(case.peer, ()),
            "is_peer": is_peer,
            "clock": race.clock,
            "seconds": outcome_measured.seconds,
            "wall": outcome_measured.wall,
            "ratio": ratio,
            "peak_mib": outcome_measured.peak_mib,
            "base_mib": outcome_measured.base_mib,
            "found": "; ".join(filter(None, lines)),
            "judged": judgments,
            "limit": case.limit,
            "not_done": outcome_measured.why,
        }
        yield {key: None if isinstance(x, float) and math.isnan(x) else x for key, x in row.items()}
        first = first or outcome_measured


def verdicts(case: Case, outcome: Outcome, clock: str, ratio: float) -> Iterator[str]:
    """Yield each demand on a case that was carried out, met or missed."""
    if outcome.why:
        return
    if case.at_most:
        yield f"{met(getattr(outcome, clock) <= case.at_most)}: at most {case.at_most:g} s"
    if case.mib_at_most:
        yield f"{met(outcome.peak_mib <= case.mib_at_most)}: at most {case.mib_at_most:,.0f} MiB"
    if case.ratio_at_least:
        yield f"{met(ratio >= case.ratio_at_least)}: ratio of at least {case.ratio_at_least:,.3g}"
    for name, limit in case.most.items():
        yield f"{met(outcome.found[name] <= limit)}: at most {limit:g} {name}"


def met(holds: bool) -> str:
    """The word for it."""
    return "met" if holds else "MISSED"


def number(x: float | None, digits: int = 6) -> str:
    """A count in full, a real number with some digits, nothing for None."""
    if x is None:
        return ""
    return f"{x:,}" if isinstance(x, int) else f"{x:,.0f}" if abs(x) >= 10**digits else f"{x:,.{digits}g}"


def line(row: dict[str, Any]) -> str:
    """A row as a line of the table."""
    numbers = [number(row[key], 4) for key in ("seconds", "wall", "ratio")]
    sizes = ["" if row[key] is None else f"{row[key]:.0f}" for key in ("peak_mib", "base_mib")]
    return LINE.format(row["race"], row["case"], *numbers, *sizes, row["not_done"] or row["found"])


def main(
    doc: str | None,
    races: Callable[[argparse.Namespace], Iterable[Race]],
    *,
    only: Sequence[str],
    peers: Peers | None = None,
    options: Callable[[argparse.ArgumentParser], object] = id,
    limit: float = 600,
) -> None:
    """Read the command line of a program and run its races.

    only : the groups that its races are in.
    options : adds the program's own options to the parser.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    options(parser)
    parser.add_argument("--only", nargs="*", choices=only, help="races to run")
    parser.add_argument("--quick", action="store_true", help="leave out long cases, and run the others once")
    parser.add_argument("--json", action="store_true", help="JSON lines instead of a table")
    parser.add_argument("--peers", type=Path, help="folder with an environment for each peer")
    parser.add_argument("--install-peers", action="store_true", help="make the environments that --peers lacks")
    parser.add_argument("--limit", type=float, default=limit, help="seconds by the clock after which a case is stopped")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.case:
        return run_here(*json.loads(chosen.case))
    if chosen.install_peers:
        if not chosen.peers:
            parser.error("--install-peers needs --peers DIR, where the environments go")
        install(peers or {}, chosen.peers)
    if not chosen.json:
        print(LINE.format("race", "case", "CPU s", "wall s", "ratio", "peak MiB", "base MiB", "found"))
    for race in races(chosen):
        if not chosen.only or race.group in chosen.only:
            for row in rows(race, peers or {}, chosen):
                print(json.dumps(row) if chosen.json else line(row), flush=True)
    return None
