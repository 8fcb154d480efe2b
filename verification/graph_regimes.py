"""Pairs of networks of many kinds, and seeds that are random samples or none: what announced success is tried on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from graphs_made import noisy
from graphs_runs import rng_of
from numpy.typing import NDArray
from scipy import sparse, spatial
from scipy.sparse import csgraph

from unmask.core.errors import UnmaskError
from unmask.graphs import Pair, SeedPairs, SocialGraph, datasets, select_seeds
from unmask.graphs.communities import communities

N = 3_000
"""People of a made network, of whom 80 % are in each of both, and as many of their edges."""


class Problem(NamedTuple):
    """A pair and its seeds; of `wrong` seeds the truth of the others is right."""

    pair: Pair
    seeds: SeedPairs


def chung_lu(rng: np.random.Generator, n: int = N, mean: float = 6.0) -> SocialGraph:
    """Edges at random, given degrees with a heavy tail."""
    return datasets.chung_lu(datasets.power_law_degrees(n, exponent=2.5, mean=mean), rng=rng)


def circles(rng: np.random.Generator, size: int = 25) -> SocialGraph:
    """Circles of people who know each other, and some edges between them."""
    inside = rng.integers(size, size=(2, 4 * N)) + size * rng.integers(N // size, size=4 * N)
    return _graph(np.concatenate((inside, rng.integers(N, size=(2, N))), axis=1), N)


def geometric(rng: np.random.Generator) -> SocialGraph:
    """People in a square, linked to those who are near."""
    near = spatial.cKDTree(rng.random((N, 2))).query_pairs(np.sqrt(7 / (np.pi * N)), output_type="ndarray")
    return _graph(near.T, N)


def regular(rng: np.random.Generator, degree: int = 4) -> SocialGraph:
    """Stubs joined at random."""
    return _graph(rng.permutation(np.repeat(np.arange(N), degree)).reshape(2, -1), N)


def _graph(ends: NDArray[np.int64], n: int) -> SocialGraph:
    ends = ends[:, ends[0] != ends[1]]
    return SocialGraph.from_edges(ends[0], ends[1], n_nodes=n)


MADE: dict[str, Callable[[np.random.Generator], SocialGraph]] = {
    "Chung-Lu": chung_lu,
    "circles": circles,
    "geometric": geometric,
    "ring lattice": lambda rng: datasets.watts_strogatz(N, 6, 0.02, rng=rng),
    "small world": lambda rng: datasets.watts_strogatz(N, 6, 0.2, rng=rng),
    "random, degree 3": lambda rng: datasets.erdos_renyi(N, 3 / N, rng=rng),
    "random, degree 6": lambda rng: datasets.erdos_renyi(N, 6 / N, rng=rng),
    "preferential": lambda rng: datasets.barabasi_albert(N, 3, rng=rng),
    "tree": lambda rng: datasets.barabasi_albert(N, 1, rng=rng),
    "regular, degree 4": regular,
}
"""Networks of which both sides are thinned."""


def present_by_degree(graph: SocialGraph, rng: np.random.Generator) -> Pair:
    """The release lacks most hubs."""
    rank = np.argsort(np.argsort(-graph.degree)) / graph.n_nodes
    return thinned(graph, rng.random(graph.n_nodes) < np.where(rank < 0.1, 0.2, 0.87), rng)


def present_by_community(graph: SocialGraph, rng: np.random.Generator) -> Pair:
    """Of some communities nearly everybody is in the release, of others few."""
    label = communities(graph)
    share = rng.beta(1.0, 0.4, size=label.max() + 1)
    return thinned(graph, rng.random(graph.n_nodes) < share[label], rng)


def thinned(graph: SocialGraph, present: NDArray[np.bool_], rng: np.random.Generator) -> Pair:
    """Both sides of a pair: the adversary's has 80 % of the people, the release those who are present.

    Each has 80 % of the edges among its people, and lacks people without an edge.
    """
    sides, numbers = [], []
    for some in (rng.random(graph.n_nodes) < 0.8, present):
        side = graph.with_edges(np.flatnonzero(rng.random(graph.n_edges) < 0.8)).take(np.flatnonzero(some))
        linked = side.degree > 0
        sides.append(side.take(np.flatnonzero(linked)))
        number = np.full(graph.n_nodes, -1)
        number[np.flatnonzero(some)[linked]] = np.arange(np.count_nonzero(linked))
        numbers.append(number)
    return Pair(*sides, numbers[1][numbers[0] >= 0])


def pair_of(name: str, draw: int) -> Pair:
    """A made pair or a real one, under new numbers."""
    rng = rng_of("regime", name, draw)
    if name in datasets.PAIRS:
        pair = datasets.pair(name)
    elif name == "hubs missing":
        pair = present_by_degree(chung_lu(rng, mean=10.0), rng)
    elif name == "communities missing":
        pair = present_by_community(circles(rng), rng)
    elif name == "wrong edges":
        graph = chung_lu(rng, 2_400, 10.0)
        pair = Pair(noisy(graph, 0.67, 0.5, rng), noisy(graph, 0.67, 0.5, rng), np.arange(graph.n_nodes))
    elif name == "few people":
        pair = thinned(chung_lu(rng, 950, 7.0), rng.random(950) < 0.8, rng)
    elif name == "collaboration":
        graph = datasets.network("ca-grqc")
        pair = thinned(graph, rng.random(graph.n_nodes) < 0.8, rng)
    else:
        pair = thinned(MADE[name](rng), rng.random(N) < 0.8, rng)
    return pair.shuffled(rng=rng)


def sampled(name: str, draw: int, share: float = 0.2) -> Problem:
    """Seeds drawn at random among the people in both networks."""
    pair = pair_of(name, draw)
    return Problem(pair, random_seeds(pair, round(share * len(pair.common)), rng_of("seeds", name, draw, share)))


def random_seeds(pair: Pair, n: int, rng: np.random.Generator) -> SeedPairs:
    """A random sample of the people in both networks."""
    return select_seeds(pair, "random", n, rng)


# --- seeds that are no random sample ---------------------------------------------------------------------------------


def _of(pair: Pair, nodes: NDArray[np.int64]) -> SeedPairs:
    return SeedPairs(nodes, pair.truth[nodes])


def breadth_first(pair: Pair, n: int, rng: np.random.Generator) -> SeedPairs:
    """The people nearest to one person, in the adversary's network."""
    start = rng.choice(pair.common[pair.source.degree[pair.common] > 1])
    order = csgraph.breadth_first_order(pair.source.adjacency(), start, return_predecessors=False)
    return _of(pair, order[pair.truth[order] >= 0][:n].astype(np.int64))


def whole_communities(pair: Pair, n: int, rng: np.random.Generator) -> SeedPairs:
    """All people of some communities of the release."""
    label = communities(pair.target)[pair.truth[pair.common]]
    order = rng.permutation(label.max() + 1)[label]
    return _of(pair, pair.common[np.argsort(order, kind="stable")[:n]])


def half_local(pair: Pair, n: int, rng: np.random.Generator) -> SeedPairs:
    """One half breadth first, the other at random."""
    local = breadth_first(pair, n // 2, rng).source
    return _of(pair, np.append(local, rng.choice(np.setdiff1d(pair.common, local), n - len(local), replace=False)))


def neighborhoods(pair: Pair, n: int, rng: np.random.Generator) -> SeedPairs:
    """Several people with all of their contacts: teams, or the address books of some phones."""
    matrix, found = sparse.csr_array(pair.source.adjacency()), np.zeros(0, dtype=np.int64)
    for person in rng.permutation(pair.common):
        row = matrix.indices[matrix.indptr[person] : matrix.indptr[person + 1]]
        found = np.union1d(found, np.append(row, person))
        if np.count_nonzero(pair.truth[found] >= 0) >= n:
            break
    return _of(pair, found[pair.truth[found] >= 0][:n])


LOCAL = {
    "breadth first": breadth_first,
    "communities": whole_communities,
    "half breadth first": half_local,
    "neighborhoods": neighborhoods,
}
"""Seeds that are near each other: a snowball, departments, a snowball among others, address books."""


def hubs(pair: Pair, n: int, rng: np.random.Generator) -> SeedPairs:
    """The people with most contacts in both networks."""
    degree = pair.source.degree[pair.common] + pair.target.degree[pair.truth[pair.common]]
    return _of(pair, pair.common[np.argsort(-degree - rng.random(len(degree)))[:n]])


def wrong(pair: Pair, n: int, rng: np.random.Generator) -> SeedPairs:
    """A random sample, of whom 30 % are taken for others."""
    seeds = random_seeds(pair, n, rng)
    target, some = seeds.target.copy(), rng.permutation(n)[: round(0.3 * n)]
    target[some] = np.roll(target[some], 1)
    return SeedPairs(seeds.source, target)


def local(name: str, draw: int, share: float = 0.2) -> Iterator[tuple[str, Problem]]:
    """Problems of one pair with seeds that are near each other; kinds that a pair cannot have are left out."""
    pair = pair_of(name, draw)
    n = round(share * len(pair.common))
    for kind, drawn in LOCAL.items():
        try:
            seeds = drawn(pair, n, rng_of(kind, name, draw, share))
        except UnmaskError:
            continue
        if len(seeds.source) >= 30:
            yield kind, Problem(pair, seeds)
