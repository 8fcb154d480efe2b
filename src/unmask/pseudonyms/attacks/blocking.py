"""Which pairs are worth comparing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import FailedError
from unmask.pseudonyms.attacks.components import MAX_PAIRS, grouped
from unmask.pseudonyms.release import Feature

Blocks = tuple[tuple[str, ...], ...]
"""Rules: a pair is compared when it agrees on all features of at least one of them."""


def count_of_rule(features: tuple[Feature, ...]) -> int:
    """Number of pairs that agree on these features, none missing; O(n log n)."""
    group = grouped(features)
    size = np.bincount(group[group >= 0])
    return int((size * (size - 1) // 2).sum())


def pairs_of_rule(features: tuple[Feature, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs left < right that agree on these features, none missing; O(n log n + pairs).

    >>> from unmask.pseudonyms.release import Items
    >>> pairs_of_rule(Items.read({"a": ["x", "y", "x", "x"]}, features="a").features)
    (array([0, 0, 2]), array([2, 3, 3]))
    """
    n_pairs = count_of_rule(features)
    if n_pairs > MAX_PAIRS:
        names = ", ".join(feature.name for feature in features)
        raise FailedError(
            f"{n_pairs} pairs agree on {names}, expected at most {MAX_PAIRS}; block on more features together"
        )
    group = grouped(features)
    order = np.argsort(group, kind="stable")
    order = order[np.searchsorted(group[order], 0) :]
    ordered = group[order]
    partners = np.searchsorted(ordered, ordered, side="right") - np.arange(len(order)) - 1
    first = np.repeat(np.arange(len(order)), partners)
    offset = np.arange(n_pairs) - np.repeat(np.cumsum(partners) - partners, partners)
    return order[first], order[first + 1 + offset]


def union(
    rules: list[tuple[NDArray[np.int64], NDArray[np.int64]]], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each pair once that any rule has, ascending."""
    keys = np.unique(np.concatenate([left * n + right for left, right in rules]))
    left, right = np.divmod(keys, n)
    return left, right


def random_pairs(n: int, most: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of n, or this many at random with replacement where there are more."""
    if n * (n - 1) // 2 <= most:
        left, right = np.triu_indices(n, 1)
        return left, right
    rng = np.random.default_rng(seed)
    left = rng.integers(n, size=most)
    right = (left + rng.integers(1, n, size=most)) % n
    return left, right
