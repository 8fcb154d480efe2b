"""An attack that maximises the number of edges mapped onto edges, all nodes at once: graph matching."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from unmask.errors import UnmaskError
from unmask.graphs.attacks.beliefs import matching_of
from unmask.graphs.attacks.matching import Matching, Seeds, check_at_least_one, seeded
from unmask.graphs.release import SocialGraph


@dataclass(frozen=True)
class GraphMatching:
    """Seeded graph matching: the mapping that keeps most edges and non-edges, by the fast approximate QAP algorithm.

    Maximised over permutations P that keep the seeds is trace(A P B^T P^T), with A and B the two graphs as matrices of
    1 (edge) and -1 (none); the smaller one is padded with nodes whose entries are 0, and who is mapped to one of those
    is left unmapped. It starts from the centre of the doubly stochastic matrices, climbs by Frank-Wolfe steps, each a
    linear assignment, and ends in the nearest permutation. All others are mapped: it never doubts. Nodes are shuffled
    first.

    Twins, nodes without a seed that have the same neighbours but for each other, can be exchanged at no cost. A match
    of them is therefore shared: the belief is the mean over all exchanges of twins on both sides, and only nodes whose
    match is the same in all of them are mapped. A node without neighbours keeps the prior.

    Its matrices are multiplied by BLAS, whose last bits may depend on the number of its threads; where two steps are
    all but equally good, so may the mapping.

    largest : nodes of the larger graph at most; the matrices are dense, work grows with the third power (a minute for
              2000 nodes)
    steps   : at most; `sweeps` is the number of nodes mapped, in one pass, and `visits` the pairs of nodes
    seed    : of the shuffling

    >>> from unmask.graphs.release import SocialGraph
    >>> kite = SocialGraph.from_edges([0, 0, 1, 2], [1, 2, 2, 3])
    >>> GraphMatching()(kite, kite, (np.array([0]), np.array([0]))).mapping
    array([0, 1, 2, 3], dtype=int32)

    J. T. Vogelstein et al., "Fast approximate quadratic programming for graph matching", PLoS ONE 2015; seeds and
    padding: D. E. Fishkind et al., "Seeded graph matching", Pattern Recognition 2019, sections 2-3.
    """

    largest: int = 2000
    steps: int = 30
    seed: int = 0

    def __post_init__(self) -> None:
        check_at_least_one(self.largest, "largest")
        check_at_least_one(self.steps, "steps")
        if self.seed < 0:
            raise UnmaskError(f"seed is {self.seed}, expected at least 0")

    def __call__(self, target: SocialGraph, auxiliary: SocialGraph, seeds: Seeds) -> Matching:
        """The belief about each node of the auxiliary graph, given (auxiliary nodes, target nodes) as seeds."""
        n = max(target.n_nodes, auxiliary.n_nodes)
        if n > self.largest:
            raise UnmaskError(
                f"the larger graph has {n} nodes, expected at most {self.largest}: the matrices are dense; "
                "use an attack that spreads from seeds, or raise `largest`"
            )
        image, inverse = seeded(auxiliary, target, seeds)
        found = self._best(target, auxiliary, np.flatnonzero(image >= 0), image[image >= 0], n)
        belief = _twins(auxiliary, image) @ found @ _twins(target, inverse)
        row, candidate = belief.nonzero()
        probability = np.asarray(belief[row, candidate])
        mapping = np.full(auxiliary.n_nodes, -1, dtype=np.int32)
        sure = probability > 1.0 - 1e-9
        mapping[row[sure]] = candidate[sure]
        return matching_of(
            mapping,
            (row, candidate, probability),
            n_target=target.n_nodes,
            sweeps=[int(sure.sum()) - len(seeds[0])],
            visits=n * n,
            attack=repr(self),
        )

    def _best(
        self, target: SocialGraph, auxiliary: SocialGraph, source: NDArray[np.int64], image: NDArray[np.int32], n: int
    ) -> sparse.csr_array[np.float64, tuple[int, int]]:
        """(n_source, n_target) 1 where a node is mapped to another, both with neighbours or both seeds."""
        options: Any = {  # the published types do not know shuffle_input
            "maximize": True,
            "partial_match": np.column_stack((source, image)),
            "shuffle_input": True,
            "maxiter": self.steps,
            "rng": np.random.default_rng(self.seed),
        }
        matched = optimize.quadratic_assignment(
            _signed(auxiliary, n), _signed(target, n), method="faq", options=options
        )
        found = matched.col_ind[: auxiliary.n_nodes]
        known = np.zeros(auxiliary.n_nodes, dtype=np.bool_)
        known[source] = True
        real = np.flatnonzero(found < target.n_nodes)
        real = real[known[real] | ((auxiliary.degree[real] > 0) & (target.degree[found[real]] > 0))]
        ones = np.ones(len(real))
        return sparse.csr_array((ones, (real, found[real])), shape=(auxiliary.n_nodes, target.n_nodes))


def _signed(graph: SocialGraph, n: int) -> NDArray[np.float64]:
    """(n, n) 1 for an edge, -1 for none, 0 on the diagonal and for padding."""
    matrix = np.zeros((n, n))
    matrix[: graph.n_nodes, : graph.n_nodes] = 2.0 * graph.adjacency().toarray() - 1.0
    np.fill_diagonal(matrix, 0.0)
    return matrix


def _twins(graph: SocialGraph, image: NDArray[np.int32]) -> sparse.csr_array[np.float64, tuple[int, int]]:
    """(n, n) the mean over the twins of each node, itself included; a seed is its own only twin."""
    near = graph.adjacency().toarray().astype(np.bool_)
    group = np.arange(graph.n_nodes)
    for own in (False, True):  # neighbours in common, without or with each other; no node has twins of both kinds
        np.fill_diagonal(near, own)
        rows = np.column_stack((np.packbits(near, axis=1), np.where(image >= 0, 1 + np.arange(len(image)), 0)))
        _, first, of_node = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        group = np.minimum(group, first[of_node])
    shape = (len(group), len(group))
    member = sparse.csr_array((np.ones(len(group)), (np.arange(len(group)), group)), shape=shape)
    share = sparse.csr_array((1.0 / np.bincount(group)[group], (group, np.arange(len(group)))), shape=shape)
    return member @ share
