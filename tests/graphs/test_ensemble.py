"""The ensemble: its rounds, the logit against enumeration, and what it announces."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import optimize
from scipy.sparse import csgraph

from unmask import UnmaskError
from unmask.core.errors import FailedError
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
from unmask.graphs.ensemble.bagging import Round, Stage, kinds_for, run_round, split_seeds, tally_votes
from unmask.graphs.ensemble.ensemble import MAX_AUC, _auc
from unmask.graphs.ensemble.success import Choices, fit_weights, initial_weights, loss, probabilities
from unmask.graphs.seeds import Guessed


def planted(n=400, overlap=(0.7, 0.8), n_seeds=100, seed=0):
    rng = np.random.default_rng(seed)
    graph = datasets.chung_lu(datasets.power_law_degrees(n, exponent=2.5, mean=8), rng=rng)
    pair = split(graph, *overlap, rng).shuffled(rng=rng)
    return pair, select_seeds(pair, "random", n_seeds, rng)


def attacked(pair, seeds, **settings):
    return Ensemble(**settings)(pair.target, Auxiliary(pair.source, seeds))


def presence(pair, seeds):
    """People in both graphs who are no seeds."""
    shared = pair.truth >= 0
    shared[seeds.source] = False
    return shared


# --- deals and votes ------------------------------------------------------------------------------------------------


@given(n=st.integers(0, 400), draw=st.integers(0, 99))
def test_each_seed_is_withheld_once_in_a_half_and_once_in_a_fifth(n, draw):
    parts = split_seeds(n, rng=np.random.default_rng(draw))
    for rounds in (parts[:2], parts[2:]):
        assert np.all(rounds.sum(axis=0) == 1)
        assert np.ptp(rounds.sum(axis=1)) <= 1


def test_no_one_is_taken_for_the_image_of_a_seed_but_the_seed_itself():
    pair, seeds = planted(100, n_seeds=40)
    withheld = split_seeds(40, rng=np.random.default_rng(0))[2]
    kinds = ("named", "listed", "climb", "discounted", "irma", "dense")
    stage = Stage(pair.target, Auxiliary(pair.source, seeds), withheld)
    result = run_round(stage, kinds)
    person, candidate = np.divmod(result.pair, pair.target.n_nodes)
    owner = dict(zip(seeds.target.tolist(), seeds.source.tolist(), strict=True))
    assert all(owner.get(c, u) == u for u, c in zip(person.tolist(), candidate.tolist(), strict=True))
    assert not np.isin(person, seeds.source[~withheld]).any()
    assert result.vote.max() <= 1 + 1e-6


def test_graph_matching_votes_wherever_it_runs():
    for n, votes in ((GraphMatching.largest, True), (GraphMatching.largest + 1, False)):
        graph = SocialGraph.from_edges([0], [1], n_nodes=n)
        auxiliary = Auxiliary(graph, (np.array([0]), np.array([0])))
        assert ("dense" in kinds_for(graph, auxiliary)) == votes


def test_votes_are_divided_by_the_rounds_that_count_for_a_person():
    votes = Round(np.zeros(0, bool), np.array([0, 4]), np.array([[1.0], [1.0]], np.float32))
    two = Round(np.zeros(0, bool), np.array([1]), np.array([[0.5]], np.float32))
    tally = tally_votes((votes, two), np.array([[True, True], [True, False]]), 3)
    assert tally.person.tolist() == [0, 0, 1]
    assert tally.candidate.tolist() == [0, 1, 1]
    assert tally.share[:, 0].tolist() == [0.5, 0.25, 1.0]


# --- the logit ------------------------------------------------------------------------------------------------------


def draw_candidates(rng, n=40, n_features=5):
    length = rng.integers(0, 4, n)
    indptr = np.concatenate(([0], np.cumsum(length)))
    phi = rng.random((indptr[-1], n_features))
    zeta = np.column_stack((np.ones(n), rng.normal(size=n), rng.random(n)))
    is_right = np.zeros(len(phi), dtype=bool)
    for i in np.flatnonzero(length > 0):
        if rng.random() < 0.7:
            is_right[indptr[i] + rng.integers(length[i])] = True
    return Choices(np.arange(n), indptr, phi, zeta), is_right


def test_probabilities_are_those_of_a_softmax_person_by_person():
    rng = np.random.default_rng(0)
    candidates, _ = draw_candidates(rng)
    theta = rng.normal(size=8)
    p, p_none = probabilities(theta, candidates)
    for i in range(len(candidates.person)):
        rows = slice(candidates.indptr[i], candidates.indptr[i + 1])
        weight = np.append(np.exp(candidates.phi[rows] @ theta[:5]), np.exp(candidates.zeta[i] @ theta[5:]))
        assert_allclose(np.append(p[rows], p_none[i]), weight / weight.sum())


def test_the_gradient_is_that_of_the_loss():
    rng = np.random.default_rng(1)
    candidates, right = draw_candidates(rng)
    theta, first = rng.normal(size=8), initial_weights(3, 5)
    numeric = optimize.approx_fprime(theta, lambda index: loss(index, candidates, right, first)[0], 1e-6)
    assert_allclose(loss(theta, candidates, right, first)[1], numeric, rtol=1e-4, atol=1e-4)


def test_the_gradient_is_equal_for_any_number_of_threads():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    rng, n = np.random.default_rng(3), 100_000
    candidates = Choices(np.arange(n), np.arange(n + 1), rng.random((n, 12)), rng.random((n, 3)))
    right, first = rng.random(n) < 0.5, initial_weights(3, 12)
    gradients = []
    for threads in (1, 2):
        with threadpoolctl.threadpool_limits(threads):
            gradients.append(loss(first, candidates, right, first)[1])
    assert np.array_equal(*gradients)


def test_no_neighbor_of_the_fit_has_a_smaller_loss_and_votes_never_count_against():
    rng = np.random.default_rng(2)
    candidates, right = draw_candidates(rng)
    theta, first = fit_weights(candidates, right, 3), initial_weights(3, 5)
    assert theta[:4].min() >= 0
    optimum = loss(theta, candidates, right, first)[0]
    for i, step in [(i, step) for i in range(8) for step in (-0.01, 0.01)]:
        changed = theta.copy()
        changed[i] += step
        assert (i < 4 and changed[i] < 0) or loss(changed, candidates, right, first)[0] >= optimum - 1e-6


# --- the whole ------------------------------------------------------------------------------------------------------


def test_announced_is_realized_on_a_planted_pair():
    pair, seeds = planted(400, n_seeds=110)
    belief = attacked(pair, seeds)
    shared = presence(pair, seeds)
    recall = (belief.mapping == pair.truth)[shared].mean()
    assert (belief.confidence, belief.refused, belief.status) == ("calibrated", (), "scores")
    assert recall > 0.3
    for success in (belief.expected_success(shared), belief.expected_success()):
        assert success.low <= recall <= success.high
        assert success.mean - success.low < 0.1
    everybody = np.delete(belief.mapping == pair.truth, seeds.source).mean()
    assert everybody <= success.of_anybody_high


def test_few_seeds_make_a_bound_and_no_probability():
    pair, seeds = planted(250, overlap=(0.7, 0.6), n_seeds=32)
    belief = attacked(pair, seeds)
    shared = presence(pair, seeds)
    success = belief.expected_success(shared)
    assert (belief.confidence, success.mean, success.low) == ("bound", None, None)
    assert (belief.mapping == pair.truth)[shared].mean() <= success.high


def test_no_probability_is_announced_from_fewer_rounds():
    belief = attacked(*planted(100, n_seeds=40), rounds=2)
    assert belief.confidence == "scores"
    assert belief.expected_success() is None
    assert "rounds is 2, but 8 are needed" in belief.refused[0]


def test_graphs_that_have_nothing_to_do_with_each_other_announce_next_to_nothing():
    rng = np.random.default_rng(3)
    graphs = [datasets.erdos_renyi(300, 0.02, rng=rng) for _ in range(2)]
    pair = Pair(*graphs, np.arange(300))
    seeds = select_seeds(pair, "random", 60, rng)
    belief = attacked(pair, seeds)
    assert np.mean((belief.mapping == pair.truth)[np.setdiff1d(np.arange(300), seeds.source)]) < 0.06
    assert np.nanmean(np.delete(belief.if_there, seeds.source)) < 0.1
    assert belief.expected_success().high < 0.15


def test_chosen_guessed_and_few_seeds_announce_no_probability():
    pair, seeds = planted(250, n_seeds=90)
    chosen = attacked(pair, seeds, seeds_are="chosen", rounds=1)
    guessed = attacked(pair, Guessed(*seeds), rounds=1)  # though they are right: nobody knows that
    few_seeds = attacked(pair, SeedPairs(seeds.source[:10], seeds.target[:10]))
    for belief, reason in ((chosen, "chosen"), (guessed, "seeds were guessed"), (few_seeds, "10 seeds are too few")):
        assert belief.confidence == "scores"
        assert belief.expected_success() is None
        assert any(reason in sentence for sentence in belief.refused)


@pytest.mark.parametrize("kind", ["snowball", "circle"])
def test_seeds_that_are_near_each_other_announce_no_probability_and_say_why(kind):
    rng = np.random.default_rng(0)
    graph = datasets.watts_strogatz(500, 6, 0.05, rng=rng)
    pair = split(graph, 0.9, 0.8, rng).shuffled(rng=rng)
    if kind == "snowball":
        near = csgraph.breadth_first_order(pair.source.adjacency(), pair.common[0], return_predecessors=False)
        seeds = near[pair.truth[near] >= 0][:80]
    else:
        seeds = pair.common[np.argsort(pair.source.labels[pair.common])[:80]]
    belief = attacked(pair, SeedPairs(seeds, pair.truth[seeds]), rounds=1)
    assert belief.confidence == "scores"
    assert any("times as" in reason for reason in belief.refused)
    assert belief.dispersion.is_clustered


def strangers(n=120, n_seeds=40):
    """Two graphs that share people and no edges, but by chance, and a similarity that often knows who is who."""
    rng = np.random.default_rng(5)
    graphs = [datasets.erdos_renyi(n, 0.05, rng=rng) for _ in range(2)]
    score = rng.normal(size=(n, n)) + 3 * np.eye(n)
    alike = Similarity(*(side.ravel() for side in np.indices((n, n))), score.ravel())
    return Pair(*graphs, np.arange(n)), alike, score.argmax(axis=1), np.arange(n_seeds)


def test_if_edges_are_uninformative_the_similarity_decides_and_is_announced_truthfully():
    pair, alike, most_similar, seeds = strangers()
    belief = Ensemble()(pair.target, Auxiliary(pair.source, (seeds, seeds), alike))
    free = np.arange(len(seeds), 120)
    share_right = np.mean(belief.mapping[free] == free)
    assert share_right >= np.mean(most_similar[free] == free) - 0.05
    assert share_right > 0.4
    assert abs(np.nan_to_num(belief.if_there[free]).mean() - share_right) < 0.15


def test_a_similarity_that_tells_nothing_changes_next_to_nothing():
    pair, seeds = planted(120, n_seeds=40)
    rng = np.random.default_rng(0)
    n, m = pair.source.n_nodes, pair.target.n_nodes
    noise = Similarity(*(side.ravel() for side in np.indices((n, m))), rng.random(n * m))
    shared = np.setdiff1d(pair.common, seeds.source)
    without_similarity, along = (
        Ensemble(rounds=3)(pair.target, Auxiliary(pair.source, seeds, similarity)).mapping
        for similarity in (None, noise)
    )
    hits = [np.mean((mapping == pair.truth)[shared]) for mapping in (without_similarity, along)]
    assert hits[1] >= hits[0] - 0.05


def test_seeds_with_most_edges_do_not_pass_for_a_sample():
    pair, _ = planted(250)
    top = select_seeds(pair, "top", 80, np.random.default_rng(0))
    belief = attacked(pair, top, rounds=1)
    assert belief.confidence == "scores"
    assert any("more edges than others in both networks (AUC 0." in reason for reason in belief.refused)


def test_seeds_with_fewest_edges_do_not_pass_for_a_sample():
    pair, _ = planted(250)
    lowest_degrees = pair.common[np.argsort(pair.source.degree[pair.common], kind="stable")[:80]]
    belief = attacked(pair, SeedPairs(lowest_degrees, pair.truth[lowest_degrees]), rounds=1)
    assert belief.confidence == "scores"
    assert any("fewer edges than others in both networks (AUC 0." in reason for reason in belief.refused)


def test_sampled_seeds_pass_though_people_who_are_absent_have_few_edges():
    """All of the release is a dense core of the source: seeds stand out in the source, and not in the release."""
    rng = np.random.default_rng(1)
    graph = datasets.chung_lu(datasets.power_law_degrees(400, exponent=2.5, mean=8), rng=rng)
    core = np.flatnonzero(graph.degree >= np.median(graph.degree))
    truth = np.full(400, -1)
    truth[core] = np.arange(len(core))
    pair = Pair(graph, graph.take(core), truth)
    seeds = select_seeds(pair, "random", 90, rng)
    assert _auc(pair.source.degree, seeds.source) > MAX_AUC > _auc(pair.target.degree, seeds.target)
    assert not any("edges than others" in reason for reason in attacked(pair, seeds, rounds=1).refused)


def test_seeds_do_not_stand_out_without_other_people():
    everybody = np.arange(40)
    graph = datasets.barabasi_albert(40, 4, rng=np.random.default_rng(0))
    belief = Ensemble(rounds=1)(graph, Auxiliary(graph, (everybody, everybody)))
    assert not any("edges than others" in reason for reason in belief.refused)


def test_a_first_answer_comes_before_the_second_round():
    pair, seeds = planted(100, n_seeds=40)
    messages = []
    attacked(pair, seeds, progress=messages.append)
    assert messages[0] == "round 1 of 8"
    assert messages[1].startswith("so far: matches about ")
    assert messages[1].endswith(" % (Rematch; 8 withheld seeds)")
    assert messages[2].startswith("round 2 of 8; so far: matches about ")
    assert messages[-1].startswith("round 8 of 8; so far: matches about ")


def test_the_same_rng_gives_the_same_belief():
    pair, seeds = planted(100, n_seeds=40)
    first, second = (attacked(pair, seeds, rounds=3) for _ in range(2))
    assert np.array_equal(first.mapping, second.mapping)
    assert np.array_equal(first.log_probability, second.log_probability)


def test_odd_graphs_do_not_break_it():
    clique = list(combinations(range(5), 2))  # two components of twins, a hub, an isolated node
    hub = [(10, v) for v in range(11, 40)]
    u, v = np.array([*clique, *((a + 5, b + 5) for a, b in clique), *hub]).T
    graph = SocialGraph.from_edges(u, v, n_nodes=41)
    for n in (1, 12):
        numbers = np.arange(n)
        belief = Ensemble(rounds=1)(graph, Auxiliary(graph, (numbers, numbers)))
        assert belief.mapping[numbers].tolist() == numbers.tolist()
        assert belief.mapping[40] == -1


def test_wrong_seeds_lower_what_is_announced():
    pair, seeds = planted(250, n_seeds=90)
    wrong_targets = seeds.target.copy()
    wrong_targets[:10] = np.roll(wrong_targets[:10], 1)
    correct, misled = (attacked(pair, type(seeds)(seeds.source, t)) for t in (seeds.target, wrong_targets))
    free = np.setdiff1d(pair.common, seeds.source)
    assert np.nan_to_num(misled.if_there[free]).mean() < np.nan_to_num(correct.if_there[free]).mean()


def test_no_seeds_and_unknown_words_are_refused():
    graph = SocialGraph.from_edges([0, 1], [1, 2])
    with pytest.raises(UnmaskError, match="no seeds"):
        Ensemble()(graph, Auxiliary(graph, (np.empty(0, int), np.empty(0, int))))
    with pytest.raises(UnmaskError, match="seeds_are is 'some', did you mean 'sample'"):
        Ensemble(seeds_are="some")


def test_rounds_that_were_kept_are_not_run_again(tmp_path, monkeypatch):
    pair, seeds = planted(100, n_seeds=40)
    uninterrupted, messages = attacked(pair, seeds, rounds=3), []

    def killed(step):
        if step.startswith("round 3"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attacked(pair, seeds, rounds=3, folder=str(tmp_path), progress=killed)
    assert len(list(tmp_path.iterdir())) == 2
    resumed = attacked(pair, seeds, rounds=3, folder=tmp_path, progress=messages.append)
    assert np.array_equal(uninterrupted.log_probability, resumed.log_probability)
    assert [
        message for message in messages if "Rematch" in message
    ] == []  # the first answer, which only a new round gives
    monkeypatch.setattr("unmask.graphs.ensemble.ensemble.run_round", None)
    assert np.array_equal(attacked(pair, seeds, rounds=3, folder=tmp_path).mapping, uninterrupted.mapping)


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
    content = file.read_bytes()
    turned = content[:28] + bytes([content[28] ^ 1]) + content[29:]  # not even to be inflated
    for damage in (b"", b"PK", content[:-100], turned):
        file.write_bytes(damage)
        again = attacked(pair, seeds, rounds=1, folder=tmp_path)
        assert np.array_equal(again.log_probability, first.log_probability)


def test_two_commands_may_keep_the_same_round_at_once(tmp_path, monkeypatch):
    pair, seeds = planted(100, n_seeds=40)
    write, result = np.savez_compressed, []

    def meanwhile(file, **arrays):
        monkeypatch.setattr(np, "savez_compressed", write)
        result.append(attacked(pair, seeds, rounds=1, folder=tmp_path))
        write(file, **arrays)

    monkeypatch.setattr(np, "savez_compressed", meanwhile)
    result.append(attacked(pair, seeds, rounds=1, folder=tmp_path))
    assert np.array_equal(result[0].log_probability, result[1].log_probability)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_cannot_be_created_is_reported(tmp_path):
    pair, seeds = planted(100, n_seeds=40)
    (tmp_path / "taken").write_text("")
    with pytest.raises(FailedError, match="cannot be written to folder 'taken'"):
        attacked(pair, seeds, rounds=1, folder=tmp_path / "taken")
