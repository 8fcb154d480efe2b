"""People of Adult and of the American Community Survey, and releases of them; comparisons with a control group."""

from __future__ import annotations

import csv
import gzip
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from show import Verdict, span

from unmask import Posterior, Truth
from unmask.measures import realized_success
from unmask.measures.excess import Excess, People, excess
from unmask.tables import Background, Hierarchy, Table, datasets

Mask = NDArray[np.bool_]

CTGAN = ("age", "education_num", "marital", "race", "sex")
"""Quasi-identifiers of the synthetic records and their control group."""

FILE_COLUMNS = (
    *("age", "type_employer", "fnlwgt", "education", "education_num", "marital", "occupation", "relationship", "race"),
    *("sex", "capital_gain", "capital_loss", "hr_per_week", "country", "income"),
)
"""Columns of Anonymeter's files, in the order of `datasets.ADULT_COLUMNS`."""

COLUMNS = tuple(name for name in datasets.ADULT_COLUMNS if name not in ("fnlwgt", "education"))
NAMES = tuple(name for name in FILE_COLUMNS if name not in ("fnlwgt", "education"))
"""The columns of `COLUMNS` in Anonymeter's files."""

NIST = ("PUMA", "AGEP", "SEX", "RAC1P", "MSP", "EDU")


# --- files -----------------------------------------------------------------------------------------------------------


NIST_PEOPLE = Path(os.environ["UNMASK_DATA"]) / "tables" / "nist" / "national2019.csv.gz"
"""27,253 people of the American Community Survey (NIST excerpt, public domain)."""


def _path(name: str) -> Path:
    return Path(os.environ["UNMASK_DATA"]) / "tables" / "adult" / name


def read_complete_rows(*, quasi_identifiers: Sequence[str], hierarchies: dict[str, Hierarchy]) -> Table:
    """Read nine columns of Adult, which its hierarchies belong to: 30,162 complete rows (ARX example data)."""
    return Table.read(_path("adult_complete_rows.csv.gz"), quasi_identifiers=quasi_identifiers, hierarchies=hierarchies)


def read_hierarchies() -> dict[str, Hierarchy]:
    """Read the nine generalization hierarchies of Adult by column name (ARX example data, Apache-2.0)."""
    return {path.stem: Hierarchy.read(path) for path in sorted(_path("hierarchies").glob("*.csv"))}


def read_synthetic(names: Sequence[str]) -> Table:
    """Read 39,040 synthetic records made by CTGAN from Adult (Anonymeter example data, BSD-3-Clause-Clear)."""
    return Table.read(_path("synthetic/synthetic_ctgan.csv.gz"), quasi_identifiers=names, sensitive=(), na=())


def read_control(names: Sequence[str]) -> Table:
    """Read 9,758 Adult records that the synthetic records were not made from: their control group."""
    return Table.read(_path("synthetic/control.csv.gz"), quasi_identifiers=names, sensitive=(), na=())


def read_rows(name: str, *, complete: bool = True) -> Iterator[list[str]]:
    """Yield rows of a part of Adult, "data" or "test"; complete ones by default."""
    with datasets.locate(f"adult/adult.{name}").open() as lines:
        for row in csv.reader(lines, skipinitialspace=True):
            if len(row) == len(datasets.ADULT_COLUMNS) and not (complete and "?" in row):
                yield [cell.rstrip(".") for cell in row]


@cache
def read_adult() -> tuple[dict[str, NDArray[np.str_]], int]:
    """Return both parts of Adult, complete rows, and the number of rows of the training part: the members."""
    parts = [list(read_rows(name)) for name in ("data", "test")]
    return dict(zip(datasets.ADULT_COLUMNS, np.array(parts[0] + parts[1]).T, strict=True)), len(parts[0])


def read_nist(names: Sequence[str], **roles: Sequence[str] | str) -> tuple[Table, Mask]:
    """Return the people of the survey excerpt, and a random two thirds of them: the members."""
    with gzip.open(NIST_PEOPLE, "rt") as lines:
        rows = list(csv.DictReader(lines))
    types = {name: "number" if name == "AGEP" else "text" for name in names}
    table = Table.read({name: [row[name] for row in rows] for name in names}, types=types, na=(), **roles)  # type: ignore[arg-type]
    return table, np.random.default_rng(0).permutation(table.n_rows) % 3 > 0


@cache
def read_ctgan(names: tuple[str, ...] = NAMES) -> tuple[Table, Table, Mask]:
    """Return the CTGAN release, all of Adult, and a mask of the members: the people outside the control group."""
    release, control = read_synthetic(names), read_control(names)
    cells = np.array([row for part in ("data", "test") for row in read_rows(part, complete=False)]).T
    columns = {name: cells[FILE_COLUMNS.index(name)] for name in names}
    everybody = Table.read(columns, quasi_identifiers=names, na=(), like=release)
    left = Counter(zip(*(control[name] for name in control.names), strict=True))
    members = np.ones(everybody.n_rows, dtype=np.bool_)
    for i, row in enumerate(zip(*(everybody[name] for name in control.names), strict=True)):
        if left[row]:
            left[row] -= 1
            members[i] = False
    return release, everybody, members


def assign_roles(table: Table, secret: str, names: Sequence[str]) -> Table:
    """Return the table with these quasi-identifiers and this sensitive column."""
    quasi_identifiers = tuple(table.column(name) for name in names)
    return replace(table, quasi_identifiers=quasi_identifiers, sensitive=(table.column(secret),), kept=())


def know(people: Table, population: Table | None = None) -> Background:
    """Return an adversary's knowledge of quasi-identifiers, and of a population."""
    return Background(replace(people, sensitive=()), population)


# --- comparisons -----------------------------------------------------------------------------------------------------


def compare_groups(belief: Posterior, truth: Truth, members: Mask, clusters: NDArray[np.int64] | None = None) -> Excess:
    """Return the success with members and with the control group."""
    sides = (People.of(realized_success, belief, truth, cluster=clusters, mask=mask) for mask in (members, ~members))
    return excess(realized_success, *sides)


EXCESS_HEADER = ("release", "members", "control", "excess", "interval")


def format_excess(result: Excess) -> tuple[str, ...]:
    """Return the cells of `EXCESS_HEADER` after the first."""
    return (*(f"{x:.4f}" for x in (result.members, result.control, result.excess)), span(result.low, result.high))


def no_excess(claim: str, low: float | None, high: float | None) -> Verdict:
    """Return the verdict that 0 is in the interval of an excess."""
    holds = low is not None and high is not None and low <= 0 <= high
    return Verdict(claim, "0 in the interval", span(low, high), holds)


def within(claim: str, expected: float, tolerance: float, value: float) -> Verdict:
    """Return the verdict on a number and its tolerance."""
    return Verdict(claim, f"{expected:g} +- {tolerance:g}", f"{value:.4f}", abs(value - expected) <= tolerance)


def points(claim: str, announced: float, realized: float, limit: float = 0.03, *, reading: str = "") -> Verdict:
    """Return the verdict that announced is realized, within some points."""
    difference = announced - realized
    return Verdict(claim, reading or f"{100 * limit:g} points", f"{100 * difference:.1f}", abs(difference) <= limit)
