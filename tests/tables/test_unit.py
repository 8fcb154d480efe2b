"""One person as the unit: names never join rows; unique numbers prove it, otherwise the audit asks."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unmask
from tests.commands import invoke
from unmask.core.errors import UnmaskError
from unmask.tables import Table
from unmask.tables.unit import key_rank

NAMES = ("Name", "Vorname", "Nachname", "surname", "first_name", "LastName", "fullName", "Strasse", "home_address")
NUMBERS = (
    "PatientenNr",
    "patient_id",
    "MemberNo",
    "customer",
    "resp_id",
    "Kundennummer",
    "mrn",
    "person_number",
    "pid",
)


def _cells(n, n_people, seed=0):
    rng = np.random.default_rng(seed)
    person = rng.integers(0, n_people, n)
    ages, sexes = rng.integers(20, 30, n), rng.integers(0, 2, n)
    return person, {"age": ages.tolist(), "sex": sexes.tolist(), "ill": rng.integers(0, 3, n).tolist()}


@given(
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True),
    st.none() | st.sampled_from(NUMBERS),
    st.integers(2, 9),
    st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_names_never_join_rows(names, number, n_names, seed):
    person, cells = _cells(40, n_names, seed)
    called = {name: [f"Ann {'abcdefghijk'[number]}" for number in person] for name in names}
    numbered = {} if number is None else {number: [str(5000 + index) for index in range(40)]}

    table = Table.read(
        {**called, **numbered, **cells}, quasi_identifiers=["age", "sex"], identifiers=[*called, *numbered]
    )

    assert table.person is None
    assert table.n_people == 40
    assert ("assumed" in table.unit) == (number is None)
    assert number is None or f"no two rows have the same {number}" in table.unit


@given(st.sampled_from(NUMBERS), st.integers(2, 30), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_a_number_that_rows_share_is_asked_about_and_the_answer_decides(number, n_people, seed):
    person, cells = _cells(60, n_people, seed)
    source = {number: [f"P{number}" for number in person], **cells}
    roles = {"quasi_identifiers": ["age", "sex"], "identifiers": number}

    with pytest.raises(UnmaskError, match=f"Is one row one person.*{len(set(person.tolist()))} different values in 60"):
        Table.read(source, **roles)

    assert Table.read(source, **roles, person="row").person is None
    joined = Table.read(source, **roles, person=number)
    assert joined.n_people == len(set(person.tolist()))
    assert "stated" in joined.unit


def test_a_unique_number_of_stays_proves_nothing_where_patients_share_a_number():
    person, cells = _cells(60, 20)
    source = {"stay_id": list(range(60)), "patient_id": person.tolist(), **cells}

    with pytest.raises(UnmaskError, match="'patient_id' has"):
        Table.read(source, quasi_identifiers="age", identifiers=["stay_id", "patient_id"])


@pytest.mark.parametrize(
    "name", ["customer_age", "city_id", "member_since", "household_id", "doctor_id", "zip", "code"]
)
def test_columns_about_people_and_numbers_of_other_things_do_not_number_people(name):
    assert key_rank(name, 100, identifies=False) == 0


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    lines = ["PatientenNr,Name,age,sex,ill"]
    for index in range(600):
        name = f"{rng.choice(['Ann', 'Bob', 'Cid'])} {rng.choice(['Lee', 'Moe', 'Roe'])}"
        lines.append(
            f"{10_000 + index},{name},{rng.integers(20, 60)},{rng.choice(['f', 'm'])},{rng.choice(['flu', 'hiv'])}"
        )
    Path("people.csv").write_text("\n".join(lines) + "\n")
    person = rng.integers(0, 90, 600)
    lines = ["stay,patient_id,Name,age,sex,ill"]
    lines += [
        f"{index},P{number},N{number % 9},{20 + number % 40},{'fm'[number % 2]},{rng.choice(['flu', 'hiv'])}"
        for index, number in enumerate(person)
    ]
    Path("stays.csv").write_text("\n".join(lines) + "\n")
    return len(set(person.tolist()))


def test_an_audit_counts_each_patient_with_a_number_of_their_own(files):
    roles = ["-q", "age,sex", "-s", "ill"]
    for identifiers in ([], ["--identifiers", "Name"], ["--identifiers", "PatientenNr,Name"]):
        data = json.loads(invoke("audit", "people.csv", *roles, *identifiers, "--json").stdout)
        assert {row["n"] for row in data["results"] if row["target"] == "identity"} == {600}
        assert not any("rows are of" in warning for warning in data["warnings"])
    assert data["tables"]["about"][0]["unit"] == "one row is one person (no two rows have the same PatientenNr)"


def test_a_first_document_says_what_counts_or_asks(files):
    assert "no two rows have the same PatientenNr" in invoke("columns", "people.csv").stderr
    assert invoke("init", "people.csv", "-o", "people.toml").exit_code == 0
    assert "Unit of counting: one row is one person" in Path("people.toml").read_text()
    assert "classes of at least" in invoke("protect", "people.toml", "-o", "r.csv").stderr

    for command in ("columns", "init"):
        assert f"Column 'patient_id' has {files} different values in 600 rows" in invoke(command, "stays.csv").stderr
    refused = invoke("protect", "unmask.toml", "-o", "r2.csv")
    assert (refused.exit_code, Path("r2.csv").exists()) == (2, False)
    assert "Is one row one person?" in refused.stderr


@pytest.mark.parametrize(("answer", "people"), [("row", None), ("patient_id", 90)])
def test_the_answer_is_part_of_the_document_and_of_certificate_and_page(files, answer, people):
    assert invoke("init", "stays.csv", "--person", answer).exit_code == 0
    assert tomllib.loads(Path("unmask.toml").read_text())["data"]["person"] == answer
    assert invoke("protect", "unmask.toml", "-o", "release.csv", "--origin", "origin.csv").exit_code == 0

    audited = invoke("audit", "unmask.toml", "--json", "--report", "page.html")
    data = json.loads(audited.stdout)

    assert ("stated" in data["tables"]["about"][0]["unit"]) is True
    assert any("rows are of" in warning for warning in data["warnings"]) == (people is not None)
    assert "Unit of counting: " in Path("page.html").read_text()
    assert invoke("certify", "unmask.toml", "-o", "c.json").exit_code == 0
    assert "Unit of counting" in Path("c.html").read_text()
    printed = tomllib.loads(invoke("audit", "unmask.toml", "--as-plan").stdout)
    assert printed["data"]["person"] == answer


def test_an_engine_asks_too_and_counts_rows_alone(files):
    words = ["-q", "age,sex", "-s", "ill", "--engine", "duckdb", "--json"]
    open_question = invoke("audit", "stays.csv", *words, "--identifiers", "patient_id")
    joined = invoke("audit", "stays.csv", *words, "--person", "patient_id")
    rows = invoke("audit", "stays.csv", *words, "--identifiers", "patient_id", "--person", "row")
    proved = invoke("audit", "people.csv", *words, "--identifiers", "PatientenNr,Name")

    assert (open_question.exit_code, "Is one row one person?" in open_question.stderr) == (2, True)
    assert (joined.exit_code, "an engine counts rows" in joined.stderr) == (2, True)
    assert "stated" in json.loads(rows.stdout)["tables"]["about"][0]["unit"]
    assert "PatientenNr" in json.loads(proved.stdout)["tables"]["about"][0]["unit"]


def test_a_kept_number_can_tell_the_person_of_a_row(files):
    kept_table = Table.read("stays.csv", quasi_identifiers="age", keep="patient_id", person="patient_id")
    unkept_table = Table.read("stays.csv", quasi_identifiers="age", person="patient_id")

    assert kept_table.n_people == unkept_table.n_people == files
    with pytest.raises(UnmaskError, match="is the weight"):
        Table.read("stays.csv", quasi_identifiers="age", weight="stay", person="stay")


def test_a_study_counts_the_same_people_as_an_audit(files):
    table = unmask.read_table("stays.csv", quasi_identifiers=["age", "sex"], sensitive="ill", person="patient_id")

    assert f"600 rows are of {files} people" in " ".join(unmask.audit(table).cautions)
