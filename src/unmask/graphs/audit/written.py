"""Attacks and protections of networks as they are written: `Bumblebee:theta=0.5`, `KDegree:k=10`, `module:Class`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from unmask.catalog import Kind, find
from unmask.core.errors import UnmaskError, nearest
from unmask.graphs import Attack, Together, examples

ATTACKS: Mapping[str, Any] = {type(one).__name__: type(one) for one in examples.ATTACKS}

PROTECTIONS: Mapping[str, Any] = {
    type(one).__name__: type(one) for one in examples.PROTECTIONS if not isinstance(one, Together)
}
"""All but `Together`, whose parts do not go into one word."""

OF_ITS_OWN = ("DegreeMatching", "Iterated")
"""Attacks that add nothing, unless people have several identities: then they are run, too."""

DIRECTED = "Nar09:directed=true"
"""The attack that is run, too, if edges have directions."""

STANDARD = tuple(name for name in ATTACKS if name not in OF_ITS_OWN)

DEFAULT = ("Rematch:forced=true", *STANDARD)
"""What is run unless it is asked for something else: which is the strongest depends on the networks. The first is quick
and strong, so that it gives a first answer.
"""


def parse_attacks(texts: Iterable[str], code: Path | None = None) -> dict[str, Attack]:
    """Return attacks by their texts, each once. code : folder whose modules they may run, see `catalog.find`

    >>> parse_attacks(["Nar09", "Bumblebee:theta=0.5"])["Bumblebee:theta=0.5"].theta
    0.5
    """
    found = {text: _made(text, ATTACKS, "attacks", code) for text in texts}
    if not found:
        raise UnmaskError(f"0 attacks were given, expected at least 1 of {', '.join(ATTACKS)}")
    return found


def parse_protection(text: str, code: Path | None = None) -> Any:
    """Return a protection by its text. code : folder whose modules it may run

    >>> parse_protection("IdentitySeparation:identities=3:adopters=50").adopters, parse_protection("KDegree")
    (50, KDegree(k=5))
    """
    return _made(text, PROTECTIONS, "protections", code)


def _made(text: str, known: Mapping[str, Any], of: Kind, code: Path | None = None) -> Any:
    name, *given = text.removeprefix("graphs.").split(":")
    if name in known:
        kind = known[name]
    elif given and "=" not in given[0]:  # module:Class
        kind = find(f"{name}:{given.pop(0)}", of, code)
    else:
        raise UnmaskError(f"the {of.removesuffix('s')} {name!r} is unknown, {nearest(name, tuple(known))}")
    return kind(**dict(_parameter(name, item, kind) for item in given))


def _parameter(name_of_kind: str, text: str, kind: Any) -> tuple[str, Any]:
    """A parameter as the type of its default value."""
    usual = kind()
    known = {field.name: getattr(usual, field.name) for field in fields(usual)} if is_dataclass(usual) else {}
    name, equals, value = text.partition("=")
    if not equals or name not in known:
        raise UnmaskError(
            f"{text!r} is no parameter of {name_of_kind}, expected one of {', '.join(known)} with = and a value"
        )
    default = known[name]
    try:
        if isinstance(default, bool):
            return name, {"true": True, "false": False}[value.lower()]
        if name == "adopters" and value.isdecimal():
            return name, int(value)  # people, and no share of them
        return name, _made(value, ATTACKS, "attacks") if value in ATTACKS else type(default)(value)
    except (ValueError, KeyError, TypeError):
        said = f"expected a value like {default!r} ({type(default).__name__})"
        raise UnmaskError(f"{name} of {name_of_kind} is {value!r}, {said}") from None
