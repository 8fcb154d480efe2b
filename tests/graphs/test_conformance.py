"""What every attack and protection of graphs must do, walked over the catalog."""

import numpy as np
import pytest

from unmask import Truth, audit
from unmask.catalog import ATTACKS, PROTECTIONS
from unmask.graphs import Auxiliary, Rematch, SocialGraph, datasets, select_seeds, split
from unmask.graphs.evaluation import rates
from unmask.truth import ABSENT, UNKNOWN

OF_GRAPHS = [name for name in ATTACKS if name.startswith("graphs.")]
PROTECT_GRAPHS = [name for name in PROTECTIONS if name.startswith("graphs.")]
REVISE = ("graphs.Grasshopper",)
"""Attacks that may move a seed."""


@pytest.fixture(scope="module")
def scene():
    graph = datasets.barabasi_albert(300, 6, rng=np.random.default_rng(1))
    pair = split(graph, 0.9, 0.95, np.random.default_rng(2))
    return pair, select_seeds(pair, "top", 25, np.random.default_rng(3))


@pytest.mark.parametrize("name", OF_GRAPHS)
def test_an_attack_is_reproducible_documented_and_leaves_its_input_alone(scene, name):
    pair, seeds = scene
    before = [pair.target.neighbor.copy(), pair.source.neighbor.copy(), seeds.source.copy(), seeds.target.copy()]
    one, two = (ATTACKS[name](pair.target, Auxiliary(pair.source, seeds)) for _ in range(2))
    assert one.mapping.tolist() == two.mapping.tolist()
    assert one.log_probability.tolist() == two.log_probability.tolist()
    after = [pair.target.neighbor, pair.source.neighbor, seeds.source, seeds.target]
    assert all(np.array_equal(old, new) for old, new in zip(before, after, strict=True))
    doc = type(ATTACKS[name]).__doc__
    assert ">>>" in doc
    assert any(year in doc for year in ("2009", "2013", "2014", "2015", "2016", "2022", "2018"))


@pytest.mark.parametrize("name", OF_GRAPHS)
def test_a_mapping_is_one_to_one_and_keeps_what_was_known(scene, name):
    pair, seeds = scene
    belief = ATTACKS[name](pair.target, Auxiliary(pair.source, seeds))
    named = belief.mapping[belief.mapping >= 0]
    assert len(np.unique(named)) == len(named)
    if name not in REVISE:
        assert belief.mapping[seeds.source].tolist() == seeds.target.tolist()
    assert rates(belief.mapping, pair.truth, seeds.source).recall > 0.2


@pytest.mark.parametrize("name", OF_GRAPHS)
def test_a_person_without_ties_is_not_named(scene, name):
    pair, seeds = scene
    u, v = pair.source.edges()
    alone = SocialGraph.from_edges(u, v, n_nodes=pair.source.n_nodes + 1)
    belief = ATTACKS[name](pair.target, Auxiliary(alone, seeds))
    if name != "graphs.GraphMatching":  # it leaves nobody out
        assert belief.mapping[-1] == -1


@pytest.mark.parametrize("name", OF_GRAPHS)
def test_another_network_gives_no_gain(name):
    here = datasets.barabasi_albert(250, 4, rng=np.random.default_rng(5))
    there = datasets.barabasi_albert(250, 4, rng=np.random.default_rng(6))
    rng = np.random.default_rng(7)
    source, target = rng.permutation(250)[:10], rng.permutation(250)[:10]
    belief = ATTACKS[name](there, Auxiliary(here, (source, target)))
    stranger = np.random.default_rng(8).permutation(250)
    stranger[source] = -1
    found = rates(belief.mapping, stranger, source)
    assert found.recall < 0.05


@pytest.mark.parametrize("name", OF_GRAPHS)
def test_the_standard_measures_apply_to_every_belief(scene, name):
    pair, seeds = scene
    truth = np.where(pair.truth < 0, ABSENT, pair.truth)
    truth[seeds.source] = UNKNOWN
    belief = ATTACKS[name](pair.target, Auxiliary(pair.source, seeds))
    found = audit(belief, Truth(truth))
    assert 0 < found.row("realized_success").posterior <= 1
    assert found.row("realized_success").gain > 0.1
    if belief.status == "scores":
        assert "the attack gives scores, not probabilities" in {why for _, why in found.not_run}


@pytest.mark.parametrize("name", PROTECT_GRAPHS)
def test_a_protection_is_seeded_and_leaves_its_input_alone(name):
    graph = datasets.barabasi_albert(300, 8, rng=np.random.default_rng(1))
    before = graph.neighbor.copy()
    one, two = (PROTECTIONS[name](graph, rng=np.random.default_rng(4)) for _ in range(2))
    release, origin = one
    assert release.neighbor.tolist() == two.release.neighbor.tolist()
    assert origin.tolist() == two.origin.tolist()
    assert np.array_equal(before, graph.neighbor)
    assert release.labels is None
    u, v = release.edges()
    assert graph.has_edges(origin[u], origin[v]).all()  # nobody gets a contact he did not have
    assert sorted(set(origin.tolist())) == list(range(graph.n_nodes))


@pytest.fixture(scope="module")
def sparse_scene():
    """Many people of one or two ties, twins among them: whatever order decides, it decides here."""
    degrees = datasets.power_law_degrees(400, exponent=2.3, mean=6)
    graph = datasets.chung_lu(degrees, rng=np.random.default_rng(1))
    pair = split(graph, 0.8, 0.8, np.random.default_rng(2))
    return pair, select_seeds(pair, "random.25", 20, np.random.default_rng(3))


@pytest.mark.parametrize("name", [*OF_GRAPHS, "greedy"])
def test_g8_renumbering_the_nodes_renumbers_the_names(sparse_scene, name):
    pair, seeds = sparse_scene
    attack = Rematch(assignment="greedy") if name == "greedy" else ATTACKS[name]
    before = attack(pair.target, Auxiliary(pair.source, seeds))
    assert (before.mapping >= 0).sum() > len(seeds.source) + 10
    for run in range(4):
        rng = np.random.default_rng(run)
        sources, targets = rng.permutation(pair.source.n_nodes), rng.permutation(pair.target.n_nodes)
        moved = pair.take(sources, targets)
        place, place_there = np.argsort(sources), np.append(np.argsort(targets), -1)
        order = rng.permutation(len(seeds.source))
        again = attack(
            moved.target, Auxiliary(moved.source, (place[seeds.source[order]], place_there[seeds.target[order]]))
        )
        assert again.mapping[place].tolist() == place_there[before.mapping].tolist()
