"""Distribution of success probabilities over people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from unmask.results.suppression import round_people, round_share


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
    each : tuple of (float, float)
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
    each: tuple[tuple[float, float], ...] = field(default=(), repr=False)
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

    def without_small(self, smallest_group: int) -> Distribution:
        """Return the distribution in groups of `smallest_group` people, also above limits, as bins are differences."""
        above = {limit: round_people(n, smallest_group, self.people) for limit, n in self.above.items()}
        shares = tuple(round_share(share, self.people, smallest_group) for share in self.shares)
        return replace(self, shares=shares, above=above, each=())
