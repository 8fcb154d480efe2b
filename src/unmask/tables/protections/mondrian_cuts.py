"""Mondrian on arrays: cut weighted points into boxes that are as small as the constraints allow.

All boxes of one depth are cut together. The number of array operations therefore grows with the depth of the tree and
the number of points, and not with the number of boxes. `protections.mondrian` binds this module to tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import argsort_digits
from unmask.tables.protections.cut_tests import Allows, Cuts, Test, have_people, satisfy_constraints

_POINTS_PER_BATCH = 1 << 16
"""Points of the boxes that are cut together. Their temporary arrays fit into the cache."""


class _Boxes(NamedTuple):
    """Boxes that may still be cut. Their points are adjacent in `items`, one box after the other.

    items      : (A,) points
    starts     : (S + 1,) start of each box in `items`
    offset     : (S,) start of each box in the depth-first order of all points
    rows       : (S,) rows in each box
    low, high  : (S, d) smallest and largest rank of each column
    uncuttable : (S, d) mask of the columns that have no allowed cut
    """

    items: NDArray[np.intp]
    starts: NDArray[np.intp]
    offset: Integers
    rows: Integers
    low: NDArray[Any]
    high: NDArray[Any]
    uncuttable: NDArray[Any]

    @property
    def sizes(self) -> NDArray[np.intp]:
        """(S,) number of points of each box."""
        return np.diff(self.starts)

    def select(self, is_selected: Booleans) -> _Boxes:
        """Return some of the boxes."""
        if is_selected.all():
            return self
        sizes, of_boxes = self.sizes, [values[is_selected] for values in self[2:]]
        return _Boxes(self.items[np.repeat(is_selected, sizes)], _offsets(sizes[is_selected]), *of_boxes)

    def join(self, boxes: _Boxes) -> _Boxes:
        """Return these boxes, followed by others."""
        starts = np.concatenate([self.starts, self.starts[-1] + boxes.starts[1:]])
        joined: list[Any] = [np.concatenate(part) for part in zip(self[2:], boxes[2:], strict=True)]
        return _Boxes(np.concatenate([self.items, boxes.items]), starts, *joined)


def _offsets(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    offsets = np.zeros(sizes.size + 1, dtype=np.intp)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


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
    assert strict or rng is not None
    start_of = np.zeros(n_points, dtype=np.int64)
    if n_points == 0 or d == 0:
        return start_of.astype(np.int32)
    tests: list[Test] = [
        partial(satisfy_constraints, scipy.sparse.csr_array(histogram), allow)
        for histogram, allow in zip(histograms, allows, strict=True)
    ]
    tests += [] if people is None else [partial(have_people, people, k)]
    search = _Search.of(values, counts, span, trees if strict else (), k, tests, None if strict else rng, start_of)
    n_rows = np.array([counts.sum()])
    waiting = search.split(
        search.measure(np.arange(n_points), np.array([0, n_points]), np.zeros(1, np.int64), n_rows, np.arange(d))
    )
    while waiting:
        waiting += search.split(search.cut(waiting.pop()))
    begins = np.zeros(n_points, dtype=np.bool_)
    begins[start_of] = True
    number = np.cumsum(begins, dtype=np.int32) - np.int32(1)
    return number[start_of]


@dataclass(frozen=True, eq=False)
class _Search:
    """Weighted points by their rank in each column, and the boxes found so far.

    ranks      : (d, C) rank of each point in each column
    counts     : (C,) rows at each point
    coordinate : (sum R_j,) value of each rank, column after column
    first      : (d,) position of the first rank of each column in `coordinate`
    span       : (d,) full width of each column, 1 if it is constant
    ancestors  : (levels, sum R_j) tree node above each rank; None if no column has a tree
    rng        : generator of the relaxed form; None for the strict form
    start_of   : (C,) start of the final box of each point, in the depth-first order of all points
    """

    ranks: NDArray[np.int32]
    counts: Integers
    coordinate: Floats
    first: Integers
    span: Floats
    ancestors: Integers | None
    k: int
    tests: Sequence[Test]
    rng: np.random.Generator | None
    start_of: Integers

    @classmethod
    def of(
        cls, values: NDArray[Any], counts: Integers, span: Floats | None, trees: Sequence[Integers | None], *rest: Any
    ) -> _Search:
        """Rank the points; the arguments are those of `mondrian`."""
        distinct, ranks = zip(*map(_dense_ranks, values.T), strict=True)
        if span is None:
            span = np.array([float(present[-1]) - float(present[0]) for present in distinct])
        sizes = np.array([present.size for present in distinct], dtype=np.int64)
        return cls(
            np.stack(ranks),
            counts.astype(np.min_scalar_type(int(counts.max()))),  # few bytes, which the cache holds
            np.concatenate(distinct).astype(np.float64),
            np.cumsum(sizes) - sizes,
            np.where(span > 0, span, 1.0),
            _ancestors(distinct, trees) if any(tree is not None for tree in trees) else None,
            *rest,
        )

    def measure(
        self, items: NDArray[np.intp], starts: NDArray[np.intp], offset: Integers, rows: Integers, columns: Integers
    ) -> _Boxes:
        """Return new boxes with the range of each column; only the given columns vary.

        The strict form cannot cut constant columns.
        """
        low = self.ranks[:, items[starts[:-1]]].T
        high = low.copy()
        for j in columns:
            ranks = self.ranks[j][items]
            low[:, j], high[:, j] = (extreme.reduceat(ranks, starts[:-1]) for extreme in (np.minimum, np.maximum))
        return _Boxes(items, starts, offset, rows, low, high, (low == high) & (self.rng is None))

    def _widest(self, boxes: _Boxes) -> NDArray[np.intp]:
        """Return the (S,) widest column of each box among those that may be cut, the first one on a tie."""
        widths = (self.coordinate[self.first + boxes.high] - self.coordinate[self.first + boxes.low]) / self.span
        return np.asarray(np.where(boxes.uncuttable, -1.0, widths).argmax(axis=1))

    def split(self, boxes: _Boxes) -> list[_Boxes]:
        """Record the final boxes, and return the others in batches."""
        is_final = boxes.uncuttable.all(axis=1) | (boxes.rows < 2 * self.k)
        self._record(boxes.items, boxes.sizes, boxes.offset, is_final)
        boxes = boxes.select(~is_final)
        # the relaxed form shuffles all boxes together
        batch = boxes.starts[1:] // (_POINTS_PER_BATCH if self.rng is None else self.counts.size + 1)
        return [boxes.select(batch == number) for number in np.unique(batch)]

    def _record(self, items: NDArray[np.intp], sizes: NDArray[np.intp], offset: Integers, is_final: Booleans) -> None:
        self.start_of[items[np.repeat(is_final, sizes)]] = np.repeat(offset[is_final], sizes[is_final])

    def cut(self, boxes: _Boxes) -> _Boxes:
        """Cut the boxes that have a cut in their widest column, and exclude this column of the other boxes."""
        column = self._widest(boxes)
        boxes, cuts, box, left_rows = self._best_cuts(boxes, column)
        is_cut = np.zeros(boxes.rows.size, dtype=np.bool_)
        is_cut[box] = True
        uncut, halves = boxes.select(~is_cut), boxes.select(is_cut)
        n_left = cuts + 1 - boxes.starts[box]
        lefts, rights = (
            np.stack([n_left, halves.offset, left_rows]),
            np.stack([halves.sizes - n_left, halves.offset + n_left, halves.rows - left_rows]),
        )
        sizes, offset, rows = np.stack([lefts, rights], axis=2).reshape(3, -1)
        is_large = rows >= 2 * self.k  # smaller boxes are final and need no measurement
        self._record(halves.items, sizes, offset, ~is_large)
        items = halves.items[np.repeat(is_large, sizes)]
        columns = np.flatnonzero((halves.low < halves.high).any(axis=0))
        large_halves = self.measure(items, _offsets(sizes[is_large]), offset[is_large], rows[is_large], columns)
        uncut.uncuttable[np.arange(uncut.rows.size), column[~is_cut]] = True
        return uncut.join(large_halves)

    def _best_cuts(self, boxes: _Boxes, column: NDArray[np.intp]) -> tuple[_Boxes, Integers, Integers, Integers]:
        """Return the boxes, sorted by a column, and the best allowed cut of each box that has one.

        A cut is given by its last item on the left, its box, and its number of rows on the left.
        """
        sizes, items, box = boxes.sizes, boxes.items, np.arange(column.size)
        low, n_ranks = boxes.low[box, column], (boxes.high - boxes.low)[box, column].astype(np.int64) + 1
        keys = np.repeat(np.cumsum(n_ranks) - n_ranks - low, sizes)  # box and rank in one integer
        keys += np.take(self.ranks, np.repeat(column * self.counts.size, sizes) + items)
        if self.rng is not None:
            shuffled = self.rng.permutation(items.size)
            items, keys = items[shuffled], keys[shuffled]
        place = argsort_digits(keys, int(n_ranks.sum()))
        boxes, keys = boxes._replace(items=items[place]), keys[place]
        until = _offsets(self.counts[boxes.items])
        cuts = np.arange(keys.size - 1)
        if self.rng is None:
            cuts = np.flatnonzero(keys[1:] != keys[:-1])
        if self.tests or self.ancestors is not None:
            box = np.repeat(box, sizes)[cuts]
        else:  # a cut nearest to the median is allowed if any is
            box = np.repeat(box, 2)
            above = np.searchsorted(until[cuts + 1], until[boxes.starts[:-1]] + boxes.rows // 2, side="right")
            cuts = cuts.take(np.stack([above - 1, above], axis=1).ravel(), mode="clip")
        left_rows = until[cuts + 1] - until[boxes.starts[box]]
        is_large_enough = (left_rows >= self.k) & (boxes.rows[box] - left_rows >= self.k)
        cut = np.stack([cuts, box, left_rows])[:, is_large_enough]
        if self.ancestors is not None:
            cut = cut[:, self._are_between_children(self.ancestors, boxes, column, *cut[:2])]
        for passes in self.tests:
            cut = cut[:, passes(Cuts(boxes.items, boxes.starts, *cut[:2]))]
        cuts, box, left_rows = cut
        bits = box.size.bit_length()
        distance = np.abs(2 * left_rows - boxes.rows[box]) << bits | np.arange(box.size)  # the first one on a tie
        begins = np.flatnonzero(np.diff(box, prepend=-1))
        nearest = np.minimum.reduceat(distance, begins) & ((1 << bits) - 1)
        return boxes, cuts[nearest], box[nearest], left_rows[nearest]

    def _are_between_children(
        self, ancestors: Integers, boxes: _Boxes, column: NDArray[np.intp], cuts: Integers, box: Integers
    ) -> Booleans:
        """Return a mask of the cuts that separate two children of the lowest common ancestor of their box."""
        first, boxes_of_column = self.first[column], (np.arange(column.size), column)
        low, high = first + boxes.low[boxes_of_column], first + boxes.high[boxes_of_column]
        level = (np.count_nonzero(ancestors[:, low] != ancestors[:, high], axis=0) - 1)[box]
        left, right = (first[box] + self.ranks[column[box], boxes.items[cuts + side]] for side in (0, 1))
        return np.asarray(ancestors[level, left] != ancestors[level, right])


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


def _ancestors(distinct: Sequence[NDArray[Any]], trees: Sequence[Integers | None]) -> Integers:
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
