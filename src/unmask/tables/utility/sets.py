"""Sets of atoms that the levels of a column cover, for numbers, ranks and categories."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import CsrRows
from unmask.tables.cells import singleton_membership
from unmask.tables.levels import Levels
from unmask.tables.matching import compatible, covered
from unmask.tables.notation import EVERYTHING, common_beginning


class LevelSets(NamedTuple):
    """Sets of atoms of each level: a range [begin, end) of D ordered atoms, or any set (`members`, CSR) of
    categories.
    """

    begin: Integers
    end: Integers
    members: CsrRows | None
    missing: Booleans

    def size(self) -> Integers:
        """Return (L,) number of atoms of each level."""
        return self.end - self.begin if self.members is None else np.diff(self.members.indptr).astype(np.int64)


class ColumnSets(NamedTuple):
    """Original and released levels of a column as sets of common atoms, and the penalty of each released level.

    position   : (D,) position of each atom on a line; None for categories
    source, target : sets of the original and of the released levels
    penalty    : (L,) normalized certainty penalty, 0 to 1
    width      : (L,) width of a cell in the unit of the column
    full_width : width of a suppressed row
    """

    position: Floats | None
    source: LevelSets
    target: LevelSets
    penalty: Floats
    width: Floats
    full_width: float


def compare_numeric(original: Levels, released: Levels, counts: Integers) -> ColumnSets:
    """Return the sets of numeric columns: atoms are the exact values, and widths are differences."""
    if released.kind == "numeric":
        original, released = original.on_scale_of(released), released.on_scale_of(original)
    used = (counts > 0) & ~original.is_missing
    exact = original.low[used & (original.low == original.high)]
    ends = np.concatenate((original.low[used], original.high[used]))
    ends = ends[np.isfinite(ends)]
    if released.kind != "numeric":
        atoms = _atoms(exact, (original,))
        labels, members = tuple(map(repr, atoms.tolist())), singleton_membership(len(atoms), 0)
        exact_levels = Levels(labels, original.type, atoms, atoms, (), members, -1)
        target = _covered_ranges(compatible(exact_levels, released, missing="own").T, released.is_missing)
        span = max(float(atoms[-1] - atoms[0]), 0.0)
        width = atoms[target.end - 1] - atoms[target.begin]
        return ColumnSets(atoms, _atom_ranges(atoms, original), target, _ratio(width, span), width, span)
    atoms = _atoms(exact, (original, released))
    low, high = (float(ends.min()), float(ends.max())) if len(ends) else (0.0, 0.0)
    width = np.nan_to_num(np.clip(released.high, low, high) - np.clip(released.low, low, high))
    sides = _atom_ranges(atoms, original), _atom_ranges(atoms, released)
    return ColumnSets(atoms, *sides, _ratio(width, high - low), width, high - low)


def _ratio(width: Floats, span: float) -> Floats:
    return np.zeros(len(width)) if span == 0 else np.clip(np.nan_to_num(width) / span, 0.0, 1.0)


def _atoms(exact: Floats, columns: tuple[Levels, ...]) -> Floats:
    """Return the exact values, and one point for each cell that contains none: its value or its midpoint."""
    atoms = np.unique(exact)
    for levels in columns:
        is_stated = ~(levels.is_missing | levels.open("own"))
        low, high = levels.low[is_stated], levels.high[is_stated]
        empty = np.searchsorted(atoms, low, side="left") == np.searchsorted(atoms, high, side="right")
        low, high = low[empty], high[empty]
        midpoint = np.where(np.isfinite(low), np.where(np.isfinite(high), low / 2 + high / 2, low), high)
        midpoint = np.where(low == high, low, midpoint)
        atoms = np.unique(np.concatenate((atoms, midpoint[np.isfinite(midpoint)])))
    return atoms if len(atoms) else np.zeros(1)


def _atom_ranges(atoms: Floats, levels: Levels) -> LevelSets:
    is_missing = levels.is_missing
    begin = np.searchsorted(atoms, levels.low, side="left")
    end = np.searchsorted(atoms, levels.high, side="right")
    is_everything = np.isinf(levels.low) & np.isinf(levels.high)
    begin, end = np.where(is_missing | is_everything, 0, begin), np.where(is_everything, len(atoms), end)
    return LevelSets(begin, np.where(is_missing, begin, np.maximum(end, begin + 1)), None, is_missing)


def compare_ordinal(original: Levels, released: Levels) -> ColumnSets:
    """Return the sets of ordinal columns: atoms are the ranks of the domain, and widths are numbers of values."""
    domain = singleton_levels(original.domain)
    source = _covered_ranges(compatible(domain, original, missing="own").T, original.is_missing)
    target = _covered_ranges(compatible(domain, released, missing="own").T, released.is_missing)
    size = target.size()
    position = np.arange(max(1, len(original.domain)), dtype=np.float64)
    penalty = np.where(size > 1, size / len(position), 0.0)
    return ColumnSets(position, source, target, penalty, size.astype(np.float64), float(len(position)))


def _covered_ranges(covers: Booleans, is_missing: Booleans) -> LevelSets:
    """Return the range from the first to the last atom of each level; an unknown value counts as the first atom."""
    begin = covers.argmax(axis=1) if covers.shape[1] else np.zeros(len(covers), dtype=np.int64)
    last = covers.shape[1] - covers[:, ::-1].argmax(axis=1) if covers.shape[1] else begin + 1
    end = np.where(covers.any(axis=1), last, begin + 1)
    return LevelSets(begin, np.where(is_missing, begin, end), None, is_missing)


def compare_categorical(original: Levels, released: Levels) -> ColumnSets:
    """Return the sets of categorical columns: atoms are the original domain, and each level outside of it.

    Widths are numbers of values; for codes, numbers of hidden characters.
    """
    sides = [(levels, covered(original.domain, levels)) for levels in (original, released)]
    outside_levels = [np.flatnonzero((np.diff(covers.indptr) == 0) & ~levels.is_missing) for levels, covers in sides]
    label = dict.fromkeys(
        levels.labels[i] for (levels, _), outside in zip(sides, outside_levels, strict=True) for i in outside
    )
    extra = {text: len(original.domain) + i for i, text in enumerate(label)}
    n_atoms = max(1, len(original.domain) + len(extra))
    sets = []
    for (levels, covers), outside in zip(sides, outside_levels, strict=True):
        row = np.concatenate((np.repeat(np.arange(len(levels)), np.diff(covers.indptr)), outside))
        column = np.append(covers.indices, np.array([extra[levels.labels[i]] for i in outside], dtype=np.int64))
        members = CsrRows.of_pairs(row, column, (len(levels), n_atoms))
        empty = np.zeros(0, dtype=np.int64)
        sets.append(LevelSets(empty, empty, members, levels.is_missing))
    size = sets[1].size()
    penalty = np.where(size > 1, size / max(1, len(original.domain)), 0.0)
    width, full_width = size.astype(np.float64), float(n_atoms)
    if original.type == "code":
        full_width = float(original.longest)
        width = np.array(
            [_count_hidden_characters(released, outside, original.longest) for outside in range(len(released))],
            dtype=np.float64,
        )
    return ColumnSets(None, sets[0], sets[1], penalty, width, full_width)


def _count_hidden_characters(levels: Levels, level: int, longest: int) -> int:
    """Return the number of characters of a code that a cell hides."""
    if levels.place[level] >= 0:
        return 0
    if levels.labels[level] == EVERYTHING:
        return longest
    if level in levels.masks:
        return levels.labels[level].count(EVERYTHING)
    values = [levels.domain[place] for place in levels.covered(level)]
    return longest - len(common_beginning(values)) if len(values) > 1 else 0


def singleton_levels(values: tuple[str, ...]) -> Levels:
    """Return levels that mean one value each."""
    empty = np.zeros(0)
    return Levels(values, "text", empty, empty, values, singleton_membership(len(values), len(values)), -1)
