"""Synchronous Nar09 in other ways: dictionaries, a product of sparse matrices; for graphs.py."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

TIE = 1e-9
THETA = 0.01


def by_dictionaries(target: Any, source: Any, seeds: Any) -> tuple[Any, int]:
    """Sets of neighbors and a dictionary of scores for each node; reverse scores only of nodes that are proposed."""
    import numpy as np

    near, far = as_sets(source), as_sets(target)
    image = dict(zip(seeds[0].tolist(), seeds[1].tolist(), strict=True))
    n_passes, matches = 0, {0: 0}
    while matches:
        inverse = {c: v for v, c in image.items()}
        reverse: dict[int, int] = {}
        matches = {}
        for v in near:
            if v in image:
                continue
            c = standing_out(v, near, far, image, inverse)
            if c is None:
                continue
            if c not in reverse:
                back = standing_out(c, far, near, inverse, image)
                reverse[c] = -1 if back is None else back
            if reverse[c] == v:
                matches[v] = c
        image.update(matches)
        n_passes += 1
    mapping = np.full(source.n_nodes, -1, dtype=np.int32)
    mapping[list(image)] = list(image.values())
    return mapping, n_passes


def as_sets(graph: Any) -> dict[int, set[int]]:
    """The neighbors of every node."""
    return {v: set(graph.neighbors(v).tolist()) for v in range(graph.n_nodes)}


def standing_out(
    v: int, near: dict[int, set[int]], far: dict[int, set[int]], image: dict[int, int], taken_nodes: dict[int, int]
) -> int | None:
    """The candidate of v that stands out."""
    shared: defaultdict[int, int] = defaultdict(int)
    for x in near[v]:
        if x in image:
            for c in far[image[x]]:
                shared[c] += 1
    score = {c: n / math.sqrt(len(far[c])) for c, n in shared.items() if c not in taken_nodes}
    if len(score) < 2:
        return next(iter(score), None)
    values = list(score.values())
    highest = max(score, key=score.__getitem__)
    top = score.pop(highest)
    gap = top - max(score.values())
    mean = math.fsum(values) / len(values)
    sigma = math.sqrt(sum((s - mean) ** 2 for s in values) / (len(values) - 1))
    return highest if gap > TIE * top and gap >= THETA * sigma else None


def by_products(target: Any, source: Any, seeds: Any) -> tuple[Any, int]:
    """Free source rows times mapped columns, P, mapped target rows times free columns: SciPy's sparse product."""
    import numpy as np

    a, b = (graph.adjacency().astype(np.float64) for graph in (source, target))
    image = np.full(source.n_nodes, -1, dtype=np.int32)
    image[seeds[0]] = seeds[1]
    n_passes, new = 0, 1
    while new:
        mapped, free = np.flatnonzero(image >= 0), np.flatnonzero(image < 0)
        open_ = np.setdiff1d(np.arange(target.n_nodes), image[mapped])
        shared = (a[free][:, mapped] @ b[image[mapped]][:, open_]).tocsr()
        forth = row_winners(shared, np.sqrt(target.degree[open_]))
        back = row_winners(shared.T.tocsr(), np.sqrt(source.degree[free]))
        row = np.flatnonzero(forth >= 0)
        row = row[back[forth[row]] == row]
        image[free[row]] = open_[forth[row]]
        new = len(row)
        n_passes += 1
    return image, n_passes


def by_rows(a: Any, b: Any, image: Any, nodes: Any, open_: Any, root: Any) -> int:
    """Count source nodes with a target node that stands out: their rows times those of mapped neighbors.

    open_, root : (n_target,) whether a target node is a candidate, and the square root of its degree
    """
    import numpy as np

    rows = a[nodes].astype(np.float64)
    near = np.unique(rows.indices)
    near = near[image[near] >= 0]
    shared = rows[:, near] @ b[image[near]].astype(np.float64)
    return int((row_winners(shared[:, np.flatnonzero(open_)].tocsr(), root[open_]) >= 0).sum())


def row_winners(shared: Any, root: Any) -> Any:
    """The column that stands out in each row, -1 where none does."""
    import numpy as np

    length = np.diff(shared.indptr)
    rows = np.flatnonzero(length)
    start, length = shared.indptr[rows], length[rows]
    score = shared.data / root[shared.indices]
    row = np.repeat(np.arange(len(rows)), length)
    top = np.maximum.reduceat(score, start) if len(rows) else np.zeros(0)
    at_top = np.flatnonzero(score == top[row])
    column = np.full(len(rows), -1)
    column[row[at_top]] = shared.indices[at_top]
    lower_scores = np.where(score == top[row], 0.0, score)
    second = np.maximum.reduceat(lower_scores, start) if len(rows) else np.zeros(0)
    second[np.bincount(row[at_top], minlength=len(rows)) > 1] = np.inf  # two at the top
    mean = np.bincount(row, score, len(rows)) / length
    squares = np.bincount(row, (score - mean[row]) ** 2, len(rows))
    sigma = np.sqrt(squares / np.maximum(length - 1, 1))
    stands = (length == 1) | ((top - second > TIE * top) & (top - second >= THETA * sigma))
    winner = np.full(shared.shape[0], -1)
    winner[rows[stands]] = column[stands]
    return winner
