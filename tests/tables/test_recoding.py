"""Cells that cover boxes, computed together, equal those computed box by box."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from unmask.tables.cells import read_levels
from unmask.tables.column import Column
from unmask.tables.dates import DAYS, PERIODS, _months, _name
from unmask.tables.matching import compatible, covered
from unmask.tables.notation import EVERYTHING, MISSING, format_prefix
from unmask.tables.protections.recoding import merge_cells, write_cells
from unmask.tables.utility.sets import Members, compare_columns, singleton_levels


def parse_levels(texts, **meaning):
    """Return the levels of texts, in the order of the texts."""
    levels, codes = read_levels(texts, **meaning)
    return levels.select(codes)


CODES = ["48163", "48159", "481**", "4****", "E11", "E11.9", "{48163, 90210}", "90210", "90***", "*", None]


def literal(column: Column, inside: list[int]) -> str:
    """The text for the levels in one box."""
    levels = column.levels
    if len(inside) == 1:
        return levels.labels[inside[0]]
    if {levels.labels[index] for index in inside} & {MISSING, EVERYTHING}:
        return EVERYTHING
    labels = [levels.masks[index] for index in inside if index in levels.masks]
    labels += [levels.domain[place] for index in inside if index not in levels.masks for place in levels.covered(index)]
    return format_prefix(labels, width=levels.longest)


@pytest.mark.parametrize("seed", range(20))
def test_codes_are_covered_as_box_by_box(seed: int):
    rng = np.random.default_rng(seed)
    texts = [*rng.permutation(np.array(CODES, dtype=object))[: rng.integers(2, len(CODES))], "48163"]
    levels, _ = read_levels(texts, as_type="code", column="zip")
    box, codes = boxes(rng, len(levels))
    column = Column("zip", codes, levels)
    merged = merge_cells(column, box, codes)
    for index in range(int(box.max()) + 1):
        label = merged.levels.labels[merged.codes[index]]
        assert label == literal(column, sorted(set(codes[box == index].tolist())))


@given(st.lists(st.text('ab,{"}|~* ', min_size=1, max_size=3).filter(str.strip), min_size=1, max_size=9), st.data())
def test_sets_of_texts_read_back_as_the_same_cells(texts, data):
    levels, codes = read_levels([text.strip() for text in texts], as_type="text", column="name")
    box = data.draw(st.permutations([*range(len(codes) // 2 + 1), *range((len(codes) - 1) // 2)]))
    merged = merge_cells(Column("name", codes, levels), np.array(box, dtype=np.int32), codes)
    again = write_cells(merged, merged.levels.labels)
    assert again.levels.labels == merged.levels.labels
    assert again.levels.domain == merged.levels.domain
    assert again.codes.tolist() == merged.codes.tolist()
    assert [again.levels.covered(code).tolist() for code in range(len(again.levels))] == [
        merged.levels.covered(code).tolist() for code in range(len(merged.levels))
    ]


def boxes(rng: np.random.Generator, n_levels: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Rows in up to 12 boxes, none of them empty, and the level of each row."""
    n = int(rng.integers(1, 12))
    box = np.concatenate([np.arange(n), rng.integers(n, size=2 * n)]).astype(np.int32)
    return box, rng.integers(n_levels, size=box.size).astype(np.int32)


def test_dates_are_covered_by_the_finest_period_that_holds_all():
    rng = np.random.default_rng(0)
    for low, length in zip(rng.integers(-30_000, 30_000, 400), rng.geometric(0.003, 400), strict=True):
        ends = float(low), float(low + length)
        unit = next((unit for unit in PERIODS if DAYS.period(ends[0], unit) == DAYS.period(ends[1], unit)), None)
        wide = "month" if _months(int(ends[0]), int(ends[1])) <= 24 else "year"
        rounded = DAYS.write(DAYS.period(ends[0], wide)[0], DAYS.period(ends[1], wide)[1])
        assert DAYS.cover(*ends) == (_name(int(low), unit) if unit else rounded)


def test_a_level_covers_exactly_its_compatible_values():
    levels = parse_levels(CODES, as_type="code", column="zip")
    values = ("10000", "48163", "48169", "90210", "E11", "E11.9")
    coverage = covered(values, levels).to_scipy().toarray()
    assert np.array_equal(coverage, compatible(singleton_levels(values), levels, missing="own").T)
    numbers = parse_levels(["1", "[2, 4]", "*", None], as_type="number", column="n")
    values = ("1", "2", "3", "9", "x")
    coverage = covered(values, numbers).to_scipy().toarray()
    assert np.array_equal(coverage, compatible(singleton_levels(values), numbers, missing="own").T)


def test_common_atoms_are_those_of_both_sets():
    original = parse_levels(["a", "b", "{a, b}", "c", "{a, c, d}", "*", None], as_type="text", column="c")
    released = parse_levels(["{a, b}", "a", "{b, c}", "*", "{c, x}", None], as_type="text", column="c")
    sides = compare_columns(original, released, np.ones(len(original), dtype=np.int64))
    pairs = np.array([(index, to) for index in range(len(original)) for to in range(len(released))]).T
    dense = [dense_of(sets) for sets in (sides.source, sides.target)]
    literal = (dense[0][pairs[0]] & dense[1][pairs[1]]).sum(axis=1)
    assert np.array_equal(sides.count_common(*pairs), literal)
    assert np.array_equal(sides.are_disjoint(*pairs), literal == 0)


def dense_of(sets: Members) -> NDArray[np.bool_]:
    """(levels, atoms) of what each level covers."""
    return np.asarray(sets.atoms.to_scipy().toarray())
