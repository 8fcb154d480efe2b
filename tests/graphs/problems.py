"""Small pairs of graphs with seeds, to try attacks on."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from unmask.graphs import Auxiliary
from unmask.graphs.graph import SocialGraph


def graph(n_nodes, edges):
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return SocialGraph.from_edges(ends[:, 0], ends[:, 1], n_nodes=n_nodes)


def as_dict(network):
    return {v: {int(c) for c in network.neighbors(v)} for v in range(network.n_nodes)}


def pairs_of(mapping):
    return {int(v): int(mapping[v]) for v in np.flatnonzero(mapping >= 0)}


def seed_pairs(seeds):
    return dict(zip(seeds[0].tolist(), seeds[1].tolist(), strict=True))


def noisy_pair(rng, *, n_nodes=40, degree=6.0, share_kept=0.85):
    """Two noisy copies of a random graph, their nodes renumbered independently, and all true pairs."""
    a, b = np.nonzero(np.triu(rng.random((n_nodes, n_nodes)) < degree / n_nodes, 1))
    sides, number = [], []
    for _ in range(2):
        keep, new = rng.random(len(a)) < share_kept, rng.permutation(n_nodes)
        sides.append(graph(n_nodes, np.column_stack((new[a[keep]], new[b[keep]]))))
        number.append(new)
    return sides[0], sides[1], (number[0], number[1])


@st.composite
def problems(draw, n_wrong=(0, 2)):
    """Graphs of unequal size or noisy copies: isolated nodes, twins and ties come by themselves. wrong : how many seeds
    are, one of these.
    """
    if draw(st.booleans()):
        source, target, truth = noisy_pair(np.random.default_rng(draw(st.integers(0, 9999))))
        n, n_moved = draw(st.integers(4, 25)), draw(st.sampled_from(n_wrong))
        labels = np.concatenate((np.roll(truth[1][:n][:n_moved], 1), truth[1][n_moved:n]))
        return source, target, (truth[0][:n], labels)
    sizes = [draw(st.integers(2, 9)) for _ in range(2)]
    sides = []
    for n in sizes:
        all_pairs = [(a, b) for a in range(n) for b in range(a)]
        sides.append(graph(n, draw(st.lists(st.sampled_from(all_pairs), unique=True, max_size=18))))
    k = draw(st.integers(1, min(sizes)))
    seeds = [np.array(draw(st.permutations(range(n)))[:k]) for n in sizes]
    return sides[0], sides[1], (seeds[0], seeds[1])


def renumbered(network, number):
    u, v = network.edges()
    return SocialGraph.from_edges(number[u], number[v], n_nodes=network.n_nodes)


def check_renumbering(attack):
    """Graphs whose nodes are numbered otherwise are matched as before."""
    rng = np.random.default_rng(8)
    source, target, truth = noisy_pair(rng, n_nodes=60)
    new_source, new_target = rng.permutation(60), rng.permutation(60)
    seeds = (truth[0][:12], truth[1][:12])
    plain = attack(target, Auxiliary(source, seeds)).mapping
    renumbered_belief = attack(
        renumbered(target, new_target),
        Auxiliary(renumbered(source, new_source), (new_source[seeds[0]], new_target[seeds[1]])),
    ).mapping
    assert pairs_of(renumbered_belief) == {int(new_source[v]): int(new_target[c]) for v, c in pairs_of(plain).items()}


def probability(belief, row):
    """The candidates of a row and their probabilities."""
    part = slice(belief.indptr[row], belief.indptr[row + 1])
    return dict(zip(belief.candidate[part].tolist(), np.exp(belief.log_probability[part].astype(float)), strict=True))


class Owned:
    """The released nodes of every source node, by looking at all of them."""

    def __init__(self, truth, origin):
        self.nodes = [np.flatnonzero((origin == node) & (node >= 0)) for node in truth]

    @property
    def count(self):
        return np.array([len(nodes) for nodes in self.nodes])

    def nodes_of(self, person):
        return self.nodes[person]
