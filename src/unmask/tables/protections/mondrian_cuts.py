"""The Mondrian kernel: cut a cloud of weighted points into boxes that are as small as the constraints allow.

Boxes of a generation are cut together, so that the number of array operations grows with the depth of the tree and the
points, and not with the number of boxes. Only arrays come in and go out; `protections` binds
them to a table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.tables.protections.cut_tests import Allows, Halves, Test, all_pass, have_people

_TOGETHER = 1 << 16  # points of the boxes that are cut together: their temporaries stay in the cache
_WORD = 63  # bits of an integer that a sort key may use


@dataclass(frozen=True, eq=False)
class Ranked:
    """Weighted points by their rank in every column, and what a rank stands for."""

    ranks: NDArray[np.int32]  # (d * C,) rank of every point in every column, column after column
    counts: NDArray[np.int64]  # (C,) rows at every point
    coordinate: NDArray[np.float64]  # (sum R_j,) the value of every rank, column after column
    first: NDArray[np.int64]  # (d,) where the ranks of a column begin in `coordinate`
    span: NDArray[np.float64]  # (d,) full width of every column, 1 where it is constant
    ancestors: NDArray[np.int64] | None  # (levels, sum R_j) node above every rank, None when no column has a tree


class _Boxes(NamedTuple):
    """The boxes that may still be cut; their points lie together in `items`, one box after the other."""

    items: NDArray[np.intp]  # (A,) points
    starts: NDArray[np.intp]  # (S + 1,) where each box begins in `items`
    offset: NDArray[np.int64]  # (S,) where it begins in the depth-first order of all points
    rows: NDArray[np.int64]  # (S,) rows inside
    widths: NDArray[np.float64]  # (S, d) normalized width
    preference: NDArray[np.intp]  # (S, d) columns, widest first
    n_tried: NDArray[np.intp]  # (S,) how many of them had no allowable cut


def mondrian(
    values: NDArray[Any],
    counts: NDArray[np.int64],
    *,
    k: int,
    span: NDArray[np.float64] | None = None,
    histograms: Sequence[NDArray[Any] | scipy.sparse.csr_array] = (),
    allows: Sequence[Allows] = (),
    people: scipy.sparse.csr_array | None = None,
    trees: Sequence[NDArray[np.int64] | None] = (),
    strict: bool = True,
    rng: np.random.Generator | None = None,
) -> NDArray[np.int32]:
    """Box of every point: cut again and again at the allowable position nearest the median, widest column first.

    A cut puts the points up to a position in the order of one column to the left, the others to the right. It is
    allowable if both halves hold at least `k` rows, of `k` people, and the histograms of both halves pass `allows`.
    Among the allowable cuts of a column the one with the smallest |rows left - rows / 2| is taken, the lower one on a
    tie. The columns of a box are tried from widest to narrowest (width / `span`), ties in column order; a box is final
    when no column has an allowable cut. In the strict form a cut lies between two different values, so that a value is
    on one side only; boxes are then disjoint, `k = 1` returns the distinct points, and the order of the points does not
    matter. In the relaxed form (`strict=False`, single rows, `rng`) a cut may lie between equal values, whose order
    is drawn anew for every cut; with `k` alone every box holds between k and 2k - 1 rows, and boxes may overlap.

    values : (C, d) finite coordinates of the points. counts : (C,) rows at each point, at least 1.
    span : (d,) width that means 1; default the width of the data. A constant column is never cut in the strict form.
    histograms : for every sensitive column (C, m) counts, dense or CSR. allows : for each a function from histograms
        (P, m) to bool (P,).
    people : (C, P) rows of each person at each point, CSR; None where every row is a person.
    trees : for every column None or (levels, number of values) node numbers of the integer coordinates 0, 1, ... in
        depth-first order, leaves first, root last. A strict cut of such a column must lie between two children of the
        lowest common ancestor of the values in the box.
    Returns (C,) box numbers from 0, in depth-first order (left before right). The whole is not tested: fewer than k
    rows, or histograms that do not pass, come back as one box, because no half of it is tested unless both pass.

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
    points = ranked(values, counts, span, trees if strict else ())
    tests = _tests(histograms, allows)
    tests += [] if people is None else [partial(have_people, people, k)]
    start_of = np.zeros(n_points, dtype=np.int64)
    boxes = _fresh(
        points,
        np.arange(n_points, dtype=np.intp),
        np.array([0, n_points], dtype=np.intp),
        np.zeros(1, dtype=np.int64),
        np.array([counts.sum()], dtype=np.int64),
    )
    points_at_once = _TOGETHER if strict else n_points + 1  # the relaxed form shuffles all that may be cut at once
    waiting = _runs(_retire(boxes, _final(boxes, k=k, strict=strict), start_of), points_at_once)
    while waiting:
        boxes, cuts, box_of_cut, left_rows = _best_cuts(points, waiting.pop(), tests, k=k, rng=None if strict else rng)
        boxes = _split(points, boxes, cuts, box_of_cut, left_rows, start_of, k=k, strict=strict)
        waiting += _runs(boxes, points_at_once)
    begins = np.zeros(n_points, dtype=np.bool_)
    begins[start_of] = True
    number = np.cumsum(begins, dtype=np.int32) - np.int32(1)
    return number[start_of]


def _tests(histograms: Sequence[NDArray[Any] | scipy.sparse.csr_array], allows: Sequence[Allows]) -> list[Test]:
    return [
        partial(all_pass, scipy.sparse.csr_array(histogram), allow)
        for histogram, allow in zip(histograms, allows, strict=True)
    ]


def _fresh(
    points: Ranked,
    items: NDArray[np.intp],
    starts: NDArray[np.intp],
    offset: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> _Boxes:
    """Boxes that have not been tried yet: measure their widths and rank their columns."""
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


def _final(boxes: _Boxes, *, k: int, strict: bool) -> NDArray[np.bool_]:
    """Boxes that can have no further cut: too few rows, no column left, or (strict) only constant columns left."""
    d = boxes.preference.shape[1]
    done: NDArray[np.bool_] = (boxes.n_tried >= d) | (boxes.rows < 2 * k)
    if strict:
        box_numbers = np.arange(boxes.rows.size)
        done |= boxes.widths[box_numbers, boxes.preference[box_numbers, np.minimum(boxes.n_tried, d - 1)]] <= 0
    return done


def _retire(boxes: _Boxes, done: NDArray[np.bool_], start_of: NDArray[np.int64]) -> _Boxes:
    """Write down where the boxes that are done begin, and return the others."""
    sizes = np.diff(boxes.starts)
    start_of[boxes.items[np.repeat(done, sizes)]] = np.repeat(boxes.offset[done], sizes[done])
    return _subset(boxes, ~done)


def _pointers(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.concatenate([np.zeros(1, dtype=np.intp), np.cumsum(sizes, dtype=np.intp)])


def _sort(points: Ranked, boxes: _Boxes, *, rng: np.random.Generator | None) -> tuple[_Boxes, NDArray[np.int64], int]:
    """Order the points of every box by its current column; key = box number and rank, in one integer.

    The place of a point rides in the lowest bits where they suffice: sorting plain integers is several times faster
    than sorting with an index.
    """
    n_points, n_boxes, n_items = points.counts.size, boxes.rows.size, boxes.items.size
    column = boxes.preference[np.arange(n_boxes), boxes.n_tried]
    sizes = np.diff(boxes.starts)
    rank_bits = int(points.coordinate.size).bit_length()
    place_bits = n_items.bit_length()
    ranks = points.ranks[np.repeat(column * n_points, sizes) + boxes.items]
    keys = np.repeat(np.arange(n_boxes, dtype=np.int64) << rank_bits, sizes) | ranks
    items = boxes.items
    if rng is not None:
        shuffled = rng.permutation(n_items)
        items, keys = items[shuffled], keys[shuffled]
    if n_boxes.bit_length() + rank_bits + place_bits <= _WORD:
        packed = np.sort((keys << place_bits) | np.arange(n_items))
        place, keys = packed & ((1 << place_bits) - 1), packed >> place_bits
    else:
        place = np.argsort(keys, kind="stable")
        keys = keys[place]
    return boxes._replace(items=items[place]), keys, rank_bits


def _best_cuts(
    points: Ranked,
    boxes: _Boxes,
    tests: Sequence[Test],
    *,
    k: int,
    rng: np.random.Generator | None,
) -> tuple[_Boxes, NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]]:
    """Return the boxes in the order of their current column, and the best allowable cut of each that has one.

    A cut is its last item on the left, its box, and the rows on the left. rng : of the relaxed form.
    """
    boxes, keys, rank_bits = _sort(points, boxes, rng=rng)
    cuts, box, left_rows = _positions(points, boxes, keys, rank_bits, k=k, strict=rng is None)
    for passes in tests:
        passing = passes(Halves(boxes.items, boxes.starts, cuts))
        cuts, box, left_rows = cuts[passing], box[passing], left_rows[passing]
    nearest = _nearest_median(np.abs(2 * left_rows - boxes.rows[box]), box)
    return boxes, cuts[nearest], box[nearest], left_rows[nearest]


def _positions(
    points: Ranked, boxes: _Boxes, keys: NDArray[np.int64], rank_bits: int, *, k: int, strict: bool
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]]:
    """Cuts with at least k rows on both sides: the last item on the left, its box, and the rows on the left."""
    until = np.cumsum(points.counts[boxes.items])
    cuts = np.flatnonzero(keys[1:] != keys[:-1]) if strict else np.arange(keys.size - 1)
    box = keys[cuts] >> rank_bits
    rows_before = np.concatenate([np.zeros(1, dtype=np.int64), until])[boxes.starts[:-1]]
    left_rows = until[cuts] - rows_before[box]
    enough = (left_rows >= k) & (boxes.rows[box] - left_rows >= k)
    cuts, box, left_rows = cuts[enough], box[enough], left_rows[enough]
    if points.ancestors is not None:
        between = _between_children(points, points.ancestors, boxes, keys & ((1 << rank_bits) - 1), cuts, box)
        cuts, box, left_rows = cuts[between], box[between], left_rows[between]
    return cuts, box, left_rows


def _between_children(
    points: Ranked,
    ancestors: NDArray[np.int64],
    boxes: _Boxes,
    ranks: NDArray[np.int64],
    cuts: NDArray[np.intp],
    box: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Return True for cuts that separate two children of the lowest common ancestor of all values in the box."""
    first = points.first[boxes.preference[np.arange(boxes.rows.size), boxes.n_tried]]
    low, high = first + ranks[boxes.starts[:-1]], first + ranks[boxes.starts[1:] - 1]
    child_level = np.count_nonzero(ancestors[:, low] != ancestors[:, high], axis=0) - 1
    level, base = child_level[box], first[box]
    separated: NDArray[np.bool_] = ancestors[level, base + ranks[cuts]] != ancestors[level, base + ranks[cuts + 1]]
    return separated


def _nearest_median(distance: NDArray[np.int64], box: NDArray[np.int64]) -> NDArray[np.intp]:
    """For every box that has a cut, the place of its cut with the smallest distance, the first on a tie."""
    if not box.size:
        return np.zeros(0, dtype=np.intp)
    new = np.concatenate([[True], box[1:] != box[:-1]])
    begins = np.flatnonzero(new)
    smallest = np.minimum.reduceat(distance, begins)
    group = np.cumsum(new) - 1
    hits = np.flatnonzero(distance == smallest[group])
    first = np.concatenate([[True], group[hits[1:]] != group[hits[:-1]]])
    return np.asarray(hits[first], dtype=np.intp)


def _split(
    points: Ranked,
    boxes: _Boxes,
    cuts: NDArray[np.intp],
    box: NDArray[np.int64],
    left_rows: NDArray[np.int64],
    start_of: NDArray[np.int64],
    *,
    k: int,
    strict: bool,
) -> _Boxes:
    """Cut the boxes that have a cut, move the others on to their next column, and retire what is final."""
    cut = np.zeros(boxes.rows.size, dtype=np.bool_)
    cut[box] = True
    old, halves = _subset(boxes, ~cut), _subset(boxes, cut)
    old = old._replace(n_tried=old.n_tried + 1)
    n_left = cuts + 1 - boxes.starts[box]
    sizes = _alternate(n_left, np.diff(halves.starts) - n_left)
    offset = _alternate(halves.offset, halves.offset + n_left)
    rows = _alternate(left_rows, halves.rows - left_rows)
    large = rows >= 2 * k  # the others are final: no need to measure them
    in_large = np.repeat(large, sizes)
    start_of[halves.items[~in_large]] = np.repeat(offset[~large], sizes[~large])
    young = _fresh(points, halves.items[in_large], _pointers(sizes[large]), offset[large], rows[large])
    boxes = _join(old, young)
    return _retire(boxes, _final(boxes, k=k, strict=strict), start_of)


def _runs(boxes: _Boxes, points: int) -> list[_Boxes]:
    """Split boxes into runs of at most about so many points."""
    ends = np.flatnonzero(np.diff(boxes.starts[1:] // points, append=-1)) + 1
    return [_run(boxes, begin, end) for begin, end in pairwise([0, *ends.tolist()])]


def _run(boxes: _Boxes, begin: int, end: int) -> _Boxes:
    """Select the boxes from `begin` to before `end`."""
    first, last = boxes.starts[begin], boxes.starts[end]
    of_boxes: list[Any] = [of_box[begin:end] for of_box in boxes[2:]]
    return _Boxes(boxes.items[first:last], boxes.starts[begin : end + 1] - first, *of_boxes)


def _subset(boxes: _Boxes, keep: NDArray[np.bool_]) -> _Boxes:
    if keep.all():
        return boxes
    sizes = np.diff(boxes.starts)
    of_boxes: list[Any] = [of_box[keep] for of_box in boxes[2:]]
    return _Boxes(boxes.items[np.repeat(keep, sizes)], _pointers(sizes[keep]), *of_boxes)


def _alternate(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    return np.stack([first, second], axis=1).reshape(-1)


def _join(old: _Boxes, young: _Boxes) -> _Boxes:
    if not old.rows.size or not young.rows.size:
        return young if young.rows.size else old
    items, starts = np.concatenate([old.items, young.items]), [old.starts, old.starts[-1] + young.starts[1:]]
    parts: list[Any] = [np.concatenate(part) for part in zip(old[2:], young[2:], strict=True)]
    return _Boxes(items, np.concatenate(starts), *parts)


# --- points by rank: what stays the same while they are cut ------------------------------------------------------


def ranked(
    values: NDArray[Any],
    counts: NDArray[np.int64],
    span: NDArray[np.float64] | None,
    trees: Sequence[NDArray[np.int64] | None],
) -> Ranked:
    """Rank the points (C, d) and their trees; the arguments are those of `mondrian`."""
    n_points, d = values.shape
    distinct, ranks = [], np.empty((d, n_points), dtype=np.int32)
    for j in range(d):
        present, ranks[j] = _dense_ranks(values[:, j])
        distinct.append(present)
    if span is None:
        span = np.array([float(present[-1]) - float(present[0]) for present in distinct])
    sizes = np.array([present.size for present in distinct], dtype=np.int64)
    return Ranked(
        ranks=ranks.reshape(-1),
        counts=counts.astype(np.int64, copy=False),
        coordinate=np.concatenate(distinct).astype(np.float64),
        first=np.cumsum(sizes) - sizes,
        span=np.where(span > 0, span, 1.0),
        ancestors=_ancestors(distinct, trees) if any(tree is not None for tree in trees) else None,
    )


def _dense_ranks(column: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Distinct values in order, and the rank of every entry; whole numbers of small range need no sort."""
    low, high = column.min(), column.max()
    if high - low <= 4 * column.size + 1024 and (column.dtype.kind in "iu" or bool(np.all(column == np.rint(column)))):
        shifted = (column - low).astype(np.int64)
        occurs = np.zeros(int(high - low) + 1, dtype=np.bool_)
        occurs[shifted] = True
        rank = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
        return np.flatnonzero(occurs) + low, rank[shifted]
    present, inverse = np.unique(column, return_inverse=True)
    return present, inverse.astype(np.int32)


def _ancestors(distinct: list[NDArray[Any]], trees: Sequence[NDArray[np.int64] | None]) -> NDArray[np.int64]:
    """Trees over the ranks side by side; a column without a tree has one root right above its values."""
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
