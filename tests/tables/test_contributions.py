"""Shapley values of quasi-identifiers against their definition, order by order."""

from importlib import import_module
from itertools import permutations

import numpy as np
import pytest

from unmask.tables import Table
from unmask.tables.criteria import contributions


def random_table(seed, n=60):
    rng = np.random.default_rng(seed)
    columns = {
        "a": rng.integers(0, 4, n).astype(str),
        "b": rng.integers(0, 3, n).astype(str),
        "c": rng.integers(0, 5, n).astype(str),
        "d": rng.integers(0, 2, n).astype(str),
        "job": rng.choice(["x", "y", "z"], n, p=[0.5, 0.3, 0.2]),
    }
    return Table.read(columns, quasi_identifiers=("a", "b", "c", "d"), sensitive="job"), columns


def success(columns, knowledge, target, n=60):
    """Compute the success by its definition, with dictionaries."""
    classes = {}
    for i in range(n):
        classes.setdefault(tuple(columns[name][i] for name in knowledge), []).append(columns["job"][i])
    if target == "identity":
        return len(classes) / n
    return sum(max(values.count(value) for value in values) for values in classes.values()) / n


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("target", ["identity", "job"])
def test_the_mean_over_all_orders(seed, target):
    table, columns = random_table(seed)
    names = ("a", "b", "c", "d")
    expected = dict.fromkeys(names, 0.0)
    for order in permutations(names):
        for i, name in enumerate(order):
            expected[name] += (success(columns, order[: i + 1], target) - success(columns, order[:i], target)) / 24
    by_column = {
        contribution.column: contribution for contribution in contributions(table) if contribution.target == target
    }
    for name in names:
        other_names = tuple(other_name for other_name in names if other_name != name)
        assert by_column[name].shapley == pytest.approx(expected[name], abs=1e-12)
        assert by_column[name].alone == pytest.approx(success(columns, (name,), target) - success(columns, (), target))
        assert by_column[name].last == pytest.approx(
            success(columns, names, target) - success(columns, other_names, target)
        )


def test_identity_alone_is_the_same_without_a_secret():
    table, columns = random_table(5)
    bare = Table.read(columns, quasi_identifiers=("a", "b", "c", "d"))
    by_column = {contribution.column: contribution for contribution in contributions(bare)}
    assert by_column == {
        contribution.column: contribution for contribution in contributions(table) if contribution.target == "identity"
    }


@pytest.mark.parametrize(("limit", "value"), [("KEY_LIMIT", 1), ("MAX_SHARE_LEFT", 0.0), ("MAX_SHARE_LEFT", 1.0)])
def test_numbering_and_leaving_out_classes_on_the_way_change_nothing(monkeypatch, limit, value):
    table, _ = random_table(6)
    expected = contributions(table)
    monkeypatch.setattr(import_module("unmask.tables.criteria.shapley_values"), limit, value)
    assert contributions(table) == expected


def test_they_sum_to_the_whole_gain_and_fall():
    table, columns = random_table(9)
    for target in ("identity", "job"):
        values = [contribution.shapley for contribution in contributions(table) if contribution.target == target]
        gain = success(columns, ("a", "b", "c", "d"), target) - success(columns, (), target)
        assert sum(values) == pytest.approx(gain)
        assert values == sorted(values, reverse=True)


def test_a_column_that_says_nothing_gives_nothing():
    table = Table.read({"a": ["x", "y"] * 9, "same": ["k"] * 18}, quasi_identifiers=("a", "same"))
    (nothing,) = [contribution for contribution in contributions(table) if contribution.column == "same"]
    assert (nothing.shapley, nothing.alone, nothing.last) == (0, 0, 0)


def test_copies_share_alike():
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 6, 40).astype(str)
    table = Table.read({"a": cells, "b": cells}, quasi_identifiers=("a", "b"))
    first, two = contributions(table)
    assert first.shapley == two.shapley
    assert (first.last, two.last) == (0, 0)


def wide_table(n=300, d=11):
    rng = np.random.default_rng(7)
    columns = {f"c{i}": rng.integers(0, 2 + i % 3, n).astype(str) for i in range(d)}
    columns["job"] = rng.choice(["x", "y", "z"], n, p=[0.5, 0.3, 0.2])
    return Table.read(columns, quasi_identifiers=tuple(columns)[:d], sensitive="job")


def test_of_many_columns_the_error_that_is_stated_holds_the_exact_value(monkeypatch):
    table = wide_table()
    estimates = {(contribution.target, contribution.column): contribution for contribution in contributions(table)}
    monkeypatch.setattr(import_module("unmask.tables.criteria.shapley_values"), "MAX_EXACT_COLUMNS", 11)
    exact = {(contribution.target, contribution.column): contribution for contribution in contributions(table)}
    assert all(contribution.error == 0 for contribution in exact.values())
    assert all(contribution.error > 0 for contribution in estimates.values())
    inside = [abs(estimates[key].shapley - exact[key].shapley) <= estimates[key].error for key in exact]
    assert np.mean(inside) > 0.85  # 22 intervals of 95 %
    for key, contribution in exact.items():
        assert (estimates[key].alone, estimates[key].last) == (
            pytest.approx(contribution.alone),
            pytest.approx(contribution.last),
        )
    for target in ("identity", "job"):
        pairs = [[estimates[key].shapley, exact[key].shapley] for key in exact if key[0] == target]
        assert np.sum(pairs, axis=0)[0] == pytest.approx(np.sum(pairs, axis=0)[1])


def test_thirty_columns_are_ranked():
    contributions_found = contributions(wide_table(100, 30))
    assert len(contributions_found) == 60
    assert contributions_found == contributions(wide_table(100, 30))
