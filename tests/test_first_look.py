"""`unmask look`: roles are guessed, the table is audited as it is, and protections are tried."""

import csv
import gzip
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pytest

import unmask
from tests.commands import check_one_sentence, invoke, read_page
from unmask.first_document import DEFAULT_K, propose_k
from unmask.policy import read_policies


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _write_people(path: str, n_rows: int = 240, rows_of_person: int = 1) -> None:
    rng = np.random.default_rng(0)
    with Path(path).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["patient_id", "age", "sex", "zip", "diagnosis"])
        for row in range(n_rows):
            person = row // rows_of_person
            zip_code = rng.choice([10115, 10117, 20095])
            cells = rng.integers(20, 60), rng.choice(["f", "m"]), zip_code, rng.choice(["flu", "asthma", "none"])
            writer.writerow([f"Zebedee{person}", *cells])


def test_look_guesses_roles_judges_the_table_and_names_the_k_that_is_enough(folder):
    _write_people("people.csv")

    done = invoke("look", "people.csv")

    assert done.exit_code == 0, done.stderr
    assert "patient_id               240  identifier        differs in every row" in done.stdout
    assert "One row is one person (no two rows have the same patient_id)." in done.stdout
    assert "Not acceptable under EMA 0.09" in done.stdout
    assert "What next: protect with k = 12, which meets every tested condition" in done.stdout
    assert "next: unmask init people.csv" in done.stderr
    page = Path("people-look.html").read_text(encoding="utf-8")
    assert "Roles of the columns" in page
    assert "Zebedee" not in page + done.output
    assert "<pre>unmask init people.csv</pre>" in read_page(page)


def test_the_next_command_after_a_look_keeps_the_stated_roles(folder):
    _write_people("people.csv")

    done = invoke("look", "people.csv", "-q", "age,sex", "-s", "diagnosis", "--no-changes")

    assert "next: unmask init people.csv -q age,sex -s diagnosis\n" in done.stderr


def test_the_next_command_after_a_look_protects_kept_columns_if_nothing_else_is_enough(folder):
    _write_people("people.csv")

    done = invoke("look", "people.csv", "-q", "age,sex", "--keep", "zip", "-s", "diagnosis")

    assert "What next: also protect kept columns, k = 12, which meets every tested condition" in done.stdout
    assert "next: unmask init people.csv -s diagnosis -q age,sex,zip\n" in done.stderr
    assert invoke("init", "people.csv", "-s", "diagnosis", "-q", "age,sex,zip").exit_code == 0
    assert invoke("protect", "unmask.toml", "-o", "release.csv", "--origin", "origin.csv").exit_code == 0
    assert "\nAcceptable under" in invoke("audit", "unmask.toml").stdout


def test_a_stated_policy_is_kept_by_the_next_command_and_met_by_its_k(folder):
    _write_people("people.csv")

    look = invoke("look", "people.csv", "--policy", "k>=20", "--policy", "statistical-office")
    (following,) = [line for line in look.stderr.splitlines() if line.startswith("next: unmask ")]
    init = invoke(*shlex.split(following.removeprefix("next: unmask ")))
    protect = invoke("protect", "unmask.toml", "-o", "release.csv", "--origin", "origin.csv")
    audit = invoke("audit", "unmask.toml", "--json")

    assert following == "next: unmask init people.csv --policy 'k>=20' --policy statistical-office"
    assert [done.exit_code for done in (init, protect, audit)] == [0, 0, 0], audit.stderr
    document = tomllib.loads(Path("unmask.toml").read_text(encoding="utf-8"))
    assert document["protections"] == [{"use": "tables.Mondrian", "with": {"k": 20}}]
    assert [condition["require"] for condition in document["policy"]] == [
        *("k>=3", "alpha<=0.9", "identity:success_probability.worst<=0.34", "k>=20")
    ]


@pytest.mark.parametrize(
    ("conditions", "k"),
    [
        (["identity:success_probability.worst <= 0.05"], 20),
        (["success_probability.worst < 0.05"], 21),
        (["k >= 10.5", "k > 3"], 11),
        (["insider:success_probability.worst <= 0.05"], DEFAULT_K),
        (["success_probability <= 0.05"], DEFAULT_K),
        (["k <= 5", "k >= -1", "success_probability.worst <= 1e-320"], DEFAULT_K),
    ],
)
def test_the_proposed_k_is_the_smallest_that_meets_the_conditions(conditions, k):
    assert propose_k(read_policies(conditions)) == k


def test_a_missing_document_is_answered_by_the_command_that_writes_one(folder):
    done = invoke("certify", "unmask.toml", "-o", "certificate.json")

    check_one_sentence(done, "document 'unmask.toml' does not exist; check the path, or write one: unmask init TABLE")


def test_the_suggested_k_of_a_first_look_is_the_k_of_the_first_document(folder):
    _write_people("people.csv")
    invoke("init", "people.csv")
    change = next(record for record in unmask.look("people.csv").tables["changes"] if record["missed"] == 0)

    assert f"k = {change['k']}" in Path("unmask.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(("person", "people"), [("row", "240 people"), ("patient_id", "120 people")])
def test_look_counts_the_unit_that_the_owner_states(folder, person, people):
    _write_people("visits.csv", rows_of_person=2)

    done = invoke("look", "visits.csv", "--person", person, "--no-changes")

    assert done.exit_code == 0, done.stderr
    assert people in done.stdout
    assert "What next" not in done.stdout


def test_look_asks_for_the_unit_and_writes_nothing_without_an_answer(folder):
    _write_people("visits.csv", rows_of_person=2)

    done = invoke("look", "visits.csv")

    assert done.exit_code == 2
    assert "Error: Is one row one person? Column 'patient_id' has 120 different values in 240 rows." in done.stderr
    assert not Path("visits-look.html").exists()


def test_the_column_of_households_has_no_other_role(folder):
    _write_people("people.csv")
    cells = Path("people.csv").read_text().splitlines()
    lines = [f"{cells[0]},town", *(f"{line},{row // 4}" for row, line in enumerate(cells[1:]))]
    Path("people.csv").write_text("\n".join(lines) + "\n")

    done = invoke("look", "people.csv", "--household", "town", "--no-changes")

    assert done.exit_code == 0, done.stderr
    assert "An adversary who knows age, sex and zip of people" in done.stdout


def test_a_stated_role_replaces_the_guess(folder):
    _write_people("people.csv")

    result = unmask.look("people.csv", quasi_identifiers="age", sensitive=["zip"], changes=False)

    roles = {record["column"]: (record["role"], record["reason"]) for record in result.tables["columns"]}
    assert roles["zip"] == ("sensitive", "stated")
    assert roles["age"] == ("quasi-identifier", "stated")
    assert roles["sex"] == ("quasi-identifier", "others may know it")


def test_look_of_a_frame_and_of_its_file_agree(folder):
    _write_people("people.csv")
    with Path("people.csv").open(newline="") as file:
        frame = {name: list(cells) for name, *cells in zip(*csv.reader(file), strict=True)}

    of_file, of_frame = (unmask.look(source, changes=False) for source in ("people.csv", frame))

    assert [row["posterior"] for row in of_file.results] == [row["posterior"] for row in of_frame.results]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["name.csv"], "no column looks like a quasi-identifier; list the columns that an adversary may know with -q"),
        (["people.csv", "-q", "aeg"], "column 'aeg' is not in file 'people.csv'; did you mean 'age'?"),
        (["people.csv", "--policy", "k>>5"], "k>>5"),
        (["people.csv", "--person", "patient"], "column 'patient' is not in"),
        (["people.csv", "--report", "people.csv"], "people.csv exists"),
        (["people.csv", "--report", "people.csv", "--force"], "people.csv is an input of this command"),
        (["people.csv", "--report", "nowhere/page.html"], "folder nowhere does not exist"),
        (["empty.csv"], "empty.csv"),
        (["absent.csv"], "absent.csv"),
        (["people.csv", "-q", "age", "-s", "age"], "age"),
    ],
)
def test_look_answers_bad_input_in_one_sentence(folder, arguments, message):
    _write_people("people.csv")
    Path("name.csv").write_text("name\nann\nbob\n", encoding="utf-8")
    Path("empty.csv").write_text("", encoding="utf-8")

    done = invoke("look", *arguments)

    check_one_sentence(done, message)
    assert sorted(path.name for path in folder.iterdir()) == ["empty.csv", "name.csv", "people.csv"]


def test_the_page_of_a_compressed_table_has_the_name_of_the_table(folder):
    _write_people("people.csv")
    Path("people.csv.gz").write_bytes(gzip.compress(Path("people.csv").read_bytes()))

    done = invoke("look", "people.csv.gz", "--no-changes")

    assert done.exit_code == 0
    assert done.stderr.startswith("wrote people-look.html")


@pytest.mark.parametrize("name", ["absent.csv", "letter.docx"])
def test_a_file_that_cannot_be_read_is_the_first_problem_next_to_an_old_page(folder, name):
    Path("letter.docx").write_bytes(b"PK\x03\x04" + bytes(100))
    page = Path(name).with_name(f"{Path(name).stem}-look.html")
    page.write_text("old", encoding="utf-8")

    done = invoke("look", name)

    check_one_sentence(done, name)
    assert page.name not in done.stderr
    assert page.read_text(encoding="utf-8") == "old"


def test_the_commands_after_a_first_look_lead_to_a_certificate(folder):
    _write_people("people.csv")

    init = invoke("init", "people.csv")
    protect = invoke("protect", "unmask.toml", "-o", "release.csv", "--origin", "origin.csv")
    audit = invoke("audit", "unmask.toml", "--report", "audit.html")
    certify = invoke("certify", "unmask.toml", "-o", "certificate.json")

    assert [done.exit_code for done in (init, protect, audit, certify)] == [0, 0, 0, 0]
    assert "met  Largest re-identification risk" in audit.stdout
    assert "next: unmask certify unmask.toml -o certificate.json" in audit.stderr
