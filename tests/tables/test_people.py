"""Several rows of one person: what k counts then, against a count by hand, from Python and from the command line."""

import csv
import io
import json
import re
from collections import Counter

import numpy as np
import pytest

import unmask
from tests.commands import invoke
from unmask.core.errors import FailedError
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.data.writing import is_formula
from unmask.findings.people_at_risk import AtRisk, Watched
from unmask.measures import calibration_error, effective_set_size, realized_success, success_probability
from unmask.tables import Identity, Lattice, Mondrian, Suppress, SuppressCells, Table, reading
from unmask.tables.audit.attacked_release import LISTED_ONCE
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge, Release
from unmask.tables.audit.several_records import find_any_record
from unmask.tables.audit.singling_out import SEVERAL_ROWS
from unmask.tables.audit.table_audit import audit_tables
from unmask.tables.control.holdout import find_held_back, hold_back
from unmask.tables.criteria import people_in_classes
from unmask.tables.risk import printed_values

WHOM, HEAD = ("release", "prosecutor", "identity"), "realized_success"


def _stays(seed=0, people=60):
    """A hospital's stays: one to nine rows a person, who is alike in each of them."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), rng.integers(1, 10, people))
    age, sex = rng.integers(20, 80, people), rng.integers(0, 2, people)
    cells = {"age": age[person], "sex": sex[person], "ill": rng.integers(0, 4, len(person))}
    return person, {name: [str(cell) for cell in column] for name, column in cells.items()}


def _read(cells, person=None):
    identifiers = {} if person is None else {"patient": [f"P{number:03d}" for number in person]}
    return Table.read(
        {**identifiers, **cells},
        quasi_identifiers=["age", "sex"],
        sensitive="ill",
        person=next(iter(identifiers), None),
    )


def _of_people(values, person):
    """The mean over people of the mean over their rows."""
    return float(np.mean([np.mean(np.asarray(values)[person == number]) for number in np.unique(person)]))


def _by_hand(classes, person):
    rows, pairs = Counter(classes), Counter(zip(classes, person, strict=True))
    people = Counter(box for box, _ in pairs)
    return min(people.values()), max(count / rows[box] for (box, _), count in pairs.items())


@pytest.mark.parametrize("seed", range(30))
def test_people_of_classes_are_those_counted_by_hand(seed):
    person, cells = _stays(seed)
    release, origin = Mondrian(k=5)(_read(cells))
    released_cells = list(zip(*(release[name].tolist() for name in ("age", "sex")), strict=True))

    numbers_of_people = people_in_classes(release, person[origin])

    assert tuple(numbers_of_people) == pytest.approx(_by_hand(released_cells, person[origin].tolist()))


def test_rows_left_out_by_the_rule_for_missing_cells_have_no_person():
    table = Table.read({"age": ["30", "30", ""]}, quasi_identifiers="age", missing="excluded")

    assert people_in_classes(table, np.array([1, 2, 3])) == (2, 0.5)


def test_an_audit_and_a_protection_say_how_many_people_a_class_has():
    person, cells = _stays()
    table = _read(cells, person)
    protected = unmask.protect(table, k=5)
    result = unmask.audit(protected.release, original=table, origin=protected.origin)

    smallest, share = people_in_classes(protected.release, person[protected.origin])
    assert smallest >= 5
    assert share > 1 / 5
    assert (protected.facts["k_people"], protected.facts["person_share"]) == (smallest, share)
    assert result.criteria["release"]["k_people"] == smallest
    assert result.criteria["release"]["person_share"] == share
    assert any(f"are of {len(set(person.tolist()))} people" in caution for caution in result.cautions)
    assert any(
        f"up to {100 * share:.0f} % of the rows of a class of release belong to one person" in caution
        for caution in result.cautions
    )
    assert "belong to one person" in result.to_html()
    assert "belong to one person" not in unmask.audit(protected.release, original=_read(cells)).to_html()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "protection",
    [
        Mondrian(k=7),
        Mondrian(k=7, strict=False),
        Mondrian(k=7, l=2),
        Suppress(k=2),
        SuppressCells(k=7),
        Lattice(k=7, levels={"age": [0, 10, 30, "*"]}, suppression=0.2),
        Lattice(k=7, levels={"age": [0, 10, 30, "*"]}, suppression=0.2, rounds=2),
    ],
)
def test_k_counts_people_though_their_stays_differ(protection, seed):
    person, cells = _stays(seed, people=80)
    later = np.random.default_rng(seed).integers(0, 3, len(person))
    cells["age"] = [str(int(age) + year) for age, year in zip(cells["age"], later.tolist(), strict=True)]

    release, origin = protection(_read(cells, person))

    released_cells = list(zip(*(release[name].tolist() for name in ("age", "sex")), strict=True))
    rows, _ = protection(_read(cells))
    assert _by_hand(released_cells, person[origin].tolist())[0] >= protection.k
    assert len(release.classes.sizes) < len(rows.classes.sizes)


@pytest.mark.parametrize("seed", range(5))
def test_picking_any_row_of_a_person_finds_them(seed):
    person, cells = _stays(seed, people=40)
    later = np.random.default_rng(seed).integers(0, 2, len(person))
    cells["age"] = [str(int(age) // 9 + year) for age, year in zip(cells["age"], later.tolist(), strict=True)]
    table = _read(cells, person)
    release, origin = Mondrian(k=5)(table)

    data = unmask.audit(release, original=table, origin=origin)
    rows = data.rows
    bins = data.table("promises").where(target="identity").rows
    assert not [item for item in bins if item["adversary"] != "order reader"]

    for name, table_shown, owner in (("original", table, person), ("release", release, person[origin])):
        for adversary, names in (("prosecutor", ("age", "sex")), ("insider", ("age", "sex", "ill"))):
            cells_shown = list(zip(*(table_shown[column].tolist() for column in names), strict=True))
            alike, theirs = Counter(cells_shown), Counter(zip(cells_shown, owner.tolist(), strict=True))
            share = [theirs[pair] / alike[pair[0]] for pair in zip(cells_shown, owner.tolist(), strict=True)]
            for measure in ("success_probability", "realized_success"):
                (row,) = (
                    r
                    for r in rows
                    if (r.release, r.adversary, r.target, r.measure) == (name, adversary, "identity", measure)
                )
                assert row.posterior == pytest.approx(_of_people(share, owner), abs=1e-12)
                assert row.n == 40
                assert row.worst == pytest.approx(max(share))
                assert row.status == "exact"


def test_of_a_belief_that_tells_rows_apart_any_row_of_a_person_counts():
    table = Table.read({"age": [30, 30, 31], "id": list("aba")}, quasi_identifiers="age", person="id")
    scene = Release("release", table).attacked(np.arange(3), AuditorKnowledge(original=table).known)
    belief = Posterior.from_dense(np.tile([0.7, 0.2, 0.1], (3, 1)))

    run = scene.identify("somebody", belief)
    rows = {row.measure: row.posterior for row in run.score([success_probability, realized_success]).rows}

    assert rows["success_probability"] == pytest.approx(0.7 + 0.1)  # row 0 is picked, and may be either of two
    assert rows["realized_success"] == pytest.approx(1 / 2)  # of a always, of b never


def test_a_table_of_few_people_is_refused_however_many_rows_it_has():
    person, cells = _stays(people=4)

    with pytest.raises(FailedError, match="the table has 4 people, fewer than k = 5"):
        Mondrian(k=5)(_read(cells, person))


def test_an_audit_says_that_it_takes_a_row_for_a_person():
    _, cells = _stays()
    result = unmask.audit(_read(cells))

    assert "k_people" not in result.criteria["release"]
    assert "Each row is one person: k, shares and numbers of people count rows." in result.assumptions


def test_an_audit_of_several_releases_says_that_they_are_not_combined():
    _, cells = _stays()
    finer, coarser = Mondrian(k=5)(_read(cells))[0], Mondrian(k=9)(_read(cells))[0]

    assumptions = unmask.audit({"finer": finer, "coarser": coarser}).assumptions
    assert any("attacked alone" in assumption and "--together" in assumption for assumption in assumptions)
    assert not any("attacked alone" in assumption for assumption in unmask.audit(finer).assumptions)


def test_no_person_is_held_back_in_part():
    person, cells = _stays()
    table = _read(cells, person)

    people = hold_back(table, 0.25)
    _, origin = Mondrian(k=5)(people.members)
    again = find_held_back(table, 0.25, [people.member[origin]])

    assert not set(person[people.member]) & set(person[people.held])
    assert len(set(person[people.held])) == 15
    assert np.array_equal(again.held, people.held)


@pytest.fixture
def stays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    person, cells = _stays()
    rows = zip([f"P{number:03d}" for number in person], *cells.values(), strict=True)
    (tmp_path / "stays.csv").write_text("patient,age,sex,ill\n" + "".join(",".join(row) + "\n" for row in rows))
    return person


ROLES = ["-q", "age,sex", "-s", "ill", "--person", "patient"]


def test_commands_say_that_rows_are_no_people_and_gate_it(stays):
    protected = invoke("protect", "stays.csv", *ROLES, "--k", 5, "--hold-back", 0.2, "-o", "r.csv", "--origin", "o.csv")
    counted = invoke("protect", "stays.csv", *ROLES[:-1], "row", "--engine", "duckdb", "-o", "r.parquet")
    means = invoke("protect", "stays.csv", *ROLES, "--with", "tables.Microaggregate:columns=age", "-o", "m.csv")
    evidence = ["--original", "stays.csv", "--origin", "o.csv", "--hold-back", 0.2]
    audited = invoke("audit", "r.csv", *ROLES, *evidence, "--policy", "k_people>=50", "--json")

    assert (protected.exit_code, audited.exit_code) == (0, 3)
    assert int(re.search(r"classes of at least (\d+) people", protected.stderr)[1]) >= 5
    assert "warning: a class" not in protected.stderr
    assert "fewer than k = 3: Microaggregate counts rows" in means.stderr
    assert counted.exit_code == 0
    joined = invoke("protect", "stays.csv", *ROLES, "--engine", "duckdb", "-o", "j.parquet")
    assert (joined.exit_code, "an engine counts rows" in joined.stderr) == (2, True)
    assert "--person patient" in protected.stderr
    data, members = json.loads(audited.stdout), round(0.8 * len(set(stays.tolist())))
    assert f"rows are of {members} people" in " ".join(data["warnings"])
    assert re.search(r"up to \d+ % of the rows of a class", " ".join(data["warnings"]))
    assert data["tables"]["criteria"][-1]["k_people"] >= 5


def test_identifiers_that_never_repeat_are_no_matter(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.csv").write_text("id,age\n1,30\n2,30\n,31\n,31\nNA,31\nNA,30\n")
    protected = invoke("protect", "p.csv", "-q", "age", "--identifiers", "id", "--k", 2, "-o", "r.csv")

    assert protected.exit_code == 0, protected.stderr
    assert "people" not in protected.stderr


def test_the_person_of_each_row_is_read_with_the_rest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls, encode = [], reading.encode
    monkeypatch.setattr(reading, "encode", lambda *given, **named: (calls.append(given), encode(*given, **named))[1])
    (tmp_path / "p.csv").write_text("id,age,stay\n caf\u00e9 ,30,1\ncafe\u0301,30,2\n,31,3\nNA,31,4\n")

    table = Table.read("p.csv", quasi_identifiers="age", identifiers="stay", person="id")

    assert len(calls) == 1
    assert table.names == ["age"]
    assert len(set(table.person[:2].tolist())) == 1
    assert len(set(table.person.tolist())) == 3
    assert np.array_equal(table.take([3, 0]).person, table.person[[3, 0]])
    assert Table.read("p.csv", quasi_identifiers="age", person="stay").person is None


@pytest.mark.parametrize("seed", range(20))
def test_of_boxes_that_overlap_any_row_of_a_person_counts_among_the_likeliest(seed):
    """Ages in intervals that overlap: an adversary prefers the narrow ones, and picks one of these."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(12), rng.integers(1, 5, 12))
    age = rng.integers(20, 40, 12)[person]
    low, high = age - rng.integers(0, 6, len(age)), age + rng.integers(0, 6, len(age))
    columns = {"patient": [f"N{number}" for number in person], "age": age.tolist()}
    original = Table.read(columns, quasi_identifiers="age", person="patient")
    release = Table.read({"age": [f"[{a}, {b}]" for a, b in zip(low, high, strict=True)]}, quasi_identifiers="age")

    result = unmask.audit(release, original=original, origin=np.arange(len(age)))

    width = np.array(
        [len({value for value in age.tolist() if a <= value <= b}) for a, b in zip(low, high, strict=True)]
    )
    attained = []
    for number, value in zip(person, age, strict=True):
        fit = np.flatnonzero((low <= value) & (value <= high))
        likeliest = fit[width[fit] == width[fit].min()]
        attained.append(np.mean(person[likeliest] == number))
    by_measure = {row.measure: row for row in result.rows if (row.release, row.adversary) == ("release", "prosecutor")}
    assert by_measure["success_probability"].posterior == pytest.approx(_of_people(attained, person))
    assert by_measure["realized_success"].posterior == pytest.approx(_of_people(attained, person))
    assert by_measure["success_probability"].worst == pytest.approx(max(attained))


def test_any_row_of_a_person_counts_where_others_have_none_left():
    """People without a fitting row are believed absent; that reveals nothing about other people."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(60), rng.integers(3, 12, 60))
    age = np.where(person < 50, 20 + person % 4, 60 + rng.integers(0, 30, len(person)))
    columns = {"patient": [f"N{number}" for number in person], "age": age.tolist()}
    original = Table.read(columns, quasi_identifiers="age", person="patient")
    release, origin = Suppress(k=4)(original)
    assert release.n_rows < original.n_rows

    result = unmask.audit(release, original=original, origin=origin)

    owner, value = person[origin], age[origin]
    attained = np.zeros(len(person))
    for row in origin.tolist():
        attained[row] = np.mean(owner[value == age[row]] == person[row])
    rows = {row.measure: row for row in result.rows if (row.release, row.adversary) == ("release", "prosecutor")}
    assert rows["success_probability"].posterior == pytest.approx(_of_people(attained, person))
    assert rows["realized_success"].posterior == pytest.approx(_of_people(attained, person))


@pytest.mark.parametrize("seed", range(10))
def test_any_row_of_a_person_counts_where_their_own_is_not_released(seed):
    """Half of the rows are released, with ages in tens: whoever picks another stay of a person has found them."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(30), rng.integers(1, 5, 30))
    age = rng.integers(20, 60, 30)[person] + rng.integers(0, 3, len(person))
    selected = np.sort(rng.choice(len(person), len(person) // 2, replace=False))
    low = age[selected] // 10 * 10
    columns = {"patient": [f"N{number}" for number in person], "age": age.tolist()}
    original = Table.read(columns, quasi_identifiers="age", person="patient")
    release = Table.read({"age": [f"[{a}, {a + 9}]" for a in low]}, quasi_identifiers="age")

    result = unmask.audit(release, original=original, origin=selected)

    fit = [person[selected][low == value // 10 * 10] for value in age.tolist()]
    attained = [np.mean(owners == owner) if len(owners) else 0.0 for owners, owner in zip(fit, person, strict=True)]
    rows = {row.measure: row for row in result.rows if (row.release, row.adversary) == ("release", "prosecutor")}
    for measure in ("success_probability", "realized_success"):
        assert rows[measure].posterior == pytest.approx(_of_people(attained, person))
        assert rows[measure].worst == pytest.approx(max(attained))


def test_people_are_counted_once_wherever_they_are_counted():
    """Sixty patients with 299 stays: every number of people is of sixty, by the row that gives them away most."""
    person, cells = _stays()
    table = _read(cells, person)
    release, origin = Mondrian(k=5)(table)

    data = unmask.audit(release, original=table, origin=origin, attacker="case-study", smallest_shown=1)

    owner = person[origin]
    released_cells = list(zip(*(release[name].tolist() for name in ("age", "sex")), strict=True))
    rows, theirs = Counter(released_cells), Counter(zip(released_cells, owner.tolist(), strict=True))
    risk = np.array([theirs[pair] / rows[pair[0]] for pair in zip(released_cells, owner.tolist(), strict=True)])
    highest_risks = [max(risk[owner == number]) for number in range(60)]
    (spread,) = (entry for entry in data.distribution if (entry.release, entry.adversary, entry.target) == WHOM)
    assert spread.people == 60
    assert spread.above[0.09] == sum(value > 0.09 for value in highest_risks)
    assert set(data.table("price_releases").values("n")) == {60}
    assert {row.n for row in data.rows if row.target in ("identity", "ill")} == {60}
    assert set(data.table("values").values("n")) == {60}
    classes = data.table("classes").where(target="identity").rows
    people = {released_cells[item["row"]]: item["people"] for item in classes}
    assert people == {
        person_at_risk: len({owner for box, owner in theirs if box == person_at_risk}) for person_at_risk in people
    }


def test_people_who_are_drawn_are_drawn_with_all_their_rows():
    person, cells = _stays(people=200)
    table = _read(cells, person)
    release, origin = Mondrian(k=5)(table)

    sampled = unmask.audit(release, original=table, origin=origin, targets=50, seed=3)
    everybody = unmask.audit(release, original=table, origin=origin)

    (sampled_row,), (all_of_them,) = (
        [row for row in audit_result.rows if (row.release, row.adversary, row.target) == WHOM and row.measure == HEAD]
        for audit_result in (sampled, everybody)
    )
    assert sampled_row.n == 50
    assert sampled_row.interval == "targets drawn from 200 people"
    assert all_of_them.low is None
    assert sampled_row.low < all_of_them.posterior < sampled_row.high  # the draw is that of the seed


def test_beliefs_in_values_are_a_model_if_people_count_equally():
    """Most rows are of people who are often ill: a given person is rarely one of them."""
    person = np.concatenate([np.zeros(90, dtype=int), np.arange(1, 11)])
    cells = {"age": ["30"] * 100, "sex": ["0"] * 100, "ill": ["chronic"] * 90 + ["flu"] * 10}
    table = _read(cells, person)

    rows = unmask.audit(table.take(np.arange(100)), original=table, origin=np.arange(100)).rows

    (success,) = (
        row
        for row in rows
        if (row.release, row.adversary, row.target) == ("release", "prosecutor", "ill") and row.measure == HEAD
    )
    assert success.posterior == pytest.approx(1 / 11)
    assert success.status == "refuted"
    assert "announced 90.0 %, realized 9.1 % of 11 people" in success.note


def test_a_register_is_not_linked_to_several_rows_of_a_person(stays):
    _, cells = _stays()
    table = _read(cells, stays)
    register = table.take(np.unique(stays, return_index=True)[1])

    data = unmask.audit(table, original=table, register=register, attacker="case-study")

    assert not [row for row in data.rows if row.adversary == "journalist"]
    assert ("Linkage to a register of named people", LISTED_ONCE) in data.not_run
    assert {row.adversary for row in data.rows if row.measure == "rational_success"} == {"prosecutor"}


def test_a_release_that_lacks_rows_of_people_counts_them():
    person, cells = _stays()
    table = _read(cells, person)
    indices = np.flatnonzero((person > 2) & (np.arange(len(person)) % 2 == 0))
    n_present = len(set(person[indices].tolist()))

    assumptions = unmask.audit(table.take(indices), original=table, origin=indices).assumptions

    assert any(f"has no row of {60 - n_present} of the 60 people" in assumption for assumption in assumptions)


def test_control_people_are_compared_with_people_of_several_rows():
    """Ages and values are unique to a person: with another row of theirs, no two people would be alike."""
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(800), rng.integers(1, 8, 800))
    cells = {"age": rng.integers(20, 80, 800)[person], "sex": rng.integers(0, 2, 800)[person]}
    cells["ill"] = rng.integers(0, 4, 800)[person]
    table = _read({name: [str(cell) for cell in column] for name, column in cells.items()}, person)
    members, control = (table.take(side) for side in (person < 400, person >= 400))

    evidence = AuditorKnowledge(original=members, control=control)
    result = unmask.audit(members, original=members, origin=np.arange(members.n_rows), control=control)

    assert len(evidence.shift.weight) == 400
    assert evidence.shift.is_similar
    assert any(
        "The 400 people of the control group are in no release" in assumption for assumption in result.assumptions
    )
    (row,) = (
        row
        for row in result.rows
        if row.control is not None
        and row.target == "ill"
        and (row.release, row.adversary, row.measure) == ("release", "prosecutor", HEAD)
    )
    assert row.control == pytest.approx(0.25, abs=0.09)  # four values, four standard errors of 400 people
    assert row.excess > 0.2
    membership_rows = [row for row in result.rows if row.target == "membership"]
    assert membership_rows
    assert max(row.n for row in membership_rows) <= 400  # of 400 control people half are judged, and as many members


def test_people_alone_in_a_printed_value_are_counted_not_their_rows():
    """A person of 70 comes three times; no other person is 70, nor 30. Two share 40."""
    person = np.array([0, 0, 0, 1, 2, 3, 3])
    cells = {"age": ["70", "70", "70", "30", "40", "40", "30"], "sex": ["0"] * 7, "ill": ["a"] * 7}
    table = _read(cells, person)
    release = Table.read({"age": ["[30, 70]"] * 7, "sex": ["0"] * 7}, quasi_identifiers=["age", "sex"])

    age, sex = printed_values(release, table)

    assert (age.values, age.alone, age.people) == (2, 1, 4)
    assert (sex.values, sex.alone, sex.people) == (1, 0, 4)


def test_an_attacker_who_tries_rows_finds_people_with_several_sooner():
    """Five of ten equal rows are one person's: half of the tries find them, as with two people."""
    person = np.array([0] * 5 + [1] * 2 + [2, 3, 4])
    table = _read({"age": ["30"] * 10, "sex": ["0"] * 10, "ill": ["a"] * 10}, person)
    scene = Release("release", table).attacked(np.arange(10), AuditorKnowledge(original=table).known)

    run = scene.identify("somebody", scene.link())
    audited = run.score([success_probability, effective_set_size, calibration_error])

    first = run.rows.tolist().index(0)
    assert effective_set_size.per_target(run.belief)[first] == pytest.approx(2)
    assert success_probability.per_target(run.belief)[first] == pytest.approx(1 / 2)
    assert audited.not_run == (("calibration_error", "a record is picked, and the truth is about people"),)


def test_questions_about_one_row_of_a_person_are_not_asked():
    person, cells = _stays(people=200)
    table = _read(cells, person)
    members, control = (table.take(side) for side in (person < 100, person >= 100))
    parts = ("age",), ("sex", "ill")

    result = unmask.audit(
        members, original=members, origin=np.arange(members.n_rows), control=control, protection=Identity(), parts=parts
    )

    reasons = dict(result.not_run)
    assert reasons["Singling out"] == SEVERAL_ROWS
    (linked,) = (row for row in result.rows if row.measure == "parts_linked")
    assert linked.n == 100


def test_the_list_of_those_at_risk_says_how_many_records_fit_them():
    person = np.array([0] * 5 + [1] * 2 + [2, 3, 4])
    table = _read({"age": ["30"] * 10, "sex": ["0"] * 10, "ill": ["a"] * 10}, person)
    watched = Watched("row")

    audit_tables({"release": table}, AuditorKnowledge(table, origins={"release": np.arange(10)}, watched=watched))

    risks = {(risk.row, round(risk.probability, 9)) for risk in watched.found if risk.adversary == "prosecutor"}
    assert risks == {*((row, 0.5) for row in range(5)), (5, 0.2), (6, 0.2)}  # one in ten is a guess
    assert {risk.reason for risk in watched.found if risk.adversary == "prosecutor"} == {"10 candidates fit"}


@pytest.mark.parametrize("seed", range(10))
def test_picking_one_of_the_likeliest_rows_is_right_as_often_as_by_enumeration(seed):
    """Rows are drawn as they are believed, and one of the likeliest is picked: how often are both of one person?"""
    rng = np.random.default_rng(seed)
    person = rng.integers(0, 4, 9)
    p = rng.choice([0.0, 1.0, 2.0, 3.0], (6, 9)) + np.eye(6, 9)
    p /= p.sum(axis=1, keepdims=True)
    belief = Posterior.from_dense(p)

    realized = success_probability.per_target(find_any_record(belief, Truth(np.arange(6), person=person)))

    for row, expected in zip(p, realized, strict=True):
        tops = np.flatnonzero(np.isclose(row, row.max()))
        assert expected == pytest.approx(np.mean([row[person == person[top]].sum() for top in tops]))


def test_no_cell_of_the_list_of_those_at_risk_is_a_formula():
    hostile = "=HYPERLINK(0)"
    risks = [AtRisk(hostile, row, hostile, hostile, 0.5, f"{hostile} fits") for row in (hostile, 3)]
    rows = list(csv.reader(io.StringIO(Watched("row", risks).text())))
    assert [cell for line in rows for cell in line if is_formula(cell)] == []
    assert rows[1] == [f"'{hostile}", f"'{hostile}", f"'{hostile}", f"'{hostile}", "0.5", f"'{hostile} fits"]
    assert rows[2][1] == "3"


def test_entropies_and_anonymity_sets_of_people_with_several_rows_count_people():
    rng, rows = np.random.default_rng(4), []
    for person in range(40):
        age, sex = int(rng.integers(2, 5)) * 10, "fm"[rng.integers(2)]
        rows += [(f"P{person}", age + 10 * int(rng.random() < 0.2), sex) for _ in range(rng.integers(1, 9))]
    people, ages, sexes = zip(*rows, strict=True)
    cells = {"who": people, "age": ages, "sex": sexes}
    table = Table.read({n: list(c) for n, c in cells.items()}, quasi_identifiers=["age", "sex"], person="who")
    classes = {}
    for owner, *cell in rows:
        classes.setdefault(tuple(cell), []).append(owner)
    shares = {cell: np.unique(met, return_counts=True)[1] / len(met) for cell, met in classes.items()}
    often = dict(zip(*np.unique(people, return_counts=True), strict=True))
    of_class = {
        "hartley_entropy_bits": {cell: np.log2(len(p)) for cell, p in shares.items()},
        "shannon_entropy_bits": {cell: -(p * np.log2(p)).sum() for cell, p in shares.items()},
    }
    of_class["effective_set_size"] = {cell: 2**bits for cell, bits in of_class["shannon_entropy_bits"].items()}
    of_class["information_gain_bits"] = {c: np.log2(40) - b for c, b in of_class["shannon_entropy_bits"].items()}
    for report in (unmask.audit(table), unmask.audit(table, original=table, origin=np.arange(len(rows)))):
        by_measure = {
            r.measure: r
            for r in report.rows
            if (r.release, r.adversary, r.target) == ("release", "prosecutor", "identity")
        }
        for name, value in of_class.items():
            mean = sum(value[tuple(cell)] / often[owner] for owner, *cell in rows) / 40
            worst = max if name == "information_gain_bits" else min
            assert (by_measure[name].posterior, by_measure[name].worst) == pytest.approx(
                (mean, worst(value.values())), abs=1e-6
            )
