"""Options that take names: a repeated option adds names, on every command, and a document lists them."""

import tomllib
from pathlib import Path

import click
import pytest

from tests.commands import invoke
from unmask.cli import main
from unmask.cli.option_types import Names


def _plan(*words):
    done = invoke(*words, "--as-plan")
    assert done.exit_code == 0, done.output
    return tomllib.loads(done.stdout)


def _commands():
    context = click.Context(main)
    return {name: main.get_command(context, name) for name in main.list_commands(context)}


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,name,age,sex,zip,ill,pay,note\n" + "1,a,30,f,10,x,5,n\n2,b,31,m,11,y,6,n\n" * 3)


@pytest.mark.parametrize("command", sorted(_commands()))
def test_every_option_of_names_adds_up(command):
    for option in _commands()[command].params:
        is_named = option.name in NAMES or (command, option.name) in NAMES_OF_DOMAINS
        assert isinstance(option.type, Names) == is_named, option.name
        assert not isinstance(option.type, Names) or option.multiple


NAMES = {"quasi_identifiers", "sensitive", "keep", "identifiers", "replicate_weights", "na", "transition"}

NAMES_OF_DOMAINS = {
    ("audit graph", "attacks"), ("audit graph", "seeds"), ("audit aggregates", "knows"),
    ("protect aggregates", "tables"),
}  # fmt: skip
"""Options that elsewhere are something else."""


def test_repeated_roles_add_up_in_audit_and_protect(people):
    roles = ["-q", "age", "-q", "sex,zip", "-s", "ill", "-s", "pay", "--keep", "note", "--identifiers", "id"]
    options = ["--identifiers", "name", "--na", "x", "--na", "y"]
    for command, output in (("audit", []), ("protect", ["-o", "r.csv"])):
        plan = _plan(command, "people.csv", *roles, *options, *output)
        together_plan = _plan(
            command, "people.csv", "-q", "age,sex,zip", "-s", "ill,pay", "--keep", "note",
            "--identifiers", "id,name", "--na", "x,y", *output,
        )  # fmt: skip
        assert plan == together_plan
        assert [name for name, role in plan["columns"].items() if role == "quasi-identifier"] == ["age", "sex", "zip"]


def test_an_audit_with_repeated_options_attacks_with_all_columns(people):
    split = invoke(
        "audit", "people.csv", "-q", "age", "-q", "zip", "-s", "ill", "--identifiers", "id", "--person", "row"
    )
    audited = invoke("audit", "people.csv", "-q", "age,zip", "-s", "ill", "--identifiers", "id", "--person", "row")

    assert split.exit_code == 0
    assert split.stdout == audited.stdout


def test_names_of_a_document_may_hold_a_comma_and_the_command_line_wins(people):
    Path("odd.csv").write_text('"age, years",sex\n30,f\n31,m\n')
    Path("unmask.toml").write_text(
        '[data]\nfile = "odd.csv"\n[columns]\n"age, years" = "quasi-identifier"\nsex = "keep"\n'
    )

    assert _plan("audit", "unmask.toml")["columns"] == {"age, years": "quasi-identifier", "sex": "keep"}
    assert _plan("audit", "unmask.toml", "-q", "sex", "--keep", "")["columns"] == {"sex": "quasi-identifier"}


def test_attacks_of_a_network_add_up_and_are_written_as_a_list(people):
    Path("g.csv").write_text("a,b\n1,2\n2,3\n3,1\n3,4\n")
    plan = invoke("audit", "graph", "g.csv", "--attack", "all", "--transition", "5", "--transition", "6,7", "--as-plan")
    Path("g.toml").write_text(plan.stdout)

    assert tomllib.loads(plan.stdout)["graph"]["transition"] == ["5", "6", "7"]
    assert _plan("audit", "graph", "g.toml")["graph"] == tomllib.loads(plan.stdout)["graph"]


def test_a_document_may_say_that_no_text_is_missing(people):
    Path("unmask.toml").write_text('[data]\nfile = "people.csv"\nna = []\n[columns]\nage = "quasi-identifier"\n')

    assert _plan("audit", "unmask.toml")["data"]["na"] == []
    assert _plan("audit", "people.csv", "-q", "age", "--na", "")["data"]["na"] == []
    assert "na" not in _plan("audit", "people.csv", "-q", "age")["data"]
