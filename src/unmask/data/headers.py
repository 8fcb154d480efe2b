"""Evidence that the first row of a file names its columns."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

from unmask.data.dialects import MISSING, count_kinds, kind_of

_SHORT = 3
"""Characters up to which a name that is as long as all cells below it looks like one of them."""


def score_header(
    rows: Sequence[Sequence[str]], is_known: Callable[[str], bool], *, pooled: bool = False
) -> tuple[float, bool]:
    """Return the log odds that the first row names columns, and whether all its names are known.

    is_known : whether a word names a column of such files
    pooled   : whether a value that recurs in another column recurs, as ids of a network do

    >>> score_header([("age", "sex"), ("31", "f"), ("45", "m"), ("31", "f")], {"age", "sex"}.__contains__)
    (7.53..., True)
    """
    first, *body = rows
    columns = list(zip(*body, strict=True)) or [()] * len(first)
    pool = Counter(cell for column in columns for cell in column) if pooled else None
    alike = [_looks_alike(*pair) for pair in zip(first, columns, strict=True)]
    known = [is_known(name) and not same for name, same in zip(first, alike, strict=True)]
    odds = (
        sum(_column_odds(*pair, pool) for pair in zip(first, columns, strict=True))
        + 2.0 * sum(known)
        - 3.0 * sum(alike)
    )
    filled = [name for name in first if name]
    repeats = len({*filled}) < len(filled)
    odds = max(odds, 2.0) if not pooled and _is_series(first) else odds
    return odds - 2.0 * repeats, all(known)


def _column_odds(name: str, column: Sequence[str], pool: Counter[str] | None) -> float:
    """Return the log odds of one column, without those of a known name."""
    kinds = count_kinds(column)
    n = len(column) - kinds.pop("missing", 0)
    if not n:
        return 0.0
    kind, count = kinds.most_common(1)[0]
    if kind != "text" and count >= 0.9 * n:
        return -3.0 if kind_of(name) == kind else 3.0 if kind_of(name) == "text" else 0.0
    if kind_of(name) in ("number", "date"):
        return -3.0
    counts = Counter(column) if pool is None else pool
    if not name or counts[name]:
        return -3.0 if name else 0.0
    filled = [cell for cell in column if cell.lower() not in MISSING]
    recurring = sum(counts[cell] > 1 for cell in filled) / n
    numbered = any(map(str.isdigit, name)) and all(any(map(str.isdigit, cell)) for cell in filled[:200])
    short = len(name) <= _SHORT and all(len(cell) == len(name) for cell in filled)
    return min(3.0, -math.log(1 - recurring + 1 / (n + 1))) - 2.0 * numbered - 2.0 * short


def _looks_alike(name: str, column: Sequence[str]) -> bool:
    """Return whether a name with digits differs from at least half of the cells below in its digits only."""
    shape = _DIGITS.sub("0", name)
    return (
        shape != name
        and kind_of(name) == "text"
        and sum(_DIGITS.sub("0", cell) == shape for cell in column) * 2 >= len(column) > 0
    )


_DIGITS = re.compile(r"\d+")


def _is_series(first: Sequence[str]) -> bool:
    """Return whether cells are consecutive years, which name columns though they are numbers."""
    years = [int(cell) for cell in first[-3:] if cell.isdecimal() and 1800 <= int(cell) <= 2200]
    return len(years) == 3 and years[2] - years[1] == years[1] - years[0] == 1
