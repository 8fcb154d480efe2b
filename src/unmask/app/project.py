"""A project: a private folder with a document, the files that it names, and the outputs of commands."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from unmask.app.jobs import Jobs
from unmask.app.private_folder import LOCK, PREFIX, list_parents, list_unlocked, lock_folder, replace_text
from unmask.core.errors import FailedError, UnmaskError
from unmask.document import check_sections, list_datasets, load
from unmask.domains import DOMAINS
from unmask.toml_text import DOCUMENT, format_document, update_document

RELEASE, ORIGIN, AT_RISK, REPORT, AUDIT = "release.csv", "origin.csv", "at-risk.csv", "report.html", "audit.json"
WORKBOOK, PARQUET, MAPPING, RISKS = "release.xlsx", "release.parquet", "mapping.csv", "risks.csv"
CERTIFICATE, CERTIFICATE_PAGE = "certificate.json", "certificate.html"
STUDY, STUDY_FOLDER = "study.toml", "study"
GAME, GAME_PAGE = "game.toml", "game.html"
MECHANISM, CURVE, CURVE_MECHANISM = "mechanism.csv", "curve.csv", "tried.csv"
PROFILE, NOTES = "columns.pickle", "notes.json"

OUTPUTS = (
    DOCUMENT, RELEASE, WORKBOOK, PARQUET, MAPPING, RISKS, ORIGIN, AT_RISK, REPORT, AUDIT, CERTIFICATE, CERTIFICATE_PAGE,
    STUDY, STUDY_FOLDER, PROFILE, MECHANISM, CURVE, CURVE_MECHANISM, NOTES, GAME_PAGE, GAME, "jobs", LOCK,
)  # fmt: skip
"""Names in the folder that an opened file cannot have."""

AUDIT_OPTIONS = ("--report", REPORT, "--json", "--force")
"""Options of every audit."""

NOT_AUDITED = ("title", "certificate", "publisher", "attackers")
"""Sections of a document that change no number of a verdict."""

FILE_KEYS = (
    ("data", "file"), ("linkage", "truth"), ("channel", "channels"), ("channel", "coordinates"), ("channel", "prior"),
    ("graph", "release"), ("aggregates", "tables"),
)  # fmt: skip
"""Keys of a document that may name the opened file: the first one that names no output."""

NETWORK_SUFFIXES = (".txt", ".txt.gz", ".net", ".graphml", ".graphml.gz", ".gexf", ".json")
"""Endings of files that hold networks only."""

PUBLISHED = DOMAINS["aggregates"].release_file
"""Description of the published tables of a folder."""

DESCRIPTION_SUFFIX = ".toml"
"""Ending of a description of published tables."""

MAX_NAME = 100
"""Characters of a file name."""


class Project:
    """The private folder, its document, and its jobs.

    parents : folders that may hold private folders of other servers

    >>> with tempfile.TemporaryDirectory() as parent:
    ...     project = Project.new(Path(parent))
    ...     project.folder.stat().st_mode & 0o777 == 0o700, project.file
    (True, None)
    """

    def __init__(self, folder: Path, parents: Sequence[Path] = ()) -> None:
        self.folder, self.parents = folder, list(parents) or [folder.parent]
        self.jobs = Jobs(folder / "jobs")
        self.lock = lock_folder(folder)

    @classmethod
    def new(cls, parent: Path | None = None) -> Project:
        """Make a private folder."""
        parents = list_parents() if parent is None else [parent]
        return cls(Path(tempfile.mkdtemp(prefix=PREFIX, dir=parents[0])), parents)

    def remove(self) -> None:
        """End the jobs and remove the folder."""
        self.jobs.close()
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def resume(self, folder: Path) -> None:
        """Continue with the folder of a server that was killed, and remove the present one."""
        other = Project(folder)
        if tempfile.tempdir == str(self.folder):
            tempfile.tempdir = str(folder)
        self.remove()
        self.folder, self.jobs, self.lock = other.folder, other.jobs, other.lock

    # ----- the document

    @property
    def document(self) -> dict[str, Any]:
        """Content of the document; {} before a file is opened."""
        path = self.folder / DOCUMENT
        if not path.exists():
            return {}
        state = path.stat()
        return deepcopy(_load(path, (state.st_ino, state.st_size, state.st_mtime_ns)))

    def save(self, document: Mapping[str, Any], *, template: str | None = None) -> None:
        """Write the document; comments of the previous text, or of a template, stay."""
        check_sections(document)
        path, comments = self.folder / DOCUMENT, {"columns": self.notes.get("reasons", {})}
        if template is None and path.exists():
            template = path.read_text(encoding="utf-8")
        if template is None:
            text = format_document(document, comments=comments)
        else:
            text = update_document(template, document, comments=comments)
        replace_text(path, text)

    @property
    def table(self) -> dict[str, Any]:
        """Parameters of `Table.read` in the document, with paths of hierarchies."""
        (table,) = list_datasets(self.document)
        paths = {name: str(self.folder / file) for name, file in table.get("hierarchies", {}).items()}
        return {**table, **({"hierarchies": paths} if paths else {})}

    @property
    def hierarchies(self) -> dict[str, str]:
        """Column -> file of its hierarchy in the folder."""
        columns = self.document.get("columns", {}).items()
        return {name: entry["hierarchy"] for name, entry in columns if isinstance(entry, dict) and "hierarchy" in entry}

    @property
    def file(self) -> Path | None:
        """The opened file."""
        name = find_file_name(self.document)
        return self.folder / name if name else None

    @property
    def digest(self) -> str:
        """Digest of the input of a verdict: the document, and the files that it names with their times."""
        document = {key: value for key, value in self.document.items() if key not in NOT_AUDITED}
        files = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in self.list_inputs()]
        return hashlib.sha256(json.dumps([document, files], sort_keys=True, default=str).encode()).hexdigest()

    def list_inputs(self) -> Iterator[Path]:
        """Yield the files that the document names and no command writes."""
        files = {path.name: path for path in self.folder.iterdir() if path.is_file()}
        names = {*_list_texts(self.document), *self.list_published_tables()}
        yield from (files[name] for name in sorted(names & files.keys() - set(OUTPUTS)))

    def list_published_tables(self) -> list[str]:
        """Return the names of the tables that the opened description names; [] without a valid description."""
        try:
            return check_table_names(self.folder / self.document["aggregates"]["tables"])
        except (UnmaskError, KeyError, TypeError):
            return []

    def is_done(self, name: str) -> bool:
        """Return whether a job has finished for the present document and files."""
        job = self.jobs.find(name)
        return job is not None and job.state == "finished" and job.digest == self.digest

    # ----- notes about the document

    @property
    def notes(self) -> dict[str, Any]:
        """Notes: reasons of the guessed workflow (guess) and of suggested roles (reasons), and confirmed steps."""
        path = self.folder / NOTES
        return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}

    def add_notes(self, **notes: Any) -> None:
        """Write notes; others stay."""
        replace_text(self.folder / NOTES, json.dumps({**self.notes, **notes}))

    # ----- files

    def link_file(self, path: Path) -> str:
        """Link to a file of the user's machine; return the name of the link."""
        path = check_path(path)
        link = self.reserve_path(path.name)
        link.symlink_to(path)
        return link.name

    def store_upload(self, upload: Any) -> str:
        """Store a file that the browser sent; return its name in the folder."""
        path = self.reserve_path(upload.filename)
        self.write_copy(upload.file, path.name)
        return path.name

    def write_copy(self, source: BinaryIO, name: str) -> None:
        """Write a private file of the folder; no other file is written through a link with its name."""
        self.delete(name)
        with open(self.folder / name, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            shutil.copyfileobj(source, file, 1 << 20)

    def reserve_path(self, name: str) -> Path:
        """Return an unused path in the folder."""
        name = _clean_name(name)
        stem, dot, ending = name.partition(".")
        numbered = (f"{stem}-{number}{dot}{ending}" for number in range(2, 10_000))
        used = {*OUTPUTS, *self.list_published_tables(), *(path.name for path in self.folder.iterdir())}
        return self.folder / next(name for name in (name, *numbered) if name not in used)

    def delete(self, *names: str) -> None:
        """Delete files and folders, if they exist."""
        for name in names:
            path = self.folder / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def clear(self, *, keep: str = "") -> None:
        """Empty the folder, except for one file."""
        self.jobs.close()
        self.delete(*(path.name for path in self.folder.iterdir() if path.name not in (LOCK, keep)))


@lru_cache(maxsize=2)
def _load(path: Path, _changed: tuple[int, int, int]) -> dict[str, Any]:
    """Load a document once until it changes; a screen needs it some twenty times."""
    return load(path)


def check_path(path: Path) -> Path:
    """Return the absolute path of a file, or raise an error if it is missing or has another ending."""
    path = find_description(path)
    if not path.is_file():
        raise FailedError(f"file {path.name!r} does not exist or is not a file; check the path")
    _clean_name(path.name)
    return path


def find_description(path: Path) -> Path:
    """Return the absolute path of a file; for a folder of published tables, that of its description."""
    path = path.expanduser().absolute()
    return path / PUBLISHED if path.is_dir() else path


def check_table_names(description: Path) -> list[str]:
    """Return the files that a description of published tables names; raise an error for one outside its folder."""
    from unmask.aggregates.table_files import list_table_names

    names = list_table_names(description)
    for name in names:
        if name in OUTPUTS or name.lower().endswith(DESCRIPTION_SUFFIX) or _clean_name(name) != name:
            raise UnmaskError(
                f"{description.name} names the file {name[:MAX_NAME]!r}, expected the name of a table next to it, "
                "such as ages.csv; rename or move it"
            )
    return names


def _clean_name(name: str) -> str:
    """Return a name without patterns of files and without lists of names; spaces and parentheses stay."""
    from unmask.data.source_files import SUFFIXES  # not at the top: the server starts without readers

    name = re.sub(r"[^\w.+() -]+", "_", name.replace("\\", "/").rpartition("/")[2])[-MAX_NAME:].lstrip(".- ")
    name = name or "table.csv"
    if not name.lower().endswith((*SUFFIXES, *NETWORK_SUFFIXES, ".toml")):
        raise UnmaskError(f"file {name!r} has another ending; expected one of {', '.join(SUFFIXES)}")
    return name


def list_interrupted(project: Project) -> list[tuple[Path, str, float]]:
    """Return the folders of killed servers, newest first: folder, name of the opened file, time of the last change."""
    folders = []
    for folder in list_unlocked(project.parents):
        with suppress(OSError):
            if folder != project.folder:
                folders.append((folder, read_file_name(folder / DOCUMENT), folder.stat().st_mtime))
    return sorted(folders, key=lambda item: -item[2])


def read_file_name(document: Path) -> str:
    """Return the name of the file that a document in a file is about; "" without a document."""
    try:
        return find_file_name(load(document))
    except (UnmaskError, AttributeError, TypeError):
        return ""


def find_file_name(document: Mapping[str, Any]) -> str:
    """Return the name of the file that a document is about.

    >>> find_file_name({"graph": {"release": "friends.txt"}}), find_file_name({})
    ('friends.txt', '')
    """
    for section, key in FILE_KEYS:
        entry = document.get(section)
        value = entry.get(key, "") if isinstance(entry, dict) else ""
        for name in value if isinstance(value, list) else [value]:
            if isinstance(name, str) and name and (section == "data" or name not in list_outputs(document)):
                return name
    return ""


def list_outputs(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names that mean outputs of commands in a document with a protection."""
    return OUTPUTS if document.get("protections") else ()


def _list_texts(value: object) -> Iterator[str]:
    """Yield every text in nested values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _list_texts(item)
