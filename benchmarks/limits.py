"""What a user waits for, beside the least that the work can take: bare scans, other libraries, plain loops.

    python benchmarks/limits.py                                every race; with 10^9 rows: --rows 1000000000
    python benchmarks/limits.py --quick                        what takes less than two minutes each

Commands run as a user types them, imports counted. Each race has a bar, and a case that misses it says why. How cases
are run and shown: see harness.py.

    parquet     audits of 3 of the columns that scale.py makes, and of all 6; the peer counts their combinations
    protect     Mondrian, k = 10, of 3 columns, a million rows of CSV that are nearly all distinct, and Parquet; the
                peer sorts the released columns and writes them
    wide        150 quasi-identifiers of 2,000 rows protected and audited; the peer is Mondrian in plain Python
    linkage     what cost_model.py makes: 2 % of the items in a foreign cluster; the peer joins and counts
    traces      313 people's 20 steps among 400 places, observed with noise, and the Euclidean losses of where each of
                them was; the peer finds the best answer of every step with SciPy
    start       the interpreter and what it imports counted; the peer imports the libraries alone
    page        of an audit, without the audit; the peer writes the same rows as a bare HTML table
    spark       an audit on Spark beside the same on DuckDB; needs the extra [spark] and Java
"""

from __future__ import annotations

import argparse
import contextlib
import html
import io
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import harness
import tables
from harness import Case, Found, Race, Step
from scale import generate
from tables import build, build_distinct

SEED = 0
SIX = ("age", "sex", "region", "race", "education", "marital")
WIDE = 150
SENSITIVE = "diagnosis"
LIBRARIES = "import click, duckdb, numpy, scipy.sparse"


def command(*arguments: str, **more: float) -> Step:
    """A command as a user types it, imports counted; what it prints is dropped. more : what is known to be found."""

    def step() -> Found:
        from unmask.cli import main

        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main(list(arguments), standalone_mode=False)
        return more

    return step


def query(text: str) -> Step:
    """One query of DuckDB, which sees nothing but the files."""

    def step() -> Found:
        import duckdb

        duckdb.execute(text).fetchall()
        return {}

    return step


# --- tables ----------------------------------------------------------------------------------------------


def audit_parquet(folder: str, n_columns: int) -> Step:
    """Criteria and adversaries, within 2 GiB."""
    room = ("--engine", "duckdb", "--memory-limit", "2GiB", "--temp-directory", folder)
    return command("audit", parts(folder), "-q", ",".join(SIX[:n_columns]), "-s", SENSITIVE, "--json", *room)


def count_parquet(folder: str, n_columns: int) -> Step:
    """The combinations of the same columns and the sensitive one, counted."""
    kept = ", ".join((*SIX[:n_columns], SENSITIVE))
    return query(f"select count(*) from (select {kept}, count(*) from '{parts(folder)}' group by all)")


def protect_parquet(folder: str) -> Step:
    """Mondrian on three columns, within 4 GiB."""
    room = ("--engine", "duckdb", "--memory-limit", "4GiB", "--temp-directory", folder)
    asked = ("-q", ",".join(SIX[:3]), "-s", SENSITIVE, "--k", "10", "-o", f"{folder}/release.parquet", "--force")
    return command("protect", parts(folder), *asked, *room)


def copy_parquet(folder: str) -> Step:
    """The released columns, sorted and written."""
    kept = ", ".join((*SIX[:3], SENSITIVE))
    into = f"{folder}/copy.parquet"
    room = f"set memory_limit = '4GB'; set temp_directory = '{folder}'; "
    return query(f"{room}copy (select {kept} from '{parts(folder)}' order by all) to '{into}' (format parquet)")


def parts(folder: str) -> str:
    """The files of the table."""
    return f"{folder}/part-*.parquet"


def protect_csv(folder: str) -> Step:
    """Mondrian on three columns of the table of tables.py that is nearly all distinct."""
    asked = ("-q", "age,zip,sex", "-s", SENSITIVE, "--k", "10", "-o", f"{folder}/release.csv", "--force")
    return command("protect", f"{folder}/distinct.csv", *asked)


def copy_csv(folder: str) -> Step:
    """The released columns, sorted and written."""
    kept = f"select age, zip, sex, {SENSITIVE} from '{folder}/distinct.csv' order by all"
    return query(f"copy ({kept}) to '{folder}/copy.csv' (header)")


def build_wide(folder: str) -> None:
    """2,000 rows of 150 columns of 2 to 29 values and a sensitive one of 8."""
    import numpy as np

    rng = np.random.default_rng(5)
    columns = [rng.integers(0, rng.integers(2, 30), 2000) for _ in range(WIDE)] + [rng.integers(0, 8, 2000)]
    head = ",".join([f"c{at}" for at in range(WIDE)] + [SENSITIVE])
    rows = "\n".join(",".join(map(str, row)) for row in np.array(columns).T.tolist())
    Path(folder, "wide.csv").write_text(f"{head}\n{rows}\n")


def protect_wide(folder: str) -> Step:
    """Protected, and the release audited."""
    roles = ("-q", ",".join(f"c{at}" for at in range(WIDE)), "-s", SENSITIVE)
    release = f"{folder}/wide-release.csv"
    both = (
        command("protect", f"{folder}/wide.csv", *roles, "--k", "10", "-o", release, "--force"),
        command("audit", release, *roles, "--json"),
    )
    return lambda: {key: found for step in both for key, found in step().items()}


def mondrian_wide(folder: str) -> Step:
    """The partition alone, as the paper reads."""
    return tables.literal_mondrian(f"{folder}/wide.csv", [f"c{at}" for at in range(WIDE)])


# --- linkage ---------------------------------------------------------------------------------------------


def build_items(folder: str, rows: int) -> None:
    """The items of cost_model.py, as CSV as well."""
    import cost_model  # it imports unmask, which no process that starts cases may do
    import duckdb

    cost_model.items(folder, rows)
    for name in ("truth", "few"):
        duckdb.execute(f"copy (from '{folder}/{name}.parquet') to '{folder}/{name}.csv' (header)")


def audit_linkage(folder: str, suffix: str) -> Step:
    """Who is breached, and who is one merge away."""
    truth, guess = f"{folder}/truth{suffix}", f"{folder}/few{suffix}"
    return command("audit", "linkage", "--truth", truth, "--guess", guess, "--json")


def join(folder: str, suffix: str) -> Step:
    """The items of every subject in every cluster, joined and counted."""
    both = f"'{folder}/truth{suffix}' join '{folder}/few{suffix}' using (item)"
    return query(f"select count(*) from (select subject, cluster, count(*) from {both} group by all)")


# --- traces ----------------------------------------------------------------------------------------------


def walks() -> tuple[Any, Any, Any, Any]:
    """Places of a 20 x 20 grid, a chain on them, where 313 people were at 20 steps, and what was observed."""
    import numpy as np

    from unmask.channels import Channel
    from unmask.channels.chain import Chain

    rng = np.random.default_rng(SEED)
    places = np.stack(np.divmod(np.arange(400), 20), axis=1).astype(float)
    away = np.sqrt(((places[:, None] - places) ** 2).sum(axis=-1))
    move, noise = (near / near.sum(axis=1, keepdims=True) for near in (np.exp(-away / 1.5), np.exp(-away)))
    chain = Chain(move, Channel(noise))
    at = np.empty((313, 20), dtype=np.int64)
    at[:, 0] = rng.integers(400, size=313)
    for step in range(1, 20):
        at[:, step] = [rng.choice(400, p=move[before]) for before in at[:, step - 1]]
    return places, chain, at, chain.mechanism.sample(at, rng=rng)


def our_traces() -> Step:
    """What is believed of every step, what the adversary expects to err by, and by what they err."""
    from unmask.channels import HiddenMarkovAttack
    from unmask.measures.error import estimation_error, realized_error
    from unmask.truth import Truth

    places, chain, at, seen = walks()

    def step() -> Found:
        belief = HiddenMarkovAttack()(seen, chain)
        expected = estimation_error("euclidean", coordinates=places).per_target(belief)
        realized = realized_error("euclidean", coordinates=places).per_target(belief, Truth(at.ravel()))
        return {"expected": float(expected.mean()), "realized": float(realized.mean())}

    return step


def scipy_traces(share: int) -> Step:
    """The belief of the same attack; the best answer to every `share`-th step by SciPy, from the mean."""
    import numpy as np
    from scipy.optimize import minimize

    from unmask.channels import HiddenMarkovAttack

    places, chain, _, seen = walks()
    beliefs = HiddenMarkovAttack()(seen, chain).to_dense()[::share]

    def step() -> Found:
        def cost(answer: Any, belief: Any) -> tuple[float, Any]:
            vector = answer - places
            away = np.maximum(np.hypot(*vector.T), 1e-12)
            return float(belief @ away), (belief / away) @ vector

        found = [minimize(cost, b @ places, (b,), jac=True, method="BFGS", options={"gtol": 1e-6}) for b in beliefs]
        return {"expected": float(np.mean([one.fun for one in found]))}

    return step


# --- start, page, spark ----------------------------------------------------------------------------------


def start(*arguments: str) -> Step:
    """A process of its own, from its first instruction."""

    def step() -> Found:
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        return {}

    step()  # what Python compiles once is compiled
    return step


def our_start(*arguments: str) -> Step:
    """The command in a process of its own."""
    return start("-c", "from unmask.cli import main; main()", *arguments)


def audited(path: str) -> Any:
    """What an audit of a table finds."""
    import unmask

    return unmask.audit(unmask.read_table(path, quasi_identifiers=tables.Q5, sensitive=tables.SENSITIVE))


def our_page(path: str) -> Step:
    """What was found, as a page."""
    found = audited(path)

    def step() -> Found:
        return {"KB": len(found.to_html().encode()) / 1e3}

    return step


def bare_page(path: str) -> Step:
    """The rows alone, as a table of HTML."""
    rows = [vars(row).values() for row in audited(path).rows]

    def step() -> Found:
        lines = ("".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) for row in rows)
        page = "".join(f"<tr>{line}</tr>" for line in lines)
        return {"KB": len(f"<table>{page}</table>".encode()) / 1e3}

    return step


def on_spark(folder: str) -> Step:
    """The audit of six columns on DuckDB, then on Spark: seconds by the clock, without 15 for Spark's start."""

    def took(engine: str) -> float:
        asked = ("-q", ",".join(SIX), "-s", SENSITIVE, "--json", "--engine", engine, "--temp-directory", folder)
        begun = time.perf_counter()
        command("audit", parts(folder), *asked)()
        return time.perf_counter() - begun

    def step() -> Found:
        duckdb, spark = took("duckdb"), took("spark://local[2]")
        return {"times DuckDB's clock": (spark - 15) / duckdb, "s DuckDB": duckdb, "s Spark": spark}

    return step


# --- races -----------------------------------------------------------------------------------------------

PASSES = "the engine scans the table once for the combinations and once for each column's values"


def races(chosen: argparse.Namespace) -> Iterator[Race]:
    """All of them; inputs are made as they are needed and removed again."""
    yield from of_small(chosen)
    for size in (10**6, 10**7):
        yield from of_linkage(chosen, size)
    for rows in chosen.rows:
        if not chosen.quick or rows <= 10**8:
            yield from of_parquet(chosen, rows)


def wanted(chosen: argparse.Namespace, *groups: str) -> bool:
    """Whether any of these groups is asked for."""
    return not chosen.only or not set(groups).isdisjoint(chosen.only)


def of_small(chosen: argparse.Namespace) -> Iterator[Race]:
    """What needs no large file."""
    libraries = (Case("the libraries alone", start, ("-c", LIBRARIES)),)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        few, adult = f"{folder}/eight.csv", f"{folder}/adult.csv"
        Path(few).write_text("age,sex,zip,ill\n" + "".join(f"{20 + i},{'fm'[i % 2]},1{i},{i % 3}\n" for i in range(8)))
        helped = Case("ours", our_start, ("--help",), at_most=0.12, limit="importing click takes more than half of it")
        yield Race("start", "unmask --help", (helped,), libraries, "a command that reads nothing")
        rows = ("audit", few, "-q", "age,sex,zip", "-s", "ill", "--json")
        limit = "280 modules of ours and 240 of the libraries are loaded; the libraries alone take the peer's time"
        audit = Case("ours", our_start, rows, at_most=0.35, limit=limit)
        yield Race("start", "unmask audit of 8 rows", (audit,), libraries, "the whole command")
        if wanted(chosen, "page"):
            harness.apart(build, adult, 0)
        page, bare = Case("ours", our_page, (adult,), at_most=0.5), Case("bare HTML table", bare_page, (adult,))
        yield Race("page", "page of an audit", (page,), (bare,), "two adversaries, five columns")
        if wanted(chosen, "wide"):
            harness.apart(build_wide, folder)
        limit = "11,325 pairs of columns are compared by small matrices; auditing the release takes as long again"
        wide = Case("ours", protect_wide, (folder,), at_most=3, limit=limit)
        literal = (Case("plain Python, partition", mondrian_wide, (folder,)),)
        yield Race("wide", f"{WIDE} quasi-identifiers x 2,000", (wide,), literal, "protected, and the release audited")
        if wanted(chosen, "protect"):
            harness.apart(build_distinct, f"{folder}/distinct.csv")
        limit = "importing, reading, cutting boxes, and the 77,000 cells of these take a fifth of the time each"
        case = Case("ours", protect_csv, (folder,), at_most=1.3, limit=limit)
        scan = (Case("DuckDB, sort and write", copy_csv, (folder,)),)
        yield Race("protect", "protect, 1,000,000 rows of CSV", (case,), scan, "Mondrian, k = 10, three columns")
    yield from of_traces()


def of_traces() -> Iterator[Race]:
    """The attacker of traces."""
    limit = "each best answer is found twice, for the expected error and for the realized one, in five passes or more"
    ours = Case("ours", our_traces, at_most=1, limit=limit)
    peer = Case("SciPy, a 21st scaled", scipy_traces, (21,), times=21)
    yield Race("traces", "313 people, 20 steps, 400 places", (ours,), (peer,), "hidden Markov chain, Euclidean losses")


def of_linkage(chosen: argparse.Namespace, size: int) -> Iterator[Race]:
    """A million items of CSV, ten of Parquet."""
    suffix, bar = (".csv", 1.5) if size == 10**6 else (".parquet", 12)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        if wanted(chosen, "linkage"):
            harness.apart(build_items, folder, size)
        limit = "the engine joins and counts as the peer does; importing and the orders of merges take as long again"
        ours = Case("ours", audit_linkage, (folder, suffix), at_most=bar, limit=limit)
        peer = Case("DuckDB, join", join, (folder, suffix))
        title = f"audit linkage, {size:,} items of {'CSV' if suffix == '.csv' else 'Parquet'}"
        yield Race("linkage", title, (ours,), (peer,), "from the files to who is breached")


def of_parquet(chosen: argparse.Namespace, rows: int) -> Iterator[Race]:
    """Audits and Mondrian of a table that stays where it is."""
    bars = {10**7: 1.5, 10**8: 9, 10**9: 90}
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        if wanted(chosen, "parquet", "protect", "spark"):
            harness.apart(generate, folder, rows)
        title, shows = f"{rows:,} rows of Parquet", "criteria and adversaries within 2 GiB"
        ours = Case("ours", audit_parquet, (folder, 3), at_most=bars.get(rows, 0), mib_at_most=2048, limit=PASSES)
        peer = Case("DuckDB, group by", count_parquet, (folder, 3))
        yield Race("parquet", f"audit, {title} x 3", (ours,), (peer,), shows)
        if rows == 10**8:
            ours = Case("ours", audit_parquet, (folder, 6), at_most=40, limit=PASSES)
            peer = Case("DuckDB, group by", count_parquet, (folder, 6))
            yield Race("parquet", f"audit, {title} x 6", (ours,), (peer,), "seven million combinations")
            limit = "every row is joined to its box and sorted by what is released"
            ours = Case("ours", protect_parquet, (folder,), at_most=60, limit=limit)
            peer = Case("DuckDB, sort and write", copy_parquet, (folder,))
            yield Race("protect", f"protect, {title}", (ours,), (peer,), "Mondrian, k = 10, three columns, in 4 GiB")
        if rows == 10**7 and not chosen.quick and find_spec("pyspark"):
            ours = Case("ours", on_spark, (folder,), most={"times DuckDB's clock": 2})
            shows = "15 s of Spark's start left out"
            yield Race("spark", f"audit on Spark, {title}", (ours,), shows=shows, clock="wall")


def options(parser: argparse.ArgumentParser) -> None:
    """How many rows, and where."""
    parser.add_argument("--rows", nargs="*", type=int, default=[10**7, 10**8], help="rows of the Parquet tables")
    parser.add_argument("--folder", help="where inputs and temporary files go")


if __name__ == "__main__":
    groups = ("parquet", "protect", "wide", "linkage", "traces", "start", "page", "spark")
    harness.main(__doc__, races, only=groups, options=options, limit=3600)
