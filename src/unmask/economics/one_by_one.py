"""What a model of one person at a time says of a file, beside one campaign against everybody in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.economics.attacker import Attacker, one_shot
from unmask.economics.campaign import Campaign, campaign, campaigner
from unmask.economics.exploitation import Floats
from unmask.economics.prices import Prices
from unmask.economics.records import price_records

DRAWS: Final = 16
"""Draws of all sizes by which it is judged whether a campaign pays for data before it knows them."""

DIFFERENT: Final = 1e-9
"""Probabilities that differ by less are the same."""


@dataclass(frozen=True, eq=False)
class OneByOne:
    """Each target attacked alone, in three ways, beside one campaign against all; n targets.

    one_try  : one candidate is tried, or none
    known    : candidates are tried for as long as that pays, the size of each group known
    unknown  : the same, the size known by its distribution until the outside data are paid for
    campaign : all together, the outside data and at most `max_fines` fines paid once
    blind    : whether a campaign pays for the data without knowing any size, too
    sizes    : (n,) of the groups
    """

    one_try: Prices
    known: Prices
    unknown: Prices
    campaign: Campaign
    blind: bool
    sizes: NDArray[np.int64]

    @property
    def tried(self) -> tuple[int, int, int]:
        """Targets alone of whom all candidates are tried if need be, some of them, and none."""
        made = self.known.clean_tries * self.known.access
        every, some = int(np.sum((made > 0) & (made >= self.sizes))), int(np.sum((made > 0) & (made < self.sizes)))
        return every, some, len(self.sizes) - every - some

    @property
    def changed(self) -> tuple[int, int]:
        """Targets whose risk it lowers that sizes are not known, and those whose risk it raises."""
        more = self.unknown.success_probability - self.known.success_probability
        return int(np.sum(more < -DIFFERENT)), int(np.sum(more > DIFFERENT))

    @property
    def reach(self) -> int:
        """The largest group that is attacked alone, 0 for none."""
        return int(self.sizes[self.known.access].max(initial=0))

    @property
    def spared(self) -> tuple[int, float]:
        """Targets whom nobody attacks alone, and how many of them the campaign is expected to re-identify at least."""
        alone = self.known.success_probability <= DIFFERENT
        return int(alone.sum()), float(self.campaign.success_probability[alone].sum())


def one_by_one(attacker: Attacker, sizes: ArrayLike, *, population: int, cell_probability: ArrayLike) -> OneByOne:
    """The models of Wan et al. 2015, of Xia et al. 2015 with known and unknown groups, and a campaign, on one file.

    sizes, population, cell_probability : as in `price_records`; targets of equal size and probability share a group.
    Nothing is discounted. Whether a campaign pays without knowing the sizes is judged by 16 draws of them all.

    >>> from unmask.economics import read_attacker
    >>> case = replace(read_attacker("case-study"), detection_growth=0.0)
    >>> found = one_by_one(case, [40, 95] * 50, population=6_000_000, cell_probability=[7e-6, 1.6e-5] * 50)
    >>> [round(float(one.success_probability.sum()), 2) for one in (found.one_try, found.known, found.campaign)]
    [0.0, 31.5, 63.0]
    >>> found.tried, found.spared, found.blind
    ((50, 0, 50), (50, 31.5), True)

    Z. Wan et al., "A game theoretic framework for analyzing re-identification risk", 2015; W. Xia et al.,
    "Process-driven data privacy", 2015, section 7.2.
    """
    planner, groups = campaigner(attacker), np.asarray(sizes, dtype=np.int64)
    cells = np.broadcast_to(np.asarray(cell_probability, dtype=np.float64), groups.shape)
    return OneByOne(
        one_try=price_records(one_shot(planner), groups),
        known=price_records(planner, groups),
        unknown=price_records(planner, groups, population=population, cell_probability=cells, belief="binomial"),
        campaign=campaign(planner, groups),
        blind=_pays_blind(planner, population, cells),
        sizes=groups,
    )


def _pays_blind(attacker: Attacker, population: int, cells: Floats) -> bool:
    """Whether the outside data are worth their price to a campaign that will learn the sizes by paying."""
    rng, free = np.random.default_rng(0), replace(attacker, access_cost=0.0)
    distinct, people = np.unique(cells, return_counts=True)
    worth = [campaign(free, rng.binomial(population, distinct), people=people).payoff for _ in range(DRAWS)]
    return bool(np.mean(worth) > attacker.access_cost)
