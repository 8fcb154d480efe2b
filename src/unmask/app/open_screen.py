"""Step 1: open a file, the demo or interrupted work, and correct how the file is read."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unmask.app import file_loading
from unmask.app.column_profile import start_counting
from unmask.app.fields import is_upload
from unmask.app.jobs import format_command
from unmask.app.preview import DELIMITERS, Preview, read_preview
from unmask.app.private_folder import format_age
from unmask.app.project import Project, list_interrupted, read_file_name
from unmask.app.workflow import Workflow
from unmask.app.workflows import WORKFLOWS, find_workflow
from unmask.core.errors import FailedError, UnmaskError
from unmask.data.encodings import check_encoding
from unmask.languages import mark

READERS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "encoding": (mark("encoding"), {
        "utf-8": "UTF-8", "cp1252": "Windows-1252", "cp1250": "Windows-1250", "latin-1": "Latin-1",
        "utf-16": "UTF-16", "shift_jis": "Shift JIS", "gb18030": "GB 18030",
    }),
    "delimiter": (mark("delimiter"), DELIMITERS),
    "header": (mark("line 1"), {"names": mark("names the columns"), "row": mark("is a row")}),
    "decimal": (mark("decimal mark"), {".": mark("point 3.5"), ",": mark("comma 3,5")}),
    "missing": (mark("a missing cell is"), {
        "own": mark("a separate value"), "wildcard": mark("any value"),
        "excluded": mark("a reason to leave its row out"),
    }),
}  # fmt: skip
"""Option of the reader -> its label, and its values with labels."""

TYPED_SUFFIXES = (".parquet", ".pq", ".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
"""Endings of files whose reader has no options but for missing cells."""

MAX_RECENT = 6
MAX_PATH, MAX_ENCODING, MAX_NA = 4000, 40, 200
"""Characters of typed values."""


def show(project: Project, _query: Mapping[str, str]) -> dict[str, Any]:
    """Return the start page, or the first rows of the opened file with the options of its reader."""
    interrupted = [(folder.name, name, format_age(moment)) for folder, name, moment in list_interrupted(project)]
    start = {"recent": _list_recent(), "interrupted": interrupted}
    if project.file is None:
        return {"file": None, **start, "commands": ("unmask open people.csv",)}
    document, name = project.document, project.file.name
    workflow, data = find_workflow(document), document.get("data", {})
    preview = _describe(project, workflow) if workflow.describe else read_preview(project)
    if not workflow.word and not preview.error:
        start_counting(project)  # while the user looks at the preview
    is_typed = name.lower().endswith(TYPED_SUFFIXES)
    options = {key: options for key, options in READERS.items() if key == "missing" or not is_typed}
    header = {True: "names", False: "row"}.get(data.get("header"))
    return {
        **start,
        "file": name,
        "workflow": workflow,
        "workflows": WORKFLOWS,
        "guess": project.notes.get("guess", ""),
        "preview": preview,
        "detected": preview.detected or {},
        "link": str(project.file.resolve()) if project.file.is_symlink() else "",
        "readers": options,
        "selected": {"missing": "own", **data, "header": header},
        "na": ", ".join(_list_na(data)),
        "commands": (format_command(["open", name]),) if workflow.word else (_format_init(name, data),),
    }


def _format_init(name: str, data: Mapping[str, Any]) -> str:
    words = [f"--{key} {value!r}" for key in ("encoding", "delimiter", "decimal") if (value := data.get(key))]
    words += [shlex.join(["--na", ",".join(_as_list(data["na"]))])] if "na" in data else []
    return " ".join([format_command(["init", name]), *words])


def _describe(project: Project, workflow: Workflow) -> Preview:
    """Return a sentence in place of rows."""
    assert workflow.describe is not None
    try:
        return Preview(notes=(workflow.describe(project),))
    except UnmaskError as error:
        return Preview(error=str(error))


def _list_recent() -> list[tuple[str, str, str]]:
    """Return name, path and age of the latest documents in the working folder."""
    paths = sorted(Path.cwd().glob("*.toml"), key=lambda path: -path.stat().st_mtime)
    documents = [(path.name, str(path), format_age(path.stat().st_mtime)) for path in paths if read_file_name(path)]
    return documents[:MAX_RECENT]


# --- forms ------------------------------------------------------------------------------------------------------------


def submit(project: Project, form: Mapping[str, Any]) -> str:
    """Open a file, or read it with other options."""
    action = str(form.get("do", ""))
    if action == "continue":
        return "roles"
    if action in ("resume", "discard"):
        return _handle_interrupted(project, str(form.get("folder", "")), action)
    if action == "read" and project.file is not None:
        _save_reader(project, form)
    elif action == "workflow" and project.file is not None:
        file_loading.change_workflow(project, str(form.get("workflow", "")))
    elif action == "another":
        project.clear()
    elif action == "demo":
        file_loading.open_demo(project)
    elif is_upload(upload := form.get("upload")):
        file_loading.open_upload(project, upload)
    else:
        path = str(form.get("path", "")).strip()
        if not path or "\0" in path or len(path) > MAX_PATH:
            raise UnmaskError("no file is selected; type its path, or choose it")
        file_loading.open_path(project, Path(path))
    return "open"


def _handle_interrupted(project: Project, name: str, action: str) -> str:
    """Resume or remove the folder of a server that was killed."""
    folders = {folder.name: folder for folder, _, _ in list_interrupted(project)}
    if name not in folders:
        raise FailedError("that work no longer exists, or another window uses it")
    if action == "resume":
        project.resume(folders[name])
        return ""
    Project(folders[name]).remove()
    return "open"


def _save_reader(project: Project, form: Mapping[str, Any]) -> None:
    """Save the options of the reader."""
    from unmask.tables.types import MISSING_CODES

    document = project.document
    previous = document["data"]
    data = {key: value for key, value in previous.items() if key not in (*READERS, "na")}
    if encoding := str(form.get("encoding", "")):
        data["encoding"] = check_encoding(encoding[:MAX_ENCODING])
    for key in ("delimiter", "header", "decimal", "missing"):
        if (value := str(form.get(key, ""))) in READERS[key][1] and value != "own":
            data[key] = value == "names" if key == "header" else value
    default = MISSING_CODES.intersection(_as_list(previous.get("na", MISSING_CODES)))  # a document may have fewer
    if words := [word.strip() for word in str(form.get("na", ""))[:MAX_NA].split(",") if word.strip()]:
        data["na"] = [*words, *sorted(default - set(words))]
    elif "na" in previous and not _list_na(previous):
        data["na"] = previous["na"]
    project.save({**document, "data": data})


def _list_na(data: Mapping[str, Any]) -> list[str]:
    """Return the words for a missing cell that are not among the default ones."""
    from unmask.tables.types import MISSING_CODES

    return [word for word in _as_list(data.get("na", ())) if word and word not in MISSING_CODES]


def _as_list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(map(str, value))
