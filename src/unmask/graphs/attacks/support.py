"""The pairs of nodes among which `Climb` looks for a mapping: few of all, and most of the right ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.csr_rows import distinct
from unmask.graphs.attacks.base import Matching, seed_images
from unmask.graphs.attacks.rematch import Rematch
from unmask.graphs.auxiliary import Auxiliary
from unmask.graphs.graph import SocialGraph
from unmask.graphs.similarity import Ratios, proposed

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Source nodes and the target node of each."""

LISTED = 15
"""Candidates of a node that are taken from each run of `Rematch`."""

_MOST_COMPARED = 2 * 10**8  # pairs of profiles; on Epinions, beyond it, they cost more than they brought
_LANDMARKS, _RESTART, _STEPS = 256, 0.15, 12
_WALKED, _COMPARED = 32, 2**23  # seeds and pairs at a time
_TIE = 1e-6  # profiles are 32-bit numbers of length 1


@dataclass(frozen=True, eq=False)
class Support:
    """Pairs of nodes that may be mapped to each other, with the graphs and the seeds: what any number of climbs run on.

    Parameters
    ----------
    source : SocialGraph
        The adversary's graph.
    target : SocialGraph
        The release.
    image : (n_source,) int32 array
        The target node of each seed, -1 of all others.
    indptr : (n_source + 1,) int64 array
        The candidates of node u are candidate[indptr[u]:indptr[u + 1]].
    candidate : (n_pairs,) int32 array
        Target node of each pair, ascending within a node; a seed has its image alone.
    ratio : (n_pairs,) array or None
        Log-likelihood ratios of the adversary's similarity; None where it tells nothing.

    Examples
    --------
    >>> kite = SocialGraph.from_edges([0, 0, 1, 2], [1, 2, 2, 3])
    >>> Support.of(kite, Auxiliary(kite, (np.array([0, 1]), np.array([0, 1]))))
    Support(4 pairs of 2 free nodes, 2 seeds)
    """

    source: SocialGraph
    target: SocialGraph
    image: NDArray[np.int32]
    indptr: NDArray[np.int64]
    candidate: NDArray[np.int32]
    ratio: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        """Return pairs of free nodes."""
        return len(self.candidate) - int(np.count_nonzero(self.image >= 0))

    def __repr__(self) -> str:
        nodes, seeds = np.count_nonzero(np.diff(self.indptr)), np.count_nonzero(self.image >= 0)
        return f"Support({len(self)} pairs of {nodes - seeds} free nodes, {seeds} seeds)"

    def take(self, chosen: NDArray[np.bool_]) -> Support:
        """Return some of the pairs. chosen : (n_pairs,)"""
        indptr = np.searchsorted(self.row[chosen], np.arange(len(self.image) + 1))
        ratio = None if self.ratio is None else self.ratio[chosen]
        return replace(self, indptr=indptr, candidate=self.candidate[chosen], ratio=ratio)

    @property
    def row(self) -> NDArray[np.int64]:
        """Return (n_pairs,) the source node of each pair."""
        return np.repeat(np.arange(len(self.image)), np.diff(self.indptr))

    @classmethod
    def of(
        cls,
        release: SocialGraph,
        knowledge: Auxiliary,
        *,
        lists: tuple[Matching, Matching] | None = None,
        walks: tuple[Walks, Walks] | None = None,
    ) -> Support:
        """Return pairs of free nodes that `Rematch` lists in either direction, of near profiles, or similar.

        A profile of node u is log(1 + (share of visits to u of walks from seed i) / (degree of u) * 2m / 10) for up to
        256 seeds i, those of largest degree; the walks return to the seed with probability .15 and make 12 steps.
        Profiles are centered and of length 1, and the nearest have the largest product: k target nodes of each source
        node and k / 3 source nodes of each target node, k = 100 up to 1,200 nodes, 50 up to 4,000, 30 above. What ties
        across such a limit is left out together. Beyond 2 * 10^8 pairs of free nodes profiles are not compared. Of the
        adversary's similarity, the k most similar target nodes of each source node are taken (`Ratios.nearest`).

        lists : beliefs of `Rematch` from source to target and from target to source, of these graphs and seeds; None:
                they are made here, see `rematched`
        walks : of the adversary's graph and of the release, from other seeds; None: there were none
        """
        image, inverse = seed_images(release, knowledge)
        free = np.flatnonzero((image < 0) & (knowledge.graph.degree > 0))
        target_free = np.flatnonzero((inverse < 0) & (release.degree > 0))
        seed = np.flatnonzero(image >= 0)
        forward, backward = rematched(release, knowledge) if lists is None else lists
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


def rematch(
    release: SocialGraph, knowledge: Auxiliary, progress: Callable[[NDArray[np.int32]], None] | None = None
) -> Matching:
    """Return the belief of forced `Rematch`, with the lists that a support takes; after six steps it hardly changes.

    progress : see `progress` of `Rematch`
    """
    return Rematch(forced=True, listed=LISTED, steps=6, progress=progress)(release, knowledge)


def rematched(release: SocialGraph, knowledge: Auxiliary) -> tuple[Matching, Matching]:
    """Return the beliefs of `rematch` from source to target and from target to source."""
    return rematch(release, knowledge), rematch(knowledge.graph, knowledge.reversed(release))


def _list_similar(ratios: Ratios | None, n_nodes: int) -> Pairs:
    """Return the most similar pairs."""
    if ratios is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    near = ratios.nearest(proposed(n_nodes))
    return ratios.row[near], ratios.candidate[near]


def _list_pairs(belief: Matching) -> Pairs:
    return np.repeat(np.arange(belief.n_observations), np.diff(belief.indptr)), belief.candidate.astype(np.int64)


# --- profiles -------------------------------------------------------------------------------------------------------


def _find_similar_profiles(
    release: SocialGraph, knowledge: Auxiliary, nodes: Pairs, walks: tuple[Walks, Walks]
) -> Pairs:
    """Return pairs of free nodes whose profiles are near. nodes : free nodes of the source, and of the target"""
    free, target_free = nodes
    if not 0 < len(free) * len(target_free) <= _MOST_COMPARED:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    seeds = _landmarks(release, knowledge)
    profile, target_profile = (side.profiles(seed) for side, seed in zip(walks, seeds, strict=True))
    k = proposed(max(knowledge.graph.n_nodes, release.n_nodes))
    (u, c), (c_back, u_back) = nearest(profile[free], target_profile[target_free], k, k // 3)
    return free[np.append(u, u_back)], target_free[np.append(c, c_back)]


def _landmarks(release: SocialGraph, knowledge: Auxiliary) -> Pairs:
    """Return the seeds of largest degree: the product of both, then that in the source."""
    source_seeds, target_seeds = (np.asarray(side, dtype=np.int64) for side in knowledge.seeds)
    degree, target_degree = knowledge.graph.degree[source_seeds], release.degree[target_seeds]
    first = np.lexsort((-degree, -degree * target_degree))[:_LANDMARKS]
    return source_seeds[first], target_seeds[first]


class Walks:
    """Walks over a graph, each of whose seeds is started from once: rounds of attacks share most of their seeds."""

    def __init__(self, graph: SocialGraph) -> None:
        share = 1.0 / np.maximum(graph.degree, 1)
        self._share, self._step = share, scipy.sparse.diags_array(share) @ graph.adjacency().astype(np.float64)
        self._scale, self._column = 2 * graph.n_edges / 10, dict[int, NDArray[np.float32]]()

    def profiles(self, seeds: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return (n_nodes, n_seeds) see `Support.of`."""
        new = np.array([seed for seed in seeds.tolist() if seed not in self._column], dtype=np.int64)
        for start in range(0, len(new), _WALKED):
            batch = new[start : start + _WALKED]
            visits = np.log1p(self._visits(batch) * self._scale)
            self._column |= zip(batch.tolist(), (visits - visits.mean(axis=0)).T.astype(np.float32), strict=True)
        profile = np.column_stack([self._column[seed] for seed in seeds.tolist()])
        profile /= np.maximum(np.linalg.norm(profile, axis=1, keepdims=True), np.finfo(np.float32).tiny)
        return profile

    def _visits(self, seeds: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return (n_nodes, n_seeds) share of visits of the walks from each seed, divided by the degree of the node."""
        visits = start = np.zeros((len(self._share), len(seeds)))
        start[seeds, np.arange(len(seeds))] = self._share[seeds]
        for _ in range(_STEPS):
            visits = _RESTART * start + (1 - _RESTART) * (self._step @ visits)
        return visits


def nearest(
    profile: NDArray[np.float32], target_profile: NDArray[np.float32], k: int, k_back: int
) -> tuple[Pairs, Pairs]:
    """Return rows and the k target rows of largest product with each; then the k_back rows of each target row."""
    from unmask.graphs.attacks._climb import keep_nearest

    rows, columns = _leaders(len(profile), k), _leaders(len(target_profile), k_back)
    block = max(1, _COMPARED // len(target_profile))
    for start in range(0, len(profile), block):
        keep_nearest(profile[start : start + block] @ target_profile.T, start, rows, columns)
    return _untied(*rows), _untied(*columns)


def _leaders(n: int, k: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    return np.full((n, k + 1), -1, dtype=np.int32), np.full((n, k + 1), -np.inf, dtype=np.float32)


def _untied(node: NDArray[np.int32], value: NDArray[np.float32]) -> Pairs:
    """Return rows and their leaders but the last, and but those that tie with it."""
    row, rank = np.nonzero(value > value[:, -1:] + _TIE)
    return row, node[row, rank].astype(np.int64)
