"""What a report shows of the rational attacker, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unmask.errors import UnmaskError


@dataclass(frozen=True)
class PriceCurve:
    """The rational attacker by size of the group of candidates: entry i is about groups of `sizes[i]`.

    sizes                 : whole numbers in increasing order; a size of 0 is kept but never drawn
    payoff, sunk_payoff   : his expected payoff before he has paid for the outside data, and once he has
    success, sunk_success : chance that he names the target, in the same two cases
    tries, clean_tries    : candidates he tries on average, and if he is never caught and never lucky
    break_even_fine       : least fine that keeps him away: 0 where he stays away anyway, infinite where no fine does
    """

    sizes: tuple[int, ...]
    payoff: tuple[float, ...]
    sunk_payoff: tuple[float, ...]
    success: tuple[float, ...]
    sunk_success: tuple[float, ...]
    tries: tuple[float, ...]
    clean_tries: tuple[float, ...]
    break_even_fine: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse curves of unequal length, and sizes that do not increase."""
        for name, values in vars(self).items():
            if len(values) != len(self.sizes):
                raise UnmaskError(
                    f"{name} has {len(values)} entries for {len(self.sizes)} sizes, expected one for each size"
                )
        if list(self.sizes) != sorted(set(self.sizes)):
            raise UnmaskError("the sizes of the price curve do not increase, expected each once, the smallest first")


@dataclass(frozen=True)
class ReleasePrice:
    """What the rational attacker does to one release, with what one adversary knows.

    n                : people
    attacked         : share of them that he attacks, each for himself
    success          : share that he expects to name
    sunk_success     : the same if the outside data are already at hand
    payoff           : expected payoff for a person attacked; 0 where nobody is
    tries, fines     : candidates tried, and fines, for a person attacked
    cost             : what he spends on a person attacked: data, links, exploits and fines
    largest_attacked : the largest group of candidates that he attacks, 0 for none
    stopping_fine    : least fine with which he attacks nobody; infinite where no fine does it
    campaign_payoff  : payoff of one campaign against all people, the outside data paid once, never discounted; nan
                       where it was too large to be reckoned
    campaign_success : share of people named by that campaign
    campaign_exact   : whether no campaign pays more; else the payoff is a lower bound
    deterrence       : (fine, share of people named) at rising fines, for a chart
    realised         : share that the same plans name when they are played out against the truth; None where that is
                       not known
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
    campaign_success: float
    campaign_exact: bool
    deterrence: tuple[tuple[float, float], ...]
    realised: float | None = None


@dataclass(frozen=True)
class Swing:
    """How the payoff of one group moves when one parameter is lower or higher, all others fixed."""

    parameter: str
    low: float
    high: float
    payoff_low: float
    payoff_high: float


@dataclass(frozen=True)
class Price:
    """The economics of the attack: who he is, what he does by size of the group, and to each release.

    source     : where the attacker comes from: a file, or the embedded profile
    assumed    : whether he is the embedded profile, an assumption that nobody has checked
    parameters : what he is made of, name -> value
    thresholds : smallest group of which he does not try every candidate, that he does not attack, and that he does not
                 attack although the outside data are at hand; None where the curve ends before
    tornado    : swings of the payoff of a group of `tornado_size`, the widest first; its payoff is `tornado_payoff`
    warnings   : what a reader must know before he trusts that more protection means less risk
    """

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
