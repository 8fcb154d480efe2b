"""A column with very many distinct values is refused before its released sets exhaust the memory."""

import tracemalloc

import numpy as np
import pytest

from unmask.core.errors import UnmaskError
from unmask.tables import Mondrian, Table
from unmask.tables.protections.recoding import axis


def table(n: int, rows: int, **told) -> Table:
    words = [f"w{at} {at % 7}" for at in range(n)]
    cells = {"age": np.arange(rows) % 90, "word": [words[at % n] for at in range(rows)]}
    return Table.read(cells, quasi_identifiers=("age", "word"), **told)


def test_too_many_distinct_values_are_refused_by_name_with_the_next_step() -> None:
    with pytest.raises(UnmaskError, match=r"column 'word' has 110,000 distinct values.*--hierarchy word=FILE"):
        Mondrian(k=11)(table(110_000, 110_000))


def test_a_text_column_of_many_values_takes_memory_by_its_values_alone() -> None:
    column = table(20_000, 20_000).column("word")
    tracemalloc.start()
    axis(column, column.codes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000 * 1_000  # a square would be 400 MB
