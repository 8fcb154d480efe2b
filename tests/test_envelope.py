"""Every command prints one JSON object of one form, which its JSON Schema describes."""

import hashlib
import json
import math

import click
import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from fastjsonschema import JsonSchemaValueException

import unmask as package
from tests.envelopes import SCHEMA, parsed, rows_of
from unmask.cli import main
from unmask.results import SCHEMA as VERSION
from unmask.results import as_json, plain

ROLES = ("-q", "age,zip", "-s", "job")


def write(path, head, rows):
    path.write_text("\n".join(",".join(map(str, row)) for row in (head, *rows)) + "\n")
    return path


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A folder with a file for every command, and the results of a study."""
    folder = tmp_path_factory.mktemp("house")
    rng = np.random.default_rng(3)
    rows = list(zip(rng.integers(18, 80, 120), rng.integers(100, 109, 120), rng.choice(["a", "b"], 120), strict=True))
    write(folder / "people.csv", ("age", "zip", "job"), rows)
    write(folder / "net.csv", ("u", "v"), {tuple(sorted(rng.choice(60, 2, replace=False))) for _ in range(500)})
    write(folder / "truth.csv", ("item", "subject"), [(f"i{i}", f"s{i // 3}") for i in range(60)])
    write(folder / "guess.csv", ("item", "cluster"), [(f"i{i}", f"c{i // 4}") for i in range(60)])
    write(folder / "flip.csv", ("", "0", "1"), [("0", 0.8, 0.2), ("1", 0.3, 0.7)])
    write(folder / "prior.csv", ("secret", "p"), [("0", 0.5), ("1", 0.5)])
    (folder / "plan.toml").write_text(
        f'seeds = 1\n[[data]]\nuse = "tables.file"\nfile = "{folder / "people.csv"}"\nname = "people"\n'
        'quasi_identifiers = ["age", "zip"]\nsensitive = "job"\n[[protections]]\nuse = "tables.Mondrian"\n'
        'with = { k = 4 }\n[[adversaries]]\nuse = "tables.ClassAttack"\n'
        "[publisher]\nbenefit = 100\nloss = 1\n[[attackers]]\ngain = 5\nmax_fines = 0\n"
    )
    for words in (
        ("protect", "people.csv", *ROLES, "--k", "5", "-o", "release.csv", "--origin", "origin.csv"),
        ("study", "plan.toml", "-o", "run"),
    ):
        assert run(folder, words).exit_code == 0
    return folder


def run(folder, words):
    placed = [str(folder / word) if (folder / word).exists() or word in MADE else word for word in words]
    return CliRunner().invoke(main, placed)


MADE = ("release.csv", "origin.csv", "run", "k3.csv", "separated.txt", "m.csv", "tables")
"""Files that the commands write."""

COMMANDS = [
    ("audit", "release.csv", *ROLES, "--original", "people.csv", "--origin", "origin.csv", "--attacker", "case-study"),
    ("audit", "release.csv", *ROLES, "--engine", "duckdb"),
    ("audit", "graph", "net.csv", "--overlap", "0.8,0.9", "--attack", "Nar09", "--runs", "1", "--seeds", "random.25:9"),
    ("audit", "channel", "flip.csv"),
    ("audit", "linkage", "--truth", "truth.csv", "--guess", "guess.csv"),
    ("protect", "people.csv", *ROLES, "--k", "3", "-o", "k3.csv"),
    ("protect", "graph", "net.csv", "--with", "IdentitySeparation:minimum_degree=2", "-o", "separated.txt"),
    ("protect", "aggregates", "people.csv", "--tables", "zip*job", "--round", "5", "-o", "tables"),
    ("audit", "aggregates", "tables", "--original", "people.csv"),
    ("design", "--prior", "prior.csv", "--budget", "0.2", "-o", "m.csv"),
    ("price", "1-5", "--attacker", "case-study"),
    ("price", "release.csv", *ROLES),
    ("deter", "people.csv", *ROLES),
    ("game", "plan.toml"),
    ("study", "plan.toml", "-o", "run"),
    ("study", "plan.toml", "-o", "run", "--dry-run"),
    ("choose", "run", "--policy", "success_probability<=1"),
    ("choose", "columns", "people.csv", *ROLES),
    ("columns", "people.csv"),
    ("deter", "people.csv", *ROLES, "--attacker", "case-study"),
    ("advise", "--what", "identity"),
    ("advise", "identity", "--graph", "net.csv", "--node", "5"),
    ("list",),
    ("report", "run"),
    ("check", "tables.Identity"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_prints_the_same_envelope(house, words):
    done = run(house, (*words, "--json"))
    assert done.exit_code == 0, done.stderr
    data = parsed(done.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(data)
    assert (data["schema"], data["unmask"]) == (VERSION, package.__version__)
    assert " ".join(words).startswith(data["command"])
    assert data["results"]
    assert str(house) not in done.stdout.replace(json.dumps(str(house / "run" / "results.parquet")), "")


def test_every_command_with_json_is_asked():
    names = main.list_commands(click.Context(main))
    commands = {name: main.get_command(click.Context(main), name) for name in names}
    with_json = {
        name for name, command in commands.items() if any("--json" in option.opts for option in command.params)
    }
    assert with_json == {name for name in commands for words in COMMANDS if " ".join(words).startswith(name)}


def test_inputs_have_full_digests_unless_their_owner_keeps_them(house):
    data = parsed(run(house, (*COMMANDS[0], "--json")).stdout)
    digest = hashlib.sha256((house / "release.csv").read_bytes()).hexdigest()
    by_name = {entry["name"]: entry for entry in data["inputs"]}
    assert by_name["release.csv"] == {"role": "releases", "name": "release.csv", "sha256": digest, "rows": 120}
    assert {name: entry["sha256"] for name, entry in by_name.items()} == {
        "release.csv": digest, "people.csv": None, "origin.csv": None,
    }  # fmt: skip


def test_a_network_of_which_the_release_is_made_is_kept(house):
    output = parsed(run(house, (*COMMANDS[2], "--json")).stdout)
    assert [(entry["name"], entry["sha256"]) for entry in output["inputs"]] == [("net.csv", None)]


def test_omitted_analyses_have_their_reason_and_criteria_are_a_table(house):
    data = parsed(run(house, ("audit", "release.csv", *ROLES, "--json")).stdout)
    assert {"what": "Realized success", "why": "needs the original table (--original)"} in data["not_run"]
    assert rows_of(data, "criteria", release="release")["k"] >= 5
    assert data["tables"]["distribution"][0]["shares"]


def test_infinities_are_texts_and_what_is_undefined_is_null():
    assert plain([math.inf, -math.inf, math.nan, 0.1 + 0.2]) == ["Infinity", "-Infinity", None, 0.3]
    data = parsed(as_json("price", results=[{"fine": math.inf}], tables={"none": []}))
    assert (data["results"], data["tables"], float(data["results"][0]["fine"])) == (
        [{"fine": "Infinity"}], {}, math.inf,
    )  # fmt: skip


def test_the_schema_is_unique_and_refuses_unknown_keys():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    extended = {**parsed(as_json("list")), "more": 1}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(extended, SCHEMA)
    with pytest.raises(JsonSchemaValueException):
        parsed(json.dumps(extended))
