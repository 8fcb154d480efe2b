"""Study cells of networks: split a network, protect the release, attack it, and measure the outcome."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.graphs import Attack, Auxiliary, Pair, SeedPairs, SocialGraph, select_seeds, split
from unmask.graphs.audit.attack_run import ADOPTER_MEASURES, average_rows, declare_seeds, run_attack
from unmask.graphs.audit.identity_search import Discovery
from unmask.graphs.audit.network_pairs import DerivedPair, numbered
from unmask.graphs.disclosure import Seeded, SeparatedPair, separated_seeds
from unmask.graphs.knowledge.seeding import parse_method
from unmask.graphs.protections import Separated, apply_protection
from unmask.graphs.utility import LOSSES, lost, utility
from unmask.measures.rates import RATES
from unmask.measures.registry import UTILITIES
from unmask.plan import Cell, Part
from unmask.ranges import Range
from unmask.results import Row
from unmask.schema import Table, parameters


@dataclass(frozen=True)
class Knowledge:
    """Knowledge of a network adversary.

    node_overlap, edge_overlap : overlap of the adversary's graph with the release, see `unmask.graphs.split`; ignored
                                 for a dataset that is a pair
    largest_component : cut both graphs to their largest component, as published figures do; other people are not
    evaluated seeds, n_seeds, error, who : method, number, error rate and population of seeds, see
                                 `unmask.graphs.disclosure.separated_seeds`; people without identity separation are
                                 "whole"
    """

    node_overlap: Annotated[float, Range(0, 1)] = 0.5
    edge_overlap: Annotated[float, Range(0, 1, above=True)] = 0.75
    largest_component: bool = False
    seeds: str = "random.25"
    n_seeds: Annotated[int, Range(0)] = 100
    error: Annotated[float, Range(0, 1)] = 0.0
    who: Seeded = "whole"

    @property
    def overlaps(self) -> tuple[float, float]:
        """Overlaps of nodes and edges."""
        return self.node_overlap, self.edge_overlap

    def choose(self, pair: Pair, rng: np.random.Generator) -> SeedPairs:
        """Return seeds of a pair in which all people who may be seeds have one identity."""
        return select_seeds(pair, self.seeds, self.n_seeds, rng, error=self.error)


SETTINGS = {"knows": Knowledge, "discovery": Discovery}
DATASET = parameters("unmask.graphs:EdgeListOptions")
COLUMNS: tuple[str, ...] = ()
ROLES: Mapping[str, str] = {}
ADVERSARY = {key: Table(parameters(f"{__name__}:{kind.__name__}")) for key, kind in SETTINGS.items()}
MEASURES = (
    *(rate.name for rate in RATES), *ADOPTER_MEASURES, "discovery", "discovery_score", "reversed", "utility", *LOSSES,
)  # fmt: skip


def _knowledge(adversary: Part) -> Knowledge:
    return Knowledge(**adversary.settings.get("knows", {}))


def check(adversary: Part) -> None:
    """Raise for inconsistent settings of an adversary."""
    knowledge, search = _knowledge(adversary), Discovery(**adversary.settings.get("discovery", {}))
    parse_method(knowledge.seeds)
    if search.people and knowledge.who != "whole":
        raise UnmaskError(f"who is {knowledge.who!r}, but discovery needs seeds with one identity; remove one of them")


def columns(_dataset: Part) -> list[str]:
    """Return an empty list: an edge list has no columns to name."""
    return []


def load(dataset: Part, data: Any) -> SocialGraph | Pair:
    """Return the graph, or the pair; people of a file are labeled by numbers."""
    reading = {key: value for key, value in dataset.settings.items() if key in DATASET}
    population: SocialGraph | Pair = numbered(SocialGraph.read(data, **reading)) if isinstance(data, Path) else data
    return population


def protect(_population: SocialGraph | Pair, protection: Any, _rng: np.random.Generator) -> Any:
    """Return the protection: it is applied later, to the release that each adversary attacks."""
    return protection


@dataclass(frozen=True)
class _FacedRelease:
    """Networks of a cell before and after the protection, and the adversary's seeds."""

    unprotected: Pair
    protected: Pair
    separated: Separated | None
    seeds: SeedPairs

    @classmethod
    def draw(cls, cell: Cell, population: SocialGraph | Pair, protection: Any) -> _FacedRelease:
        """Draw the networks and seeds of a cell."""
        knowledge = _knowledge(cell.adversary)
        pair = population if isinstance(population, Pair) else _split(cell, population, knowledge)
        seed_rng = cell.rng("seeds", knowledge.seeds, knowledge.n_seeds)
        if protection is None:
            return cls(pair, pair, None, knowledge.choose(pair, seed_rng))
        rng = cell.rng("protection", cell.protection.content)
        separated = apply_protection(protection, pair.target, rng=rng, eligible=pair.truth[pair.common])
        seeds = separated_seeds(
            pair, separated, knowledge.seeds, knowledge.n_seeds, seed_rng, who=knowledge.who, error=knowledge.error
        )
        return cls(pair, SeparatedPair.of(pair, separated), separated, seeds)

    @property
    def losses(self) -> dict[str, float]:
        """Losses of the release."""
        return dict.fromkeys(LOSSES, 0.0) if self.separated is None else lost(self.unprotected.target, *self.separated)


def _split(cell: Cell, graph: SocialGraph, knowledge: Knowledge) -> Pair:
    rng = cell.rng("split", *knowledge.overlaps)
    return split(graph, *knowledge.overlaps, rng, largest_component=knowledge.largest_component)


def attack(cell: Cell, population: SocialGraph | Pair, released: Any, attack: Attack) -> list[Row]:
    """Return rates over the people in both networks, and disclosure if people have several identities."""
    faced = _FacedRelease.draw(cell, population, released)
    knowledge = Auxiliary(faced.protected.source, faced.seeds)
    run, _ = run_attack(faced.protected, attack, knowledge, only_rates=True)
    rows = average_rows([run], release=cell.protection.name, adversary=cell.adversary.name)
    if not isinstance(population, Pair):
        counts = DerivedPair(population, *_knowledge(cell.adversary).overlaps).coverage(run.truth)
        rows = [replace(row, **counts) for row in rows]
    return [*rows, *_discovery_rows(cell, faced.protected, attack), *_utility_rows(cell, faced)]


def believed(
    cell: Cell, population: SocialGraph | Pair, released: Any, attack: Attack
) -> tuple[Posterior, Truth, float]:
    """Return the belief about people who are not seeds, the truth, and the utility of the release."""
    knowledge = _knowledge(cell.adversary)
    faced = _FacedRelease.draw(cell, population, released)
    ready = declare_seeds(attack, knowledge.seeds, faced.protected, anybody=knowledge.who == "anybody")
    belief = ready(faced.protected.target, Auxiliary(faced.protected.source, faced.seeds))
    truth = faced.protected.to_truth(faced.seeds)
    free = np.flatnonzero(~truth.leaked)
    return belief.take(free), Truth(truth.candidate[free]), utility(faced.losses)


def _discovery_rows(cell: Cell, pair: Pair, attack: Attack) -> Iterator[Row]:
    """Yield discovery rates of the identities of some adopters, each identity as the only one of its person."""
    search = Discovery(**cell.adversary.settings.get("discovery", {}))
    if isinstance(pair, SeparatedPair) and search.people:
        seeds, rng = _knowledge(cell.adversary).choose, cell.rng("discovery", search.people, search.runs)
        names = {"release": cell.protection.name, "adversary": cell.adversary.name}
        yield from search.rows(pair, attack, seeds, rng, **names)


def _utility_rows(cell: Cell, faced: _FacedRelease) -> Iterator[Row]:
    """Yield the losses of the release, and `utility`, 1 - the largest loss."""
    if not any(map(cell.wants, ("utility", *LOSSES))):
        return
    losses, n = faced.losses, max(faced.unprotected.target.n_edges, 1)
    note = f"1 - the greatest of {len(losses)} losses of the release"
    yield cell.row("utility", "share", utility(losses), prior=1.0, n=n, note=note)
    for name, loss in losses.items():
        yield cell.row(name, "share", loss, prior=0.0, n=n, note=UTILITIES[name].meaning)
