"""Exposure of columns, against literal counts on tables small enough to count by hand."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import unmask
from unmask.data.column_names import find_role
from unmask.tables import Mondrian, Table
from unmask.tables.reinterpret import unify_spelling
from unmask.tables.risk import column_facts, dependencies, printed_values, restored_cells
from unmask.tables.risk.dependence import guess_from_other_rows

rng = np.random.default_rng(7)


def table(columns, *, q=None, **roles):
    return Table.read(columns, quasi_identifiers=tuple(columns) if q is None else q, **roles)


def commonest(other_values, own_value):
    """Chance that the commonest of the other values is the own one; equally common ones share it."""
    counts = Counter(other_values)
    commonest_values = [value for value, n in counts.items() if n == max(counts.values())]
    return (own_value in commonest_values) / len(commonest_values)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12))
def test_a_cell_is_guessed_from_the_other_rows_alone(rows):
    counts = np.zeros((3, 3), dtype=np.int64)
    for group, value in rows:
        counts[group, value] += 1
    guesses = np.full((3, 3), np.inf)
    sparse = csr_array(counts)
    sparse.sort_indices()
    owner = np.repeat(np.arange(3), np.diff(sparse.indptr))
    guesses[owner, sparse.indices] = guess_from_other_rows(sparse)
    for index, (group, value) in enumerate(rows):
        others_of_group = [
            other_value for i, (other_group, other_value) in enumerate(rows) if other_group == group and i != index
        ]
        if others_of_group:
            assert guesses[group, value] == pytest.approx(commonest(others_of_group, value))
        else:
            assert np.isnan(guesses[group, value])


# --- columns ----------------------------------------------------------------------------------------------------------


def test_people_singled_out_by_a_column_alone_and_with_the_others():
    people = table({"age": [30, 30, 30, 41], "sex": list("ffmm"), "cost": ["1", "2", "2", ""]})
    roles = {"age": "quasi-identifier", "sex": "quasi-identifier"}
    age, sex, cost = column_facts(people.columns, roles=roles)
    assert (age.distinct, age.missing, age.alone, age.together) == (2, 0, 1, 2)
    assert (sex.alone, sex.together) == (0, 2)
    assert (cost.distinct, cost.missing, cost.alone, cost.together) == (2, 1, 1, 4)
    assert column_facts(people.columns, roles={})[0].together is None


def test_columns_that_give_others_away():
    n = 300
    town = rng.integers(0, 9, n)
    columns = {
        "zip": town * 10 + rng.integers(0, 3, n),  # determines the town, and is not determined
        "town": town,
        "mayor": np.where(rng.random(n) < 0.02, 99, town),  # nearly
        "dice": rng.integers(0, 6, n),
        "number": np.arange(n),  # all distinct: determines everything, and says nothing by it
        "one": [1] * n,
    }
    by_pair = {(dependency.by, dependency.column): dependency for dependency in dependencies(table(columns).columns)}
    assert set(by_pair) == {("zip", "town"), ("zip", "mayor"), ("town", "mayor"), ("mayor", "town")}
    assert by_pair["zip", "town"].exact
    assert not by_pair["town", "mayor"].exact
    assert by_pair["zip", "town"].restored == 1
    assert by_pair["town", "mayor"].restored == pytest.approx((np.array(columns["mayor"]) == town).mean(), abs=0.01)
    assert by_pair["zip", "town"].guessed < 0.2


def test_roles_are_suggested_with_a_reason():
    n = 100
    columns = {
        "patient": [f"P{i}" for i in range(n)],
        "cost": [f"{i}.{i % 7 + 1}" for i in range(n)],
        "birth_date": [f"19{i % 50 + 20}" for i in range(n)],
        "diagnosis": rng.choice(list("abc"), n),
        "ward": rng.choice(list("xy"), n),
        "country": ["US"] * n,
    }
    columns["reserve"] = [""] * n
    columns["course"] = [f"fell at home on the {number}th step" for number in np.arange(n) % 20]
    columns["Bemerkung"] = ["a", "b"] * (n // 2)
    columns["Note"] = ["1", "2", "3", "4"] * (n // 4)
    columns["branch"] = np.repeat(["mining of coal and ore", "growing of fruit and nuts"], n // 2)
    columns["ward_name"] = columns["ward"]
    columns["family_name"] = rng.choice(list("pqr"), n)
    suggestions = {
        column_fact.name: (column_fact.suggestion, column_fact.reason)
        for column_fact in column_facts(table(columns).columns, roles={})
    }
    assert suggestions["patient"] == ("identifier", "differs in every row")
    assert suggestions["cost"] == ("drop", "singles out many rows without any other column")
    assert suggestions["birth_date"][0] == "quasi-identifier"
    assert suggestions["diagnosis"][0] == "sensitive"
    assert suggestions["ward"][0] == "quasi-identifier"
    assert suggestions["country"] == ("keep", "one value for all rows")
    assert suggestions["reserve"] == ("drop", "all cells are empty")
    assert suggestions["course"] == ("drop", "free text may name a person")
    assert suggestions["Bemerkung"][0] == "drop"
    assert suggestions["Note"] == ("quasi-identifier", "an outsider may know it")  # a mark in school
    assert suggestions["branch"] == ("quasi-identifier", "an outsider may know it")  # chosen from a list
    assert suggestions["ward_name"] == ("drop", "equivalent to ward")
    assert suggestions["family_name"] == ("identifier", "its name stands for an identifier")


@pytest.mark.parametrize("letters", [str.lower, str.upper])
@pytest.mark.parametrize("digest", [hashlib.md5, hashlib.sha256])
def test_hashes_are_identifiers_however_often_each_stands(digest, letters):
    names = [f"Anna {i % 60}" for i in range(200)]
    keys = [letters(digest(name.encode()).hexdigest()) for name in names]
    (of_names, of_codes) = column_facts(
        table({"key": keys, "code": [f"{i % 70:016d}" for i in range(200)]}).columns, roles={}
    )
    assert (of_names.suggestion, of_names.reason.split(":")[0]) == ("identifier", "hashes or keys")
    assert "hashes" not in of_codes.reason


def test_a_column_that_determines_a_quasi_identifier_is_better_dropped():
    detail = rng.integers(0, 30, 400)
    people = table({"detail": detail, "education": detail // 5})
    (detail_facts, _) = column_facts(people.columns, roles={"education": "quasi-identifier"})
    assert (detail_facts.suggestion, detail_facts.reason) == ("drop", "determines education")


def test_facts_show_no_cell():
    secret = "Rumpelstiltskin"
    people = table({"who": [secret] * 3 + ["Anna"], "sex": list("ffmm")})
    assert secret not in str([asdict(column_fact) for column_fact in column_facts(people.columns, roles={})])


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Birth-Date", "quasi-identifier"),
        ("zipCode", "quasi-identifier"),
        ("last_name", "identifier"),
        ("x1", None),
        ("Größe (cm)", "quasi-identifier"),
        ("Nebendiagnose 1", "sensitive"),
        ("Geb.-Datum", "quasi-identifier"),
        ("Remarks", "drop"),
    ],
)
def test_names_of_columns_say_what_they_hold(name, role):
    assert find_role(name) == role


# --- restored cells ---------------------------------------------------------------------------------------------------


def census(n=900):
    """Education beside its detail (T2, U3: the detail restores every generalized education), and a die."""
    detail = rng.integers(0, 40, n)
    columns = {
        "age": rng.integers(20, 60, n),
        "education": [f"level {value // 4}" for value in detail],
        "detail": [f"detail {value}" for value in detail],
        "dice": rng.integers(0, 6, n).astype(str),
    }
    return table(columns, q=("age", "education"), keep=("detail", "dice"))


def test_a_kept_column_restores_its_generalized_neighbor():  # T2, U3
    original = census()
    release, origin = Mondrian(k=30)(original)
    (restored,) = restored_cells(original, release, origin)
    changed = sum(
        label.startswith("{")
        for label in np.array(release.column("education").levels.labels)[release.column("education").codes]
    )
    assert (restored.column, restored.by, restored.exact, restored.cells) == ("education", "detail", True, changed)
    assert restored.restored > 0.95  # a detail that no other row of the cell has is guessed without it
    assert restored.guessed < 0.7


def test_restored_cells_are_counted_as_by_hand():
    n = 200
    age = rng.integers(0, 8, n)
    tone = np.where(
        rng.random(n) < 0.3, 50 + np.arange(n), age * 3 + rng.integers(0, 2, n)
    )  # some have one of their own
    original = table({"age": age, "tone": tone}, q="age", keep="tone")
    cells = [f"[{a // 4 * 4}, {a // 4 * 4 + 3}]" for a in age]
    release = table({"age": cells, "tone": tone}, q="age", keep="tone")
    (restored_column,) = restored_cells(original, release, np.arange(n))
    guessed = restored = 0.0
    for i in range(n):
        alike = [j for j in range(n) if j != i and cells[j] == cells[i]]
        same_tone = [j for j in alike if tone[j] == tone[i]]
        guessed += commonest(age[alike].tolist(), age[i]) / n
        restored += commonest(age[same_tone or alike].tolist(), age[i]) / n
    assert (restored_column.guessed, restored_column.restored) == (pytest.approx(guessed), pytest.approx(restored))


def test_cells_that_were_not_generalized_are_not_restored():
    original = census()
    assert restored_cells(original, original, np.arange(original.n_rows)) == ()


# --- membership -------------------------------------------------------------------------------------------------------

DATES = ["1956-03-16", "1961-01-10", "1964-03-06", "1964-03-06", "1970-01-01", "1971-12-31"]


def test_sets_of_exact_values_tell_who_is_inside():  # U4
    original = Table.read({"birth": DATES}, quasi_identifiers="birth")
    assert original.column("birth").type == "date"
    cells = ["{" + ", ".join(sorted(set(DATES[:4]))) + "}"] * 4 + ["{1970-01-01, 1971-12-31}"] * 2
    release = Table.read({"birth": cells}, quasi_identifiers="birth", like=original)
    assert [
        (printed_value.values, printed_value.alone, printed_value.people)
        for printed_value in printed_values(release, original)
    ] == [(5, 4, 6)]
    assert [(printed_value.values, printed_value.alone) for printed_value in printed_values(release)] == [(5, None)]


def test_tight_ends_of_intervals_tell_who_is_inside():  # U4
    original = table({"cost": [3, 17, 17, 28, 40, 40]})
    release = table({"cost": ["[3, 17]", "[3, 17]", "[3, 17]", "[28, 40]", "[28, 40]", "[28, 40]"]})
    (printed,) = printed_values(release, original)
    assert (printed.values, printed.alone) == (4, 2)  # 3 and 28 are one person's


@pytest.mark.parametrize("cells", [["[0, 50)", "[50, 100)"], ["*", "*"], ["<=20", ">60"], ["[0, 49]", "[50, 99]"]])
def test_fixed_bins_print_no_persons_value(cells):
    original = table({"age": [31, 57]})
    (printed,) = printed_values(table({"age": cells}), original)
    assert (printed.values, printed.alone) == (0, 0)


def test_a_value_that_is_released_as_it_is_prints_itself():
    people = table({"sex": list("ffm")})
    assert [(printed_value.values, printed_value.alone) for printed_value in printed_values(people, people)] == [(2, 1)]


def _spelt(*, cents, day):
    """People with a cost and a day that are unique, as two programs write them."""
    costs = [f"{cost / 100:.{cents}f}" if cents else f"{cost / 100:g}" for cost in range(1000, 5000, 50)]
    days = [day.format(m=1 + index // 20, d=1 + index % 20) for index in range(80)]
    cells = {"age": [str(20 + index // 10) for index in range(80)], "cost": costs, "day": days}
    return Table.read(cells, quasi_identifiers="age", keep=["cost", "day"])


def test_the_adversary_who_knows_a_kept_cell_finds_it_however_a_release_spells_it():
    original = _spelt(cents=2, day="{d:02}.{m:02}.2024")
    release = _spelt(cents=0, day="2024-{m:02}-{d:02}")

    alike, spelt = (
        unmask.audit(release_form, original=original, origin=np.arange(80))
        for release_form in (original.take(slice(None)), release)
    )
    for result in (alike, spelt):
        by_measure = {
            row.measure: row.posterior
            for row in result.rows
            if (row.release, row.adversary) == ("release", "acquaintance")
        }
        assert (by_measure["success_probability"], by_measure["realized_success"]) == (1, 1)


def test_kept_cells_that_can_be_read_in_two_ways_or_are_no_numbers_stay_as_they_are():
    texts = (["03/04/2024", "05/06/2024"], ["2024-04-03", "2024-06-05"]), (["b 1", "b 2"], ["b1", "b2"])
    for first_text, second_text in texts:
        first, second = (
            Table.read({"q": ["a", "b"], "x": cells}, quasi_identifiers="q", keep="x")
            for cells in (first_text, second_text)
        )
        read, (respelt,) = unify_spelling(first, [second])
        assert (read["x"].tolist(), respelt["x"].tolist()) == (first_text, second_text)


def test_a_weight_that_reveals_a_region_restores_it_but_is_not_background_knowledge():
    region = np.arange(160) % 8
    cells = {"age": [str(20 + index // 16) for index in range(160)], "region": [f"r{number}" for number in region]}
    original = Table.read(
        {**cells, "w": [f"{1 + number / 4:.2f}" for number in region]}, quasi_identifiers=["age", "region"], weight="w"
    )
    release, origin = Mondrian(k=16)(original)

    result = unmask.audit(release, original=original, origin=origin)

    (restored,) = (
        restored_cell
        for restored_cell in restored_cells(original, release, origin)
        if restored_cell.by == "w" and restored_cell.column == "region"
    )
    assert (restored.restored, restored.exact) == (1, True)
    assert [assumption for assumption in result.assumptions if "knows a person's weight" in assumption]
    assert not [
        assumption for assumption in unmask.audit(Mondrian(k=16)(table(cells))[0]).assumptions if "weight" in assumption
    ]
