"""Coordinates of cells for Mondrian, and new cells for boxes, hierarchy nodes and bins.

A coordinate orders the levels of a column. Neither coordinates nor new cells depend on the order of the rows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import CsrRows
from unmask.core.errors import UnmaskError
from unmask.core.grouping import class_counts
from unmask.tables.cells import list_set_levels, read_levels
from unmask.tables.column import Column
from unmask.tables.dates import UNITS, Calendar
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.levels import Levels
from unmask.tables.notation import EVERYTHING, MISSING, format_prefix, format_set
from unmask.tables.scales import NUMBERS

# --- axes -----------------------------------------------------------------------------------------------------------


def column_axis(column: Column) -> tuple[Floats, Integers | None, float]:
    """Return the coordinate of each level that occurs, the tree over the integer coordinates, and the width.

    A column without a hierarchy or prefixes has no tree (None).
    """
    used = np.flatnonzero(column.counts)
    coordinate, tree = _axis(column, used)
    return coordinate, tree, float(np.ptp(coordinate[used]))


def _axis(column: Column, used: NDArray[np.intp]) -> tuple[Floats, Integers | None]:
    levels = column.levels
    if levels.kind == "numeric":
        return _numeric_axis(levels, used), None
    if levels.by_prefix and column.hierarchy is None:
        return _code_axis(levels, used)
    along = _depth_first(levels, column.hierarchy) if levels.kind == "categorical" else None
    center = _centers(levels, along)
    coordinate = np.zeros(len(levels))
    ordered = used[np.argsort(center[used], kind="stable")]
    coordinate[ordered] = np.arange(used.size)
    if column.hierarchy is None or along is None:
        return coordinate, None
    return coordinate, _tree(levels, column.hierarchy, ordered)


def _numeric_axis(levels: Levels, used: NDArray[np.intp]) -> Floats:
    """Return the midpoint of each level; the finite end of a half-open interval.

    `*` and missing cells are one and two mean gaps below the smallest midpoint.
    """
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


def _code_axis(levels: Levels, used: NDArray[np.intp]) -> tuple[Floats, Integers]:
    """Return codes in text order, with `*` and missing cells first, and the tree of their prefixes."""
    labels = np.array(levels.labels)[used]
    prefixes = np.char.rstrip(labels, EVERYTHING)
    ordered = np.lexsort((labels, prefixes))
    coordinate = np.zeros(len(levels))
    coordinate[used[ordered]] = np.arange(used.size)
    nodes = [np.unique(labels[ordered].astype(f"U{n}"), return_inverse=True)[1] for n in range(levels.longest, 0, -1)]
    is_coarser = np.diff([node.max() for node in nodes], prepend=used.size) < 0
    return coordinate, np.stack([*itertools.compress(nodes, is_coarser), np.zeros(used.size, dtype=np.int64)])


def _depth_first(levels: Levels, hierarchy: Hierarchy | None) -> NDArray[np.intp] | None:
    """Return the position of each domain value in the depth-first order of its hierarchy; None without a hierarchy."""
    if hierarchy is None or hierarchy.leaves != levels.domain:
        return None
    place = np.empty(len(levels.domain), dtype=np.intp)
    place[list(hierarchy.order())] = np.arange(place.size)
    return place


def _centers(levels: Levels, along: NDArray[np.intp] | None) -> Floats:
    """Return the mean position of the values of each level; -1 for `*` and -2 for missing cells."""
    place = np.arange(len(levels.domain)) if along is None else along
    center = np.empty(len(levels))
    exact = levels.place >= 0  # one by one, these levels would need n_values**2 bytes
    center[exact] = place[levels.place[exact]]
    for level in np.flatnonzero(~exact).tolist():
        covered = levels.covered(level)
        center[level] = place[covered].mean() if len(covered) and levels.labels[level] != EVERYTHING else -1
    if levels.missing >= 0:
        center[levels.missing] = -2
    return center


def _tree(levels: Levels, hierarchy: Hierarchy, ordered: NDArray[np.intp]) -> Integers:
    """Return the tree node of each coordinate and of its ancestors up to one root.

    A level is a node of its own below its place in the hierarchy. A level outside the hierarchy is a branch below the
    root.
    """
    nodes = np.tile(-1 - np.arange(len(ordered)), (hierarchy.levels + 1, 1))
    nodes[-1] = 0
    for place, level in enumerate(ordered.tolist()):
        label = levels.labels[level]
        if label in hierarchy.nodes and label != EVERYTHING:
            leaf = min(hierarchy.nodes[label])
            height = next(h for h, ancestors in enumerate(hierarchy.ancestor) if ancestors[leaf] == label)
            nodes[height:-1, place] = hierarchy.numbers[height:, leaf]
    return nodes


# --- cells of boxes ---------------------------------------------------------------------------------------------------


def write_cells(
    column: Column,
    texts: Sequence[str | None],
    codes: NDArray[np.integer] | None = None,
    bounds: tuple[Floats, Floats] | None = None,
) -> Column:
    """Return the column with new cells.

    texts  : distinct cells; by default, one for each level of the column
    codes  : (n,) text of each row
    bounds : see `read_levels`
    """
    name, tree, order = column.name, column.hierarchy, column.levels.domain if column.levels.kind == "ordinal" else None
    levels, code = read_levels(texts, as_type=column.type, column=name, order=order, hierarchy=tree, bounds=bounds)
    return replace(column, levels=levels, codes=code[column.codes if codes is None else codes])


def merge_cells(column: Column, box: NDArray[np.int32], codes: NDArray[np.int32]) -> Column:
    """Return a column with one cell for each box that covers all its cells.

    box, codes : (n,) box and cell of each class or row
    """
    levels = column.levels
    if levels.kind == "numeric":
        return _merge_intervals(column, box, codes)
    cells = class_counts(box, int(box.max()) + 1, codes, len(levels))
    if levels.by_prefix and column.hierarchy is None:
        return write_cells(column, *_prefix_texts(column, cells))
    is_plain = column.hierarchy is None and levels.kind == "categorical" and (levels.place[cells.indices] >= 0).all()
    return _merge_values(column, cells) if is_plain else write_cells(column, *_set_texts(column, cells))


def _merge_values(column: Column, cells: CsrRows) -> Column:
    """Return a column with the set of values in each box, whose texts need not be read. cells : values in each box"""
    first, set_of_box = _distinct_sets(cells)
    sets, levels = cells.take(first), column.levels
    used, value = np.unique(levels.place[sets.indices], return_inverse=True)
    members = np.ones(len(value), dtype=np.bool_), value.astype(np.int32), sets.indptr, (len(first), len(used))
    domain = [levels.domain[position] for position in used.tolist()]
    set_levels, code = list_set_levels(domain, CsrRows(*members), column.type)
    return replace(column, levels=set_levels, codes=code[set_of_box])


def _merge_intervals(column: Column, box: NDArray[np.int32], codes: NDArray[np.int32]) -> Column:
    """Return a column with the interval from the smallest to the largest value of each box.

    A missing cell turns every other cell of its box into `*`.
    """
    levels, n_boxes = column.levels, int(box.max()) + 1
    low, high = np.full(n_boxes, math.inf), np.full(n_boxes, -math.inf)
    np.minimum.at(low, box, np.where(levels.is_missing, -math.inf, levels.low)[codes])
    np.maximum.at(high, box, np.where(levels.is_missing, math.inf, levels.high)[codes])
    is_empty = np.ones(n_boxes, dtype=np.bool_)
    is_empty[box[codes != levels.missing]] = False
    lows, low_at = np.unique(low, return_inverse=True)
    highs, high_at = np.unique(high, return_inverse=True)
    key = np.where(is_empty, -1, low_at * highs.size + high_at)
    distinct, text_of_box = np.unique(key, return_inverse=True)
    keys = distinct[distinct >= 0]
    bounds = lows[keys // highs.size], highs[keys % highs.size]
    texts = [MISSING] * (distinct.size - keys.size) + levels.scale.covers(*bounds)
    return write_cells(column, texts, text_of_box, bounds=bounds if levels.type == "number" else None)


def _prefix_texts(column: Column, cells: CsrRows) -> tuple[list[str], NDArray[np.intp]]:
    """Return texts of the common prefixes of all codes and masks in a box, and the position of each box's text.

    The common prefix is that of the first and the last text in a box. A missing cell or `*` turns every other cell of
    its box into `*`. A box with one level keeps its text.
    """
    levels, begins = column.levels, cells.indptr[:-1]
    ends = [_first_and_last(levels, level) for level in range(len(levels))]
    shown_texts = sorted({text for pair in ends for text in pair})
    place = {text: level for level, text in enumerate(shown_texts)}
    first, last = np.array([(place[first_text], place[last_text]) for first_text, last_text in ends], dtype=np.int64).T
    low, high = np.minimum.reduceat(first[cells.indices], begins), np.maximum.reduceat(last[cells.indices], begins)
    is_everything = np.array([label in (MISSING, EVERYTHING) for label in levels.labels])
    key = np.where(np.logical_or.reduceat(is_everything[cells.indices], begins), -1, low * len(shown_texts) + high)
    is_single = np.diff(cells.indptr) == 1
    key[is_single] = -2 - cells.indices[begins[is_single]]
    distinct, text_of_box = np.unique(key, return_inverse=True)

    def text(key: int) -> str:
        if key < 0:
            return EVERYTHING if key == -1 else levels.labels[-2 - key]
        first_and_last = [shown_texts[position] for position in divmod(key, len(shown_texts))]
        return format_prefix(first_and_last, width=levels.longest)

    return list(map(text, distinct.tolist())), text_of_box


def _first_and_last(levels: Levels, level: int) -> tuple[str, str]:
    """Return the first and the last code that a level covers, in text order; for a mask the mask itself."""
    label = levels.labels[level]
    if levels.place[level] >= 0 or label in (MISSING, EVERYTHING) or level in levels.masks:
        return label, label
    values = [levels.domain[place] for place in levels.covered(level)]
    return min(values), max(values)


def _set_texts(column: Column, cells: CsrRows) -> tuple[list[str], NDArray[np.intp]]:
    """Return texts of cells that cover all values in a box, and the position of each box's text."""
    first, text_of_box = _distinct_sets(cells)
    cover = _cover_function(column)
    return [cover(cells.indices[cells.indptr[box] : cells.indptr[box + 1]].tolist()) for box in first], text_of_box


def _cover_function(column: Column) -> Callable[[list[int]], str]:
    """Return a function from levels to the text that covers them: the text of a single level, a tree node, or a set.

    Levels that include a missing, open or masked cell and another level become `*`.
    """
    levels, tree = column.levels, column.hierarchy
    values, ends = levels.members.indices.tolist(), levels.members.indptr.tolist()
    open_levels = {level for level, label in enumerate(levels.labels) if label in (MISSING, EVERYTHING)}
    nodes = tree.nodes if tree is not None and column.cells == "nodes" else None

    def cover(covered: list[int]) -> str:
        """Return the label of the smallest cell that contains levels."""
        if len(covered) == 1 and (nodes is None or levels.labels[covered[0]] in nodes or covered[0] in open_levels):
            return levels.labels[covered[0]]
        if open_levels.intersection(covered) or levels.masks.keys() & covered:
            return EVERYTHING
        places = sorted({place for level in covered for place in values[ends[level] : ends[level + 1]]})
        if nodes is not None and tree is not None:
            return tree.lowest(places) or EVERYTHING
        return format_set(levels.domain[place] for place in places)

    return cover


def _distinct_sets(cells: CsrRows) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return a box of each distinct set of levels, and the number of the set of each box.

    All boxes descend a trie of sorted levels together, so the work is proportional to the number of entries.
    """
    n_boxes, n_levels = cells.shape
    sizes = np.diff(cells.indptr)
    node = np.zeros(n_boxes, dtype=np.int64)
    n_nodes = 1
    active = np.arange(n_boxes)
    for depth in range(int(sizes.max(initial=0))):
        active = active[sizes[active] > depth]
        step = node[active] * n_levels + cells.indices[cells.indptr[active] + depth]
        _, branch = np.unique(step, return_inverse=True)
        node[active] = n_nodes + branch
        n_nodes += int(branch.max()) + 1
    _, first, number = np.unique(node, return_index=True, return_inverse=True)
    return first, number


# --- ancestors and bins -----------------------------------------------------------------------------------------------


def generalize(column: Column, level: float | str) -> Column:
    """Return a column recoded to a level of its hierarchy, bins of a width, periods, masked characters, or `*`."""
    return write_cells(column, _generalized_texts(column, level))


def _generalized_texts(column: Column, level: float | str) -> list[str]:
    """Return the new text of each level."""
    of_type = column.levels.type
    if level == EVERYTHING:
        return [EVERYTHING] * len(column.levels)
    if of_type in ("date", "datetime") and column.hierarchy is None:
        return _period_texts(column, level)
    if isinstance(level, bool) or not isinstance(level, int | float | np.integer | np.floating):
        raise UnmaskError(f"the level of column {column.name!r} is {level!r}, expected a number")
    is_whole = isinstance(level, int | np.integer)
    if column.hierarchy is not None and is_whole:
        return _ancestor_texts(column, column.hierarchy, int(level))
    if of_type == "number":
        return _bin_texts(column, float(level))
    if of_type == "code" and is_whole:
        return _masked_texts(column, int(level))
    raise UnmaskError(
        f"column {column.name!r} cannot be generalized to {level!r}: its type is {of_type}, expected a hierarchy and a "
        "whole number as its level; give the column a hierarchy"
    )


def _period_texts(column: Column, level: float | str) -> list[str]:
    levels, scale = column.levels, column.levels.scale
    if level not in UNITS or not isinstance(scale, Calendar):
        raise UnmaskError(f"the level of column {column.name!r} is {level!r}, expected one of {', '.join(UNITS)}")
    return _list_intervals(levels, lambda low, high: scale.rounded(low, high, str(level)))


def _list_intervals(levels: Levels, write: Callable[[float, float], str]) -> list[str]:
    """Return the text of each level by its bounds; a missing cell stays missing."""
    bounds = zip(levels.low.tolist(), levels.high.tolist(), levels.is_missing.tolist(), strict=True)
    return [MISSING if is_missing else write(low, high) for low, high, is_missing in bounds]


def _masked_texts(column: Column, characters: int) -> list[str]:
    levels = column.levels
    if not 0 <= characters <= levels.longest:
        raise UnmaskError(
            f"the level of column {column.name!r} hides {characters} characters, expected at most {levels.longest}, "
            "the length of its codes"
        )
    n_shown = levels.longest - characters
    texts = []
    for position, label in enumerate(levels.labels):
        vague = label in (MISSING, EVERYTHING) or not characters
        has_text = levels.place[position] >= 0 or position in levels.masks
        texts_of_level = [label] if has_text else [levels.domain[i] for i in levels.covered(position)]
        shown = [text[:n_shown] for text in texts_of_level]
        texts.append(label if vague else format_prefix(shown, width=levels.longest))
    return texts


def _ancestor_texts(column: Column, hierarchy: Hierarchy, level: int) -> list[str]:
    if not 0 <= level < hierarchy.levels:
        raise UnmaskError(
            f"the level of column {column.name!r} is {level}, expected 0 to {hierarchy.levels - 1} as in its hierarchy"
        )
    texts = [_ancestor(column.levels, position, hierarchy, level) for position in range(len(column.levels))]
    unknown = sum(text is None for text in texts)
    if unknown:
        raise UnmaskError(
            f"{unknown} values of column {column.name!r} are not in its hierarchy; add them or set a width"
        )
    return [text for text in texts if text is not None]


def _ancestor(levels: Levels, position: int, hierarchy: Hierarchy, level: int) -> str | None:
    """Return the cell that covers the ancestors of all values of a level; None for a value outside the tree."""
    label, upper = levels.labels[position], hierarchy.ancestor[level]
    if label in (MISSING, EVERYTHING):
        return label
    if label in hierarchy.nodes:
        nodes = {upper[leaf] for leaf in hierarchy.nodes[label]}
        return nodes.pop() if len(nodes) == 1 else label  # a node above several of these nodes is their union
    if levels.kind == "numeric" or levels.domain != hierarchy.leaves:
        return None
    return format_set({upper[leaf] for leaf in levels.covered(position)})


def _bin_texts(column: Column, width: float) -> list[str]:
    if not (math.isfinite(width) and width > 0):
        raise UnmaskError(f"the bin width of column {column.name!r} is {width!r}, expected a number above 0")
    step = Fraction(repr(width))
    return _list_intervals(column.levels, lambda low, high: NUMBERS.write(*find_bin(low, high, step)))


def find_bin(low: float, high: float, step: Fraction, origin: Fraction = Fraction(0)) -> tuple[float, float]:
    """Return the bounds of the bins that contain `low` to `high`, computed in decimals; a bin begins at the origin.

    In binary 0.3 / 0.1 is below 3. In decimals 0.3 begins the bin [0.3, 0.4) of width 0.1.
    """
    if not math.isinf(low):
        low = float((Fraction(repr(low)) - origin) // step * step + origin)
    if not math.isinf(high):
        end = ((Fraction(repr(high)) - origin) // step + 1) * step + origin
        high = max(high, math.nextafter(float(end), -math.inf))
    return low, high
