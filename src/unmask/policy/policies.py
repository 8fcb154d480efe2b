"""Policies: conditions with their sources, from a document, from a file of their own, or shipped with unmask."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

from unmask.core.errors import UnmaskError, nearest
from unmask.data.files import read_toml
from unmask.languages import mark
from unmask.policy.condition import Condition
from unmask.schema import Table, check, list_of

SHIPPED_FOLDER = resources.files("unmask.policy") / "shipped"
"""Folder of the policies that come with unmask."""

CONDITIONS_TITLE = mark("the conditions given")
"""Title of single conditions, such as those of `--policy`."""

TYPED_SOURCE = mark("set for this audit")
"""Source of a single condition without a source."""

DOCUMENT_TITLE = mark("the policy of the document")
"""Title of the conditions in a document, in which the title is that of the release."""


@dataclass(frozen=True)
class Requirement:
    """A condition that a release must meet.

    require : condition such as success_probability.worst <= 0.09
    name    : name for readers; the condition itself by default
    source  : law, guidance or paper that asks for it, with its section
    purpose : purpose in a few words
    domain  : domain whose audits it is about, such as "graphs"; "" for every domain
    """

    require: Condition
    name: str = ""
    source: str = ""
    purpose: str = ""
    domain: str = ""

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Return the requirement of a text: a condition, and its source after a number sign.

        >>> Requirement.parse("k >= 5  # our board").source, Requirement.parse("k >= 5").source
        ('our board', 'set for this audit')
        """
        condition, source = re.fullmatch(r"([^<>]*[^#]*)#?(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
        return cls(Condition.parse(condition), source=source.strip() or TYPED_SOURCE)


@dataclass(frozen=True)
class Policy:
    """Requirements under one title; a release is acceptable if it meets all of them.

    >>> Policy.of(["k >= 5", "success_probability.worst <= 0.2"], title="Ours").requirements[0].require.measure
    'k'
    """

    title: str
    requirements: tuple[Requirement, ...] = field(repr=False)

    @classmethod
    def of(cls, conditions: Iterable[str | Condition], *, title: str) -> Policy:
        """Return a policy of conditions without sources."""
        parsed = (Condition.parse(item) if isinstance(item, str) else item for item in conditions)
        return cls(title, tuple(map(Requirement, parsed)))

    def for_domain(self, domain: str) -> Policy:
        """Return the requirements for audits of a domain."""
        requirements = (requirement for requirement in self.requirements if requirement.domain in ("", domain))
        return replace(self, requirements=tuple(requirements))


def read_policies(policies: Iterable[Policy | str | Path]) -> tuple[Policy, ...]:
    """Return policies, read by name or file, and at the end one of all single conditions among them.

    >>> [policy.title for policy in read_policies(["k >= 5", "strict", "t_equal <= 0.2"])]
    ['Strict', 'the conditions given']
    """
    items = list(policies)
    conditions = [item for item in items if isinstance(item, str) and re.search("[<>]", item)]
    read = [item if isinstance(item, Policy) else read_policy(item) for item in items if item not in conditions]
    return (*read, *([Policy(CONDITIONS_TITLE, tuple(map(Requirement.parse, conditions)))] if conditions else []))


def read_policy(name: str | Path) -> Policy:
    """Return the policy of a TOML file, or a shipped policy by its name.

    The file has a title and entries [[policy]]; it may be a document, of which only these are read.
    """
    path = Path(name)
    if path.suffix == ".toml":
        return parse_policy(read_toml(path, "policy"), path.parent, title=path.stem)
    shipped = read_shipped_policies()
    if str(name) not in shipped:
        hint = nearest(str(name), tuple(shipped))
        raise UnmaskError(f"no policy is called {str(name)!r}; {hint}, a TOML file, or a condition such as k>=5")
    return shipped[str(name)]


@cache
def read_shipped_policies() -> Mapping[str, Policy]:
    """Return the policies that come with unmask, by name."""
    paths = sorted((path for path in SHIPPED_FOLDER.iterdir() if path.name.endswith(".toml")), key=lambda p: p.name)
    texts = {path.name.removesuffix(".toml"): tomllib.loads(path.read_text(encoding="utf-8")) for path in paths}
    return MappingProxyType({name: parse_policy(document, Path(), title=name) for name, document in texts.items()})


def parse_policy(document: Mapping[str, Any], folder: Path, *, title: str) -> Policy:
    """Return the policy of a document, with those that its entries use; folder : folder of their files.

    >>> document = {"policy": [{"require": "k >= 5", "source": "our statistical office"}]}
    >>> parse_policy(document, Path(), title="Ours").requirements[0].source
    'our statistical office'
    """
    entries = document.get("policy", [])
    check(entries, ENTRIES, "policy")
    used = [read_policy(_locate(entry["use"], folder)) for entry in entries if "use" in entry]
    document_title = document.get("title", title) if document.keys() <= {"title", "policy"} else DOCUMENT_TITLE
    titles = dict.fromkeys(policy.title for policy in used)
    if len(used) < len(entries):
        titles[document_title] = None
    requirements = [requirement for entry in entries for requirement in _parse_entry(entry, used)]
    return Policy(" and ".join(map(str, titles)) or title, tuple(requirements))


ENTRIES = list_of(Table(dict.fromkeys(("require", "use", "name", "source", "purpose", "domain"), str)))
"""Type of the entries [[policy]] of a document."""


def _parse_entry(entry: Mapping[str, Any], used: list[Policy]) -> Iterator[Requirement]:
    """Yield the requirements of the next policy used, or the requirement of the entry."""
    if "use" in entry:
        if len(entry) > 1:
            raise UnmaskError("policy says use and more; expected use alone, or require with name, source and purpose")
        yield from used.pop(0).requirements
        return
    if "require" not in entry:
        raise UnmaskError("policy has no require; expected a condition such as success_probability.worst <= 0.09")
    yield Requirement(**{**entry, "require": Condition.parse(entry["require"])})


def _locate(name: str, folder: Path) -> str | Path:
    return folder / name if name.endswith(".toml") else name
