"""What a page shows of the publisher's game, as values; a pair is what a number is at least and at most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, is_dataclass
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

Pair = tuple[float, float]

WITHHELD = "no release"
"""The offer of a publisher who releases nothing: worth 0, and nobody answers."""


@dataclass(frozen=True)
class Answer:
    """How one kind of attacker answers an offer.

    attacks       : whether a campaign pays; None where that is open
    payoff        : what one of them is left with
    re_identified : people whom one of them re-identifies in expectation
    expects       : the same as they believe, where they are not detected as they believe; None where they are
    """

    kind: str
    attacks: bool | None
    payoff: Pair
    re_identified: Pair
    expects: Pair | None = None


@dataclass(frozen=True)
class Asked:
    """One protection, and the terms that are asked for it."""

    protection: str
    price: float
    fine: float
    audit: float


@dataclass(frozen=True)
class Offer(Asked):
    """One protection at some terms, what is left to the publisher, and how attackers answer."""

    utility: float
    payoff: Pair
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Stopping:
    """What stops one kind of attacker on one release when nothing else is asked: the price, and the contractual fine.

    Below the first of a pair a campaign is known to pay, from the second on none does; infinite where none stops them.
    announced : people whom the campaign re-identifies that nobody fines, by the attacker's own belief
    realized  : the same by the truth, None where that is not known
    """

    protection: str
    kind: str
    price: Pair
    fine: Pair
    announced: float
    realized: float | None


@dataclass(frozen=True)
class Curve:
    """By the contractual fine: what is left to the publisher at least, and a price that keeps everybody away, the least
    one where their campaigns are looked at.
    """

    protection: str
    fines: tuple[float, ...]
    payoffs: tuple[float, ...]
    prices: tuple[float, ...]


@dataclass(frozen=True)
class End:
    """The decision at the low or the high value of one input, all other inputs as assumed.

    best    : the offer that is best there
    payoff  : the least payoff of that offer there
    taken   : the least payoff there of the offer to take
    changes : whether the best offer leaves more than the offer to take
    """

    value: float
    best: Asked
    payoff: float
    taken: float
    changes: bool


@dataclass(frozen=True)
class Sensitive:
    """The sensitivity of the decision to one input.

    ranged  : whether the document gives the range; else the ends are half and double the value
    changes : whether another offer is better at one of the ends
    """

    of: str
    parameter: str
    value: float
    ranged: bool
    low: End
    high: End
    changes: bool


@dataclass(frozen=True)
class Alone:
    """One release and one kind of attacker: everybody attacked alone, or all in one campaign; people, as expected.

    inside   : re-identified if every candidate of everybody is tried
    one_try  : re-identified by one try at each; known, unknown: by going on, sizes of groups known and not known
    campaign : re-identified by one campaign; blind: whether it pays without knowing the sizes, too
    tried    : people of whom every candidate is tried alone, some, and none
    changed  : people whose risk falls, and rises, alone where sizes are not known
    spared   : people whom nobody attacks alone, and how many of them the campaign re-identifies
    reach    : the largest group that is attacked alone
    """

    protection: str
    kind: str
    people: int
    inside: float
    one_try: float
    known: float
    unknown: float
    campaign: float
    blind: bool
    tried: tuple[int, int, int]
    changed: tuple[int, int]
    spared: tuple[int, float]
    reach: int


@dataclass(frozen=True)
class Kind:
    """A kind of attacker: how many are expected, whose knowledge they have, and what they are made of.

    assumed : whether the parameters are the embedded profile, which nobody has checked
    """

    name: str
    number: float
    adversary: str
    parameters: Mapping[str, float | int | str | bool]
    assumed: bool


@dataclass(frozen=True)
class GameData:
    """The publisher's game of one document.

    people    : targets of a release
    publisher : what the publisher said, name -> value
    now       : the unprotected release with nothing asked, or the first protection
    offers    : the best one of each protection, the best first
    undecided : of all that were looked at, how many may be the best
    looked_at : protections times terms
    deterring : where nothing is to be released: the least fine alone, and price alone, at which nobody attacks and
                something is left, a percent above those that only just keep them away; none where there is none
    safer     : the offer to take with its fine and price a percent higher, but no more than may be asked, played again;
                None where these do not only just keep somebody away, or are the most already
    sensitivity : the decision at both ends of each input, the greatest loss first
    alone     : one person at a time beside one campaign; none for beliefs whose candidates differ
    """

    title: str
    people: int
    publisher: Mapping[str, float | int | bool]
    kinds: tuple[Kind, ...]
    now: Offer
    offers: tuple[Offer, ...]
    undecided: int
    looked_at: int
    stopping: tuple[Stopping, ...]
    curves: tuple[Curve, ...]
    deterring: tuple[Offer, ...] = ()
    safer: Offer | None = None
    sensitivity: tuple[Sensitive, ...] = ()
    alone: tuple[Alone, ...] = ()
    reproduce: Mapping[str, object] | None = None

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> GameData:
        """The game whose plain values these are, as `dataclasses.asdict` gives them, lists for tuples."""
        found: GameData = _made(cls, plain)
        return found

    @property
    def taken(self) -> Offer:
        """The offer to take, the best one."""
        return self.offers[0]

    @property
    def middled(self) -> bool:
        """Test if a number is given as a range; the game has its middle."""
        return any(one.ranged for one in self.sensitivity)

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """What was found, as tables of plain values, by name; what to do is `decision`."""
        listed: dict[str, tuple[Any, ...]] = {
            "sensitivity": self.sensitivity,
            "alone": self.alone,
            "stopping": self.stopping,
        }
        return {"decision": [self._decision()], **{name: [asdict(one) for one in own] for name, own in listed.items()}}

    def _decision(self) -> dict[str, Any]:
        """What to do: the offer to take, who attacks it, what to ask to be safe, and what would make a release pay."""
        state = {True: "attacks", None: "may attack"}
        return {
            "release": self.taken.protection != WITHHELD,
            **asdict(self.taken),
            "attackers": {one.kind: state.get(one.attacks, "stays away") for one in self.taken.answers},
            "safer": None if self.safer is None else asdict(self.safer),
            "would_pay": [asdict(one) for one in self.deterring],
        }


def _made(kind: Any, plain: Any) -> Any:
    """Plain values as a type says: dataclasses of dictionaries, tuples of all lists."""
    inner, make = get_args(kind), kind
    if is_dataclass(kind):
        types = get_type_hints(kind)
        return make(**{name: _made(types[name], one) for name, one in plain.items()})
    if get_origin(kind) is tuple:
        kinds = inner[:1] * len(plain) if inner[-1] is Ellipsis else inner
        return tuple(map(_made, kinds, plain))
    if NoneType in inner and plain is not None:
        return _made(inner[0], plain)
    if isinstance(plain, dict):
        return {name: _made(Any, one) for name, one in plain.items()}
    return tuple(plain) if isinstance(plain, list) else plain
