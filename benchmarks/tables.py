"""Time and memory of protecting and of rating a table, with peers in the same run.

    python benchmarks/tables.py                                  Adult, and 1,000,000 rows
    python benchmarks/tables.py --rows 1000000 10000000
    python benchmarks/tables.py --peers DIR --install-peers      anonypy and pycanon too, each in its own environment

Needs `UNMASK_DATA`. All cases read the same CSV file, which counts in the peak memory and in no seconds but those of
the race `read`. How cases are run and shown: see harness.py.

The scale-up is bootstrapped from the complete rows of Adult: age moved by up to 2, hours-per-week by up to 3, 5 % of
race, marital-status and education-num redrawn from their column, each on its own. A million rows have 17,765 classes in
the five quasi-identifiers, of which 3,512 have one row.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import math
import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import harness
from harness import Case, Race, Step

K = 10
SEED = 7
SENSITIVE = "occupation"
Q5 = ("age", "education-num", "marital-status", "race", "sex")
Q6 = (*Q5, "hours-per-week")
NUMERIC = ("age", "education-num", "hours-per-week")
ADULT = {"age": 0, "education-num": 4, "marital-status": 5, "occupation": 6, "race": 8, "sex": 9, "hours-per-week": 12}
PEERS = {"anonypy": ("anonypy==0.2.1", "pandas<2.2"), "pycanon": ("pycanon==1.3.5",)}


# --- the data --------------------------------------------------------------------------------------------


def adult() -> dict[str, list[str]]:
    """The 30,162 rows of Adult's training part without "?", the seven columns used here."""
    path = Path(os.environ["UNMASK_DATA"]) / "tables" / "adult" / "adult.data"
    with path.open(newline="") as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if row and "?" not in row]
    return {name: [row[index] for row in rows] for name, index in ADULT.items()}


def scale_up(n_rows: int) -> dict[str, Any]:
    """The scale-up described at the top of this file, as arrays."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    source = {name: np.array(values, dtype=int if name in NUMERIC else object) for name, values in adult().items()}
    drawn = rng.integers(0, len(source["age"]), n_rows)
    table = {name: values[drawn] for name, values in source.items()}
    for name, reach in (("age", 2), ("hours-per-week", 3)):
        noisy = table[name] + rng.integers(-reach, reach + 1, n_rows)
        table[name] = np.clip(noisy, source[name].min(), source[name].max())
    for name in ("race", "marital-status", "education-num"):
        redrawn = rng.random(n_rows) < 0.05
        table[name][redrawn] = rng.choice(source[name], int(redrawn.sum()))
    return table


def build(path: str, n_rows: int) -> None:
    """Writes Adult (n_rows 0) or the scale-up as CSV."""
    columns = scale_up(n_rows) if n_rows else adult()
    with Path(path).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def columns_of(path: str, names: Sequence[str]) -> list[list[Any]]:
    """The named columns of a CSV file, numeric ones as int where every cell is one."""
    with Path(path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    columns = [[row[name] for row in rows] for name in names]
    return [[int(cell) for cell in c] if all(cell.isdecimal() for cell in c) else c for c in columns]


# --- ours ------------------------------------------------------------------------------------------------


def read_table(path: str, names: Sequence[str]) -> Any:
    """The CSV file as a `Table`."""
    from unmask.tables import Table

    return Table.read(path, quasi_identifiers=names, sensitive=SENSITIVE)


def our_read(path: str, names: Sequence[str]) -> Step:
    """Read a CSV file into a table."""

    def step() -> harness.Found:
        return {"rows": read_table(path, names).n_rows}

    import unmask.tables  # noqa: F401 (its import is no part of the step)

    return step


DISTINCT_ROWS = 1_000_000
PAGE = ("--force", "--report")
BEYOND = (
    "Reading five columns takes a fifth. Imports, the comparison of beliefs, and the 2^4 subsets of the "
    "quasi-identifiers take a tenth each. The rest is a million classes with criteria, and three beliefs with "
    "measures. The peak holds about thirty numbers for every person: the table, its classes, and two beliefs."
)
COLUMNS = ("age", "zip", "sex", "education", "diagnosis")


def build_distinct(path: str) -> None:
    """Write a table of which nearly every row is another: 100 ages, 90,000 codes, 2 sexes, 16 levels, 20 diagnoses."""
    import duckdb

    def uniform(number: int) -> str:
        return f"(hash(i * 8 + {number}) % 1000003 / 1000003.0)"

    cells = (
        f"floor({uniform(0)} * 100)::integer as age, 10000 + floor({uniform(1)} * 90000)::integer as zip, "
        f"if({uniform(2)} < 0.5, 'f', 'm') as sex, 'E' || floor({uniform(3)} * 16)::integer as education, "
        f"'D' || floor(pow({uniform(4)}, 2) * 20)::integer as diagnosis"
    )
    duckdb.execute(f"copy (select {cells} from (select range as i from range({DISTINCT_ROWS}))) to '{path}' (header)")


def our_audit(path: str, *options: str) -> Step:
    """Run the command as a user types it: prosecutor and insider, and the page on request. Imports are counted."""

    def step() -> harness.Found:
        from unmask.cli import main

        output = io.StringIO()
        command = ["audit", path, "-q", ",".join(COLUMNS[:-1]), "-s", COLUMNS[-1], "--json", *options]
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
            main(command, standalone_mode=False)
        (criteria,) = json.loads(output.getvalue())["tables"]["criteria"]
        return {"classes": criteria["classes"]}

    return step


def bare_scan(path: str) -> Step:
    """Count the distinct quasi-identifiers with DuckDB: the minimum for every reader of the file."""

    def step() -> harness.Found:
        import duckdb

        query = f"select count(*) from (select {', '.join(COLUMNS[:-1])} from '{path}' group by all)"
        ((classes,),) = duckdb.execute(query).fetchall()
        return {"classes": classes}

    return step


def our_mondrian(path: str, names: Sequence[str]) -> Step:
    """Mondrian with k = 10: partition, canonical cells and shuffled release."""
    import numpy as np

    from unmask.tables import Mondrian

    table = read_table(path, names)

    def step() -> harness.Found:
        release, _ = Mondrian(k=K)(table, rng=np.random.default_rng(SEED))
        return {"classes": len(release.classes.sizes)}

    return step


def write_release(path: str, names: Sequence[str]) -> None:
    """Keeps the k = 10 release for the criteria."""
    import numpy as np

    from unmask.tables import Mondrian

    release, _ = Mondrian(k=K)(read_table(path, names), rng=np.random.default_rng(SEED))
    release.write(release_path(path, names), force=True)


def our_criteria(path: str, names: Sequence[str]) -> Step:
    """All criteria of the k = 10 release."""
    from unmask.tables import criteria

    table = read_table(release_path(path, names), names)

    def step() -> harness.Found:
        result = criteria.evaluate(table)
        return {
            "k": int(result.k),
            "distinct l": int(result.l_distinct),
            "entropy l": float(result.l_entropy),
            "t": float(result.t_equal),
        }

    return step


SUDA_ROWS = 100_000
SUDA_SIZES = (40, 2, 5, 16, 7, 12, 99, 30)
"""Values of the eight columns whose special uniques are found."""


def draw_columns() -> dict[str, Any]:
    """Eight independent columns with a few common and many rare values, as arrays of codes."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    return {f"c{number}": rng.geometric(0.5, SUDA_ROWS) % size for number, size in enumerate(SUDA_SIZES)}


def our_suda() -> Step:
    """Minimal uniques of all sets of columns."""
    from unmask.tables import Table
    from unmask.tables.risk.suda import find_special_uniques

    columns = {name: codes.astype(str) for name, codes in draw_columns().items()}
    table = Table.read(columns, quasi_identifiers=list(columns))

    def step() -> harness.Found:
        return {"minimal uniques": int(find_special_uniques(table).n_minimal.sum())}

    return step


def release_path(path: str, names: Sequence[str]) -> str:
    """Return the path of the k = 10 release of a table."""
    return f"{path}-{len(names)}-release.csv"


# --- peers -----------------------------------------------------------------------------------------------


def literal_mondrian(path: str, names: Sequence[str]) -> Step:
    """Strict Mondrian as the paper reads, in plain Python: recursion over lists of rows, k only."""
    columns = columns_of(path, names)
    ranks = [{value: rank for rank, value in enumerate(sorted(set(column)))} for column in columns]
    values = [c if isinstance(c[0], int) else [r[v] for v in c] for c, r in zip(columns, ranks, strict=True)]
    rows = list(zip(*values, strict=True))
    spans = [max(column) - min(column) for column in values]

    def step() -> harness.Found:
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
    narrowest, bound, n_left = math.inf, None, 0
    for value in sorted(counts):
        n_left += counts[value]
        if K <= n_left <= len(rows) - K and abs(2 * n_left - len(rows)) < narrowest:
            narrowest, bound = abs(2 * n_left - len(rows)), value
    return bound


def literal_criteria(path: str, names: Sequence[str]) -> Step:
    """The same criteria counted with dictionaries in plain Python."""
    *cells, secrets = columns_of(release_path(path, names), (*names, SENSITIVE))
    keys = list(zip(*cells, strict=True))

    def step() -> harness.Found:
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


def anonypy_mondrian(path: str, names: Sequence[str]) -> Step:
    """anonypy's partition step with k = 10."""
    import pandas as pd
    from anonypy.mondrian import Mondrian

    frame = pd.read_csv(path)
    for name in set(frame.columns) - set(NUMERIC):
        frame[name] = frame[name].astype("category")
    mondrian = Mondrian(frame, list(names), SENSITIVE)

    def step() -> harness.Found:
        return {"classes": len(mondrian.partition(K))}

    return step


def pycanon_criteria(path: str, names: Sequence[str]) -> Step:
    """pycanon's k, distinct l, entropy l (truncated to a whole number by pycanon) and t, one call each."""
    import pandas as pd
    from pycanon import anonymity

    frame = pd.read_csv(release_path(path, names))
    quasi_identifiers, sensitive = list(names), [SENSITIVE]

    def step() -> harness.Found:
        return {
            "k": int(anonymity.k_anonymity(frame, quasi_identifiers)),
            "distinct l": int(anonymity.l_diversity(frame, quasi_identifiers, sensitive)),
            "entropy l": int(anonymity.entropy_l_diversity(frame, quasi_identifiers, sensitive)),
            "t": float(anonymity.t_closeness(frame, quasi_identifiers, sensitive)),
        }

    return step


def literal_suda() -> Step:
    """SUDA2, the algorithm of sdcMicro's suda2, as Manning, Haglin and Keane (2008) describe it, in plain Python."""
    columns = draw_columns()
    rows = [tuple(enumerate(row)) for row in zip(*(codes.tolist() for codes in columns.values()), strict=True)]
    items = {item for row in rows for item in row}

    def step() -> harness.Found:
        return {"minimal uniques": len(find_minimal_sets(rows, range(len(rows)), items, len(columns)))}

    return step


Item = tuple[int, int]
"""Column and value."""


def find_minimal_sets(
    rows: Sequence[tuple[Item, ...]], chosen: Sequence[int], items: set[Item], largest: int
) -> list[tuple[Item, ...]]:
    """The minimal unique sets of some items in the chosen rows, of at most so many items.

    An item in several rows, the rarest first, is combined with the sets of the more frequent items that are minimal in
    its rows. Such a set is minimal with it if it is in a row without the item, too.
    """
    rows_of: dict[Item, list[int]] = defaultdict(list)
    for row in chosen:
        for item in rows[row]:
            if item in items:
                rows_of[item].append(row)
    found: list[tuple[Item, ...]] = [(item,) for item, members in rows_of.items() if len(members) == 1]
    if largest == 1:
        return found
    members_of = {item: set(members) for item, members in rows_of.items() if 1 < len(members) < len(chosen)}
    frequent = set(members_of)
    for item in sorted(members_of, key=lambda item: (len(members_of[item]), item)):
        frequent.discard(item)
        candidates = find_minimal_sets(rows, rows_of[item], frequent, largest - 1) if frequent else []
        found += [(item, *others) for others in candidates if len(intersect(members_of, others)) > 1]
    return found


def intersect(members_of: dict[Item, set[int]], items: Sequence[Item]) -> set[int]:
    """The rows with all of these items."""
    return set.intersection(*(members_of[item] for item in items))


# --- races -----------------------------------------------------------------------------------------------


def races(chosen: argparse.Namespace) -> Iterator[Race]:
    """All steps on all tables."""
    if "UNMASK_DATA" not in os.environ:
        raise SystemExit("UNMASK_DATA is not set, expected the folder that holds tables/adult/adult.data")
    with tempfile.TemporaryDirectory() as folder:
        distinct = f"{folder}/distinct.csv"
        harness.run_apart(build_distinct, distinct)
        commands = (
            Case("ours", our_audit, (distinct,), at_most=2, mib_at_most=250, limit=BEYOND),
            Case("with page", our_audit, (distinct, *PAGE, f"{folder}/page.html"), at_most=2.3, limit=BEYOND),
        )
        scan = (Case("DuckDB, group by", bare_scan, (distinct,)),)
        yield Race("audit", f"audit, {DISTINCT_ROWS:,} distinct rows", commands, scan, "the command, imports counted")
        ours = (Case("ours", our_suda, at_most=1.0),)
        plain = (Case("SUDA2, plain Python", literal_suda, long=True),)
        yield Race("suda", f"special uniques, {SUDA_ROWS:,} rows x 8", ours, plain, "all minimal uniques")
        for n_rows in (0, *chosen.rows):
            path = f"{folder}/{n_rows or 'adult'}.csv"
            harness.run_apart(build, path, n_rows)
            title = f"{n_rows:,} rows" if n_rows else "Adult"
            for names in (Q5, Q6) if n_rows else (Q5,):
                yield from on_table(f"{title} x {len(names)}", path, names, with_peers=n_rows <= chosen.peer_rows)
            Path(path).unlink()


def on_table(title: str, path: str, names: tuple[str, ...], *, with_peers: bool) -> Iterator[Race]:
    """All steps on one table."""
    table = (path, names)
    long = "rows" in title

    def race(group: str, shows: str, ours: Callable[..., Step], *peers: Case) -> Race:
        return Race(group, f"{group}, {title}", (Case("ours", ours, table),), peers if with_peers else (), shows)

    plain = Case("plain Python", literal_mondrian, table)
    anonypy = Case("anonypy", anonypy_mondrian, table, peer="anonypy", long=long)
    yield race("read", "a CSV file read and checked", our_read)
    yield race("Mondrian", "partition and shuffled release, k = 10", our_mondrian, plain, anonypy)
    harness.run_apart(write_release, path, names)
    plain = Case("plain Python", literal_criteria, table)
    pycanon = Case("pycanon", pycanon_criteria, table, peer="pycanon", long=long)
    yield race("criteria", "k, l and t of that release", our_criteria, plain, pycanon)


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options other than the races."""
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000], help="sizes of the scale-up")
    parser.add_argument("--peer-rows", type=int, default=1_000_000, help="run peers up to this many rows")


if __name__ == "__main__":
    harness.main(
        __doc__, races, only=("audit", "suda", "read", "Mondrian", "criteria"), peers=PEERS, options=options, limit=120
    )
