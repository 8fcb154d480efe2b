"""Commands that are stopped at random moments: `python verification/kill.py` (ten minutes on two cores).

200 times a command is sent SIGINT, SIGTERM or SIGKILL after a random part of the time that it takes: a protection with
its origin, in memory and in an engine, an audit that writes a report and exports its tables, a study with two workers.
The moments are spread over the time that the command takes. Afterwards every output is there and whole, or not there at
all (an origin never without its release); no process of the command lives; the temporary folder is empty, but after a
SIGKILL, which nothing can tidy up after; and a signal that can be heard gave one sentence and exit code 1, and no
traceback. A study is run again until it ends: its rows equal those of a study that nobody ended. `--kills N` and
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
"""What is wrong with the outputs in a folder, or ""."""


@dataclass(frozen=True)
class Part:
    """A command, what is right about its outputs, and whether it goes on where it stopped."""

    arguments: tuple[str, ...]
    wrong: Check
    resumes: bool = False


@dataclass(frozen=True)
class Killed:
    """How one command ended: at which part of its time by which signal, whether that hit it, and what is wrong."""

    number: signal.Signals
    share: float
    hit: bool
    wrong: str


def people(folder: Path, n: int = 4000) -> None:
    """A table to protect, a release of it and its origin."""
    rng = random.Random(0)
    with (folder / "people.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("age", "sex", "zip", "diagnosis"))
        rows.writerows(
            (rng.randrange(90), rng.choice("fm"), 1000 + rng.randrange(300), rng.choice("abcdefgh")) for _ in range(n)
        )
    (folder / "plan.toml").write_text(PLAN)
    made = ("protect", "people.csv", *ROLES, "-o", "release.csv", "--origin", "origin.csv")
    subprocess.run([*COMMAND, *made], cwd=folder, check=True, capture_output=True)


# --- what is whole --------------------------------------------------------------------------------------------------


def protected(folder: Path, *, name: str = "out.csv", rows: int = 4000) -> str:
    """A release of all rows, and an origin of them beside it or none."""
    release, origin = folder / name, folder / "out-origin.csv"
    if release.exists() and duckdb.sql(f"select count(*) from '{release}'").fetchall() != [(rows,)]:
        return f"{name} is in part"
    if origin.exists() and not release.exists():
        return "an origin without its release"
    return "the origin is in part" if origin.exists() and len(origin.read_text().split()) != rows + 1 else ""


def audited(folder: Path) -> str:
    """A report that ends, and an export in which every file of the index is whole."""
    report, exported = folder / "out.html", folder / "exported"
    if report.exists() and not report.read_text().rstrip().endswith("</html>"):
        return "the report is in part"
    if not exported.exists() or not any(exported.iterdir()):
        return ""
    if not (exported / "index.json").exists():
        return "an export without its index"
    named = {item["file"] for item in json.loads((exported / "index.json").read_text())["files"]}
    return "" if {path.name for path in exported.iterdir()} == {*named, "index.json"} else "the export is in part"


def studied(folder: Path) -> str:
    """Results, if there are any, in a file that can be read."""
    results = folder / "run" / "results.parquet"
    try:
        return "" if not results.exists() or duckdb.sql(f"from '{results}'").fetchall() else "the results are empty"
    except duckdb.Error:
        return "the results are in part"


def rows_of(folder: Path) -> list[tuple[object, ...]]:
    """What a study found, without how long it took."""
    results = folder / "run" / "results.parquet"
    return duckdb.sql(f"select * exclude (seconds) from '{results}' order by all").fetchall()


PARTS = {
    "protect": Part(
        ("protect", "people.csv", *ROLES, "--k", "5", "-o", "out.csv", "--origin", "out-origin.csv"),
        protected,
    ),
    "engine": Part(
        ("protect", "people.csv", *ROLES, "--k", "5", "--engine", "duckdb", "-o", "out.parquet"),
        partial(protected, name="out.parquet"),
    ),
    "audit": Part(
        ("audit", "release.csv", *ROLES, "--original", "people.csv", "--origin", "origin.csv", "--targets", "200",
         "--report", "out.html", "--export", "exported"), audited,
    ),
    "study": Part(("study", "plan.toml", "-o", "run", "--workers", "2"), studied, resumes=True),
}  # fmt: skip


# --- ending it ------------------------------------------------------------------------------------------------------


def started(part: Part, folder: Path, spare: Path) -> subprocess.Popen[str]:
    """The command, in a session of its own, so that all its processes are known."""
    return subprocess.Popen(
        [*COMMAND, *part.arguments], cwd=folder, env={**os.environ, "TMPDIR": str(spare)}, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def alive(session: int) -> list[int]:
    """The processes of a session that have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                state, _, _, of = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            except OSError:
                continue
            if int(of) == session and state != "Z":
                found.append(int(entry.name))
    return found


def killed(part: Part, folder: Path, number: signal.Signals, share: float, seconds: float) -> Killed:
    """Start a command, end it after a share of the seconds that it takes, and look at what is left."""
    with tempfile.TemporaryDirectory(prefix="kill-") as spare:
        process = started(part, folder, Path(spare))
        time.sleep(share * seconds)
        hit = process.poll() is None
        process.send_signal(number)
        try:
            _, said = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return Killed(number, share, hit, "it did not end within a minute")
        wrong = _ended(process, said, number) if hit else ""
        wrong = wrong or _left(process.pid, number) or part.wrong(folder)
        if not wrong and number != signal.SIGKILL:
            stays = [*Path(spare).iterdir(), *folder.rglob(".unmask-*")]
            wrong = f"{stays[0].name} is left behind" if stays else ""
    return Killed(number, share, hit, wrong)


def _ended(process: subprocess.Popen[str], said: str, number: signal.Signals) -> str:
    code = process.returncode
    if "Traceback" in said:
        where = [line.strip() for line in said.splitlines() if line.lstrip().startswith("File")]
        return f"a traceback: {' | '.join(where[-3:])}" if any("unmask" in line for line in where) else ""
    if number == signal.SIGKILL or code == -number or code == 0:  # before its first line, or after its last
        return ""
    return "" if code == 1 and said.strip() else f"exit code {code} after {number.name}: {said[-80:]!r}"


def _left(session: int, number: signal.Signals) -> str:
    """Processes that outlive the command: none, and after a SIGKILL none for longer than two seconds."""
    until = time.monotonic() + (2.0 if number == signal.SIGKILL else 0.0)
    while (lives := alive(session)) and time.monotonic() < until:
        time.sleep(0.05)
    for one in lives:
        os.kill(one, signal.SIGKILL)
    return f"{len(lives)} processes outlive it" if lives else ""


def kills(name: str, part: Part, n: int, seed: int) -> Section:
    """So many kills of one command, each in a folder of its own, a study's in one until it has ended."""
    rng = random.Random(f"{seed}:{name}")
    with tempfile.TemporaryDirectory() as place:
        first = Path(place) / "first"
        first.mkdir()
        people(first)
        start = time.monotonic()
        subprocess.run([*COMMAND, *part.arguments], cwd=first, check=True, capture_output=True)
        seconds = time.monotonic() - start
        found, equal, runs = [], 0, 0
        folder = _fresh(first, Path(place), part)
        for at in range(n):
            number = SIGNALS[at % len(SIGNALS)]
            found.append(killed(part, folder, number, rng.random(), seconds))
            seconds *= 1.1 if found[-1].hit else 0.8  # a machine is not equally busy all the time
            if not part.resumes or rng.random() < 0.3:
                equal += _finished(part, folder, first) if part.resumes else 0
                runs += part.resumes
                folder = _fresh(first, Path(place), part)
    return _section(name, found, seconds, (equal, runs))


def _fresh(first: Path, place: Path, part: Part) -> Path:
    """A folder with the inputs and no output."""
    folder = Path(tempfile.mkdtemp(dir=place))
    for path in ("people.csv", "release.csv", "origin.csv", "plan.toml"):
        if path in part.arguments:
            shutil.copy(first / path, folder)
    return folder


def _finished(part: Part, folder: Path, first: Path) -> bool:
    """Whether a study that was ended several times and is run to its end has the rows of one that was not."""
    subprocess.run([*COMMAND, *part.arguments], cwd=folder, check=True, capture_output=True)
    return rows_of(folder) == rows_of(first)


def _section(name: str, found: Sequence[Killed], seconds: float, resumed: tuple[int, int]) -> Section:
    rows = tuple(_counted(found))
    wrong = [f"{one.number.name} at {one.share:.0%}: {one.wrong}" for one in found if one.wrong]
    verdicts = [Verdict("nothing half-written, no process left, one sentence", "0 faults", f"{len(wrong)}", not wrong)]
    if resumed[1]:
        verdicts.append(
            Verdict("resumed studies equal row by row", f"{resumed[1]}", f"{resumed[0]}", resumed[0] == resumed[1])
        )
    title = f"{name}: {len(found)} kills within {seconds:.1f} s"
    return Section(title, ("signal", "sent", "while it ran", "faults"), rows, tuple(wrong), tuple(verdicts))


def _counted(found: Sequence[Killed]) -> Iterator[tuple[str, ...]]:
    sent, hit = Counter(one.number for one in found), Counter(one.number for one in found if one.hit)
    bad = Counter(one.number for one in found if one.wrong)
    for number in SIGNALS:
        yield number.name, str(sent[number]), str(hit[number]), str(bad[number])


def main() -> int:
    """Run as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part; repeatable")
    given = parser.parse_args()
    parts = {name: PARTS[name] for name in given.part or PARTS}
    return run(partial(kills, name, part, given.kills // len(parts), given.seed) for name, part in parts.items())


if __name__ == "__main__":
    sys.exit(main())
