"""Decimal marks and thousands separators: recognition in a column, and numbers in plain notation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from unmask.tables.scales import NUMBERS

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
