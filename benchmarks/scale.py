"""Time and memory of tables that do not fit the memory: criteria and Mondrian, by the number of rows.

    python benchmarks/scale.py                      a million and ten million rows
    python benchmarks/scale.py --rows 100000000     a hundred million: 700 MB of Parquet, 10 GB of temporary disk
    python benchmarks/scale.py --only criteria --engine spark --rows 1000000

The table is made by the engine itself: six quasi-identifiers (age, sex, region, race, education, marital) whose values
are drawn unevenly and on their own, a diagnosis, and nothing else; it is written as Parquet before the clock starts.
Every case runs in a fresh process. CPU s are those of all threads, wall s those of the clock, peak memory is that of
the whole process; the limit is what it was told to keep to, the engine's and the arrays' shares together.

    plan        the estimate before the work: rows, combinations
    criteria    every criterion of the table, the prosecutor and the attribute inference
    mondrian    k = 10, and the release written as Parquet
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# The process that starts the cases must stay small: on Linux a child's peak counts from the size of its parent at the
# fork. So everything beyond the standard library is imported where it is used.

QUASI_IDENTIFIERS = ("age", "sex", "region", "race", "education", "marital")
SENSITIVE = ("diagnosis",)
LIMITS = {"plan": 2 << 30, "criteria": 2 << 30, "mondrian": 4 << 30}
FILES = 16


def generate(folder: Path, rows: int) -> None:
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
        for at in range(FILES):
            begin, end = rows * at // FILES, rows * (at + 1) // FILES
            query = f"select {', '.join(cells)} from (select range as i from range({begin}, {end}))"
            connection.execute(f"copy ({query}) to '{folder / f'part-{at:02}.parquet'}' (format parquet)")


def run(case: str, engine_name: str, folder: str) -> dict[str, Any]:
    """One case in this process."""
    from unmask.engines import open_engine
    from unmask.studies.large import Held, study_large
    from unmask.tables.large import Roles, generalise, plan, reduce, shares, write_release
    from unmask.tables.protections import Mondrian

    limit, roles = LIMITS[case], Roles(QUASI_IDENTIFIERS, SENSITIVE)
    start, cpu = time.perf_counter(), time.process_time()
    steps: dict[str, float] = {}

    def done(step: str) -> None:
        steps[step] = round(time.perf_counter() - start - sum(steps.values()), 2)

    found: dict[str, Any] = {}
    with open_engine(engine_name, memory_limit=shares(limit)[0], temp_directory=folder) as engine:
        source = str(Path(folder) / "*.parquet")
        work = "protect" if case == "mondrian" else "audit"
        planned = plan(
            engine, source, roles, memory_limit=limit, temp_directory=folder, work=work, counted=work == "audit"
        )
        found["combinations"], found["parts"] = planned.combinations, planned.parts
        done("plan")
        if case != "plan":
            reduced = reduce(engine, source, roles, counted=case == "criteria")
            done("reduce")
        if case == "criteria":
            report = study_large({"release": Held(reduced, planned.parts)})
            found["k"], found["classes"] = report.criteria["release"]["k"], report.criteria["release"]["classes"]
            done("criteria")
        if case == "mondrian":
            made = generalise(reduced.whole(), Mondrian(k=10))
            found["k"], found["classes"] = int(made.release.counts.min()), len(made.release.counts)
            done("boxes")
            write_release(reduced, made, Path(folder) / "release.parquet", force=True)
            done("write")
    found["wall"], found["cpu"] = time.perf_counter() - start, time.process_time() - cpu
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {**found, "steps": steps}


def main() -> None:
    """Make the tables, run the cases, print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="*", type=int, default=[10**6, 10**7])
    parser.add_argument("--only", nargs="*", choices=list(LIMITS), default=["criteria", "mondrian"])
    parser.add_argument("--engine", default="duckdb")
    parser.add_argument("--folder", help="where the tables and temporary files go")
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.case:
        print(json.dumps(run(*chosen.case)))
        return
    print(f"{'case':10}{'rows':>13}{'combinations':>14}{'classes':>11}{'wall s':>9}{'CPU s':>8}{'us/row':>8}"
          f"{'peak MiB':>10}{'limit':>7}  steps, s")  # fmt: skip
    for rows in chosen.rows:
        with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
            generate(Path(folder), rows)
            for case in chosen.only:
                command = [sys.executable, __file__, "--case", case, chosen.engine, folder]
                answer = subprocess.run(command, capture_output=True, text=True, check=False)
                if answer.returncode:
                    print(f"{case:10}{rows:>13,}  failed: {answer.stderr.strip().splitlines()[-1]}")
                    continue
                it = json.loads(answer.stdout.splitlines()[-1])
                print(f"{case:10}{rows:>13,}{it['combinations']:>14,}{it.get('classes', 0):>11,}{it['wall']:>9.1f}"
                      f"{it['cpu']:>8.1f}{1e6 * it['wall'] / rows:>8.2f}{it['peak'] / 2**20:>10.0f}"
                      f"{LIMITS[case] >> 20:>7}  {it['steps']}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
