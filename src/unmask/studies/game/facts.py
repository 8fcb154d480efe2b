"""Facts of the publisher's game: offers, responses of attackers, and sensitivity of the decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unmask.economics import Bounds
from unmask.economics.game.game import WITHHELD


@dataclass(frozen=True)
class Answer:
    """Response of one kind of attacker to an offer.

    Parameters
    ----------
    kind : str
        Name of the kind.
    attacks : bool or None
        True if a campaign pays; None if this is unknown.
    payoff, re_identified : Bounds
        Bounds on the payoff of one attacker, and on the expected number of people that the attacker re-identifies.
    expects : Bounds, optional
        Bounds on the number that the attacker expects, if they believe in another probability of detection.
    """

    kind: str
    attacks: bool | None
    payoff: Bounds
    re_identified: Bounds
    expects: Bounds | None = None


@dataclass(frozen=True)
class OfferTerms:
    """A protection, and the terms of its release: price, contractual fine, and factor of the audits."""

    protection: str
    price: float
    fine: float
    audit: float


@dataclass(frozen=True)
class Offer(OfferTerms):
    """A protection at some terms: utility, bounds on the publisher's payoff, and responses of attackers."""

    utility: float
    payoff: Bounds
    answers: tuple[Answer, ...]

    @property
    def re_identified(self) -> Bounds:
        """Bounds on the number of people re-identified by the most successful attacker."""
        return Bounds(*(max((answer.re_identified[end] for answer in self.answers), default=0.0) for end in (0, 1)))


@dataclass(frozen=True)
class StoppingTerms:
    """Terms that deter one kind of attacker from one release.

    Parameters
    ----------
    protection, kind : str
        Release and kind of attacker.
    price, fine : Bounds
        Bounds on the price without a fine, and on the fine without a price: below the first a campaign is known to pay,
        above the second none does.
    announced, realized : float
        People re-identified by a campaign without fines: expected by the attacker, and counted with the truth; None if
        the truth is unknown.
    """

    protection: str
    kind: str
    price: Bounds
    fine: Bounds
    announced: float
    realized: float | None


@dataclass(frozen=True)
class FineCurve:
    """Smallest payoff of the publisher, and a price that deters all attackers, as functions of the contractual fine."""

    protection: str
    fines: tuple[float, ...]
    payoffs: tuple[float, ...]
    prices: tuple[float, ...]


@dataclass(frozen=True)
class SensitivityEnd:
    """Decision at one value of an input: the best offer, its smallest payoff, and the smallest payoff of the chosen
    offer.

    `changes` is True if the best offer has a larger payoff than the chosen offer.
    """

    value: float
    best: OfferTerms
    payoff: float
    taken: float
    changes: bool


@dataclass(frozen=True)
class SensitiveInput:
    """Sensitivity of the decision to one input.

    Parameters
    ----------
    of : str
        Kind of attacker, or "publisher".
    parameter : str
        Name of the input.
    value : float
        Value in the game.
    ranged : bool
        True if the document gives the range; otherwise the ends are half and double the value.
    low, high : SensitivityEnd
        Decision at both ends.
    changes : bool
        True if another offer is better at one end.
    """

    of: str
    parameter: str
    value: float
    ranged: bool
    low: SensitivityEnd
    high: SensitivityEnd
    changes: bool


@dataclass(frozen=True)
class SingleAttacks:
    """Comparison of attacks on single people with one campaign, for one kind of attacker and one release.

    Parameters
    ----------
    protection, kind : str
        Release and kind of attacker.
    people : int
        Number of people.
    inside : float
        Number of people re-identified if all candidates of all people are tried.
    one_try, known, unknown : float
        Number of people re-identified in single attacks: with one try; with further tries; with further tries and
        unknown group sizes.
    campaign : float
        Number of people re-identified by one campaign.
    pays_without_sizes : bool
        True if a campaign pays without knowledge of the group sizes.
    fully_tried, partly_tried, untried : int
        Number of people with all, some, and no candidates tried in single attacks.
    lower_risk, higher_risk : int
        Number of people whose risk in single attacks falls, and rises, if group sizes are unknown.
    safe_alone : int
        Number of people without a single attack.
    safe_re_identified : float
        Number of these people that the campaign re-identifies.
    largest_attacked : int
        Largest group with single attacks.
    """

    protection: str
    kind: str
    people: int
    inside: float
    one_try: float
    known: float
    unknown: float
    campaign: float
    pays_without_sizes: bool
    fully_tried: int
    partly_tried: int
    untried: int
    lower_risk: int
    higher_risk: int
    safe_alone: int
    safe_re_identified: float
    largest_attacked: int


@dataclass(frozen=True)
class Attackers:
    """A kind of attacker: expected number, adversary with the same knowledge, and parameters.

    `assumed` is True for the embedded profile, an unverified assumption.
    """

    name: str
    number: float
    adversary: str
    parameters: Mapping[str, float | int | str | bool | tuple[float, ...]]
    assumed: bool


@dataclass(frozen=True)
class DeterringSize:
    """The smallest k of a protection that deters all attackers at the lowest terms.

    Parameters
    ----------
    protection : str
        Name of the protection without its k.
    release : str or None
        Name of the protection with this k.
    k : int or None
        The smallest k, at least 2; None if no k up to `largest` deters all attackers.
    largest : int
        Largest k of the search.
    """

    protection: str
    release: str | None
    k: int | None
    largest: int


@dataclass(frozen=True)
class GameFacts:
    """The publisher's game of one document.

    Parameters
    ----------
    title : str
        Title of the document.
    people : int
        Number of targets of a release.
    kinds : tuple of Attackers
        Kinds of attackers.
    now : Offer
        The unprotected release without terms, or the first protection.
    offers : tuple of Offer
        Best offer of each protection, the best first.
    undecided, looked_at : int
        Number of offers that may be the best, and number of all combinations of protections and terms.
    stopping : tuple of StoppingTerms
        Terms that deter each attacker from each release.
    curves : tuple of FineCurve
        Payoff and deterring price of each protection as functions of the fine.
    deterring : tuple of Offer
        If no release is best: the offers with the smallest fine only, and the smallest price only, that deter all
        attackers with a margin and have a positive payoff.
    safer : Offer, optional
        The best offer with a margin, if its terms barely deter an attacker and can be raised.
    sensitivity : tuple of SensitiveInput
        Decision at both ends of each input, the largest loss first.
    alone : tuple of SingleAttacks
        Attacks on single people; empty if candidates are not equally likely.
    sizes : tuple of DeterringSize
        Smallest k of each protection that deters all attackers; empty without a search.
    reproduce : mapping
        Data to reproduce the game.
    """

    title: str
    people: int
    kinds: tuple[Attackers, ...]
    now: Offer
    offers: tuple[Offer, ...]
    undecided: int
    looked_at: int
    stopping: tuple[StoppingTerms, ...]
    curves: tuple[FineCurve, ...]
    deterring: tuple[Offer, ...] = ()
    safer: Offer | None = None
    sensitivity: tuple[SensitiveInput, ...] = ()
    alone: tuple[SingleAttacks, ...] = ()
    sizes: tuple[DeterringSize, ...] = ()
    reproduce: Mapping[str, str] | None = None

    @property
    def taken(self) -> Offer:
        """Best offer."""
        return self.offers[0]

    @property
    def released(self) -> list[Offer]:
        """Best offer of each protection that is released, the best first."""
        return [offer for offer in self.offers if offer.protection != WITHHELD]

    @property
    def has_ranges(self) -> bool:
        """True if an input is given as a range; the game uses its middle."""
        return any(row.ranged for row in self.sensitivity)
