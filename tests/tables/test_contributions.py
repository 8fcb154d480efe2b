"""Shapley values of quasi-identifiers against their definition, order by order."""

from itertools import permutations

import numpy as np
import pytest

from unmask.errors import UnmaskError
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


def success(columns, known, target, n=60):
    """What the definition says, with dictionaries."""
    classes = {}
    for i in range(n):
        classes.setdefault(tuple(columns[name][i] for name in known), []).append(columns["job"][i])
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
    found = {one.column: one for one in contributions(table) if one.target == target}
    for name in names:
        others = tuple(other for other in names if other != name)
        assert found[name].shapley == pytest.approx(expected[name], abs=1e-12)
        assert found[name].alone == pytest.approx(success(columns, (name,), target) - success(columns, (), target))
        assert found[name].last == pytest.approx(success(columns, names, target) - success(columns, others, target))


def test_they_sum_to_the_whole_gain_and_fall():
    table, columns = random_table(9)
    for target in ("identity", "job"):
        values = [one.shapley for one in contributions(table) if one.target == target]
        gain = success(columns, ("a", "b", "c", "d"), target) - success(columns, (), target)
        assert sum(values) == pytest.approx(gain)
        assert values == sorted(values, reverse=True)


def test_a_column_that_says_nothing_gives_nothing():
    table = Table.read({"a": ["x", "y"] * 9, "same": ["k"] * 18}, quasi_identifiers=("a", "same"))
    (nothing,) = [one for one in contributions(table) if one.column == "same"]
    assert (nothing.shapley, nothing.alone, nothing.last) == (0, 0, 0)


def test_copies_share_alike():
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 6, 40).astype(str)
    table = Table.read({"a": cells, "b": cells}, quasi_identifiers=("a", "b"))
    one, two = contributions(table)
    assert one.shapley == two.shapley
    assert (one.last, two.last) == (0, 0)


def test_too_many_columns_are_refused():
    columns = {f"c{i}": ["x", "y"] for i in range(17)}
    with pytest.raises(UnmaskError, match="at most 16"):
        contributions(Table.read(columns, quasi_identifiers=tuple(columns)))
