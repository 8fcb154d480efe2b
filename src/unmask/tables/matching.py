"""Compatibility of the cells of two columns: pairs of cells that may belong to the same person."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
import scipy

from unmask.core.arrays import Booleans, Integers
from unmask.core.csr_rows import CsrRows
from unmask.tables.levels import Levels, Missing, on_one_scale
from unmask.tables.notation import EVERYTHING, overlap
from unmask.tables.vocabulary import Masks

_BLOCK = 1 << 18
"""Pairs of levels whose common values are counted in one block."""


def compatible(target: Levels, released: Levels, *, missing: Missing) -> Booleans:
    """Return a matrix of the levels of two columns that may belong to the same person, (len(target), len(released)).

    Two stated levels are compatible if their sets of values intersect. Open levels (`Levels.open`) are compatible with
    every level. Numeric levels intersect as intervals, other levels by the labels of their atomic values. A value that
    the other column lacks is compatible with its open cells and with masks that may hide it. A numeric column is
    compared with another one through the numbers among its values, and dates are compared with times.

    missing : under "own" and "excluded", a missing cell is compatible with missing and open cells; under "wildcard",
        with every cell

    >>> from unmask.tables.cells import read_levels
    >>> known = read_levels(["25", "30"], as_type="number", column="age")[0]
    >>> released = read_levels(["[20, 30)", "30+"], as_type="number", column="age")[0]
    >>> compatible(known, released, missing="own").tolist()
    [[True, False], [False, True]]
    """
    if target.kind == "numeric" and released.kind == "numeric":
        known_levels, released_levels = on_one_scale(target, released)
        match = known_levels.low[:, None] <= released_levels.high
        match &= released_levels.low <= known_levels.high[:, None]
    elif target.kind == "numeric":
        match = _intersect(_read_as_values(target, released.domain), released)
    elif released.kind == "numeric":
        match = _intersect(target, _read_as_values(released, target.domain))
    else:
        match = _intersect(target, released)
    return _set_open_levels(match, target, released, missing)


def contained(target: Levels, released: Levels, *, missing: Missing) -> Booleans:
    """Return a matrix of the released levels that contain each known level, (len(target), len(released)).

    Both columns have the same type. If an adversary knows only that a person's value is in a released cell, a record
    certainly fits the person if its cell contains this cell. If it only intersects it, the record may not fit. Open and
    missing levels are as in `compatible`.

    >>> from unmask.tables.cells import read_levels
    >>> levels = read_levels(["[20, 30)", "[20, 40)", "[25, 35)"], as_type="number", column="age")[0]
    >>> contained(levels, levels, missing="own").astype(int).tolist()
    [[1, 1, 0], [0, 1, 0], [0, 1, 1]]
    """
    if target.kind == "numeric":
        match = (released.low <= target.low[:, None]) & (target.high[:, None] <= released.high)
    else:
        pairs = match_sets(target, released, missing=missing, max_pairs=math.inf, contains=True)
        assert pairs is not None
        match = pairs.toarray()
    return _set_open_levels(match, target, released, missing)


def are_disjoint(levels: Levels, *, missing: Missing) -> bool:
    """Return whether no two different levels are compatible."""
    if not levels.is_set.any():
        return True
    if levels.kind == "numeric":
        low, high = (np.sort(bound[~levels.is_missing]) for bound in (levels.low, levels.high))
        return bool((high[:-1] < low[1:]).all())
    if levels.masks:
        return bool(np.count_nonzero(compatible(levels, levels, missing=missing)) == len(levels))
    once = np.bincount(levels.members.indices, minlength=1).max() <= 1
    return bool(len(levels) == 1 or (once and not levels.open(missing).any()))


def _set_open_levels(match: Booleans, known_levels: Levels, released: Levels, missing: Missing) -> Booleans:
    """Return the matrix of stated levels, completed for missing, suppressed and unknown levels."""
    rows, columns = known_levels.is_missing, released.is_missing
    match[rows] = match[:, columns] = False
    match[np.ix_(rows, columns)] = True
    match[known_levels.open(missing)] = match[:, released.open(missing)] = True
    return match


def covered(values: tuple[str, ...], levels: Levels) -> CsrRows:
    """Return a matrix of the exact values that each level contains, (len(levels), len(values)), CSR.

    A missing cell contains no value.

    >>> from unmask.tables.cells import read_levels
    >>> levels = read_levels(["b", "{a, b}", "*", None], as_type="text", column="c")[0]
    >>> covered(("a", "b"), levels).to_scipy().toarray().tolist()
    [[False, True], [True, True], [True, True], [False, False]]
    """
    if levels.kind == "numeric":
        levels = _read_as_values(levels, values)
    joint, _, position = _number_values(values, levels.domain)
    row, column = _list_values(levels, joint, position)
    of_column, suppressed = column < len(values), np.flatnonzero(levels.suppressed)
    row = np.concatenate([row[of_column], np.repeat(suppressed, len(values))])
    column = np.concatenate([column[of_column], np.tile(np.arange(len(values)), suppressed.size)])
    return CsrRows.of_pairs(row, column, (len(levels), len(values)))


def match_sets(
    known_levels: Levels, released: Levels, *, missing: Missing, max_pairs: float, contains: bool = False
) -> scipy.sparse.csr_array | None:
    """Return the pairs of levels of `compatible` without open levels, for columns that are not numeric.

    contains : return the pairs of `contained` instead

    Returns a CSR array (len(known_levels), len(released)) with sorted columns; None if more than `max_pairs` values are
    shared by a known and a released level, so that a matrix is smaller.

    >>> from unmask.tables.cells import read_levels
    >>> known, released = (read_levels(texts, as_type="text", column="c")[0] for texts in (["a", "b"], ["{a, c}", "*"]))
    >>> match_sets(known, released, missing="own", max_pairs=10).toarray().tolist()
    [[True, False], [False, False]]
    """
    known_values, released_values = _incidences(known_levels, released)
    if known_values.sum(axis=0) @ released_values.sum(axis=0) > max_pairs:
        return None
    common = (known_values @ released_values.T).tocoo()
    is_match = ~(known_levels.open(missing)[common.row] | released.open(missing)[common.col])
    if contains:
        is_match &= common.data == np.diff(known_values.indptr)[common.row]
        is_match &= ~np.isin(common.row, list(known_levels.masks))  # a mask may hide values outside both domains
    pairs = [(common.row[is_match], common.col[is_match])]
    masks = list((_contained_masks if contains else _overlapping_masks)(known_levels.masks, released.masks))
    if known_levels.missing >= 0 and released.missing >= 0 and missing != "wildcard":
        masks.append((known_levels.missing, released.missing))
    row, column = np.concatenate([*pairs, np.array(masks, dtype=np.int64).reshape(-1, 2).T], axis=1).astype(np.int64)
    shape = (len(known_levels), len(released))
    matches = scipy.sparse.csr_array((np.ones(len(row), dtype=np.bool_), (row, column)), shape=shape)
    matches.sum_duplicates()  # also sorts columns
    return matches


def _intersect(known_levels: Levels, released: Levels) -> Booleans:
    """Return a matrix of the levels whose sets of values intersect."""
    if not (known_levels.is_set.any() or released.is_set.any()):
        _, *positions = _number_values(known_levels.domain, released.domain)
        known_value, released_value = map(_exact_values, (known_levels, released), positions)
        return np.asarray((known_value[:, None] == released_value) & (released_value >= 0))
    left_values, right_values = _incidences(known_levels, released)
    right_values = right_values.T.tocsr()
    match = np.zeros((len(known_levels), len(released)), dtype=np.bool_)
    step = max(1, _BLOCK // max(1, len(released)))
    for begin in range(0, len(known_levels), step):
        match[begin : begin + step] = (left_values[begin : begin + step] @ right_values).toarray()
    for row, column in _overlapping_masks(known_levels.masks, released.masks):
        match[row, column] = True
    return match


def _contained_masks(known_masks: Mapping[int, str], released_masks: Mapping[int, str]) -> Iterator[tuple[int, int]]:
    """Yield the positions of a known mask and a released mask that may hide at least the same values."""
    for row, column in _overlapping_masks(known_masks, released_masks):
        known_mask, released_mask = known_masks[row], released_masks[column]
        shorter = len(released_mask.rstrip(EVERYTHING)) <= len(known_mask.rstrip(EVERYTHING))
        if shorter and len(known_mask) <= len(released_mask):
            yield row, column


def _overlapping_masks(known_masks: Mapping[int, str], released_masks: Mapping[int, str]) -> Iterator[tuple[int, int]]:
    """Yield the positions of two masks that may hide the same value.

    The prefix of one mask begins with the prefix of the other, so only such masks are compared. A pair with equal
    prefixes occurs twice.
    """
    for masks, other_masks, is_swapped in ((known_masks, released_masks, False), (released_masks, known_masks, True)):
        masks_by_prefix = defaultdict(list)
        for position, mask in other_masks.items():
            masks_by_prefix[mask.rstrip(EVERYTHING)].append((position, mask))
        for position, mask in masks.items():
            prefix = mask.rstrip(EVERYTHING)
            beginnings = (masks_by_prefix.get(prefix[:n], ()) for n in range(len(prefix) + 1))
            for other_position, other_mask in chain.from_iterable(beginnings):
                if overlap(mask, other_mask):
                    yield (other_position, position) if is_swapped else (position, other_position)


def _incidences(known_levels: Levels, released: Levels) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
    """Return the values of each level of two columns, CSR; the values of both columns are numbered together."""
    joint, *positions = _number_values(known_levels.domain, released.domain)
    known_values, released_values = map(_incidence, (known_levels, released), (joint, joint), positions)
    return known_values, released_values


def _number_values(
    domain: tuple[str, ...], other_domain: tuple[str, ...]
) -> tuple[tuple[str, ...], Integers, Integers]:
    """Return the values of two columns, and the position in them of each value of the first and second column."""
    if domain == other_domain:
        return domain, np.arange(len(domain)), np.arange(len(domain))
    number = {value: position for position, value in enumerate(dict.fromkeys(domain + other_domain))}
    of_first, of_second = (np.array([number[value] for value in side], np.int64) for side in (domain, other_domain))
    return tuple(number), of_first, of_second


def _exact_values(levels: Levels, position: Integers) -> Integers:
    """Return the joint value of each level, for levels without sets; -1 for missing, suppressed and unknown levels."""
    place = levels.place.copy()
    sets_of_one = np.flatnonzero(levels.atomic & (place < 0))
    place[sets_of_one] = levels.members.indices[levels.members.indptr[sets_of_one]]
    return np.where(place >= 0, np.append(position, -1)[place], -1)


def _incidence(levels: Levels, joint: tuple[str, ...], position: Integers) -> scipy.sparse.csr_array:
    """Return the joint values of each level as ones, CSR; see `_list_values`."""
    values = CsrRows.of_pairs(*_list_values(levels, joint, position), (len(levels), len(joint)))
    return values.to_scipy().astype(np.int32)


def _list_values(levels: Levels, joint: tuple[str, ...], position: Integers) -> tuple[Integers, Integers]:
    """Return pairs of a level and a joint value in it. `*` is left out, because it also contains values of the other
    column. A mask lists values of its own column twice.

    position : (D,) position of each value of the domain among the joint values
    """
    exact = np.flatnonzero(levels.place >= 0)
    wide = np.flatnonzero((levels.place < 0) & ~levels.suppressed)
    members = levels.members.take(wide)
    rows = [exact, np.repeat(wide, np.diff(members.indptr))]
    columns = [position[levels.place[exact]], position[members.indices]]
    if levels.masks:
        mask_of, hidden = Masks(joint).hidden_by(list(levels.masks.values()))
        rows.append(np.array(list(levels.masks))[mask_of])
        columns.append(hidden)
    return np.concatenate(rows), np.concatenate(columns)


def _read_as_values(levels: Levels, domain: Sequence[str]) -> Levels:
    """Return numeric levels as sets of the values of a column that is not numeric."""
    ends = [levels.scale.read(value) or (math.nan, math.nan) for value in domain]
    low, high = np.array(ends, dtype=np.float64).reshape(-1, 2).T
    inside = (levels.low[:, None] <= low) & (high <= levels.high[:, None])
    level_of = {label: level for level, label in enumerate(levels.labels) if levels.low[level] == levels.high[level]}
    extra = [label for label in level_of if label not in set(domain)]
    extra_values = np.zeros((len(levels), len(extra)), dtype=np.bool_)
    extra_values[[level_of[label] for label in extra], np.arange(len(extra))] = True
    members = CsrRows.of_dense(np.concatenate([inside, extra_values], axis=1))
    nothing = np.zeros(0, dtype=np.float64)
    return Levels(levels.labels, "text", nothing, nothing, (*domain, *extra), members, levels.missing)
