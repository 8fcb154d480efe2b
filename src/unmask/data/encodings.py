"""Text files in UTF-8: the file itself, or a decompressed and decoded copy with uniform line ends."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, BinaryIO, cast

from unmask.core.errors import AmbiguousInput, FailedError, UnmaskError, nearest

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatch

ENCODINGS = (
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "koi8_r", "cp932", "euc_jp", "gb18030", "big5", "euc_kr",
)  # fmt: skip
"""Encodings that are recognized without a byte order mark, more likely ones first."""

MAX_UNPACKED_BYTES = 16 << 30
"""Largest decompressed size of a file, to protect the temporary disk."""

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark is a prefix of it
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CHUNK, _PROBE = 1 << 20, 1 << 16
_SUGGESTED = (
    "utf-8", "utf-16-le", "utf-16-be", "cp1252", "cp1250", "cp1251", "latin-1", "mac-roman", "shift_jis", "gb18030",
)  # fmt: skip
_OPENERS = {rb"\x1f\x8b": gzip.open, rb"BZh[1-9]1AY&SY": bz2.open, rb"\xfd7zXZ\0": lzma.open}
_CERTAIN_GAP, _CERTAIN_CHAOS, _CERTAIN_BYTES = 0.15, 0.1, 64  # measured on 400 texts in ten encodings


@dataclass(frozen=True)
class TextFile:
    """A text file that all engines can read: UTF-8, and decompressed unless it is a plain .gz file.

    Parameters
    ----------
    path : Path
        The file itself, or a copy in a private folder.
    name : str
        Name of the file that the user gave.
    note : str
        Sentence about a recognized encoding, or "".
    n_bytes : int
        Decompressed size.
    n_lines : int
        Number of physical lines, including blank ones.
    """

    path: Path
    name: str
    note: str
    n_bytes: int
    n_lines: int


@dataclass(frozen=True)
class _Scan:
    """Result of one pass over a file; `encoding` is "" if it must be recognized."""

    encoding: str = ""
    n_bytes: int = 0
    n_lines: int = 0
    has_usual_ends: bool = False


def check_encoding(name: str) -> str:
    """Return the canonical name of a text encoding; suggest one for an unknown name.

    Parameters
    ----------
    name : str
        Name of an encoding.

    Returns
    -------
    str
        Python's name of the encoding.

    Raises
    ------
    UnmaskError
        If no encoding has this name.

    Examples
    --------
    >>> check_encoding("cp125")
    Traceback (most recent call last):
    unmask.core.errors.UnmaskError: encoding 'cp125' is not known; did you mean 'cp1252'?
    """
    try:
        codec = codecs.lookup(name)
        codec.incrementaldecoder().decode(b"")
        "".encode(name)  # raises for codecs from bytes to bytes, such as hex
    except (LookupError, TypeError, ValueError):
        raise UnmaskError(f"encoding {name!r} is not known; {nearest(name.lower(), _SUGGESTED)}") from None
    return codec.name


def decode_text(path: Path, folder: str, encoding: str | None = None) -> TextFile:
    """Return a file as UTF-8 text: the file itself, or a copy of the same name in a folder.

    Parameters
    ----------
    path : Path
        The file, possibly compressed.
    folder : str
        Private folder for a copy.
    encoding : str or None
        Encoding of a file that has no byte order mark and is not UTF-8; None: recognized. A file that is UTF-8 up to
        some line is damaged.

    Returns
    -------
    TextFile
        The file, and its number of lines.

    Raises
    ------
    FailedError
        If the file is damaged, or has no known encoding.
    """
    name = f"file {path.name!r}"
    try:
        mark, status = _find_mark(path), path.stat()
        scan = _Scan(mark) if mark else _scan(path, encoding, (status.st_size, status.st_mtime_ns))
        plain = not _packing(path) or (path.name.lower().endswith(".gz") and _packing(path) is gzip.open)
        if scan.encoding == "utf-8" and plain and scan.has_usual_ends:
            return TextFile(path, path.name, "", scan.n_bytes, scan.n_lines)
        recognized, doubt = (scan.encoding, "") if scan.encoding else (encoding, "") if encoding else _recognize(path)
        copy = _copy(path, Path(folder), recognized or "utf-8")
    except (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile):
        raise FailedError(f"{name} is truncated or damaged; fetch it again") from None
    except gzip.BadGzipFile:
        raise FailedError(f"{name} cannot be read: it is not a valid gzip file") from None
    except OSError as error:
        raise FailedError(f"{name} cannot be read: {error.strerror or error}; check the path and the space") from None
    copied = _scan(copy, "utf-8", (0, 0))  # the cache has no entry for this path, because the folder is new
    return TextFile(copy, path.name, _note(name, mark, encoding, recognized, doubt), copied.n_bytes, copied.n_lines)


def _note(name: str, mark: str | None, encoding: str | None, recognized: str | None, doubt: str) -> str:
    if mark is not None:
        return f"the {name} is {mark.upper()} according to its byte order mark"
    if encoding or recognized == "utf-8":
        return ""
    rival = f"; it may be {doubt}" if doubt else ""
    return f"the {name} is not UTF-8; it was read as {recognized}{rival} (--encoding changes that)"


@contextmanager
def open_binary(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading bytes; it is decompressed according to its first bytes, not its name.

    Parameters
    ----------
    path : Path
        The file, possibly compressed.

    Yields
    ------
    binary file
        Decompressed bytes.
    """
    if zipfile.is_zipfile(path) and _start(path).startswith(b"PK"):
        with zipfile.ZipFile(path) as archive, archive.open(_member(archive, path.name)) as file:
            yield cast("BinaryIO", file)
        return
    with (_packing(path) or open)(path, "rb") as file:
        yield cast("BinaryIO", file)


@contextmanager
def open_text(path: Path) -> Iterator[io.TextIOWrapper]:
    """Open a file of `decode_text` for reading lines.

    Parameters
    ----------
    path : Path
        A file in UTF-8, possibly compressed.

    Yields
    ------
    text file
        Lines of the file.
    """
    with open_binary(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="\n") as text:
        yield text


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(10)


def _packing(path: Path):  # type: ignore[no-untyped-def]  # one of three functions of the library, or zip
    start = _start(path)
    if start.startswith(b"PK\x03\x04"):
        return zipfile.ZipFile
    return next((opener for magic, opener in _OPENERS.items() if re.match(magic, start)), None)


def _member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) != 1:
        raise AmbiguousInput(f"archive {name!r} has {len(members)} files, expected one; unpack it and name a file")
    return members[0]


def _find_mark(path: Path) -> str | None:
    with open_binary(path) as file:
        start = file.read(4)
    return next((encoding for sign, encoding in _MARKS.items() if start.startswith(sign)), None)


@lru_cache(maxsize=16)
def _scan(path: Path, encoding: str | None, _changed: tuple[int, int]) -> _Scan:
    """Scan a file; cached until it changes. If an encoding is given, NUL and ESC bytes belong to it."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    n_lines = n_bytes = n_pairs = n_returns = beyond = 0
    chunk, packed = b"", _packing(path) is not None
    with open_binary(path) as file:
        while piece := file.read(_CHUNK):
            chunk = piece + file.read(1) if piece.endswith(b"\r") else piece
            if b"\0" in chunk or (encoding is not None and b"\x1b" in chunk):
                return _Scan(encoding or _utf16(path, chunk, n_lines))
            try:
                text = "" if chunk.isascii() and not decoder.getstate()[0] else decoder.decode(chunk)
            except UnicodeDecodeError as error:
                beyond += sum(byte > 127 for byte in chunk[: error.start])
                return _refuse_damage(path, encoding, beyond, n_lines + chunk.count(b"\n", 0, error.start) + 1)
            beyond += len(text) - sum(map(str.isascii, text)) if beyond < 4 else 0
            n_lines, n_bytes = n_lines + chunk.count(b"\n"), n_bytes + len(chunk)
            returns = chunk.count(b"\r")
            n_returns, n_pairs = n_returns + returns, n_pairs + (chunk.count(b"\r\n") if returns else 0)
            if packed and n_bytes > MAX_UNPACKED_BYTES:
                raise UnmaskError(f"file {path.name!r} unpacks to more than 16 GiB; unpack it and name the file")
    if decoder.getstate()[0]:
        return _refuse_damage(path, encoding, beyond, n_lines + 1)
    has_usual_ends = n_pairs in (0, n_lines) and not (n_returns and not n_lines)
    return _Scan("utf-8", n_bytes, n_lines + (chunk[-1:] not in (b"\n", b"")), has_usual_ends)


def _utf16(path: Path, chunk: bytes, n_lines: int) -> str:
    """Return UTF-16 if every second byte of a file without a mark is NUL; raise otherwise."""
    even, odd = chunk[0::2].count(0), chunk[1::2].count(0)
    if n_lines == 0 and max(even, odd) > 0.15 * len(chunk) and min(even, odd) == 0:
        return "utf-16-be" if even else "utf-16-le"
    line = n_lines + chunk.count(b"\n", 0, chunk.index(b"\0")) + 1
    raise UnmaskError(f"line {line} of the file {path.name!r} has a NUL byte, expected text; remove it")


def _refuse_damage(path: Path, encoding: str | None, beyond: int, line: int) -> _Scan:
    """Return the scan of a file in another encoding; raise for a file that is UTF-8 up to a damaged line."""
    if encoding is None and beyond >= 4:
        raise FailedError(
            f"line {line} of the file {path.name!r} is not UTF-8 text, but the lines before it are; correct the line, "
            "or name the encoding of the file (`encoding`)"
        )
    return _Scan()


def _recognize(path: Path) -> tuple[str, str]:
    """Return the likeliest encoding of a file, and the second likeliest if the first is uncertain."""
    from charset_normalizer import from_bytes  # slow to load, and most files are UTF-8

    probe = io.BytesIO()
    with open_binary(path) as file:
        for line in file:
            if not line.isascii() and probe.write(line) and probe.tell() > _PROBE:
                break
    content = probe.getvalue()[:_PROBE]
    macintosh = ["mac_roman"] if b"\r" in content and b"\n" not in content else []
    matches = from_bytes(
        content, cp_isolation=[*ENCODINGS, *macintosh], threshold=0.5, language_threshold=0.0, enable_fallback=False
    )
    order = (*ENCODINGS, "mac_roman")
    ranked = sorted(matches, key=lambda match: (_cost(match), order.index(match.encoding)))
    if not ranked:
        raise FailedError(f"the encoding of file {path.name!r} is unknown; name it (`encoding`)")
    match = ranked[0]
    rival = next((rival for rival in ranked[1:] if str(rival) != str(match)), None)
    gap = 1.0 if rival is None else _cost(rival) - _cost(match)
    certain = gap >= _CERTAIN_GAP and match.chaos < _CERTAIN_CHAOS and len(content) >= _CERTAIN_BYTES
    likeliest = min(filter(order.__contains__, match.could_be_from_charset), key=order.index)  # of one text
    return likeliest, "" if certain else rival.encoding if rival else "another"


def _cost(match: CharsetMatch) -> float:
    return float(match.chaos - match.coherence / 2)


def _copy(path: Path, folder: Path, encoding: str) -> Path:
    copy = Path(mkdtemp(dir=folder)) / re.sub(r"(?i)\.(gz|bz2|xz|zip)$", "", path.name)
    try:
        with (
            open_binary(path) as file,
            io.TextIOWrapper(file, encoding=encoding, newline=None) as text,
            copy.open("w", encoding="utf-8", newline="\n") as decoded,
        ):
            while piece := text.read(_CHUNK):
                decoded.write(piece)
    except UnicodeError:
        raise FailedError(
            f"file {path.name!r} is neither UTF-8 nor {encoding} text; name its encoding (`encoding`)"
        ) from None
    return copy
