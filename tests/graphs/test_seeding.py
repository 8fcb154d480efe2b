import math
import os
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph

from unmask.core.errors import UnmaskError
from unmask.graphs.criteria import local_anonymity
from unmask.graphs.datasets import barabasi_albert, chung_lu, network, power_law_degrees
from unmask.graphs.graph import SocialGraph
from unmask.graphs.knowledge import Pair, SeedPairs, betweenness, centrality, closeness, clustering, select_seeds, split


def rng(seed=1):
    return np.random.default_rng(seed)


@st.composite
def graphs(draw, max_nodes=9):
    n = draw(st.integers(1, max_nodes))
    pairs = list(combinations(range(n), 2))
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return SocialGraph.from_edges([a for a, _ in chosen], [b for _, b in chosen], n_nodes=n)


def hops(graph):
    return csgraph.shortest_path(graph.adjacency().astype(float), unweighted=True)


# --- centrality -----------------------------------------------------------------------------------------------------


def slow_betweenness(graph):
    """By the definition: paths[s, t] counted by powers of the adjacency, v between iff the distances add up."""
    distance, a, n = hops(graph), graph.adjacency().toarray().astype(float), graph.n_nodes
    powers = [np.eye(n)]
    while len(powers) <= n:
        powers.append(powers[-1] @ a)
    paths = np.array([[powers[int(d)][s, t] if np.isfinite(d) else 0 for t, d in enumerate(row)]
                      for s, row in enumerate(distance)])  # fmt: skip
    total = np.zeros(n)
    for s, t in combinations(range(n), 2):
        for v in set(range(n)) - {s, t}:
            if np.isfinite(distance[s, t]) and distance[s, v] + distance[v, t] == distance[s, t]:
                total[v] += paths[s, v] * paths[v, t] / paths[s, t]
    return total


@given(graphs())
def test_betweenness_by_its_definition(graph):
    assert betweenness(graph) == pytest.approx(slow_betweenness(graph))


@given(graphs())
def test_closeness_by_its_definition(graph):
    distance, n = hops(graph), graph.n_nodes
    for v, value in enumerate(closeness(graph)):
        finite_distances = distance[v][np.isfinite(distance[v])]
        mean = finite_distances.sum() / max(len(finite_distances) - 1, 1)
        assert value == pytest.approx((len(finite_distances) - 1) / (n - 1) / mean if mean else 0.0)
    assert closeness(graph, [n - 1]).tolist() == closeness(graph)[-1:].tolist()


@given(graphs())
def test_clustering_by_its_definition(graph):
    for v, value in enumerate(clustering(graph)):
        pairs = list(combinations(graph.neighbors(v).tolist(), 2))
        edges = [pair for pair in pairs if graph.has_edges([pair[0]], [pair[1]])[0]]
        assert value == pytest.approx(len(edges) / len(pairs) if pairs else 0.0)


@pytest.mark.skipif(not os.environ.get("UNMASK_DATA"), reason="UNMASK_DATA names no folder with the data")
def test_the_karate_club():
    # As networkx 3 and igraph give them: betweenness of members 1, 34 and 33, closeness of 1, mean clustering.
    graph = network("karate")
    assert betweenness(graph)[[0, 33, 32]] == pytest.approx([231.0714, 160.5516, 76.6905], abs=1e-3)
    assert closeness(graph)[0] == pytest.approx(0.568966, abs=1e-6)
    assert clustering(graph).mean() == pytest.approx(0.570638, abs=1e-6)


def test_sampled_betweenness_is_right_on_average(monkeypatch):
    graph = barabasi_albert(60, 2, rng=rng())
    exact = betweenness(graph)
    monkeypatch.setattr(centrality, "_MAX_EXACT_STEPS", 10 * len(graph.neighbor))  # about ten walks of sixty
    draws = np.array([betweenness(graph, rng=rng(seed)) for seed in range(400)])
    assert draws.std(axis=0).max() > 0
    error = draws.std(axis=0, ddof=1) / math.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - exact) <= 5 * error + 1e-9).all()
    assert betweenness(graph).tolist() == exact.tolist()  # without a generator there is nothing to draw


def test_a_node_that_is_not_there_has_no_closeness():
    with pytest.raises(UnmaskError, match="expected 0 to 1"):
        closeness(SocialGraph.from_edges([0], [1]), [2])


# --- seeds by centrality --------------------------------------------------------------------------------------------

HUBS = chung_lu(power_law_degrees(1_500, exponent=2.5, mean=12), rng=rng(3))
PAIR = split(HUBS, node_overlap=0.5, edge_overlap=0.75, rng=rng(4), largest_component=True)
MERITS = {
    "betweenness": betweenness(PAIR.source),
    "closeness": closeness(PAIR.source),
    "lta": -local_anonymity(PAIR.source, variant="A"),
    "clustering": clustering(PAIR.source),
}


@pytest.mark.parametrize("method", ["betweenness", "closeness", "lta", "clustering"])
def test_the_best_by_a_merit_are_taken(method):
    seeds = select_seeds(PAIR, method, n=25, rng=rng())
    merit = MERITS[method]
    assert sorted(merit[seeds.source]) == pytest.approx(sorted(merit[PAIR.common])[-25:])
    assert len(set(seeds.source.tolist())) == 25
    assert seeds.target.tolist() == PAIR.truth[seeds.source].tolist()


@pytest.mark.parametrize("method", ["betweenness", "closeness"])
def test_a_share_bounds_the_degree_and_not_the_centrality(method):
    degree = PAIR.source.degree[PAIR.common]
    n = math.ceil(0.1 * len(degree))
    pool = np.sort(degree)[-n:]
    everyone = select_seeds(PAIR, f"{method}.1", n=n, rng=rng())
    assert sorted(PAIR.source.degree[everyone.source]) == pool.tolist()
    seeds = select_seeds(PAIR, f"{method}.1", n=n // 2, rng=rng())
    assert (PAIR.source.degree[seeds.source] >= pool[0]).all()
    merit = MERITS[method]
    sure = PAIR.common[PAIR.source.degree[PAIR.common] > pool[0]]  # those at the border are drawn
    not_drawn = np.setdiff1d(sure, seeds.source)
    assert merit[not_drawn].max() <= merit[seeds.source].min()
    with pytest.raises(UnmaskError, match=f"has {n} people"):
        select_seeds(PAIR, f"{method}.1", n=n + 1, rng=rng())


def test_high_clustering_skips_the_highest_fifth():
    ordered = np.sort(clustering(PAIR.source)[PAIR.common])[::-1]
    skipped = math.ceil(0.2 * len(ordered))
    seeds = select_seeds(PAIR, "clustering.high", n=30, rng=rng())
    assert sorted(clustering(PAIR.source)[seeds.source]) == pytest.approx(sorted(ordered[skipped : skipped + 30]))
    assert ordered[skipped] < ordered[0]
    with pytest.raises(UnmaskError, match=f"has {len(ordered) - skipped} people"):
        select_seeds(PAIR, "clustering.high", n=len(ordered), rng=rng())


def test_people_without_an_anonymity_come_last():
    # The tie 4-5 has no second hop: LTA is undefined for both.
    graph = SocialGraph.from_edges([0, 1, 2, 4], [1, 2, 3, 5])
    pair = Pair(graph, graph, np.arange(6))
    assert set(select_seeds(pair, "lta", n=4, rng=rng()).source.tolist()) == {0, 1, 2, 3}
    assert len(select_seeds(pair, "lta", n=6, rng=rng()).source) == 6


def test_ties_are_drawn():
    circle = SocialGraph.from_edges(np.arange(40), (np.arange(40) + 1) % 40)
    pair = Pair(circle, circle, np.arange(40))
    for method in ("betweenness", "closeness.5", "lta", "clustering", "clustering.high"):
        drawn = {tuple(select_seeds(pair, method, n=5, rng=rng(seed)).source.tolist()) for seed in range(5)}
        assert len(drawn) == 5, method


def test_ties_are_not_broken_by_degree():
    # Ten triangles and ten cliques of five: all clustered to the full, of two degrees.
    pairs = [pair for index in range(0, 30, 3) for pair in combinations(range(index, index + 3), 2)]
    pairs += [pair for index in range(30, 80, 5) for pair in combinations(range(index, index + 5), 2)]
    graph = SocialGraph.from_edges(*np.array(pairs).T)
    seeds = select_seeds(Pair(graph, graph, np.arange(80)), "clustering", n=40, rng=rng())
    assert set(graph.degree[seeds.source].tolist()) == {2, 4}


@pytest.mark.parametrize("method", ["betweenness.", "lta.2", "clustering.2", "clustering.low", "closeness.x", "top.1"])
def test_unknown_methods_are_refused(method):
    with pytest.raises(UnmaskError, match="seed method"):
        select_seeds(PAIR, method, n=2, rng=rng())


# --- seeds and truths that are given --------------------------------------------------------------------------------

NAMED = SocialGraph.from_edges([0, 1, 2], [1, 2, 3], labels=["ann", "bob", "cid", "dan"])
COUNTED = SocialGraph.from_edges([0, 1, 2], [1, 2, 3], labels=[70, 7, 700, 1])


def test_seeds_by_label():
    seeds = SeedPairs.from_labels(NAMED, COUNTED, ["dan", "ann"], [7, "700"])
    assert (seeds.source.tolist(), seeds.target.tolist()) == ([3, 0], [1, 2])
    assert SeedPairs.from_labels(NAMED.take([1, 0, 2, 3]), NAMED, ["bob"], ["bob"]).source.tolist() == [0]


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (["zoe", "eve"], [7, 70], "none of 2 seeds has a label of each graph; check the labels"),
        (["ann", "bob"], [8, 9], "none of 2 seeds has a label of each graph"),
        (["ann", "eve", "ann"], [7, 70, 1], "row 3 of the seeds repeats a source node"),
        (["ann", "bob", "ann"], [7, 70, 1], "row 3 of the seeds repeats a source node"),
        (["ann", "bob", "cid"], [7, 7, 1], "row 2 of the seeds repeats a target node"),
        (["ann"], [7, 70], "1 source and 2 target labels"),
    ],
)
def test_seeds_that_do_not_fit_are_refused_without_their_names(source, target, message):
    with pytest.raises(UnmaskError, match=message) as caught:
        SeedPairs.from_labels(NAMED, COUNTED, source, target)
    assert not any(name in str(caught.value) for name in ("ann", "eve", "zoe"))


def test_seeds_without_an_edge_in_one_of_the_networks_are_left_out():  # a list of links has nobody without an edge
    seeds = SeedPairs.from_labels(NAMED, COUNTED, ["eve", "ann", "bob"], [7, 70, 8])
    assert (seeds.source.tolist(), seeds.target.tolist(), seeds.left_out) == ([0], [0], 2)
    message = (
        "2 of 3 rows have a person who is not in both networks, such as a person without an edge, and are left out"
    )
    assert seeds.evidence == message
    assert SeedPairs.from_labels(NAMED, COUNTED, ["ann"], [70]).evidence == ""


@pytest.mark.parametrize(
    "text",
    ["mine,theirs\ndan,7\nann,700\n", "dan 7\nann 700\n", '"dan","7"\n"ann","700"\n', "# known\ndan\t7\nann\t700"],
)
def test_seeds_of_a_file(tmp_path, text):
    file = tmp_path / ("seeds.csv" if "," in text else "seeds.txt")
    file.write_text(text.replace("mine,theirs", "source,target"))
    seeds = SeedPairs.read(NAMED, COUNTED, file)
    assert (seeds.source.tolist(), seeds.target.tolist()) == ([3, 0], [1, 2])


def test_a_file_of_one_column_is_refused(tmp_path):
    file = tmp_path / "seeds.csv"
    file.write_text("dan|7\nann|700\n")
    assert len(SeedPairs.read(NAMED, COUNTED, file).target) == 2
    file.write_text("dan\nann\n")
    with pytest.raises(UnmaskError, match=r"'seeds\.csv' has one column"):
        SeedPairs.read(NAMED, COUNTED, file)


def test_a_file_of_a_header_alone_is_refused_as_that(tmp_path):
    file = tmp_path / "seeds.csv"
    file.write_text("person,node\n")
    with pytest.raises(UnmaskError, match=r"'seeds\.csv' has one line, which names no node of either graph"):
        SeedPairs.read(NAMED, COUNTED, file)
    file.write_text("ann,node\n")
    with pytest.raises(UnmaskError, match="none of 1 seeds has a label of each graph"):
        SeedPairs.read(NAMED, COUNTED, file)


def test_the_rows_of_a_file_keep_their_order(tmp_path):
    n = 20_000
    graph = SocialGraph.from_edges([0], [1], labels=[f"p{node}" for node in range(n)])
    file = tmp_path / "seeds.txt"
    order = rng().permutation(n)
    file.write_text("".join(f"p{node} p{node}\n" for node in order))
    assert SeedPairs.read(graph, graph, file).source.tolist() == order.tolist()


def test_a_truth_by_label(tmp_path):
    pair = Pair.from_labels(NAMED, COUNTED, ["cid", "cid", "eve", "ann"], [1, 7, 7, 70])
    assert pair.truth.tolist() == [0, -1, 3, -1]
    file = tmp_path / "truth.csv"
    file.write_text("source,target\ncid,1\ncid,7\neve,7\nann,70\n")
    assert Pair.read(NAMED, COUNTED, file).truth.tolist() == [0, -1, 3, -1]
    with pytest.raises(UnmaskError, match="none of 2 rows"):
        Pair.from_labels(NAMED, COUNTED, ["eve", "ann"], [7, 8])
