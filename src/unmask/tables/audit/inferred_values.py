"""Sensitive values that adversaries infer: belief in each value, people with this inference, and correctness."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from unmask.results import Block, Column, Table, View
from unmask.results.formats import SPACE, percent
from unmask.results.rows import ORIGINAL
from unmask.results.table import Record
from unmask.results.words import format_count, start_with_release

N_VALUES = 10
"""Values of a column that a page shows."""


class ValueRisk(NamedTuple):
    """Belief of an adversary who knows the quasi-identifiers in one value of a sensitive column.

    Parameters
    ----------
    release, target : str
        Release and sensitive column.
    value : str
        Rank of the value before the release, such as "no. 2"; never the value itself.
    prior, highest : float
        Probability before the release, and the highest probability for any person.
    people, n : int
        People with this inferred value (with more than one half), and all people.
    secret : bool
        False for the most common value.
    believed, right : float, optional
        Share of the inferences that are right, as the adversary believes, and in truth; None without inferences or
        truth.
    """

    release: str
    target: str
    value: str
    prior: float
    highest: float
    people: int
    n: int
    secret: bool = True
    believed: float | None = None
    right: float | None = None


COLUMNS = (
    Column("release", "Release"), Column("target"), Column("value", "Value, by how common it is", "name", of="prior"),
    Column("prior", "Have it", "share", of="n"), Column("highest", "Highest belief", "share"),
    Column("people", "People inferred", "people", of="n"), Column("n", "People", "number"), Column("secret"),
    Column("believed", "Right, as believed", "percent_of_people", of="people"),
    Column("right", "Right", "percent_of_people", of="people"),
)  # fmt: skip

SHOWN = ("value", "prior", "highest", "people", "believed", "right")

EXPLANATION = (
    "An adversary who knows the quasi-identifiers infers a value if they believe it with more than one half. The most "
    "common value, no. 1, is left out: inferring it for all people is often right and reveals nothing. Right is the "
    "share of these inferences that are correct{source}. Values whose probability rises most come first."
)


def value_table(values: Iterable[ValueRisk]) -> Table:
    """Return the table of the values of all releases."""
    return replace(Table.from_records("values", COLUMNS, values), series=("release", "target"))


def value_block(table: Table, targets_with_truth: Collection[str]) -> Block | None:
    """Return a table for each column and release, and the value that is inferred for most people."""
    secrets = table.where(secret=True)
    if not secrets.rows:
        return None
    truth_known = all(target in targets_with_truth for target in secrets.values("target"))
    source = "" if truth_known else ", as the adversary believes, for the truth was not given"
    introduction = EXPLANATION.format(source=source)
    views = tuple(_views(secrets))
    return Block("values", "Which values are found out", describe_values, (), views, introduction)


def _views(secrets: Table) -> Iterator[View]:
    several = len(set(secrets.values("release"))) > 1
    groups = [(row["release"], row["target"]) for row in secrets.rows]
    for release, target in dict.fromkeys(groups):
        n_values = groups.count((release, target))
        limit_text = f", {N_VALUES} of {n_values} values" if n_values > N_VALUES else ""
        title = f"{target}{f', {release}' if several else ''}{limit_text}"
        yield View("values", SHOWN, {"release": release, "target": target, "secret": True}, title, N_VALUES)


def describe_values(tables: Mapping[str, Table]) -> str:
    """Return the value that is inferred for most people, and how often classes reveal a number."""
    secrets = tables["values"].where(secret=True)
    return " ".join(filter(None, (_describe_most(secrets), describe_near(tables["criteria"]))))


def _describe_most(secrets: Table) -> str:
    if not secrets.rows:
        return ""
    several = len(set(secrets.values("release"))) > 1
    inferred = [row for row in secrets.rows if row["people"]]
    row = max(inferred, key=_n_inferred) if inferred else max(secrets.rows, key=lambda row: row["highest"])
    value = f"{name_value(row['value'])} of {row['target']} (held by {percent(row['prior'])})"
    if not inferred:
        sentence = (
            f"no value of {row['target']} except the most common one is inferred for any person. The closest is "
            f"{value}, believed with at most {percent(row['highest'])}."
        )
    else:
        people = f"{format_count(row['people'])} of {row['n']:,} people"
        sentence = f"for {people} the adversary infers {value}.{_describe_right(row)}"
    return start_with_release(sentence, row["release"], several=several)


def _n_inferred(row: Record) -> tuple[bool, int, float]:
    people = row["people"]
    return isinstance(people, int), people if isinstance(people, int) else 0, row["highest"]


def _describe_right(row: Record) -> str:
    if row["right"] is not None:
        return f" {percent(row['right'], 0)} of these inferences are right."
    return "" if row["believed"] is None else f" {percent(row['believed'], 0)} of them should be right."


def name_value(value: str) -> str:
    """Return the name of a value in a sentence.

    >>> name_value("no. 2")
    'value no. 2'
    """
    return f"value {value}" if value.startswith("no. ") else value


def describe_near(criteria: Table) -> str:
    """Return how often a person's class reveals a number within 10 %, in the release that reveals most."""
    shares = [row for row in criteria.rows if row.get("near_average") is not None and row["release"] != ORIGINAL]
    if not shares:
        return ""
    row = max(shares, key=lambda row: row["near_average"])
    sentence = (
        f"a person's class tells their {row['near_of']} within 10{SPACE}% for {percent(row['near_average'])} of "
        f"people; the numbers of the table alone do so for {percent(row['near_prior'])}."
    )
    n_releases = len({row["release"] for row in criteria.rows} - {ORIGINAL})
    return start_with_release(sentence, row["release"], several=n_releases > 1)
