from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from unmask.tables.protections import cut_tests
from unmask.tables.protections import mondrian_cuts as module
from unmask.tables.protections.mondrian_cuts import mondrian


def recursive(values, counts, *, k, span, allows=None, trees=None):
    """Strict Mondrian as in the docstring, one box at a time, with exact arithmetic: the boxes as lists of points."""

    def cut(points):
        rows = sum(counts[i] for i in points)
        widths = [
            Fraction(max(values[i][j] for i in points) - min(values[i][j] for i in points)) / (span[j] or 1)
            for j in range(len(span))
        ]
        for j in sorted(range(len(span)), key=lambda j: (-widths[j], j)):
            cuts = []
            present = sorted({values[i][j] for i in points})
            for at in range(len(present) - 1):
                if trees and trees[j] is not None and not between_children(trees[j], present, at):
                    continue
                lower_points = [i for i in points if values[i][j] <= present[at]]
                upper_points = [i for i in points if values[i][j] > present[at]]
                n_left, n_right = sum(counts[i] for i in lower_points), sum(counts[i] for i in upper_points)
                if min(n_left, n_right) >= k and (allows is None or (allows(lower_points) and allows(upper_points))):
                    cuts.append((abs(2 * n_left - rows), at, lower_points, upper_points))
            if cuts:
                _, _, lower_points, upper_points = min(cuts, key=lambda cut: cut[:2])
                return cut(lower_points) + cut(upper_points)
        return [points]

    return cut(list(range(len(values))))


def between_children(tree, present, index):
    """The cut after present[at] separates two children of the lowest common ancestor of all values present."""
    common = next(level for level in range(len(tree)) if len({tree[level][value] for value in present}) == 1)
    return tree[common - 1][present[index]] != tree[common - 1][present[index + 1]]


def as_numbers(boxes, n_points):
    number = np.empty(n_points, dtype=np.int32)
    for index, points in enumerate(boxes):
        number[points] = index
    return number


@st.composite
def clouds(draw, max_values=6):
    d = draw(st.integers(1, 3))
    n = draw(st.integers(1, min(24, max_values**d)))
    cells = draw(st.lists(st.integers(0, max_values**d - 1), min_size=n, max_size=n, unique=True))
    counts = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    return np.column_stack(np.unravel_index(cells, [max_values] * d)), np.array(counts, dtype=np.int64)


def spans(values):
    return [int(width) for width in np.ptp(values, axis=0)]


@given(clouds(), st.integers(1, 8))
@settings(max_examples=200, deadline=None)
def test_equals_the_recursive_definition(cloud, k):
    values, counts = cloud
    expected = recursive(values.tolist(), counts.tolist(), k=k, span=spans(values))
    assert_array_equal(mondrian(values, counts, k=k), as_numbers(expected, len(values)))


@given(clouds(), st.integers(1, 3), st.integers(1, 3), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_equals_the_recursive_definition_under_two_constraints(cloud, k, diversity, random):
    values, counts = cloud
    first = np.array([[random.randint(0, 2) for _ in range(4)] for _ in counts])
    second = np.array([[random.randint(0, 1) for _ in range(3)] for _ in counts])

    def diverse(points):
        return np.count_nonzero(first[points].sum(axis=0)) >= diversity

    def balanced(points):
        return 2 * int(second[points].sum(axis=0)[0]) <= 3 * len(points)

    expected = recursive(
        values.tolist(),
        counts.tolist(),
        k=k,
        span=spans(values),
        allows=lambda points: diverse(points) and balanced(points),
    )
    size = np.ones((len(counts), 1), dtype=np.int64)  # carries the number of points, for `balanced`
    got = mondrian(
        values,
        counts,
        k=k,
        histograms=[first, csr_array(np.hstack([second[:, :1], size]))],
        allows=[lambda h: np.count_nonzero(h, axis=1) >= diversity, lambda h: 2 * h[:, 0] <= 3 * h[:, 1]],
    )
    assert_array_equal(got, as_numbers(expected, len(values)))


@given(clouds(), st.integers(1, 5), st.integers(1, 9), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_equals_the_recursive_definition_where_k_counts_people(cloud, k, n_people, random):
    values, counts = cloud
    rows = np.array([[random.choice([0, 0, 1, 2]) for _ in range(n_people)] for _ in counts])

    def several(points):
        return np.count_nonzero(rows[points].sum(axis=0)) >= k

    expected = recursive(values.tolist(), counts.tolist(), k=k, span=spans(values), allows=several)
    got = mondrian(values, counts, k=k, people=csr_array(rows))
    assert_array_equal(got, as_numbers(expected, len(values)))


@pytest.mark.parametrize("n_together", [1, 2, 7])
@given(clouds(), st.integers(1, 8), st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_boxes_are_the_same_however_many_are_cut_together(n_together, cloud, k, random):
    values, counts = cloud
    histogram = np.array([[random.randint(0, 2) for _ in range(3)] for _ in counts])
    settings = {"k": k, "histograms": [histogram], "allows": [lambda h: np.count_nonzero(h, axis=1) >= 2]}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "_POINTS_PER_BATCH", n_together)
        small_lots = mondrian(values, counts, **settings)
    assert_array_equal(small_lots, mondrian(values, counts, **settings))


TREE = np.array(  # a; b c; d e f under two inner nodes and a root, depth first
    [[0, 1, 2, 3, 4, 5], [0, 1, 1, 2, 2, 2], [0, 0, 0, 2, 2, 2], [0, 0, 0, 0, 0, 0]]
)


@given(clouds(), st.integers(1, 6))
@settings(max_examples=150, deadline=None)
def test_equals_the_recursive_definition_along_a_tree(cloud, k):
    values, counts = cloud
    trees = [TREE, None, TREE][: values.shape[1]]
    expected = recursive(values.tolist(), counts.tolist(), k=k, span=spans(values), trees=trees)
    assert_array_equal(mondrian(values, counts, k=k, trees=trees), as_numbers(expected, len(values)))


@given(clouds(), st.integers(1, 8), st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_the_order_of_the_points_does_not_matter(cloud, k, random):
    values, counts = cloud
    order = list(range(len(counts)))
    random.shuffle(order)
    assert_array_equal(mondrian(values[order], counts[order], k=k), mondrian(values, counts, k=k)[order])


@given(clouds())
@settings(max_examples=50, deadline=None)
def test_k_1_separates_all_points(cloud):
    values, counts = cloud
    assert np.unique(mondrian(values, counts, k=1)).size == len(values)


def test_units_do_not_matter_but_a_given_span_does():
    rng = np.random.default_rng(3)
    values = np.stack([rng.normal(size=200), rng.normal(size=200)], axis=1)
    counts = np.ones(200, dtype=np.int64)
    plain = mondrian(values, counts, k=5)
    assert_array_equal(mondrian(values * [1024.0, 0.5], counts, k=5), plain)
    only_second = mondrian(values, counts, k=100, span=np.array([1e9, 1.0]))
    assert values[only_second == 0, 1].max() < values[only_second == 1, 1].min()


def test_takes_the_lower_of_two_equally_good_cuts():
    # rows left 2, 4 of 6: both 1 away from the median
    assert_array_equal(mondrian(np.array([[0], [1], [2]]), np.array([2, 2, 2]), k=1), [0, 1, 2])
    assert_array_equal(mondrian(np.array([[0], [1], [2]]), np.array([2, 2, 2]), k=2), [0, 1, 2])
    assert_array_equal(mondrian(np.array([[0], [1], [2]]), np.array([2, 2, 3]), k=3), [0, 0, 1])
    assert_array_equal(mondrian(np.array([[0], [1], [2]]), np.array([3, 2, 3]), k=3), [0, 1, 1])


def test_a_column_full_of_zeros_is_still_cut():
    # 70 % zeros: a cut below the median never exists, one above it does (the trap of median-or-nothing cuts)
    values = np.array([[0], *[[v] for v in range(1, 31)]])
    counts = np.array([70, *[1] * 30])
    boxes = mondrian(values, counts, k=10)
    assert np.bincount(boxes, counts).tolist() == [70, 15, 15]


def test_tries_the_next_column_when_the_widest_has_no_cut():
    values = np.array([[0, 0], [9, 0], [0, 1], [9, 1]])
    counts = np.array([5, 1, 5, 1])  # column 0 cuts 10 | 2, column 1 cuts 6 | 6
    assert_array_equal(mondrian(values, counts, k=3, span=np.array([1.0, 1.0])), [0, 0, 1, 1])


def test_one_box_when_nothing_can_be_cut():
    assert_array_equal(mondrian(np.array([[1.0], [1.0]]), np.array([5, 5]), k=2), [0, 0])
    assert_array_equal(mondrian(np.array([[1.0], [2.0]]), np.array([1, 1]), k=5), [0, 0])
    assert_array_equal(mondrian(np.empty((0, 2)), np.empty(0, dtype=np.int64), k=5), [])


@pytest.mark.parametrize("strict", [True, False])
def test_blocks_of_any_size_give_the_same_boxes(monkeypatch, strict):
    rng = np.random.default_rng(5)
    values = rng.integers(0, 40, size=(400, 3))
    counts = np.ones(400, dtype=np.int64)
    histogram = np.eye(6, dtype=np.int64)[rng.integers(0, 6, 400)]

    def run():
        return mondrian(
            values,
            counts,
            k=3,
            histograms=[histogram],
            allows=[lambda h: np.count_nonzero(h, axis=1) >= 3],
            strict=strict,
            rng=np.random.default_rng(0),
        )

    at_once = run()
    monkeypatch.setattr(cut_tests, "_CELLS", 20)
    assert_array_equal(run(), at_once)
    monkeypatch.setattr(module, "_POINTS_PER_BATCH", 20)
    assert_array_equal(run(), at_once)
    assert at_once.max() > 20


@given(st.integers(1, 60), st.integers(1, 6), st.integers(1, 3), st.integers(0, 2**16))
@settings(max_examples=60, deadline=None)
def test_relaxed_boxes_hold_k_to_2k_minus_1_rows(n, k, d, seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, size=(n, d))
    boxes = mondrian(values, np.ones(n, dtype=np.int64), k=k, strict=False, rng=rng)
    sizes = np.bincount(boxes)
    assert sizes.sum() == n
    if n >= k:
        assert sizes.min() >= k
        assert sizes.max() <= 2 * k - 1


def test_relaxed_cuts_in_the_middle_and_never_out_of_order():
    values = np.array([[0], [1], [1], [1], [1], [2], [3], [3]])
    boxes = mondrian(values, np.ones(8, dtype=np.int64), k=4, strict=False, rng=np.random.default_rng(0))
    assert np.bincount(boxes).tolist() == [4, 4]
    assert set(boxes[:1]) == {0}
    assert set(boxes[5:]) == {1}


def test_relaxed_splits_equal_values_at_random():
    values = np.zeros((40, 1))
    halves = [
        mondrian(values, np.ones(40, dtype=np.int64), k=20, strict=False, rng=np.random.default_rng(seed))
        for seed in range(60)
    ]
    share = np.mean(halves, axis=0)
    assert np.abs(share - 0.5).max() < 0.3  # 60 fair coins for each of 40 rows: 4.6 standard deviations
    assert len({tuple(half) for half in halves}) == 60


def test_relaxed_boxes_satisfy_the_constraint():
    rng = np.random.default_rng(2)
    secret = rng.integers(0, 4, 300)
    histogram = np.eye(4, dtype=np.int64)[secret]
    boxes = mondrian(
        rng.normal(size=(300, 2)),
        np.ones(300, dtype=np.int64),
        k=4,
        histograms=[histogram],
        allows=[lambda h: np.count_nonzero(h, axis=1) >= 3],
        strict=False,
        rng=rng,
    )
    diverse = [np.unique(secret[boxes == box]).size for box in range(boxes.max() + 1)]
    assert min(diverse) == 3
    assert len(diverse) > 20


def test_boxes_are_numbered_from_left_to_right():
    values = np.array(list(itertools.product(range(4), repeat=2)))
    boxes = mondrian(values, np.ones(16, dtype=np.int64), k=1)
    corner = values[boxes.argmin()], values[boxes.argmax()]
    assert_array_equal(corner, [[0, 0], [3, 3]])
    single = mondrian(np.arange(50)[::-1, None], np.ones(50, dtype=np.int64), k=7)
    assert (np.diff(single) <= 0).all()
