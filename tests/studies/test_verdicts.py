"""The page of a study judges protections as `choose` does, and puts the same one first."""

from itertools import groupby

import pytest

from tests.studies.test_choice import results, summary
from unmask.policy import Condition, Policy
from unmask.studies.choice import choose, list_options
from unmask.studies.results_file import MissingCells

LADDER = (("k=2", 0.3, 0.9), ("k=5", 0.1, 0.7), ("k=9", 0.02, 0.5), ("k=3", 0.2, 0.95))


def build_results(*further_rows, gaps=()):
    risks = (summary(name, "risk", risk, low=risk / 2, high=2 * risk) for name, risk, _ in LADDER)
    utilities = (summary(name, "utility", worth) for name, _, worth in LADDER)
    return results(*risks, *utilities, *further_rows, gaps=gaps)


def list_judged(results_given, *conditions):
    return [option for option in list_options(results_given, Policy.of(conditions, title="Ours")) if option.assessments]


def chosen(results_given, *conditions):
    """Dataset -> the protection that `choose` names, None where it names none."""
    verdicts = sorted(
        choose(results_given, [Condition.parse(condition) for condition in conditions]),
        key=lambda option: option.dataset,
    )
    groups = groupby((option for option in verdicts if option.assessments), key=lambda option: option.dataset)
    return {
        name: next((option.protection for option in options_of_dataset if (option.state == "met")), None)
        for name, options_of_dataset in groups
    }


OTHERS = (summary("x", "loss", 0.5, adversary="z", dataset="e"), summary("x", "utility", 0.4, dataset="e"))


@pytest.mark.parametrize(
    ("results_given", "conditions"),
    [
        (build_results(), ["risk <= 0.1"]),
        (build_results(), ["risk <= 0.01"]),
        (build_results(), ["risk <= 0.25", "utility >= 0.6"]),
        (build_results(), ["a: risk <= 0.1", "nobody <= 1"]),
        (build_results(summary("k=5", "risk", 0.05, adversary="b", seeds=1)), ["risk <= 0.1"]),
        (build_results(gaps=(MissingCells("d", "k=5", "b", "failed", 1, "no memory"),)), ["risk <= 0.1"]),
        (build_results(gaps=(MissingCells("d", "k=5", "b", "not run", 1, "left out"),)), ["risk <= 0.1"]),
        (build_results(*OTHERS), ["a: risk <= 0.1"]),
        (build_results(*OTHERS), ["z: loss <= 0.1", "a: risk <= 0.3"]),
    ],
)
def test_the_first_of_a_dataset_is_the_one_that_choose_names(results_given, conditions):
    first = {option.dataset: option for option in reversed(list_judged(results_given, *conditions))}
    assert {name: option.protection if option.state == "met" else None for name, option in first.items()} == chosen(
        results_given, *conditions
    )


def test_those_that_miss_come_nearest_first():
    order = [option.protection for option in list_judged(build_results(), "risk <= 0.05")]
    assert order == ["k=9", "k=5", "k=3", "k=2"]
    assert [option.n_missed for option in list_judged(build_results(), "risk <= 0.05")] == [0, 1, 1, 1]


def test_conditions_without_a_result_are_open_with_their_reason():
    (incomplete,) = (
        option
        for option in list_judged(
            build_results(gaps=(MissingCells("d", "k=9", "b", "failed", 2, "x"),)), "risk <= 0.05"
        )[:1]
    )
    assert (incomplete.protection, incomplete.state, incomplete.gaps) == (
        "k=9",
        "untested",
        ("2 cells failed against b: x",),
    )
