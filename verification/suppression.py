"""Suppression patterns of 200 pairs of linked tables, against enumeration: `python verification/suppression.py`.

Each pair is sex x age and age x region of 11 records with all totals. Zeros are published, counts below 3 are
sensitive. Methods of other tools make patterns that may fail: a hypercube method and the smallest pattern of each table
alone, written down literally, and tau-ARGUS, if it is installed (`pip install pytauargus==0.6.0`). Enumeration of all
pairs of tables finds the cells that a pattern does not protect. The check of `protect aggregates` must find the same.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from itertools import combinations, product
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from show import Section, Verdict, main

from unmask.aggregates import AggregateRelease, Domain, Rule, tabulate
from unmask.aggregates.protections import SuppressSmallCounts, compute_intervals
from unmask.aggregates.protections.count_protections import publish

DOMAIN = Domain({"sex": ("f", "m"), "age": ("a", "b", "c"), "region": ("n", "s")})
COLUMNS = (("sex", "age"), ("age", "region"), ("sex",), ("age",), ("region",), ())
N_PAIRS, N_RECORDS, THRESHOLD = 200, 11, 3
RULE = Rule(threshold=THRESHOLD, secondary=True)


class Pair(NamedTuple):
    """Two linked tables with totals, as arrays whose last row and column are totals, and the release of both."""

    first: np.ndarray
    second: np.ndarray
    exact: AggregateRelease
    counts: np.ndarray


def draw_pairs() -> Iterator[Pair]:
    """Yield pairs with a sensitive cell."""
    rng, n = np.random.default_rng(20), 0
    while n < N_PAIRS:
        chances = {name: rng.dirichlet(np.ones(len(labels))) for name, labels in DOMAIN.categories.items()}
        records = {name: rng.choice(labels, N_RECORDS, p=chances[name]) for name, labels in DOMAIN.categories.items()}
        exact = AggregateRelease(DOMAIN, tuple(tabulate(records, columns, Rule(), DOMAIN) for columns in COLUMNS))
        counts = exact.cell_counts(records)
        cross = counts[0].reshape(2, 3, 2)
        first, second = with_totals(cross.sum(axis=2)), with_totals(cross.sum(axis=0))
        if is_sensitive(first).any() or is_sensitive(second).any():
            n += 1
            yield Pair(first, second, exact, counts)


def with_totals(table: np.ndarray) -> np.ndarray:
    """Return tables (..., rows, columns) with their totals."""
    table = np.concatenate([table, table.sum(axis=-1, keepdims=True)], axis=-1)
    return np.concatenate([table, table.sum(axis=-2, keepdims=True)], axis=-2)


def is_sensitive(table: np.ndarray) -> np.ndarray:
    """Return the cells of the primary suppression."""
    return (table > 0) & (table < THRESHOLD)


# --- enumeration ------------------------------------------------------------------------------------------------------


@cache
def enumerate_tables(shape: tuple[int, int], n: int) -> np.ndarray:
    """Return all tables of n records with their totals."""
    size = shape[0] * shape[1]
    bars = np.array(list(combinations(range(n + size - 1), size - 1)))
    ends = np.full((len(bars), 1), n + size - 1)
    cells = np.diff(np.concatenate([np.full((len(bars), 1), -1), bars, ends], axis=1), axis=1) - 1
    return with_totals(cells.reshape(-1, *shape))


def list_candidates(table: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Return the tables that agree with a published table; suppressed cells are at least 1.

    If the total is suppressed, tables of up to 5 more records are tried, which suffices to reach the threshold.
    """
    total, shape = int(table[-1, -1]), (table.shape[0] - 1, table.shape[1] - 1)
    totals = range(1, total + 6) if hidden[-1, -1] else [total]
    every = np.concatenate([enumerate_tables(shape, n) for n in totals])
    agrees = np.where(hidden, every >= 1, every == table)
    return every[agrees.all(axis=(1, 2))]


def find_exposed(pair: Pair, hidden: tuple[np.ndarray, np.ndarray]) -> tuple[set, set]:
    """Return the sensitive cells that are known to be below the threshold, and the determined suppressed cells."""
    first, second = list_candidates(pair.first, hidden[0]), list_candidates(pair.second, hidden[1])
    ages = {tuple(item) for item in first[:, -1, :-1]} & {tuple(item) for item in second[:, :-1, -1]}
    first = first[[tuple(item) in ages for item in first[:, -1, :-1]]]
    second = second[[tuple(item) in ages for item in second[:, :-1, -1]]]
    exposed, determined = set(), set()
    for number, (table, every, pattern) in enumerate(
        ((pair.first, first, hidden[0]), (pair.second, second, hidden[1]))
    ):
        for place in zip(*np.nonzero(pattern), strict=True):
            values = every[(slice(None), *place)]
            name = name_cell(number, place, table)
            if is_sensitive(table)[place] and values.max() < THRESHOLD:
                exposed.add(name)
            if values.min() == values.max():
                determined.add(name)
    return exposed, determined


def name_cell(number: int, place: tuple[int, ...], table: np.ndarray) -> tuple:
    """Return a name that a cell has in both tables: a total by age is a cell of each."""
    row, column = (int(index) if index < size - 1 else -1 for index, size in zip(place, table.shape, strict=True))
    sex, age, region = (row, column, -1) if number == 0 else (-1, row, column)
    return sex, age, region


# --- methods ----------------------------------------------------------------------------------------------------------


def hide_hypercubes(table: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Suppress, for each suppressed cell, the three other corners of the lightest rectangle without zeros.

    Totals are a further row and column. Corners that are suppressed already cost nothing. A cell without a rectangle is
    left alone, as by the method.
    """
    hidden = hidden.copy()
    for row, column in zip(*np.nonzero(hidden), strict=True):
        corners = [
            [(row, other_column), (other_row, column), (other_row, other_column)]
            for other_row, other_column in product(range(table.shape[0]), range(table.shape[1]))
            if other_row != row and other_column != column
        ]
        last = (table.shape[0] - 1, table.shape[1] - 1)
        usable = [cells for cells in corners if last not in cells and all(table[cell] > 0 for cell in cells)]
        if usable:
            chosen = min(usable, key=lambda cells: sum(float(table[cell]) * (not hidden[cell]) for cell in cells))
            for cell in chosen:
                hidden[cell] = True
    return hidden


def hide_alone(table: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Suppress the fewest further cells of one table that protect its small counts, with the grand total published."""
    last = (table.shape[0] - 1, table.shape[1] - 1)
    free = [place for place in zip(*np.nonzero((table > 0) & ~hidden), strict=True) if place != last]
    for size in range(len(free) + 1):
        for extra in combinations(free, size):
            pattern = hidden.copy()
            for place in extra:
                pattern[place] = True
            candidates = list_candidates(table, pattern)
            if all(candidates[:, row, column].max() >= THRESHOLD for row, column in zip(
                *np.nonzero(is_sensitive(table)), strict=True)):  # fmt: skip
                return pattern
    return np.where(table > 0, True, hidden)


def link(pair: Pair, method) -> tuple[np.ndarray, np.ndarray]:
    """Apply a method to one table after the other, and carry suppressed totals by age over, until nothing changes."""
    hidden = is_sensitive(pair.first), is_sensitive(pair.second)
    while True:
        first = method(pair.first, hidden[0])
        second = hidden[1].copy()
        second[:-1, -1] |= first[-1, :-1]
        second = method(pair.second, second)
        renewed = first.copy()
        renewed[-1, :-1] |= second[:-1, -1]
        if (renewed == hidden[0]).all() and (second == hidden[1]).all():
            return renewed, second
        hidden = renewed, second


def hide_by_tau_argus(pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    """Return the pattern of tau-ARGUS: frequency rule with a range of 100 %, and the optimal pattern of each table."""
    from pytauargus import protect

    places = np.repeat(np.arange(pair.counts.size), pair.counts[0])
    codes = dict(zip(DOMAIN.categories, np.unravel_index(places, (2, 3, 2)), strict=True))
    people = {name: [DOMAIN.categories[name][code] for code in column] for name, column in codes.items()}
    with TemporaryDirectory() as folder:
        result = protect(
            people | {"one": [1.0] * len(places)}, [["sex", "age"], ["age", "region"]], response="one",
            safety_rules=f"FREQ({THRESHOLD},100)", suppress="OPT(1)", workdir=folder,
        )  # fmt: skip
    hidden = np.zeros(pair.first.shape, dtype=bool), np.zeros(pair.second.shape, dtype=bool)
    for pattern, table, names in zip(hidden, result.tables, (("sex", "age"), ("age", "region")), strict=True):
        for row, status in zip(table.rows, table.status(), strict=True):
            place = tuple((*DOMAIN.categories[name], "Total").index(row[name]) for name in names)
            pattern[place] = status in ("U", "M")
    totals = hidden[0][-1] & hidden[1][:, -1]  # readers take a total by age from the table that publishes it
    hidden[0][-1], hidden[1][:, -1] = totals, totals
    return hidden


def hide_together(pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    """Return the pattern of `protect aggregates`, as arrays of both tables."""
    pattern, _ = SuppressSmallCounts(THRESHOLD, lower=0, weight="value").choose_patterns(pair.exact, pair.counts)[0]
    parts = dict(zip(COLUMNS, np.split(pattern, np.cumsum([6, 6, 2, 3, 2])), strict=True))
    tables = []
    for rows, columns in (("sex", "age"), ("age", "region")):
        inner = parts[rows, columns].reshape(len(DOMAIN.categories[rows]), -1)
        tables.append(np.block([[inner, parts[rows,][:, None]], [parts[columns,][None], parts[()][None]]]))
    return tables[0], tables[1]


def check(pair: Pair, hidden: tuple[np.ndarray, np.ndarray]) -> tuple[set, set]:
    """Return the exposed and the determined cells that the check of the package finds."""
    first, second = hidden
    parts = (
        first[:-1, :-1], second[:-1, :-1], first[:-1, -1], first[-1, :-1], second[-1, :-1], first[-1, -1],
    )  # fmt: skip
    pattern = np.concatenate([np.ravel(part) for part in parts])
    values = (pair.exact.matrix @ pair.counts[0]).astype(float)
    release = publish(pair.exact, RULE, values[None], pattern[None])
    chosen = np.flatnonzero(pattern)
    names = list(product((0, 1), (0, 1, 2), (-1,))) + list(product((-1,), (0, 1, 2), (0, 1)))
    names += [(0, -1, -1), (1, -1, -1), *((-1, age, -1) for age in range(3)), (-1, -1, 0), (-1, -1, 1), (-1, -1, -1)]
    exposed, determined = set(), set()
    for cell, (low, high) in zip(chosen, compute_intervals(release, 0, chosen), strict=True):
        if values[cell] < THRESHOLD and high < THRESHOLD:
            exposed.add(names[cell])
        if low == high:
            determined.add(names[cell])
    return exposed, determined


METHODS: dict[str, Callable[[Pair], tuple[np.ndarray, np.ndarray]]] = {
    "hypercube": lambda pair: link(pair, hide_hypercubes),
    "each table alone": lambda pair: link(pair, hide_alone),
    "protect aggregates": hide_together,
}
if find_spec("pytauargus"):
    METHODS["tau-ARGUS"] = hide_by_tau_argus


def verify() -> Section:
    """Compare the check with enumeration for the patterns of all methods."""
    start, rows, verdicts, pairs = time.process_time(), [], [], list(draw_pairs())
    for name, method in METHODS.items():
        failing = missed = false = cells = 0
        for pair in pairs:
            hidden = method(pair)
            cells += int(hidden[0].sum() + hidden[1][:, :-1].sum())
            expected, found = find_exposed(pair, hidden), check(pair, hidden)
            failing += bool(expected[0])
            missed += sum(len(truth - claim) for truth, claim in zip(expected, found, strict=True))
            false += sum(len(claim - truth) for truth, claim in zip(expected, found, strict=True))
        rows.append((name, cells / len(pairs), failing, missed, false))
        verdicts.append(Verdict(f"{name}: exposed or determined cells missed", 0, missed, missed == 0))
        verdicts.append(Verdict(f"{name}: claimed cells that enumeration refutes", 0, false, false == 0))
    failing = {row[0]: row[2] for row in rows}
    verdicts.append(
        Verdict("patterns of protect aggregates that fail", 0, failing["protect aggregates"],
                not failing["protect aggregates"])
    )  # fmt: skip
    verdicts.append(
        Verdict("the literal methods fail on some pairs", "> 0", failing["hypercube"] + failing["each table alone"],
                failing["hypercube"] + failing["each table alone"] > 0)
    )  # fmt: skip
    return Section(
        f"Patterns of {N_PAIRS} pairs of linked tables",
        ("method", "suppressed cells", "patterns that fail", "missed cells", "false cells"),
        rows,
        (f"{time.process_time() - start:.0f} s CPU",),
        verdicts,
    )


if __name__ == "__main__":
    sys.exit(main(__doc__, {"patterns": verify}))
