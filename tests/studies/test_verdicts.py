"""The page of a study judges protections as `choose` does, and puts the same one first."""

from itertools import groupby

import pytest

from tests.studies.test_choice import results, summary
from unmask.policy import Condition, Policy
from unmask.studies.choice import choose, list_options
from unmask.studies.results_file import MissingCells

LADDER = (("k=2", 0.3, 0.9), ("k=5", 0.1, 0.7), ("k=9", 0.02, 0.5), ("k=3", 0.2, 0.95))


def found(*more, gaps=()):
    risks = (summary(name, "risk", risk, low=risk / 2, high=2 * risk) for name, risk, _ in LADDER)
    kept = (summary(name, "utility", worth) for name, _, worth in LADDER)
    return results(*risks, *kept, *more, gaps=gaps)


def judged(given, *conditions):
    return [one for one in list_options(given, Policy.of(conditions, title="Ours")) if one.assessments]


def chosen(given, *conditions):
    """Dataset -> the protection that `choose` names, None where it names none."""
    verdicts = sorted(choose(given, [Condition.parse(one) for one in conditions]), key=lambda one: one.dataset)
    groups = groupby((one for one in verdicts if one.assessments), key=lambda one: one.dataset)
    return {name: next((one.protection for one in own if (one.state == "met")), None) for name, own in groups}


OTHERS = (summary("x", "loss", 0.5, adversary="z", dataset="e"), summary("x", "utility", 0.4, dataset="e"))


@pytest.mark.parametrize(
    ("given", "conditions"),
    [
        (found(), ["risk <= 0.1"]),
        (found(), ["risk <= 0.01"]),
        (found(), ["risk <= 0.25", "utility >= 0.6"]),
        (found(), ["a: risk <= 0.1", "nobody <= 1"]),
        (found(summary("k=5", "risk", 0.05, adversary="b", seeds=1)), ["risk <= 0.1"]),
        (found(gaps=(MissingCells("d", "k=5", "b", "failed", 1, "no memory"),)), ["risk <= 0.1"]),
        (found(gaps=(MissingCells("d", "k=5", "b", "not run", 1, "left out"),)), ["risk <= 0.1"]),
        (found(*OTHERS), ["a: risk <= 0.1"]),
        (found(*OTHERS), ["z: loss <= 0.1", "a: risk <= 0.3"]),
    ],
)
def test_the_first_of_a_dataset_is_the_one_that_choose_names(given, conditions):
    first = {one.dataset: one for one in reversed(judged(given, *conditions))}
    assert {name: one.protection if one.state == "met" else None for name, one in first.items()} == chosen(
        given, *conditions
    )


def test_those_that_miss_come_nearest_first():
    order = [one.protection for one in judged(found(), "risk <= 0.05")]
    assert order == ["k=9", "k=5", "k=3", "k=2"]
    assert [one.n_missed for one in judged(found(), "risk <= 0.05")] == [0, 1, 1, 1]


def test_what_has_no_result_is_open_with_its_reason():
    (gone,) = (
        one for one in judged(found(gaps=(MissingCells("d", "k=9", "b", "failed", 2, "x"),)), "risk <= 0.05")[:1]
    )
    assert (gone.protection, gone.state, gone.gaps) == ("k=9", "untested", ("2 cells failed against b: x",))
