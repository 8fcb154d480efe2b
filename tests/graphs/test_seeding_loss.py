"""Effect of separate identities on seeding, against all ways in which contacts may be divided."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.commands import check_one_sentence, invoke
from tests.envelopes import parsed
from tests.graphs.divisions import list_divisions, misses_clique, misses_top
from unmask import UnmaskError
from unmask.graphs import IdentitySeparation, SocialGraph, datasets
from unmask.graphs.advice.seeding_loss import measure_seeding
from unmask.graphs.knowledge.seeding import count_cliques
from unmask.graphs.protections import PowerLaw


def cliques_by_sets(graph, size):
    edges = {frozenset(edge) for edge in zip(*(ends.tolist() for ends in graph.edges()), strict=True)}
    groups = itertools.combinations(range(graph.n_nodes), size)
    return sum(all(frozenset(pair) in edges for pair in itertools.combinations(group, 2)) for group in groups)


@st.composite
def graphs(draw):
    n = draw(st.integers(2, 9))
    edges = [pair for pair in itertools.combinations(range(n), 2) if draw(st.integers(0, 3))]
    return SocialGraph.from_edges([u for u, _ in edges], [v for _, v in edges], n_nodes=n)


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_cliques_are_counted_like_sets(graph):
    assert [count_cliques(graph, size) for size in (3, 4, 5)] == [cliques_by_sets(graph, size) for size in (3, 4, 5)]


@settings(max_examples=30, deadline=None)
@given(graphs(), st.integers(3, 4), st.sampled_from([0.0, 0.2, 0.5]), st.sampled_from([(0.3, 0.7), (0.2, 0.3, 0.5)]))
def test_failure_is_that_of_all_divisions_of_contacts(graph, clique, tolerance, shares):
    law = (0.4, 0.6) if len(shares) == 2 else (0.2, 0.3, 0.5)
    separation = IdentitySeparation(identities=law, sorting=shares, adopters=1.0, minimum_degree=1)
    separated = separation(graph, rng=np.random.default_rng(1))
    loss = measure_seeding(graph, separated, separation, clique=clique, tolerance=tolerance, top=1)
    border = max(graph.degree)
    by_clique, by_top = [], []
    for n in (int(n) for n in graph.degree if n):
        firsts = [np.array(shares[:y]) / sum(shares[:y]) for y in range(1, len(shares) + 1)]
        numbers = [(min(y, n), chance) for y, chance in enumerate(law, 1)]
        if n >= clique - 1:
            by_clique.append(sum(c * misses_clique(n, firsts[y - 1], clique, tolerance) for y, c in numbers))
        if n >= border:
            by_top.append(sum(c * misses_top(n, firsts[y - 1], border) for y, c in numbers))
    assert loss.clique_failure == (pytest.approx(np.mean(by_clique)) if by_clique else None)
    assert loss.clique_failure_least == (pytest.approx(min(by_clique)) if by_clique else None)
    assert loss.top_failure == (pytest.approx(np.mean(by_top)) if by_top else None)
    before = cliques_by_sets(graph, clique)
    lost = 1 - cliques_by_sets(separated.release, clique) / before if before else None
    assert loss.cliques_lost == (None if lost is None else pytest.approx(lost))
    together = sum(
        chance
        * sum(c for owners, c in list_divisions(clique - 1, shares[:y]) if len({*owners}) == 1)
        / sum(shares[:y]) ** (clique - 1)
        for y, chance in enumerate(law, 1)
    )
    if graph.n_edges:
        assert loss.cliques_lost_expected == pytest.approx(1 - together**clique)


@pytest.fixture
def network(tmp_path):
    graph = datasets.barabasi_albert(150, 5, rng=np.random.default_rng(1))
    path = tmp_path / "network.txt"
    path.write_text("".join(f"{u} {v}\n" for u, v in zip(*graph.edges(), strict=True)))
    return path


def protect(network, *options):
    return invoke("protect", "graph", network, "-o", network.parent / "release.txt", *options)


def test_command_reports_seeding_for_separate_identities_only(network):
    separation = "IdentitySeparation:identities=[0.8,0.2]:adopters=1.0"
    done = protect(network, "--with", separation, "--top", "20", "--json")
    (row,) = parsed(done.stdout)["results"]
    assert 1 - row["cliques_lost_expected"] == pytest.approx(0.85**4)
    assert row["top_failure_least"] <= row["top_failure"] <= 1
    assert "seeding: an adversary who starts from cliques of 4 misses an adopter" in done.stderr
    other = protect(network, "--with", "KDegree:k=3", "--force", "--json")
    assert "cliques_lost" not in parsed(other.stdout)["results"][0]


def test_power_law_is_written_as_a_text(network, tmp_path):
    assert IdentitySeparation(identities="2-5:1.5").identities == PowerLaw(1.5, largest=5, smallest=2)
    assert protect(network, "--with", "IdentitySeparation:identities=2-5:1.5:adopters=30").exit_code == 0
    options = ("--overlap", "0.9,0.9", "--seeds", "random:15", "--attack", "Nar09", "--runs", "1", "--json")
    done = invoke("audit", "graph", network, *options, "--with", "IdentitySeparation:identities=2-5:1.5:adopters=30")
    assert done.exit_code == 0, done.stderr
    assert "2-5:1.5 identities (2 to 5, by a power law)" in done.stdout
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'data = {{ use = "graphs.file", file = "{network}" }}\n'
        '[[protections]]\nuse = "graphs.IdentitySeparation"\n'
        'with = { identities = "2-3:1.5", sorting = [0.5, 0.3, 0.2] }\n'
        '[[adversaries]]\nuse = "graphs.Nar09"\nknows = { seeds = "random", n_seeds = 15 }\n'
    )
    done = invoke("study", plan, "-o", tmp_path / "study")
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize(
    "text", ["2", "2-", "-5:1", "2-5", "2-5:", "2-5:x", "2-5:nan", "5-2:1", "0-5:1", "2-5:1:2", "2-99999:1", "two"]
)
def test_text_that_is_no_power_law_is_one_sentence(network, text):
    with pytest.raises(UnmaskError, match=r"identities is|has an empty range"):
        IdentitySeparation(identities=text)
    if not text.isdecimal():
        check_one_sentence(protect(network, "--with", f"IdentitySeparation:identities={text}"), "")
        assert not (network.parent / "release.txt").exists()


@pytest.mark.parametrize(
    "options",
    [("--clique", "2"), ("--clique", "6"), ("--clique", "4.5"), ("--clique", "nan"), ("--tolerance", "1"),
     ("--tolerance", "nan"), ("--tolerance", "-0.1"), ("--top", "0"), ("--top", "151"), ("--top", "many")],
)  # fmt: skip
def test_wrong_option_of_seeding_is_one_sentence(network, options):
    check_one_sentence(protect(network, *options), options[0])
    assert not (network.parent / "release.txt").exists()
