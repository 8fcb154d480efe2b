"""Attacked releases of the protections in a game, and the smallest k that deters all attackers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path

from unmask.core.distinct_rows import group_rows
from unmask.core.errors import UnmaskError, explain_unknown
from unmask.economics import ProtectedRelease, PublisherGame, Terms
from unmask.economics.deterrence.search import bisect_whole
from unmask.plan import Cell, Part, Plan, digest
from unmask.studies.beliefs import AttackedRelease, load_or_attack
from unmask.studies.game.document import GameDocument
from unmask.studies.game.facts import DeterringSize

Releases = Mapping[str, Mapping[str, AttackedRelease]]
"""Protection -> adversary -> attacked release."""


def attack(plan: Plan, document: GameDocument, study: Path | None, watch: Callable[[str], None]) -> Releases:
    """Attack the release of each protection; with several seeds, use the first."""
    releases: dict[str, dict[str, AttackedRelease]] = {}
    for cell in list_cells(plan, document):
        if cell.protection.name not in releases:
            watch(cell.protection.name)
        releases.setdefault(cell.protection.name, {})[cell.adversary.name] = load_or_attack(cell, study)
    return releases


def list_cells(plan: Plan, document: GameDocument) -> list[Cell]:
    """Return the cells that the game prices: each protection against the adversaries whose knowledge attackers have."""
    if len(plan.datasets) > 1:
        raise UnmaskError(f"it has {len(plan.datasets)} data sets, expected 1: a game has one release")
    adversaries = {part.name: part for part in plan.adversaries}
    for kind, name in document.adversary.items():
        if name and name not in adversaries:
            raise UnmaskError(explain_unknown(name, list(adversaries), f"adversary of {kind!r}"))
    names = dict.fromkeys(adversary_of(kind, document, plan) for kind in document.adversary)
    return [
        Cell(plan.datasets[0], protection, adversaries[name], plan.seeds[0], ())
        for protection, name in product(plan.protections, names)
    ]


def list_releases(releases: Releases, plan: Plan, document: GameDocument) -> dict[str, ProtectedRelease]:
    """Return the targets of each kind of attacker, and the utility, for each protection."""
    protected = {}
    for name, faced_by in releases.items():
        beliefs = {adversary: group_rows(release.belief).posterior for adversary, release in faced_by.items()}
        targets = {kind: beliefs[adversary_of(kind, document, plan)] for kind in document.adversary}
        utility = next(iter(faced_by.values())).utility
        protected[name] = ProtectedRelease(targets, min(max(utility, 0.0), 1.0))
    return protected


def adversary_of(kind: str, document: GameDocument, plan: Plan) -> str:
    """Return the adversary whose knowledge a kind of attacker has."""
    return document.adversary[kind] or plan.adversaries[0].name


def search_sizes(
    plan: Plan, document: GameDocument, study: Path | None, watch: Callable[[str], None]
) -> tuple[tuple[Part, ...], Releases, tuple[DeterringSize, ...]]:
    """Search the smallest k of each protection that deters all attackers at the lowest price, fine and audits.

    Return the protections with these k that the plan lacks, their releases, and the sizes. The search assumes that
    larger k deter at least as well. It verifies that attacks pay at k - 1.
    """
    lowest = {name: min(values) for name, values in document.terms.items()}
    terms = Terms(price=lowest["prices"], fine=lowest["fines"], audit=lowest["audits"])
    parts: dict[str, Part] = {}
    releases: dict[str, Mapping[str, AttackedRelease]] = {}

    def deters(part: Part) -> bool:
        faced_by = attack(replace(plan, protections=(part,)), document, study, watch)
        releases.update(faced_by)
        game = PublisherGame(document.publisher, list_releases(faced_by, plan, document), document.attackers)
        return all(game.response(part.name, kind, terms).attacks is False for kind in document.attackers)

    sizes = []
    for part in _list_families(plan):
        step = bisect_whole(lambda step: deters(_with_size(part, step + 1)), document.largest_k - 1)  # noqa: B023
        size = DeterringSize(_name_family(part), None, None, document.largest_k)
        if step is not None:
            release = _with_size(part, step + 1)
            parts[release.name], size = release, replace(size, release=release.name, k=step + 1)
        sizes.append(size)
    known = {part.name for part in plan.protections}
    added = {name: part for name, part in parts.items() if name not in known}
    return tuple(added.values()), {name: releases[name] for name in added}, tuple(sizes)


def _list_families(plan: Plan) -> list[Part]:
    """Return the first protection of each family of protections that differ only in k."""
    families: dict[str, Part] = {}
    for part in plan.protections:
        if "k" in part.parameters:
            others = {key: value for key, value in part.content["with"].items() if key != "k"}
            families.setdefault(digest(part.content | {"with": others}), part)
    return list(families.values())


def _name_family(part: Part) -> str:
    return re.sub(r" k=\d+$", "", part.name)


def _with_size(part: Part, size: int) -> Part:
    return replace(part, name=f"{_name_family(part)} k={size}", parameters={**part.parameters, "k": size})
