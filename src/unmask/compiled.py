"""Loops, compiled. Import this where a loop is needed: numba takes half a second.

Compiling is what a first call waits for, a tenth of a second and more for each loop. What a loop calls is compiled,
too, for each type of its arguments anew: hand over the arrays that are needed, not all, and write-protected ones always
or never. Loops write into arrays that they are given: making one takes as long to compile as a loop, and a slice half
as long.
"""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., object])

numba: Any = importlib.import_module("numba")  # it has no types
events: Any = importlib.import_module("numba.core.event")

_log = logging.getLogger(__name__)


class _CompileTimer(events.TimingListener):  # type: ignore[misc]  # numba has no types
    """Timer of compilations; it announces the first one."""

    def on_start(self, event: Any) -> None:
        if not self._depth and not self.done:
            _log.info("compiling loops, once: the next run on this machine needs no compilation")
        super().on_start(event)


_timer = _CompileTimer()
events.register("numba:compile", _timer)


def compile_seconds() -> float:
    """Return the seconds by the clock that this process has spent on compiling loops."""
    return float(_timer.duration) if _timer.done else 0.0


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
    return _stored(function, _nrt=False)


def allocating(function: Function) -> Function:
    """Compile a loop that makes arrays; counting their references takes a tenth more time to compile."""
    return _stored(function)


def inner(function: Function) -> Function:
    """Compile a function that only loops call.

    It has no entry for Python and no file: the files of loops contain what they call.
    """
    return _compiled(function, no_cpython_wrapper=True)


def inlined(function: Function) -> Function:
    """Compile a function into its callers; a call with structures of arrays takes as long as a verdict of a node."""
    return _compiled(function, no_cpython_wrapper=True, forceinline=True)


def _stored(function: Function, **options: bool) -> Function:
    configured, numba.config.CACHE_DIR = numba.config.CACHE_DIR, numba.config.CACHE_DIR or CACHE
    try:
        return _compiled(function, cache=True, **options)
    except RuntimeError:  # "no locator available": neither this folder nor the home can be written to
        return _compiled(function, **options)
    finally:
        numba.config.CACHE_DIR = configured  # other loops of this process are not ours


def _compiled(function: Function, **options: bool) -> Function:
    return cast(Function, numba.njit(nogil=True, no_cfunc_wrapper=True, **options)(function))


@inner
def copy_into(place: NDArray[Any], values: NDArray[Any]) -> None:
    """Write values to the front of a row. `place[:] = values` says the same, but takes four seconds to compile."""
    for i in range(len(values)):
        place[i] = values[i]
