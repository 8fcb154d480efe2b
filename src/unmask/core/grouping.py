"""Grouping of rows into equivalence classes, and counts of values in each class.

All functions work on integer codes. The result therefore does not depend on labels, on the order of categories, on
unused categories, or on a hash seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from unmask.core.arrays import Integers, mark_first
from unmask.core.csr_rows import CsrRows
from unmask.core.errors import UnmaskError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

KEY_LIMIT = 2**63 - 1
"""Largest key: the columns to group by are packed into 63 bits."""
_PACK_BLOCK = 1 << 18
"""Rows packed in one block, whose keys fit into the cache."""


def group(
    codes: Sequence[NDArray[np.int32]], n_levels: Sequence[int]
) -> tuple[NDArray[np.int32], Integers, NDArray[np.int32]]:
    """Return the equivalence classes of rows with equal codes in every column: (of_row, sizes, levels).

    codes : d columns of (n_rows,) codes, 0 <= code < n_levels[j]; a missing cell has its own code

    of_row, (n_rows,), is the class of each row; sizes, (J,), the number of rows; levels, (J, d), the codes of each
    class. Classes are numbered in lexicographic order of their codes, independent of the order of the rows. Unused
    levels form no class.

    The codes of a row are packed into one 63-bit key. Small key spaces are counted; large ones are sorted together with
    the row numbers. If the product of the level counts exceeds 63 bits, the keys of the columns packed so far are
    replaced by their ranks, which have the same order.

    >>> of_row, sizes, levels = group([np.array([1, 0, 1], np.int32), np.array([0, 2, 0], np.int32)], [2, 3])
    >>> of_row, sizes
    (array([1, 0, 1], dtype=int32), array([1, 2]))
    >>> levels
    array([[0, 2], [1, 0]], dtype=int32)
    """
    of_row, sizes, first = group_rows(codes, n_levels)
    return of_row, sizes, take_codes(codes, first)


def group_rows(
    codes: Sequence[NDArray[np.int32]], n_levels: Sequence[int]
) -> tuple[NDArray[np.int32], Integers, Integers]:
    """Return the class of each row, the number of rows of each class, and its first row, see `group`."""
    if len(codes) == 0:
        raise UnmaskError("0 columns to group by, expected at least 1; name a quasi-identifier")
    _check_codes(codes, n_levels)
    return rank_keys(*pack(codes, n_levels))


def take_codes(codes: Sequence[NDArray[np.int32]], rows: NDArray[np.integer]) -> NDArray[np.int32]:
    """Return the codes of some rows, (n_rows, d)."""
    taken = np.empty((len(rows), len(codes)), dtype=np.int32, order="F")  # most readers take one column
    for j, column in enumerate(codes):
        taken[:, j] = column[rows]
    return taken


def first_rows_of(of_row: NDArray[np.int32], n_classes: int) -> Integers:
    """Return (n_classes,) the first row of each class; no class is empty.

    >>> first_rows_of(np.array([1, 0, 1], np.int32), 2)
    array([1, 0])
    """
    first = np.empty(n_classes, dtype=np.int64)
    first[of_row[::-1]] = np.arange(len(of_row))[::-1]
    return first


def class_counts(
    of_row: NDArray[np.int32],
    n_classes: int,
    codes: NDArray[np.integer],
    n_levels: int,
    *,
    weight: Integers | None = None,
) -> CsrRows:
    """Count the rows of each class with each sensitive value, (n_classes, n_levels) CSR of int64.

    of_row, codes : (n_rows,) class and value of each row
    weight        : (n_rows,) number of times that each row occurs

    Stored entries are positive, with ascending columns in each class. They are at most n_rows, so the matrix is never
    larger than the table.

    >>> class_counts(np.array([0, 0, 1], np.int32), 2, np.array([1, 1, 0], np.int32), 2).to_scipy().toarray()
    array([[0, 2], [1, 0]])
    """
    if n_classes * n_levels > KEY_LIMIT:  # pragma: no cover - 3e9 classes of 3e9 values
        raise UnmaskError(f"{n_classes} classes of {n_levels} values exceed 63 bits; drop unused values")
    space = n_classes * n_levels
    pairs, data = count_distinct(_combine_keys(of_row, codes, n_levels), space, weight=weight)
    rows = pairs // max(n_levels, 1)
    indptr = np.zeros(n_classes + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=n_classes), out=indptr[1:])
    rows *= n_levels
    columns = np.subtract(pairs, rows, out=rows).astype(np.int32)
    return CsrRows(data, columns, indptr, (n_classes, n_levels))


def sum_rows(
    histogram: scipy.sparse.csr_array[Any, Any], group: NDArray[np.integer], n: int
) -> scipy.sparse.csr_array[Any, Any]:
    """Return (n, L) sums of the rows of a histogram.

    group : (J,) row of the result to which each row is added

    >>> sum_rows(scipy.sparse.csr_array(np.array([[1, 0], [2, 1], [0, 3]])), np.array([0, 0, 1]), 2).toarray()
    array([[3, 1], [0, 3]])
    """
    gather = scipy.sparse.csr_array(
        (np.ones(len(group), dtype=np.int64), (group, np.arange(len(group)))), shape=(n, len(group))
    )
    return scipy.sparse.csr_array(gather @ histogram)


def rank_keys(key: Integers, space: int) -> tuple[NDArray[np.int32], Integers, Integers]:
    """Return the dense rank of each key, the number of rows of each rank, and the first of them.

    key : (n_rows,) integers, 0 <= key < space. Ranks follow the order of the keys.

    >>> rank_keys(np.array([7, 3, 7]), 8)[:2]
    (array([1, 0, 1], dtype=int32), array([1, 2]))
    """
    if _is_ascending(key):  # as in a release, whose rows are sorted
        return _rank_ascending(key)
    if space <= _max_counted_keys(len(key)):
        return _rank_by_counting(key, space)
    ordered, order = sort_keys(key, space)
    of_row = np.empty(len(key), dtype=np.int32)
    of_row[order], sizes, start = _rank_ascending(ordered)
    return of_row, sizes, order[start]


def sort_keys(key: Integers, space: int) -> tuple[Integers, Integers]:
    """Return the keys in ascending order, and the row of each, ascending among equal keys.

    key : (n_rows,) integers, 0 <= key < space

    >>> sort_keys(np.array([7, 3, 7]), 8)
    (array([3, 7, 7]), array([1, 0, 2]))
    """
    bits = max(len(key) - 1, 0).bit_length()
    if space > KEY_LIMIT >> bits:
        order = np.argsort(key, kind="stable")
        return key[order], order
    word = key << np.int64(bits)  # key and row in one word: sorting integers is several times faster than argsort
    word |= np.arange(len(key), dtype=np.int64)
    word.sort()
    order = word & np.int64((1 << bits) - 1)
    word >>= np.int64(bits)
    return word, order


def count_distinct(key: Integers, space: int, *, weight: Integers | None = None) -> tuple[Integers, Integers]:
    """Return the distinct keys, ascending, and the number of rows of each, or the sum of their weights.

    Keys with weight 0 are left out. Distinct ascending keys and their weights are returned as they are.

    key    : (n_rows,) integers, 0 <= key < space; the array is overwritten
    weight : (n_rows,) integers of at least 0

    >>> count_distinct(np.array([7, 3, 7]), 8, weight=np.array([2, 1, 2]))
    (array([3, 7]), array([1, 4]))
    """
    if weight is not None and not weight.all():
        key, weight = key[weight > 0], weight[weight > 0]
    if weight is not None and bool((key[1:] > key[:-1]).all()):  # as in a counted table
        return key, weight
    if space <= _max_counted_keys(len(key)):
        table = _count(key, space, weight)
        used = np.flatnonzero(table)
        return used, table[used].astype(np.int64)
    if weight is None:
        ordered = _sort(key, space)
    elif space <= KEY_LIMIT >> (bits := int(weight.max(initial=0)).bit_length()):  # both in one word, as in `sort_keys`
        key <<= np.int64(bits)
        key |= weight
        ordered = _sort(key, space << bits)
        weight = (ordered & ((1 << bits) - 1)).astype(np.int64)
        ordered >>= bits
    else:
        order = np.argsort(key, kind="stable")
        ordered, weight = key[order], weight[order]
    is_first = mark_first(ordered)
    if weight is not None and is_first.all():
        return ordered.astype(np.int64, copy=False), weight
    start = np.flatnonzero(is_first)
    counts = np.diff(start, append=len(ordered)) if weight is None else np.add.reduceat(weight, start)
    del start  # memory of many keys counts
    return ordered[is_first].astype(np.int64, copy=False), counts


def _sort(key: Integers, space: int) -> NDArray[np.integer]:
    """Return the keys in ascending order; words of 32 bits take two thirds of the time of 64."""
    if _is_ascending(key):
        return key
    words: NDArray[np.integer] = key.astype(np.uint32) if space <= 1 << 32 else key
    words.sort()
    return words


def _rank_by_counting(key: Integers, space: int) -> tuple[NDArray[np.int32], Integers, Integers]:
    table = _count(key, space)
    used = np.flatnonzero(table)
    number = np.zeros(space, dtype=np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    of_row = number[key]
    return of_row, table[used].astype(np.int64), first_rows_of(of_row, len(used))


def _rank_ascending(key: Integers) -> tuple[NDArray[np.int32], Integers, Integers]:
    is_first = mark_first(key)
    start = np.flatnonzero(is_first)
    of_row = np.cumsum(is_first, dtype=np.int32)
    of_row -= 1
    return of_row, np.diff(start, append=len(key)), start


def _is_ascending(key: Integers) -> bool:
    """Return whether keys need no sort; the test takes a hundredth of the time of a sort."""
    return bool((key[1:] >= key[:-1]).all())


def count_most_common(
    key: Integers, space: int, codes: NDArray[np.int32], n_levels: int, *, weight: Integers | None = None
) -> tuple[int, int]:
    """Count the distinct keys, and the rows (or their weights) with the most common value of their key.

    key   : (n_rows,) integers, 0 <= key < space
    codes : (n_rows,) value of each row, 0 <= code < n_levels

    >>> count_most_common(np.array([4, 4, 4, 9]), 10, np.array([1, 1, 0, 1]), 2)
    (2, 3)
    """
    if space > KEY_LIMIT // max(n_levels, 1):
        of_row, sizes, _ = rank_keys(key, space)
        key, space = of_row.astype(np.int64), len(sizes)
    if space * n_levels <= _max_counted_keys(len(key)):
        pairs = _count(_combine_keys(key, codes, n_levels), space * n_levels, weight)
        most_common = pairs.reshape(space, n_levels).max(axis=1)
        return int(np.count_nonzero(most_common)), int(most_common.sum())
    pair, counts = count_distinct(_combine_keys(key, codes, n_levels), space * n_levels, weight=weight)
    first = np.flatnonzero(mark_first(pair // n_levels))
    return len(first), int(np.maximum.reduceat(counts, first).sum()) if len(first) else 0


def _max_counted_keys(n: int) -> int:
    """Return the largest key space that is counted in a table. For larger spaces, sorting touches less memory."""
    return max(4 * n, 1 << 16)


def _count(key: Integers, space: int, weight: Integers | None = None) -> NDArray[np.integer]:
    """Return (space,) the number of rows with each key, for which 32 bits are enough, or the sum of their weights."""
    table: NDArray[np.integer] = np.zeros(space, dtype=np.int32 if weight is None else np.int64)
    np.add.at(table, key, np.int32(1) if weight is None else weight)  # without conversion, which is slow
    return table


def _combine_keys(of_row: NDArray[np.integer], codes: NDArray[np.integer], n_levels: int) -> Integers:
    key = of_row.astype(np.int64)  # a copy
    key *= n_levels
    key += codes
    return key


def pack(codes: Sequence[NDArray[np.integer]], n_levels: Sequence[int]) -> tuple[Integers, int]:
    """Return one integer per row, in the order of the codes, and the number of possible integers."""
    n = len(codes[0])
    key = np.zeros(n, dtype=np.int64)
    space = 1
    batch: list[tuple[NDArray[np.integer], int]] = []
    for column, size in zip(codes, n_levels, strict=True):
        if space * size > KEY_LIMIT:
            _append(key, batch)
            ranks, sizes, _ = rank_keys(key, space)
            key, space, batch = ranks.astype(np.int64), len(sizes), []
        batch.append((column, size))
        space *= size
    _append(key, batch)
    return key, space


def _append(key: Integers, batch: list[tuple[NDArray[np.integer], int]]) -> None:
    for start in range(0, len(key), _PACK_BLOCK):
        block = key[start : start + _PACK_BLOCK]
        for column, size in batch:
            block *= size
            block += column[start : start + _PACK_BLOCK]


def _check_codes(codes: Sequence[NDArray[np.int32]], n_levels: Sequence[int]) -> None:
    for j, (column, size) in enumerate(zip(codes, n_levels, strict=True)):
        if len(column) != len(codes[0]):
            raise UnmaskError(f"column {j} has {len(column)} rows, expected {len(codes[0])} as in column 0")
        if len(column) and (int(column.min()) < 0 or int(column.max()) >= size):
            raise UnmaskError(f"column {j} has codes outside 0 to {size - 1}; codes index the column's levels")
