"""The kinds of documents, and which of them a file looks like."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unmask.app import channels, clusters, graphs
from unmask.app import project as names
from unmask.app.jobs import Command
from unmask.app.kind import Kind, Parameter, Sample, Step, Trials, has_file, is_made
from unmask.app.project import NETWORKS, Project
from unmask.app.protection import asked, with_protection
from unmask.core.errors import UnmaskError
from unmask.document import by_role
from unmask.toml_text import DOCUMENT

PROTECT = ("protect", DOCUMENT, "-o", names.RELEASE, "--origin", names.ORIGIN, "--force")

LOOKED_AT = 200
"""Rows of a file by which its kind is guessed."""


def _has_roles(project: Project) -> bool:
    """Whether the columns have roles, one of which an outsider may know."""
    given = project.given
    return bool(given.get("data")) and bool(by_role(given.get("columns", {})).get("quasi_identifiers"))


def _has_policy(project: Project) -> bool:
    """Whether it is said who attacks what is released, and what is acceptable."""
    return _has_roles(project) and bool(project.given.get("releases")) and bool(project.given.get("policy"))


def _has_study(project: Project) -> bool:
    """Whether protections were tried."""
    return _has_policy(project) and (project.folder / names.STUDIED).exists()


def _of_table(_given: Mapping[str, Any]) -> tuple[Command, ...]:
    return PROTECT, ("audit", DOCUMENT, *names.ATTACK, "--at-risk", names.AT_RISK, "--no-changes")


def _has_release(project: Project) -> bool:
    return is_made(project, _of_table(project.given))


def _plan(project: Project) -> dict[str, Any]:
    from unmask.app.studying import plan_of_table

    return plan_of_table(project)


def _asked(given: Mapping[str, Any]) -> dict[str, Any]:
    return {"k": asked(given).get("k"), "l": asked(given).get("l")}


TRIALS = Trials(
    "A study generalizes the table with every k of a ladder, and with several values of each secret. The neighbor, and "
    "the colleague if they are on, attack every release; the others of step 3 attack in step 4 the one that you use.",
    "Up: utility, one minus the share of information lost.",
    "Squares ask for several values of each secret.",
    (
        Parameter("k", "k: people at least who look alike"),
        Parameter("l", "l: different values at least of each secret among them"),
    ),
    _asked,
    lambda given, changed: with_protection(given, **changed),
    _plan,
)

TABLE = Kind(
    "", "a table of people", "One row for each person, or for each visit or case of one.",
    (
        Step("open", "Open", "opening", lambda _: True, has_file),
        Step("roles", "Roles", "roles", has_file, _has_roles),
        Step("adversaries", "Adversaries", "adversaries", _has_roles, _has_policy),
        Step("verdict", "Verdict", "verdict", _has_policy, _has_release),
        Step("protect", "Protect", "protecting", _has_policy, _has_study),
        Step("game", "Price", "pricing", _has_policy, lambda p: (p.folder / names.GAME).exists()),
        Step("sign", "Sign", "signing", _has_release, lambda p: p.done("certificate")),
    ),
    lambda sample: f"{len(sample.columns)} columns, and nothing that says it is anything else",
    lambda sample: {"data": {"file": sample.name}},
    _of_table, TRIALS,
)  # fmt: skip

KINDS = (channels.KIND, clusters.KIND, graphs.KIND, TABLE)
"""In the order in which they are guessed."""


def kind_of(given: Mapping[str, Any]) -> Kind:
    """The kind of a document, by the tables that it has; what says nothing yet is about a table of people.

    >>> kind_of({"linkage": {}}).title, kind_of({}).title
    ('clusters of pseudonyms', 'a table of people')
    """
    return next((kind for kind in KINDS if kind.word in given), TABLE)


def look(path: Path, name: str) -> Sample:
    """The columns of a file and its first rows; none of what can only be a network. name : in the folder"""
    from unmask.tables.reading import column_names, first_rows

    if path.name.lower().endswith(NETWORKS):
        return Sample(name, {})
    try:
        found = first_rows(path, LOOKED_AT)
    except UnmaskError:
        return Sample(
            name, {column: [] for column in column_names(path, header=True)}
        )  # it may have to be read in another way
    return Sample(name, {name: [one.texts[code] or "" for code in one.codes] for name, one in found.columns.items()})


def guess(sample: Sample) -> tuple[Kind, str]:
    """The first kind that a file looks like, and why.

    >>> guess(Sample("a.csv", {"item": [], "person": [], "cluster": []}))[0].word
    'linkage'
    """
    return next((kind, why) for kind in KINDS if (why := kind.guess(sample)))
