"""Notation of numeric cells: values, intervals and open ends, for each type of column; decimal marks.

All scales share the grammar of intervals. The ends are numbers, dates or times.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Literal

import numpy as np

from unmask.core.arrays import Floats
from unmask.core.errors import UnmaskError
from unmask.tables.notation import EVERYTHING

Bounds = tuple[float, float]
"""Inclusive ends of an interval; an open end is stored as the next value inwards."""

_DIGITS = 15
"""Decimal digits that a float always keeps."""

_WHOLE = 1e15
"""Size of whole numbers below which an adjacent float has more digits. An interval that ends at such a number is
closed.
"""

NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"


class Scale(ABC):
    """Numeric scale, and the texts of its values and intervals.

    point : regular expression of a single value or an end of an interval
    """

    def __init__(self, point: str) -> None:
        end = rf"(?:{point}|[+-]?(?:inf|\u221e))"
        self._point = re.compile(point)
        self._range = re.compile(rf"({point})\s*(?:-|\u2013|\.\.|\bto\b)\s*({point})", re.IGNORECASE)
        self._brackets = re.compile(rf"([\[\](])\s*({end})\s*[,;]\s*({end})\s*([\[\])])")
        self._one_sided = re.compile(rf"(<=|>=|<|>|\u2264|\u2265|under\b|over\b)\s*({point})", re.IGNORECASE)
        self._open_ended = re.compile(rf"({point})(?:\s*\+|\s+(?:and|or)\s+(?:over|older|more))", re.IGNORECASE)

    @abstractmethod
    def value(self, text: str) -> Bounds:
        """Return the first and last value of the text of an end; nan for an invalid one such as February 30."""

    @abstractmethod
    def write(self, low: float, high: float) -> str:
        """Return the canonical text of the values from low to high, both included; `read` returns the same bounds."""

    def cover(self, low: float, high: float) -> str:
        """Return the released cell of a class with values from low to high: an interval that contains them."""
        return self.write(low, high)

    def covers(self, lows: Floats, highs: Floats) -> list[str]:
        """Return the released cell of each class."""
        return [self.cover(low, high) for low, high in zip(lows.tolist(), highs.tolist(), strict=True)]

    def next_value(self, value: float) -> float:
        """Return the next value; an infinite value is unchanged."""
        return value if math.isinf(value) else math.nextafter(value, math.inf)

    def previous_value(self, value: float) -> float:
        """Return the previous value; an infinite value is unchanged."""
        return value if math.isinf(value) else math.nextafter(value, -math.inf)

    def read(self, text: str) -> Bounds | None:
        """Return the inclusive bounds of a cell: `a`, `[a, b]`, `[a, b)`, `]a, b]`, `a-b`, `<a`, `>=a`, `a+`, `*`.

        Phrases in published tables are also read: `a to b`, `under a`, `over a`, `a and over`, `a or more`, `a and
        older`. None for any other text.
        """
        low, high = self._bounds(text)
        return (low, high) if low <= high and low < math.inf and high > -math.inf else None

    def _bounds(self, text: str) -> Bounds:
        if self._point.fullmatch(text):
            low, high = self.value(text)
            return (low, high) if math.isfinite(low) else (math.nan, math.nan)
        if text == EVERYTHING:
            return -math.inf, math.inf
        if match := self._range.fullmatch(text):
            return self.value(match[1])[0], self.value(match[2])[1]
        if match := self._brackets.fullmatch(text):
            from_, to = self._end(match[2]), self._end(match[3])
            first = from_[0] if match[1] == "[" else self.next_value(from_[1])
            return first, to[1] if match[4] == "]" else self.previous_value(to[0])
        if match := self._one_sided.fullmatch(text):
            sign, (low, high) = match[1].lower(), self.value(match[2])
            if sign in ("<", "<=", "\u2264", "under"):
                return -math.inf, self.previous_value(low) if sign in ("<", "under") else high
            return self.next_value(high) if sign in (">", "over") else low, math.inf
        if match := self._open_ended.fullmatch(text):
            return self.value(match[1])[0], math.inf
        return math.nan, math.nan

    def _end(self, text: str) -> Bounds:
        if self._point.fullmatch(text):
            return self.value(text)
        infinite = float(text.replace("\u221e", "inf"))
        return infinite, infinite


class Numbers(Scale):
    """Numbers with a decimal point. Numbers that differ only beyond 15 significant digits are equal.

    >>> NUMBERS.read("20-30"), NUMBERS.read("-5--1"), NUMBERS.read("20+"), NUMBERS.read("HS-grad")
    ((20.0, 30.0), (-5.0, -1.0), (20.0, inf), None)
    >>> NUMBERS.read("0.30000000000000004")
    (0.3, 0.3)
    >>> NUMBERS.write(20, 30), NUMBERS.write(20, math.nextafter(30, 0)), NUMBERS.write(65, math.inf)
    ('[20, 30]', '[20, 30)', '>=65')
    """

    def __init__(self) -> None:
        super().__init__(NUMBER)

    def value(self, text: str) -> Bounds:
        """Return the number twice."""
        number = float(text) + 0.0  # + 0.0 removes a negative zero
        if len(text) > _DIGITS:
            number = _round_digits(number)
        return number, number

    def write(self, low: float, high: float) -> str:
        """Return one value as a number, and all values as `*`. An end that is the float next to a shorter number
        is open.
        """
        low, high = float(low) + 0.0, float(high) + 0.0
        if not low <= high or low == math.inf or high == -math.inf:
            raise UnmaskError(
                "the lower end of an interval is above its upper end or not a number; expected low <= high"
            )
        if low == high:
            return format_number(low)
        if low.is_integer() and high.is_integer() and max(-low, high) < _WHOLE:
            return f"[{int(low)}, {int(high)}]"
        from_, open_low = _write_bound(low, -math.inf)
        to, open_high = _write_bound(high, math.inf)
        if math.isinf(low) or math.isinf(high):
            if math.isinf(low) and math.isinf(high):
                return EVERYTHING
            return f"<{'' if open_high else '='}{to}" if math.isinf(low) else f">{'' if open_low else '='}{from_}"
        return f"{'(' if open_low else '['}{from_}, {to}{')' if open_high else ']'}"

    def covers(self, lows: Floats, highs: Floats) -> list[str]:
        """Return the released cell of each class. Whole numbers have a path of their own, which is six times faster."""
        ends = np.stack((lows, highs))
        if not (ends == np.rint(ends)).all() or (np.abs(ends) >= _WHOLE).any():
            return super().covers(lows, highs)
        bounds = zip(*ends.astype(np.int64).tolist(), strict=True)
        return [f"[{low}, {high}]" if low != high else f"{low}" for low, high in bounds]


def format_number(value: float) -> str:
    """Return the shortest text that is read as the same number; whole numbers have no decimal point.

    >>> format_number(20.0), format_number(0.1)
    ('20', '0.1')
    """
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < _WHOLE else repr(value)


def _round_digits(value: float) -> float:
    """Return the number with 15 significant digits; a whole or infinite number is unchanged."""
    return value if value.is_integer() or math.isinf(value) else float(f"{value:.{_DIGITS}g}")


def _write_bound(value: float, outwards: float) -> tuple[str, bool]:
    """Return the text of a bound, and True if it is open: next to a number that is shorter, or that only can be
    read.
    """
    closed, beyond = format_number(value) if math.isfinite(value) else "", math.nextafter(value, outwards)
    if math.isfinite(beyond) and _round_digits(beyond) == beyond:
        open_ = format_number(beyond + 0.0)
        if len(open_) < len(closed) or _round_digits(value) != value:
            return open_, True
    return closed, False


NUMBERS = Numbers()


# --- decimal marks and thousands separators ---------------------------------------------------------------------------

Decimal = Literal[".", ","]
"""Decimal mark of a number."""

_BLANKS = " \u00a0\u2009\u202f"
_GROUPED = {
    decimal: re.compile(
        rf"([+-]?[1-9][0-9]{{0,2}}([{_BLANKS}'\u2019{other_mark}])[0-9]{{3}}(?:\2[0-9]{{3}})*)(?:{re.escape(decimal)}([0-9]+))?"
    )
    for decimal, other_mark in ((".", ","), (",", "."))
}
_POINTED = re.compile(r"-?[0-9]*\.(?:[0-9]{1,2}|[0-9]{4,})")  # three decimals may be a group of thousands
_MARKED = re.compile(r"[^0-9.+-]")
_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")
_NAMES = {".": "points", ",": "commas", "'": "apostrophes", "\u2019": "apostrophes"} | dict.fromkeys(_BLANKS, "blanks")


def plain(text: str, decimal: Decimal) -> str:
    """Return a number with a decimal point and without thousands separators.

    Another text is unchanged, or is not a number afterwards either.

    >>> plain("1.234,56", ","), plain("1 234.50", "."), plain("[3,5; 4,5]", ",")
    ('1234.56', '1234.50', '[3.5; 4.5]')
    """
    if decimal == "." and not _MARKED.search(text):
        return text
    if match := _GROUPED[decimal].fullmatch(text):
        integer_part = re.sub(r"[^0-9+-]", "", match[1])
        return f"{integer_part}.{match[3]}" if match[3] else integer_part
    return text if decimal == "." else _COMMA.sub(".", text.replace(".", "?"))


def decimal_of(texts: Iterable[str]) -> Literal[".", ",", "", "either", "mixed"] | None:
    """Return the decimal mark of all texts of a column; None if a text is not a number with either mark.

    "" : no text has a mark. "either": both marks are possible and give different numbers, as in 1.234. "mixed": some
    texts need a point, and others a comma.

    >>> decimal_of(["1.234", "3,5"]), decimal_of(["1.234"]), decimal_of(["12", "1 234"]), decimal_of(["old"])
    (',', 'either', '', None)
    """
    marks = set()
    for text in texts:
        if text.isascii() and text.isdigit():
            continue
        if _POINTED.fullmatch(text):
            marks.add(".")
            continue
        point = NUMBERS.read(plain(text, "."))
        comma = NUMBERS.read(plain(text, ",")) if "." in text or "," in text else point
        if point is None and comma is None:
            return None
        if point != comma:
            marks.add("." if comma is None else "," if point is None else "either")
    if {".", ","} <= marks:
        return "mixed"
    return "." if "." in marks else "," if "," in marks else "either" if marks else ""


def thousands(texts: Iterable[str], decimal: Decimal) -> str:
    """Return the names of the thousands separators of the texts; "" without them."""
    names = {_NAMES[match[2]] for text in texts if (match := _GROUPED[decimal].fullmatch(text))}
    return " and ".join(sorted(names))
