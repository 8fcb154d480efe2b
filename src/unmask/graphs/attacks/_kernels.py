"""What the propagation attacks compute for a node: its candidates, their scores, and whether one stands out.

The loops are in `_loops`, which is imported when an attack runs.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.graphs.attacks._sides import NONE, Arcs, Links, Rule, Scratch, Side, Unsigned


def ranked(source: Side, target: Side) -> tuple[Side, Side, NDArray[np.int64], NDArray[np.int64]]:
    """Both sides with their nodes numbered by falling degree, ties by number, and the old number of each node.

    What is read most often then lies together: a tenth to a fifth less time. Matches do not depend on
    it, as scores are sums over sets. Graphs that are memory-mapped keep their numbers: copies would lie in memory.
    """
    if _on_disk(source.neighbor) or _on_disk(target.neighbor):
        return source, target, np.arange(len(source.image)), np.arange(len(target.image))
    orders = tuple(np.argsort(-np.diff(side.indptr), kind="stable") for side in (source, target))
    ranks = tuple(np.argsort(order) for order in orders)
    here = _renumbered(source, orders[0], ranks[0], _numbered(source.image[orders[0]], ranks[1]))
    there = _renumbered(target, orders[1], ranks[1], _numbered(target.image[orders[1]], ranks[0]))
    return here, there, orders[0], orders[1]


def _on_disk(array: Any) -> bool:
    """Whether an array is a view of one that is memory-mapped."""
    return isinstance(array, np.memmap) or (array is not None and _on_disk(getattr(array, "base", None)))


def write_back(source: Side, target: Side, of: tuple[Side, Side, NDArray[np.int64], NDArray[np.int64]]) -> None:
    """Write the images of the sides that `ranked` made of these two into their images."""
    here, there, order, order_there = of
    source.image[order] = _numbered(here.image, order_there)
    target.image[order_there] = _numbered(there.image, order)


def _numbered(image: NDArray[np.int32], number: NDArray[np.int64]) -> NDArray[np.int32]:
    """The images under other numbers, -1 where there is none."""
    return np.where(image >= 0, number[image], NONE).astype(np.int32)


def _renumbered(side: Side, order: NDArray[np.int64], rank: NDArray[np.int64], image: NDArray[np.int32]) -> Side:
    indptr, neighbor = moved(side.indptr, side.neighbor, order, rank)
    return Side(indptr, neighbor, image, side.weight[order], side.size[order], side.best[order], side.rival[order])


def moved(
    indptr: NDArray[np.int64], neighbor: NDArray[np.int32], order: NDArray[np.int64], number: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The same graph where node i is the old node order[i] and number the way back; rows are ascending."""
    from unmask.graphs.attacks._loops import renumbered

    start = np.concatenate(([0], np.cumsum(np.diff(indptr)[order])))
    after = np.empty(len(neighbor), dtype=np.int32)
    renumbered(*read_only(indptr, neighbor), order, number, start[:-1].copy(), after)
    return read_only(start, after)


def read_only(indptr: NDArray[np.integer], neighbor: NDArray[np.integer]) -> Links:
    """The rows of a graph as all loops take them, which are compiled for arrays that nobody writes to."""
    rows = np.ascontiguousarray(indptr, dtype=np.int64).view(), np.ascontiguousarray(neighbor, dtype=np.int32).view()
    for array in rows:
        array.setflags(write=False)
    return rows


def unsigned(rows: Links) -> Unsigned:
    """The same rows, not copied: of a signed index compiled loops ask each time whether it counts from the end, which
    is a third of the time of loops that do little else.
    """
    return rows[0].view(np.uint64), rows[1].view(np.uint32)


def common(here: Links, there: Links, image: NDArray[np.int32]) -> NDArray[np.int64]:
    """(n_here,) neighbors of each mapped node whose image is next to the node's own image, 0 for unmapped nodes."""
    from unmask.graphs.attacks import _loops

    count, next_to = np.zeros(len(image), dtype=np.int64), np.full(len(there[0]) - 1, NONE, dtype=np.int32)
    _loops.common(*read_only(*here), *read_only(*there), image, next_to, count)
    return count


def unsettle(nodes: NDArray[np.int32], side: Side) -> None:
    """Forget the verdicts on the neighbors of these nodes."""
    from unmask.graphs.attacks import _loops

    _loops.unsettle(nodes, side.indptr, side.neighbor, side.best)


def mutual(
    nodes: NDArray[np.int32], source: Side | Arcs, target: Side | Arcs, rule: Rule, *, threads: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """Pairs of a source node and a target node that stand out for each other, and the candidates visited.

    Each target node has one winner, so no node appears twice; no image is written while nodes are scored, so neither
    the order of the nodes nor the number of threads can matter.
    """
    forward, visits = _winners(nodes, source, target, rule, threads)
    found = forward >= 0
    node, candidate = nodes[found], forward[found]
    proposed = np.zeros(len(target.image), dtype=np.bool_)
    proposed[candidate] = True
    asked = np.flatnonzero(proposed).astype(np.int32)
    backward = np.empty(len(proposed), dtype=np.int32)
    backward[asked], more = _winners(asked, target, source, rule, threads)
    agreed = backward[candidate] == node
    return node[agreed], candidate[agreed], visits + more


def _winners(
    nodes: NDArray[np.int32], here: Side | Arcs, there: Side | Arcs, rule: Rule, threads: int
) -> tuple[NDArray[np.int32], int]:
    loops, winner = _loops_for(here), np.empty(len(nodes), dtype=np.int32)

    def run(nodes: NDArray[np.int32], winner: NDArray[np.int32]) -> int:
        return int(loops.winners(nodes, here, there, rule, scratch(here, there, rule), winner))

    return winner, sum(_in_threads(run, threads, nodes, winner))


def best(
    nodes: NDArray[np.int32], here: Side | Arcs, there: Side | Arcs, rule: Rule, *, width: int, threads: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The `width` best candidates of each node, best first, -1 where there are fewer; and their scores, then 0."""
    loops = _loops_for(here)
    candidate, score = np.full((len(nodes), width), NONE, dtype=np.int32), np.zeros((len(nodes), width))

    def run(nodes: NDArray[np.int32], candidate: NDArray[np.int32], score: NDArray[np.float64]) -> int:
        return int(loops.leaders(nodes, here, there, rule, scratch(here, there, rule), candidate, score))

    _in_threads(run, threads, nodes, candidate, score)
    return candidate, score


def _loops_for(here: Side | Arcs) -> Any:
    """Where the loops for a side are; others are not compiled."""
    return importlib.import_module(f"unmask.graphs.attacks.{'_arcs' if isinstance(here, Arcs) else '_loops'}")


def scratch(here: Side | Arcs, there: Side | Arcs, rule: Rule) -> Scratch:
    """Weights are added up in their own type; those of links are whole numbers divided by a size."""
    dtype = np.float64 if isinstance(here, Arcs) else here.weight.dtype.type
    return Scratch.of(there, revise=rule.revise, dtype=dtype)


def _in_threads(run: Callable[..., int], threads: int, *rows: NDArray[Any]) -> list[int]:
    """What `run` returns for the rows of the arrays, dealt out in turn to some parts for each thread.

    The compiled loops hold no lock. Some nodes are a hundred times the work of others, hence more than one part.
    """
    parts = 1 if threads == 1 else 4 * threads
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda at: run(*(array[at::parts] for array in rows)), range(parts)))
