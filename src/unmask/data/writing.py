"""Write files atomically, several together, or readable by their owner only."""

from __future__ import annotations

import csv
import io
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from unmask.core.errors import FailedError

ENDING = [number for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if (number := getattr(signal, name, None))]
"""Signals that end a command."""

STANDARD_OUTPUT = Path("-")
"""Path that denotes the standard output, for text."""


STARTS = "=+-@\t\r"
"""First characters of a spreadsheet formula."""


@contextmanager
def replace_files(*paths: Path | None) -> Iterator[Mapping[Path, Path]]:
    """Yield a temporary path for each file. At the end all files are renamed, or none after an error.

    A temporary path has the name of its file, in a private folder next to it. None is skipped. Text for `-` is written
    to the standard output before any file is renamed.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "a.txt")
    ...     with replace_files(file) as places:
    ...         _ = places[file].write_text("whole")
    ...         file.exists()
    ...     file.read_text()
    False
    'whole'
    """
    with ExitStack() as folders:
        places = {path: folders.enter_context(_place(path)) for path in paths if path is not None}
        yield places
        with defer_signals():
            _take_names(places)


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path for one file, which is renamed at the end; translate write errors."""
    with explain_write_errors(path), replace_files(path) as places:
        yield places[path]


@contextmanager
def explain_write_errors(path: Path) -> Iterator[None]:
    """Translate errors of the operating system into sentences about an output."""
    try:
        yield
    except OSError as error:
        raise FailedError(f"output {path.name!r} cannot be written: {error.strerror or error}") from None


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write a text as a new file. private : True if only its owner may read it, from the first byte"""
    mode: dict[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace", "newline": ""}
    with explain_write_errors(path), open(path, "x", opener=_for_owner if private else None, **mode) as file:
        file.write(text)


@contextmanager
def defer_signals() -> Iterator[None]:
    """Defer Ctrl-C and termination to the end of work that must not be interrupted."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread receives signals
        yield
        return
    deferred: list[int] = []
    handlers = {number: signal.getsignal(number) for number in ENDING}
    for number in handlers:
        signal.signal(number, lambda number, _frame: deferred.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if deferred:
            signal.raise_signal(deferred[0])


def is_formula(text: str) -> bool:
    """Return True if a spreadsheet would evaluate a text; a sign that is alone or before a number is harmless.

    >>> is_formula("=A1"), is_formula("@SUM(A1)"), is_formula("-1.5e3"), is_formula("+"), is_formula("[-1, 2]")
    (True, True, False, False, False)
    """
    if len(text) < 2 or text[0] not in STARTS:
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False


def format_csv(heading: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    r"""Return rows below a heading as the text of a CSV file.

    >>> format_csv(("name", "n"), [("a,b", 1)])
    'name,n\n"a,b",1\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(rows)
    return text.getvalue()


def escape_formula(text: str) -> str:
    """Return a text that no spreadsheet evaluates."""
    return f"'{text}" if is_formula(text) else text


def _for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


@contextmanager
def _place(path: Path) -> Iterator[Path]:
    import tempfile

    parent, name = (None, "output.csv") if path == STANDARD_OUTPUT else (path.parent, path.name)
    with explain_write_errors(path):
        folder = tempfile.TemporaryDirectory(prefix=".unmask-", dir=parent, ignore_cleanup_errors=True)
    with folder as place:
        yield Path(place) / name


def _take_names(places: Mapping[Path, Path]) -> None:
    written: list[Path] = []
    try:
        for path, place in sorted(places.items(), key=lambda item: item[0] != STANDARD_OUTPUT):
            with explain_write_errors(path):
                _take_name(path, place)
            written.append(path)
    except FailedError:
        for path in written:
            _remove(path)
        raise


def _take_name(path: Path, place: Path) -> None:
    if path == STANDARD_OUTPUT:
        with place.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.flush()
        return
    if path.is_dir() or (place.is_dir() and path.exists()):  # an engine may have written a folder
        _remove(path)
    place.replace(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    elif path != STANDARD_OUTPUT:
        path.unlink(missing_ok=True)
