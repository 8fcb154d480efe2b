"""Files that are written whole or not at all, several of them together, and files that their owner alone can read."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from unmask.core.errors import FailedError

ENDING = [number for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if (number := getattr(signal, name, None))]
"""Signals that end a command."""

STANDARD_OUTPUT = Path("-")
"""Names the standard output, where a command writes text."""


STARTS = "=+-@\t\r"
"""Characters that begin a formula of a spreadsheet."""


@contextmanager
def together(*paths: Path | None) -> Iterator[Mapping[Path, Path]]:
    """A place to write each file, all of which take their names at the end; after an error none of them is there.

    A place has the name of its file, in a folder of its own beside it that nobody else can enter. None is no file. What
    is written for `-` goes to the standard output, before any file takes its name.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "a.txt")
    ...     with together(file) as places:
    ...         _ = places[file].write_text("whole")
    ...         file.exists()
    ...     file.read_text()
    False
    'whole'
    """
    with ExitStack() as folders:
        places = {path: folders.enter_context(_place(path)) for path in paths if path is not None}
        yield places
        with undisturbed():
            _take_names(places)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """The same for one file; a file that cannot be written is a sentence."""
    with told(path), together(path) as places:
        yield places[path]


@contextmanager
def told(path: Path) -> Iterator[None]:
    """What the system has against writing a file, as a sentence."""
    try:
        yield
    except OSError as error:
        raise FailedError(f"output {path.name!r} cannot be written: {error.strerror or error}") from None


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """A text as a new file; private : for its owner alone, from the first byte."""
    how: dict[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace", "newline": ""}
    with told(path), open(path, "x", opener=_for_owner if private else None, **how) as file:
        file.write(text)


@contextmanager
def undisturbed() -> Iterator[None]:
    """What must not be cut in two: a Ctrl-C or a termination that comes meanwhile is heard afterwards."""
    if threading.current_thread() is not threading.main_thread():  # which is where signals are heard
        yield
        return
    heard: list[int] = []
    before = {number: signal.getsignal(number) for number in ENDING}
    for number in before:
        signal.signal(number, lambda late, _frame: heard.append(late))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if heard:
            signal.raise_signal(heard[0])


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet would run a text; a sign alone, or before a number, it does not.

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


def escape(text: str) -> str:
    """Return a text that no spreadsheet runs."""
    return f"'{text}" if is_formula(text) else text


def _for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


@contextmanager
def _place(path: Path) -> Iterator[Path]:
    beside, name = (None, "output.csv") if path == STANDARD_OUTPUT else (path.parent, path.name)
    with told(path):
        folder = tempfile.TemporaryDirectory(prefix=".unmask-", dir=beside, ignore_cleanup_errors=True)
    with folder as place:
        yield Path(place) / name


def _take_names(places: Mapping[Path, Path]) -> None:
    taken: list[Path] = []
    try:
        for path, place in sorted(places.items(), key=lambda item: item[0] != STANDARD_OUTPUT):
            with told(path):
                _take_name(path, place)
            taken.append(path)
    except FailedError:
        for path in taken:
            _remove(path)
        raise


def _take_name(path: Path, place: Path) -> None:
    if path == STANDARD_OUTPUT:
        with place.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.flush()
        return
    if path.is_dir() or (place.is_dir() and path.exists()):  # an engine may write a folder
        _remove(path)
    place.replace(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    elif path != STANDARD_OUTPUT:
        path.unlink(missing_ok=True)
