"""Attacks on graphs as they are written: a name of the catalog, parameters behind colons: `Bumblebee:theta=0.5`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from unmask import catalog
from unmask.errors import UnmaskError, nearest
from unmask.graphs import Attack

ATTACKS: Mapping[str, Any] = {
    name.removeprefix("graphs."): type(one) for name, one in catalog.ATTACKS.items() if name.startswith("graphs.")
}

OF_ITS_OWN = ("DirectedNar09", "Iterated")
"""Attacks that add nothing unless edges have directions, or people several identities."""

STANDARD = tuple(name for name in ATTACKS if name not in OF_ITS_OWN)

DEFAULT = (*STANDARD, "Rematch:forced=true")
"""What is run unless it is asked for something else: which is the strongest depends on the networks."""


def parse_attacks(texts: Iterable[str]) -> dict[str, Attack]:
    """Attacks by what was written, each once.

    >>> parse_attacks(["Nar09", "Bumblebee:theta=0.5"])["Bumblebee:theta=0.5"].theta
    0.5
    """
    found = {text: _attack(text) for text in texts}
    if not found:
        raise UnmaskError(f"0 attacks were given, expected at least 1 of {', '.join(ATTACKS)}")
    return found


def _attack(text: str) -> Attack:
    name, *given = text.split(":")
    if name not in ATTACKS:
        raise UnmaskError(f"the attack {name!r} is unknown, {nearest(name, tuple(ATTACKS))}")
    made: Attack = ATTACKS[name](**dict(_parameter(name, item) for item in given))
    return made


def _parameter(attack: str, text: str) -> tuple[str, Any]:
    """A parameter as the type of its default value."""
    known = {
        field.name: field.default if field.default_factory is MISSING else field.default_factory()
        for field in fields(ATTACKS[attack])
    }
    name, equals, value = text.partition("=")
    if not equals or name not in known:
        raise UnmaskError(
            f"{text!r} is no parameter of {attack}, expected one of {', '.join(known)} with = and a value"
        )
    default = known[name]
    try:
        if isinstance(default, bool):
            return name, {"true": True, "false": False}[value.lower()]
        return name, _attack(value) if value in ATTACKS else type(default)(value)
    except (ValueError, KeyError, TypeError):
        kind = type(default).__name__
        raise UnmaskError(f"{name} of {attack} is {value!r}, expected a value like {default!r} ({kind})") from None
