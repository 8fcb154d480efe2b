"""Node similarity from names, profiles or attributes, as knowledge of the adversary in addition to edges."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import distinct
from unmask.core.errors import UnmaskError
from unmask.data.readings import iterate_rows
from unmask.data.resources import temporary_folder
from unmask.data.source_files import prepare_file
from unmask.graphs.files.edge_lists import best_dialect
from unmask.graphs.graph import SocialGraph, check_nodes

_PRIOR_SEEDS = 5  # pseudo-count of seeds for which the similarity was useless
_MAX_EXPONENT = 0.8  # a similarity with a larger fitted exponent proposes no candidates


def candidate_count(n_nodes: int) -> int:
    """Return the number of candidates that similarity proposes for each node: 100, 50 or 30, by graph size.

    >>> candidate_count(1200), candidate_count(4000), candidate_count(4001)
    (100, 50, 30)
    """
    return 100 if n_nodes <= 1200 else 50 if n_nodes <= 4000 else 30


@dataclass(frozen=True, eq=False)
class Similarity:
    """Similarity weights of pairs of a source node and a target node, independent of the edges.

    Only the order of the weights of one source node matters; unit and scale do not. Target nodes without a weight are
    less similar than all target nodes with one. Attacks use the likelihood ratios of `ratios`.

    source, target : (n,) node numbers in the adversary's graph and in the release; each pair at most once
    weight         : (n,) finite numbers; larger is more similar

    >>> Similarity(np.array([0, 0]), np.array([2, 1]), np.array([0.9, 0.1]))
    Similarity(2 pairs)
    """

    source: NDArray[np.integer]
    target: NDArray[np.integer]
    weight: Floats

    def __post_init__(self) -> None:
        n = {len(self.source), len(self.target), len(self.weight)}
        if len(n) > 1:
            raise UnmaskError(f"there are {max(n)} and {min(n)} entries, expected a source, target and weight each")
        if not len(self.source):
            raise UnmaskError("the similarity has no pairs, expected at least one; omit the similarity")
        if not np.isfinite(self.weight).all():
            raise UnmaskError("a similarity weight is not a finite number; correct it, or remove its row")
        key = self.source.astype(np.int64) * 2**31 + self.target
        if len(distinct(key)) < len(key):
            raise UnmaskError("the similarity has a pair twice, expected each pair once; remove one of the rows")

    def __repr__(self) -> str:
        return f"Similarity({len(self.source)} pairs)"

    def reversed(self) -> Similarity:
        """Return the same pairs from target to source."""
        return Similarity(self.target, self.source, self.weight)

    def renumbered(self, source: NDArray[np.integer], target: NDArray[np.integer]) -> Similarity:
        """Return the similarity after node `old` became source[old] or target[old]."""
        return Similarity(source[self.source], target[self.target], self.weight)

    @classmethod
    def read(cls, auxiliary: SocialGraph, release: SocialGraph, path: str | os.PathLike[str]) -> Similarity:
        """Read a text file of three columns: label in the auxiliary graph, label in the release, weight.

        The first line is a header if its weight is not a number. Lines with a label that is in neither graph are
        ignored, because edge lists omit people without an edge.
        """
        people, names, weight = _columns(Path(os.fspath(path)))
        source, target = auxiliary.nodes_called(people), release.nodes_called(names)
        is_known = (source >= 0) & (target >= 0)
        if not is_known.any():
            raise UnmaskError(
                f"none of {len(people)} rows of the similarity has a label of the adversary's network and then one of "
                "the release; check the labels and the order of the columns"
            )
        return cls(source[is_known], target[is_known], np.array(weight, dtype=np.float64)[is_known])

    def ratios(self, n_source: int, n_target: int, seeds: tuple[NDArray[np.integer], NDArray[np.integer]]) -> Ratios:
        """Return the log-likelihood ratio of "same person" against "different people" for each pair, fitted to the
        seeds.

        r(u, c) = (targets more similar to u than c + half of those as similar, c included) / n_target

        For different people, r is uniform. For the same person, r has the modeled density a r^(a - 1), 0 < a <= 1.
        Hence

            log-likelihood ratio of a pair: log a + (a - 1) log r
            a = min(1, (n + 5) / (5 - sum of log r over the n seeds))

        A useless similarity has a = 1, and all ratios are exactly 0. Source nodes without a pair have ratio 0, and
        seeds among them do not count.
        """
        for nodes, n_nodes in ((self.source, n_source), (self.target, n_target)):
            check_nodes(nodes, n_nodes, "nodes of the similarity")
        ranked = _rank_pairs(self, n_source, n_target)
        has_pairs = np.diff(ranked.indptr)[seeds[0]] > 0
        rank = ranked.rank_of(seeds[0][has_pairs], seeds[1][has_pairs])
        return replace(
            ranked, exponent=float(min(1.0, (len(rank) + _PRIOR_SEEDS) / (_PRIOR_SEEDS - np.log(rank).sum())))
        )


@dataclass(frozen=True, eq=False)
class Ratios:
    """Log-likelihood ratios of a similarity, see `Similarity.ratios`.

    indptr     : (n_source + 1,) the pairs of node u are the entries indptr[u]..indptr[u + 1]
    candidate  : (n_pairs,) target node of each pair, most similar first
    rank       : (n_pairs,) r of each pair
    depth      : (n_pairs,) number of target nodes that are at least as similar, including the candidate
    n_target   : number of target nodes
    exponent   : a
    """

    indptr: Integers
    candidate: Integers
    rank: Floats
    depth: Integers
    n_target: int
    exponent: float = 1.0

    @classmethod
    def empty(cls, n_source: int, n_target: int) -> Ratios:
        """Return ratios without pairs: each pair of nodes has ratio 0."""
        no_pairs = np.zeros(0, dtype=np.int64)
        return cls(np.zeros(n_source + 1, dtype=np.int64), no_pairs, np.zeros(0), no_pairs, n_target)

    @property
    def row(self) -> Integers:
        """Return (n_pairs,) the source node of each pair."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    @property
    def value(self) -> Floats:
        """Return (n_pairs,) the ratio of each pair."""
        return self._ratio(self.rank)

    @cached_property
    def unlisted(self) -> Floats:
        """Return (n_source,) the ratio of each source node with its target nodes that have no weight."""
        n_listed = np.diff(self.indptr)
        return np.where(n_listed > 0, self._ratio(self._last_rank), 0.0)

    def look_up(self, source: NDArray[np.integer], target: NDArray[np.integer]) -> Floats:
        """Return the ratios of these pairs."""
        return np.where(np.diff(self.indptr)[source] > 0, self._ratio(self.rank_of(source, target)), 0.0)

    def rank_of(self, source: NDArray[np.integer], target: NDArray[np.integer]) -> Floats:
        """Return r of these pairs."""
        order, key = self._keys
        if not len(key):
            return np.asarray(self._last_rank[source])
        wanted = np.asarray(source, dtype=np.int64) * self.n_target + target
        position = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        return np.where(key[position] == wanted, self.rank[order[position]], self._last_rank[source])

    def nearest(self, k: int) -> Booleans:
        """Return (n_pairs,) a mask of the k most similar pairs of each source node; pairs tied beyond k are excluded.

        The mask is empty if the similarity is weak, with an exponent of 0.8 or more.
        """
        return (self.depth <= k) & (self.exponent < _MAX_EXPONENT)

    @cached_property
    def _keys(self) -> tuple[Integers, Integers]:
        """Return the order of the pairs by source and target, and the sorted keys."""
        key = self.row * self.n_target + self.candidate
        order = np.argsort(key)
        return order, key[order]

    @property
    def _last_rank(self) -> Floats:
        """Return (n_source,) r of target nodes without a weight: the middle of the ranks after all pairs."""
        return (np.diff(self.indptr) + self.n_target) / (2.0 * self.n_target)

    def _ratio(self, rank: Floats) -> Floats:
        ratio: Floats = np.log(self.exponent) + (self.exponent - 1.0) * np.log(rank)
        return ratio


def _rank_pairs(similarity: Similarity, n_source: int, n_target: int) -> Ratios:
    """Return the pairs by descending weight; equal weights have equal ranks."""
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
    """Return the three columns of a text file, without its header."""
    with temporary_folder(None) as folder:
        file = prepare_file(path, folder)
        if file.text is None:
            raise UnmaskError(f"{path.name!r} is not a text file, expected a .csv, .tsv or .txt with three columns")
        rows = list(iterate_rows(best_dialect(file.text)))
    if len(rows[0]) != 3:
        raise UnmaskError(
            f"the rows of {path.name!r} have {len(rows[0])} cells, expected three: label in the adversary's network, "
            "label in the release, similarity weight"
        )
    header = math.isnan(_weight(rows[0][2]))
    weights = [_weight(row[2]) for row in rows[header:]]
    if not all(map(math.isfinite, weights)):
        row_number = 1 + header + [math.isfinite(weight) for weight in weights].index(False)
        raise UnmaskError(
            f"row {row_number} of {path.name!r} has no finite number in its third cell; correct or remove the row"
        )
    return [row[0] for row in rows[header:]], [row[1] for row in rows[header:]], weights


def _weight(text: str) -> float:
    """Return the number in a text, nan if it is not a number."""
    try:
        return float(text)
    except ValueError:
        return math.nan


Seeds = tuple[NDArray[np.integer], NDArray[np.integer]]
"""People who are re-identified before the attack: source nodes, and the target node of each."""


@dataclass(frozen=True, eq=False)
class Auxiliary:
    """The knowledge of an attack on a graph: `attack(release, Auxiliary(graph, seeds))`.

    graph : the adversary's graph; its nodes are the targets of the belief
    seeds : (n,) source nodes and (n,) target nodes: the adversary believes that seeds[0][i] and seeds[1][i] are one
            person
    similarity : similarity of source nodes and target nodes, independent of edges; only some attacks use it

    >>> path = SocialGraph.from_edges([0, 1], [1, 2])
    >>> Auxiliary(path, (np.array([0]), np.array([2])))
    Auxiliary(SocialGraph(3 nodes, 2 edges), 1 seeds)
    """

    graph: SocialGraph
    seeds: Seeds
    similarity: Similarity | None = None

    def __repr__(self) -> str:
        besides = "" if self.similarity is None else f", {self.similarity!r}"
        return f"Auxiliary({self.graph!r}, {len(self.seeds[0])} seeds{besides})"

    def reversed(self, release: SocialGraph) -> Auxiliary:
        """Return the knowledge with exchanged graphs: the release is the known graph, and this graph is attacked."""
        similarity = None if self.similarity is None else self.similarity.reversed()
        return Auxiliary(release, (self.seeds[1], self.seeds[0]), similarity)

    def ratios(self, release: SocialGraph) -> Ratios | None:
        """Return the likelihood ratios of the similarity, fitted to the seeds; None if it carries no information."""
        if self.similarity is None:
            return None
        ratios = self.similarity.ratios(self.graph.n_nodes, release.n_nodes, self.seeds)
        return ratios if ratios.exponent < 1 else None
