"""Workflow of published tables: a description, the tables that it names, and the original records."""

from __future__ import annotations

from unmask.app.fields import Field
from unmask.app.project import AUDIT_OPTIONS, DESCRIPTION_SUFFIX, Project
from unmask.app.workflow import Form, Limit, Sample, Workflow
from unmask.languages import gettext as _
from unmask.languages import mark
from unmask.toml_text import DOCUMENT


def _guess(sample: Sample) -> str:
    is_description = sample.name.lower().endswith(DESCRIPTION_SUFFIX)
    return "it describes tables and the categories of their columns" if is_description else ""


def _list_tables(project: Project) -> dict[str, str]:
    """Return the tables that the description names, each with whether it is in the folder."""
    return {name: "" if (project.folder / name).exists() else _("missing") for name in project.list_published_tables()}


def _list_columns(project: Project) -> dict[str, str]:
    from unmask.aggregates.table_files import read_description

    description = read_description(project.folder / project.document["aggregates"]["tables"])
    return {name: name for name in description["domain"]}


def _describe(project: Project) -> str:
    """Return the columns of the tables, and the tables that are missing."""
    columns, tables = _list_columns(project), _list_tables(project)
    missing = [name for name, state in tables.items() if state]
    text = f"Files: {len(tables)}. Columns: {', '.join(columns)}."
    return f"{text} Missing files, to be added in the next step: {', '.join(missing)}." if missing else text


FILES = Form(
    lambda _document: (
        Field("aggregates.tables", "Files that the description names", "parts", options=_list_tables, required=True),
        Field("aggregates.original", "Table of the true records", "file"),
    )
)

ADVERSARIES = Form(
    lambda _document: (
        Field("aggregates.sensitive", "Inferred columns", "choices", options=_list_columns),
        Field("aggregates.knows", "Known columns", "choices", options=_list_columns),
        Field("aggregates.group_size"),
        Field("aggregates.seed"),
    ),
    (
        Limit("areas_reconstructed<="), Limit("records_reconstructed<="), Limit("values_certain<="),
        Limit("success_probability<="),
    ),
)  # fmt: skip

WORKFLOW = Workflow(
    word="aggregates",
    title=mark("published tables"),
    meaning=mark("Tables of counts, with a description of their columns and of the rule by which they were published."),
    roles_title=mark("Tables"),
    is_described=FILES.is_complete,
    is_attacked=ADVERSARIES.is_complete,
    guess=_guess,
    begin=lambda sample: {"aggregates": {"tables": sample.name}},
    commands=lambda _document: (("audit", "aggregates", DOCUMENT, *AUDIT_OPTIONS),),
    forms={"roles": FILES, "adversaries": ADVERSARIES},
    describe=_describe,
    file_keys=("tables", "original"),
    advice=mark("Suppress, round or perturb counts with unmask protect aggregates, and open the new tables."),
)
