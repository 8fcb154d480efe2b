"""Adversaries who know every column that leaves, one who reads the order of the rows, and what columns give away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unmask.posterior import Posterior, equal_weights
from unmask.reports import COLUMNS, INSIDER, ORDER, ORIGINAL, Exposure
from unmask.tables.attacks import AttributeInference, ClassAttack, OrderAttack
from unmask.tables.background import Background
from unmask.tables.exposure import column_facts, known_as_values, printed_values, restored_cells
from unmask.tables.knowledge import Known
from unmask.tables.release import Column, Table

Belief = tuple[str, str, Posterior]
"""Adversary, target, and what they believe."""


def by_columns(release: Table, known: Known | None, original: Table | None) -> Iterator[Belief]:
    """Adversaries who know more than the quasi-identifiers, where there is more; see `adversaries`.

    Besides the quasi-identifiers, which they compare as everybody does, they know released columns as exact values. An
    attribute is inferred from every other column; the insider, from the other sensitive ones, too. Without an original
    each person's own row is taken as what is known.
    """
    kept, sensitive = _known_in(release.kept, original), _known_in(release.sensitive, original)
    if kept:
        link = _linked(release, kept, known, original)
        yield COLUMNS, "identity", link
        for column in release.sensitive:
            population = knowing(original, column.name)
            yield (
                COLUMNS,
                column.name,
                AttributeInference(column.name).through(link, release, Background(population=population)),
            )
    if sensitive:
        yield INSIDER, "identity", _linked(release, [*kept, *sensitive], known, original)
    if len(sensitive) > 1:
        for column in sensitive:
            others = [other for other in sensitive if other is not column]
            link = _linked(release, [*kept, *others], known, original)
            yield (
                INSIDER,
                column.name,
                AttributeInference(column.name).through(link, release, Background(population=original)),
            )


def knowing(original: Table | None, column: str) -> Table | None:
    """The original where it has the column."""
    return original if original and column in {one.name for one in original.columns} else None


def by_order(release: Table, known: Known, original: Table, *, attack: OrderAttack | None = None) -> Posterior:
    """What the order of the rows tells of the people attacked; who attacks has the original in its order."""
    names = {column.name for column in known.people.quasi_identifiers}
    columns = tuple(column for column in original.quasi_identifiers if column.name in names)
    source = replace(original, quasi_identifiers=columns, sensitive=(), kept=(), weight=None)
    belief, person = (attack or OrderAttack())(release, Background(source)), known.person
    return replace(belief, observation=belief.observation[person], weight=equal_weights(len(person)))


ORDERS: Mapping[str, str] = {
    "sorted": "the rows stand in the order of what they say",
    "chance": "no order that was tried explains the rows",
    "sampled": "rows were drawn from the original, so that no order was tried",
    "unshuffled": "the rows stand in the order of the original, or of one of its columns",
    "seeded": "the rows were shuffled with a seed that can be tried",
    "grouped": "the rows of a class stand together, perhaps in the order of the original",
}
"""How an attack on the order says that the rows came to stand as they do -> the same in words."""


def _known_in(columns: Sequence[Column], original: Table | None) -> list[Column]:
    """The columns that the original has, so that what people know of them can be compared; all without one."""
    names = None if original is None else {column.name for column in original.columns}
    return [column for column in columns if names is None or column.name in names]


def _linked(release: Table, more: Sequence[Column], known: Known | None, original: Table | None) -> Posterior:
    """Whose record is whose, for those who know these columns besides the quasi-identifiers."""
    seen = _with(release, more)
    if known is None or original is None:
        return ClassAttack()(seen)
    people = [original.column(column.name).take(known.person) for column in more]
    return ClassAttack()(seen, Background(_with(known.people, people)))


def _with(table: Table, more: Sequence[Column]) -> Table:
    columns = table.quasi_identifiers + tuple(known_as_values(column) for column in more)
    return replace(table, quasi_identifiers=columns, sensitive=(), kept=())


def exposure(
    releases: Mapping[str, Table], original: Table | None, origins: Mapping[str, NDArray[np.int64]]
) -> Exposure:
    """What is counted about the columns of each release; the original, where it is among them, is no release."""
    published = {name: table for name, table in releases.items() if name != ORIGINAL}
    return Exposure(
        columns={name: column_facts(table.written, roles=_roles(table)) for name, table in published.items()},
        restored={
            name: restored_cells(original, table, origins[name])
            for name, table in published.items()
            if original is not None and name in origins
        },
        printed={name: printed_values(table, original) for name, table in published.items()},
    )


def _roles(table: Table) -> dict[str, str]:
    parts = (("quasi-identifier", table.quasi_identifiers), ("sensitive", table.sensitive), ("keep", table.kept))
    return {column.name: role for role, columns in parts for column in columns}


def knows_all(n: int) -> str:
    """What somebody knows who knows every one of the n released columns that are not sensitive."""
    return f"knows all {n} released columns that are not sensitive of people who are in the table"


def words(release: Table, original: Table | None) -> dict[str, str]:
    """What each adversary knows, in words that complete "an adversary who ..."."""
    kept, sensitive = _known_in(release.kept, original), _known_in(release.sensitive, original)
    found = {}
    if kept:
        found[COLUMNS] = knows_all(len(kept) + len(release.quasi_identifiers))
    if sensitive:
        found[INSIDER] = "knows every released column, sensitive ones too, except the one they ask for"
    if original is not None:
        found[ORDER] = "has the original in its order and reads nothing but the order of the rows"
    return found
