"""Protecting a column with very many distinct values takes memory in proportion to the rows."""

import tracemalloc

import numpy as np
import pytest

from unmask.tables import Mondrian, Table
from unmask.tables.protections.recoding import column_axis


@pytest.fixture
def words() -> Table:
    cells = {"age": np.arange(20_000) % 90, "word": [f"w{row} {row % 7}" for row in range(20_000)]}
    return Table.read(cells, quasi_identifiers=("age", "word"))


def test_a_text_column_with_a_value_for_each_row_is_generalized_in_memory_of_its_rows(words: Table) -> None:
    tracemalloc.start()
    release, _ = Mondrian(k=2)(words, rng=np.random.default_rng(1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert release.classes.sizes.min() >= 2
    assert len(release.classes.sizes) > 5_000
    assert peak < 20_000 * 5_000  # a byte for each value and each class would be 200 MB


def test_a_text_column_of_many_values_takes_memory_by_its_values_alone(words: Table) -> None:
    column = words.column("word")
    tracemalloc.start()
    column_axis(column)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000 * 1_000  # a square would be 400 MB
