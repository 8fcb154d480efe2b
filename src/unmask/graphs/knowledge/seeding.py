"""Seeds: a few people in both graphs, chosen with the truth by a property of the adversary."""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

import numpy as np

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError, nearest
from unmask.graphs import _kernels
from unmask.graphs.graph import SocialGraph
from unmask.graphs.knowledge.centrality import betweenness, closeness, clustering
from unmask.graphs.knowledge.pair import Pair
from unmask.graphs.seeds import SeedPairs

_METHOD = re.compile(
    r"(?P<shared>random|betweenness|closeness|(?P<group>clique|neighborhood)\.(?P<size>[2-9]))(?:\.(?P<share>\d+))?"
    r"|(?P<plain>top|lta|clustering(?:\.high)?)"
)
_SKIPPED_SHARE: Final = 0.2  # share of people that clustering.high skips


METHODS: Final = (
    "random", "random.25", "random.1", "top", "betweenness.1", "closeness.1", "clique.4", "neighborhood.4", "lta",
    "clustering", "clustering.high",
)  # fmt: skip
"""Examples of all methods, to suggest a name after a misspelling."""


class Method(NamedTuple):
    """A method of choosing seeds, see `select_seeds`."""

    name: str  # without size and share
    size: int  # people in a group; 0 for methods without groups
    share: float  # share of the common people, those of highest degree, that may be chosen


def select_seeds(pair: Pair, method: str, n: int, rng: np.random.Generator, *, error: float = 0.0) -> SeedPairs:
    """Choose n people of both graphs as seeds of the adversary.

    Ties are broken at random. Betweenness is exact up to 1e10 steps and sampled above (see `betweenness`). The source
    uses the names random.25, top, betwc.1, closec.1, 4cliques.2, 4bfs.2, lta, lcc and lcch. Its program ranks closec
    and lcc by faulty values, and betwc within the subgraph of the top 10 %; unmask computes the named quantities.

    Parameters
    ----------
    pair : Pair
        Both graphs and the truth.
    method : str
        * "random": any common people.
        * "random.25": any of the 25 % of common people with the highest degree in the source. The digits after the dot
          are decimals: .2 is 20 % and .05 is 5 %.
        * "top": people with the highest degree in the source.
        * "betweenness.1": people with the highest betweenness in the source, among the top 10 % by degree.
        * "closeness.1": people with the highest closeness in the source, among the top 10 % by degree.
        * "clique.4": disjoint groups of 4 people who are cliques in both graphs, found by a greedy search from random
          starts; n is a multiple of 4. "clique.4.2": among the top 20 %.
        * "neighborhood.4": disjoint groups of 4 people, found by breadth-first search from random starts along edges
          of both graphs; n is a multiple of 4. "neighborhood.4.2": among the top 20 %.
        * "lta": people with the lowest local anonymity LTA_A in the source (`criteria`).
        * "clustering": people with the highest local clustering coefficient in the source.
        * "clustering.high": the same without the top 20 %.
    n : int
        Number of seeds.
    rng : numpy.random.Generator
        Source of the random draws.
    error : float
        Share of wrong seeds, rounded to whole seeds. The target of a wrong seed is a random target node that is not a
        seed. `pair.truth[seeds.source] != seeds.target` marks wrong seeds.

    Returns
    -------
    SeedPairs
        Seeds.

    References
    ----------
    G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015, section 4.2.1.

    Examples
    --------
    >>> from unmask.graphs.graph import SocialGraph
    >>> graph = SocialGraph.from_edges([0, 0, 0, 1, 3], [1, 2, 3, 2, 4])
    >>> seeds = select_seeds(Pair(graph, graph, np.arange(5)), "clique.3", n=3, rng=np.random.default_rng(1))
    >>> sorted(seeds.source.tolist())
    [0, 1, 2]
    """
    parsed = parse_method(method)
    if n < 0 or not 0 <= error <= 1:
        raise UnmaskError(f"n is {n} and error is {error}, expected at least 0 seeds and a share from 0 to 1")
    ranked = _rank_by_degree(pair, rng)
    pool = ranked[: math.ceil(parsed.share * len(ranked))]
    n_pool = len(pool) - (math.ceil(_SKIPPED_SHARE * len(pool)) if parsed.name == "clustering.high" else 0)
    if n > n_pool:
        raise UnmaskError(f"{n} seeds are too many: {method} has {n_pool} people to choose from; choose fewer")
    return with_errors(pair, _choose_people(pair, pool, parsed, n, rng), round(error * n), rng)


def parse_method(method: str) -> Method:
    """Parse the name of a method.

    >>> parse_method("clique.4.2")
    Method(name='clique', size=4, share=0.2)
    """
    parsed = _METHOD.fullmatch(method)
    if parsed is None:
        raise UnmaskError(f"the seed method is {method!r}, {nearest(method, METHODS)}")
    name = parsed["plain"] or parsed["group"] or parsed["shared"]
    return Method(name, int(parsed["size"] or 0), float(f"0.{parsed['share']}") if parsed["share"] else 1.0)


def _rank_by_degree(pair: Pair, rng: np.random.Generator) -> Integers:
    """Return the common people by descending source degree, ties at random, with one person for each target node."""
    common = rng.permutation(pair.common)
    _, first = np.unique(pair.truth[common], return_index=True)
    common = common[np.sort(first)]
    return common[np.argsort(-pair.source.degree[common], kind="stable")]


def _choose_people(pair: Pair, pool: Integers, method: Method, n: int, rng: np.random.Generator) -> Integers:
    if method.name == "top":
        return pool[:n]
    if method.size:
        return choose_groups(pair, pool, method.name, size=method.size, n=n, rng=rng)
    pool = rng.permutation(pool)
    if method.name == "random":
        return pool[:n]
    ordered = pool[np.argsort(-_ranking_values(pair, pool, method.name, rng), kind="stable")]
    return ordered[math.ceil(_SKIPPED_SHARE * len(ordered)) :][:n] if method.name == "clustering.high" else ordered[:n]


def _ranking_values(pair: Pair, pool: Integers, name: str, rng: np.random.Generator) -> Floats:
    """Return the value by which a method ranks the pool, highest first; undefined values are last."""
    if name == "betweenness":
        return betweenness(pair.source, rng=rng)[pool]
    if name == "closeness":
        return closeness(pair.source, pool)
    if name.startswith("clustering"):
        return clustering(pair.source)[pool]
    from unmask.graphs.criteria import local_anonymity

    return np.nan_to_num(-local_anonymity(pair.source, variant="A")[pool], nan=-np.inf)


def with_errors(pair: Pair, source: Integers, n_wrong: int, rng: np.random.Generator) -> SeedPairs:
    """Return seeds for these people; n_wrong random ones get a target node that is not a seed."""
    target = pair.truth[source]
    errors = rng.permutation(len(source))[:n_wrong]
    unused = np.setdiff1d(np.arange(pair.target.n_nodes), target)
    if n_wrong > len(unused):
        raise UnmaskError(f"{n_wrong} seeds should be wrong, but only {len(unused)} nodes are not seeds; lower error")
    target[errors] = rng.permutation(unused)[:n_wrong]
    return SeedPairs(source, target)


def choose_groups(pair: Pair, pool: Integers, kind: str, *, size: int, n: int, rng: np.random.Generator) -> Integers:
    """Return n people in disjoint groups of one size. Groups grow from random starts along edges of both graphs.

    kind : "clique": all members are adjacent to each other; "neighborhood": breadth-first search
    pool : (p,) source nodes that may be chosen
    """
    if n % size:
        raise UnmaskError(f"n is {n}, expected a multiple of {size}: {kind}.{size} chooses complete groups")
    shared = pair.shared.take(pool)
    grow = clique if kind == "clique" else _neighborhood
    used: set[int] = set()
    chosen: list[int] = []
    for start in rng.permutation(len(pool)).tolist():
        if len(chosen) == n:
            break
        group = [] if start in used else grow(shared, start, size, used, rng)
        used.update(group)
        chosen += group
    if len(chosen) < n:
        raise UnmaskError(f"{kind}.{size} has only {len(chosen)} of {n} seeds; choose fewer seeds or smaller groups")
    return pool[np.array(chosen, dtype=np.int64)]


def clique(graph: SocialGraph, start: int, size: int, used: set[int], rng: np.random.Generator) -> list[int]:
    """Return a clique of this size that contains the start and no used node; [] if the search finds none."""

    def extend(members: list[int], candidates: list[int]) -> list[int]:
        if len(members) == size:
            return members
        place = {node: position for position, node in enumerate(candidates)}
        for position, node in enumerate(candidates[: len(candidates) + len(members) + 1 - size]):
            later = sorted(i for friend in graph.neighbors(node).tolist() if (i := place.get(friend, -1)) > position)
            members_found = extend([*members, node], [candidates[i] for i in later])
            if members_found:
                return members_found
        return []

    return extend([start], [node for node in rng.permutation(graph.neighbors(start)).tolist() if node not in used])


def count_cliques(graph: SocialGraph, size: int) -> int:
    """Return the number of cliques of `size` people, at least 2.

    >>> count_cliques(SocialGraph.from_edges([0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3]), 3)
    4
    """
    ordered = graph.take(np.argsort(graph.degree, kind="stable"))
    candidate = np.zeros((size - 1, int(ordered.degree.max(initial=0))), dtype=np.int32)
    length, position = np.zeros((2, size - 1), dtype=np.int64)
    return int(_kernels.count_cliques(ordered.indptr, ordered.neighbor, candidate, length, position))


def _neighborhood(graph: SocialGraph, start: int, size: int, used: set[int], rng: np.random.Generator) -> list[int]:
    """Return the first unused nodes of a breadth-first search from the start; [] if there are too few."""
    group = [start]
    for node in group:  # the loop body appends to the group
        for neighbor in rng.permutation(graph.neighbors(node)).tolist():
            if len(group) == size:
                return group
            if neighbor not in used and neighbor not in group:
                group.append(neighbor)
    return group if len(group) == size else []
