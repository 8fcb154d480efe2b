import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask import UnmaskError
from unmask.core.partition import Partition, View, align_view
from unmask.measures.clustering.metrics import (
    merge_distance,
    rand_distance,
    transfer_distance,
    variation_of_information,
)
from unmask.measures.clustering.overlap import overlap
from unmask.measures.clustering.views import (
    certainty,
    degree_of_unlinkability,
    expected_distance,
    inconsistency,
    log2_bell,
    pair_entropy,
    together,
)

DISTANCES = [variation_of_information, rand_distance, transfer_distance, merge_distance]


@st.composite
def truths_and_views(draw, min_items=2):
    n, k = draw(st.integers(min_items, 9)), draw(st.integers(1, 6))
    row = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    weight = np.array(draw(st.lists(st.integers(1, 9), min_size=k, max_size=k)), dtype=float)
    return draw(row), [draw(row) for _ in range(k)], weight / weight.sum()


def view_of(rows, p):
    return View([Partition(row) for row in rows], p)


def canonical(labels):
    counts = {}
    return tuple(counts.setdefault(a, len(counts)) for a in labels)


def entropy_of_law(outcomes, p):
    law = defaultdict(float)
    for outcome, chance in zip(outcomes, p, strict=True):
        law[outcome] += chance
    return -sum(x * math.log2(x) for x in law.values())


def bell(n):
    """Exactly, by the Bell triangle."""
    row = [1]
    for _ in range(n - 1):
        row = list(itertools.accumulate(row, initial=row[-1]))
    return row[-1]


def all_partitions(n):
    return sorted({canonical(a) for a in itertools.product(range(n), repeat=n)})


@pytest.mark.parametrize("distance", DISTANCES)
@settings(max_examples=30)
@given(truths_and_views())
def test_expected_distance_is_the_mean_over_the_view(distance, drawn):
    truth, rows, p = drawn
    by_hand = sum(x * distance(overlap(Partition(truth), Partition(row))) for x, row in zip(p, rows, strict=True))
    result = expected_distance(Partition(truth), view_of(rows, p), distance=distance)
    assert result == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize("distance", DISTANCES)
@settings(max_examples=30)
@given(truths_and_views())
def test_inconsistency_is_the_mean_over_two_draws(distance, drawn):
    _, rows, p = drawn
    by_hand = sum(
        a * b * distance(overlap(Partition(q), Partition(r)))
        for (a, q), (b, r) in itertools.product(zip(p, rows, strict=True), repeat=2)
    )
    assert inconsistency(view_of(rows, p), distance=distance) == pytest.approx(by_hand, abs=1e-12)


@given(truths_and_views())
def test_a_metric_bounds_inconsistency_by_twice_the_distance(drawn):
    truth, rows, p = drawn
    view = view_of(rows, p)
    assert inconsistency(view) <= 2 * expected_distance(Partition(truth), view) + 1e-9


@given(truths_and_views())
def test_entropies_of_the_view_by_its_law(drawn):
    _, rows, p = drawn
    view, outcomes = view_of(rows, p), [canonical(row) for row in rows]
    h, k = entropy_of_law(outcomes, p), len(set(outcomes))
    assert certainty(view) == pytest.approx(1 - h / math.log2(k) if k > 1 else 1, abs=1e-12)
    assert degree_of_unlinkability(view) == pytest.approx(h / math.log2(bell(len(rows[0]))), abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_uniform_over_all_partitions_leaves_everything_open(n):
    partitions = all_partitions(n)
    view = view_of(partitions, None)
    assert len(partitions) == bell(n)
    assert degree_of_unlinkability(view) == pytest.approx(1)
    assert certainty(view) == pytest.approx(0, abs=1e-12)
    # two given items are together in Bell(n - 1) of the Bell(n) partitions
    assert together(view, [[0, n - 1]])[0] == pytest.approx(bell(n - 1) / bell(n))


def test_a_sure_adversary_leaves_nothing_open():
    truth = Partition([0, 0, 1, 1, 1])
    view = View([truth])
    assert (certainty(view), degree_of_unlinkability(view), inconsistency(view)) == (1, 0, 0)
    assert expected_distance(truth, view) == 0
    assert pair_entropy(view, [[0, 1], [0, 2]]).tolist() == [0, 0]


def test_equal_partitions_are_one_outcome_however_they_are_labeled():
    view = View([Partition(["x", "x", "y"]), Partition([7, 7, 3]), Partition([0, 1, 1])], [0.3, 0.2, 0.5])
    assert certainty(view) == pytest.approx(0)


@given(truths_and_views())
def test_splitting_a_partition_of_the_view_in_two_changes_nothing(drawn):
    _, rows, p = drawn
    partition = view_of(rows, p)
    two = view_of([rows[0], *rows], [p[0] / 2, p[0] / 2, *p[1:]])
    assert degree_of_unlinkability(two) == pytest.approx(degree_of_unlinkability(partition), abs=1e-12)
    assert inconsistency(two) == pytest.approx(inconsistency(partition), abs=1e-12)
    assert certainty(two) == pytest.approx(certainty(partition), abs=1e-12)


@given(truths_and_views())
def test_together_by_looping_over_all_pairs(drawn):
    _, rows, p = drawn
    pairs = list(itertools.product(range(len(rows[0])), repeat=2))
    result = together(view_of(rows, p), pairs)
    entropy = pair_entropy(view_of(rows, p), pairs)
    for (i, j), chance, bits in zip(pairs, result, entropy, strict=True):
        assert chance == pytest.approx(sum(x for x, row in zip(p, rows, strict=True) if row[i] == row[j]))
        if i == j:
            assert (chance, bits) == pytest.approx((1, 0), abs=1e-12)
        assert bits == pytest.approx(entropy_of_law([row[i] == row[j] for row in rows], p), abs=1e-9)


def test_pairs_are_named_by_item_ids_and_partitions_may_list_them_in_any_order():
    view = View(
        [Partition([0, 0, 1], items=["a", "b", "c"]), Partition([0, 1, 1], items=["c", "b", "a"])], [0.25, 0.75]
    )
    assert together(view, [["a", "b"], ["c", "b"], ["c", "c"]]).tolist() == [1.0, 0.0, 1.0]
    assert certainty(view) == 1


def test_items_that_a_partition_lacks():
    truth = Partition([0, 0, 0], items=[1, 2, 3])
    view = View([Partition([0, 0], items=[1, 2]), Partition([0, 0], items=[3, 4])])
    with pytest.raises(UnmaskError, match="not in the guess"):
        expected_distance(truth, view)
    # over items 1, 2, 3, 4: truth 123|4, the view 12|3|4 and 1|2|34
    by_hand = (transfer_distance(overlap(Partition([0, 0, 0, 1]), Partition([0, 0, 1, 2]))) + 3 - 1 + 0) / 2
    truth, view = align_view(truth, view, missing="singleton", unlabeled="foreign")
    assert expected_distance(truth, view, distance=transfer_distance) == pytest.approx(by_hand) == 1.5
    assert together(view, [[1, 2], [3, 4], [1, 4]]).tolist() == [0.5, 0.5, 0.0]
    assert inconsistency(view, distance=merge_distance) == 1.0  # a split and a merge, half the time


def test_one_item():
    view = View([Partition([0])])
    assert math.isnan(degree_of_unlinkability(view))
    assert (certainty(view), expected_distance(Partition([1]), view)) == (1, 0)


def test_context_leaves_fewer_partitions_possible():
    of_two_pairs = [p for p in all_partitions(4) if sorted(map(p.count, set(p))) == [2, 2]]
    assert len(of_two_pairs) == 3
    bits = math.log2(3)
    assert degree_of_unlinkability(view_of(of_two_pairs, None), compatible_bits=bits) == pytest.approx(1)
    assert degree_of_unlinkability(view_of(of_two_pairs[:1], None), compatible_bits=bits) == 0
    with pytest.raises(UnmaskError, match="3 distinct partitions"):
        degree_of_unlinkability(view_of(of_two_pairs, None), compatible_bits=1)
    with pytest.raises(UnmaskError, match="expected at least"):
        degree_of_unlinkability(view_of(of_two_pairs, None), compatible_bits=math.nan)


def test_bell_numbers_against_the_triangle():
    n = np.arange(1, 301)
    exact = [math.log2(bell(int(k))) for k in n]
    np.testing.assert_allclose([log2_bell(int(k)) for k in n], exact, rtol=1e-13, atol=1e-13)
    assert bell(10) == 115975  # OEIS A000110


@pytest.mark.parametrize("n", [10**4, 10**6, 10**9])
def test_bell_numbers_against_their_asymptotic_series(n):
    # Moser and Wyman 1955, with r e^r = n; the next term is of order r/n^2 relative to Bell(n)
    r = math.log(n)
    for _ in range(60):
        r -= (r * math.exp(r) - n) / ((r + 1) * math.exp(r))
    series = n * (r + 1 / r - 1) - 1 - math.log(r + 1) / 2
    series += math.log1p(-(r**2) * (2 * r**2 + 7 * r + 10) / (24 * n * (r + 1) ** 3))
    assert log2_bell(n) * math.log(2) == pytest.approx(series, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda v: together(v, [0, 1]), "two items for each pair"),
        (lambda v: together(v, [[0, 3]]), "from 0 to 2"),
        (lambda v: together(v, [[0, -1]]), "from 0 to 2"),
        (lambda v: together(v, [[0.5, 1]]), "not of two positions"),
    ],
)
def test_wrong_use(call, words):
    with pytest.raises(UnmaskError, match=words):
        call(View([Partition([0, 0, 1])]))


def test_unknown_item_is_counted_and_not_shown():
    view = View([Partition([0, 0], items=["secret", "b"])])
    with pytest.raises(UnmaskError, match="1 items of the pairs") as error:
        together(view, [["b", "hidden"]])
    assert "hidden" not in str(error.value)
