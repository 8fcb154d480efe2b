"""Equivalence classes of a release: the class of each target, and the classes most at risk."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.distinct_rows import take_rows
from unmask.core.posterior import Posterior
from unmask.measures.sensitive_values import likeliest_sensitive_value, rank_by_frequency
from unmask.results import Block, Column
from unmask.results import Table as ResultTable
from unmask.results.formats import percent
from unmask.results.names import IDENTITY, LIMITS
from unmask.results.table import Record
from unmask.results.words import start_with_release
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.risk_facts import assess_success, name_value
from unmask.tables.risk.singling_columns import SinglingSearch
from unmask.tables.table import Table

N_CLASSES = 5
"""Classes of a release that are shown for each target."""


class ClassRisk(NamedTuple):
    """People with the same matching records, and the highest risk among them.

    Parameters
    ----------
    release, target : str
        Release, and "identity" or a sensitive column.
    row : int
        Row of the release, counted from 0, of the first record that matches them.
    people : int
        Number of attacked people in the class.
    probability : float
        Highest probability of re-identification, or of a value that is not the most common one.
    value : str
        That value, as in `ValueRisk`; "" for identity.
    columns : tuple of str
        Smallest set of columns that singles out the person with that probability, see `SinglingColumns`.
    """

    release: str
    target: str
    row: int
    people: int
    probability: float
    value: str = ""
    columns: tuple[str, ...] = ()


def first_records(link: Posterior) -> NDArray[np.int64]:
    """Return (n_targets,) the first record that fits each target, which stands for their class; -1 if none fits."""
    first = np.full(link.n_observations, -1, dtype=np.int64)
    fits = link.row_length > 0
    first[fits] = link.candidate[link.indptr[:-1][fits]]
    return np.asarray(first[link.observation], dtype=np.int64)


def cluster_targets(link: Posterior, *, offset: int = 0) -> NDArray[np.int64]:
    """Return (n_targets,) clusters of targets whose guesses are right or wrong together.

    People of one class are one cluster. People without a matching record are one if the same is known of them; their
    clusters are numbered after the classes and `offset` clusters of other people.
    """
    first = first_records(link)
    return np.where(first >= 0, first + 1, 1 + link.n_candidates + offset + link.observation)


@dataclass(frozen=True, eq=False)
class TargetClasses:
    """Classes of the people attacked in one release; the first record that fits a person stands for their class.

    Parameters
    ----------
    rows : (n_people,) array
        Row of each person, as in `AttackRun`.
    class_row : (n_targets,) array
        Row of the release that stands for the class of each target; -1 if no record fits.
    class_of_row : (n_people,) array, optional
        Target of each person if targets are classes, as in `AttackRun`.
    """

    rows: NDArray[np.int64]
    class_row: NDArray[np.int64]
    class_of_row: NDArray[np.int32] | None = None

    @classmethod
    def of(cls, run: AttackRun, table: Table) -> TargetClasses:
        """Return the classes of a release by a run about identity."""
        assert run.rows is not None
        first = first_records(run.picked or run.belief) if run.class_of_row is None else table.complete.classes.first
        if table.complete is not table:
            first = np.where(first < 0, -1, table.complete_rows[np.maximum(first, 0)])
        return cls(run.rows, first, run.class_of_row)

    def locate(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows that stand for the classes of people by their rows; -1 for none."""
        located = np.full(1 + max(int(rows.max(initial=-1)), int(self.rows.max(initial=-1))), -1, dtype=np.int64)
        located[self.rows] = self.class_row if self.class_of_row is None else self.class_row[self.class_of_row]
        return np.where(rows < 0, -1, located[rows])

    def riskiest(self, run: AttackRun, columns: SinglingSearch | None = None) -> Iterator[ClassRisk]:
        """Yield the riskiest classes of all sizes, see `_skyline`; of equally risky ones the largest come first.

        columns : search for the columns that single out the person with the highest risk of each class
        """
        belief = run.belief
        if len(self.class_row) != belief.n_targets:
            return
        assessed, success = assess_success(run)
        people = run.count_people(self.class_row + 1)[1:]
        with_rest = np.zeros(len(people) + 1)  # the last number, at -1, is of people whom no record fits
        np.maximum.at(with_rest, self.class_row, success[assessed.observation])
        highest = with_rest[:-1]
        classes = _preselect(people, highest)
        classes = classes[np.lexsort((-people[classes], -highest[classes]))]
        classes = classes[list(_skyline(people[classes]))]
        if not len(classes):  # no record fits any target
            return
        targets = np.flatnonzero(np.isin(self.class_row, classes))
        risk = success[assessed.observation[targets]]
        targets = targets[_most_at_risk(classes, self.class_row[targets], risk, highest)]
        is_identity = run.target == IDENTITY
        values = [""] * len(classes) if is_identity else _likeliest_values(belief, belief.observation[targets])
        people_rows = self.rows[targets] if self.class_of_row is None else classes  # the people of a class are alike
        for row, value, person in zip(classes.tolist(), values, people_rows.tolist(), strict=True):
            found = None if columns is None else columns.explain_row(person)
            singling = () if found is None else found.columns
            yield ClassRisk(run.release, run.target, row, int(people[row]), float(highest[row]), value, singling)


def _preselect(people: NDArray[np.int64], highest: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the classes without those that `N_CLASSES` classes of the same size precede, ascending.

    Only sizes of many classes are searched, so that few are left to sort.

    people, highest : people in each class and their highest risk

    >>> _preselect(np.array([1] * 8 + [2]), np.array([0.1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.9, 0.2]))
    array([1, 2, 3, 4, 7, 8])
    """
    n_classes = np.bincount(people)
    is_possible = people > 0
    for size in np.flatnonzero(n_classes[1:] > max(N_CLASSES, len(people) // 64)) + 1:
        is_of_size = people == size
        risk = highest[is_of_size]
        risk.partition(len(risk) - N_CLASSES)
        least, n_above = risk[-N_CLASSES], np.count_nonzero(risk > risk[-N_CLASSES])
        is_possible[is_of_size & (highest < least)] = False
        is_possible[np.flatnonzero(is_of_size & (highest == least))[N_CLASSES - n_above :]] = False
    return np.flatnonzero(is_possible)


def _most_at_risk(
    classes: NDArray[np.int64], class_row: NDArray[np.int64], risk: NDArray[np.float64], highest: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return (n_classes,) the first target of each class with the risk of the class; all targets are of the classes."""
    targets, order = np.flatnonzero(risk == highest[class_row])[::-1], np.argsort(classes)
    first = np.zeros(len(classes), dtype=np.int64)
    first[order[np.searchsorted(classes[order], class_row[targets])]] = targets  # the first is written last
    return first


def _likeliest_values(belief: Posterior, observation: NDArray[np.int64]) -> list[str]:
    """Return the likeliest sensitive value at observations, by its rank; "" without one."""
    rank = rank_by_frequency(belief)
    likeliest = likeliest_sensitive_value(take_rows(belief, observation)).tolist()
    return [rank[value] if value >= 0 else "" for value in likeliest]


def _skyline(people: NDArray[np.int64]) -> Iterator[int]:
    """Yield classes, the riskiest first, unless `N_CLASSES` classes of as many people are riskier.

    >>> list(_skyline(np.array([1] * 50 + [3])))[-2:]
    [4, 50]
    """
    largest, sizes = [0] * N_CLASSES, np.arange(len(people))
    while len(sizes):
        riskiest, limit = int(sizes[0]), largest[0]
        yield riskiest
        heapq.heapreplace(largest, int(people[riskiest]))
        sizes = sizes[1:] if largest[0] == limit else sizes[1:][people[sizes[1:]] > largest[0]]


# --- findings --------------------------------------------------------------------------------------------------------

COLUMNS = (
    Column("release", "Release"), Column("target", "Target"), Column("value", "Value"),
    Column("row", "Row of the release"), Column("people", "People", "group", exact=True),
    Column("probability", "Highest risk", "share"), Column("columns", "Singled out by"),
)  # fmt: skip

EXPLANATION = (
    "People of one class match the same records. The row of a class is the first of these records in the release, "
    "counted from 0. The same row of the origin file tells who it is, and the owner's list (--at-risk) has it for all "
    "people above a limit. A class is singled out by the smallest set of columns that leaves no more records than all "
    "columns together. Small classes are not shown. The risk of a sensitive column is the highest belief in a value "
    "that is not the most common one."
)


def class_table(classes: Iterable[ClassRisk]) -> ResultTable:
    """Return the table of the riskiest classes, the worst first."""
    records = (
        (
            item.release,
            item.target,
            item.value or None,
            item.row,
            item.people,
            item.probability,
            ", ".join(item.columns) or None,
        )
        for item in classes
    )
    table = ResultTable.from_records("classes", COLUMNS, records)
    return replace(table, series=("release", "target"), limit=N_CLASSES)


def class_block() -> Block:
    """Return the classes, and the one that is most at risk."""
    return Block("classes", "The classes most at risk", describe_classes, (), ("classes",), EXPLANATION)


def describe_classes(tables: Mapping[str, ResultTable]) -> str:
    """Return the class that is farthest above the limit of a target."""
    rows = tables["classes"].rows
    if not rows:
        return ""
    row = max(rows, key=_excess)
    risk = percent(row["probability"])
    if row["target"] == IDENTITY:
        effect = f"each is re-identified with up to {risk}"
    else:
        effect = f"each has {name_value(row['value'])} of {row['target']} with up to {risk}, as the adversary believes"
    by = f" They are singled out by {' and '.join(row['columns'].rsplit(', ', 1))}." if row["columns"] else ""
    sentence = (
        f"of the classes large enough to be shown, the {row['people']:,} people at row {row['row']} of the release are "
        f"most at risk: {effect}.{by}"
    )
    several = len({row["release"] for row in rows}) > 1
    return start_with_release(sentence, row["release"], several=several)


def _excess(row: Record) -> tuple[float, int]:
    return row["probability"] / LIMITS[IDENTITY if row["target"] == IDENTITY else "value"], row["people"]
