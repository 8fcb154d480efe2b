"""Bounds from a labeled sample of the truth, against every completion of it."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.measures.clustering import literal
from unmask import UnmaskError
from unmask.core.partition import Partition, View
from unmask.measures.clustering import Contingency, bounds, evaluate, merge_lists

ALPHAS = [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), Fraction(1)]
BETAS = [Fraction(1, 2), Fraction(4, 5), Fraction(1)]
MEASURES = ("linked_now", "breached", "clean_breach", "foreign_share")


@st.composite
def samples(draw):
    """Subjects of the labeled items, and the clusters of these and of the unlabeled ones after them."""
    n, n_unlabeled = draw(st.integers(1, 7)), draw(st.integers(0, 4))
    subject = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return subject, draw(st.lists(st.integers(0, 3), min_size=n + n_unlabeled, max_size=n + n_unlabeled))


def completed(subject, cluster, chosen, name, alpha, beta):
    """Return the oracle's values of a subject if exactly these unlabeled items are its own, and are taken out."""
    unchosen = [index for index in range(len(cluster)) if index not in chosen]
    solution = [subject[index] if index < len(subject) else 10 + index for index in unchosen]
    result = literal.evaluate(solution, [([cluster[index] for index in unchosen], Fraction(1))], alpha=alpha, beta=beta)
    one = next(subject for subject in result.subjects if subject.name == name)
    foreign = one.foreign_share
    return one.linked[0], float(one.breached), float(one.breached and foreign == 0), foreign


def sampled(subject, cluster, **options):
    truth = Partition(subject, items=np.arange(len(subject)))
    return Contingency.of(truth, Partition(cluster, items=np.arange(len(cluster))), **options)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(samples(), st.sampled_from(ALPHAS), st.sampled_from(BETAS))
def test_e6_the_bounds_of_a_subject_are_the_least_and_the_most_over_all_completions(sample, alpha, beta):
    subject, cluster = sample
    interval = bounds(sampled(subject, cluster, unlabeled="unknown"), alpha=float(alpha), beta=float(beta))
    unlabeled = range(len(subject), len(cluster))
    sets = [chosen for size in range(len(unlabeled) + 1) for chosen in combinations(unlabeled, size)]
    for row, name in enumerate(sorted(set(subject))):
        values = np.array([completed(subject, cluster, chosen, name, alpha, beta) for chosen in sets], dtype=float)
        for index, measure in enumerate(MEASURES):
            extremes = getattr(interval, measure)[:, row]
            assert extremes == pytest.approx([values[:, index].min(), values[:, index].max()]), (measure, name)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(samples(), st.sampled_from(ALPHAS), st.sampled_from(BETAS))
def test_e6_what_is_foreign_and_what_is_dropped_lie_within_the_bounds(sample, alpha, beta):
    subject, cluster = sample
    parameters = {"alpha": float(alpha), "beta": float(beta)}
    interval = bounds(sampled(subject, cluster, unlabeled="unknown"), **parameters)
    for unlabeled in ("foreign", "drop"):
        result = evaluate(sampled(subject, cluster, unlabeled=unlabeled), **parameters)
        for measure in ("linked_now", "breached", "foreign_share"):
            low, high = getattr(interval, measure)
            value = getattr(result, measure).astype(float)
            assert np.all((low - 1e-12 <= value) & (value <= high + 1e-12)), measure


@settings(max_examples=60, deadline=None, derandomize=True)
@given(samples(), st.sampled_from(ALPHAS))
def test_e6_without_unlabeled_items_nothing_is_left_open(sample, alpha):
    subject, cluster = sample
    met = sampled(subject, cluster[: len(subject)], unlabeled="unknown")
    result, sure = bounds(met, alpha=float(alpha)), evaluate(met, alpha=float(alpha))
    for measure in ("linked_now", "breached", "foreign_share"):
        assert getattr(result, measure) == pytest.approx(np.tile(getattr(sure, measure), (2, 1)).astype(float))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(samples(), st.sampled_from(ALPHAS), st.sampled_from(BETAS))
def test_e6_complete_subjects_make_unlabeled_items_foreign_and_exact(sample, alpha, beta):
    subject, cluster = sample
    truth, guess = (Partition(labels, items=np.arange(len(labels))) for labels in (subject, cluster))
    result = evaluate(Contingency.of(truth, guess, unlabeled="foreign"), alpha=float(alpha), beta=float(beta))
    padded = [*subject, *range(10, 10 + len(cluster) - len(subject))]
    expected = literal.evaluate(padded, [(cluster, Fraction(1))], alpha=alpha, beta=beta)
    assert result.subjects.tolist() == sorted(set(subject))  # what nobody labeled is no subject
    for row, subject_bound in enumerate(expected.subjects[: len(result.subjects)]):
        assert (result.miss[row], result.include[row]) == (float(subject_bound.miss), float(subject_bound.include))
        assert result.breached[row] == subject_bound.breached
        assert result.merges[row] == pytest.approx(float(subject_bound.merges or 0))


def test_e6_the_audit_asks_about_an_unlabeled_item_and_names_the_choices():
    truth, guess = Partition(["a", "a"], [1, 2]), Partition(["p", "p", "p"], [1, 2, 3])
    with pytest.raises(UnmaskError, match=r"1 item of the guess is not in the truth.*foreign.*unknown.*drop"):
        Contingency.of(truth, guess)
    with pytest.raises(UnmaskError, match="no single value"):
        evaluate(Contingency.of(truth, guess, unlabeled="unknown"))
    with pytest.raises(UnmaskError, match="unlabeled is 'mine'"):
        Contingency.of(truth, guess, unlabeled="mine")
    foreign = Contingency.of(truth, guess, unlabeled="foreign")
    assert evaluate(foreign).include.tolist() == [1]
    assert evaluate(Contingency.of(truth, guess, unlabeled="drop")).include.tolist() == [0]
    assert merge_lists(foreign, ["a"])[0].foreign.tolist() == [1]


def test_e6_an_item_that_did_not_exist_is_dropped_and_not_taken_for_one_left_alone():
    truth, guess = Partition(["a", "a", "a", "b"], [1, 2, 3, 4]), Partition(["p", "p"], [1, 2])
    assert evaluate(Contingency.of(truth, guess, missing="singleton")).miss.tolist() == [1, 0]
    dropped = evaluate(Contingency.of(truth, guess, missing="drop", own={"alpha": [0.1, 0.9]}))
    assert (dropped.subjects.tolist(), dropped.miss.tolist()) == (["a"], [0])
    weighing = Contingency.of(truth, guess, missing="drop", weights=[1, 0.5, 1, 1])
    assert evaluate(weighing, alpha=1).size.tolist() == [2]


def test_bounds_of_a_view_are_expectations():
    truth = Partition(["a", "a"], [1, 2])
    view = View([Partition(["p", "p", "p"], [1, 2, 3]), Partition(["p", "p", "q"], [1, 2, 3])], [0.75, 0.25])
    interval = bounds(Contingency.of(truth, view, unlabeled="unknown"))
    assert interval.foreign_share.ravel().tolist() == [0, 0.25]
    assert interval.clean_breach.ravel().tolist() == [0, 1]
    with pytest.raises(UnmaskError, match="are not bounded"):
        bounds(Contingency.of(truth, view, unlabeled="drop", weights=[1, 0.5]))
