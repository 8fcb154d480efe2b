"""Distribution of success probabilities over people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from unmask.results.table import Column


@dataclass(frozen=True)
class Distribution:
    """Share of people by the success probability of one adversary on one release.

    Parameters
    ----------
    release, adversary, target : str
        Release, adversary and target.
    edges : (n_bins + 1,) tuple of float
        Success probabilities in increasing order, between 0 and 1.
    shares : (n_bins,) tuple of float
        Share of people in each bin.
    people : int
        Number of people.
    above : mapping of float to int
        Success probability -> number of people who exceed it.
    each : tuple of (float, float), optional
        Success probabilities in increasing order, with the share of people who have each; never shown.
    drawn_from : int
        Number of people in the population that these were drawn from at random; 0 without a draw.
    """

    release: str
    adversary: str
    target: str
    edges: tuple[float, ...]
    shares: tuple[float, ...]
    people: int
    above: Mapping[float, int | str] = field(default_factory=dict)
    each: tuple[tuple[float, float], ...] | None = field(default=(), repr=False)
    drawn_from: int = 0

    def at(self, limits: Iterable[float]) -> Distribution:
        """Return the distribution with the people who exceed further limits, if each person is known.

        >>> spread = Distribution("r", "neighbor", "identity", (0.0, 1.0), (1.0,), 10, each=((0.1, 0.7), (0.5, 0.3)))
        >>> spread.at([0.2, 0.5]).above
        {0.2: 3, 0.5: 0}
        """
        if not self.each:
            return self
        counts = {limit: round(self.people * sum(n for p, n in self.each if p > limit)) for limit in limits}
        return replace(self, above={**self.above, **counts})


DISTRIBUTION_COLUMNS = (
    Column("release"), Column("adversary"), Column("target"), Column("edges"),
    Column("shares", kind="share_of_people", of="people"), Column("people"),
    Column("above", kind="people", of="people"), Column("each", kind="private"), Column("drawn_from"),
)  # fmt: skip
"""Fields of a distribution; counts above limits are rounded, too, as bins are their differences."""
