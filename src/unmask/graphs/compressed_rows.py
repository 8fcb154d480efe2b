"""Compressed rows (CSR) of a simple undirected graph, in memory or in memory-mapped temporary files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from unmask.core.arrays import Booleans, Integers, mark_first
from unmask.core.errors import FailedError

MAX_LINKS_IN_MEMORY = 1 << 24
"""Largest number of links for which all arrays stay in memory, about 0.6 GB."""

LINKS_PER_BLOCK = 1 << 18
_LINKS_PER_RUN = 1 << 23  # links that are sorted at once for a memory-mapped file
_ENTRIES_PER_PART = 1 << 19  # entries of rows that are merged at once
_NEIGHBOR_MASK = (1 << 31) - 1


class CompressedRows(NamedTuple):
    """Neighbors of each node of a simple undirected graph; links = n_loops + repetitions + n_distinct.

    indptr, neighbor, way : see `SocialGraph`
    n_loops    : number of links from a node to itself
    n_distinct : number of distinct directed links without loops
    """

    indptr: Integers
    neighbor: NDArray[np.int32]
    way: NDArray[np.int8]
    n_loops: int
    n_distinct: int


def compress_links(u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]], n_nodes: int) -> CompressedRows:
    """Return the rows of the graph with a link from u[i] to v[i] for each i.

    >>> compress_links(np.array([0, 1, 1]), np.array([1, 0, 2]), 3).neighbor
    array([1, 0, 2, 1], dtype=int32)
    """
    return compress_entries(list_entries(u, v), len(u), n_nodes)


def list_entries(u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]]) -> Integers:
    """Return an entry for the row of each end of each link, without loops.

    An entry is the integer node 2^32 + neighbor 2 + direction, with direction 0 from the node and 1 to the node.
    """
    entries = allocate(2 * len(u), np.int64, is_mapped=len(u) > MAX_LINKS_IN_MEMORY)
    end = 0
    for block in iterate_blocks(len(u)):
        proper = u[block] != v[block]
        source, target = (ends[block][proper].astype(np.int64) for ends in (u, v))
        start, middle, end = end, end + len(source), end + 2 * len(source)
        entries[start:middle] = source << 32 | target << 1
        entries[middle:end] = target << 32 | source << 1 | 1
    return entries[:end]


def compress_entries(entries: Integers, n_links: int, n_nodes: int) -> CompressedRows:
    """Return the rows of the graph with the entries of `list_entries`, which are sorted in place.

    Runs of entries are sorted and then merged part by part.
    """
    is_mapped = n_links > MAX_LINKS_IN_MEMORY
    run = 2 * _LINKS_PER_RUN if is_mapped else max(len(entries), 1)
    runs = [entries[start : start + run] for start in range(0, len(entries), run)]
    for entries_of_run in runs:
        entries_of_run.sort()
    neighbor = allocate(len(entries), np.int32, is_mapped=is_mapped)
    way = allocate(len(entries), np.int8, is_mapped=is_mapped)
    indptr = np.zeros(n_nodes + 1, dtype=np.int64)
    end = n_distinct = 0
    for low, high in _cut_rows(runs, n_nodes):
        distinct = _distinct(_merge(runs, low, high))
        is_first = mark_first(distinct >> 1)
        directions = 1 + (distinct & 1).astype(np.int8)
        directions[:-1][~is_first[1:]] = 3  # the next entry is the same link in the other direction
        pairs = distinct[is_first] >> 1
        start, end, n_distinct = end, end + len(pairs), n_distinct + len(distinct)
        neighbor[start:end], way[start:end] = pairs & _NEIGHBOR_MASK, directions[is_first]
        indptr[low + 1 : high + 1] = np.bincount((pairs >> 31) - low, minlength=high - low)
    np.cumsum(indptr, out=indptr)
    return CompressedRows(indptr, neighbor[:end], way[:end], n_links - len(entries) // 2, n_distinct // 2)


def allocate(size: int, dtype: DTypeLike, *, is_mapped: bool) -> NDArray[Any]:
    """Return an uninitialized array; if mapped, in a temporary file that is deleted with the array."""
    if not (is_mapped and size):
        return np.empty(size, dtype)
    n_bytes = size * np.dtype(dtype).itemsize
    try:
        with tempfile.TemporaryFile(prefix="unmask-") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, n_bytes)  # otherwise a full disk kills the process later
            return np.asarray(np.memmap(file, dtype, "r+", shape=(size,)))
    except OSError as error:
        raise FailedError(
            f"a network of this size needs {n_bytes:,} bytes in the temporary directory: {error.strerror}; free some "
            "space, or set TMPDIR to another directory"
        ) from None


def iterate_blocks(size: int) -> Iterator[slice]:
    """Yield slices that split `size` elements into blocks."""
    return (slice(start, start + LINKS_PER_BLOCK) for start in range(0, size, LINKS_PER_BLOCK))


def mark_nodes(n_nodes: int, *ends: NDArray[np.integer[Any]]) -> Booleans:
    """Return (n_nodes,) a mask of the nodes that occur in arrays of node numbers."""
    is_marked = np.zeros(n_nodes, dtype=np.bool_)
    for nodes in ends:
        for block in iterate_blocks(len(nodes)):
            is_marked[nodes[block]] = True
    return is_marked


def _cut_rows(runs: Sequence[Integers], n_nodes: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows (first node, end) with about `_ENTRIES_PER_PART` entries each."""
    step = max(_ENTRIES_PER_PART // max(len(runs), 1), 1)
    sampled = np.sort(np.concatenate([run[::step] >> 32 for run in runs])) if runs else np.zeros(0, dtype=np.int64)
    bounds = np.unique(np.concatenate(([0], sampled[:: max(len(runs), 1)], [n_nodes]))).tolist()
    return pairwise(bounds)


def _merge(runs: Sequence[Integers], low: int, high: int) -> Integers:
    """Return the entries of the rows of nodes low to high - 1, ascending."""
    bounds = np.array([low, high], dtype=np.int64) << 32
    pieces = [run[slice(*np.searchsorted(run, bounds))] for run in runs]
    return pieces[0] if len(pieces) == 1 else np.sort(np.concatenate(pieces or [bounds[:0]]))


def _distinct(ascending: Integers) -> Integers:
    is_first = mark_first(ascending)
    return ascending if is_first.all() else ascending[is_first]
