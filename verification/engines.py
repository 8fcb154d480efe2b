"""Both engines print the same results: `python verification/engines.py`.

Audits of Adult, its protection, and the audit of a generated table (`--rows`, a hundred million unless told otherwise)
are run as a user types them, with DuckDB and with Spark on the cores of this machine. What they print as JSON must be
equal, floats to 1e-12; releases must hold the same rows. Seconds are by the clock and
include the start of either engine. Needs UNMASK_DATA, pyspark and Java 17; half an hour on 2 cores, 20 GB of disk.
`--part adult|synthetic` runs one alone, `--folder DIR` says where files go.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
from show import Section, Verdict, run

from unmask.tables import datasets as tables

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))
import scale

ENGINES = ("duckdb", "spark://local[2]")
QUASI, SECRETS = (
    ("age", "education-num", "marital-status", "race", "sex", "native-country"),
    ("occupation", "salary-class"),
)
ADULT = ("-q", ",".join(QUASI), "-s", ",".join(SECRETS))


@dataclass(frozen=True)
class Outcome:
    """Outcome of a command on one engine: its JSON, the rows of its file, seconds on the clock."""

    printed: Any
    rows: list[tuple[Any, ...]]
    seconds: float


def run_command(engine: str, folder: Path, command: Sequence[str], *, memory: str, output: str = "") -> Outcome:
    """Run a command; output : the option that names the file it writes, if it writes one."""
    file = folder / f"{'duckdb' if engine == 'duckdb' else 'spark'}-{command[0]}.parquet"
    limits = ("--engine", engine, "--memory-limit", memory, "--temp-directory", str(folder))
    arguments = [sys.executable, "-m", "unmask", *command, *limits, "--json"]
    start = time.perf_counter()
    if output:
        arguments += [output, str(file), "--force"]
    process = subprocess.run(arguments, check=False, stdout=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - start
    if process.returncode:
        raise SystemExit(f"unmask {' '.join(command[:2])} with --engine {engine} ended with {process.returncode}")
    printed = json.loads(process.stdout)
    for row in printed["results"]:
        row.pop("seconds", None)
    return Outcome(printed, _rows(file) if output else [], seconds)


def _rows(file: Path) -> list[tuple[Any, ...]]:
    """Read the rows of a Parquet file, or of a folder of them."""
    source = str(file / "*.parquet") if file.is_dir() else str(file)
    return sorted(duckdb.execute("select * from read_parquet(?)", [source]).fetchall(), key=repr)


def measure_distance(first: Any, second: Any) -> float:
    """Return the largest distance of two JSON values' floats, relative above 1; infinite if anything else differs."""
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        return max((measure_distance(first[key], second[key]) for key in first), default=0.0)
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        return max((measure_distance(a, b) for a, b in zip(first, second, strict=True)), default=0.0)
    if isinstance(first, float) and isinstance(second, float) and math.isfinite(first) and math.isfinite(second):
        return abs(first - second) / max(abs(first), abs(second), 1.0)
    return 0.0 if type(first) is type(second) and first == second else math.inf


def count_values(printed: Any) -> int:
    """Count the values in a JSON value."""
    if isinstance(printed, dict):
        return sum(count_values(value) for value in printed.values())
    return sum(count_values(value) for value in printed) if isinstance(printed, list) else 1


def compare_engines(title: str, commands: Iterator[tuple[str, list[Outcome]]], note: str = "") -> Section:
    """Compare the outputs of each command: one row and one verdict."""
    rows, verdicts = [], []
    for claim, (duck, spark) in commands:
        distance = measure_distance(duck.printed, spark.printed)
        is_equal = duck.rows == spark.rows
        rows.append((claim, f"{duck.seconds:.1f}", f"{spark.seconds:.1f}", f"{spark.seconds / duck.seconds:.1f}"))
        ours = f"{count_values(duck.printed):,} values, at most {distance:.1g} apart"
        if duck.rows:
            ours += f"; {len(duck.rows):,} rows {'equal' if is_equal else 'DIFFER'}"
        verdicts.append(Verdict(f"{claim}: both print the same", "", ours, distance <= 1e-12 and is_equal))
    header = ("command", "DuckDB, s", "Spark, s", "ratio")
    return Section(title, header, tuple(rows), (note,) if note else (), tuple(verdicts))


def run_both(folder: Path, command: Sequence[str], **options: str) -> list[Outcome]:
    """Run a command on both engines."""
    return [run_command(engine, folder, command, **options) for engine in ENGINES]


def verify_adult(folder: Path) -> Section:
    """Compare audits of Adult, with a register of its people, and its protection."""
    source, register = folder / "adult.parquet", folder / "register.parquet"
    people = tables.adult(quasi_identifiers=QUASI, sensitive=SECRETS)
    people.write(source)
    columns = 'age, sex, race, "marital-status"'
    duckdb.execute(f"copy (select {columns} from '{source}' where age > 30) to '{register}' (format parquet)")

    def commands() -> Iterator[tuple[str, list[Outcome]]]:
        yield "audit", run_both(folder, ("audit", str(source), *ADULT), memory="2GiB")
        with_register = ("audit", str(source), *ADULT, "--register", str(register), "--coverage", "0.6")
        yield "audit, with a register", run_both(folder, with_register, memory="2GiB")
        protect = ("protect", str(source), *ADULT, "--k", "10", "--l", "2")
        yield "protect, k = 10, l = 2", run_both(folder, protect, memory="2GiB", output="--output")

    return compare_engines(f"Adult, {people.n_rows:,} rows", commands())


def verify_generated(folder: Path, *, rows: int) -> Section:
    """Compare audits of the table of benchmarks/scale.py."""
    scale.generate(folder, rows)

    def commands() -> Iterator[tuple[str, list[Outcome]]]:
        yield "audit", run_both(folder, ("audit", f"{folder}/part-*.parquet", *scale.ROLES), memory="8GiB")

    return compare_engines(f"A generated table, {rows:,} rows", commands())


def main() -> int:
    """Run all parts, or the one asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("adult", "synthetic"))
    parser.add_argument("--rows", type=int, default=10**8, help="rows of the generated table")
    parser.add_argument("--folder", help="where files go; the system's temporary folder unless given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        parts = {
            "adult": partial(verify_adult, folder),
            "synthetic": partial(verify_generated, folder, rows=options.rows),
        }
        return run(part for name, part in parts.items() if options.part in (None, name))


if __name__ == "__main__":
    sys.exit(main())
