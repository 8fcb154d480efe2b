"""The most recall that any attack on the structure can have."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from unmask.graphs.criteria import structural_equivalence
from unmask.graphs.knowledge import Pair, SeedPairs
from unmask.graphs.release import SocialGraph

Matrix: TypeAlias = "sparse.csr_array[Any, tuple[int, int]]"


def most_recall(pair: Pair, seeds: SeedPairs | None = None, *, directed: bool = False) -> float | None:
    """The most that the expected recall of any one-to-one attack on the structure can be, however clever it is.

    A person v whose node is u = truth(v) is found with probability at most 1 / max(s, k): s is the number of source
    nodes equivalent to v, k that of target nodes equivalent to u, themselves counted and seeds not. Swapping equivalent
    nodes changes nothing that the adversary sees, so of the s k ways to match the two classes each is as likely, and a
    one-to-one mapping holds at most min(s, k) of them. The bound is the mean over the people who are in both graphs and
    not seeds; None where there are none. It is over the numbering of the nodes: a single run may be lucky.

    directed : whether the attack sees which way links go, in both graphs: then twins are fewer

    Only twins are counted: a graph with other symmetries hides people better than the bound says. For an adversary who
    has a perfect copy of a graph, pass that graph twice; the bound is then twin classes / n_nodes.

    >>> from unmask.graphs.release import SocialGraph
    >>> star = SocialGraph.from_edges([0, 0, 0], [1, 2, 3])
    >>> most_recall(Pair(star, star, np.arange(4)))
    0.5
    """
    _, among = _twins(pair, seeds, directed=directed)
    return float(np.mean(1.0 / among)) if len(among) else None


def _twins(
    pair: Pair, seeds: SeedPairs | None, *, directed: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The people who are in both graphs and no seeds, and max(s, k) of each: see `most_recall`."""
    source, target = (structural_equivalence(graph, directed=directed) for graph in (pair.source, pair.target))
    free_source, free_target = np.ones(len(source), dtype=np.bool_), np.ones(len(target), dtype=np.bool_)
    if seeds is not None:
        free_source[seeds.source] = False
        free_target[seeds.target] = False
    s = np.bincount(source[free_source], minlength=len(source))[source]
    k = np.bincount(target[free_target], minlength=len(target))[target]
    found = np.flatnonzero((pair.truth >= 0) & free_source)
    return found, np.maximum(s[found], k[pair.truth[found]])


def genie_recall(pair: Pair, seeds: SeedPairs | None = None) -> float | None:
    """The most that the expected recall of any one-to-one attack on edges can be that differ at random.

    It goes beyond `most_recall`, whose twins it takes over, by what is not shared.

    The model: who is who is uniform, and edges are in both graphs, one or none, independently between all pairs of
    people, such that the odds of one graph alone against none are a product of weights of both ends, and the odds of
    both against one are the same for all. So it is where both graphs keep each edge of a sparse parent with the same
    probability, the weights of people being alike (Erdos-Renyi) or drawn for each (Chung-Lu).

    A genie tells the adversary which edges of each graph are in both, and, when they look for a person v, who all are
    who are not of v's class. A class are people with the same neighbors along shared edges and the same degree in the
    source, who are no seeds and have no twin in either graph. Where two of a class change places, as many edges are
    shared as before and weights say the same, unless edges come together that were apart: the genie would have called
    them shared. So v is found with probability at most 1 / max(1, |K| - a - b). K are those of the class who have no
    edge to another of them in one graph alone (who has is told by the genie, too); in the places of a of them v would
    share an edge, and in some place of K up to b others would.

    The bound is the mean over the people who are in both graphs and no seeds, 1 for whom the genie tells, and as in
    `most_recall` for who has twins; None where there are none. It is an expectation over the model: of one pair of
    graphs it is an estimate. An adversary for whom edges are not independent may pass it: one who knows, say, that
    friends of friends are friends.

    >>> from unmask.graphs.release import SocialGraph
    >>> one = SocialGraph.from_edges([2, 3, 4, 0, 1], [3, 4, 5, 2, 3])
    >>> other = SocialGraph.from_edges([2, 3, 4, 0, 1], [3, 4, 5, 4, 5])  # 0 and 1 have other friends
    >>> most_recall(Pair(one, other, np.arange(6))), round(genie_recall(Pair(one, other, np.arange(6))), 3)
    (1.0, 0.833)
    """
    people, among = _twins(pair, seeds)
    if not len(people):
        return None
    single = np.zeros(pair.source.n_nodes, dtype=np.bool_)
    single[people[among == 1]] = True
    shared = pair.shared
    both = np.stack((structural_equivalence(shared), pair.source.degree))
    of_class = np.unique(both, axis=1, return_inverse=True)[1].reshape(-1)
    most = _found(of_class, single, *_apart(pair, shared))[people]
    return float(np.mean(np.where(among > 1, 1.0 / among, most)))


def _apart(pair: Pair, shared: SocialGraph) -> tuple[Matrix, Matrix]:
    """The edges of people in both graphs that are in the source alone, and in the target alone, by source nodes."""
    back = pair.take(np.arange(pair.source.n_nodes), pair.truth[pair.common])  # the target's people in this order
    u, v = (pair.common[end] for end in back.target.edges())
    there = SocialGraph.from_edges(u, v, n_nodes=pair.source.n_nodes)
    known = sparse.diags_array(pair.truth >= 0, dtype=np.int32)
    own, other, same = (one.adjacency().astype(np.int32) for one in (pair.source, there, shared))
    return (known @ own @ known - same).tocsr(), (other - same).tocsr()


def _found(of_class: NDArray[np.int64], free: NDArray[np.bool_], here: Matrix, there: Matrix) -> NDArray[np.float64]:
    """(n_source,) with which probability each person is found, at most; 1 for who is told."""
    tied = _alike(here + there, of_class).sum(axis=1) > 0
    loose = free & ~tied
    size = np.bincount(of_class[loose], minlength=of_class.max() + 1)
    some = sparse.diags_array(loose & (size[of_class] > 1), dtype=np.int32)
    together = _alike(sparse.csr_array((some @ here) @ (there @ some)), of_class)
    of_person, of_place = (np.asarray(together.sum(axis=axis)).reshape(-1) for axis in (1, 0))
    most = np.zeros(len(size), dtype=np.int64)
    np.maximum.at(most, of_class, of_place)
    alike = np.maximum(size[of_class] - of_person - most[of_class], 1)
    return np.where(loose, 1 / alike, 1.0)


def _alike(matrix: Matrix, of_class: NDArray[np.int64]) -> Matrix:
    """1 where two different people of one class have an entry."""
    found = matrix.tocoo()
    u, v = found.coords
    kept = (found.data > 0) & (of_class[u] == of_class[v]) & (u != v)
    ones = np.ones(int(kept.sum()), dtype=np.int64)
    return sparse.coo_array((ones, (u[kept], v[kept])), shape=matrix.shape).tocsr()
