"""One file on its way to a release: a private folder with its document, and all that commands write beside it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

from unmask.app.guard import UPLOAD
from unmask.app.jobs import Jobs
from unmask.core.errors import FailedError, UnmaskError
from unmask.data.source_files import SUFFIXES
from unmask.data.writing import write_text
from unmask.document import check_sections, load, populations
from unmask.toml_text import DOCUMENT, format_document, update_document

PREFIX = "unmask-open-"
"""How private folders are called."""

RELEASE, ORIGIN, AT_RISK, REPORT, AUDIT = "release.csv", "origin.csv", "at-risk.csv", "report.html", "audit.json"
CERTIFICATE, PAGE, STUDY, STUDIED = "certificate.json", "certificate.html", "study.toml", "study"

ATTACK = ("--report", REPORT, "--json", "--force")
"""What every audit is asked here."""

MECHANISM, CURVE, TRIED = "mechanism.csv", "curve.csv", "tried.csv"
GUESSED, PASSED = "guessed.txt", "passed.txt"

GAME, PRICED = "game.html", "game.toml"
"""The page of the publisher's game, and its document."""

COUNTED = "counted.pickle"
"""What was counted in a large table."""

RESERVED = (
    DOCUMENT, RELEASE, ORIGIN, AT_RISK, REPORT, AUDIT, CERTIFICATE, PAGE, STUDY, STUDIED, COUNTED, MECHANISM, CURVE,
    TRIED, GUESSED, PASSED, GAME, PRICED, "jobs", "lock",
)  # fmt: skip
"""Names in the folder that are no user's."""

NOT_JUDGED = ("title", "certificate", "publisher", "attackers")
"""What a document says that changes no number of a verdict."""

OPENED = (
    ("data", "file"), ("linkage", "truth"), ("channel", "channels"), ("channel", "coordinates"), ("channel", "prior"),
    ("graph", "release"),
)  # fmt: skip
"""Where a document names the file that was opened: the first that was not made here."""

NETWORKS = (".txt", ".txt.gz", ".net", ".graphml", ".graphml.gz", ".gexf", ".json")
"""Endings of files that hold networks alone."""


class Project:
    """The folder, the document in it, and its jobs.

    parents : folders in which others may be left

    >>> with tempfile.TemporaryDirectory() as parent:
    ...     project = Project.new(Path(parent))
    ...     project.folder.stat().st_mode & 0o777 == 0o700, project.file
    (True, None)
    """

    def __init__(self, folder: Path, parents: Sequence[Path] = ()) -> None:
        self.folder, self.parents = folder, parents or (folder.parent,)
        self.jobs = Jobs(folder / "jobs")
        self.held = _locked(folder)

    @classmethod
    def new(cls, parent: Path | None = None) -> Project:
        """Make a private folder."""
        parents = _parents() if parent is None else [parent]
        return cls(Path(tempfile.mkdtemp(prefix=PREFIX, dir=parents[0])), parents)

    def remove(self) -> None:
        """End the jobs and remove the folder."""
        self.jobs.close()
        if self.held is not None:
            os.close(self.held)
            self.held = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def become(self, other: Project) -> None:
        """Go on with another folder; the own one is removed."""
        if tempfile.tempdir == str(self.folder):
            tempfile.tempdir = str(other.folder)
        self.remove()
        self.folder, self.jobs, self.held = other.folder, other.jobs, other.held

    # ----- the document

    @property
    def given(self) -> dict[str, Any]:
        """What the document says; nothing before a file is opened."""
        path = self.folder / DOCUMENT
        if not path.exists():
            return {}
        at = path.stat()
        return deepcopy(_loaded(path, (at.st_ino, at.st_size, at.st_mtime_ns)))

    def save(
        self, given: Mapping[str, Any], *, of: Mapping[str, Any] | None = None, template: str | None = None
    ) -> None:
        """Write the document; the comments of the one before, or of a template, stay.

        of : the settings it was made of, an error if another window changed them
        """
        if of is not None and self.given != of:
            raise UnmaskError("the settings were changed in another window; look at them and change them again")
        check_sections(given)
        path, comments = self.folder / DOCUMENT, {"columns": self.reasons}
        if template is None and path.exists():
            template = path.read_text(encoding="utf-8")
        text = (
            format_document(given, comments=comments)
            if template is None
            else update_document(template, given, comments=comments)
        )
        beside = self.folder / f".{DOCUMENT}-{secrets.token_hex(4)}"
        write_text(beside, text, private=True)
        beside.replace(path)

    @property
    def reasons(self) -> dict[str, str]:
        """Column -> why its role was suggested."""
        path = self.folder / "reasons.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    @reasons.setter
    def reasons(self, said: Mapping[str, str]) -> None:
        (self.folder / "reasons.json").write_text(json.dumps(said), encoding="utf-8")

    @property
    def table(self) -> dict[str, Any]:
        """What the document says of its table, as `Table.read` takes it, its files beside the document."""
        (found,) = populations(self.given)
        trees = {name: str(self.folder / at) for name, at in found.get("hierarchies", {}).items()}
        return {**found, **({"hierarchies": trees} if trees else {})}

    @property
    def file(self) -> Path | None:
        """The file that was opened."""
        name = opened(self.given)
        return self.folder / name if name else None

    @property
    def guessed(self) -> str:
        """Why the file is what it is taken for; nothing of a document, which says it."""
        path = self.folder / GUESSED
        return path.read_text(encoding="utf-8") if path.exists() else ""

    @guessed.setter
    def guessed(self, why: str) -> None:
        write_text(self.folder / GUESSED, why, private=True)

    @property
    def passed(self) -> set[str]:
        """Steps whose suggestions somebody has gone on with."""
        path = self.folder / PASSED
        return set(path.read_text(encoding="utf-8").split()) if path.exists() else set()

    @passed.setter
    def passed(self, names: Collection[str]) -> None:
        (self.folder / PASSED).write_text(" ".join(sorted(names)), encoding="utf-8")

    @property
    def digest(self) -> str:
        """Of all that decides a release and its verdict: the document, and the files beside it by their times."""
        given = {key: value for key, value in self.given.items() if key not in NOT_JUDGED}
        files = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in self.inputs()]
        return hashlib.sha256(json.dumps([given, files], sort_keys=True, default=str).encode()).hexdigest()

    def inputs(self) -> Iterator[Path]:
        """The files that the document names and that are not made here."""
        there = {one.name: one for one in self.folder.iterdir() if one.is_file()}
        yield from (there[name] for name in sorted(set(_texts(self.given)) & there.keys() - set(RESERVED)))

    # ----- files

    def adopt(self, path: Path) -> str:
        """Put a file of the user's machine into the folder, as a link; returns its name there."""
        path = adoptable(path)
        place = self.place(path.name)
        place.symlink_to(path)
        return place.name

    def keep(self, name: str, source: Any) -> str:
        """Put what a browser sent into the folder; returns its name there."""
        place = self.place(name)
        with open(place, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            shutil.copyfileobj(source, file, 1 << 20)
        return place.name

    def place(self, name: str) -> Path:
        """A free name in the folder."""
        clean = _clean(name)
        stem, dot, ending = clean.partition(".")
        numbered = (f"{stem}-{number}{dot}{ending}" for number in range(2, 10_000))
        taken = {*RESERVED, *(one.name for one in self.folder.iterdir())}
        return self.folder / next(one for one in (clean, *numbered) if one not in taken)

    def forget(self, *names: str) -> None:
        """Remove files and folders that were made here, where they are."""
        for name in names:
            path = self.folder / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def clear(self, *, but: str = "") -> None:
        """Back to an empty folder, for another file, or to one that holds only it."""
        self.jobs.close()
        self.forget(*(one.name for one in self.folder.iterdir() if one.name not in ("lock", but)))

    def done(self, name: str) -> bool:
        """Whether a job has finished on what is there now."""
        job = self.jobs.find(name)
        return job is not None and job.state == "finished" and job.of == self.digest


@lru_cache(maxsize=2)
def _loaded(path: Path, _changed: tuple[int, int, int]) -> dict[str, Any]:
    """A document, which a screen asks for some twenty times, read once as long as it does not change."""
    return load(path)


def adoptable(path: Path) -> Path:
    """Where a file of the user's machine is; an error where it is none, or has an ending of no file that is read."""
    path = path.expanduser().absolute()
    if not path.is_file():
        raise FailedError(f"file {path.name!r} does not exist or is no file; check the path")
    _clean(path.name)
    return path


def _clean(name: str) -> str:
    """A name that no pattern of files and no list of names can be taken for; spaces and parentheses stay."""
    clean = re.sub(r"[^\w.+() -]+", "_", name.replace("\\", "/").rpartition("/")[2])[-100:].lstrip(".- ") or "table.csv"
    if not clean.lower().endswith((*SUFFIXES, *NETWORKS, ".toml")):
        raise UnmaskError(f"file {clean!r} has another ending; expected one of {', '.join(SUFFIXES)}")
    return clean


def left_behind(project: Project) -> list[tuple[Path, str, float]]:
    """Folders of servers that were killed: the folder, the name of its table, and when it was last changed."""
    found = []
    for folder in {folder for parent in project.parents for folder in parent.glob(f"{PREFIX}*")} - {project.folder}:
        with suppress(OSError):
            if _is_private(folder) and _is_free(folder):
                found.append((folder, _opened_in(folder), folder.stat().st_mtime))
    return sorted(found, key=lambda one: -one[2])


def _opened_in(folder: Path) -> str:
    try:
        return opened(load(folder / DOCUMENT))
    except UnmaskError:
        return ""


def _parents() -> list[Path]:
    """Return the folders that may hold private folders, first the one for a new folder.

    The user's runtime folder ends with the login. It is used if it has room for the largest upload, without TMPDIR.
    """
    temporary, runtime = Path(tempfile.gettempdir()), Path(os.environ.get("XDG_RUNTIME_DIR") or os.devnull)
    if not _is_private(runtime):
        return [temporary]
    roomy = shutil.disk_usage(runtime).free >= UPLOAD and "TMPDIR" not in os.environ
    return [runtime, temporary] if roomy else [temporary, runtime]


def _is_private(folder: Path) -> bool:
    """Return whether a path is a folder itself, no link, and the user's alone."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    known = folder.stat()
    return not known.st_mode & 0o077 and known.st_uid == os.getuid()


def opened(given: Mapping[str, Any]) -> str:
    """The name of the file that a document is about.

    >>> opened({"graph": {"release": "friends.txt"}}), opened({})
    ('friends.txt', '')
    """
    for table, key in OPENED:
        entry = given.get(table)
        said = entry.get(key, "") if isinstance(entry, dict) else ""
        for name in said if isinstance(said, list) else [said]:
            if isinstance(name, str) and name and (table == "data" or name not in made_here(given)):
                return name
    return ""


def made_here(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Names that mean files of this folder in a document: those of a release, where it has a protection to make it."""
    return RESERVED if given.get("protections") else ()


def ago(moment: float) -> str:
    """How long ago, in words."""
    minutes = max(0, int(time.time() - moment) // 60)
    if not minutes:
        return "just now"
    return f"{minutes} min ago" if minutes < 60 else f"{minutes // 60} h ago" if minutes < 2880 else "days ago"


def _texts(given: object) -> Iterator[str]:
    """Every text among values."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, Mapping | list):
        for one in given.values() if isinstance(given, Mapping) else given:
            yield from _texts(one)


def _locked(folder: Path) -> int | None:
    """Hold a folder as long as this process lives; None where the system has no such locks, or another holds it."""
    try:
        import fcntl
    except ImportError:
        return None
    held = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        return None
    return held


def _is_free(folder: Path) -> bool:
    """Whether no process holds a folder."""
    held = _locked(folder)
    if held is None:
        return False
    os.close(held)
    return True
