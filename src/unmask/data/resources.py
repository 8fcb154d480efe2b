"""Resources of an engine: memory of the engine and of arrays, temporary disk, and output."""

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
"""Default memory limit of an engine, in bytes."""

_UNITS = {"": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}

MIN_MEMORY_BYTES = 512 << 20
"""Smallest memory limit, in bytes: below it, an empty audit does not run."""

PROCESS_BYTES = 200 << 20
"""Memory of Python, NumPy and the engine before the first row, in bytes."""


def divide_memory(memory_limit: int) -> tuple[int, int]:
    """Divide a memory limit, without that of the process, between engine and arrays in the ratio 2 to 3; in bytes.

    >>> divide_memory(4 << 30)
    (1634100838, 2451151258)
    """
    if memory_limit < MIN_MEMORY_BYTES:
        raise UnmaskError(
            f"the memory limit is {format_bytes(memory_limit)}, expected at least {format_bytes(MIN_MEMORY_BYTES)}"
        )
    available = memory_limit - PROCESS_BYTES
    engine = available * 2 // 5
    return engine, available - engine


def check_disk(disk_bytes: int, temp_directory: str | PathLike[str] | None) -> None:
    """Raise if the temporary directory has too little free space.

    disk_bytes     : largest number of bytes that the engine writes there
    temp_directory : default: the system's folder
    """
    try:
        free = shutil.disk_usage(temp_directory or tempfile.gettempdir()).free
    except OSError as error:
        raise FailedError(f"the temporary directory cannot be read: {error.strerror}; choose another one") from None
    if disk_bytes > free:
        raise FailedError(
            f"the engine may write {format_bytes(disk_bytes)} to its temporary directory, which has "
            f"{format_bytes(free)}; free some space, or choose another directory (`temp_directory`)"
        )


def check_output(path: Path, *, force: bool = False) -> None:
    """Raise for an output with another suffix than Parquet, without a folder, or that exists, unless forced."""
    if not path.name.lower().endswith((".parquet", ".pq")):
        raise UnmaskError(f"output {path.name!r} has another suffix; an engine writes .parquet")
    if path.exists() and not force:
        raise UnmaskError(f"output {path.name!r} exists; choose another name, or replace it with force=True")
    if not path.parent.is_dir():
        raise FailedError(f"the folder of output {path.name!r} does not exist; create it first")


@contextmanager
def temporary_folder(parent: str | PathLike[str] | None) -> Iterator[str]:
    """Create a private folder for data beyond memory and for copies of files; remove it afterwards."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="unmask-", dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        name = "the temporary folder" if parent is None else f"temporary folder {Path(parent).name!r}"
        raise FailedError(
            f"{name} cannot be written: {error.strerror}; choose another one (TMPDIR, or `temp_directory`)"
        ) from None
    with folder as path:
        yield path


def format_bytes(n_bytes: int) -> str:
    """Format a size for a sentence.

    >>> format_bytes(3 << 29), format_bytes(1 << 20)
    ('1.5 GiB', '1 MiB')
    """
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes >= 1 << 30 else f"{n_bytes / 2**20:.0f} MiB"


def parse_bytes(text: str) -> int:
    """Parse a size such as 2GiB, 500MB or 4G; a unit without i is a power of 1,000.

    >>> parse_bytes("2GiB"), parse_bytes("1.5 GB"), parse_bytes("4g")
    (2147483648, 1500000000, 4000000000)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", text.lower())
    if match is None or (match[3] and not match[2]):
        raise UnmaskError(f"size is {text!r}, expected a number and a unit, such as 2GiB or 500MB")
    unit = _UNITS[match[2]]
    if match[3]:
        unit = 1024 ** (round(len(str(unit)) / 3))
    return int(float(match[1]) * unit)
