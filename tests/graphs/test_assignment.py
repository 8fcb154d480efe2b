"""Graph matching: copies are found, twins share their chance, sizes may differ."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from tests.graphs.problems import graph, noisy_pair, pairs_of, probability, renumbered
from unmask import UnmaskError
from unmask.graphs import Auxiliary
from unmask.graphs.attacks.graph_matching import GraphMatching, Signed, permuted_product


def image_of(truth, n):
    image = np.empty(n, dtype=np.int64)
    image[truth[0]] = truth[1]
    return image


@pytest.mark.parametrize("share_kept", [1.0, 0.9])
def test_the_copies_are_found(share_kept):
    source, target, truth = noisy_pair(np.random.default_rng(3), n_nodes=60, degree=12.0, share_kept=share_kept)
    belief = GraphMatching()(target, Auxiliary(source, (truth[0][:6], truth[1][:6])))
    assert np.mean(belief.mapping == image_of(truth, 60)) > 0.95
    for v, c in pairs_of(belief.mapping).items():
        assert probability(belief, v) == {c: 1.0}
    assert (belief.status, belief.sweeps.tolist()) == ("scores", [np.sum(belief.mapping >= 0) - 6])


def test_no_mapping_keeps_more_edges_and_non_edges():
    """All 5! mappings of the free nodes of two graphs that are alike in 3/4 of the pairs."""
    rng, highest = np.random.default_rng(5), 0
    for _ in range(12):
        source, target, truth = noisy_pair(rng, n_nodes=8, degree=4.0, share_kept=0.9)
        seeds = (truth[0][:3], truth[1][:3])
        a, b = (2 * network.adjacency().toarray().astype(int) - 1 for network in (source, target))
        free, free_target = np.setdiff1d(np.arange(8), seeds[0]), np.setdiff1d(np.arange(8), seeds[1])
        values = {}
        for order in itertools.permutations(free_target.tolist()):
            image = np.empty(8, dtype=int)
            image[seeds[0]], image[free] = seeds[1], order
            values[tuple(image)] = int((a * b[np.ix_(image, image)]).sum())
        belief = GraphMatching()(target, Auxiliary(source, seeds))
        top = [image for image, value in values.items() if value == max(values.values())]
        highest += any(all(c in (-1, image[v]) for v, c in enumerate(belief.mapping)) for image in top)
    assert highest >= 10  # an approximation; a random mapping agrees in 0 to 1 of 12


def test_the_smaller_graph_is_padded_and_finds_its_place():
    rng = np.random.default_rng(4)
    full_graph, _, _ = noisy_pair(rng, n_nodes=60, degree=14.0, share_kept=1.0)
    part = rng.permutation(60)[:40]
    smaller = full_graph.take(part)
    seeds = np.arange(8)
    belief = GraphMatching()(full_graph, Auxiliary(smaller, (seeds, part[seeds])))
    assert np.mean(belief.mapping == part) > 0.9
    back = GraphMatching()(smaller, Auxiliary(full_graph, (part[seeds], seeds)))
    assert np.mean(back.mapping[part] == np.arange(40)) > 0.9
    assert np.sum(back.mapping >= 0) <= 40


def test_twins_share_their_chance_and_seeds_do_not():
    """1, 2 and 3 are leaves of 0; 4 and 5 know each other and 0: each group is exchangeable. 6 has no edge."""
    net = graph(7, [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (4, 5)])
    belief = GraphMatching()(net, Auxiliary(net, (np.array([0, 1]), np.array([0, 1]))))
    assert belief.mapping.tolist() == [0, 1, -1, -1, -1, -1, -1]
    assert probability(belief, 2) == pytest.approx({2: 0.5, 3: 0.5})
    assert probability(belief, 5) == pytest.approx({4: 0.5, 5: 0.5})
    assert belief.unlisted[2] == 0
    assert (belief.row_length[6], belief.unlisted[6], belief.n_unlisted[6]) == (0, 1.0, 7)


def test_a_group_of_twins_that_is_larger_in_the_source_leaves_chance_for_no_match():
    source = graph(4, [(0, 1), (0, 2), (0, 3)])
    target = graph(3, [(0, 1), (0, 2)])
    belief = GraphMatching()(target, Auxiliary(source, (np.array([0]), np.array([0]))))
    for v in (1, 2, 3):
        assert probability(belief, v) == pytest.approx({1: 1 / 3, 2: 1 / 3})
        assert belief.unlisted[v] == pytest.approx(1 / 3)


def test_the_same_seed_gives_the_same_belief_and_the_numbers_of_nodes_are_no_information():
    rng = np.random.default_rng(9)
    source, target, truth = noisy_pair(rng, n_nodes=50, degree=10.0, share_kept=1.0)
    seeds = (truth[0][:8], truth[1][:8])
    attack = GraphMatching()
    first, two = (
        attack(target, Auxiliary(source, seeds)),
        eval(repr(attack), {"GraphMatching": GraphMatching})(target, Auxiliary(source, seeds)),
    )
    assert first.mapping.tobytes() == two.mapping.tobytes()
    number = rng.permutation(50)
    permuted_product = attack(renumbered(target, number), Auxiliary(source, (seeds[0], number[seeds[1]])))
    assert np.mean(permuted_product.mapping == np.where(first.mapping >= 0, number[first.mapping], -1)) == 1.0


def test_a_first_guess_leads_where_the_center_does_not():
    """With 6 edges a person, of which 6 in 10 are in both graphs, a guess of half of the people finds the others."""
    source, target, truth = noisy_pair(np.random.default_rng(2), n_nodes=80, degree=6.0, share_kept=0.6)
    auxiliary, image = Auxiliary(source, (truth[0][:8], truth[1][:8])), image_of(truth, 80)
    guessed, begun_nodes = np.split(np.setdiff1d(np.arange(80), truth[0][:8]), 2)
    guess = sparse.csr_array((np.full(36, 0.9), (guessed, image[guessed])), shape=(80, 80))
    center, begun = GraphMatching()(target, auxiliary), GraphMatching().begun(target, auxiliary, guess)
    from_center, from_guess = (np.mean(belief.mapping[begun_nodes] == image[begun_nodes]) for belief in (center, begun))
    assert from_center + 0.3 < from_guess


def test_a_first_guess_of_fewer_people_than_candidates():
    rng = np.random.default_rng(4)
    full_graph, _, _ = noisy_pair(rng, n_nodes=60, degree=14.0, share_kept=1.0)
    part = rng.permutation(60)[:40]
    guess = sparse.csr_array((np.ones(40), (np.arange(40), part)), shape=(40, 60))
    belief = GraphMatching(steps=1).begun(full_graph, Auxiliary(full_graph.take(part), (np.arange(2), part[:2])), guess)
    assert belief.mapping.tolist() == part.tolist()


def test_impossible_options_are_refused():
    net = graph(4, [(0, 1), (1, 2)])
    with pytest.raises(UnmaskError, match="the larger graph has 4 nodes, expected at most 3"):
        GraphMatching(largest=3)(net, Auxiliary(net, (np.array([0]), np.array([0]))))
    with pytest.raises(UnmaskError, match="no seeds"):
        GraphMatching()(net, Auxiliary(net, (np.array([], dtype=int), np.array([], dtype=int))))
    with pytest.raises(UnmaskError, match="steps is 0"):
        GraphMatching(steps=0)
    with pytest.raises(UnmaskError, match="largest is 0"):
        GraphMatching(largest=0)


def test_a_step_multiplies_as_the_signed_matrices_do():
    """A Q B, from edges alone, equals the dense product; the target is padded."""
    rng = np.random.default_rng(1)
    source, target, _ = noisy_pair(rng, n_nodes=12, degree=4.0, share_kept=0.8)
    target = target.take(np.arange(9))
    seeds = np.arange(3)
    signed_source, signed_target = Signed.from_graph(source, seeds, 12), Signed.from_graph(target, seeds, 12)
    dense = []
    for network in (source, target):
        matrix = np.zeros((12, 12))
        matrix[: network.n_nodes, : network.n_nodes] = 2.0 * network.adjacency().toarray() - 1
        np.fill_diagonal(matrix, 0)
        dense.append(matrix)
    column = rng.permutation(9)
    a, b = (matrix[3:, 3:] for matrix in dense)
    assert np.array_equal(permuted_product(signed_source, signed_target, column), a @ np.eye(9)[column] @ b)
    shares = rng.random((9, 4))
    assert np.allclose(signed_source.between(shares), a @ shares)
    assert np.array_equal(signed_target.to, dense[1][3:, :3])


def test_a_product_with_the_signed_matrix_is_equal_for_any_number_of_threads():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    rng, k = np.random.default_rng(2), 1500
    signed = Signed(sparse.csr_array((k, k)), np.ones(k), np.zeros((k, 0)))
    shares, products = rng.random((k, k)), []
    for threads in (1, 2):
        with threadpoolctl.threadpool_limits(threads):
            products.append(signed.between(shares))
    assert np.array_equal(*products)
