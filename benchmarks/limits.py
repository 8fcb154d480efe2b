"""Waiting times of a user, next to the minimum of the work: bare scans, other libraries, plain loops.

    python benchmarks/limits.py            every race; those of many rows are in large.py

Commands run as a user types them, imports counted. Each race has a bar, and a case that misses it says why. How cases
are run and shown: see harness.py.

    protect     Mondrian, k = 10, of 3 columns, a million rows of CSV that are nearly all distinct; the peer sorts the
                released columns and writes them
    codes       audit of 200,000 rows with 100,000 text codes, released in sets, with their original; the peer fills a
                matrix of codes and sets
    wide        150 quasi-identifiers of 2,000 rows protected and audited; the peer is Mondrian in plain Python
    traces      313 people's 20 steps among 400 places, observed with noise, and the Euclidean losses of where each of
                them was; the peer finds the best answer of every step with SciPy
    start       the interpreter and what it imports counted; the peer imports the libraries alone
    network     every attack, four runs, on a power-law network of 100,000 edges; the peer only reads the edges
    page        of an audit, without the audit; the peer writes the same rows as a bare HTML table
    check       ./check in a clone of its own, which installs its needs: some minutes, and only on request
"""

from __future__ import annotations

import argparse
import contextlib
import html
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import harness
import tables
from harness import Case, Found, Race, Step
from tables import build, build_distinct

SEED = 0
WIDE = 150
SENSITIVE = "diagnosis"
LIBRARIES = "import click, duckdb, numpy"


def command(*arguments: str, **options: float) -> Step:
    """A command as a user types it, imports counted; what it prints is dropped. more : what is known to be found."""

    def step() -> Found:
        from unmask.cli import main

        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            code = main(list(arguments), standalone_mode=False)
        if code:  # a refusal is no result
            sys.exit(code)
        return options

    return step


def query(text: str) -> Step:
    """One query of DuckDB, which sees nothing but the files."""

    def step() -> Found:
        import duckdb

        duckdb.execute(text).fetchall()
        return {}

    return step


# --- tables ----------------------------------------------------------------------------------------------


def protect_csv(folder: str) -> Step:
    """Mondrian on three columns of the table of tables.py that is nearly all distinct."""
    command_options = ("-q", "age,zip,sex", "-s", SENSITIVE, "--k", "10", "-o", f"{folder}/release.csv", "--force")
    return command("protect", f"{folder}/distinct.csv", *command_options)


def copy_csv(folder: str) -> Step:
    """The released columns, sorted and written."""
    kept = f"select age, zip, sex, {SENSITIVE} from '{folder}/distinct.csv' order by all"
    return query(f"copy ({kept}) to '{folder}/copy.csv' (header)")


CODES = ("-q", "age,code,sex", "-s", SENSITIVE, "--type", "code=text")


def build_codes(folder: str) -> None:
    """200,000 rows with 100,000 codes, and their release with k = 10, in which codes are sets."""
    import numpy as np

    rng, n = np.random.default_rng(1), 200_000
    people = zip(*(rng.integers(0, size, n).tolist() for size in (90, 100_000, 2, 8)), strict=True)
    rows = "\n".join(f"{age},C{code:06},{'fm'[sex]},D{illness}" for age, code, sex, illness in people)
    Path(folder, "codes.csv").write_text(f"age,code,sex,{SENSITIVE}\n{rows}\n")
    command("protect", f"{folder}/codes.csv", *CODES, "--k", "10", "-o", f"{folder}/sets.csv", "--force")()


def audit_codes(folder: str) -> Step:
    """The audit of the release with its original."""
    return command("audit", f"{folder}/sets.csv", *CODES, "--original", f"{folder}/codes.csv", "--json")


def matrix_of_codes(folder: str) -> Step:
    """A matrix of each code of the original and each released set that contains it."""

    def step() -> Found:
        import duckdb
        import numpy as np

        codes, sets = (
            [text for (text,) in duckdb.execute(f"select distinct code from '{folder}/{name}.csv'").fetchall()]
            for name in ("codes", "sets")
        )
        number = {code: place for place, code in enumerate(codes)}
        fits = np.zeros((len(codes), len(sets)), dtype=np.bool_)
        for place, cell in enumerate(sets):
            fits[[number[code] for code in cell.strip("{}").split(", ")], place] = True
        return {"pairs": int(np.count_nonzero(fits))}

    return step


def build_wide(folder: str) -> None:
    """2,000 rows of 150 columns of 2 to 29 values and a sensitive one of 8."""
    import numpy as np

    rng = np.random.default_rng(5)
    columns = [rng.integers(0, rng.integers(2, 30), 2000) for _ in range(WIDE)] + [rng.integers(0, 8, 2000)]
    head = ",".join([f"c{index}" for index in range(WIDE)] + [SENSITIVE])
    rows = "\n".join(",".join(map(str, row)) for row in np.array(columns).T.tolist())
    Path(folder, "wide.csv").write_text(f"{head}\n{rows}\n")


def protect_wide(folder: str) -> Step:
    """Protected, and the release audited."""
    roles = ("-q", ",".join(f"c{index}" for index in range(WIDE)), "-s", SENSITIVE)
    release = f"{folder}/wide-release.csv"
    steps = (
        command("protect", f"{folder}/wide.csv", *roles, "--k", "10", "-o", release, "--force"),
        command("audit", release, *roles, "--json"),
    )
    return lambda: {key: result for step in steps for key, result in step().items()}


def mondrian_wide(folder: str) -> Step:
    """The partition alone, as the paper reads."""
    return tables.literal_mondrian(f"{folder}/wide.csv", [f"c{index}" for index in range(WIDE)])


# --- traces ----------------------------------------------------------------------------------------------


def walks() -> tuple[Any, Any, Any, Any]:
    """Places of a 20 x 20 grid, a chain on them, where 313 people were at 20 steps, and what was observed."""
    import numpy as np

    from unmask.channels import Channel
    from unmask.channels.hidden_markov import Chain

    rng = np.random.default_rng(SEED)
    places = np.stack(np.divmod(np.arange(400), 20), axis=1).astype(float)
    away = np.sqrt(((places[:, None] - places) ** 2).sum(axis=-1))
    move, noise = (near / near.sum(axis=1, keepdims=True) for near in (np.exp(-away / 1.5), np.exp(-away)))
    chain = Chain(move, Channel(noise))
    index = np.empty((313, 20), dtype=np.int64)
    index[:, 0] = rng.integers(400, size=313)
    for step in range(1, 20):
        index[:, step] = [rng.choice(400, p=move[place]) for place in index[:, step - 1]]
    return places, chain, index, chain.mechanism.sample(index, rng=rng)


def our_traces() -> Step:
    """Compute the belief at every step, the expected error, and the error."""
    from unmask.channels import HiddenMarkovAttack
    from unmask.core.truth import Truth
    from unmask.measures.error import estimation_error, realized_error

    places, chain, index, observed = walks()

    def step() -> Found:
        belief = HiddenMarkovAttack()(observed, chain)
        expected = estimation_error("euclidean", coordinates=places).per_target(belief)
        realized = realized_error("euclidean", coordinates=places).per_target(belief, Truth(index.ravel()))
        return {"expected": float(expected.mean()), "realized": float(realized.mean())}

    return step


def scipy_traces(share: int) -> Step:
    """The belief of the same attack; the best answer to every `share`-th step by SciPy, from the mean."""
    import numpy as np
    from scipy.optimize import minimize

    from unmask.channels import HiddenMarkovAttack

    places, chain, _, observed = walks()
    beliefs = HiddenMarkovAttack()(observed, chain).to_dense()[::share]

    def step() -> Found:
        def cost(answer: Any, belief: Any) -> tuple[float, Any]:
            vector = answer - places
            away = np.maximum(np.hypot(*vector.T), 1e-12)
            return float(belief @ away), (belief / away) @ vector

        minima = [minimize(cost, b @ places, (b,), jac=True, method="BFGS", options={"gtol": 1e-6}) for b in beliefs]
        return {"expected": float(np.mean([minimum.fun for minimum in minima]))}

    return step


# --- start, page -----------------------------------------------------------------------------------------


def environment(**changes: str) -> dict[str, str]:
    """Variables of a process that stores compiled modules, as Python does for users."""
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **changes}


def start(*arguments: str) -> Step:
    """A process of its own, from its first instruction."""

    def step() -> Found:
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment())
        return {}

    step()  # what Python compiles once is compiled
    return step


def our_start(*arguments: str) -> Step:
    """The command in a process of its own."""
    return start("-c", "from unmask.cli import main; main()", *arguments)


def first_network(*arguments: str) -> Step:
    """The command with no loop compiled before."""
    command = (sys.executable, "-c", "from unmask.cli import main; main()", *arguments)

    def step() -> Found:
        with tempfile.TemporaryDirectory() as loops:
            subprocess.run(command, check=True, capture_output=True, env=environment(NUMBA_CACHE_DIR=loops))
        return {}

    return step


def build_network(path: str) -> None:
    """A power-law network of 10,000 people and about 100,000 edges."""
    from graphs_made import power_law

    edges = zip(*power_law(10_000).edges(), strict=True)
    Path(path).write_text("u,v\n" + "".join(f"{u},{v}\n" for u, v in edges))


def audited(path: str) -> Any:
    """Audit a table."""
    import unmask

    return unmask.audit(unmask.read_table(path, quasi_identifiers=tables.Q5, sensitive=tables.SENSITIVE))


def our_page(path: str) -> Step:
    """Render the page of an audit."""
    result = audited(path)

    def step() -> Found:
        return {"KB": len(result.to_html().encode()) / 1e3}

    return step


def bare_page(path: str) -> Step:
    """The rows alone, as a table of HTML."""
    rows = [vars(row).values() for row in audited(path).rows]

    def step() -> Found:
        lines = ("".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) for row in rows)
        page = "".join(f"<tr>{line}</tr>" for line in lines)
        return {"KB": len(f"<table>{page}</table>".encode()) / 1e3}

    return step


def check() -> Step:
    """Run the checks of a contributor, in a fresh clone."""

    def step() -> Found:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "clone", "-q", Path(__file__).parents[1], folder], check=True)
            subprocess.run(["./check"], cwd=folder, check=True, capture_output=True)
        return {}

    return step


# --- races -----------------------------------------------------------------------------------------------


def races(chosen: argparse.Namespace) -> Iterator[Race]:
    """All of them; inputs are made as they are needed and removed again."""
    yield from of_start(chosen)
    yield from of_network(chosen)
    yield from of_tables(chosen)
    yield from of_traces()
    if chosen.only and "check" in chosen.only:
        limit = "The test suite takes most of the time, on all cores."
        yield Race("check", "./check", (Case("ours", check, long=True, at_most=300, limit=limit),), clock="wall")


def wanted(chosen: argparse.Namespace, *groups: str) -> bool:
    """Return whether any of these groups is requested."""
    return not chosen.only or not set(groups).isdisjoint(chosen.only)


def of_start(chosen: argparse.Namespace) -> Iterator[Race]:
    """Before any work, and the first kernels."""
    libraries = (Case("the libraries alone", start, ("-c", LIBRARIES)),)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        eight_rows, links = f"{folder}/eight.csv", f"{folder}/links.csv"
        Path(eight_rows).write_text(
            "age,sex,zip,ill\n" + "".join(f"{20 + i},{'fm'[i % 2]},1{i},{i % 3}\n" for i in range(8))
        )
        Path(links).write_text("u,v\n" + "".join(f"{i},{(i * 7 + j) % 100}\n" for i in range(100) for j in range(1, 9)))
        helped = Case("ours", our_start, ("--help",), at_most=0.08, limit="Python and click take half.")
        yield Race("start", "unmask --help", (helped,), libraries, "a command that reads nothing")
        limit = "Importing click takes a third, and the modules of all commands most of the rest."
        option_help = Case("ours", our_start, ("audit", "--help"), at_most=0.25, limit=limit)
        yield Race("start", "unmask audit --help", (option_help,), libraries, "options of the largest command")
        package = Case("ours", start, ("-c", "import unmask"), at_most=0.05)
        yield Race("start", "import unmask", (package,), libraries, "names are imported at their first use")
        rows = ("audit", eight_rows, "-q", "age,sex,zip", "-s", "ill", "--json")
        limit = "Libraries take two fifths, as the peer shows. Most of the rest defines the classes of 230 modules."
        audit = Case("ours", our_start, rows, at_most=0.5, limit=limit)
        yield Race("start", "unmask audit of 8 rows", (audit,), libraries, "the whole command")
        network = ("audit", "graph", links, "--overlap", ".8,.8", "--seeds", "random:10", "--runs", "1", "--json")
        limit = "numba compiles its loops in four fifths of the time. Without LLVM's optimization a third less."
        first = Case("nothing compiled before", first_network, network, at_most=5, limit=limit)
        limit = "Libraries, SciPy's optimizers and numba's types are loaded. The ensemble runs attacks in ten rounds."
        later = Case("all compiled before", our_start, network, at_most=1.5, limit=limit)
        bare = (Case("the libraries alone", start, ("-c", f"{LIBRARIES}, scipy.sparse, numba")),)
        yield Race("start", "audit of a network", (first, later), bare, "100 people, every attack")


def of_network(chosen: argparse.Namespace) -> Iterator[Race]:
    """The default audit of a network."""
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        links = f"{folder}/links.csv"
        if wanted(chosen, "network"):
            harness.run_apart(build_network, links)
        audit = ("audit", "graph", links, "--overlap", "0.5,0.75", "--json")
        ours = Case("ours", our_start, audit, long=True, at_most=60, limit="Most of the time is spent in climbs.")
        scan = (Case("DuckDB, read edges", query, (f"select count(*), count(distinct u) from '{links}'",)),)
        yield Race("network", "audit of a network of 100,000 edges", (ours,), scan, "every attack, four runs")


def of_tables(chosen: argparse.Namespace) -> Iterator[Race]:
    """Tables of a file."""
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        adult = f"{folder}/adult.csv"
        if wanted(chosen, "page"):
            harness.run_apart(build, adult, 0)
        page, bare = Case("ours", our_page, (adult,), at_most=0.5), Case("bare HTML table", bare_page, (adult,))
        yield Race("page", "page of an audit", (page,), (bare,), "two adversaries, five columns")
        if wanted(chosen, "wide"):
            harness.run_apart(build_wide, folder)
        limit = "11,325 pairs of columns are compared by small matrices. The audit of the release takes equally long."
        wide = Case("ours", protect_wide, (folder,), at_most=3, limit=limit)
        literal = (Case("plain Python, partition", mondrian_wide, (folder,)),)
        yield Race("wide", f"{WIDE} quasi-identifiers x 2,000", (wide,), literal, "protected, and the release audited")
        if wanted(chosen, "codes"):
            harness.run_apart(build_codes, folder)
        limit = "The adversary who learns values multiplies 170,000 groups of people with 14,000 classes."
        codes = Case("ours", audit_codes, (folder,), at_most=10, mib_at_most=500, limit=limit)
        dense = (Case("NumPy, matrix of codes and sets", matrix_of_codes, (folder,)),)
        yield Race("codes", "audit, 200,000 rows with 100,000 codes", (codes,), dense, "codes in sets, with original")
        if wanted(chosen, "protect"):
            harness.run_apart(build_distinct, f"{folder}/distinct.csv")
        limit = "Reading and cutting boxes take a quarter each, and imports a sixth."
        case = Case("ours", protect_csv, (folder,), at_most=1.3, limit=limit)
        scan = (Case("DuckDB, sort and write", copy_csv, (folder,)),)
        yield Race("protect", "protect, 1,000,000 rows of CSV", (case,), scan, "Mondrian, k = 10, three columns")


def of_traces() -> Iterator[Race]:
    """The attacker of traces."""
    limit = "Each best answer is computed in at least five passes over the entries of its row."
    ours = Case("ours", our_traces, at_most=1, limit=limit)
    peer = Case("SciPy, a 21st scaled", scipy_traces, (21,), times=21)
    yield Race("traces", "313 people, 20 steps, 400 places", (ours,), (peer,), "hidden Markov chain, Euclidean losses")


def options(parser: argparse.ArgumentParser) -> None:
    """Add the option: the folder of inputs."""
    parser.add_argument("--folder", help="where inputs and temporary files go")


if __name__ == "__main__":
    groups = ("protect", "codes", "wide", "traces", "start", "network", "page", "check")
    harness.main(__doc__, races, only=groups, options=options, limit=3600)
