"""Selection of adopters of identity separation: independent people, groups of neighbors, or hubs."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.graphs.graph import SocialGraph, check_nodes
from unmask.ranges import Range, check_types

Cooperation = Literal["none", "local", "degree", "lta"]
"""Organization of adopters, see `choose_adopters`."""


def choose_adopters(
    graph: SocialGraph,
    adopters: Annotated[float, Range(0, 1)] | Annotated[int, Range(0)],
    *,
    cooperation: Cooperation = "none",
    rng: np.random.Generator,
    eligible: ArrayLike | None = None,
    group: Annotated[int, Range(1)] = 10,
    refuse_top: Annotated[float, Range(0, 1)] = 0.0,
    minimum_degree: Annotated[int, Range(0)] = 3,
) -> Integers:
    """Return (n_adopters,) int64 nodes that adopt a protection, ascending.

    Products of shares are rounded to the nearest integer.

    Parameters
    ----------
    graph : SocialGraph
        Graph.
    adopters : float
        A float is a share, from 0 to 1, of the candidates. An int is a number: 1 is a single person, and 1.0 is all
        candidates.
    cooperation : Cooperation
        * "none": independent adopters, uniform among the eligible nodes of at least the minimum degree. The other
          options consider all eligible nodes.
        * "local": groups of neighbors. Each group has a random candidate and up to group - 1 random neighbors. Groups
          are disjoint, and the last group may be smaller.
        * "degree": the nodes of highest degree, ties at random.
        * "lta": the nodes of lowest LTA_A in the graph (`graphs.criteria.local_anonymity`), ties at random; nodes
          without a value are last.
    rng : numpy.random.Generator
        Source of the random draws.
    eligible : array-like or None
        Nodes that may adopt; None: all. Published figures use the people in both graphs, the entries of `pair.truth`
        that are not -1. If all nodes are eligible, far fewer of the people in both graphs adopt.
    group : int
        Size of a group of neighbors.
    refuse_top : float
        Share, from 0 to 1, of the eligible nodes that refuse: those of the highest degree, ties at random. They count
        as candidates in shares, but are not chosen.
    minimum_degree : int
        Smallest degree of a candidate without cooperation.

    Returns
    -------
    int64 array
        Adopters, ascending.

    References
    ----------
    G. Gulyas, "Protecting privacy against structural de-anonymization attacks in social networks", 2015, sections 3.5,
    5.4, 5.5 and 5.6.

    Examples
    --------
    >>> star = SocialGraph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
    >>> choose_adopters(star, 1, cooperation="degree", rng=np.random.default_rng(1))
    array([0])
    """
    parameters = {"group": group, "refuse_top": refuse_top, "minimum_degree": minimum_degree}
    check_adopters(adopters=adopters, cooperation=cooperation, **parameters)
    able = np.arange(graph.n_nodes) if eligible is None else np.unique(np.asarray(eligible, dtype=np.int64))
    check_nodes(able, graph.n_nodes, "eligible nodes")
    candidates = able[graph.degree[able] >= minimum_degree] if cooperation == "none" else able
    n = int(adopters) if isinstance(adopters, int | np.integer) else round(adopters * len(candidates))
    shuffled = rng.permutation(able)
    by_degree = shuffled[np.argsort(-graph.degree[shuffled], kind="stable")]
    pool = np.zeros(graph.n_nodes, dtype=np.bool_)
    pool[candidates] = True
    pool[by_degree[: round(refuse_top * len(able))]] = False
    if n > np.count_nonzero(pool):
        raise UnmaskError(
            f"{n} people should adopt the protection, but only {np.count_nonzero(pool)} may and agree; lower adopters"
        )
    if cooperation == "local":
        return _groups(graph, pool, shuffled, n, group, rng)
    if cooperation == "degree":
        ordered = by_degree
    elif cooperation == "lta":
        ordered = shuffled[np.argsort(_anonymity(graph)[shuffled], kind="stable")]
    else:
        ordered = shuffled
    return np.sort(ordered[pool[ordered]][:n])


def check_adopters(**parameters: object) -> None:
    """Raise for arguments that `choose_adopters` rejects for any graph."""
    check_types(choose_adopters, parameters)


def _anonymity(graph: SocialGraph) -> Floats:
    from unmask.graphs.criteria import local_anonymity

    return np.nan_to_num(local_anonymity(graph, variant="A"), nan=math.inf)


def _groups(
    graph: SocialGraph, pool: Booleans, order: Integers, n: int, group: int, rng: np.random.Generator
) -> Integers:
    """Return n nodes of the pool in groups of neighbors around random nodes; chosen nodes are removed from the pool."""
    free = pool.copy()
    chosen: list[int] = []
    for first in order.tolist():
        if len(chosen) >= n:
            break
        if free[first]:
            near = graph.neighbors(first)
            members = [first, *rng.permutation(near[free[near]])[: group - 1].tolist()]
            free[members] = False
            chosen += members
    return np.sort(np.array(chosen[:n], dtype=np.int64))
