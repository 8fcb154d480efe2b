"""The attacks on graphs by the names they go by on a command line: `nar09`, `bumblebee:theta=0.5`."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from unmask.catalog import find
from unmask.errors import UnmaskError
from unmask.graphs import Bumblebee, GraphMatching, Grasshopper, Irma, KorulaLattanzi, Nar09, Rematch
from unmask.studies.graph_trials import GraphAttack

ATTACKS: Mapping[str, Callable[..., GraphAttack]] = {
    "nar09": Nar09,
    "grasshopper": Grasshopper,
    "bumblebee": Bumblebee,
    "rematch": Rematch,
    "irma": Irma,
    "korula_lattanzi": KorulaLattanzi,
    "graph_matching": GraphMatching,
}
"""Name -> attack, with its default parameters."""

DEFAULT = (*ATTACKS, "rematch:forced=true")
"""What is run unless it is asked for something else: all, as which is the strongest depends on the networks."""


def parse_attacks(texts: Iterable[str]) -> dict[str, GraphAttack]:
    """Attacks by what was written, each once: a name, and parameters behind colons.

    >>> parse_attacks(["nar09", "bumblebee:theta=0.5"])["bumblebee:theta=0.5"].theta
    0.5
    """
    found = {text: _attack(text) for text in texts}
    if not found:
        raise UnmaskError(f"0 attacks were given, expected at least 1 of {', '.join(ATTACKS)}")
    return found


def _attack(text: str) -> GraphAttack:
    name, *given = text.split(":")
    if name in ATTACKS:
        kind = ATTACKS[name]
    elif given and "=" not in given[0]:  # module:Class
        kind = find(f"{name}:{given.pop(0)}", "attacks", Path.cwd())
    else:
        near = difflib.get_close_matches(name, ATTACKS, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UnmaskError(f"the attack {name!r} is unknown; {hint}The attacks are {', '.join(ATTACKS)}")
    known = {field.name: field.default for field in fields(kind)} if isinstance(kind, type) else {}
    parameters = dict(_parameter(name, item, known) for item in given)
    return kind(**parameters)


def _parameter(attack: str, text: str, known: Mapping[str, Any]) -> tuple[str, Any]:
    """A parameter as the type of its default value."""
    name, equals, value = text.partition("=")
    if not equals or name not in known:
        raise UnmaskError(
            f"{text!r} is no parameter of {attack}, expected one of {', '.join(known)} with = and a value"
        )
    default = known[name]
    try:
        if isinstance(default, bool):
            return name, {"true": True, "false": False}[value.lower()]
        return name, type(default)(value)
    except (ValueError, KeyError, TypeError):
        kind = type(default).__name__
        raise UnmaskError(f"{name} of {attack} is {value!r}, expected a value like {default!r} ({kind})") from None
