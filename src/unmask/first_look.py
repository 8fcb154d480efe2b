"""A first look at a table: guessed roles of columns, an audit of the table as it is, and the changes that help."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.core.errors import UnmaskError
from unmask.document import ROLES
from unmask.domains import name_files
from unmask.first_document import FIRST_POLICY, guess_design, unit_of
from unmask.results.blocks import Block
from unmask.results.table import Column
from unmask.results.table import Table as Facts
from unmask.results.words import join_names

if TYPE_CHECKING:
    from unmask.facts import ColumnFacts
    from unmask.policy import Policy
    from unmask.results import Result
    from unmask.tables import Table
    from unmask.tables.unit import CountingUnit

OPTIONS = {role: option for role, option in ROLES.items() if option}
"""Role -> parameter of `tables.Table.read` with the columns of this role."""

ROLE_COLUMNS = (
    Column("column", "Column"), Column("values", "Different values", "number"), Column("role", "Role"),
    Column("reason", "Reason"),
)  # fmt: skip


@dataclass(frozen=True)
class Roles:
    """Roles of the columns of a table, stated or guessed.

    Parameters
    ----------
    facts : tuple of ColumnFacts
        Facts about each column, with the suggested role and its reason.
    reading : mapping of str to object
        Keywords with which `tables.Table.read` reads the table with these roles.
    unit : CountingUnit
        Unit of counting, or the question that decides it.
    notes : tuple of str
        Notes of the reader, such as the recognized encoding.
    """

    facts: tuple[ColumnFacts, ...]
    reading: Mapping[str, Any]
    unit: CountingUnit
    notes: tuple[str, ...]

    @property
    def by_column(self) -> dict[str, str]:
        """Return the role of each column."""
        return {item.name: item.role or item.suggestion for item in self.facts}

    def tabulate(self) -> Facts:
        """Return a line for each column: different values, role and reason. It shows no cell."""
        reasons = ("stated" if item.role else item.reason for item in self.facts)
        records = (
            (item.name, item.distinct, self.by_column[item.name], reason)
            for item, reason in zip(self.facts, reasons, strict=True)
        )
        return Facts.from_records("columns", ROLE_COLUMNS, records)


def look(
    source: object,
    *,
    policy: str | Policy = FIRST_POLICY,
    person: str | None = None,
    changes: bool = True,
    **reading: Any,
) -> Result:
    """Audit a table as it is, with guessed roles of its columns, and try protections.

    It answers the owner's first questions: is the table acceptable, and which protection suffices?
    Columns that identify a person, and columns without a reason to release them, are left out.

    Parameters
    ----------
    source : path or data frame
        Table of people, as `read_table` takes it.
    policy : str or Policy
        Policy of the verdict.
    person : str, optional
        Column whose equal values are rows of one person, or "row" if each row is another person. It is needed if a
        column that numbers people has equal values.
    changes : bool
        Try protections if the table is not acceptable.
    **reading
        Further arguments of `read_table`. A stated role replaces the guessed one.

    Returns
    -------
    Result
        Verdict, adversaries, tried changes, and the table `columns` with the role of each column and its reason.

    Raises
    ------
    UnmaskError
        If the unit of counting is open, or no column is a quasi-identifier.

    Examples
    --------
    >>> import unmask
    >>> people = {"age": [21, 22, 24, 25] * 30, "sex": ["f", "m"] * 60, "diagnosis": ["flu", "none", "flu"] * 40}
    >>> result = unmask.look(people)
    >>> [record["role"] for record in result.tables["columns"]]
    ['quasi-identifier', 'quasi-identifier', 'sensitive']
    >>> result.verdicts[0].state
    'acceptable'
    """
    from unmask.domains import read_domain_policies

    policies = read_domain_policies(policy, "tables")
    roles = guess_roles(source, person=person, **reading)
    if roles.unit.question:
        raise UnmaskError(roles.unit.question)
    name = Path(source).name if isinstance(source, str | os.PathLike) else "table"
    return audit_as_is(source, roles, name=name, policies=policies, changes=changes).without_small()


def guess_roles(source: object, *, person: str | None = None, **reading: Any) -> Roles:
    """Return a role for each column of a table: the stated one, or a guess from its name and values.

    The unit of counting is open, with a question, if a column that numbers people has equal values.
    """
    from unmask.tables import Table
    from unmask.tables.risk import column_facts
    from unmask.tables.survey_design import NO_DESIGN, UNITS, match_columns
    from unmask.tables.table import check_roles
    from unmask.tables.unit import ROW, stated_unit

    stated_columns = {option: tuple(_list_names(reading.get(option) or ())) for option in OPTIONS.values()}
    stated = {name: role for role, option in OPTIONS.items() for name in stated_columns[option]}
    options = {name: value for name, value in reading.items() if name not in stated_columns}
    design = {name: reading[name] for name in NO_DESIGN if reading.get(name)}
    units = [design[unit] for unit in UNITS if unit in design]
    named = [*stated, *([] if person in (None, ROW) else [person]), *units]
    all_names = _list_columns(source, named, options)
    every_column = Table.read(source, **{**options, "quasi_identifiers": all_names, **NO_DESIGN})
    facts = column_facts(every_column.written, roles=stated)
    of_design = {*units, *match_columns(design.get("replicate_weights", ()), all_names)}
    roles = Roles(facts, {}, unit_of(facts), every_column.notes)
    by_role: dict[str, Any] = {
        option: [
            name
            for name, fits in roles.by_column.items()
            if name in stated_columns[option] or (fits == role and name not in of_design)
        ]
        for role, option in OPTIONS.items()
    }
    if not by_role["quasi_identifiers"]:
        raise UnmaskError(
            "no column looks like a quasi-identifier; list the columns that an adversary may know with -q"
        )
    check_roles(by_role)
    by_role["weight"] = next(iter(by_role["weight"]), None)
    if person is not None:
        shared = any(item.name == person and item.distinct < item.rows for item in facts)
        roles = replace(roles, unit=stated_unit(person, shared=shared))
    return replace(roles, reading={**options, **guess_design(facts), **design, **by_role, "person": person})


def audit_as_is(source: object, roles: Roles, *, name: str, policies: Sequence[Policy], changes: bool) -> Result:
    """Audit a table with these roles as if it were released, judge it, and try protections if it is not acceptable."""
    from unmask.policy import judge_result
    from unmask.suggestions import describe_release, suggest
    from unmask.tables import Table
    from unmask.tables.audit import audit

    table: Table = Table.read(source, **roles.reading)
    (release,) = name_files([Path(name)])
    result = judge_result(audit({release: table}), policies)
    result = replace(
        result,
        title=f"First look at {name}",
        facts=(*result.facts, roles.tabulate()),
        blocks=(*result.blocks, _describe_roles(roles)),
    )
    if not changes or all(verdict.state != "not acceptable" for verdict in result.verdicts):
        return result
    return replace(result, changes=(describe_release(result, release), *suggest(table, policies)))


def _describe_roles(roles: Roles) -> Block:
    columns = roles.by_column
    omitted = [name for name, role in columns.items() if role in ("identifier", "drop")]
    sentence = f"The audit leaves out {join_names(omitted)}." if omitted else ""
    notes = ("Roles are guessed from names and values unless they are stated. Correct them before you protect.",)
    return Block("columns", "Roles of the columns", sentence, tables=("columns",), notes=notes, is_finding=False)


def _list_columns(source: object, named: Sequence[str], options: Mapping[str, Any]) -> list[str]:
    """Return the names of all columns of a table, after a check that it has the columns which the user named."""
    from unmask.tables.reading import AS_TEXT, check_columns, column_names

    as_text = {name: options[name] for name in AS_TEXT if name in options}
    names = column_names(source, role_columns=named, **as_text)
    place = f"file {Path(source).name!r}" if isinstance(source, str | os.PathLike) else "the table"
    check_columns(names, named, place=place)
    return names


def _list_names(names: str | Sequence[str]) -> list[str]:
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
