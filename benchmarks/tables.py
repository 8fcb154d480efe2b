"""Time and memory of protecting and of rating a table, with peers in the same run.

    python benchmarks/tables.py                                  Adult, and 1,000,000 rows
    python benchmarks/tables.py --rows 1000000 10000000
    python benchmarks/tables.py --peers DIR --install-peers      anonypy and pycanon too, each in its own environment

Needs `UNMASK_DATA`. Every case runs in a fresh process, input read from the same CSV file. Seconds are CPU seconds of
the step alone, on all threads, reading not counted; a case below five seconds runs three times and the median is shown.
Peak memory is that of the whole process, reading counted. Data is the size of the columns as 32-bit codes.

The scale-up is bootstrapped from the complete rows of Adult: age moved by up to 2, hours-per-week by up to 3, 5 % of
race, marital-status and education-num redrawn from their column, each on its own. A million rows have 17,765 classes in
the five quasi-identifiers, of which 3,512 have one row.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The process that starts the cases must stay small: on Linux a child's peak counts from the size of its parent at the
# fork. So everything beyond the standard library is imported where it is used.

K = 10
SEED = 7
SENSITIVE = "occupation"
Q5 = ("age", "education-num", "marital-status", "race", "sex")
Q6 = (*Q5, "hours-per-week")
NUMERIC = ("age", "education-num", "hours-per-week")
ADULT = {
    "age": 0,
    "education-num": 4,
    "marital-status": 5,
    "occupation": 6,
    "race": 8,
    "sex": 9,
    "hours-per-week": 12,
}
PEERS = {"anonypy": ("anonypy==0.2.1", "pandas<2.2"), "pycanon": ("pycanon==1.3.5",)}


# --- the data --------------------------------------------------------------------------------------------


def adult() -> dict[str, list[str]]:
    """The 30,162 rows of Adult's training part without "?", the seven columns used here."""
    path = Path(os.environ["UNMASK_DATA"]) / "tables" / "adult" / "adult.data"
    with path.open(newline="") as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if row and "?" not in row]
    return {name: [row[at] for row in rows] for name, at in ADULT.items()}


def scale_up(n_rows: int) -> dict[str, Any]:
    """The scale-up described at the top of this file, as arrays."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    source = {name: np.array(values, dtype=int if name in NUMERIC else object) for name, values in adult().items()}
    drawn = rng.integers(0, len(source["age"]), n_rows)
    table = {name: values[drawn] for name, values in source.items()}
    for name, reach in (("age", 2), ("hours-per-week", 3)):
        moved = table[name] + rng.integers(-reach, reach + 1, n_rows)
        table[name] = np.clip(moved, source[name].min(), source[name].max())
    for name in ("race", "marital-status", "education-num"):
        redrawn = rng.random(n_rows) < 0.05
        table[name][redrawn] = rng.choice(source[name], int(redrawn.sum()))
    return table


def build(path: Path, n_rows: int) -> None:
    """Writes Adult (n_rows 0) or the scale-up as CSV."""
    columns = scale_up(n_rows) if n_rows else adult()
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def columns_of(path: Path, names: tuple[str, ...]) -> list[list[Any]]:
    """The named columns of a CSV file, numeric ones as int where every cell is one."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    columns = [[row[name] for row in rows] for name in names]
    return [[int(cell) for cell in c] if all(cell.isdecimal() for cell in c) else c for c in columns]


# --- ours ------------------------------------------------------------------------------------------------


def read_table(path: Path, names: tuple[str, ...]) -> Any:
    """The CSV file as a `Table`."""
    from unmask.tables import Table

    return Table.read(path, quasi_identifiers=names, sensitive=SENSITIVE)


def our_read(path: Path, names: tuple[str, ...]) -> Callable[[], dict[str, Any]]:
    """Read a CSV file into a table."""

    def step() -> dict[str, Any]:
        return {"rows": read_table(path, names).n_rows}

    import unmask.tables  # noqa: F401 (its import is no part of the step)

    return step


def our_mondrian(path: Path, names: tuple[str, ...]) -> Callable[[], dict[str, Any]]:
    """Mondrian with k = 10: partition, canonical cells and shuffled release; the release is kept for the criteria."""
    import numpy as np

    from unmask.tables import Mondrian

    table = read_table(path, names)
    released = []

    def step() -> dict[str, Any]:
        release, _ = Mondrian(k=K)(table, rng=np.random.default_rng(SEED))
        released.append(release)
        return {"classes": len(release.classes.sizes)}

    def keep() -> None:
        released[0].write(release_path(path, names), force=True)

    step.after = keep  # type: ignore[attr-defined]
    return step


def our_criteria(path: Path, names: tuple[str, ...]) -> Callable[[], dict[str, Any]]:
    """All criteria of the k = 10 release."""
    from unmask.tables import criteria

    table = read_table(release_path(path, names), names)

    def step() -> dict[str, Any]:
        found = criteria.evaluate(table)
        return {
            "k": int(found.k),
            "distinct l": int(found.l_distinct),
            "entropy l": float(found.l_entropy),
            "t": float(found.t_equal),
        }

    return step


def release_path(path: Path, names: tuple[str, ...]) -> Path:
    """Where the k = 10 release of a table lies."""
    return path.with_name(f"{path.stem}-{len(names)}-release.csv")


# --- peers -----------------------------------------------------------------------------------------------


def literal_mondrian(path: Path, names: tuple[str, ...]) -> Callable[[], dict[str, Any]]:
    """Strict Mondrian as the paper reads, in plain Python: recursion over lists of rows, k only."""
    columns = columns_of(path, names)
    ranks = [{value: rank for rank, value in enumerate(sorted(set(column)))} for column in columns]
    values = [c if isinstance(c[0], int) else [r[v] for v in c] for c, r in zip(columns, ranks, strict=True)]
    rows = list(zip(*values, strict=True))
    spans = [max(column) - min(column) for column in values]

    def step() -> dict[str, Any]:
        return {"classes": sum(1 for _ in partition(rows, spans))}

    return step


def partition(rows: list[tuple[int, ...]], spans: list[int]) -> Iterator[list[tuple[int, ...]]]:
    """The classes: cut the widest dimension that can be cut, until none can."""

    def span(dimension: int) -> float:
        column = [row[dimension] for row in rows]
        return (max(column) - min(column)) / spans[dimension] if spans[dimension] else 0.0

    for dimension in sorted(range(len(spans)), key=span, reverse=True):
        bound = nearest_cut(rows, dimension)
        if bound is not None:
            yield from partition([row for row in rows if row[dimension] <= bound], spans)
            yield from partition([row for row in rows if row[dimension] > bound], spans)
            return
    yield rows


def nearest_cut(rows: list[tuple[int, ...]], dimension: int) -> int | None:
    """The largest value of the left half for the cut nearest the median that leaves k rows on both sides, or None."""
    counts = Counter(row[dimension] for row in rows)
    best, bound, left = math.inf, None, 0
    for value in sorted(counts):
        left += counts[value]
        if K <= left <= len(rows) - K and abs(2 * left - len(rows)) < best:
            best, bound = abs(2 * left - len(rows)), value
    return bound


def literal_criteria(path: Path, names: tuple[str, ...]) -> Callable[[], dict[str, Any]]:
    """The same criteria counted with dictionaries in plain Python."""
    *cells, secrets = columns_of(release_path(path, names), (*names, SENSITIVE))
    keys = list(zip(*cells, strict=True))

    def step() -> dict[str, Any]:
        classes: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
        for key, secret in zip(keys, secrets, strict=True):
            classes[key][secret] += 1
        overall = {secret: count / len(secrets) for secret, count in Counter(secrets).items()}
        sizes = {key: counts.total() for key, counts in classes.items()}
        entropies, distances = [], []
        for key, counts in classes.items():
            shares = {secret: count / sizes[key] for secret, count in counts.items()}
            entropies.append(-sum(share * math.log(share) for share in shares.values()))
            distances.append(sum(abs(shares.get(secret, 0.0) - q) for secret, q in overall.items()) / 2)
        return {
            "k": min(sizes.values()),
            "distinct l": min(map(len, classes.values())),
            "entropy l": math.exp(min(entropies)),
            "t": max(distances),
        }

    return step


def anonypy_mondrian(path: Path, names: tuple[str, ...]) -> Callable[[], dict[str, Any]]:
    """anonypy's partition step with k = 10."""
    import pandas as pd
    from anonypy.mondrian import Mondrian

    frame = pd.read_csv(path)
    for name in set(frame.columns) - set(NUMERIC):
        frame[name] = frame[name].astype("category")
    mondrian = Mondrian(frame, list(names), SENSITIVE)

    def step() -> dict[str, Any]:
        return {"classes": len(mondrian.partition(K))}

    return step


def pycanon_criteria(path: Path, names: tuple[str, ...]) -> Callable[[], dict[str, Any]]:
    """pycanon's k, distinct l, entropy l (truncated to a whole number by pycanon) and t, one call each."""
    import pandas as pd
    from pycanon import anonymity

    frame = pd.read_csv(release_path(path, names))
    quasi_identifiers, sensitive = list(names), [SENSITIVE]

    def step() -> dict[str, Any]:
        return {
            "k": int(anonymity.k_anonymity(frame, quasi_identifiers)),
            "distinct l": int(anonymity.l_diversity(frame, quasi_identifiers, sensitive)),
            "entropy l": int(anonymity.entropy_l_diversity(frame, quasi_identifiers, sensitive)),
            "t": float(anonymity.t_closeness(frame, quasi_identifiers, sensitive)),
        }

    return step


# --- running ---------------------------------------------------------------------------------------------

CASES: dict[str, Callable[[Path, tuple[str, ...]], Callable[[], dict[str, Any]]]] = {
    "our read": our_read,
    "our Mondrian": our_mondrian,
    "our criteria": our_criteria,
    "plain Python Mondrian": literal_mondrian,
    "plain Python criteria": literal_criteria,
    "anonypy": anonypy_mondrian,
    "pycanon": pycanon_criteria,
}
RACES = (
    ("read", "our read", ()),
    ("Mondrian", "our Mondrian", ("plain Python Mondrian", "anonypy")),
    ("criteria", "our criteria", ("plain Python criteria", "pycanon")),
)


@dataclass(frozen=True)
class Outcome:
    """What one case took and found; seconds is infinite where it ran past the limit or failed, and `why` says which."""

    seconds: float
    peak_mib: float = math.nan
    found: dict[str, Any] | None = None
    why: str = ""


def run_here(name: str, path: Path, names: tuple[str, ...]) -> None:
    """Runs one case in this process and prints its outcome as JSON."""
    step = CASES[name](path, names)
    start = time.process_time()
    found = step()
    seconds = time.process_time() - start
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    getattr(step, "after", lambda: None)()
    print(json.dumps({"seconds": seconds, "peak_mib": peak_mib, "found": found}))


def once(name: str, path: Path, names: tuple[str, ...], *, python: str, limit: float) -> Outcome:
    """One case in a fresh process."""
    command = [python, __file__, "--case", name, str(path), ",".join(names)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return Outcome(math.inf, why=f"stopped after {limit:.0f} s")
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return Outcome(math.inf, why="failed")
    return Outcome(**json.loads(done.stdout.splitlines()[-1]))


def measured(name: str, path: Path, names: tuple[str, ...], *, python: str, limit: float) -> Outcome:
    """The case, three times if it is short: median seconds, largest peak."""
    outcomes = [once(name, path, names, python=python, limit=limit)]
    if outcomes[0].seconds < 5:
        outcomes += [once(name, path, names, python=python, limit=limit) for _ in range(2)]
    seconds = statistics.median(outcome.seconds for outcome in outcomes)
    return Outcome(seconds, max(o.peak_mib for o in outcomes), outcomes[0].found, outcomes[0].why)


def python_of(peer: str, folder: Path | None) -> str | None:
    """The interpreter that runs a peer, None if the peer has no environment."""
    if peer not in PEERS:
        return sys.executable
    python = folder / peer / "bin" / "python" if folder else None
    return str(python) if python and python.exists() else None


def install_peers(folder: Path) -> None:
    """One environment for each peer, where there is none yet."""
    for peer, requirements in PEERS.items():
        if python_of(peer, folder) is None:
            subprocess.run([sys.executable, "-m", "venv", folder / peer], check=True)
            subprocess.run([folder / peer / "bin" / "python", "-m", "pip", "install", "-q", *requirements], check=True)


def number(value: float) -> str:
    """A count in full, a real number with six digits."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def verdict(ours: Outcome, peer: Outcome) -> str:
    """Whether both found the same."""
    if peer.found is None or ours.found is None:
        return peer.why or ours.why
    differ = [key for key, value in ours.found.items() if not math.isclose(value, peer.found[key], rel_tol=1e-9)]
    return (
        "same " + ", ".join(ours.found)
        if not differ
        else "; ".join(f"{key} {number(peer.found[key])}" for key in differ)
    )


def show(cells: tuple[str, ...]) -> None:
    """One line of the table."""
    print("{:<36} {:>9} {:<22} {:>9} {:>7} {:>9} {:>9}  {}".format(*cells), flush=True)


def race(title: str, path: Path, names: tuple[str, ...], n_rows: int, options: argparse.Namespace) -> None:
    """All cases on one table, one line for each peer."""
    data_mib = f"{4 * n_rows * (len(names) + 1) / 2**20:.1f}"
    for what, our_name, peers in RACES:
        ours = measured(our_name, path, names, python=sys.executable, limit=options.limit)
        head = (f"{what}, {title}", f"{ours.seconds:.3f}")
        tail = (f"{ours.peak_mib:.0f}", data_mib)
        mine = ours.why or ", ".join(f"{key} {number(value)}" for key, value in (ours.found or {}).items())
        show((*head, "", "", "", *tail, mine))
        for peer in peers if n_rows <= options.peer_rows else ():
            python = python_of(peer, options.peers)
            if python is None:
                continue
            theirs = measured(peer, path, names, python=python, limit=options.limit)
            took = f">{options.limit:.0f}" if theirs.why.startswith("stopped") else f"{theirs.seconds:.3f}"
            ratio = f"{theirs.seconds / ours.seconds:.0f}" if math.isfinite(theirs.seconds) else "-"
            show((*head, peer, took, ratio, *tail, verdict(ours, theirs)))


def main() -> None:
    """Reads the command line, builds the data, runs the cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000], help="sizes of the scale-up")
    parser.add_argument("--peers", type=Path, help="folder with an environment for each peer")
    parser.add_argument("--install-peers", action="store_true", help="make the environments that --peers lacks")
    parser.add_argument("--peer-rows", type=int, default=1_000_000, help="run peers up to this many rows")
    parser.add_argument("--limit", type=float, default=300, help="seconds by the clock after which a case is stopped")
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--build", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        return run_here(options.case[0], Path(options.case[1]), tuple(options.case[2].split(",")))
    if options.build:
        return build(Path(options.build[0]), int(options.build[1]))
    if "UNMASK_DATA" not in os.environ:
        parser.error("UNMASK_DATA is not set, expected the folder that holds tables/adult/adult.data")
    if options.install_peers:
        if not options.peers:
            parser.error("--install-peers needs --peers DIR, where the environments go")
        install_peers(options.peers)
    show(("case", "ours s", "peer", "peer s", "ratio", "our MiB", "data MiB", "found (a peer's where it differs)"))
    with tempfile.TemporaryDirectory() as folder:
        for n_rows in (0, *options.rows):
            path = Path(folder) / f"{n_rows or 'adult'}.csv"
            subprocess.run([sys.executable, __file__, "--build", path, str(n_rows)], check=True)
            title = f"{n_rows:,} rows" if n_rows else "Adult"
            for names in (Q5, Q6) if n_rows else (Q5,):
                race(f"{title} x {len(names)}", path, names, n_rows or 30_162, options)
            path.unlink()
    return None


if __name__ == "__main__":
    main()
