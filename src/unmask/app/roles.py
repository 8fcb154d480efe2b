"""Step 2: what each column is, what becomes of it, and how far it could be generalized."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from unmask.app.counting import Seen, counting, seen
from unmask.app.drawing import histogram
from unmask.app.jobs import shown
from unmask.app.progress import busy_with
from unmask.app.project import Project
from unmask.document import by_role
from unmask.errors import UnmaskError
from unmask.face.starting import first_document, reasons
from unmask.facts import ColumnFacts
from unmask.tables.column import Column

CHOICES = {
    "drop": "drop", "quasi-identifier": "outsider may know", "sensitive": "secret", "keep": "keep as it is",
}  # fmt: skip
"""Role -> the words for it."""

TYPES = {
    "number": "number", "date": "date", "date:day-first": "date, day first", "date:month-first": "date, month first",
    "datetime": "date and time", "code": "code", "text": "text",
}  # fmt: skip

MOST_LEVELS = 20_000
"""Different values of a column up to which the steps of its ladder are counted, in a second or two."""

COMMON = 10
"""Rows that a cell must stand for to be shown."""


def show(project: Project, _query: Mapping[str, str]) -> dict[str, Any]:
    """A card for each column; the first time with the guesses of `unmask init`."""
    if (job := counting(project)) is not None:
        nothing: dict[str, Any] = {"cards": [], "counts": {}, "without": 0}
        return {**nothing, "rows": 0, "choices": CHOICES, "types": TYPES, "busy": busy_with(project, job)}
    found = seen(project)
    if "columns" not in project.given:
        _begin(project, found)
    given = project.given
    said = {name: one if isinstance(one, dict) else {"role": one} for name, one in given["columns"].items()}
    cards = [_card(at, column, facts, said) for at, (column, facts) in enumerate(zip(*found[:2], strict=True))]
    roles = [card["role"] for card in cards]
    return {
        "cards": cards,
        "rows": found.facts[0].rows,
        "choices": CHOICES,
        "types": TYPES,
        "counts": {words: roles.count(role) for role, words in CHOICES.items() if role in roles},
        "without": sum(role not in CHOICES for role in roles),
        "commands": (_command(given),),
    }


def _begin(project: Project, found: Seen) -> None:
    """What `unmask init` would write, with the releases that are made here."""
    given = project.given
    types = {column.name: column.type for column in found.columns}
    first = first_document(given["data"]["file"], given["data"], found.facts)
    project.reasons = reasons(found.facts, types)
    project.save({**first, **given, "columns": first["columns"]})


def _command(given: Mapping[str, Any]) -> str:
    roles = by_role(given["columns"])
    words = ["init", given["data"]["file"]]
    for option, key in (("-q", "quasi_identifiers"), ("-s", "sensitive"), ("--keep", "keep")):
        words += [option, ",".join(roles[key])] if roles.get(key) else []
    return shown(words)


def take(project: Project, form: Mapping[str, Any]) -> str:
    """Keep the roles and the types; go on once every column has a role."""
    found, given = seen(project), project.given
    before = {name: one if isinstance(one, dict) else {"role": one} for name, one in given.get("columns", {}).items()}
    columns: dict[str, Any] = {}
    for at, column in enumerate(found.columns):
        one = _said(project, at, column, form, before.get(column.name, {}))
        if one:
            columns[column.name] = one["role"] if one.keys() == {"role"} else one
    changed = _following({**given, "columns": columns})
    if changed != given:
        by_role(columns)
        project.save(changed)
    if form.get("do") == "apply":
        return "roles"
    if len(columns) < len(found.columns):
        raise UnmaskError("a column has no role yet; choose one for every column, drop it if in doubt")
    if not by_role(columns).get("quasi_identifiers"):
        raise UnmaskError("no outsider may know any column, so nobody could be re-identified; say which ones they may")
    return "adversaries"


def _following(given: dict[str, Any]) -> dict[str, Any]:
    """What studies ask follows the sensitive columns; a control or a part that is gone is not asked for."""
    from unmask.face.starting import adversaries

    roles = by_role(given["columns"])
    own = [
        one
        for one in given.get("adversaries", [])
        if one.get("use") not in ("tables.ClassAttack", "tables.AttributeInference")
    ]
    parts = given.get("linkability", {}).get("parts", [])
    gone = [name for part in parts for name in part if name not in roles.get("quasi_identifiers", [])]
    kept = {key: value for key, value in given.items() if key != "linkability" or not gone}
    return {**kept, "adversaries": [*adversaries(roles.get("sensitive", [])), *own]}


def _said(
    project: Project, at: int, column: Column, form: Mapping[str, Any], before: Mapping[str, Any]
) -> dict[str, Any]:
    """What the form says of a column; nothing where it has no role."""
    role = str(form.get(f"role-{at}", ""))
    if role not in (*CHOICES, "weight"):
        return {}
    if role == "drop" and before.get("role") == "identifier":
        role = "identifier"  # dropped as well, and for a reason
    found: dict[str, Any] = {
        "role": role,
        **{key: before[key] for key in ("order", "hierarchy", "type") if key in before},
    }
    if (of := str(form.get(f"type-{at}", ""))) in TYPES and of != column.type:
        found["type"] = of
    elif of == "found":
        found.pop("type", None)
    sent = form.get(f"hierarchy-{at}")
    if getattr(sent, "filename", ""):
        found["hierarchy"] = project.keep(sent.filename, sent.file)  # type: ignore[union-attr]
        found.pop("type", None)
    return found


# --- cards ------------------------------------------------------------------------------------------------------------


def _card(at: int, column: Column, facts: ColumnFacts, said: Mapping[str, Any]) -> dict[str, Any]:
    own = said.get(column.name, {})
    role = own.get("role", "")
    drawn, ends = histogram(column)
    return {
        "at": at,
        "name": column.name,
        "type": column.type,
        "told": own.get("type", ""),
        "distinct": facts.distinct,
        "alone": int(facts.alone),
        "share": int(facts.alone) / facts.rows,
        "missing": int(facts.missing),
        "drawing": drawn,
        "ends": ends,
        "reason": facts.reason,
        "suggestion": CHOICES[_shown(facts.suggestion)],
        "role": _shown(role),
        "hierarchy": own.get("hierarchy", ""),
        "ladder": list(_ladder(column)) if role == "quasi-identifier" and len(column.levels) <= MOST_LEVELS else [],
        "determines": [one.column for one in facts.determines if one.exact][:3],
    }


def _shown(role: str) -> str:
    return "drop" if role == "identifier" else role


class Rung(NamedTuple):
    """A step of generalization: its words, distinct values, rows alone with theirs, and a common cell of it."""

    words: str
    distinct: int
    alone: int
    example: str


def _ladder(column: Column) -> Iterator[Rung]:
    """How far a column could be generalized, what is left of it, and who is still alone."""
    from unmask.tables.recoding import generalized

    yield _rung("as it is", column.levels.labels, column.counts)
    for words, level in _levels(column):
        levels, codes = generalized(column, level)
        yield (rung := _rung(words, levels.labels, np.bincount(codes, minlength=len(levels))))
        if rung.distinct < 2:
            return


def _rung(words: str, labels: Sequence[str], sizes: Any) -> Rung:
    most = int(sizes.argmax())
    example = labels[most] if sizes[most] >= COMMON else ""
    return Rung(words, int(np.count_nonzero(sizes)), int(np.count_nonzero(sizes == 1)), example)


def _levels(column: Column) -> Iterator[tuple[str, int | float | str]]:
    """Words and levels of `tables.Generalize` that a column could be brought to."""
    if column.hierarchy is not None:
        yield from ((f"level {level}", level) for level in range(1, len(column.hierarchy.numbers)))
    elif column.type in ("date", "datetime"):
        yield from ((period, period) for period in ("month", "quarter", "year"))
    elif column.type == "number":
        yield from ((f"steps of {width:g}", width) for width in _widths(column))
    elif column.type == "code":
        longest = column.levels.longest
        yield from ((f"first {longest - hidden}", hidden) for hidden in range(1, min(longest, 5)))


def _widths(column: Column) -> list[float]:
    """A fiftieth, a tenth and a fifth of the range, rounded to 1, 2 or 5 of some power of ten."""
    ends = column.levels.low[np.isfinite(column.levels.low)]
    span = float(np.ptp(ends)) if ends.size else 0.0
    if span <= 0:
        return []
    found = []
    for part in (50, 10, 5):
        power = 10.0 ** np.floor(np.log10(span / part))
        found.append(float(next(step * power for step in (1, 2, 5, 10) if step * power >= span / part)))
    return list(dict.fromkeys(found))
