"""Time and memory of tables that stay in an engine: audit and Mondrian, by the number of rows.

    python benchmarks/scale.py                      a million and ten million rows
    python benchmarks/scale.py --rows 100000000     a hundred million: 700 MB of Parquet, 10 GB of temporary disk
    python benchmarks/scale.py --only audit --engine spark --rows 1000000
    python benchmarks/scale.py --only audit --cap 2GiB              under a limit that the kernel enforces

The table is made by the engine itself: six quasi-identifiers (age, sex, region, race, education, marital) whose values
are drawn unevenly and on their own, a diagnosis, and nothing else; it is written as Parquet before the clock starts.
The commands are run as a user types them, in one process; ratios are of seconds by the clock, since an engine threads.

    plan        the estimate before the work
    audit       every criterion of the table, the prosecutor and the attribute inference; told to keep to 2 GiB
    protect     Mondrian with k = 10, and the release written as Parquet; told to keep to 4 GiB

A cap is RLIMIT_DATA: all private memory that the process may write, touched or not; more is refused and the case fails.
A limit on addresses (ulimit -v) does not fit, since engines and compiled kernels reserve addresses that they never use.

How cases are run and shown: see harness.py.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import resource
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import harness
from harness import Case, Found, Race, Step

ROLES = ("-q", "age,sex,region,race,education,marital", "-s", "diagnosis")
FILES = 16
SHOWS = {
    "plan": "the estimate before the work",
    "audit": "criteria and adversaries within 2 GiB",
    "protect": "Mondrian, k = 10, written as Parquet, within 4 GiB",
}


def generate(folder: str | Path, rows: int) -> None:
    """Write the table as Parquet files; cell j of row i is a function of hash(i, j), so it is always the same."""
    import duckdb

    def uniform(number: int) -> str:
        return f"(hash(i * 8 + {number}) % 1000003 / 1000003.0)"

    cells = [
        f"17 + floor({uniform(0)} * 37 + {uniform(1)} * 37)::integer as age",
        f"case when {uniform(2)} < 0.5 then 'f' else 'm' end as sex",
        f"'R' || lpad(floor(pow({uniform(3)}, 2) * 100)::integer::varchar, 2, '0') as region",
        f"floor(pow({uniform(4)}, 3) * 5)::tinyint as race",
        f"floor(pow({uniform(5)}, 2) * 16)::tinyint as education",
        f"'M' || floor(pow({uniform(6)}, 2) * 7)::integer as marital",
        f"'D' || floor(pow({uniform(7)}, 2) * 20)::integer as diagnosis",
    ]
    with duckdb.connect(config={"memory_limit": "2GB", "temp_directory": str(folder)}) as connection:
        for index in range(FILES):
            begin, end = rows * index // FILES, rows * (index + 1) // FILES
            query = f"select {', '.join(cells)} from (select range as i from range({begin}, {end}))"
            connection.execute(f"copy ({query}) to '{folder}/part-{index:02}.parquet' (format parquet)")


def in_engine(work: str, engine: str, folder: str, cap: str | None) -> Step:
    """A command as a user types it."""
    from unmask.cli import main
    from unmask.data.resources import parse_bytes

    if cap:
        resource.setrlimit(resource.RLIMIT_DATA, (parse_bytes(cap), parse_bytes(cap)))
    command = [f"{folder}/part-*.parquet", *ROLES, "--engine", engine, "--temp-directory", folder]
    command += ["--memory-limit", "4GiB" if work == "protect" else "2GiB"]
    command += {
        "plan": ["--dry-run"],
        "audit": ["--json"],
        "protect": ["--k", "10", "-o", f"{folder}/release.parquet", "--force", "--json"],
    }[work]

    def step() -> Found:
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
            main(["protect" if work == "protect" else "audit", *command], standalone_mode=False)
        if work == "plan":
            return {}
        data = json.loads(output.getvalue())
        (data,) = data["results"] if work == "protect" else data["tables"]["criteria"]
        return {"k": data["k"], "classes": data["classes"]}

    return step


def races(chosen: argparse.Namespace) -> Iterator[Race]:
    """All commands on all tables."""
    if chosen.engine.startswith("spark") and find_spec("pyspark") is None:
        raise SystemExit("--engine spark needs pyspark here; install the extra [spark] of unmask")
    for rows in chosen.rows:
        with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
            harness.run_apart(generate, folder, rows)
            for work, shows in SHOWS.items():
                case = Case(chosen.engine, in_engine, (work, chosen.engine, folder, chosen.cap))
                yield Race(work, f"{work}, {rows:,} rows in an engine", (case,), shows=shows, clock="wall")


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options: tables, folder, engine."""
    parser.add_argument("--rows", nargs="*", type=int, default=[10**6, 10**7], help="rows of the tables")
    parser.add_argument("--engine", default="duckdb", help="duckdb or spark://MASTER")
    parser.add_argument("--folder", help="where the tables and temporary files go")
    parser.add_argument("--cap", metavar="SIZE", help="memory that the kernel lets a case have, such as 2GiB")


if __name__ == "__main__":
    harness.main(__doc__, races, only=tuple(SHOWS), options=options, limit=3600)
