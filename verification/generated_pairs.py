"""Pairs of networks of many kinds, and seeds that are random samples or are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from graphs_runs import rng_of
from numpy.typing import NDArray
from scipy import sparse, spatial
from scipy.sparse import csgraph

from unmask.core.errors import UnmaskError
from unmask.graphs import Pair, SeedPairs, SocialGraph, datasets, select_seeds
from unmask.graphs.utility import communities

N = 3_000
"""People of a generated network; 80 % are in each side of a pair, with as large a share of their edges."""


class Problem(NamedTuple):
    """A pair and its seeds."""

    pair: Pair
    seeds: SeedPairs


# --- networks --------------------------------------------------------------------------------------------------------


def chung_lu(rng: np.random.Generator, n: int = N, mean: float = 6.0, exponent: float = 2.5) -> SocialGraph:
    """Return edges at random, given degrees with a heavy tail."""
    return datasets.chung_lu(datasets.power_law_degrees(n, exponent=exponent, mean=mean), rng=rng)


def make_circles(rng: np.random.Generator, size: int = 25) -> SocialGraph:
    """Return circles of people who know each other, and some edges between them."""
    inside = rng.integers(size, size=(2, 4 * N)) + size * rng.integers(N // size, size=4 * N)
    return _make_graph(np.concatenate((inside, rng.integers(N, size=(2, N))), axis=1))


def make_geometric(rng: np.random.Generator) -> SocialGraph:
    """Return people in a square, linked to their neighborhood."""
    tree = spatial.cKDTree(rng.random((N, 2)))
    return _make_graph(tree.query_pairs(np.sqrt(7 / (np.pi * N)), output_type="ndarray").T)


def make_regular(rng: np.random.Generator, degree: int = 4) -> SocialGraph:
    """Return stubs joined at random."""
    return _make_graph(rng.permutation(np.repeat(np.arange(N), degree)).reshape(2, -1))


def _make_graph(ends: NDArray[np.int64]) -> SocialGraph:
    return SocialGraph.from_edges(*ends[:, ends[0] != ends[1]], n_nodes=N)


NETWORKS: dict[str, Callable[[np.random.Generator], SocialGraph]] = {
    "Chung-Lu": chung_lu,
    "circles": make_circles,
    "geometric": make_geometric,
    "ring lattice": lambda rng: datasets.watts_strogatz(N, 6, 0.02, rng=rng),
    "small world": lambda rng: datasets.watts_strogatz(N, 6, 0.2, rng=rng),
    "random, degree 3": lambda rng: datasets.erdos_renyi(N, 3 / N, rng=rng),
    "random, degree 6": lambda rng: datasets.erdos_renyi(N, 6 / N, rng=rng),
    "preferential": lambda rng: datasets.barabasi_albert(N, 3, rng=rng),
    "tree": lambda rng: datasets.barabasi_albert(N, 1, rng=rng),
    "regular, degree 4": make_regular,
}
"""Networks of which both sides are thinned."""


def duplicate(graph: SocialGraph) -> SocialGraph:
    """Return everybody twice, each with the contacts of both."""
    (u, v), n = graph.edges(), graph.n_nodes
    ends = np.concatenate((u, u, u + n, u + n)), np.concatenate((v, v + n, v, v + n))
    return SocialGraph.from_edges(*ends, n_nodes=2 * n)


def place_side_by_side(graph: SocialGraph, second: SocialGraph) -> SocialGraph:
    """Return both networks, without an edge between them."""
    ends = (np.concatenate((a, b + graph.n_nodes)) for a, b in zip(graph.edges(), second.edges(), strict=True))
    return SocialGraph.from_edges(*ends, n_nodes=graph.n_nodes + second.n_nodes)


# --- pairs -----------------------------------------------------------------------------------------------------------


def drop_edges(graph: SocialGraph, share: float, rng: np.random.Generator) -> Pair:
    """Return the graph and itself with this share of its edges."""
    edges = np.flatnonzero(rng.random(graph.n_edges) < share)
    return Pair(graph, graph.with_edges(edges), np.arange(graph.n_nodes))


def add_noise(graph: SocialGraph, share: float, added: float, rng: np.random.Generator) -> SocialGraph:
    """Return the graph with this share of its edges, and random edges: `added` times as many."""
    selected, n = rng.random(graph.n_edges) < share, graph.n_nodes
    random_ends = rng.integers(n, size=(2, round(added * np.count_nonzero(selected))))
    random_ends = random_ends[:, random_ends[0] != random_ends[1]]
    ends = (np.append(end[selected], new) for end, new in zip(graph.edges(), random_ends, strict=True))
    return SocialGraph.from_edges(*ends, n_nodes=n)


def add_noise_twice(graph: SocialGraph, share: float, added: float, rng: np.random.Generator) -> Pair:
    """Return two noisy versions of a graph."""
    return Pair(*(add_noise(graph, share, added, rng) for _ in range(2)), np.arange(graph.n_nodes))


def thin(graph: SocialGraph, present: NDArray[np.bool_], rng: np.random.Generator) -> Pair:
    """Return a pair: the adversary's side has 80 % of the people, the release the people who are present.

    Each has 80 % of the edges among its people, and lacks people without an edge.
    """
    sides, numbers = [], []
    for inside in (rng.random(graph.n_nodes) < 0.8, present):
        side = graph.with_edges(np.flatnonzero(rng.random(graph.n_edges) < 0.8)).take(np.flatnonzero(inside))
        linked = side.degree > 0
        sides.append(side.take(np.flatnonzero(linked)))
        number = np.full(graph.n_nodes, -1)
        number[np.flatnonzero(inside)[linked]] = np.arange(np.count_nonzero(linked))
        numbers.append(number)
    return Pair(*sides, numbers[1][numbers[0] >= 0])


def _lack_hubs(graph: SocialGraph, rng: np.random.Generator) -> Pair:
    rank = np.argsort(np.argsort(-graph.degree)) / graph.n_nodes
    return thin(graph, rng.random(graph.n_nodes) < np.where(rank < 0.1, 0.2, 0.87), rng)


def _lack_communities(graph: SocialGraph, rng: np.random.Generator) -> Pair:
    """Return a release with nearly everybody of some communities, and few people of others."""
    label = communities(graph)
    share = rng.beta(1.0, 0.4, size=label.max() + 1)
    return thin(graph, rng.random(graph.n_nodes) < share[label], rng)


def _thin_at_random(graph: SocialGraph, rng: np.random.Generator) -> Pair:
    return thin(graph, rng.random(graph.n_nodes) < 0.8, rng)


REGIMES: dict[str, Callable[[np.random.Generator], Pair]] = {
    "hubs missing": lambda rng: _lack_hubs(chung_lu(rng, mean=10.0), rng),
    "communities missing": lambda rng: _lack_communities(make_circles(rng), rng),
    "wrong edges": lambda rng: add_noise_twice(chung_lu(rng, 2_400, 10.0), 0.67, 0.5, rng),
    "few people": lambda rng: _thin_at_random(chung_lu(rng, 950, 7.0), rng),
    "collaboration": lambda rng: _thin_at_random(datasets.network("ca-grqc"), rng),
}
"""Pairs whose sides differ in another way."""


def make_pair(name: str, draw: int) -> Pair:
    """Return a generated pair or a real one, under new numbers."""
    rng = rng_of("regime", name, draw)
    if name in datasets.PAIRS:
        pair = datasets.pair(name)
    elif name in REGIMES:
        pair = REGIMES[name](rng)
    else:
        pair = _thin_at_random(NETWORKS[name](rng), rng)
    return pair.shuffled(rng=rng)


def sample_problem(name: str, draw: int, share: float = 0.2) -> Problem:
    """Return a pair with a random sample of the people in both networks as seeds."""
    pair, rng = make_pair(name, draw), rng_of("seeds", name, draw, share)
    return Problem(pair, select_seeds(pair, "random", round(share * len(pair.common)), rng))


# --- seeds that are no random sample ---------------------------------------------------------------------------------


def _make_seeds(pair: Pair, nodes: NDArray[np.int64]) -> SeedPairs:
    return SeedPairs(nodes, pair.truth[nodes])


def select_breadth_first(pair: Pair, n: int, rng: np.random.Generator) -> SeedPairs:
    """Return the people nearest to one person, in the adversary's network."""
    start = rng.choice(pair.common[pair.source.degree[pair.common] > 1])
    order = csgraph.breadth_first_order(pair.source.adjacency(), start, return_predecessors=False)
    return _make_seeds(pair, order[pair.truth[order] >= 0][:n].astype(np.int64))


def select_communities(pair: Pair, n: int, rng: np.random.Generator) -> SeedPairs:
    """Return all people of some communities of the release."""
    label = communities(pair.target)[pair.truth[pair.common]]
    order = rng.permutation(label.max() + 1)[label]
    return _make_seeds(pair, pair.common[np.argsort(order, kind="stable")[:n]])


def select_half_breadth_first(pair: Pair, n: int, rng: np.random.Generator) -> SeedPairs:
    """Return one half breadth first, the second half at random."""
    half = select_breadth_first(pair, n // 2, rng).source
    random_half = rng.choice(np.setdiff1d(pair.common, half), n - len(half), replace=False)
    return _make_seeds(pair, np.append(half, random_half))


def select_neighborhoods(pair: Pair, n: int, rng: np.random.Generator) -> SeedPairs:
    """Return several people with all of their contacts: teams, or the address books of some phones."""
    matrix, nodes = sparse.csr_array(pair.source.adjacency()), np.zeros(0, dtype=np.int64)
    for person in rng.permutation(pair.common):
        row = matrix.indices[matrix.indptr[person] : matrix.indptr[person + 1]]
        nodes = np.union1d(nodes, np.append(row, person))
        if np.count_nonzero(pair.truth[nodes] >= 0) >= n:
            break
    return _make_seeds(pair, nodes[pair.truth[nodes] >= 0][:n])


LOCAL = {
    "breadth first": select_breadth_first,
    "communities": select_communities,
    "half breadth first": select_half_breadth_first,
    "neighborhoods": select_neighborhoods,
}
"""Seeds that are near each other: a snowball, departments, a snowball and a sample, address books."""


def select_hubs(pair: Pair, n: int, rng: np.random.Generator) -> SeedPairs:
    """Return the people with most contacts in both networks."""
    degree = pair.source.degree[pair.common] + pair.target.degree[pair.truth[pair.common]]
    return _make_seeds(pair, pair.common[np.argsort(-degree - rng.random(len(degree)))[:n]])


def select_with_errors(pair: Pair, n: int, rng: np.random.Generator) -> SeedPairs:
    """Return a random sample of which 30 % are mistaken for each other."""
    seeds = select_seeds(pair, "random", n, rng)
    target, mistaken = seeds.target.copy(), rng.permutation(n)[: round(0.3 * n)]
    target[mistaken] = np.roll(target[mistaken], 1)
    return SeedPairs(seeds.source, target)


def select_local(name: str, draw: int, share: float = 0.2) -> Iterator[tuple[str, Problem]]:
    """Yield problems of one pair with seeds that are near each other; kinds that a pair cannot have are left out."""
    pair = make_pair(name, draw)
    n = round(share * len(pair.common))
    for kind, select in LOCAL.items():
        try:
            seeds = select(pair, n, rng_of(kind, name, draw, share))
        except UnmaskError:
            continue
        if len(seeds.source) >= 30:
            yield kind, Problem(pair, seeds)
