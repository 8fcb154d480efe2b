"""GraphMatching: an attack that maximizes the number of edges mapped to edges, for all nodes simultaneously."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.graphs.attacks.base import Count, Matching, make_matching, seed_images
from unmask.graphs.criteria.equivalence import refine, structural_equivalence
from unmask.graphs.graph import SocialGraph
from unmask.graphs.similarity import Auxiliary
from unmask.ranges import CheckedParameters

MAX_LAST_STEP = 0.03
"""Root mean square of the step, over nodes, below which the search stops."""


@dataclass(frozen=True)
class GraphMatching(CheckedParameters):
    """Seeded graph matching: the mapping that keeps most edges and non-edges, by the fast approximate QAP algorithm.

    The attack maximizes trace(A P B^T P^T) over permutations P that keep the seeds. A and B are the graphs as matrices
    with 1 for an edge and -1 for no edge. The smaller graph is padded with nodes whose entries are 0; a node that is
    mapped to one of them stays unmapped. The search starts from the center of the doubly stochastic matrices, takes
    Frank-Wolfe steps with a linear assignment each, and ends in the nearest permutation. All other nodes are mapped,
    however unlikely.

    Nodes are first ordered by color refinement from the seeds, so that node numbers have no effect. Nodes of one color,
    such as twins, can be exchanged. The belief is therefore the mean over all exchanges within colors on both sides,
    and only nodes that have the same match in all of them are mapped. A node without neighbors keeps the prior.

    Parameters
    ----------
    largest : int
        Largest number of nodes of a graph. All pairs of nodes are compared, and the work of an assignment grows with
        the third power of the nodes.
    steps : int
        Largest number of steps. `sweeps` is the number of nodes mapped, in one pass, and `visits` the pairs of nodes.

    Notes
    -----
    Assumes: both graphs have nearly the same people and edges.

    Fails when: many people are in one graph only, because they are mapped, too; or the graphs are large.

    References
    ----------
    J. T. Vogelstein et al., "Fast approximate quadratic programming for graph matching", PLoS ONE 2015; seeds and
    padding: D. E. Fishkind et al., "Seeded graph matching", Pattern Recognition 2019, sections 2-3.

    Examples
    --------
    >>> from unmask.graphs.graph import SocialGraph
    >>> kite = SocialGraph.from_edges([0, 0, 1, 2], [1, 2, 2, 3])
    >>> GraphMatching()(kite, Auxiliary(kite, (np.array([0]), np.array([0])))).mapping
    array([0, 1, 2, 3], dtype=int32)
    """

    largest: Count = 2000
    steps: Count = 30

    def __call__(
        self, release: SocialGraph, knowledge: Auxiliary, *, rng: np.random.Generator | None = None
    ) -> Matching:
        """Return the belief about each node of the adversary's graph."""
        return self.begun(release, knowledge, scipy.sparse.csr_array((knowledge.graph.n_nodes, release.n_nodes)))

    def begun(
        self, release: SocialGraph, knowledge: Auxiliary, shares: scipy.sparse.csr_array[np.float64, tuple[int, int]]
    ) -> Matching:
        """Return the belief of a search that starts from given shares, such as those of `Climb`.

        shares : (n_source, n_target) share of each source node that is assigned to each target node. Rows and columns
                 sum to at most 1; the rest is shared by all nodes.
        """
        auxiliary, n = knowledge.graph, max(release.n_nodes, knowledge.graph.n_nodes)
        if n > self.largest:
            raise UnmaskError(
                f"the larger graph has {n} nodes, expected at most {self.largest}, because all pairs are compared; "
                "use an attack that spreads from seeds, or raise `largest`"
            )
        image, inverse = seed_images(release, knowledge)
        union, color = _refine_union(auxiliary, release, image)
        place = np.argsort(_split_colors(union, color))
        order, target_order = place[place < auxiliary.n_nodes], place[place >= auxiliary.n_nodes] - auxiliary.n_nodes
        permutation = self._solve((auxiliary, order), (release, target_order), image, shares)
        source_mean, target_mean = (
            _average_colors(color[: auxiliary.n_nodes], image),
            _average_colors(color[auxiliary.n_nodes :], inverse),
        )
        belief = source_mean @ permutation @ target_mean
        row, candidate = belief.nonzero()
        probability = np.asarray(belief[row, candidate])
        mapping = np.full(auxiliary.n_nodes, -1, dtype=np.int32)
        sure = probability > 1.0 - 1e-9
        mapping[row[sure]] = candidate[sure]
        return make_matching(
            mapping,
            (row, candidate, np.log(probability)),
            n_target=release.n_nodes,
            sweeps=[int(sure.sum()) - len(knowledge.seeds[0])],
            visits=n * n,
            attack=repr(self),
        )

    def _solve(
        self,
        source_input: tuple[SocialGraph, Integers],
        target_input: tuple[SocialGraph, Integers],
        image: NDArray[np.int32],
        shares: scipy.sparse.csr_array[np.float64, tuple[int, int]],
    ) -> scipy.sparse.csr_array[np.float64, tuple[int, int]]:
        """Return (n_source, n_target) with 1 for mapped pairs; both nodes have neighbors, or both are seeds.

        source_input, target_input : graph, and the order of its nodes
        """
        (source, order), (target, target_order), n = source_input, target_input, max(shares.shape)
        seeds = np.flatnonzero(image[order] >= 0)
        target_seeds = np.argsort(target_order)[image[order[seeds]]]
        free, target_free = (np.setdiff1d(np.arange(n), nodes) for nodes in (seeds, target_seeds))
        sides = (
            Signed.from_graph(source.take(order), seeds, n),
            Signed.from_graph(target.take(target_order), target_seeds, n),
        )
        column = np.empty(n, dtype=np.int64)
        first = _complete_shares(shares[order][:, target_order], free, target_free)
        column[seeds], column[free] = target_seeds, target_free[best_places(*sides, self.steps, first)]
        place = np.flatnonzero(column[: source.n_nodes] < target.n_nodes)
        node, candidate = order[place], target_order[column[place]]
        real = (image[node] >= 0) | ((source.degree[node] > 0) & (target.degree[candidate] > 0))
        shape = (source.n_nodes, target.n_nodes)
        return scipy.sparse.csr_array((np.ones(int(real.sum())), (node[real], candidate[real])), shape=shape)


def _complete_shares(
    shares: scipy.sparse.csr_array[np.float64, tuple[int, int]], free: Integers, target_free: Integers
) -> Floats:
    """Return (k, k) the shares of free nodes; the unassigned rest of each row, also of padding, is spread evenly."""
    n, m = shares.shape
    padded = np.zeros((max(n, m), max(n, m)))
    padded[:n, :m] = shares.toarray()
    unmatched = padded[np.ix_(free, target_free)]
    return np.asarray(unmatched + (1.0 - unmatched.sum(axis=1, keepdims=True)) / max(len(free), 1))


def _refine_union(
    auxiliary: SocialGraph, target: SocialGraph, image: NDArray[np.int32]
) -> tuple[SocialGraph, Integers]:
    """Return the union of both graphs, with an edge between each seed and its image, and its refined colors."""
    n, seed = auxiliary.n_nodes, np.flatnonzero(image >= 0)
    (u, v), (x, y) = auxiliary.edges(), target.edges()
    ends = np.concatenate((u, x + n, seed)), np.concatenate((v, y + n, image[seed] + n))
    union = SocialGraph.from_edges(*ends, n_nodes=n + target.n_nodes)
    side = np.arange(union.n_nodes) >= n
    is_seed = np.isin(np.arange(union.n_nodes), np.concatenate((seed, image[seed] + n)))
    return union, _refine(union, 2 * side + is_seed)


def _split_colors(graph: SocialGraph, color: Integers) -> Integers:
    """Return (n,) a unique color for each node. Repeatedly, one node of a color class gets a new color.

    The choice has no effect if an automorphism exchanges the nodes of the class. All twins of a class are split at
    once.
    """
    twin = structural_equivalence(graph)
    order = np.argsort(twin, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order)) - np.searchsorted(twin[order], twin[order])
    color = _refine(graph, color * len(color) + rank)
    while color.max(initial=-1) + 1 < len(color):
        order = np.argsort(color, kind="stable")
        first = order[np.flatnonzero(np.diff(color[order]) == 0)[0]]
        color = _refine(graph, 2 * color + (np.arange(len(color)) != first))
    return color


def _refine(graph: SocialGraph, start: Integers) -> Integers:
    return refine(graph.indptr, graph.neighbor, np.unique(start, return_inverse=True)[1].reshape(-1))


def _average_colors(color: Integers, image: NDArray[np.int32]) -> scipy.sparse.csr_array[np.float64, tuple[int, int]]:
    """Return (n, n) the averaging matrix over the nodes of each color; a seed is in a class by itself."""
    group_key = np.where(image >= 0, -1 - np.arange(len(color)), color)
    group = np.unique(group_key, return_inverse=True)[1].reshape(-1)
    shape, nodes = (len(group), len(group)), np.arange(len(group))
    member = scipy.sparse.csr_array((np.ones(len(group)), (nodes, group)), shape=shape)
    share = scipy.sparse.csr_array((1.0 / np.bincount(group)[group], (group, nodes)), shape=shape)
    return member @ share


class Signed(NamedTuple):
    """The matrix links - real real^T: 1 for an edge, -1 for no edge, 0 on the diagonal and for padding.

    links : (k, k) 2 for an edge, 1 on the diagonal except for padding
    real  : (k,) 1 for nodes, 0 for padding
    to    : (k, n_seeds) dense matrix entries between free nodes and seeds
    """

    links: scipy.sparse.csr_array[np.float64, tuple[int, int]]
    real: Floats
    to: Floats

    @classmethod
    def from_graph(cls, graph: SocialGraph, seeds: Integers, n: int) -> Signed:
        """Return the matrix of the free nodes in their order, padded to n nodes including seeds."""
        free = np.setdiff1d(np.arange(graph.n_nodes), seeds)
        rows, k = graph.adjacency().astype(np.float64)[free], n - len(seeds)
        inside = rows[:, free].tocoo()
        real, to = np.zeros(k), np.zeros((k, len(seeds)))
        real[: len(free)] = 1.0
        to[: len(free)] = 2 * rows[:, seeds].toarray() - 1
        links = scipy.sparse.coo_array((2 * inside.data, (inside.row, inside.col)), shape=(k, k))
        return cls(scipy.sparse.csr_array(links + scipy.sparse.diags_array(real)), real, to)

    def between(self, values: Floats) -> Floats:
        """Return (k, n) the product of the matrix and these values."""
        column_sums = np.einsum("i,ij->j", self.real, values)  # `@` rounds differently with each number of threads
        return np.asarray(self.links @ values - np.outer(self.real, column_sums))


def best_places(source: Signed, target: Signed, steps: int, start: Floats) -> Integers:
    """Return (k,) the column of each row after Frank-Wolfe steps that maximize f(P) over permutations P.

    f(P) = trace(A P B P^T) + 2 trace(S T^T P^T), where A and B are the signed matrices and S and T their parts to the
    seeds. The search starts from P = start, a (k, k) matrix, and ends with the permutation nearest to the last P. Each
    step goes from P to the best point on the line to Q, the permutation that maximizes the linearized f.
    """
    k = len(source.real)
    share, product = start, target.between(source.between(start).T).T  # P and A P B
    seed_gain = source.to @ target.to.T
    for _ in range(steps):
        column = _assign(seed_gain + product)
        corner, next_product = _permutation(column), permuted_product(source, target, column)
        step, gained = share - corner, product - next_product
        bend, slope = float((gained * step).sum()), 2 * float(((seed_gain + next_product) * step).sum())
        length = -slope / (2 * bend) if bend < 0 and 0 <= -slope / (2 * bend) <= 1 else float(bend + slope > 0)
        share, product = corner + length * step, next_product + length * gained
        if (1 - length) * np.sqrt(np.square(step).sum()) < MAX_LAST_STEP * np.sqrt(k):
            break
    return _assign(share)


def permuted_product(source: Signed, target: Signed, column: Integers) -> Floats:
    """Return (k, k) A Q B for the permutation Q with a 1 in these columns."""
    row = np.argsort(column)
    (source_links, real, _), (target_links, target_real, _) = source, target
    product = (source_links[:, row] @ target_links).toarray()
    product -= np.outer(np.asarray(source_links @ target_real[column]), target_real)
    product -= np.outer(real, np.asarray(target_links @ real[row]))
    product += (real @ target_real[column]) * np.outer(real, target_real)
    return np.asarray(product)


def _permutation(column: Integers) -> Floats:
    matrix = np.zeros((len(column), len(column)))
    matrix[np.arange(len(column)), column] = 1.0
    return matrix


def _assign(gain: Floats) -> Integers:
    return np.asarray(scipy.optimize.linear_sum_assignment(gain, maximize=True)[1])
