"""Cost of work by its size: measure cases, fit a model, and write the tables and charts of docs/scale.md.

    python benchmarks/cost_model.py --rows 1000000 --edges 100000      measure these sizes, and write the page
    python benchmarks/cost_model.py --forms duckdb --rows 100000000    one form of the work at another size
    python benchmarks/cost_model.py --rows --edges                     write the page again from what was measured

Every size of every kind of work is made by DuckDB, written to disk before the clock starts, and run in a fresh
process by each form: in memory, in DuckDB, and, on request, on Spark (`--forms spark://local[2]`; by the clock
alone). Attacks on networks have one form, memory. What is measured replaces the rows of the same case in
benchmarks/scale.jsonl, from which alone the page is written. Seconds are CPU seconds of all threads. The model is CPU
seconds = a units + b units + c with coefficients of 0 or more that make the sum of squared relative errors least, for
each kind of work and form by itself.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import math
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import harness
import scale_page
from harness import Case, Found, Step
from limits import command
from scale_page import UNITS

ROWS = Path(__file__).with_name("scale.jsonl")
MEMORY = "4GiB"
COLUMNS = ("age", "sex", "region", "race", "education", "marital")

# --- inputs --------------------------------------------------------------------------------------------------


def table(folder: str, rows: int) -> None:
    """The table of scale.py in one file, and how many combinations its first columns have."""
    import duckdb
    import scale

    scale.generate(folder, rows)
    with duckdb.connect(config={"memory_limit": "4GB", "temp_directory": folder}) as connection:
        connection.execute(f"copy (from '{folder}/part-*.parquet') to '{folder}/table.parquet' (format parquet)")
        for n in (3, 5, 6):
            distinct = f"select distinct {', '.join(COLUMNS[:n])} from '{folder}/table.parquet'"
            (count,) = connection.execute(f"select count(*) from ({distinct})").fetchall()
            (Path(folder) / f"combinations-{n}").write_text(str(count[0]))


def items(folder: str, rows: int) -> None:
    """Subjects of 100 items in two clusters each; of every file a share of the items is in a cluster at random."""
    import duckdb

    subject = f"i % {max(rows // 100, 1)}"
    with duckdb.connect(config={"memory_limit": "4GB", "temp_directory": folder}) as connection:
        for name, lost in (("few", 2), ("many", 30)):
            cluster = f"case when hash(i, 1) % 100 < {lost} then hash(i, 2) % {max(rows // 50, 1)} "
            cluster += f"else ({subject}) * 2 + hash(i, 3) % 2 end"
            cells = f"'item-' || i as item, 's' || ({subject}) as subject, 'c' || ({cluster}) as cluster"
            connection.execute(f"create or replace temp view cells as select {cells} from range({rows}) r(i)")
            connection.execute(f"copy (select item, subject from cells) to '{folder}/truth.parquet' (format parquet)")
            guess = f"copy (select item, cluster from cells order by hash(item)) to '{folder}/{name}.parquet'"
            connection.execute(f"{guess} (format parquet)")
            (count,) = connection.execute(
                "select count(*) from (select distinct subject, cluster from cells)"
            ).fetchall()
            (Path(folder) / f"pairs-{name}").write_text(str(count[0]))


def network(folder: str, edges: int) -> None:
    """Write a network of mean degree 10 without structure as text; each side has lost a tenth of its edges.

    A fifth of the nodes are seeds. Ids of the release are those of the auxiliary network in another order.
    """
    import duckdb

    n = max(edges // 5, 10)
    with duckdb.connect(config={"memory_limit": "500MB", "threads": 1, "temp_directory": folder}) as connection:
        connection.execute("set preserve_insertion_order = false")
        ends = f"hash(i, 1) % {n} as a, hash(i, 2) % {n} as b"
        connection.execute(f"create temp view links as select i, {ends} from range({edges}) r(i)")
        for name, salt in (("auxiliary", 0), ("release", 7)):
            ids = [f"{released_id(end, n)} as {end}" if salt else end for end in ("a", "b")]
            links_kept = f"select {', '.join(ids)} from links where hash(i, {salt + 3}) % 10 > 0"
            connection.execute(f"copy ({links_kept}) to '{folder}/{name}.txt' (header false, delimiter ' ')")
        seeds = f"select i as known, {released_id('i', n)} as found from range({n}) r(i) where i % 5 = 0"
        connection.execute(f"copy ({seeds}) to '{folder}/seeds.txt' (header false, delimiter ' ')")


def released_id(node: str, n_nodes: int) -> str:
    """Return SQL for the id of a node in the release."""
    return f"({node} * 7919 + 13) % {n_nodes}"


# --- steps ---------------------------------------------------------------------------------------------------


def attack(folder: str) -> Step:
    """Read two networks and run a synchronous Nar09 from the seeds of a file."""
    import numpy as np

    from unmask.graphs import Auxiliary, Nar09, SocialGraph

    def step() -> Found:
        source, target = (SocialGraph.read(f"{folder}/{name}.txt") for name in ("auxiliary", "release"))
        pairs = np.fromfile(f"{folder}/seeds.txt", dtype=np.int64, sep=" ").reshape(-1, 2)
        inside = np.isin(pairs[:, 0], source.labels) & np.isin(pairs[:, 1], target.labels)
        seeds = [
            np.searchsorted(graph.labels, ids) for graph, ids in zip((source, target), pairs[inside].T, strict=True)
        ]
        mapping = Nar09(synchronous=True)(target, Auxiliary(source, tuple(seeds))).mapping
        mapped = np.flatnonzero(mapping >= 0)
        wedges = int(source.degree[mapped] @ target.degree[mapping[mapped]])
        return {"pairs": len(mapped), "wedges": wedges}

    return step


@dataclass(frozen=True)
class Job:
    """One case to measure: the kind of work, its units as far as they are known, and the case of each form."""

    work: str
    units: dict[str, float]
    variant: str
    case: Case


def engine_of(form: str, folder: str) -> list[str]:
    """The options that leave a table where it is."""
    if form == "memory":
        return []
    return ["--engine", form, "--memory-limit", MEMORY, "--temp-directory", folder]


def table_jobs(form: str, folder: str, rows: int) -> Iterator[Job]:
    """Audit and Mondrian by 3, 5 and 6 quasi-identifiers."""
    for n in (3, 5, 6):
        units = {"rows": rows, "combinations": float((Path(folder) / f"combinations-{n}").read_text())}
        roles = [f"{folder}/table.parquet", "-q", ",".join(COLUMNS[:n]), "-s", "diagnosis", *engine_of(form, folder)]
        release = ["--k", "10", "-o", f"{folder}/release.parquet", "--force", "--json"]
        yield Job("audit of a table", units, f"{n} columns", Case(form, command, ("audit", *roles, "--json")))
        yield Job("Mondrian", units, f"{n} columns", Case(form, command, ("protect", *roles, *release)))


def linkage_jobs(form: str, folder: str, rows: int) -> Iterator[Job]:
    """Guesses with few and with many items in a foreign cluster."""
    for name in ("few", "many"):
        units = {"items": rows, "pairs": float((Path(folder) / f"pairs-{name}").read_text())}
        files = ["--truth", f"{folder}/truth.parquet", "--guess", f"{folder}/{name}.parquet", "--json"]
        case = Case(form, command, ("audit", "linkage", *files, *engine_of(form, folder)))
        yield Job("audit of linkage", units, f"{name} foreign items", case)


def network_jobs(form: str, folder: str, edges: int) -> Iterator[Job]:
    """The attack, which has one form."""
    if form == "memory":
        yield Job("attack on a network", {"edges": edges}, "", Case(form, attack, (folder,)))


# --- measuring -----------------------------------------------------------------------------------------------


def measure(chosen: argparse.Namespace) -> None:
    """Run all cases of the sizes asked for and keep what they took."""
    works = tuple(UNITS)
    kinds = (
        (works[:2], table, table_jobs, chosen.rows),
        (works[2:3], items, linkage_jobs, chosen.rows),
        (works[3:], network, network_jobs, chosen.edges),
    )
    wanted = chosen.work or works
    for makes, make, jobs, sizes in kinds:
        for size in sizes if set(makes) & set(wanted) else ():
            with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
                harness.run_apart(make, folder, size)
                for form in chosen.forms:
                    if form == "memory" and size > chosen.most_in_memory:
                        continue
                    for job in jobs(form, folder, size):
                        if job.work in wanted:
                            keep(job, size, harness.once(job.case, sys.executable, chosen.limit))


def keep(job: Job, size: int, took: harness.Outcome) -> None:
    """Put one measured row into the file, in the place of an older one of the same case."""
    units = {**job.units, **{name: took.found[name] for name in UNITS[job.work] if name in took.found}}
    figures = {"cpu": took.seconds, "wall": took.wall, "peak_mib": took.peak_mib}
    if job.case.name.startswith("spark"):  # its own process is not counted
        figures |= {"cpu": math.nan, "peak_mib": math.nan}
    row = {
        "work": job.work, "form": job.case.name, "variant": job.variant, "size": size, "units": units,
        **{name: None if math.isnan(figure) else round(figure, 2) for name, figure in figures.items()},
        "why": took.why, "cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1),
        "code": scale_page.code_of(job.work), "day": str(dt.datetime.now(dt.UTC).date()),
    }  # fmt: skip
    print(json.dumps(row), flush=True)
    if took.why == "failed":  # a fault of the program is no measurement
        return
    key_names = ("work", "form", "variant", "size")
    other_rows = [measurement for measurement in measured() if any(measurement[key] != row[key] for key in key_names)]
    all_rows = sorted(
        [*other_rows, row],
        key=lambda measurement: [str(measurement[key]) if key != "size" else measurement[key] for key in key_names],
    )
    ROWS.write_text(
        "".join(json.dumps(measurement, sort_keys=True) + "\n" for measurement in all_rows), encoding="utf-8"
    )


def measured() -> list[dict[str, Any]]:
    """Return the rows that there are."""
    return [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()] if ROWS.exists() else []


# --- the model -----------------------------------------------------------------------------------------------


def main() -> None:
    """Measure the requested cases, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="*", type=int, default=[10**6], help="rows of tables, and items")
    parser.add_argument("--edges", nargs="*", type=int, default=[10**5], help="edges of networks")
    parser.add_argument("--forms", nargs="*", default=["memory", "duckdb"], help="memory, duckdb, spark://MASTER")
    parser.add_argument("--work", nargs="*", choices=list(UNITS), help="kinds of work; all unless given")
    parser.add_argument("--most-in-memory", type=int, default=10**7, help="largest size that is read into memory")
    parser.add_argument("--folder", help="where inputs and temporary files go")
    parser.add_argument("--limit", type=float, default=3600, help="seconds after which a case is stopped")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.case:
        return harness.run_here(*json.loads(chosen.case))
    measure(chosen)
    scale_page.write(measured())
    return None


if __name__ == "__main__":
    main()
