"""Released labels that stand for values of the original under other names: translated, coded, grouped, hidden."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.tables.column import Column
from unmask.tables.notation import EVERYTHING, format_set
from unmask.tables.recoding import new_cells

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

    >>> from unmask.tables.release import Table
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
        texts[label] = _standing_for(known, np.unique(seen.value[(named | own) & (seen.label == label)]))
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


def _standing_for(known: Column, values: NDArray[np.int64]) -> str:
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
