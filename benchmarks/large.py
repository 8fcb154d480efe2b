"""Releases of many rows, next to the minimum of the work: a bare scan, a sort, a join by the engine alone.

    python benchmarks/large.py                                 10^7 and 10^8 rows; with 10^9: --rows 1000000000

Commands run as a user types them, imports counted. Each race has a bar, and a case that misses it says why. How cases
are run and shown: see harness.py.

    parquet     audits of 3 and of 6 of the columns that scale.py makes, and of 3 where the others are released, too,
                and are known to an adversary; the peer counts the combinations of the chosen columns
    protect     Mondrian, k = 10, of 3 columns; the peer sorts the released columns and writes them
    linkage     what cost_model.py makes: 2 % of the items in a foreign cluster; the peer joins and counts
    spark       an audit on Spark next to the same on DuckDB; needs the extra [spark] and Java
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import harness
from harness import Case, Found, Race, Step
from limits import SENSITIVE, command, query, wanted
from scale import generate

SIX = ("age", "sex", "region", "race", "education", "marital")


# --- tables ----------------------------------------------------------------------------------------------


def narrow(folder: str) -> None:
    """The same rows with 3 of the columns and the sensitive one, and no others to be released."""
    import duckdb

    Path(folder, "three").mkdir()
    columns = ", ".join((*SIX[:3], SENSITIVE))
    for part in sorted(Path(folder).glob("part-*.parquet")):
        duckdb.execute(f"copy (select {columns} from '{part}') to '{folder}/three/{part.name}' (format parquet)")


def audit_parquet(folder: str, n_columns: int, memory: str = "2GiB") -> Step:
    """Criteria and adversaries, within a limit."""
    room = ("--engine", "duckdb", "--memory-limit", memory, "--temp-directory", folder)
    return command("audit", parts(folder), "-q", ",".join(SIX[:n_columns]), "-s", SENSITIVE, "--json", *room)


def count_parquet(folder: str, n_columns: int) -> Step:
    """The combinations of the same columns and the sensitive one, counted."""
    columns = ", ".join((*SIX[:n_columns], SENSITIVE))
    return query(f"select count(*) from (select {columns}, count(*) from '{parts(folder)}' group by all)")


def protect_parquet(folder: str) -> Step:
    """Mondrian on three columns, within 4 GiB."""
    room = ("--engine", "duckdb", "--memory-limit", "4GiB", "--temp-directory", folder)
    asked = ("-q", ",".join(SIX[:3]), "-s", SENSITIVE, "--k", "10", "-o", f"{folder}/release.parquet", "--force")
    return command("protect", parts(folder), *asked, *room)


def copy_parquet(folder: str) -> Step:
    """The released columns, sorted and written."""
    columns = ", ".join((*SIX[:3], SENSITIVE))
    into = f"{folder}/copy.parquet"
    room = f"set memory_limit = '4GB'; set temp_directory = '{folder}'; "
    return query(f"{room}copy (select {columns} from '{parts(folder)}' order by all) to '{into}' (format parquet)")


def parts(folder: str) -> str:
    """The files of the table."""
    return f"{folder}/part-*.parquet"


def on_spark(folder: str) -> Step:
    """A command on DuckDB, then on Spark: seconds by the clock, without 15 for Spark's start."""
    asked = ("audit", parts(folder), "-q", ",".join(SIX), "-s", SENSITIVE)

    def took(engine: str) -> float:
        begun = time.perf_counter()
        command(*asked, "--json", "--engine", engine, "--temp-directory", folder)()
        return time.perf_counter() - begun

    def step() -> Found:
        duckdb, spark = took("duckdb"), took("spark://local[2]")
        return {"times DuckDB's clock": (spark - 15) / duckdb, "s DuckDB": duckdb, "s Spark": spark}

    return step


# --- linkage ---------------------------------------------------------------------------------------------


def build_items(folder: str, rows: int) -> None:
    """The items of cost_model.py, as CSV as well."""
    import cost_model  # it imports unmask, which no process that starts cases may do
    import duckdb

    cost_model.items(folder, rows)
    for name in ("truth", "few"):
        duckdb.execute(f"copy (from '{folder}/{name}.parquet') to '{folder}/{name}.csv' (header)")


def audit_linkage(folder: str, suffix: str) -> Step:
    """Audit a linkage: people breached, and people one merge away."""
    truth, guess = f"{folder}/truth{suffix}", f"{folder}/few{suffix}"
    return command("audit", "linkage", "--truth", truth, "--guess", guess, "--json")


def join(folder: str, suffix: str) -> Step:
    """The items of every subject in every cluster, joined and counted."""
    joined = f"'{folder}/truth{suffix}' join '{folder}/few{suffix}' using (item)"
    return query(f"select count(*) from (select subject, cluster, count(*) from {joined} group by all)")


# --- races -----------------------------------------------------------------------------------------------

PASSES = (
    "The engine counts combinations in most of its time, as the peer does. The rest is the plan, and lists the values "
    "of the columns."
)


def races(chosen: argparse.Namespace) -> Iterator[Race]:
    """All of them; inputs are made as they are needed and removed again."""
    for size in (10**6, 10**7):
        yield from of_linkage(chosen, size)
    for rows in chosen.rows:
        yield from of_parquet(chosen, rows)


def of_linkage(chosen: argparse.Namespace, size: int) -> Iterator[Race]:
    """A million items of CSV, ten of Parquet."""
    suffix, bar = (".csv", 1.5) if size == 10**6 else (".parquet", 12)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        if wanted(chosen, "linkage"):
            harness.run_apart(build_items, folder, size)
        limit = "Imports take a fifth. Ids and labels are read as texts, joined and counted in the rest."
        ours = Case("ours", audit_linkage, (folder, suffix), at_most=bar, limit=limit)
        peer = Case("DuckDB, join", join, (folder, suffix))
        title = f"audit linkage, {size:,} items of {'CSV' if suffix == '.csv' else 'Parquet'}"
        yield Race("linkage", title, (ours,), (peer,), "from the files to who is breached")


def of_parquet(chosen: argparse.Namespace, rows: int) -> Iterator[Race]:
    """Audits and Mondrian of a table that stays where it is."""
    bars = {10**7: 1.5, 10**8: 10, 10**9: 90}
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        if wanted(chosen, "parquet", "protect", "spark"):
            harness.run_apart(generate, folder, rows)
        title, shows = f"{rows:,} rows of Parquet", "criteria and adversaries within 2 GiB"
        if wanted(chosen, "parquet"):
            harness.run_apart(narrow, folder)
        three = f"{folder}/three"
        ours = Case("ours", audit_parquet, (three, 3), at_most=bars.get(rows, 0), mib_at_most=2048, limit=PASSES)
        peer = Case("DuckDB, group by", count_parquet, (three, 3))
        yield Race("parquet", f"audit, {title} x 3", (ours,), (peer,), shows)
        if rows == 10**7:
            ours, peer = (Case(case.name, case.prepare, (folder, 3)) for case in (ours, peer))
            yield Race("parquet", f"audit, {title} x 3 of 6", (ours,), (peer,), "an adversary knows all six")
        if rows == 10**8:
            limit = "Counting combinations takes a fifth, as in the peer. The rest is their criteria and beliefs."
            ours = Case("ours", audit_parquet, (folder, 6, "5GiB"), at_most=40, limit=limit)
            peer = Case("DuckDB, group by", count_parquet, (folder, 6))
            yield Race(
                "parquet", f"audit, {title} x 6", (ours,), (peer,), "about 42 million combinations, within 5 GiB"
            )
            limit = "Sorting and writing the released rows takes more than half, as in the peer."
            ours = Case("ours", protect_parquet, (folder,), at_most=60, limit=limit)
            peer = Case("DuckDB, sort and write", copy_parquet, (folder,))
            yield Race("protect", f"protect, {title}", (ours,), (peer,), "Mondrian, k = 10, three columns, in 4 GiB")
        if rows == 10**7 and find_spec("pyspark"):
            yield on_spark_race(f"audit on Spark, {title}", folder)


def on_spark_race(title: str, folder: str) -> Race:
    """Spark beside DuckDB."""
    limit = "Spark compiles every statement, and passes rows between stages through the disk."
    ours = Case("ours", on_spark, (folder,), most={"times DuckDB's clock": 2}, limit=limit)
    return Race("spark", title, (ours,), shows="15 s of Spark's start left out", clock="wall")


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of rows, and the folder."""
    parser.add_argument("--rows", nargs="*", type=int, default=[10**7, 10**8], help="rows of the Parquet tables")
    parser.add_argument("--folder", help="where inputs and temporary files go")


if __name__ == "__main__":
    harness.main(__doc__, races, only=("parquet", "protect", "linkage", "spark"), options=options, limit=3600)
