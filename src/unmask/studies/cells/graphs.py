"""Cells of graphs: a graph is split in two, the people of one half protect themselves, the other half finds them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from unmask.cases.rows import plain_row
from unmask.errors import UnmaskError, nearest
from unmask.graphs import Auxiliary, Pair, SeedPairs, SocialGraph, select_seeds, split
from unmask.graphs.disclosure import Disclosure, Seeded, SeparatedPair, disclosure, discovery, separated_seeds
from unmask.graphs.evaluation import Rates, rates
from unmask.graphs.knowledge.seeding import parse_method
from unmask.graphs.protections import Role, Separated
from unmask.measures.interval import wilson
from unmask.plan import Cell, Part, unknown
from unmask.results import Row
from unmask.studies.graph_trials import PERCOLATES

DATASET: tuple[str, ...] = ()
COLUMNS: tuple[str, ...] = ()
ROLES: Mapping[str, str] = {}
ADVERSARY = ("knows", "discovery")
MEASURES = (
    "recall", "spread", "precision", "named_wrongly", "ghosts", "adopter_recall", "disclosure", "exposed", "discovery",
    "discovery_score", "reversed", "utility",
)  # fmt: skip

Settings = TypeVar("Settings")


@dataclass(frozen=True)
class Knows:
    """What an adversary of graphs knows.

    node_overlap, edge_overlap : of his graph with the released one, see `unmask.graphs.split`; of no use for a dataset
                                 that is a pair already
    seeds, n_seeds, error, who : whom he has found before he starts, see `unmask.graphs.disclosure.separated_seeds`;
                                 where nobody has separated his identities everybody is "whole"
    """

    node_overlap: float = 0.5
    edge_overlap: float = 0.75
    seeds: str = "random.25"
    n_seeds: int = 100
    error: float = 0.0
    who: Seeded = "whole"


@dataclass(frozen=True)
class Asked:
    """Whether each identity of some adopters is looked for by itself, see `unmask.graphs.disclosure.discovery`.

    people : adopters, drawn at random; none where it is not asked for, as it takes `runs` attacks for each identity
    runs   : attacks
    """

    people: int = 0
    runs: int = 10


def check(adversary: Part) -> None:
    """Refuse what he cannot know."""
    knows, asked = _settings(adversary, "knows", Knows), _settings(adversary, "discovery", Asked)
    for name in ("node_overlap", "edge_overlap", "error"):
        if type(value := getattr(knows, name)) not in (int, float) or not 0 <= value <= 1:
            raise UnmaskError(f"{name} is {value!r}, expected a share from 0 to 1")
    if knows.edge_overlap == 0:
        raise UnmaskError("edge_overlap is 0, so that the graphs share no tie; expected a share above 0, to 1")
    if type(knows.n_seeds) is not int or knows.n_seeds < 0 or not isinstance(knows.seeds, str):
        raise UnmaskError(
            'seeds and n_seeds are a method and a whole number, such as seeds = "random.25", n_seeds = 100'
        )
    parse_method(knows.seeds)
    if knows.who not in get_args(Seeded):
        raise UnmaskError(f"who is {knows.who!r}, {nearest(knows.who, get_args(Seeded))}")
    if type(asked.people) is not int or type(asked.runs) is not int or asked.people < 0 or asked.runs < 1:
        raise UnmaskError("discovery has people and runs, expected whole numbers such as { people = 50, runs = 10 }")
    if asked.people and knows.who != "whole":
        raise UnmaskError(
            f"who is {knows.who!r}, but identities are looked for from seeds that are whole; leave one out"
        )


def columns(_file: Path) -> list[str]:
    """A list of ties has no columns to name."""
    return []


def load(_dataset: Part, made: Any) -> SocialGraph | Pair:
    """The graph, or the pair."""
    found: SocialGraph | Pair = SocialGraph.read(made) if isinstance(made, Path) else made
    return found


def protect(_population: SocialGraph | Pair, protection: Any, _rng: np.random.Generator) -> Any:
    """The protection itself: the people of the released half apply it, and who they are each adversary has a say in."""
    return protection


def attack(cell: Cell, population: SocialGraph | Pair, released: Any, attack: Any) -> list[Row]:
    """Rates over the people who are in both halves; with several identities, also what they disclose."""
    knows, asked = _settings(cell.adversary, "knows", Knows), _settings(cell.adversary, "discovery", Asked)
    pair = _pair(cell, population, knows)
    rng = cell.rng("protection", cell.protection.content)
    separated = None if released is None else released(pair.target, rng=rng, eligible=pair.truth[pair.common])
    rng = cell.rng("seeds", knows.seeds, knows.n_seeds)
    if separated is None:
        seeds = select_seeds(pair, knows.seeds, knows.n_seeds, rng, error=knows.error)
        belief = attack(pair.target, Auxiliary(pair.source, seeds))
        return [
            *_rates(cell, rates(belief.mapping, pair.truth, seeds.source), _guess(pair, _free(pair, seeds))),
            _kept_ties(cell, pair, pair.target),
        ]
    seeds = separated_seeds(pair, separated, knows.seeds, knows.n_seeds, rng, who=knows.who, error=knows.error)
    belief = attack(separated.release, Auxiliary(pair.source, seeds))
    found = disclosure(pair, separated, getattr(belief, "rounds", belief.mapping), seeds.source)
    after = SeparatedPair.of(pair, separated)
    return [
        *_rates(cell, found.everybody, _guess(after, _free(after, seeds))),
        *_hidden(cell, after, found),
        *_one_by_one(cell, pair, separated, attack, knows, asked),
        _kept_ties(cell, pair, separated.release),
    ]


def _pair(cell: Cell, population: SocialGraph | Pair, knows: Knows) -> Pair:
    if isinstance(population, Pair):
        return population
    overlaps = knows.node_overlap, knows.edge_overlap
    return split(population, *overlaps, cell.rng("split", *overlaps))


def _settings(adversary: Part, where: str, kind: type[Settings]) -> Settings:
    """One of the two tables that a plan may have of an adversary."""
    given = adversary.settings.get(where, {})
    if not isinstance(given, dict):
        raise UnmaskError(f"{where} is no table; expected for example {where} = {{ people = 50, runs = 10 }}")
    names = list(inspect.signature(kind).parameters)
    for key in given:
        if key not in names:
            raise UnmaskError(unknown(key, names, where))
    return kind(**given)


def _free(pair: Pair, seeds: SeedPairs) -> NDArray[np.int64]:
    """The people in both graphs who are no seeds."""
    return np.setdiff1d(pair.common, seeds.source)


def _guess(pair: Pair, people: NDArray[np.int64]) -> float:
    """Chance that a random node of the release is right, mean over these people, of whom any identity is."""
    return float(pair.identities[people].mean() / pair.target.n_nodes) if len(people) else 0.0


def _rates(cell: Cell, found: Rates, guess: float) -> Iterator[Row]:
    """Rates beside those of guessing: a random node for everybody who is no seed."""
    present = found.findable / max(found.findable + found.ghosts + found.absent, 1)
    yield from _share(cell, "recall", found.recall, found.findable, prior=guess)
    spread = float((found.recall or 0.0) >= PERCOLATES)
    yield from _share(cell, "spread", spread, found.findable, binomial=False)
    yield from _share(cell, "precision", found.precision, found.matches, prior=guess * present)
    yield from _share(cell, "named_wrongly", found.error, found.findable, prior=1.0 - guess, direction="low")
    yield from _share(cell, "ghosts", found.ghost_share, found.matches, prior=1.0 - present, direction="low")


def _hidden(cell: Cell, pair: SeparatedPair, found: Disclosure) -> Iterator[Row]:
    """What the attack tells of those who protect themselves; a random node is taken to tell all contacts."""
    n, one = len(found.share), 1 / max(pair.target.n_nodes, 1)
    recall, guess = found.adopters.recall, _guess(pair, found.person)
    yield from _share(cell, "adopter_recall", recall, found.adopters.findable, prior=guess, target="adopters")
    yield from _share(cell, "disclosure", found.rate, n, prior=one, target="adopters", binomial=False)
    if np.any(pair.separated.role == Role.HIDDEN):
        yield from _share(cell, "exposed", found.exposed, n, prior=one, target="adopters")


def _one_by_one(cell: Cell, pair: Pair, separated: Separated, attack: Any, knows: Knows, asked: Asked) -> Iterator[Row]:
    """How well the identities of some adopters are found, each as if it were the only one."""
    there = np.isin(pair.truth, separated.adopters) & np.isin(pair.truth, separated.origin)
    rng = cell.rng("discovery", asked.people, asked.runs)
    people = rng.permutation(np.flatnonzero(there))[: asked.people]
    if not len(people):
        return

    def seeds(whole: Pair, rng: np.random.Generator) -> SeedPairs:
        return select_seeds(whole, knows.seeds, knows.n_seeds, rng, error=knows.error)

    found = discovery(pair, separated, people, attack, seeds, runs=asked.runs, rng=rng)
    n = len(found.node)
    chance, score = float(found.probability.mean()), float(found.score.mean())
    yield from _share(cell, "discovery", chance, n, target="adopters", binomial=False)
    yield plain_row(cell, "discovery_score", "runs", score, prior=0.0, n=n, target="adopters")
    yield from _share(cell, "reversed", found.reversed, len(people), target="adopters")


def _kept_ties(cell: Cell, pair: Pair, release: SocialGraph) -> Row:
    before = max(pair.target.n_edges, 1)
    return plain_row(
        cell, "utility", "share", min(release.n_edges / before, 1.0), prior=1.0, n=before,
        note="ties that the release keeps",
    )  # fmt: skip


def _share(
    cell: Cell,
    measure: str,
    value: float | None,
    n: int,
    *,
    prior: float = 0.0,
    target: str = "identity",
    direction: Literal["high", "low"] = "high",
    binomial: bool = True,
) -> Iterator[Row]:
    """A share with Wilson's interval; nothing where there is nobody to have it of."""
    if value is None or not cell.wants(measure):
        return
    low, high = wilson(value, n) if binomial else (None, None)
    over = "people (Wilson)" if binomial else "none"
    yield plain_row(
        cell, measure, "share", value, prior=prior, n=n, target=target, direction=direction, low=low, high=high,
        interval=over,
    )  # fmt: skip
