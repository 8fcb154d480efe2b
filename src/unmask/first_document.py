"""The first document of a table: a suggested role for each column, a protection, adversaries, a policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unmask.facts import ColumnFacts
    from unmask.tables.unit import CountingUnit


DEFAULT_K = 12
"""Smallest class: with fewer than 12 people the risk exceeds the 9 % of the first policy."""


FIRST_POLICY = "ema-0.09"
"""Shipped policy of first commands: the limit of the European Medicines Agency for the risk of one person."""

FIRST_CONDITION = {
    "require": "identity:success_probability.worst <= 0.09",
    "name": "Largest re-identification risk",
    "source": "EMA policy 0070",
}
"""Condition of that policy, as a document has it."""


def first_document(file: str, reading: Mapping[str, Any], facts: Sequence[ColumnFacts]) -> dict[str, Any]:
    """Return the document that `unmask init` writes, as `document.load` reads it.

    file    : path of the table, next to the document
    reading : options of the file, as `Table.read` takes them
    """
    from unmask.document import list_reading_keys

    options = {key: reading[key] for key in list_reading_keys() if reading.get(key) not in (None, (), [], "own", "any")}
    roles = {column.name: column.role or column.suggestion for column in facts}
    return {
        "title": f"Release of {PurePath(file).name}",
        "data": {"file": file, **guess_design(facts), **options},
        "columns": roles,
        "protections": [{"use": "tables.Mondrian", "with": {"k": DEFAULT_K}}],
        "adversaries": list(adversaries([name for name, role in roles.items() if role == "sensitive"])),
        "policy": [FIRST_CONDITION],
    }


def guess_design(facts: Sequence[ColumnFacts]) -> dict[str, str]:
    """Return the columns with the households, strata and clusters of a survey, as `Table.read` takes them.

    The first column of each part counts. Replicate weights are not guessed, since the survey states their method.
    """
    from unmask.tables.survey_design import UNITS

    columns = ((unit, column.name) for column in facts for unit in UNITS if column.design == unit and not column.role)
    return dict(reversed([*columns]))


def unit_of(facts: Sequence[ColumnFacts]) -> CountingUnit:
    """Return the unit of counting that columns prove, or the question that they raise."""
    from unmask.tables.unit import Key, counting_unit

    keys = (Key(column.name, column.key, column.distinct, int(column.missing)) for column in facts)
    return counting_unit(keys, facts[0].rows if facts else 0)


def adversaries(secrets: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield adversaries of a study: re-identification, and inference of each sensitive column."""
    yield {"name": "prosecutor", "use": "tables.ClassAttack"}
    for name in secrets:
        yield {"name": f"who infers {name}", "use": "tables.AttributeInference", "with": {"sensitive": name}}


def reasons(facts: Sequence[ColumnFacts]) -> dict[str, str]:
    """Return the type of each column, and the reason for its suggested role."""
    return {column.name: ": ".join(filter(None, (column.type, column.reason))) for column in facts}
