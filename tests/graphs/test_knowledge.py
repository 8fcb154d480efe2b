import math

import numpy as np
import pytest

from unmask.core.errors import UnmaskError
from unmask.graphs.datasets import chung_lu, erdos_renyi, power_law_degrees
from unmask.graphs.graph import SocialGraph
from unmask.graphs.knowledge import NO_NODE, Pair, SeedPairs, select_seeds, split
from unmask.graphs.knowledge.seeding import clique


def rng(seed=1):
    return np.random.default_rng(seed)


PARENT = erdos_renyi(3_000, 0.01, rng=rng())  # about 45,000 edges


# --- splitting ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("a", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("b", [0.25, 0.75, 1.0])
def test_overlaps_before_the_cut_are_as_defined(a, b):
    pair = split(PARENT, node_overlap=a, edge_overlap=b, rng=rng())
    n = PARENT.n_nodes
    assert len(pair.common) == round(a * n)
    assert pair.source.n_nodes == pair.target.n_nodes == n * (1 + a) / 2
    assert pair.node_overlap == pytest.approx(a)
    if a == 0:
        assert math.isnan(pair.edge_overlap)
        return
    q = 2 * b / (1 + b)
    # Edges survive where both ends do and the edge is kept: q ((1 + a) / 2)^2 of them; 4 standard errors.
    expected = PARENT.n_edges * q * ((1 + a) / 2) ** 2
    assert pair.source.n_edges == pytest.approx(expected, rel=4 * math.sqrt(4 / n + 1 / expected))
    either = PARENT.n_edges * a**2 * (1 - (1 - q) ** 2)
    assert pair.edge_overlap == pytest.approx(b, abs=4 * math.sqrt(b * (1 - b) / either) + 1e-12)


def test_edges_are_kept_independently_in_the_two_graphs():
    # With the same edges in both the Jaccard index would be 1; with independent ones of share q it is q / (2 - q).
    pair = split(PARENT, node_overlap=1, edge_overlap=0.5, rng=rng())
    q = 2 / 3
    assert pair.source.n_edges == pair.target.n_edges == round(q * PARENT.n_edges)
    assert pair.edge_overlap == pytest.approx(q / (2 - q), abs=0.01)


def test_the_truth_ties_the_same_people():
    # Everything kept: the target is the parent under other numbers, and the source's labels are the parent's numbers.
    pair = split(PARENT, node_overlap=1, edge_overlap=1, rng=rng())
    u, v = pair.source.edges()
    assert pair.target.has_edges(pair.truth[u], pair.truth[v]).all()
    assert PARENT.has_edges(pair.source.labels[u], pair.source.labels[v]).all()
    assert pair.source.n_edges == pair.target.n_edges == PARENT.n_edges
    assert sorted(pair.truth.tolist()) == list(range(PARENT.n_nodes))


def test_partial_overlap_keeps_the_truth_one_to_one_and_right():
    pair = split(PARENT, node_overlap=0.5, edge_overlap=1, rng=rng())
    result = pair.truth[pair.common]
    assert len(np.unique(result)) == len(result)
    # All parent edges among common people are in both graphs, so the two subgraphs are the same.
    source_part = pair.source.take(pair.common)
    target_part = pair.target.take(result)
    assert source_part.neighbor.tolist() == target_part.neighbor.tolist()
    assert source_part.indptr.tolist() == target_part.indptr.tolist()
    assert source_part.n_edges > 1_000


def test_node_numbers_are_independent_of_each_other_and_of_the_parent():
    pair = split(PARENT, node_overlap=1, edge_overlap=1, rng=rng())
    n = PARENT.n_nodes
    for number in (pair.truth, pair.source.labels):
        assert (number == np.arange(n)).sum() < 8  # a random permutation has one fixed point on average
        assert abs(np.corrcoef(number, np.arange(n))[0, 1]) < 4 / math.sqrt(n)
    # The order says nothing about who is common either: ranks of common people are uniform.
    half = split(PARENT, node_overlap=0.5, edge_overlap=1, rng=rng())
    for nodes, graph in ((half.common, half.source), (half.truth[half.common], half.target)):
        assert nodes.mean() / graph.n_nodes == pytest.approx(0.5, abs=4 / math.sqrt(12 * len(nodes)))


def test_both_graphs_are_cut_to_their_largest_component_where_that_is_asked_for():
    parent = chung_lu(power_law_degrees(3_000, exponent=2.5, mean=4), rng=rng())
    full = split(parent, node_overlap=0.5, edge_overlap=0.5, rng=rng())
    cut = split(parent, node_overlap=0.5, edge_overlap=0.5, rng=rng(), largest_component=True)
    for initial, after in ((full.source, cut.source), (full.target, cut.target)):
        assert after.n_nodes == len(initial.largest_component()) < initial.n_nodes
        assert len(after.largest_component()) == after.n_nodes
    survivors = np.isin(full.common, full.source.largest_component())
    survivors &= np.isin(full.truth[full.common], full.target.largest_component())
    assert len(cut.common) == survivors.sum()
    assert set(cut.source.labels[cut.common]) == set(full.source.labels[full.common[survivors]])


def test_names_stay_with_the_adversary():
    parent = SocialGraph.from_edges([0, 1, 2], [1, 2, 0], labels=["a", "b", "c"])
    pair = split(parent, node_overlap=1, edge_overlap=1, rng=rng())
    assert sorted(pair.source.labels) == ["a", "b", "c"]
    assert pair.target.labels is None


def test_the_same_seed_gives_the_same_pair_and_another_another():
    pairs = [split(PARENT, node_overlap=0.5, edge_overlap=0.5, rng=rng(seed)) for seed in (1, 1, 2)]
    assert pairs[0].truth.tolist() == pairs[1].truth.tolist()
    assert pairs[0].target.neighbor.tolist() == pairs[1].target.neighbor.tolist()
    assert pairs[0].truth.tolist() != pairs[2].truth.tolist()


def test_shuffling_keeps_the_people():
    pair = split(PARENT, node_overlap=0.5, edge_overlap=0.5, rng=rng())
    again = pair.shuffled(rng=rng(2))
    assert again.truth.tolist() != pair.truth.tolist()
    assert (again.node_overlap, again.edge_overlap) == (pair.node_overlap, pair.edge_overlap)
    assert set(again.source.labels[again.common]) == set(pair.source.labels[pair.common])


def test_the_measures_of_a_small_pair_by_hand():
    source = SocialGraph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    target = SocialGraph.from_edges([0, 1, 2], [1, 2, 3])
    pair = Pair(source, target, np.array([1, 0, 2, NO_NODE]))
    assert pair.common.tolist() == [0, 1, 2]
    assert pair.node_overlap == 3 / 5
    # Among common people: source 0-1, 1-2, 0-2; target (as source nodes) 1-0, 0-2. Both: 0-1, 0-2.
    assert pair.shared.edges()[1].tolist() == [1, 2]
    assert pair.edge_overlap == 2 / 3


def test_two_definitions_of_edge_overlap():
    # Each graph keeps each edge with probability s: Jaccard index s / (2 - s).
    for s in (0.5, 0.75, 0.9):
        pair = split(PARENT, node_overlap=1, edge_overlap=s / (2 - s), rng=rng())
        assert pair.source.n_edges == round(s * PARENT.n_edges)
        assert 2 * pair.edge_overlap / (1 + pair.edge_overlap) == pytest.approx(s, abs=0.01)
    assert math.isnan(split(PARENT, node_overlap=0, edge_overlap=1, rng=rng()).edge_overlap)


@pytest.mark.parametrize(("a", "b"), [(-0.1, 0.5), (1.1, 0.5), (0.5, 0.0), (0.5, 1.5), (math.nan, 0.5)])
def test_overlaps_out_of_range_are_refused(a, b):
    with pytest.raises(UnmaskError, match="expected"):
        split(PARENT, node_overlap=a, edge_overlap=b, rng=rng())


def test_a_truth_that_does_not_fit_is_refused():
    graph = SocialGraph.from_edges([0], [1])
    with pytest.raises(UnmaskError, match="one for each"):
        Pair(graph, graph, np.array([0]))
    with pytest.raises(UnmaskError, match="beyond"):
        Pair(graph, graph, np.array([0, 2]))


# --- seeds ----------------------------------------------------------------------------------------------------------

HUBS = chung_lu(power_law_degrees(2_000, exponent=2.5, mean=20), rng=rng(3))
PAIR = split(HUBS, node_overlap=0.5, edge_overlap=0.75, rng=rng(4))
METHODS = ["random", "random.25", "random.05", "top", "clique.3", "clique.4.2", "neighborhood.4", "neighborhood.4.25"]


@pytest.mark.parametrize("method", METHODS)
def test_seeds_are_common_people_each_once(method):
    source, target = select_seeds(PAIR, method, n=12, rng=rng())
    assert len(source) == len(set(source.tolist())) == 12
    assert PAIR.truth[source].tolist() == target.tolist()
    assert (target >= 0).all()
    again = select_seeds(PAIR, method, n=12, rng=rng())
    assert again.source.tolist() == source.tolist()


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"top"}))
def test_another_seed_of_the_generator_gives_other_seeds(method):
    sets = {tuple(select_seeds(PAIR, method, n=12, rng=rng(seed)).source.tolist()) for seed in range(3)}
    assert len(sets) == 3


def test_top_and_random_go_by_source_degree():
    degree = PAIR.source.degree[PAIR.common]
    top = select_seeds(PAIR, "top", n=20, rng=rng())
    assert sorted(PAIR.source.degree[top.source]) == sorted(degree)[-20:]
    n_highest = math.ceil(0.25 * len(degree))
    everyone = select_seeds(PAIR, "random.25", n=n_highest, rng=rng())
    assert sorted(PAIR.source.degree[everyone.source]) == sorted(degree)[-n_highest:]
    seeds_drawn = select_seeds(PAIR, "random.25", n=50, rng=rng())
    assert PAIR.source.degree[seeds_drawn.source].min() >= sorted(degree)[-n_highest]
    assert not np.isin(seeds_drawn.source, select_seeds(PAIR, "top", n=50, rng=rng()).source).all()
    with pytest.raises(UnmaskError, match=f"has {n_highest} people"):
        select_seeds(PAIR, "random.25", n=n_highest + 1, rng=rng())


def test_groups_are_cliques_in_both_graphs():
    seeds = select_seeds(PAIR, "clique.4", n=16, rng=rng())
    for index in range(0, 16, 4):
        for graph, nodes in (
            (PAIR.source, seeds.source[index : index + 4]),
            (PAIR.target, seeds.target[index : index + 4]),
        ):
            assert graph.has_edges(*np.array([(a, b) for a in nodes for b in nodes if a != b]).T).all()


def test_neighborhoods_are_connected_in_both_graphs():
    seeds = select_seeds(PAIR, "neighborhood.5", n=20, rng=rng())
    for index in range(0, 20, 5):
        for graph, nodes in (
            (PAIR.source, seeds.source[index : index + 5]),
            (PAIR.target, seeds.target[index : index + 5]),
        ):
            assert len(graph.take(nodes).largest_component()) == 5


def test_a_hub_costs_about_as_many_looks_as_it_has_ties():
    looks = []

    class Counted(int):
        def __hash__(self):
            looks.append(1)
            return super().__hash__()

    class Random:
        def permutation(self, nodes):
            return np.array([Counted(node) for node in nodes], dtype=object)

    n = 300
    star = SocialGraph.from_edges(np.zeros(n, dtype=np.int64), np.arange(1, n + 1))
    assert clique(star, 0, 3, set(), Random()) == []
    assert len(looks) <= 4 * n


@pytest.mark.parametrize("kind", [Pair, SeedPairs])
@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("user1,user_2\nann,ben\n", 2),
        ("source,target\nann,ben\n", 1),
        ("original,released,role\nann,ben,whole\n", 1),
        ("who,whom\n7,8\n", 1),
        ("u,v\n", 0),
    ],
)
def test_a_line_that_names_people_is_no_header(tmp_path, kind, text, n):
    source = SocialGraph.from_edges([0, 1], [1, 2], labels=["user1", "ann", "7"])
    target = SocialGraph.from_edges([0, 1], [1, 2], labels=["user_2", "ben", "8"])
    (tmp_path / "who.csv").write_text(text)
    if not n:
        with pytest.raises(UnmaskError, match="has one line, which names no node"):
            kind.read(source, target, tmp_path / "who.csv")
        return
    result = kind.read(source, target, tmp_path / "who.csv")
    assert len(result.common if kind is Pair else result.source) == n


def test_all_cliques_there_are_and_no_more_are_found():
    # Two triangles and a square; in the target one triangle lacks an edge.
    u, v = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 2, 5], [1, 2, 0, 4, 5, 3, 7, 8, 9, 6, 3, 6]
    source = SocialGraph.from_edges(u, v)
    target = SocialGraph.from_edges(u[1:], v[1:])
    pair = Pair(source, target, np.arange(10))
    assert sorted(select_seeds(pair, "clique.3", n=3, rng=rng()).source.tolist()) == [3, 4, 5]
    with pytest.raises(UnmaskError, match="has only 3 of 6 seeds"):
        select_seeds(pair, "clique.3", n=6, rng=rng())
    assert len(select_seeds(Pair(source, source, np.arange(10)), "clique.3", n=6, rng=rng()).source) == 6


def test_wrong_seeds_are_wrong_and_the_others_right():
    seeds = select_seeds(PAIR, "random", n=40, rng=rng(), error=0.25)
    assert (PAIR.truth[seeds.source] != seeds.target).sum() == 10
    assert len(np.unique(seeds.target)) == 40
    true = set(PAIR.truth[seeds.source].tolist())
    wrong_targets = seeds.target[PAIR.truth[seeds.source] != seeds.target]
    assert not true & set(wrong_targets.tolist())


def test_two_sources_of_one_target_give_one_seed():
    graph = SocialGraph.from_edges([0, 1], [1, 2])
    pair = Pair(graph, graph, np.array([0, 0, 1]))
    seeds = select_seeds(pair, "random", n=2, rng=rng())
    assert sorted(seeds.target.tolist()) == [0, 1]
    with pytest.raises(UnmaskError, match="2 people"):
        select_seeds(pair, "random", n=3, rng=rng())


@pytest.mark.parametrize("method", ["best", "top.2", "clique", "clique.1", "random.", "clique.x", "TOP", ""])
def test_unknown_methods_are_refused(method):
    with pytest.raises(UnmaskError, match="seed method"):
        select_seeds(PAIR, method, n=2, rng=rng())


def test_counts_out_of_range_are_refused():
    with pytest.raises(UnmaskError, match="at least 0"):
        select_seeds(PAIR, "top", n=-1, rng=rng())
    with pytest.raises(UnmaskError, match="a share"):
        select_seeds(PAIR, "top", n=1, rng=rng(), error=2)
    with pytest.raises(UnmaskError, match="multiple of 4"):
        select_seeds(PAIR, "clique.4", n=10, rng=rng())


def test_a_node_of_the_release_behind_two_people_is_named_by_file_and_rows(tmp_path):
    source = SocialGraph.from_edges([0, 1], [1, 2], labels=["a", "b", "c"])
    target = SocialGraph.from_edges([0, 1], [1, 2], labels=["x", "y", "z"])
    path = tmp_path / "truth.csv"
    path.write_text("mine,theirs\na,x\nb,y\nc,x\n")
    with pytest.raises(UnmaskError, match=r"'truth.csv', .* rows 1 and 3 give one node") as refused:
        Pair.read(source, target, path)
    assert "x" not in str(refused.value).replace("expected", "").split()
    with pytest.raises(UnmaskError, match=r"'truth.csv', .* row 3 of the seeds"):
        SeedPairs.read(source, target, path)
    path.write_text("mine,theirs\na,x\na,z\nc,x\n")  # people with several identities are joined
    assert Pair.read(source, target, path).origin is not None
