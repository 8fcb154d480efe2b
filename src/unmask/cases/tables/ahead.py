"""Work on large tables that two cores share: arrays are worked on without the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
S = TypeVar("S")

MANY = 100_000
"""Rows from which on two cores share the work, which takes the memory of one more belief."""


def ahead(items: Iterator[T]) -> Iterator[T]:
    """The same items in their order, each of them begun when the one before is handed on.

    An error comes where the item would have come.

    >>> list(ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    with ThreadPoolExecutor(1) as maker:
        following = maker.submit(next, items, None)
        while (item := following.result()) is not None:
            following = maker.submit(next, items, None)
            yield item
            del item


def two_at_once(function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """A function of each item, in their order.

    >>> list(two_at_once(str.upper, "abc"))
    ['A', 'B', 'C']
    """
    with ThreadPoolExecutor(2) as pool:
        yield from pool.map(function, items)
