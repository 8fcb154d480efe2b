"""Cells to coordinates and back: where Mondrian cuts a column, and the cell that stands for a box, a node or a bin.

A coordinate orders the levels of a column; a recoding returns the canonical levels of the new cells and the code of
every row or class among them. No row order enters, so equal cells get equal results.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.errors import UnmaskError
from unmask.tables.cells import EVERYTHING, MISSING, Levels, format_interval, format_set, read_levels
from unmask.tables.counts import class_counts
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.release import Column, Table

Recoded = tuple[Levels, NDArray[np.int32]]
"""Levels, and a code into them for each of whatever was recoded."""

# --- points and axes --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Points:
    """What the kernel cuts: classes with their sizes, or single rows (`of_row` None)."""

    levels: NDArray[np.int32]
    sizes: NDArray[np.int64]
    of_row: NDArray[np.int32] | None


def points_of_classes(table: Table) -> Points:
    """The distinct combinations of cells, for cuts between values."""
    return Points(table.classes.levels, table.classes.sizes, table.classes.of_row)


def points_of_rows(table: Table) -> Points:
    """Every row for itself, for cuts between equal values, too."""
    codes = np.stack([column.codes for column in table.quasi_identifiers], axis=1)
    return Points(codes, np.ones(table.n_rows, dtype=np.int64), None)


def axis(column: Column, codes: NDArray[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    """Coordinate of every level that occurs, and for a hierarchy its tree over the whole-numbered coordinates."""
    levels = column.levels
    used = np.flatnonzero(np.bincount(codes, minlength=len(levels)))
    if levels.kind == "numeric":
        return _numeric_axis(levels, used), None
    along = _depth_first(levels, column.hierarchy) if levels.kind == "categorical" else None
    centre = _centres(levels, along)
    coordinate = np.zeros(len(levels))
    ordered = used[np.argsort(centre[used], kind="stable")]
    coordinate[ordered] = np.arange(used.size)
    if column.hierarchy is None or along is None:
        return coordinate, None
    return coordinate, _tree(_nodes(levels, column.hierarchy)[:, ordered])


def _numeric_axis(levels: Levels, used: NDArray[np.intp]) -> NDArray[np.float64]:
    """Midpoints; the finite end of a half-open interval; `*` and missing one and two mean gaps below the smallest."""
    low, high = levels.low, levels.high
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isinf(low), high, np.where(np.isinf(high), low, low / 2 + high / 2))
    middle[levels.atomic] = low[levels.atomic]
    finite = middle[used][np.isfinite(middle[used])]
    if not finite.size:
        finite = np.zeros(1)
    gap = (finite.max() - finite.min()) / max(np.unique(finite).size - 1, 1) or 1.0
    middle[~np.isfinite(middle)] = finite.min() - gap
    if levels.missing >= 0:
        middle[levels.missing] = finite.min() - 2 * gap
    return middle


def _depth_first(levels: Levels, hierarchy: Hierarchy | None) -> NDArray[np.intp] | None:
    """Place of each value of the domain in the depth-first order of its hierarchy."""
    if hierarchy is None or hierarchy.leaves != levels.domain:
        return None
    place = np.empty(len(levels.domain), dtype=np.intp)
    place[list(hierarchy.order())] = np.arange(place.size)
    return place


def _centres(levels: Levels, along: NDArray[np.intp] | None) -> NDArray[np.float64]:
    """Mean place of the values of each level; `*` -1 and missing -2."""
    place = np.arange(len(levels.domain)) if along is None else along
    centre = np.empty(len(levels))
    exact = levels.atomic
    centre[exact] = place[levels.members[exact].argmax(axis=1)] if exact.any() else 0
    for at in np.flatnonzero(~exact):
        inside = levels.members[at]
        centre[at] = place[inside].mean() if inside.any() and levels.labels[at] != EVERYTHING else -1
    if levels.missing >= 0:
        centre[levels.missing] = -2
    return centre


def _tree(nodes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Ancestors of the coordinates up to one root; a level that is no leaf is a branch of its own below the root."""
    tree = nodes.astype(np.int64)
    alone = np.flatnonzero(tree[0] < 0)
    tree[:, alone] = -1 - np.arange(alone.size)
    return np.concatenate([tree, np.zeros((1, tree.shape[1]), dtype=np.int64)])


def _nodes(levels: Levels, hierarchy: Hierarchy) -> NDArray[np.int32]:
    """Node number of every level's ancestors, (levels of the tree, L), in file order; -1 where it is no leaf."""
    leaf_of = {label: at for at, label in enumerate(hierarchy.leaves)}
    leaf = np.array([leaf_of.get(label, -1) for label in levels.labels], dtype=np.intp)
    nodes = np.empty((hierarchy.levels, len(levels)), dtype=np.int32)
    for height, labels in enumerate(hierarchy.ancestor):
        number = {label: at for at, label in enumerate(dict.fromkeys(labels))}
        of_leaf = np.array([*(number[label] for label in labels), -1], dtype=np.int32)
        nodes[height] = of_leaf[leaf]
    return nodes


# --- one cell for a box -----------------------------------------------------------------------------------------------


def new_cells(column: Column, texts: Sequence[str]) -> Recoded:
    """Canonical levels of new cells of a column, and the level of each."""
    known = column.levels
    order = known.domain if known.kind == "ordinal" else None
    return read_levels(texts, kind=known.kind, column=column.name, order=order, hierarchy=column.hierarchy)


def merged(
    column: Column, box: NDArray[np.int32], codes: NDArray[np.int32], of_row: NDArray[np.int32] | None
) -> Recoded:
    """One cell for every box that covers all cells in it; returns the levels and the code of every row."""
    texts, text_of_box = covering(column, box, codes)
    levels, code = new_cells(column, texts)
    of_point = code[text_of_box][box]
    return levels, of_point if of_row is None else of_point[of_row]


def covering(column: Column, box: NDArray[np.int32], codes: NDArray[np.int32]) -> tuple[list[str], NDArray[np.intp]]:
    """Texts of cells that cover all cells in a box, and the text of every box."""
    cells = class_counts(box, int(box.max()) + 1, codes, len(column.levels))
    return (_hulls if column.levels.kind == "numeric" else _unions)(column.levels, cells)


def _hulls(levels: Levels, cells: csr_array) -> tuple[list[str], NDArray[np.intp]]:
    """Texts of the intervals from the smallest to the largest value, and the text of every box."""
    begins = cells.indptr[:-1]
    gap = cells.indices == levels.missing
    low = np.minimum.reduceat(np.where(gap, -math.inf, levels.low[cells.indices]), begins)
    high = np.maximum.reduceat(np.where(gap, math.inf, levels.high[cells.indices]), begins)
    lows, low_at = np.unique(low, return_inverse=True)
    highs, high_at = np.unique(high, return_inverse=True)
    empty = gap[begins] & (np.diff(cells.indptr) == 1)
    key = np.where(empty, -1, low_at * highs.size + high_at)
    distinct, text_of_box = np.unique(key, return_inverse=True)
    return [
        MISSING if at < 0 else format_interval(lows[at // highs.size], highs[at % highs.size]) for at in distinct
    ], text_of_box


def _unions(levels: Levels, cells: csr_array) -> tuple[list[str], NDArray[np.intp]]:
    """Texts of the sets of values present, and the text of every box."""
    first, text_of_box = _distinct_sets(cells)
    of_level, value = np.nonzero(levels.members)
    values = np.split(value, np.searchsorted(of_level, np.arange(1, len(levels))))
    vague = {
        at for at in range(len(levels)) if at == levels.missing or levels.labels[at] == EVERYTHING or levels.mask(at)
    }
    texts = []
    for box in first:
        inside = cells.indices[cells.indptr[box] : cells.indptr[box + 1]].tolist()
        if len(inside) == 1:
            texts.append(levels.labels[inside[0]])
        elif vague.intersection(inside):
            texts.append(EVERYTHING)
        else:
            texts.append(format_set(levels.domain[at] for level in inside for at in values[level]))
    return texts, text_of_box


def _distinct_sets(cells: csr_array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """A box of each different set of levels, and the number of the set of every box.

    Boxes walk down a trie of sorted levels together, so the work is the number of entries, whatever their range.
    """
    n_boxes, n_levels = cells.shape
    sizes = np.diff(cells.indptr)
    node = np.zeros(n_boxes, dtype=np.int64)
    n_nodes = 1
    walking = np.arange(n_boxes)
    for depth in range(int(sizes.max(initial=0))):
        walking = walking[sizes[walking] > depth]
        step = node[walking] * n_levels + cells.indices[cells.indptr[walking] + depth]
        _, branch = np.unique(step, return_inverse=True)
        node[walking] = n_nodes + branch
        n_nodes += int(branch.max()) + 1
    _, first, number = np.unique(node, return_index=True, return_inverse=True)
    return first, number


# --- ancestors and bins -----------------------------------------------------------------------------------------------


def generalised(column: Column, level: float) -> Recoded:
    """A column recoded to a level of its hierarchy, or to bins of a width."""
    if isinstance(level, bool) or not isinstance(level, int | float | np.integer | np.floating):
        raise UnmaskError(f"the level of column {column.name!r} is {level!r}, expected a number")
    if column.hierarchy is not None and isinstance(level, int | np.integer):
        texts = _ancestors(column, column.hierarchy, int(level))
    elif column.levels.kind == "numeric":
        texts = _bins(column, float(level))
    else:
        raise UnmaskError(
            f"column {column.name!r} cannot be generalised to {level!r}: it is not numeric, expected a hierarchy and a "
            "whole number as its level; give the column a hierarchy"
        )
    levels, code = new_cells(column, texts)
    return levels, code[column.codes]


def _ancestors(column: Column, hierarchy: Hierarchy, level: int) -> list[str]:
    if not 0 <= level < hierarchy.levels:
        raise UnmaskError(
            f"level {level} of column {column.name!r} does not exist; its hierarchy has levels 0 to "
            f"{hierarchy.levels - 1}"
        )
    texts = [_ancestor(column.levels, at, hierarchy, level) for at in range(len(column.levels))]
    unknown = sum(text is None for text in texts)
    if unknown:
        raise UnmaskError(
            f"{unknown} values of column {column.name!r} are not in its hierarchy; add them or set a width"
        )
    return [text for text in texts if text is not None]


def _ancestor(levels: Levels, at: int, hierarchy: Hierarchy, level: int) -> str | None:
    """The cell that covers the ancestors of all values of a level; None when it has a value the tree does not know."""
    label, upper = levels.labels[at], hierarchy.ancestor[level]
    if label in (MISSING, EVERYTHING):
        return label
    if label in hierarchy.nodes:
        nodes = {upper[leaf] for leaf in hierarchy.nodes[label]}
        return nodes.pop() if len(nodes) == 1 else label  # a node over several of these nodes is their union
    if levels.kind == "numeric" or levels.domain != hierarchy.leaves:
        return None
    return format_set({upper[leaf] for leaf in np.flatnonzero(levels.members[at])})


def _bins(column: Column, width: float) -> list[str]:
    if not (math.isfinite(width) and width > 0):
        raise UnmaskError(f"the bin width of column {column.name!r} is {width!r}, expected a number above 0")
    step = Fraction(repr(width))
    return [
        MISSING if at == column.levels.missing else format_interval(*_bin(float(low), float(high), step))
        for at, (low, high) in enumerate(zip(column.levels.low, column.levels.high, strict=True))
    ]


def _bin(low: float, high: float, step: Fraction) -> tuple[float, float]:
    """From the lower edge of the bin of `low` to below the upper edge of that of `high`, in the decimals as written.

    In binary 0.3 / 0.1 is below 3; as written, 0.3 begins the bin [0.3, 0.4) of width 0.1.
    """
    if not math.isinf(low):
        low = float(Fraction(repr(low)) // step * step)
    if not math.isinf(high):
        high = max(high, math.nextafter(float((Fraction(repr(high)) // step + 1) * step), -math.inf))
    return low, high
