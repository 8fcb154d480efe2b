"""The standard audit of a network: figures are those of the evaluation, people keep their numbers, doubt is stated."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from unmask import UnmaskError
from unmask.findings.people_at_risk import Watched
from unmask.findings.sentences import sentences as report_sentences
from unmask.graphs import (
    Auxiliary,
    Climb,
    Dropped,
    Ensemble,
    KorulaLattanzi,
    Nar09,
    Pair,
    Similarity,
    SocialGraph,
    datasets,
    select_seeds,
    split,
)
from unmask.graphs.attacks.base import make_matching
from unmask.graphs.attacks.rematch import Rematch, log_odds
from unmask.graphs.audit import audit_networks
from unmask.graphs.audit.attack_plan import DEFAULT, STANDARD, Plan, default_attacks, parse_attacks
from unmask.graphs.audit.attack_run import AttackRun, attack_facts, average_rows, run_attack
from unmask.graphs.audit.facts import Announcement
from unmask.graphs.audit.network_pairs import DerivedPair, GivenPair
from unmask.graphs.evaluation import outcomes
from unmask.graphs.knowledge import SeedPairs
from unmask.measures.rates import MIN_SPREAD, RATES, RunValues, coverage
from unmask.render.closing import not_run_groups
from unmask.render.page import render as render_report
from unmask.results.words import plural

SECRET = "SECRET77"


def friends(n=300, mean=10, *, seed=0):
    degrees = datasets.power_law_degrees(n, exponent=2.5, mean=mean)
    return datasets.chung_lu(degrees, rng=np.random.default_rng(seed))


def plan(**settings):
    return Plan(**{"attacks": {"Nar09": Nar09()}, "seeds": "random.25", "n_seeds": 15, "runs": 2} | settings)


def facts(result, name="attacks"):
    """Facts of a table of the result."""
    return [SimpleNamespace(**row) for table in result.facts if table.name == f"graph_{name}" for row in table.rows]


def summary_of(result):
    """Facts about both networks."""
    return SimpleNamespace(**result.table("graph").rows[0])


def render(result):
    return render_report(result)


def sentences(result):
    """Findings as the owner reads them."""
    return report_sentences(replace(result, smallest_shown=1).without_small())


@dataclass(frozen=True)
class Refuses:
    def __call__(self, release, knowledge, *, rng=None):
        raise UnmaskError("too large for me")


def measure(result, name, adversary="Nar09"):
    return next(row for row in result.rows if (row.measure, row.adversary) == (name, adversary))


def trial(hits, misses, *, n=100, false_positives=0, certainty=0.8, partial=False):
    """Return n people in both graphs and as many in one, some of them mapped."""
    mapping = np.full(2 * n, -1, dtype=np.int32)
    mapping[:hits], mapping[hits : hits + misses] = np.arange(hits), n + np.arange(misses)
    mapping[n : n + false_positives] = n + misses + np.arange(false_positives)
    belief = make_matching(mapping, np.zeros((3, 0), int), n_target=2 * n, sweeps=[hits, 0], visits=0, attack="a")
    nobody, person = SocialGraph.from_edges([], [], n_nodes=2 * n), np.arange(2 * n)
    pair = Pair(nobody, nobody, np.where(person < n, person, -1))
    truth = pair.to_truth(partial=partial)
    measures_expected = [
        measure for measure in (coverage, *RATES) if not (partial and measure.name == "false_positives")
    ]
    return AttackRun(
        truth=truth,
        person=person,
        degree=np.where(person < n // 2, 20, 1),
        outcome=outcomes(mapping, pair.truth, []),
        score=np.where(mapping >= 0, certainty, np.nan),
        measures={
            measure.name: (measure, RunValues.of(measure, belief, truth, person)) for measure in measures_expected
        },
        passes=(hits, 0),
    )


def summed(trials):
    result = average_rows(trials, release="r", adversary="a")
    return attack_facts(trials, result, release="r", attack="a", seeds="top", n_seeds=3)


@pytest.mark.parametrize("name", ["Nar09", "Ensemble"])
def test_the_page_speaks_of_the_overlap_and_of_the_scores_that_it_shows(name):
    attack = {"Nar09": Nar09(), "Ensemble": Ensemble(rounds=1)}[name]
    result = audit_networks({"r": DerivedPair(friends(), 0.8, 0.9)}, plan(attacks={name: attack}, runs=1))
    text = " ".join(result.assumptions)
    assert "Overlap 0.8/0.9: 80 % of the people in either network are in both, and 90 % of the edges" in text
    assert ("computes its own scores" in text) == (name == "Ensemble")
    assert "Overlap 0.5/0.75" not in render(result)


def test_an_adversary_who_knows_link_direction_does_not_pass_the_bound(tmp_path):
    """60 people link to three others each, and 60 are linked by the same three: twins but for the way."""
    rng = np.random.default_rng(0)
    core = [(f"c{u}", f"c{v}") for u, v in rng.integers(60, size=(300, 2)).tolist() if u != v]
    core += [(v, u) for u, v in core[:100]]
    three = [[f"c{i}" for i in rng.choice(60, 3, replace=False)] for _ in range(60)]
    twins = [link for k, them in enumerate(three) for c in them for link in ((f"a{k}", c), (c, f"b{k}"))]
    file = tmp_path / "links.csv"
    file.write_text("\n".join(["from,to", *map(",".join, core + twins)]))
    attacks = {"Climb": Climb(), "Rematch": Rematch()}
    result = audit_networks(
        {"r": DerivedPair(SocialGraph.read(file), 1.0, 1.0)}, plan(attacks=attacks, seeds="random", n_seeds=30)
    )
    assert measure(result, "recall", "Climb").posterior > 0.95 > 0.75 > measure(result, "recall", "Rematch").posterior
    assert summary_of(result).most_recall > 0.95


def test_rates_are_those_of_the_evaluation():
    scene, plan_asked = DerivedPair(friends(), 0.8, 0.9), plan(runs=1)
    result = audit_networks({"r": scene}, plan_asked)
    pair = scene.pair(plan_asked.rng("graphs", (0.8, 0.9), 0))
    seeds = select_seeds(pair, "random.25", 15, plan_asked.rng("seeds", (0.8, 0.9), 15, 0))
    mapping = Nar09()(pair.target, Auxiliary(pair.source, seeds)).mapping
    hits, misses, unmapped, strangers, *_ = np.bincount(outcomes(mapping, pair.truth, seeds.source)).tolist()
    findable, matches = hits + misses + unmapped, hits + misses + strangers
    assert measure(result, "recall").posterior == pytest.approx(hits / findable)
    assert measure(result, "precision").posterior == pytest.approx(hits / matches)
    assert measure(result, "false_positives").posterior == pytest.approx(strangers / matches)
    assert measure(result, "recall").n == findable
    (attack,) = facts(result)
    assert (attack.recall, attack.named_wrongly) == pytest.approx((hits / findable, misses / findable))
    assert sum(item.people for item in facts(result, "degrees")) == findable
    assert summary_of(result).common == len(pair.common)
    assert hits / findable > 0.3


def test_a_perfect_copy_is_named_up_to_its_twins():
    result = audit_networks({"r": DerivedPair(friends(), 1.0, 1.0)}, plan(n_seeds=40))
    assert 0.5 < measure(result, "recall").posterior <= summary_of(result).most_recall < 1
    assert measure(result, "error_hops").posterior < 0.2 < measure(result, "error_hops").prior


def test_without_shared_people_no_match_is_possible():
    rng = np.random.default_rng(0)
    first, second = friends(seed=1), friends(seed=2)
    truth = rng.permutation(min(first.n_nodes, second.n_nodes))
    truth = np.concatenate((truth, np.full(first.n_nodes - len(truth), -1)))
    result = audit_networks({"r": GivenPair(second, first, truth)}, plan())
    assert measure(result, "recall").posterior < 0.05
    assert facts(result)[0].spread_in == 0
    assert "0 of 2 runs" in " ".join(sentences(result))


def test_g9_rates_are_means_over_all_runs_and_the_share_of_spread_runs_is_shown():
    result = summed([trial(60, 10), trial(50, 20), trial(0, 1)])
    assert (result.runs, result.spread_in) == (3, 2)
    assert result.recall == pytest.approx(1.1 / 3)
    assert result.named_wrongly == pytest.approx(0.31 / 3)
    half = 4.303 * np.std([0.6, 0.5, 0.0], ddof=1) / np.sqrt(3)  # Student's t, two degrees of freedom
    assert result.recall_low == max(0, 1.1 / 3 - half)
    assert result.recall_high == pytest.approx(min(1, 1.1 / 3 + half), abs=1e-4)
    (recall, *_) = average_rows([trial(60, 10), trial(50, 20), trial(0, 1)], release="r", adversary="a")
    assert (recall.measure, recall.posterior) == ("recall", pytest.approx(result.recall))
    assert recall.note == "over 3 runs; it spread in 2"
    assert MIN_SPREAD == 0.05


def test_g6_people_without_an_entry_in_a_partial_truth_are_neither_right_nor_wrong():
    half = trial(30, 10, false_positives=60, partial=True)
    result = summed([half])
    assert (result.recall, result.precision, result.precision_at_least) == (0.3, 0.75, 0.3)
    assert (result.false_positives, result.matches) == (None, 100)
    assert [item.precision for item in result.degrees] == [None, 0.75]
    assert sum(item.matches for item in result.scores) == 40
    measures = {row.measure: row for row in average_rows([half], release="r", adversary="a")}
    assert measures["precision"].posterior == 0.75
    assert "false_positives" not in measures


def test_g6_a_partial_truth_is_noted_and_changes_no_recall():
    graph = friends()
    truth = np.where(np.arange(graph.n_nodes) % 3 == 0, np.arange(graph.n_nodes), -1)
    whole_graph = audit_networks({"r": GivenPair(graph, graph, truth)}, plan())
    part = audit_networks({"r": GivenPair(graph, graph, truth, truth_partial=True)}, plan())
    assert summary_of(part).truth_partial
    assert facts(part)[0].recall == facts(whole_graph)[0].recall
    assert facts(part)[0].precision > 0.9 > 0.5 > facts(whole_graph)[0].precision
    assert facts(part)[0].precision_at_least == facts(whole_graph)[0].precision
    assert any("The truth is partial" in assumption for assumption in part.assumptions)
    first, second = (measure(result, "realized_success").posterior for result in (whole_graph, part))
    assert first < second  # people without an entry are out of it


def test_false_positives_are_a_share_of_the_names_given():
    result = summed([trial(60, 20, false_positives=20)])
    assert (result.precision, result.false_positives, result.coverage) == (0.6, 0.2, 0.5)
    assert result.recall_low is None


def test_degree_classes_count_people_once_and_certainty_counts_matches():
    result = summed([trial(50, 0), trial(30, 20, certainty=0.3)])
    few_contacts, many_contacts = result.degrees
    assert (few_contacts.low, few_contacts.people, few_contacts.recall) == (1, 50, 0.0)
    assert (many_contacts.low, many_contacts.people, many_contacts.recall) == (16, 50, 0.8)
    low, high = result.scores
    assert (low.low, low.high, low.matches, low.right) == (0.25, 0.5, 25, 0.6)
    assert (high.low, high.matches, high.score, high.right) == (0.75, 25, pytest.approx(0.8), 1.0)


@pytest.mark.parametrize("attack", [Nar09(), Rematch()])
def test_g3_no_belief_of_an_attack_is_called_a_probability(attack):
    scene, rng = DerivedPair(friends(), 0.9, 0.9), np.random.default_rng(1)
    pair = scene.pair(rng)
    seeds = select_seeds(pair, "random.25", 25, rng)
    actual, belief = run_attack(pair, attack, Auxiliary(pair.source, seeds))
    assert not [name for name in vars(belief) if name.startswith("cached ") or name == "distinct"]  # for every run
    assert np.array_equal(np.isfinite(actual.score), actual.matched)
    row = np.flatnonzero(actual.matched)
    assert belief.status == "scores"
    odds = log_odds(pair.target, pair.source, belief.mapping)[row]
    expected = np.exp(odds) / (1 + np.exp(odds))
    assert actual.score[row] == pytest.approx(expected)
    assert 0 < actual.score[row].min() < actual.score[row].max() <= 1


def test_another_attack_changes_no_figure():
    scene = {"r": DerivedPair(friends(), 0.8, 0.9)}
    single = audit_networks(scene, plan())
    with_theta = audit_networks(scene, plan(attacks={"theta": Nar09(theta=1.0), "Nar09": Nar09()}))
    assert measure(single, "recall") == measure(with_theta, "recall")
    assert facts(audit_networks(scene, plan(seed=1))) != facts(single)


def test_people_keep_their_numbers_under_every_shuffle():
    graph = friends()
    watched = Watched("id_in_release")
    result = audit_networks({"r": GivenPair(graph, graph, np.arange(graph.n_nodes))}, plan(n_seeds=30), watched=watched)
    assert watched.found
    for person in watched.found:  # U11: by the ids of the file
        assert person.probability > 0.09
        edges = plural(int(graph.degree[int(person.row)]), "edge")
        right = f"{edges}, taken for {person.row} of the release, which is right"
        assert person.reason.removesuffix("S(v) = 2 in 2 runs").rstrip(", ") == right
    assert summary_of(result).common == graph.n_nodes


def test_criteria_foretell_who_is_named():
    result = audit_networks({"r": DerivedPair(friends(600), 0.8, 0.8)}, plan(n_seeds=40))
    links = {link.criterion: link for link in facts(result, "anonymity")}
    assert links["degree"].correlation > 0.3
    assert links["lta_a"].correlation < -0.1
    ranked = [point.share for point in facts(result, "anonymity_ranks") if point.name == "Degree"]
    assert ranked[0] < ranked[-1]


def test_g5_without_truth_nothing_is_called_right():
    graph = friends()
    seeds = SeedPairs(np.arange(20), np.arange(20))
    watched = Watched("id_in_release")
    result = audit_networks({"r": GivenPair(graph, graph, leaked=seeds)}, plan(runs=3), watched=watched)
    assert not summary_of(result).truth_known
    assert summary_of(result).common is None
    assert facts(result)[0].n_seeds == 20  # all, whatever number is planned
    assert facts(result)[0].runs == 1  # the same seeds would give the same again
    assert {row.measure for row in result.rows}.isdisjoint({"recall", "precision", "realized_success"})
    assert measure(result, "coverage").posterior == pytest.approx(facts(result)[0].coverage)
    (attack,) = facts(result)
    assert (attack.recall, attack.precision, attack.named_wrongly, attack.false_positives) == (None,) * 4
    assert facts(result, "degrees") == facts(result, "scores") == []
    assert {person.probability for person in watched.found} == {None}
    assert len(watched.found) == attack.matches
    assert not any("which is" in person.reason for person in watched.found)
    assert ",identity,," in watched.text()
    assert "Without a truth, the number of right matches is unknown" in sentences(result)[0]


def test_seeds_that_need_the_truth_are_refused_without_it():
    with pytest.raises(UnmaskError, match="need the truth"):
        audit_networks({"r": GivenPair(friends(), friends())}, plan())


def test_seeds_that_need_no_truth():
    graph = friends()
    result = audit_networks({"r": GivenPair(graph, graph)}, plan(seeds="match_top", n_seeds=10))
    assert facts(result)[0].seeds == "match_top"
    assert facts(result)[0].coverage > 0.1


def test_an_attack_that_refuses_is_reported():
    scene = {"r": DerivedPair(friends(), 0.8, 0.9)}
    result = audit_networks(scene, plan(attacks={"big": Refuses(), "Nar09": Nar09()}, transition=(5,)))
    assert ("big on r", "failed: too large for me") in result.not_run
    assert {attack.attack for attack in facts(result)} == {"Nar09"}
    with pytest.raises(UnmaskError, match=r"^too large for me$"):
        audit_networks(scene, plan(attacks={"big": Refuses()}))


@pytest.mark.parametrize("knowledge", [True, False])
def test_missing_measures_of_an_attack_are_one_line_for_each_reason(knowledge):
    graph, seeds = friends(100), SeedPairs(np.arange(15), np.arange(15))
    scene = GivenPair(graph, graph, np.arange(100), seeds) if knowledge else GivenPair(graph, graph, leaked=seeds)
    result = audit_networks({"r": scene}, plan(attacks={"Nar09": Nar09(), "again": Nar09()}))
    groups = {reason: things for things, _, reason in not_run_groups(result.not_run)}
    assert groups["the attack gives scores, not probabilities"] == ["what Nar09 expects", "what again expects"]
    unknown = groups.get("the truth is not known", [])
    assert [line.partition(",")[0] for line in unknown] == ([] if knowledge else ["Realized success"])
    assert all(line.endswith(" \u2013 Nar09; again") for line in unknown)


def test_transition_holds_the_planned_number_too():
    result = audit_networks({"r": DerivedPair(friends(), 0.8, 0.9)}, plan(transition=(1, 15, 10_000)))
    assert [point.n_seeds for point in facts(result, "transition")] == [1, 15]
    assert any(analysis.startswith("10000 seeds") and "choose fewer" in reason for analysis, reason in result.not_run)
    first, last = facts(result, "transition")
    assert first.recall < last.recall


def test_given_seeds_have_one_run_next_to_other_seed_counts():
    graph = friends()
    scene = GivenPair(graph, graph, np.arange(graph.n_nodes), SeedPairs(np.arange(20), np.arange(20)))
    single = audit_networks({"r": scene}, plan(runs=3))
    result = audit_networks({"r": scene}, plan(runs=3, transition=(5, 20, 21)))
    assert facts(result) == facts(single)
    assert [(point.n_seeds, point.runs) for point in facts(result, "transition")] == [(5, 3), (20, 1)]
    assert ("21 seeds on r", "failed: 21 seeds are requested, but 20 are given; use fewer") in result.not_run


def test_a_number_of_seeds_that_leaves_no_person_is_not_run():
    graph = friends(60)
    result = audit_networks(
        {"r": GivenPair(graph, graph, np.arange(graph.n_nodes))}, plan(seeds="random", transition=(graph.n_nodes,))
    )
    assert [point.n_seeds for point in facts(result, "transition")] == [15]
    assert any("are seeds, expected some to be found" in reason for _, reason in result.not_run)
    everybody = np.arange(graph.n_nodes)
    with pytest.raises(UnmaskError, match="all people in both networks are seeds"):
        run_attack(Pair(graph, graph, everybody), Nar09(), Auxiliary(graph, (everybody, everybody)))


@pytest.mark.parametrize("seeds", ["top", "lta", "clustering.high", "betweenness.5", "closeness", "match_top"])
def test_seeds_by_rank_on_a_given_pair_have_one_run(seeds):
    graph = friends()
    result = audit_networks(
        {"r": GivenPair(graph, graph, np.arange(graph.n_nodes))}, plan(seeds=seeds, transition=(5,))
    )
    (attack,) = facts(result)
    assert (attack.runs, attack.recall_low) == (1, None)
    assert {point.runs for point in facts(result, "transition")} == {1}
    assert "there is one run only" in result.assumptions[0]
    assert "others" not in result.assumptions[0]
    made = audit_networks({"r": DerivedPair(graph, 0.8, 0.9)}, plan(seeds=seeds, n_seeds=5))
    assert facts(made)[0].runs == 2  # other graphs


def test_the_bound_is_of_the_described_release():
    graph = friends()
    scenes = {"less": DerivedPair(graph, 0.8, 0.5), "more": DerivedPair(graph, 1.0, 1.0)}
    result = audit_networks(scenes, plan(n_seeds=40))
    single = audit_networks({"more": scenes["more"]}, plan(n_seeds=40))
    assert summary_of(result).most_recall == summary_of(single).most_recall
    assert any("% of people in more: the others have" in text for text in sentences(result))


def test_guessed_seeds_are_not_called_known():
    graph = friends()
    result = audit_networks({"r": GivenPair(graph, graph)}, plan(seeds="match_top", n_seeds=10))
    page = render(result)
    assert "a few guessed identities" in page
    assert "is guessed from their surroundings" in page
    assert "whose identity in the release is known" not in page
    assert "10 guessed identities" in sentences(result)[0]


def test_overlaps_are_shown_where_there_are_several():
    graph = friends()
    result = audit_networks({"a": DerivedPair(graph, 0.8, 0.9)}, plan())
    two = audit_networks({"a": DerivedPair(graph, 0.8, 0.9), "b": DerivedPair(graph, 0.8, 0.6)}, plan())
    assert facts(result, "overlaps") == []
    assert [(point.node_overlap, point.edge_overlap) for point in facts(two, "overlaps")] == [(0.8, 0.6), (0.8, 0.9)]
    assert measure(result, "recall").posterior == measure(two, "recall").posterior


def test_the_page_shows_no_label():
    graph = friends()
    labels = [f"{SECRET}-{i}" for i in range(graph.n_nodes)]
    labeled = SocialGraph.from_edges(*graph.edges(), labels=labels)
    assert SECRET not in render(audit_networks({"r": DerivedPair(labeled, 0.9, 0.9)}, plan(transition=(5,))))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"attacks": {}}, "0 attacks"),
        ({"runs": 0}, "at least 1"),
        ({"n_seeds": 0}, "at least 1"),
        ({"transition": (5, 0)}, "at least 1"),
    ],
)
def test_a_plan_of_nothing_is_refused(settings, message):
    with pytest.raises(UnmaskError, match=message):
        plan(**settings)


def test_empty_truths_and_mixed_scenes_are_refused():
    graph = friends(60)
    with pytest.raises(UnmaskError, match="0 people in both"):
        GivenPair(graph, graph, np.full(graph.n_nodes, -1))
    with pytest.raises(UnmaskError, match="all with a truth or all without"):
        audit_networks({"a": DerivedPair(graph, 1, 1), "b": GivenPair(graph, graph)}, plan())


def test_attacks_are_written_with_their_parameters():
    result = parse_attacks(["Nar09", "Nar09:theta=0.5:synchronous=false"])
    assert result["Nar09"] == Nar09()
    assert result["Nar09:theta=0.5:synchronous=false"] == Nar09(0.5, synchronous=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nar9", "did you mean 'graphs.Nar09'"),
        ("Nar09:thet=1", "did you mean 'theta'"),
        ("Nar09:theta", "not a parameter of Nar09"),
        ("Nar09:theta=low", "theta of Nar09 is a text, expected a number at least 0"),
        ("Nar09:synchronous=2", "synchronous of Nar09 is 2, expected true or false"),
        ("Nar09:theta=-1", "theta of Nar09 is -1"),
        ("GraphMatching:steps=0", "steps of GraphMatching is 0, expected a whole number from 1"),
        ("Rematch:reach=99999999999999999999", "reach of Rematch is 99999999999999999999, expected a whole"),
        (
            "KorulaLattanzi:witnesses=9999999999",
            "witnesses of KorulaLattanzi is 9999999999, expected a whole number from 1 to",
        ),
    ],
)
def test_a_misspelled_attack_is_one_sentence(text, message):
    with pytest.raises(UnmaskError, match=message):
        parse_attacks([text])


def test_g4_by_default_every_attack_runs_and_omissions_are_listed():
    graph = friends()
    scene = {"r": DerivedPair(graph, 0.9, 0.9)}
    attacks = {**parse_attacks(DEFAULT), "Ensemble": Ensemble(rounds=1)}
    result = audit_networks(scene, plan(attacks=attacks, runs=1))
    assert {attack.attack for attack in facts(result)} == {*STANDARD, "Rematch:forced=true"}
    assert not any(analysis.startswith("the attack") for analysis, _ in result.not_run)
    result_of_few = audit_networks(scene, plan(attacks=parse_attacks(["Nar09", "GraphMatching:largest=10"]), runs=1))
    assert "nodes, expected at most 10" in dict(result_of_few.not_run)["GraphMatching:largest=10 on r"]
    skipped = {analysis for analysis, reason in result_of_few.not_run if reason == "it was not requested"}
    assert skipped == {f"the attack {name}" for name in set(STANDARD) - {"Nar09", "GraphMatching"}}
    text = " ".join(sentences(result_of_few))
    assert "GraphMatching:largest=10 was not run: the larger graph has" in text
    remaining_attacks = "Grasshopper, Bumblebee, Rematch, Climb, Irma, KorulaLattanzi, Refinement and Ensemble"
    assert f"Attacks that were not requested may find more: {remaining_attacks}." in text


def test_announced_probabilities_of_the_ensemble_are_shown_next_to_realized_ones():
    scene, plan_asked = {"r": DerivedPair(friends(), 0.9, 0.9)}, plan(attacks={"Ensemble": Ensemble()}, runs=1)
    steps = []
    chosen = audit_networks(scene, replace(plan_asked, n_seeds=40), progress=steps.append)
    drawn = audit_networks(scene, replace(plan_asked, seeds="random", n_seeds=90))
    (of_chosen,), (of_drawn,) = (facts(result) for result in (chosen, drawn))
    (refused,), (sentence,) = (facts(result, "announcements") for result in (chosen, drawn))
    assert (refused.recall, refused.recall_high) == (None, None)
    reason = "announces no probability: seeds were chosen and not sampled"
    assert " ".join(sentences(chosen)).count(reason) == 1
    assert dict(chosen.not_run)["what Ensemble expects of people in r"].startswith("seeds were chosen and not sampled")
    assert dict(drawn.not_run)["what Ensemble expects of people who may not be in r"] == "it is unknown who is absent"
    assert steps[-1] == f"so far: re-identifies {100 * of_chosen.recall:.1f} % (Ensemble), r"
    assert sentence.recall_low <= of_drawn.recall <= sentence.recall_high
    assert sentence.right <= sentence.right_high
    text = " ".join(sentences(drawn))
    assert "(calibrated, " in text
    assert "(an upper bound)" in text
    assert "Withheld seeds: announced" in text


def test_with_a_partial_truth_nothing_bounds_what_is_right_of_anybody():
    pair = split(friends(), 0.9, 0.9, np.random.default_rng(0))
    scenes = {
        "whole": GivenPair(pair.target, pair.source, pair.truth),
        "part": GivenPair(pair.target, pair.source, pair.truth, truth_partial=True),
    }
    result = audit_networks(scenes, plan(attacks={"Ensemble": Ensemble()}, runs=1, seeds="random", n_seeds=90))
    whole_part, part = facts(result, "announcements")
    assert whole_part.right_high is not None
    assert (part.recall, part.right_high) == (whole_part.recall, None)


def test_if_one_run_refuses_no_run_announces():
    clear = Announcement(recall=0.9, recall_low=0.8, recall_high=1.0, right_high=0.6, right=0.5, seed_check="h")
    bound = replace(clear, recall=None, recall_low=None, recall_high=0.8, seed_check="b")
    silent = replace(bound, recall_high=None, right_high=None, seed_check="s", refused=("refuted",))
    for order in ((clear, bound), (bound, clear)):
        of_both = summed([replace(trial(10, 0), announced=announcement) for announcement in order]).announced
        assert of_both == replace(bound, recall_high=pytest.approx(0.9), right_high=pytest.approx(0.6))
    assert (
        summed([replace(trial(10, 0), announced=announcement) for announcement in (clear, bound, silent)]).announced
        == silent
    )
    assert summed([replace(trial(10, 0), announced=clear)] * 2).announced == clear


def test_leaked_identities_never_count_as_found():
    """An attack that adds nothing to its seeds finds no person."""
    graph = friends()
    scene = {"r": GivenPair(graph, graph, np.arange(graph.n_nodes))}
    result = audit_networks(scene, plan(attacks={"nobody": KorulaLattanzi(witnesses=10_000)}, transition=(5,)))
    (attack,) = facts(result)
    assert (attack.recall, attack.precision, attack.matches, attack.coverage, attack.spread_in) == (
        0.0,
        None,
        0,
        0.0,
        0,
    )
    assert {point.recall for point in facts(result, "transition")} == {0.0}
    assert measure(result, "recall", "nobody").posterior == 0.0


def test_g7_where_networks_have_directions_the_attack_that_needs_them_is_run_by_default():
    plain = friends()
    directed = replace(plain, way=np.ones(len(plain.neighbor), dtype=np.int8))
    assert default_attacks(directed, None) == default_attacks(directed, directed) == (*DEFAULT, "Nar09:directed=true")
    assert default_attacks(plain, None) == default_attacks(directed, plain) == DEFAULT


def test_a_checkpoint_without_rounds_to_keep_is_refused(tmp_path):
    with pytest.raises(UnmaskError, match="a checkpoint stores rounds of Ensemble"):
        plan(attacks=parse_attacks(["Nar09"]), checkpoint=tmp_path)


def test_the_page_counts_given_seeds_that_are_no_person():
    graph = replace(friends(), labels=np.arange(300))
    seeds_given = SeedPairs.from_labels(graph, graph, [*range(20), 300, 301], [*range(20), 300, 301])
    scene = GivenPair(graph, graph, np.arange(graph.n_nodes), leaked=seeds_given)
    nobody = "2 of 22 rows have a person who is not in both networks, such as a person without an edge"
    caution = f"Of the file of leaked identities, {nobody}, and are left out."
    assert audit_networks({"r": scene}, plan(runs=1)).cautions == (caution,)
    assert audit_networks({"r": replace(scene, leaked=SeedPairs(*seeds_given))}, plan(runs=1)).cautions == ()


def test_a_list_of_people_and_their_groups_is_not_taken_for_people_in_silence():
    rng = np.random.default_rng(0)
    member, group = np.repeat(np.arange(200), 3), 200 + rng.integers(40, size=600)
    groups = SocialGraph.from_edges(member, group, n_nodes=240)
    _, caution = audit_networks({"r": DerivedPair(groups, 0.9, 0.9)}, plan(runs=1)).cautions
    assert caution.startswith("Every edge joins one side of the network to the other, as in a list of people and their")
    friend = SocialGraph.from_edges(np.append(member, 0), np.append(group, 1), n_nodes=240)
    (judged,) = audit_networks({"r": DerivedPair(friend, 0.9, 0.9)}, plan(runs=1)).cautions
    assert judged == "216 of 240 people in the file are judged, a random sample."


def test_the_page_counts_given_seeds_that_are_wrong_by_the_truth():
    graph, seeds_known = friends(), np.arange(20)
    image = seeds_known.copy()
    image[:3] = [1, 2, 0]
    truth = np.arange(graph.n_nodes)
    truth[19] = -1
    scene = GivenPair(graph, graph, truth, leaked=SeedPairs(seeds_known, image))
    (caution,) = audit_networks({"r": scene}, plan(runs=1)).cautions
    assert caution.startswith("By the truth, 4 of 20 leaked identities are wrong;")
    (caution,) = audit_networks({"r": replace(scene, truth_partial=True)}, plan(runs=1)).cautions
    assert caution.startswith("By the truth, 3 of 20 leaked identities are wrong;")
    labels = np.where(np.arange(graph.n_nodes) < 3, 0, np.arange(graph.n_nodes))  # nodes 0 to 2 are one person's
    of_one = replace(scene, origin=labels, truth=np.where(truth < 0, 19, truth))
    assert audit_networks({"r": of_one}, plan(runs=1)).cautions == ()


def test_the_page_notes_attributes_of_a_release_besides_edges():
    graph = friends()
    weighted = replace(graph, dropped=Dropped(attributes=("direction", "cents", "since")))
    only_released = GivenPair(weighted, graph, np.arange(graph.n_nodes))
    (caution,) = audit_networks({"r": only_released}, plan(runs=1)).cautions
    assert caution.startswith("Attacks use edges alone. The release also has cents and since: ")
    with_similarity = replace(only_released, similarity=Similarity(np.array([0]), np.array([0]), np.array([1.0])))
    assert audit_networks({"r": with_similarity}, plan(runs=1)).cautions == ()
    _, caution = audit_networks({"r": DerivedPair(weighted, 0.9, 0.9)}, plan(runs=1)).cautions
    assert caution.startswith("Attacks use edges alone. The network also has cents and since: ")
    directed = replace(graph, dropped=Dropped(attributes=("direction",)))
    only_known = GivenPair(directed, weighted, np.arange(graph.n_nodes))
    assert audit_networks({"r": only_known}, plan(runs=1)).cautions == ()


def test_the_notes_of_a_page_tell_counts_from_beliefs_and_whose_they_are():
    attacks = parse_attacks(["Rematch", "Refinement"])
    page = render(audit_networks({"r": DerivedPair(friends(), 0.9, 0.9)}, plan(attacks=attacks, runs=1)))
    assert "Kind of belief: scores." in page  # recall and its kind are counted, exactly
    assert "Rematch: over 1 run; it spread in 1" in page
    assert "Refinement: over 1 run; it spread in 0" in page


def test_the_page_notes_that_given_seeds_count_as_a_sample():
    graph = friends()
    seeds_known = np.arange(40)
    scene = GivenPair(graph, graph, np.arange(graph.n_nodes), leaked=SeedPairs(seeds_known, seeds_known))
    assumption = "takes the identities of the file for a random sample"
    for seeds_are, expected in {"sample": 1, "chosen": 0}.items():
        plan_asked = plan(attacks={"Ensemble": Ensemble(seeds_are=seeds_are)})
        assert " ".join(scene.assumptions(plan_asked)).count(assumption) == expected
    assert assumption not in " ".join(scene.assumptions(plan()))
    assert assumption not in " ".join(replace(scene, leaked=None).assumptions(plan(attacks={"Ensemble": Ensemble()})))
