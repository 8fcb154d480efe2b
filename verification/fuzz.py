"""Hostile inputs for every command: `python verification/fuzz.py` (a quarter of an hour on two cores).

5,000 command lines are made from the commands' own options, with files that are broken, odd or not there, odd names,
and numbers that are none. Each runs in a folder of its own and must end with exit code 0, 1, 2 or 3 and without a
traceback; must say nothing of what stands in a cell (each file has a word that is in no name); must leave the files
that it did not name as they were, nothing beside them and nothing in the temporary folder; and what it wrote must be
whole. One in fifty runs in a process of its own with an output that is full or closed. The case of a number is the
same in every run: `--only NUMBER` repeats and shows it; `--first`, `--cases`, `--seed` and `--jobs` are numbers, too.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import click
import duckdb
from click.testing import CliRunner
from fuzz_files import CANARY, COLUMNS, HOSTILE_NAMES, Files
from show import Section, Verdict, run

from unmask.app import server
from unmask.cli import main as unmask

LONGEST = 60
"""Seconds of the processor after which a command is one that hangs, and a tenth of those by the clock."""

NUMBERS = (
    "0", "1", "2", "3", "7", "0.5", "0.1", "-1", "nan", "inf", "-inf", "1e308", "1e-320", "9" * 25, "1_0", "\u0663", "",
    " ", "x", "0x10", "0.5,0.5", "1,2,5-20", "=1",
)  # fmt: skip
WORK = {"runs", "shuffles", "workers", "targets", "leaked", "transition"}
FEW = ("0", "1", "2", "-1", "nan", "x", "")
"""For what says how much work is done."""

LEFT_OUT = {"spark", "checkpoint"}
"""Options that need what is not here, or keep files by design."""

TEXTS = {
    "engine": ("duckdb", "duckdb", "duckdb", "sparkk", ""),
    "memory_limit": ("4GiB", "600MiB", "1B", "0", "-1GiB", "nan", "9" * 30 + "GiB"),
    "attacks": ("nar09", "rematch", "grasshopper", "bumblebee:theta=0.5", "nar09:theta=nan", "x:y", ""),
    "seeds": ("random:2", "top:1", "random.25:3", "clique.4:1", "x:1", "top:0", "match_top:1"),
    "overlaps": ("0.5,0.75", "1,1", "0,0", "nan,1", "2,2", "x"),
    "protections": ("IdentitySeparation:model=best:identities=2", "Decoy", "KDegree:k=nan", "x=1", ""),
    "required": ("estimation_error>=0.1", "success_probability<=nan", "x", ">=", "a:b:c<=1"),
    "gates": ("0.5", "estimation_error<0.8", "nan", "k<2", "x>", "register:diagnosis:success_probability>0.5"),
    "encoding": ("cp1252", "utf-16", "utf-8", "hex", "x", "", "utf-7"),
    "delimiter": (",", ";", "\t", "\\t", "", ";;", '"', "x"),
    "loss": ("hamming", "absolute", "squared", "euclidean", "x"),
    "distortion": ("hamming", "absolute", "x"),
    "attacker": ("case-study", "x"),
    "adopters": ("0.5", "1.0", "2", "nan", "-1", "9" * 25),
    "discovery": ("0.3,0.1", "nan", "x", ""),
    "people": ("500", "600", "499", "9" * 25, "nan"),
    "identities": (*FEW, "9" * 25),
    "group": (*FEW, "9" * 25),
    "node": ("1", "0", "x", "9" * 25),
    "attack": ("rematch", "nar09", "x"),
}


@dataclass(frozen=True)
class Case:
    """A command line, what stands on its standard input, the outputs it names, and how it is run."""

    arguments: tuple[str, ...]
    stdin: bytes
    outputs: tuple[Path, ...]
    outside: str | None  # "full" or "closed", in a process of its own


WRITES = {"demo": "unmask-demo.html", "init": "unmask.toml"}
"""Command -> the file that it writes when none is named."""


def case(number: int, seed: int, folder: Path) -> Case:
    """The case of a number, its files written to a folder."""
    rng = random.Random(f"{seed}:{number}")
    files = Files(rng, folder)
    name = rng.choice(sorted(unmask.commands))
    command = unmask.commands[name]
    outputs: list[Path] = []
    words = name.split() if rng.random() > 0.02 else [rng.choice(("x", "--", "-q", "audit x", "PROTECT", ""))]
    for parameter in command.params:
        for _ in range(_how_often(parameter, rng)):
            value = _value(parameter, name, files, rng, outputs)
            words += _written(parameter, value, rng)
    if rng.random() < 0.03:
        words.insert(rng.randrange(len(words) + 1), rng.choice(("--", "-", "--help", "-q", "--x", "é")))
    if name in WRITES:
        outputs.append(Path(WRITES[name]))
    outside = rng.choice(("full", "closed")) if rng.random() < 0.02 and name != "open" else None
    words = [word.replace("\0", "") for word in words]  # which no system hands over
    return Case(tuple(words), files.stdin(), tuple(outputs), outside)


def _how_often(parameter: click.Parameter, rng: random.Random) -> int:
    if parameter.name in LEFT_OUT:
        return 0
    likely = parameter.required or parameter.name in ("quasi_identifiers", "force", "people")
    once = rng.random() < (0.97 if likely else 0.5 if parameter.name == "sensitive" else 0.18)
    return rng.choice((1, 1, 2)) if once and (parameter.multiple or parameter.nargs == -1) else int(once)


def _written(parameter: click.Parameter, value: str | None, rng: random.Random) -> list[str]:
    if isinstance(parameter, click.Argument):
        return [] if value is None else [value]
    option = rng.choice([*parameter.opts, *parameter.secondary_opts])
    if value is None:
        return [option]
    return [f"{option}={value}"] if option.startswith("--") and rng.random() < 0.3 else [option, value]


def _value(
    parameter: click.Parameter, command: str, files: Files, rng: random.Random, outputs: list[Path]
) -> str | None:
    """Mostly what the option is for, sometimes anything; what an output is called is kept, too."""
    name = str(parameter.name)
    written = name in ("output", "report", "export", "folder", "at_risk", "pairs", "curve") or (
        name == "origin" and command.startswith("protect")
    )
    if getattr(parameter, "is_flag", False):
        return None
    if rng.random() < 0.06:
        value = rng.choice((*NUMBERS, *HOSTILE_NAMES, str(files.any())))
        if written and Path(value).name not in ("", ".."):
            outputs.append(Path(value.replace("\0", "")))
        return value
    if isinstance(parameter.type, click.Choice):
        return rng.choice([*map(str, parameter.type.choices)])
    if written:
        outputs.append(files.output(name))
        return str(outputs[-1])
    if name in TEXTS:
        return rng.choice((*TEXTS[name], *([str(files.matrix())] if name in ("loss", "distortion") else [])))
    if name in ("quasi_identifiers", "sensitive", "identifiers", "keep"):
        return ",".join(rng.sample(COLUMNS, rng.choice((1, 1, 2, 3))))
    if name in ("weight", "item", "subject", "cluster", "probability", "maximize", "rank_by"):
        return rng.choice((*COLUMNS, "item", "subject", "cluster", "probability", "utility"))
    if name in ("kinds", "types", "orders", "hierarchies"):
        right = {"kinds": ("numeric", "ordinal", "categorical"), "types": ("number", "date", "code", "text", "ordinal")}
        ends = {"hierarchies": [str(files.hierarchy())], "orders": ["a,b,c", "1", ""]}
        return f"{rng.choice(COLUMNS)}={rng.choice([*right.get(name, ()), *ends.get(name, ()), 'x'])}"
    if isinstance(parameter.type, click.Path) or name in ("data", "releases", "register", "truth", "guesses", "target"):
        return str(files.of(name, command))
    return rng.choice(FEW if name in WORK else NUMBERS)


# --- running and judging --------------------------------------------------------------------------------------------


def wrong(number: int, seed: int, *, shown: bool = False) -> tuple[str, int]:
    """What is wrong with a case, or "", and its exit code."""
    with tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True) as name, _inside(Path(name)) as folder:
        made = case(number, seed, folder)
        before = _content(folder)
        start = time.monotonic()
        code, out, err, trouble = _ended(made)
        if shown:
            print(
                shlex.join(made.arguments), f"\n{err}\n{out[:2000]}\nexit code {code}, {time.monotonic() - start:.1f} s"
            )
        found = trouble or _judged(made, code, out, err, before, folder)
    return (f"{found}: {shlex.join(made.arguments)[:300]!a}" if found else ""), code


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[Path]:
    """A working folder, with a temporary folder beside it in which nothing may stay."""
    work, spare, here = folder / "work", folder / "tmp", Path.cwd()
    work.mkdir()
    spare.mkdir()
    old, tempfile.tempdir = tempfile.tempdir, str(spare)
    os.chdir(work)
    try:
        yield work
    finally:
        os.chdir(here)
        tempfile.tempdir = old


def _ended(made: Case) -> tuple[int, str, str, str]:
    """Exit code, output, messages, and what went wrong with the run itself."""
    if made.outside is not None:
        return _ended_outside(made)
    signal.signal(signal.SIGALRM, _too_long)
    signal.signal(signal.SIGPROF, _too_long)
    signal.alarm(10 * LONGEST)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        with mock.patch.multiple(server, _run=mock.DEFAULT, _open_browser=mock.DEFAULT):  # what is asked: app.py
            done = CliRunner().invoke(unmask, list(made.arguments), input=made.stdin)
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
    crashed = done.exception is not None and not isinstance(done.exception, SystemExit)
    return done.exit_code, done.stdout, done.stderr, f"crash {done.exception!r:.120}" if crashed else ""


def _too_long(*_: Any) -> None:
    raise TimeoutError(f"it ran longer than {LONGEST} s")


def _ended_outside(made: Case) -> tuple[int, str, str, str]:
    into: dict[str, Callable[[], Any]] = {"full": lambda: open("/dev/full", "wb"), "closed": lambda: subprocess.DEVNULL}  # noqa: PTH123, SIM115
    command = [sys.executable, "-m", "unmask", *made.arguments]
    spare = {**os.environ, "TMPDIR": str(tempfile.tempdir)}
    done = subprocess.run(
        command, input=made.stdin, stdout=into[str(made.outside)](), stderr=subprocess.PIPE, env=spare, check=False,
        timeout=10 * LONGEST,
    )  # fmt: skip
    return done.returncode, "", done.stderr.decode(errors="replace"), ""


def _judged(made: Case, code: int, out: str, err: str, before: dict[Path, bytes], folder: Path) -> str:
    said = err if "-" in made.arguments or "--output=-" in made.arguments or "-o=-" in made.arguments else out + err
    if code not in (0, 1, 2, 3):
        return f"exit code {code}"
    if "Traceback" in err:
        return "traceback"
    if CANARY in said:
        return "content of a cell in a message"
    after = _content(folder)
    named = {(folder / path).resolve() for path in made.outputs}
    for path in sorted({*before, *after}):
        if before.get(path) != after.get(path) and not any(one in named for one in (path, *path.parents)):
            return f"file {path.name!r} is changed, gone or new"
    if code in (1, 2) and (new := [path.name for path in after if before.get(path) != after[path]]):
        return f"exit code {code} and output {new[0]!r}" if made.arguments[0] != "study" else ""
    if any(Path(str(tempfile.tempdir)).iterdir()):
        return "something is left in the temporary folder"
    return next(
        (f"output {path.name!r} is no whole file" for path in after if path not in before and not _whole(path)), ""
    )


def _content(folder: Path) -> dict[Path, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return {path.resolve(): path.read_bytes() for path in files}


def _whole(path: Path) -> bool:
    """Whether a file that was written can be read to its end."""
    name = path.name.lower()
    if name.endswith(".parquet"):
        try:
            duckdb.connect().read_parquet(str(path).replace("[", "[[]")).fetchall()
        except duckdb.Error:
            return False
    text = path.read_bytes()
    if text.startswith(b"\x1f\x8b"):
        return bool(gzip.decompress(text))
    return not text.startswith(b"<!DOCTYPE") or text.rstrip().endswith(b"</html>")


# --- all of them ----------------------------------------------------------------------------------------------------


def chunk(numbers: range, seed: int) -> list[tuple[int, str, int]]:
    """The verdicts of some cases."""
    return [(number, *wrong(number, seed)) for number in numbers]


def fuzz(first: int, cases: int, seed: int, jobs: int) -> Section:
    """So many cases from the first one on, in so many processes."""
    end = first + cases
    parts = [range(start, min(start + 20, end)) for start in range(first, end, 20)]
    with ProcessPoolExecutor(jobs) as pool:
        found = []
        for part in pool.map(chunk, parts, [seed] * len(parts)):
            found += part
            print(f"\r{len(found):,} cases", end="", file=sys.stderr, flush=True)
            for number, text, _ in part:
                if text:
                    print(f"case {number}: {text}", flush=True)
    codes = Counter(code for _, _, code in found)
    faults = [(number, text) for number, text, _ in found if text]
    rows = tuple((f"exit code {code}", f"{n:,}") for code, n in sorted(codes.items()))
    return Section(
        f"{cases:,} hostile command lines, seed {seed}",
        ("end", "cases"),
        rows,
        verdicts=(
            Verdict("no traceback, no leak, nothing partial, no other file", "0 faults", f"{len(faults)}", not faults),
        ),
    )


def main() -> int:
    """Run as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int, action="append", help="run this case and show it; repeatable")
    given = parser.parse_args()
    if given.only:
        for number in given.only:
            print(f"case {number}: {wrong(number, given.seed, shown=True)[0] or 'no fault'}")
        return 0
    return run([lambda: fuzz(given.first, given.cases, given.seed, given.jobs)])


if __name__ == "__main__":
    sys.exit(main())
