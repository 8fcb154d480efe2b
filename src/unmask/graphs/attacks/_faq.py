"""The steps of `GraphMatching`: products of signed matrices from the few edges, and the assignments between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import sparse

from unmask.graphs.graph import SocialGraph

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]

_SETTLED = 0.03  # root mean square, over nodes, of the last step


class Signed(NamedTuple):
    """The matrix links - real real^T: 1 for an edge, -1 for none, 0 on the diagonal and of padding.

    links : (k, k) 2 for an edge, and 1 on the diagonal but of padding
    real  : (k,) 1 of nodes, 0 of padding
    to    : (k, n_seeds) dense: the same of each free node with each seed
    """

    links: sparse.csr_array[np.float64, tuple[int, int]]
    real: Floats
    to: Floats

    @classmethod
    def of(cls, graph: SocialGraph, seeds: Nodes, n: int) -> Signed:
        """Return the free nodes in their order, padded to n nodes with the seeds."""
        free = np.setdiff1d(np.arange(graph.n_nodes), seeds)
        rows, k = graph.adjacency().astype(np.float64)[free], n - len(seeds)
        inside = rows[:, free].tocoo()
        real, to = np.zeros(k), np.zeros((k, len(seeds)))
        real[: len(free)] = 1.0
        to[: len(free)] = 2 * rows[:, seeds].toarray() - 1
        links = sparse.coo_array((2 * inside.data, (inside.row, inside.col)), shape=(k, k))
        return cls(sparse.csr_array(links + sparse.diags_array(real)), real, to)

    def between(self, values: Floats) -> Floats:
        """Return (k, n) the matrix times these (k, n)."""
        return np.asarray(self.links @ values - np.outer(self.real, self.real @ values))


def best_places(source: Signed, target: Signed, steps: int, first: Floats) -> Nodes:
    """Return (k,) the column of each row after Frank-Wolfe steps towards the permutation P of largest f(P).

    f(P) = trace(A P B P^T) + 2 trace(S T^T P^T), A and B the signed matrices and S and T those to the seeds. It starts
    from P = first (k, k) and ends in the permutation nearest to the last P. The step from P to the best permutation Q
    of the gradient is that which is best on the line between them.
    """
    k = len(source.real)
    share, seen = first, target.between(source.between(first).T).T  # P and A P B
    told = source.to @ target.to.T
    for _ in range(steps):
        column = _assigned(told + seen)
        toward, seen_there = _permutation(column), permuted_product(source, target, column)
        step, gained = share - toward, seen - seen_there
        bend, slope = float((gained * step).sum()), 2 * float(((told + seen_there) * step).sum())
        kept = -slope / (2 * bend) if bend < 0 and 0 <= -slope / (2 * bend) <= 1 else float(bend + slope > 0)
        share, seen = toward + kept * step, seen_there + kept * gained
        if (1 - kept) * np.linalg.norm(step) < _SETTLED * np.sqrt(k):
            break
    return _assigned(share)


def permuted_product(source: Signed, target: Signed, column: Nodes) -> Floats:
    """Return (k, k) A Q B of the permutation Q with a 1 in these columns."""
    row = np.argsort(column)
    (here, real, _), (there, real_there, _) = source, target
    both = (here[:, row] @ there).toarray()
    both -= np.outer(np.asarray(here @ real_there[column]), real_there)
    both -= np.outer(real, np.asarray(there @ real[row]))
    both += (real @ real_there[column]) * np.outer(real, real_there)
    return np.asarray(both)


def _permutation(column: Nodes) -> Floats:
    found = np.zeros((len(column), len(column)))
    found[np.arange(len(column)), column] = 1.0
    return found


def _assigned(gain: Floats) -> Nodes:
    return np.asarray(scipy.optimize.linear_sum_assignment(gain, maximize=True)[1])
