"""Search for each identity of some adopters in an audit, against attacks on releases with a single identity each."""

import numpy as np
import pytest

from tests.commands import check_one_sentence, invoke
from tests.envelopes import parsed
from unmask.graphs import Auxiliary, IdentitySeparation, Nar09, datasets, select_seeds, split
from unmask.graphs.audit.identity_search import Discovery
from unmask.graphs.disclosure import SeparatedPair, seed_pair
from unmask.graphs.knowledge import SeedPairs
from unmask.graphs.protections import apply_protection

GRAPH = datasets.barabasi_albert(150, 5, rng=np.random.default_rng(1))


def count_hits(pair, person, seeds):
    """Runs that find each identity of a person if it is the only one in the release."""
    release, origin = pair.separated
    own = np.flatnonzero(origin == pair.before.truth[person])
    hits = []
    for identity in own.tolist():
        remaining = np.setdiff1d(np.arange(release.n_nodes), own[own != identity])
        number = {node: place for place, node in enumerate(remaining.tolist())}
        found = 0
        for drawn in seeds:
            targets = np.array([number[node] for node in drawn.target.tolist()])
            belief = Nar09()(release.take(remaining), Auxiliary(pair.source, SeedPairs(drawn.source, targets)))
            found += belief.mapping[person] == number[identity]
        hits.append(int(found))
    return hits


def test_rows_are_those_of_attacks_on_one_identity_at_a_time():
    before = split(GRAPH, 0.9, 0.95, np.random.default_rng(2))
    separation = IdentitySeparation(identities=2, adopters=1, cooperation="degree")
    separated = apply_protection(
        separation, before.target, rng=np.random.default_rng(3), eligible=before.truth[before.common]
    )
    pair = SeparatedPair.of(before, separated)

    def draw(whole, rng):
        return select_seeds(whole, "random", 20, rng)

    rows = {
        row.measure: row.posterior
        for row in Discovery(1, 5).rows(pair, Nar09(), draw, np.random.default_rng(4), release="r", adversary="a")
    }
    rng = np.random.default_rng(4)
    (person,) = rng.permutation(np.flatnonzero(before.truth == separated.adopters[0]))
    seeds = [draw(seed_pair(before, separated), rng) for _ in range(5)]
    hits = count_hits(pair, person, seeds)
    assert rows["discovery"] == pytest.approx(np.mean(hits) / 5)
    assert rows["reversed"] == float(min(hits) == 5)
    assert rows["discovery"] > 0


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    path = tmp_path_factory.mktemp("search") / "network.txt"
    path.write_text("".join(f"{u} {v}\n" for u, v in zip(*GRAPH.edges(), strict=True)))
    return path


COMMAND = ("--overlap", "0.9,0.95", "--seeds", "random:20", "--attack", "Nar09", "--runs", "1", "--smallest-shown", "1")
SEPARATED = ("--with", "IdentitySeparation:identities=2:adopters=0.5")


def audit(network, *options):
    return invoke("audit", "graph", network, *COMMAND, *options)


def test_audit_searches_the_identities_of_some_adopters(network):
    result = parsed(audit(network, *SEPARATED, "--discovery", "6:3", "--json").stdout)
    rows = {row["measure"]: row for row in result["results"] if row["target"] == "adopters"}
    assert rows["reversed"]["n"] == 6
    assert rows["discovery"]["n"] == 12
    assert 0 <= rows["discovery"]["posterior"] <= 1
    assert (3 * 12 * rows["discovery"]["posterior"]) % 1 == pytest.approx(0, abs=1e-9)
    assert "of 6 people, 3 attacks for each identity" in rows["discovery"]["note"]
    without = parsed(audit(network, *SEPARATED, "--json").stdout)
    others = [row for row in result["results"] if row["measure"] not in ("discovery", "discovery_score", "reversed")]
    assert others == without["results"]


def test_policy_sets_a_limit_on_discovery(network):
    done = audit(network, *SEPARATED, "--discovery", "6:3", "--policy", "discovery<=0")
    assert "missed: basic/2/0.5 at 0.9/0.95: Nar09, adopters, discovery is " in done.stderr


@pytest.mark.parametrize("text", ["", "5", "5:", ":5", "0:5", "5:0", "-5:2", "5:x", "5:2:1", "1.5:2", "9999999999:1"])
def test_wrong_search_is_one_sentence(network, text):
    check_one_sentence(audit(network, *SEPARATED, "--discovery", text), "expected PEOPLE:RUNS")


def test_search_without_several_identities_is_one_sentence(network):
    check_one_sentence(audit(network, "--discovery", "5:2"), "--discovery needs people with several identities")
    check_one_sentence(audit(network, "--with", "KDegree:k=3", "--discovery", "5:2"), "several identities")
    check_one_sentence(invoke("audit", "graph", network, "--discovery", "5:2"), "--discovery needs an attack")
