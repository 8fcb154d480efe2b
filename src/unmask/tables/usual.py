"""Cells that are written as databases and programs write them, read all together.

One regular expression looks at all texts of a column at once, and NumPy reads them: a column of a million different
values in a second instead of a minute. What is written in another way is read cell by cell, with the same result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Usual = Literal["whole", "decimal", "day", "moment"]
"""What all texts of a column are: whole numbers, numbers, days, or days with a time."""

_NUMBER = r"(?:-(?=[0-9.]*[1-9]))?(?:0|[1-9][0-9]{0,9})"
_DAY = r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}"
_FORMS: Mapping[Usual, str] = {
    "whole": _NUMBER,
    "decimal": rf"{_NUMBER}(?:\.[0-9]{{1,4}})?",
    "day": _DAY,
    "moment": rf"{_DAY} (?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?",
}
_UNITS = {"day": "datetime64[D]", "moment": "datetime64[s]"}


def form_of(texts: Sequence[str]) -> Usual | None:
    """How all texts are written; None where one of them is written in another way, or there is none.

    >>> form_of(["12", "-7"]), form_of(["12.50", "7"]), form_of(["1970-03-05"]), form_of(["007"])
    ('whole', 'decimal', 'day', None)
    """
    joined = "\n".join([*texts, ""])
    return next((form for form, one in _FORMS.items() if re.fullmatch(rf"(?:{one}\n)+", joined)), None)


def values_of(texts: Sequence[str], form: Usual) -> NDArray[np.float64] | None:
    """The numbers, the days or the seconds since 1970; None where a day does not exist.

    >>> values_of(["1970-01-02"], "day"), values_of(["2023-02-30"], "day")
    (array([1.]), None)
    """
    if form in ("whole", "decimal"):
        return np.fromiter(map(float, texts), dtype=np.float64, count=len(texts))
    try:
        return np.array(texts, dtype=_UNITS[form]).astype(np.int64).astype(np.float64)
    except ValueError:
        return None


def label_of(text: str, form: Usual) -> str:
    """The shortest text of the same value.

    >>> label_of("12.50", "decimal"), label_of("1970-03-05 09:30:00", "moment")
    ('12.5', '1970-03-05 09:30')
    """
    if form == "decimal" and "." in text:
        return text.rstrip("0").rstrip(".")
    return text[:16] if form == "moment" and text.endswith(":00") else text
