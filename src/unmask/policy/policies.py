"""Policies: conditions with their sources, from a document, from a file of their own, or of those that are shipped."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from unmask.core.errors import UnmaskError, nearest
from unmask.data.files import read_toml
from unmask.policy.condition import Condition

SHIPPED = resources.files("unmask.policy") / "shipped"
"""Where the policies lie that come with unmask."""

GIVEN = "the conditions given"
"""The title of conditions that were given one by one."""

TYPED = "typed in for this audit, no source given"
"""The source of a condition that was given by itself, without one."""

DOCUMENTS = "its own policy"
"""The title of conditions in a document, whose own title is that of the release."""


@dataclass(frozen=True)
class Requirement:
    """A condition that a release must keep.

    require : such as success_probability.worst <= 0.09
    name    : what a reader calls it; the condition itself when left out
    source  : who asks for it: the law, the guidance or the paper, with its section
    purpose : what it is for, in a few words
    domain  : the domain whose audits it is about, such as "graphs"; "" for every one
    """

    require: Condition
    name: str = ""
    source: str = ""
    purpose: str = ""
    domain: str = ""

    @classmethod
    def typed(cls, text: str) -> Requirement:
        """One that is typed: a condition, and behind a number sign its source.

        >>> Requirement.typed("k >= 5  # our board").source, Requirement.typed("k >= 5").source
        ('our board', 'typed in for this audit, no source given')
        """
        condition, source = re.fullmatch(r"([^<>]*[^#]*)#?(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
        return cls(Condition.parse(condition), source=source.strip() or TYPED)


@dataclass(frozen=True)
class Policy:
    """Requirements under one title; it is kept where all of them are.

    >>> Policy.of(["k >= 5", "success_probability.worst <= 0.2"], title="Ours").requirements[0].require.measure
    'k'
    """

    title: str
    requirements: tuple[Requirement, ...] = field(repr=False)

    @classmethod
    def of(cls, conditions: Iterable[str | Condition], *, title: str) -> Policy:
        """A policy of conditions that no source is given for."""
        asked = (Condition.parse(one) if isinstance(one, str) else one for one in conditions)
        return cls(title, tuple(map(Requirement, asked)))

    def about(self, domain: str) -> Policy:
        """What it requires in audits of a domain."""
        return replace(self, requirements=tuple(one for one in self.requirements if one.domain in ("", domain)))


def read_policies(given: Iterable[Policy | str | Path]) -> tuple[Policy, ...]:
    """Policies as they are, or by name or file, and at the end one of all single conditions among them.

    >>> [one.title for one in read_policies(["k >= 5", "strict", "t_equal <= 0.2"])]
    ['Strict', 'the conditions given']
    """
    listed = list(given)
    single = [one for one in listed if isinstance(one, str) and re.search("[<>]", one)]
    named = [one if isinstance(one, Policy) else read_policy(one) for one in listed if one not in single]
    return (*named, *([Policy(GIVEN, tuple(map(Requirement.typed, single)))] if single else []))


def read_policy(which: str | Path) -> Policy:
    """The policy of a TOML file, or one that is shipped, by its name.

    The file has a title and entries [[policy]]; it may be a document, of which nothing else is read.
    """
    path = Path(which)
    if path.suffix == ".toml":
        return policy_of(read_toml(path, "policy"), path.parent, title=path.stem)
    if str(which) not in shipped():
        known = nearest(str(which), tuple(shipped()))
        raise UnmaskError(f"no policy is called {str(which)!r}; {known}, a TOML file, or a condition such as k>=5")
    return shipped()[str(which)]


def shipped() -> dict[str, Policy]:
    """Name -> policy of those that come with unmask."""
    files = sorted((one for one in SHIPPED.iterdir() if one.name.endswith(".toml")), key=lambda one: one.name)
    texts = {one.name.removesuffix(".toml"): tomllib.loads(one.read_text(encoding="utf-8")) for one in files}
    return {name: policy_of(given, Path(), title=name) for name, given in texts.items()}


def policy_of(given: Mapping[str, Any], folder: Path, *, title: str) -> Policy:
    """The policy of a document, with those that its entries use; folder : where their files lie.

    >>> asked = {"policy": [{"require": "k >= 5", "source": "our statistical office"}]}
    >>> policy_of(asked, Path(), title="Ours").requirements[0].source
    'our statistical office'
    """
    entries = given.get("policy", [])
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise UnmaskError("policy is no list of tables; expected [[policy]] above each of them")
    used = [read_policy(_placed(one["use"], folder)) for one in entries if "use" in one]
    own = given.get("title", title) if given.keys() <= {"title", "policy"} else DOCUMENTS
    titles = dict.fromkeys([*(policy.title for policy in used), *([own] if len(used) < len(entries) else [])])
    asked = [one for entry in entries for one in _entries(entry, used)]
    return Policy(" and ".join(map(str, titles)) or title, tuple(asked))


KEYS = ("require", "name", "source", "purpose", "domain")


def _entries(entry: Mapping[str, Any], used: list[Policy]) -> Iterator[Requirement]:
    """What an entry requires: the requirements of the next policy used, or its own."""
    if "use" in entry:
        if len(entry) > 1:
            raise UnmaskError("policy says use and more; expected use alone, or require with name, source and purpose")
        yield from used.pop(0).requirements
        return
    for key, value in entry.items():
        if key not in KEYS:
            raise UnmaskError(f"policy has no key {key!r}; {nearest(key, (*KEYS, 'use'))}")
        if not isinstance(value, str):
            raise UnmaskError(f"{key} of policy is {value!r}, expected a text")
    if "require" not in entry:
        raise UnmaskError("policy has no require; expected a condition such as success_probability.worst <= 0.09")
    yield Requirement(**{**entry, "require": Condition.parse(entry["require"])})


def _placed(name: Any, folder: Path) -> str | Path:
    if not isinstance(name, str):
        raise UnmaskError(f"policy uses {name!r}, expected the name of a policy or a TOML file")
    return folder / name if name.endswith(".toml") else name
