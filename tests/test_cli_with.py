"""`unmask protect --with`: a protection of tables by its name, typed or in a document."""

import pytest
from click.testing import CliRunner

from unmask.cli import main

LATTICE = "tables.Lattice:k=2:suppression=0.25:levels={age=[0,5,10]}"
DOCUMENT = """
[data]
file = "people.csv"
[columns]
age = "quasi-identifier"
ill = "sensitive"
[[protections]]
use = "tables.Lattice"
with = { k = 2, suppression = 0.25, levels = { age = [0, 5, 10] } }
"""


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("age,ill\n30,a\n31,b\n32,a\n50,b\n51,b\n79,a\n")
    (tmp_path / "unmask.toml").write_text(DOCUMENT)
    return tmp_path


def protected(*arguments):
    return CliRunner().invoke(main, ["protect", *arguments, "-o", "release.csv", "--force"])


def test_a_lattice_by_its_name_is_that_of_the_document(people):
    assert protected("people.csv", "-q", "age", "-s", "ill", "--with", LATTICE).exit_code == 0
    typed = (people / "release.csv").read_text()
    assert typed.count('"[30, 35)"') == 3
    assert "79" not in typed
    assert protected("unmask.toml").exit_code == 0
    assert (people / "release.csv").read_text() == typed


@pytest.mark.usefixtures("people")
def test_the_command_as_a_document_names_it():
    plan_text = protected("people.csv", "-q", "age", "-s", "ill", "--with", LATTICE, "--as-plan").stdout
    assert 'use = "tables.Lattice"' in plan_text
    assert "suppression = 0.25" in plan_text
    assert "Mondrian" not in plan_text


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--with", LATTICE, "--k", "3"), "are those of Mondrian"),
        (("--with", LATTICE, "--level", "age=5"), "are those of Mondrian"),
        (("--with", "tables.Latice"), "Lattice"),
        (("--with", "graphs.KDegree"), "expected one of the protections of tables"),
        (("--with", LATTICE, "--engine", "duckdb"), "--with needs the table in memory"),
    ],
)
def test_contradictory_options_are_one_sentence(options, message):
    result = protected("people.csv", "-q", "age", "-s", "ill", *options)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize("name", ["Suppress", "tables.Suppress"])
def test_the_domain_of_a_protection_may_be_left_out(people, name):
    assert protected("people.csv", "-q", "age", "-s", "ill", "--person", "row", "--with", f"{name}:k=1").exit_code == 0
