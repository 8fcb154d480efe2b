"""The rational attacker of an audit: the attack on each release, and what stops it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.economics import (
    Attacker,
    ExploitationTable,
    Prices,
    break_even,
    campaign,
    count_people_per_target,
    exploitation_table,
    price_posterior,
    price_records,
    read_attacker,
    risk_by_fine,
    stopping_fine,
    tornado,
)
from unmask.economics.attacker import list_parameters
from unmask.economics.groups import TargetInput, count_candidates
from unmask.economics.profile import EMBEDDED
from unmask.measures.base import weighted_quantiles
from unmask.reports.facts.price import Price, PriceCurve, ReleasePrice, Swing

LARGEST_SIZE = 2000
"""Largest group size of a chart."""

FINES = 20
"""Number of fines at which the share of re-identified people is computed."""


@dataclass(frozen=True)
class Motive:
    """The attacker of an audit, the source, and True if the embedded assumption is used."""

    attacker: Attacker
    source: str = "attacker"
    assumed: bool = False

    @classmethod
    def of(cls, attacker: Attacker | str | os.PathLike[str]) -> Self:
        """Return the motive of an attacker, or of a file or the name of the embedded assumption."""
        if isinstance(attacker, Attacker):
            return cls(attacker)
        return cls(read_attacker(str(attacker)), source=Path(attacker).name, assumed=attacker == EMBEDDED)


def price_releases(
    motive: Motive,
    adversary: str,
    beliefs: Mapping[str, Posterior],
    *,
    people: Mapping[str, int] | None = None,
    played: Mapping[str, float] | None = None,
) -> Price:
    """Return the price section of an audit: release -> belief about identity, all of one adversary.

    people : release -> number of people, if several are behind a target of its belief
    played : release -> `realized_rational_success`
    """
    attacker = motive.attacker
    counted, realized = people or {}, played or {}
    releases = tuple(
        replace(price_release(attacker, name, adversary, belief, people=counted.get(name)), realized=realized.get(name))
        for name, belief in beliefs.items()
    )
    size = _typical_size(attacker, beliefs.values())
    table = exploitation_table(attacker, reach(attacker, [release.largest_attacked for release in releases]))
    return Price(
        source=motive.source,
        assumed=motive.assumed,
        parameters=list_parameters(attacker),
        thresholds=table.thresholds,
        curve=_curve(table),
        releases=releases,
        tornado=tuple(Swing(**vars(sway)) for sway in tornado(attacker, size)),
        tornado_size=size,
        tornado_payoff=float(price_records(attacker, [size]).payoff[0]),
        warnings=attacker.warnings,
    )


def campaigns_not_run(price: Price | None) -> Iterator[tuple[str, str]]:
    """Yield the releases with too large a campaign, and the remedy."""
    names = [] if price is None else [one.release for one in price.releases if math.isnan(one.campaign_payoff)]
    if names:
        yield f"A campaign against {', '.join(names)}", "too many tries and fines; give the attacker max_tries"


def price_release(
    attacker: Attacker, release: str, adversary: str, belief: Posterior, *, people: int | None = None
) -> ReleasePrice:
    """Return the attack on one release: in one campaign, person by person, and at other fines."""
    prices = price_posterior(attacker, belief)
    share = belief.observation_weight
    stops = break_even(attacker, belief)[share > 0]
    attacked = share * prices.access
    counts = count_people_per_target(belief, people)
    all_at_once = together(attacker, belief, lambda x: min(1.0, float(belief.weight @ x)), people=counts)

    def of_attacked(value: NDArray[np.float64]) -> float:
        return float(attacked @ value / attacked.sum()) if attacked.any() else 0.0

    return ReleasePrice(
        release=release,
        adversary=adversary,
        n=belief.n_targets if people is None else people,
        attacked=float(attacked.sum()),
        success=min(1.0, float(share @ prices.success_probability)),
        sunk_success=min(1.0, float(share @ prices.sunk_success_probability)),
        payoff=of_attacked(prices.payoff),
        tries=of_attacked(prices.expected_tries),
        fines=of_attacked(prices.expected_fines),
        cost=of_attacked(_spent(attacker, prices)),
        largest_attacked=int(count_candidates(belief)[attacked > 0].max(initial=0)),
        stopping_fine=float(stops.max(initial=0.0)),
        campaign_payoff=all_at_once.payoff,
        campaign_upper=all_at_once.upper,
        campaign_success=all_at_once.success,
        campaign_most=all_at_once.most,
        campaign_fines=all_at_once.fines,
        deterrence=_deterrence(attacker, belief, counts, stops, all_at_once),
    )


@dataclass(frozen=True)
class Together:
    """One campaign against all targets, see `Campaign` and `StoppingFine`; nan and a reason if it is too large.

    success, most : mean over the targets
    """

    payoff: float = math.nan
    upper: float = math.nan
    success: float = math.nan
    most: float = math.nan
    fines: tuple[float, float] = (math.nan, math.nan)
    not_run: str = ""


def together(
    attacker: Attacker,
    who: TargetInput,
    mean: Callable[[NDArray[np.float64]], float],
    *,
    people: ArrayLike | None = None,
) -> Together:
    """Return one campaign. mean : mean over the targets; people : number of people behind each of them."""
    try:
        found = campaign(replace(attacker, discount=1.0), who, people=people)
        fines = stopping_fine(attacker, who, people=people)
    except UnmaskError as error:  # too many tries times fines: all else stands
        return Together(not_run=str(error))
    success, most = mean(found.success_probability), mean(found.most_success)
    return Together(found.payoff, found.upper, success, most, (fines.pays, fines.stops))


def _spent(attacker: Attacker, prices: Prices) -> NDArray[np.float64]:
    """Return the undiscounted expenses for each attacked target."""
    return (
        attacker.access_cost
        + attacker.link_cost * (prices.clean_tries > 0)
        + attacker.exploit_cost * prices.expected_tries
        + attacker.fine * prices.expected_fines
    )


def _deterrence(
    attacker: Attacker, belief: Posterior, people: ArrayLike | None, stops: NDArray[np.float64], found: Together
) -> tuple[tuple[float, float], ...]:
    """Return the largest share re-identified at fines from 0 to the one that stops every campaign."""
    known = np.array([*stops, *found.fines])
    finite = known[np.isfinite(known) & (known > 0)]
    if not len(finite) or found.not_run:
        return ()
    fines = np.unique(np.concatenate(([0.0, attacker.fine], np.geomspace(finite.min(), finite.max(), FINES))))
    named = risk_by_fine(attacker, belief, fines, people=people) @ belief.weight
    return tuple(zip(fines.tolist(), np.minimum(named, 1.0).tolist(), strict=True))


def _typical_size(attacker: Attacker, beliefs: Iterable[Posterior]) -> int:
    """Return the median group size of the attacked people in the first release with any, else 1."""
    for belief in beliefs:
        attacked = price_posterior(attacker, belief).access[belief.observation]
        if attacked.any():
            tried = count_candidates(belief)[belief.observation][attacked].astype(np.float64)
            return max(1, int(weighted_quantiles(tried, belief.weight[attacked], (0.5,))[0]))
    return 1


def reach(attacker: Attacker, attacked: Iterable[int]) -> int:
    """Return the largest group size of a chart: a little beyond the smallest that escapes with the data at hand."""
    size = 64
    while size < LARGEST_SIZE and exploitation_table(attacker, size).thresholds.sunk is None:
        size *= 2
    end = exploitation_table(attacker, size).thresholds.sunk
    return min(LARGEST_SIZE, max(10, round(1.15 * (end or size)), *attacked))


def _curve(table: ExploitationTable) -> PriceCurve:
    sizes = np.arange(1, len(table))
    drawn = {
        "payoff": table.payoff,
        "sunk_payoff": table.sunk_payoff,
        "success": table.success_probability,
        "sunk_success": table.sunk_success_probability,
        "tries": table.expected_tries,
        "clean_tries": table.clean_tries,
    }
    fines = tuple(break_even(table.attacker, sizes).tolist())
    curves = {name: tuple(values[1:].tolist()) for name, values in drawn.items()}
    return PriceCurve(sizes=tuple(sizes.tolist()), break_even_fine=fines, **curves)
