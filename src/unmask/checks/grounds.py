"""Small problems of each domain to try things on, and how attacks and protections are called there."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask import channels, graphs, linkage, tables
from unmask.core.partition import Partition
from unmask.core.posterior import Posterior
from unmask.core.truth import ABSENT, Truth
from unmask.tables.knowledge import attribute_truth
from unmask.tables.protections.releasing import Released, make_release

Rng = np.random.Generator


@dataclass(frozen=True, eq=False)
class Scene:
    """A release, what the adversary knows, and what is true of the targets of a belief."""

    release: Any
    knowledge: Any
    truth: Callable[[Any], Truth]


Agrees = Callable[[Any, Any], bool]


@dataclass(frozen=True)
class Ground:
    """Where the attacks, or the protections, of a domain are tried.

    call      : (thing, given, rng) -> what comes out
    given     : what they are called with, the same whenever it is asked for: a scene, or a population
    moved     : the scene with its release in another order, and whether two beliefs agree up to that order
    alike     : nobody can be told apart. None, here as below: that says nothing in this domain.
    strangers : the release is about other people
    judged    : scenes on which announced success is compared with realized success, for an attack
    fault     : (population, release) -> what is wrong with the release of a protection, "" for nothing
    types     : what is annotated in a call for which these are problems; others of the domain need other problems
    others    : what is annotated in a call that needs other problems all the same
    """

    call: Callable[[Any, Any, Rng], Any]
    given: Callable[[], Any]
    moved: Callable[[Scene, Rng], tuple[Scene, Agrees]] | None = None
    alike: Callable[[], Scene] | None = None
    strangers: Callable[[], Scene] | None = None
    judged: Callable[[Any], Iterator[Scene]] | None = None
    fault: Callable[[Any, Any], str] | None = None
    types: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def poses(self, thing: Any) -> bool:
        """Whether these are problems for what the call of a thing is annotated with; it is, where that says nothing."""
        if not self.types:
            return True
        signature = inspect.signature(thing)
        annotations = [one.annotation for one in list(signature.parameters.values())[:2]]
        said = " ".join(getattr(one, "__name__", str(one)) for one in annotations)
        fits = any(word in said for word in (*self.types, "_empty _empty"))
        return fits and not any(word in f"{said} {signature.return_annotation}" for word in self.others)


# --- tables ----------------------------------------------------------------------------------------------------------


def _attack(attack: Any, scene: Scene, rng: Rng) -> Any:
    """The one place where an attack is called."""
    return attack(scene.release, scene.knowledge, rng=rng)


@cache
def _people(n: int, *, alike: bool = False, seed: int = 0) -> tables.Table:
    rng = np.random.default_rng(seed)
    columns = {
        "age": np.full(n, 30) if alike else rng.integers(20, 40, n),
        "sex": rng.choice(["f"] if alike else ["f", "m"], n),
        "diagnosis": rng.choice(["asthma", "flu", "gout"], n, p=[0.2, 0.5, 0.3]),
    }
    if alike:
        columns["diagnosis"] = np.full(n, "flu")
    return tables.Table.read(columns, quasi_identifiers=("age", "sex"), sensitive="diagnosis")


def _table_scene(
    release: tables.Table, origin: NDArray[np.int64], population: tables.Table, *, targets: int | None = 50
) -> Scene:
    """Some people of the population are known; the truth is about them, about their values, or about the records."""
    known = tables.Knowledge(targets=targets)(population, origin, rng=np.random.default_rng(2))
    place = np.full(population.n_rows, ABSENT, dtype=np.int64)
    place[known.person] = np.arange(len(known.person))

    def truth(belief: Posterior) -> Truth:
        if belief.candidate_label is not None:
            return attribute_truth(population, known.person, belief, "diagnosis")
        of_records = belief.n_targets == release.n_rows != len(known.person)
        return Truth(place[origin]) if of_records else known.truth

    return Scene(release, known.background, truth)


def _table_moved(scene: Scene, rng: Rng) -> tuple[Scene, Agrees]:
    n = scene.release.n_rows
    order = rng.permutation(n)

    def agrees(before: Posterior, after: Posterior) -> bool:
        old, new = before.to_dense(), after.to_dense()
        wanted = old[:, order] if before.n_candidates == n else old[order] if before.n_targets == n else old
        return old.shape == new.shape and np.allclose(new, wanted, atol=1e-6)

    return replace(scene, release=scene.release.take(order)), agrees


def _tables_judged(attack: Any) -> Iterator[Scene]:
    """A census as it is and in two releases; or in that of the protection that the attack knows was used. A register
    covers the share of it that the attack is told.
    """
    n = 1500
    census = tables.datasets.synthetic_census(n, rng=np.random.default_rng(0))
    people = tables.Table.read(census, quasi_identifiers=["age", "sex", "zip"], sensitive="diagnosis")
    coverage, known = getattr(attack, "coverage", None), getattr(attack, "protection", None)
    for protection in (known,) if known else (tables.Identity(), tables.Mondrian(k=3), tables.Mondrian(k=20)):
        release, origin = protection(people, rng=np.random.default_rng(1))
        yield _table_scene(release, origin, people, targets=None if coverage is None else round(coverage * n))


def _protect_table(protection: Any, population: tables.Table, rng: Rng) -> Released:
    return make_release(protection, population, rng=rng)


def _table_fault(population: tables.Table, protected: Released) -> str:
    release, origin, _ = protected
    if origin is None:  # nobody's rows
        return "" if release.names == population.names else "the release has other columns than the population"
    if not len(np.unique(origin)) == len(origin) == release.n_rows:
        return "its rows are not each one person of the population; return (release, origin)"
    for column in release.sensitive:
        before, after = population.column(column.name), column
        true = np.array(before.levels.labels)[before.codes[origin]]
        if np.array(after.levels.labels)[after.codes].tolist() != true.tolist():
            return f"the sensitive column {column.name!r} is not that of the people behind the rows"
    return ""


def _plain_table(n: int, *, alike: bool = False) -> Scene:
    people = _people(n, alike=alike)
    return _table_scene(people, np.arange(n), people, targets=n // 2)


def _strange_table() -> Scene:
    others = _people(300, seed=4)
    return replace(_table_scene(others, np.arange(300), others), release=_people(300, seed=3))


# --- linkage ---------------------------------------------------------------------------------------------------------


def _items() -> linkage.Items:
    return linkage.datasets.synthetic_traces(12, 240, rng=np.random.default_rng(0), difficulty=0.2)


def _items_scene() -> Scene:
    release, solution = linkage.Split(2)(_items(), rng=np.random.default_rng(1))
    return Scene(release, None, lambda _: Truth(solution.code))


def _items_fault(population: linkage.Items, protected: tuple[linkage.Items, Partition]) -> str:
    release, solution = protected
    if sorted(release.ids.tolist()) != sorted(population.ids.tolist()):
        return "its items are not those of the population"
    if sorted(solution.sizes.tolist()) != sorted(population.partition.sizes.tolist()):
        return "the users that it gives do not have the items that they had"
    pairs = np.unique(np.stack([release.partition.code, solution.code]), axis=1)
    return "" if pairs.shape[1] == release.partition.n_clusters else "two users share a pseudonym"


# --- channels --------------------------------------------------------------------------------------------------------


def _protect_secrets(protection: Any, secrets: NDArray[np.int64], rng: Rng) -> Any:
    """Numbers are protected as they are, places in the plane as points of a grid."""
    planar = "Floats" in str(next(iter(inspect.signature(protection).parameters.values())).annotation)
    points = 500.0 * np.stack([secrets % 2, secrets // 2], axis=1)
    return protection(points if planar else secrets, rng=rng)


def _channel_scene(seed: int = 0, *, alike: bool = False, n: int = 200) -> Scene:
    rng = np.random.default_rng(seed)
    prior = np.full(4, 0.25) if alike else rng.dirichlet(np.ones(6))
    rows = np.ones((4, 1)) if alike else rng.dirichlet(np.full(9, 0.5), size=6)
    channel = channels.Channel(rows, prior=prior)
    secret = np.arange(n) % 4 if alike else rng.choice(6, n, p=prior)
    shown = np.array([rng.choice(channel.n_y, p=rows[x]) for x in secret])
    return Scene(shown, channel, lambda _: Truth(secret))


def _channel_fault(secrets: NDArray[np.int64], shown: Any) -> str:
    return "" if len(shown) == len(secrets) else f"it shows {len(shown)} observations of {len(secrets)} secrets"


# --- graphs ----------------------------------------------------------------------------------------------------------


@cache
def _graph(n: int, degree: int) -> graphs.SocialGraph:
    return graphs.datasets.barabasi_albert(n, degree, rng=np.random.default_rng(1))


def _graph_scene(graph: graphs.SocialGraph, kept: tuple[float, float], method: str, n_seeds: int) -> Scene:
    """Two noisy copies of a graph, some identities leaked."""
    pair = graphs.split(graph, *kept, np.random.default_rng(2))
    seeds = graphs.select_seeds(pair, method, n_seeds, np.random.default_rng(3))
    return Scene(pair.target, graphs.Auxiliary(pair.source, seeds), lambda _: pair.to_truth(seeds))


@cache
def _sparse_graph() -> graphs.SocialGraph:
    """Many people of one or two edges, twins among them: whatever order decides, it decides here."""
    degrees = graphs.datasets.power_law_degrees(400, exponent=2.3, mean=6)
    return graphs.datasets.chung_lu(degrees, rng=np.random.default_rng(1))


def _graph_moved(scene: Scene, rng: Rng) -> tuple[Scene, Agrees]:
    source, (known, shown) = scene.knowledge.graph, scene.knowledge.seeds
    mine, theirs = rng.permutation(source.n_nodes), rng.permutation(scene.release.n_nodes)
    place, there = np.argsort(mine), np.append(np.argsort(theirs), -1)
    order = rng.permutation(len(known))
    leaked = (place[known[order]], there[shown[order]])

    def agrees(before: Any, after: Any) -> bool:
        if hasattr(before, "mapping"):
            return bool(np.array_equal(after.mapping[place], there[before.mapping]))
        return np.allclose(after.to_dense()[place], before.to_dense()[:, theirs], atol=1e-6)

    moved = Scene(_renumbered(scene.release, there), graphs.Auxiliary(_renumbered(source, place), leaked), scene.truth)
    return moved, agrees


def _renumbered(graph: graphs.SocialGraph, place: NDArray[np.int64]) -> graphs.SocialGraph:
    u, v = graph.edges()
    return graphs.SocialGraph.from_edges(place[u], place[v], n_nodes=graph.n_nodes)


def _graph_fault(population: graphs.SocialGraph, separated: Any) -> str:
    release, origin = separated.release, separated.origin
    u, v = release.edges()
    if len(separated.adopters) and not population.has_edges(origin[u], origin[v]).all():  # else edges may be false
        return "somebody has a contact that they did not have"
    if release.labels is not None:
        return "its nodes are labeled"
    return "" if len(np.unique(origin)) == population.n_nodes else "somebody of the population has no node"


def _protect(protection: Any, population: Any, rng: Rng) -> Any:
    return protection(population, rng=rng)


ATTACKS = {
    "tables": Ground(
        _attack,
        lambda: _plain_table(120),
        _table_moved,
        lambda: _plain_table(40, alike=True),
        _strange_table,
        _tables_judged,
        types=("Table",),
        others=("Parts", "Predicate", "Traces"),
    ),
    "linkage": Ground(_attack, _items_scene),
    "channels": Ground(
        _attack,
        _channel_scene,
        alike=lambda: _channel_scene(alike=True),
        strangers=lambda: _channel_scene(1),
        judged=lambda _: (_channel_scene(seed, n=3000) for seed in range(5)),
        types=("Channel",),
        others=("DistinctOutputs",),
    ),
    "graphs": Ground(
        _attack,
        lambda: _graph_scene(_sparse_graph(), (0.8, 0.8), "random.25", 20),
        _graph_moved,
        judged=lambda _: (_graph_scene(_graph(400, 6), (0.9, overlap), "top", 25) for overlap in (0.7, 0.9)),
        types=("SocialGraph",),
    ),
}
"""Domain -> where its attacks are tried."""

PROTECTIONS = {
    "tables": Ground(_protect_table, lambda: _people(400), fault=_table_fault),
    "linkage": Ground(_protect, _items, fault=_items_fault),
    "channels": Ground(_protect_secrets, lambda: np.arange(200) % 4, fault=_channel_fault),
    "graphs": Ground(_protect, lambda: _graph(300, 8), fault=_graph_fault),
}
"""Domain -> where its protections are tried."""
