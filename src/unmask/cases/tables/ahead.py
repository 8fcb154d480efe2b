"""The next of a row of things is made while one is looked at, on another core."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def ahead(items: Iterator[T]) -> Iterator[T]:
    """The same items in their order, each of them begun when the one before is handed on.

    A thread makes them: arrays are worked on without the interpreter's lock, so that two cores have something to do. An
    error comes where the item would have come.

    >>> list(ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    with ThreadPoolExecutor(1) as maker:
        following = maker.submit(next, items, None)
        while (item := following.result()) is not None:
            following = maker.submit(next, items, None)
            yield item
            del item
