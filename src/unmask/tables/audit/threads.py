"""Two threads that share the work on large tables: array operations release the interpreter's lock."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
S = TypeVar("S")

MIN_ROWS = 100_000
"""Rows from which two threads share the work; they take the memory of two items."""


def two_at_once(function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """Yield a function of each item, in their order, with two threads.

    >>> list(two_at_once(str.upper, "abc"))
    ['A', 'B', 'C']
    """
    running: deque[Future[T]] = deque()
    for item in items:
        running.append(_start(function, item))
        if len(running) == 2:
            yield running.popleft().result()
    yield from (future.result() for future in running)


def _start(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Start a thread. It is a daemon: a command may end without waiting for it, unlike for a pool."""
    from concurrent.futures import Future

    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(function(*arguments))
        except BaseException as error:  # noqa: BLE001  # raised again where the result is waited for
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future
