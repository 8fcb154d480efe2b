"""The text of cells: how a number, an interval, a set, a masked value and a suppressed cell are written and read."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from unmask.errors import UnmaskError

EVERYTHING = "*"
"""The label of a suppressed cell: any value."""

MISSING = ""
"""The label of a missing cell."""

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_END = rf"(?:{_NUMBER}|[+-]?(?:inf|\u221e))"
_EXACT = re.compile(_NUMBER)
_RANGE = re.compile(rf"({_NUMBER})\s*(?:-|\u2013|\.\.)\s*({_NUMBER})")
_BRACKETS = re.compile(rf"([\[\](])\s*({_END})\s*[,;]\s*({_END})\s*([\[\])])")
_ONE_SIDED = re.compile(rf"(<=|>=|<|>|\u2264|\u2265)\s*({_NUMBER})")
_AND_MORE = re.compile(rf"({_NUMBER})\s*\+")
LEADING_ZERO = re.compile(r"(?<![0-9.])0[0-9]")
MASK = re.compile(r"([^*]+)(\*+)")
SPECIAL = re.compile(r'[,{}"|~*]|^\s|\s$')
_SET_PART = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^",{}]*[^",{}\s]))\s*(,|$)')


# --- numbers and intervals ----------------------------------------------------------------------------------------


def parse_interval(text: str) -> tuple[float, float] | None:
    """The inclusive bounds of a numeric cell, or None when the text is neither a number nor an interval.

    >>> parse_interval("20-30"), parse_interval("-5--1"), parse_interval("20+"), parse_interval("HS-grad")
    ((20.0, 30.0), (-5.0, -1.0), (20.0, inf), None)
    """
    if _EXACT.fullmatch(text):
        value = float(text) + 0.0  # no negative zero
        return (value, value) if math.isfinite(value) else None
    if text == EVERYTHING:
        return -math.inf, math.inf
    low, high = _ends(text)
    return (low, high) if low <= high and low < math.inf and high > -math.inf else None


def _ends(text: str) -> tuple[float, float]:
    if found := _RANGE.fullmatch(text):
        return _end(found[1]), _end(found[2])
    if found := _BRACKETS.fullmatch(text):
        low, high = _end(found[2]), _end(found[3])
        return low if found[1] == "[" else _above(low), high if found[4] == "]" else _below(high)
    if found := _ONE_SIDED.fullmatch(text):
        sign, value = found[1], _end(found[2])
        if sign in ("<", "<=", "\u2264"):
            return -math.inf, _below(value) if sign == "<" else value
        return _above(value) if sign == ">" else value, math.inf
    if found := _AND_MORE.fullmatch(text):
        return _end(found[1]), math.inf
    return math.nan, math.nan


def _end(text: str) -> float:
    return float(text.replace("\u221e", "inf")) + 0.0


def _above(value: float) -> float:
    return value if math.isinf(value) else math.nextafter(value, math.inf)


def _below(value: float) -> float:
    return value if math.isinf(value) else math.nextafter(value, -math.inf)


def format_number(value: float) -> str:
    """The shortest text that reads back as the same number; whole numbers without a decimal point.

    >>> format_number(20.0), format_number(0.1)
    ('20', '0.1')
    """
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def format_interval(low: float, high: float) -> str:
    """Canonical text of the interval from low to high, both included; `parse_interval` reads back the same bounds.

    One value is written as a number, -inf to inf as `*`, and an end that is the float next to a shorter number as open.

    >>> format_interval(20, 30), format_interval(20, math.nextafter(30, 0)), format_interval(65, math.inf)
    ('[20, 30]', '[20, 30)', '>=65')
    """
    low, high = float(low) + 0.0, float(high) + 0.0
    if not low <= high or low == math.inf or high == -math.inf:
        raise UnmaskError("the lower end of an interval is above its upper end or not a number; expected low <= high")
    if low == high:
        return format_number(low)
    from_, open_low = _written(low, -math.inf)
    to, open_high = _written(high, math.inf)
    if math.isinf(low) or math.isinf(high):
        if math.isinf(low) and math.isinf(high):
            return EVERYTHING
        return f"<{'' if open_high else '='}{to}" if math.isinf(low) else f">{'' if open_low else '='}{from_}"
    return f"{'(' if open_low else '['}{from_}, {to}{')' if open_high else ']'}"


def _written(value: float, outwards: float) -> tuple[str, bool]:
    closed, beyond = format_number(value) if math.isfinite(value) else "", math.nextafter(value, outwards)
    if math.isfinite(beyond) and len(format_number(beyond)) < len(closed):
        return format_number(beyond + 0.0), True
    return closed, False


# --- sets ---------------------------------------------------------------------------------------------------------


def split_set(text: str) -> tuple[str, ...] | None:
    """The parts of `{a, b}`, quotes removed; None when the text is no set in braces.

    >>> split_set('{a, "b, c"}'), split_set("a, b")
    (('a', 'b, c'), None)
    """
    if len(text) < 3 or text[0] != "{" or text[-1] != "}":
        return None
    inner, parts, at, more = text[1:-1], [], 0, ","
    while more == ",":
        found = _SET_PART.match(inner, at)
        if found is None:
            return None
        part = found[1].replace('""', '"') if found[1] is not None else found[2]
        if not part:
            return None
        parts.append(part)
        at, more = found.end(), found[3]
    return tuple(parts) if at == len(inner) else None


def format_set(values: Iterable[str]) -> str:
    """Canonical text of a set of values: sorted, in braces, a value with a comma, brace, quote or star in quotes.

    A single value is written without braces unless it would be read as something else. The empty text stands for a
    missing cell and is refused.

    >>> format_set(["b", "a"]), format_set(["a, b", "c"]), format_set(["a"])
    ('{a, b}', '{"a, b", c}', 'a')
    """
    unique = sorted(set(values))
    if not unique or MISSING in unique:
        raise UnmaskError("a set of values is empty or holds an empty text; expected at least one value")
    parts = ['"' + value.replace('"', '""') + '"' if SPECIAL.search(value) else value for value in unique]
    return parts[0] if len(parts) == 1 and parts[0] == unique[0] else "{" + ", ".join(parts) + "}"


# --- masks --------------------------------------------------------------------------------------------------------


def overlap(left: str, right: str) -> bool:
    """Whether two masks may hide the same value: one length, and one prefix begins with the other.

    >>> overlap("12**", "123*"), overlap("12**", "13**")
    (True, False)
    """
    short, long = sorted((left.rstrip(EVERYTHING), right.rstrip(EVERYTHING)), key=len)
    return len(left) == len(right) and long.startswith(short)
