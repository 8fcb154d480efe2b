"""Distance in hops between the matched node and the right node: a neighbor may disclose as much."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.graphs._kernels import pair_distances
from unmask.graphs.evaluation.node_outcomes import select_match
from unmask.graphs.graph import SocialGraph
from unmask.measures import Measure

UNNAMED: Final = -1
"""Code for no distance: the node is unmapped, or the person is not in the target."""

UNREACHABLE: Final = -2
"""Code for an infinite distance: the matched node and the right node are in different components."""


GUESSES: Final = 200
"""Number of people with a random guess, which gives the baseline distance."""


def hop_distance(target: SocialGraph, mapping: NDArray[np.integer], truth: NDArray[np.integer]) -> Integers:
    """Return (n_source,) the number of hops in the target between the matched node and the right node.

    0 is a hit. `UNNAMED` (-1) if the node is unmapped or the person is not in the target. `UNREACHABLE` (-2) if no path
    connects the two nodes. Exclude both codes from a mean.

    Parameters
    ----------
    target : SocialGraph
        The released graph.
    mapping : (n_source,) int array
        Matched target nodes, -1 if unmapped.
    truth : (n_source,) int array
        Right target nodes, -1 if the person is not in the target.

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
    has_both = np.flatnonzero((mapping >= 0) & (truth >= 0))
    distance = np.full(len(truth), UNNAMED, dtype=np.int64)
    ends = np.array([mapping[has_both], truth[has_both]], dtype=np.int32)
    hops = np.empty(len(has_both), dtype=np.int64)
    mark, queue = np.full((2, target.n_nodes), -1, dtype=np.int64), np.empty((2, target.n_nodes), dtype=np.int32)
    pair_distances(target.indptr, target.neighbor, ends, mark, queue, hops)
    distance[has_both] = hops
    return distance


def hop_error(target: SocialGraph, asked: Booleans) -> Measure:
    """Return the measure `error_hops`: `hop_distance` of the selected people, nan if undefined.

    The baseline is the distance of random nodes, for a sample of these people.

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

    def realized(belief: Posterior, truth: Truth) -> Floats:
        rounds = np.atleast_2d(guess if belief.named is None else belief.named)
        nodes, is_included = (
            select_match(rounds, truth.accepts(rounds)),
            guess_people if belief.named is None else asked,
        )
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
