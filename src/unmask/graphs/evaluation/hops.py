"""Distance in hops of the mapped node from the right one: a neighbor may disclose as much."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.graphs.evaluation.node_outcomes import named_once
from unmask.graphs.graph import SocialGraph
from unmask.measures import Measure

UNNAMED: Final = -1
"""A distance in hops that does not exist: the node is unmapped, or the person is not in the target."""

UNREACHABLE: Final = -2
"""A distance in hops that has no end: the named node and the right one are in different components."""


GUESSES: Final = 200
"""People with a random guess, which measures the distance by guessing."""


def hop_distance(target: SocialGraph, mapping: NDArray[np.integer], truth: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return (n_source,) how far off the adversary is: hops in the target between the node named and the right one.

    0 is a hit. `UNNAMED` (-1) if the node is unmapped or the person is not in the target, `UNREACHABLE` (-2) where no
    path leads from one to the other; neither is a distance, leave both out of a mean.

    Parameters
    ----------
    target : SocialGraph
        The released graph.
    mapping : (n_source,) int array
        Target nodes, -1 if unmapped.
    truth : (n_source,) int array
        Target nodes, -1 if unmapped.

    Returns
    -------
    int64 array
        Hops; `UNNAMED` or `UNREACHABLE` if undefined.

    Examples
    --------
    >>> path = SocialGraph.from_edges([0, 1, 3], [1, 2, 4])
    >>> hop_distance(path, np.array([2, 1, -1, 4]), np.array([0, 1, 2, 0]))
    array([ 2,  0, -1, -2])
    """
    from unmask.graphs._kernels import pair_distances  # numba is imported where a kernel runs

    has_both = np.flatnonzero((mapping >= 0) & (truth >= 0))
    distance = np.full(len(truth), UNNAMED, dtype=np.int64)
    start, end = mapping[has_both].astype(np.int32), truth[has_both].astype(np.int32)
    hops = np.empty(len(has_both), dtype=np.int64)
    marks = np.full(target.n_nodes, -1, dtype=np.int64), np.full(target.n_nodes, -1, dtype=np.int64)
    queues = np.empty(target.n_nodes, dtype=np.int32), np.empty(target.n_nodes, dtype=np.int32)
    pair_distances(target.indptr, target.neighbor, start, end, marks, queues, hops)
    distance[has_both] = hops
    return distance


def hop_error(target: SocialGraph, asked: NDArray[np.bool_]) -> Measure:
    """Return the measure `error_hops`: `hop_distance` of these people, nan if undefined.

    Before the release it is that of random nodes, for some of those people.

    Parameters
    ----------
    target : SocialGraph
        The released graph.
    asked : (n_source,) bool array
        Mask of the people to measure.

    Returns
    -------
    Measure
        The measure.
    """
    rng, guess_people = np.random.default_rng(0), np.zeros(len(asked), dtype=np.bool_)
    guess_people[rng.permutation(np.flatnonzero(asked))[:GUESSES]] = True
    guess = rng.integers(target.n_nodes, size=len(asked))

    def realized(belief: Posterior, truth: Truth) -> NDArray[np.float64]:
        rounds = np.atleast_2d(guess if belief.named is None else belief.named)
        nodes, is_included = named_once(rounds, truth.accepts(rounds)), guess_people if belief.named is None else asked
        right_nodes = np.where(truth.accepts(nodes), nodes, truth.candidate)
        hops = hop_distance(target, np.where(is_included, nodes, -1), np.where(is_included, right_nodes, -1))
        return np.where(hops >= 0, hops, np.nan)

    return Measure(
        name="error_hops",
        unit="hops",
        direction="low",
        range=(0.0, np.inf),
        source="R. Shokri et al., 'Quantifying location privacy', 2011: correctness, here in hops",
        realized=realized,
    )
