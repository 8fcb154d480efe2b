"""The list of workflows, and the workflow of a file or a document."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unmask.app import aggregates_workflow, channel_workflow, graph_workflow, linkage_workflow, table_workflow
from unmask.app.project import DESCRIPTION_SUFFIX, NETWORK_SUFFIXES
from unmask.app.workflow import Sample, Workflow
from unmask.core.errors import UnmaskError

WORKFLOWS = (
    aggregates_workflow.WORKFLOW, channel_workflow.WORKFLOW, linkage_workflow.WORKFLOW, graph_workflow.WORKFLOW,
    table_workflow.WORKFLOW,
)  # fmt: skip
"""Workflows in the order in which files are compared with them."""

SAMPLE_ROWS = 200
"""Rows of a file that its workflow is guessed from."""


def find_workflow(document: Mapping[str, Any]) -> Workflow:
    """Return the workflow of a document by its sections; without any that of tables.

    >>> find_workflow({"linkage": {}}).title, find_workflow({}).title
    ('clusters of pseudonyms', 'a table of people')
    """
    return next((workflow for workflow in WORKFLOWS if workflow.word in document), table_workflow.WORKFLOW)


def read_sample(path: Path, name: str) -> Sample:
    """Return the columns and first rows of a file; no columns of a network or a description.

    name : name in the folder
    """
    from unmask.tables.reading import column_names, first_rows

    if path.name.lower().endswith((*NETWORK_SUFFIXES, DESCRIPTION_SUFFIX)):
        return Sample(name, {})
    try:
        rows = first_rows(path, SAMPLE_ROWS)
    except UnmaskError:  # the user may correct the options of the reader
        return Sample(name, {column: [] for column in column_names(path, header=True)})
    return Sample(
        name, {name: [cells.texts[code] or "" for code in cells.codes] for name, cells in rows.columns.items()}
    )


def guess_workflow(sample: Sample) -> tuple[Workflow, str]:
    """Return the first workflow that a file looks like, with the reason.

    >>> guess_workflow(Sample("a.csv", {"item": [], "person": [], "cluster": []}))[0].word
    'linkage'
    """
    return next((workflow, reason) for workflow in WORKFLOWS if (reason := workflow.guess(sample)))
