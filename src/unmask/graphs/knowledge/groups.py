"""Groups of connected people: cliques and neighborhoods, found by a greedy search from random starts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.graphs.graph import SocialGraph
from unmask.graphs.knowledge.pair import Pair


def choose_groups(
    pair: Pair, pool: NDArray[np.int64], kind: str, *, size: int, n: int, rng: np.random.Generator
) -> NDArray[np.int64]:
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
    from unmask.graphs import _kernels  # numba is imported where a kernel runs

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
