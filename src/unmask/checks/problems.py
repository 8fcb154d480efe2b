"""Small problems of each domain on which attacks and protections are tried, and how these are called there."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from unmask import aggregates, channels, graphs, linkage, tables
from unmask.aggregates.attacks.area_attacks import make_questions
from unmask.aggregates.attacks.reconstructor import KnownPeople
from unmask.aggregates.protections.exact_tables import count_tables
from unmask.core.arrays import Floats, Integers
from unmask.core.partition import Partition
from unmask.core.posterior import Posterior
from unmask.core.truth import ABSENT, Truth
from unmask.tables.knowledge import attribute_truth
from unmask.tables.protections.releasing import Released, make_release

Rng = np.random.Generator


@dataclass(frozen=True, eq=False)
class Problem:
    """A release, the adversary's knowledge, and a function that returns the truth about the targets of a belief."""

    release: Any
    knowledge: Any
    truth: Callable[[Any], Truth]


Agrees = Callable[[Any, Any], bool]
"""Function that compares a belief with the belief about a reordered release."""


@dataclass(frozen=True)
class Problems:
    """Problems on which the attacks, or the protections, of a domain are tried.

    call          : calls a thing with an input and a random generator
    make_input    : makes the input of a call, always the same: a problem, or a population
    reorder       : returns a problem with its release in another order, and a comparison of beliefs up to that order
    identical     : makes a problem in which all people are alike. None, here and below: the law says nothing
    unrelated     : makes a problem whose release is about other people
    calibration   : yields problems on which announced success is compared with realized success, for an attack
    find_fault    : returns the fault of a release, given the population; "" without a fault
    release_type, knowledge_type : types of the arguments of an attack; attacks on other types need other problems
    """

    call: Callable[[Any, Any, Rng], Any]
    make_input: Callable[[], Any]
    reorder: Callable[[Problem, Rng], tuple[Problem, Agrees]] | None = None
    identical: Callable[[], Problem] | None = None
    unrelated: Callable[[], Problem] | None = None
    calibration: Callable[[Any], Iterator[Problem]] | None = None
    find_fault: Callable[[Any, Any], str] | None = None
    release_type: Any = None
    knowledge_type: Any = None

    def fit(self, thing: Any) -> bool:
        """Return whether the annotations of the call accept these problems; arguments without one do.

        An attack whose release has a constraint (`typing.Annotated`), or that returns a tuple of guesses in place of a
        belief, needs other problems.
        """
        if self.release_type is None:
            return True
        release_hint, knowledge_hint, return_hint = read_hints(thing)
        is_accepted = _accepts(release_hint, self.release_type) and _accepts(knowledge_hint, self.knowledge_type)
        return is_accepted and get_origin(return_hint) is not tuple


def read_hints(thing: Any) -> tuple[Any, Any, Any]:
    """Return the types of the first two arguments and of the result of a call, Any if they are not annotated."""
    function = thing if inspect.isroutine(thing) else type(thing).__call__
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError):
        hints = {}
    names = [*inspect.signature(thing).parameters, "", ""]
    return hints.get(names[0], Any), hints.get(names[1], Any), hints.get("return", Any)


def _accepts(hint: Any, kind: Any) -> bool:
    """Return whether an argument with a type hint takes objects of a kind."""
    if hint is Any or hint == kind:
        return True
    if get_origin(hint) in (Union, UnionType):
        return any(_accepts(option, kind) for option in get_args(hint))
    return inspect.isclass(hint) and inspect.isclass(kind) and issubclass(kind, hint)


# --- tables ----------------------------------------------------------------------------------------------------------


def _attack(attack: Any, problem: Problem, rng: Rng) -> Any:
    """Call an attack."""
    return attack(problem.release, problem.knowledge, rng=rng)


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


def _table_problem(
    release: tables.Table, origin: Integers, population: tables.Table, *, targets: int | None = 50
) -> Problem:
    """Return a problem about some people of a population, about their values, or about the records."""
    targets_with_truth = tables.Knowledge(targets=targets)(population, origin, rng=np.random.default_rng(2))
    target_of_row = np.full(population.n_rows, ABSENT, dtype=np.int64)
    target_of_row[targets_with_truth.person] = np.arange(len(targets_with_truth.person))

    def truth(belief: Posterior) -> Truth:
        if belief.candidate_label is not None:
            return attribute_truth(population, targets_with_truth.person, belief, "diagnosis")
        is_about_records = belief.n_targets == release.n_rows != len(targets_with_truth.person)
        return Truth(target_of_row[origin]) if is_about_records else targets_with_truth.truth

    return Problem(release, targets_with_truth.background, truth)


def _reorder_table(problem: Problem, rng: Rng) -> tuple[Problem, Agrees]:
    n = problem.release.n_rows
    order = rng.permutation(n)

    def agrees(original: Posterior, reordered: Posterior) -> bool:
        old, new = original.to_dense(), reordered.to_dense()
        expected = old[:, order] if original.n_candidates == n else old[order] if original.n_targets == n else old
        return old.shape == new.shape and np.allclose(new, expected, atol=1e-6)

    return replace(problem, release=problem.release.take(order)), agrees


def _calibrate_tables(attack: Any) -> Iterator[Problem]:
    """Yield a census and two releases of it, or the release of the protection that the attack knows.

    A register covers the share of the census that the attack assumes.
    """
    n = 1500
    census = tables.datasets.synthetic_census(n, rng=np.random.default_rng(0))
    people = tables.Table.read(census, quasi_identifiers=["age", "sex", "zip"], sensitive="diagnosis")
    coverage, used = getattr(attack, "coverage", None), getattr(attack, "protection", None)
    for protection in (used,) if used else (tables.Identity(), tables.Mondrian(k=3), tables.Mondrian(k=20)):
        release, origin = protection(people, rng=np.random.default_rng(1))
        yield _table_problem(release, origin, people, targets=None if coverage is None else round(coverage * n))


def _protect_table(protection: Any, population: tables.Table, rng: Rng) -> Released:
    return make_release(protection, population, rng=rng)


def _find_table_fault(population: tables.Table, protected: Released) -> str:
    release, origin, _ = protected
    if origin is None:  # synthetic rows
        return "" if release.names == population.names else "the release has other columns than the population"
    if not len(np.unique(origin)) == len(origin) == release.n_rows:
        return "its rows are not each one person of the population; return (release, origin)"
    for column in release.sensitive:
        original = population.column(column.name)
        true = np.array(original.levels.labels)[original.codes[origin]]
        if np.array(column.levels.labels)[column.codes].tolist() != true.tolist():
            return f"the sensitive column {column.name!r} is not that of the people behind the rows"
    return ""


def _plain_table(n: int, *, alike: bool = False) -> Problem:
    people = _people(n, alike=alike)
    return _table_problem(people, np.arange(n), people, targets=n // 2)


def _unrelated_table() -> Problem:
    people = _people(300, seed=4)
    return replace(_table_problem(people, np.arange(300), people), release=_people(300, seed=3))


# --- linkage ---------------------------------------------------------------------------------------------------------


def _items() -> linkage.Items:
    return linkage.datasets.synthetic_traces(12, 240, rng=np.random.default_rng(0), difficulty=0.2)


def _items_problem() -> Problem:
    release, solution = linkage.Split(2)(_items(), rng=np.random.default_rng(1))
    return Problem(release, None, lambda _: Truth(solution.code))


def _find_items_fault(population: linkage.Items, protected: tuple[linkage.Items, Partition]) -> str:
    release, solution = protected
    if sorted(release.ids.tolist()) != sorted(population.ids.tolist()):
        return "its items are not those of the population"
    if sorted(solution.sizes.tolist()) != sorted(population.partition.sizes.tolist()):
        return "the users that it gives do not have the items that they had"
    pairs = np.unique(np.stack([release.partition.code, solution.code]), axis=1)
    return "" if pairs.shape[1] == release.partition.n_clusters else "two users share a pseudonym"


# --- channels --------------------------------------------------------------------------------------------------------


def _protect_secrets(protection: Any, secrets: Integers, rng: Rng) -> Any:
    """Protect numbers; a protection of points in the plane gets a grid."""
    points = 500.0 * np.stack([secrets % 2, secrets // 2], axis=1)
    return protection(points if read_hints(protection)[0] == Floats else secrets, rng=rng)


def _channel_problem(seed: int = 0, *, alike: bool = False, n: int = 200) -> Problem:
    rng = np.random.default_rng(seed)
    prior = np.full(4, 0.25) if alike else rng.dirichlet(np.ones(6))
    rows = np.ones((4, 1)) if alike else rng.dirichlet(np.full(9, 0.5), size=6)
    channel = channels.Channel(rows, prior=prior)
    secret = np.arange(n) % 4 if alike else rng.choice(6, n, p=prior)
    output = np.array([rng.choice(channel.n_y, p=rows[x]) for x in secret])
    return Problem(output, channel, lambda _: Truth(secret))


def _find_channel_fault(secrets: Integers, output: Any) -> str:
    return "" if len(output) == len(secrets) else f"it returns {len(output)} observations of {len(secrets)} secrets"


# --- aggregates ------------------------------------------------------------------------------------------------------


def _aggregate_problem(seed: int = 0, blocks: int = 20) -> Problem:
    """Return tables of counts by block, and people whose illness is inferred."""
    rng = np.random.default_rng(seed)
    domain = aggregates.Domain({"sex": ("f", "m"), "age": ("0", "1", "2"), "ill": ("n", "y")})
    n, areas = 6 * blocks, tuple(f"b{number:03}" for number in range(blocks))
    records = {name: rng.choice(np.array(labels), n, p=rng.dirichlet(np.full(len(labels), 3.0)))
               for name, labels in domain.categories.items()}  # fmt: skip
    records["block"] = np.repeat(np.array(areas), 6)
    released = [
        aggregates.tabulate(records, columns, aggregates.Rule(threshold=2), domain, geography="block", areas=areas)
        for columns in (["sex", "age"], ["age", "ill"], ["sex", "ill"])
    ]
    release = aggregates.AggregateRelease(domain, tuple(released), "block", areas)
    (question,) = make_questions(release, ["ill"], ())
    cells = np.ravel_multi_index(release.encode(records), release.shape)
    people = KnownPeople(question, release.encode_areas(records), question.profile[cells])
    return Problem(release, people, lambda _: Truth(question.value[cells]))


def _exact_tables() -> tuple[aggregates.AggregateRelease, Integers]:
    """Return tables of 60 people with all totals, and their true counts."""
    rng = np.random.default_rng(0)
    records = {name: rng.choice(np.array(labels), 60) for name, labels in (("sex", ["f", "m"]), ("age", [*"0123"]))}
    exact = count_tables(records, ["sex*age"])
    return exact.tables, exact.counts


def _protect_tables(
    protection: Any, population: tuple[aggregates.AggregateRelease, Integers], rng: Rng
) -> aggregates.AggregateRelease:
    release: aggregates.AggregateRelease = protection(*population, rng=rng)
    return release


def _find_counts_fault(
    population: tuple[aggregates.AggregateRelease, Integers], release: aggregates.AggregateRelease
) -> str:
    (low, high), (tables, counts) = release.bounds(), population
    values = tables.matrix @ counts[0]
    is_inside = len(values) == len(low) and bool(((low <= values) & (values <= high)).all())
    return "" if is_inside else "its rule excludes a true count"


# --- graphs ----------------------------------------------------------------------------------------------------------


@cache
def _graph(n: int, degree: int) -> graphs.SocialGraph:
    return graphs.datasets.barabasi_albert(n, degree, rng=np.random.default_rng(1))


def _graph_problem(graph: graphs.SocialGraph, overlap: tuple[float, float], method: str, n_seeds: int) -> Problem:
    """Return two noisy copies of a graph, with some identities leaked."""
    pair = graphs.split(graph, *overlap, np.random.default_rng(2))
    seeds = graphs.select_seeds(pair, method, n_seeds, np.random.default_rng(3))
    return Problem(pair.target, graphs.Auxiliary(pair.source, seeds), lambda _: pair.to_truth(seeds))


@cache
def _sparse_graph() -> graphs.SocialGraph:
    """Return a graph in which many nodes have one or two edges, so that an order decides wherever it can."""
    degrees = graphs.datasets.power_law_degrees(400, exponent=2.3, mean=6)
    return graphs.datasets.chung_lu(degrees, rng=np.random.default_rng(1))


def _reorder_graph(problem: Problem, rng: Rng) -> tuple[Problem, Agrees]:
    source, (source_seeds, target_seeds) = problem.knowledge.graph, problem.knowledge.seeds
    source_order, target_order = rng.permutation(source.n_nodes), rng.permutation(problem.release.n_nodes)
    new_source, new_target = np.argsort(source_order), np.append(np.argsort(target_order), -1)
    order = rng.permutation(len(source_seeds))
    leaked = (new_source[source_seeds[order]], new_target[target_seeds[order]])

    def agrees(original: Any, reordered: Any) -> bool:
        if hasattr(original, "mapping"):
            return bool(np.array_equal(reordered.mapping[new_source], new_target[original.mapping]))
        return np.allclose(reordered.to_dense()[new_source], original.to_dense()[:, target_order], atol=1e-6)

    knowledge = graphs.Auxiliary(_renumber(source, new_source), leaked)
    return Problem(_renumber(problem.release, new_target), knowledge, problem.truth), agrees


def _renumber(graph: graphs.SocialGraph, number: Integers) -> graphs.SocialGraph:
    u, v = graph.edges()
    return graphs.SocialGraph.from_edges(number[u], number[v], n_nodes=graph.n_nodes)


def _find_graph_fault(population: graphs.SocialGraph, separated: Any) -> str:
    release, origin = separated.release, separated.origin
    u, v = release.edges()
    if len(separated.adopters) and not population.has_edges(origin[u], origin[v]).all():  # else edges may be false
        return "a person has a contact that they did not have"
    if release.labels is not None:
        return "its nodes are labeled"
    return "" if len(np.unique(origin)) == population.n_nodes else "a person of the population has no node"


def _protect(protection: Any, population: Any, rng: Rng) -> Any:
    return protection(population, rng=rng)


ATTACKS = {
    "tables": Problems(
        _attack,
        lambda: _plain_table(120),
        _reorder_table,
        lambda: _plain_table(40, alike=True),
        _unrelated_table,
        _calibrate_tables,
        release_type=tables.Table,
        knowledge_type=tables.Background,
    ),
    "linkage": Problems(_attack, _items_problem),
    "channels": Problems(
        _attack,
        _channel_problem,
        identical=lambda: _channel_problem(alike=True),
        unrelated=lambda: _channel_problem(1),
        calibration=lambda _: (_channel_problem(seed, n=3000) for seed in range(5)),
        release_type=Integers,
        knowledge_type=channels.Channel,
    ),
    "graphs": Problems(
        _attack,
        lambda: _graph_problem(_sparse_graph(), (0.8, 0.8), "random.25", 20),
        _reorder_graph,
        calibration=lambda _: (_graph_problem(_graph(400, 6), (0.9, overlap), "top", 25) for overlap in (0.7, 0.9)),
        release_type=graphs.SocialGraph,
        knowledge_type=graphs.Auxiliary,
    ),
    "aggregates": Problems(
        _attack,
        _aggregate_problem,
        calibration=lambda _: (_aggregate_problem(seed, blocks=200) for seed in range(2)),
        release_type=aggregates.AggregateRelease,
        knowledge_type=KnownPeople,
    ),
}
"""Domain -> problems of its attacks."""

PROTECTIONS = {
    "tables": Problems(_protect_table, lambda: _people(400), find_fault=_find_table_fault),
    "linkage": Problems(_protect, _items, find_fault=_find_items_fault),
    "channels": Problems(_protect_secrets, lambda: np.arange(200) % 4, find_fault=_find_channel_fault),
    "graphs": Problems(_protect, lambda: _graph(300, 8), find_fault=_find_graph_fault),
    "aggregates": Problems(_protect_tables, _exact_tables, find_fault=_find_counts_fault),
}
"""Domain -> problems of its protections."""
