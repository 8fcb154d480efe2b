"""Simulated attacks on one person: how often each of several identities is found."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.graphs import Attack, IdentitySeparation, Pair, SeedPairs, SocialGraph, select_seeds, split
from unmask.graphs.disclosure import discovery

OVERLAP: Final = (0.5, 0.75)
"""Overlap of people and of edges between the network and the simulated adversary's; common in published figures."""

MAX_SPLITS: Final = 200


def simulated_discovery(
    graph: SocialGraph,
    node: int,
    attack: Attack,
    *,
    identities: int,
    n_seeds: int,
    runs: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return the share of runs in which an attack finds each identity of one person, see `discovery`.

    Each run splits the network into a release and the adversary's network, with half of the people and three quarters
    of the edges in common. The person is in both. Only this person separates identities, by the basic model: each
    contact goes to one identity. The adversary starts from `n_seeds` people, random.25. Identities are ordered by
    number of contacts, largest first. An identity that does not exist in a run counts as not found.

    G. Gulyas, 2015, section 6.3.
    """
    hits = np.zeros(identities)
    separation = IdentitySeparation("basic", identities, adopters=1, minimum_degree=1)

    def seeds(pair: Pair, rng: np.random.Generator) -> SeedPairs:
        return select_seeds(pair, "random.25", n_seeds, rng)

    for _ in range(runs):
        pair, person = _pair_with(graph, node, rng)
        separated = separation(pair.target, rng=rng, eligible=pair.truth[[person]])
        result = discovery(pair, separated, [person], attack, seeds, runs=1, rng=rng)
        largest_first = np.argsort(-separated.release.degree[result.node], kind="stable")
        hits[: len(largest_first)] += result.hits[largest_first]
    return hits / runs


def _pair_with(graph: SocialGraph, node: int, rng: np.random.Generator) -> tuple[Pair, int]:
    """Return two overlapping graphs that contain this person, with a contact in the release, and their source node."""
    numbered = SocialGraph(graph.indptr, graph.neighbor)
    for _ in range(MAX_SPLITS):
        pair = split(numbered, *OVERLAP, rng)
        assert pair.source.labels is not None  # the nodes of `graph`
        nodes = np.flatnonzero(pair.source.labels == node)
        if len(nodes) and pair.truth[nodes[0]] >= 0 and pair.target.degree[pair.truth[nodes[0]]] > 0:
            return pair, int(nodes[0])
    raise UnmaskError(
        f"the node was in both parts of the network in none of {MAX_SPLITS} splits, expected in some; "
        "it has too few edges to be found: give its discovery chances instead"
    )
