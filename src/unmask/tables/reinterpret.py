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
from unmask.tables.coding import Encoded
from unmask.tables.column import Column
from unmask.tables.levels import Levels
from unmask.tables.matching import compatible
from unmask.tables.meanings import Meanings
from unmask.tables.notation import EVERYTHING, format_set
from unmask.tables.recoding import new_cells
from unmask.tables.sensitive_bands import PAIRS, TOLERATED, several, without_shared_ends, without_stars
from unmask.tables.table import Table

FITS, EXPLAINED = 0.99, 0.8
"""Share of rows that a reading must fit, and part of those that fit nobody as they are written that it must explain.

Noise that happens to have fewer values than the original misses both: its counts are those of no rule.
"""


class Reading(NamedTuple):
    """How a column of a release is read.

    how    : how its cells came about, "" where they mean what they say
    column : the column with what they stand for
    misfit : share of its rows that fit nobody as they are written
    hidden : share of its rows whose cell is missing and was suppressed
    """

    how: str
    column: Column
    misfit: float
    hidden: float = 0.0


def read_coarse(original: Table, release: Table, origin: NDArray[np.int64] | None) -> dict[str, Reading]:
    """Columns of a release whose cells are single values that fit few people of the original, and stand for several.

    An age of 30 that means 30 to 39, 90 for everybody above, the first day of a month, and 010 for all zip codes that
    begin so, are read by an adversary as what they stand for. Taken at their word they fit nobody: the release would
    look as if its rows were made up. A reading is taken where it fits 99 % of the rows, and explains four fifths of
    those that fit nobody. The rules are those that anybody would try: numbers and dates were rounded down, up or to the
    nearest of the released values, of which the first and the last have an open end; codes were cut, their end was
    masked, or they lost the zeros in front. origin : (n_rows,) row of the original behind each, -1 for none, or None:
    then the counts of the values must fit.

    With the origin, quasi-identifiers and sensitive columns are read whose labels are others, too: `read_renamed`.

    A missing cell of a quasi-identifier is a value of its own, but where more of them are missing than the original and
    chance explain (`hidden_values`) cells were suppressed: each may be any value, as under "wildcard". A sensitive cell
    that may be any value hides it, as a missing one does, unless people have that cell in the original, too.

    >>> people = Table.read({"age": [20, 21, 27, 29, 30, 36]}, quasi_identifiers="age")
    >>> release = Table.read({"age": [20, 20, 20, 20, 30, 30]}, quasi_identifiers="age")
    >>> read = read_coarse(people, release, None)["age"]
    >>> read.how, read.column.levels.labels
    ('rounded down', ('[20, 29]', '>=30'))
    """
    found = {}
    for column in (*release.quasi_identifiers, *release.kept, *release.sensitive):
        if column.name not in original.names:
            continue
        known, shown, hidden = original.column(column.name), column, 0.0
        if column in release.quasi_identifiers:
            shown, hidden = _unsuppressed(original, release, column)
        elif column in release.sensitive and not _labels(column) <= _labels(known):
            shown = without_stars(column)
        read = _reading(known, shown, origin)
        if read is None and column not in release.kept and origin is not None:
            read = _renamed(known, shown, origin)
        if read and column in release.sensitive:
            read = read._replace(column=without_shared_ends(without_stars(read.column)))
        if read or hidden or shown is not column:
            found[column.name] = (read or Reading("", shown, 0.0))._replace(hidden=hidden)
    return found


def _labels(column: Column) -> set[str]:
    """The cells that rows have, as they are written."""
    return {column.levels.labels[at] for at in np.flatnonzero(column.counts)}


def _unsuppressed(original: Table, release: Table, column: Column) -> tuple[Column, float]:
    """The column with `*` for its missing cells, where some hide a value, and the share of its rows that do."""
    share, gap = hidden_values(release, column, original)[0], column.levels.missing
    if release.missing != "own" or not share:
        return column, 0.0
    texts = [EVERYTHING if at == gap else label for at, label in enumerate(column.levels.labels)]
    levels, code = new_cells(column, texts)
    counts = release.totals_of(column)
    return replace(column, levels=levels, codes=code[column.codes]), float(share * counts[gap] / counts.sum())


def with_readings(release: Table, readings: dict[str, Reading]) -> Table:
    """The release, whose columns are read so."""
    if not readings:
        return release
    quasi, kept, sensitive = (
        tuple(readings[column.name].column if column.name in readings else column for column in columns)
        for columns in (release.quasi_identifiers, release.kept, release.sensitive)
    )
    return replace(release, quasi_identifiers=quasi, kept=kept, sensitive=sensitive)


def _reading(known: Column, released: Column, origin: NDArray[np.int64] | None) -> Reading | None:
    if known.type != released.type or several(known) or several(released):
        return None
    apart = misfit(known, released)
    if apart <= 1 - FITS or len(known.levels) * len(released.levels) > PAIRS:
        return None
    if origin is None and _by_chance(known, released):
        return None
    made = _intervals if known.levels.kind == "numeric" else _beginnings
    rules = made(known.levels, released.levels)
    readings = [Reading(how, replace(released, levels=levels), apart) for how, levels in rules]
    shares = [_fitting(known, one.column, origin) for one in readings]
    best = int(np.argmax(shares))
    return readings[best] if shares[best] >= max(FITS, 1 - (1 - EXPLAINED) * apart) else None


def _renamed(known: Column, released: Column, origin: NDArray[np.int64]) -> Reading | None:
    """What labels stand for that the original does not have, by the rows behind them (`read_renamed`)."""
    if several(known) or several(released) or len(known.levels) * len(released.levels) > PAIRS:
        return None
    there = np.flatnonzero(origin >= 0)
    label = same_labels(known, released)[released.codes[there]]
    told = ~(released.levels.gaps | released.levels.suppressed)[released.codes[there]]
    apart = float(np.mean(told & (label != known.codes[origin[there]]))) if there.size else 0.0
    column = read_renamed(known, released, origin) if apart > 1 - FITS else None
    return None if column is None else Reading("renamed or grouped", column, apart)


def misfit(known: Column, released: Column) -> float:
    """Share of released cells that are nobody's as they are written, by how many people have each value, 0 to 1.

    sum_v max(r_v - N_v, 0) / n, of r_v cells and N_v people with value v. A cell that may be any value is left out.
    """
    if known.levels.labels == released.levels.labels:
        theirs = known.counts
    else:
        people = dict(zip(known.levels.labels, known.counts.tolist(), strict=True))
        theirs = np.array([people.get(label, 0) for label in released.levels.labels], dtype=np.int64)
    any_value = released.levels.gaps | released.levels.suppressed
    told = np.where(any_value, 0, np.maximum(released.counts - theirs, 0))
    return float(told.sum() / max(len(released.codes), 1))


def changed(known: Column, released: Column) -> float:
    """`misfit` where it is more than `TOLERATED`, else 0. Cells that stand for several values were read so that they
    fit.
    """
    share = 0.0 if several(released) else misfit(known, released)
    return share if share > TOLERATED else 0.0


def strange(known: Column, released: Column) -> float:
    """Share of released cells that hold no value of the original, 0 to 1; of numbers 0, which may be moved."""
    new = np.flatnonzero((same_labels(known, released) < 0) & ~released.levels.gaps & (released.counts > 0))
    if known.levels.kind == released.levels.kind == "numeric" or len(known.levels) * len(new) > PAIRS:
        return 0.0
    held = compatible(known.levels, released.levels.select(new), missing="own").any(axis=0)
    return float(released.counts[new[~held]].sum() / max(len(released.codes), 1))


def _by_chance(known: Column, released: Column) -> bool:
    """Whether any rule may fit: few rows, each with a value of its own, find somebody among many people."""
    return len(released.codes) < min(2 * len(released.levels), len(known.codes) / 10)


def _fitting(known: Column, released: Column, origin: NDArray[np.int64] | None) -> float:
    """Share of released rows that fit their own people, or with an unknown origin, that can fit different ones."""
    fits = compatible(known.levels, released.levels, missing="wildcard")
    if origin is not None:
        there = np.flatnonzero(origin >= 0)
        return float(fits[known.codes[origin[there]], released.codes[there]].mean()) if there.size else 0.0
    people = known.counts @ fits
    return float(np.minimum(people, released.counts).sum() / released.counts.sum())


def _intervals(known: Levels, released: Levels) -> Iterator[tuple[str, Levels]]:
    """Rounding down, up, and to the nearest released value: between a value and the next one."""
    at = np.flatnonzero(np.isfinite(released.low))
    value, scale = released.low[at], released.scale
    atoms = np.concatenate([known.low[np.isfinite(known.low)], value])
    whole = bool((atoms == np.floor(atoms)).all())
    before, after = (
        np.array([one + step if whole else move(one) for one in value.tolist()])
        for step, move in ((-1, scale.before), (1, scale.after))
    )
    middle = (value[:-1] + value[1:]) / 2
    to, from_ = (np.floor(middle), np.ceil(middle)) if whole else (middle, middle)
    yield "rounded down", _bounded(released, at, value, np.append(before[1:], np.inf))
    yield "rounded", _bounded(released, at, np.append(-np.inf, from_), np.append(to, np.inf))
    yield "rounded up", _bounded(released, at, np.append(-np.inf, after[:-1]), value)


def _bounded(levels: Levels, at: NDArray[np.intp], first: NDArray[np.float64], last: NDArray[np.float64]) -> Levels:
    low, high, labels = levels.low.copy(), levels.high.copy(), list(levels.labels)
    low[at], high[at] = first, last
    for one in at.tolist():
        labels[one] = levels.scale.write(low[one], high[one])
    return replace(levels, low=low, high=high, labels=tuple(labels))


MASKS = "xX#_-?.0"
"""What people write in the place of characters that they took away."""


def _beginnings(known: Levels, released: Levels) -> Iterator[tuple[str, Levels]]:
    """Values that were cut, masked at the end, or lost the zeros in front."""
    values = sorted(known.domain)
    cut = {label: _beginning(values, label) for label in released.labels}
    yield "cut", _standing_for(known, released, cut)
    stem = _without_masks(released.labels, frozenset(values))
    masked = {one: [value for value in _beginning(values, stem[one]) if len(value) == len(one)] for one in stem}
    yield "masked", _standing_for(known, released, masked)
    bare: dict[str, list[str]] = {}
    for value in values:
        bare.setdefault(value.lstrip("0"), []).append(value)
    without = {label: bare.get(label.lstrip("0"), []) for label in released.labels}
    yield "without the zeros in front", _standing_for(known, released, without)


def _without_masks(labels: Sequence[str], values: Collection[str]) -> dict[str, str]:
    """Each label without the mask at its end: as many equal characters as end all labels that are no values."""
    runs = [len(one) - len(one.rstrip(one[-1:])) for one in labels if one and one not in values and one[-1] in MASKS]
    n = min(runs, default=0)
    ends = {mask * n for mask in MASKS}
    return {label: label[:-n] if n and label[-n:] in ends else label for label in labels}


def _beginning(values: list[str], text: str) -> list[str]:
    """Those of sorted values that begin so; a text of nothing begins none."""
    return values[bisect_left(values, text) : bisect_left(values, text + "\U0010ffff")] if text else []


def _standing_for(known: Levels, released: Levels, values: dict[str, list[str]]) -> Levels:
    """The released levels over the values of the original that each stands for."""
    place = {value: at for at, value in enumerate(known.domain)}
    members = np.zeros((len(released), len(known.domain)), dtype=np.bool_)
    labels = list(released.labels)
    for at, label in enumerate(released.labels):
        if label == EVERYTHING:
            members[at] = True
        elif at != released.missing:
            members[at, [place[value] for value in values[label]]] = True
            labels[at] = format_set(values[label]) if label in place else label
    return replace(released, labels=tuple(labels), domain=known.domain, members=members)


TRUE = 0.99
"""Share of the rows that must be as the rule says: a value has its own label, or the one other that stands for it."""


def read_renamed(known: Column, released: Column, origin: NDArray[np.int64]) -> Column | None:
    """The released column with the values of the original that its new labels stand for; None where that is no rule.

    `m` and `w` that leave as `male` and `female`, occupations grouped by words, and rare regions under `other` are read
    by anybody; at their word they fit nobody. The rows behind them tell what they stand for. A label is new where most
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
    there = origin >= 0
    seen = _Seen.of(known, released, known.codes[origin[there]], released.codes[there])
    named = seen.commonest(seen.renamed)
    own = seen.same & ~seen.new[seen.label]
    if not seen.ruled(named | own | seen.open[seen.label], seen.divided(known, named)):
        return None
    texts = [EVERYTHING if new else text for new, text in zip(seen.new, released.levels.labels, strict=True)]
    for label in np.unique(seen.label[named]).tolist():
        texts[label] = _new_names(known, np.unique(seen.value[(named | own) & (seen.label == label)]))
    levels, code = new_cells(known, texts)
    return replace(released, levels=levels, codes=code[released.codes], hierarchy=known.hierarchy)


def same_labels(known: Column, released: Column) -> NDArray[np.int64]:
    """(L,) the level of the original that has the label of a released level, -1 for none."""
    if known.levels.labels == released.levels.labels:
        return np.arange(len(known.levels))
    place = {text: at for at, text in enumerate(known.levels.labels)}
    return np.array([place.get(text, -1) for text in released.levels.labels], dtype=np.int64)


class _Seen(NamedTuple):
    """How often each value has each label.

    value, label, n : of each pair that occurs
    same            : whether the label of a pair is the value
    renamed         : whether the label of a pair may be another name of the value
    open, new       : (L,) labels that may be any value, and those of which most rows have another value
    """

    value: NDArray[np.int64]
    label: NDArray[np.int64]
    n: NDArray[np.int64]
    same: NDArray[np.bool_]
    renamed: NDArray[np.bool_]
    open: NDArray[np.bool_]
    new: NDArray[np.bool_]

    @classmethod
    def of(cls, known: Column, released: Column, values: NDArray[np.int32], labels: NDArray[np.int32]) -> _Seen:
        """values, labels : (n_rows,) codes of both columns."""
        width = len(released.levels)
        pair, n = np.unique(values.astype(np.int64) * width + labels, return_counts=True)
        value, label = np.divmod(pair, width)
        same = same_labels(known, released)[label] == value
        rows, true = (np.bincount(label, weights=w, minlength=width) for w in (n, n * same))
        anything = released.levels.gaps | released.levels.suppressed
        new = ~anything & (rows > 2 * true)
        moved = np.bincount(value, weights=n * np.where(same, -1, 1))[value] > 0
        return cls(value, label, n, same, new[label] | (moved & ~same & ~anything[label]), anything, new)

    def ruled(self, right: NDArray[np.bool_], divided: bool) -> bool:
        """Whether pairs are as the rule says, as far as values tell that occur more than once; divided : see there."""
        told = self.n * (np.bincount(self.value, weights=self.n)[self.value] > 1)
        enough = divided or 2 * told[self.renamed].sum() >= self.n[self.renamed].sum()
        return bool(self.renamed.any() and enough and told[right].sum() >= TRUE * told.sum())

    def divided(self, known: Column, named: NDArray[np.bool_]) -> bool:
        """Whether new labels divide numbers in intervals that do not overlap, of two rows or more on average."""
        if known.levels.kind != "numeric" or self.n[named].sum() < 2 * np.count_nonzero(self.new):
            return False
        order = np.argsort(known.levels.low[self.value[named]], kind="stable")
        label = self.label[named][order]
        return bool(np.count_nonzero(np.diff(label)) == len(np.unique(label)) - 1)

    def commonest(self, among: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which pairs are the most frequent of their value among some; the first of several."""
        order = np.lexsort((-self.n, self.value))
        order = order[among[order]]
        found = np.zeros(len(self.n), dtype=np.bool_)
        found[order[np.unique(self.value[order], return_index=True)[1]]] = True
        return found


def _new_names(known: Column, values: NDArray[np.int64]) -> str:
    """The text of a cell that holds these levels of the original."""
    levels = known.levels
    values = values[values != levels.missing]
    if values.size == np.count_nonzero(known.counts) - (levels.missing >= 0):
        return EVERYTHING
    if not values.size:
        return ""
    if levels.kind == "numeric":
        return levels.scale.write(levels.low[values].min(), levels.high[values].max())
    return format_set([levels.labels[at] for at in values.tolist()])


def one_spelling(original: Table, others: Sequence[Table]) -> tuple[Table, list[Table]]:
    """The tables with one spelling of the kept columns that the original shares with others.

    A kept column leaves as it is, so that its cells are texts, compared letter by letter. A release that another
    program wrote has 7.5 for 7.50, or 2024-03-05 for 05.03.2024, and nobody would find themselves in it. So where it
    has a cell that the original has not, the column of all tables is read by its type, that of the original. One that
    can be read in two ways stays as it is.

    >>> one, other = (
    ...     Table.read({"q": [1, 1], "x": texts}, quasi_identifiers="q", keep="x")
    ...     for texts in (["7.50", "12.00"], ["7.5", "12"])
    ... )
    >>> one["x"].tolist(), one_spelling(one, [other])[0]["x"].tolist()
    (['7.50', '12.00'], ['7.5', '12'])
    """
    read, told = original, list(others)
    for column in original.kept:
        sharing = {at: one.column(column.name) for at, one in enumerate(others) if _keeps(one, column.name)}
        if all(set(one.levels.labels) <= set(column.levels.labels) for one in sharing.values()):
            continue
        try:
            typed = _by_type(column)
            theirs = {at: _by_type(one, like=typed) for at, one in sharing.items()}
        except UnmaskError:
            continue
        if typed.type == "text":  # which is compared letter by letter
            continue
        read = _with(read, typed)
        for at, one in theirs.items():
            told[at] = _with(told[at], one)
    return read, told


def _keeps(table: Table, name: str) -> bool:
    return any(column.name == name for column in table.kept)


def _by_type(column: Column, like: Column | None = None) -> Column:
    labels = column.levels.labels
    texts = tuple(None if at == column.levels.missing else text for at, text in enumerate(labels))
    known = {} if like is None else {column.name: like}
    encoded = {column.name: Encoded(texts, column.codes, column.stored)}
    return Meanings({}, {}, {}, na=(), like=known).read(encoded, n_rows=len(column.codes))[0][column.name]


def _with(table: Table, read: Column) -> Table:
    return replace(table, kept=tuple(read if column.name == read.name else column for column in table.kept))
