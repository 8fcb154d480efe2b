"""Workflow of tables: roles of columns, a k-anonymous release, and its study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from unmask.app.fields import protection_parameters
from unmask.app.project import AT_RISK, AUDIT_OPTIONS, ORIGIN, RELEASE, STUDY_FOLDER, Project
from unmask.app.workflow import Parameter, Trials, Workflow
from unmask.document import group_by_role
from unmask.first_document import DEFAULT_K
from unmask.languages import gettext as _
from unmask.languages import mark
from unmask.plan import NOTHING
from unmask.toml_text import DOCUMENT

if TYPE_CHECKING:
    from unmask.app.column_shapes import Level

PROTECT = ("protect", DOCUMENT, "-o", RELEASE, "--origin", ORIGIN, "--force")

K_VALUES = (2, 3, 5, 7, 10, 15, 20, 30, 50, 100)
"""Values of k that a study tries."""

DIVERSE_K_VALUES, L_VALUES = (5, 10, 20), (2, 3)
"""Values of k and l that a study combines if there is a sensitive column."""

MAX_TARGETS = 20_000
"""People attacked in each release of a study, at most."""


# --- protection -------------------------------------------------------------------------------------------------------


def get_levels(document: Mapping[str, Any]) -> dict[str, Level]:
    """Return the finest levels of columns."""
    return dict(protection_parameters(document).get("levels", {}))


def with_protection(document: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the document with one protection, which has other parameters; None removes a parameter.

    Levels of columns that are not quasi-identifiers are removed, too.

    >>> with_protection({"columns": {"age": "quasi-identifier"}}, k=5, l=None)["protections"]
    [{'use': 'tables.Mondrian', 'with': {'k': 5}}]
    """
    quasi = group_by_role(document["columns"]).get("quasi_identifiers", [])
    parameters = {"k": DEFAULT_K, **protection_parameters(document), **changes}
    levels = parameters.get("levels", {}).items()
    parameters["levels"] = {name: level for name, level in levels if level is not None and name in quasi}
    parameters = {key: value for key, value in parameters.items() if value not in (None, {})}
    return {**document, "protections": [{"use": "tables.Mondrian", "with": parameters}]}


# --- study ------------------------------------------------------------------------------------------------------------


def build_plan(project: Project) -> dict[str, Any]:
    """Return the document of the study: many protections in place of the one of the release."""
    from unmask.app.column_profile import count_columns

    document, rows = project.document, count_columns(project).facts[0].rows
    k, levels = protection_parameters(document).get("k", DEFAULT_K), get_levels(document)
    k_values, diverse = (
        sorted({value for value in (*values, k) if 2 * value <= rows}) for values in (K_VALUES, DIVERSE_K_VALUES)
    )
    mondrian = {"use": "tables.Mondrian"} | ({"with": {"levels": levels}} if levels else {})
    protections: list[dict[str, Any]] = [{"name": "unprotected", "use": NOTHING}]
    protections.append({"name": "Mondrian", **mondrian, "grid": {"k": k_values}})
    if group_by_role(document["columns"]).get("sensitive"):
        protections.append({"name": "diverse", **mondrian, "grid": {"k": diverse, "l": list(L_VALUES)}})
    adversaries = [
        {**adversary, "knows": {"targets": min(rows, MAX_TARGETS), **adversary.get("knows", {})}}
        for adversary in document.get("adversaries", [])
    ]
    replaced = ("releases", "protections", "adversaries", "policy")
    sections = {key: value for key, value in document.items() if key not in replaced}
    return {**sections, "protections": protections, "adversaries": adversaries}


def _read_parameters(document: Mapping[str, Any]) -> dict[str, Any]:
    parameters = protection_parameters(document)
    return {"k": parameters.get("k"), "l": parameters.get("l")}


TRIALS = Trials(
    STUDY_FOLDER,
    (
        Parameter("k", "k: smallest number of people who look alike"),
        Parameter("l", "l: smallest number of different sensitive values among them"),
    ),
    _read_parameters,
    lambda document, values: with_protection(document, **values),
    build_plan,
)

WORKFLOW = Workflow(
    word="",
    title=mark("a table of people"),
    meaning=mark("One row for each person, or for each visit or case of a person."),
    roles_title=mark("Roles"),
    is_described=lambda document: bool(group_by_role(document.get("columns", {})).get("quasi_identifiers")),
    is_attacked=lambda document: bool(document.get("releases")),
    guess=lambda sample: _("{n} columns, and no sign of another type", n=len(sample.columns)),
    begin=lambda sample: {"data": {"file": sample.name}},
    commands=lambda _: (PROTECT, ("audit", DOCUMENT, *AUDIT_OPTIONS, "--at-risk", AT_RISK, "--no-changes")),
    forms={},
    trials=TRIALS,
)
