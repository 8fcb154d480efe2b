"""Advice for one person, against all divisions of contacts, all sets of found identities, and the table of payoffs."""

import itertools
import math

import numpy as np
import pytest

from tests.commands import check_one_sentence, invoke
from tests.envelopes import parsed
from tests.graphs.divisions import misses_clique, misses_clique_with_copies, misses_top
from unmask.graphs import SocialGraph
from unmask.graphs.advice.identity_advice import advise

RNG = np.random.default_rng(5)


def person_with(contacts):
    """A network in which node 0 has so many contacts, three of whom know each other."""
    edges = [(0, i) for i in range(1, contacts + 1)] + [(1, 2), (1, 3), (2, 3)]
    return SocialGraph.from_edges([u for u, _ in edges], [v for _, v in edges])


@pytest.mark.parametrize("shares", [(0.3, 0.7), (0.2, 0.3, 0.5), (0.5, 0.5)])
@pytest.mark.parametrize(("n", "tolerance"), [(4, 0.05), (6, 0.2), (8, 0.4)])
def test_shares_decide_how_often_seeding_fails(n, tolerance, shares):
    advice = advise(person_with(n), 0, shares=shares, tolerance=tolerance, top=1)
    (escape,) = advice.escapes
    assert advice.border == n
    assert escape.cliques == pytest.approx(misses_clique(n, shares, 4, tolerance))
    assert escape.best_known == pytest.approx(misses_top(n, shares, n))
    copies = advise(person_with(n), 0, shares=shares, tolerance=tolerance, model="realistic").escapes[0]
    assert copies.cliques == pytest.approx(misses_clique_with_copies(n, shares, 4, tolerance))


def test_two_identities_fail_least_of_all_divisions_with_the_same_first_share():
    graph = person_with(12)
    first = advise(graph, 0, shares=(0.4, 0.6)).escapes[0].cliques
    assert first <= min(advise(graph, 0, shares=(0.4, p, 0.6 - p)).escapes[0].cliques for p in (0.1, 0.2, 0.3, 0.5))


def sets_of(chances):
    """Every set of found identities, with its probability: equation (6.6)."""
    for found in itertools.product((0, 1), repeat=len(chances)):
        yield found, math.prod(p if m else 1 - p for m, p in zip(found, chances, strict=True))


def believes(rule, found, chances, i):
    """Probability that identity i is believed if these are found."""
    if not found[i]:
        return 0.0
    if rule == "uniform":
        return 1 / sum(found)
    if rule == "likeliest":
        best = max(p for m, p in zip(found, chances, strict=True) if m)
        return (chances[i] == best) / sum(m and p == best for m, p in zip(found, chances, strict=True))
    return rule[i]


@pytest.mark.parametrize("y", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", ["uniform", "likeliest", "doubts"])
def test_weak_adversary_is_the_sum_over_all_sets_of_found_identities(y, kind):
    graph = person_with(9)
    for _ in range(10):
        chances = RNG.choice([0.0, 0.2, 0.5, 0.9, 1.0], y).tolist()
        loss = RNG.choice([1.0, 2.0, 7.0], y).tolist()
        rule = (RNG.random(y) / y).tolist() if kind == "doubts" else kind
        weak = advise(graph, 0, discovery=chances, loss=loss, accepts=rule).weak
        costs = [
            loss[i] * sum(p * believes(rule, found, chances, i) for found, p in sets_of(chances)) for i in range(y)
        ]
        assert weak.loss == pytest.approx(min(costs), abs=1e-12)
        assert sum(r * cost for r, cost in zip(weak.assignment, costs, strict=True)) == pytest.approx(weak.loss)


@pytest.mark.parametrize("y", [2, 3, 5])
def test_strong_adversary_plays_the_equilibrium_of_the_table_of_payoffs(y):
    graph = person_with(9)
    loss, gain = (RNG.uniform(0.5, 9, y).tolist() for _ in range(2))
    advice = advise(graph, 0, identities=y, loss=loss, gain=gain)
    r, q = advice.strong.assignment, advice.strong.decision
    payoff = np.diag(gain)  # of the adversary who believes (rows) an identity that holds the secret (columns)
    believed = payoff @ r
    assert believed == pytest.approx(np.full(y, believed[0]))  # no belief is better than another
    stored = np.array(q) @ np.diag(loss)
    assert stored == pytest.approx(np.full(y, advice.strong.loss))  # nor is another place for the secret
    assert advice.unit == "loss"
    worst = max(r * u for r, u in zip(advice.unknown.assignment, loss, strict=True))
    assert advice.unknown.loss == pytest.approx(worst)
    assert worst == pytest.approx(advice.strong.loss)


@pytest.mark.parametrize(("m", "y"), [(1, 5), (2, 3), (2, 5), (4, 4)])
def test_equal_secrets_raise_the_loss_to_their_share(m, y):
    sets = list(itertools.combinations(range(y), m))
    learned = max(sum(j in chosen for chosen in sets) / len(sets) for j in range(y))
    assert advise(person_with(9), 0, identities=y, equal_secrets=m).equal_loss == pytest.approx(learned)


# --- command ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def friends(tmp_path_factory):
    path = tmp_path_factory.mktemp("advice") / "friends.txt"
    person_with(100).write(path)
    return path


def run_advice(friends, *options):
    return invoke("advise", "identity", "--graph", friends, "--node", "0", *options)


def advise_json(friends, *options):
    done = run_advice(friends, *options, "--json")
    assert done.exit_code == 0, done.stderr
    return parsed(done.stdout)["results"][0]


@pytest.mark.parametrize(("shares", "failure"), [("0.1,0.9", 0.949772), ("0.2,0.8", 0.999984), ("0.05,0.95", 0.448723)])
def test_published_failures_of_clique_seeding(friends, shares, failure):
    (escape,) = advise_json(friends, "--shares", shares)["escapes"]
    assert escape["cliques"] == pytest.approx(failure, abs=1e-6)


def test_sentences_name_losses_and_rules(friends):
    text = run_advice(friends, "--discovery", "0.3,0.1", "--loss", "20,5", "--accepts", "likeliest").stdout
    assert "put the secret in identity 2: your expected loss is 0.350" in text
    assert "identity 1 with 20.0\u00a0%, identity 2 with 80.0\u00a0%: your expected loss is at most 4" in text
    doubtful = run_advice(friends, "--discovery", "0.3,0.1", "--accepts", "0.5,0.3").stdout
    assert "they learn it with 3.0\u00a0%" in doubtful
    assert "in 2 identities with shares of 0.1, 0.9" in run_advice(friends, "--shares", "0.1,0.9").stdout
    assert "If 2 of the 3 identities" in run_advice(friends, "--identities", "3", "--equal-secrets", "2").stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--shares", "0.1,0.8"), "sum to 0.9, expected 1"),
        (("--shares", "0.1,nan"), "a probability from 0 to 1"),
        (("--shares", "0.1,x"), "a probability from 0 to 1"),
        (("--shares", ""), "a probability from 0 to 1"),
        (("--shares", "-0.1,1.1"), "a probability from 0 to 1"),
        (("--shares", "0.5,0.5", "--identities", "3"), "3 identities and 2 probabilities"),
        (("--shares", "0.5,0.5", "--discovery", "0.1,0.2,0.3"), "--shares has 2 and --discovery has 3 numbers"),
        (("--shares", ",".join(["0.005"] * 200)), "--shares has 200 shares, but the person has 100 contacts"),
        (("--shares", "0.6,0.6", "--model", "best"), "sum to 1.2, expected at most 1"),
        (("--model", "good"), "'good' is not one of"),
        (("--clique", "2"), "--clique"),
        (("--tolerance", "1"), "--tolerance"),
        (("--top", "9999"), "--top is 9,999, but the network has"),
        (("--loss", "0"), "amounts above 0"),
        (("--loss", "-1,2"), "amounts above 0"),
        (("--loss", "inf"), "amounts above 0"),
        (("--loss", "much"), "amounts above 0"),
        (("--loss", "1,2,3", "--identities", "2"), "--loss has 3 numbers for 2 identities"),
        (("--gain", "nan"), "amounts above 0"),
        (("--gain", ""), "amounts above 0"),
        (("--gain", "1,2,3", "--identities", "2"), "--gain has 3 numbers for 2 identities"),
        (("--accepts", "likeliest"), "add --discovery or --runs"),
        (("--accepts", "maybe", "--discovery", "0.3,0.1"), "uniform, likeliest, or a probability"),
        (("--accepts", "0.9,0.9", "--discovery", "0.3,0.1"), "sum to more than 1"),
        (("--accepts", "0.9", "--discovery", "0.3,0.1"), "--accepts has 1 numbers for 2 identities"),
        (("--accepts", "", "--discovery", "0.3,0.1"), "uniform, likeliest, or a probability"),
        (("--equal-secrets", "0"), "--equal-secrets"),
        (("--equal-secrets", "6"), "--equal-secrets is 6, but there are 5 identities"),
        (("--equal-secrets", "1.5"), "--equal-secrets"),
    ],
)
def test_impossible_options_are_one_sentence(friends, options, message):
    check_one_sentence(run_advice(friends, *options), message)
