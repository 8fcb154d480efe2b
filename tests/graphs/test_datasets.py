import gzip
import math
import os
from pathlib import Path

import numpy as np
import pytest

from unmask.core.errors import UnmaskError
from unmask.graphs import datasets

needs_data = pytest.mark.skipif(not os.environ.get("UNMASK_DATA"), reason="UNMASK_DATA names no folder with the data")


def rng(seed=1):
    return np.random.default_rng(seed)


# --- loaders (counts: the data's own pages, recounted in the manifest of the data folder) ---------------------------


@needs_data
@pytest.mark.parametrize(
    ("name", "nodes", "edges", "links", "self_loops"),
    [
        ("epinions", 75_879, 405_740, 508_837, 0),
        ("slashdot", 82_168, 504_230, 948_464, 78_303),
        ("wiki-vote", 7_115, 100_762, 103_689, 0),
        ("facebook", 4_039, 88_234, 88_234, 0),
        ("enron", 36_692, 183_831, 367_662, 0),
        ("ca-hepth", 9_877, 25_973, 51_971, 25),
        ("ca-hepph", 12_008, 118_489, 237_010, 32),
        ("ca-condmat", 23_133, 93_439, 186_936, 58),
        ("ca-grqc", 5_242, 14_484, 28_980, 12),
        ("email-eu", 1_005, 16_064, 25_571, 642),
        ("advogato", 6_539, 39_285, 51_127, 3_992),
        ("karate", 34, 78, 78, 0),
        ("cond-mat-2005", 36_458, 171_735, 171_735, 0),
        ("twitter-mentions", 9_745, 49_030, 50_164, 1_134),
        ("gowalla-friends", 16_584, 86_985, 86_985, 0),
    ],
)
def test_networks(name, nodes, edges, links, self_loops):
    graph = datasets.network(name)
    assert [graph.n_nodes, graph.n_edges, graph.dropped.self_loops] == [nodes, edges, self_loops]
    lost = graph.dropped
    assert graph.n_edges + lost.self_loops + lost.duplicates + lost.reversed == links
    assert int(graph.degree.sum()) == 2 * edges
    assert len(np.unique(graph.labels)) == nodes


@needs_data
def test_degrees_of_two_networks_as_published():
    # Gulyas 2015, section 4.1: share of nodes with at most 3 neighbors, 58.9 % (Slashdot) and 69.6 % (Epinions).
    for name, share in (("slashdot", 0.589), ("epinions", 0.696)):
        assert (datasets.network(name).degree <= 3).mean() == pytest.approx(share, abs=0.0006)


@needs_data
@pytest.mark.parametrize(
    ("name", "source", "target", "common", "n_shared"),
    [  # the last: edges among matched people that are in both graphs
        ("acm-dblp", 9_872, 9_916, 6_325, 23_762),
        ("douban", 3_906, 1_118, 1_118, 1_511),
    ],
)
def test_pairs(name, source, target, common, n_shared):
    pair = datasets.pair(name)
    assert [pair.source.n_nodes, pair.target.n_nodes, len(pair.common)] == [source, target, common]
    assert pair.shared.n_edges == n_shared
    assert pair.source.labels.tolist() == list(range(source))  # so that the numbers of the truth are the nodes'


@needs_data
def test_a_pair_whose_truth_is_not_one_to_one():
    pair = datasets.pair("allmovie-tmdb")
    assert [pair.source.n_nodes, pair.target.n_nodes, len(pair.common)] == [6_011, 5_713, 5_174]
    assert len(np.unique(pair.truth[pair.common])) in range(5_162, 5_165)  # 5,164 less those only listed second
    with gzip.open(Path(os.environ["UNMASK_DATA"]) / "graphs/pairs/allmovie_tmdb/truth.txt.gz", "rt") as file:
        edges_listed = [tuple(map(int, line.split())) for line in file]
    assert len(edges_listed) == 5_176
    first = dict(reversed(edges_listed))
    assert {source: int(pair.truth[source]) for source in first} == first
    assert first != dict(edges_listed)


def test_every_name_has_a_loader_and_wrong_names_are_reported():
    assert len(datasets.NETWORKS) == 15
    assert set(datasets.PAIRS) == {"acm-dblp", "allmovie-tmdb", "douban"}
    with pytest.raises(UnmaskError, match="did you mean 'epinions'"):
        datasets.network("epinion")
    with pytest.raises(UnmaskError, match="unknown"):
        datasets.pair("epinions")


# --- random graphs --------------------------------------------------------------------------------------------------


def test_erdos_renyi_has_as_many_edges_as_expected_and_favors_no_pair():
    n, p = 400, 0.05
    graph = datasets.erdos_renyi(n, p, rng=rng())
    n_pairs = n * (n - 1) / 2
    assert graph.n_edges == pytest.approx(n_pairs * p, abs=4 * math.sqrt(n_pairs * p * (1 - p)))
    counts = sum(datasets.erdos_renyi(6, 0.3, rng=rng(s)).adjacency().toarray().astype(int) for s in range(2_000))
    deviations = counts[np.triu_indices(6, 1)]
    assert (np.abs(deviations - 600) < 4.5 * math.sqrt(2_000 * 0.3 * 0.7)).all()


def test_erdos_renyi_at_the_ends():
    assert datasets.erdos_renyi(50, 1.0, rng=rng()).n_edges == 1_225
    assert datasets.erdos_renyi(50, 0.0, rng=rng()).n_edges == 0
    assert datasets.erdos_renyi(1, 0.5, rng=rng()).n_nodes == 1
    assert datasets.erdos_renyi(100_000, 1e-15, rng=rng()).n_edges == 0


def test_barabasi_albert_is_connected_and_has_a_heavy_tail():
    graph = datasets.barabasi_albert(4_000, 3, rng=rng())
    assert graph.n_edges == 3 * (4_000 - 3)
    assert graph.dropped.duplicates == graph.dropped.reversed == 0
    assert len(graph.largest_component()) == 4_000
    assert graph.degree[4:].min() == 3
    # P(degree >= k) = m (m + 1) / (k (k + 1)) in the limit (Dorogovtsev, Mendes, Samukhin 2000).
    for k in (6, 12, 24):
        share = 12 / (k * (k + 1))
        assert (graph.degree >= k).mean() == pytest.approx(share, abs=4 * math.sqrt(share / 4_000))


def test_chung_lu_has_the_edge_probabilities_of_its_formula():
    w = np.array([3.0, 2.0, 1.0, 1.0, 0.0])
    runs = 4_000
    counts = sum(datasets.chung_lu(w, rng=rng(s)).adjacency().toarray().astype(int) for s in range(runs))
    p = 1 - np.exp(-np.outer(w, w) / w.sum())
    np.fill_diagonal(p, 0)
    assert (np.abs(counts / runs - p) <= 4 * np.sqrt(p * (1 - p) / runs)).all()


def test_chung_lu_keeps_the_expected_degrees_where_they_are_small():
    w = datasets.power_law_degrees(20_000, exponent=3, mean=8)
    degree = datasets.chung_lu(w, rng=rng()).degree
    assert w.mean() == pytest.approx(8)
    for part in (slice(1_000, 5_000), slice(10_000, 20_000)):
        assert degree[part].mean() == pytest.approx(w[part].mean(), rel=0.03)
    # Tail: P(w > x) falls with exponent -2, so four times the rank is half the degree.
    assert w[1_000] / w[4_000] == pytest.approx(2, rel=0.001)


def test_watts_strogatz_keeps_its_edges_and_moves_the_share_asked_for():
    ring = datasets.watts_strogatz(1_000, 6, 0.0, rng=rng())
    assert (ring.degree == 6).all()
    rewired = datasets.watts_strogatz(1_000, 6, 0.2, rng=rng())
    assert rewired.n_edges == 3_000
    n_kept = int(ring.has_edges(*rewired.edges()).sum())
    assert n_kept / 3_000 == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / 3_000) + 0.002)  # few move back to the ring
    assert datasets.watts_strogatz(5, 4, 1.0, rng=rng()).n_edges == 10  # complete: nothing can move
    assert datasets.watts_strogatz(5, 0, 1.0, rng=rng()).n_edges == 0


@pytest.mark.parametrize(
    "draw",
    [
        lambda g: datasets.erdos_renyi(200, 0.05, rng=g),
        lambda g: datasets.barabasi_albert(200, 3, rng=g),
        lambda g: datasets.chung_lu([5.0] * 200, rng=g),
        lambda g: datasets.watts_strogatz(200, 4, 0.5, rng=g),
    ],
)
def test_generators_follow_their_seed(draw):
    first, again, other_seed = (draw(rng(seed)) for seed in (1, 1, 2))
    assert first.neighbor.tolist() == again.neighbor.tolist()
    assert first.neighbor.tolist() != other_seed.neighbor.tolist()


@pytest.mark.parametrize(
    "draw",
    [
        lambda: datasets.erdos_renyi(-1, 0.5, rng=rng()),
        lambda: datasets.erdos_renyi(5, 1.5, rng=rng()),
        lambda: datasets.barabasi_albert(3, 3, rng=rng()),
        lambda: datasets.barabasi_albert(3, 0, rng=rng()),
        lambda: datasets.chung_lu([-1.0], rng=rng()),
        lambda: datasets.chung_lu([math.inf], rng=rng()),
        lambda: datasets.watts_strogatz(5, 3, 0.5, rng=rng()),
        lambda: datasets.watts_strogatz(4, 4, 0.5, rng=rng()),
        lambda: datasets.power_law_degrees(5, exponent=2, mean=3),
    ],
)
def test_parameters_out_of_range_are_refused(draw):
    with pytest.raises(UnmaskError, match=r"expected|give"):
        draw()
