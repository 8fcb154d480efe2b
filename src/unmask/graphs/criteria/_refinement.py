"""Color refinement of nodes: split color classes by the colors of the neighbors until no class changes."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray


def tokens(number: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each number (the finalizer of SplitMix64).

    Sums of tokens represent multisets. Any two of n multisets collide with a probability of about n^2 / 2^65.
    """
    z = (number.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def row_sums(indptr: NDArray[np.int64], value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return (n,) the sum of the values of each row modulo 2^64; 0 for an empty row."""
    running = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(value, dtype=np.uint64)))
    return running[indptr[1:]] - running[indptr[:-1]]


def numbered(key: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return (n,) the keys replaced by ranks 0, 1, 2, ... of the distinct keys."""
    return np.unique(key, return_inverse=True)[1].astype(np.int64).reshape(-1)


def refine(
    indptr: NDArray[np.int64],
    neighbor: NDArray[np.integer],
    start: NDArray[np.int64] | None = None,
    *,
    rounds: int | None = None,
) -> NDArray[np.int64]:
    """Return (n,) the coarsest stable coloring, numbered from 0: nodes of a color have equally many neighbors of each.

    Nodes start with their degrees, or with the colors `start`. Each round splits the colors by the multisets of
    neighbor colors, until no color splits, or for `rounds`. Nodes that an automorphism maps to each other have the
    same color. Nodes of the same color are not always automorphic.
    """
    color = numbered(np.diff(indptr).astype(np.uint64)) if start is None else start
    for _ in itertools.count() if rounds is None else range(rounds):
        if not len(color):
            break
        further = finer(color, (indptr, neighbor))
        if further.max() == color.max():  # no color was split
            break
        color = further
    return color


def finer(color: NDArray[np.int64], *graphs: tuple[NDArray[np.int64], NDArray[np.integer]]) -> NDArray[np.int64]:
    """Return (n,) the colors after one more round, from 0: each color is split by the multiset of neighbor colors.

    color : colors of the nodes of all graphs in sequence. graphs : (indptr, neighbor) of each graph
    """
    start, sums = 0, []
    for indptr, neighbor in graphs:
        graph_color = color[start : start + len(indptr) - 1]
        sums.append(row_sums(indptr, tokens(graph_color)[neighbor]))
        start += len(graph_color)
    return numbered(tokens(np.concatenate(sums) + tokens(tokens(color))))
