"""Commands that are stopped at random moments: `python verification/kill.py` (ten minutes on two cores).

200 times a command is sent SIGINT, SIGTERM or SIGKILL after a random part of the time that it takes: a protection with
its origin, in memory and in an engine, an audit that writes a report and exports its tables, a study with two workers.
The moments are spread over the time that the command takes. Afterwards every output is there and whole, or not there at
all (an origin never without its release); no process of the command lives; the temporary folder is empty, but after a
SIGKILL, which nothing can tidy up after; and a signal that can be heard gave one sentence and exit code 1, and no
traceback. A study is run again until it ends: its rows equal those of an undisturbed study. `--kills N` and
`--seed N` mean what they say, `--part protect|engine|audit|study` runs one alone.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import duckdb
from show import Section, Verdict, run

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
COMMAND = (sys.executable, "-m", "unmask_command")
ROLES = ("-q", "age,sex,zip", "-s", "diagnosis")
PLAN = """
title = "killed"
seeds = 8
[[data]]
use = "tables.synthetic_census"
with = { n = 400 }
quasi_identifiers = ["age", "sex", "zip"]
sensitive = ["diagnosis"]
[[protections]]
use = "tables.Mondrian"
grid = { k = [3, 10] }
[[adversaries]]
name = "neighbor"
use = "tables.ClassAttack"
knows = { targets = 60 }
"""

Check = Callable[[Path], str]
"""Fault of the outputs in a folder, or ""."""


@dataclass(frozen=True)
class Part:
    """A command, what is right about its outputs, and whether it goes on where it stopped."""

    arguments: tuple[str, ...]
    check: Check
    resumes: bool = False


@dataclass(frozen=True)
class Killed:
    """End of one command: the signal and its time, True if it hit, and the fault."""

    number: signal.Signals
    share: float
    hit: bool
    fault: str


def write_inputs(folder: Path, n: int = 4000) -> None:
    """Write a table to protect, a release of it and its origin."""
    rng = random.Random(0)
    with (folder / "people.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("age", "sex", "zip", "diagnosis"))
        rows.writerows(
            (rng.randrange(90), rng.choice("fm"), 1000 + rng.randrange(300), rng.choice("abcdefgh")) for _ in range(n)
        )
    (folder / "plan.toml").write_text(PLAN)
    command = ("protect", "people.csv", *ROLES, "-o", "release.csv", "--origin", "origin.csv")
    subprocess.run([*COMMAND, *command], cwd=folder, check=True, capture_output=True)


# --- what is whole --------------------------------------------------------------------------------------------------


def check_release(folder: Path, *, name: str = "out.csv", rows: int = 4000) -> str:
    """Return a fault unless there is a release of all rows, with a whole origin or without."""
    release, origin = folder / name, folder / "out-origin.csv"
    if release.exists() and duckdb.sql(f"select count(*) from '{release}'").fetchall() != [(rows,)]:
        return f"{name} is in part"
    if origin.exists() and not release.exists():
        return "an origin without its release"
    return "the origin is in part" if origin.exists() and len(origin.read_text().split()) != rows + 1 else ""


def check_audit(folder: Path) -> str:
    """Return a fault unless the report ends and every file of the export's index is whole."""
    report, exported = folder / "out.html", folder / "exported"
    if report.exists() and not report.read_text().rstrip().endswith("</html>"):
        return "the report is in part"
    if not exported.exists() or not any(exported.iterdir()):
        return ""
    if not (exported / "index.json").exists():
        return "an export without its index"
    listed_files = {item["file"] for item in json.loads((exported / "index.json").read_text())["files"]}
    return (
        "" if {path.name for path in exported.iterdir()} == {*listed_files, "index.json"} else "the export is in part"
    )


def check_study(folder: Path) -> str:
    """Return a fault unless results are absent or can be read."""
    results = folder / "run" / "results.parquet"
    try:
        return "" if not results.exists() or duckdb.sql(f"from '{results}'").fetchall() else "the results are empty"
    except duckdb.Error:
        return "the results are in part"


def read_rows(folder: Path) -> list[tuple[object, ...]]:
    """Read the rows of a study, without their seconds."""
    results = folder / "run" / "results.parquet"
    return duckdb.sql(f"select * exclude (seconds) from '{results}' order by all").fetchall()


PARTS = {
    "protect": Part(
        ("protect", "people.csv", *ROLES, "--k", "5", "-o", "out.csv", "--origin", "out-origin.csv"),
        check_release,
    ),
    "engine": Part(
        ("protect", "people.csv", *ROLES, "--k", "5", "--engine", "duckdb", "-o", "out.parquet"),
        partial(check_release, name="out.parquet"),
    ),
    "audit": Part(
        ("audit", "release.csv", *ROLES, "--original", "people.csv", "--origin", "origin.csv", "--targets", "200",
         "--report", "out.html", "--export", "exported"), check_audit,
    ),
    "study": Part(("study", "plan.toml", "-o", "run", "--workers", "2"), check_study, resumes=True),
}  # fmt: skip


# --- ending it ------------------------------------------------------------------------------------------------------


def start_command(part: Part, folder: Path, spare: Path) -> subprocess.Popen[str]:
    """Start the command in a separate session, so that all its processes are known."""
    return subprocess.Popen(
        [*COMMAND, *part.arguments], cwd=folder, env={**os.environ, "TMPDIR": str(spare)}, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def find_processes(session: int) -> list[int]:
    """Return the processes of a session that have not ended."""
    processes = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                state, _, _, owner = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            except OSError:
                continue
            if int(owner) == session and state != "Z":
                processes.append(int(entry.name))
    return processes


def kill_command(part: Part, folder: Path, number: signal.Signals, share: float, seconds: float) -> Killed:
    """Start a command, end it after a share of the seconds that it takes, and look at what is left."""
    with tempfile.TemporaryDirectory(prefix="kill-") as spare:
        process = start_command(part, folder, Path(spare))
        time.sleep(share * seconds)
        hit = process.poll() is None
        process.send_signal(number)
        try:
            _, messages = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return Killed(number, share, hit, "it did not end within a minute")
        fault = _check_messages(process, messages, number) if hit else ""
        fault = fault or _check_processes(process.pid, number) or part.check(folder)
        if not fault and number != signal.SIGKILL:
            stays = [*Path(spare).iterdir(), *folder.rglob(".unmask-*")]
            fault = f"{stays[0].name} is left behind" if stays else ""
    return Killed(number, share, hit, fault)


def _check_messages(process: subprocess.Popen[str], messages: str, number: signal.Signals) -> str:
    code = process.returncode
    if "Traceback" in messages:
        frames = [line.strip() for line in messages.splitlines() if line.lstrip().startswith("File")]
        return f"a traceback: {' | '.join(frames[-3:])}" if any("unmask" in line for line in frames) else ""
    if number == signal.SIGKILL or code == -number or code == 0:  # before its first line, or after its last
        return ""
    return "" if code == 1 and messages.strip() else f"exit code {code} after {number.name}: {messages[-80:]!r}"


def _check_processes(session: int, number: signal.Signals) -> str:
    """Return a fault if processes outlive the command, after a SIGKILL by more than two seconds."""
    until = time.monotonic() + (2.0 if number == signal.SIGKILL else 0.0)
    while (remaining := find_processes(session)) and time.monotonic() < until:
        time.sleep(0.05)
    for process in remaining:
        os.kill(process, signal.SIGKILL)
    return f"{len(remaining)} processes outlive it" if remaining else ""


def verify_kills(name: str, part: Part, n: int, seed: int) -> Section:
    """Kill one command n times, each in a new folder; a study stays in its folder until it ends."""
    rng = random.Random(f"{seed}:{name}")
    with tempfile.TemporaryDirectory() as place:
        first = Path(place) / "first"
        first.mkdir()
        write_inputs(first)
        start = time.monotonic()
        subprocess.run([*COMMAND, *part.arguments], cwd=first, check=True, capture_output=True)
        seconds = time.monotonic() - start
        results, equal, runs = [], 0, 0
        folder = _make_folder(first, Path(place), part)
        for index in range(n):
            number = SIGNALS[index % len(SIGNALS)]
            results.append(kill_command(part, folder, number, rng.random(), seconds))
            seconds *= 1.1 if results[-1].hit else 0.8  # a machine is not equally busy all the time
            if not part.resumes or rng.random() < 0.3:
                equal += _finish_study(part, folder, first) if part.resumes else 0
                runs += part.resumes
                folder = _make_folder(first, Path(place), part)
    return _section(name, results, seconds, (equal, runs))


def _make_folder(first: Path, place: Path, part: Part) -> Path:
    """Make a folder with the inputs and no output."""
    folder = Path(tempfile.mkdtemp(dir=place))
    for path in ("people.csv", "release.csv", "origin.csv", "plan.toml"):
        if path in part.arguments:
            shutil.copy(first / path, folder)
    return folder


def _finish_study(part: Part, folder: Path, first: Path) -> bool:
    """Return True if a study that was killed and resumed has the rows of an undisturbed one."""
    subprocess.run([*COMMAND, *part.arguments], cwd=folder, check=True, capture_output=True)
    return read_rows(folder) == read_rows(first)


def _section(name: str, results: Sequence[Killed], seconds: float, resumed: tuple[int, int]) -> Section:
    rows = tuple(_format_signals(results))
    faults = [f"{result.number.name} at {result.share:.0%}: {result.fault}" for result in results if result.fault]
    verdicts = [
        Verdict("nothing half-written, no process left, one sentence", "0 faults", f"{len(faults)}", not faults)
    ]
    if resumed[1]:
        verdicts.append(
            Verdict("resumed studies equal row by row", f"{resumed[1]}", f"{resumed[0]}", resumed[0] == resumed[1])
        )
    title = f"{name}: {len(results)} kills within {seconds:.1f} s"
    return Section(title, ("signal", "sent", "while it ran", "faults"), rows, tuple(faults), tuple(verdicts))


def _format_signals(results: Sequence[Killed]) -> Iterator[tuple[str, ...]]:
    sent, hit = Counter(result.number for result in results), Counter(result.number for result in results if result.hit)
    faulty = Counter(result.number for result in results if result.fault)
    for number in SIGNALS:
        yield number.name, str(sent[number]), str(hit[number]), str(faulty[number])


def main() -> int:
    """Run as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part; repeatable")
    options = parser.parse_args()
    parts = {name: PARTS[name] for name in options.part or PARTS}
    return run(
        partial(verify_kills, name, part, options.kills // len(parts), options.seed) for name, part in parts.items()
    )


if __name__ == "__main__":
    sys.exit(main())
