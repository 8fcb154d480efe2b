"""What a report shows of a column before and after protection, as values."""

from __future__ import annotations

from dataclasses import dataclass, replace

from unmask.results.suppression import round_share


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
        """Half the sum of all differences between bins: the fewest people, as a share, who stand in another one."""
        return sum(abs(was - now) for was, now in zip(self.before, self.after, strict=True)) / 2

    def without_small(self, least: int) -> Shape:
        """What may be handed on: shares in multiples of `least` people, rounded up, and of the original nothing about
        fewer. Bins of fewer are empty, and cut off at the ends: else a release without its extremes would show them.
        """
        large = [i for i, share in enumerate(self.before) if share * self.people > least - 0.5]
        start, end = (large[0], large[-1] + 1) if large else (0, 0)
        return replace(
            self,
            edges=self.edges[start : end + 1],
            before=tuple(self._up(self.before[i], least) if i in large else 0.0 for i in range(start, end)),
            after=tuple(self._up(share, least) for share in self.after[start:end]),
            missing=self._up(self.missing, least),
            gone=self._up(self.gone, least),
        )

    def _up(self, share: float, least: int) -> float:
        return round_share(share, self.people, least)
