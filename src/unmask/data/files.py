"""Public data files by name, verified by SHA-256, and TOML and JSON documents."""

from __future__ import annotations

import errno
import json
import os
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unmask.core.errors import FailedError, UnmaskError


def locate(name: str, *, sha256: str, origin: str | None = None) -> Path:
    """Return the path of a data file such as "tables/adult/adult.data", with its checksum verified.

    The file is in the folder of the environment variable UNMASK_DATA, or in the user's cache (`~/.cache/unmask`). If
    UNMASK_DATA is not set, a missing file is downloaded from `origin` into the cache and checked.
    """
    data_folder = os.environ.get("UNMASK_DATA")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unmask"
    for folder in ([Path(data_folder)] if data_folder else []) + [cache]:
        path = folder / name
        if path.is_file():
            _verify(path, name, sha256)
            return path
    if data_folder or origin is None:
        folder_name = name.partition("/")[0]
        raise FailedError(
            f"data file {name} was not found; set UNMASK_DATA to the folder that holds `{folder_name}/` with that file"
        )
    return _download(origin, cache / name, name, sha256)


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file; raise for a device, which may never end."""
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, "it is a device")
    return path.read_text(encoding="utf-8")


MAX_DOCUMENT_BYTES = 64 << 20
"""Largest size of a document, in bytes."""


def read_toml(path: Path, kind: str) -> dict[str, Any]:
    """Return the tables of a TOML file. kind : noun for errors, such as document"""
    tables: dict[str, Any] = _parse(path, kind, tomllib.loads, "TOML")
    return tables


def read_json(path: Path, kind: str) -> Any:
    """Return the value of a JSON file. kind : noun for errors, such as certificate"""
    return _parse(path, kind, json.loads, "JSON")


def _parse(path: Path, kind: str, parse: Callable[[str], Any], form: str) -> Any:
    """Return the content of a document. Pipes and devices are rejected, because they may never end."""
    name = f"{kind} {path.name!r}"
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        with path.open("rb") as file:
            content = file.read(MAX_DOCUMENT_BYTES + 1)
        if len(content) > MAX_DOCUMENT_BYTES:
            raise OSError(errno.EFBIG, f"it is larger than {MAX_DOCUMENT_BYTES >> 20} MiB")
        return parse(content.decode("utf-8"))
    except OSError as error:
        raise FailedError(f"{name} cannot be read: {error.strerror}; check the path") from None
    except UnicodeDecodeError:
        raise UnmaskError(f"{name} is not UTF-8 text; expected a {form} file") from None
    except RecursionError:
        raise UnmaskError(f"{name} is nested too deeply; expected a {form} file of a few levels") from None
    except ValueError as error:
        raise UnmaskError(f"{name} is not {form}: {error}") from None


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    import hashlib

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _verify(path: Path, name: str, sha256: str) -> None:
    try:
        digest = hash_file(path)
    except OSError as error:
        raise FailedError(f"data file {name} cannot be read: {error.strerror}") from None
    if digest != sha256:
        raise FailedError(f"data file {name} has SHA-256 {digest[:12]}..., expected {sha256[:12]}...; fetch it again")


def _download(origin: str, path: Path, name: str, sha256: str) -> Path:
    import tempfile
    from urllib.request import urlopen  # late imports: slow to load, and rarely needed

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
