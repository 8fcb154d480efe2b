"""Singling out: predicates against loops over people, keys against an enumeration of keys, and what an audit says."""

import itertools
import json
import sys
from dataclasses import replace

import numpy as np
import pytest

import unmask
from unmask import UnmaskError
from unmask.measures.excess import difference
from unmask.measures.interval import wilson
from unmask.reports import sentences
from unmask.tables import Mondrian, SinglingOut, Table
from unmask.tables.attacks.singling_out import Condition, matching
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


def holds(table, row, one):
    value = table[one.column][row]
    if one.relation == "is":
        return value == one.label
    if one.relation == "within":
        low, high = one.label.strip("[]").split(", ")
        return float(low) <= float(value) <= float(high)
    return float(value) >= float(one.label) if one.relation == "at least" else float(value) <= float(one.label)


def literal_matching(table, predicates):
    return [sum(all(holds(table, row, one) for one in each) for row in range(table.n_rows)) for each in predicates]


def test_predicates_match_as_they_read():
    release, others = people(80), people(50, seed=1)
    predicates = SinglingOut(guesses=60)(release, rng=np.random.default_rng(0))
    for table, found in zip((release, others), matching((release, others), predicates), strict=True):
        assert found.tolist() == literal_matching(table, predicates)


def test_rows_are_asked_some_at_a_time_and_cells_of_scattered_values_hold_what_they_stand_for(monkeypatch):
    predicates_of = sys.modules[matching.__module__]
    known = people(700, quasi_identifiers=NAMES)
    cells = {
        "sex": ["f", "m", "*"],
        "city": ["{a,c,g,j}", "b", "{d,f}"],
        "job": ["a", "{b,e}", "c"],
        "age": [20, 30, 40],
    }
    release = Table.read(cells, quasi_identifiers=NAMES)
    predicates = SinglingOut(conditions=(2, 4))(release, rng=np.random.default_rng(0))
    (found,) = matching([known], predicates)
    monkeypatch.setattr(predicates_of, "AT_A_TIME", 100)
    assert next(matching([known], predicates)).tolist() == found.tolist()
    for each, n in zip(predicates, found.tolist(), strict=True):
        assert n == np.count_nonzero(
            np.all([one.fits_levels(c)[c.codes] for one in each if (c := known.column(one.column))], 0)
        )
    assert any("{" in one.label for each in predicates for one in each)


def test_what_is_guessed():
    release = people(80)
    predicates = SinglingOut(guesses=200, conditions=(2, 3))(release, rng=np.random.default_rng(0))
    assert len(set(predicates)) == len(predicates)
    single = {one for one, *rest in predicates if not rest}
    once = {label for label in release["age"] if sum(label == other for other in release["age"]) == 1}
    ages = sorted(release["age"], key=float)
    assert {one.label for one in single if one.relation == "is"} == once
    assert {one for one in single if one.relation != "is"} == {
        Condition("age", "at most", ages[0]),
        Condition("age", "at least", ages[-1]),
    }
    several = tuple(each for each in predicates if len(each) > 1)
    assert {len(each) for each in several} <= {2, 3}
    assert literal_matching(release, several) == [1] * len(several)
    median = np.median([float(age) for age in ages])
    for one in (one for each in several for one in each if one.column == "age"):
        assert one.relation == ("at least" if float(one.label) >= median else "at most")


def test_a_whole_row_is_said_as_it_is():
    release = people(80, ages=3000)
    predicates = [each for each in SinglingOut(conditions=(4, 4), exact=True)(release) if len(each) > 1]
    assert {one.relation for each in predicates for one in each} == {"is"}
    assert {len(each) for each in predicates} == {4}
    assert literal_matching(release, predicates) == [1] * len(predicates)


def test_no_more_values_than_guesses():
    single = [each for each in SinglingOut(guesses=7)(people(500, ages=9000)) if len(each) == 1]
    assert len(single) == 7


def test_a_generalized_cell_says_what_it_stands_for():
    columns = {"age": ["[20, 30]", "[20, 30]", "[40, 50]", "*"], "sex": ["f", "m", "m", ""]}
    release = Table.read(columns, quasi_identifiers=("age", "sex"))
    predicates = SinglingOut(guesses=80, conditions=(2, 2))(release, rng=np.random.default_rng(0))
    assert {(one.relation, one.label) for each in predicates for one in each if one.column == "age"} <= {
        ("within", "[20, 30]"),
        ("within", "[40, 50]"),
    }
    assert "" not in {one.label for each in predicates for one in each}
    known = people(60, quasi_identifiers=("age", "sex"))
    assert any(len(each) == 2 for each in predicates)
    (found,) = matching([known], predicates)
    assert found.tolist() == literal_matching(known, predicates)


def test_members_are_singled_out_and_control_people_as_often_as_by_chance():
    everybody = people(6000, ages=4000)
    members, control = everybody.take(slice(0, 200)), everybody.take(slice(200, 600))
    reference = everybody.take(slice(600, 6000))
    predicates = SinglingOut()(members, rng=np.random.default_rng(0))
    found = judge_singling_out(SinglingTrial.of(predicates, members, control, reference, rng=np.random.default_rng(1)))
    assert (found.people, found.guesses + found.trivial) == (200, len(predicates))
    assert found.share_of_all == found.share == 1  # the original itself
    assert found.control < 0.1
    expected = difference(*((p, *wilson(p, found.guesses)) for p in (found.share, found.control)))
    assert (found.low, found.high) == pytest.approx(expected)
    assert found.baseline == found.of_all == pytest.approx(200 * (1 / 2000) * (1 - 1 / 2000) ** 199)
    assert found.guesses == sum(2000 * n <= 5400 for n in next(matching([reference], predicates)))


def test_fewer_control_people_make_a_sample_of_the_members():
    everybody = people(6000, ages=4000)
    members, control, reference = (everybody.take(slice(*ends)) for ends in ((0, 200), (200, 250), (600, 6000)))
    predicates = SinglingOut()(members, rng=np.random.default_rng(0))
    found = judge_singling_out(SinglingTrial.of(predicates, members, control, reference, rng=np.random.default_rng(1)))
    assert found.people == 50
    assert found.share_of_all == 1
    assert found.share == pytest.approx(0.25, abs=0.05)  # each guess is about somebody, who is one of four


def test_what_chance_reaches():
    best = max(50 * w * (1 - w) ** 49 for w in np.linspace(0, 0.01, 10_001))
    assert most_by_chance(0.01, 50) == pytest.approx(best, abs=1e-9)
    assert most_by_chance(0.5, 50) == pytest.approx((1 - 1 / 50) ** 49)


def test_a_predicate_of_many_is_no_success():
    table = people(100)
    predicates = ((Condition("sex", "is", "f"),),) * 30
    with pytest.raises(UnmaskError, match="0 of them hold for at most 1 of 1,000 people"):
        judge_singling_out(SinglingTrial.of(predicates, table, table, table, rng=np.random.default_rng(0)))


def test_one_control_person_is_nobody_to_try_guesses_on():
    table = people(100)
    tried = SinglingTrial.of(
        SinglingOut()(table, rng=np.random.default_rng(0)), table, table.take([]), table, rng=np.random.default_rng(1)
    )
    with pytest.raises(UnmaskError, match="no people are left to test guesses on"):
        judge_singling_out(tried)


# --- a key in a box --------------------------------------------------------------------------------------------------


def literal_key(cells, low, high, p):
    """The probability that a key holds for one person in a box, over every set of records for which it holds."""
    inside = [row for row in cells if low <= row[0] <= high]
    different = sorted(set(inside))
    total = 0.0
    for held in itertools.product([False, True], repeat=len(different)):
        picked = {one for one, good in zip(different, held, strict=True) if good}
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
    found = judge_singling_out_in_boxes(release, *tables, rng=np.random.default_rng(0))
    kept = np.random.default_rng(0).permutation(n_control)[:14]
    control = [sides[1][at] for at in kept]
    expected = [
        np.mean([literal_key(cells, *box, min(1, 14 / (n * len(cells)))) for box, n in zip(boxes, size, strict=True)])
        for cells in (sides[0], control)
    ]
    assert (found.share, found.control) == pytest.approx(expected)
    assert (found.guesses, found.share_of_all) == (3, found.share)


def test_boxes_of_different_records_give_a_key_at_every_k():
    before = people(600, ages=9000)
    for k in (2, 5, 20):
        release, _ = Mondrian(k=k)(before)
        found = judge_singling_out_in_boxes(
            release, before, people(600, seed=1, ages=9000), rng=np.random.default_rng(0)
        )
        n = release.classes.sizes
        assert found.share == pytest.approx(np.mean((1 - 1 / n) ** (n - 1)), abs=0.01)


# --- in an audit ----------------------------------------------------------------------------------------------------


ROLES = {"quasi_identifiers": NAMES[:3], "sensitive": "job"}
KINDS = {"one value", "some columns", "whole row", "key in a box"}


def audited(release=None, *, n=400, control=True, **asked):
    """A release of the first people, by default themselves; the others, three times as many, are control people."""
    everybody = people(4 * n, ages=5000, **ROLES)
    before, others = everybody.take(slice(0, n)), everybody.take(slice(n, None))
    given = {"original": before, **asked} | ({"control": others} if control else {})
    return unmask.audit(before if release is None else release(before), **given)


def asked_of(found):
    return {
        row.adversary: row for row in found.rows if row.measure == "singled_out_of_as_many" and row.release == "release"
    }


def test_the_original_itself_singles_its_people_out():
    rows = asked_of(audited())
    assert rows.keys() == KINDS - {"key in a box"}
    for row in rows.values():
        assert row.posterior > 0.9
        assert row.control < 0.25
        assert row.excess_low > 0.5
        assert row.excess == pytest.approx(row.posterior - row.control)


def test_people_of_another_sample_single_nobody_out():
    found = audited(lambda _: people(400, seed=7, ages=5000, **ROLES), synthetic=True)
    for row in asked_of(found).values():
        assert abs(row.excess) < 0.1  # several guesses are about one person: some intervals of 20 miss 0
        assert row.posterior < 0.2
    assert "no cost of being in the table is shown" in " ".join(sentences(found.data))


def test_classes_of_several_rows_are_asked_by_a_key():
    found = audited(lambda before: Mondrian(k=5)(before)[0])
    row = asked_of(found)["key in a box"]
    assert 0.36 < row.posterior < 0.42
    assert row.prior == row.control
    assert row.n == found.data.criteria["release"]["classes"]
    assert "the hash that a random key picks" in " ".join(sentences(found.data))


def test_findings_and_folds_say_alike_what_is_not_shown():
    found = audited(lambda before: Mondrian(k=5)(before)[0])
    doubt = {"excess": 0.05, "excess_low": -0.09, "excess_high": 0.19}
    rows = tuple(replace(row, **doubt) if row.excess is not None else row for row in found.rows)
    (block,) = (block for block in control_blocks({}, rows, WORDS) if block.name == "wp216")
    doubted = "no cost of being in the table is shown (5\u00a0points\u00a0[\u22129, 19])"
    assert block.sentence.count(doubted) == 2  # guesses, and keys in boxes
    assert "of the guesses single out a person in the table and" in block.sentence


def test_without_control_people_nothing_is_asked():
    for given, needs in (({}, "--control"), ({"original": None}, "--original")):
        found = audited(control=False, **given)
        assert not asked_of(found)
        assert needs in dict(found.not_run)["Singling out"]


def test_people_who_are_told_apart_without_a_release_are_not_guessed_about():
    # a column that the control file leaves empty is unlike that of any member: that guesses fit no control person is
    # no news of the release
    everybody = people(1600, ages=5000, **ROLES)
    before, others = everybody.take(slice(0, 400)), everybody.take(slice(400, None))
    columns = {name: others[name] for name in others.names} | {"job": np.full(others.n_rows, None)}
    empty = Table.read(columns, **ROLES, like=before)
    found = unmask.audit(Mondrian(k=5)(before)[0], original=before, control=empty)
    assert not asked_of(found)
    said = dict(found.not_run)["Singling out"]
    assert said.startswith("without any release, members differ from control people by age, sex, city, job (AUC 1.00")


@pytest.mark.parametrize(("name", "said"), [("size", "has none of the quasi-identifiers"), ("age", "written alike")])
def test_control_people_who_share_no_column_are_refused_in_words(name, said):
    before = people(40, quasi_identifiers="age")
    other = Table.read({name: list("pqrs") * 10}, quasi_identifiers=name)
    with pytest.raises(UnmaskError, match=said):
        unmask.audit(before, original=before, control=other)


def test_guesses_stay_with_their_owner():
    """No cell of the release or the original is on the page or in the JSON."""
    n, mark = 120, "Zq7"
    rng = np.random.default_rng(0)
    columns = {"code": [f"{mark}{at}" for at in range(2 * n)], "sex": rng.choice([f"{mark}f", f"{mark}m"], 2 * n)}
    columns |= {"job": rng.choice([f"{mark}a", f"{mark}b"], 2 * n)}
    table = Table.read(columns, quasi_identifiers=("code", "sex"), sensitive="job")
    before, others = table.take(slice(0, n)), table.take(slice(n, None))
    found = unmask.audit(before, original=before, control=others, parts=(("code",), ("sex", "job")))
    assert {row.adversary for row in found.rows} >= {"one value", "some columns", "whole row", "linker"}
    for text in (found.to_html(), json.dumps(found.to_json()), found.summary(), repr(found)):
        assert mark not in text


def test_the_page_the_terminal_and_a_gate_say_it():
    found = audited(lambda before: Mondrian(k=5)(before)[0], parts=(("age", "sex"), ("city", "job")))
    page = found.to_html()
    for words in ("Can they single somebody out?", "Can they link two parts of a record?", "key in a box"):
        assert words in page
    said = " ".join(sentences(found.data))
    assert "puts them together is right about" in said
    assert {"singled_out", "singled_out_of_as_many", "parts_linked"} <= {row["measure"] for row in found.results}


def test_a_counted_release_says_that_it_needs_rows(tmp_path):
    from click.testing import CliRunner

    from unmask.cli import main

    people(50, **ROLES).write(tmp_path / "release.csv")
    run = CliRunner().invoke(
        main, ["audit", str(tmp_path / "release.csv"), "-q", "age,sex", "--engine", "duckdb", "--json"]
    )
    assert run.exit_code == 0, run.output
    assert any("Singling out" in one["what"] and "memory" in one["why"] for one in json.loads(run.stdout)["not_run"])
