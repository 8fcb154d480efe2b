"""What a report shows of a column before and after protection, as values."""

from __future__ import annotations

from dataclasses import dataclass, replace

from unmask.reports.few import rounded_up


@dataclass(frozen=True)
class Shape:
    """People over the values of a column of the original, and where a release says they are.

    type          : of the column
    edges         : of the bins of numbers, dates (days, seconds since 1970) and ranks, (B + 1,); () for names, whose
                    bins have the commonest values first
    before, after : (B,) share of people in each bin
    missing, gone : share of people without a value in the original, and in the release
    people        : how many there are
    """

    release: str
    column: str
    type: str
    edges: tuple[float, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    missing: float
    gone: float
    people: int

    @property
    def moved(self) -> float:
        """Share of the people who stand in another bin than before, at least: half the sum of all differences."""
        return sum(abs(was - now) for was, now in zip(self.before, self.after, strict=True)) / 2

    def without_small(self, least: int) -> Shape:
        """Shares of the original in multiples of `least` people, rounded up."""
        before = tuple(rounded_up(share, self.people, least) for share in self.before)
        return replace(self, before=before, missing=rounded_up(self.missing, self.people, least))
