"""From a table to its first document: a guess for every column with its reason, a protection, adversaries, a policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unmask.facts import ColumnFacts
    from unmask.tables.unit import CountingUnit


DEFAULT_K = 12
"""People of a class: with fewer than 12 the risk is above the 9 % that the first policy allows."""


def first_document(file: str, reading: Mapping[str, Any], facts: Sequence[ColumnFacts]) -> dict[str, Any]:
    """What `unmask init` writes for a table, as `document.load` reads it.

    file    : its path beside the document
    reading : what is said of the file, as `Table.read` takes it
    """
    from unmask.document import READING

    said = {key: reading[key] for key in READING if reading.get(key) not in (None, "own", "any")}
    roles = {one.name: one.role or one.suggestion for one in facts}
    return {
        "title": f"Release of {PurePath(file).name}",
        "data": {"file": file, **said},
        "columns": roles,
        "protections": [{"use": "tables.Mondrian", "with": {"k": DEFAULT_K}}],
        "adversaries": list(adversaries([name for name, role in roles.items() if role == "sensitive"])),
        "policy": [{"require": "identity:success_probability.worst <= 0.09", "source": "EMA policy 0070"}],
    }


def unit_of(facts: Sequence[ColumnFacts]) -> CountingUnit:
    """Return the unit of counting that columns prove, or the question that they raise."""
    from unmask.tables.unit import Key, counting_unit

    keys = (Key(one.name, one.key, one.distinct, int(one.missing)) for one in facts)
    return counting_unit(keys, facts[0].rows if facts else 0)


def adversaries(secrets: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Who knows the quasi-identifiers, and who infers each of the sensitive columns from them, for studies."""
    yield {"name": "neighbor", "use": "tables.ClassAttack"}
    for name in secrets:
        yield {"name": f"who infers {name}", "use": "tables.AttributeInference", "with": {"sensitive": name}}


def reasons(facts: Sequence[ColumnFacts]) -> dict[str, str]:
    """Column -> its type and why its role was suggested."""
    return {one.name: f"{one.type}: {one.reason}" if one.reason else one.type for one in facts}
