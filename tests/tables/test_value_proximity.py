"""Proximity of numbers within classes, against every guess that could be best."""

import numpy as np
import pytest

import unmask
from unmask.tables import Table
from unmask.tables.criteria import value_proximity


def _best_by_hand(numbers):
    """The most numbers that one guess is within 10 % of: the best is at an end of what some number allows."""
    guesses = [part * x for x in numbers for part in (0.9, 1.0, 1.1)]
    return max(sum(abs(g - x) <= abs(x) / 10 + 1e-9 * abs(x) for x in numbers) for g in guesses)


@pytest.mark.parametrize("seed", range(200))
def test_the_best_guess_of_each_class_is_the_one_found_by_hand(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 40))
    numbers = np.round(rng.choice([1, -1, 0], n, p=[0.7, 0.2, 0.1]) * rng.lognormal(2, rng.uniform(0.05, 1), n), 2)
    numbers[:10] = np.arange(1, 11)  # enough different ones
    box = rng.integers(0, 4, n)
    table = Table.read({"q": box.astype(str), "x": numbers}, quasi_identifiers="q", sensitive="x")

    shares = value_proximity(table.classes, table.sensitive[0])

    largest = {group: _best_by_hand(numbers[box == group]) for group in np.unique(box)}
    assert shares.average == pytest.approx(sum(largest.values()) / n)
    assert shares.largest == pytest.approx(max(count / (box == group).sum() for group, count in largest.items()))
    assert shares.prior == pytest.approx(_best_by_hand(numbers) / n)


def test_cells_that_are_no_single_number_are_never_near_and_marks_are_not_asked_about():
    cells = [*map(str, range(10, 20)), "[10, 20]", ""]
    table = Table.read({"q": list("a" * 12), "x": cells}, quasi_identifiers="q", sensitive="x")
    marks = Table.read({"q": list("aab"), "x": [1, 2, 5]}, quasi_identifiers="q", sensitive="x")
    words = Table.read(
        {"q": list("a" * 26), "x": [chr(97 + index) * 3 for index in range(26)]}, quasi_identifiers="q", sensitive="x"
    )

    assert value_proximity(table.classes, table.sensitive[0]).average == _best_by_hand(list(range(10, 20))) / 12
    assert value_proximity(marks.classes, marks.sensitive[0]) is None
    assert value_proximity(words.classes, words.sensitive[0]) is None


def _paid(spread):
    """Ten classes of twelve salaries each, all different, that differ by so much inside a class."""
    rng = np.random.default_rng(1)
    box = np.repeat(np.arange(10), 12)
    pay = (20_000 * 1.3**box).round() + rng.permutation(12 * 10) * spread
    return unmask.read_table({"age": box.astype(str), "pay": pay}, quasi_identifiers="age", sensitive="pay")


def test_a_release_that_tells_salaries_nearly_is_not_called_safe():
    result = unmask.audit(_paid(spread=1), policy="near_max <= 0.5")

    success = next(row for row in result.rows if (row.target, row.measure) == ("pay", "success_probability"))
    assert success.posterior < 0.1  # exactly, nearly nobody
    assert result.criteria["release"]["near_average"] == 1
    assert result.verdicts[0].state == "not acceptable"
    assert "tells their pay within 10\N{NO-BREAK SPACE}% for 100\N{NO-BREAK SPACE}% of people" in result.to_html()


def test_of_several_numbers_the_most_exposed_one_is_reported():
    rng = np.random.default_rng(0)
    cells = {"age": list("ab" * 30), "pay": rng.uniform(1, 1e6, 60), "rent": 900 + np.arange(60.0)}
    table = unmask.read_table(cells, quasi_identifiers="age", sensitive=["pay", "rent"])
    criteria = unmask.audit(table).criteria["release"]
    assert (criteria["near_of"], criteria["near_average"], criteria["near_max"]) == ("rent", 1, 1)
