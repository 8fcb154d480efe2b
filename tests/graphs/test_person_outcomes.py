"""Outcomes of people over runs: score S(v), seeds from which attacks spread, and the form of an attack."""

import json
from collections import Counter

import numpy as np
import pytest

from tests.commands import check_one_sentence, invoke
from tests.envelopes import parsed
from unmask.graphs import Bumblebee, Grasshopper, Nar09, datasets
from unmask.graphs.audit import audit
from unmask.graphs.audit.cautions import describe_variant
from unmask.graphs.audit.person_outcomes import count_scores
from unmask.graphs.evaluation import Score


def test_scores_are_shares_of_people_by_their_right_minus_wrong_matches():
    rng = np.random.default_rng(3)
    for n_runs in (2, 3, 7, 10, 30):
        findable = rng.integers(0, n_runs + 1, 50)
        hits = rng.binomial(findable, 0.6)
        misses = rng.binomial(findable - hits, 0.5)
        people = [(int(h - m), int(n)) for h, m, n in zip(hits, misses, findable, strict=True) if n >= 2]
        tenths = Counter()
        for score, runs in people:
            whole = 10 * abs(score) // runs  # towards 0
            between = whole if score == 0 or abs(score) == runs else min(max(whole, 1), 9)
            tenths[between if score >= 0 else -between] += 1
        shares = {round(10 * item.run_score): item.share for item in count_scores("a", Score(hits, misses, findable))}
        assert min(shares) == min(tenths)
        assert max(shares) == 10
        assert shares == pytest.approx({tenth: tenths[tenth] / len(people) for tenth in shares})


def test_people_of_a_single_run_have_no_score():
    assert list(count_scores("a", Score(np.array([1]), np.array([0]), np.array([1])))) == []


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    graph = datasets.barabasi_albert(150, 4, rng=np.random.default_rng(1))
    path = tmp_path_factory.mktemp("network") / "network.txt"
    path.write_text("".join(f"{u} {v}\n" for u, v in zip(*graph.edges(), strict=True)))
    return path


COMMAND = ("--overlap", "0.9,0.9", "--attack", "Nar09", "--runs", "3", "--smallest-shown", "1")


def run_json(network, *arguments):
    done = invoke("audit", "graph", network, *COMMAND, *arguments, "--json")
    assert done.exit_code == 0, done.stderr
    return parsed(done.stdout)


def test_lines_of_seed_methods_and_the_fewest_stable_seeds(network):
    result = run_json(network, "--seeds", "random:15,top:12", "--seeds", "lta:8", "--transition", "3,20")
    points = result["tables"]["graph_transition"]
    assert [(row["seeds"], row["n_seeds"]) for row in points] == [
        *(("random", n) for n in (3, 15, 20)), *(("top", n) for n in (3, 12, 20)), *(("lta", n) for n in (3, 8, 20)),
    ]  # fmt: skip
    single = run_json(network, "--seeds", "random:15")
    assert result["tables"]["graph_attacks"] == single["tables"]["graph_attacks"]
    stable = []
    for method in ("random", "top", "lta"):
        spread = {row["n_seeds"]: row["spread_in"] / row["runs"] for row in points if row["seeds"] == method}
        stable += [n for n in spread if all(spread[m] >= 0.9 for m in spread if m >= n)]
    (row,) = [row for row in result["results"] if row["measure"] == "stable_seeds"]
    assert row["posterior"] == min(stable)


def test_attack_that_never_spreads_has_no_stable_number_of_seeds(network):
    result = run_json(network, "--seeds", "random:1", "--transition", "2", "--runs", "4")
    assert all(row["measure"] != "stable_seeds" for row in result["results"])
    assert "stable_seeds (Nar09)" in json.dumps(result["not_run"])


def test_document_lists_several_seed_methods(network, tmp_path):
    document = tmp_path / "unmask.toml"
    settings = 'overlaps = ["0.9,0.9"]\nattacks = "Nar09"\nruns = 2\n'
    document.write_text(f'[graph]\nrelease = "{network}"\nseeds = ["random:15", "top:12"]\n{settings}')
    done = invoke("audit", "graph", document, "--json")
    assert done.exit_code == 0, done.stderr
    assert {row["seeds"] for row in parsed(done.stdout)["tables"]["graph_transition"]} == {"random", "top"}


def test_list_of_people_at_risk_has_the_score_over_runs(network, tmp_path):
    file = tmp_path / "risk.csv"
    assert invoke("audit", "graph", network, *COMMAND, "--seeds", "random:15", "--at-risk", file).exit_code == 0
    reasons = file.read_text()
    assert "S(v) = 3 in 3 runs" in reasons
    page = tmp_path / "page.html"
    assert invoke("audit", "graph", network, *COMMAND, "--seeds", "random:15", "--report", page).exit_code == 0
    assert "S(v) = 3 in 3 runs" not in page.read_text()


def test_page_names_the_form_of_an_attack():
    graph = datasets.barabasi_albert(150, 4, rng=np.random.default_rng(1))
    forms = ["Nar09", "Nar09:synchronous=false", "Grasshopper:weighting=printed"]
    page = audit(graph, overlaps=[(0.9, 0.9)], attacks=forms, seeds="random:15", runs=1).to_html()
    assert all(text in page for text in ("synchronous form", "printed form: node after node", "printed weights"))
    assert describe_variant(Bumblebee(synchronous=False)) == describe_variant(Nar09(synchronous=False))
    assert "authors" in describe_variant(Grasshopper())


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ("random", "METHOD:COUNT"),
        ("random:5,top", "METHOD:COUNT"),
        ("random:5,:5", "METHOD:COUNT"),
        ("random:5,top:0", "at least 1"),
        ("random:5,top:-3", "METHOD:COUNT"),
        ("random:5,top:1e3", "METHOD:COUNT"),
        ("random:5,top:nan", "METHOD:COUNT"),
        ("random:5,tpo:5", "the seed method is 'tpo'"),
        ("random:5,random:9", "--seeds random is given twice"),
        ("top:5,random:100000", "choose fewer"),
    ],
)
def test_wrong_seeds_are_one_sentence(network, seeds, message):
    check_one_sentence(invoke("audit", "graph", network, *COMMAND, "--seeds", seeds), message)
