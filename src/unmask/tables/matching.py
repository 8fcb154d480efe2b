"""Compatibility of the cells of two columns: pairs that may belong to one person."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.csr_rows import CsrRows
from unmask.tables.levels import Levels, Missing
from unmask.tables.notation import EVERYTHING, overlap
from unmask.tables.vocabulary import Masks

_BLOCK = 1 << 18
"""Pairs of levels whose common values are counted at once."""


def compatible(target: Levels, released: Levels, *, missing: Missing) -> NDArray[np.bool_]:
    """Return which levels of two columns may be the same person's, (len(target), len(released)).

    Stated levels meet if their sets intersect, and open ones (`Levels.open`) meet every level. Numeric levels intersect
    as intervals; the others by label of their atomic values, so that a value unknown to the other side meets open cells
    and the masks that may hide it. A numeric column meets an ordinal or categorical one through the numbers among that
    one's values, and dates meet moments.

    missing : "own" and "excluded": a missing cell meets missing and open ones; "wildcard": it meets every cell.

    >>> from unmask.tables.cells import parse_levels
    >>> known = parse_levels(["25", "30"], as_type="number", column="age")
    >>> released = parse_levels(["[20, 30)", "30+"], as_type="number", column="age")
    >>> compatible(known, released, missing="own").tolist()
    [[True, False], [False, True]]
    """
    if target.kind == "numeric" and released.kind == "numeric":
        known_levels, released_levels = target.on_scale_of(released), released.on_scale_of(target)
        match = known_levels.low[:, None] <= released_levels.high
        match &= released_levels.low <= known_levels.high[:, None]
    elif target.kind == "numeric":
        match = _intersect(_as_values(target, released.domain), released)
    elif released.kind == "numeric":
        match = _intersect(target, _as_values(released, target.domain))
    else:
        match = _intersect(target, released)
    return _with_states(match, target, released, missing)


def contained(target: Levels, released: Levels, *, missing: Missing) -> NDArray[np.bool_]:
    """Return which released levels hold every value of a known level, (len(target), len(released)); same type of both.

    A person whose cell a release states has one of its values, and the adversary cannot know which one.
    Rows of a level that contains the cell fit them for certain; rows of one that only intersects it may not. Open and
    missing levels are as in `compatible`.

    >>> from unmask.tables.cells import parse_levels
    >>> levels = parse_levels(["[20, 30)", "[25, 35)", "[20, 40)"], as_type="number", column="age")
    >>> contained(levels, levels, missing="own").astype(int).tolist()
    [[1, 0, 1], [0, 1, 1], [0, 0, 1]]
    """
    if target.kind == "numeric":
        match = (released.low <= target.low[:, None]) & (target.high[:, None] <= released.high)
    else:
        match = _subsets(target, released)
    return _with_states(match, target, released, missing)


def are_disjoint(levels: Levels, *, missing: Missing) -> bool:
    """Return whether no two of the levels meet."""
    if not levels.sets.any():
        return True
    if levels.kind == "numeric":
        low, high = (np.sort(bound[~levels.gaps]) for bound in (levels.low, levels.high))
        return bool((high[:-1] < low[1:]).all())
    if levels.masks:
        return bool(np.count_nonzero(compatible(levels, levels, missing=missing)) == len(levels))
    once = np.bincount(levels.members.indices, minlength=1).max() <= 1
    return bool(len(levels) == 1 or (once and not levels.open(missing).any()))


def _with_states(
    match: NDArray[np.bool_], known_levels: Levels, released: Levels, missing: Missing
) -> NDArray[np.bool_]:
    """Return the table of stated levels with what missing, suppressed and unknown ones meet."""
    rows, columns = known_levels.gaps, released.gaps
    match[rows] = match[:, columns] = False
    match[np.ix_(rows, columns)] = True
    match[known_levels.open(missing)] = match[:, released.open(missing)] = True
    return match


def covered(values: tuple[str, ...], levels: Levels) -> scipy.sparse.csr_array:
    """Return which values each level covers, (len(levels), len(values)), like `compatible` for exact values.

    A missing cell covers none.

    >>> from unmask.tables.cells import parse_levels
    >>> covered(("a", "b"), parse_levels(["{a, b}", "b", "*", None], as_type="text", column="c")).toarray().tolist()
    [[True, True], [False, True], [True, True], [False, False]]
    """
    if levels.kind == "numeric":
        levels = _as_values(levels, values)
    joint = {value: position for position, value in enumerate(dict.fromkeys(values + levels.domain))}
    covering = _incidence(levels, joint)[:, : len(values)].tocoo()
    suppressed = np.flatnonzero(levels.suppressed)
    row = np.concatenate([covering.row, np.repeat(suppressed, len(values))])
    column = np.concatenate([covering.col, np.tile(np.arange(len(values)), suppressed.size)])
    shape = (len(levels), len(values))
    return scipy.sparse.csr_array((np.ones(row.size, dtype=np.int32), (row, column)), shape=shape).astype(np.bool_)


def _intersect(known_levels: Levels, released: Levels) -> NDArray[np.bool_]:
    joint = {value: position for position, value in enumerate(dict.fromkeys(known_levels.domain + released.domain))}
    left_values, right_values = _incidence(known_levels, joint), _incidence(released, joint).T.tocsr()
    match = np.zeros((len(known_levels), len(released)), dtype=np.bool_)
    step = max(1, _BLOCK // max(1, len(released)))
    for begin in range(0, len(known_levels), step):
        match[begin : begin + step] = (left_values[begin : begin + step] @ right_values).toarray()
    for row, column in _overlapping(known_levels.masks, released.masks):
        match[row, column] = True
    return match


def _subsets(known_levels: Levels, released: Levels) -> NDArray[np.bool_]:
    joint = {value: level for level, value in enumerate(dict.fromkeys(known_levels.domain + released.domain))}
    known_values, released_values = _incidence(known_levels, joint), _incidence(released, joint)
    match = np.asarray((known_values @ released_values.T).toarray() == np.diff(known_values.indptr)[:, None])
    match[list(known_levels.masks)] = False  # a mask may hide values that no cell states
    for row, column in _overlapping(known_levels.masks, released.masks):
        known_mask, released_mask = known_levels.labels[row], released.labels[column]
        shorter = len(released_mask.rstrip(EVERYTHING)) <= len(known_mask.rstrip(EVERYTHING))
        match[row, column] = shorter and len(known_mask) <= len(released_mask)
    return match


def _overlapping(known_masks: Mapping[int, str], released_masks: Mapping[int, str]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of masks that may hide the same value, by their positions.

    The prefix of one begins with the prefix of the other, so only such masks are compared. A pair with equal prefixes
    comes twice.
    """
    for ours, right_masks, turned in ((known_masks, released_masks, False), (released_masks, known_masks, True)):
        showing = defaultdict(list)
        for position, mask in right_masks.items():
            showing[mask.rstrip(EVERYTHING)].append((position, mask))
        for position, mask in ours.items():
            prefix = mask.rstrip(EVERYTHING)
            for other_position, other_mask in (
                candidate for n in range(len(prefix) + 1) for candidate in showing.get(prefix[:n], ())
            ):
                if overlap(mask, other_mask):
                    yield (other_position, position) if turned else (position, other_position)


def _incidence(levels: Levels, joint: Mapping[str, int]) -> scipy.sparse.csr_array:
    """Return which joint values a level covers; `*` is left out, since it also covers values of the other side."""
    spot = np.fromiter((joint[value] for value in levels.domain), dtype=np.int64, count=len(levels.domain))
    exact = np.flatnonzero(levels.place >= 0)
    wide = np.flatnonzero((levels.place < 0) & ~levels.suppressed)
    row, value = levels.members.take(wide).to_scipy().nonzero()
    mask_of, hidden = Masks(tuple(joint)).hidden_by(list(levels.masks.values()))
    rows = np.concatenate([exact, wide[row], np.array(list(levels.masks), dtype=np.int64)[mask_of]])
    columns = np.concatenate([spot[levels.place[exact]], spot[value], hidden])
    incidence = scipy.sparse.csr_array((np.ones(rows.size, np.int32), (rows, columns)), shape=(len(levels), len(joint)))
    incidence.data[:] = 1  # a mask has values of its own column twice
    return incidence


def _as_values(levels: Levels, domain: Sequence[str]) -> Levels:
    """Numeric levels over the values of a column that was not read as numeric."""
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
