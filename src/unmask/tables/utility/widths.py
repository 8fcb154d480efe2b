"""What the cells of a column leave open, in the column's own unit: years, days, hours, characters, values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unmask.tables.levels import Type

_YEAR, _DAY, _HOUR = 365.2425 * 86_400, 86_400.0, 3_600.0
_SECONDS: Mapping[Type, float] = {"date": _DAY, "datetime": 1.0}
_TIMES = (("years", _YEAR), ("days", _DAY), ("hours", _HOUR))
_UNITS: Mapping[Type, str] = {"number": "", "code": "characters", "text": "values", "ordinal": "values"}


@dataclass(frozen=True)
class Width:
    """What the released cells of one column leave open of a value, on average over rows and at most.

    unit : "years", "days" or "hours" between the ends of a cell, for dates and moments; "" for numbers, whose unit is
        the column's; "characters" hidden of a code; "values" that a cell of names may be, 1 where it is exact.

    >>> str(Width.of("text", 1.0, 1.0))
    'exact'
    >>> str(Width.of("date", 1500.0, 20_819.0)), str(Width.of("code", 2.1, 5.0)), str(Width.of("number", 3.04, 10.0))
    ('4.1 years (up to 57)', '2.1 characters (up to 5)', '3.0 (up to 10)')
    """

    mean: float
    largest: float
    unit: str

    def __str__(self) -> str:
        if self.largest == float(self.unit == "values"):
            return "exact"
        most = f"{self.largest:,.0f}" if self.largest >= 10 or self.largest.is_integer() else f"{self.largest:,.1f}"
        return f"{self.mean:,.1f} {self.unit}".rstrip() + f" (up to {most})"

    @classmethod
    def of(cls, of_type: Type, mean: float, largest: float) -> Width:
        """Widths on the column's scale, in the largest unit of time that the largest of them fills."""
        if of_type not in _SECONDS:
            return cls(mean, largest, _UNITS[of_type])
        seconds = _SECONDS[of_type]
        names = _TIMES[: 2 if of_type == "date" else 3]
        unit, size = next(((unit, size) for unit, size in names if largest * seconds >= size), names[-1])
        return cls(mean * seconds / size, largest * seconds / size, unit)
