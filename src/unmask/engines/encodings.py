"""Text files in UTF-8: as they are, or a copy; which encoding a file has is read from its mark, told, or guessed."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import BinaryIO, cast

from unmask.errors import FailedError, UnmaskError, nearest
from unmask.kept import kept

GUESS = "cp1252"
"""What spreadsheets of western Windows write."""

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # before the next one, with which it begins
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CHUNK = 1 << 20
_USUAL = (
    "utf-8",
    "utf-16-le",
    "utf-16-be",
    "cp1252",
    "cp1250",
    "cp1251",
    "latin-1",
    "mac-roman",
    "shift_jis",
    "gb18030",
)


def check_encoding(name: str) -> str:
    """The name of an encoding of text, or an error that suggests one.

    >>> check_encoding("cp125")
    Traceback (most recent call last):
    unmask.errors.UnmaskError: encoding 'cp125' is not known; did you mean 'cp1252'?
    """
    try:
        known = codecs.lookup(name)
        known.incrementaldecoder().decode(b"")
        "".encode(name)  # of bytes to bytes, such as hex, is none of text
    except (LookupError, TypeError, ValueError):
        raise UnmaskError(f"encoding {name!r} is not known; {nearest(name.lower(), _USUAL)}") from None
    return known.name


def in_utf8(path: Path, folder: str, encoding: str | None = None) -> tuple[Path, str]:
    """A text file that is UTF-8: the file itself, or a copy of the same name in a folder; and what was guessed.

    encoding : of a file that has no mark and is not UTF-8. Without one, cp1252 is guessed where no byte above 127
    belongs to UTF-8; a file that begins as UTF-8 and does not go on so is damaged.
    """
    name = f"file {path.name!r}"
    try:
        mark, at = _mark(path), path.stat()
        looked = partial(_is_utf8, path, encoding, (at.st_size, at.st_mtime_ns))
        if mark is None and kept(path, ("UTF-8", encoding), looked):
            return path, ""
        copy = _copy(path, Path(folder), mark or encoding or GUESS)
    except (EOFError, zlib.error):
        raise FailedError(f"{name} is truncated or damaged; fetch it again") from None
    except gzip.BadGzipFile:
        raise FailedError(f"{name} cannot be read: it is no valid gzip file") from None
    except OSError as error:
        raise FailedError(f"{name} cannot be read: {error.strerror or error}; check the path and the space") from None
    if mark is not None:
        return copy, f"the {name} is {mark.upper()}, as its first bytes say"
    return copy, "" if encoding else f"the {name} is not UTF-8; it was read as {GUESS} (--encoding changes that)"


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    with opened(path, "rb") as file:
        yield cast("BinaryIO", file)


def _mark(path: Path) -> str | None:
    with _opened(path) as file:
        start = file.read(4)
    return next((encoding for sign, encoding in _MARKS.items() if start.startswith(sign)), None)


@lru_cache(maxsize=16)
def _is_utf8(path: Path, encoding: str | None, _changed: tuple[int, int]) -> bool:
    """Whether every byte is; NUL and ESC, which are, belong to encodings of several bytes where one was told.

    A file is looked through once as long as it does not change: its header is asked for before its rows are read.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines, beyond = 1, False
    with _opened(path) as file:
        while chunk := file.read(_CHUNK):
            if encoding is not None and (b"\0" in chunk or b"\x1b" in chunk):
                return False
            plain = chunk.isascii() and not decoder.getstate()[0]
            try:
                beyond |= not plain and not decoder.decode(chunk).isascii()
            except UnicodeDecodeError as error:
                lines += chunk.count(b"\n", 0, max(error.start, 0))
                return _refused(path, encoding, beyond or not chunk[: max(error.start, 0)].isascii(), lines)
            lines += chunk.count(b"\n")
    if decoder.getstate()[0]:
        return _refused(path, encoding, beyond, lines)
    return True


def _refused(path: Path, encoding: str | None, beyond: bool, line: int) -> bool:
    """False for a file that is another encoding's; an error for one that is UTF-8 up to a damaged line."""
    if encoding is None and beyond:
        raise FailedError(
            f"line {line} of the file {path.name!r} is not UTF-8 text, though those before it are; mend the line, or "
            "name the encoding of the file (--encoding)"
        )
    return False


def _copy(path: Path, folder: Path, encoding: str) -> Path:
    copy = Path(mkdtemp(dir=folder)) / path.name.removesuffix(".gz").removesuffix(".GZ")
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with _opened(path) as file, copy.open("wb") as out:
            while chunk := file.read(_CHUNK):
                if encoding == GUESS and b"\0" in chunk:
                    raise UnicodeError
                out.write(decoder.decode(chunk).encode())
            out.write(decoder.decode(b"", final=True).encode())
    except UnicodeError:
        raise FailedError(
            f"file {path.name!r} is not UTF-8 text, nor {encoding}; name its encoding (--encoding)"
        ) from None
    return copy
