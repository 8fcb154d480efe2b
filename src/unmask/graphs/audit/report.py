"""The report of an audit of networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unmask.graphs import SocialGraph
from unmask.reports import ReportData
from unmask.reports.facts.graph import GraphRisk, StructureAttack
from unmask.results import Row


def report(
    networks: tuple[SocialGraph, SocialGraph],
    attacks: Sequence[StructureAttack],
    rows: Sequence[Row],
    *,
    names: Sequence[str],
    unrun: Mapping[str, str],
    title: str,
    assumptions: Sequence[str],
    not_run: Sequence[tuple[str, str]],
    seeds: str = "leaked",
    utility: Mapping[str, Mapping[str, float]] | None = None,
    **facts: Any,
) -> ReportData:
    """What attacks made of a network, as a page shows it.

    networks : what the adversary knows, and the release
    names    : of the attacks that were asked for; unrun : attack that was not run on any release -> why
    seeds    : "leaked" or "guessed"
    utility  : release -> loss -> value
    facts    : the other fields of `GraphRisk`
    """
    source, target = networks
    risk = GraphRisk(
        source_nodes=source.n_nodes,
        source_edges=source.n_edges,
        target_nodes=target.n_nodes,
        target_edges=target.n_edges,
        attacks=tuple(attacks),
        not_run=tuple(unrun.items()),
        **facts,
    )
    return ReportData(
        title=title,
        who=_who(names, seeds, truth_known=risk.truth_known),
        rows=tuple(rows),
        assumptions=tuple(assumptions),
        not_run=(*not_run, *((f"the attack {name}", why) for name, why in unrun.items() if name not in names)),
        adversaries={name: f"runs {name}" for name in names},
        success=("recall",) if risk.truth_known else (),
        utility=utility or {},
        subjects=(risk,),
    )


def _who(names: Sequence[str], seeds: str, *, truth_known: bool) -> str:
    """Who attacks what, knowing what."""
    truth = "" if truth_known else " Nothing is checked: the truth is not known."
    attacks = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return (
        f"An adversary who has their own network and a few {seeds} identities re-identifies people of a released "
        f"network, by {attacks}.{truth}"
    )
