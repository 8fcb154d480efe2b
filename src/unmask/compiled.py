"""Loops that numba compiles at their first call. numba is imported then, too, which takes half a second.

Compiling is what a first call waits for, a tenth of a second and more for each loop. What a loop calls is compiled,
too, for each type of its arguments anew: hand over the arrays that are needed, not all, and write-protected ones always
or never. Loops write into arrays that they are given: making one takes as long to compile as a loop, and a slice half
as long. Each use of a tuple of arrays takes as long as a use of each of them: unpack it once, and in short lines.
Compare two numbers instead of calling `max` or `min`, which are compiled anew for each pair of types.
"""

from __future__ import annotations

import functools
import importlib
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., object])

_log = logging.getLogger(__name__)
_lock = threading.RLock()  # reentrant: a loop that is compiled asks for the loops that it calls


class _Loop:
    """Function that numba compiles when it is first called with a combination of types.

    numba reads its function and options to copy it into a loop, and its type to call it from a loop.
    """

    def __init__(self, function: Callable[..., object], *, is_stored: bool, **options: object) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.targetoptions = function, options
        self._is_stored, self._dispatcher = is_stored, cast(Any, None)

    def __call__(self, *arguments: object) -> object:
        return self._dispatch()(*arguments)

    @property
    def _numba_type_(self) -> Any:
        return self._dispatch()._numba_type_

    def _dispatch(self) -> Any:
        with _lock:
            if self._dispatcher is None:
                self._dispatcher = (_stored if self._is_stored else _compiled)(self.py_func, **self.targetoptions)
            return self._dispatcher


@functools.cache
def _import_numba() -> tuple[Any, Any]:
    """Return numba, and the timer of its compilations, which announces the first one."""
    numba, events = importlib.import_module("numba"), importlib.import_module("numba.core.event")

    class Timer(events.TimingListener):  # type: ignore[misc, name-defined]  # numba has no types
        def on_start(self, event: Any) -> None:
            if not self._depth and not self.done:
                _log.info("compiling loops, once: the next run on this machine needs no compilation")
            super().on_start(event)

    timer = Timer()
    events.register("numba:compile", timer)
    return numba, timer


def compile_seconds() -> float:
    """Return the seconds by the clock that this process has spent on compiling loops."""
    if not _import_numba.cache_info().currsize:
        return 0.0
    timer = _import_numba()[1]
    return float(timer.duration) if timer.done else 0.0


def _find_cache() -> str:
    """Return the folder of compiled loops, "" for numba's own choice; a loop whose source changes is compiled again."""
    try:
        return str(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unmask" / "loops")
    except RuntimeError:  # a user without a home
        return ""


CACHE = _find_cache()
"""Folder of compiled loops, unless NUMBA_CACHE_DIR names another."""


def compiled(function: Function) -> Function:
    """Compile a loop at its first call, and store it on disk if a folder is writable. It cannot make arrays."""
    return cast(Function, _Loop(function, is_stored=True, _nrt=False))


def allocating(function: Function) -> Function:
    """Compile a loop that makes arrays; counting their references takes a tenth more time to compile."""
    return cast(Function, _Loop(function, is_stored=True))


def inner(function: Function) -> Function:
    """Compile a function that only loops call.

    It has no entry for Python and no file: the files of loops contain what they call.
    """
    return cast(Function, _Loop(function, is_stored=False, no_cpython_wrapper=True))


def inlined(function: Function) -> Function:
    """Compile a function into the one loop that calls it, which saves a third of the time to compile both."""
    return cast(Function, _Loop(function, is_stored=False, no_cpython_wrapper=True, inline="always"))


def _stored(function: Callable[..., object], **options: object) -> Any:
    config = _import_numba()[0].config
    configured, config.CACHE_DIR = config.CACHE_DIR, config.CACHE_DIR or CACHE
    try:
        return _compiled(function, cache=True, **options)
    except RuntimeError:  # "no locator available": neither this folder nor the home can be written to
        return _compiled(function, **options)
    finally:
        config.CACHE_DIR = configured  # other loops of this process are not ours


def _compiled(function: Callable[..., object], **options: object) -> Any:
    return _import_numba()[0].njit(nogil=True, no_cfunc_wrapper=True, error_model="numpy", **options)(function)


@inner
def copy_into(place: NDArray[Any], values: NDArray[Any]) -> None:
    """Write values to the front of a row. `place[:] = values` says the same, but takes four seconds to compile."""
    for i in range(len(values)):
        place[i] = values[i]
