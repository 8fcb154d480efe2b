"""Audit of a released network: attacks on pairs of networks, evaluated with the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.domains import name_releases
from unmask.findings.people_at_risk import Watched
from unmask.findings.properties import plane_table, utility_block, utility_table
from unmask.graphs import Attack, Pair, SeedPairs, Similarity, SocialGraph
from unmask.graphs.audit.attack_plan import Plan, default_attacks, parse_attacks, parse_methods
from unmask.graphs.audit.attacked_networks import AttackedNetworks
from unmask.graphs.audit.blocks import advise, describe_risk, make_blocks
from unmask.graphs.audit.cautions import assumptions, cautions, describe_variant
from unmask.graphs.audit.facts import (
    GUESSED,
    GraphFacts,
)
from unmask.graphs.audit.identity_search import Discovery
from unmask.graphs.audit.network_criteria import audit_criteria
from unmask.graphs.audit.network_pairs import DerivedPair, GivenPair, NetworkPair, pair_name
from unmask.graphs.audit.sentences import headline
from unmask.graphs.audit.tables import make_tables
from unmask.graphs.protections import has_adopters
from unmask.languages import gettext as _
from unmask.measures import Measure
from unmask.measures.requested import parse_measures, select_requested
from unmask.policy.coverage import coverage_notes
from unmask.ranges import MeasureNames, Option, Range
from unmask.results import Result, Row
from unmask.results.rows import preferred_rows
from unmask.results.words import join_names
from unmask.scoring import STANDARD

NOT_REQUESTED = "it was not requested"


def audit(
    release: SocialGraph | Mapping[str, SocialGraph],
    *,
    truth: Any = None,
    truth_partial: bool = False,
    truth_sampled: bool = False,
    auxiliary: SocialGraph | None = None,
    similarity: Similarity | None = None,
    overlaps: Sequence[tuple[float, float]] = (),
    largest_component: bool = False,
    separation: Sequence[Any] = (),
    attacks: Sequence[str] | Mapping[str, Attack] = (),
    seeds: str | Sequence[str] | SeedPairs | None = None,
    runs: Annotated[int, Range(1)] = 4,
    transition: Sequence[int] = (),
    discovery: Annotated[str | None, Option(metavar="PEOPLE:RUNS")] = None,
    seed: Annotated[int, Range(0)] = 0,
    time_limit: Annotated[float | None, Range(0, above=True), Option("Options", metavar="SECONDS")] = None,
    checkpoint: Annotated[Path | None, Option("Options", metavar="FOLDER")] = None,
    measures: MeasureNames = (),
    watched: Watched | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Result:
    """Attack a released network: how many people are re-identified by their edges alone.

    Parameters
    ----------
    release : SocialGraph or mapping of SocialGraph
        Released network.
    truth : Pair or (auxiliary.n_nodes,) int array, optional
        Released node of each person of the adversary's network, see `Pair`. Without it no match can be checked.
    truth_partial : bool
        do not judge people without a line in --truth, who may be in RELEASE
    truth_sampled : bool
        people of a partial --truth are drawn at random, and represent all
    auxiliary : SocialGraph, optional
        Network of the adversary, in which they know the people.
    similarity : Similarity, optional
        Node similarity between both networks, used by Rematch and Climb.
    overlaps : sequence of pairs of float
        Shares of people and edges in common of two networks made from the release, instead of `auxiliary`.
    largest_component : bool
        cut both networks of --overlap to it, as papers do, and judge only its people
    separation : sequence of protections
        Protections; each is applied and attacked in addition to the unprotected release. They need `overlaps`.
    attacks : sequence of str or mapping of Attack
        Attacks as they are written, such as Bumblebee:theta=0.5, or by name; by default all, see `default_attacks`.
    seeds : str, sequence of str, or SeedPairs, optional
        People that the adversary has found, or METHOD:COUNT, see `Plan`; by default see `default_seeds`. The first of
        several methods chooses the seeds of all runs, and the others are compared with it.
    runs : int
        runs, each with other graphs or seeds
    transition : sequence of int
        Other numbers of leaked identities to attack from.
    discovery : str, optional
        number of people with several identities, and of attacks on each of these identities alone, such as 20:10
    seed : int
        random seed of every draw
    time_limit : float, optional
        start no run after the first that would end after this number of seconds
    checkpoint : path, optional
        keep each round of Ensemble in a folder: after an interruption the same command goes on from there
    measures : sequence of str
        further measures of a belief, such as renyi_entropy_bits:2. A policy that names one takes it, too
    watched : Watched, optional
        List that receives the people at risk, for the owner.
    progress : callable
        Function that is called with a text before each part.

    Returns
    -------
    Result
        Rows, tables and findings.
    """
    leaked = seeds if isinstance(seeds, SeedPairs) else None
    check_choice(
        auxiliary, overlaps, truth=truth, seeds_file=leaked, similarity=similarity, truth_partial=truth_partial,
        truth_sampled=truth_sampled, largest_component=largest_component, separation=separation, attacks=attacks,
        seeds=None if leaked is not None else seeds, transition=transition, discovery=discovery,
        time_limit=time_limit, checkpoint=checkpoint,
    )  # fmt: skip
    ((name, graph), *further) = name_releases(release).items()
    if further:
        raise UnmaskError(f"{len(further) + 1} graphs were given, expected one; audit each by itself")
    if auxiliary is None and not overlaps:
        return audit_criteria(name, graph, watched=watched, measures=measures)
    several = any(map(has_adopters, separation)) or (isinstance(truth, Pair) and bool((truth.identities > 1).any()))
    search = None if discovery is None else Discovery.parse(discovery)
    if search is not None and not several:
        raise UnmaskError(
            "`discovery` needs people with several identities; protect with IdentitySeparation, or give a `truth` with "
            "several lines for a person"
        )
    if not isinstance(attacks, Mapping):
        attacks = parse_attacks(attacks or default_attacks(graph, auxiliary, several=several))
    n_people = min(graph.n_nodes, (auxiliary or graph).n_nodes)
    (method, n_seeds), *others = parse_methods(() if isinstance(seeds, SeedPairs) else seeds, n_people)
    plan = Plan(
        attacks, method, n_seeds, runs=runs, transition=tuple(transition), other_seeds=tuple(others),
        discovery=search, seed=seed, time_limit=time_limit, checkpoint=checkpoint,
    )  # fmt: skip
    if auxiliary is None:
        choices = ((shared, protection) for shared in overlaps for protection in (None, *separation))
        derived = [DerivedPair(graph, *shared, protection, largest_component) for shared, protection in choices]
        pairs: dict[str, NetworkPair] = {pair_name(pair): pair for pair in derived}
    else:
        nodes, origin = _read_truth(truth)
        pair = GivenPair(graph, auxiliary, nodes, leaked, origin, truth_partial, similarity, truth_sampled)
        pairs = {name: pair}
    title, requested = _("Who is re-identified in {name}", name=name), parse_measures(measures)
    return audit_networks(pairs, plan, title=title, progress=progress, watched=watched, measures=requested)


def _read_truth(truth: Any) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
    """Return the node of each person, and the person of each node if some people have several."""
    nodes, origin = (truth.truth, truth.origin) if isinstance(truth, Pair) else (truth, None)
    if nodes is None:
        return None, origin
    if (nodes := np.asarray(nodes)).dtype.kind not in "iu":
        raise UnmaskError("the truth is not an array of node numbers; give one for each node of auxiliary, or a Pair")
    return nodes, origin


def check_choice(auxiliary: object, overlaps: Sequence[object], **parameters: object) -> None:
    """Raise for parameters of an attack that lack the parameter they need.

    The adversary has a network, or both networks are made from the release, or there is no adversary.
    """
    given = [name for name, value in parameters.items() if _is_given(value)]
    if auxiliary is not None and overlaps:
        raise UnmaskError(
            "both of `auxiliary` and `overlaps` were given, expected one: give the adversary's network with "
            "`auxiliary`, or `overlaps` 0.5,0.75 to draw two networks from the release"
        )
    if auxiliary is None and not overlaps and given:
        raise UnmaskError(
            f"`{given[0]}` needs an attack, and an attack needs `auxiliary` or `overlaps`; add one of them, or "
            f"leave `{given[0]}` out to see the criteria of the network"
        )
    extra = next((name for name in ("truth", "seeds_file", "similarity") if name in given), None)
    if overlaps and extra:
        raise UnmaskError(f"`{extra}` was given with `overlaps`, which draws its own networks; remove one of them")
    if auxiliary is not None and (made := {"separation", "protections"}.intersection(given)):
        raise UnmaskError(
            f"`{made.pop()}` was given with `auxiliary`, expected with `overlaps`; protect the release with "
            "unmask protect graph, and give its origin as `truth`"
        )
    if "truth_partial" in given and "truth" not in given:
        raise UnmaskError("`truth_partial` needs `truth`; add `truth`, or remove `truth_partial`")
    if "truth_sampled" in given and "truth_partial" not in given:
        raise UnmaskError("`truth_sampled` needs a partial truth; add `truth_partial`")
    if "largest_component" in given and not overlaps:
        raise UnmaskError("`largest_component` needs `overlaps`; add `overlaps`, or remove `largest_component`")


def _is_given(value: object) -> bool:
    return not (value is None or value is False or (isinstance(value, Sized) and len(value) == 0))


def audit_networks(
    pairs: Mapping[str, NetworkPair],
    plan: Plan,
    *,
    title: str = "Audit of a network",
    progress: Callable[[str], None] = lambda _: None,
    watched: Watched | None = None,
    measures: Sequence[Measure] = (),
) -> Result:
    """Run all attacks on all pairs of networks, and evaluate their matches if a truth is known.

    Attacks of one run share networks and seeds. `not_run` lists attacks that refuse a pair, and attack kinds that were
    not requested. If all attacks refuse, the first refusal is raised.

    Parameters
    ----------
    pairs : mapping
        Name of the release -> pair; all with a truth, or all without.
    plan : Plan
        Attacks, seeds and runs.
    progress : callable
        Function that is called with a text before each part.
    watched : Watched, optional
        List that receives the people at risk in the first run of each pair, for the owner.
    measures : sequence of Measure
        Requested measures of beliefs in addition to the standard ones.
    """
    if len({pair.truth_known for pair in pairs.values()}) != 1:
        raise UnmaskError(
            f"{len(pairs)} pairs of graphs were given, expected at least 1, all with a truth or all without"
        )
    attacked = AttackedNetworks(pairs, plan, progress, watched, tuple(measures))
    attacked.run()
    facts, rows = attacked.facts(), tuple(attacked.rows())
    notes = dict.fromkeys(note for pair in pairs.values() for note in cautions(pair))
    first_is_given = pairs[facts.attacks[0].release].released is not None
    return describe(
        facts,
        rows,
        title=title,
        attacks=list(plan.attacks),
        variants={name: describe_variant(attack) for name, attack in plan.attacks.items()},
        assumptions=assumptions(pairs, attacked.plan, {name: seeds for name, (_, seeds) in attacked.drawn.items()}),
        cautions=(*coverage_notes(rows, always=not first_is_given), *notes),
        not_run=tuple(attacked.not_run.items()),
    )


def describe(
    facts: GraphFacts,
    rows: tuple[Row, ...],
    *,
    title: str,
    attacks: Sequence[str] = (),
    variants: Mapping[str, str] | None = None,
    assumptions: tuple[str, ...] = (),
    cautions: tuple[str, ...] = (),
    not_run: tuple[tuple[str, str], ...] = (),
) -> Result:
    """Return the result for facts about a network: tables, findings and advice."""
    names = list(attacks or facts.styles)
    seeds = "guessed" if facts.attacks[0].seeds in GUESSED else "leaked"
    skipped = {name: reason or NOT_REQUESTED for name, reason in facts.not_run.items() if name not in names}
    utility = utility_table(facts.utility)
    preferred = ("recall",) if facts.truth_known else ()
    plane = plane_table(preferred_rows(rows, preferred).values(), utility)
    tables = (*make_tables(facts), utility, plane)
    blocks = make_blocks(facts, {table.name: table for table in tables})
    return Result(
        title=title,
        kind="Network audit",
        command="audit graph",
        setting=(
            f"An adversary who has their own network and a few {seeds} identities re-identifies people of a released "
            f"network, by {join_names(names)}."
        ),
        headline=headline(facts),
        rows=rows,
        facts=tables,
        blocks=(*blocks, *((utility_block(plane),) if facts.utility else ())),
        at_risk=describe_risk(facts),
        advice=advise(facts),
        adversaries={name: f"runs {name}{(variants or {}).get(name, '')}" for name in names},
        preferred_measures=preferred,
        described_measures=("recall", "coverage"),
        sample_condition="recall <= 0.09",
        assumptions=assumptions,
        cautions=cautions,
        not_run=(*not_run, *((f"the attack {name}", reason) for name, reason in skipped.items())),
    )


def further_measures(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that a network audit computes on request only."""
    return select_requested(names, STANDARD)
