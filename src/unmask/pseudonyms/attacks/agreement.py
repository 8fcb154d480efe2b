"""How far two cells of a feature agree: not, nearly, or wholly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from unmask.pseudonyms.attacks.components import codes_of
from unmask.pseudonyms.release import Coded, Feature, Numeric

MISSING, DIFFERENT, NEAR, EQUAL = -1, 0, 1, 2

_AT_ONCE = 1_000_000


def agreement(
    feature: Feature,
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    *,
    similar: float,
    tolerance: float | None,
) -> NDArray[np.int8]:
    """(n_pairs,) MISSING where one of the cells is, else DIFFERENT, NEAR or EQUAL.

    NEAR: texts whose Dice coefficient of letter pairs is at least `similar`, numbers at most `tolerance` apart (None:
    never); categories are equal or different.
    """
    codes = codes_of(feature)
    a, b = codes[left], codes[right]
    level = np.where(a == b, EQUAL, DIFFERENT).astype(np.int8)
    open_ = np.flatnonzero((level == DIFFERENT) & (a >= 0) & (b >= 0))
    if isinstance(feature, Coded) and feature.kind == "text" and len(open_):
        pair, place = np.unique(_keys(a[open_], b[open_], len(feature.labels)), return_inverse=True)
        lower, upper = np.divmod(pair, len(feature.labels))
        near = dice(feature.labels, lower, upper) >= similar
        level[open_[near[place]]] = NEAR
    if isinstance(feature, Numeric) and tolerance is not None:
        apart = np.abs(feature.values[left[open_]] - feature.values[right[open_]])
        level[open_[apart <= tolerance]] = NEAR
    level[(a < 0) | (b < 0)] = MISSING
    return level


def has_near(feature: Feature, tolerance: float | None) -> bool:
    """Whether cells of this feature can be NEAR at all."""
    return feature.kind == "text" if isinstance(feature, Coded) else tolerance is not None


def dice(labels: NDArray[Any], left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n_pairs,) Dice coefficient 2 |A and B| / (|A| + |B|) of the sets of letter pairs of two labels, 0 to 1.

    Labels are compared in lower case, with a mark before and after: "ann" has the pairs ^a, an, nn, n$.

    >>> dice(np.array(["ann", "anne", "bob"], dtype=object), np.array([0, 0]), np.array([1, 2])).round(3)
    array([0.667, 0.   ])

    L. R. Dice, "Measures of the amount of ecologic association between species", Ecology 26, 1945.
    """
    sets = _letter_pairs(labels)
    sizes = np.diff(sets.indptr)
    out = np.empty(len(left))
    for start in range(0, len(left), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        shared = np.asarray(sets[left[part]].multiply(sets[right[part]]).sum(axis=1)).ravel()
        out[part] = 2 * shared / (sizes[left[part]] + sizes[right[part]])
    return out


def _letter_pairs(labels: NDArray[Any]) -> csr_matrix:
    number: dict[str, int] = {}
    columns: list[int] = []
    pointer = [0]
    for label in labels.tolist():
        marked = f"\x02{label.lower()}\x03"
        columns += {number.setdefault(marked[i : i + 2], len(number)) for i in range(len(marked) - 1)}
        pointer.append(len(columns))
    ones = np.ones(len(columns), dtype=np.int32)
    return csr_matrix((ones, columns, pointer), shape=(len(labels), max(len(number), 1)))


def _keys(a: NDArray[np.int32], b: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    return np.minimum(a, b).astype(np.int64) * n + np.maximum(a, b)
