"""Released cells that are written as one value, or as missing, and represent several values.

Examples are rounded and top-coded numbers, truncated codes, renamed categories, and suppressed cells.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.tables.background import hidden_values
from unmask.tables.cells import membership_matrix
from unmask.tables.coding import Encoded
from unmask.tables.column import Column
from unmask.tables.levels import Levels
from unmask.tables.matching import compatible
from unmask.tables.meanings import Meanings
from unmask.tables.notation import EVERYTHING, format_set
from unmask.tables.protections.recoding import write_cells
from unmask.tables.sensitive_bands import (
    MAX_LEVEL_PAIRS,
    MAX_MISFIT_SHARE,
    blank_hidden_cells,
    has_sets,
    separate_shared_ends,
)
from unmask.tables.table import Table

MIN_FIT, MIN_EXPLAINED = 0.99, 0.8
"""Share of rows that a rule must fit, and share of the otherwise unmatched rows that it must explain.

Noise with fewer values than the original reaches neither, because its counts follow no rule.
"""


class Reading(NamedTuple):
    """Interpretation of a released column.

    rule   : rule that produced the cells, "" if they are to be taken literally
    column : column whose cells are the sets of values that they represent
    misfit : share of rows that match no person literally
    hidden : share of rows whose cell is missing because it was suppressed
    """

    rule: str
    column: Column
    misfit: float
    hidden: float = 0.0


def find_readings(original: Table, release: Table, origin: Integers | None) -> dict[str, Reading]:
    """Find released columns whose cells are written as single values and represent several.

    Examples are an age of 30 for 30 to 39, 90 for 90 and above, the first day for a month, and 010 for all zip codes
    with this beginning. An adversary understands them. Taken literally, such cells match few people, and the release
    would seem to consist of invented rows.

    The rules tried are: numbers and dates rounded down, up, or to the nearest released value, with open intervals at
    both ends; codes truncated, masked at the end, or without leading zeros. With an origin, renamed and grouped
    labels are recognized, too (`read_renamed`). A rule is accepted if it fits 99 % of the rows and explains four
    fifths of the rows that match no person literally.

    Missing cells of a quasi-identifier count as suppressed if there are more than the original and chance explain
    (`hidden_values`). A suppressed cell may be any value, as with "wildcard". A sensitive cell that covers all values
    counts as missing, unless it occurs in the original.

    Parameters
    ----------
    original, release : Table
        Table before protection, and the release.
    origin : (n_rows,) array of int or None
        Row of the original behind each released row, -1 for none. Without it, only the counts of values are compared.

    Returns
    -------
    dict of str to Reading
        Readings of the columns that are not to be taken literally.

    Examples
    --------
    >>> people = Table.read({"age": [20, 21, 27, 29, 30, 36]}, quasi_identifiers="age")
    >>> release = Table.read({"age": [20, 20, 20, 20, 30, 30]}, quasi_identifiers="age")
    >>> read = find_readings(people, release, None)["age"]
    >>> read.rule, read.column.levels.labels
    ('rounded down', ('[20, 29]', '>=30'))
    """
    readings = {}
    for column in (*release.quasi_identifiers, *release.kept, *release.sensitive):
        if column.name not in original.names:
            continue
        original_column, released_column, hidden = original.column(column.name), column, 0.0
        if column in release.quasi_identifiers:
            released_column, hidden = _read_suppressed(original, release, column)
        elif column in release.sensitive and not _labels(column) <= _labels(original_column):
            released_column = blank_hidden_cells(column)
        read = _read_rule(original_column, released_column, origin)
        if read is None and column not in release.kept and origin is not None:
            read = _read_renaming(original_column, released_column, origin)
        if read and column in release.sensitive:
            read = read._replace(column=separate_shared_ends(blank_hidden_cells(read.column)))
        if read or hidden or released_column is not column:
            readings[column.name] = (read or Reading("", released_column, 0.0))._replace(hidden=hidden)
    return readings


def _labels(column: Column) -> set[str]:
    """Return the labels that occur in the rows."""
    return {column.levels.labels[level] for level in np.flatnonzero(column.counts)}


def _read_suppressed(original: Table, release: Table, column: Column) -> tuple[Column, float]:
    """Return the column with `*` for missing cells if some were suppressed, and the share of rows with such a cell."""
    counts, gap = release.totals_of(column), column.levels.missing
    share, _ = hidden_values(column, counts, original)
    if release.missing != "own" or not share:
        return column, 0.0
    texts = [EVERYTHING if level == gap else label for level, label in enumerate(column.levels.labels)]
    return write_cells(column, texts), float(share * counts[gap] / counts.sum())


def apply_readings(release: Table, readings: dict[str, Reading]) -> Table:
    """Return the release with reinterpreted columns."""
    if not readings:
        return release
    quasi, kept_columns, sensitive = (
        tuple(readings[column.name].column if column.name in readings else column for column in columns)
        for columns in (release.quasi_identifiers, release.kept, release.sensitive)
    )
    return replace(release, quasi_identifiers=quasi, kept=kept_columns, sensitive=sensitive)


def _read_rule(original: Column, released: Column, origin: Integers | None) -> Reading | None:
    if original.type != released.type or has_sets(original) or has_sets(released):
        return None
    share_unfit = misfit(original, released)
    if share_unfit <= 1 - MIN_FIT or len(original.levels) * len(released.levels) > MAX_LEVEL_PAIRS:
        return None
    if origin is None and len(released.codes) < min(2 * len(released.levels), len(original.codes) / 10):
        return None  # few rows with distinct values find matches among many people, whatever the rule
    rules_of = _rounding_rules if original.levels.kind == "numeric" else _truncation_rules
    rules = rules_of(original.levels, released.levels)
    readings = [Reading(rule, replace(released, levels=levels), share_unfit) for rule, levels in rules]
    shares = [_share_fitting(original, reading.column, origin) for reading in readings]
    chosen = int(np.argmax(shares))
    return readings[chosen] if shares[chosen] >= max(MIN_FIT, 1 - (1 - MIN_EXPLAINED) * share_unfit) else None


def _read_renaming(original: Column, released: Column, origin: Integers) -> Reading | None:
    """Return the reading of labels that do not occur in the original, from the original rows (`read_renamed`)."""
    if has_sets(original) or has_sets(released) or len(original.levels) * len(released.levels) > MAX_LEVEL_PAIRS:
        return None
    rows = np.flatnonzero(origin >= 0)
    label = same_labels(original, released)[released.codes[rows]]
    is_stated = ~(released.levels.is_missing | released.levels.suppressed)[released.codes[rows]]
    share_renamed = float(np.mean(is_stated & (label != original.codes[origin[rows]]))) if rows.size else 0.0
    column = read_renamed(original, released, origin) if share_renamed > 1 - MIN_FIT else None
    return None if column is None else Reading("renamed or grouped", column, share_renamed)


def misfit(original: Column, released: Column) -> float:
    """Return the share of released cells that cannot belong to a person if they are taken literally.

    It is sum_v max(r_v - N_v, 0) / n, with r_v released cells and N_v people of value v. Missing and suppressed cells
    are not counted.
    """
    if original.levels.labels == released.levels.labels:
        n_people = original.counts
    else:
        people = dict(zip(original.levels.labels, original.counts.tolist(), strict=True))
        n_people = np.array([people.get(label, 0) for label in released.levels.labels], dtype=np.int64)
    any_value = released.levels.is_missing | released.levels.suppressed
    n_unfit = np.where(any_value, 0, np.maximum(released.counts - n_people, 0))
    return float(n_unfit.sum() / max(len(released.codes), 1))


def share_changed(original: Column, released: Column) -> float:
    """Return `misfit` if it exceeds `MAX_MISFIT_SHARE`, otherwise 0, as for columns that were reinterpreted."""
    share = 0.0 if has_sets(released) else misfit(original, released)
    return share if share > MAX_MISFIT_SHARE else 0.0


def share_unknown(original: Column, released: Column) -> float:
    """Return the share of released cells with a value that does not occur in the original; 0 for numbers."""
    new = np.flatnonzero((same_labels(original, released) < 0) & ~released.levels.is_missing & (released.counts > 0))
    if original.levels.kind == released.levels.kind == "numeric" or len(original.levels) * len(new) > MAX_LEVEL_PAIRS:
        return 0.0
    is_covered = compatible(original.levels, released.levels.select(new), missing="own").any(axis=0)
    return float(released.counts[new[~is_covered]].sum() / max(len(released.codes), 1))


def _share_fitting(original: Column, released: Column, origin: Integers | None) -> float:
    """Return the share of released rows that match their own person; without an origin, the share that match any
    people.
    """
    fits = compatible(original.levels, released.levels, missing="wildcard")
    if origin is not None:
        rows = np.flatnonzero(origin >= 0)
        return float(fits[original.codes[origin[rows]], released.codes[rows]].mean()) if rows.size else 0.0
    people = original.counts @ fits
    return float(np.minimum(people, released.counts).sum() / released.counts.sum())


def _rounding_rules(original: Levels, released: Levels) -> Iterator[tuple[str, Levels]]:
    """Yield the levels for values rounded down, to the nearest value, and up."""
    levels = np.flatnonzero(np.isfinite(released.low))
    value, scale = released.low[levels], released.scale
    atoms = np.concatenate([original.low[np.isfinite(original.low)], value])
    is_integer = bool((atoms == np.floor(atoms)).all())
    previous, after = (
        np.array([number + step if is_integer else move(number) for number in value.tolist()])
        for step, move in ((-1, scale.previous_value), (1, scale.next_value))
    )
    middle = (value[:-1] + value[1:]) / 2
    to, lower = (np.floor(middle), np.ceil(middle)) if is_integer else (middle, middle)
    yield "rounded down", _bounded(released, levels, value, np.append(previous[1:], np.inf))
    yield "rounded", _bounded(released, levels, np.append(-np.inf, lower), np.append(to, np.inf))
    yield "rounded up", _bounded(released, levels, np.append(-np.inf, after[:-1]), value)


def _bounded(levels: Levels, exact: NDArray[np.intp], first: Floats, last: Floats) -> Levels:
    low, high, labels = levels.low.copy(), levels.high.copy(), list(levels.labels)
    low[exact], high[exact] = first, last
    for level in exact.tolist():
        labels[level] = levels.scale.write(low[level], high[level])
    return replace(levels, low=low, high=high, labels=tuple(labels))


MASKS = "xX#_-?.0"
"""Characters that replace the end of a code."""


def _truncation_rules(original: Levels, released: Levels) -> Iterator[tuple[str, Levels]]:
    """Yield the levels for codes that were truncated, masked at the end, or lost leading zeros."""
    values = sorted(original.domain)
    cut = {label: _with_prefix(values, label) for label in released.labels}
    yield "cut", _with_values(original, released, cut)
    stem = _without_masks(released.labels, frozenset(values))
    masked = {text: [value for value in _with_prefix(values, stem[text]) if len(value) == len(text)] for text in stem}
    yield "masked", _with_values(original, released, masked)
    bare: dict[str, list[str]] = {}
    for value in values:
        bare.setdefault(value.lstrip("0"), []).append(value)
    unpadded = {label: bare.get(label.lstrip("0"), []) for label in released.labels}
    yield "without leading zeros", _with_values(original, released, unpadded)


def _without_masks(labels: Sequence[str], values: Collection[str]) -> dict[str, str]:
    """Return each label without its mask, whose length is the shortest run of mask characters that ends a label."""
    masked = (text for text in labels if text and text not in values and text[-1] in MASKS)
    n = min((len(text) - len(text.rstrip(text[-1])) for text in masked), default=0)
    ends = {mask * n for mask in MASKS}
    return {label: label[:-n] if n and label[-n:] in ends else label for label in labels}


def _with_prefix(values: list[str], text: str) -> list[str]:
    """Return the sorted values that start with a text; none for the empty text."""
    return values[bisect_left(values, text) : bisect_left(values, text + "\U0010ffff")] if text else []


def _with_values(original: Levels, released: Levels, values: dict[str, list[str]]) -> Levels:
    """Return the released levels as sets of values of the original; values : label -> the values it represents."""
    place = {value: level for level, value in enumerate(original.domain)}
    covered: list[tuple[int, ...] | None] = [()] * len(released)
    labels = list(released.labels)
    for level, label in enumerate(released.labels):
        if label == EVERYTHING:
            covered[level] = None
        elif level != released.missing:
            covered[level] = tuple(sorted(place[value] for value in values[label]))
            labels[level] = format_set(values[label]) if label in place else label
    members = membership_matrix(covered, len(original.domain))
    return replace(released, labels=tuple(labels), domain=original.domain, members=members)


MIN_RULE_SHARE = 0.99
"""Share of rows that must follow the rule of `read_renamed`."""


def read_renamed(original: Column, released: Column, origin: Integers) -> Column | None:
    """Return the released column with the original values that its new labels represent, or None without a clear rule.

    Examples are `m` and `w` released as `male` and `female`, grouped occupations, and rare regions under `other`.

    A label is new if most of its rows have another value in the original. A value is renamed if it has a new label, or
    if most of its rows have another label. The most common of these labels then represents the value. A label of
    numbers represents the interval from the smallest to the largest of them.

    The rule is accepted if, among values that occur at least twice, 99 % of the rows have the value itself or the label
    that represents it. In addition, half of the rows with other labels must belong to such values, or the labels must
    divide the numbers into intervals with at least two rows on average. Therefore random labels, such as pseudonyms,
    are not interpreted.

    Examples
    --------
    >>> from unmask.tables.table import Table
    >>> people, release = (
    ...     Table.read({"sex": texts}, quasi_identifiers="sex").column("sex")
    ...     for texts in (["m", "w", "d", "m"], ["male", "other", "other", "male"])
    ... )
    >>> read_renamed(people, release, np.arange(4)).levels.labels
    ('m', '{d, w}')
    """
    has_origin = origin >= 0
    counts = _LabelCounts.of(original, released, original.codes[origin[has_origin]], released.codes[has_origin])
    is_chosen = counts.most_common(counts.renamed)
    is_unchanged = counts.is_value & ~counts.new[counts.label]
    follows_rule = is_chosen | is_unchanged | counts.open[counts.label]
    if not counts.has_rule(follows_rule, has_intervals=counts.has_intervals(original, is_chosen)):
        return None
    texts = [EVERYTHING if new else text for new, text in zip(counts.new, released.levels.labels, strict=True)]
    for label in np.unique(counts.label[is_chosen]).tolist():
        values = counts.value[(is_chosen | is_unchanged) & (counts.label == label)]
        texts[label] = _write_values(original, np.unique(values))
    read = write_cells(original, texts, released.codes)
    return replace(released, levels=read.levels, codes=read.codes, hierarchy=original.hierarchy)


def same_labels(original: Column, released: Column) -> Integers:
    """Return (n_levels,) the original level with the label of each released level, -1 for none."""
    if original.levels.labels == released.levels.labels:
        return np.arange(len(original.levels))
    place = {text: level for level, text in enumerate(original.levels.labels)}
    return np.array([place.get(text, -1) for text in released.levels.labels], dtype=np.int64)


class _LabelCounts(NamedTuple):
    """Rows of each pair of original value and released label.

    value, label, n : (n_pairs,) value, label and number of rows
    is_value : (n_pairs,) True if the label is the value itself
    renamed : (n_pairs,) True if the label may be another name of the value
    open : (n_labels,) True if the label may be any value
    new : (n_labels,) True if most rows of the label have another value
    """

    value: Integers
    label: Integers
    n: Integers
    is_value: Booleans
    renamed: Booleans
    open: Booleans
    new: Booleans

    @classmethod
    def of(
        cls, original: Column, released: Column, values: NDArray[np.int32], labels: NDArray[np.int32]
    ) -> _LabelCounts:
        """Count the pairs of (n_rows,) codes of both columns."""
        width = len(released.levels)
        pair, n = np.unique(values.astype(np.int64) * width + labels, return_counts=True)
        value, label = np.divmod(pair, width)
        is_same = same_labels(original, released)[label] == value
        n_rows, n_same = (np.bincount(label, weights=w, minlength=width) for w in (n, n * is_same))
        is_open = released.levels.is_missing | released.levels.suppressed
        new = ~is_open & (n_rows > 2 * n_same)
        is_moved = np.bincount(value, weights=n * np.where(is_same, -1, 1))[value] > 0
        renamed = new[label] | (is_moved & ~is_same & ~is_open[label])
        return cls(value, label, n, is_same, renamed, is_open, new)

    def has_rule(self, follows_rule: Booleans, *, has_intervals: bool) -> bool:
        """Return True if enough rows, of values that occur at least twice, follow the rule."""
        n_repeated = self.n * (np.bincount(self.value, weights=self.n)[self.value] > 1)
        is_enough = has_intervals or 2 * n_repeated[self.renamed].sum() >= self.n[self.renamed].sum()
        is_followed = n_repeated[follows_rule].sum() >= MIN_RULE_SHARE * n_repeated.sum()
        return bool(self.renamed.any() and is_enough and is_followed)

    def has_intervals(self, original: Column, is_chosen: Booleans) -> bool:
        """Return True if the new labels divide numbers into disjoint intervals with at least two rows on average."""
        if original.levels.kind != "numeric" or self.n[is_chosen].sum() < 2 * np.count_nonzero(self.new):
            return False
        order = np.argsort(original.levels.low[self.value[is_chosen]], kind="stable")
        label = self.label[is_chosen][order]
        return bool(np.count_nonzero(np.diff(label)) == len(np.unique(label)) - 1)

    def most_common(self, candidates: Booleans) -> Booleans:
        """Return a mask of the most common pair of each value among the candidates; the first of several."""
        order = np.lexsort((-self.n, self.value))
        order = order[candidates[order]]
        is_most_common = np.zeros(len(self.n), dtype=np.bool_)
        is_most_common[order[np.unique(self.value[order], return_index=True)[1]]] = True
        return is_most_common


def _write_values(original: Column, values: Integers) -> str:
    """Return the text of a cell that represents these levels of the original."""
    levels = original.levels
    values = values[values != levels.missing]
    if values.size == np.count_nonzero(original.counts) - (levels.missing >= 0):
        return EVERYTHING
    if not values.size:
        return ""
    if levels.kind == "numeric":
        return levels.scale.write(levels.low[values].min(), levels.high[values].max())
    return format_set([levels.labels[level] for level in values.tolist()])


def unify_spelling(original: Table, releases: Sequence[Table]) -> tuple[Table, list[Table]]:
    """Return the tables with equal spelling of the kept columns.

    Kept columns are released unchanged, and their cells are compared as texts. Another program may have written 7.5 for
    7.50, or 2024-03-05 for 05.03.2024. If a release has a cell that does not occur in the original, the column is
    therefore read by its type in all tables. A column with an ambiguous type is not changed.

    Examples
    --------
    >>> original, release = (
    ...     Table.read({"q": [1, 1], "x": texts}, quasi_identifiers="q", keep="x")
    ...     for texts in (["7.50", "12.00"], ["7.5", "12"])
    ... )
    >>> original["x"].tolist(), unify_spelling(original, [release])[0]["x"].tolist()
    (['7.50', '12.00'], ['7.5', '12'])
    """
    read, read_others = original, list(releases)
    for column in original.kept:
        kept_in = [number for number, release in enumerate(releases) if release.roles.get(column.name) == "keep"]
        sharing = {number: releases[number].column(column.name) for number in kept_in}
        if all(set(column_read.levels.labels) <= set(column.levels.labels) for column_read in sharing.values()):
            continue
        try:
            typed = _by_type(column)
            typed_of_releases = {number: _by_type(column_read, like=typed) for number, column_read in sharing.items()}
        except UnmaskError:
            continue
        if typed.type == "text":
            continue
        read = _replace_kept(read, typed)
        for number, column_read in typed_of_releases.items():
            read_others[number] = _replace_kept(read_others[number], column_read)
    return read, read_others


def _by_type(column: Column, like: Column | None = None) -> Column:
    texts = tuple(None if level == column.levels.missing else text for level, text in enumerate(column.levels.labels))
    typed = {} if like is None else {column.name: like}
    encoded = {column.name: Encoded(texts, column.codes, column.stored)}
    return Meanings({}, {}, {}, na=(), like=typed).read(encoded)[0][column.name]


def _replace_kept(table: Table, read: Column) -> Table:
    return replace(table, kept=tuple(read if column.name == read.name else column for column in table.kept))
