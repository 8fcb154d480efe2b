"""Atomic values of a column that is not numeric, and the values that each of its cells means."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.core.arrays import Integers
from unmask.core.errors import UnmaskError
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.notation import EVERYTHING, MASK, MISSING, format_set, split_set
from unmask.tables.scales import NUMBERS

_SEPARATORS = (",", "|", "~")


class Masks:
    """Index of the values that a mask such as `123**` may hide: a range in text order."""

    def __init__(self, values: Sequence[str]) -> None:
        self._values = values

    @cached_property
    def _order(self) -> list[int]:
        return sorted(range(len(self._values)), key=self._values.__getitem__)

    @cached_property
    def _sorted(self) -> list[str]:
        return [self._values[position] for position in self._order]

    def hidden(self, mask: str) -> tuple[int, ...]:
        """Return the positions of the values that begin with the mask's prefix and are not longer than the mask.

        >>> Masks(["120", "12", "1200", "20"]).hidden("12*")
        (0, 1)
        """
        begin, end = self._run(mask.rstrip(EVERYTHING))
        return tuple(sorted(place for place in self._order[begin:end] if len(self._values[place]) <= len(mask)))

    def hidden_by(self, masks: Sequence[str]) -> tuple[Integers, Integers]:
        """Return the positions of all pairs of a mask and a value that it may hide.

        >>> Masks(["120", "12", "1200", "20"]).hidden_by(["12*", "2*"])
        (array([0, 0, 1]), array([1, 0, 3]))
        """
        runs = np.array([self._run(mask.rstrip(EVERYTHING)) for mask in masks], dtype=np.int64).reshape(-1, 2)
        sizes = runs[:, 1] - runs[:, 0]
        mask_of = np.repeat(np.arange(len(masks)), sizes)
        place = np.arange(mask_of.size) - np.repeat(np.cumsum(sizes) - sizes, sizes) + runs[mask_of, 0]
        fits = _lengths(self._sorted)[place] <= _lengths(masks)[mask_of]
        return mask_of[fits], np.array(self._order, dtype=np.int64)[place[fits]]

    def _run(self, prefix: str) -> tuple[int, int]:
        """Return the ends of the range of values with a prefix, in text order."""
        begin = bisect_left(self._sorted, prefix)
        return begin, bisect_right(self._sorted, prefix, lo=begin, key=lambda value: value[: len(prefix)])


def _lengths(texts: Sequence[str]) -> Integers:
    return np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))


@dataclass(frozen=True)
class Vocabulary:
    """The D atomic values of a column, and the meaning of its texts.

    closed : True if an order or a hierarchy declares the values; otherwise they are those in the column.
    parts : texts that may be parts of a set in the notation `a,b`: declared values, values known from elsewhere, and
        hierarchy nodes. Other texts with separators, such as `Smith, John`, are values.
    """

    domain: tuple[str, ...]
    parts: frozenset[str]
    hierarchy: Hierarchy | None = None
    closed: bool = False
    ordinal: bool = False

    @classmethod
    def declare(
        cls, column: str, *, order: Sequence[str] | None, hierarchy: Hierarchy | None, ordinal: bool
    ) -> Vocabulary:
        """Return the values of an order, or of a hierarchy in file order. With both, the hierarchy follows the
        order.
        """
        tree = hierarchy.reorder(order) if hierarchy is not None and order is not None else hierarchy
        domain = tree.leaves if tree is not None else tuple(order or ())
        if len(set(domain)) != len(domain) or not all(domain) or EVERYTHING in domain:
            raise UnmaskError(
                f"the declared values of column {column!r} are repeated, empty or '*'; expected different values"
            )
        return cls(domain, frozenset(tree.nodes if tree is not None else domain), tree, True, ordinal)

    @classmethod
    def infer(
        cls, column: str, *, texts: Sequence[str | None], ordinal: bool, labels: Sequence[str] = ()
    ) -> Vocabulary:
        """Return the values of a column, single or inside `{...}`, sorted; the values of an ordinal column in numeric
        order.

        labels : values known from elsewhere; they may be parts of a set, and are not sets themselves
        """
        present, parts = [text for text in texts if text], frozenset(labels)
        values: set[str] = set()
        for text in present:
            values.update(split_set(text) or _split_plain(text, parts) or (() if _hides(text) else (text,)))
        domain = _by_number(values, column) if ordinal else tuple(sorted(values))
        return cls(domain, parts, ordinal=ordinal)

    @cached_property
    def index(self) -> dict[str, int]:
        """Position of each atomic value."""
        return {value: position for position, value in enumerate(self.domain)}

    @cached_property
    def masks(self) -> Masks:
        """Index of the values by prefix."""
        return Masks(self.domain)

    def read(self, text: str | None) -> tuple[str, tuple[int, ...] | None] | None:
        """Return the canonical label and the values of a cell; None for a text without a meaning in this column."""
        if not text:
            return MISSING, ()
        if self.hierarchy is not None and text in self.hierarchy.nodes:
            return self._name_set(tuple(sorted(self.hierarchy.nodes[text])))
        if text in self.index and not self._misread(text):
            return self._name_set((self.index[text],))
        if not text.strip(EVERYTHING):
            return EVERYTHING, None
        if MASK.fullmatch(text) and not self.closed:
            return text, self.masks.hidden(text)
        covered = self._covered(text)
        return self._name_set(covered) if covered else None

    def _covered(self, text: str) -> tuple[int, ...]:
        """Return the values of a set, a masked text or an interval; () for other texts and unknown values."""
        if MASK.fullmatch(text):
            return self.masks.hidden(text)
        parts = split_set(text) or _split_plain(text, self.parts)
        if parts:
            return self._union(parts)
        if self.ordinal and text[0] == "[" and text[-1] == "]":
            ends = [self.index.get(part.strip(), -1) for part in text[1:-1].split(",")]
            if len(ends) == 2 and 0 <= ends[0] <= ends[1]:
                return tuple(range(ends[0], ends[1] + 1))
        if self.closed and (bounds := NUMBERS.read(text)):
            numbers = (NUMBERS.read(value) or (math.nan, math.nan) for value in self.domain)
            return tuple(place for place, (low, high) in enumerate(numbers) if bounds[0] <= low and high <= bounds[1])
        return ()

    def _union(self, parts: Iterable[str]) -> tuple[int, ...]:
        covered: set[int] = set()
        for part in parts:
            inside = self.hierarchy.nodes.get(part) if self.hierarchy else None
            if inside is None and part not in self.index:
                return ()
            covered |= inside if inside is not None else {self.index[part]}
        return tuple(sorted(covered))

    def _name_set(self, covered: tuple[int, ...]) -> tuple[str, tuple[int, ...] | None]:
        if len(covered) == 1:
            value = self.domain[covered[0]]
            return (format_set([value]) if self._misread(value) else value), covered
        if self.hierarchy is not None and len(covered) == len(self.domain):
            return EVERYTHING, None
        if self.hierarchy is not None and (label := self.hierarchy.label_of.get(frozenset(covered))):
            return label, covered
        return format_set(self.domain[position] for position in covered), covered

    def _misread(self, value: str) -> bool:
        """Return whether a value would be read as a mask or a set, in a column without order or hierarchy."""
        return not self.closed and (_hides(value) or split_set(value) is not None)


def _hides(text: str) -> bool:
    return bool(MASK.fullmatch(text)) or not text.strip(EVERYTHING)


def _by_number(values: Iterable[str], column: str) -> tuple[str, ...]:
    ends = {value: NUMBERS.read(value) for value in values}
    if any(pair is None for pair in ends.values()):
        raise UnmaskError(f"ordinal column {column!r} has values that are not numbers; declare their order in `orders`")
    return tuple(sorted(ends, key=lambda value: (ends[value] or (0.0, 0.0), value)))


def _split_plain(text: str, parts: frozenset[str]) -> tuple[str, ...] | None:
    if text in parts:
        return None
    for separator in _SEPARATORS:
        if separator in text:
            pieces = tuple(part.strip() for part in text.split(separator))
            if parts.issuperset(pieces):
                return pieces
    return None
