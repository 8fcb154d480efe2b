"""Clusters: items that belong to people, and whom an adversary takes for one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unmask.app.jobs import Command
from unmask.app.kind import Asked, Card, Field, Kind, Limit, Sample, steps_of
from unmask.app.project import ATTACK, Project
from unmask.toml_text import DOCUMENT

ITEMS = ("item", "record", "row", "pseudonym", "trace", "id")
SUBJECTS = ("subject", "person", "patient", "individual", "entity", "user", "true", "truth", "owner")
CLUSTERS = ("cluster", "group", "pred", "guess", "block", "match")
"""How columns of items, of their people and of clusters are called, or begin."""


def _named(names: Mapping[str, Any], words: tuple[str, ...]) -> list[str]:
    return [name for name in names if name.lower().startswith(words)]


def _guess(sample: Sample) -> str:
    items, subjects, clusters = (_named(sample.columns, words) for words in (ITEMS, SUBJECTS, CLUSTERS))
    if not (items and subjects) or not (clusters or len(sample.columns) == 2):
        return ""
    told = f"column {items[0]} looks like items, and {subjects[0]} like whose they are"
    return told + (f"; {' and '.join(clusters)} like clusters" if clusters else "; nothing else is in it")


def _begin(sample: Sample) -> dict[str, Any]:
    first = [*sample.columns, "", ""]
    items, subjects, clusters = (_named(sample.columns, words) for words in (ITEMS, SUBJECTS, CLUSTERS))
    said = {"truth": sample.name, "item": (items or first)[0], "subject": (subjects or first[1:])[0]}
    return {"linkage": said | ({"guesses": [sample.name], "clusters": clusters} if clusters else {})}


def _commands(_given: Mapping[str, Any]) -> tuple[Command, ...]:
    return (("audit", "linkage", DOCUMENT, *ATTACK),)


def _columns(project: Project) -> dict[str, str]:
    """The columns of all files, by name."""
    from unmask.tables.reading import column_names

    said = project.given["linkage"]
    guesses = said.get("guesses", [])
    files = (said.get("truth"), *([guesses] if isinstance(guesses, str) else guesses))
    return {name: name for file in files if file for name in column_names(project.folder / file)}


def _others(project: Project) -> dict[str, str]:
    said = project.given["linkage"]
    return {name: name for name in _columns(project) if name not in (said.get("item"), said.get("subject"))}


FILES = Asked(
    "What does each column say?",
    "Items are records, messages or pseudonyms; a subject is the person behind them.",
    (
        Card(
            "Truth", "Who is behind each item, as only the owner knows.",
            (
                Field("linkage.truth", "File", "file", needed=True),
                Field("linkage.item", "Column of the item", "one", options=_columns, needed=True),
                Field("linkage.subject", "Column of the person", "one", options=_columns, needed=True),
            ),
            "No adversary sees it: it is what their guesses are judged by.",
        ),
        Card(
            "Guesses", "The clusters that an adversary puts items in. Each column is one guess.",
            (
                Field("linkage.clusters", "Columns of clusters", "several", options=_others, needed=True),
                Field("linkage.guesses", "Files of clusters, each with the column of the item", "files", needed=True),
            ),
            "One file may hold truth and guesses.",
        ),
        Card(
            "Items without a label", "An item may stand in one file alone, or have an empty cell.",
            (
                Field("linkage.missing", "No guess for an item", options={
                    "error": "is an error", "singleton": "it is alone", "drop": "it is left out",
                }),
                Field("linkage.unlabeled", "No person for an item", options={
                    "error": "is an error", "foreign": "it is a stranger's", "unknown": "it may be anybody's",
                    "drop": "it is left out",
                }),
            ),
        ),
    ),
)  # fmt: skip

ADVERSARIES = Asked(
    "When is somebody linked too far?",
    "Every guess is judged; a guess at random stands beside it.",
    (
        Card(
            "Breach", "A person is breached once a cluster holds that share of their items.",
            (
                Field("linkage.beta", "Share of a person’s items"),
                Field("linkage.min_size", "Fewest items of a person who is counted"),
            ),
            "A person with one item is linked by it always, and is not counted.",
        ),
        Card(
            "What people mind", "Linking shows more about a person; items of others mixed in say wrong things of them.",
            (
                Field("linkage.alpha", "Weight of linking; the rest is that of mixing"),
                Field("linkage.wanted", "Items of others are welcome, they hide the person"),
            ),
        ),
        Card(
            "Guesses at random", "Items are shuffled among the clusters, to see what their sizes alone tell.",
            (Field("linkage.shuffles", "Shuffles"), Field("linkage.seed", "Random seed")),
        ),
    ),
    (Limit("breached<="), Limit("clean_breach<="), Limit("linked_now<="), Limit("merges>=", "merges")),
)  # fmt: skip

KIND = Kind(
    "linkage", "clusters of pseudonyms", "Items, the people behind them, and the clusters of an adversary.",
    steps_of("Columns", FILES, ADVERSARIES, _commands), _guess, _begin, _commands,
)  # fmt: skip
