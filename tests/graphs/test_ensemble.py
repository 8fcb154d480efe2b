"""The ensemble: its deals, the logit and the presence score against enumeration, and what it announces."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize

from unmask import UnmaskError
from unmask.errors import FailedError
from unmask.graphs import (
    Auxiliary,
    Ensemble,
    GraphMatching,
    Pair,
    SeedPairs,
    Similarity,
    SocialGraph,
    datasets,
    select_seeds,
    split,
)
from unmask.graphs.attacks.ensemble import APART, _auc
from unmask.graphs.attacks.logit import Choices, fitted, loss, probabilities, start
from unmask.graphs.attacks.presence import RIDGE, probability, scored, share_present
from unmask.graphs.attacks.rounds import DELETED, FEW, HELD, KEPT, Round, Stage, deal, kinds_for, run_round, tallied
from unmask.graphs.attacks.support import rematch
from unmask.graphs.attacks.weighing import Scene
from unmask.graphs.seeds import Guessed
from unmask.promise import Check


def planted(n=400, overlap=(0.7, 0.8), n_seeds=100, seed=0):
    rng = np.random.default_rng(seed)
    graph = datasets.chung_lu(datasets.power_law_degrees(n, exponent=2.5, mean=8), rng=rng)
    pair = split(graph, *overlap, rng).shuffled(rng=rng)
    return pair, select_seeds(pair, "random", n_seeds, rng)


def attacked(pair, seeds, **settings):
    return Ensemble(**{"rounds": 2, **settings})(pair.target, Auxiliary(pair.source, seeds))


# --- deals and votes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "rounds", "among"), [(31, 7, 7), (80, 1, 20), (224, 30, 56), (450, 20, 225), (1265, 10, 1265)]
)
def test_seeds_are_held_in_the_same_number_of_rounds_and_some_deleted_in_as_many(n, rounds, among):
    parts = deal(n, rounds, np.random.default_rng(1))
    for part, of in ((HELD, n), (DELETED, among)):
        assert np.all((parts == part).sum(axis=1) == of // 5)
        times = (parts == part).sum(axis=0)
        assert np.count_nonzero(times) <= of
        assert np.ptp(np.sort(times)[n - of :]) <= 2


def test_one_seed_more_never_changes_how_many_are_deleted_by_more_than_one():
    deleted = [(deal(n, 1, np.random.default_rng(1)) == DELETED).sum() for n in range(FEW, 1_000)]
    assert set(np.diff(deleted)) == {0, 1}


def test_few_seeds_are_all_kept():
    assert np.all(deal(9, 3, np.random.default_rng(0)) == KEPT)


def test_no_one_is_taken_for_the_image_of_a_seed_but_the_seed_itself():
    pair, seeds = planted(100, n_seeds=40)
    part = deal(40, 1, np.random.default_rng(0))[0]
    kinds = ("named", "listed", "climb", "discounted", "irma", "dense")
    stage = Stage.of(pair.target, Auxiliary(pair.source, seeds), part)
    found = run_round(stage, rematch(stage.release, stage.known), kinds)
    person, candidate = np.divmod(found.pair, pair.target.n_nodes)
    owner = dict(zip(seeds.target.tolist(), seeds.source.tolist(), strict=True))
    assert all(owner.get(c, u) == u for u, c in zip(person.tolist(), candidate.tolist(), strict=True))
    assert not np.isin(person, seeds.source[part == KEPT]).any()
    assert not np.isin(candidate, seeds.target[part == DELETED]).any()  # they have no edge
    assert found.vote.max() <= 1 + 1e-6


def test_graph_matching_votes_wherever_it_runs():
    for n, votes in ((GraphMatching.largest, True), (GraphMatching.largest + 1, False)):
        graph = SocialGraph.from_edges([0], [1], n_nodes=n)
        known = Auxiliary(graph, (np.array([0]), np.array([0])))
        assert ("dense" in kinds_for(graph, known)) == votes


def test_graph_matching_counts_in_what_rounds_cost_and_leaves_ten():
    def planned(n):
        graph = SocialGraph.from_edges(np.arange(n - 1), np.arange(1, n))
        everybody = np.arange(100)
        return Ensemble()._planned(Scene(graph, Auxiliary(graph, (everybody, everybody))))

    assert (planned(1000), planned(2000), planned(2001)) == (30, 10, 30)


def test_votes_are_divided_by_the_rounds_that_count_for_a_person():
    one = Round(np.zeros(0, np.int8), np.array([0, 4]), np.array([[1.0], [1.0]], np.float32))
    two = Round(np.zeros(0, np.int8), np.array([1]), np.array([[0.5]], np.float32))
    tally = tallied((one, two), np.array([[True, True], [True, False]]), 3)
    assert tally.person.tolist() == [0, 0, 1]
    assert tally.candidate.tolist() == [0, 1, 1]
    assert tally.share[:, 0].tolist() == [0.5, 0.25, 1.0]


# --- the logit ------------------------------------------------------------------------------------------------------


def asked(rng, n=40, n_features=5):
    length = rng.integers(0, 4, n)
    indptr = np.concatenate(([0], np.cumsum(length)))
    phi = rng.random((indptr[-1], n_features))
    zeta = np.column_stack((np.ones(n), rng.normal(size=n), rng.random(n)))
    right = np.zeros(len(phi), dtype=bool)
    for i in np.flatnonzero(length > 0):
        if rng.random() < 0.7:
            right[indptr[i] + rng.integers(length[i])] = True
    return Choices(np.arange(n), indptr, phi, zeta), right


def test_probabilities_are_those_of_a_softmax_person_by_person():
    rng = np.random.default_rng(0)
    given, _ = asked(rng)
    theta = rng.normal(size=8)
    p, none = probabilities(theta, given)
    for i in range(len(given.person)):
        own = slice(given.indptr[i], given.indptr[i + 1])
        weight = np.append(np.exp(given.phi[own] @ theta[:5]), np.exp(given.zeta[i] @ theta[5:]))
        assert_allclose(np.append(p[own], none[i]), weight / weight.sum())


def test_the_gradient_is_that_of_the_loss():
    rng = np.random.default_rng(1)
    given, right = asked(rng)
    theta, first = rng.normal(size=8), start(3, 5)
    numeric = optimize.approx_fprime(theta, lambda at: loss(at, given, right, first)[0], 1e-6)
    assert_allclose(loss(theta, given, right, first)[1], numeric, rtol=1e-4, atol=1e-4)


def test_no_neighbor_of_the_fit_has_a_smaller_loss_and_votes_never_count_against():
    rng = np.random.default_rng(2)
    given, right = asked(rng)
    theta, first = fitted(given, right, 3), start(3, 5)
    assert theta[:4].min() >= 0
    best = loss(theta, given, right, first)[0]
    for i, step in [(i, step) for i in range(8) for step in (-0.01, 0.01)]:
        moved = theta.copy()
        moved[i] += step
        assert (i < 4 and moved[i] < 0) or loss(moved, given, right, first)[0] >= best - 1e-6


# --- presence -------------------------------------------------------------------------------------------------------


def test_the_score_announces_the_share_and_the_features_that_it_was_given():
    rng = np.random.default_rng(0)
    present, open_ = rng.normal(1, 1, (300, 2)), rng.normal(0, 1, (900, 2))
    b = scored(present, open_, 0.3)
    p = probability(b, open_)
    assert_allclose(p.sum(), 0.3 * 900, rtol=1e-4)
    assert_allclose(p @ open_, 0.3 * 900 * present.mean(axis=0) - 2 * RIDGE * b[1:], rtol=1e-3)


def test_the_score_is_the_best_on_a_grid():
    rng = np.random.default_rng(1)
    present, open_ = rng.normal(0.5, 1, (50, 1)), rng.normal(0, 1, (80, 1))
    b = scored(present, open_, 0.4)

    def value(at):
        g = at[0] + open_[:, 0] * at[1]
        return 0.4 * 80 * (at[0] + at[1] * present.mean()) - np.logaddexp(0, g).sum() - RIDGE * at[1] ** 2

    grid = [(x, y) for x in np.linspace(-3, 3, 61) for y in np.linspace(-3, 3, 61)]
    assert max(map(value, grid)) <= value(b) + 1e-6


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("between", [0.0, 1.0])
def test_the_share_of_a_mixture_is_found(share, between):
    """Also if the model of each fold sees everybody, its own seeds and the open people, higher or lower."""
    rng = np.random.default_rng(2)
    held, deleted = rng.normal(2, 1, (400, 1)), rng.normal(-1, 1, (400, 1))
    there = rng.random(3000) < share
    open_ = np.where(there, rng.normal(2, 1, 3000), rng.normal(-1.5, 1, 3000))[:, None]
    fold = np.arange(400) % 5
    higher = between * np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    held, deleted = (side + higher[fold, None] for side in (held, deleted))
    found = share_present(held, deleted, [open_ + up for up in higher], (fold, fold), most=1.0)
    assert abs(found.value - share) < 0.06
    assert found.low - 0.02 <= share <= found.high + 0.02  # which are one standard error wide


@pytest.mark.parametrize(("deleted_at", "known"), [(-2.0, True), (1.0, False)])
def test_the_share_is_known_as_well_as_absent_people_can_be_told_from_present_ones(deleted_at, known):
    """Nobody knows how present the absent look: not at all, as here, or as much as deleted seeds."""
    rng = np.random.default_rng(4)
    held, deleted = rng.normal(1, 1, (200, 1)), rng.normal(deleted_at, 1, (50, 1))
    open_ = np.append(rng.normal(1, 1, 500), rng.normal(-2, 1, 500))[:, None]
    found = share_present(held, deleted, [open_] * 5, (np.arange(200) % 5, np.arange(50) % 5), most=1.0)
    assert found.low < 0.5 < found.high + 0.02
    assert (found.high - found.low < 0.15) == known
    assert (found.low == 0) != known


@pytest.mark.parametrize(("n_deleted", "known"), [(8, False), (800, True)])
def test_from_few_deleted_seeds_nobody_knows_how_present_the_absent_look(n_deleted, known):
    """That none of few is seen does not say that there are none; nor do folds without one."""
    rng = np.random.default_rng(4)
    held, deleted = rng.normal(1, 1, (800, 1)), rng.normal(-2, 1, (n_deleted, 1))
    open_ = np.append(rng.normal(1, 1, 5000), rng.normal(-2, 1, 5000))[:, None]
    folds = np.arange(800) % 5, np.arange(n_deleted) % 3
    found = share_present(held, deleted, [open_] * 5, folds, most=1.0)
    assert found.low < 0.5 < found.high
    assert (found.high - found.low < 0.1) == known


# --- the whole ------------------------------------------------------------------------------------------------------


def test_announced_is_realized_on_a_planted_pair():
    pair, seeds = planted(500, n_seeds=120)
    belief = attacked(pair, seeds, rounds=3)
    there = np.setdiff1d(pair.common, seeds.source)
    right = (belief.mapping == pair.truth)[there].mean()
    assert belief.earned == "calibrated"
    assert right > 0.3
    assert abs(np.nan_to_num(belief.there[there]).mean() - right) < belief.margin < 0.1


def test_the_fewer_seeds_tell_it_the_farther_the_mean_may_be_off():
    few = attacked(*planted(60, n_seeds=2))
    assert few.margin is None
    assert replace(few, check=Check(30, 0.5, 0.5, refuted=False)).margin == pytest.approx(1.96 * 0.5 / 32**0.5)
    assert replace(few, check=Check(30, 0.9, 1.0, refuted=False)).margin > 0.05


def test_graphs_that_have_nothing_to_do_with_each_other_announce_next_to_nothing():
    rng = np.random.default_rng(3)
    graphs = [datasets.erdos_renyi(300, 0.02, rng=rng) for _ in range(2)]
    pair = Pair(*graphs, np.arange(300))
    seeds = select_seeds(pair, "random", 60, rng)
    belief = attacked(pair, seeds)
    assert np.mean((belief.mapping == pair.truth)[np.setdiff1d(np.arange(300), seeds.source)]) < 0.06
    assert np.nanmean(np.delete(belief.there, seeds.source)) < 0.1


def test_chosen_seeds_and_few_seeds_refuse_what_they_cannot_bear():
    pair, seeds = planted(250, n_seeds=90)
    chosen = attacked(pair, seeds, seeds_are="chosen")
    assert (chosen.presence, chosen.status, chosen.earned) == (None, "scores", "scores")
    assert "chosen" in chosen.refused[0]
    partial = attacked(pair, seeds, seeds_are="partial")
    assert (partial.presence, partial.status, partial.earned) == (None, "scores", "calibrated")
    assert "some of the people in both" in partial.refused[0]
    guessed = attacked(pair, Guessed(*seeds))  # though they are right: nobody knows that
    assert (guessed.presence, guessed.status, guessed.earned) == (None, "scores", "scores")
    assert guessed.refused[0].startswith("seeds were guessed")
    few = attacked(pair, type(seeds)(seeds.source[:10], seeds.target[:10]))
    assert few.earned == "scores"
    assert few.check is None


def test_nothing_is_said_of_people_who_may_be_absent_where_their_share_is_known_badly():
    vague = attacked(*planted(250, n_seeds=90))
    assert (vague.presence, vague.status, vague.earned) == (None, "scores", "calibrated")
    assert "it is only known that" in vague.refused[0]
    clear = attacked(*planted(600, overlap=(0.6, 1.0), n_seeds=240), rounds=5)
    assert clear.status == "model"
    assert clear.refused == ()


def strangers(n=120, n_seeds=40):
    """Two graphs that share people and no edges, but by chance, and a similarity that often knows who is who."""
    rng = np.random.default_rng(5)
    graphs = [datasets.erdos_renyi(n, 0.05, rng=rng) for _ in range(2)]
    score = rng.normal(size=(n, n)) + 3 * np.eye(n)
    alike = Similarity(*(side.ravel() for side in np.indices((n, n))), score.ravel())
    return Pair(*graphs, np.arange(n)), alike, score.argmax(axis=1), np.arange(n_seeds)


def test_where_edges_tell_nothing_a_similarity_does_and_is_announced_as_it_is():
    pair, alike, most_similar, seeds = strangers()
    belief = Ensemble(rounds=5)(pair.target, Auxiliary(pair.source, (seeds, seeds), alike))
    free = np.arange(len(seeds), 120)
    right = np.mean(belief.mapping[free] == free)
    assert right >= np.mean(most_similar[free] == free) - 0.05
    assert right > 0.4
    assert abs(np.nan_to_num(belief.there[free]).mean() - right) < 0.15


def test_a_similarity_that_tells_nothing_changes_next_to_nothing():
    pair, seeds = planted(120, n_seeds=40)
    rng = np.random.default_rng(0)
    n, m = pair.source.n_nodes, pair.target.n_nodes
    noise = Similarity(*(side.ravel() for side in np.indices((n, m))), rng.random(n * m))
    there = np.setdiff1d(pair.common, seeds.source)
    without, along = (
        Ensemble(rounds=3)(pair.target, Auxiliary(pair.source, seeds, known)).mapping for known in (None, noise)
    )
    hits = [np.mean((mapping == pair.truth)[there]) for mapping in (without, along)]
    assert hits[1] >= hits[0] - 0.05


def test_seeds_with_most_edges_do_not_pass_for_a_sample():
    pair, _ = planted(250)
    top = select_seeds(pair, "top", 80, np.random.default_rng(0))
    belief = attacked(pair, top)
    assert (belief.presence, belief.status, belief.earned) == (None, "scores", "scores")
    assert "more edges than others in both networks (AUC 0." in belief.refused[0]


def test_seeds_with_fewest_edges_do_not_pass_for_a_sample():
    pair, _ = planted(250)
    least = pair.common[np.argsort(pair.source.degree[pair.common], kind="stable")[:80]]
    belief = attacked(pair, SeedPairs(least, pair.truth[least]), rounds=1)
    assert (belief.presence, belief.earned) == (None, "scores")
    assert "fewer edges than others in both networks (AUC 0." in belief.refused[0]


def test_sampled_seeds_pass_though_people_who_are_absent_have_few_edges():
    """All of the release is a dense core of the source: seeds stand out in the source, and not in the release."""
    rng = np.random.default_rng(1)
    graph = datasets.chung_lu(datasets.power_law_degrees(400, exponent=2.5, mean=8), rng=rng)
    core = np.flatnonzero(graph.degree >= np.median(graph.degree))
    truth = np.full(400, -1)
    truth[core] = np.arange(len(core))
    pair = Pair(graph, graph.take(core), truth)
    seeds = select_seeds(pair, "random", 90, rng)
    assert _auc(pair.source.degree, seeds.source) > APART > _auc(pair.target.degree, seeds.target)
    assert attacked(pair, seeds, rounds=1).earned == "calibrated"


def test_seeds_do_not_stand_out_where_there_is_nobody_else():
    everybody = np.arange(40)
    graph = datasets.barabasi_albert(40, 4, rng=np.random.default_rng(0))
    belief = Ensemble(rounds=1)(graph, Auxiliary(graph, (everybody, everybody)))
    assert not any("edges than others" in why for why in belief.refused)


def test_a_first_answer_comes_before_the_second_round():
    pair, seeds = planted(100, n_seeds=40)
    said = []
    attacked(pair, seeds, progress=said.append)
    assert said[0] == "round 1 of at most 2"
    assert said[1].startswith("so far: names about ")
    assert said[1].endswith(" % (Rematch; 8 held-back seeds)")
    assert said[2].startswith("round 2 of at most 2; so far: names about ")


def test_rounds_end_when_the_last_one_changes_nothing():
    (pair, seeds), said = planted(100, overlap=(1.0, 1.0), n_seeds=40), []
    assert len(attacked(pair, seeds, rounds=30, progress=said.append).sweeps) < 15
    assert said[-1].startswith("a round from all seeds; so far: names about ")


def test_the_same_rng_gives_the_same_belief():
    pair, seeds = planted(100, n_seeds=40)
    first, second = (attacked(pair, seeds) for _ in range(2))
    assert np.array_equal(first.mapping, second.mapping)
    assert np.array_equal(first.log_probability, second.log_probability)


def test_odd_graphs_do_not_break_it():
    clique = list(combinations(range(5), 2))  # two components of twins, a hub, an isolated node
    hub = [(10, v) for v in range(11, 40)]
    u, v = np.array([*clique, *((a + 5, b + 5) for a, b in clique), *hub]).T
    graph = SocialGraph.from_edges(u, v, n_nodes=41)
    for n in (1, 12):
        known = np.arange(n)
        belief = Ensemble(rounds=1)(graph, Auxiliary(graph, (known, known)))
        assert belief.mapping[known].tolist() == known.tolist()
        assert belief.mapping[40] == -1


def test_wrong_seeds_lower_what_is_announced():
    pair, seeds = planted(250, n_seeds=90)
    wrong = seeds.target.copy()
    wrong[:10] = np.roll(wrong[:10], 1)
    right, misled = (attacked(pair, type(seeds)(seeds.source, t)) for t in (seeds.target, wrong))
    free = np.setdiff1d(pair.common, seeds.source)
    assert np.nan_to_num(misled.there[free]).mean() < np.nan_to_num(right.there[free]).mean()


def test_no_seeds_and_unknown_words_are_refused():
    graph = SocialGraph.from_edges([0, 1], [1, 2])
    with pytest.raises(UnmaskError, match="no seeds"):
        Ensemble()(graph, Auxiliary(graph, (np.empty(0, int), np.empty(0, int))))
    with pytest.raises(UnmaskError, match="seeds_are is 'some', expected one of sample, partial, chosen, guessed"):
        Ensemble(seeds_are="some")


def test_rounds_that_were_kept_are_not_run_again(tmp_path, monkeypatch):
    pair, seeds = planted(100, n_seeds=40)
    whole, said = attacked(pair, seeds, rounds=3), []

    def killed(what):
        if what.startswith("round 3"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attacked(pair, seeds, rounds=3, folder=str(tmp_path), progress=killed)
    assert len(list(tmp_path.iterdir())) == 2
    resumed = attacked(pair, seeds, rounds=3, folder=tmp_path, progress=said.append)
    assert np.array_equal(whole.log_probability, resumed.log_probability)
    assert [one for one in said if "Rematch" in one] == []  # the first answer, which only a new round gives
    monkeypatch.setattr("unmask.graphs.attacks.ensemble.run_round", None)
    assert np.array_equal(attacked(pair, seeds, rounds=3, folder=tmp_path).mapping, whole.mapping)


def test_rounds_of_other_networks_or_seeds_are_not_taken(tmp_path):
    pair, seeds = planted(100, n_seeds=40)
    attacked(pair, seeds, rounds=1, folder=tmp_path)
    fewer = type(seeds)(seeds.source[:-1], seeds.target[:-1])
    assert np.array_equal(
        attacked(pair, fewer, rounds=1, folder=tmp_path).log_probability,
        attacked(pair, fewer, rounds=1).log_probability,
    )
    assert len(list(tmp_path.iterdir())) == 2


def test_a_damaged_round_is_run_again(tmp_path):
    pair, seeds = planted(100, n_seeds=40)
    first = attacked(pair, seeds, rounds=1, folder=tmp_path)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    turned = whole[:28] + bytes([whole[28] ^ 1]) + whole[29:]  # not even to be inflated
    for damage in (b"", b"PK", whole[:-100], turned):
        file.write_bytes(damage)
        again = attacked(pair, seeds, rounds=1, folder=tmp_path)
        assert np.array_equal(again.log_probability, first.log_probability)


def test_two_commands_may_keep_the_same_round_at_once(tmp_path, monkeypatch):
    pair, seeds = planted(100, n_seeds=40)
    write, found = np.savez_compressed, []

    def meanwhile(file, **arrays):
        monkeypatch.setattr(np, "savez_compressed", write)
        found.append(attacked(pair, seeds, rounds=1, folder=tmp_path))
        write(file, **arrays)

    monkeypatch.setattr(np, "savez_compressed", meanwhile)
    found.append(attacked(pair, seeds, rounds=1, folder=tmp_path))
    assert np.array_equal(found[0].log_probability, found[1].log_probability)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    pair, seeds = planted(100, n_seeds=40)
    (tmp_path / "taken").write_text("")
    with pytest.raises(FailedError, match="cannot be kept in folder 'taken'"):
        attacked(pair, seeds, rounds=1, folder=tmp_path / "taken")
