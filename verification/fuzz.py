"""Hostile inputs for every command: `python verification/fuzz.py` (a quarter of an hour on two cores).

5,000 command lines are made from the commands' own options, with files that are broken, odd or not there, odd names,
and invalid numbers. Each runs in a folder of its own and must end with exit code 0, 1, 2 or 3 and without a
traceback; must say nothing of what stands in a cell (each file has a word that is in no name); must leave the files
that it did not name as they were, no new files and nothing in the temporary folder; and what it wrote must be
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
from collections.abc import Iterator
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
from unmask.domains import remove_ending

MAX_SECONDS = 60
"""Seconds of the processor after which a command is one that hangs, and a tenth of those by the clock."""

NUMBERS = (
    "0", "1", "2", "3", "7", "0.5", "0.1", "-1", "nan", "inf", "-inf", "1e308", "1e-320", "9" * 25, "1_0", "\u0663", "",
    " ", "x", "0x10", "0.5,0.5", "1,2,5-20", "=1",
)  # fmt: skip
WORK = {"runs", "shuffles", "workers", "targets", "leaked", "transition"}
SMALL_NUMBERS = ("0", "1", "2", "-1", "nan", "x", "")
"""Values of options that set the amount of work."""

OMITTED = {"spark", "checkpoint"}
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
    "identities": (*SMALL_NUMBERS, "9" * 25),
    "group": (*SMALL_NUMBERS, "9" * 25),
    "node": ("1", "0", "x", "9" * 25),
    "attack": ("rematch", "nar09", "x"),
}


@dataclass(frozen=True)
class Case:
    """A command line, its standard input, the outputs it writes, and its kind of run."""

    arguments: tuple[str, ...]
    stdin: bytes
    outputs: tuple[Path, ...]
    outside: str | None  # "full" or "closed", in a process of its own


WRITES = {"demo": "unmask-demo.html", "init": "unmask.toml"}
"""Command -> the file that it writes by default."""


def make_case(number: int, seed: int, folder: Path) -> Case:
    """Return the case of a number, and write its files to a folder."""
    rng = random.Random(f"{seed}:{number}")
    files = Files(rng, folder)
    context = click.Context(unmask)
    name = rng.choice(unmask.list_commands(context))
    command = unmask.get_command(context, name)
    assert command is not None
    outputs: list[Path] = []
    words = name.split() if rng.random() > 0.02 else [rng.choice(("x", "--", "-q", "audit x", "PROTECT", ""))]
    for parameter in command.params:
        for _ in range(_count_uses(parameter, rng)):
            value = _choose_value(parameter, name, files, rng, outputs)
            words += _write_option(parameter, value, rng)
    if rng.random() < 0.03:
        words.insert(rng.randrange(len(words) + 1), rng.choice(("--", "-", "--help", "-q", "--x", "é")))
    if name in WRITES:
        outputs.append(Path(WRITES[name]))
    if name == "look":  # it writes a page next to the table
        paths = [path for path in map(Path, words) if path.name]
        outputs += [path.with_name(f"{remove_ending(path)}-look.html") for path in paths]
    if name == "new":  # it writes a module with a name that is a word of the command line
        outputs += [Path(f"{prefix}{word}.py") for word in words for prefix in ("", "test_")]
    outside = rng.choice(("full", "closed")) if rng.random() < 0.02 and name != "open" else None
    words = [word.replace("\0", "") for word in words]  # which no system hands over
    return Case(tuple(words), files.stdin(), tuple(outputs), outside)


def _count_uses(parameter: click.Parameter, rng: random.Random) -> int:
    if parameter.name in OMITTED:
        return 0
    likely = parameter.required or parameter.name in ("quasi_identifiers", "force", "people")
    once = rng.random() < (0.97 if likely else 0.5 if parameter.name == "sensitive" else 0.18)
    return rng.choice((1, 1, 2)) if once and (parameter.multiple or parameter.nargs == -1) else int(once)


def _write_option(parameter: click.Parameter, value: str | None, rng: random.Random) -> list[str]:
    if isinstance(parameter, click.Argument):
        return [] if value is None else [value]
    option = rng.choice([*parameter.opts, *parameter.secondary_opts])
    if value is None:
        return [option]
    return [f"{option}={value}"] if option.startswith("--") and rng.random() < 0.3 else [option, value]


def _choose_value(
    parameter: click.Parameter, command: str, files: Files, rng: random.Random, outputs: list[Path]
) -> str | None:
    """Choose a value: mostly a fitting one, sometimes any; names of outputs are recorded."""
    name = str(parameter.name)
    is_output = name in ("output", "report", "export", "folder", "at_risk", "pairs", "curve") or (
        name == "origin" and command.startswith("protect")
    )
    if getattr(parameter, "is_flag", False):
        return None
    if rng.random() < 0.06:
        value = rng.choice((*NUMBERS, *HOSTILE_NAMES, str(files.any())))
        if is_output and Path(value).name not in ("", ".."):
            outputs.append(Path(value.replace("\0", "")))
        return value
    if isinstance(parameter.type, click.Choice):
        return rng.choice([*map(str, parameter.type.choices)])
    if is_output:
        outputs.append(files.output(name))
        return str(outputs[-1])
    if name in TEXTS:
        return rng.choice((*TEXTS[name], *([str(files.matrix())] if name in ("loss", "distortion") else [])))
    if name in ("quasi_identifiers", "sensitive", "identifiers", "keep"):
        return ",".join(rng.sample(COLUMNS, rng.choice((1, 1, 2, 3))))
    if name in ("weight", "item", "subject", "cluster", "probability", "maximize", "rank_by"):
        return rng.choice((*COLUMNS, "item", "subject", "cluster", "probability", "utility"))
    if name in ("kinds", "types", "orders", "hierarchies"):
        choices = {
            "kinds": ("numeric", "ordinal", "categorical"),
            "types": ("number", "date", "code", "text", "ordinal"),
        }
        ends = {"hierarchies": [str(files.hierarchy())], "orders": ["a,b,c", "1", ""]}
        return f"{rng.choice(COLUMNS)}={rng.choice([*choices.get(name, ()), *ends.get(name, ()), 'x'])}"
    if isinstance(parameter.type, click.Path) or name in ("data", "releases", "register", "truth", "guesses", "target"):
        return str(files.make(name, command))
    return rng.choice(SMALL_NUMBERS if name in WORK else NUMBERS)


# --- running and judging --------------------------------------------------------------------------------------------


def find_fault(number: int, seed: int, *, verbose: bool = False) -> tuple[str, int]:
    """Return the fault of a case, or "", and its exit code."""
    with tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True) as name, _enter(Path(name)) as folder:
        case = make_case(number, seed, folder)
        content = _content(folder)
        start = time.monotonic()
        code, output, messages, trouble = _run(case)
        if verbose:
            print(
                shlex.join(case.arguments),
                f"\n{messages}\n{output[:2000]}\nexit code {code}, {time.monotonic() - start:.1f} s",
            )
        fault = trouble or _judge(case, code, output, messages, content, folder)
    return (f"{fault}: {shlex.join(case.arguments)[:300]!a}" if fault else ""), code


@contextlib.contextmanager
def _enter(folder: Path) -> Iterator[Path]:
    """Enter a working folder, next to a temporary folder that must end empty."""
    work, spare, previous = folder / "work", folder / "tmp", Path.cwd()
    work.mkdir()
    spare.mkdir()
    old, tempfile.tempdir = tempfile.tempdir, str(spare)
    os.chdir(work)
    try:
        yield work
    finally:
        os.chdir(previous)
        tempfile.tempdir = old


def _run(case: Case) -> tuple[int, str, str, str]:
    """Return exit code, output, messages, and a fault of the run itself."""
    if case.outside is not None:
        return _run_in_process(case)
    signal.signal(signal.SIGALRM, _stop)
    signal.signal(signal.SIGPROF, _stop)
    signal.alarm(10 * MAX_SECONDS)
    signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
    try:
        with mock.patch.multiple(server, _run=mock.DEFAULT, _open_browser=mock.DEFAULT):  # what is asked: app.py
            outcome = CliRunner().invoke(unmask, list(case.arguments), input=case.stdin)
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
    crashed = outcome.exception is not None and not isinstance(outcome.exception, SystemExit)
    return outcome.exit_code, outcome.stdout, outcome.stderr, f"crash {outcome.exception!r:.120}" if crashed else ""


def _stop(*_: Any) -> None:
    raise TimeoutError(f"it ran longer than {MAX_SECONDS} s")


def _run_in_process(case: Case) -> tuple[int, str, str, str]:
    target: Any = Path("/dev/full").open("wb") if case.outside == "full" else subprocess.DEVNULL  # noqa: SIM115
    command = [sys.executable, "-m", "unmask", *case.arguments]
    spare = {**os.environ, "TMPDIR": str(tempfile.tempdir)}
    process = subprocess.run(
        command, input=case.stdin, stdout=target, stderr=subprocess.PIPE, env=spare, check=False,
        timeout=10 * MAX_SECONDS,
    )  # fmt: skip
    return process.returncode, "", process.stderr.decode(errors="replace"), ""


def _judge(case: Case, code: int, output: str, messages: str, content: dict[Path, bytes], folder: Path) -> str:
    text = (
        messages
        if "-" in case.arguments or "--output=-" in case.arguments or "-o=-" in case.arguments
        else output + messages
    )
    if code not in (0, 1, 2, 3):
        return f"exit code {code}"
    if "Traceback" in messages:
        return "traceback"
    if CANARY in text:
        return "content of a cell in a message"
    after = _content(folder)
    outputs = {(folder / path).resolve() for path in case.outputs}
    for path in sorted({*content, *after}):
        if content.get(path) != after.get(path) and not any(parent in outputs for parent in (path, *path.parents)):
            return f"file {path.name!r} is changed, gone or new"
    if code in (1, 2) and (new := [path.name for path in after if content.get(path) != after[path]]):
        return f"exit code {code} and output {new[0]!r}" if case.arguments[0] != "study" else ""
    if any(Path(str(tempfile.tempdir)).iterdir()):
        return "something is left in the temporary folder"
    return next(
        (f"output {path.name!r} is no whole file" for path in after if path not in content and not _is_whole(path)), ""
    )


def _content(folder: Path) -> dict[Path, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return {path.resolve(): path.read_bytes() for path in files}


def _is_whole(path: Path) -> bool:
    """Return True if a written file can be read to its end."""
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
    """Return the faults of some cases."""
    return [(number, *find_fault(number, seed)) for number in numbers]


def fuzz(first: int, cases: int, seed: int, jobs: int) -> Section:
    """Run cases from the first one on, in parallel processes."""
    end = first + cases
    parts = [range(start, min(start + 20, end)) for start in range(first, end, 20)]
    with ProcessPoolExecutor(jobs) as pool:
        results = []
        for part in pool.map(chunk, parts, [seed] * len(parts)):
            results += part
            print(f"\r{len(results):,} cases", end="", file=sys.stderr, flush=True)
            for number, text, _ in part:
                if text:
                    print(f"case {number}: {text}", flush=True)
    codes = Counter(code for _, _, code in results)
    faults = [(number, text) for number, text, _ in results if text]
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
    options = parser.parse_args()
    if options.only:
        for number in options.only:
            print(f"case {number}: {find_fault(number, options.seed, verbose=True)[0] or 'no fault'}")
        return 0
    return run([lambda: fuzz(options.first, options.cases, options.seed, options.jobs)])


if __name__ == "__main__":
    sys.exit(main())
