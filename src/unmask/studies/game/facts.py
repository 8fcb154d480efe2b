"""Measurements of the publisher's game: offers, answers of attackers, and the sensitivity of the decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unmask.economics.audit.facts import Bounds
from unmask.economics.game import WITHHELD


@dataclass(frozen=True)
class Answer:
    """Answer of one kind of attacker to an offer.

    Parameters
    ----------
    kind : str
        Name of the kind.
    attacks : bool or None
        True if a campaign pays; None if that is not known.
    payoff, re_identified : (float, float)
        Bounds on the payoff of one such attacker, and on the expected number of people that they re-identify.
    expects : (float, float), optional
        Number of people that they expect, if the probability of detection is not the one they believe.
    """

    kind: str
    attacks: bool | None
    payoff: Bounds
    re_identified: Bounds
    expects: Bounds | None = None


@dataclass(frozen=True)
class OfferTerms:
    """One protection, and the terms of its release: price, contractual fine, and factor of the audits."""

    protection: str
    price: float
    fine: float
    audit: float


@dataclass(frozen=True)
class Offer(OfferTerms):
    """One protection at some terms: its utility, bounds on the publisher's payoff, and the answers of attackers."""

    utility: float
    payoff: Bounds
    answers: tuple[Answer, ...]

    @property
    def re_identified(self) -> Bounds:
        """Bounds on the people re-identified by the attacker who re-identifies most."""
        low, high = (max((answer.re_identified[end] for answer in self.answers), default=0.0) for end in (0, 1))
        return low, high


@dataclass(frozen=True)
class StoppingTerms:
    """Terms that stop one kind of attacker on one release.

    Parameters
    ----------
    protection, kind : str
        Release and kind of attacker.
    price, fine : (float, float)
        Price alone, and contractual fine alone: below the first a campaign is known to pay, from the second none does.
    announced, realized : float
        People re-identified by a campaign without fines, by the attacker's belief and in truth; None if it is unknown.
    """

    protection: str
    kind: str
    price: Bounds
    fine: Bounds
    announced: float
    realized: float | None


@dataclass(frozen=True)
class FineCurve:
    """Least payoff of the publisher, and a price that deters every attacker, by the contractual fine."""

    protection: str
    fines: tuple[float, ...]
    payoffs: tuple[float, ...]
    prices: tuple[float, ...]


@dataclass(frozen=True)
class SensitivityEnd:
    """Decision at one value of an input: the best offer, its least payoff, and that of the offer to take.

    `changes` is True if the best offer leaves more than the offer to take.
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
        True if the document gives the range; else the ends are half and double the value.
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
    """Attacks on one person at a time compared with one campaign, by one kind of attacker on one release.

    Parameters
    ----------
    protection, kind : str
        Release and kind of attacker.
    people : int
        Number of people.
    inside : float
        People re-identified if every candidate of everybody is tried.
    one_try, known, unknown : float
        People re-identified one at a time: by one try, by going on, and by going on without the sizes of groups.
    campaign : float
        People re-identified by one campaign.
    pays_without_sizes : bool
        True if a campaign pays without knowing the sizes.
    fully_tried, partly_tried, untried : int
        People with every candidate, some, and none tried alone.
    lower_risk, higher_risk : int
        People whose risk alone falls, and rises, if sizes are not known.
    safe_alone : int
        People who are not attacked alone.
    safe_re_identified : float
        Number of these that the campaign re-identifies.
    largest_attacked : int
        Largest group that is attacked alone.
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

    `assumed` is True if they have the embedded profile, an unchecked assumption.
    """

    name: str
    number: float
    adversary: str
    parameters: Mapping[str, float | int | str | bool | tuple[float, ...]]
    assumed: bool


@dataclass(frozen=True)
class DeterringSize:
    """The smallest k of a protection that deters every attacker at the lowest terms.

    Parameters
    ----------
    protection : str
        Name of the protection without its k.
    release : str or None
        Name of the protection with this k.
    k : int or None
        The smallest k, at least 2; None if none up to `largest` deters everybody.
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
        Unprotected release without terms, or the first protection.
    offers : tuple of Offer
        Best offer of each protection, the best first.
    undecided, looked_at : int
        Number of offers that may be the best, and of all protections times terms.
    stopping : tuple of StoppingTerms
        Terms that stop each attacker on each release.
    curves : tuple of FineCurve
        Payoff and deterring price of each protection by the fine.
    deterring : tuple of Offer
        If nothing is to be released: offers with the least fine alone, and the least price alone, that deter everybody
        with a margin and leave something.
    safer : Offer, optional
        The offer to take with a margin, if its terms only just deter an attacker and may be raised.
    sensitivity : tuple of SensitiveInput
        Decision at both ends of each input, the greatest loss first.
    alone : tuple of SingleAttacks
        Attacks on one person at a time; none if candidates are not equally likely.
    sizes : tuple of DeterringSize
        Smallest k of each protection that deters everybody; none if the document does not ask for a search.
    reproduce : mapping
        How the game was made.
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
        """Best offer of each protection that releases something, the best first."""
        return [offer for offer in self.offers if offer.protection != WITHHELD]

    @property
    def has_ranges(self) -> bool:
        """True if an input is given as a range; the game has its middle."""
        return any(row.ranged for row in self.sensitivity)
