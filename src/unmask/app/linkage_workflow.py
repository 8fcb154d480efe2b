"""Workflow of linkage: items, the people behind them, and the clusters that an adversary puts them in."""

from __future__ import annotations

from typing import Any

from unmask.app.fields import Field
from unmask.app.project import AUDIT_OPTIONS, Project
from unmask.app.workflow import Form, Limit, Sample, Workflow
from unmask.languages import mark
from unmask.toml_text import DOCUMENT

ITEM_PREFIXES = ("item", "record", "row", "pseudonym", "trace", "id")
SUBJECT_PREFIXES = ("subject", "person", "patient", "individual", "entity", "user", "true", "truth", "owner")
CLUSTER_PREFIXES = ("cluster", "group", "pred", "guess", "block", "match")
"""Beginnings of the names of columns of items, of their people and of clusters."""


def _find_columns(sample: Sample) -> list[list[str]]:
    """Return the columns that look like items, like people, and like clusters."""
    prefixes = (ITEM_PREFIXES, SUBJECT_PREFIXES, CLUSTER_PREFIXES)
    return [[name for name in sample.columns if name.lower().startswith(words)] for words in prefixes]


def _guess(sample: Sample) -> str:
    items, subjects, clusters = _find_columns(sample)
    if not (items and subjects) or not (clusters or len(sample.columns) == 2):
        return ""
    text = f"column {items[0]} looks like items, and {subjects[0]} like the people behind them"
    return text + (f"; {' and '.join(clusters)} look like clusters" if clusters else "; there is no other column")


def _begin(sample: Sample) -> dict[str, Any]:
    names = [*sample.columns, "", ""]
    items, subjects, clusters = _find_columns(sample)
    section = {"truth": sample.name, "item": (items or names)[0], "subject": (subjects or names[1:])[0]}
    return {"linkage": section | ({"guesses": [sample.name], "clusters": clusters} if clusters else {})}


def _list_columns(project: Project) -> dict[str, str]:
    """Return the columns of all files, by name."""
    from unmask.tables.reading import column_names

    section = project.document["linkage"]
    guesses = section.get("guesses", [])
    files = (section.get("truth"), *([guesses] if isinstance(guesses, str) else guesses))
    return {name: name for file in files if file for name in column_names(project.folder / file)}


def _list_cluster_columns(project: Project) -> dict[str, str]:
    section = project.document["linkage"]
    return {name: name for name in _list_columns(project) if name not in (section.get("item"), section.get("subject"))}


FILES = Form(
    lambda _: (
        Field("linkage.truth", "File of the truth", "file", required=True),
        Field("linkage.item", "Column of the item", "choice", options=_list_columns, required=True),
        Field("linkage.subject", "Column of the person", "choice", options=_list_columns, required=True),
        Field("linkage.clusters", "Columns of clusters", "choices", options=_list_cluster_columns, required=True),
        Field("linkage.guesses", "Files of clusters, each with the column of the item", "files", required=True),
        Field("linkage.missing"),
        Field("linkage.unlabeled"),
    )
)

ADVERSARIES = Form(
    lambda _: [Field(f"linkage.{name}") for name in ("beta", "min_size", "alpha", "wanted", "shuffles", "seed")],
    (Limit("breached<="), Limit("clean_breach<="), Limit("linked_now<="), Limit("merges>=", "merges")),
)

WORKFLOW = Workflow(
    word="linkage",
    title=mark("clusters of pseudonyms"),
    meaning=mark("Items, the people behind them, and the clusters of an adversary."),
    roles_title=mark("Columns"),
    is_described=FILES.is_complete,
    is_attacked=ADVERSARIES.is_complete,
    guess=_guess,
    begin=_begin,
    commands=lambda _: (("audit", "linkage", DOCUMENT, *AUDIT_OPTIONS),),
    forms={"roles": FILES, "adversaries": ADVERSARIES},
    file_keys=("truth", "guesses"),
    advice=mark("Assign pseudonyms in another way, and open the new guesses."),
)
