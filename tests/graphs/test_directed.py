"""Directed graphs, and the attack on them against its slow twin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.envelopes import parsed
from tests.graphs import slow_more
from tests.graphs.problems import pairs_of, probability, seed_pairs
from unmask import UnmaskError
from unmask.cli import main
from unmask.graphs import Auxiliary, SocialGraph
from unmask.graphs.attacks._kernels import directed_rows
from unmask.graphs.attacks.propagation import Nar09


def directed(n_nodes, links):
    ends = np.array(sorted(links), dtype=np.int64).reshape(-1, 2)
    return SocialGraph.from_edges(ends[:, 0], ends[:, 1], n_nodes=n_nodes, directed=True)


def noisy_copies(rng, *, n_nodes=40, degree=5.0, share_kept=0.85):
    """Two noisy copies of a random directed graph under new numbers, as sets of links, and all true pairs."""
    is_link = rng.random((n_nodes, n_nodes)) < degree / n_nodes
    np.fill_diagonal(is_link, val=False)
    a, b = np.nonzero(is_link)
    sides, number = [], []
    for _ in range(2):
        keep, new = rng.random(len(a)) < share_kept, rng.permutation(n_nodes)
        sides.append(set(zip(new[a[keep]].tolist(), new[b[keep]].tolist(), strict=True)))
        number.append(new)
    return sides[0], sides[1], number


@st.composite
def problems(draw):
    if draw(st.booleans()):
        source, target, truth = noisy_copies(np.random.default_rng(draw(st.integers(0, 9999))))
        n = draw(st.integers(4, 20))
        return source, target, (40, 40), (truth[0][:n], truth[1][:n])
    sizes = draw(st.integers(2, 8)), draw(st.integers(2, 8))
    sides = [
        set(draw(st.lists(st.sampled_from([(a, b) for a in range(n) for b in range(n) if a != b]), max_size=20)))
        for n in sizes
    ]
    k = draw(st.integers(1, min(sizes)))
    seeds = [np.array(draw(st.permutations(range(n)))[:k]) for n in sizes]
    return sides[0], sides[1], sizes, (seeds[0], seeds[1])


@settings(max_examples=150, deadline=None)
@given(problems(), st.sampled_from([0.0, 0.01, 0.37, 1.13]))
def test_the_attack_finds_the_pairs_of_its_definition(problem, theta):
    source, target, sizes, seeds = problem
    belief = Nar09(theta=theta, directed=True)(directed(sizes[1], target), Auxiliary(directed(sizes[0], source), seeds))
    mu, sweeps = slow_more.directed_nar09(source, target, sizes, seed_pairs(seeds), theta=theta)
    assert pairs_of(belief.mapping) == mu
    assert belief.sweeps.tolist() == sweeps


def test_belief_of_a_node_left_open_is_the_softmax_over_all_target_nodes():
    rng = np.random.default_rng(2)
    source, target, truth = noisy_copies(rng, share_kept=0.6)
    seeds = (truth[0][:8], truth[1][:8])
    belief = Nar09(theta=2.5, directed=True, listed=50)(directed(40, target), Auxiliary(directed(40, source), seeds))
    mu = pairs_of(belief.mapping)
    open_nodes = [v for v in range(40) if v not in mu]
    assert len(open_nodes) > 5
    for v in open_nodes:
        score = slow_more.directed_scores(source, target, mu, v)
        evidence = sum(map(np.exp, score.values())) + 40 - len(score)
        assert probability(belief, v) == pytest.approx({c: np.exp(s) / evidence for c, s in score.items()}, rel=1e-5)
        assert belief.unlisted[v] == pytest.approx((40 - len(score)) / evidence, rel=1e-5)


def test_direction_tells_apart_what_no_undirected_attack_can():
    """A follower of the seed and a person whom it follows are twins without direction."""
    star = directed(3, {(1, 0), (0, 2)})
    seeds = (np.array([0]), np.array([0]))
    assert Nar09(directed=True)(star, Auxiliary(star, seeds)).mapping.tolist() == [0, 1, 2]
    assert Nar09()(star, Auxiliary(star, seeds)).mapping.tolist() == [0, -1, -1]


def test_with_links_both_ways_it_is_the_undirected_attack():
    """Every score doubles, and so does sigma."""
    source, target, truth = noisy_copies(np.random.default_rng(6), n_nodes=80, degree=5.0)
    both_ways = [links | {(b, a) for a, b in links} for links in (source, target)]
    seeds = (truth[0][:20], truth[1][:20])
    attack = Nar09(theta=0.4, directed=True)
    directed_belief = attack(directed(80, both_ways[1]), Auxiliary(directed(80, both_ways[0]), seeds))
    undirected_target, undirected_source = (
        replace(directed(80, links), way=None) for links in (both_ways[1], both_ways[0])
    )
    undirected_belief = Nar09(theta=0.4)(undirected_target, Auxiliary(undirected_source, seeds))
    assert (
        attack(undirected_target, Auxiliary(undirected_source, seeds)).mapping.tolist()
        == undirected_belief.mapping.tolist()
    )
    assert np.sum(directed_belief.mapping >= 0) > 20
    assert directed_belief.mapping.tolist() == undirected_belief.mapping.tolist()


def test_ties_are_refused_and_isolated_nodes_keep_the_prior():
    fans = directed(5, {(1, 0), (2, 0), (3, 0)})
    belief = Nar09(theta=0.0, directed=True)(fans, Auxiliary(fans, (np.array([0]), np.array([0]))))
    assert belief.mapping.tolist() == [0, -1, -1, -1, -1]
    p = probability(belief, 1)
    assert list(p) == [1, 2, 3]
    assert p[1] == pytest.approx(np.e / (3 * np.e + 2))
    assert (belief.row_length[4], belief.unlisted[4], belief.n_unlisted[4]) == (0, 1.0, 5)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30))
def test_rows_hold_each_link_once_at_both_of_its_ends(links):
    network = SocialGraph.from_edges([a for a, _ in links], [b for _, b in links], n_nodes=7, directed=True)
    links_kept = {(a, b) for a, b in links if a != b}
    indptr, neighbor = directed_rows(network)
    rows = [neighbor[indptr[row] : indptr[row + 1]].tolist() for row in range(14)]
    assert rows[0::2] == [sorted(b for a, b in links_kept if a == v) for v in range(7)]
    assert rows[1::2] == [sorted(a for a, b in links_kept if b == v) for v in range(7)]


def test_one_node_after_the_other_finds_most_people_too():
    source, target, truth = noisy_copies(np.random.default_rng(6), n_nodes=80, degree=5.0)
    auxiliary = Auxiliary(directed(80, source), (truth[0][:20], truth[1][:20]))
    belief = Nar09(theta=0.4, directed=True, synchronous=False)(directed(80, target), auxiliary)
    image = np.empty(80, dtype=int)
    image[truth[0]] = truth[1]
    assert np.sum(belief.mapping == image) > 40


def test_contradictory_directions_are_refused():
    with pytest.raises(UnmaskError, match="node numbers go from 0 to 5, expected 0 to 2"):
        SocialGraph.from_edges([0], [5], n_nodes=3, directed=True)


def test_inputs_are_left_unchanged_and_repr_rebuilds_the_attack():
    source, target, truth = noisy_copies(np.random.default_rng(4))
    sides = directed(40, target), directed(40, source)
    initial = [side.neighbor.copy() for side in sides]
    attack = Nar09(theta=0.2, directed=True)
    belief = attack(sides[0], Auxiliary(sides[1], (truth[0][:9], truth[1][:9])))
    assert all(np.array_equal(side.neighbor, old) for side, old in zip(sides, initial, strict=True))
    again = eval(repr(attack), {"Nar09": Nar09})
    repeated = again(sides[0], Auxiliary(sides[1], (truth[0][:9], truth[1][:9])))
    assert repeated.mapping.tobytes() == belief.mapping.tobytes()


def written(folder, name, links):
    (folder / name).write_text("from,to\n" + "".join(f"{a},{b}\n" for a, b in sorted(links)))
    return folder / name


def links_of(network):
    start = np.repeat(np.arange(network.n_nodes), network.degree)
    is_out, _ = network.link_directions()
    return {
        (str(network.labels[u]), str(network.labels[v]))
        for u, v in zip(start[is_out], network.neighbor[is_out], strict=True)
    }


def test_a_social_graph_remembers_the_directions_of_its_file_in_all_its_parts(tmp_path):
    source, _, _ = noisy_copies(np.random.default_rng(4))
    links = source | {(0, 1), (1, 0)}
    graph = SocialGraph.read(written(tmp_path, "links.csv", links))
    expected = {(str(u), str(v)) for u, v in links}
    assert links_of(graph) == expected
    order = np.random.default_rng(5).permutation(graph.n_nodes)[:25]
    ego = {str(graph.labels[v]) for v in order}
    assert links_of(graph.take(order)) == {(u, v) for u, v in expected if {u, v} <= ego}
    changed = np.random.default_rng(6).permutation(graph.n_edges)[:30]
    part = replace(graph.with_edges(changed), labels=graph.labels)
    ends = {frozenset((str(graph.labels[u]), str(graph.labels[v]))) for u, v in zip(*part.edges(), strict=True)}
    assert len(ends) == 30
    assert links_of(part) == {(u, v) for u, v in expected if frozenset((u, v)) in ends}


def test_a_file_that_lists_all_links_once_or_all_both_ways_has_no_directions(tmp_path):
    once = {(0, 1), (2, 1), (2, 3)}
    for links in (once, once | {(b, a) for a, b in once}):
        assert SocialGraph.read(written(tmp_path, "links.csv", links)).way is None


def test_the_audit_sees_directions_where_both_files_have_them_and_says_who_does(tmp_path):
    rng = np.random.default_rng(1)
    source, target, truth = noisy_copies(rng, n_nodes=200, degree=4.0, share_kept=0.8)
    files = [written(tmp_path, name, links) for name, links in (("mine.csv", source), ("release.csv", target))]
    nodes = [{v for link in links for v in link} for links in (source, target)]
    pairs = [f"{a},{b}\n" for a, b in zip(*truth, strict=True) if a in nodes[0] and b in nodes[1]]
    (tmp_path / "truth.csv").write_text("".join(pairs))
    (tmp_path / "seeds.csv").write_text("".join(pairs[:40]))
    command = ["audit", "graph", str(files[1]), "--auxiliary", str(files[0]), "--truth", f"{tmp_path}/truth.csv"]
    command += ["--seeds-file", f"{tmp_path}/seeds.csv", "--attack"]
    done = CliRunner().invoke(main, [*command, "Nar09:directed=true,Nar09", "--json"])
    assert done.exit_code == 0, done.output
    data = parsed(done.stdout)["results"]
    recall = {row["adversary"]: row["posterior"] for row in data if row["measure"] == "recall"}
    assert recall["Nar09:directed=true"] > recall["Nar09"] + 0.1
    CliRunner().invoke(main, [*command, "Nar09", "--report", f"{tmp_path}/page.html"])
    page = (tmp_path / "page.html").read_text()
    assert (
        "Of the release, direction (except by Nar09:directed=true and Climb) is left out: attacks use edges only."
        in page
    )
    assert "Nar09:directed=true" in page.partition("Attacks that were not requested may find more")[2][:200]
