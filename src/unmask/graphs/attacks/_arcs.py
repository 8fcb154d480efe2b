"""The loops of the directed attack, compiled: as `_loops`, with links in place of edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled
from unmask.graphs.attacks._loops import Scratch, _insert, _standing_out
from unmask.graphs.attacks._sides import Arcs, Rule


@compiled
def sweep(nodes: NDArray[np.int32], source: Arcs, target: Arcs, rule: Rule) -> tuple[int, int]:
    """One pass over unmapped nodes against the images as they are, then written; the matches, and the visits."""
    forth, back = _scratch(target), _scratch(source)
    found, matches, visits = np.full(len(nodes), -1, dtype=np.int32), 0, 0
    for i in range(len(nodes)):
        v = nodes[i]
        n, seen = _fill(v, source, target, forth)
        visits += seen
        c = _standing_out(n, rule, forth.candidate, forth.score)[0]
        if c < 0:
            continue
        n, seen = _fill(c, target, source, back)
        visits += seen
        if _standing_out(n, rule, back.candidate, back.score)[0] == v:
            found[i] = c
            matches += 1
    for i in range(len(nodes)):
        if found[i] >= 0:
            source.image[nodes[i]], target.image[found[i]] = found[i], nodes[i]
    return matches, visits


@compiled
def leaders(
    nodes: NDArray[np.int32], source: Arcs, target: Arcs, width: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The best candidates of each node, best first, and their scores; 0 where there are fewer than `width`."""
    candidate, score = np.full((len(nodes), width), -1, dtype=np.int32), np.zeros((len(nodes), width))
    scratch = _scratch(target)
    for i in range(len(nodes)):
        n, _ = _fill(nodes[i], source, target, scratch)
        for t in range(n):
            if scratch.score[t] > score[i, width - 1]:
                _insert(scratch.candidate[t], scratch.score[t], candidate[i], score[i])
    return candidate, score


@compiled
def _scratch(there: Arcs) -> Scratch:
    n = len(there.image)
    return Scratch(np.zeros(n), np.empty(n + 1, dtype=np.int32), np.empty(n))


@compiled
def _fill(v: int, here: Arcs, there: Arcs, scratch: Scratch) -> tuple[int, int]:
    """List the candidates of v and their scores; the number of them, and of visits."""
    n, visits = 0, 0
    for inward in (True, False):  # links into v lead from images by links out of them; links out of v the other way
        indptr, neighbor = (here.in_indptr, here.in_neighbor) if inward else (here.out_indptr, here.out_neighbor)
        onward, reached = (there.out_indptr, there.out_neighbor) if inward else (there.in_indptr, there.in_neighbor)
        size = there.in_size if inward else there.out_size
        for i in range(indptr[v], indptr[v + 1]):
            y = here.image[neighbor[i]]
            if y < 0:
                continue
            visits += onward[y + 1] - onward[y]
            for j in range(onward[y], onward[y + 1]):
                c = reached[j]
                if there.image[c] >= 0:
                    continue
                scratch.candidate[n] = c
                n += scratch.total[c] == 0
                scratch.total[c] += 1 / size[c]
    for t in range(n):
        c = scratch.candidate[t]
        scratch.score[t] = scratch.total[c]
        scratch.total[c] = 0
    return n, visits
