"""The audit of a network in which people have several identities: figures are those of the library, any is right."""

import numpy as np
import pytest

from tests.commands import read_page
from tests.graphs import disclosed
from tests.studies.test_graphs import facts, friends, measure, plan, render, sentences, summary_of
from unmask.core.errors import UnmaskError
from unmask.graphs import Auxiliary, Ensemble, Nar09, Pair, select_seeds, split
from unmask.graphs.audit import audit, audit_networks
from unmask.graphs.audit.attack_run import declare_seeds
from unmask.graphs.audit.network_pairs import DerivedPair, GivenPair
from unmask.graphs.disclosure import SeparatedPair, disclosure, seed_pair
from unmask.graphs.knowledge import SeedPairs
from unmask.graphs.protections import Decoy, IdentitySeparation, KDegree, PerturbEdges, SwitchEdges
from unmask.results.words import format_share

SEPARATIONS = [IdentitySeparation("best", 3, adopters=0.5), Decoy(adopters=0.5, minimum_degree=15)]


def by_hand(separation, graph, plan_asked):
    """The first run through the library: the adopters' recall before they separate, and what the attack tells after."""
    rng = plan_asked.rng("graphs", (0.8, 0.9), 0)
    pair = split(graph, 0.8, 0.9, rng)
    separated = separation(pair.target, rng=rng, eligible=pair.truth[pair.common])
    seeds = [
        select_seeds(pair_given, "random.25", 15, plan_asked.rng("seeds", (0.8, 0.9), 15, 0))
        for pair_given in (pair, seed_pair(pair, separated))
    ]
    mapping = Nar09()(pair.target, Auxiliary(pair.source, seeds[0])).mapping
    adopters = [
        v for v in range(len(mapping)) if pair.truth[v] in separated.adopters and v not in seeds[0].source.tolist()
    ]
    recall = np.mean([mapping[v] == pair.truth[v] for v in adopters])
    mapping = Nar09()(separated.release, Auxiliary(pair.source, seeds[1])).mapping
    return recall, (pair, separated, mapping, seeds[1].source)


@pytest.mark.parametrize("separation", SEPARATIONS)
def test_results_about_people_with_several_identities_equal_the_library(separation):
    graph, plan_asked = friends(600), plan(runs=1)
    scenes = {"whole": DerivedPair(graph, 0.8, 0.9), "several": DerivedPair(graph, 0.8, 0.9, separation)}
    result = audit_networks(scenes, plan_asked)
    recall_by_hand, attacked = by_hand(separation, graph, plan_asked)
    expected, separated = disclosure(*attacked), attacked[1]
    recall, adopter_recall = disclosed.recall(*attacked), np.mean(expected.role >= 0)
    row = {row.measure: row for row in result.rows if row.release == "several"}
    assert row["recall"].posterior == pytest.approx(recall)
    assert row["precision"].posterior == pytest.approx(disclosed.precision(*attacked))
    assert row["adopter_recall"].posterior == pytest.approx(adopter_recall)
    assert row["disclosure"].posterior == pytest.approx(expected.rate)
    assert (row["disclosure"].target, row["disclosure"].n) == ("adopters", len(expected.person))
    assert row["disclosure"].low < expected.rate < row["disclosure"].high
    identities_each = np.bincount(separated.origin)[separated.adopters].mean()
    assert row["adopter_recall"].prior == pytest.approx(identities_each / separated.release.n_nodes, rel=0.1)
    if isinstance(separation, Decoy):
        assert row["decoyed"].posterior == pytest.approx(expected.decoyed)
        assert row["exposed"].posterior == pytest.approx(expected.exposed)
    else:
        assert not {"decoyed", "exposed"} & row.keys()
    (point,) = facts(result, "separations")
    assert (point.release, point.attack, point.adopters) == ("several", "Nar09", len(expected.person))
    assert (point.recall, point.disclosure) == (pytest.approx(recall), pytest.approx(expected.rate))
    assert point.recall_before == pytest.approx(measure(result, "recall").posterior)
    assert point.adopter_recall == pytest.approx(adopter_recall)
    assert point.adopter_recall_before == pytest.approx(recall_by_hand)
    assert point.exposed == expected.exposed
    assert point.disclosure < point.adopter_recall_before - 0.01


def test_the_unprotected_release_is_what_it_is_alone():
    graph = friends()
    scenes = {"whole": DerivedPair(graph, 0.8, 0.9)}
    single = audit_networks(scenes, plan())
    among_others = audit_networks(scenes | {"several": DerivedPair(graph, 0.8, 0.9, SEPARATIONS[0])}, plan())
    assert facts(among_others)[0] == facts(single)[0]
    assert facts(among_others, "overlaps") == []
    assert facts(single, "separations") == []
    page = render(among_others)
    assert "Where people have several identities" in page
    assert "Where people have several identities" not in render(single)
    assert any(
        "who have several identities in several, Nar09 re-identifies" in sentence
        for sentence in sentences(among_others)
    )
    assert any(assumption.startswith("best/3/0.5: 50 % of the people") for assumption in among_others.assumptions)


@pytest.mark.parametrize("whose_identities", ["the release", "the plan"])
def test_by_default_further_identities_are_attacked_and_learned_contacts_reported(whose_identities):
    graph, separation = friends(100), IdentitySeparation("best", 3, adopters=0.5)
    if whose_identities == "the plan":
        result = audit(graph, overlaps=[(0.9, 0.9)], separation=[separation], runs=1)
    else:
        separated = separation(graph, rng=np.random.default_rng(0))
        number = np.arange(graph.n_nodes)
        first = np.array([np.flatnonzero(separated.origin == v)[0] for v in number])
        truth = Pair(graph, separated.release, first, separated.origin)
        result = audit(separated.release, auxiliary=graph, truth=truth, runs=1)
    points = facts(result, "separations")
    learned = {point.attack: point.disclosure for point in points}
    assert learned["Iterated:attack=Climb"] > learned["Climb"]
    most_disclosed = max(points, key=lambda point: point.disclosure)
    best_recall_point = max(points, key=lambda point: point.adopter_recall)
    (sentence,) = [sentence for sentence in sentences(result) if "who have several identities" in sentence]
    assert f"{best_recall_point.attack} re-identifies" in sentence
    assert most_disclosed.attack in sentence
    assert f"learns {format_share(most_disclosed.disclosure)} of their contacts" in sentence


@pytest.mark.parametrize(
    ("share", "advised"), [(0.95, "--with NAME"), (0.01, "--with IdentitySeparation:adopters=SHARE")]
)
def test_the_advised_protection_is_the_kind_that_hides_most(share, advised):
    protections = [IdentitySeparation("best", 3, adopters=0.9), PerturbEdges(delete=share, add=0.0)]
    result = audit(friends(), overlaps=[(0.9, 0.9)], separation=protections, attacks=["Nar09"], runs=1)
    recall = {point.release: point.recall for point in facts(result, "separations")}
    assert (min(recall, key=recall.get).startswith("Perturb")) == (share > 0.5)
    assert f"unmask protect graph \u2026 {advised}<" in read_page(render(result))


def test_the_page_notes_if_further_identities_were_not_attacked():
    scene = {"several": DerivedPair(friends(), 0.9, 0.9, IdentitySeparation("best", 3, adopters=0.5))}
    assert ("the attack Iterated", "it was not requested") in audit_networks(scene, plan(runs=1)).not_run
    scene_made = {"whole": DerivedPair(friends(), 0.9, 0.9, SwitchEdges())}
    assert "the attack Iterated" not in dict(audit_networks(scene_made, plan(runs=1)).not_run)


def test_if_no_person_separates_results_about_separated_people_are_absent():
    separation = IdentitySeparation("best", 3, adopters=0.0)
    result = audit_networks({"nobody": DerivedPair(friends(), 0.8, 0.9, separation)}, plan(n_seeds=30))
    assert {row.target for row in result.rows} == {"identity"}
    (point,) = facts(result, "separations")
    assert (point.adopters, point.adopter_recall, point.disclosure) == (None, None, None)
    assert not any("several identities in" in sentence for sentence in sentences(result))


def test_people_with_several_identities_have_no_bound():
    result = audit_networks({"several": DerivedPair(friends(), 0.8, 0.9, SEPARATIONS[0])}, plan(n_seeds=30))
    assert summary_of(result).most_recall is None
    (point,) = facts(result, "separations")
    assert (point.recall_before, point.adopter_recall_before) == (None, None)


def test_any_identity_of_a_person_is_right_in_a_release_that_is_given():
    graph, plan_asked = friends(600), plan(n_seeds=40, runs=1)
    separated = SEPARATIONS[0](graph, rng=np.random.default_rng(1))
    release, origin = separated
    rows = [(int(person), node) for node, person in enumerate(origin)]
    pair = Pair.from_labels(graph, release, *zip(*rows, strict=True))
    scene = GivenPair(release, graph, pair.truth, origin=pair.origin)
    result = audit_networks({"r": scene}, plan_asked)
    run = scene.pair(plan_asked.rng("graphs", None, 0))
    seeds = scene.seeds(run, plan_asked, None, plan_asked.rng("seeds", None, 40, 0))
    assert not set(run.source.labels[seeds.source].tolist()) & set(separated.adopters.tolist())
    mapping = Nar09()(run.target, Auxiliary(run.source, seeds)).mapping
    asked_for = np.setdiff1d(np.arange(graph.n_nodes), seeds.source)
    is_right = [x >= 0 and origin[run.target.labels[x]] == run.source.labels[v] for v, x in enumerate(mapping)]
    assert measure(result, "recall").posterior == pytest.approx(np.mean(np.array(is_right)[asked_for]))
    first = audit_networks({"r": GivenPair(release, graph, pair.truth, seeds_of(scene, plan_asked))}, plan_asked)
    evaluated_whole = audit_networks(
        {"r": GivenPair(release, graph, pair.truth, seeds_of(scene, plan_asked), pair.origin)}, plan_asked
    )
    assert measure(first, "recall").posterior < measure(evaluated_whole, "recall").posterior - 0.02
    assert summary_of(first).most_recall is not None
    assert summary_of(evaluated_whole).most_recall is None


def test_contacts_learned_from_a_given_release_are_those_of_the_original():
    graph, plan_asked = friends(600), plan(n_seeds=40, runs=1)
    separated = IdentitySeparation("basic", 2, adopters=0.3)(graph, rng=np.random.default_rng(1))  # which drops nobody
    release, origin = separated
    pair = Pair.from_labels(
        graph, release, *zip(*((int(person), index) for index, person in enumerate(origin)), strict=True)
    )
    scene = GivenPair(release, graph, pair.truth, origin=pair.origin)
    result = audit_networks({"r": scene}, plan_asked)
    run = scene.pair(plan_asked.rng("graphs", None, 0))
    seeds = scene.seeds(run, plan_asked, None, plan_asked.rng("seeds", None, 40, 0))
    guesses = Nar09()(run.target, Auxiliary(run.source, seeds)).mapping
    mapping = np.full(graph.n_nodes, -1)
    mapping[run.source.labels] = np.where(guesses >= 0, run.target.labels[guesses], -1)
    whole_pair = Pair(graph, graph, np.arange(graph.n_nodes))
    expected = disclosure(whole_pair, separated, mapping, run.source.labels[seeds.source])
    assert 0.1 < expected.rate < np.mean(expected.role >= 0)
    assert measure(result, "disclosure").posterior == pytest.approx(expected.rate)
    (point,) = facts(result, "separations")
    assert (point.adopters, point.disclosure) == (len(separated.adopters), pytest.approx(expected.rate))
    assert "of their contacts" in " ".join(sentences(result))
    assert "→" not in render(result).partition("Where people have several identities")[2].partition("</table>")[0]
    assert not result.table("utility").rows  # what there was before is not given


def seeds_of(scene, plan_asked):
    """The seeds of the first run as nodes of the files."""
    run = scene.pair(plan_asked.rng("graphs", None, 0))
    seeds = scene.seeds(run, plan_asked, None, plan_asked.rng("seeds", None, 40, 0))
    return SeedPairs(run.source.labels[seeds.source], run.target.labels[seeds.target])


def test_seeds_cannot_be_chosen_where_everybody_has_several_identities():
    everybody = IdentitySeparation(adopters=1.0, minimum_degree=0)
    with pytest.raises(UnmaskError, match=r"all 2\d\d people in both graphs have several; use fewer"):
        audit_networks({"several": DerivedPair(friends(300), 0.8, 0.9, everybody)}, plan(runs=1))


def test_the_page_says_how_many_identities_and_who_refuses():
    protection = IdentitySeparation(identities=500, adopters=1, refuse_top=0.5)
    result = audit_networks(
        {"whole": DerivedPair(friends(300), 0.8, 0.9), "one": DerivedPair(friends(300), 0.8, 0.9, protection)},
        plan(runs=1),
    )
    text = " ".join(result.assumptions)
    assert "but none of the 50 % with most edges, who refuse, appear under 500 identities each (no more than" in text
    assert any(
        "Of the 1 person who has several identities in one, Nar09 re-identifies" in it for it in sentences(result)
    )


def test_changed_edges_are_attacked_next_to_the_network_and_their_losses_shown_next_to_the_risk():
    protections = [KDegree(k=5), SwitchEdges(share=10.0)]
    result = audit(
        friends(600), overlaps=[(0.9, 0.9)], separation=protections, attacks=["Rematch"], seeds="random:20", runs=1
    )
    points = {point.release: point for point in facts(result, "separations")}
    assert [*points] == ["KDegree(k=5) at 0.9/0.9", "SwitchEdges(share=10.0, keep='degrees') at 0.9/0.9"]
    anonymous, random = points.values()
    assert anonymous.recall_before == random.recall_before > 0.3
    assert random.recall < 0.1 < anonymous.recall
    assert {point.adopters for point in points.values()} == {None}
    losses = {row["release"]: row for row in result.table("utility").rows}
    assert [*losses] == [*points]
    assert losses[random.release]["degrees_lost"] == 0 < losses[anonymous.release]["degrees_lost"]
    page = render(result)
    assert "Utility lost" in page
    assert "With protection" in page
    assert "Adopters re-identified" not in page


def test_seeds_with_one_identity_are_no_sample_of_those_with_several():
    graph, rng = friends(), np.random.default_rng(0)
    pair = Pair(graph, graph, np.arange(graph.n_nodes))
    several = SeparatedPair.of(pair, IdentitySeparation("best", 3, adopters=0.5)(graph, rng=rng))
    seeds_are = {
        name: declare_seeds(Ensemble(), "random", pair_given).seeds_are
        for name, pair_given in {"one": pair, "several": several}.items()
    }
    assert seeds_are == {"one": "sample", "several": "chosen"}
    assert declare_seeds(Ensemble(), "random", several, anybody=True).seeds_are == "sample"
    assert declare_seeds(Ensemble(), "given", several).seeds_are == "sample"
    assert declare_seeds(Ensemble(), "top", pair).seeds_are == "chosen"
