"""Released cells that stand for several values and are written as one, or as missing: rounded and top-coded numbers,
cut codes, suppressed cells.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.tables.background import hidden_values
from unmask.tables.cells import members_of
from unmask.tables.coding import Encoded
from unmask.tables.column import Column
from unmask.tables.levels import Levels
from unmask.tables.matching import compatible
from unmask.tables.meanings import Meanings
from unmask.tables.notation import EVERYTHING, format_set
from unmask.tables.protections.recoding import new_cells
from unmask.tables.sensitive_bands import PAIRS, TOLERATED, has_sets, without_shared_ends, without_stars
from unmask.tables.table import Table

FITS, EXPLAINED = 0.99, 0.8
"""Share of rows that a reading must fit, and part of those that fit no person as written that it must explain.

Noise that happens to have fewer values than the original misses both: its counts are those of no rule.
"""


class Reading(NamedTuple):
    """Reading of a column of a release.

    how    : how its cells came about, "" where they mean what they say
    column : the column with what they stand for
    misfit : share of its rows that fit no person as written
    hidden : share of its rows whose cell is missing and was suppressed
    """

    rule: str
    column: Column
    misfit: float
    hidden: float = 0.0


def read_coarse(original: Table, release: Table, origin: NDArray[np.int64] | None) -> dict[str, Reading]:
    """Return columns of a release whose cells are single values that fit few people of the original, and stand for
    several.

    An age of 30 that means 30 to 39, 90 for everybody above, the first day of a month, and 010 for all zip codes that
    begin so, are read by an adversary as what they stand for. As written they fit no person: the release would
    look as if its rows were made up. A reading is taken where it fits 99 % of the rows, and explains four fifths of
    those that fit no person. The rules are those that anybody would try: numbers and dates were rounded down, up or to
    the nearest of the released values, of which the first and the last have an open end; codes were cut, their end was
    masked, or they lost the zeros in front. origin : (n_rows,) row of the original behind each, -1 for none, or None:
    then the counts of the values must fit.

    With the origin, quasi-identifiers and sensitive columns are read whose labels are others, too: `read_renamed`.

    A missing cell of a quasi-identifier is a value of its own, but where more of them are missing than the original and
    chance explain (`hidden_values`) cells were suppressed: each may be any value, as under "wildcard". A sensitive cell
    that may be any value hides it, as a missing one does, unless people have that cell in the original, too.

    >>> people = Table.read({"age": [20, 21, 27, 29, 30, 36]}, quasi_identifiers="age")
    >>> release = Table.read({"age": [20, 20, 20, 20, 30, 30]}, quasi_identifiers="age")
    >>> read = read_coarse(people, release, None)["age"]
    >>> read.rule, read.column.levels.labels
    ('rounded down', ('[20, 29]', '>=30'))
    """
    readings = {}
    for column in (*release.quasi_identifiers, *release.kept, *release.sensitive):
        if column.name not in original.names:
            continue
        original_column, released_column, hidden = original.column(column.name), column, 0.0
        if column in release.quasi_identifiers:
            released_column, hidden = _unsuppressed(original, release, column)
        elif column in release.sensitive and not _labels(column) <= _labels(original_column):
            released_column = without_stars(column)
        read = _reading(original_column, released_column, origin)
        if read is None and column not in release.kept and origin is not None:
            read = _renamed(original_column, released_column, origin)
        if read and column in release.sensitive:
            read = read._replace(column=without_shared_ends(without_stars(read.column)))
        if read or hidden or released_column is not column:
            readings[column.name] = (read or Reading("", released_column, 0.0))._replace(hidden=hidden)
    return readings


def _labels(column: Column) -> set[str]:
    """Return the cells that rows have, as they are written."""
    return {column.levels.labels[level] for level in np.flatnonzero(column.counts)}


def _unsuppressed(original: Table, release: Table, column: Column) -> tuple[Column, float]:
    """Return the column with `*` for its missing cells, where some hide a value, and the share of its rows that do."""
    share, gap = hidden_values(release, column, original)[0], column.levels.missing
    if release.missing != "own" or not share:
        return column, 0.0
    texts = [EVERYTHING if level == gap else label for level, label in enumerate(column.levels.labels)]
    levels, code = new_cells(column, texts)
    counts = release.totals_of(column)
    return replace(column, levels=levels, codes=code[column.codes]), float(share * counts[gap] / counts.sum())


def with_readings(release: Table, readings: dict[str, Reading]) -> Table:
    """Return the release, whose columns are read so."""
    if not readings:
        return release
    quasi, kept_columns, sensitive = (
        tuple(readings[column.name].column if column.name in readings else column for column in columns)
        for columns in (release.quasi_identifiers, release.kept, release.sensitive)
    )
    return replace(release, quasi_identifiers=quasi, kept=kept_columns, sensitive=sensitive)


def _reading(original: Column, released: Column, origin: NDArray[np.int64] | None) -> Reading | None:
    if original.type != released.type or has_sets(original) or has_sets(released):
        return None
    share_unfit = misfit(original, released)
    if share_unfit <= 1 - FITS or len(original.levels) * len(released.levels) > PAIRS:
        return None
    if origin is None and _by_chance(original, released):
        return None
    rules_of = _intervals if original.levels.kind == "numeric" else _beginnings
    rules = rules_of(original.levels, released.levels)
    readings = [Reading(rule, replace(released, levels=levels), share_unfit) for rule, levels in rules]
    shares = [_fitting(original, reading.column, origin) for reading in readings]
    chosen = int(np.argmax(shares))
    return readings[chosen] if shares[chosen] >= max(FITS, 1 - (1 - EXPLAINED) * share_unfit) else None


def _renamed(original: Column, released: Column, origin: NDArray[np.int64]) -> Reading | None:
    """Read labels that the original does not have by the rows behind them (`read_renamed`)."""
    if has_sets(original) or has_sets(released) or len(original.levels) * len(released.levels) > PAIRS:
        return None
    rows = np.flatnonzero(origin >= 0)
    label = same_labels(original, released)[released.codes[rows]]
    is_stated = ~(released.levels.gaps | released.levels.suppressed)[released.codes[rows]]
    share_renamed = float(np.mean(is_stated & (label != original.codes[origin[rows]]))) if rows.size else 0.0
    column = read_renamed(original, released, origin) if share_renamed > 1 - FITS else None
    return None if column is None else Reading("renamed or grouped", column, share_renamed)


def misfit(original: Column, released: Column) -> float:
    """Return share of released cells that are no person's as written, by how many people have each value, 0 to 1.

    sum_v max(r_v - N_v, 0) / n, of r_v cells and N_v people with value v. A cell that may be any value is left out.
    """
    if original.levels.labels == released.levels.labels:
        theirs = original.counts
    else:
        people = dict(zip(original.levels.labels, original.counts.tolist(), strict=True))
        theirs = np.array([people.get(label, 0) for label in released.levels.labels], dtype=np.int64)
    any_value = released.levels.gaps | released.levels.suppressed
    n_unfit = np.where(any_value, 0, np.maximum(released.counts - theirs, 0))
    return float(n_unfit.sum() / max(len(released.codes), 1))


def changed(original: Column, released: Column) -> float:
    """Return `misfit` where it is more than `TOLERATED`, else 0. Cells that stand for several values were read so that
    they fit.
    """
    share = 0.0 if has_sets(released) else misfit(original, released)
    return share if share > TOLERATED else 0.0


def strange(original: Column, released: Column) -> float:
    """Return share of released cells that hold no value of the original, 0 to 1; of numbers 0, which may be moved."""
    new = np.flatnonzero((same_labels(original, released) < 0) & ~released.levels.gaps & (released.counts > 0))
    if original.levels.kind == released.levels.kind == "numeric" or len(original.levels) * len(new) > PAIRS:
        return 0.0
    is_covered = compatible(original.levels, released.levels.select(new), missing="own").any(axis=0)
    return float(released.counts[new[~is_covered]].sum() / max(len(released.codes), 1))


def _by_chance(original: Column, released: Column) -> bool:
    """Return whether any rule may fit: few rows, each with a value of its own, find a person among many."""
    return len(released.codes) < min(2 * len(released.levels), len(original.codes) / 10)


def _fitting(original: Column, released: Column, origin: NDArray[np.int64] | None) -> float:
    """Return the share of released rows that fit their own people, or can fit different ones without an origin."""
    fits = compatible(original.levels, released.levels, missing="wildcard")
    if origin is not None:
        rows = np.flatnonzero(origin >= 0)
        return float(fits[original.codes[origin[rows]], released.codes[rows]].mean()) if rows.size else 0.0
    people = original.counts @ fits
    return float(np.minimum(people, released.counts).sum() / released.counts.sum())


def _intervals(original: Levels, released: Levels) -> Iterator[tuple[str, Levels]]:
    """Yield rounding down, up, and to the nearest released value: between a value and the next one."""
    levels = np.flatnonzero(np.isfinite(released.low))
    value, scale = released.low[levels], released.scale
    atoms = np.concatenate([original.low[np.isfinite(original.low)], value])
    is_integer = bool((atoms == np.floor(atoms)).all())
    previous, after = (
        np.array([number + step if is_integer else move(number) for number in value.tolist()])
        for step, move in ((-1, scale.previous_value), (1, scale.after))
    )
    middle = (value[:-1] + value[1:]) / 2
    to, from_ = (np.floor(middle), np.ceil(middle)) if is_integer else (middle, middle)
    yield "rounded down", _bounded(released, levels, value, np.append(previous[1:], np.inf))
    yield "rounded", _bounded(released, levels, np.append(-np.inf, from_), np.append(to, np.inf))
    yield "rounded up", _bounded(released, levels, np.append(-np.inf, after[:-1]), value)


def _bounded(levels: Levels, exact: NDArray[np.intp], first: NDArray[np.float64], last: NDArray[np.float64]) -> Levels:
    low, high, labels = levels.low.copy(), levels.high.copy(), list(levels.labels)
    low[exact], high[exact] = first, last
    for level in exact.tolist():
        labels[level] = levels.scale.write(low[level], high[level])
    return replace(levels, low=low, high=high, labels=tuple(labels))


MASKS = "xX#_-?.0"
"""What people write in the place of characters that they took away."""


def _beginnings(original: Levels, released: Levels) -> Iterator[tuple[str, Levels]]:
    """Yield values that were cut, masked at the end, or lost the zeros in front."""
    values = sorted(original.domain)
    cut = {label: _beginning(values, label) for label in released.labels}
    yield "cut", _standing_for(original, released, cut)
    stem = _without_masks(released.labels, frozenset(values))
    masked = {text: [value for value in _beginning(values, stem[text]) if len(value) == len(text)] for text in stem}
    yield "masked", _standing_for(original, released, masked)
    bare: dict[str, list[str]] = {}
    for value in values:
        bare.setdefault(value.lstrip("0"), []).append(value)
    unpadded = {label: bare.get(label.lstrip("0"), []) for label in released.labels}
    yield "without the zeros in front", _standing_for(original, released, unpadded)


def _without_masks(labels: Sequence[str], values: Collection[str]) -> dict[str, str]:
    """Return each label without the mask at its end: as many equal characters as end all labels that are no values."""
    runs = [
        len(text) - len(text.rstrip(text[-1:])) for text in labels if text and text not in values and text[-1] in MASKS
    ]
    n = min(runs, default=0)
    ends = {mask * n for mask in MASKS}
    return {label: label[:-n] if n and label[-n:] in ends else label for label in labels}


def _beginning(values: list[str], text: str) -> list[str]:
    """Return those of sorted values that begin so; a text of nothing begins none."""
    return values[bisect_left(values, text) : bisect_left(values, text + "\U0010ffff")] if text else []


def _standing_for(original: Levels, released: Levels, values: dict[str, list[str]]) -> Levels:
    """Return the released levels over the values of the original that each stands for."""
    place = {value: level for level, value in enumerate(original.domain)}
    covered: list[tuple[int, ...] | None] = [()] * len(released)
    labels = list(released.labels)
    for level, label in enumerate(released.labels):
        if label == EVERYTHING:
            covered[level] = None
        elif level != released.missing:
            covered[level] = tuple(sorted(place[value] for value in values[label]))
            labels[level] = format_set(values[label]) if label in place else label
    members = members_of(covered, len(original.domain))
    return replace(released, labels=tuple(labels), domain=original.domain, members=members)


TRUE = 0.99
"""Share of the rows that must be as the rule says: a value has its own label, or the one other that stands for it."""


def read_renamed(original: Column, released: Column, origin: NDArray[np.int64]) -> Column | None:
    """Return the released column with the values of the original that its new labels stand for; None where that is no
    rule.

    `m` and `w` that leave as `male` and `female`, occupations grouped by words, and rare regions under `other` are read
    by anybody; as written they fit no person. The rows behind them tell what they stand for. A label is new where most
    of its rows have another value. A value is renamed by such a label, or where most of its rows have another label; of
    these labels the commonest stands for it, besides for the value that it names itself. In 99 of 100 rows of values
    that occur twice or more, a value must have its own label or that one; so nothing is read into labels that were
    drawn at random, such as a pseudonym in each row. Half of the rows with other labels must be of such values, or the
    values be numbers that the labels divide in intervals, two rows or more in each on average. Numbers stand for the
    interval from the least to the greatest.

    >>> from unmask.tables.table import Table
    >>> people, release = (
    ...     Table.read({"sex": texts}, quasi_identifiers="sex").column("sex")
    ...     for texts in (["m", "w", "d", "m"], ["male", "other", "other", "male"])
    ... )
    >>> read_renamed(people, release, np.arange(4)).levels.labels
    ('m', '{d, w}')
    """
    has_origin = origin >= 0
    counts = _Seen.of(original, released, original.codes[origin[has_origin]], released.codes[has_origin])
    is_chosen = counts.commonest(counts.renamed)
    is_unchanged = counts.is_value & ~counts.new[counts.label]
    if not counts.ruled(is_chosen | is_unchanged | counts.open[counts.label], counts.divided(original, is_chosen)):
        return None
    texts = [EVERYTHING if new else text for new, text in zip(counts.new, released.levels.labels, strict=True)]
    for label in np.unique(counts.label[is_chosen]).tolist():
        texts[label] = _new_names(
            original, np.unique(counts.value[(is_chosen | is_unchanged) & (counts.label == label)])
        )
    levels, code = new_cells(original, texts)
    return replace(released, levels=levels, codes=code[released.codes], hierarchy=original.hierarchy)


def same_labels(original: Column, released: Column) -> NDArray[np.int64]:
    """Return (L,) the level of the original that has the label of a released level, -1 for none."""
    if original.levels.labels == released.levels.labels:
        return np.arange(len(original.levels))
    place = {text: level for level, text in enumerate(original.levels.labels)}
    return np.array([place.get(text, -1) for text in released.levels.labels], dtype=np.int64)


class _Seen(NamedTuple):
    """Counts of labels for each value.

    value, label, n : of each pair that occurs
    is_value        : whether the label of a pair is the value
    renamed         : whether the label of a pair may be another name of the value
    open, new       : (L,) labels that may be any value, and those of which most rows have another value
    """

    value: NDArray[np.int64]
    label: NDArray[np.int64]
    n: NDArray[np.int64]
    is_value: NDArray[np.bool_]
    renamed: NDArray[np.bool_]
    open: NDArray[np.bool_]
    new: NDArray[np.bool_]

    @classmethod
    def of(cls, original: Column, released: Column, values: NDArray[np.int32], labels: NDArray[np.int32]) -> _Seen:
        """Return values, labels : (n_rows,) codes of both columns."""
        width = len(released.levels)
        pair, n = np.unique(values.astype(np.int64) * width + labels, return_counts=True)
        value, label = np.divmod(pair, width)
        is_same = same_labels(original, released)[label] == value
        rows, true = (np.bincount(label, weights=w, minlength=width) for w in (n, n * is_same))
        anything = released.levels.gaps | released.levels.suppressed
        new = ~anything & (rows > 2 * true)
        is_moved = np.bincount(value, weights=n * np.where(is_same, -1, 1))[value] > 0
        return cls(value, label, n, is_same, new[label] | (is_moved & ~is_same & ~anything[label]), anything, new)

    def ruled(self, is_right: NDArray[np.bool_], divided: bool) -> bool:
        """Return whether pairs are as the rule says, as far as values tell that occur more than once; divided : see
        there.
        """
        n_decided = self.n * (np.bincount(self.value, weights=self.n)[self.value] > 1)
        enough = divided or 2 * n_decided[self.renamed].sum() >= self.n[self.renamed].sum()
        return bool(self.renamed.any() and enough and n_decided[is_right].sum() >= TRUE * n_decided.sum())

    def divided(self, original: Column, is_chosen: NDArray[np.bool_]) -> bool:
        """Return whether new labels divide numbers in intervals that do not overlap, of two rows or more on average."""
        if original.levels.kind != "numeric" or self.n[is_chosen].sum() < 2 * np.count_nonzero(self.new):
            return False
        order = np.argsort(original.levels.low[self.value[is_chosen]], kind="stable")
        label = self.label[is_chosen][order]
        return bool(np.count_nonzero(np.diff(label)) == len(np.unique(label)) - 1)

    def commonest(self, candidates: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the pairs that are the most frequent of their value; the first of several."""
        order = np.lexsort((-self.n, self.value))
        order = order[candidates[order]]
        is_commonest = np.zeros(len(self.n), dtype=np.bool_)
        is_commonest[order[np.unique(self.value[order], return_index=True)[1]]] = True
        return is_commonest


def _new_names(original: Column, values: NDArray[np.int64]) -> str:
    """Return the text of a cell that holds these levels of the original."""
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
    """Return the tables with one spelling of the kept columns that the original shares with others.

    A kept column leaves as it is, so that its cells are texts, compared letter by letter. A release that another
    program wrote has 7.5 for 7.50, or 2024-03-05 for 05.03.2024, and no person would fit it. So where it
    has a cell that the original has not, the column of all tables is read by its type, that of the original. One that
    can be read in two ways stays as it is.

    >>> one, other = (
    ...     Table.read({"q": [1, 1], "x": texts}, quasi_identifiers="q", keep="x")
    ...     for texts in (["7.50", "12.00"], ["7.5", "12"])
    ... )
    >>> one["x"].tolist(), unify_spelling(one, [other])[0]["x"].tolist()
    (['7.50', '12.00'], ['7.5', '12'])
    """
    read, read_others = original, list(releases)
    for column in original.kept:
        sharing = {
            number: column_read.column(column.name)
            for number, column_read in enumerate(releases)
            if _keeps(column_read, column.name)
        }
        if all(set(column_read.levels.labels) <= set(column.levels.labels) for column_read in sharing.values()):
            continue
        try:
            typed = _by_type(column)
            theirs = {number: _by_type(column_read, like=typed) for number, column_read in sharing.items()}
        except UnmaskError:
            continue
        if typed.type == "text":  # which is compared letter by letter
            continue
        read = _with(read, typed)
        for number, column_read in theirs.items():
            read_others[number] = _with(read_others[number], column_read)
    return read, read_others


def _keeps(table: Table, name: str) -> bool:
    return any(column.name == name for column in table.kept)


def _by_type(column: Column, like: Column | None = None) -> Column:
    labels = column.levels.labels
    texts = tuple(None if level == column.levels.missing else text for level, text in enumerate(labels))
    typed = {} if like is None else {column.name: like}
    encoded = {column.name: Encoded(texts, column.codes, column.stored)}
    return Meanings({}, {}, {}, na=(), like=typed).read(encoded)[0][column.name]


def _with(table: Table, read: Column) -> Table:
    return replace(table, kept=tuple(read if column.name == read.name else column for column in table.kept))
