"""Protections by name and parameters: NAME:parameter=value on a command line, or an entry of a document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from unmask.core.errors import UnmaskError, explain_unknown
from unmask.toml_text import format_value

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Spec:
    """Name and parameters of a protection.

    use        : name in the catalog, or "module:Class"
    parameters : keyword arguments of the class
    """

    use: str
    parameters: Settings = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str | Spec) -> Spec:
        """Parse a text; values are those of TOML, or else texts. A number after a colon belongs to the value before.

        >>> Spec.parse("tables.AddNoise:sd={age=2.5}").parameters, Spec.parse("my_module:Mine:k=3").use
        ({'sd': {'age': 2.5}}, 'my_module:Mine')
        >>> Spec.parse("IdentitySeparation:identities=2-18:2.31:model=best").parameters
        {'identities': '2-18:2.31', 'model': 'best'}
        """
        if isinstance(text, Spec):
            return text
        name, *parameters = re.split(r":(?!-?[\d.]+(?:$|:))", text)
        if not name:
            raise UnmaskError(f"{text!r} has no name, expected for example tables.Mondrian:k=10")
        if parameters and "=" not in parameters[0]:
            name = f"{name}:{parameters.pop(0)}"
        if invalid := next((parameter for parameter in parameters if "=" not in parameter), None):
            raise UnmaskError(f"{invalid!r} is not a parameter of {name}, expected for example tables.Mondrian:k=10")
        pairs = (parameter.partition("=") for parameter in parameters)
        return cls(name, {key: _parse_value(value) for key, _, value in pairs})

    @property
    def label(self) -> str:
        """Return the name of an adversary: the class and its parameters.

        >>> Spec.parse("tables.StringLinkage:neighbors=3").label
        'StringLinkage neighbors=3'
        """
        texts = (f"{key}={value}" for key, value in self.parameters.items())
        return " ".join([self.use.rpartition(".")[2], *texts])

    def __str__(self) -> str:
        return ":".join([self.use, *(f"{key}={format_value(value)}" for key, value in self.parameters.items())])


def _parse_value(text: str) -> Any:
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def parse_specs(texts: Sequence[str | Spec]) -> tuple[Spec, ...]:
    """Parse the protections or attacks of a command line or a document."""
    if not all(isinstance(text, str | Spec) for text in texts):
        raise UnmaskError('expected texts NAME:PARAMETER=VALUE, such as "tables.Mondrian:k=10"')
    return tuple(map(Spec.parse, texts))


def find_release_specs(releases: Sequence[Settings], protections: Sequence[Settings]) -> list[Spec]:
    """Return the protection that made each release of a document; nothing if no release names one.

    >>> specs = find_release_specs(
    ...     [{"protection": "mine"}], [{"name": "mine", "use": "tables.PRAM", "with": {"keep": 0.9}}]
    ... )
    >>> specs[0].use, specs[0].parameters
    ('tables.PRAM', {'keep': 0.9})
    """
    names = [release.get("protection") for release in releases]
    if not any(names):
        return []
    if not all(names):
        raise UnmaskError("some releases name the protection that made them and others do not; say it of each")
    return [_find_spec(str(name), protections) for name in names]


def _find_spec(name: str, protections: Sequence[Settings]) -> Spec:
    """Return the only protection with a name, or of a class."""
    entries = [entry for entry in protections if name in (entry.get("name"), entry.get("use"))]
    if len(entries) != 1 or "grid" in entries[0]:
        raise UnmaskError(
            f"a release was made by {name!r}, and the document has {len(entries)} protections of that name; "
            "expected one, without a grid"
        )
    return Spec(str(entries[0].get("use")), entries[0].get("with", {}))


# --- options of `unmask protect` ---

MONDRIAN = ("k", "l", "t", "t_distance", "l_entropy", "l_recursive", "delta", "beta", "alpha", "strict", "levels")
"""Parameters of Mondrian that are options by themselves."""


def to_options(entry: Settings) -> dict[str, Any]:
    """Return a protection of a document as options of `unmask protect`."""
    if entry.get("use") != "tables.Mondrian":
        return {"protection": [Spec(str(entry.get("use")), entry.get("with", {}))]}
    parameters = dict(entry.get("with", {}))
    for key in parameters:
        if key not in MONDRIAN:
            raise UnmaskError(explain_unknown(key, MONDRIAN, "with of the protection"))
    return parameters | ({"levels": format_levels(parameters["levels"])} if "levels" in parameters else {})


def format_levels(levels: Any) -> list[str]:
    """Return the finest levels of columns as texts of the option."""
    if not isinstance(levels, dict):
        raise UnmaskError('levels is not a table; expected for example levels = { birth = "year" }')
    return [f"{name}={level}" for name, level in levels.items()]


def list_entries(options: Settings) -> Iterator[dict[str, Any]]:
    """Yield the protections of options as entries of a document: that of `unmask protect`, and those of releases."""
    if ("k" in options and not options.get("protection")) or options["levels"]:
        parameters = {key: options.get(key) for key in MONDRIAN}
        defaults = {"strict": True, "levels": {}, **({"t_distance": "equal"} if parameters["t"] is None else {})}
        yield {
            "use": "tables.Mondrian",
            "with": {key: value for key, value in parameters.items() if value not in (None, defaults.get(key))},
        }
    entries: list[dict[str, Any]] = []
    for spec in options.get("protection") or ():
        entry = {"name": spec.use, "use": spec.use, **({"with": dict(spec.parameters)} if spec.parameters else {})}
        if entry not in entries:
            entries.append(entry)
    if len({entry["name"] for entry in entries}) < len(entries):
        raise UnmaskError("two releases were made by one protection with other parameters; give a document for each")
    yield from entries
