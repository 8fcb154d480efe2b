"""The room that work in an engine has: memory, divided between the engine and the arrays, temporary disk, an output."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from unmask.core.errors import FailedError, UnmaskError

MEMORY_LIMIT = 4 << 30
"""Bytes an engine may use unless told otherwise."""

_UNITS = {"": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}

MIN_MEMORY_BYTES = 512 << 20
"""Bytes below which not even an empty audit runs."""

_PROCESS = 200 << 20
"""Bytes of Python, NumPy and the engine before the first row."""


def divide_memory(memory_limit: int) -> tuple[int, int]:
    """How a memory limit is divided between the engine and the arrays, in bytes: two to three, besides the process.

    >>> divide_memory(4 << 30)
    (1634100838, 2451151258)
    """
    if memory_limit < MIN_MEMORY_BYTES:
        raise UnmaskError(
            f"the memory limit is {format_bytes(memory_limit)}, expected at least {format_bytes(MIN_MEMORY_BYTES)}"
        )
    rest = memory_limit - _PROCESS
    engine = rest * 2 // 5
    return engine, rest - engine


def check_disk(
    disk_bytes: int, temp_directory: str | PathLike[str] | None, *, writer: str = "the engine may write"
) -> None:
    """Refuse what the temporary directory has no room for.

    disk_bytes : what the engine will write there at most. temp_directory : the system's folder unless given. writer :
    the beginning of the sentence.
    """
    try:
        free = shutil.disk_usage(temp_directory or tempfile.gettempdir()).free
    except OSError as error:
        raise FailedError(f"the temporary directory cannot be read: {error.strerror}; name another") from None
    if disk_bytes > free:
        raise FailedError(
            f"{writer} {format_bytes(disk_bytes)} to its temporary directory, which has {format_bytes(free)}; free "
            "some space or name another (--temp-directory)"
        )


def check_output(path: Path, *, force: bool = False) -> None:
    """Refuse what Parquet cannot be written to, before the work: another suffix, a file that is there unless it is to
    be overwritten, and a folder that does not exist.
    """
    if not path.name.lower().endswith((".parquet", ".pq")):
        raise UnmaskError(f"output {path.name!r} has another suffix; an engine writes .parquet")
    if path.exists() and not force:
        raise UnmaskError(f"output {path.name!r} exists; choose another name or overwrite it (--force, or force=True)")
    if not path.parent.is_dir():
        raise FailedError(f"output {path.name!r} is to be written to a folder that does not exist; make it first")


@contextmanager
def temporary_folder(parent: str | PathLike[str] | None) -> Iterator[str]:
    """A private folder for what does not fit the memory, and for copies of files; gone afterwards."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="unmask-", dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        where = "the temporary folder" if parent is None else f"temporary folder {Path(parent).name!r}"
        raise FailedError(
            f"{where} cannot be written: {error.strerror}; name another (TMPDIR, or --temp-directory)"
        ) from None
    with folder as name:
        yield name


def format_bytes(n_bytes: int) -> str:
    """A size for a sentence.

    >>> format_bytes(3 << 29), format_bytes(1 << 20)
    ('1.5 GiB', '1 MiB')
    """
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes >= 1 << 30 else f"{n_bytes / 2**20:.0f} MiB"


def parse_bytes(text: str) -> int:
    """A size such as 2GiB, 500MB or 4G as a number of bytes; a unit of thousands without the i.

    >>> in_bytes("2GiB"), in_bytes("1.5 GB"), in_bytes("4g")
    (2147483648, 1500000000, 4000000000)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", text.lower())
    if found is None or (found[3] and not found[2]):
        raise UnmaskError(f"size is {text!r}, expected a number and a unit, such as 2GiB or 500MB")
    unit = _UNITS[found[2]]
    if found[3]:
        unit = 1024 ** (round(len(str(unit)) / 3))
    return int(float(found[1]) * unit)
