"""Work on large tables that two cores share: arrays are worked on without the interpreter's lock."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")
S = TypeVar("S")

MANY = 100_000
"""Rows from which on two cores share the work, which takes the memory of what is worked on twice."""


def two_at_once(function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """A function of each item, in their order.

    >>> list(two_at_once(str.upper, "abc"))
    ['A', 'B', 'C']
    """
    running: deque[Future[T]] = deque()
    for item in items:
        running.append(_begun(function, item))
        if len(running) == 2:
            yield running.popleft().result()
    yield from (one.result() for one in running)


def _begun(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """What a thread is at; the command may be ended without waiting for it, as it could not for that of a pool."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(function(*arguments))
        except BaseException as error:  # noqa: BLE001  # raised again where the result is waited for
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future
