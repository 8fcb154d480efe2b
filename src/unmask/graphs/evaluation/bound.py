"""Upper bound on the recall of attacks that use only the structure of the graphs."""

from __future__ import annotations

import numpy as np

from unmask.graphs.criteria import structural_equivalence
from unmask.graphs.knowledge import Pair, SeedPairs


def most_recall(pair: Pair, seeds: SeedPairs | None = None, *, directed: bool = False) -> float | None:
    """Return an upper bound on the expected recall of any one-to-one attack that uses only edges.

    An attack finds a person v with node u = truth(v) with probability at most 1 / max(s, k). s is the number of source
    nodes equivalent to v, and k the number of target nodes equivalent to u, both without seeds. Equivalent nodes are
    interchangeable for the adversary, so all s k matches between the two classes are equally likely. A one-to-one
    mapping contains at most min(s, k) of them. The bound is the mean over the people in both graphs who are not seeds.
    It holds in expectation over node numberings; a single run can exceed it by luck.

    Only structural twins count as equivalent. Other symmetries of the graph hide people better than the bound shows.
    For an adversary with a perfect copy of a graph, pass the graph twice; the bound is then twin classes / n_nodes.

    Parameters
    ----------
    pair : Pair
        Both graphs and the truth.
    seeds : SeedPairs or None
        Pairs that the adversary knows.
    directed : bool
        True if the attack sees the direction of edges in both graphs, which leaves fewer twins.

    Returns
    -------
    float or None
        Upper bound; None if no person can be found.

    Examples
    --------
    >>> from unmask.graphs.graph import SocialGraph
    >>> star = SocialGraph.from_edges([0, 0, 0], [1, 2, 3])
    >>> most_recall(Pair(star, star, np.arange(4)))
    0.5
    """
    source, target = (structural_equivalence(graph, directed=directed) for graph in (pair.source, pair.target))
    free_source, free_target = np.ones(len(source), dtype=np.bool_), np.ones(len(target), dtype=np.bool_)
    if seeds is not None:
        free_source[seeds.source] = False
        free_target[seeds.target] = False
    s = np.bincount(source[free_source], minlength=len(source))[source]
    k = np.bincount(target[free_target], minlength=len(target))[target]
    findable = np.flatnonzero((pair.truth >= 0) & free_source)
    return float(np.mean(1.0 / np.maximum(s[findable], k[pair.truth[findable]]))) if len(findable) else None
