"""Rates of attacks that name some people: who counts, and where a person is several candidates."""

from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask import ABSENT, UNKNOWN, Posterior, Truth, audit
from unmask.core.errors import UnmaskError
from unmask.measures import rank, realized_success_at
from unmask.measures.rates import RATES, RunValues, average_runs, coverage, recall


@dataclass(frozen=True, eq=False, kw_only=True)
class Naming(Posterior):
    """A uniform belief that commits itself all the same."""

    mapping: Any

    @property
    def named(self):
        return self.mapping


def naming(mapping, n=6):
    mapping = np.asarray(mapping)
    flat = Posterior.from_dense(np.full((mapping.shape[-1], n), 1 / n))
    fields = {name: getattr(flat, name) for name in Posterior.__dataclass_fields__}
    return Naming(**fields, mapping=mapping)


def test_leaked_and_unknown_people_take_no_part():
    #                 right wrong  none  ghost absent leaked unknown
    belief = naming([0, 3, -1, 4, -1, 5, 2])
    truth = Truth([0, 1, 2, ABSENT, ABSENT, 5, UNKNOWN], leaked=[5])
    result = audit(belief, truth)
    values = {row.measure: (row.posterior, row.n) for row in result.rows}
    assert values["recall"] == (pytest.approx(1 / 3), 3)
    assert values["precision"] == (pytest.approx(1 / 3), 3)
    assert values["named_wrongly"] == (pytest.approx(1 / 3), 3)
    assert values["false_positives"] == (pytest.approx(1 / 3), 3)
    assert values["spread"] == (1.0, 3)
    assert values["coverage"] == (pytest.approx(4 / 6), 6)
    assert result.row("recall").prior == pytest.approx(1 / 6)
    assert result.row("precision").prior == pytest.approx(1 / 6 * 3 / 5)
    assert result.row("false_positives").prior == pytest.approx(2 / 5)


def test_without_matches_there_is_no_precision():
    result = audit(naming([-1, -1]), Truth([0, 1]))
    assert (result.row("recall").posterior, result.row("spread").posterior) == (0, 0)
    assert dict(result.not_run)["precision"].startswith("precision is 0/0")
    with pytest.raises(UnmaskError, match="all 2 targets were known before"):
        audit(naming([0, 1]), Truth([0, 1], leaked=[0, 1]))


def test_any_round_and_any_candidate_of_a_person_is_right():
    person = np.array([0, 0, 1, 2, 3, 4])  # candidates 0 and 1 are one person
    belief = naming([[1, 3], [-1, 2]])
    result = audit(belief, Truth([0, 2], person=person), measures=RATES)
    assert result.row("recall").posterior == 1
    assert result.row("recall").prior == pytest.approx((2 / 6 + 1 / 6) / 2)


@given(st.lists(st.integers(1, 3), min_size=4, max_size=5), st.integers(1, 4), st.integers(0, 2))
def test_success_of_a_person_who_is_several_candidates_by_all_orders(weight, k, code):
    n = len(weight)
    person = np.arange(n) % 3
    belief = Posterior.from_dense(np.array([weight]) / sum(weight))
    truth = Truth([int(np.flatnonzero(person == code)[0])], person=person)
    orders = [o for o in permutations(range(n)) if all(weight[a] >= weight[b] for a, b in pairwise(o))]
    first = [next(place for place, c in enumerate(order) if person[c] == code) for order in orders]
    assert realized_success_at(k).per_target(belief, truth)[0] == pytest.approx(np.mean([place < k for place in first]))
    assert rank.per_target(belief, truth)[0] == pytest.approx(np.mean(first) + 1)


def test_over_runs_is_the_mean_of_the_runs():
    person = np.arange(4)
    truth = Truth([0, 1, 2, 3])
    runs = [RunValues.of(recall, naming(mapping), truth, person) for mapping in ([0, 1, 2, -1], [0, -1, -1, -1])]
    row = average_runs(recall, runs, release="r", adversary="a")
    assert (row.posterior, row.n, row.n_observations, row.worst) == (0.5, 4, 4, 1.0)
    assert coverage.per_target(naming([0, -1])).tolist() == [1, 0]
