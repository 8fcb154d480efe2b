"""What was just computed, remembered by each thread for itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Remembered(Generic[P, T]):
    """A function with a `functools.lru_cache` for every thread: those of others neither push out what one remembers
    nor clear it.

    >>> cubed = remembered(2)(lambda x: x**3)
    >>> cubed(3), cubed(3)
    (27, 27)
    """

    def __init__(self, function: Callable[P, T], maxsize: int) -> None:
        update_wrapper(self, function)
        self._new: Callable[[], Any] = lambda: lru_cache(maxsize)(function)
        self._of = threading.local()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """The value, computed unless this thread remembers it."""
        found: T = self._own(*args, **kwargs)
        return found

    def cache_info(self) -> Any:
        """How much this thread remembers, as of `functools.lru_cache`."""
        return self._own.cache_info()

    def cache_clear(self) -> None:
        """Forget what this thread remembers."""
        self._own.cache_clear()

    @property
    def _own(self) -> Any:
        if not hasattr(self._of, "cache"):
            self._of.cache = self._new()
        return self._of.cache


def remembered(maxsize: int) -> Callable[[Callable[P, T]], Remembered[P, T]]:
    """Remember the last values of a function, by thread."""
    return lambda function: Remembered(function, maxsize)
