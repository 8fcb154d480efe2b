"""Journal of a study: one line with a checksum for each finished cell, so a crash loses at most the last line."""

from __future__ import annotations

import errno
import json
import os
import tempfile
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from unmask.core.errors import FailedError

Status = Literal["done", "not run", "failed", "timed out"]

SYNC_EVERY = 1.0
"""Seconds of results that a power failure can lose; a killed process loses none."""


@dataclass(frozen=True)
class Result:
    """Outcome of one cell.

    cell    : key of the cell
    status  : "done", "not run" if the measure does not apply, "failed" or "timed out"
    reason  : one sentence on why the cell is not done; "" if it is
    seconds : run time
    rows    : values of `Row.as_dict`; infinities are texts
    """

    cell: str
    status: Status
    reason: str
    seconds: float
    rows: tuple[Mapping[str, Any], ...] = ()


class Journal:
    """The finished cells of a folder, and a file to which new results are appended.

    Lines with a wrong checksum or without an end are ignored; their cells are not done and run again. Reading does not
    change the file; `appending` removes damaged lines. Only one process at a time may append.
    """

    def __init__(self, path: Path) -> None:
        """Read the file. `damaged` is the number of ignored lines."""
        self.path = path
        self.results: dict[str, Result] = {}
        self.damaged = 0
        self._synced = time.monotonic()
        self._read()

    def _read(self) -> list[bytes]:
        """Read the results, and return the undamaged lines."""
        self.results, self.damaged, good = {}, 0, []
        for line in _lines(self.path):
            result = _parse(line)
            if result is None:
                self.damaged += 1
            else:
                self.results[result.cell] = result
                good.append(line)
        return good

    @contextmanager
    def appending(self) -> Iterator[Journal]:
        """Open the file for `add` and repair it; raise if another process has it open."""
        with ExitStack() as stack:
            with self._writing():
                lock = stack.enter_context(self.path.with_suffix(".lock").open("ab"))
                _lock(lock.fileno(), self.path)
                good = self._read()  # another process may have appended
                if self.damaged:
                    _replace(self.path, b"".join(good))
                self._file = stack.enter_context(self.path.open("ab", buffering=0))
            yield self
            with self._writing():
                os.fsync(self._file.fileno())

    def add(self, result: Result) -> None:
        """Append a result; when the call returns, the operating system has it."""
        self.results[result.cell] = result
        content = json.dumps(vars(result), separators=(",", ":")).encode()
        line = b"%08x " % zlib.crc32(content) + content + b"\n"
        with self._writing():
            while line:  # a nearly full disk writes only a part
                line = line[self._file.write(line) :]
            if time.monotonic() - self._synced > SYNC_EVERY:
                os.fsync(self._file.fileno())
                self._synced = time.monotonic()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise FailedError(f"{self.path.name} cannot be written: {error.strerror}; check the folder") from None


def _lines(path: Path) -> list[bytes]:
    try:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "it is not a regular file")
        content = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise FailedError(f"{path.name} cannot be read: {error.strerror}; check the folder") from None
    return content.splitlines(keepends=True)


def _parse(line: bytes) -> Result | None:
    checksum, _, content = line.removesuffix(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(content):
        return None
    try:
        fields = json.loads(content)
        return Result(**{**fields, "rows": tuple(map(dict, fields["rows"]))})
    except (ValueError, TypeError, LookupError, RecursionError):  # correct checksum, but not a result
        return None


def _replace(path: Path, content: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).replace(path)


def _lock(descriptor: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # no file locks on this system: the user must avoid two processes in one folder
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FailedError(
            f"{path.parent} is in use by another process; wait for it, or choose another folder"
        ) from None
