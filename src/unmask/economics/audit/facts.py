"""Measurements of attacks by a rational attacker: on each release, by size of the group, and at other fines."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.arrays import Floats, weighted_quantiles
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.economics.attacker import Attacker
from unmask.economics.audit.unknown_sizes import make_unknown_table
from unmask.economics.campaigns.bounds import Bounds
from unmask.economics.campaigns.campaign import campaign, remove_discount
from unmask.economics.deterrence.amounts import break_even, risk_by_fine, stopping_fine
from unmask.economics.deterrence.variations import TornadoRow, tornado
from unmask.economics.plans.groups import TargetInput, count_candidates, count_people_per_target
from unmask.economics.plans.prices import MAX_TABLE_SIZE, ExploitationTable, Prices, exploitation_table
from unmask.economics.plans.records import price_posterior, price_records
from unmask.economics.profile import EMBEDDED, read_attacker, read_resources
from unmask.results import Table

N_FINES: Final = 20
"""Number of fines at which the share of re-identified people is computed."""

UNKNOWN: Final = Bounds(math.nan, math.nan)


@dataclass(frozen=True)
class AttackerSource:
    """An attacker, the file that describes them, True if that is an unchecked assumption, and the resources."""

    attacker: Attacker
    name: str = "attacker"
    is_assumed: bool = False
    resources: Mapping[str, Attacker] = field(default_factory=dict)

    @property
    def attackers(self) -> Mapping[str, Attacker]:
        """The attacker with each resource, by its name; "" without a choice of resources."""
        return self.resources or {"": self.attacker}

    @property
    def has_resources(self) -> bool:
        """True if the attacker chooses one of several resources."""
        return len(self.resources) > 0

    @classmethod
    def read(cls, attacker: Attacker | str | os.PathLike[str]) -> Self:
        """Return an attacker, or the attacker of a file or of the embedded profile, with the source."""
        if isinstance(attacker, Attacker):
            return cls(attacker)
        return cls(read_attacker(str(attacker)), Path(attacker).name, attacker == EMBEDDED)

    @classmethod
    def read_resources(cls, path: str) -> Self:
        """Return the attacker of a file or of the embedded profile, with each of the resources."""
        attackers = read_resources(path)
        resources = {} if "" in attackers else attackers
        return cls(next(iter(attackers.values())), Path(path).name, path == EMBEDDED, resources)


class OutsideGroups(NamedTuple):
    """Number of people in the outside data who fit each record of a release, and of all people in the data."""

    sizes: NDArray[np.int64]
    population: int


@dataclass(frozen=True)
class CampaignPrice:
    """One campaign against all targets; NaN and a reason if it is too large to compute.

    Parameters
    ----------
    payoff : Bounds
        Payoff of the best plan that was found, never discounted, and an upper bound: 0 if surely no campaign pays.
    success : Bounds
        Share of people that this plan re-identifies, and a bound on the share under every best campaign.
    fines : Bounds
        Largest fine at which a campaign is known to pay, and least fine at which none does, infinite without one.
    not_run : str
        Why it was not computed.
    """

    payoff: Bounds = UNKNOWN
    success: Bounds = UNKNOWN
    fines: Bounds = UNKNOWN
    not_run: str = ""


@dataclass(frozen=True)
class ReleasePrice:
    """Attacks on one release: people attacked one by one, and all of them in one campaign.

    Parameters
    ----------
    release : str
        Name of the release.
    n : int
        Number of people.
    attacked, success : float
        Shares of people that are worth an attack of their own, and that these attacks re-identify.
    sunk_success : float
        Share re-identified if the outside data are already at hand.
    payoff, tries, fines, cost : float
        Expected payoff, tries, fines and expenses for a person attacked; 0 without one.
    largest_attacked : int
        Largest group of candidates that is worth an attack of its own, 0 without one.
    stopping_fine : float
        Least fine at which no such attack pays; infinite without one.
    campaign : CampaignPrice
        One campaign against all people, the outside data paid once.
    deterrence : tuple of (float, float)
        Rising fines, and the largest share of people that a best campaign re-identifies.
    realized : float, optional
        Share that the attacks one by one re-identify if they are played out against the truth.
    """

    release: str
    n: int
    attacked: float
    success: float
    sunk_success: float
    payoff: float
    tries: float
    fines: float
    cost: float
    largest_attacked: int
    stopping_fine: float
    campaign: CampaignPrice
    deterrence: tuple[tuple[float, float], ...] = ()
    realized: float | None = None

    @property
    def reach(self) -> tuple[float, float, float]:
        """Order of releases by risk: people that a campaign re-identifies at most, then people one by one."""
        bound = self.campaign.success[1]
        return self.success if math.isnan(bound) else bound, self.success, self.attacked


@dataclass(frozen=True)
class PriceFacts:
    """Attacks of one attacker on several releases.

    Parameters
    ----------
    source : AttackerSource
        The attacker.
    adversary : str
        Name of the adversary whose knowledge the attacker has.
    releases : tuple of ReleasePrice
        Attacks on each release.
    curve : ExploitationTable
        Attacks on one person by size of the group of candidates.
    stopping_fines : tuple of float
        Least fine that stops the attack on one person, by size of the group from 1 on: infinite without one.
    tornado : tuple of TornadoRow
        Payoff of a group of `tornado_size` at other parameters, the widest swing first.
    tornado_size : int
        Typical size of an attacked group.
    tornado_payoff : float
        Payoff of such a group.
    unknown_sizes : Table, optional
        Risk with group sizes that the attacker knows, or does not know, before they pay; of the riskiest release whose
        people outside are counted.
    """

    source: AttackerSource
    adversary: str
    releases: tuple[ReleasePrice, ...]
    curve: ExploitationTable
    stopping_fines: tuple[float, ...] = ()
    tornado: tuple[TornadoRow, ...] = ()
    tornado_size: int = 1
    tornado_payoff: float = 0.0
    unknown_sizes: Table | None = None

    @property
    def riskiest_first(self) -> list[ReleasePrice]:
        """Releases by risk, the riskiest first."""
        return sorted(self.releases, key=lambda price: price.reach, reverse=True)

    @property
    def largest_size(self) -> int:
        """Largest group size of a chart, a little beyond the last that is worth an attack; 0 without one."""
        curve = self.curve
        worth = np.flatnonzero(np.maximum(curve.sunk_payoff, curve.sunk_success_probability)[1:] > 0)
        return min(len(curve) - 1, int(1.08 * (worth[-1] + 1) + 1)) if len(worth) else 0

    @property
    def can_pay(self) -> bool:
        """True if the attack on the typical group pays at some value of the tornado."""
        ends = (payoff for row in self.tornado for payoff in (row.payoff_low, row.payoff_high))
        return bool(self.tornado) and max(self.tornado_payoff, *ends) > 0


def price_releases(
    source: AttackerSource,
    adversary: str,
    beliefs: Mapping[str, Posterior],
    *,
    people: Mapping[str, int] | None = None,
    realized: Mapping[str, float] | None = None,
    outside: Mapping[str, OutsideGroups] | None = None,
) -> PriceFacts:
    """Price the attack on every release.

    Parameters
    ----------
    source : AttackerSource
        The attacker.
    adversary : str
        Name of the adversary who holds the beliefs.
    beliefs : mapping of str to Posterior
        Release -> belief about identity.
    people : mapping of str to int, optional
        Release -> number of people, if several are behind a target of its belief.
    realized : mapping of str to float, optional
        Release -> share of people that the attacks re-identify in truth.
    outside : mapping of str to OutsideGroups, optional
        Release -> people outside who fit its records, by a register or by survey weights.
    """
    attacker, n_people, in_truth = source.attacker, people or {}, realized or {}
    releases = tuple(
        replace(price_release(attacker, name, belief, people=n_people.get(name)), realized=in_truth.get(name))
        for name, belief in beliefs.items()
    )
    size = _typical_size(attacker, beliefs.values())
    curve = compute_curve(attacker, [release.largest_attacked for release in releases])
    facts = PriceFacts(
        source,
        adversary,
        releases,
        curve,
        tuple(break_even(attacker, np.arange(1, len(curve))).tolist()),
        tuple(tornado(attacker, size)),
        size,
        float(price_records(attacker, [size]).payoff[0]),
    )
    counted = outside or {}
    groups = next((counted[price.release] for price in facts.riskiest_first if price.release in counted), None)
    return facts if groups is None else replace(facts, unknown_sizes=make_unknown_table([attacker], *groups, None))


def price_release(attacker: Attacker, release: str, belief: Posterior, *, people: int | None = None) -> ReleasePrice:
    """Price the attack on one release: in one campaign, person by person, and at other fines."""
    prices = price_posterior(attacker, belief)
    share = belief.observation_weight
    stops = break_even(attacker, belief)[share > 0]
    attacked = share * prices.access
    counts = count_people_per_target(belief, people)
    joint = price_campaign(attacker, belief, lambda values: min(1.0, float(belief.weight @ values)), people=counts)

    def mean_over_attacked(value: Floats) -> float:
        return float(attacked @ value / attacked.sum()) if attacked.any() else 0.0

    return ReleasePrice(
        release=release,
        n=belief.n_targets if people is None else people,
        attacked=float(attacked.sum()),
        success=min(1.0, float(share @ prices.success_probability)),
        sunk_success=min(1.0, float(share @ prices.sunk_success_probability)),
        payoff=mean_over_attacked(prices.payoff),
        tries=mean_over_attacked(prices.expected_tries),
        fines=mean_over_attacked(prices.expected_fines),
        cost=mean_over_attacked(_sum_expenses(attacker, prices)),
        largest_attacked=int(count_candidates(belief)[attacked > 0].max(initial=0)),
        stopping_fine=float(stops.max(initial=0.0)),
        campaign=joint,
        deterrence=_sweep_fines(attacker, belief, counts, np.array([*stops, *joint.fines]))
        if not joint.not_run
        else (),
    )


def price_campaign(
    attacker: Attacker, targets: TargetInput, mean: Callable[[Floats], float], *, people: ArrayLike | None = None
) -> CampaignPrice:
    """Price one campaign against all targets.

    Parameters
    ----------
    attacker : Attacker
        The attacker; the discount is left out, and ties are not attacks.
    targets : Posterior or array_like
        Beliefs about the targets, or sizes of their groups.
    mean : callable
        Mean of an array over the targets.
    people : array_like, optional
        Number of people behind each target.
    """
    try:
        joint = campaign(remove_discount(attacker), targets, people=people)
        fines = stopping_fine(attacker, targets, people=people)
    except UnmaskError as error:  # too many tries times fines
        return CampaignPrice(not_run=str(error))
    success = Bounds(mean(joint.success_probability), mean(joint.most_success))
    return CampaignPrice(Bounds(joint.payoff, joint.upper), success, fines)


def _sum_expenses(attacker: Attacker, prices: Prices) -> Floats:
    """Return the undiscounted expenses for each target."""
    return (
        attacker.access_cost
        + attacker.link_cost * (prices.clean_tries > 0)
        + attacker.exploit_cost * prices.expected_tries
        + attacker.fine * prices.expected_fines
    )


def _sweep_fines(
    attacker: Attacker, belief: Posterior, people: ArrayLike | None, stopping_fines: Floats
) -> tuple[tuple[float, float], ...]:
    """Return the largest share re-identified at fines from 0 to the largest known stopping fine."""
    finite = stopping_fines[np.isfinite(stopping_fines) & (stopping_fines > 0)]
    if not len(finite):
        return ()
    fines = np.unique(np.concatenate(([0.0, attacker.fine], np.geomspace(finite.min(), finite.max(), N_FINES))))
    shares = risk_by_fine(attacker, belief, fines, people=people) @ belief.weight
    return tuple(zip(fines.tolist(), np.minimum(shares, 1.0).tolist(), strict=True))


def _typical_size(attacker: Attacker, beliefs: Iterable[Posterior]) -> int:
    """Return the median group size of the attacked people in the first release with any, else 1."""
    for belief in beliefs:
        attacked = price_posterior(attacker, belief).access[belief.observation]
        if attacked.any():
            sizes = count_candidates(belief)[belief.observation][attacked].astype(np.float64)
            return max(1, int(weighted_quantiles(sizes, belief.weight[attacked], (0.5,))[0]))
    return 1


def compute_curve(attacker: Attacker, attacked: Iterable[int]) -> ExploitationTable:
    """Compute attacks by group size, a little beyond the smallest that escapes with the outside data at hand."""
    end = exploitation_table(attacker, MAX_TABLE_SIZE).thresholds.sunk or MAX_TABLE_SIZE
    return exploitation_table(attacker, min(MAX_TABLE_SIZE, max(10, round(1.15 * end), *attacked)))
