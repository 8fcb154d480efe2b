"""Knowledge of an adversary besides edges: ranks and ratios by hand, files, and attacks that use them."""

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.envelopes import parsed
from tests.graphs.problems import graph, noisy_pair, probability
from unmask.cli import main
from unmask.core.errors import UnmaskError
from unmask.graphs import Auxiliary, Climb, Nar09, Rematch, Similarity, SocialGraph, Support
from unmask.graphs.similarity import Ratios

N = 60


@st.composite
def tables(draw):
    """Few nodes, few different weights, pairs in any order."""
    pairs = draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), unique=True, min_size=1, max_size=20))
    weights = draw(st.lists(st.sampled_from([-1.0, 0.0, 2.5]), min_size=len(pairs), max_size=len(pairs)))
    return Similarity(*np.array(pairs).T, np.array(weights))


@given(table=tables(), seeds=st.permutations(range(5)))
@settings(max_examples=50, deadline=None)
def test_ratios_are_those_of_the_formula(table, seeds):
    weight = np.full((5, 7), -np.inf)
    weight[table.source, table.target] = table.weight
    rank = [[((w > row[c]) + 0.5 * (w == row[c])).sum() / 7 for c in range(7)] for row in weight for w in [row]]
    rank, is_listed = np.array(rank), np.isfinite(weight).any(axis=1)
    known_seeds = np.array(seeds[:3]), np.arange(3)
    r = rank[known_seeds][is_listed[known_seeds[0]]]
    a = min(1, (len(r) + 5) / (5 - np.log(r).sum()))
    actual = table.ratios(5, 7, known_seeds)
    u, c = np.indices((5, 7)).reshape(2, -1)
    assert actual.exponent == pytest.approx(a)
    assert actual.look_up(u, c) == pytest.approx(np.where(is_listed[u], np.log(a) + (a - 1) * np.log(rank[u, c]), 0))
    assert actual.value == pytest.approx(actual.look_up(actual.row, actual.candidate))
    for k in (1, 3, 7):
        near = {*zip(actual.row[actual.nearest(k)], actual.candidate[actual.nearest(k)], strict=True)}
        pairs = zip(table.source, table.target, strict=True)
        expected = {(u, c) for u, c in pairs if (weight[u] >= weight[u, c]).sum() <= k and a < 0.8}
        assert near == expected


def scene(*, edges=0.8, p_edge_seen=0.9, seed=7):
    """Noisy copies, seeds, and a similarity: of `told` of the people the image comes first, else anybody does."""
    rng = np.random.default_rng(seed)
    source, target, truth = noisy_pair(rng, n_nodes=N, share_kept=edges)
    image = np.empty(N, dtype=np.int64)
    image[truth[0]] = truth[1]
    weight = rng.random((N, N))
    is_right = rng.random(N) < p_edge_seen
    weight[np.flatnonzero(is_right), image[is_right]] = 2
    u, c = np.indices((N, N)).reshape(2, -1)
    seeds = (truth[0][:15], truth[1][:15])
    return target, Auxiliary(source, seeds, Similarity(u, c, weight.ravel())), image


def hits(belief, image, auxiliary):
    """Return the share of people outside the seeds whose likeliest candidate is right."""
    people = np.setdiff1d(np.arange(N), auxiliary.seeds[0])
    guesses = [max(probability(belief, u).items(), key=lambda item: item[1], default=(-1, 0))[0] for u in people]
    return np.mean(np.array(guesses) == image[people])


@pytest.mark.parametrize("attack", [Climb(), Climb(scale=1.0), Rematch(forced=True)], ids=repr)
def test_a_similarity_finds_people_if_edges_reveal_almost_nothing(attack):
    target, auxiliary, image = scene(edges=0.5)
    assert hits(attack(target, auxiliary), image, auxiliary) > 0.6
    assert hits(attack(target, replace(auxiliary, similarity=None)), image, auxiliary) < 0.25


@pytest.mark.parametrize("attack", [Climb(), Rematch()], ids=repr)
def test_a_useless_similarity_changes_nothing(attack):
    target, auxiliary, _ = scene()
    alike = auxiliary.similarity
    constant = Similarity(alike.source, alike.target, np.ones(N * N))
    few_pairs = np.random.default_rng(2).permutation(N * N)[: 5 * N]
    scattered = Similarity(alike.source[few_pairs], alike.target[few_pairs], np.arange(5.0 * N))
    plain = attack(target, replace(auxiliary, similarity=None))
    for useless in (constant, scattered):
        assert useless.ratios(N, N, auxiliary.seeds).exponent == 1
        with_noise = attack(target, replace(auxiliary, similarity=useless))
        assert np.array_equal(plain.mapping, with_noise.mapping)
        assert np.array_equal(plain.log_probability, with_noise.log_probability)


@pytest.mark.parametrize("attack", [Climb(), Rematch(forced=True)], ids=repr)
def test_only_the_order_of_weights_counts_and_numbers_of_nodes_do_not(attack):
    target, auxiliary, _ = scene(edges=0.6)
    plain, with_similarity = auxiliary.similarity, attack(target, auxiliary).mapping
    steeper = Similarity(plain.source, plain.target, np.exp(9 * plain.weight))
    assert np.array_equal(attack(target, replace(auxiliary, similarity=steeper)).mapping, with_similarity)
    rng = np.random.default_rng(3)
    source_order, target_order = rng.permutation(N), rng.permutation(N)
    shuffled_source, shuffled_target = (
        auxiliary.graph.take(np.argsort(source_order)),
        target.take(np.argsort(target_order)),
    )
    seeds = (source_order[auxiliary.seeds[0]], target_order[auxiliary.seeds[1]])
    again = attack(
        shuffled_target, Auxiliary(shuffled_source, seeds, plain.renumbered(source_order, target_order))
    ).mapping
    assert np.array_equal(again[source_order], np.append(target_order, -1)[with_similarity])


def test_the_most_similar_join_the_support():
    pair = graph(400, [(i, i + 1) for i in range(399)])
    seeds = np.arange(0, 400, 4), np.arange(0, 400, 4)
    u = np.arange(399)
    far = Similarity(np.append(u, u), np.append(u, (u + 200) % 399), np.append(2 + 0 * u, 1 + 0 * u).astype(float))
    with_far, plain = (Support.of(pair, Auxiliary(pair, seeds, similarity)) for similarity in (far, None))
    pairs_held = {*zip(with_far.row.tolist(), with_far.candidate.tolist(), strict=True)}
    free = [v for v in range(399) if v % 4 and (v + 200) % 399 % 4]
    assert {(v, (v + 200) % 399) for v in free} <= pairs_held
    assert len(with_far) > len(plain)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Similarity(np.array([0]), np.array([0, 1]), np.array([1.0])), "there are 2 and 1 entries"),
        (lambda: Similarity(np.array([0]), np.array([0]), np.array([np.nan])), "is not a finite number"),
        (
            lambda: Similarity(np.array([0, 0]), np.array([1, 1]), np.array([1.0, 2.0])),
            "the similarity has a pair twice",
        ),
        (
            lambda: Similarity(np.array([5]), np.array([1]), np.array([1.0])).ratios(3, 3, ([0], [0])),
            "nodes of the similarity go from 5 to 5",
        ),
        (lambda: Similarity(*np.zeros((3, 0), dtype=int)), "the similarity has no pairs"),
        (lambda: Climb(scale=0), "scale is 0, expected a number above 0"),
    ],
)
def test_an_invalid_similarity_is_refused(make, message):
    with pytest.raises(UnmaskError, match=message):
        make()


def test_seeds_that_are_not_in_the_graphs_are_refused_before_a_similarity_is_read():
    target, auxiliary, _ = scene()
    for attack in (Climb(), Rematch()):
        with pytest.raises(UnmaskError, match="source seed 0 is node 99, expected 0"):
            attack(target, replace(auxiliary, seeds=(np.array([99]), np.array([0]))))


@pytest.fixture
def networks(tmp_path):
    """Two networks of one shape, ids of another kind in each, and who leaked."""
    target, auxiliary, image = scene(edges=0.9)
    auxiliary.graph.write(tmp_path / "known.csv")
    labeled = SocialGraph.from_edges(*target.edges(), labels=[f"p{c}" for c in range(N)])
    labeled.write(tmp_path / "release.csv")
    seeds = "".join(f"{u},p{c}\n" for u, c in zip(*auxiliary.seeds, strict=True))
    (tmp_path / "seeds.csv").write_text(seeds)
    (tmp_path / "truth.csv").write_text("".join(f"{u},p{image[u]}\n" for u in range(N)))
    return tmp_path, image


def audited(folder, *options):
    files = [f"--{key}={folder}/{name}.csv" for key, name in (("auxiliary", "known"), ("seeds-file", "seeds"))]
    return CliRunner().invoke(main, ["audit", "graph", f"{folder}/release.csv", *files, *options])


def test_the_command_reads_a_table_of_three_columns_and_says_who_uses_it(networks):
    folder, image = networks
    (folder / "alike.csv").write_text("who,whom,how much\n" + "".join(f"{u},p{image[u]},1e0\n" for u in range(N)))
    command = ("--truth", f"{folder}/truth.csv", "--attack", "Climb,Nar09", "--similarity", f"{folder}/alike.csv")
    done = audited(folder, *command, "--json")
    assert done.exit_code == 0, done.output
    data = parsed(done.stdout)
    recall = {row["adversary"]: row["posterior"] for row in data["results"] if row["measure"] == "recall"}
    assert recall["Climb"] > max(0.9, recall["Nar09"])
    audited(folder, *command, "--report", f"{folder}/page.html")
    page = (folder / "page.html").read_text()
    assert "from 15 leaked identities and the similarity of people" in page
    assert "by edges and by the similarity of 60 pairs of people" in page
    assert "no attack can be expected" not in page  # twins in the network may have names of their own
    assert "Rematch, Climb and Ensemble use the similarity of people, as far as it identifies leaked identities" in page


def test_no_similarity_tells_nothing_of_any_pair():
    assert Ratios.empty(3, 4).look_up(np.array([0, 2]), np.array([1, 3])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("0,p1\n", "the rows of 'alike.csv' have 2 cells, expected three"),
        ("0,p1,1\n1,p2,much\n", "row 2 of 'alike.csv' has no finite number in"),
        ("a,b,w\n0,p1,1\n1,p2,inf\n", "row 3 of 'alike.csv' has no finite number in"),
        ("p1,0,1\n", "none of 1 rows of the similarity has a label of the adversary's network"),
        ("0,p1,1\n0,p1,2\n", "the similarity has a pair twice"),
        ("", "alike.csv"),
    ],
)
def test_an_invalid_similarity_table_is_refused_in_one_sentence(networks, table, message):
    folder, _ = networks
    (folder / "alike.csv").write_text(table)
    done = audited(folder, "--attack", "Climb", "--similarity", f"{folder}/alike.csv")
    assert done.exit_code != 0
    assert message in done.output
    assert "Traceback" not in done.output


def test_a_similarity_needs_a_network_of_the_adversary(networks):
    folder, _ = networks
    command = [
        "audit",
        "graph",
        f"{folder}/release.csv",
        "--overlap",
        "0.5,0.75",
        "--similarity",
        f"{folder}/seeds.csv",
    ]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 2
    assert "--similarity was given with --overlap, which draws its own networks; remove one of them" in done.output


def test_attacks_that_see_edges_alone_are_what_they_were():
    target, auxiliary, _ = scene()
    with_similarity, plain = (
        Nar09()(target, auxiliary_form) for auxiliary_form in (auxiliary, replace(auxiliary, similarity=None))
    )
    assert np.array_equal(with_similarity.mapping, plain.mapping)
