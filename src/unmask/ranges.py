"""What numbers a parameter may be, beside its type: `alpha: Annotated[float, Range(0, 1)]`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Range:
    """From low to high, None for no bound; above : low itself is none of them."""

    low: float | None = None
    high: float | None = None
    above: bool = False
