"""Loading of files: a table, a network or a document is checked, put into the project, and gets a first document."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from unmask.app.project import (
    DESCRIPTION_SUFFIX,
    Project,
    check_path,
    check_table_names,
    find_description,
    find_file_name,
    list_outputs,
)
from unmask.app.workflow import Sample, Workflow
from unmask.app.workflows import WORKFLOWS, find_workflow, guess_workflow, read_sample
from unmask.core.errors import FailedError, UnmaskError
from unmask.data.files import read_text, read_toml
from unmask.document import group_by_role, load

MAX_CELLS = 200_000_000
"""Cells of a table in memory; a larger one needs an engine, on the command line."""

MAX_UNPACKED_BYTES = 4 << 30
"""Bytes of an unpacked file."""

CHUNK_BYTES = 1 << 20

FILE_KEYS: Mapping[str, tuple[str, ...]] = {
    "data": ("file",), "register": ("file",), "control": ("file",), "columns": ("hierarchy",),
    "audit": ("attacker",), "policy": ("use",),
}  # fmt: skip
"""Section of a document -> keys that name files."""

TOML_SECTIONS = ("audit", "policy")
"""Sections whose keys name a TOML file, or something that unmask has."""


def open_path(project: Project, path: Path) -> None:
    """Open a file, or a document with its files; the present content of the project is lost once they can be read."""
    path = find_description(path)
    is_description = _is_description(path)
    if path.suffix == DESCRIPTION_SUFFIX and not is_description:
        _open_document(project, path)
        return
    sample = check_file(path)
    tables = _find_tables(path, complete=False) if is_description else {}
    project.clear()
    _copy_tables(project, tables)
    _begin(project, sample._replace(name=project.link_file(path)))


def open_upload(project: Project, upload: Any) -> None:
    """Open a file that the browser sent; delete one that cannot be read."""
    name = project.store_upload(upload)
    try:
        sample = check_file(project.folder / name)
    except UnmaskError:
        project.delete(name)
        raise
    project.clear(keep=name)
    _begin(project, sample)


def open_demo(project: Project) -> None:
    """Open a generated census without real people."""
    import numpy as np

    from unmask.tables import datasets

    columns = datasets.synthetic_census(5_000, rng=np.random.default_rng(0))
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    project.clear()
    path = project.reserve_path("census.csv")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    _save_first_document(project, find_workflow({}), Sample(path.name, {}))


def change_workflow(project: Project, word: str) -> None:
    """Choose another type for the opened file; its document is lost."""
    workflow = next((workflow for workflow in WORKFLOWS if workflow.word == word), None)
    if workflow is None or project.file is None:
        raise UnmaskError("there is no such type of file; choose one of the list")
    if workflow.word != find_workflow(project.document).word:
        sample = read_sample(project.file, project.file.name)
        project.clear(keep=project.file.name)
        _save_first_document(project, workflow, sample)


def check_file(path: Path) -> Sample:
    """Return the first rows of a file, or raise an error if it is too large, or not a table or a network."""
    path = check_path(path)
    if path.name.lower().endswith(DESCRIPTION_SUFFIX):
        check_table_names(path)  # raises an error for another file
    _check_unpacked_size(path)
    sample = read_sample(path, path.name)
    if sample.columns:
        _check_cells(path, len(sample.columns))
    return sample


def _begin(project: Project, sample: Sample) -> None:
    workflow, reason = guess_workflow(sample)
    _save_first_document(project, workflow, sample)
    project.add_notes(guess=reason)


def _save_first_document(project: Project, workflow: Workflow, sample: Sample) -> None:
    project.save({"title": f"Release of {sample.name}", **workflow.begin(sample)})


# --- published tables -------------------------------------------------------------------------------------------------


def _is_description(path: Path) -> bool:
    """Return whether a file lists categories and tables, as a description of published tables does."""
    return path.suffix == DESCRIPTION_SUFFIX and {"domain", "tables"} <= read_toml(path, "document").keys()


def _find_tables(description: Path, *, complete: bool) -> dict[str, Path]:
    """Return the tables that a description names, by name, without those that are missing unless all are needed."""
    from unmask.aggregates.table_files import locate_table

    tables = {}
    for name in check_table_names(description):
        try:
            tables[name] = locate_table(description.parent, name)
        except FailedError:
            if complete:
                raise
    return tables


def _copy_tables(project: Project, tables: Mapping[str, Path]) -> None:
    """Copy tables to the folder of the project: a link would lead out of the folder of the description."""
    for name, path in tables.items():
        with path.open("rb") as file:
            project.write_copy(file, name)


# --- documents --------------------------------------------------------------------------------------------------------


def _open_document(project: Project, path: Path) -> None:
    """Open a document, with links to its files. Its releases are left out, since the project makes one."""
    document = {key: value for key, value in load(path).items() if key != "releases"}
    name = find_file_name(document)
    if not name:
        raise UnmaskError(f"document {path.name!r} has no file of a table; expected [data] and below it a file")
    group_by_role(document.get("columns", {}))
    check_file(path.parent / name)
    tables = _find_tables(check_path(path.parent / name), complete=True) if "aggregates" in document else {}
    paths: dict[str, Path] = {}
    _rename_files(document, lambda name: str(paths.setdefault(name, check_path(path.parent / name))))
    template = read_text(path)
    project.clear()
    _copy_tables(project, tables)
    links = {name: project.link_file(target) for name, target in paths.items()}
    project.save(_rename_files(document, links.__getitem__), template=template)
    project.add_notes(confirmed=["roles"])


def _rename_files(document: Mapping[str, Any], rename: Callable[[str], str]) -> dict[str, Any]:
    """Return the document with other names of its files."""
    from unmask.measures.losses import LOSS_NAMES

    workflow = find_workflow(document)
    keys = {**FILE_KEYS, **({workflow.word: workflow.file_keys} if workflow.word else {})}
    not_files = {workflow.word: (*list_outputs(document), *LOSS_NAMES)}

    def is_file(section: str, key: str, value: str) -> bool:
        is_path = value.endswith(".toml") if section in TOML_SECTIONS else value not in not_files.get(section, ())
        return key in keys.get(section, ()) and is_path

    def rename_value(section: str, key: str, value: Any) -> Any:
        if isinstance(value, list):
            return [rename_value(section, key, item) for item in value]
        if isinstance(value, dict):
            is_column = section == "columns" and not key  # a column may be called "hierarchy"
            return {name: rename_value(section, "column" if is_column else name, item) for name, item in value.items()}
        return rename(value) if isinstance(value, str) and is_file(section, key, value) else value

    return {section: rename_value(section, "", value) for section, value in document.items()}


# --- sizes ------------------------------------------------------------------------------------------------------------


def _check_unpacked_size(path: Path) -> None:
    """Raise an error for a compressed file whose content is too large for the machine."""
    n_bytes = 0
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                n_bytes = sum(member.file_size for member in archive.infolist())
        elif path.name.lower().endswith(".gz"):
            with gzip.open(path) as file:
                while n_bytes <= MAX_UNPACKED_BYTES and (chunk := len(file.read(CHUNK_BYTES))):
                    n_bytes += chunk
    except (OSError, EOFError, zipfile.BadZipFile):
        raise FailedError(f"file {path.name!r} is truncated or damaged; get a new copy") from None
    if n_bytes > MAX_UNPACKED_BYTES:
        raise UnmaskError(
            f"file {path.name!r} unpacks to more than {MAX_UNPACKED_BYTES >> 30} GiB; unpack it and check its content"
        )


def _check_cells(path: Path, n_columns: int) -> None:
    """Raise an error for a Parquet file, which has its number of rows, with too many cells for memory."""
    from unmask.data.source_files import detect_kind
    from unmask.data.sql import quote_text
    from unmask.tables.reading import engine

    if detect_kind(path) != "parquet":
        return
    with engine() as (connection, _):
        query = f"select sum(num_rows) from parquet_file_metadata({quote_text(str(path))})"
        n_rows = int(connection.execute(query).fetchall()[0][0] or 0)
    if n_rows * n_columns > MAX_CELLS:
        raise UnmaskError(
            f"file {path.name!r} has {n_rows:,} rows of {n_columns} columns, too many for memory; protect and audit it "
            "on the command line with --engine duckdb"
        )
