"""Calls of the compiled loops in `_loops`, which are imported when an attack runs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.graphs.attacks._structs import NONE, Links, Rule, Scratch, Side, Unsigned
from unmask.graphs.graph import SocialGraph


def rank_by_degree(source: Side, target: Side) -> tuple[Side, Side, NDArray[np.int64], NDArray[np.int64]]:
    """Return both sides with their nodes numbered by falling degree, ties by number, and the old number of each node.

    Cells that are read most often are then adjacent: a tenth to a fifth less time. Matches do not depend on it, as
    scores are sums over sets. Memory-mapped graphs keep their numbers, as copies would be in memory; so do directed
    ones.
    """
    is_directed = len(source.indptr) > len(source.image) + 1
    if is_directed or _is_mapped(source.neighbor) or _is_mapped(target.neighbor):
        return source, target, np.arange(len(source.image)), np.arange(len(target.image))
    orders = tuple(np.argsort(-side.degree, kind="stable") for side in (source, target))
    ranks = tuple(np.argsort(order) for order in orders)
    ranked_source = _renumber_side(source, orders[0], ranks[0], _renumber_image(source.image[orders[0]], ranks[1]))
    ranked_target = _renumber_side(target, orders[1], ranks[1], _renumber_image(target.image[orders[1]], ranks[0]))
    return ranked_source, ranked_target, orders[0], orders[1]


def _is_mapped(array: Any) -> bool:
    """Return True if an array is a view of one that is memory-mapped."""
    return isinstance(array, np.memmap) or (array is not None and _is_mapped(getattr(array, "base", None)))


def write_back(source: Side, target: Side, ranked: tuple[Side, Side, NDArray[np.int64], NDArray[np.int64]]) -> None:
    """Write the images of the sides that `rank_by_degree` made of these two into their images."""
    ranked_source, ranked_target, order, target_order = ranked
    source.image[order] = _renumber_image(ranked_source.image, target_order)
    target.image[target_order] = _renumber_image(ranked_target.image, order)


def _renumber_image(image: NDArray[np.int32], number: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the images under other numbers, -1 if unmapped."""
    return np.where(image >= 0, number[image], NONE).astype(np.int32)


def _renumber_side(side: Side, order: NDArray[np.int64], rank: NDArray[np.int64], image: NDArray[np.int32]) -> Side:
    indptr, neighbor = renumber(side.indptr, side.neighbor, order, rank)
    return Side(indptr, neighbor, image, side.weight[order], side.size[order], side.leader[order], side.rival[order])


def renumber(
    indptr: NDArray[np.int64], neighbor: NDArray[np.int32], order: NDArray[np.int64], number: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the same graph with old node order[i] as node i and number as the way back; rows are ascending."""
    from unmask.graphs.attacks import _loops

    start = np.concatenate(([0], np.cumsum(np.diff(indptr)[order])))
    renumbered = np.empty(len(neighbor), dtype=np.int32)
    _loops.renumber(*read_only(indptr, neighbor), order, number, start[:-1].copy(), renumbered)
    return read_only(start, renumbered)


def read_only(indptr: NDArray[np.integer], neighbor: NDArray[np.integer]) -> Links:
    """Return the rows of a graph as all loops take them, which are compiled for read-only arrays."""
    rows = np.ascontiguousarray(indptr, dtype=np.int64).view(), np.ascontiguousarray(neighbor, dtype=np.int32).view()
    for array in rows:
        array.setflags(write=False)
    return rows


def directed_rows(graph: SocialGraph) -> Links:
    """Return 2 n rows: row 2 v is the links out of node v, row 2 v + 1 the links into it.

    An edge without a direction is both.
    """
    is_out, is_in = graph.link_directions()
    start = np.repeat(np.arange(graph.n_nodes), graph.degree)
    row = np.concatenate((2 * start[is_out], 2 * start[is_in] + 1))
    neighbor = np.concatenate((graph.neighbor[is_out], graph.neighbor[is_in]))
    indptr = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=2 * graph.n_nodes))))
    return read_only(indptr, neighbor[np.argsort(row, kind="stable")])


def unsigned(rows: Links) -> Unsigned:
    """Return the same rows, not copied: compiled loops check each signed index for counting from the end, which takes
    a third of the time of loops that do little else.
    """
    return rows[0].view(np.uint64), rows[1].view(np.uint32)


def count_common(source: Links, target: Links, image: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return (n_source,) neighbors of each mapped node whose image is next to the node's own image, else 0."""
    from unmask.graphs.attacks import _loops

    count, next_to = np.zeros(len(image), dtype=np.int64), np.full(len(target[0]) - 1, NONE, dtype=np.int32)
    _loops.count_common(*read_only(*source), *read_only(*target), image, next_to, count)
    return count


def invalidate(nodes: NDArray[np.int32], side: Side) -> None:
    """Discard the verdicts on the neighbors of these nodes."""
    from unmask.graphs.attacks import _loops

    _loops.invalidate(nodes, side)


def find_mutual(
    nodes: NDArray[np.int32], source: Side, target: Side, rule: Rule, *, threads: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """Return pairs of a source node and a target node that stand out for each other, and the candidates visited.

    Each target node has one winner, so no node appears twice; no image is written while nodes are scored, so neither
    the order of the nodes nor the number of threads can matter.
    """
    forward, visits = _find_winners(nodes, source, target, rule, threads)
    has_winner = forward >= 0
    node, candidate = nodes[has_winner], forward[has_winner]
    is_proposed = np.zeros(len(target.image), dtype=np.bool_)
    is_proposed[candidate] = True
    proposals = np.flatnonzero(is_proposed).astype(np.int32)
    backward = np.empty(len(is_proposed), dtype=np.int32)
    backward[proposals], reverse_visits = _find_winners(proposals, target, source, rule, threads)
    is_mutual = backward[candidate] == node
    return node[is_mutual], candidate[is_mutual], visits + reverse_visits


def _find_winners(
    nodes: NDArray[np.int32], source: Side, target: Side, rule: Rule, threads: int
) -> tuple[NDArray[np.int32], int]:
    from unmask.graphs.attacks import _loops

    winner = np.empty(len(nodes), dtype=np.int32)

    def run(nodes: NDArray[np.int32], winner: NDArray[np.int32]) -> int:
        return int(_loops.find_winners(nodes, source, target, rule, Scratch.for_side(source, target, rule), winner))

    return winner, sum(_run_in_threads(run, threads, nodes, winner))


def rank_candidates(
    nodes: NDArray[np.int32], source: Side, target: Side, rule: Rule, *, width: int, threads: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the `width` best candidates of each node, best first, padded with -1; and their scores, padded with 0."""
    from unmask.graphs.attacks import _loops

    candidate, score = np.full((len(nodes), width), NONE, dtype=np.int32), np.zeros((len(nodes), width))

    def run(nodes: NDArray[np.int32], candidate: NDArray[np.int32], score: NDArray[np.float64]) -> int:
        scratch = Scratch.for_side(source, target, rule)
        return int(_loops.rank_candidates(nodes, source, target, rule, scratch, candidate, score))

    _run_in_threads(run, threads, nodes, candidate, score)
    return candidate, score


def _run_in_threads(run: Callable[..., int], threads: int, *rows: NDArray[Any]) -> list[int]:
    """Return the results of `run` for the rows of the arrays, dealt out in turn to some parts for each thread.

    The compiled loops hold no lock. Some nodes are a hundred times the work of others, hence more than one part.
    """
    parts = 1 if threads == 1 else 4 * threads
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda part: run(*(array[part::parts] for array in rows)), range(parts)))
