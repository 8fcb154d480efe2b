"""The first document of a table: a suggested role for each column, a protection, adversaries, a policy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unmask.facts import ColumnFacts
    from unmask.policy import Condition, Policy
    from unmask.tables.unit import CountingUnit


DEFAULT_K = 12
"""Smallest class: with fewer than 12 people the risk exceeds the 9 % of the first policy."""


FIRST_POLICY = "ema-0.09"
"""Shipped policy of first commands: the limit of the European Medicines Agency for the risk of one person."""


def first_document(
    file: str, reading: Mapping[str, Any], facts: Sequence[ColumnFacts], policies: Sequence[Policy] = ()
) -> dict[str, Any]:
    """Return the document that `unmask init` writes, as `document.load` reads it.

    file     : path of the table, next to the document
    reading  : options of the file, as `Table.read` takes them
    policies : conditions of the document and of its k; by default those of the first policy
    """
    from unmask.document import list_reading_keys, list_requirements
    from unmask.policy import read_policy

    policies = policies or [read_policy(FIRST_POLICY)]
    options = {key: reading[key] for key in list_reading_keys() if reading.get(key) not in (None, (), [], "own", "any")}
    roles = {column.name: column.role or column.suggestion for column in facts}
    return {
        "title": f"Release of {PurePath(file).name}",
        "data": {"file": file, **guess_design(facts), **options},
        "columns": roles,
        "protections": [{"use": "tables.Mondrian", "with": {"k": propose_k(policies)}}],
        "adversaries": list(adversaries([name for name, role in roles.items() if role == "sensitive"])),
        **list_requirements(policies),
    }


def propose_k(policies: Iterable[Policy]) -> int:
    """Return the smallest k that meets all conditions on k, and on the largest re-identification risk, which is 1 / k.

    Conditions that no k meets do not count. Without any other the k is the default.

    >>> from unmask.policy import read_policies
    >>> policies = ["k>=20"], ["strict"], ["strict", "k>20"], ["success_probability.worst<0.05"], ["t_equal<=0.2"]
    >>> [propose_k(read_policies(conditions)) for conditions in policies]
    [20, 12, 21, 21, 12]
    """
    conditions = [requirement.require for policy in policies for requirement in policy.requirements]
    sizes = [size for condition in conditions if (size := _find_smallest_k(condition)) is not None]
    return max(sizes, default=DEFAULT_K)


def _find_smallest_k(condition: Condition) -> int | None:
    """Return the smallest k that meets a condition; None if it is about something else, or no k meets it."""
    from unmask.results.names import IDENTITY  # here: help and completion import no results

    is_risk = (condition.measure, condition.field, condition.sign[0]) == ("success_probability", "worst", "<")
    is_size = (condition.measure, condition.sign[0]) == ("k", ">")
    if not (is_risk or is_size) or condition.scope not in (None, IDENTITY) or condition.bound <= 0:
        return None
    limit = 1 / condition.bound if is_risk else condition.bound
    candidates = (max(1, int(limit)), int(limit) + 1) if math.isfinite(limit) else ()
    return next((k for k in candidates if condition.holds(1 / k if is_risk else k)), None)


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
    """Return the type of each column, and the reason for its suggested role, unless another role was chosen."""
    return {column.name: ": ".join(filter(None, (column.type, _explain_role(column)))) for column in facts}


def _explain_role(column: ColumnFacts) -> str:
    if column.role in ("", column.suggestion):
        return column.reason
    return f"role as typed; suggested was {column.suggestion}"
