"""What a report shows of the rational attacker, as values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from unmask.reports.subject import Subject
from unmask.results.formats import percent
from unmask.results.suppression import round_share
from unmask.results.words import release_name


@dataclass(frozen=True)
class PriceCurve:
    """The rational attacker by size of the group of candidates: entry i is about groups of `sizes[i]`.

    sizes                 : whole numbers in increasing order; a size of 0 is kept but never drawn
    payoff, sunk_payoff   : expected payoff before the outside data are paid for, and once they are
    success, sunk_success : chance to re-identify the target, in the same two cases
    tries, clean_tries    : candidates tried on average, and if never caught and never lucky
    break_even_fine       : least fine that stops the attack: 0 where there is none anyway, infinite where no fine does
    """

    sizes: tuple[int, ...]
    payoff: tuple[float, ...]
    sunk_payoff: tuple[float, ...]
    success: tuple[float, ...]
    sunk_success: tuple[float, ...]
    tries: tuple[float, ...]
    clean_tries: tuple[float, ...]
    break_even_fine: tuple[float, ...]


@dataclass(frozen=True)
class ReleasePrice:
    """What the rational attacker does to one release, with what one adversary knows.

    n                : people
    attacked         : share of them worth an attack of its own, the outside data paid for each
    success          : share re-identified by these
    sunk_success     : the same if the outside data are already at hand
    payoff           : expected payoff for a person attacked; 0 where nobody is
    tries, fines     : candidates tried, and fines, for a person attacked
    cost             : what is spent on a person attacked: data, links, exploits and fines
    largest_attacked : the largest group of candidates worth an attack of its own, 0 for none
    stopping_fine    : least fine with which no such attack pays; infinite where no fine does it
    campaign_payoff  : payoff of one campaign against all people, the best found, the outside data paid once, never
                       discounted; nan where a campaign was too large to be reckoned
    campaign_upper   : no campaign pays more; 0 where it is certain that none pays
    campaign_success : share of people whom the campaign found re-identifies
    campaign_most    : no best campaign re-identifies a larger share
    campaign_fines   : largest fine at which a campaign is known to pay, least fine at which none does, infinite where
                       no fine stops it
    deterrence       : (fine, largest share of people that a best campaign re-identifies) at rising fines, for a chart
    realized         : share that the plans one by one re-identify when they are played out against the truth; None
                       where that is not known
    """

    release: str
    adversary: str
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
    campaign_payoff: float
    campaign_upper: float
    campaign_success: float
    campaign_most: float
    campaign_fines: tuple[float, float]
    deterrence: tuple[tuple[float, float], ...]
    realized: float | None = None


@dataclass(frozen=True)
class Swing:
    """How the payoff of one group moves when one parameter is lower or higher, all others fixed."""

    parameter: str
    low: float
    high: float
    payoff_low: float
    payoff_high: float


@dataclass(frozen=True)
class Price(Subject):
    """The economics of the attack: who attacks, what they do by size of the group, and to each release.

    source     : where the attacker comes from: a file, or the embedded profile
    assumed    : whether it is the embedded profile, an assumption that nobody has checked
    parameters : what the attacker is made of, name -> value
    thresholds : smallest group of which not every candidate is tried, that is not attacked alone, and that is not even
                 with the outside data at hand; None where the curve ends before
    tornado    : swings of the payoff of a group of `tornado_size`, the widest first; its payoff is `tornado_payoff`
    warnings   : what a reader must know before trusting that more protection means less risk
    """

    name: ClassVar = "price"
    shown_by: ClassVar = "unmask.reports.sections.price"
    before: ClassVar = "utility"

    source: str
    assumed: bool
    parameters: Mapping[str, float | int | str | bool]
    thresholds: tuple[int | None, int | None, int | None]
    curve: PriceCurve
    releases: tuple[ReleasePrice, ...]
    tornado: tuple[Swing, ...] = ()
    tornado_size: int = 1
    tornado_payoff: float = 0.0
    warnings: tuple[str, ...] = ()

    def without_small(self, least: int) -> Price:
        """With the people who are attacked in multiples of `least`."""
        releases = (replace(one, attacked=round_share(one.attacked, one.n, least)) for one in self.releases)
        return replace(self, releases=tuple(releases))

    def intruder(self) -> str:
        """What one campaign against all people re-identifies, of the release where that is most."""
        known = [one for one in self.releases if not math.isnan(one.campaign_most)]
        if not known:
            return ""
        worst = max(known, key=lambda one: one.campaign_most)
        share = f"up to {percent(worst.campaign_most)}" if worst.campaign_upper else "nobody: none pays"
        return f"One campaign against all people re-identifies {share} ({release_name(worst.release)})."
