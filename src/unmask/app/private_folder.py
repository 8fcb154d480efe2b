"""Private folders: one for each server, locked while it runs, and found again after it was killed."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from unmask.data.writing import write_text
from unmask.languages import gettext as _

PREFIX = "unmask-open-"
"""Beginning of the names of private folders."""

LOCK = "lock"

MAX_UPLOAD_BYTES = 4 << 30
"""Bytes of a form with a file; a larger file is opened by its path."""


def list_parents() -> list[Path]:
    """Return the folders that may hold private folders, first the one for a new folder.

    The user's runtime folder ends with the login. It is used if it has room for the largest upload, without TMPDIR.
    """
    temporary, runtime = Path(tempfile.gettempdir()), Path(os.environ.get("XDG_RUNTIME_DIR") or os.devnull)
    if not is_private(runtime):
        return [temporary]
    has_room = shutil.disk_usage(runtime).free >= MAX_UPLOAD_BYTES and "TMPDIR" not in os.environ
    return [runtime, temporary] if has_room else [temporary, runtime]


def list_unlocked(parents: list[Path]) -> Iterator[Path]:
    """Yield the user's private folders that no server has."""
    for folder in {folder for parent in parents for folder in parent.glob(f"{PREFIX}*")}:
        try:
            if is_private(folder) and _is_unlocked(folder):
                yield folder
        except OSError:
            continue


def is_private(folder: Path) -> bool:
    """Return whether a path is a folder, not a link, that only the user can read."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    state = folder.stat()
    return not state.st_mode & 0o077 and state.st_uid == os.getuid()


def lock_folder(folder: Path) -> int | None:
    """Lock a folder until this process ends; return None if it is locked, or the system has no such locks."""
    try:
        import fcntl
    except ImportError:
        return None
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _is_unlocked(folder: Path) -> bool:
    lock = lock_folder(folder)
    if lock is None:
        return False
    os.close(lock)
    return True


def format_age(moment: float) -> str:
    """Return the time since a moment in words."""
    minutes = max(0, int(time.time() - moment) // 60)
    if not minutes:
        return _("just now")
    if minutes < 60:
        return _("{n} min ago", n=minutes)
    return _("{n} h ago", n=minutes // 60) if minutes < 2880 else _("days ago")


def replace_text(path: Path, text: str) -> None:
    """Write a private file, and replace the previous one at once."""
    partial = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    write_text(partial, text, private=True)
    partial.replace(path)
