"""The tables `[publisher]` and `[[attackers]]` of a document, which define the publisher's game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from unmask.core.errors import UnmaskError
from unmask.document import ENDS
from unmask.economics import AttackerKind, Publisher, Range
from unmask.economics.attacker import Attacker, as_number
from unmask.economics.game.sensitivity import PUBLISHER
from unmask.economics.profile import EMBEDDED, attacker_of, attacker_table
from unmask.ranges import Range as IntRange
from unmask.ranges import check_type
from unmask.schema import check

TERMS: Final[Mapping[str, float]] = {"prices": 0.0, "fines": 0.0, "audits": 1.0}
"""List of terms in [publisher] -> default value."""

LARGEST_K: Final = "largest_k"
"""Key of [publisher] that requests a search for the smallest k that deters all attackers."""

KIND_KEYS: Final = ("name", "adversary", "attacker")
"""Keys of [[attackers]] other than the number and the parameters of an attacker."""

DETECTION_KEYS: Final = ("detection", "detection_base", "detection_growth")


@dataclass(frozen=True)
class GameDocument:
    """The game of a document.

    Parameters
    ----------
    publisher : Publisher
        Parameters of the publisher.
    terms : mapping
        Name of a list in `TERMS` -> amounts.
    attackers : mapping of str to AttackerKind
        Kinds of attackers by name.
    adversary : mapping of str to str
        Kind -> adversary with the same knowledge; "" for the first adversary of the document.
    assumed : frozenset of str
        Kinds that use the embedded profile.
    ranges : tuple of Range
        Inputs given as ranges; the game uses their middles.
    largest_k : int
        Largest k in the search for a k that deters all attackers; 0: no search.
    """

    publisher: Publisher
    terms: Mapping[str, tuple[float, ...]]
    attackers: Mapping[str, AttackerKind]
    adversary: Mapping[str, str]
    assumed: frozenset[str]
    ranges: tuple[Range, ...]
    largest_k: int = 0


def parse_game(document: Mapping[str, Any], folder: Path) -> GameDocument:
    """Parse the game of a document; a number may be `{ from = 1, to = 2 }`.

    >>> publisher = {"benefit": 1000, "loss": {"from": 100, "to": 300}, "fines": [0, 500]}
    >>> broker = {"name": "broker", "attacker": "case-study", "gain": 4000}
    >>> game = parse_game({"publisher": publisher, "attackers": [broker]}, Path())
    >>> game.publisher.loss, game.terms["fines"], game.attackers["broker"].attacker.gain
    (200.0, (0, 500), 4000)
    """
    ranges: list[Range] = []
    if "publisher" not in document:
        raise UnmaskError("it has no [publisher]; expected [publisher] and below it benefit and loss")
    table = document["publisher"]
    values = {key: value for key, value in table.items() if key not in (*TERMS, LARGEST_K)}
    largest_k = table.get(LARGEST_K, 0)
    check_type(LARGEST_K, largest_k or 2, Annotated[int, IntRange(2)])
    publisher, kinds = Publisher(**_replace_ranges(values, PUBLISHER, ranges)), _list_kinds(document)
    return GameDocument(
        publisher=publisher,
        terms={key: _check_amounts(key, table.get(key, [default])) for key, default in TERMS.items()},
        attackers={kind: _parse_kind(kind, entry, folder, ranges) for kind, entry in kinds.items()},
        adversary={kind: str(entry.get("adversary", "")) for kind, entry in kinds.items()},
        assumed=frozenset(kind for kind, entry in kinds.items() if entry.get("attacker") == EMBEDDED),
        ranges=tuple(ranges),
        largest_k=largest_k,
    )


def _list_kinds(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return name -> entry of [[attackers]]."""
    entries = document.get("attackers", [])
    if not entries:
        raise UnmaskError("it has no attackers; expected [[attackers]], and below it for example gain = 5000")
    kinds = {str(entry.get("name", f"attacker {place}")): entry for place, entry in enumerate(entries, 1)}
    if len(kinds) < len(entries):
        raise UnmaskError("two of the attackers have the same name; give each a different name")
    return kinds


def _parse_kind(kind: str, entry: Mapping[str, Any], folder: Path, ranges: list[Range]) -> AttackerKind:
    """Return a kind of attacker: a profile, updated by the parameters of its entry."""
    if "prior" in entry:
        raise UnmaskError(
            f"attacker {kind!r} has a prior, but here the release determines it; set coverage in the knowledge of the "
            "adversary"
        )
    profile = entry.get("attacker", {})
    base, parameters = ({}, profile)
    if isinstance(profile, str):
        base, parameters = attacker_table(EMBEDDED if profile == EMBEDDED else folder / profile), {}
    parameters = {**parameters, **{key: value for key, value in entry.items() if key not in KIND_KEYS}}
    values = _replace_ranges(parameters, kind, ranges)
    number, believed = values.pop("number", 1.0), values.pop("believed_detection", None)
    if "detection_prior" in values or "detection" in values:
        base = {key: value for key, value in base.items() if not key.startswith("detection")}
    parameters = _set_detection({**base, **values}, values.get("detection"))
    actual = _check_campaigns(attacker_of(parameters, kind), kind)
    if believed is None:
        return AttackerKind(actual, number)
    if any(item.of == kind and item.parameter == "detection" for item in ranges):
        raise UnmaskError(f"detection of {kind!r} is a range, and believed_detection is also given; remove one")
    return AttackerKind(attacker_of(_set_detection(parameters, believed), kind), number, actual)


def _check_campaigns(attacker: Attacker, kind: str) -> Attacker:
    """Return the attacker if it can plan a campaign; raise otherwise."""
    if attacker.discount != 1:
        problem = f"attacker {kind!r} has the discount {attacker.discount:g}"
        raise UnmaskError(f"{problem}, expected 1: a campaign against all people has no common clock")
    if attacker.ties == "attack":
        raise UnmaskError(f"attacker {kind!r} has ties = 'attack', and a campaign worth nothing does not begin")
    return attacker


def _set_detection(parameters: Mapping[str, Any], detection: object) -> Mapping[str, Any]:
    """Return the parameters with a new probability of detection, or a list of them."""
    if detection is None:
        return parameters
    remaining = {key: value for key, value in parameters.items() if key not in DETECTION_KEYS}
    return {**remaining, "detection": detection if isinstance(detection, list) else [detection]}


def _replace_ranges(values: Mapping[str, Any], owner: str, ranges: list[Range]) -> dict[str, Any]:
    """Replace each range by its middle; append the ranges to `ranges`."""
    middles = {}
    for key, value in values.items():
        if isinstance(value, dict):
            check(value, ENDS, f"{key} of {owner}")
            ranges.append(Range(owner, key, value["from"], value["to"]))
        middles[key] = ranges[-1].middle if isinstance(value, dict) else value
    return middles


def _check_amounts(key: str, amounts: Sequence[float]) -> tuple[float, ...]:
    if not amounts:
        raise UnmaskError(f"{key} of the publisher is empty; expected for example {key} = [0, 10000]")
    for amount in amounts:
        as_number(key, amount)
    return tuple(amounts)
