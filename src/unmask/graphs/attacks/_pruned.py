"""Compiled loops of `Nar09` for large networks: they visit only candidates that can be among the best.

The candidates of node v are the entries of the rows of the images of its mapped neighbors. The score of candidate c is
the number of these rows that contain c, divided by size_c. Nodes are numbered by ascending degree, so sizes ascend in
each row. Most entries are in the rows of few hubs:

1. Short rows are read to their end.
2. Long rows are read up to a limit, which is raised step by step. A candidate beyond it, which is in at most k
   unfinished rows, has a score of at most k / size. Reading stops if this is no more than the best scores.
3. A candidate of a short row can be beyond the limit. Its own row shows the long rows that contain it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.compiled import compiled, inner
from unmask.graphs.attacks._loops import accept_candidate, insert, recall_winner
from unmask.graphs.attacks._structs import TIE, UNKNOWN, Rule, Scratch, Side

MIN_LONG, MAX_LONG_ROWS = 256, 8
"""A row is long if it has more than 256 entries, and more than an eighth of the entries of all rows of the node.

Few rows are long, because the bound on the scores of unread candidates is the number of long rows.
"""


class Rows(NamedTuple):
    """Long rows of one node, and its best scores.

    unread, end : (largest degree of the source graph,) first entry that is not read, and end of each row
    mark        : (n_target,) the last source node for which the target node has a long row, or -1
    best        : lower bounds of the best scores, descending; 0 for none
    min_long    : number of entries that a long row exceeds
    """

    unread: NDArray[np.int64]
    end: NDArray[np.int64]
    mark: NDArray[np.int32]
    best: NDArray[np.float64]
    min_long: int

    @classmethod
    def for_side(cls, source: Side, target: Side, n_best: int) -> Rows:
        """Return memory for the rows of one node at a time."""
        unread, end = np.empty((2, int(source.degree.max(initial=0))), dtype=np.int64)
        return cls(unread, end, np.full(len(target.image), -1, dtype=np.int32), np.empty(n_best), MIN_LONG)


@compiled
def find_winners(
    nodes: NDArray[np.int32],
    source: Side,
    target: Side,
    rule: Rule,
    scratch: Scratch,
    rows: Rows,
    winner: NDArray[np.int32],
) -> int:
    """Write the accepted candidate of each node, -1 without one; return the number of visits."""
    total_visits, leader, rival = 0, source.leader, source.rival
    for i in range(len(nodes)):
        v = nodes[i]
        winner[i], min_long = recall_winner(leader[v], rival[v], scratch.total), rows.min_long
        while winner[i] == UNKNOWN:
            n, visits = _score_best(v, source, target, scratch, rows, min_long)
            total_visits += visits
            chosen, leader[v], rival[v] = accept_candidate(n, rule, scratch.candidate, scratch.score)
            if leader[v] == UNKNOWN and min_long < len(target.image):
                min_long = len(target.image)  # the eccentricity decides, which needs all candidates: no row is long
            else:
                winner[i] = chosen
    return total_visits


@compiled
def rank_candidates(
    nodes: NDArray[np.int32],
    source: Side,
    target: Side,
    scratch: Scratch,
    rows: Rows,
    candidate: NDArray[np.int32],
    score: NDArray[np.float64],
) -> None:
    """Write as many best candidates of each node as there are columns, with scores."""
    last = candidate.shape[1] - 1
    for i in range(len(nodes)):
        n, _ = _score_best(nodes[i], source, target, scratch, rows, rows.min_long)
        for t in range(n):
            if scratch.score[t] > score[i, last]:
                insert(scratch.candidate[t], scratch.score[t], i, candidate, score)


@inner
def _score_best(v: int, source: Side, target: Side, scratch: Scratch, rows: Rows, min_long: int) -> tuple[int, int]:
    """List the best candidates of v and others, with scores; return the numbers of listed candidates and of visits.

    There are as many best candidates as `rows.best` has elements. Scores of other candidates may be too small.
    """
    source_indptr, source_neighbor, image, _, _, _, _ = source
    indptr, neighbor, _, _, size, _, _ = target
    total, candidate, score = scratch
    unread, end, mark, best, _ = rows
    n_entries, n_long, n, first_long = 0, 0, 0, len(size)
    for i in range(source_indptr[v], source_indptr[v + 1]):
        y = image[source_neighbor[i]]
        if y >= 0:
            n_entries += indptr[y + 1] - indptr[y]
    visits = n_entries
    for i in range(source_indptr[v], source_indptr[v + 1]):
        y = image[source_neighbor[i]]
        if y < 0:
            continue
        n_in_row = indptr[y + 1] - indptr[y]
        if n_in_row > max(min_long, n_entries // MAX_LONG_ROWS):
            unread[n_long], end[n_long], mark[y] = indptr[y], indptr[y + 1], v
            first_long = min(first_long, y)
            visits -= n_in_row
            n_long += 1
        else:
            n = _read(indptr[y], indptr[y + 1], neighbor, total, candidate, n)
    n_short, n_ranked, n_unfinished, limit = n, 0, n_long, 0
    max_size = np.sqrt(2.0 * n_long)  # a candidate in k rows has k neighbors, so its size is at least the root of k
    best[:] = 0.0
    while True:
        for t in range(n_ranked, n):
            _insert_score(total[candidate[t]] / size[candidate[t]], best)
        if n_unfinished == 0 or n_unfinished <= best[-1] * size[limit]:
            break
        if best[-1] > 0:
            max_size = min(max_size, (1.0 + TIE) * n_unfinished / best[-1])
        limit, n_ranked, n_unfinished = _find(size, max_size, limit, len(size)), n, 0
        for r in range(n_long):
            start = unread[r]
            unread[r] = _find(neighbor, limit, start, end[r])
            visits += unread[r] - start
            n_unfinished += unread[r] < end[r]
            n = _read(start, unread[r], neighbor, total, candidate, n)
        max_size *= np.sqrt(2.0)
    for t in range(n):
        c = candidate[t]
        if n_unfinished > 0 and t < n_short and c >= limit and total[c] + n_unfinished > best[-1] * size[c]:
            j = indptr[c + 1]
            while j > indptr[c] and neighbor[j - 1] >= first_long:
                j -= 1
                total[c] += mark[neighbor[j]] == v
            visits += indptr[c + 1] - j
        score[t], total[c] = total[c] / size[c], 0
    return n, visits


@inner
def _read(
    start: int, stop: int, neighbor: NDArray[np.int32], total: NDArray[Any], candidate: NDArray[np.int32], n: int
) -> int:
    """Count entries of a row, append new candidates, and return their number. Indices as in `score_candidates`."""
    for j in range(np.uint64(start), np.uint64(stop)):
        c = np.uint32(neighbor[j])
        partial = total[c]
        candidate[np.uint64(n)] = c
        n += partial == 0
        total[c] = partial + np.float32(1.0)
    return n


@inner
def _find(ascending: NDArray[Any], value: float, low: int, high: int) -> int:
    """Return the first position from `low` on of an entry of at least `value`, `high` if there is none."""
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _insert_score(score: float, best: NDArray[np.float64]) -> None:
    """Insert a score among the best, which descend."""
    place = len(best)
    while place > 0 and score > best[place - 1]:
        place -= 1
        if place + 1 < len(best):
            best[place + 1] = best[place]
    if place < len(best):
        best[place] = score
