"""Step 2 of tables: roles, types and levels of columns, and the unit of counting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unmask.app import hierarchy_screen
from unmask.app.column_profile import Profile, count_columns, find_counting_job
from unmask.app.column_shapes import Level, Rung, Shape
from unmask.app.fields import read_index
from unmask.app.jobs import format_command
from unmask.app.pages import show_progress
from unmask.app.project import Project
from unmask.app.table_workflow import get_levels, with_protection
from unmask.core.errors import UnmaskError
from unmask.document import group_by_role
from unmask.facts import ColumnFacts
from unmask.first_document import adversaries, first_document, reasons, unit_of
from unmask.languages import gettext as _

ROLES = {
    "drop": "drop", "quasi-identifier": "quasi-identifier", "sensitive": "sensitive", "keep": "keep unchanged",
}  # fmt: skip
"""Role -> its label; "weight" is offered if it is suggested."""

TYPES = {
    "number": "number", "date": "date", "date:day-first": "date, day first", "date:month-first": "date, month first",
    "datetime": "date and time", "code": "code", "text": "text",
}  # fmt: skip

DETECTED = "found"
"""Choice of the form that stands for the detected type."""

MAX_DETERMINED = 3
"""Columns on a card that another one determines."""

STUDY_ATTACKS = ("tables.ClassAttack", "tables.AttributeInference")
"""Attacks of studies that follow from the roles."""


def show(project: Project, query: Mapping[str, str]) -> dict[str, Any]:
    """Return a card for each column, at first with the roles that `unmask init` suggests; or progress of counting.

    With a column in the address, return the editor of its hierarchy.
    """
    if "column" in query:
        return hierarchy_screen.show(project, query)
    if (job := find_counting_job(project)) is not None:
        return {"busy": show_progress(project, job)}
    profile = count_columns(project)
    if "columns" not in project.document:
        _save_suggestions(project, profile)
    document = project.document
    columns, levels = _read_columns(document), get_levels(document)
    pairs = zip(profile.shapes, profile.facts, strict=True)
    cards = [_show_card(shape, facts, columns.get(shape.name, {}), levels.get(shape.name)) for shape, facts in pairs]
    roles = [card["role"] for card in cards]
    return {
        "cards": cards,
        "n_rows": profile.facts[0].rows,
        "unit": _show_unit(document, profile.facts),
        "roles": ROLES,
        "types": TYPES,
        "detected": DETECTED,
        "counts": {label: roles.count(role) for role, label in ROLES.items() if role in roles},
        "n_missing": roles.count(""),
        "commands": (_format_init(document),),
    }


def _read_columns(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the settings of each column."""
    columns = document.get("columns", {})
    return {name: column if isinstance(column, dict) else {"role": column} for name, column in columns.items()}


def _show_unit(document: Mapping[str, Any], facts: Sequence[ColumnFacts]) -> dict[str, Any]:
    """Return the question about the unit of counting, with its answers and the selected one."""
    from unmask.tables.unit import ASSUMED, ROW

    unit, n_rows = unit_of(facts), facts[0].rows
    people = {column.name: column.distinct + int(column.missing) for column in sorted(facts, key=lambda x: -x.key)}
    shared = {
        name: _("No: equal {column} is one person, {n} people", column=name, n=n)
        for name, n in people.items()
        if n < n_rows
    }
    return {
        "answers": {ROW: _("Yes: {n} rows are {n} people", n=n_rows), **shared},
        "selected": document.get("data", {}).get("person", "" if unit.question else ROW),
        "reason": unit.words if unit != ASSUMED else "",
        "column": unit.column,
        "household": document.get("data", {}).get("household", ""),
        "shared": tuple(shared),
    }


def _save_suggestions(project: Project, profile: Profile) -> None:
    """Save the document that `unmask init` writes."""
    document = project.document
    first = first_document(document["data"]["file"], document["data"], profile.facts)
    project.add_notes(reasons=reasons(profile.facts))
    data = {**first["data"], **document["data"]}
    project.save({**first, **document, "data": data, "columns": first["columns"]})


def _format_init(document: Mapping[str, Any]) -> str:
    roles = group_by_role(document["columns"])
    words = ["init", document["data"]["file"]]
    for option, key in (("-q", "quasi_identifiers"), ("-s", "sensitive"), ("--keep", "keep")):
        words += [option, ",".join(roles[key])] if roles.get(key) else []
    words += ["--person", document["data"]["person"]] if "person" in document["data"] else []
    return format_command(words)


def _show_card(shape: Shape, facts: ColumnFacts, settings: Mapping[str, Any], level: Level | None) -> dict[str, Any]:
    role = _join_drop(settings.get("role", ""))
    ladder = shape.ladder if role == "quasi-identifier" else ()
    if ladder and level not in {rung.level for rung in ladder}:
        ladder = (*ladder, Rung(level, f"{level}", 0, 0, ""))  # a level that only the document has
    return {
        "shape": shape,
        "facts": facts,
        "n_unique": int(facts.alone),
        "n_missing": int(facts.missing),
        "suggestion": ROLES.get(_join_drop(facts.suggestion), "weight"),
        "role": role,
        "type": settings.get("type", ""),
        "hierarchy": settings.get("hierarchy", ""),
        "ladder": ladder,
        "level": level,
        "determines": [fact.column for fact in facts.determines if fact.exact][:MAX_DETERMINED],
    }


def _join_drop(role: str) -> str:
    return "drop" if role == "identifier" else role


# --- forms ------------------------------------------------------------------------------------------------------------


def submit(project: Project, form: Mapping[str, Any]) -> str:
    """Save roles, types and levels; continue once every column has a role. Or change a hierarchy."""
    if "column" in form:
        return hierarchy_screen.submit(project, form)
    profile, document = count_columns(project), project.document
    previous, previous_levels = _read_columns(document), get_levels(document)
    columns: dict[str, Any] = {}
    levels: dict[str, Level | None] = {}
    for index, shape in enumerate(profile.shapes):
        levels[shape.name] = _read_level(index, shape, form, previous_levels)
        if column := _read_column(index, shape, form, previous.get(shape.name, {})):
            columns[shape.name] = column["role"] if column.keys() == {"role"} else column
    answers = _show_unit(document, profile.facts)["answers"]
    person = {"person": form["person"]} if form.get("person") in answers else {}
    document = {**document, "data": {**document["data"], **person}, "columns": columns}
    _set_household(document, form)
    changed = _update_studies(with_protection(document, levels=levels))
    if changed != project.document:
        project.save(changed)
    if form.get("do") == "apply":
        return "roles"
    if (edited := read_index(form.get("hierarchy"), profile.shapes)) is not None:
        return hierarchy_screen.address(profile.shapes[edited].name)
    if "person" not in document["data"] and unit_of(profile.facts).question:
        raise UnmaskError("the unit of counting is open; answer the question above the columns")
    if len(columns) < len(profile.shapes):
        raise UnmaskError("a column has no role; choose one for every column, drop in case of doubt")
    if not group_by_role(columns).get("quasi_identifiers"):
        raise UnmaskError("there is no quasi-identifier; choose the columns that an outsider may know of a person")
    return "adversaries"


def _update_studies(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with the adversaries of studies for its roles, without sources of columns that are gone."""
    roles = group_by_role(document["columns"])
    other_adversaries = [entry for entry in document.get("adversaries", []) if entry.get("use") not in STUDY_ATTACKS]
    parts = [name for part in document.get("linkability", {}).get("parts", []) for name in part]
    if not set(parts) <= {*roles.get("quasi_identifiers", [])}:
        document = {key: value for key, value in document.items() if key != "linkability"}
    return {**document, "adversaries": [*adversaries(roles.get("sensitive", [])), *other_adversaries]}


def _set_household(document: dict[str, Any], form: Mapping[str, Any]) -> None:
    """Set the column that joins the rows of a household, which is not released."""
    if "household" in form:
        name = str(form["household"])
        if name and document["columns"].get(name) != "drop":
            raise UnmaskError("the column of households is released; choose drop as its role")
        data = {key: value for key, value in document["data"].items() if key != "household"}
        document["data"] = data | ({"household": name} if name else {})


def _read_level(index: int, shape: Shape, form: Mapping[str, Any], previous: Mapping[str, Level]) -> Level | None:
    """Return the selected level; the previous one if the form has none, and None if the type has changed."""
    if str(form.get(f"type-{index}", DETECTED)).partition(":")[0] not in (DETECTED, shape.type):
        return None
    selected = form.get(f"level-{index}")
    if selected is None:
        return previous.get(shape.name)
    levels = (*(rung.level for rung in shape.ladder), *previous.values())
    return {str(level): level for level in levels}.get(str(selected))


def _read_column(index: int, shape: Shape, form: Mapping[str, Any], previous: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a column; {} without a role."""
    role = str(form.get(f"role-{index}", ""))
    if role not in (*ROLES, "weight"):
        return {}
    settings = {"role": role, **{key: previous[key] for key in ("order", "hierarchy", "type") if key in previous}}
    type_ = str(form.get(f"type-{index}", ""))
    if type_ in TYPES and type_ != shape.type:
        settings["type"] = type_
    if type_ == DETECTED:
        settings.pop("type", None)
    return settings
