"""A document with a name that does not exist is rejected, with its line and a suggestion, before anything runs."""

import pytest
from click.testing import CliRunner

from unmask.cli import main

DOCUMENT = """\
title = "A document"
seeds = 1
measures = ["success_probability", "utility"]

[data]
file = "people.csv"

[columns]
age = "quasi-identifier"
ill = "sensitive"

[budget]
seconds = 60

[audit]
seed = 3

[certificate]
purpose = "research"

[[protections]]
use = "tables.Mondrian"
with = { k = 2 }

[[adversaries]]
use = "tables.ClassAttack"
knows = { targets = 10 }

[[adversaries]]
name = "learner of ill"
use = "tables.AttributeInference"
with = { sensitive = "ill" }

[publisher]
benefit = 1000
loss = 10

[[attackers]]
name = "broker"
attacker = "case-study"
gain = 500

[[policy]]
require = "success_probability.worst <= 0.9"
"""

MISSPELLED = [
    ("tables.ClassAttack", "tables.ClassAtack"),
    ("tables.AttributeInference", "tables.AttributInference"),
    ("sensitive = \"ill\" }", "sensitiv = \"ill\" }"),
    ("tables.Mondrian", "tables.Mondrain"),
    ("k = 2", "kk = 2"),
    ("targets = 10", "target = 10"),
    ("knows", "know"),
    ("with = { k", "wiht = { k"),
    ("seconds = 60", "secnods = 60"),
    ("seed = 3", "sede = 3"),
    ("purpose", "purpos"),
    ("benefit", "benfit"),
    ("gain = 500", "gian = 500"),
    ("[\"success_probability\"", "[\"succes_probability\""),
    ("\"utility\"", "\"utilty\""),
    ("\"success_probability.worst", "\"succes_probability.worst"),
    ("probability.worst", "probability.wurst"),
    ("require", "requir"),
    ("quasi-identifier", "quasi-identifer"),
    ("file =", "fiel ="),
    ("[certificate]", "[certifcate]"),
    ("title =", "titel ="),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("age,ill\n" + "".join(f"{30 + i // 4},{'ab'[i % 2]}\n" for i in range(40)))
    return tmp_path


COMMANDS = {
    "audit": ("audit", "plan.toml", "--report", "out.html"),
    "protect": ("protect", "plan.toml", "-o", "out.csv"),
    "study": ("study", "plan.toml", "-o", "out"),
    "game": ("game", "plan.toml", "--json"),
    "certify": ("certify", "plan.toml", "-o", "out.json"),
}


@pytest.mark.parametrize(("spelled", "misspelled"), MISSPELLED, ids=[misspelled for _, misspelled in MISSPELLED])
def test_a_misspelled_name_is_rejected_with_its_line_by_every_command(folder, spelled, misspelled):
    text = DOCUMENT.replace(spelled, misspelled, 1)
    (folder / "plan.toml").write_text(text)
    line = next(index for index, line in enumerate(text.splitlines(), 1) if misspelled in line)
    for command, words in COMMANDS.items():
        done = CliRunner().invoke(main, list(words))
        assert done.exit_code == 2, (command, done.output)
        assert f"line {line}:" in done.stderr, (command, done.stderr)
        assert "did you mean" in done.stderr or "expected" in done.stderr, (command, done.stderr)
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv", "plan.toml"]


def test_a_document_without_misspellings_runs(folder):
    (folder / "plan.toml").write_text(DOCUMENT)
    for command in ("audit", "protect", "study"):
        done = CliRunner().invoke(main, list(COMMANDS[command]))
        assert done.exit_code in (0, 3), (command, done.output)


def test_a_comment_above_is_not_taken_for_the_line(folder):
    misspelled = DOCUMENT.replace("tables.ClassAttack", "tables.ClassAtack")
    (folder / "plan.toml").write_text("# tables.ClassAtack is wrong\n" + misspelled)
    line = 2 + misspelled[: misspelled.index("tables.ClassAtack")].count("\n")
    done = CliRunner().invoke(main, ["audit", "plan.toml"])
    assert f"line {line}:" in done.stderr


DESIGN = """\
[channel]
channels = ["response.csv"]

[[protections]]
use = "channels.optimal_mechanism"
with = { budget = 0.2, epsilon = 1.5 }
"""


@pytest.mark.parametrize(
    ("spelled", "misspelled", "code"),
    [("", "", 0), ("optimal_mechanism", "optimal_mechanisn", 2), ("budget", "bugdet", 2), ("budget", "prior", 2)],
)
def test_a_document_may_name_a_design_and_its_parameters_and_no_others(folder, spelled, misspelled, code):
    (folder / "response.csv").write_text(",yes,no\nyes,0.75,0.25\nno,0.25,0.75\n")
    (folder / "plan.toml").write_text(DESIGN.replace(spelled, misspelled))
    done = CliRunner().invoke(main, ["audit", "channel", "plan.toml"])
    assert done.exit_code == code, done.output
    assert not code or f"{misspelled}'" in done.stderr


def test_a_share_of_zero_holds_back_no_person_in_every_command(folder):
    (folder / "plan.toml").write_text(DOCUMENT.replace('file = "people.csv"', 'file = "people.csv"\nhold_back = 0.0'))
    for command in ("audit", "protect", "study"):
        done = CliRunner().invoke(main, list(COMMANDS[command]))
        assert done.exit_code in (0, 3), (command, done.output)


def test_the_first_document_of_a_table_meets_its_own_policy(folder):
    rows = "".join(f"{20 + i % 50},{'fm'[i % 2]},{'ab'[i % 2]}\n" for i in range(400))
    (folder / "people.csv").write_text("age,sex,diagnosis\n" + rows)
    for words in (
        ("init", "people.csv"),
        ("protect", "unmask.toml", "-o", "release.csv", "--origin", "origin.csv"),
    ):
        done = CliRunner().invoke(main, list(words))
        assert done.exit_code == 0, done.output
    done = CliRunner().invoke(main, ["audit", "unmask.toml"])
    assert done.exit_code == 0, done.output
