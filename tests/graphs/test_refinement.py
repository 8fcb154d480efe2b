"""The adversary who knows what is around people, where no way leads from the seeds to them."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from unmask.graphs import Auxiliary, Refinement, SocialGraph
from unmask.graphs.audit import audit as audit_networks


def groups(n_groups=12, *, rng):
    """Groups of 6 to 9 people, each hanging together, none with an edge to another."""
    edges, start = set(), 0
    for _ in range(n_groups):
        size = int(rng.integers(6, 10))
        edges |= {(start + int(rng.integers(i)), start + i) for i in range(1, size)}
        edges |= {tuple(sorted((start + rng.choice(size, 2, replace=False)).tolist())) for _ in range(size // 2)}
        start += size
    u, v = np.array(sorted(edges)).T
    return SocialGraph.from_edges(u, v, n_nodes=start)


def renumbered(graph, number):
    u, v = graph.edges()
    return SocialGraph.from_edges(number[u], number[v], n_nodes=graph.n_nodes)


def surroundings(graph, marked=()):
    """Describe the surroundings of each node in words: those of the last round, with unique nodes marked."""
    colors = {node: f"seed {index}" for index, node in enumerate(marked)}
    colors = {node: colors.get(node, "") for node in range(graph.n_nodes)}
    near = {v: graph.neighbor[graph.indptr[v] : graph.indptr[v + 1]].tolist() for v in range(graph.n_nodes)}
    for _ in range(graph.n_nodes):
        signatures = {v: (colors[v], tuple(sorted(colors[w] for w in near[v]))) for v in near}
        number = {color: str(index) for index, color in enumerate(sorted(set(signatures.values())))}
        colors = {v: number[signatures[v]] for v in near}
    return colors


@pytest.fixture(scope="module")
def draw_apart():
    graph = groups(rng=np.random.default_rng(3))
    number = np.random.default_rng(4).permutation(graph.n_nodes)
    return graph, number, renumbered(graph, number)


def test_of_a_copy_everybody_is_found_who_has_a_surrounding_of_their_own(draw_apart):
    graph, number, release = draw_apart
    belief = Refinement(rounds=100)(release, Auxiliary(graph, (np.array([0]), number[[0]])))
    colors = surroundings(graph, marked=[0])
    like = Counter(colors.values())
    expected = [number[v] if like[colors[v]] == 1 else -1 for v in range(graph.n_nodes)]
    assert belief.mapping.tolist() == expected
    members = defaultdict(list)
    for node, color in colors.items():
        members[color].append(number[node])
    for v in range(graph.n_nodes):
        row = slice(*belief.indptr[v : v + 2])
        assert sorted(belief.candidate[row]) == sorted(members[colors[v]])
        assert np.exp(belief.log_probability[row]) == pytest.approx(1 / like[colors[v]])


def test_a_default_audit_reports_people_whom_no_path_from_the_seeds_reaches(draw_apart):
    graph, number, release = draw_apart
    result = audit_networks(release, auxiliary=graph, truth=number, seeds="random:1", runs=1)
    recall = {row.adversary: row.posterior for row in result.rows if row.measure == "recall"}
    like = Counter(surroundings(graph).values())
    n_single = sum(1 for size in like.values() if size == 1)
    assert recall["Refinement"] >= (n_single - 1) / (graph.n_nodes - 1) > 0.5
    assert max(recall[name] for name in ("Nar09", "Rematch:forced=true", "Climb", "GraphMatching")) < 0.2


def test_a_changed_edge_hides_those_around_it_alone(draw_apart):
    graph, number, release = draw_apart
    u, v = release.edges()
    changed = SocialGraph.from_edges(u[1:], v[1:], n_nodes=release.n_nodes)
    seed = int(np.flatnonzero(number == u[0])[0])
    belief = Refinement(rounds=100)(changed, Auxiliary(graph, (np.array([seed]), number[[seed]])))
    group = {seed}
    while True:
        with_contacts = group | {int(w) for x in group for w in graph.neighbor[graph.indptr[x] : graph.indptr[x + 1]]}
        if with_contacts == group:
            break
        group = with_contacts
    colors = surroundings(graph)
    like = Counter(colors[x] for x in range(graph.n_nodes) if x not in group)
    other_nodes = [x for x in range(graph.n_nodes) if x not in group and like[colors[x]] == 1]
    assert len(other_nodes) > 20
    assert (belief.mapping[other_nodes] == number[other_nodes]).mean() > 0.9


def test_a_person_without_an_edge_has_no_match():
    pair = SocialGraph.from_edges([0, 1], [1, 2], n_nodes=4)
    belief = Refinement()(pair, Auxiliary(pair, (np.array([0]), np.array([0]))))
    assert belief.mapping.tolist() == [0, 1, 2, -1]
    assert belief.indptr[4] == belief.indptr[3]


def test_several_who_are_like_fewer_share_them():
    star = SocialGraph.from_edges([0, 0, 0], [1, 2, 3])
    fewer = SocialGraph.from_edges([0, 0, 4], [1, 2, 0], n_nodes=5)  # the same star, one leaf of which is the seed
    belief = Refinement()(fewer, Auxiliary(star, (np.array([3]), np.array([4]))))
    assert belief.mapping.tolist() == [0, -1, -1, 4]
    assert np.exp(belief.log_probability[belief.indptr[1] : belief.indptr[2]]) == pytest.approx(0.5)
