"""Public data files by name: found, fetched where that is possible, and checked against their SHA-256 before use."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.core.errors import FailedError, UnmaskError
from unmask.databases import database, failure

if TYPE_CHECKING:
    import duckdb


def locate(name: str, *, sha256: str, origin: str | None = None) -> Path:
    """The path of a data file such as "tables/adult/adult.data", its checksum verified.

    Looked for in the folder that the environment variable UNMASK_DATA names, then in the user's cache
    (`~/.cache/unmask`). Where it is in neither and UNMASK_DATA is not set, it is downloaded from `origin`, if one is
    given, into the cache: whole and checked, or not at all.
    """
    given = os.environ.get("UNMASK_DATA")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unmask"
    for folder in ([Path(given)] if given else []) + [cache]:
        path = folder / name
        if path.is_file():
            _verify(path, name, sha256)
            return path
    if given or origin is None:
        folder_name = name.partition("/")[0]
        raise FailedError(
            f"data file {name} was not found; set UNMASK_DATA to the folder that holds `{folder_name}/` with that file"
        )
    return _download(origin, cache / name, name, sha256)


def text_of(path: Path) -> str:
    """The text of a file, in UTF-8; a device, which might never end, is none. Raises what reading a file raises."""
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, "it is a device")
    return path.read_text(encoding="utf-8")


LARGEST_DOCUMENT = 64 << 20
"""Bytes of a document that are read."""


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """Return the tables of a TOML file. kind : noun for errors, such as document"""
    found: dict[str, Any] = _parsed(path, kind, tomllib.loads, "TOML")
    return found


def read_json(path: Path, kind: str) -> Any:
    """Return the value of a JSON file. kind : noun for errors, such as certificate"""
    return _parsed(path, kind, json.loads, "JSON")


def _parsed(path: Path, kind: str, parse: Callable[[str], Any], form: str) -> Any:
    """Return the content of a document. Pipes and devices are refused: they may never end."""
    name = f"{kind} {path.name!r}"
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError(errno.EINVAL, "it is no plain file")
        with path.open("rb") as file:
            content = file.read(LARGEST_DOCUMENT + 1)
        if len(content) > LARGEST_DOCUMENT:
            raise OSError(errno.EFBIG, f"it is larger than {LARGEST_DOCUMENT >> 20} MiB")
        return parse(content.decode("utf-8"))
    except OSError as error:
        raise FailedError(f"{name} cannot be read: {error.strerror}; check the path") from None
    except UnicodeDecodeError:
        raise UnmaskError(f"{name} is not UTF-8 text; expected a {form} file") from None
    except RecursionError:
        raise UnmaskError(f"{name} is nested too deeply; expected a {form} file of a few levels") from None
    except ValueError as error:
        raise UnmaskError(f"{name} is not {form}: {error}") from None


def sha256_of(path: Path) -> str:
    """The SHA-256 of what a file holds, in hexadecimal digits. Raises what reading a file raises."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _verify(path: Path, name: str, sha256: str) -> None:
    try:
        digest = sha256_of(path)
    except OSError as error:
        raise FailedError(f"data file {name} cannot be read: {error.strerror}") from None
    if digest != sha256:
        raise FailedError(f"data file {name} has SHA-256 {digest[:12]}..., expected {sha256[:12]}...; fetch it again")


def _download(origin: str, path: Path, name: str, sha256: str) -> Path:
    from urllib.request import urlopen  # not at the top: slow to load, and most data are at hand

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".download-", dir=path.parent) as folder:
            part = Path(folder) / path.name
            with urlopen(origin, timeout=60) as answer:
                part.write_bytes(answer.read())
            _verify(part, name, sha256)
            part.replace(path)
    except OSError:
        raise FailedError(
            f"data file {name} could not be downloaded; set UNMASK_DATA to the folder that holds "
            f"`{name.partition('/')[0]}/`"
        ) from None
    return path


@contextmanager
def engine(folder: str | None = None, *, memory_limit: int | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A private in-memory database that reads files; what was made in it is gone afterwards.

    folder : for spilled data; one of its own, which is gone, too, unless given
    memory_limit : bytes of the database; None: 4 GiB, or half of the machine's memory if that is less

    >>> with engine() as connection:
    ...     connection.execute("select 1 + 1").fetchall()
    [(2,)]
    """
    import duckdb

    with (
        tempfile.TemporaryDirectory(prefix="unmask-", ignore_cleanup_errors=True) as own,
        database(folder or own, memory_limit=memory_limit or _memory_limit()) as connection,
    ):
        try:
            yield connection
        except duckdb.Error as error:
            raise failure(error, f"DuckDB cannot carry out the work ({type(error).__name__})") from None


_MEMORY_LIMIT = 4 << 30


def _memory_limit() -> int:
    """4 GiB, or half of the machine's memory where that is less."""
    if not hasattr(os, "sysconf"):
        return _MEMORY_LIMIT
    return min(_MEMORY_LIMIT, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
