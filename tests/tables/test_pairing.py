"""Observations and classes are separated along cuts, with the pairs of a comparison of all with all."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.tables import Mondrian, Table, matching
from unmask.tables.attacks import ClassAttack, comparisons, pairing
from unmask.tables.attacks.relation import relation_of
from unmask.tables.background import Background

NUMBERS = ["1", "2", "3", "[1, 2]", "[2, 4]", "[4, 6]", "[5, 9]", "[8, 9]", "*", ""]
TEXTS = ["u", "v", "w", "{u, v}", "{u, w}", "{w, x}", "{y, z}", "*", ""]
CODES = ["100", "101", "200", "1**", "20*", ""]
TYPES = {"a": "number", "b": "text", "c": "code"}


@st.composite
def tables(draw, names, missing):
    cells = {"a": NUMBERS, "b": TEXTS, "c": CODES}
    cell_strategies = [
        st.sampled_from(draw(st.lists(st.sampled_from(cells[name]), min_size=1, max_size=6))) for name in names
    ]
    rows = draw(st.lists(st.tuples(*cell_strategies), min_size=1, max_size=16))
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return Table.read(columns, quasi_identifiers=names, types={n: TYPES[n] for n in names}, missing=missing)


def by_hand(pairs, fits):
    """All with all, cell by cell."""
    fits = [fit.rows(np.arange(fit.shape[0])) if isinstance(fit, comparisons.Comparison) else fit for fit in fits]
    return [
        (i, j)
        for i, observed_row in enumerate(pairs.observed)
        for j, class_row in enumerate(pairs.classes)
        if all(fit[a][b] for fit, a, b in zip(fits, observed_row, class_row, strict=True))
    ]


VALUES = {"[1, 2]": {1, 2}, "[2, 4]": {2, 3, 4}, "[4, 6]": {4, 5, 6}, "[5, 9]": {5, 6, 7, 8, 9}, "[8, 9]": {8, 9}}
VALUES |= {str(index): {index} for index in range(1, 4)} | {
    text: set(text.strip("{}").split(", ")) for text in TEXTS[:-2]
}
VALUES |= {"100": {"100"}, "101": {"101"}, "200": {"200"}, "1**": {"1", "10", "100", "101"}, "20*": {"20", "200"}}


def holds(cells, missing):
    """Return the mask of released cells that hold every value that the person's cell may have."""

    def meets(known_cell, released):
        if "*" in (known_cell, released):
            return True
        if "" in (known_cell, released):
            return known_cell == released or missing == "wildcard"
        return VALUES[known_cell] <= VALUES[released]

    return [[meets(known_cell, released) for released in cells] for known_cell in cells]


@given(st.data(), st.sampled_from(["own", "wildcard", "excluded"]), st.sampled_from([0, 4, 1 << 14]), st.booleans())
def test_the_pairs_are_those_of_all_with_all(data, missing, enough, on_bits):
    names = data.draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True))
    release, other_table = data.draw(tables(names, missing)), data.draw(tables(names, missing))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairing, "MIN_PAIRS_TO_SPLIT", enough)
        patch.setattr(pairing, "BIT_SPEEDUP", 1 << 20 if on_bits else 0)
        patch.setattr(comparisons, "MIN_WIDE_PAIRS", data.draw(st.sampled_from([0, 1 << 22])))
        patch.setattr(comparisons, "MAX_SPARSE_SHARE", np.inf)
        pairs, mine = pairing.pair(other_table, release), pairing.pair(release, release)
        actual = pairing.find_compatible_pairs(pairs, comparisons.compare_levels(pairs.columns, missing=missing))
        has_relation = relation_of(release) is not None
    expected = by_hand(pairs, comparisons.compare_levels(pairs.columns, missing=missing))
    assert list(zip(*map(np.ndarray.tolist, actual), strict=True)) == expected
    meet = by_hand(mine, [holds(cell.levels.labels, missing) for cell, _ in mine.columns])
    assert has_relation == any(i != j for i, j in meet)


@settings(max_examples=40)  # three columns of two tables in each
@given(st.data(), st.sampled_from(["own", "wildcard", "excluded"]))
def test_forms_of_wide_columns_agree_with_the_matrix(data, missing):
    (known, released) = (data.draw(tables([*"abc"], missing)) for _ in range(2))
    columns = [(known.column(name).levels, released.column(name).levels) for name in "abc"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparisons, "MIN_WIDE_PAIRS", 0)
        patch.setattr(comparisons, "MAX_SPARSE_SHARE", np.inf)
        forms = [
            (comparisons.compare_levels([pair], missing=missing)[0], matching.compatible)
            for pair in zip(known.quasi_identifiers, released.quasi_identifiers, strict=True)
        ]
        listed = [comparisons.find_compatible_levels(*pair, missing=missing) for pair in columns]
        forms += [(comparisons.compare_contained(*pair, missing=missing), matching.contained) for pair in columns]
    for pairs, pair in zip(listed, columns, strict=True):
        assert np.array_equal(np.stack(pairs), np.nonzero(matching.compatible(*pair, missing=missing)))
    for (form, matrix_of), (known_levels, released_levels) in zip(forms, 2 * columns, strict=True):
        assert not isinstance(form, comparisons.LevelMatrix)
        matrix = matrix_of(known_levels, released_levels, missing=missing)
        assert np.array_equal(form.rows(np.arange(len(known_levels))), matrix)
        is_stated, anything = ~known_levels.open(missing), released_levels.open(missing)
        assert np.array_equal(form.n_compatible(is_stated)[~anything], matrix[is_stated][:, ~anything].sum(axis=0))
        weights = np.where(anything, 0.0, 1 + np.arange(len(anything)) / 7)
        np.testing.assert_allclose(form.sum_compatible(weights)[is_stated], (matrix @ weights)[is_stated], rtol=1e-12)


def test_boxes_that_were_cut_out_of_one_another_come_apart():
    rng = np.random.default_rng(0)
    columns = {"a": rng.integers(0, 50, 3000), "b": rng.choice(list("uvwxyz"), 3000), "c": rng.normal(size=3000)}
    release, _ = Mondrian(k=2)(Table.read(columns, quasi_identifiers=list(columns)), rng=rng)
    pairs = pairing.pair(release, release)
    n = len(pairs.classes)
    assert n > 500
    fits = comparisons.compare_levels(pairs.columns, missing="own")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairing, "MIN_PAIRS_TO_SPLIT", 0)
        rows, groups = pairing.group_connected_rows(pairs.observed, pairs.classes, fits)
    assert (rows == groups).all()
    assert len(np.unique(rows)) == n


def test_rows_that_fit_no_class_are_not_paired_and_inseparable_rows_are_compared():
    release = Table.read({"a": ["[1, 5]", "[4, 9]", "[8, 12]", "20"]}, quasi_identifiers="a")
    people = Table.read({"a": [4, 10, 15]}, quasi_identifiers="a")
    pairs = pairing.pair(people, release)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairing, "MIN_PAIRS_TO_SPLIT", 0)
        pairs_listed = pairing.find_compatible_pairs(pairs, comparisons.compare_levels(pairs.columns, missing="own"))
    assert list(zip(*map(np.ndarray.tolist, pairs_listed), strict=True)) == [(0, 0), (0, 1), (1, 2)]


@pytest.mark.parametrize("side", ["released", "observed"])
def test_hidden_cells_of_wide_columns_join_no_other_person(monkeypatch, side):
    # one hidden cell had everybody asked about everybody: insiders of 60,000 people took 33 CPU s in place of 3
    rng, n = np.random.default_rng(0), 400
    cells_stated = {name: rng.integers(0, 60, n).astype(str) for name in ("a", "b")} | {"c": rng.choice(list("xyz"), n)}
    hidden = {name: np.where(rng.random(n) < 0.03, "*", column) for name, column in cells_stated.items()}
    types = dict.fromkeys("ab", "number") | {"c": "text"}
    people, release = (
        Table.read(cells, quasi_identifiers=list("abc"), types=types) for cells in (cells_stated, hidden)
    )
    pairs = pairing.pair(*((people, release) if side == "released" else (release, people)))
    tables = comparisons.compare_levels(pairs.columns, missing="own")
    monkeypatch.setattr(comparisons, "MIN_WIDE_PAIRS", 0)
    monkeypatch.setattr(pairing, "MIN_PAIRS_TO_SPLIT", 0)
    monkeypatch.setattr(pairing, "CHUNK", 50)
    fits = comparisons.compare_levels(pairs.columns, missing="own")
    assert all(isinstance(fit, comparisons.EqualValues) for fit in fits)
    pairs_listed = list(zip(*map(np.ndarray.tolist, pairing.find_compatible_pairs(pairs, fits)), strict=True))
    assert pairs_listed == by_hand(pairs, tables)
    n_compared = pairing._list_candidate_ranges(pairs.observed, pairs.classes, fits).size.sum()
    assert len(pairs_listed) == n_compared < len(pairs.observed) * len(pairs.classes) / 50


def test_hidden_cells_of_wide_columns_without_people(monkeypatch):
    monkeypatch.setattr(comparisons, "MIN_WIDE_PAIRS", 0)
    release = Table.read({"a": ["*", "*"]}, quasi_identifiers="a", types={"a": "number"})
    people = Table.read({"a": ["1", "2"]}, quasi_identifiers="a", types={"a": "number"})
    pairs = pairing.pair(people, release)
    fits = comparisons.compare_levels(pairs.columns, missing="own")
    assert isinstance(fits[0], comparisons.EqualValues)
    assert [part.tolist() for part in pairing.find_compatible_pairs(pairs, fits)] == [[0, 1], [0, 0]]
    nobody = replace(pairs, classes=pairs.classes[:0])
    (pairs_found,) = pairing.iterate_compatible_pairs(nobody, fits)
    assert [len(part) for part in pairs_found] == [0, 0]


def test_people_who_fit_one_class_alone_are_one_observation():
    release = Table.read({"a": ["[1, 5]", "[1, 5]", "[4, 9]", "20"]}, quasi_identifiers="a")
    people = Table.read({"a": [1, 2, 4, 5, 8, 20, 30, 31]}, quasi_identifiers="a")
    belief = ClassAttack()(release, Background(people))
    assert belief.n_observations == 7
    assert [len(belief.candidates(person)) for person in range(8)] == [2, 2, 3, 3, 1, 1, 0, 0]
    is_same = belief.observation[:, None] == belief.observation
    assert np.argwhere(np.triu(is_same, 1)).tolist() == [[0, 1]]  # 30 and 31 are nobody of it, and not one person
