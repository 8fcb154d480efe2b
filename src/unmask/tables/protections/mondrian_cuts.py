"""Mondrian on arrays: cut weighted points into boxes that are as small as the constraints allow.

All boxes of one depth are cut together. The number of array operations therefore grows with the depth of the tree and
the number of points, and not with the number of boxes. `protections.mondrian` binds this module to tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import argsort_digits
from unmask.tables.protections.cut_tests import Allows, Cuts, Test, have_people, satisfy_constraints

_POINTS_PER_BATCH = 1 << 16
"""Points of the boxes that are cut together. Their temporary arrays fit into the cache."""


@dataclass(frozen=True, eq=False)
class RankedPoints:
    """Weighted points by their rank in each column, and the values of the ranks.

    ranks      : (d * C,) rank of each point in each column, column after column
    counts     : (C,) rows at each point
    coordinate : (sum R_j,) value of each rank, column after column
    first      : (d,) position of the first rank of each column in `coordinate`
    span       : (d,) full width of each column, 1 if it is constant
    ancestors  : (levels, sum R_j) tree node above each rank; None if no column has a tree
    """

    ranks: NDArray[np.int32]
    counts: Integers
    coordinate: Floats
    first: Integers
    span: Floats
    ancestors: Integers | None


class _Boxes(NamedTuple):
    """Boxes that may still be cut. Their points are adjacent in `items`, one box after the other.

    items      : (A,) points
    starts     : (S + 1,) start of each box in `items`
    offset     : (S,) start of each box in the depth-first order of all points
    rows       : (S,) rows in each box
    widths     : (S, d) width relative to the span
    preference : (S, d) columns, widest first
    n_tried    : (S,) number of columns that have no allowed cut
    """

    items: NDArray[np.intp]
    starts: NDArray[np.intp]
    offset: Integers
    rows: Integers
    widths: Floats
    preference: NDArray[np.intp]
    n_tried: NDArray[np.intp]


def mondrian(
    values: NDArray[Any],
    counts: Integers,
    *,
    k: int,
    span: Floats | None = None,
    histograms: Sequence[NDArray[Any] | scipy.sparse.csr_array] = (),
    allows: Sequence[Allows] = (),
    people: scipy.sparse.csr_array | None = None,
    trees: Sequence[Integers | None] = (),
    strict: bool = True,
    rng: np.random.Generator | None = None,
) -> NDArray[np.int32]:
    """Return the box of each point, (C,), numbered from 0 in depth-first order (left before right).

    A cut puts the points up to a position in the order of one column to the left, and the others to the right. It is
    allowed if both halves hold at least `k` rows (of `k` people, with `people`) and their histograms pass `allows`. The
    allowed cut of a column nearest to the median is taken: the smallest |rows left - rows / 2|, the lower cut on a tie.
    The columns of a box are tried from the widest to the narrowest (width / `span`), ties in column order. A box is
    final if no column has an allowed cut.

    In the strict form, a cut lies between two different values. Boxes are then disjoint, `k = 1` returns the distinct
    points, and the order of the points has no effect. In the relaxed form (`strict=False`, with `rng`), each point is
    one row, and a cut may lie between equal values, which are shuffled for every cut. With `k` as the only constraint,
    every box then holds k to 2k - 1 rows, and boxes may overlap.

    values     : (C, d) finite coordinates of the points
    counts     : (C,) rows at each point, at least 1
    span       : (d,) full width of each column; default the width of the data. A constant column is never cut in the
        strict form
    histograms : for each sensitive column (C, m) counts, dense or CSR
    allows     : for each histogram a function from (P, m) counts to a mask (P,)
    people     : (C, P) rows of each person at each point, CSR; None if every row is a person
    trees      : for each column None, or (levels, n_values) node numbers of the integer coordinates 0, 1, ... in
        depth-first order, leaves first, root last. A strict cut of such a column must lie between two children of the
        lowest common ancestor of the box

    All points form one box if they have fewer than k rows or their histograms do not pass: the constraints are tested
    on halves only.

    >>> mondrian(np.array([[1.0], [2.0], [8.0], [9.0]]), np.array([2, 1, 1, 2]), k=3)
    array([0, 0, 1, 1], dtype=int32)
    >>> mondrian(np.array([[1, 5], [2, 5], [2, 6]]), np.array([1, 1, 1]), k=1)
    array([0, 1, 2], dtype=int32)

    K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006, sections 3 and 4.
    """
    n_points, d = values.shape
    assert counts.shape == (n_points,)
    assert len(histograms) == len(allows)
    assert strict or rng is not None
    if n_points == 0 or d == 0:
        return np.zeros(n_points, dtype=np.int32)
    points = rank_points(values, counts, span, trees if strict else ())
    tests = _histogram_tests(histograms, allows)
    tests += [] if people is None else [partial(have_people, people, k)]
    start_of = np.zeros(n_points, dtype=np.int64)
    boxes = _measure_boxes(
        points,
        np.arange(n_points, dtype=np.intp),
        np.array([0, n_points], dtype=np.intp),
        np.zeros(1, dtype=np.int64),
        np.array([counts.sum()], dtype=np.int64),
    )
    batch_size = _POINTS_PER_BATCH if strict else n_points + 1  # the relaxed form shuffles all boxes together
    boxes = _record_final_boxes(boxes, _is_final(boxes, k=k, strict=strict), start_of)
    waiting = _split_into_batches(boxes, batch_size)
    while waiting:
        boxes, cuts, box_of_cut, left_rows = _best_cuts(points, waiting.pop(), tests, k=k, rng=None if strict else rng)
        boxes = _cut_boxes(points, boxes, cuts, box_of_cut, left_rows, start_of, k=k, strict=strict)
        waiting += _split_into_batches(boxes, batch_size)
    begins = np.zeros(n_points, dtype=np.bool_)
    begins[start_of] = True
    number = np.cumsum(begins, dtype=np.int32) - np.int32(1)
    return number[start_of]


def _histogram_tests(
    histograms: Sequence[NDArray[Any] | scipy.sparse.csr_array], allows: Sequence[Allows]
) -> list[Test]:
    return [
        partial(satisfy_constraints, scipy.sparse.csr_array(histogram), allow)
        for histogram, allow in zip(histograms, allows, strict=True)
    ]


def _measure_boxes(
    points: RankedPoints, items: NDArray[np.intp], starts: NDArray[np.intp], offset: Integers, rows: Integers
) -> _Boxes:
    """Return new boxes, with their widths and their columns sorted by width."""
    n_points, d = points.counts.size, points.span.size
    widths = np.empty((rows.size, d))
    for j in range(d):
        if rows.size:
            ranks = points.ranks[j * n_points : (j + 1) * n_points][items]
            low = points.coordinate[points.first[j] + np.minimum.reduceat(ranks, starts[:-1])]
            high = points.coordinate[points.first[j] + np.maximum.reduceat(ranks, starts[:-1])]
            widths[:, j] = (high - low) / points.span[j]
    preference = np.argsort(-widths, axis=1, kind="stable")
    return _Boxes(items, starts, offset, rows, widths, preference, np.zeros(rows.size, dtype=np.intp))


def _is_final(boxes: _Boxes, *, k: int, strict: bool) -> Booleans:
    """Return a mask of the boxes that cannot be cut.

    They have fewer than 2k rows, no untried column, or (strict) only constant columns left.
    """
    d = boxes.preference.shape[1]
    is_done: Booleans = (boxes.n_tried >= d) | (boxes.rows < 2 * k)
    if strict:
        box_numbers = np.arange(boxes.rows.size)
        is_done |= boxes.widths[box_numbers, boxes.preference[box_numbers, np.minimum(boxes.n_tried, d - 1)]] <= 0
    return is_done


def _record_final_boxes(boxes: _Boxes, is_done: Booleans, start_of: Integers) -> _Boxes:
    """Record the starts of the final boxes in `start_of`, and return the other boxes."""
    sizes = np.diff(boxes.starts)
    start_of[boxes.items[np.repeat(is_done, sizes)]] = np.repeat(boxes.offset[is_done], sizes[is_done])
    return _subset(boxes, ~is_done)


def _offsets(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.concatenate([np.zeros(1, dtype=np.intp), np.cumsum(sizes, dtype=np.intp)])


def _sort(points: RankedPoints, boxes: _Boxes, *, rng: np.random.Generator | None) -> tuple[_Boxes, Integers, int]:
    """Sort the points of each box by its current column. Returns the boxes, the keys and the number of rank bits.

    A key combines box number and rank in one integer.
    """
    n_points, n_boxes, n_items = points.counts.size, boxes.rows.size, boxes.items.size
    column = boxes.preference[np.arange(n_boxes), boxes.n_tried]
    sizes = np.diff(boxes.starts)
    rank_bits = int(points.coordinate.size).bit_length()
    ranks = points.ranks[np.repeat(column * n_points, sizes) + boxes.items]
    keys = np.repeat(np.arange(n_boxes, dtype=np.int64) << rank_bits, sizes) | ranks
    items = boxes.items
    if rng is not None:
        shuffled = rng.permutation(n_items)
        items, keys = items[shuffled], keys[shuffled]
    place = argsort_digits(keys, n_boxes << rank_bits)
    return boxes._replace(items=items[place]), keys[place], rank_bits


def _best_cuts(
    points: RankedPoints, boxes: _Boxes, tests: Sequence[Test], *, k: int, rng: np.random.Generator | None
) -> tuple[_Boxes, NDArray[np.intp], Integers, Integers]:
    """Return the boxes, sorted by their current column, and the best allowed cut of each box that has one.

    A cut is given by its last item on the left, its box, and its number of rows on the left. rng : for the relaxed form
    """
    boxes, keys, rank_bits = _sort(points, boxes, rng=rng)
    cuts, box, left_rows = _list_cuts(points, boxes, keys, rank_bits, k=k, strict=rng is None)
    for passes in tests:
        passing = passes(Cuts(boxes.items, boxes.starts, cuts))
        cuts, box, left_rows = cuts[passing], box[passing], left_rows[passing]
    nearest = _nearest_median(np.abs(2 * left_rows - boxes.rows[box]), box)
    return boxes, cuts[nearest], box[nearest], left_rows[nearest]


def _list_cuts(
    points: RankedPoints, boxes: _Boxes, keys: Integers, rank_bits: int, *, k: int, strict: bool
) -> tuple[NDArray[np.intp], Integers, Integers]:
    """Return the cuts with at least k rows on both sides: last item on the left, box, rows on the left."""
    until = np.cumsum(points.counts[boxes.items])
    cuts = np.flatnonzero(keys[1:] != keys[:-1]) if strict else np.arange(keys.size - 1)
    box = keys[cuts] >> rank_bits
    rows_before = np.concatenate([np.zeros(1, dtype=np.int64), until])[boxes.starts[:-1]]
    left_rows = until[cuts] - rows_before[box]
    is_large_enough = (left_rows >= k) & (boxes.rows[box] - left_rows >= k)
    cuts, box, left_rows = cuts[is_large_enough], box[is_large_enough], left_rows[is_large_enough]
    if points.ancestors is not None:
        between = _between_children(points, points.ancestors, boxes, keys & ((1 << rank_bits) - 1), cuts, box)
        cuts, box, left_rows = cuts[between], box[between], left_rows[between]
    return cuts, box, left_rows


def _between_children(
    points: RankedPoints, ancestors: Integers, boxes: _Boxes, ranks: Integers, cuts: NDArray[np.intp], box: Integers
) -> Booleans:
    """Return a mask of the cuts that separate two children of the lowest common ancestor of their box."""
    first = points.first[boxes.preference[np.arange(boxes.rows.size), boxes.n_tried]]
    low, high = first + ranks[boxes.starts[:-1]], first + ranks[boxes.starts[1:] - 1]
    child_level = np.count_nonzero(ancestors[:, low] != ancestors[:, high], axis=0) - 1
    level, base = child_level[box], first[box]
    separated: Booleans = ancestors[level, base + ranks[cuts]] != ancestors[level, base + ranks[cuts + 1]]
    return separated


def _nearest_median(distance: Integers, box: Integers) -> NDArray[np.intp]:
    """Return the position of the cut with the smallest distance in each box that has cuts; the first on a tie."""
    if not box.size:
        return np.zeros(0, dtype=np.intp)
    new = np.concatenate([[True], box[1:] != box[:-1]])
    begins = np.flatnonzero(new)
    smallest = np.minimum.reduceat(distance, begins)
    group = np.cumsum(new) - 1
    hits = np.flatnonzero(distance == smallest[group])
    first = np.concatenate([[True], group[hits[1:]] != group[hits[:-1]]])
    return np.asarray(hits[first], dtype=np.intp)


def _cut_boxes(
    points: RankedPoints,
    boxes: _Boxes,
    cuts: NDArray[np.intp],
    box: Integers,
    left_rows: Integers,
    start_of: Integers,
    *,
    k: int,
    strict: bool,
) -> _Boxes:
    """Cut the boxes that have a cut, and move the other boxes to their next column. Returns the boxes that are
    not final.
    """
    cut = np.zeros(boxes.rows.size, dtype=np.bool_)
    cut[box] = True
    uncut, halves = _subset(boxes, ~cut), _subset(boxes, cut)
    uncut = uncut._replace(n_tried=uncut.n_tried + 1)
    n_left = cuts + 1 - boxes.starts[box]
    sizes = _alternate(n_left, np.diff(halves.starts) - n_left)
    offset = _alternate(halves.offset, halves.offset + n_left)
    rows = _alternate(left_rows, halves.rows - left_rows)
    large = rows >= 2 * k  # smaller boxes are final and need no measurement
    in_large = np.repeat(large, sizes)
    start_of[halves.items[~in_large]] = np.repeat(offset[~large], sizes[~large])
    cut_halves = _measure_boxes(points, halves.items[in_large], _offsets(sizes[large]), offset[large], rows[large])
    boxes = _join(uncut, cut_halves)
    return _record_final_boxes(boxes, _is_final(boxes, k=k, strict=strict), start_of)


def _split_into_batches(boxes: _Boxes, points: int) -> list[_Boxes]:
    """Split boxes into batches of about `points` points."""
    ends = np.flatnonzero(np.diff(boxes.starts[1:] // points, append=-1)) + 1
    return [_select_range(boxes, begin, end) for begin, end in pairwise([0, *ends.tolist()])]


def _select_range(boxes: _Boxes, begin: int, end: int) -> _Boxes:
    """Return the boxes from `begin` to before `end`."""
    first, last = boxes.starts[begin], boxes.starts[end]
    of_boxes: list[Any] = [of_box[begin:end] for of_box in boxes[2:]]
    return _Boxes(boxes.items[first:last], boxes.starts[begin : end + 1] - first, *of_boxes)


def _subset(boxes: _Boxes, keep: Booleans) -> _Boxes:
    if keep.all():
        return boxes
    sizes = np.diff(boxes.starts)
    of_boxes: list[Any] = [of_box[keep] for of_box in boxes[2:]]
    return _Boxes(boxes.items[np.repeat(keep, sizes)], _offsets(sizes[keep]), *of_boxes)


def _alternate(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    return np.stack([first, second], axis=1).reshape(-1)


def _join(uncut: _Boxes, cut_halves: _Boxes) -> _Boxes:
    if not uncut.rows.size or not cut_halves.rows.size:
        return cut_halves if cut_halves.rows.size else uncut
    items, starts = (
        np.concatenate([uncut.items, cut_halves.items]),
        [uncut.starts, uncut.starts[-1] + cut_halves.starts[1:]],
    )
    parts: list[Any] = [np.concatenate(part) for part in zip(uncut[2:], cut_halves[2:], strict=True)]
    return _Boxes(items, np.concatenate(starts), *parts)


# --- points by rank ----------------------------------------------------------------------------------------------


def rank_points(
    values: NDArray[Any], counts: Integers, span: Floats | None, trees: Sequence[Integers | None]
) -> RankedPoints:
    """Return the ranks of the points (C, d) and their trees; the arguments are those of `mondrian`."""
    n_points, d = values.shape
    distinct, ranks = [], np.empty((d, n_points), dtype=np.int32)
    for j in range(d):
        present, ranks[j] = _dense_ranks(values[:, j])
        distinct.append(present)
    if span is None:
        span = np.array([float(present[-1]) - float(present[0]) for present in distinct])
    sizes = np.array([present.size for present in distinct], dtype=np.int64)
    return RankedPoints(
        ranks=ranks.reshape(-1),
        counts=counts.astype(np.int64, copy=False),
        coordinate=np.concatenate(distinct).astype(np.float64),
        first=np.cumsum(sizes) - sizes,
        span=np.where(span > 0, span, 1.0),
        ancestors=_ancestors(distinct, trees) if any(tree is not None for tree in trees) else None,
    )


def _dense_ranks(column: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the distinct values, ascending, and the rank of each entry. Integers of small range are ranked
    without a sort.
    """
    low, high = column.min(), column.max()
    if high - low <= 4 * column.size + 1024 and (column.dtype.kind in "iu" or bool(np.all(column == np.rint(column)))):
        shifted = (column - low).astype(np.int64)
        occurs = np.zeros(int(high - low) + 1, dtype=np.bool_)
        occurs[shifted] = True
        rank = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
        return np.flatnonzero(occurs) + low, rank[shifted]
    present, inverse = np.unique(column, return_inverse=True)
    return present, inverse.astype(np.int32)


def _ancestors(distinct: list[NDArray[Any]], trees: Sequence[Integers | None]) -> Integers:
    """Return the trees over the ranks, side by side. A column without a tree has one root above its values."""
    height = max([2, *(len(tree) for tree in trees if tree is not None)])
    blocks = []
    for present, tree in zip(distinct, trees, strict=True):
        block = np.zeros((height, present.size), dtype=np.int64)
        if tree is None:
            block[0] = np.arange(present.size)
        else:
            block[: len(tree)] = tree[:, present.astype(np.intp)]
        blocks.append(block)
    return np.concatenate(blocks, axis=1)
