"""What numbers a parameter may be, beside its type: `alpha: Annotated[float, Range(0, 1)]`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_type_hints

from unmask.errors import UnmaskError


@dataclass(frozen=True)
class Range:
    """From low to high, None for no bound; above : low itself is none of them.

    >>> str(Range(0, 1)), str(Range(0, 1, above=True)), str(Range(1))
    ('from 0 to 1', 'above 0, to 1', 'at least 1')
    """

    low: float
    high: float | None = None
    above: bool = False

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, int | float):
            return False
        return (self.low < value or (value == self.low and not self.above)) and (
            self.high is None or value <= self.high
        )

    def __str__(self) -> str:
        if self.high is None:
            return f"above {self.low}" if self.above else f"at least {self.low}"
        return f"above {self.low}, to {self.high}" if self.above else f"from {self.low} to {self.high}"


def check_ranges(one: object) -> None:
    """Refuse a dataclass with a field outside its range, and say which."""
    for name, hint in get_type_hints(type(one), include_extras=True).items():
        for bounds in getattr(hint, "__metadata__", ()):
            if isinstance(bounds, Range) and getattr(one, name) not in bounds:
                raise UnmaskError(f"{name} is {getattr(one, name)!r}, expected {bounds}")
