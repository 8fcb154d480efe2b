"""Singling out: predicates against loops over people, keys against an enumeration of keys, and what an audit says."""

import itertools
import json
import sys
from dataclasses import replace

import numpy as np
import pytest

import unmask
from unmask import UnmaskError
from unmask.findings.sentences import sentences
from unmask.measures.excess import difference
from unmask.measures.interval import wilson
from unmask.tables import Mondrian, SinglingOut, Table
from unmask.tables.attacks.singling_out import Condition, count_matches
from unmask.tables.audit.control_comparison import WORDS, control_blocks
from unmask.tables.control.singling_trials import (
    SinglingTrial,
    judge_singling_out,
    judge_singling_out_in_boxes,
    most_by_chance,
)

NAMES = ("age", "sex", "city", "job")


def people(n, seed=0, *, ages=60, **roles):
    rng = np.random.default_rng(seed)
    columns = {"age": rng.integers(18, 18 + ages, n), "sex": rng.choice(["f", "m"], n)}
    columns |= {name: rng.choice(list("abcdefghij"), n) for name in ("city", "job")}
    return Table.read(columns, **(roles or {"quasi_identifiers": NAMES}))


def holds(table, row, condition):
    value = table[condition.column][row]
    if condition.relation == "is":
        return value == condition.label
    if condition.relation == "within":
        low, high = condition.label.strip("[]").split(", ")
        return float(low) <= float(value) <= float(high)
    return (
        float(value) >= float(condition.label)
        if condition.relation == "at least"
        else float(value) <= float(condition.label)
    )


def literal_matching(table, predicates):
    return [
        sum(all(holds(table, row, condition) for condition in predicate) for row in range(table.n_rows))
        for predicate in predicates
    ]


def test_predicates_match_as_they_read():
    release, other_people = people(80), people(50, seed=1)
    predicates = SinglingOut(guesses=60)(release, rng=np.random.default_rng(0))
    for table, result in zip((release, other_people), count_matches((release, other_people), predicates), strict=True):
        assert result.tolist() == literal_matching(table, predicates)


def test_rows_are_asked_some_at_a_time_and_cells_of_scattered_values_hold_what_they_stand_for(monkeypatch):
    predicates_of = sys.modules[count_matches.__module__]
    register = people(700, quasi_identifiers=NAMES)
    cells = {
        "sex": ["f", "m", "*"],
        "city": ["{a,c,g,j}", "b", "{d,f}"],
        "job": ["a", "{b,e}", "c"],
        "age": [20, 30, 40],
    }
    release = Table.read(cells, quasi_identifiers=NAMES)
    predicates = SinglingOut(conditions=(2, 4))(release, rng=np.random.default_rng(0))
    (counts,) = count_matches([register], predicates)
    monkeypatch.setattr(predicates_of, "MAX_CELLS", 100)
    assert next(count_matches([register], predicates)).tolist() == counts.tolist()
    for predicate, n in zip(predicates, counts.tolist(), strict=True):
        assert n == np.count_nonzero(
            np.all(
                [
                    condition.match_levels(c)[c.codes]
                    for condition in predicate
                    if (c := register.column(condition.column))
                ],
                0,
            )
        )
    assert any("{" in condition.label for predicate in predicates for condition in predicate)


def test_guessed_predicates_hold_for_one_released_row():
    release = people(80)
    predicates = SinglingOut(guesses=200, conditions=(2, 3))(release, rng=np.random.default_rng(0))
    assert len(set(predicates)) == len(predicates)
    single = {condition for condition, *more_conditions in predicates if not more_conditions}
    once = {label for label in release["age"] if sum(label == age for age in release["age"]) == 1}
    ages = sorted(release["age"], key=float)
    assert {condition.label for condition in single if condition.relation == "is"} == once
    assert {condition for condition in single if condition.relation != "is"} == {
        Condition("age", "at most", ages[0]),
        Condition("age", "at least", ages[-1]),
    }
    several = tuple(predicate for predicate in predicates if len(predicate) > 1)
    assert {len(predicate) for predicate in several} <= {2, 3}
    assert literal_matching(release, several) == [1] * len(several)
    median = np.median([float(age) for age in ages])
    for condition in (condition for predicate in several for condition in predicate if condition.column == "age"):
        assert condition.relation == ("at least" if float(condition.label) >= median else "at most")


def test_a_whole_row_is_guessed_as_released():
    release = people(80, ages=3000)
    predicates = [predicate for predicate in SinglingOut(conditions=(4, 4), exact=True)(release) if len(predicate) > 1]
    assert {condition.relation for predicate in predicates for condition in predicate} == {"is"}
    assert {len(predicate) for predicate in predicates} == {4}
    assert literal_matching(release, predicates) == [1] * len(predicates)


def test_no_more_values_than_guesses():
    single = [predicate for predicate in SinglingOut(guesses=7)(people(500, ages=9000)) if len(predicate) == 1]
    assert len(single) == 7


def test_a_generalized_cell_says_what_it_stands_for():
    columns = {"age": ["[20, 30]", "[20, 30]", "[40, 50]", "*"], "sex": ["f", "m", "m", ""]}
    release = Table.read(columns, quasi_identifiers=("age", "sex"))
    predicates = SinglingOut(guesses=80, conditions=(2, 2))(release, rng=np.random.default_rng(0))
    assert {
        (condition.relation, condition.label)
        for predicate in predicates
        for condition in predicate
        if condition.column == "age"
    } <= {
        ("within", "[20, 30]"),
        ("within", "[40, 50]"),
    }
    assert "" not in {condition.label for predicate in predicates for condition in predicate}
    register = people(60, quasi_identifiers=("age", "sex"))
    assert any(len(predicate) == 2 for predicate in predicates)
    (counts,) = count_matches([register], predicates)
    assert counts.tolist() == literal_matching(register, predicates)


def test_members_are_singled_out_and_control_people_as_often_as_by_chance():
    everybody = people(6000, ages=4000)
    members, control = everybody.take(slice(0, 200)), everybody.take(slice(200, 600))
    reference = everybody.take(slice(600, 6000))
    predicates = SinglingOut()(members, rng=np.random.default_rng(0))
    actual = judge_singling_out(SinglingTrial.of(predicates, members, control, reference, rng=np.random.default_rng(1)))
    assert (actual.people, actual.guesses + actual.trivial) == (200, len(predicates))
    assert actual.share_of_all == actual.share == 1  # the original itself
    assert actual.control < 0.1
    expected = difference(*((p, *wilson(p, actual.guesses)) for p in (actual.share, actual.control)))
    assert (actual.low, actual.high) == pytest.approx(expected)
    assert actual.baseline == actual.of_all == pytest.approx(200 * (1 / 2000) * (1 - 1 / 2000) ** 199)
    assert actual.guesses == sum(2000 * n <= 5400 for n in next(count_matches([reference], predicates)))


def test_fewer_control_people_make_a_sample_of_the_members():
    everybody = people(6000, ages=4000)
    members, control, reference = (everybody.take(slice(*ends)) for ends in ((0, 200), (200, 250), (600, 6000)))
    predicates = SinglingOut()(members, rng=np.random.default_rng(0))
    result = judge_singling_out(SinglingTrial.of(predicates, members, control, reference, rng=np.random.default_rng(1)))
    assert result.people == 50
    assert result.share_of_all == 1
    assert result.share == pytest.approx(0.25, abs=0.05)  # each guess is about somebody, who is one of four


def test_the_baseline_is_the_success_of_chance():
    expected_rate = max(50 * w * (1 - w) ** 49 for w in np.linspace(0, 0.01, 10_001))
    assert most_by_chance(0.01, 50) == pytest.approx(expected_rate, abs=1e-9)
    assert most_by_chance(0.5, 50) == pytest.approx((1 - 1 / 50) ** 49)


def test_a_predicate_of_many_is_no_success():
    table = people(100)
    predicates = ((Condition("sex", "is", "f"),),) * 30
    with pytest.raises(UnmaskError, match="0 of them hold for at most 1 of 1,000 people"):
        judge_singling_out(SinglingTrial.of(predicates, table, table, table, rng=np.random.default_rng(0)))


def test_one_control_person_is_too_few_for_guesses():
    table = people(100)
    trial = SinglingTrial.of(
        SinglingOut()(table, rng=np.random.default_rng(0)), table, table.take([]), table, rng=np.random.default_rng(1)
    )
    with pytest.raises(UnmaskError, match="no people are left to test guesses on"):
        judge_singling_out(trial)


# --- a key in a box --------------------------------------------------------------------------------------------------


def literal_key(cells, low, high, p):
    """The probability that a key holds for one person in a box, over every set of records for which it holds."""
    inside = [row for row in cells if low <= row[0] <= high]
    different = sorted(set(inside))
    total = 0.0
    for truth_values in itertools.product([False, True], repeat=len(different)):
        picked = {condition for condition, good in zip(different, truth_values, strict=True) if good}
        if sum(row in picked for row in inside) == 1:
            total += p ** len(picked) * (1 - p) ** (len(different) - len(picked))
    return total


@pytest.mark.parametrize("n_control", [9, 14, 30])
def test_keys_in_boxes_against_every_key(n_control):
    rng = np.random.default_rng(n_control)
    sides = [[(int(a), str(j)) for a, j in zip(rng.integers(0, 9, n), rng.choice(["x", "y", "z"], n), strict=True)]
             for n in (14, n_control)]  # fmt: skip
    tables = [
        Table.read(
            dict(zip(("age", "job"), zip(*cells, strict=True), strict=True)), quasi_identifiers="age", keep="job"
        )
        for cells in sides
    ]
    boxes = [(0, 2), (3, 4), (5, 8)]
    size = [sum(low <= age <= high for age, _ in sides[0]) for low, high in boxes]
    labels = [f"[{low}, {high}]" for (low, high), n in zip(boxes, size, strict=True) for _ in range(n)]
    release = Table.read({"age": labels}, quasi_identifiers="age")
    actual = judge_singling_out_in_boxes(release, *tables, rng=np.random.default_rng(0))
    rows = np.random.default_rng(0).permutation(n_control)[:14]
    control = [sides[1][index] for index in rows]
    expected = [
        np.mean([literal_key(cells, *box, min(1, 14 / (n * len(cells)))) for box, n in zip(boxes, size, strict=True)])
        for cells in (sides[0], control)
    ]
    assert (actual.share, actual.control) == pytest.approx(expected)
    assert (actual.guesses, actual.share_of_all) == (3, actual.share)


def test_boxes_of_different_records_give_a_key_at_every_k():
    people_table = people(600, ages=9000)
    for k in (2, 5, 20):
        release, _ = Mondrian(k=k)(people_table)
        result = judge_singling_out_in_boxes(
            release, people_table, people(600, seed=1, ages=9000), rng=np.random.default_rng(0)
        )
        n = release.classes.sizes
        assert result.share == pytest.approx(np.mean((1 - 1 / n) ** (n - 1)), abs=0.01)


# --- in an audit ----------------------------------------------------------------------------------------------------


ROLES = {"quasi_identifiers": NAMES[:3], "sensitive": "job"}
KINDS = {"one value", "some columns", "whole row", "key in a box"}


def audited(release=None, *, n=400, control=True, **options):
    """A release of the first people, by default themselves; the others, three times as many, are control people."""
    everybody = people(4 * n, ages=5000, **ROLES)
    members, control_table = everybody.take(slice(0, n)), everybody.take(slice(n, None))
    arguments = {"original": members, **options} | ({"control": control_table} if control else {})
    return unmask.audit(members if release is None else release(members), **arguments)


def asked_of(result):
    return {
        row.adversary: row
        for row in result.rows
        if row.measure == "singled_out_of_as_many" and row.release == "release"
    }


def test_the_original_itself_singles_its_people_out():
    rows = asked_of(audited())
    assert rows.keys() == KINDS - {"key in a box"}
    for row in rows.values():
        assert row.posterior > 0.9
        assert row.control < 0.25
        assert row.excess_low > 0.5
        assert row.excess == pytest.approx(row.posterior - row.control)


def test_a_release_of_another_sample_singles_out_no_person():
    result = audited(lambda _: people(400, seed=7, ages=5000, **ROLES), synthetic=True)
    for row in asked_of(result).values():
        assert abs(row.excess) < 0.1  # several guesses are about one person: some intervals of 20 miss 0
        assert row.posterior < 0.2
    assert "no cost of being in the table is shown" in " ".join(sentences(result))


def test_classes_of_several_rows_are_asked_by_a_key():
    result = audited(lambda people_table: Mondrian(k=5)(people_table)[0])
    row = asked_of(result)["key in a box"]
    assert 0.36 < row.posterior < 0.42
    assert row.prior == row.control
    assert row.n == result.criteria["release"]["classes"]
    assert "the hash that a random key picks" in " ".join(sentences(result))


def test_findings_and_folds_say_alike_what_is_not_shown():
    result = audited(lambda people_table: Mondrian(k=5)(people_table)[0])
    doubt = {"excess": 0.05, "excess_low": -0.09, "excess_high": 0.19}
    rows = tuple(replace(row, **doubt) if row.excess is not None else row for row in result.rows)
    (block,) = (block for block in control_blocks({}, rows, WORDS) if block.name == "wp216")
    doubted = "no cost of being in the table is shown (5\u00a0points\u00a0[\u22129, 19])"
    assert block.sentence.count(doubted) == 2  # guesses, and keys in boxes
    assert "of the guesses single out a person in the table and" in block.sentence


def test_without_control_people_nothing_is_asked():
    for change, needs in (({}, "--control"), ({"original": None}, "--original")):
        result = audited(control=False, **change)
        assert not asked_of(result)
        assert needs in dict(result.not_run)["Singling out"]


def test_people_distinguishable_without_a_release_are_not_guessed():
    # a column that the control file leaves empty is unlike that of any member: that guesses fit no control person is
    # no news of the release
    everybody = people(1600, ages=5000, **ROLES)
    members, control = everybody.take(slice(0, 400)), everybody.take(slice(400, None))
    columns = {name: control[name] for name in control.names} | {"job": np.full(control.n_rows, None)}
    empty = Table.read(columns, **ROLES, like=members)
    result = unmask.audit(Mondrian(k=5)(members)[0], original=members, control=empty)
    assert not asked_of(result)
    reason = dict(result.not_run)["Singling out"]
    assert reason.startswith(
        "without any release, members differ from the control group by age, sex, city, job (AUC 1.00"
    )


@pytest.mark.parametrize(("name", "message"), [("size", "has none of the quasi-identifiers"), ("age", "written alike")])
def test_control_people_who_share_no_column_are_refused_in_words(name, message):
    members = people(40, quasi_identifiers="age")
    control = Table.read({name: list("pqrs") * 10}, quasi_identifiers=name)
    with pytest.raises(UnmaskError, match=message):
        unmask.audit(members, original=members, control=control)


def test_guesses_stay_with_their_owner():
    """No cell of the release or the original is on the page or in the JSON."""
    n, mark = 120, "Zq7"
    rng = np.random.default_rng(0)
    columns = {"code": [f"{mark}{index}" for index in range(2 * n)], "sex": rng.choice([f"{mark}f", f"{mark}m"], 2 * n)}
    columns |= {"job": rng.choice([f"{mark}a", f"{mark}b"], 2 * n)}
    table = Table.read(columns, quasi_identifiers=("code", "sex"), sensitive="job")
    members, control = table.take(slice(0, n)), table.take(slice(n, None))
    result = unmask.audit(members, original=members, control=control, parts=(("code",), ("sex", "job")))
    assert {row.adversary for row in result.rows} >= {"one value", "some columns", "whole row", "linker"}
    for text in (result.to_html(), json.dumps(result.to_json()), result.summary(), repr(result)):
        assert mark not in text


def test_the_page_the_terminal_and_a_gate_say_it():
    result = audited(lambda people_table: Mondrian(k=5)(people_table)[0], parts=(("age", "sex"), ("city", "job")))
    page = result.to_html()
    for words in ("Can they single a person out?", "Can they link two parts of a record?", "key in a box"):
        assert words in page
    text = " ".join(sentences(result))
    assert "puts them together is right about" in text
    assert {"singled_out", "singled_out_of_as_many", "parts_linked"} <= {row["measure"] for row in result.results}


def test_a_counted_release_says_that_it_needs_rows(tmp_path):
    from click.testing import CliRunner

    from unmask.cli import main

    people(50, **ROLES).write(tmp_path / "release.csv")
    run = CliRunner().invoke(
        main, ["audit", str(tmp_path / "release.csv"), "-q", "age,sex", "--engine", "duckdb", "--json"]
    )
    assert run.exit_code == 0, run.output
    assert any(
        "Singling out" in entry["what"] and "memory" in entry["why"] for entry in json.loads(run.stdout)["not_run"]
    )
