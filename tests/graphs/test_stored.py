"""Attacks in an engine find the pairs of the compiled ones, on DuckDB and on Spark."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engines import QUIET, opened
from tests.graphs.problems import graph, noisy_pair, pairs_of, problems
from unmask import FailedError, UnmaskError, files
from unmask.core.errors import AmbiguousInput
from unmask.data import sql
from unmask.data.resources import check_output
from unmask.graphs import Auxiliary, KorulaLattanzi, Nar09, Pair, Rematch, SocialGraph, datasets, stored
from unmask.graphs.evaluation import by_degree, outcomes, rates
from unmask.graphs.knowledge import select_seeds, split

pytestmark = [pytest.mark.filterwarnings(one) for one in QUIET]

SPARK = pytest.param("spark://local[2]", marks=pytest.mark.cluster)


@pytest.fixture(scope="module", params=["duckdb", SPARK])
def engine(request):
    with opened(request.param, memory_limit=1 << 30) as engine:
        if request.param != "duckdb":  # planning anew after each stage takes longest for a few rows
            engine.session.conf.set("spark.sql.adaptive.enabled", "false")
        yield engine


@pytest.fixture(scope="module")
def duck():
    with opened("duckdb", memory_limit=1 << 30) as engine:
        yield engine


def write(path, columns):
    """Columns of equal length as a Parquet or CSV file."""
    with files.engine() as connection:  # opening one of its own takes ten times as long
        connection.register("arrays", {name: np.asarray(column) for name, column in columns.items()})
        kind = "(header)" if path.suffix == ".csv" else "(format parquet)"
        connection.execute(f"copy (select * from arrays) to {sql.literal(str(path))} {kind}")
    return str(path)


def links_of(one):
    """Every edge once; a node without an edge by a loop, which makes it a node."""
    u, v = one.edges()
    alone = np.flatnonzero(one.degree == 0)
    return {"u": np.concatenate((u, alone)), "v": np.concatenate((v, alone))}


def taken_in(engine, folder, source, target, seeds):
    auxiliary = stored.load(engine, write(folder / "a.parquet", links_of(source)), name="a")
    release = stored.load(engine, write(folder / "t.parquet", links_of(target)), name="t")
    stored.read_seeds(auxiliary, release, write(folder / "s.parquet", {"u": seeds[0], "v": seeds[1]}))
    return auxiliary, release


def _labels(pairs, auxiliary="a", target="t"):
    """Pairs of node numbers by the ids of the nodes."""
    return (
        f"select a.label as u, t.label as v from {pairs} m join {auxiliary}_node a on a.node = m.source "
        f"join {target}_node t on t.node = m.target order by u, v"
    )


def named(auxiliary, target, mapped):
    """The pairs by the numbers that the nodes have in memory."""
    found = auxiliary.engine.rows(_labels(mapped.table, auxiliary.name, target.name))
    return dict(zip(found["u"].tolist(), found["v"].tolist(), strict=True))


def check(engine, folder, problem, adversary):
    """The same pairs and passes as in memory; returns the pairs."""
    source, target, seeds = problem
    networks = taken_in(engine, folder, source, target, seeds)
    mapped = stored.attack(*networks, "seeds", adversary)
    belief = adversary(target, Auxiliary(source, seeds))
    assert named(*networks, mapped) == pairs_of(belief.mapping)
    assert list(mapped.sweeps) == belief.sweeps.tolist()
    assert mapped.n_pairs == np.sum(belief.mapping >= 0)
    return pairs_of(belief.mapping)


def small_problem(seed, n_nodes=150, degree=8.0, n_seeds=14):
    source, target, truth = noisy_pair(np.random.default_rng(seed), n_nodes=n_nodes, degree=degree, kept=0.8)
    return source, target, (truth[0][:n_seeds], truth[1][:n_seeds])


ADVERSARIES = [
    *(Nar09(theta=theta, synchronous=True) for theta in (0.0, 0.01, 0.37, 1.13, 1.5)),
    *(KorulaLattanzi(witnesses=witnesses) for witnesses in (1, 2, 3)),
    Rematch(),
    Rematch(reach=20, margin=0.0, steps=3),  # most images are silent
    Rematch(reach=60, floor=0.0, margin=2.0, listed=2),
    Rematch(reach=1, floor=-np.inf, margin=0.0, listed=1),
]
EACH = [Nar09(synchronous=True), KorulaLattanzi(), Rematch(reach=40, steps=4)]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(problem=problems(), adversary=st.sampled_from(ADVERSARIES))
def test_an_engine_finds_the_pairs_of_the_compiled_attack(duck, tmp_path, adversary, problem):
    check(duck, tmp_path, problem, adversary)


@pytest.mark.parametrize("adversary", ADVERSARIES, ids=repr)
def test_an_engine_finds_the_pairs_at_every_threshold(duck, tmp_path, adversary):
    check(duck, tmp_path, small_problem(23), adversary)


@pytest.mark.parametrize("adversary", EACH[:2], ids=repr)
def test_witnesses_counted_part_by_part_are_the_same(engine, tmp_path, monkeypatch, adversary):
    monkeypatch.setattr("unmask.graphs.stored.attacks.AT_ONCE", 50)  # of hundreds at first
    check(engine, tmp_path, small_problem(23), adversary)


@pytest.mark.parametrize("adversary", EACH, ids=repr)
def test_both_engines_find_the_pairs_of_the_compiled_attack(engine, tmp_path, adversary):
    problem = small_problem(23, n_nodes=60, degree=5.0, n_seeds=12)
    assert len(check(engine, tmp_path, problem, adversary)) > 40


@pytest.mark.parametrize("adversary", [Nar09(synchronous=True), KorulaLattanzi(), Rematch()], ids=repr)
def test_a_network_of_people_has_the_pairs_of_the_compiled_attack(duck, tmp_path, adversary):
    """Hubs as the 1,005 people of an institute make them; Epinions, of 75,879, is in `verification/engines.py`."""
    pair = split(datasets.network("email-eu"), 0.5, 0.75, np.random.default_rng(1))
    seeds = select_seeds(pair, "random.25", 50, np.random.default_rng(2))
    assert len(check(duck, tmp_path, (pair.source, pair.target, seeds), adversary)) > 300


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("adversary", [one for one in ADVERSARIES if isinstance(one, Rematch)], ids=repr)
def test_likelihoods_of_other_networks_name_the_same_pairs(duck, tmp_path, adversary, seed):
    """Sparse, with pendants, isolated nodes and so twins; then dense, with images that all are hubs for the reach."""
    problem = small_problem(seed, n_nodes=80, degree=(2.5, 6.0, 20.0)[seed % 3], n_seeds=(8, 25)[seed % 2])
    check(duck, tmp_path, problem, adversary)


def test_the_wedges_of_likelihoods_are_those_of_the_compiled_attack(duck, tmp_path):
    """In memory one more round is weighed for the belief: after one step there, as many rounds as after two here."""
    source, target, seeds = small_problem(23, n_seeds=70)
    networks = taken_in(duck, tmp_path, source, target, seeds)
    for reach in (15, 500):
        belief = Rematch(reach=reach, steps=1)(target, Auxiliary(source, seeds))
        assert stored.attack(*networks, "seeds", Rematch(reach=reach, steps=2)).wedges == belief.visits


def test_negligible_candidates_do_not_count_against_a_match_by_likelihoods(duck, tmp_path):
    """So dense that hardly a match is 39.9 above its next best on both sides, unless what is 40 below is left out."""
    problem = small_problem(1, degree=70.0, n_seeds=75)
    assert len(check(duck, tmp_path, problem, Rematch(floor=-np.inf, margin=39.9, reach=100))) > 75 + 60


def test_structural_twins_are_left_open_by_likelihoods(engine, tmp_path):
    """A kite whose tail has two ends, 5 and 6."""
    kite = graph(7, [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (4, 6)])
    found = check(engine, tmp_path, (kite, kite, (np.array([0, 1]), np.array([0, 1]))), Rematch(reach=2))
    assert found == {v: v for v in range(5)}


def test_a_single_candidate_is_taken_and_twins_are_left_open(duck, tmp_path):
    star = graph(4, [(0, 1), (0, 2), (3, 0)])
    nar09 = Nar09(synchronous=True)
    assert check(duck, tmp_path, (star, star, (np.array([0]), np.array([0]))), nar09) == {0: 0}
    seeds = (np.array([0, 1, 2]), np.array([0, 2, 1]))
    assert check(duck, tmp_path, (star, star, seeds), nar09) == {0: 0, 1: 2, 2: 1, 3: 3}


def test_scores_that_differ_by_rounding_are_tied(engine, tmp_path):
    """S = 1 / sqrt(3) and S = 3 / sqrt(27), as in the test of the compiled pass."""
    source = graph(4, [(3, 0), (3, 1), (3, 2)])
    edges = [(3, 0), (3, 1), (3, 2), (4, 0)] + [(3, 5 + i) for i in range(24)] + [(4, 29), (4, 30)]
    problem = (source, graph(31, edges), (np.arange(3), np.arange(3)))
    assert check(engine, tmp_path, problem, Nar09(synchronous=True)) == {0: 0, 1: 1, 2: 2}


# --- taking in --------------------------------------------------------------------------------------------


def test_links_become_a_simple_graph(engine, tmp_path):
    """Loops, repetitions, both directions, blanks and Unicode; a node with nothing but a loop is a node."""
    ends = {"from": ["ä", "b", "ä", " b ", "名'\"", "c", "c"], "to": ["b", "ä", "b", "名'\"", "b", "c", "c"]}
    for suffix in ("parquet", "csv"):
        network = stored.load(engine, write(tmp_path / f"links.{suffix}", ends), name="w")
        assert (network.n_nodes, network.n_edges) == (4, 2)
        nodes = engine.rows("select node, label, degree from w_node")
        assert sorted(nodes["node"].tolist()) == [0, 1, 2, 3]
        degree = dict(zip(nodes["label"].tolist(), nodes["degree"].tolist(), strict=True))
        assert degree == {"ä": 1, "b": 2, "名'\"": 1, "c": 0}
        name = dict(zip(nodes["node"].tolist(), nodes["label"].tolist(), strict=True))
        links = engine.rows("select node, neighbor from w_link")
        both = {(name[u], name[v]) for u, v in zip(links["node"].tolist(), links["neighbor"].tolist(), strict=True)}
        assert both == {("ä", "b"), ("b", "ä"), ("b", "名'\""), ("名'\"", "b")}


def test_nodes_of_many_hash_buckets_are_numbered_without_gaps(engine, tmp_path):
    ids = np.arange(3000) * 7 - 5
    stored.load(engine, write(tmp_path / "l.parquet", {"u": ids[:-1], "v": ids[1:]}), name="w")
    nodes = engine.rows("select node, label from w_node order by node")
    assert nodes["node"].tolist() == list(range(3000))
    assert sorted(nodes["label"].tolist()) == ids.tolist()
    assert np.abs(np.corrcoef(nodes["node"], nodes["label"])[0, 1]) < 0.1  # the order of numbers tells nothing


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_largest_component_is_the_one_found_in_memory(engine, tmp_path, seed):
    """A path, whose labels have far to go, and a sparse random graph of many components."""
    rng = np.random.default_rng(seed)
    path = np.column_stack((np.arange(199), np.arange(1, 200)))
    sparse = rng.integers(200, 700, (350 - 100 * seed, 2))
    edges = rng.permutation(700)[np.concatenate((path, sparse))]
    whole = SocialGraph.from_edges(edges[:, 0], edges[:, 1], n_nodes=700)
    network = stored.load(engine, write(tmp_path / "l.parquet", links_of(whole)), name="w")
    part = stored.largest_component(network, name="c")
    inside = whole.largest_component()
    assert sorted(engine.rows("select label from c_node")["label"].tolist()) == inside.tolist()
    assert (part.n_nodes, part.n_edges) == (len(inside), whole.take(inside).n_edges)
    assert (network.n_nodes, network.n_edges) == (700, whole.n_edges)


def test_of_components_of_one_size_the_one_with_the_lowest_label_is_kept(engine, tmp_path):
    network = stored.load(engine, write(tmp_path / "l.parquet", {"u": [7, 2, 9], "v": [8, 5, 6]}), name="w")
    stored.largest_component(network, name="c")
    assert sorted(engine.rows("select label from c_node")["label"].tolist()) == [2, 5]


# --- what is right ----------------------------------------------------------------------------------------


def test_the_evaluation_is_the_one_in_memory(engine, tmp_path):
    """People of all six outcomes, wrong seeds and seeds without a counterpart among them; ids are texts in one file."""
    pair = split(datasets.erdos_renyi(400, 0.03, rng=np.random.default_rng(4)), 0.6, 0.8, np.random.default_rng(1))
    seeds = select_seeds(pair, "random", 30, np.random.default_rng(2))
    absent = np.setdiff1d(np.arange(pair.source.n_nodes), pair.common)[:2]
    free = np.setdiff1d(np.arange(pair.target.n_nodes), seeds.target)[:2]
    seeds = (np.concatenate((seeds.source, absent)), np.concatenate((np.roll(seeds.target, 1), free)))
    networks = taken_in(engine, tmp_path, pair.source, pair.target, seeds)
    truth = {"who": [f" {v}" for v in pair.common] + ["nobody"], "is": [*pair.truth[pair.common].tolist(), 0]}
    assert stored.read_truth(*networks, write(tmp_path / "w.csv", truth)) == len(pair.common)
    mapped = stored.attack(*networks, "seeds", Nar09(synchronous=True))
    mapping = Nar09(synchronous=True)(pair.target, Auxiliary(pair.source, seeds)).mapping
    found = stored.evaluate(networks[0], mapped)
    assert found.rates == rates(mapping, pair.truth, seeds[0])
    assert found.by_degree == by_degree(pair.source.degree, outcomes(mapping, pair.truth, seeds[0]))
    assert min(found.rates.hits + found.rates.misses, found.rates.false_positives, found.rates.absent) > 0


def test_pairs_are_written_by_their_ids(engine, tmp_path):
    networks = taken_in(engine, tmp_path, *small_problem(5, n_nodes=60))
    mapped = stored.attack(*networks, "seeds", Nar09(synchronous=True))
    path = tmp_path / "pairs.parquet"
    stored.write_pairs(*networks, mapped, path)
    read = f"{path}/*.parquet" if path.is_dir() else str(path)
    with duckdb.connect() as connection:
        rows = connection.execute(f"select auxiliary, release from read_parquet({sql.literal(read)})").fetchall()
    assert rows == sorted(named(*networks, mapped).items())
    with pytest.raises(UnmaskError, match="exists"):
        stored.write_pairs(*networks, mapped, path)
    with pytest.raises(UnmaskError, match="another suffix"):
        stored.write_pairs(*networks, mapped, tmp_path / "pairs.csv")
    with pytest.raises(FailedError, match="folder that does not exist"):
        check_output(tmp_path / "none" / "pairs.parquet")


# --- before the work ---------------------------------------------------------------------------------------


def test_the_plan_bounds_the_wedges_of_an_attack(engine, tmp_path):
    source, target, seeds = small_problem(8)
    networks = taken_in(engine, tmp_path, source, target, seeds)
    planned = stored.plan(*networks, memory_limit=1 << 30)
    assert planned.nodes == (150, 150)
    assert planned.edges == (source.n_edges, target.n_edges)
    assert planned.wedges == (source.degree[seeds[0]] * target.degree[seeds[1]]).sum()
    assert planned.most_wedges == pytest.approx(np.linalg.norm(source.degree) * np.linalg.norm(target.degree), abs=1)
    for adversary in (Nar09(synchronous=True), KorulaLattanzi()):
        mapping = adversary(target, Auxiliary(source, seeds)).mapping
        v = np.flatnonzero(mapping >= 0)
        mapped = stored.attack(*networks, "seeds", adversary)
        assert mapped.wedges == (source.degree[v] * target.degree[mapping[v]]).sum() <= planned.most_wedges


def test_an_attack_that_does_not_fit_the_disk_is_refused_before_it_starts(duck, tmp_path, monkeypatch):
    hub = graph(9000, [(0, other) for other in range(1, 9000)])
    networks = taken_in(duck, tmp_path, hub, hub, (np.array([0]), np.array([0])))
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 1 << 20}))
    with pytest.raises(FailedError, match=r"80,982,001 wedges of the seeds alone.*2\.8 GiB.*which has 1 MiB"):
        stored.plan(*networks, memory_limit=512 << 20)
    with pytest.raises(UnmaskError, match="memory limit is 1 MiB, expected at least 512 MiB"):
        stored.plan(*networks, memory_limit=1 << 20)


# --- errors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"u": ["a"]}, "has 1 column, expected two"),
        ({"1": ["2"], "2": ["3"]}, "line 1 of file 'l.csv' looks like a row"),
        ({"a": ["b", "c"], "b": ["c", "d"]}, "first line of 'l.csv' holds an id, expected names"),
        ({"u": ["a", ""], "v": ["b", "c"]}, "has at least 1 of 2 rows without one of the two ids"),
        ({"u": np.array([], dtype=object), "v": np.array([], dtype=object)}, "has no rows"),
    ],
)
def test_sources_that_are_no_links_are_one_sentence(duck, tmp_path, columns, says):
    with pytest.raises(UnmaskError, match=says):
        stored.load(duck, write(tmp_path / "l.csv", columns), name="w")


@pytest.mark.parametrize(
    ("seeds", "says"),
    [
        (([98, 99], [0, 1]), "none of 2 seeds names a source node and a target node"),
        (([0, 1], [98, 99]), "none of 2 seeds names a source node and a target node"),
        (([0, 0], [1, 2]), "2 seeds name 1 source nodes, expected each node at most once"),
        (([0, 1], [2, 2]), "2 seeds name 1 target nodes"),
    ],
)
def test_seeds_that_make_no_sense_are_refused(duck, tmp_path, seeds, says):
    path = graph(3, [(0, 1), (1, 2)])
    with pytest.raises(UnmaskError, match=says):
        taken_in(duck, tmp_path, path, path, seeds)


def test_seeds_without_an_edge_in_one_of_the_networks_are_left_out(duck, tmp_path, caplog):
    path = graph(3, [(0, 1), (1, 2)])
    taken_in(duck, tmp_path, path, path, ([0, 99, 1], [0, 1, 98]))
    assert duck.rows("select count(*) as n from seeds")["n"].tolist() == [1]
    assert "s.parquet: 2 of 3 rows name somebody who is not in both networks" in caplog.text


@pytest.mark.parametrize("read", [stored.read_seeds, stored.read_truth])
def test_a_first_line_of_seeds_or_truth_that_names_people_is_refused(duck, tmp_path, read):
    networks = taken_in(duck, tmp_path, *small_problem(1))
    with pytest.raises(UnmaskError, match=r"first line of 'l\.csv' holds an id"):
        read(*networks, write(tmp_path / "l.csv", {"who": [3], "4": [5]}))


def test_names_of_columns_of_parquet_are_no_ids(duck, tmp_path):
    network = stored.load(duck, write(tmp_path / "l.parquet", {"0": [0, 1], "1": [1, 2]}), name="w")
    assert (network.n_nodes, network.n_edges) == (3, 2)


def test_a_truth_that_names_nobody_is_refused(duck, tmp_path):
    path = graph(3, [(0, 1), (1, 2)])
    networks = taken_in(duck, tmp_path, path, path, ([0], [0]))
    with pytest.raises(UnmaskError, match="none of 1 rows names a source node and a target node"):
        stored.read_truth(*networks, write(tmp_path / "w.parquet", {"u": [9], "v": [0]}))


def test_any_identity_of_a_person_is_right(duck, tmp_path):
    """0 is 0 and 3 in the release; it is named 0."""
    source, target = graph(3, [(0, 1), (0, 2)]), graph(4, [(0, 1), (0, 2), (3, 1)])
    networks = taken_in(duck, tmp_path, source, target, ([1, 2], [1, 2]))
    truth = {"u": [0, 0, 1, 0], "v": [0, 3, 1, 3]}
    assert stored.read_truth(*networks, write(tmp_path / "w.parquet", truth)) == 2
    mapped = stored.attack(*networks, "seeds", Nar09(synchronous=True))
    found = stored.evaluate(networks[0], mapped).rates
    assert (found.hits, found.misses, found.findable, found.seeds_present, found.seeds_right) == (1, 0, 1, 1, 1)


def chained_truth(engine, folder, seed):
    """Rows of who is who at random; the networks, and the truth in memory, where both readers say the same."""
    source, target, seeds = small_problem(seed, n_nodes=40, degree=7.0)
    u, v = np.random.default_rng(seed).integers(0, 40, (2, 30))
    networks = taken_in(engine, folder, source, target, seeds)
    pair = Pair.from_labels(source, target, u, v)
    assert stored.read_truth(*networks, write(folder / "w.parquet", {"u": u, "v": v})) == len(pair.common)
    truth = engine.rows(_labels("truth"))
    right = [(u, v) for u in pair.common for v in range(40) if pair.truth_for(np.full(40, v))[u] == v]
    assert list(zip(truth["u"].tolist(), truth["v"].tolist(), strict=True)) == right
    assert len(right) > 35  # of 30 rows
    return networks, pair, seeds


def test_rows_of_a_truth_that_are_chained_are_one_person(engine, tmp_path):
    """0-X, 1-X and 1-Y: 0 is right as Y, too."""
    chained_truth(engine, tmp_path, 0)


@pytest.mark.parametrize("seed", range(5))
def test_people_whose_rows_are_chained_are_judged_as_in_memory(duck, tmp_path, seed):
    networks, pair, seeds = chained_truth(duck, tmp_path, seed)
    mapped = stored.attack(*networks, "seeds", Nar09(synchronous=True))
    mapping = Nar09(synchronous=True)(pair.target, Auxiliary(pair.source, seeds)).mapping
    assert stored.evaluate(networks[0], mapped).rates == rates(mapping, pair.truth_for(mapping), seeds[0])


def test_matches_that_depend_on_each_other_are_refused(duck, tmp_path):
    path = graph(3, [(0, 1), (1, 2)])
    with pytest.raises(UnmaskError, match="synchronous=True"):
        stored.attack(*taken_in(duck, tmp_path, path, path, ([0], [0])), "seeds", Nar09(synchronous=False))
    for one in (Rematch(assignment="greedy"), Rematch(forced=True)):
        with pytest.raises(UnmaskError, match="Rematch with assignment mutual and not forced"):
            stored.attack(*taken_in(duck, tmp_path, path, path, ([0], [0])), "seeds", one)


def test_g1_the_names_of_columns_decide_in_an_engine_too(engine, tmp_path, caplog):
    rows = [(i, u, v) for i, (u, v) in enumerate([("a", "b"), ("b", "c"), ("c", "a")])]
    for head, ends in (("id,from,to", None), ("nth,who,whom,rank", ("who", "whom"))):
        source = tmp_path / f"{head[:3]}.csv"
        more = ",9" if "rank" in head else ""
        source.write_text("\n".join([head, *(f"{i},{u},{v}{more}" for i, u, v in rows)]) + "\n")
        network = stored.load(engine, str(source), name="w", ends=ends)
        assert (network.n_nodes, network.n_edges) == (3, 3)
    assert caplog.messages == ["id,.csv: id is left out", "nth.csv: nth and rank are left out"]
    source = tmp_path / "colors.csv"
    source.write_text("red,green,blue\na,b,d\nb,c,a\nc,d,b\nd,c,c\n")
    with pytest.raises(AmbiguousInput, match="not certain"):
        stored.load(engine, str(source), name="w")


def test_edges_of_weight_zero_are_none_and_missing_ids_are_refused_in_an_engine_too(engine, tmp_path):
    source = tmp_path / "weights.csv"
    source.write_text("source,target,weight\na,b,1\nb,c,0\nc,d,2\nd,a,1\n")
    network = stored.load(engine, str(source), name="w")
    assert (network.n_nodes, network.n_edges) == (4, 3)
    for bad, sentence in (("NaN", "a word for a missing id"), ("1.0", "with and without decimals")):
        source = tmp_path / f"{bad}.csv"
        source.write_text(f"source,target\n1,2\n{bad},3\n2,3\n4,1\n")
        with pytest.raises(UnmaskError, match=sentence):
            stored.load(engine, str(source), name="w")
