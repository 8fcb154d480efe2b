"""What a command reads of a file is kept for the commands that follow, in a private folder that is named to them."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

KEPT = "UNMASK_KEPT"
"""Environment variable that names the folder; nothing is kept without it."""

FOLDER = "kept"
"""What the folder is called beside a document."""


def kept(source: object, reading: object, read: Callable[[], T]) -> T:
    """What is read of a file, or was read of it the same way as long as it is as it was; of what is no file, what is
    read.
    """
    place = _place(source, reading)
    if place is None:
        return read()
    with suppress(FileNotFoundError):
        found: T = pickle.loads(place.read_bytes())
        return found
    found = read()
    with suppress(FileNotFoundError):  # the folder was just emptied
        place.parent.mkdir(mode=0o700, exist_ok=True)
        beside = place.with_suffix(f".{os.getpid()}")
        with beside.open("wb") as file:
            pickle.dump(found, file, protocol=5)
        beside.replace(place)
    return found


def hand_on(source: object, reading: object, found: Callable[[], T]) -> None:
    """Keep what a command knows of a file that it wrote, for those that read it that way."""
    if KEPT in os.environ:
        kept(source, reading, found)


def _place(source: object, reading: object) -> Path | None:
    folder = os.environ.get(KEPT)
    if not folder or not isinstance(source, str | PathLike):
        return None
    try:
        path = Path(os.fspath(source)).resolve(strict=True)
        at = path.stat()
    except OSError:  # who reads it says what is wrong
        return None
    told = repr((str(path), at.st_size, at.st_mtime_ns, reading))
    return Path(folder) / hashlib.sha256(told.encode()).hexdigest()
