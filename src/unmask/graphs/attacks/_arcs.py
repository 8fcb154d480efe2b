"""The loops of the directed attack, compiled: as `_loops`, with links in place of edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled, inner
from unmask.graphs.attacks._loops import insert, standing_out
from unmask.graphs.attacks._sides import Arcs, Rule, Scratch


@compiled
def winners(
    nodes: NDArray[np.int32], here: Arcs, there: Arcs, rule: Rule, scratch: Scratch, winner: NDArray[np.int32]
) -> int:
    """Write the candidate that stands out for each node, -1 where none does; the candidates visited."""
    visits = 0
    for i in range(len(nodes)):
        n, seen = _fill(nodes[i], here, there, scratch)
        winner[i] = standing_out(n, rule, scratch.candidate, scratch.score)[0]
        visits += seen
    return visits


@compiled
def leaders(
    nodes: NDArray[np.int32],
    here: Arcs,
    there: Arcs,
    _: Rule,
    scratch: Scratch,
    candidate: NDArray[np.int32],
    score: NDArray[np.float64],
) -> int:
    """Write the best candidates of each node, best first, and their scores, as there are columns; the visits."""
    last, visits = candidate.shape[1] - 1, 0
    for i in range(len(nodes)):
        n, seen = _fill(nodes[i], here, there, scratch)
        visits += seen
        for t in range(n):
            if scratch.score[t] > score[i, last]:
                insert(scratch.candidate[t], scratch.score[t], i, candidate, score)
    return visits


@inner
def _fill(v: int, here: Arcs, there: Arcs, scratch: Scratch) -> tuple[int, int]:
    """List the candidates of v and their scores; the number of them, and of visits.

    Links into v lead from images by links out of them; links out of v the other way.
    """
    n: Any = np.int64(0)  # a bare 0 is a type of its own, for which `_add` would be compiled, too
    image, total = here.image, scratch.total
    n, seen = _add(
        v, n, here.in_indptr, here.in_neighbor, image, there.out_indptr, there.out_neighbor, there.in_size, scratch
    )
    n, more = _add(
        v, n, here.out_indptr, here.out_neighbor, image, there.in_indptr, there.in_neighbor, there.out_size, scratch
    )
    for t in range(n):
        c = scratch.candidate[t]
        scratch.score[t] = total[c]
        total[c] = 0
    return n, seen + more


@inner
def _add(
    v: int,
    n: int,
    indptr: NDArray[np.int64],
    neighbor: NDArray[np.int32],
    image: NDArray[np.int32],
    onward: NDArray[np.int64],
    reached: NDArray[np.int32],
    size: NDArray[np.float64],
    scratch: Scratch,
) -> tuple[int, int]:
    """Add up the scores from links of one direction, where n candidates are listed; how many then are, and visits."""
    total, candidate, visits = scratch.total, scratch.candidate, 0
    for i in range(indptr[v], indptr[v + 1]):
        y = image[neighbor[i]]
        if y < 0:
            continue
        visits += onward[y + 1] - onward[y]
        for j in range(onward[y], onward[y + 1]):
            c = reached[j]
            before = total[c]
            candidate[n] = c
            n += before == 0
            total[c] = before + 1 / size[c]
    return n, visits
