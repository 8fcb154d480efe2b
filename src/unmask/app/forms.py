"""Numbers of a form, each an error in words where it is none."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from unmask.core.errors import UnmaskError


def share(form: Mapping[str, Any], name: str, words: str) -> float:
    """Return a share that is typed in percent; the document decides on its range."""
    value = number(form, name, words, float)
    if value is None or not 0 <= value <= 100:
        raise UnmaskError(f"the {words} is no number of percent between 0 and 100; expected one, such as 20")
    return float(round(value / 100, 9))


def number(form: Mapping[str, Any], name: str, words: str, of: Callable[[str], Any]) -> Any:
    """A number of the form; None where it is left empty."""
    text = str(form.get(name, "")).strip()
    if not text:
        return None
    try:
        value = of(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        raise UnmaskError(f"{words}: {text[:40]!r} is no number that is not below 0")
    return value
