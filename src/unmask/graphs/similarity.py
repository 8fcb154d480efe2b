"""Similarity of people by names, profiles or attributes, known to the adversary in addition to edges."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.core.csr_rows import distinct
from unmask.core.errors import UnmaskError
from unmask.data.readings import iterate_rows
from unmask.data.resources import temporary_folder
from unmask.data.source_files import prepare_file
from unmask.graphs.files.edge_lists import best_dialect

if TYPE_CHECKING:
    from unmask.graphs.graph import SocialGraph

_CAUTION = 5  # as if so many seeds more had told nothing
_TELLING = 0.8  # exponents below which the most similar are proposed as candidates


def proposed(n_nodes: int) -> int:
    """Return the number of candidates that similarity proposes for a node, by the size of the graphs: 100, 50 or 30.

    >>> proposed(1200), proposed(4000), proposed(4001)
    (100, 50, 30)
    """
    return 100 if n_nodes <= 1200 else 50 if n_nodes <= 4000 else 30


@dataclass(frozen=True, eq=False)
class Similarity:
    """Pairs of a source node and a target node, and how alike they are by anything but edges.

    Only the order of weights within a source node counts, so that their unit and scale do not; its targets without a
    line are less similar than those with one. See `ratios` for what attacks make of it.

    source, target : (n,) node numbers of the adversary's graph and of the release; no pair twice
    weight         : (n,) finite numbers

    >>> Similarity(np.array([0, 0]), np.array([2, 1]), np.array([0.9, 0.1]))
    Similarity(2 pairs)
    """

    source: NDArray[np.integer]
    target: NDArray[np.integer]
    weight: NDArray[np.float64]

    def __post_init__(self) -> None:
        n = {len(self.source), len(self.target), len(self.weight)}
        if len(n) > 1:
            raise UnmaskError(f"there are {max(n)} and {min(n)} entries, expected a source, target and weight each")
        if not len(self.source):
            raise UnmaskError("the similarity has no pairs, expected at least one; leave it out")
        if not np.isfinite(self.weight).all():
            raise UnmaskError("a weight of the similarity is no finite number, expected larger ones for more alike")
        key = self.source.astype(np.int64) * 2**31 + self.target
        if len(distinct(key)) < len(key):
            raise UnmaskError("a pair stands in the similarity twice, expected each once")

    def __repr__(self) -> str:
        return f"Similarity({len(self.source)} pairs)"

    def reversed(self) -> Similarity:
        """Return the same pairs from target to source."""
        return Similarity(self.target, self.source, self.weight)

    def renumbered(self, source: NDArray[np.integer], target: NDArray[np.integer]) -> Similarity:
        """Return the same pairs where the new numbers of nodes are source[old] and target[old]."""
        return Similarity(source[self.source], target[self.target], self.weight)

    @classmethod
    def read(cls, auxiliary: SocialGraph, release: SocialGraph, path: str | os.PathLike[str]) -> Similarity:
        """Read a text file of three columns: label in the auxiliary graph, label in the release, weight.

        A first line with a weight that is not a number is a header. Lines with a person who is not in
        the graphs are dropped, because edge lists lack people without an edge.
        """
        people, names, weight = _columns(Path(os.fspath(path)))
        source, target = auxiliary.nodes_called(people), release.nodes_called(names)
        is_known = (source >= 0) & (target >= 0)
        if not is_known.any():
            raise UnmaskError(
                f"none of {len(people)} rows of the similarity names a person of the adversary's network and then one "
                "of the release; check the ids and the order of the columns"
            )
        return cls(source[is_known], target[is_known], np.array(weight, dtype=np.float64)[is_known])

    def ratios(self, n_source: int, n_target: int, seeds: tuple[NDArray[np.integer], NDArray[np.integer]]) -> Ratios:
        """Return the likelihood ratios of one person against two for the similarity of each pair, fitted to the seeds.

        r(u, c) = (targets more similar to u than c + half of those as similar, c included) / n_target would be uniform
        over targets by chance. Of one person it is modeled to have the density a r^(a - 1), 0 < a <= 1, hence

            log-likelihood ratio of a pair: log a + (a - 1) log r
            a = min(1, (n + 5) / (5 - sum of log r of the n seeds and their images))

        A useless similarity has a = 1 and ratios of exactly 0. People without a line have ratios of 0, too, and seeds
        among them are not counted.
        """
        for nodes, n_nodes in ((self.source, n_source), (self.target, n_target)):
            if len(nodes) and not 0 <= nodes.min() <= nodes.max() < n_nodes:
                raise UnmaskError(f"nodes of the similarity go to {nodes.max()}, expected 0 to {n_nodes - 1}")
        ranked = _ranked(self, n_source, n_target)
        has_pairs = np.diff(ranked.indptr)[seeds[0]] > 0
        rank = ranked.rank_of(seeds[0][has_pairs], seeds[1][has_pairs])
        return replace(ranked, exponent=float(min(1.0, (len(rank) + _CAUTION) / (_CAUTION - np.log(rank).sum()))))


@dataclass(frozen=True, eq=False)
class Ratios:
    """The log-likelihood ratios of a similarity, see `Similarity.ratios`.

    indptr     : (n_source + 1,) the pairs of node u are the entries indptr[u]..indptr[u + 1]
    candidate  : (n_pairs,) their target nodes, the most similar first
    rank       : (n_pairs,) r of each
    depth      : (n_pairs,) how many target nodes are at least as similar, itself included
    n_target   : nodes of the target
    exponent   : a
    """

    indptr: NDArray[np.int64]
    candidate: NDArray[np.int64]
    rank: NDArray[np.float64]
    depth: NDArray[np.int64]
    n_target: int
    exponent: float = 1.0

    @classmethod
    def nothing(cls, n_source: int, n_target: int) -> Ratios:
        """Return ratios of 0 for all pairs, of which none is listed."""
        empty = np.zeros(0, dtype=np.int64)
        return cls(np.zeros(n_source + 1, dtype=np.int64), empty, np.zeros(0), empty, n_target)

    @property
    def row(self) -> NDArray[np.int64]:
        """Return (n_pairs,) the source node of each pair."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    @property
    def value(self) -> NDArray[np.float64]:
        """Return (n_pairs,) the ratio of each pair."""
        return self._ratio(self.rank)

    @cached_property
    def unlisted(self) -> NDArray[np.float64]:
        """Return (n_source,) the ratio of each source node with the targets that have no line with it."""
        n_listed = np.diff(self.indptr)
        return np.where(n_listed > 0, self._ratio(self._last_rank), 0.0)

    def look_up(self, source: NDArray[np.integer], target: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the ratios of these pairs."""
        return np.where(np.diff(self.indptr)[source] > 0, self._ratio(self.rank_of(source, target)), 0.0)

    def rank_of(self, source: NDArray[np.integer], target: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return r of these pairs."""
        order, key = self._keys
        if not len(key):
            return np.asarray(self._last_rank[source])
        wanted = np.asarray(source, dtype=np.int64) * self.n_target + target
        position = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        return np.where(key[position] == wanted, self.rank[order[position]], self._last_rank[source])

    def nearest(self, k: int) -> NDArray[np.bool_]:
        """Return (n_pairs,) a mask of the k most similar pairs of each source node, without those that tie across k.

        None is where the similarity tells little: an exponent of .8 or more.
        """
        return (self.depth <= k) & (self.exponent < _TELLING)

    @cached_property
    def _keys(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the order of the pairs by source and target, and their numbers in it."""
        key = self.row * self.n_target + self.candidate
        order = np.argsort(key)
        return order, key[order]

    @property
    def _last_rank(self) -> NDArray[np.float64]:
        """Return (n_source,) r of targets without a line: half of them, behind all that have one."""
        return (np.diff(self.indptr) + self.n_target) / (2.0 * self.n_target)

    def _ratio(self, rank: NDArray[np.float64]) -> NDArray[np.float64]:
        ratio: NDArray[np.float64] = np.log(self.exponent) + (self.exponent - 1.0) * np.log(rank)
        return ratio


def _ranked(similarity: Similarity, n_source: int, n_target: int) -> Ratios:
    """Return the pairs by falling weight, equal ones with equal ranks."""
    order = np.lexsort((similarity.target, -similarity.weight, similarity.source))
    source, weight = similarity.source[order], similarity.weight[order]
    indptr = np.searchsorted(source, np.arange(n_source + 1))
    starts = np.ones(len(source), dtype=np.bool_)
    starts[1:] = (source[1:] != source[:-1]) | (weight[1:] != weight[:-1])
    first = np.flatnonzero(starts)
    group = np.cumsum(starts) - 1
    n_before, depth = (bounds[group] - indptr[source] for bounds in (first, np.append(first[1:], len(source))))
    candidate = similarity.target[order].astype(np.int64)
    return Ratios(indptr, candidate, (n_before + depth) / (2.0 * n_target), depth, n_target)


# --- files ----------------------------------------------------------------------------------------------------------


def _columns(path: Path) -> tuple[list[str], list[str], list[float]]:
    """Three columns of a text file; a header is left out."""
    with temporary_folder(None) as folder:
        file = prepare_file(path, folder)
        if file.text is None:
            raise UnmaskError(f"file {path.name!r} is no text, expected a .csv, .tsv or .txt of three columns")
        rows = list(iterate_rows(best_dialect(file.text)))
    if len(rows[0]) != 3:
        raise UnmaskError(
            f"the rows of {path.name!r} have {len(rows[0])} cells, expected three: a person of the adversary's "
            "network, one of the release, and how similar they are"
        )
    header = math.isnan(_weight(rows[0][2]))
    weights = [_weight(row[2]) for row in rows[header:]]
    if not all(map(math.isfinite, weights)):
        row_number = 1 + header + [math.isfinite(weight) for weight in weights].index(False)
        raise UnmaskError(
            f"row {row_number} of {path.name!r} has no finite number in its third cell; mend it or leave it out"
        )
    return [row[0] for row in rows[header:]], [row[1] for row in rows[header:]], weights


def _weight(text: str) -> float:
    """Return the number, nan for other texts."""
    try:
        return float(text)
    except ValueError:
        return math.nan
