"""What a report shows of the people and the columns of tables, as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from unmask.core.posterior import equal_weights
from unmask.facts import Count
from unmask.measures.interval import of_targets
from unmask.results.suppression import round_people, round_share


@dataclass(frozen=True)
class Distribution:
    """How success is spread over people: `shares[i]` of them lie between `edges[i]` and `edges[i + 1]`.

    edges  : (B + 1,) success probabilities in increasing order, between 0 and 1
    shares : (B,) shares of people, summing to 1
    people : how many there are; drawn_from : of how many they were drawn at random, 0 where they are all
    above  : success probability -> how many people exceed it
    each   : (success probability, share of people with it) by rising probability; nothing that is given out has it
    """

    release: str
    adversary: str
    target: str
    edges: tuple[float, ...]
    shares: tuple[float, ...]
    people: int
    above: Mapping[float, Count] = field(default_factory=dict)
    each: tuple[tuple[float, float], ...] = field(default=(), repr=False)
    drawn_from: int = 0

    def in_all(self, above: int, least: int = 1) -> tuple[int, int, int]:
        """Of all people from whom these were drawn, how many are like so many of these, and the ends of the 95 %
        interval, in steps of `least`.

        >>> Distribution("r", "neighbor", "identity", (0.0, 1.0), (1.0,), 100, drawn_from=300).in_all(50)
        (150, 126, 174)
        """
        found = (np.arange(self.people) < above).astype(np.float64)
        low, high, _ = of_targets(found, equal_weights(self.people), drawn_from=self.drawn_from, rate=True)
        each = (self.drawn_from * share for share in (found.mean(), low or 0.0, high or 1.0))
        value, first, last = (least * round(n / least) for n in each)
        return value, max(first, above), last

    def at(self, limits: Iterable[float]) -> Distribution:
        """The same with the people who exceed further limits, where each of them is known.

        >>> spread = Distribution("r", "neighbor", "identity", (0.0, 1.0), (1.0,), 10, each=((0.1, 0.7), (0.5, 0.3)))
        >>> spread.at([0.2, 0.5]).above
        {0.2: 3, 0.5: 0}
        """
        if not self.each:
            return self
        counted = {limit: round(self.people * sum(n for p, n in self.each if p > limit)) for limit in limits}
        return replace(self, above={**self.above, **counted})

    def without_small(self, least: int) -> Distribution:
        """People above a limit in multiples of `least`, too: one count less another is a bin."""
        above = {limit: round_people(n, least, self.people) for limit, n in self.above.items()}
        shares = tuple(round_share(share, self.people, least) for share in self.shares)
        return replace(self, shares=shares, above=above, each=())


@dataclass(frozen=True)
class Change:
    """A change of how a release is made, tried: protected again, and audited again.

    missed, untested : conditions of the policy
    above, people    : people whom the strongest adversary re-identifies with more than the limit, and of how many
    utility          : 1 - global certainty penalty; a quasi-identifier that is left out counts as lost
    k, l, without    : what `protect` is told: least rows and values of a class, and the column left out
    """

    name: str
    missed: int
    untested: int
    above: Count | None
    people: int
    utility: float | None
    k: int | None = None
    l: int | None = None  # noqa: E741  # the field's letter
    without: str = ""

    def without_small(self, least: int) -> Change:
        """The same without a count of few people."""
        return self if self.above is None else replace(self, above=round_people(self.above, least, self.people))
