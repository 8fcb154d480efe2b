"""Partitions and views: labels of any type, items brought in line, refusals in one sentence."""

import numpy as np
import pytest

from unmask import Partition, UnmaskError, View
from unmask.core.partition import align
from unmask.measures import clustering


@pytest.mark.parametrize(
    "labels",
    [
        np.array([-128, 127, -128], np.int8),
        np.array([2**64 - 1, 0, 2**64 - 1], np.uint64),
        np.array([True, False, True]),
        ["b", "a", "b"],
        [1.5, -2.0, 1.5],
        ["x", 3, "x"],
        [("a", 1), ("b", 2), ("a", 1)],
    ],
)
def test_labels_of_any_type(labels):
    if isinstance(labels, list) and isinstance(labels[0], tuple):
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
        labels = array
    result = Partition(labels)
    assert result.n_clusters == 2
    assert result.code[0] == result.code[2] != result.code[1]
    assert sorted(result.sizes.tolist()) == [1, 2]


@pytest.mark.parametrize(
    ("labels", "items", "message"),
    [
        ([], None, "at least 1"),
        ([1.0, float("nan")], None, "label is NaN"),
        (["a", None], None, "label is missing"),
        (["a", "b"], ["i", None], "item id is missing"),
        (["a", "b"], ["i", "i"], "twice"),
        (["a", "b"], ["i"], "1 item ids for 2"),
        ([["a"], ["b"]], None, "shape|list"),
    ],
)
def test_bad_partitions_are_refused(labels, items, message):
    with pytest.raises(UnmaskError, match=message):
        Partition(labels, items)


@pytest.mark.parametrize("probability", [[0.5, 0.6], [1.0, 0.0], [1.0], [0.5, float("nan")]])
def test_bad_views_are_refused(probability):
    with pytest.raises(UnmaskError, match="view"):
        View([Partition([0, 1]), Partition([0, 0])], probability)


def test_items_are_matched_by_id_in_any_order():
    truth = Partition(["a", "a", "b"], ["x", "y", "z"])
    guess = Partition([2, 1, 1], ["z", "x", "y"])
    ours, theirs = align(truth, guess)
    assert ours.items.tolist() == ["x", "y", "z"]
    assert theirs.code[0] == theirs.code[1] != theirs.code[2]


def test_an_item_that_only_one_has_is_an_error_or_alone():
    truth, guess = Partition(["a", "a"], [1, 2]), Partition(["p", "p"], [2, 3])
    with pytest.raises(UnmaskError, match="1 item of the truth is not in the guess"):
        align(truth, guess)
    with pytest.raises(UnmaskError, match="missing is 'ignore'"):
        align(truth, guess, missing="ignore")
    with pytest.raises(UnmaskError, match="1 item of the guess is not in the truth"):
        align(truth, guess, missing="singleton")
    ours, theirs = align(truth, guess, missing="singleton", unlabeled="foreign")
    assert ours.items.tolist() == [1, 2, 3]
    assert ours.sizes.tolist() == [2, 1]
    assert theirs.sizes.tolist() == [2, 1]


def test_an_item_called_like_a_subject_is_not_taken_for_it():
    truth = Partition([1, 1, 1, 2, 2, 3], [10, 11, 12, 13, 14, 15])
    guess = Partition([0, 0, 1, 2, 2, 3, 4], [10, 11, 12, 13, 14, 15, 1])
    met = clustering.Contingency.of(truth, guess, unlabeled="foreign")
    (merged,) = clustering.merge_lists(met, [1])
    assert merged.shared.tolist() == [2, 1]
