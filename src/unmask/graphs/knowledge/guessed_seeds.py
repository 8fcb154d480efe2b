"""Seeds that the adversary guesses from similar structure, without the truth. Some are wrong."""

from __future__ import annotations

import math
from typing import Annotated, Final

import numpy as np

from unmask.core.arrays import Booleans, Integers
from unmask.core.errors import UnmaskError
from unmask.graphs._kernels import cliques_like, common_neighbors
from unmask.graphs.graph import SocialGraph
from unmask.graphs.knowledge.seeding import clique
from unmask.graphs.seeds import Guessed
from unmask.ranges import Range, check_type

_CORE_SHARE: Final = 0.2  # search cliques among the 20 % of source nodes of highest degree: other cliques look alike


def match_top(source: SocialGraph, target: SocialGraph, n: int) -> Guessed:
    """Match the n nodes of highest degree of both graphs by rank.

    Nodes are ranked by degree, then by the sum of the degrees of their neighbors. The i-th source node is matched with
    the i-th target node. A rank is skipped if its node ties with another node in both numbers. The method is accurate
    only if the graphs are nearly equal: one missing hub shifts all later ranks. On six halves of Epinions and Slashdot
    (overlaps 0.5 and 0.75), 0 to 4 of the first 5 seeds are right, and 2 to 9 of the first 50.

    Parameters
    ----------
    source : SocialGraph
        The adversary's graph.
    target : SocialGraph
        The released graph.
    n : int
        Number of seeds.

    Returns
    -------
    Guessed
        Guessed seeds.

    Raises
    ------
    UnmaskError
        If there are fewer than n ranks without a tie.

    References
    ----------
    A. Narayanan, E. Shi, B. Rubinstein, "Link prediction by de-anonymization: how we won the Kaggle social network
    challenge", IJCNN 2011; G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social
    networks", 2015, section 4.2.1, calls it a realistic form of "top".

    Examples
    --------
    >>> graph = SocialGraph.from_edges([0, 0, 0, 1, 3], [1, 2, 3, 2, 4])
    >>> match_top(graph, graph.take([4, 3, 2, 1, 0]), 2)
    Guessed(source=array([0, 3]), target=array([4, 1]))
    """
    check_type("n", n, Annotated[int, Range(0)])
    (source_order, source_unique), (target_order, target_unique) = _ranking(source), _ranking(target)
    ranks = min(len(source_order), len(target_order))
    usable = np.flatnonzero(source_unique[:ranks] & target_unique[:ranks])
    if n > len(usable):
        raise UnmaskError(f"{n} seeds are too many: only {len(usable)} ranks have no tie; choose fewer")
    return Guessed(source_order[usable[:n]], target_order[usable[:n]])


def _ranking(graph: SocialGraph) -> tuple[Integers, Booleans]:
    """Return the nodes by descending degree and neighbor degree, and a mask of the nodes without a tie."""
    around = graph.adjacency().astype(np.int64) @ graph.degree
    order = np.lexsort((-around, -graph.degree))
    values = np.stack((graph.degree[order], around[order]))
    differs = np.ones(graph.n_nodes + 1, dtype=np.bool_)
    differs[1:-1] = (values[:, 1:] != values[:, :-1]).any(axis=0)
    return order, differs[1:] & differs[:-1]


def match_cliques(
    source: SocialGraph,
    target: SocialGraph,
    *,
    size: int = 4,
    tolerance: float = 0.05,
    n: int,
    rng: np.random.Generator,
) -> Guessed:
    """Match n people in cliques of the source with the only similar clique of the target.

    A target clique is similar to a source clique if two conditions hold for its nodes in this order. The degree of each
    node, and the number of common neighbors of each pair, are within a factor of 1 - tolerance to 1 + tolerance. The
    match is unique if no other clique, and no other order of the same clique, is similar. Source cliques are disjoint
    and contain only the 20 % of nodes of highest degree; the search is greedy from random starts. Matched target
    cliques are disjoint, too. Some matches are wrong, because people outside the target can also have a unique similar
    clique. On halves of Epinions (overlaps 0.5 and 0.75), a tolerance of 0.05 finds at most one clique. A tolerance of
    0.1 finds dozens of seeds, and a fifth of them are right.

    Parameters
    ----------
    source : SocialGraph
        The adversary's graph.
    target : SocialGraph
        The released graph.
    size : int
        Members of a clique, at least 3.
    tolerance : float
        Largest relative difference of degrees and of common neighbors.
    n : int
        Number of seeds, a multiple of size.
    rng : numpy.random.Generator
        Source of the random draws.

    Returns
    -------
    Guessed
        Guessed seeds.

    Raises
    ------
    UnmaskError
        If fewer than n seeds are found.

    References
    ----------
    A. Narayanan, V. Shmatikov, "De-anonymizing social networks", IEEE S&P 2009, section 5.1.

    Examples
    --------
    >>> leaves = np.arange(3, 12)
    >>> graph = SocialGraph.from_edges([0, 1, 2, *np.repeat([0, 1, 2], [5, 3, 1])], [1, 2, 0, *leaves])
    >>> seeds = match_cliques(graph, graph, size=3, n=3, rng=np.random.default_rng(1))
    >>> sorted(seeds.source.tolist()), bool((seeds.source == seeds.target).all())
    ([0, 1, 2], True)
    """
    if size < 3 or n < 0 or n % size or not 0 <= tolerance < 1:
        raise UnmaskError(
            f"size is {size}, n is {n} and tolerance is {tolerance}; expected size >= 3, n a multiple of size, and a "
            "tolerance from 0 to below 1"
        )
    by_degree = np.argsort(target.degree, kind="stable")
    shuffled = rng.permutation(source.n_nodes)
    core = shuffled[np.argsort(-source.degree[shuffled], kind="stable")][: math.ceil(_CORE_SHARE * source.n_nodes)]
    inner = source.take(core)
    used_members: set[int] = set()
    people: list[int] = []
    images: list[int] = []
    for start in rng.permutation(len(core)).tolist():
        if len(people) == n:
            break
        members = [] if start in used_members else clique(inner, start, size, used_members, rng)
        match = _find_unique_match(source, target, core[members], by_degree, tolerance) if members else []
        if match and not set(match) & set(images):
            used_members.update(members)
            people += core[members].tolist()
            images += match
    if len(people) < n:
        raise UnmaskError(
            f"only {len(people)} of {n} seeds are found; choose fewer seeds, another size or another tolerance"
        )
    return Guessed(np.array(people, dtype=np.int64), np.array(images, dtype=np.int64))


def _find_unique_match(
    source: SocialGraph, target: SocialGraph, members: Integers, by_degree: Integers, tolerance: float
) -> list[int]:
    """Return the only target clique that resembles these source nodes, in their order; [] if it is not unique."""
    factors = np.array([1 - tolerance, 1 + tolerance]) + np.array([-1e-9, 1e-9])  # rounding: 0.95 * 20 may exceed 19
    shared = np.array([[common_neighbors(source.indptr, source.neighbor, a, b) for b in members] for a in members])
    degree = source.degree[members][:, None] * factors
    ascending = target.degree[by_degree]
    low, high = np.searchsorted(ascending, degree[:, 0]), np.searchsorted(ascending, degree[:, 1], side="right")
    order = np.argsort(high - low, kind="stable")  # first the node with the fewest candidates
    first = by_degree[low[order[0]] : high[order[0]]]
    bounds = shared[np.ix_(order, order)][..., None] * factors
    n, clique_found = cliques_like(target.indptr, target.neighbor, first, degree[order], bounds)
    return clique_found[np.argsort(order)].tolist() if n == 1 else []
