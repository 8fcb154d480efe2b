"""The bound by what is not shared, against the best that any adversary can do: all ways in which people may be who."""

import itertools

import numpy as np
import pytest

from unmask.graphs import Pair, SeedPairs, SocialGraph
from unmask.graphs.evaluation import genie_recall, most_recall

CORE, OTHERS = 6, 4
SHARED = [0, 1, 2, 3, 4, 1], [1, 2, 3, 4, 5, 3]  # a path with a chord, of which no two are alike


def with_others(to, more):
    """The core, the others tied to one core node each, and the first of them to some more."""
    u, v = np.append(SHARED[0], np.arange(CORE, CORE + OTHERS)), np.append(SHARED[1], to)
    return SocialGraph.from_edges(
        np.append(u, np.full(len(more), CORE)), np.append(v, more).astype(int), n_nodes=CORE + OTHERS
    )


def pair_of(rng):
    """A pair in which the others share no edge; none has a twin, as no core node with one contact is next to theirs."""
    ends = np.array([0, 2, 3, 5])
    while True:
        pair = Pair(
            with_others(rng.permutation(ends), []),
            with_others(rng.permutation(ends), rng.permutation(CORE)[: rng.integers(3)]),
            np.arange(CORE + OTHERS),
        )
        if pair.shared.n_edges == len(SHARED[0]) and most_recall(pair) == 1:
            return pair


def likelihood(here, there, *, weights=(1, 4), alone=0.1, both=7):
    """Of edges here and there between the same people: the odds of an edge of one graph alone are `alone` w w', of one
    of both graphs `both` times that; w is one of the weights, at random.
    """
    u, v = np.triu_indices(CORE + OTHERS, 1)
    state = here[u, v] + 2 * there[u, v]
    w = np.array(list(itertools.product(weights, repeat=CORE + OTHERS)))
    x = alone * w[:, u] * w[:, v]
    odds = np.stack((np.ones_like(x), x, x, both * x))
    return (odds[state, :, np.arange(len(u))].T / odds.sum(axis=0)).prod(axis=1).mean()


@pytest.mark.parametrize("seed", range(6))
def test_no_adversary_finds_more_with_what_the_genie_says(seed):
    """All ways in which the others may be who, such that no edges come together, are alike likely."""
    pair = pair_of(np.random.default_rng(seed))
    here, there = (graph.adjacency().toarray().astype(int) for graph in (pair.source, pair.target))
    found, chance = np.zeros((OTHERS, OTHERS)), []
    for order in itertools.permutations(range(OTHERS)):
        places = [*range(CORE), *(CORE + place for place in order)]
        moved = there[np.ix_(places, places)]
        if (here & moved).sum() == 2 * len(SHARED[0]):
            found[np.arange(OTHERS), order] += 1
            chance.append(likelihood(here, moved))
    assert np.ptp(chance) < 1e-9 * np.mean(chance)
    best = (CORE + found.max(axis=1).sum() / len(chance)) / (CORE + OTHERS)
    assert best <= genie_recall(pair) + 1e-9
    assert best < 1


def test_people_who_share_no_edge_are_found_by_guessing():
    """Sparse graphs that share a core; the others have edges to it that differ: any of them may be any."""
    rng = np.random.default_rng(1)
    core, others = 60, 40
    u, v = np.triu_indices(core, 1)
    kept = rng.random(len(u)) < 0.2
    graphs = [
        SocialGraph.from_edges(
            np.append(u[kept], np.arange(core, core + others)),
            np.append(v[kept], rng.permutation(core)[:others]),
            n_nodes=core + others,
        )
        for _ in range(2)
    ]
    pair = Pair(*graphs, np.arange(core + others))
    assert most_recall(pair) == 1.0
    assert genie_recall(pair) == pytest.approx((core + others / others) / (core + others), abs=0.02)


def test_the_same_graph_twice_has_the_bound_of_its_twins():
    star = SocialGraph.from_edges([0, 0, 0], [1, 2, 3])
    pair = Pair(star, star, np.arange(4))
    assert genie_recall(pair) == most_recall(pair) == pytest.approx(0.5)
    assert genie_recall(pair, SeedPairs(np.arange(4), np.arange(4))) is None
