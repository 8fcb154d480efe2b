"""The most recall that any attack on the structure can have."""

from __future__ import annotations

import numpy as np

from unmask.graphs.criteria import structural_equivalence
from unmask.graphs.knowledge import Pair, SeedPairs


def most_recall(pair: Pair, seeds: SeedPairs | None = None, *, directed: bool = False) -> float | None:
    """Return the most that the expected recall of any one-to-one attack on the structure can be, however clever it is.

    A person v whose node is u = truth(v) is found with probability at most 1 / max(s, k): s is the number of source
    nodes equivalent to v, k that of target nodes equivalent to u, themselves counted and seeds not. Swapping equivalent
    nodes changes nothing that the adversary sees, so of the s k ways to match the two classes each is as likely, and a
    one-to-one mapping holds at most min(s, k) of them. The bound is the mean over the people who are in both graphs and
    not seeds; None without such people. It is over the numbering of the nodes: a single run may be lucky.

    Only twins are counted: a graph with other symmetries hides people better than the bound says. For an adversary who
    has a perfect copy of a graph, pass that graph twice; the bound is then twin classes / n_nodes.

    Parameters
    ----------
    pair : Pair
        Both graphs and the truth.
    seeds : SeedPairs or None
        Pairs that the adversary knows.
    directed : bool
        Whether the attack sees which way links go, in both graphs: then twins are fewer.

    Returns
    -------
    float or None
        Upper bound; None without findable people.

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
