"""Climb: an attack that maps all nodes simultaneously by graph matching on a sparse support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import segment_max, segment_sum
from unmask.graphs.attacks._climb import SLACK, make_room, sum_neighbors
from unmask.graphs.attacks._kernels import directed_rows, find_rivals, read_only, unsigned
from unmask.graphs.attacks._structs import Unsigned
from unmask.graphs.attacks.base import Matching, make_matching, shared
from unmask.graphs.attacks.support import Support
from unmask.graphs.graph import SocialGraph
from unmask.graphs.similarity import Auxiliary
from unmask.ranges import CheckedParameters, Range

STEPS = 25
"""Number of steps. More steps make the belief overconfident."""

MIN_SHARE = 0.03
"""Smallest share of a node that the belief lists."""

_ROUNDING_ERROR = 1e-5  # of a score, relative to the largest one of the node
_TIE = 1e-4  # rounding error of equal shares, such as the halves of a node that two twins hold


@dataclass(frozen=True)
class Climb(CheckedParameters):
    """Graph matching on a sparse support: Frank-Wolfe steps of falling temperature towards the mapping that keeps most
    edges.

    P(u, c) is the share of source node u that is assigned to target node c, for the pairs of `Support.of` only. It is 1
    for seeds, and initially equal for all candidates of a node. Each step t = 0..24 sums the support of the neighbors
    for each pair, and moves towards the assignment Q that follows from it:

        G(u, c) = sum over neighbors x of u and y of c of P(x, y) w_y, with w_y = max(.1, log(2m / (10 d_y)))
        H(u, c) = G(u, c) / (d_u d_c)^gamma
        s       = root mean square of (largest H of u) - H(u, c), over all pairs of free nodes
        Q       = exp((3 + t) H / s), scaled so that columns sum to at most 1 and rows to 1 (Sinkhorn, 20 sweeps)
        P       = P + 2 / (t + 3) (Q - P)

    d is the degree in the node's own graph, and m the number of edges of the target. Rare neighbors thus have more
    weight. Rows are scaled last: if more nodes compete for candidates than there are, rows sum to 1 and columns to
    more. A node is mapped if a candidate has more than half of it. Twins share a candidate and are not mapped. The
    belief is P, with status `scores`, and lists shares of at least .03.

    If both graphs are directed (`SocialGraph.way`), G is the sum over x and y that u and c link to, plus the sum over x
    and y that link to u and c.

    If the adversary has a similarity with log-likelihood ratio l(u, c), see `Similarity.ratios`, P starts with
    exp(8 l / scale), and Q contains exp((3 + t) (H / s + l / scale)), both scaled as above.

    After steps 4, 8 and 14, pairs are dropped if P is below 1 % of the largest share of u; the mean of s still counts
    them. Differences of H below 1e-5 of the largest of u count as ties, because they may be rounding errors.

    Work: each step visits the neighbors of c for each pair (u, c), and the candidates of each neighbor of u. All steps
    together need about 50 times pairs times mean degree, half of it for pairs that are dropped later. Memory: about 30
    bytes for each pair, besides the graphs.

    Parameters
    ----------
    gamma : float
        Discount of degrees, at least 0. Use 0 if the target is a small, thinned part of the source, .5 if edges between
        strangers depend on the degrees in both graphs, and .25 in between.
    scale : float
        Log-likelihood ratio of a similarity that has the same weight as s, above 0. A smaller value gives the
        similarity more weight. s is the deviation of the edge scores, so that edges always have the same weight, even
        if they are uninformative: if the graphs share a twentieth of their edges, scale 4 finds half a point less than
        the similarity alone, and scale 1 finds five points more.

    Notes
    -----
    Assumes: most right pairs are in the support, and people with an edge in one graph are more likely than strangers to
    have one in the other.

    Fails when: most people are in one graph only. They are mapped, too, and P does not show that they are absent.

    References
    ----------
    Frank-Wolfe for graph matching: J. T. Vogelstein et al., "Fast approximate quadratic programming for graph
    matching", PLoS ONE 2015; falling temperature: S. Gold & A. Rangarajan, "A graduated assignment algorithm for graph
    matching", PAMI 1996; projection by Sinkhorn: E. Onaran & S. Villar, "Projected power iteration for network
    alignment", SPIE 2017; walks from seeds as features: Z. Zeng et al., "PARROT", WWW 2023.

    Examples
    --------
    >>> from unmask.graphs.graph import SocialGraph
    >>> kite = SocialGraph.from_edges([0, 0, 1, 1, 2, 3, 4], [1, 2, 2, 3, 3, 4, 5])
    >>> Climb()(kite, Auxiliary(kite, (np.array([0, 1]), np.array([0, 1])))).mapping
    array([0, 1, 2, 3, 4, 5], dtype=int32)
    """

    gamma: Annotated[float, Range(0)] = 0.25
    scale: Annotated[float, Range(0, above=True)] = 4.0

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary, *, rng: np.random.Generator | None = None
    ) -> Matching:
        """Return the belief about each node of the adversary's graph."""
        return self.on(Support.of(release, knowledge))

    def on(self, support: Support) -> Matching:
        """Return the belief from an existing support, which several climbs or runs of `Rematch` may share."""
        share, row = self.shares(support), support.row
        mapping, is_listed = _mapping(support, share), share >= MIN_SHARE
        return make_matching(
            mapping,
            (row[is_listed], support.candidate[is_listed], np.log(share[is_listed], dtype=np.float64)),
            n_target=support.target.n_nodes,
            sweeps=[int(np.count_nonzero((mapping >= 0) & (support.image < 0)))],
            visits=STEPS * len(support),
            attack=repr(self),
        )

    @shared
    def shares(self, support: Support) -> NDArray[np.float32]:
        """Return (n_pairs,) P after the last step, in the order of `support.candidate`."""
        if support.ratio is None:
            return climb(support, gamma=self.gamma)
        prior = support.ratio / self.scale
        return climb(support, gamma=self.gamma, start=8 * prior, prior=prior)


def climb(
    support: Support,
    *,
    gamma: float,
    start: Floats | None = None,
    prior: Floats | None = None,
    steps: range = range(STEPS),
    boldness: int = 3,
    cut_steps: tuple[int, ...] = (4, 8, 14),
    cut_share: float = 0.01,
) -> NDArray[np.float32]:
    """Return the shares of the pairs after the last step of `Climb`, in the order of the support; 0 for dropped pairs.

    start    : (n_pairs,) log-shares before the first step, not balanced; None: equal shares of all candidates
    prior    : (n_pairs,) l / scale; None for 0
    steps    : values of t, with boldness + t in place of 3 + t
    cut_steps, cut_share : after these steps, pairs below this fraction of the largest share of the row are dropped
    """
    directed = support.source.way is not None and support.target.way is not None
    source, target = (
        unsigned(directed_rows(graph) if directed else read_only(graph.indptr, graph.neighbor))
        for graph in (support.source, support.target)
    )
    pairs, n_pairs, lost = _Pairs.of(support, gamma, start), max(len(support), 1), 0.0
    if start is None:
        pairs.share[:] = (1.0 / np.maximum(np.diff(support.indptr), 1))[support.row]
    else:
        pairs.share[:] = pairs.balance(pairs.prior)
    pairs.prior[:] = 0.0 if prior is None else prior
    for t in steps:
        distance = pairs.measure_distances(source, target)
        spread = np.sqrt((np.square(distance).sum(dtype=np.float64) + lost) / n_pairs)
        slope = np.float32(-(boldness + t) / spread if spread > 0 else 0.0)
        mass = pairs.balance(slope * distance + np.float32(boldness + t) * pairs.prior)
        pairs.share[:] += np.float32(2 / (t + 3)) * (mass - pairs.share)
        if t in cut_steps:
            is_kept = pairs.share >= np.float32(cut_share) * pairs.row_max(pairs.share)
            lost += float(np.square(distance[~is_kept]).sum(dtype=np.float64))
            pairs = pairs.take(is_kept)
    share = np.zeros(len(support.candidate), dtype=np.float32)
    share[pairs.position] = pairs.share
    return share


class _Pairs(NamedTuple):
    """Pairs of a support that the climb has not dropped.

    weight : (n_target,) w
    first  : (n_source + 1,) the pairs of source node u are the entries first[u]..first[u + 1]
    position, row, candidate : (n_pairs,) position in the support, u, and c
    discount, prior, share   : (n_pairs,) (d_u d_c)^-gamma, l / scale, and P
    """

    weight: Floats
    first: Integers
    position: Integers
    row: Integers
    candidate: NDArray[np.int32]
    discount: NDArray[np.float32]
    prior: NDArray[np.float32]
    share: NDArray[np.float32]

    @classmethod
    def of(cls, support: Support, gamma: float, prior: Floats | None) -> _Pairs:
        """Return all pairs with share 0."""
        row, candidate, n = support.row, support.candidate, len(support.candidate)
        discount, discount_target = (
            (np.maximum(graph.degree, 1.0) ** -gamma).astype(np.float32) for graph in (support.source, support.target)
        )
        degree = np.maximum(support.target.degree, 1)
        return cls(
            np.maximum(0.1, np.log(max(support.target.n_edges, 1) / (5 * degree))),
            support.indptr,
            np.arange(n),
            row,
            candidate,
            discount[row] * discount_target[candidate],
            np.zeros(n, dtype=np.float32) if prior is None else prior.astype(np.float32),
            np.zeros(n, dtype=np.float32),
        )

    def take(self, is_kept: Booleans) -> _Pairs:
        """Return a selection of the pairs."""
        first = np.append(0, np.cumsum(is_kept))[self.first]
        return _Pairs._make([self.weight, first, *(array[is_kept] for array in self[2:])])

    def row_max(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """Return (n_pairs,) the largest value of the pairs of the same node."""
        return segment_max(values, self.first, empty=0.0).astype(np.float32)[self.row]

    def measure_distances(self, source: Unsigned, target: Unsigned) -> NDArray[np.float32]:
        """Return (largest H of u) - H(u, c) of each pair."""
        near, score = np.zeros_like(self.weight), np.zeros_like(self.share)
        value = self.share * self.weight[self.candidate]
        sum_neighbors(*source, *target, *unsigned((self.first, self.candidate)), value, near, score)
        score *= self.discount
        row_max = self.row_max(score)
        distance = row_max - score
        distance[distance < _ROUNDING_ERROR * row_max] = 0.0
        return distance

    def balance(self, log_mass: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the masses with these logarithms, scaled so that columns sum to at most 1 and rows to 1 (Sinkhorn)."""
        exact = np.exp(log_mass - self.row_max(log_mass), dtype=np.float64)
        mass: NDArray[np.float32] = exact.astype(np.float32)  # exponentials of 32 bits differ between processors
        room = np.ones_like(self.weight)
        make_room(*unsigned((self.first, self.candidate)), mass, room, np.zeros_like(room))
        mass *= room[self.candidate]
        mass /= (segment_sum(mass.astype(np.float64), self.first) + SLACK)[self.row]
        return mass


def _mapping(support: Support, share: NDArray[np.float32]) -> NDArray[np.int32]:
    """Return the target node with more than half of each source node, and more than any other target node; else -1."""
    mapping = np.full(len(support.image), -1, dtype=np.int32)
    sure = np.flatnonzero(share > 0.5 + _TIE)
    node, candidate = support.row[sure], support.candidate[sure]
    is_unique = share[sure] - find_rivals(node, candidate, share[sure]) >= _TIE
    mapping[node[is_unique]] = candidate[is_unique]
    return mapping
