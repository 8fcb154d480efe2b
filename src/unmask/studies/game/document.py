"""What a document says about the publisher's game: `[publisher]` and `[[attackers]]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from unmask.core.errors import UnmaskError
from unmask.economics import AttackerKind, Publisher, Range
from unmask.economics.attacker import Attacker, as_number
from unmask.economics.profile import EMBEDDED, attacker_of, attacker_table
from unmask.economics.sensitivity import PUBLISHER

ASKED: Final[Mapping[str, float]] = {"prices": 0.0, "fines": 0.0, "audits": 1.0}
"""What [publisher] lists of terms -> what is asked where it says nothing."""

OF_KIND: Final = ("name", "adversary", "attacker")
"""What [[attackers]] says besides their number and the parameters of an attacker."""


@dataclass(frozen=True)
class Stated:
    """What a document says about the game.

    terms     : name of a list of `ASKED` -> its amounts
    adversary : kind of attacker -> the adversary whose knowledge they have, "" for the first of the document
    assumed   : the kinds that are the embedded profile
    ranges    : the numbers that are given as ranges; the game is played with their middles
    """

    publisher: Publisher
    terms: Mapping[str, tuple[float, ...]]
    attackers: Mapping[str, AttackerKind]
    adversary: Mapping[str, str]
    assumed: frozenset[str]
    ranges: tuple[Range, ...]


def stated(given: Mapping[str, Any], folder: Path) -> Stated:
    """The `[publisher]` and the `[[attackers]]` of a document; a number may be `{ from = 1, to = 2 }`.

    >>> said = {"benefit": 1000, "loss": {"from": 100, "to": 300}, "fines": [0, 500]}
    >>> someone = {"name": "broker", "attacker": "case-study", "gain": 4000}
    >>> found = stated({"publisher": said, "attackers": [someone]}, Path())
    >>> found.publisher.loss, found.terms["fines"], found.attackers["broker"].attacker.gain
    (200.0, (0, 500), 4000)
    """
    ranges: list[Range] = []
    if "publisher" not in given:
        raise UnmaskError("it has no [publisher]; expected [publisher] and below it benefit and loss")
    said = given["publisher"]
    money = {key: value for key, value in said.items() if key not in ASKED}
    publisher, kinds = Publisher(**_middles(money, PUBLISHER, ranges)), _kinds(given)
    return Stated(
        publisher=publisher,
        terms={key: _amounts(key, said.get(key, [usual])) for key, usual in ASKED.items()},
        attackers={kind: _expected(kind, entry, folder, ranges) for kind, entry in kinds.items()},
        adversary={kind: str(entry.get("adversary", "")) for kind, entry in kinds.items()},
        assumed=frozenset(kind for kind, entry in kinds.items() if entry.get("attacker") == EMBEDDED),
        ranges=tuple(ranges),
    )


def _kinds(given: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """What stands below each [[attackers]], by its name."""
    entries = given.get("attackers", [])
    if not entries:
        raise UnmaskError("it has no attackers; expected [[attackers]], and below it for example gain = 5000")
    kinds = {str(entry.get("name", f"attacker {place}")): entry for place, entry in enumerate(entries, 1)}
    if len(kinds) < len(entries):
        raise UnmaskError("two of the attackers have the same name; give each a name of its own")
    return kinds


def _expected(kind: str, entry: Mapping[str, Any], folder: Path, ranges: list[Range]) -> AttackerKind:
    """A kind of attacker: a profile, changed by what stands beside it."""
    if "prior" in entry:
        raise UnmaskError(
            f"attacker {kind!r} has a prior, which the release tells here; say coverage in what an adversary knows"
        )
    base, own = _profile(entry.get("attacker", {}), folder)
    told = {**own, **{key: value for key, value in entry.items() if key not in OF_KIND}}
    own = _middles(told, kind, ranges)
    number, believed = own.pop("number", 1.0), own.pop("believed_detection", None)
    if "detection_prior" in own or "detection" in own:  # in place of what the profile says of it
        base = {key: value for key, value in base.items() if not key.startswith("detection")}
    known = _detected({**base, **own}, own.get("detection"))
    actual = _campaigning(attacker_of(known, kind), kind)
    if believed is None:
        return AttackerKind(actual, number)
    if any(one.of == kind and one.parameter == "detection" for one in ranges):
        raise UnmaskError(f"detection of {kind!r} is a range, and what they believe of it is another; leave one out")
    return AttackerKind(attacker_of(_detected(known, believed), kind), number, actual)


def _campaigning(attacker: Attacker, kind: str) -> Attacker:
    """The attacker, who can plan a campaign."""
    if attacker.discount != 1:
        said = f"attacker {kind!r} has the discount {attacker.discount:g}"
        raise UnmaskError(f"{said}, expected 1: a campaign against all people has no common clock")
    if attacker.ties == "attack":
        raise UnmaskError(f"attacker {kind!r} has ties = 'attack', and a campaign that is worth nothing is not begun")
    return attacker


def _detected(known: Mapping[str, Any], detection: object) -> Mapping[str, Any]:
    """Parameters with a probability of detection, or a list of them, in place of any other."""
    if detection is None:
        return known
    ways = ("detection", "detection_base", "detection_growth")
    rest = {key: value for key, value in known.items() if key not in ways}
    return {**rest, "detection": detection if isinstance(detection, list) else [detection]}


def _profile(given: str | Mapping[str, Any], folder: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """What a profile says, the embedded one or that of a file, and what a table in its place says of its own."""
    if not isinstance(given, str):
        return {}, given
    return attacker_table(EMBEDDED if given == EMBEDDED else folder / given), {}


def _middles(said: Mapping[str, Any], of: str, ranges: list[Range]) -> dict[str, Any]:
    """What is said, a range by its middle; the range is noted."""
    found = {}
    for key, value in said.items():
        if isinstance(value, dict):
            ranges.append(Range(of, key, value["from"], value["to"]))
        found[key] = ranges[-1].middle if isinstance(value, dict) else value
    return found


def _amounts(key: str, given: Sequence[float]) -> tuple[float, ...]:
    if not given:
        raise UnmaskError(f"{key} of the publisher is empty; expected for example {key} = [0, 10000]")
    for value in given:
        as_number(key, value)
    return tuple(given)
