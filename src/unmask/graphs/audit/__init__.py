"""Cases of graphs: `audit` attacks a network that is released; in a cell of a study a graph is split in two, the people
of one half protect themselves, and the adversary who has the other looks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, equal_weights
from unmask.core.truth import Truth
from unmask.domains import name_releases
from unmask.graphs import (
    Attack,
    Auxiliary,
    Pair,
    SeedPairs,
    Similarity,
    SocialGraph,
    select_seeds,
    split,
)
from unmask.graphs.audit.case import ADOPTERS, Run, attempt, informed, rows
from unmask.graphs.audit.scenes import (
    Acquired,
    Derived,
    Plan,
    Scene,
    Separation,
    numbered,
    parse_seeds,
    scene_name,
    usual_seeds,
)
from unmask.graphs.audit.standard import audit_graph
from unmask.graphs.audit.written import DEFAULT, DIRECTED, parse_attacks
from unmask.graphs.disclosure import Seeded, SeparatedPair, discovery, separated_seeds
from unmask.graphs.knowledge.seeding import parse_method
from unmask.graphs.protections import Separated, adopted, protected
from unmask.graphs.utility import LOSSES, lost, utility
from unmask.measures.interval import wilson
from unmask.measures.rates import RATES
from unmask.measures.registry import UTILITIES
from unmask.plan import Cell, Part
from unmask.ranges import Range
from unmask.reports.at_risk import Watched
from unmask.results import AuditResult, Row
from unmask.schema import Table, parameters

DATASET = parameters("unmask.graphs:EdgeListOptions")
COLUMNS: tuple[str, ...] = ()
ROLES: Mapping[str, str] = {}
MEASURES = (*(one.name for one in RATES), *ADOPTERS, "discovery", "discovery_score", "reversed", "utility", *LOSSES)


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
    separation: Sequence[Separation] = (),
    attacks: Sequence[str] | Mapping[str, Attack] = (),
    seeds: str | SeedPairs | None = None,
    runs: Annotated[int, Range(1)] = 4,
    transition: Sequence[int] = (),
    seed: Annotated[int, Range(0)] = 0,
    checkpoint: Path | None = None,
    watched: Watched | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> AuditResult:
    """Attack a released network: how many people are re-identified by their edges alone.

    truth         : table of who is who: id in AUXILIARY, id in RELEASE. A `Pair`, or an array as in it; without one
                    nothing can be checked
    truth_partial : judge nobody who has no line in --truth: they may be in RELEASE
    truth_sampled : people of a partial --truth are drawn at random, and stand for all
    auxiliary     : network of the adversary, in which they know the people
    similarity    : table of who is alike (needs --auxiliary): id in AUXILIARY, id in RELEASE, larger weights for the
                    more similar; Rematch and Climb use its order. A `Similarity`
    overlaps      : shares of people and edges in common of two networks made from RELEASE; in place of --auxiliary
    largest_component : cut both networks of --overlap to it, as papers do; people of all others are not judged
    separation    : attack once more where some people have several identities (needs --overlap): keys are the options
                    of protect graph, such as model=best,identities=5,adopters=0.1 or decoy. Any protections
    attacks       : attacks, separated by commas; parameters behind colons, as in Bumblebee:theta=0.5; all, and Rematch
                    once forced, when left out. As they are written, or by name
    seeds         : leaked identities: random, random.25, top, clique.4, betweenness.1 and more, drawn with the truth;
                    match_profiles, match_top and match_cliques without. METHOD:COUNT, or whom the adversary has
                    found; random.25 and 5 % of the people, 100 at most, when left out
    runs          : runs, each with other graphs or seeds
    transition    : other numbers of leaked identities to attack from, such as 5,25,100
    seed          : random seed of every draw
    checkpoint    : keep each round of Ensemble in a folder: after an interruption the same command goes on from there
    watched       : takes down who is at risk, for the owner alone
    progress      : is told what is about to be run
    """
    given = seeds if isinstance(seeds, SeedPairs) else None
    check_choice(
        auxiliary, truth, given, similarity, overlaps=overlaps, separation=separation, truth_partial=truth_partial
    )
    if truth_sampled and not truth_partial:
        raise UnmaskError("--truth-sampled is about the people of a partial truth; add --truth-partial")
    if largest_component and not overlaps:
        raise UnmaskError("--largest-component is about the networks of --overlap, and none are given; give both")
    ((name, graph), *others) = name_releases(release).items()
    if others:
        raise UnmaskError(f"{len(others) + 1} graphs were given, expected one; audit each by itself")
    several = any(map(adopted, separation)) or (isinstance(truth, Pair) and bool((truth.identities > 1).any()))
    by_default = defaults(graph, auxiliary, several=several)
    made = attacks if isinstance(attacks, Mapping) else parse_attacks(attacks or by_default)
    people = min(graph.n_nodes, (auxiliary or graph).n_nodes)
    method, n = parse_seeds(seeds if isinstance(seeds, str) else usual_seeds(people))
    plan = Plan(made, method, n, runs=runs, transition=tuple(transition), seed=seed, checkpoint=checkpoint)
    if auxiliary is None:
        derived = [Derived(graph, *shared, by, largest_component) for shared in overlaps for by in (None, *separation)]
        scenes: dict[str, Scene] = {scene_name(scene): scene for scene in derived}
    else:
        pair = (truth.truth, truth.origin) if isinstance(truth, Pair) else (truth, None)
        who = None if pair[0] is None else np.asarray(pair[0])
        if who is not None and who.dtype.kind not in "iu":
            raise UnmaskError("the truth is no array of node numbers; give one for each node of auxiliary, or a Pair")
        scenes = {name: Acquired(graph, auxiliary, who, given, pair[1], truth_partial, similarity, truth_sampled)}
    return audit_graph(scenes, plan, title=f"Who is re-identified in {name}", progress=progress, watched=watched)


def defaults(*graphs: SocialGraph | None, several: bool = False) -> tuple[str, ...]:
    """`DEFAULT`; where all these graphs have directions, the attack that looks at nothing else, and where people have
    several identities, the one that looks for further ones.
    """
    directed = all(graph is None or graph.way is not None for graph in graphs)
    return (*DEFAULT, *((DIRECTED,) if directed else ()), *(("Iterated:attack=Climb",) if several else ()))


def check_choice(
    auxiliary: object,
    truth: object,
    seeds_file: object,
    similarity: object,
    *,
    overlaps: Sequence[object],
    separation: Sequence[object],
    truth_partial: bool,
) -> None:
    """Either the adversary has a network of their own, or both are made from the release."""
    if (auxiliary is None) == (not overlaps):
        given = "both" if overlaps else "neither"
        raise UnmaskError(
            f"{given} of --auxiliary and --overlap were given, expected one: a network that the adversary has, or how "
            "much two networks made from the release share"
        )
    tables = {"--truth": truth, "--seeds-file": seeds_file, "--similarity": similarity}
    extra = next((name for name, table in tables.items() if table is not None), None)
    if overlaps and extra:
        raise UnmaskError(f"{extra} was given with --overlap, which draws its own networks; leave one out")
    if separation and not overlaps:
        raise UnmaskError(
            "--with was given with --auxiliary, expected with --overlap; protect the release with "
            "unmask protect graph, and give its --origin as --truth"
        )
    if truth_partial and truth is None:
        raise UnmaskError("--truth-partial was given without --truth, which it is about; give both or neither")


@dataclass(frozen=True)
class Knows:
    """What an adversary of graphs knows.

    node_overlap, edge_overlap : of the adversary's graph with the released one, see `unmask.graphs.split`; of no use
                                 for a dataset that is a pair already
    largest_component : cut both graphs to it, as published figures do: the people of all others are not judged
    seeds, n_seeds, error, who : whom the adversary has found before, see `unmask.graphs.disclosure.separated_seeds`;
                                 where nobody has several identities everybody is "whole"
    """

    node_overlap: Annotated[float, Range(0, 1)] = 0.5
    edge_overlap: Annotated[float, Range(0, 1, above=True)] = 0.75
    largest_component: bool = False
    seeds: str = "random.25"
    n_seeds: Annotated[int, Range(0)] = 100
    error: Annotated[float, Range(0, 1)] = 0.0
    who: Seeded = "whole"

    def choose(self, pair: Pair, rng: np.random.Generator) -> SeedPairs:
        """Seeds of a pair in which everybody that may be chosen has one identity."""
        return select_seeds(pair, self.seeds, self.n_seeds, rng, error=self.error)


@dataclass(frozen=True)
class Asked:
    """Whether each identity of some adopters is looked for by itself, see `unmask.graphs.disclosure.discovery`.

    people : adopters, drawn at random; none where it is not asked for, as it takes `runs` attacks for each identity
    runs   : attacks
    """

    people: Annotated[int, Range(0)] = 0
    runs: Annotated[int, Range(1)] = 10


ADVERSARY = {"knows": Table(parameters(f"{__name__}:Knows")), "discovery": Table(parameters(f"{__name__}:Asked"))}


def check(adversary: Part) -> None:
    """Refuse what an adversary cannot know."""
    knows, asked = Knows(**adversary.settings.get("knows", {})), Asked(**adversary.settings.get("discovery", {}))
    parse_method(knows.seeds)
    if asked.people and knows.who != "whole":
        raise UnmaskError(
            f"who is {knows.who!r}, but identities are looked for from seeds that are whole; leave one out"
        )


def columns(_dataset: Part) -> list[str]:
    """A list of edges has no columns to name."""
    return []


def load(dataset: Part, made: Any) -> SocialGraph | Pair:
    """Return the graph, or the pair; the people of a file have numbers for names."""
    reading = {key: value for key, value in dataset.settings.items() if key in DATASET}
    found: SocialGraph | Pair = numbered(SocialGraph.read(made, **reading)) if isinstance(made, Path) else made
    return found


def protect(_population: SocialGraph | Pair, protection: Any, _rng: np.random.Generator) -> Any:
    """The protection itself: the people of the released half apply it, and who they are each adversary has a say in."""
    return protection


def attack(cell: Cell, population: SocialGraph | Pair, released: Any, attack: Attack) -> list[Row]:
    """Rates over the people who are in both halves; with several identities, also what they disclose."""
    settings = cell.adversary.settings
    knows, asked = Knows(**settings.get("knows", {})), Asked(**settings.get("discovery", {}))
    pair, after, separated, seeds = _faced(cell, population, released, knows)
    run, _ = attempt(after, attack, seeds, only_rates=True)
    found = rows([run], release=cell.protection.name, adversary=cell.adversary.name)
    return [
        *(found if isinstance(population, Pair) else _covering(found, population, knows, run)),
        *(_one_by_one(cell, after, attack, knows, asked) if isinstance(after, SeparatedPair) else ()),
        *_useful(cell, pair.target, separated),
    ]


def believed(
    cell: Cell, population: SocialGraph | Pair, released: Any, attack: Attack
) -> tuple[Posterior, Truth, float]:
    """What an adversary believes about who is who among those whom they did not know, the truth, and the utility."""
    knows = Knows(**cell.adversary.settings.get("knows", {}))
    pair, after, separated, seeds = _faced(cell, population, released, knows)
    ready = informed(attack, knows.seeds, after, anybody=knows.who == "anybody")
    belief, truth = ready(after.target, Auxiliary(after.source, seeds)), after.to_truth(seeds)
    rest = np.flatnonzero(~truth.leaked)
    belief = replace(belief, observation=belief.observation[rest], weight=equal_weights(len(rest)))
    return belief, Truth(truth.candidate[rest]), utility(_losses(pair.target, separated))


def _faced(
    cell: Cell, population: SocialGraph | Pair, released: Any, knows: Knows
) -> tuple[Pair, Pair, Separated | None, SeedPairs]:
    """The two graphs before and after the protection, what it did, and whom the adversary knows."""
    pair = _pair(cell, population, knows)
    rng = cell.rng("protection", cell.protection.content)
    separated = (
        None if released is None else protected(released, pair.target, rng=rng, eligible=pair.truth[pair.common])
    )
    rng = cell.rng("seeds", knows.seeds, knows.n_seeds)
    if separated is None:
        return pair, pair, None, knows.choose(pair, rng)
    seeds = separated_seeds(pair, separated, knows.seeds, knows.n_seeds, rng, who=knows.who, error=knows.error)
    return pair, SeparatedPair.of(pair, separated), separated, seeds


def _pair(cell: Cell, population: SocialGraph | Pair, knows: Knows) -> Pair:
    if isinstance(population, Pair):
        return population
    overlaps = knows.node_overlap, knows.edge_overlap
    return split(population, *overlaps, cell.rng("split", *overlaps), largest_component=knows.largest_component)


def _covering(found: Sequence[Row], population: SocialGraph, knows: Knows, run: Run) -> list[Row]:
    """Return the rows with the people of the population whom they are about."""
    scene = Derived(population, knows.node_overlap, knows.edge_overlap)
    return [replace(row, **scene.coverage(run.truth)) for row in found]


def _one_by_one(cell: Cell, pair: SeparatedPair, attack: Attack, knows: Knows, asked: Asked) -> Iterator[Row]:
    """How well the identities of some adopters are found, each as if it were the only one."""
    before, separated = pair.before, pair.separated
    there = np.isin(before.truth, separated.adopters) & np.isin(before.truth, separated.origin)
    rng = cell.rng("discovery", asked.people, asked.runs)
    people = rng.permutation(np.flatnonzero(there))[: asked.people]
    if not len(people):
        return
    found = discovery(before, separated, people, attack, knows.choose, runs=asked.runs, rng=rng)
    n, reversed_ = len(found.node), found.reversed or 0.0
    low, high = wilson(reversed_, len(people))
    yield cell.row("discovery", "share", float(found.probability.mean()), prior=0.0, n=n, target="adopters")
    yield cell.row("discovery_score", "runs", float(found.score.mean()), prior=0.0, n=n, target="adopters")
    yield cell.row(
        "reversed", "share", reversed_, prior=0.0, n=len(people), target="adopters", low=low, high=high,
        interval="people (Wilson)",
    )  # fmt: skip


def _useful(cell: Cell, before: SocialGraph, separated: Separated | None) -> Iterator[Row]:
    """The losses of the release, and as `utility` what the greatest of them leaves."""
    if not any(map(cell.wants, ("utility", *LOSSES))):
        return
    losses, n = _losses(before, separated), max(before.n_edges, 1)
    note = f"1 - the greatest of {len(losses)} losses of the release"
    yield cell.row("utility", "share", utility(losses), prior=1.0, n=n, note=note)
    for name, loss in losses.items():
        yield cell.row(name, "share", loss, prior=0.0, n=n, note=UTILITIES[name].meaning)


def _losses(before: SocialGraph, separated: Separated | None) -> dict[str, float]:
    return dict.fromkeys(LOSSES, 0.0) if separated is None else lost(before, *separated)
