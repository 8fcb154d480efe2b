"""Number formats: no more digits than a number bears, shares in percent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from unmask.languages import gettext as _
from unmask.languages import localize
from unmask.results.table import Column

SPACE = "\u00a0"

MINUS = "\u2212"

SHARES = frozenset({"probability", "share"})
"""Units of numbers that are written in percent."""


def decimals(low: float, high: float) -> int:
    """Return the decimals worth printing for a value known to [low, high]: a step of the last is a quarter of that.

    >>> decimals(3.1, 5.1), decimals(0.45, 0.58), decimals(23.0, 33.0)
    (1, 2, 0)
    """
    half = (high - low) / 2
    return 2 if not half > 0 else min(2, max(0, -math.floor(math.log10(half / 2))))


def number(value: float, places: int | None = None) -> str:
    """Write a value without unit: `places` decimals, or three significant digits; "unbounded" if it is infinite.

    The separators are those of the active language.

    A value that is not zero is never printed as zero, nor one below 100 as 100 if `places` is given.

    >>> number(4.04, 1), number(0.0004, 2), number(0.0), number(30162), number(float("inf"))
    ('4.0', '<0.01', '0', '30,162', 'unbounded')
    """
    if math.isnan(value):
        return _("undefined")
    return (MINUS if value < 0 else "") + _("unbounded") if math.isinf(value) else localize(_number(value, places))


def _number(value: float, places: int | None) -> str:
    """Write a finite value with English separators."""
    sign, size = MINUS if value < 0 else "", abs(value)
    if size == 0 or (places is None and size == int(size)):
        return f"{sign}{int(size):,}"
    if places is None:
        places = max(0, 2 - math.floor(math.log10(size)))
        return f"{sign}{size:,.{places}f}" if places <= 5 else f"{sign}{size:.2e}"
    text = f"{size:,.{places}f}"
    return f"{sign}<{10.0**-places:.{places}f}" if float(text.replace(",", "")) == 0 else sign + text


def percent(share: float, places: int | None = None) -> str:
    """Write a share in percent; without `places`, one decimal from 1 % on and two below.

    >>> " | ".join(percent(share) for share in (0.04, 0.0025, 1 / 30162, 0.99999)).replace(SPACE, " ")
    '4.0 % | 0.25 % | <0.01 % | >99.9 %'
    """
    return f"{localize(_percent(share, places))}{SPACE}%" if math.isfinite(share) else number(share)


def _percent(share: float, places: int | None) -> str:
    if places is None:
        places = 1 if abs(share) >= 0.01 else 2
    text = _number(100 * share, places)
    if share == 1:
        return "100"
    return f">{100 - 10.0**-places:.{places}f}" if 0 < share < 1 and float(text.lstrip("<" + MINUS)) == 100 else text


def estimate(value: float, unit: str, low: float | None = None, high: float | None = None) -> str:
    """Write a value with its 95 % interval, and with as many digits as the interval bears.

    >>> estimate(0.04, "probability", 0.031, 0.051).replace(SPACE, " "), estimate(3.4217, "bits")
    ('4.0 % [3.1, 5.1]', '3.42')
    """
    share = unit in SHARES
    if low is None or high is None or not math.isfinite(high - low) or high <= low:
        return percent(value) if share else number(value)
    if share:
        places = decimals(100 * low, 100 * high)
        ends = (localize(_percent(end, places)) for end in (low, high))
        return f"{percent(value, places)}{SPACE}{_interval(*ends)}"
    places = decimals(low, high)
    return f"{number(value, places)}{SPACE}{_interval(number(low, places), number(high, places))}"


def _interval(low: str, high: str) -> str:
    return _("[{low}, {high}]", low=low, high=high)


# --- values of a table -----------------------------------------------------------------------------------------------

DATE = "date"
"""Unit of a number that counts days since 1970-01-01."""


def is_share(column: Column) -> bool:
    """Return whether values of a column are written in percent."""
    return column.kind in ("share", "share_of_people", "percent_of_people", "bin") or column.unit in SHARES


def format_value(column: Column, value: Any) -> str:
    """Write a value of a column.

    >>> format_value(Column("risk", kind="share"), 0.04).replace(SPACE, " "), format_value(Column("k"), "fewer than 10")
    ('4.0 %', 'fewer than 10')
    >>> format_value(Column("born", kind="number", unit="date"), 366)
    '1971-01'
    >>> format_value(Column("bin", kind="interval"), (0, 5))
    '0 to 5'
    >>> format_value(Column("gain", kind="interval"), (12.0, 12.0))
    '12'
    """
    if value is None:
        return "not run"
    if isinstance(value, str) or (column.kind == "text" and isinstance(value, int)):
        return str(value)
    if isinstance(value, tuple):
        ends = list(dict.fromkeys(_format_number(column, end) for end in value))
        return ends[0] if len(ends) == 1 else _("{low} to {high}", low=ends[0], high=ends[1])
    return _format_number(column, value)


def _format_number(column: Column, value: float) -> str:
    if column.unit == DATE:
        return f"{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=value):%Y-%m}"
    if column.rounds_up:
        return round_up(value)
    return percent(without_noise(value)) if is_share(column) else _format_places(value, column.places)


def _format_places(value: float, places: int | None) -> str:
    if places is None:
        return number(without_noise(value))
    nearly_one = 0 < value < 1 and round(value, places) == 1
    return f">{1 - 10.0**-places:.{places}f}" if nearly_one else number(value, places)


def round_up(value: float) -> str:
    """Write the least amount that suffices, never smaller than it is.

    >>> round_up(490507.2), round_up(10_000.0), round_up(12.341)
    ('490,508', '10,000', '12.35')
    """
    if not math.isfinite(value):
        return number(value)
    places = 0 if value >= 100 or value == int(value) else 2
    scale = 10**places
    return number(math.ceil(scale * value * (1 - 1e-12)) / scale, places)


def without_noise(value: float) -> float:
    """Return a value, or 0 if it differs from 0 by rounding only.

    >>> without_noise(-1e-17), without_noise(1e-9)
    (0.0, 1e-09)
    """
    return 0.0 if -1e-9 < value < 1e-12 else value


DASH = "\u2013"
"""Text of a cell without a value."""

LONGEST_CELL = 80
"""Letters of a text in a cell."""

N_LIKELIEST = 5
"""Candidates of a belief in a cell."""


def format_cell(column: Column, value: Any) -> str:
    """Write a value as a cell of a table: long texts are shortened, a missing value is a dash.

    >>> format_cell(Column("n", kind="people"), 1200), format_cell(Column("x", kind="share"), None)
    ('1,200', '\u2013')
    """
    if value is None:
        return DASH
    if column.kind == "belief":
        return _format_belief(value)
    if column.kind == "text" and isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, str):
        return value if 0 < len(value) <= LONGEST_CELL else f"{value[: LONGEST_CELL - 1]}\u2026" if value else "(empty)"
    return format_value(column, value)


def _format_belief(belief: tuple[tuple[str, float], ...]) -> str:
    """Write the likeliest candidates with their probabilities, and the probability of all others."""
    likeliest = belief[:N_LIKELIEST]
    remainder = 1 - math.fsum(probability for _, probability in likeliest)
    texts = [f"{label or '(empty)'}{SPACE}{percent(probability)}" for label, probability in likeliest]
    if likeliest and remainder > 5e-5:
        texts.append(f"others{SPACE}{percent(remainder)}")
    return ", ".join(texts) or DASH


def format_tick(column: Column, value: float) -> str:
    """Write a round value at an axis.

    >>> format_tick(Column("risk", kind="share"), 0.5).replace(SPACE, " "), format_tick(Column("x", unit="km"), -2000.0)
    ('50 %', '−2,000')
    """
    if column.unit == DATE:
        return _format_number(column, value)
    scaled = 100 * value if is_share(column) else value
    text = f"{scaled:,.6f}".rstrip("0").rstrip(".") if abs(scaled) >= 1e-6 or scaled == 0 else f"{scaled:g}"
    return localize(text).replace("-", MINUS) + (f"{SPACE}%" if is_share(column) else "")


def round_step(span: float, about: float = 4.0) -> float:
    """Return a round step that divides a span into `about` parts.

    >>> round_step(0.45), round_step(30162)
    (0.2, 10000.0)
    """
    power = 10.0 ** math.floor(math.log10(span / about))
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= 0.999 * span / about)


LOG_SPAN = 30.0
"""Factor between the largest and the smallest value from which a logarithmic scale is used."""


def spans_widely(values: Sequence[float]) -> bool:
    """Return whether a logarithmic scale shows values better: 0 and values that are not finite do not count."""
    positive = [value for value in values if 0 < value < math.inf]
    return bool(positive) and max(positive) > LOG_SPAN * min(positive)
