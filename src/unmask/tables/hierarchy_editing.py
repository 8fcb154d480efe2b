"""Automatic generalization hierarchies of a column, and edits of a hierarchy: groups, names and levels."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.grouping import first_rows_of
from unmask.tables.column import Column
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.notation import EVERYTHING
from unmask.tables.protections.recoding import find_bin, generalize
from unmask.tables.scales import NUMBERS

OTHER = "other"
"""Group of rare values."""

MAX_PREFIXES = 4
"""Levels of prefixes: further characters are hidden by the root."""

PERIODS = ("month", "year", "decade")

# --- automatic hierarchies --------------------------------------------------------------------------------------------


def build_hierarchy(values: Sequence[str], levels: Sequence[Sequence[str]]) -> Hierarchy:
    """Return the hierarchy with the given levels above the values, and a root `*`.

    A level that groups nothing is left out. A group gets another name if its name means other values on a lower level.

    Parameters
    ----------
    values : sequence of str
        Leaves, each once.
    levels : sequence of (n_values,) sequences of str
        Group of each value, finest level first. Each level joins whole groups of the level before.

    Examples
    --------
    >>> build_hierarchy(["20", "21", "25"], [["20s", "20s", "20s"]]).ancestor
    (('20', '21', '25'), ('*', '*', '*'))
    >>> build_hierarchy(["a", "b", "c"], [["a", "a", "c"]]).ancestor[1]
    ('a + b', 'a + b', 'c')
    """
    ancestor = [list(values)]
    for labels in (*levels, [EVERYTHING] * len(values)):
        n_groups = len(set(labels))
        if n_groups < len(set(ancestor[-1])) and (n_groups > 1 or labels[0] == EVERYTHING):
            ancestor.append(list(labels))
    if len(ancestor) == 1:
        ancestor.append([EVERYTHING] * len(values))
    return _rename_ambiguous(ancestor, 1)


def start_alone(values: Column) -> Hierarchy:
    """Return a hierarchy with a level in which each value is a group of its own, to be edited.

    values : column of texts
    """
    leaves = _list_leaves(values)[0]
    return Hierarchy(tuple(leaves), (tuple(leaves), tuple(leaves), (EVERYTHING,) * len(leaves)))


def start_intervals(
    values: Column,
    typed: Column,
    *,
    widths: Sequence[float],
    origin: float = 0.0,
    bottom: float | None = None,
    top: float | None = None,
) -> Hierarchy:
    """Return a hierarchy of intervals; each width is a multiple of the one before.

    Parameters
    ----------
    values : Column
        Cells as texts.
    typed : Column
        The same cells as numbers. A cell without a number is a group of its own.
    widths : sequence of float
        Width of the intervals of each level, above 0.
    origin : float
        A number at which an interval begins.
    bottom, top : float, optional
        Bottom and top coding: numbers up to `bottom` are one group, and those from `top` on.

    Raises
    ------
    UnmaskError
        If the column has no numbers, or a width does not fit.
    """
    steps = [Fraction(repr(float(width))) for width in widths]
    if typed.type != "number":
        raise UnmaskError(f"column {typed.name!r} has the type {typed.type}, expected number for intervals")
    if not steps or min(steps) <= 0 or any(wide % narrow or wide == narrow for narrow, wide in pairwise(steps)):
        raise UnmaskError("the widths do not fit; give numbers above 0, each a multiple of the one before: 5 10 20")
    leaves, rows = _list_leaves(values, typed)
    codes = typed.codes[rows]
    bounds = list(zip(typed.levels.low[codes].tolist(), typed.levels.high[codes].tolist(), strict=True))
    start = Fraction(repr(float(origin)))

    def name_interval(leaf: str, low: float, high: float, step: Fraction) -> str:
        if math.isnan(low):
            return leaf
        if bottom is not None and high <= bottom:
            return NUMBERS.write(-math.inf, bottom)
        if top is not None and low >= top:
            return NUMBERS.write(top, math.inf)
        begin, end = find_bin(low, high, step, start)
        begin = begin if bottom is None else max(begin, math.nextafter(bottom, math.inf))
        return NUMBERS.write(begin, end if top is None else min(end, math.nextafter(top, -math.inf)))

    levels = [[name_interval(leaf, *ends, step) for leaf, ends in zip(leaves, bounds, strict=True)] for step in steps]
    return build_hierarchy(leaves, levels)


def start_parts(values: Column, typed: Column) -> Hierarchy:
    """Return a hierarchy of periods of dates, or of prefixes of codes.

    values, typed : the same cells as texts, and as dates or codes
    """
    if typed.type == "code" and typed.levels.by_prefix:
        steps: Sequence[float | str] = range(1, min(typed.levels.longest, MAX_PREFIXES + 1))
    elif typed.type in ("date", "datetime"):
        steps = PERIODS
    else:
        raise UnmaskError(f"column {typed.name!r} has the type {typed.type}, expected dates or codes")
    leaves, rows = _list_leaves(values, typed)
    is_missing = typed.codes[rows] == typed.levels.missing
    levels = []
    for step in steps:
        groups = generalize(typed, step)
        texts = [groups.levels.labels[code] for code in groups.codes[rows].tolist()]
        levels.append([leaf if gap else text for leaf, text, gap in zip(leaves, texts, is_missing, strict=True)])
    return build_hierarchy(leaves, levels)


def start_alphabetical(values: Column, *, size: int) -> Hierarchy:
    """Return a hierarchy of neighbors in the alphabet, in groups of at least `size` rows.

    >>> from unmask.tables import Table
    >>> column = Table.read({"x": list("aabcd")}, quasi_identifiers="x").quasi_identifiers[0]
    >>> start_alphabetical(column, size=2).ancestor[1]
    ('a', 'b – d', 'b – d', 'b – d')
    """
    leaves, rows = _list_leaves(values)
    counts = values.counts[values.codes[rows]].tolist()
    groups: list[list[str]] = [[]]
    n_rows = 0
    remaining = sum(counts)
    for leaf, count in zip(leaves, counts, strict=True):
        groups[-1].append(leaf)
        n_rows, remaining = n_rows + count, remaining - count
        if n_rows >= size and remaining >= size:
            groups.append([])
            n_rows = 0
    names = [group[0] if len(group) == 1 else f"{group[0]} – {group[-1]}" for group in groups]
    return build_hierarchy(leaves, [[name for name, group in zip(names, groups, strict=True) for _ in group]])


def start_rare(values: Column, *, size: int) -> Hierarchy:
    """Return a hierarchy that joins the values of fewer than `size` rows in one group.

    >>> from unmask.tables import Table
    >>> column = Table.read({"x": list("aabc")}, quasi_identifiers="x").quasi_identifiers[0]
    >>> start_rare(column, size=2).ancestor[1]
    ('a', 'other', 'other')
    """
    leaves, rows = _list_leaves(values)
    counts = values.counts[values.codes[rows]].tolist()
    other = OTHER
    while other in leaves:
        other += " values"
    return build_hierarchy(
        leaves, [[leaf if count >= size else other for leaf, count in zip(leaves, counts, strict=True)]]
    )


def _list_leaves(values: Column, typed: Column | None = None) -> tuple[list[str], NDArray[np.int64]]:
    """Return the values that occur, without `*` and missing cells, and a row of each.

    They are in the order of the alphabet, or of the numbers or dates of `typed`.
    """
    levels = values.levels
    used = np.flatnonzero((values.counts > 0) & ~levels.is_missing & ~levels.suppressed)
    if not used.size:
        raise UnmaskError(f"column {values.name!r} has no value, expected at least one for a hierarchy")
    rows = np.asarray(first_rows_of(values.codes, len(levels)))[used]
    if typed is not None and typed.levels.kind == "numeric":
        order = np.argsort(typed.levels.low[typed.codes[rows]], kind="stable")  # texts without a number come last
        used, rows = used[order], rows[order]
    return [levels.labels[level] for level in used.tolist()], rows


# --- edits ------------------------------------------------------------------------------------------------------------


def move_nodes(hierarchy: Hierarchy, level: int, nodes: Collection[str], group: str | None) -> Hierarchy:
    """Return the hierarchy with nodes of a level in another group of the next level.

    Parameters
    ----------
    hierarchy : Hierarchy
        Hierarchy to change.
    level : int
        Level of the nodes, below the last one.
    nodes : collection of str
        Labels of the nodes.
    group : str or None
        Label of a group; an unknown one is a new group, None a new group with the names of its members. With "" each
        node becomes a group of its own. A group labeled by its members gets a new label with them.

    Raises
    ------
    UnmaskError
        If there is no such node, or the group's name means other values on a lower level.

    Examples
    --------
    >>> tree = Hierarchy.from_paths([("a", "a", "*"), ("b", "b", "*"), ("c", "c", "*")])
    >>> move_nodes(tree, 0, ["a", "b"], "early").ancestor[1]
    ('early', 'early', 'c')
    """
    ancestor = [list(labels) for labels in hierarchy.ancestor]
    named_by_members = _find_named_by_members(ancestor[level], ancestor[level + 1])
    moved = [leaf for leaf, label in enumerate(ancestor[level]) if label in nodes]
    if not moved:
        raise UnmaskError("no value is selected; select the values to move")
    if group is None:
        group = _name_group(ancestor[level], moved, {label for labels in ancestor for label in labels})
    members = [leaf for leaf, label in enumerate(ancestor[level + 1]) if label == group]
    path = [group, *(labels[(members or moved)[0]] for labels in ancestor[level + 2 :])]
    for leaf in moved:
        if group:
            for labels, label in zip(ancestor[level + 1 :], path, strict=True):
                labels[leaf] = label
        else:
            ancestor[level + 1][leaf] = ancestor[level][leaf]
    for label in named_by_members:
        _rename_by_members(ancestor, level, label)
    return _rename_ambiguous(ancestor, level + 2)


def _find_named_by_members(lower: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Return the groups of a level with the name of their members."""
    return [label for label, leaves in _list_groups(labels).items() if _name_group(lower, leaves, ()) == label]


def _rename_by_members(ancestor: Sequence[list[str]], level: int, label: str) -> None:
    """Give a group above a level the name of its present members, on all levels."""
    leaves = _list_groups(ancestor[level + 1]).get(label, [])
    names = {name for labels in ancestor[level:] for name in labels} - {label}
    name = _name_group(ancestor[level], leaves, names) if leaves else label
    for labels in ancestor[level + 1 :]:
        labels[:] = [name if group == label else group for group in labels]


def _list_groups(labels: Sequence[str]) -> dict[str, list[int]]:
    """Return the leaves of each group of a level, in the order of the leaves."""
    groups: dict[str, list[int]] = {}
    for leaf, label in enumerate(labels):
        groups.setdefault(label, []).append(leaf)
    return groups


def rename_groups(hierarchy: Hierarchy, level: int, names: Mapping[str, str]) -> Hierarchy:
    """Return the hierarchy with other names of groups of a level.

    names : label of a group -> its new name; higher levels that repeat the label get the name, too

    >>> tree = Hierarchy.from_paths([("a", "x", "*"), ("b", "x", "*")])
    >>> rename_groups(tree, 1, {"x": "early"}).ancestor[1]
    ('early', 'early')
    """
    groups = set(hierarchy.ancestor[level])
    if not all(names.values()):
        raise UnmaskError("a group has no name; give each group of the level a name")
    if len({names.get(group, group) for group in groups}) < len(groups):
        raise UnmaskError(f"two groups of level {level} have the same name; give each its own, or move the values")
    renamed = [tuple(names.get(label, label) for label in labels) for labels in hierarchy.ancestor[level:]]
    return Hierarchy(hierarchy.leaves, (*hierarchy.ancestor[:level], *renamed))


def add_level(hierarchy: Hierarchy, level: int) -> Hierarchy:
    """Return the hierarchy with a copy of a level above it, to be edited."""
    ancestor = hierarchy.ancestor
    return Hierarchy(hierarchy.leaves, (*ancestor[: level + 1], *ancestor[level:]))


def remove_level(hierarchy: Hierarchy, level: int) -> Hierarchy:
    """Return the hierarchy without a level above the leaves.

    Raises UnmaskError for the only such level, and for the leaves.
    """
    if not 0 < level < hierarchy.levels or hierarchy.levels == 2:
        raise UnmaskError("the values and one level above them must stay; remove the whole hierarchy instead")
    return Hierarchy(hierarchy.leaves, (*hierarchy.ancestor[:level], *hierarchy.ancestor[level + 1 :]))


def _rename_ambiguous(ancestor: Sequence[Sequence[str]], first_level: int) -> Hierarchy:
    """Return the hierarchy with new names of groups, from a level on, whose names mean other leaves further below."""
    names: dict[str, frozenset[int]] = {}
    levels: list[tuple[str, ...]] = []
    for level, labels in enumerate(ancestor):
        groups, renamed = _list_groups(labels), list(labels)
        for label, leaves in groups.items():
            name = label
            if level >= first_level and names.get(label, frozenset(leaves)) != frozenset(leaves):
                name = _name_group(levels[-1], leaves, {*names, *groups})
            for leaf in leaves:
                renamed[leaf] = name
            names.setdefault(name, frozenset(leaves))
        levels.append(tuple(renamed))
    return Hierarchy(levels[0], tuple(levels))


def _name_group(lower: Sequence[str], leaves: Sequence[int], names: Collection[str]) -> str:
    """Return an unused name for a group by the labels of its members; the label of the only member if there is one."""
    members = list(dict.fromkeys(lower[leaf] for leaf in leaves))
    if len(members) == 1:
        return members[0]
    name = " + ".join(members) if len(members) == 2 else f"{members[0]} + {len(members) - 1} more"
    candidates = (name, *(f"{name} ({number})" for number in range(2, len(names) + 3)))
    return next(candidate for candidate in candidates if candidate not in names)
