"""Criteria of a network without an attack, against definitions written out with sets, permutations and counts."""

import itertools
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.commands import check_one_sentence, invoke
from tests.envelopes import parsed
from unmask import UnmaskError
from unmask.graphs import SocialGraph, datasets
from unmask.graphs.audit import audit
from unmask.graphs.protections import anonymous_identity


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 6))
    edges = [pair for pair in itertools.combinations(range(n), 2) if draw(st.booleans())]
    return SocialGraph.from_edges([u for u, _ in edges], [v for _, v in edges], n_nodes=n)


def sets_of(graph):
    return [set(graph.neighbors(v).tolist()) for v in range(graph.n_nodes)]


def is_same_shape(friends, first, second):
    """Return whether a bijection of two sets of nodes keeps the edges among them."""
    first, second = sorted(first), sorted(second)
    return len(first) == len(second) and any(
        all(
            (first[j] in friends[first[i]]) == (image[j] in friends[image[i]])
            for i, j in itertools.combinations(range(len(first)), 2)
        )
        for image in itertools.permutations(second)
    )


def refine(friends, rounds):
    """Return the adversary's view of each node after some rounds of vertex refinement; equal views have one number."""
    numbers = [len(around) for around in friends]
    for _ in range(rounds):
        views = [(number, sorted(numbers[friend] for friend in friends[v])) for v, number in enumerate(numbers)]
        numbers = [views.index(view) for view in views]
    return numbers


def written_out(graph):
    """Class size of each person by each criterion."""
    friends, people = sets_of(graph), range(graph.n_nodes)
    one, two, stable = (refine(friends, rounds) for rounds in (1, 2, graph.n_nodes))
    alike = {
        "k_degree": lambda a, b: len(friends[a]) == len(friends[b]),
        "k_neighborhood": lambda a, b: is_same_shape(friends, friends[a], friends[b]),
        "k_twins": lambda a, b: friends[a] - {b} == friends[b] - {a},
        "k_candidate_1": lambda a, b: one[a] == one[b],
        "k_candidate_2": lambda a, b: two[a] == two[b],
        "k_candidate": lambda a, b: stable[a] == stable[b],
    }
    return {name: [sum(same(a, b) for b in people) for a in people] for name, same in alike.items()}


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_rows_are_the_smallest_and_the_median_class(graph):
    result = audit(graph)
    expected = written_out(graph)
    rows = {row.measure: row for row in result.rows}
    assert {name: rows[name].posterior for name in expected} == {name: min(sizes) for name, sizes in expected.items()}
    success = rows["success_probability"]
    shares = [1 / size for size in expected["k_candidate"]]
    assert (success.posterior, success.worst) == (pytest.approx(statistics.mean(shares)), pytest.approx(max(shares)))
    for name, sizes in expected.items():
        assert rows[name].quantiles[2] == statistics.median_low(sizes)
    records = {row["criterion"]: row for row in result.table("graph_criteria").rows}
    for name, sizes in expected.items():
        assert records[name]["unique"] == pytest.approx(sizes.count(1) / len(sizes))


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_overlap_of_top_degree_and_lowest_local_anonymity_is_a_mean_over_orders_of_ties(graph):
    friends = sets_of(graph)
    anonymity = {}
    for v, mine in enumerate(friends):
        beyond = set().union(*(friends[x] for x in mine)) - {v} if mine else set()
        if beyond:
            anonymity[v] = statistics.mean(
                len(mine & friends[k]) / (len(mine) * len(friends[k])) ** 0.5 for k in beyond
            )
    people = sorted(anonymity)
    tables = audit(graph).facts_by_name
    for row in tables["graph_top_overlap"].rows if "graph_top_overlap" in tables else ():
        n = row["people"]
        orders = list(itertools.permutations(people))
        tops = [set(sorted(order, key=lambda v: -len(friends[v]))[:n]) for order in orders]
        lows = [set(sorted(order, key=lambda v: round(anonymity[v], 9))[:n]) for order in orders]
        chance = {
            v: statistics.mean(v in top for top in tops) * statistics.mean(v in low for low in lows) for v in people
        }
        assert row["overlap"] == pytest.approx(sum(chance.values()) / n)


def test_new_identities_are_those_of_single_people():
    graph = datasets.barabasi_albert(60, 12, rng=np.random.default_rng(1))
    rows = audit(graph).table("graph_new_identities").rows
    able = [v for v in range(60) if graph.degree[v] >= 10]
    for row in rows:
        single = [anonymous_identity(graph, v, contacts=row["contacts"], k=2) for v in able]
        assert row["possible"] == pytest.approx(np.mean([identity is not None for identity in single]))
        free = [identity is not None and not len(identity.new) for identity in single]
        assert (row["free"], row["people"]) == (pytest.approx(np.mean(free)), len(able))


@pytest.fixture
def ring(tmp_path):
    """A ring of thirteen people, one of whom has a further friend."""
    path = tmp_path / "ring.txt"
    path.write_text("".join(f"p{i} p{(i + 1) % 13}\n" for i in range(13)) + "p0 SECRET77\n")
    return path


def test_policy_sets_a_limit_on_a_criterion(ring):
    result = parsed(invoke("audit", "graph", ring, "--json").stdout)
    values = {row["measure"]: row["posterior"] for row in result["results"]}
    assert (values["k_degree"], values["k_candidate"]) == (1, 1)
    assert invoke("audit", "graph", ring, "--policy", "k_degree.q50>=11").exit_code == 0
    missed = invoke("audit", "graph", ring, "--policy", "k_degree>=2")
    assert missed.exit_code == 3
    assert "k_degree is 1 (k_degree>=2 is required)" in missed.stderr


def test_list_of_people_at_risk_has_those_whom_a_fact_identifies(ring, tmp_path):
    listed = tmp_path / "at-risk.csv"
    done = invoke("audit", "graph", ring, "--at-risk", listed, "--report", tmp_path / "page.html")
    assert done.exit_code == 0, done.stderr
    rows = [line.split(",") for line in listed.read_text().splitlines()[1:]]
    assert {row[1] for row in rows if row[2] == "degree"} == {"p0", "SECRET77"}
    assert "SECRET77" not in (tmp_path / "page.html").read_text() + done.stdout + done.stderr


def test_measure_of_an_attack_is_listed_as_not_run(ring):
    result = parsed(invoke("audit", "graph", ring, "--measure", "diaz_degree", "--json").stdout)
    assert ["diaz_degree", "it needs an attack: add --overlap or --auxiliary"] in [
        list(item.values())[:2] for item in result["not_run"]
    ]


@pytest.mark.parametrize(
    "option",
    ["--truth=t.csv", "--similarity=s.csv", "--seeds-file=s.csv", "--with=KDegree", "--attack=Nar09", "--seeds=top:5",
     "--transition=5", "--truth-partial", "--truth-sampled", "--largest-component", "--checkpoint=folder"],
)  # fmt: skip
def test_option_of_an_attack_without_an_attack_is_one_sentence(ring, option):
    check_one_sentence(invoke("audit", "graph", ring, option), "an attack needs --auxiliary or --overlap")


def test_network_without_people_is_refused():
    with pytest.raises(UnmaskError, match="the network has 0 people"):
        audit(SocialGraph.from_edges(np.zeros(0, int), np.zeros(0, int)))


def test_people_without_edges_are_one_class():
    result = audit(SocialGraph.from_edges([], [], n_nodes=12))
    values = {row.measure: row.posterior for row in result.rows}
    assert values.pop("success_probability") == pytest.approx(1 / 12)
    assert values == dict.fromkeys(
        ["k_degree", "k_neighborhood", "k_candidate_1", "k_candidate_2", "k_candidate", "k_twins"], 12
    )
    assert "0 of 12 people" in result.to_html()
