"""What made a release, as it is said: NAME:parameter=value on a command line, or a protection of a document."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from unmask.core.errors import UnmaskError
from unmask.plan import unknown

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Spec:
    """A protection that is named and not made yet.

    use        : its name in the catalog, or "module:Class"
    parameters : what it is made with
    """

    use: str
    parameters: Settings = field(default_factory=dict)

    @classmethod
    def read(cls, said: str | Spec) -> Spec:
        """What was typed: values are those of TOML, or else texts.

        >>> Spec.read("tables.AddNoise:sd={age=2.5}").parameters, Spec.read("my_module:Mine:k=3").use
        ({'sd': {'age': 2.5}}, 'my_module:Mine')
        """
        if isinstance(said, Spec):
            return said
        name, *given = said.split(":")
        if given and "=" not in given[0]:
            name = f"{name}:{given.pop(0)}"
        if wrong := next((one for one in given if "=" not in one), None):
            raise UnmaskError(f"{wrong!r} is no parameter of {name}, expected for example tables.Mondrian:k=10")
        return cls(name, {key: _value(text) for key, _, text in (one.partition("=") for one in given)})

    def said(self) -> dict[str, Any]:
        """As an entry of a document."""
        return {"name": self.use, "use": self.use, **({"with": dict(self.parameters)} if self.parameters else {})}


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def specs(texts: Sequence[str | Spec]) -> tuple[Spec, ...]:
    """All that were typed, or that a document names."""
    return tuple(map(Spec.read, texts))


def of_releases(releases: Sequence[Settings], protections: Sequence[Settings]) -> list[Spec]:
    """The protection that each release of a document names as the one that made it; nothing where none does.

    >>> made = of_releases([{"protection": "mine"}], [{"name": "mine", "use": "tables.PRAM", "with": {"keep": 0.9}}])
    >>> made[0].use, made[0].parameters
    ('tables.PRAM', {'keep': 0.9})
    """
    names = [one.get("protection") for one in releases]
    if not any(names):
        return []
    if not all(names):
        raise UnmaskError("some releases name the protection that made them and others do not; say it of each")
    return [_named(str(name), protections) for name in names]


def _named(name: str, protections: Sequence[Settings]) -> Spec:
    """The one protection of a name, or of a use."""
    found = [one for one in protections if name in (one.get("name"), one.get("use"))]
    if len(found) != 1 or "grid" in found[0]:
        raise UnmaskError(
            f"a release says that {name!r} made it, and the document has {len(found)} protections of that name; "
            "expected one, without a grid"
        )
    return Spec(str(found[0].get("use")), found[0].get("with", {}))


# --- the one that `unmask protect` runs -------------------------------------------------------------------------------


def protecting(one: Settings) -> dict[str, Any]:
    """A protection of a document as options of `unmask protect`."""
    if one.get("use") != "tables.Mondrian":
        return {"protection": [Spec(str(one.get("use")), one.get("with", {}))]}
    asked = dict(one.get("with", {}))
    options: dict[str, Any] = {"relaxed": not asked.pop("strict", True)}
    for key, value in asked.items():
        if key not in ("k", "l", "t", "levels"):
            raise UnmaskError(unknown(key, ("k", "l", "t", "levels", "strict"), "with of the protection"))
        options["l_" if key == "l" else key] = levels(value) if key == "levels" else value
    return options


def levels(said: Any) -> list[str]:
    """The finest levels of columns, as they are typed."""
    if not isinstance(said, dict):
        raise UnmaskError('levels is no table; expected for example levels = { birth = "year" }')
    return [f"{name}={level}" for name, level in said.items()]


def entries(options: Settings) -> Iterator[dict[str, Any]]:
    """The protections of options, as entries of a document: what `unmask protect` runs, and what made releases."""
    if ("k" in options and not options.get("protection")) or options["levels"]:
        strict = False if options.get("relaxed") else None
        asked = {"k": options.get("k"), "l": options.get("l_"), "t": options.get("t"), "strict": strict}
        asked["levels"] = options["levels"] or None
        kept = {key: value for key, value in asked.items() if value is not None}
        yield {"use": "tables.Mondrian", "with": kept}
    said: list[dict[str, Any]] = []
    for one in (spec.said() for spec in options.get("protection") or ()):
        if one not in said:
            said.append(one)
    if len({one["name"] for one in said}) < len(said):
        raise UnmaskError("two releases were made by one protection with other parameters; give a document for each")
    yield from said
