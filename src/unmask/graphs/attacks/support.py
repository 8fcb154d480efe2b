"""Support of `Climb`: a small set of node pairs that contains most of the right ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import distinct
from unmask.graphs.attacks._climb import Leaders, keep_nearest
from unmask.graphs.attacks.base import Matching, seed_images, shared
from unmask.graphs.attacks.rematch import Rematch
from unmask.graphs.graph import SocialGraph
from unmask.graphs.similarity import Auxiliary, Ratios, candidate_count

Pairs = tuple[Integers, Integers]
"""Source nodes, and the target node of each."""

LISTED = 15
"""Number of candidates of each node from each run of `Rematch`."""

_MAX_COMPARED = 2 * 10**8  # pairs of profiles; on Epinions more comparisons did not pay
_LANDMARKS, _RESTART, _STEPS = 256, 0.15, 12
_SEEDS_PER_BLOCK, _PAIRS_PER_BLOCK = 32, 2**23
_TIE = 1e-6  # rounding error of products of 32-bit unit vectors


@dataclass(frozen=True, eq=False)
class Support:
    """Node pairs that may be mapped to each other, with both graphs and the seeds; several climbs can share it.

    Parameters
    ----------
    source : SocialGraph
        The adversary's graph.
    target : SocialGraph
        The release.
    image : (n_source,) int32 array
        Target node of each seed, -1 for other nodes.
    indptr : (n_source + 1,) int64 array
        The candidates of node u are candidate[indptr[u]:indptr[u + 1]].
    candidate : (n_pairs,) int32 array
        Target node of each pair, ascending for each source node; a seed has its image as only candidate.
    ratio : (n_pairs,) array or None
        Log-likelihood ratios of the adversary's similarity; None if it carries no information.

    Examples
    --------
    >>> kite = SocialGraph.from_edges([0, 0, 1, 2], [1, 2, 2, 3])
    >>> Support.of(kite, Auxiliary(kite, (np.array([0, 1]), np.array([0, 1]))))
    Support(4 pairs of 2 free nodes, 2 seeds)
    """

    source: SocialGraph
    target: SocialGraph
    image: NDArray[np.int32]
    indptr: Integers
    candidate: NDArray[np.int32]
    ratio: Floats | None = None

    def __len__(self) -> int:
        """Return the number of pairs of free nodes."""
        return len(self.candidate) - int(np.count_nonzero(self.image >= 0))

    def __repr__(self) -> str:
        nodes, seeds = np.count_nonzero(np.diff(self.indptr)), np.count_nonzero(self.image >= 0)
        return f"Support({len(self)} pairs of {nodes - seeds} free nodes, {seeds} seeds)"

    def take(self, chosen: Booleans) -> Support:
        """Return the support with a subset of its pairs. chosen : (n_pairs,) mask"""
        indptr = np.searchsorted(self.row[chosen], np.arange(len(self.image) + 1))
        ratio = None if self.ratio is None else self.ratio[chosen]
        return replace(self, indptr=indptr, candidate=self.candidate[chosen], ratio=ratio)

    @property
    def row(self) -> Integers:
        """Return (n_pairs,) the source node of each pair."""
        return np.repeat(np.arange(len(self.image)), np.diff(self.indptr))

    @classmethod
    @shared
    def of(cls, release: SocialGraph, knowledge: Auxiliary, *, walks: tuple[Walks, Walks] | None = None) -> Support:
        """Return the union of three sets of pairs of free nodes: listed by `Rematch`, near profiles, and similar nodes.

        * Rematch: the best candidates in either direction.
        * Profiles: entry i of the profile of node u is log(1 + v / deg(u) * 2m / 10). v is the share of visits to u in
        random
          walks from seed i, with restart probability 0.15 and 12 steps, for the 256 seeds of highest degree. Profiles
          are centered and scaled to length 1. Each source node gets the k target nodes with the largest product, and
          each target node k / 3 source nodes. k = 100 up to 1,200 nodes, 50 up to 4,000, and 30 above. Ties across the
          limit are omitted. Profiles are not compared beyond 2 * 10^8 pairs of free nodes.
        * Similarity: the k most similar target nodes of each source node (`Ratios.nearest`).

        walks : cached walks over the adversary's graph and the release; None: start without a cache
        """
        image, inverse = seed_images(release, knowledge)
        free = np.flatnonzero((image < 0) & (knowledge.graph.degree > 0))
        target_free = np.flatnonzero((inverse < 0) & (release.degree > 0))
        seed = np.flatnonzero(image >= 0)
        forward, backward = rematched(release, knowledge)
        ratios = knowledge.ratios(release)
        walks = walks or (Walks(knowledge.graph), Walks(release))
        near = _find_similar_profiles(release, knowledge, (free, target_free), walks)
        parts = [
            _list_pairs(forward),
            _list_pairs(backward)[::-1],
            near,
            _list_similar(ratios, max(len(image), release.n_nodes)),
        ]
        u, c = (np.concatenate(side) for side in zip(*parts, strict=True))
        is_free = np.isin(u, free) & np.isin(c, target_free)
        u, c = np.append(u[is_free], seed), np.append(c[is_free], image[seed])
        pair = distinct(u.astype(np.int64) * release.n_nodes + c)
        u, c = np.divmod(pair, release.n_nodes)
        indptr = np.searchsorted(u, np.arange(len(image) + 1))
        ratio = None if ratios is None else ratios.look_up(u, c)
        return cls(knowledge.graph, release, image, indptr, c.astype(np.int32), ratio)


@shared
def rematched(
    release: SocialGraph, knowledge: Auxiliary, *, progress: Callable[[NDArray[np.int32]], None] | None = None
) -> tuple[Matching, Matching]:
    """Return the beliefs of forced `Rematch` from source to target and from target to source.

    Six steps suffice for the lists of a support; later ones change little. progress : see `Rematch`, of the first one
    """
    rematch = Rematch(forced=True, listed=LISTED, steps=6)
    forward = replace(rematch, progress=progress)(release, knowledge)
    return forward, rematch(knowledge.graph, knowledge.reversed(release))


def _list_similar(ratios: Ratios | None, n_nodes: int) -> Pairs:
    """Return the most similar pairs."""
    if ratios is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    near = ratios.nearest(candidate_count(n_nodes))
    return ratios.row[near], ratios.candidate[near]


def _list_pairs(belief: Matching) -> Pairs:
    return np.repeat(np.arange(belief.n_observations), np.diff(belief.indptr)), belief.candidate.astype(np.int64)


# --- profiles -------------------------------------------------------------------------------------------------------


def _find_similar_profiles(
    release: SocialGraph, knowledge: Auxiliary, nodes: Pairs, walks: tuple[Walks, Walks]
) -> Pairs:
    """Return pairs of free nodes with near profiles. nodes : free source nodes, and free target nodes"""
    free, target_free = nodes
    if not 0 < len(free) * len(target_free) <= _MAX_COMPARED:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    seeds = _landmarks(release, knowledge)
    profile, target_profile = (side.profiles(seed) for side, seed in zip(walks, seeds, strict=True))
    k = candidate_count(max(knowledge.graph.n_nodes, release.n_nodes))
    (u, c), (c_back, u_back) = nearest(profile[free], target_profile[target_free], k, k // 3)
    return free[np.append(u, u_back)], target_free[np.append(c, c_back)]


def _landmarks(release: SocialGraph, knowledge: Auxiliary) -> Pairs:
    """Return the seeds of highest degree: by product of both degrees, then by source degree."""
    source_seeds, target_seeds = (np.asarray(side, dtype=np.int64) for side in knowledge.seeds)
    degree, target_degree = knowledge.graph.degree[source_seeds], release.degree[target_seeds]
    first = np.lexsort((-degree, -degree * target_degree))[:_LANDMARKS]
    return source_seeds[first], target_seeds[first]


class Walks:
    """Random walks over a graph, cached by seed, because rounds of an attack share most seeds."""

    def __init__(self, graph: SocialGraph) -> None:
        share = 1.0 / np.maximum(graph.degree, 1)
        self._share, self._step = share, scipy.sparse.diags_array(share) @ graph.adjacency().astype(np.float64)
        self._scale, self._column = 2 * graph.n_edges / 10, dict[int, NDArray[np.float32]]()

    def profiles(self, seeds: Integers) -> NDArray[np.float32]:
        """Return (n_nodes, n_seeds) the profiles of `Support.of`."""
        new = np.array([seed for seed in seeds.tolist() if seed not in self._column], dtype=np.int64)
        for start in range(0, len(new), _SEEDS_PER_BLOCK):
            batch = new[start : start + _SEEDS_PER_BLOCK]
            visits = np.log1p(self._visits(batch) * self._scale)
            self._column |= zip(batch.tolist(), (visits - visits.mean(axis=0)).T.astype(np.float32), strict=True)
        profile = np.column_stack([self._column[seed] for seed in seeds.tolist()])
        profile /= np.maximum(np.linalg.norm(profile, axis=1, keepdims=True), np.finfo(np.float32).tiny)
        return profile

    def _visits(self, seeds: Integers) -> Floats:
        """Return (n_nodes, n_seeds) the share of visits of the walks from each seed, divided by the degree of the
        node.
        """
        visits = start = np.zeros((len(self._share), len(seeds)))
        start[seeds, np.arange(len(seeds))] = self._share[seeds]
        for _ in range(_STEPS):
            visits = _RESTART * start + (1 - _RESTART) * (self._step @ visits)
        return visits


def nearest(
    profile: NDArray[np.float32], target_profile: NDArray[np.float32], k: int, k_back: int
) -> tuple[Pairs, Pairs]:
    """Return rows and the k target rows with the largest product; then target rows and their k_back best rows."""
    rows, columns = _leaders(len(profile), k), _leaders(len(target_profile), k_back)
    block = max(1, _PAIRS_PER_BLOCK // len(target_profile))
    for start in range(0, len(profile), block):
        keep_nearest(profile[start : start + block] @ target_profile.T, start, rows, columns)
    return _drop_ties(*rows), _drop_ties(*columns)


def _leaders(n: int, k: int) -> Leaders:
    """Return no leaders. Values have 64 bits, because other loops insert such values with the same compiled code."""
    return np.full((n, k + 1), -1, dtype=np.int32), np.full((n, k + 1), -np.inf)


def _drop_ties(node: NDArray[np.int32], exact: Floats) -> Pairs:
    """Return rows and their leaders, without the last leader and without ties with it."""
    value = exact.astype(np.float32)
    row, rank = np.nonzero(value > value[:, -1:] + _TIE)
    return row, node[row, rank].astype(np.int64)
