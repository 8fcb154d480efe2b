"""Rematch: an attack that recomputes its whole mapping from the log-odds of all matches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.graphs.attacks._kernels import count_common, find_rivals, renumber, renumber_image
from unmask.graphs.attacks._percolation import choose_greedily
from unmask.graphs.attacks._rematch import (
    COUNT,
    LOWEST,
    Best,
    Scratch,
    SimilarPairs,
    Sources,
    Targets,
    score_candidates,
)
from unmask.graphs.attacks._structs import GRID, NEGLIGIBLE
from unmask.graphs.attacks.base import Count, Matching, make_matching, seed_images, shared
from unmask.graphs.graph import SocialGraph
from unmask.graphs.similarity import Auxiliary, Ratios, candidate_count
from unmask.ranges import CheckedParameters, Range

TIE = 1e-3
"""Log-odds closer than this are tied for any margin: the grid rounds equal values apart by 1e-5 for each witness."""

_PRESERVED_RANGE = (0.05, 0.95)  # a share from few pairs can be 0 or 1, and a single edge would then decide every match
_DISPERSION_RANGE = (0.1, 10.0)

Assignment = Literal["mutual", "greedy"]

_STABLE_SHARE = 0.05


@dataclass(frozen=True)
class Rematch(CheckedParameters):
    """Match by likelihood: each step recomputes all matches except seeds from the matches of the step before.

    A witness of source node u and target node c is a mapped neighbor x of u whose image y is a neighbor of c. If u and
    c are the same person, an edge u-x occurs as c-y with probability s. Otherwise it occurs with probability d_y d_c /
    2m. Hence

        log-odds(u, c) = sum over witnesses of log(s 2m / (d_y d_c))
                         + (mapped neighbors of u that are not witnesses) log(1 - s)
                         + (images next to c that are not images of witnesses) log(1 - s')
                         + log(normal density of r_c - b r_u, variance phi (b r_u + r_c + 1)) - log(share of d_c)
                         - log(number of target nodes)

    d is the degree in the target, m the number of its edges, and r the number of neighbors that are not mapped. The
    share of d_c is that of target nodes with the same degree. The other parameters are estimated from the current
    mapping: s and s' are the shares of edges among mapped people that the other graph has, too (within .05 and .95), b
    = sum r_c / sum r_u, and phi is the dispersion of the difference (within .1 and 10).

    If the adversary has a similarity, its log-likelihood ratio is added (`Similarity.ratios`), and the 30 to 100 most
    similar target nodes (`Ratios.nearest`) are candidates even without a witness.

    Two nodes are matched if each is the best candidate of the other, by at least `margin` over the next best, with
    log-odds of at least `floor`. Ties are not matched, and therefore no structural twins. Seeds are never revised and
    are no candidates for other nodes.

    The belief has status `scores`: p(c) = exp(log-odds) / (1 + sum of exp(log-odds)), given the final mapping. The 1
    represents "none of the candidates". The rest of the probability is shared by all other target nodes. Seeds are
    certain. The belief would be a probability if edges were kept at random. On real networks it is overconfident,
    especially for people without a counterpart; `calibrated` corrects this.

    Work: at most about `reach` visits for each node and step.

    Parameters
    ----------
    margin : float
        Smallest difference of log-odds to the next best candidate, at least 0.
    floor : float
        Smallest log-odds of a match, -inf for none. At 0, a match must be at least as likely as not.
    steps : int
        Largest number of steps. The attack stops earlier if the mapping does not change. It may oscillate between near
        ties.
    assignment : Assignment
        `mutual`, or `greedy`: each step repeatedly maps the mutual best pairs of the remaining nodes. Greedy matches
        more nodes, especially if nearly all people are in both graphs, and more of its matches are wrong.
    forced : bool
        Map all nodes: the nodes left by the last step are matched one to one, by decreasing log-odds. Exact ties are
        broken by a permutation of the node numbers.
    reach : int
        Largest number of proposed candidates of a node, with repetitions. Mapped neighbors propose the neighbors of
        their images, starting with the image of the smallest degree, which always does. The remaining neighbors, hubs,
        are still witnesses of proposed candidates. A larger reach costs more and hardly changes the result.
    listed : int
        Largest number of candidates of a node in the belief. Candidates that tie at this limit, or whose odds are below
        exp(-40) of the best, are left out.
    progress : callable or None
        Called with the mapping, an array of target nodes and -1, of the first step that changes less than 5 % of it, or
        of the last step.

    Notes
    -----
    Assumes: edges are kept independently, and edges between strangers depend on their degrees only.

    Fails when: communities make edges between strangers more likely than their degrees do. The attack is then
    overconfident, mostly about people without a counterpart.

    References
    ----------
    The likelihood of a match as in P. Pedarsani, D. Figueiredo & M. Grossglauser, "A Bayesian method for matching two
    similar graphs without seeds", Allerton 2013, here with seeds, chance edges by degree, and revision.

    Examples
    --------
    >>> from unmask.graphs.graph import SocialGraph
    >>> kite = SocialGraph.from_edges([0, 0, 1, 1, 2, 3, 4], [1, 2, 2, 3, 3, 4, 5])
    >>> Rematch()(kite, Auxiliary(kite, (np.array([0, 1]), np.array([0, 1])))).mapping
    array([0, 1, 2, 3, 4, 5], dtype=int32)
    """

    margin: Annotated[float, Range(0)] = 0.5
    floor: float = -4.0
    steps: Count = 10
    assignment: Assignment = "mutual"
    forced: bool = False
    reach: Count = 500
    listed: Count = 10
    progress: Callable[[NDArray[np.int32]], None] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.margin < np.inf and self.floor < np.inf):
            raise UnmaskError(f"margin is {self.margin} and floor is {self.floor}, expected log-odds below infinity")

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary, *, rng: np.random.Generator | None = None
    ) -> Matching:
        """Return the belief about each node of the adversary's graph."""
        images = seed_images(release, knowledge)
        problem = _Problem.from_graphs(knowledge.graph, release, knowledge.ratios(release))
        seed = problem.inside(*images)
        unforced = replace(self, forced=False, progress=None)
        mapping, sweeps, visits = unforced._find_mapping(
            release, knowledge, problem=problem, seed=seed, progress=self.progress
        )
        result, walked = _score_candidates(problem, seed, mapping, self.reach, width=self.listed + 1, low=-np.inf)
        final = _fill_matches(result, mapping) if self.forced else mapping
        entries = _entries(problem, seed, mapping, result)
        del result
        return make_matching(
            problem.outside(final.image),
            entries,
            n_target=release.n_nodes,
            sweeps=sweeps,
            visits=visits + walked,
            attack=repr(self),
        )

    @shared
    def _find_mapping(
        self,
        release: SocialGraph,
        knowledge: Auxiliary,
        *,
        problem: _Problem,
        seed: _Mapping,
        progress: Callable[[NDArray[np.int32]], None] | None,
    ) -> tuple[_Mapping, list[int], int]:
        """Return the mapping after the last step, the number of matches changed in each step, and the visits.

        problem, seed : the release and the knowledge in internal node numbers
        """
        earlier, previous, mapping = seed, seed, seed
        sweeps: list[int] = []
        visits, lowest = 0, self.floor - self.margin
        while len(sweeps) < self.steps and (not sweeps or sweeps[-1]):
            if len(sweeps) > 1 and np.array_equal(mapping.image, earlier.image):
                new, walked = previous, 0  # the mapping oscillates between two states: the next one is known
            else:
                result, walked = _score_candidates(
                    problem, seed, mapping, self.reach, width=self.listed + 1, low=lowest
                )
                new = self._assigned(result, seed)
                del result  # free memory before the next step: 12 bytes for each listed candidate
            sweeps.append(int(np.count_nonzero(new.image != mapping.image)))
            earlier, previous, mapping, visits = previous, mapping, new, visits + walked
            is_stable = sweeps[-1] < _STABLE_SHARE * np.count_nonzero(mapping.image >= 0)
            if progress is not None and (is_stable or len(sweeps) == self.steps):
                progress(problem.outside(mapping.image))
                progress = None
        return mapping, sweeps, visits

    def _assigned(self, result: Best, seed: _Mapping) -> _Mapping:
        """Return the seeds and the mutual best pairs, for the greedy assignment repeatedly of the remaining nodes."""
        image, inverse = seed.image.copy(), seed.inverse.copy()
        node, candidate, value = _list_entries(result)
        for _ in range(1 if self.assignment == "mutual" else len(image)):
            is_free = (image[node] < 0) & (inverse[candidate] < 0)
            node, candidate, value = node[is_free], candidate[is_free], value[is_free]
            lead = value - find_rivals(node, candidate, value)
            is_mutual = (value >= self.floor) & (lead >= max(self.margin, TIE))
            if not is_mutual.any():
                break
            image[node[is_mutual]], inverse[candidate[is_mutual]] = candidate[is_mutual], node[is_mutual]
        return _Mapping(image, inverse)


def log_odds(target: SocialGraph, auxiliary: SocialGraph, mapping: NDArray[np.integer], *, reach: int = 500) -> Floats:
    """Return the log-odds of each match of any mapping under the model of `Rematch`.

    The value is log(p / (1 - p)), natural logarithm. p is the model's probability of the match, given all other matches
    of the mapping. The alternatives are the other candidates of the source node and no match. (n_source,), -inf for an
    unmapped source node, finite otherwise. Seeds are scored like other matches.

    Parameters
    ----------
    target : SocialGraph
        The released graph.
    auxiliary : SocialGraph
        The adversary's graph.
    mapping : (auxiliary.n_nodes,) int array
        Target node of each auxiliary node, each at most once, -1 if unmapped.
    reach : int
        As in `Rematch`.

    Returns
    -------
    float64 array
        Natural log-odds of each match; -inf for unmapped nodes.

    Examples
    --------
    >>> from unmask.graphs.graph import SocialGraph
    >>> kite = SocialGraph.from_edges([0, 0, 1, 1, 2, 3, 4], [1, 2, 2, 3, 3, 4, 5])
    >>> right, swapped = np.array([0, 1, 2, 3, 4, -1]), np.array([0, 1, 2, 4, 3, -1])
    >>> bool(log_odds(kite, kite, right)[3] > log_odds(kite, kite, swapped)[3]), log_odds(kite, kite, right)[5]
    (True, np.float64(-inf))
    """
    mapped_to = np.asarray(mapping)
    if len(mapped_to) != auxiliary.n_nodes:
        raise UnmaskError(f"the mapping has {len(mapped_to)} rows, expected one for each of {auxiliary.n_nodes} nodes")
    sure = np.full(len(mapped_to), -np.inf)
    mapped = np.flatnonzero(mapped_to >= 0)
    if len(mapped):
        problem = _Problem.from_graphs(auxiliary, target)
        complete = problem.inside(*seed_images(target, Auxiliary(auxiliary, (mapped, mapped_to[mapped]))))
        free = _Mapping(np.full_like(complete.image, -1), np.full_like(complete.inverse, -1))
        result, _ = _score_candidates(problem, free, complete, reach, width=1, low=-np.inf)
        sure[problem.source.order] = result.image_odds - result.other_odds
    return sure


# --- internals: nodes are numbered by descending degree, so that hubs share cache lines -----------------------------


class _Mapping(NamedTuple):
    """image: (n_source,) int32 and inverse: (n_target,) int32, -1 if unmapped."""

    image: NDArray[np.int32]
    inverse: NDArray[np.int32]


class _Side(NamedTuple):
    """A renumbered graph: node i is node order[i] of the input, and number is the inverse."""

    order: Integers
    number: Integers
    indptr: Integers
    neighbor: NDArray[np.int32]

    @classmethod
    def from_graph(cls, graph: SocialGraph) -> _Side:
        order = np.argsort(-graph.degree, kind="stable")
        return cls(order, np.argsort(order), *renumber(graph.indptr, graph.neighbor, order))

    @property
    def degree(self) -> Integers:
        return np.diff(self.indptr)


class _Problem(NamedTuple):
    """Both graphs, and the similarity terms of the log-odds: for each source node, and for some pairs."""

    source: _Side
    target: _Side
    common: Floats
    similar_pairs: SimilarPairs

    @classmethod
    def from_graphs(cls, auxiliary: SocialGraph, release: SocialGraph, ratios: Ratios | None = None) -> _Problem:
        source, target = _Side.from_graph(auxiliary), _Side.from_graph(release)
        ratios = Ratios.empty(auxiliary.n_nodes, release.n_nodes) if ratios is None else ratios
        row = source.number[ratios.row]
        order = np.argsort(row, kind="stable")
        indptr = np.searchsorted(row[order], np.arange(auxiliary.n_nodes + 1))
        proposal = ratios.nearest(candidate_count(max(auxiliary.n_nodes, release.n_nodes)))
        bonus = ratios.value - ratios.unlisted[ratios.row]
        similar_pairs = SimilarPairs(
            indptr, target.number[ratios.candidate[order]].astype(np.int32), bonus[order], proposal[order]
        )
        return cls(source, target, ratios.unlisted[source.order], similar_pairs)

    def inside(self, image: NDArray[np.int32], inverse: NDArray[np.int32]) -> _Mapping:
        """Return the mapping in internal node numbers."""
        source, target = self.source, self.target
        return _Mapping(
            renumber_image(image[source.order], target.number), renumber_image(inverse[target.order], source.number)
        )

    def outside(self, image: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the image of each source node in the node numbers of the input."""
        return renumber_image(image[self.source.number], self.target.order)


class _Model(NamedTuple):
    """Parameters that the adversary estimates from the mapping, see `Rematch`: s, s', b and phi."""

    preserved: float
    preserved_back: float
    ratio: float
    spread: float

    @property
    def misses(self) -> tuple[float, float]:
        """Return log(1 - s) and log(1 - s'), the log-odds terms of a neighbor that is not a witness."""
        return float(np.log1p(-self.preserved)), float(np.log1p(-self.preserved_back))


def _fit_model(problem: _Problem, mapping: _Mapping, n_known: Integers, target_known: Integers) -> _Model:
    """Fit the model to the mapped pairs; `n_known` and `target_known` count the mapped neighbors of each node.

    With r the number of unmapped neighbors: b = (1 + sum of r_c) / (1 + sum of r_u), and phi is the mean of
    (r_c - b r_u)^2 / (b r_u + r_c + 1). Edges of both graphs count once for each end.
    """
    source, target = problem.source, problem.target
    x = np.flatnonzero(mapping.image >= 0)
    y = mapping.image[x]
    n_preserved = int(
        count_common((source.indptr, source.neighbor), (target.indptr, target.neighbor), mapping.image).sum()
    )
    n_left, target_left = (source.degree - n_known)[x], (target.degree - target_known)[y]
    ratio = (target_left.sum() + 1) / (n_left.sum() + 1)
    squares, expected = ((target_left - ratio * n_left) ** 2).sum(), (ratio * n_left + target_left + 1).sum()
    return _Model(
        preserved=float(np.clip((n_preserved + 1) / (n_known[x].sum() + 2), *_PRESERVED_RANGE)),
        preserved_back=float(np.clip((n_preserved + 1) / (target_known[y].sum() + 2), *_PRESERVED_RANGE)),
        ratio=float(ratio),
        spread=float(np.clip(squares / expected, *_DISPERSION_RANGE)),
    )


def _witness_weights(model: _Model, degree: NDArray[np.integer], n_ends: int) -> Floats:
    """Return the contribution of a witness to the log-odds, by degree of its image, without the log degree of c.

    The value is log(s 2m / d_y) - log(1 - s) - log(1 - s'), rounded, in units of 1 / GRID. The subtracted terms cancel
    those of neighbors that are not witnesses. n_ends : 2m, twice the number of target edges
    """
    miss, target_miss = model.misses
    weight: Floats = np.log(model.preserved * max(n_ends, 1) / degree) - miss - target_miss
    return np.rint(weight * GRID)


def _score_candidates(
    problem: _Problem, seed: _Mapping, mapping: _Mapping, reach: int, *, width: int, low: float
) -> tuple[Best, int]:
    """Return the best candidates of each source node given a mapping, and the number of visits.

    Candidates that tie across the limit are omitted, so node numbers do not decide which are listed.
    """
    sources, targets, scratch, spread = _prepare_loop(problem, seed, mapping)
    result = Best.empty(len(mapping.image), width)
    visits = score_candidates(
        sources, targets, problem.similar_pairs, mapping.image, spread, reach, max(low, LOWEST), scratch, result
    )
    is_negligible = result.value < result.value[:, :1] - NEGLIGIBLE
    is_dropped = is_negligible | (result.value <= result.value[:, -1:] + TIE)
    result.candidate[is_dropped], result.value[is_dropped] = -1, -np.inf
    return result, visits


def _prepare_loop(problem: _Problem, seed: _Mapping, mapping: _Mapping) -> tuple[Sources, Targets, Scratch, float]:
    """Return both sides with the terms of their nodes, scratch memory, and the spread."""
    source, target = problem.source, problem.target
    indptr, images = _map_neighbors(source, mapping.image)
    n_known, target_known = np.diff(indptr), np.diff(_map_neighbors(target, mapping.inverse)[0])
    model = _fit_model(problem, mapping, n_known, target_known)
    degree = np.maximum(target.degree, 1)
    share = np.bincount(degree)[degree] / len(degree)
    miss, target_miss = model.misses
    base = n_known * miss - np.log(len(degree)) + problem.common
    target_base = target_known * target_miss - np.log(share)
    base[seed.image >= 0], target_base[seed.inverse >= 0] = np.nan, np.nan
    node = np.column_stack((target_base, target.degree - target_known, np.log(degree)))
    weight = _witness_weights(model, degree, len(target.neighbor)).astype(np.int64) + (1 << COUNT)
    return (
        Sources(indptr, images, base, (source.degree - n_known).astype(np.float64) * model.ratio),
        Targets(target.indptr, target.neighbor, node, weight),
        Scratch.for_nodes(node, target_known),
        model.spread,
    )


def _map_neighbors(side: _Side, image: NDArray[np.int32]) -> tuple[Integers, NDArray[np.int32]]:
    """Return the images of the mapped neighbors of each node, in compressed rows."""
    images = image[side.neighbor]
    is_mapped = images >= 0
    return np.append(0, np.cumsum(is_mapped))[side.indptr], images[is_mapped]


def _list_entries(result: Best) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Return the nodes, candidates and values of all listed pairs."""
    is_listed = result.candidate >= 0
    node = np.repeat(np.arange(len(is_listed), dtype=np.int32), is_listed.sum(axis=1))
    return node, result.candidate[is_listed], result.value[is_listed]


def _fill_matches(result: Best, mapping: _Mapping) -> _Mapping:
    """Return the mapping after the remaining nodes are matched, best pairs first; exact ties in pseudo-random order."""
    node, candidate, value = _list_entries(result)
    order = np.lexsort((np.random.default_rng([len(node), len(mapping.image)]).permutation(len(node)), -value))
    image, inverse = mapping.image.copy(), mapping.inverse.copy()
    choose_greedily(np.arange(len(node) + 1), node[order], candidate[order], image, inverse)
    return _Mapping(image, inverse)


def _entries(problem: _Problem, seed: _Mapping, mapping: _Mapping, result: Best) -> tuple[Integers, Integers, Floats]:
    """Return (row, candidate, log-probability) of listed candidates, all matches, and seeds (certain)."""
    row, candidate, value = _list_entries(result)
    is_alternative = candidate != mapping.image[row]
    seeds = np.flatnonzero(seed.image >= 0)
    mapped = np.flatnonzero((mapping.image >= 0) & (seed.image < 0))
    total = np.logaddexp(result.image_odds, result.other_odds)
    log_p = np.concatenate(
        (
            value[is_alternative] - total[row[is_alternative]],
            result.image_odds[mapped] - total[mapped],
            np.zeros(len(seeds)),
        )
    )
    row = np.concatenate((row[is_alternative], mapped, seeds))
    candidate = np.concatenate((candidate[is_alternative], mapping.image[mapped], seed.image[seeds]))
    return problem.source.order[row], problem.target.order[candidate], np.minimum(log_p, 0.0)
