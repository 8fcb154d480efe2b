"""The registry of domains, and the functions and constants that the audit module of a domain has.

A domain is a package of releases, attacks, protections and datasets, with `examples` of each, and an audit module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from unmask.core.errors import UnmaskError, nearest
from unmask.ranges import check_type

if TYPE_CHECKING:
    import numpy as np

    from unmask.plan import Cell, Part
    from unmask.policy import Policy
    from unmask.results import Result, Row


@dataclass(frozen=True)
class Domain:
    """The modules of a domain.

    Parameters
    ----------
    audit : str
        Module that audits releases and runs the cells of studies, see `DomainAudit`.
    packages : tuple of str
        Packages of the classes of releases; the first has `examples` of attacks, protections and datasets.
    word : str, optional
        Word after `unmask audit`, and section of a document; the name of the domain by default. Audits of tables have
        none.
    release_file : str, optional
        Name of a TOML file that is a release of this domain, and not a document.
    """

    audit: str
    packages: tuple[str, ...]
    word: str | None = None
    release_file: str = ""


DOMAINS: dict[str, Domain] = {
    "tables": Domain(
        "unmask.tables.audit",
        ("unmask.tables",),
        "",
    ),
    "linkage": Domain(
        "unmask.linkage.audit",
        ("unmask.linkage", "unmask.core.partition"),
        "linkage",
    ),
    "channels": Domain(
        "unmask.channels.audit",
        ("unmask.channels",),
        "channel",
    ),
    "graphs": Domain(
        "unmask.graphs.audit",
        ("unmask.graphs",),
        "graph",
    ),
    "aggregates": Domain(
        "unmask.aggregates.audit",
        ("unmask.aggregates",),
        release_file="tables.toml",
    ),
}
"""Name -> its modules; nothing of a domain is imported before its first use."""


class DomainAudit(Protocol):
    """The audit module of a domain.

    audit              : what adversaries learn from releases; keywords say what else the auditor has and asks.
                         `unmask.audit` is this function
    audit_files        : the same for releases in files, None after a dry run; `unmask audit WORD` and the section of a
                         document are generated from its signature. A command passes these, if they are parameters:
                         `watched`, the list that --at-risk writes; `code`, the folder whose modules an option may run;
                         `page`, whether a page is written; `trials`, a mapping for what other protections are tried
                         with; `progress`, a function that receives the running step
    DATASET, ADVERSARY : other keys of them in a document, besides those of every part -> their types, see `schema`
    PROTECTION         : other keys of protections; may be missing
    MEASURES           : the measures that cells of a study may have
    COLUMNS            : what a plan says of a dataset in names of its file's columns
    ROLES              : what it says of protections and adversaries in names of columns -> the role these must have
    check              : refuse settings of an adversary that cannot be carried out
    columns            : the columns of a dataset's file
    load               : the population of a dataset; `made` is what the function of that name returned, or the path of
                         the dataset's file
    divide             : of a domain whose DATASET has hold_back: the population of one seed
    protect            : the release, and the data that scoring needs; protection may be None
    criteria           : of a domain whose releases have criteria: their values by name; may be missing
    further_measures   : of an audit with `measures`: those of some names that it computes on request only
    attack             : know, attack, measure: the rows of one cell, with draws of `cell.rng` alone
    """

    DATASET: Mapping[str, Any]
    ADVERSARY: Mapping[str, Any]
    MEASURES: tuple[str, ...]
    COLUMNS: tuple[str, ...]
    ROLES: Mapping[str, str]

    def audit(self, release: Any, *, truth: Any = None) -> Result:
        """Return what adversaries learn from a release, or from several by name."""

    def audit_files(self, *files: Any, **options: Any) -> Result | None:
        """Return what adversaries learn from releases in files."""

    def check(self, adversary: Part) -> object:
        """Refuse what cannot be carried out."""

    def columns(self, dataset: Part) -> list[str]:
        """Return the columns of a file."""

    def load(self, dataset: Part, data: Any) -> Any:
        """Return the population."""

    def divide(self, dataset: Part, population: Any, rng: np.random.Generator) -> Any:
        """Return the population of one seed."""

    def protect(self, population: Any, protection: Any, rng: np.random.Generator) -> Any:
        """Return the release."""

    def attack(self, cell: Cell, population: Any, released: Any, attack: Any) -> list[Row]:
        """Return the rows."""


def import_audit(domain: str) -> DomainAudit:
    """Import the audit module of a domain."""
    return import_module(DOMAINS[domain].audit)


def domain_of(kind: type) -> str:
    """Return the domain of a class, or of its first base class with a domain; "" without one.

    >>> from unmask.core.partition import Partition
    >>> domain_of(Partition), domain_of(int)
    ('linkage', '')
    """
    return next(filter(None, map(_home, reversed(kind.__mro__))), "")


def _home(kind: type) -> str:
    module = (
        name
        for name, domain in DOMAINS.items()
        for package in domain.packages
        if f"{kind.__module__}.".startswith(f"{package}.")
    )
    return next(module, "")


def audited_by(word: str) -> str:
    """Return the domain whose audit is `unmask audit WORD`; tables have no word.

    >>> audited_by("graph"), audited_by("")
    ('graphs', 'tables')
    """
    return next(name for name, domain in DOMAINS.items() if (name if domain.word is None else domain.word) == word)


def known_domains(policies: Iterable[Policy]) -> tuple[Policy, ...]:
    """Policies that require something, each of it about a domain that exists."""
    all_policies = tuple(policies)
    for policy in all_policies:
        if not policy.requirements:
            raise UnmaskError(f"policy {policy.title!r} requires nothing; expected [[policy]] entries with require")
    for requirement in (requirement for policy in all_policies for requirement in policy.requirements):
        if requirement.domain and requirement.domain not in DOMAINS:
            raise UnmaskError(
                f"policy is about the domain {requirement.domain!r}; {nearest(requirement.domain, list(DOMAINS))}"
            )
    return all_policies


def policies_about(policies: Iterable[Policy], domain: str) -> list[Policy]:
    """Return the policies for audits of a domain; raise an error for a policy without a condition about it."""
    checked = known_domains(policies)
    for policy in checked:
        if not policy.for_domain(domain).requirements:
            other_domains = " and ".join(dict.fromkeys(requirement.domain for requirement in policy.requirements))
            raise UnmaskError(f"policy {policy.title!r} requires nothing of {domain}; it is about {other_domains}")
    return [policy.for_domain(domain) for policy in checked]


def list_further_measures(policies: Iterable[Policy], domain: str) -> tuple[str, ...]:
    """Return the measures that policies name and that an audit of a domain computes on request only."""
    select = getattr(import_audit(domain), "further_measures", None)
    names = [item.require.measure for policy in policies for item in policy.for_domain(domain).requirements]
    return select(names) if select and names else ()


def read_domain_policies(policies: Any, domain: str) -> list[Policy]:
    """Return one or several policies, read by name, file or condition, as an audit of a domain is judged by them."""
    from unmask.policy import Policy, read_policies

    entries = policies if isinstance(policies, list | tuple) else [policies]
    for policy in entries:
        check_type("policy", policy, Policy | str | Path)
    return policies_about(read_policies(entries), domain)


def name_releases(release: Any) -> dict[str, Any]:
    """Return releases by name; a single one is called "release"."""
    return dict(release) if isinstance(release, Mapping) else {"release": release}


def name_files(paths: Sequence[Path]) -> list[str]:
    """Return short names of files for pages, without a folder.

    Equal names are numbered, as is the name of the table before protection.
    """
    from unmask.results.rows import ORIGINAL

    if len(set(paths)) < len(paths):
        raise UnmaskError("a file was given twice, expected different files; name each one once")
    names: list[str] = []
    for path in paths:
        is_pattern = set("*?[") & set(str(path)) and not path.exists()
        name = path.name if is_pattern else remove_ending(path)
        reserved = {ORIGINAL, *names}
        numbered = (f"{name} ({number})" for number in range(2, len(reserved) + 3))
        names.append(next(free for free in (name, *numbered) if free not in reserved))
    return names


def remove_ending(path: Path) -> str:
    """Return a file's name without the ending of a table, or without all from its first dot; a leading dot is kept."""
    from unmask.data.source_files import SUFFIXES

    name = path.name.lstrip(".")
    ending = max((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), key=len, default=None)
    return (name[: -len(ending)] if ending else name.split(".")[0]) or path.name
