"""Every attack against its slow twin, and the marks of a belief."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import slow
from tests.graphs.problems import as_dict, check_renumbering, graph, noisy_pair, pairs_of, problems, seed_pairs
from unmask import UnmaskError
from unmask.graphs import Auxiliary
from unmask.graphs.attacks import Bumblebee, Grasshopper, Nar09, _kernels, _pruned, propagation
from unmask.graphs.datasets import chung_lu, power_law_degrees
from unmask.graphs.graph import SocialGraph
from unmask.graphs.knowledge import select_seeds, split

THETAS = [0.0, 0.01, 0.37, 1.13, 1.5]  # of two candidates, one stands out by sqrt(2)
ATTACKS = [
    Nar09(),
    Nar09(synchronous=True),
    Bumblebee(),
    Bumblebee(synchronous=True),
    Grasshopper(),
    Grasshopper(weighting="printed"),
]


@contextmanager
def pruned():
    """Let `Nar09` skip candidates in small graphs, too, and let short rows be long ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(propagation, "MIN_LARGE_NODES", 0)
        patch.setattr(_pruned, "MIN_LONG", 0)
        yield


@pytest.mark.parametrize("synchronous", [False, True])
@pytest.mark.parametrize("size", [nullcontext, pruned])
@settings(max_examples=150, deadline=None)
@given(problems(n_wrong=(0, 2, 12)), st.sampled_from(THETAS))
def test_nar09_finds_the_pairs_of_its_definition(size, synchronous, problem, theta):
    source, target, seeds = problem
    with size():
        belief = Nar09(theta=theta, synchronous=synchronous)(target, Auxiliary(source, seeds))
    graphs = as_dict(source), as_dict(target)
    mu, sweeps = slow.nar09(*graphs, seed_pairs(seeds), theta=theta, synchronous=synchronous)
    assert pairs_of(belief.mapping) == mu
    assert belief.sweeps.tolist() == sweeps


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("listed", [1, 10])
def test_candidates_that_cannot_win_are_skipped_without_effect(theta, listed):
    rng = np.random.default_rng(23)
    network = chung_lu(power_law_degrees(2000, exponent=2.3, mean=12), rng=rng)
    pair = split(network, 0.8, 0.8, rng)
    seeds = select_seeds(pair, "random.25", 100, rng)
    attack, knowledge = Nar09(theta=theta, listed=listed), Auxiliary(pair.source, seeds)
    complete = attack(pair.target, knowledge)
    with pruned():
        belief, threaded = attack(pair.target, knowledge), replace(attack, threads=3)(pair.target, knowledge)
    for name in ("mapping", "sweeps", "indptr", "candidate", "log_probability", "unlisted"):
        assert np.array_equal(getattr(belief, name), getattr(complete, name))
    assert belief.visits == threaded.visits < complete.visits / (1.5 if theta == 0.01 else 0.5)


@pytest.mark.parametrize("synchronous", [False, True])
@settings(max_examples=100, deadline=None)
@given(problems(n_wrong=(0, 2, 12)), st.sampled_from(THETAS), st.sampled_from([0.0, 0.5, 1.3]))
def test_bumblebee_finds_the_pairs_of_its_definition(synchronous, problem, theta, delta):
    source, target, seeds = problem
    belief = Bumblebee(delta=delta, theta=theta, synchronous=synchronous)(target, Auxiliary(source, seeds))
    mu, sweeps = slow.bumblebee(
        as_dict(source), as_dict(target), seed_pairs(seeds), theta=theta, delta=delta, synchronous=synchronous
    )
    assert pairs_of(belief.mapping) == mu
    assert belief.sweeps.tolist() == sweeps


@pytest.mark.parametrize("weighting", ["released", "printed"])
@settings(max_examples=150, deadline=None)
@given(problems(n_wrong=(0, 2, 12)), st.sampled_from(THETAS), st.sampled_from([1, 2, 12]))
def test_grasshopper_finds_the_pairs_of_its_definition(weighting, problem, theta, cap):
    source, target, seeds = problem
    belief = Grasshopper(theta=theta, weighting=weighting, max_steps=cap)(target, Auxiliary(source, seeds))
    mu, sweeps = slow.grasshopper(
        as_dict(source),
        as_dict(target),
        seed_pairs(seeds),
        theta=theta,
        released=weighting == "released",
        max_steps=cap,
    )
    assert pairs_of(belief.mapping) == mu
    assert belief.sweeps.tolist() == sweeps


@pytest.mark.parametrize("synchronous", [False, True])
@pytest.mark.parametrize("theta", THETAS)
def test_verdicts_that_are_kept_between_passes_are_those_that_would_be_made_again(monkeypatch, theta, synchronous):
    """The slow twin scores every free node in every pass, so it visits more candidates to the same end."""
    source, target, truth = noisy_pair(np.random.default_rng(17), n_nodes=300, degree=10.0, share_kept=0.7)
    seeds, visits, scores = (truth[0][:25], truth[1][:25]), [], slow.scores

    def counted(v, source_rows, target_rows, mu, factor):
        visits.append(sum(len(target_rows[mu[x]]) for x in source_rows[v] if x in mu))
        return scores(v, source_rows, target_rows, mu, factor)

    monkeypatch.setattr(slow, "scores", counted)
    near, far = as_dict(source), as_dict(target)
    mu, sweeps = slow.nar09(near, far, seed_pairs(seeds), theta=theta, synchronous=synchronous)
    belief = Nar09(theta=theta, synchronous=synchronous)(target, Auxiliary(source, seeds))
    assert pairs_of(belief.mapping) == mu
    assert belief.sweeps.tolist() == sweeps
    assert len(sweeps) > 2
    assert belief.visits < sum(visits) * (0.75 if theta < 0.1 else 1.0)


@pytest.mark.parametrize("attack", ATTACKS, ids=repr)
def test_the_copies_are_found_and_belief_and_mapping_agree(attack):
    source, target, truth = noisy_pair(np.random.default_rng(3), n_nodes=120, degree=12.0, share_kept=0.95)
    belief = attack(target, Auxiliary(source, (truth[0][:20], truth[1][:20])))
    image = np.empty(120, dtype=np.int64)
    image[truth[0]] = truth[1]
    assert np.mean(belief.mapping == image) > 0.9
    mapped = np.flatnonzero(belief.mapping >= 0)
    first = belief.indptr[mapped]
    assert np.array_equal(belief.candidate[first], belief.mapping[mapped])
    assert np.all(belief.row_length[mapped] == 1)
    assert np.all(belief.unlisted[mapped] == 0)
    assert len(np.unique(belief.mapping[mapped])) == len(mapped)
    assert belief.status == "scores"


@pytest.mark.parametrize("attack", [Nar09(synchronous=True), Bumblebee(synchronous=True), Grasshopper()], ids=repr)
def test_the_number_of_threads_changes_nothing(attack):
    source, target, truth = noisy_pair(np.random.default_rng(5), n_nodes=90)
    single_thread = attack(target, Auxiliary(source, (truth[0][:15], truth[1][:15])))
    three_threads = replace(attack, threads=3)(target, Auxiliary(source, (truth[0][:15], truth[1][:15])))
    assert single_thread.mapping.tobytes() == three_threads.mapping.tobytes()
    assert single_thread.log_probability.tobytes() == three_threads.log_probability.tobytes()
    assert (single_thread.visits, single_thread.provenance) == (three_threads.visits, three_threads.provenance)


@pytest.mark.parametrize("attack", [Nar09(synchronous=True), Bumblebee(synchronous=True), Grasshopper()], ids=repr)
def test_renumbering_the_nodes_renumbers_the_matches(attack):
    check_renumbering(attack)


def test_a_single_candidate_is_taken_by_nar09_and_refused_by_grasshopper():
    path = graph(2, [(0, 1)])
    seeds = (np.array([0]), np.array([0]))
    assert Nar09()(path, Auxiliary(path, seeds)).mapping.tolist() == [0, 1]
    assert Bumblebee()(path, Auxiliary(path, seeds)).mapping.tolist() == [0, 1]
    assert Grasshopper()(path, Auxiliary(path, seeds)).mapping.tolist() == [0, -1]


@pytest.mark.parametrize("attack", ATTACKS, ids=repr)
def test_twins_share_the_belief(attack):
    """Three leaves of a star have equal scores at any theta: none is mapped, and they share their chance."""
    star = graph(5, [(0, 1), (0, 2), (0, 3)])
    belief = replace(attack, theta=0.0)(star, Auxiliary(star, (np.array([0]), np.array([0]))))
    assert belief.mapping.tolist() == [0, -1, -1, -1, -1]
    for v in (1, 2, 3):
        p = np.exp(belief.log_probability[belief.indptr[v] : belief.indptr[v + 1]].astype(float))
        assert belief.candidate[belief.indptr[v] : belief.indptr[v + 1]].tolist() == [1, 2, 3]
        assert p == pytest.approx([p[0]] * 3)
        assert p[0] > belief.unlisted[v] / 2
    assert belief.row_length[4] == 0  # isolated: the prior is kept
    assert (belief.unlisted[4], belief.n_unlisted[4]) == (1.0, 5)


def test_scores_that_are_0_to_the_last_bit_are_tied():
    """Degrees 3 and 300 at delta 32: 10**-64 for the one neighbor of the seed, and for the other."""
    hub = [(1, 10 + i) for i in range(300)] + [(2, 400 + i) for i in range(300)]
    target = graph(700, [(0, 1), (0, 2), *hub])
    belief = Bumblebee(delta=32.0)(target, Auxiliary(graph(2, [(0, 1)]), (np.array([0]), np.array([0]))))
    assert belief.mapping.tolist() == [0, -1]
    assert np.all(np.isfinite(belief.unlisted))


def test_scores_that_differ_by_rounding_are_tied():
    """S = 1 / sqrt(3) and S = 3 / sqrt(27) are equal; in floating point they are not, and sigma is of the same size."""
    assert 3 / np.sqrt(27) != 1 / np.sqrt(3)
    source = graph(4, [(3, 0), (3, 1), (3, 2)])
    # candidates 3 (next to all three seeds, degree 27) and 4 (next to one of them, degree 3)
    edges = [(3, 0), (3, 1), (3, 2), (4, 0)] + [(3, 5 + i) for i in range(24)] + [(4, 29), (4, 30)]
    belief = Nar09(theta=0.01)(graph(31, edges), Auxiliary(source, (np.arange(3), np.arange(3))))
    assert belief.mapping[3] == -1


def test_belief_of_a_node_left_open_is_the_softmax_over_all_target_nodes():
    """Hub 0 has leaves 1 and 2 of degree 1 and neighbor 3 of degree 2: S = 1, 1, 1 / sqrt(2) for a leaf."""
    target = graph(6, [(0, 1), (0, 2), (0, 3), (3, 4)])
    source = graph(2, [(0, 1)])
    belief = Nar09()(target, Auxiliary(source, (np.array([0]), np.array([0]))))
    weight = np.exp([1.0, 1.0, 1 / np.sqrt(2)])
    row = slice(belief.indptr[1], belief.indptr[2])
    assert belief.candidate[row].tolist() == [1, 2, 3]
    assert np.exp(belief.log_probability[row]) == pytest.approx(weight / (weight.sum() + 3), rel=1e-6)
    assert belief.unlisted[1] == pytest.approx(3 / (weight.sum() + 3))
    assert belief.n_unlisted[1] == 3


def test_ties_across_the_limit_of_listed_candidates_are_left_out_together():
    target = graph(6, [(0, 1), (0, 2), (0, 3), (3, 4)])
    source = graph(2, [(0, 1)])
    seeds = (np.array([0]), np.array([0]))
    two = Nar09(listed=2)(target, Auxiliary(source, seeds))
    belief = Nar09(listed=1)(target, Auxiliary(source, seeds))
    assert two.candidate[two.indptr[1] : two.indptr[2]].tolist() == [1, 2]
    assert (belief.row_length[1], belief.unlisted[1], belief.n_unlisted[1]) == (0, 1.0, 6)


def test_grasshopper_moves_a_wrong_seed():
    source, target, truth = noisy_pair(np.random.default_rng(2), n_nodes=60, degree=14.0, share_kept=1.0)
    wrong_targets = truth[1][:30].copy()
    wrong_targets[[0, 1]] = wrong_targets[[1, 0]]
    belief = Grasshopper()(target, Auxiliary(source, (truth[0][:30], wrong_targets)))
    assert belief.mapping[truth[0][:2]].tolist() == truth[1][:2].tolist()
    belief_misled = Nar09()(target, Auxiliary(source, (truth[0][:30], wrong_targets)))
    assert belief_misled.mapping[truth[0][:2]].tolist() == wrong_targets[:2].tolist()


@pytest.mark.parametrize("attack", ATTACKS, ids=repr)
def test_inputs_are_left_unchanged_and_repr_rebuilds_the_attack(attack):
    source, target, truth = noisy_pair(np.random.default_rng(4))
    seeds = (truth[0][:9], truth[1][:9])
    initial = [array.copy() for array in (source.indptr, source.neighbor, target.indptr, target.neighbor, *seeds)]
    belief = attack(target, Auxiliary(source, seeds))
    after = [source.indptr, source.neighbor, target.indptr, target.neighbor, *seeds]
    assert all(np.array_equal(a, b) and a.flags.writeable for a, b in zip(after, initial, strict=True))
    again = eval(repr(attack), {"Nar09": Nar09, "Bumblebee": Bumblebee, "Grasshopper": Grasshopper})
    assert again == attack
    assert again(target, Auxiliary(source, seeds)).mapping.tobytes() == belief.mapping.tobytes()


@pytest.mark.parametrize(
    ("seeds", "says"),
    [
        (([], []), "no seeds"),
        (([0, 1], [0]), "2 source and 1 target seeds were given"),
        (([0, 3], [0, 1]), r"source seed 1 is node 3, expected 0..2"),
        (([0], [-1]), r"target seed 0 is node -1, expected 0..2"),
        (([0, 0], [0, 1]), "repeated among the source seeds"),
        (([0, 1], [2, 2]), "repeated among the target seeds"),
        (([0.5], [0]), "source seeds are not a list of node numbers"),
    ],
)
@pytest.mark.parametrize("attack", [Nar09(), Bumblebee(), Grasshopper()], ids=repr)
def test_seeds_that_make_no_sense_are_refused(attack, seeds, says):
    path = graph(3, [(0, 1), (1, 2)])
    with pytest.raises(UnmaskError, match=says):
        attack(path, Auxiliary(path, (np.array(seeds[0]), np.array(seeds[1]))))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Nar09(theta=-0.1), "theta is -0.1"),
        (lambda: Nar09(theta=float("nan")), "theta is nan"),
        (lambda: Nar09(listed=0), "listed is 0"),
        (lambda: Bumblebee(delta=-1), "delta is -1"),
        (lambda: Bumblebee(delta=33), "delta is 33, expected a number from 0 to 32"),
        (lambda: Bumblebee(threads=0), "threads is 0"),
        (lambda: Grasshopper(weighting="mine"), "weighting is 'mine', expected one of released, printed"),
        (lambda: Grasshopper(max_steps=0), "max_steps is 0"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make, says):
    with pytest.raises(UnmaskError, match=says):
        make()


@pytest.mark.parametrize(
    "attack",
    [Nar09(), Nar09(synchronous=False), Bumblebee(), Grasshopper()],
    ids=repr,
)
def test_graphs_on_disk_are_attacked_where_they_lie(tmp_path, monkeypatch, attack):
    source, target, truth = noisy_pair(np.random.default_rng(17), n_nodes=300, degree=10.0, share_kept=0.8)
    seeds = (truth[0][:25], truth[1][:25])

    def on_disk(graph, name):
        graph.neighbor.tofile(tmp_path / name)
        return SocialGraph(graph.indptr, np.memmap(tmp_path / name, np.int32, "r"))

    belief = attack(target, Auxiliary(source, seeds))
    monkeypatch.setattr(_kernels, "renumber", None)  # makes the copies
    result = attack(on_disk(target, "target"), Auxiliary(on_disk(source, "source"), seeds))
    assert (belief.mapping >= 0).sum() > 100
    for name in ("mapping", "sweeps", "indptr", "candidate", "log_probability", "unlisted"):
        assert np.array_equal(getattr(result, name), getattr(belief, name)), name
