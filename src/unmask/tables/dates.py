"""Dates and times as numbers, and as readable texts: `2024-03-05`, `2024-Q1`, `[1931, 1950]`.

Intervals in releases are rounded outwards, so that their ends are not the exact dates of people.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from calendar import monthrange
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Literal

from unmask.tables.notation import EVERYTHING
from unmask.tables.scales import Bounds, Scale

DayOrder = Literal["day-first", "month-first"]
"""First part of a date such as `03/04/1970`."""

PERIODS = ("day", "month", "quarter", "year")
"""Periods with a notation of their own, finest first."""

UNITS = (*PERIODS, "decade")
"""Levels to which dates can be generalized, finest first."""

_EPOCH = date(1970, 1, 1).toordinal()
_DAY = 86_400
_FEW_MONTHS = 24
_PERIOD = r"[0-9]{4}(?:-Q[1-4]|-[0-9]{2}(?:-[0-9]{2})?)?"
_TIME = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?"


class Calendar(Scale):
    """Time scale. A cell may be a period: a day, a month `2024-03`, a quarter `2024-Q1`, or a year `2024`.

    An interval extends from the beginning of its first period to the end of its last: `[2019-11, 2020-02]`.
    """

    @abstractmethod
    def ends(self, first: int, last: int) -> Bounds:
        """Return the first and last value of these days, counted from 1970-01-01."""

    @abstractmethod
    def day(self, value: float) -> int:
        """Return the day of a value."""

    def interval(self, low: float, high: float) -> str:
        """Return the text of bounds that are not whole days, which only times have."""
        raise AssertionError((low, high))

    def value(self, text: str) -> Bounds:
        """Return the first and last value of a period that is written as text."""
        try:
            return self.ends(*_days(text))
        except ValueError:  # February 30
            return math.nan, math.nan

    def period(self, value: float, unit: str) -> Bounds:
        """Return the first and last value of the period that contains a value; an infinite value is its own period."""
        return (value, value) if math.isinf(value) else self.ends(*_period_bounds(self.day(value), unit))

    def write(self, low: float, high: float) -> str:
        """Return the name of a period, or `[a, b]` with the coarsest periods that have these ends."""
        if math.isinf(low) and math.isinf(high):
            return EVERYTHING
        for unit in PERIODS:
            if self.period(low, unit) == (low, high):
                return _name(self.day(low), unit)
        for unit in ("year", "month", "day"):
            if self.period(low, unit)[0] == low and self.period(high, unit)[1] == high:
                from_, to = ("" if math.isinf(end) else _name(self.day(end), unit) for end in (low, high))
                return f"[{from_}, {to}]" if from_ and to else f">={from_}" if from_ else f"<={to}"
        return self.interval(low, high)

    def cover(self, low: float, high: float) -> str:
        """Return the released cell of values from low to high.

        A single value is unchanged. Otherwise the cell is the finest period that contains all values, from a month
        upwards (from a day for times). Without such a period it is an interval of at most 24 whole months, or of whole
        years.
        """
        if low == high:
            return self.write(low, high)
        finite = math.isfinite(low) and math.isfinite(high)
        if finite and self.period(low, "year") == self.period(high, "year"):
            unit = next(unit for unit in PERIODS if self.period(low, unit) == self.period(high, unit))
            return _name(self.day(low), unit)
        unit = "month" if finite and _months(self.day(low), self.day(high)) <= _FEW_MONTHS else "year"
        return _write_bound(self, self.period(low, unit)[0], self.period(high, unit)[1])

    def rounded(self, low: float, high: float, unit: str) -> str:
        """Return the whole periods of a unit that contain all values from low to high."""
        return self.write(self.period(low, unit)[0], self.period(high, unit)[1])


class Days(Calendar):
    """Dates, as days since 1970-01-01.

    >>> DAYS.read("2024-02"), DAYS.read("[1970, 1971]"), DAYS.read("2023-02-30")
    ((19754.0, 19782.0), (0.0, 729.0), None)
    >>> [DAYS.cover(*DAYS.read(text)) for text in ("2024-03-05..2024-03-09", "2019-11-05..2020-02-07", "1931..1950-05")]
    ['2024-03', '[2019-11, 2020-02]', '[1931, 1950]']
    """

    def __init__(self) -> None:
        super().__init__(_PERIOD)

    def ends(self, first: int, last: int) -> Bounds:
        """Return the days themselves."""
        return float(first), float(last)

    def day(self, value: float) -> int:
        """Return the value itself."""
        return int(value)

    def next_value(self, value: float) -> float:
        """Return the next day."""
        return value + 1

    def previous_value(self, value: float) -> float:
        """Return the previous day."""
        return value - 1


class Moments(Calendar):
    """Dates with a time, as seconds since 1970-01-01 00:00, to the microsecond.

    >>> MOMENTS.read("1970-01-02 00:01"), MOMENTS.write(60, 60)
    ((86460.0, 86460.0), '1970-01-01 00:01')
    >>> MOMENTS.cover(60, 3600), MOMENTS.cover(60, 86400)
    ('1970-01-01', '1970-01')
    """

    def __init__(self) -> None:
        super().__init__(rf"{_PERIOD}(?:(?<=-[0-9]{{2}}-[0-9]{{2}})[T ]{_TIME})?")

    def ends(self, first: int, last: int) -> Bounds:
        """Return the first midnight, and the last value before the midnight after the last day."""
        return float(first * _DAY), self.previous_value(float((last + 1) * _DAY))

    def day(self, value: float) -> int:
        """Return the day of a time."""
        return math.floor(value / _DAY)

    def value(self, text: str) -> Bounds:
        """Return the first and last value of a text: of a period, or the time itself, twice."""
        if len(text) <= 10:
            return super().value(text)
        first, _ = super().value(text[:10])
        hours, minutes, seconds = (*map(float, text[11:].split(":")), 0.0)[:3]
        if hours > 23 or minutes > 59 or seconds >= 60:
            return math.nan, math.nan
        moment = first + round(hours * 3600 + minutes * 60 + seconds, 6)
        return moment, moment

    def write(self, low: float, high: float) -> str:
        """Return a time, to the minute if its seconds are 0."""
        return self._moment(low) if low == high else super().write(low, high)

    def interval(self, low: float, high: float) -> str:
        """Return the text of an interval. An end that is adjacent to a shorter text is written as open."""
        from_, open_low = self._write_bound(low, self.previous_value)
        to, open_high = self._write_bound(high, self.next_value)
        if not (from_ and to):
            return f">{'' if open_low else '='}{from_}" if from_ else f"<{'' if open_high else '='}{to}"
        return f"{'(' if open_low else '['}{from_}, {to}{')' if open_high else ']'}"

    def _write_bound(self, value: float, outwards: Callable[[float], float]) -> tuple[str, bool]:
        if math.isinf(value):
            return "", False
        closed = self._moment(value)
        return (closed, False) if self.value(closed)[0] == value else (self._moment(outwards(value)), True)

    def _moment(self, value: float) -> str:
        day = self.day(value)
        seconds = round(value - day * _DAY, 6)
        minutes, rest_seconds = divmod(seconds, 60)
        text = f"{_name(day, 'day')} {int(minutes) // 60:02}:{int(minutes) % 60:02}"
        return text + (f":{rest_seconds:09.6f}".rstrip("0").rstrip(".") if rest_seconds else "")


DAYS, MOMENTS = Days(), Moments()


@lru_cache(maxsize=1 << 16)
def _write_bound(calendar: Calendar, low: float, high: float) -> str:
    """Return the text of bounds, cached because many boxes are rounded to the same bounds."""
    return calendar.write(low, high)


def _days(text: str) -> tuple[int, int]:
    """Return the first and last day of a period."""
    year, unit = int(text[:4]), "year"
    month, day = 1, 1
    if text[5:6] == "Q":
        month, unit = 3 * int(text[6]) - 2, "quarter"
    elif len(text) > 4:
        month, unit = int(text[5:7]), "month"
    if len(text) > 7:
        day, unit = int(text[8:10]), "day"
    return _period_bounds(date(year, month, day).toordinal() - _EPOCH, unit)


@lru_cache(maxsize=1 << 17)
def _period_bounds(day: int, unit: str) -> tuple[int, int]:
    """Return the first and last day of the period that contains a day."""
    if unit == "day":
        return day, day
    date_of_day = date.fromordinal(day + _EPOCH)
    year, months = date_of_day.year, {"month": 1, "quarter": 3}.get(unit, 12)
    first_year, last_year = (max(year // 10 * 10, 1), year // 10 * 10 + 9) if unit == "decade" else (year, year)
    first = (date_of_day.month - 1) // months * months + 1
    last = first + months - 1
    begin, end = date(first_year, first, 1), date(last_year, last, monthrange(last_year, last)[1])
    return begin.toordinal() - _EPOCH, end.toordinal() - _EPOCH


@lru_cache(maxsize=1 << 17)
def _name(day: int, unit: str) -> str:
    date_of_day = date.fromordinal(day + _EPOCH)
    if unit == "quarter":
        return f"{date_of_day.year:04}-Q{(date_of_day.month + 2) // 3}"
    return date_of_day.isoformat()[: {"day": 10, "month": 7, "year": 4}[unit]]


def _months(first: int, last: int) -> int:
    """Return the number of months that an interval of days overlaps."""
    begin, end = date.fromordinal(first + _EPOCH), date.fromordinal(last + _EPOCH)
    return 12 * (end.year - begin.year) + end.month - begin.month + 1


# --- other notations of a day -----------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"(?<![0-9])(?:([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})|([0-9]{1,2})([-/.])([0-9]{1,2})\6([0-9]{4}))(?![0-9])"
    r"(?:[T ]([0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?) ?(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)
_UNCLEAR = re.compile(r"(?<![0-9])([0-9]{1,2})([-/])([0-9]{1,2})\2[0-9]{4}(?![0-9])")


def day_orders(texts: Iterable[str]) -> set[str]:
    """Return the orders that the dates of a column show: a part above 12 is a day.

    "unclear" stands for dates that do not show their order. `05.03.1970` is day-first, and `1970-03-05` has a fixed
    order.

    >>> sorted(day_orders(["31/12/1970", "1/2/1970"])), day_orders(["05.03.1970"])
    (['day-first', 'unclear'], set())
    """
    orders = set()
    for text in texts:
        for first, _, second in _UNCLEAR.findall(text):
            orders.add("day-first" if int(first) > 12 else "month-first" if int(second) > 12 else "unclear")
    return orders


def iso(text: str, order: str = "day-first") -> str:
    """Return the text with dates as `YYYY-MM-DD`, times with two digits, and times with an offset in UTC.

    >>> iso("5.3.1970"), iso("03/05/1970 9:30", "month-first"), iso("1970/03/05T09:30:00+01:00")
    ('1970-03-05', '1970-03-05 09:30', '1970-03-05 08:30:00')
    """

    def written(match: re.Match[str]) -> str:
        year, month, day = match[1] or match[8], match[3] or match[7], match[4] or match[5]
        if match[6] in ("/", "-") and order == "month-first":
            month, day = day, month
        plain = f"{year}-{int(month):02}-{int(day):02}"
        if match[9] is None:
            return plain
        moment = f"{plain} {match[9].zfill(len(match[9]) + (match[9][1] == ':'))}"
        return moment if match[10] in (None, "Z") else _in_utc(moment, match[10])

    return _TOKEN.sub(written, text)


def _in_utc(moment: str, offset: str) -> str:
    hours, minutes = int(offset[1:3]), int(offset[3:].lstrip(":") or 0)
    offset_from_utc = timedelta(hours=hours, minutes=minutes)
    try:
        moment_utc = datetime.fromisoformat(moment[:16]) - (offset_from_utc if offset[0] == "+" else -offset_from_utc)
    except (ValueError, OverflowError):  # not a valid time
        return moment
    return moment_utc.isoformat(" ", "minutes") + moment[16:]


_MIDNIGHT = re.compile(r" 00:00(?::00(?:\.0+)?)?(?![0-9:])")


def without_midnight(text: str) -> str:
    """Return the text without times that are midnight.

    >>> without_midnight("1970-03-05 00:00:00"), without_midnight("1970-03-05 00:30")
    ('1970-03-05', '1970-03-05 00:30')
    """
    return _MIDNIGHT.sub("", text)
