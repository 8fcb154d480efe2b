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
class Ran:
    """A command on one engine: what it printed, the rows of the file that it wrote, seconds by the clock."""

    said: Any
    wrote: list[tuple[Any, ...]]
    seconds: float


def ran(engine: str, folder: Path, command: Sequence[str], *, memory: str, output: str = "") -> Ran:
    """Run a command; output : the option that names the file it writes, if it writes one."""
    file = folder / f"{'duckdb' if engine == 'duckdb' else 'spark'}-{command[0]}.parquet"
    room = ("--engine", engine, "--memory-limit", memory, "--temp-directory", str(folder))
    asked = [sys.executable, "-m", "unmask", *command, *room, "--json"]
    start = time.perf_counter()
    if output:
        asked += [output, str(file), "--force"]
    done = subprocess.run(asked, check=False, stdout=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"unmask {' '.join(command[:2])} with --engine {engine} ended with {done.returncode}")
    said = json.loads(done.stdout)
    for row in said["results"]:
        row.pop("seconds", None)
    return Ran(said, _rows(file) if output else [], seconds)


def _rows(file: Path) -> list[tuple[Any, ...]]:
    """The rows of a Parquet file, or of a folder of them."""
    source = str(file / "*.parquet") if file.is_dir() else str(file)
    return sorted(duckdb.execute("select * from read_parquet(?)", [source]).fetchall(), key=repr)


def apart(one: Any, other: Any) -> float:
    """The largest distance of two JSON values' floats, relative above 1; infinite where anything else differs."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return max((apart(one[key], other[key]) for key in one), default=0.0)
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return max((apart(a, b) for a, b in zip(one, other, strict=True)), default=0.0)
    if isinstance(one, float) and isinstance(other, float) and math.isfinite(one) and math.isfinite(other):
        return abs(one - other) / max(abs(one), abs(other), 1.0)
    return 0.0 if type(one) is type(other) and one == other else math.inf


def numbers(said: Any) -> int:
    """How many values a JSON value holds."""
    if isinstance(said, dict):
        return sum(numbers(value) for value in said.values())
    return sum(numbers(value) for value in said) if isinstance(said, list) else 1


def compared(title: str, commands: Iterator[tuple[str, list[Ran]]], note: str = "") -> Section:
    """One row and one verdict for each command."""
    rows, verdicts = [], []
    for claim, (duck, spark) in commands:
        far = apart(duck.said, spark.said)
        same = duck.wrote == spark.wrote
        rows.append((claim, f"{duck.seconds:.1f}", f"{spark.seconds:.1f}", f"{spark.seconds / duck.seconds:.1f}"))
        found = f"{numbers(duck.said):,} values, at most {far:.1g} apart"
        if duck.wrote:
            found += f"; {len(duck.wrote):,} rows {'equal' if same else 'DIFFER'}"
        verdicts.append(Verdict(f"{claim}: both print the same", "", found, far <= 1e-12 and same))
    header = ("command", "DuckDB, s", "Spark, s", "ratio")
    return Section(title, header, tuple(rows), (note,) if note else (), tuple(verdicts))


def both(folder: Path, command: Sequence[str], **more: str) -> list[Ran]:
    """A command on both engines."""
    return [ran(engine, folder, command, **more) for engine in ENGINES]


def adult(folder: Path) -> Section:
    """Adult as it is, against a register of its people, and protected."""
    source, register = folder / "adult.parquet", folder / "register.parquet"
    people = tables.adult(quasi_identifiers=QUASI, sensitive=SECRETS)
    people.write(source)
    columns = 'age, sex, race, "marital-status"'
    duckdb.execute(f"copy (select {columns} from '{source}' where age > 30) to '{register}' (format parquet)")

    def commands() -> Iterator[tuple[str, list[Ran]]]:
        yield "audit", both(folder, ("audit", str(source), *ADULT), memory="2GiB")
        known = ("audit", str(source), *ADULT, "--register", str(register), "--coverage", "0.6")
        yield "audit, with a register", both(folder, known, memory="2GiB")
        protect = ("protect", str(source), *ADULT, "--k", "10", "--l", "2")
        yield "protect, k = 10, l = 2", both(folder, protect, memory="2GiB", output="--output")

    return compared(f"Adult, {people.n_rows:,} rows", commands())


def synthetic(folder: Path, *, rows: int) -> Section:
    """The table of benchmarks/scale.py."""
    scale.generate(folder, rows)

    def commands() -> Iterator[tuple[str, list[Ran]]]:
        yield "audit", both(folder, ("audit", f"{folder}/part-*.parquet", *scale.ROLES), memory="8GiB")

    return compared(f"A generated table, {rows:,} rows", commands())


def main() -> int:
    """Run all parts, or the one asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("adult", "synthetic"))
    parser.add_argument("--rows", type=int, default=10**8, help="rows of the generated table")
    parser.add_argument("--folder", help="where files go; the system's temporary folder unless given")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
        folder = Path(name)
        parts = {
            "adult": partial(adult, folder),
            "synthetic": partial(synthetic, folder, rows=chosen.rows),
        }
        return run(part for of, part in parts.items() if chosen.part in (None, of))


if __name__ == "__main__":
    sys.exit(main())
