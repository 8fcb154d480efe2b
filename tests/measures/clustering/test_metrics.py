import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask import UnmaskError
from unmask.core.partition import Partition
from unmask.measures.clustering.metrics import clustering_metrics, rand_distance, variation_of_information
from unmask.measures.clustering.overlap import overlap

labels = st.integers(1, 12).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 5), min_size=n, max_size=n) for _ in range(2)])
)


def compared(solution, adversary, **options):
    return clustering_metrics(overlap(solution, adversary, **options))


def pair_counts(p, q):
    """Over all pairs: together in both, in the first, in the second, all."""
    pairs = list(itertools.combinations(range(len(p)), 2))
    in_p = [p[i] == p[j] for i, j in pairs]
    in_q = [q[i] == q[j] for i, j in pairs]
    return sum(a and b for a, b in zip(in_p, in_q, strict=True)), sum(in_p), sum(in_q), len(pairs)


def entropy(labels):
    n = len(labels)
    return -sum(k / n * math.log2(k / n) for k in Counter(labels).values())


def blocks(labels):
    return {frozenset(i for i, b in enumerate(labels) if b == a) for a in set(labels)}


@given(labels)
def test_pairs_by_counting_all_of_them(partitions):
    p, q = partitions
    comparison = compared(Partition(p), Partition(q))
    t, a, b, n_pairs = pair_counts(p, q)
    assert comparison.pair_precision == pytest.approx(t / b if b else math.nan, nan_ok=True)
    assert comparison.pair_recall == pytest.approx(t / a if a else math.nan, nan_ok=True)
    assert comparison.pair_f == pytest.approx(2 * t / (a + b) if a + b else math.nan, nan_ok=True)
    assert comparison.rand_index == pytest.approx(
        (n_pairs - a - b + 2 * t) / n_pairs if n_pairs else math.nan, nan_ok=True
    )
    assert rand_distance(comparison.table) == pytest.approx(1 - comparison.rand_index, nan_ok=True)


@given(labels)
def test_adjusted_rand_in_exact_fractions(partitions):
    p, q = partitions
    t, a, b, n_pairs = pair_counts(p, q)
    actual = compared(Partition(p), Partition(q)).adjusted_rand_index
    if not n_pairs:
        assert math.isnan(actual)
        return
    chance = Fraction(a * b, n_pairs)
    room = Fraction(a + b, 2) - chance
    assert actual == (float((t - chance) / room) if room else 1.0)


def test_adjusted_rand_is_zero_on_average_over_all_orders_of_the_labels():
    p, q = [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 1]
    rand_indices = [
        compared(Partition(p), Partition(order)).adjusted_rand_index for order in set(itertools.permutations(q))
    ]
    assert np.mean(rand_indices) == pytest.approx(0, abs=1e-12)


def test_adjusted_rand_of_a_known_table():
    # Hubert and Arabie's formula on the contingency table [[1, 1, 0], [1, 2, 1], [0, 0, 4]], n = 10: worked by hand.
    # T = 0 + 1 + 6 = 7, sum c2(c) = 1 + 6 + 6 = 13, sum c2(d) = 1 + 3 + 10 = 14, A = 45
    p = [0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    q = [0, 1, 0, 1, 1, 2, 2, 2, 2, 2]
    expected = (7 - 13 * 14 / 45) / (13.5 - 13 * 14 / 45)
    assert compared(Partition(p), Partition(q)).adjusted_rand_index == pytest.approx(expected, rel=1e-14)


def test_pair_products_do_not_overflow():
    n = 200_000  # sum c2(c) sum c2(d) is about 4e20, more than 64 bits hold
    labels = np.zeros(n, dtype=int)
    relabeled = labels.copy()
    relabeled[0] = 1
    assert compared(Partition(relabeled), Partition(relabeled)).adjusted_rand_index == 1.0
    assert compared(Partition(relabeled), Partition(labels)).adjusted_rand_index == 0.0


@given(labels)
def test_entropies_by_their_definition(partitions):
    p, q = partitions
    comparison = compared(Partition(p), Partition(q))
    h_p, h_q, h_both = entropy(p), entropy(q), entropy(list(zip(p, q, strict=True)))
    information = h_p + h_q - h_both
    assert comparison.entropy_solution == pytest.approx(h_p, abs=1e-12)
    assert comparison.entropy_adversary == pytest.approx(h_q, abs=1e-12)
    assert comparison.mutual_information == pytest.approx(information, abs=1e-12)
    assert comparison.variation_of_information == pytest.approx(2 * h_both - h_p - h_q, abs=1e-12)
    assert variation_of_information(comparison.table) == pytest.approx(comparison.variation_of_information, abs=1e-12)
    homogeneity = information / h_p if h_p > 0 else 1
    completeness = information / h_q if h_q > 0 else 1
    assert comparison.homogeneity == pytest.approx(homogeneity, abs=1e-9)
    assert comparison.completeness == pytest.approx(completeness, abs=1e-9)
    v_measure = 2 * homogeneity * completeness / (homogeneity + completeness) if homogeneity + completeness else 0
    assert comparison.normalized_mutual_information == pytest.approx(v_measure, abs=1e-9)


@given(labels)
def test_the_numbers_of_each_subject_by_looping_over_its_items(partitions):
    p, q = partitions
    solution, adversary = Partition(p), Partition(q)
    comparison = compared(solution, adversary).subject
    for s, name in enumerate(solution.names):
        C = {i for i, a in enumerate(p) if a == name}
        cluster_of = {i: {j for j, a in enumerate(q) if a == q[i]} for i in C}
        c = len(C)
        assert comparison.split[s] == pytest.approx(np.mean([math.log2(c / len(cluster_of[i] & C)) for i in C]))
        assert comparison.mix[s] == pytest.approx(
            np.mean([math.log2(len(cluster_of[i]) / len(cluster_of[i] & C)) for i in C])
        )
        assert comparison.bcubed_precision[s] == pytest.approx(
            np.mean([len(cluster_of[i] & C) / len(cluster_of[i]) for i in C])
        )
        assert comparison.bcubed_recall[s] == pytest.approx(np.mean([len(cluster_of[i] & C) / c for i in C]))
        assert comparison.expected_missing[s] == pytest.approx(np.mean([len(C - cluster_of[i]) for i in C]))
        assert comparison.expected_extra[s] == pytest.approx(np.mean([len(cluster_of[i] - C) for i in C]))
        assert comparison.recovered[s] == (C in blocks(q))
        pairs = [j in cluster_of[i] for i, j in itertools.permutations(C, 2)]
        assert comparison.pair_recall[s] == pytest.approx(np.mean(pairs) if pairs else math.nan, nan_ok=True)


@given(labels)
def test_subjects_weighted_by_their_items_give_the_whole(partitions):
    p, q = partitions
    comparison = compared(Partition(p), Partition(q))
    weight = comparison.table.subject_size / comparison.table.n
    assert weight @ (comparison.subject.split + comparison.subject.mix) == pytest.approx(
        comparison.variation_of_information, abs=1e-12
    )
    assert weight @ comparison.subject.bcubed_precision == pytest.approx(comparison.bcubed_precision)
    assert weight @ comparison.subject.bcubed_recall == pytest.approx(comparison.bcubed_recall)
    assert weight @ comparison.subject.expected_missing == pytest.approx(comparison.expected_missing)
    assert weight @ comparison.subject.expected_extra == pytest.approx(comparison.expected_extra)
    assert comparison.subject_precision == pytest.approx(comparison.subject.bcubed_precision.mean())
    assert comparison.subject_recall == pytest.approx(comparison.subject.bcubed_recall.mean())
    for mean in ("bcubed", "subject"):
        precision, recall, f = (getattr(comparison, f"{mean}_{rate}") for rate in ("precision", "recall", "f"))
        assert f == pytest.approx(2 / (1 / precision + 1 / recall))


@given(labels)
def test_clusters_recovered_exactly(partitions):
    p, q = partitions
    n_equal = len(blocks(p) & blocks(q))
    comparison = compared(Partition(p), Partition(q))
    assert comparison.cluster_precision == n_equal / len(blocks(q))
    assert comparison.cluster_recall == n_equal / len(blocks(p))
    assert comparison.cluster_f == 2 * n_equal / (len(blocks(p)) + len(blocks(q)))


@given(labels)
def test_exchanging_the_two_exchanges_precision_and_recall(partitions):
    p, q = map(Partition, partitions)
    scores, exchanged_scores = compared(p, q), compared(q, p)
    assert scores.bcubed_precision == pytest.approx(exchanged_scores.bcubed_recall)
    assert scores.pair_precision == pytest.approx(exchanged_scores.pair_recall, nan_ok=True)
    assert scores.homogeneity == pytest.approx(exchanged_scores.completeness, abs=1e-9)
    for name in (
        "rand_index",
        "adjusted_rand_index",
        "variation_of_information",
        "normalized_mutual_information",
        "transfer_distance",
    ):
        assert getattr(scores, name) == pytest.approx(getattr(exchanged_scores, name), nan_ok=True, abs=1e-9)


@given(labels)
def test_item_and_subject_means_differ_by_definition_and_not_by_labels(partitions):
    p, q = partitions
    renamed = compared(Partition([-a for a in p]), Partition([f"c{a}" for a in q]))
    comparison = compared(Partition(p), Partition(q))
    assert renamed.variation_of_information == pytest.approx(comparison.variation_of_information, abs=1e-12)
    assert renamed.subject_precision == pytest.approx(comparison.subject_precision)


def test_bcubed_over_items_and_over_subjects():
    comparison = compared(Partition([0, 0, 0, 0, 1]), Partition([0, 0, 1, 2, 2]))  # by hand
    assert comparison.bcubed_precision == pytest.approx((1 + 1 + 1 + 1 / 2 + 1 / 2) / 5)
    assert comparison.subject_precision == pytest.approx(((1 + 1 + 1 + 1 / 2) / 4 + 1 / 2) / 2)
    assert comparison.bcubed_recall == pytest.approx((2 / 4 + 2 / 4 + 1 / 4 + 1 / 4 + 1) / 5)
    assert comparison.subject_recall == pytest.approx((6 / 16 + 1) / 2)


@pytest.mark.parametrize("p", [[0, 0, 1, 1, 1, 2], [0] * 5, list(range(5))])
def test_equal_partitions(p):
    comparison = compared(Partition(p), Partition([f"x{a}" for a in p]))
    assert (comparison.rand_index, comparison.adjusted_rand_index, comparison.normalized_mutual_information) == (
        1,
        1,
        1,
    )
    assert (comparison.homogeneity, comparison.completeness) == (1, 1)
    assert (comparison.variation_of_information, comparison.normalized_variation_of_information) == (0, 0)
    assert (comparison.transfer_distance, comparison.normalized_transfer_distance) == (0, 0)
    assert (comparison.cluster_f, comparison.bcubed_f, comparison.subject_f) == (1, 1, 1)
    assert (comparison.expected_missing, comparison.expected_extra) == (0, 0)


def test_one_block_against_all_alone_is_the_far_end():
    together, apart_each = Partition([0] * 8), Partition(range(8))
    comparison = compared(together, apart_each)
    assert (comparison.rand_index, comparison.adjusted_rand_index, comparison.mutual_information) == (0, 0, 0)
    assert (
        comparison.variation_of_information,
        comparison.normalized_variation_of_information,
        comparison.normalized_transfer_distance,
    ) == (
        3,
        1,
        1,
    )
    assert math.isnan(comparison.pair_precision)
    assert (comparison.pair_recall, comparison.pair_f) == (0, 0)
    assert (comparison.expected_missing, comparison.expected_extra) == (7, 0)
    assert math.isnan(compared(apart_each, together).pair_recall)
    assert compared(apart_each, together).expected_extra == 7


def test_one_item_has_no_pairs():
    comparison = compared(Partition([0]), Partition([7]))
    for value in (
        comparison.rand_index,
        comparison.adjusted_rand_index,
        comparison.pair_f,
        comparison.normalized_variation_of_information,
        comparison.normalized_transfer_distance,
    ):
        assert math.isnan(value)
    assert (
        comparison.variation_of_information,
        comparison.normalized_mutual_information,
        comparison.bcubed_f,
    ) == (0, 1, 1)
    assert np.isnan(comparison.subject.pair_recall).all()


def test_items_of_one_partition_only():
    solution = Partition(["a", "a"], items=[1, 2])
    adversary = Partition(["x", "x"], items=[2, 3])
    with pytest.raises(UnmaskError, match="1 item of the truth"):
        compared(solution, adversary)
    comparison = compared(solution, adversary, missing="singleton", unlabeled="foreign")
    assert comparison.table.n == 3
    assert comparison.pair_recall == 0


def test_only_chance_corrected_numbers_recognize_independent_labels():
    rng = np.random.default_rng(5)
    n = 200_000
    comparison = compared(Partition(rng.integers(0, 10, n)), Partition(rng.integers(0, 10, n)))
    # expected MI of independent 10 x 10 tables is 81/(2 n ln 2) bits, about 3e-4; ARI has a deviation below 1e-4
    assert comparison.mutual_information == pytest.approx(81 / (2 * n * math.log(2)), rel=0.6)
    assert abs(comparison.adjusted_rand_index) < 5e-4
    assert comparison.rand_index == pytest.approx(0.82, abs=0.005)  # 1/100 + 81/100
