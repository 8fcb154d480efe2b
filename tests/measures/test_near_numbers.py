"""Success of guesses of a number within a share of the truth, compared with every possible guess."""

import dataclasses

import numpy as np
import pytest

from tests.commands import invoke
from tests.envelopes import parsed
from unmask import Posterior, Truth
from unmask.core.errors import UnmaskError
from unmask.measures import realized_success, realized_success_within, success_probability, success_within
from unmask.measures.measure import UndefinedError


def draw(rng, n_rows=6):
    """Return a belief about numbers of both signs, and the numbers."""
    numbers = np.unique(np.concatenate([[0.0], rng.integers(-60, 120, 12)]))
    p = rng.dirichlet(np.full(len(numbers), 0.5), n_rows)
    belief = Posterior.from_dense(np.where(p < 0.02, 0, p) / np.where(p < 0.02, 0, p).sum(axis=1, keepdims=True))
    return dataclasses.replace(belief, candidate_label=tuple(f"{x:g}" for x in numbers)), numbers


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_the_best_guess_is_the_best_of_all_guesses(seed, share):
    belief, numbers = draw(np.random.default_rng(seed))
    guesses = np.concatenate([numbers * (1 + side * share) for side in (-1, 0, 1)])
    is_near = np.abs(guesses[:, None] - numbers) <= share * np.abs(numbers) + 1e-9
    expected = (belief.to_dense() @ is_near.T).max(axis=1)
    assert success_within(share).per_target(belief) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_realized_success_of_draws_from_the_belief_is_the_announced_one(seed):
    rng = np.random.default_rng(seed)
    belief, numbers = draw(rng, n_rows=2)
    p = belief.to_dense()
    belief = Posterior.from_dense(np.repeat(p, 2000, axis=0))
    belief = dataclasses.replace(belief, candidate_label=tuple(f"{x:g}" for x in numbers))
    truth = Truth(np.concatenate([rng.choice(len(numbers), 2000, p=row / row.sum()) for row in p]))
    announced = success_within(0.2)(belief)
    error = 4 * np.sqrt(announced * (1 - announced) / len(truth)) + 1e-9
    assert realized_success_within(0.2)(belief, truth) == pytest.approx(announced, abs=error)


def test_no_tolerance_is_an_exact_guess():
    belief, numbers = draw(np.random.default_rng(0))
    assert success_within(0)(belief) == pytest.approx(success_probability(belief))
    truth = Truth(np.arange(belief.n_targets))
    assert realized_success_within(0)(belief, truth) == pytest.approx(realized_success(belief, truth))
    assert len(numbers) > belief.n_targets


def test_texts_and_shares_of_one_are_refused():
    belief = dataclasses.replace(Posterior.from_dense(np.array([[0.5, 0.5]])), candidate_label=("flu", "[1, 2]"))
    with pytest.raises(UndefinedError, match="the candidates are not numbers"):
        success_within(0.1)(belief)
    with pytest.raises(UnmaskError, match="share is 1, expected a number from 0 to below 1"):
        success_within(1)


def test_an_audit_has_the_measure_on_request_and_compares_it_with_the_control_group(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in ("people", "others"):
        age = rng.integers(20, 26, 120)
        lines = [f"{a},{100 * a + b}" for a, b in zip(age, rng.integers(0, 400, 120), strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["age,pay", *lines]) + "\n", encoding="utf-8")
    roles = "-q", "age", "-s", "pay"
    invoke("protect", "people.csv", *roles, "--k", "3", "-o", "r.csv", "--origin", "o.csv")
    known = "--original", "people.csv", "--origin", "o.csv", "--control", "others.csv"
    measures = "--measure", "success_within:0.1", "--measure", "realized_success_within:0.1"
    rows = parsed(invoke("audit", "r.csv", *roles, *known, *measures, "--json").stdout)["results"]
    (row,) = (
        row
        for row in rows
        if (row["release"], row["adversary"], row["measure"]) == ("r", "prosecutor", "realized_success_within_0.1")
    )
    (exact,) = (
        row
        for row in rows
        if (row["release"], row["adversary"], row["target"], row["measure"])
        == ("r", "prosecutor", "pay", "realized_success")
    )
    assert row["target"] == "pay"
    assert row["posterior"] > 0.5 > exact["posterior"]
    assert row["excess"] == pytest.approx(row["posterior"] - row["control"])
