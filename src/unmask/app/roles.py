"""Step 2: what each column is, what becomes of it, and how far it could be generalized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unmask.app.counting import Seen, counting, glance, seen
from unmask.app.jobs import shown
from unmask.app.progress import busy_with
from unmask.app.project import Project
from unmask.app.protection import levels_of, with_protection
from unmask.app.shapes import Level, Rung, Shape
from unmask.core.errors import UnmaskError
from unmask.document import by_role
from unmask.facts import ColumnFacts
from unmask.first_document import first_document, reasons, unit_of

CHOICES = {
    "drop": "drop", "quasi-identifier": "outsider may know", "sensitive": "secret", "keep": "keep as it is",
}  # fmt: skip
"""Role -> the words for it."""

TYPES = {
    "number": "number", "date": "date", "date:day-first": "date, day first", "date:month-first": "date, month first",
    "datetime": "date and time", "code": "code", "text": "text",
}  # fmt: skip


def show(project: Project, _query: Mapping[str, str]) -> dict[str, Any]:
    """A card for each column; the first time with the guesses of `unmask init`. Cards of a large table are of its first
    rows, and nothing can be chosen, until all are counted.
    """
    job = counting(project)
    found = seen(project) if job is None else glance(project)
    if job is None and "columns" not in project.given:
        _begin(project, found)
    given = project.given
    columns = given.get("columns", {})
    said = {name: one if isinstance(one, dict) else {"role": one} for name, one in columns.items()}
    levels = levels_of(given)
    pairs = zip(found.shapes, found.facts, strict=True)
    cards = [_card(at, shape, facts, said, levels.get(shape.name)) for at, (shape, facts) in enumerate(pairs)]
    roles = [card["role"] for card in cards]
    return {
        "cards": cards,
        "rows": found.facts[0].rows if found.facts else 0,
        "unit": _unit(given, found.facts),
        "choices": CHOICES,
        "types": TYPES,
        "counts": {words: roles.count(role) for role, words in CHOICES.items() if role in roles},
        "without": sum(role not in CHOICES for role in roles),
        "commands": (_command(given),) if job is None else (),
        "busy": busy_with(project, job),
    }


def _unit(given: Mapping[str, Any], facts: Sequence[ColumnFacts]) -> dict[str, Any]:
    """The question what counts as one person: the answer of the document, and possible answers in words."""
    from unmask.tables.unit import ASSUMED, ROW

    unit, rows = unit_of(facts), facts[0].rows if facts else 0
    people = {one.name: one.distinct + int(one.missing) for one in sorted(facts, key=lambda one: -one.key)}
    shared = {name: f"No: equal {name} is one person, {n:,} people" for name, n in people.items() if n < rows}
    answers = {ROW: f"Yes: {rows:,} rows are {rows:,} people", **shared}
    answer = given.get("data", {}).get("person", "" if unit.question else ROW)
    return {"answer": answer, "answers": answers, "words": unit.words if unit != ASSUMED else "", "column": unit.column}


def _begin(project: Project, found: Seen) -> None:
    """What `unmask init` would write, with the releases that are made here."""
    given = project.given
    first = first_document(given["data"]["file"], given["data"], found.facts)
    project.reasons = reasons(found.facts)
    project.save({**first, **given, "columns": first["columns"]})


def _command(given: Mapping[str, Any]) -> str:
    roles = by_role(given["columns"])
    words = ["init", given["data"]["file"]]
    for option, key in (("-q", "quasi_identifiers"), ("-s", "sensitive"), ("--keep", "keep")):
        words += [option, ",".join(roles[key])] if roles.get(key) else []
    words += ["--person", given["data"]["person"]] if "person" in given["data"] else []
    return shown(words)


def take(project: Project, form: Mapping[str, Any]) -> str:
    """Keep the roles and the types; go on once every column has a role."""
    found, given = seen(project), project.given
    before = {name: one if isinstance(one, dict) else {"role": one} for name, one in given.get("columns", {}).items()}
    columns: dict[str, Any] = {}
    for at, shape in enumerate(found.shapes):
        one = _said(project, at, shape, form, before.get(shape.name, {}))
        if one:
            columns[shape.name] = one["role"] if one.keys() == {"role"} else one
    levels = {shape.name: _level(at, shape, form, levels_of(given)) for at, shape in enumerate(found.shapes)}
    answers = _unit(given, found.facts)["answers"]
    person = {"person": form["person"]} if form.get("person") in answers else {}
    given = {**given, "data": {**given["data"], **person}}
    changed = _following(with_protection({**given, "columns": columns}, levels=levels))
    if changed != project.given:
        by_role(columns)
        project.save(changed)
    if form.get("do") == "apply":
        return "roles"
    if "person" not in given["data"] and unit_of(found.facts).question:
        raise UnmaskError("what counts as one person is open; answer the question above the columns")
    if len(columns) < len(found.shapes):
        raise UnmaskError("a column has no role yet; choose one for every column, drop it if in doubt")
    if not by_role(columns).get("quasi_identifiers"):
        raise UnmaskError("no outsider may know any column, so nobody could be re-identified; say which ones they may")
    return "adversaries"


def _following(given: dict[str, Any]) -> dict[str, Any]:
    """What studies ask follows the sensitive columns; a control or a part that is gone is not asked for."""
    from unmask.first_document import adversaries

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


def _level(at: int, shape: Shape, form: Mapping[str, Any], before: Mapping[str, Level]) -> Level | None:
    """The level that the form says of a column; the one there was where it shows none. Another type has others."""
    if str(form.get(f"type-{at}", "found")).partition(":")[0] not in ("found", shape.type):
        return None
    asked = form.get(f"level-{at}")
    if asked is None:
        return before.get(shape.name)
    known = {str(rung.level): rung.level for rung in shape.ladder} | {str(one): one for one in before.values()}
    return known.get(str(asked))


def _said(
    project: Project, at: int, shape: Shape, form: Mapping[str, Any], before: Mapping[str, Any]
) -> dict[str, Any]:
    """What the form says of a column; nothing where it has no role."""
    role = str(form.get(f"role-{at}", ""))
    if role not in (*CHOICES, "weight"):
        return {}
    found: dict[str, Any] = {
        "role": role,
        **{key: before[key] for key in ("order", "hierarchy", "type") if key in before},
    }
    if (of := str(form.get(f"type-{at}", ""))) in TYPES and of != shape.type:
        found["type"] = of
    elif of == "found":
        found.pop("type", None)
    sent = form.get(f"hierarchy-{at}")
    if getattr(sent, "filename", ""):
        found["hierarchy"] = project.keep(sent.filename, sent.file)  # type: ignore[union-attr]
        found.pop("type", None)
    return found


# --- cards ------------------------------------------------------------------------------------------------------------


def _card(at: int, shape: Shape, facts: ColumnFacts, said: Mapping[str, Any], level: Level | None) -> dict[str, Any]:
    own = said.get(shape.name, {})
    role = own.get("role", "")
    return {
        "at": at,
        "name": shape.name,
        "type": shape.type,
        "told": own.get("type", ""),
        "distinct": facts.distinct,
        "alone": int(facts.alone),
        "share": int(facts.alone) / facts.rows,
        "missing": int(facts.missing),
        "drawing": shape.drawing,
        "ends": shape.ends,
        "reason": facts.reason,
        "suggestion": CHOICES.get(_shown(facts.suggestion), "weight"),
        "role": _shown(role),
        "hierarchy": own.get("hierarchy", ""),
        "ladder": _ladder(shape, level) if role == "quasi-identifier" else (),
        "level": level,
        "determines": [one.column for one in facts.determines if one.exact][:3],
    }


def _ladder(shape: Shape, level: Level | None) -> tuple[Rung, ...]:
    """The rungs of a column, and the level that a document brought along."""
    other = level not in {rung.level for rung in shape.ladder}
    return (*shape.ladder, Rung(level, f"{level}", 0, 0, "")) if shape.ladder and other else shape.ladder


def _shown(role: str) -> str:
    return "drop" if role == "identifier" else role
