"""`unmask columns`, and audits that read every released column."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.commands import invoke
from tests.envelopes import parsed

NAMES = ("patient", "age", "sex", "town", "a very long label of a column indeed", "diagnosis")


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [
        [
            f"Zebedee{i}",
            rng.integers(20, 60),
            rng.choice(["f", "m"]),
            town := rng.choice(["Ux", "Vx"]),
            town + "!",
            "flu",
        ]
        for i in range(60)
    ]
    with Path("people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([NAMES, *rows])


def test_facts_of_every_column_as_json(people):
    done = invoke("columns", "people.csv", "-q", "age,sex", "--json")
    assert done.exit_code == 0, done.stderr
    data = parsed(done.stdout)
    facts = {result["name"]: result for result in data["results"]}
    assert [entry["rows"] for entry in data["inputs"]] == [60]
    assert list(facts) == list(NAMES)
    assert facts["patient"]["suggestion"] == "identifier"
    assert facts["age"]["role"] == "quasi-identifier"
    assert facts["patient"]["together"] == facts["patient"]["alone"] == 60
    assert [determined["column"] for determined in facts["town"]["determines"]] == [
        "a very long label of a column indeed"
    ]
    assert "Zebedee" not in done.output


@pytest.mark.parametrize("width", [80, 110])
def test_lines_fit_the_terminal_and_show_no_cell(people, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    done = invoke("columns", "people.csv", "-q", "age,sex")
    assert done.exit_code == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= width
    assert "differs in every row" in " ".join(done.stdout.split())
    assert "town determines a very long label of a column indeed" in done.stdout
    assert "Zebedee" not in done.output


def test_the_next_command_is_suggested_without_roles(people):
    message = invoke("columns", "people.csv").stderr
    assert "next: unmask protect people.csv" in message
    assert "--identifiers patient" in message


def test_without_a_quasi_identifier_the_command_asks_for_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    amounts = np.random.default_rng(0).lognormal(size=(40, 2)).round(3)
    np.savetxt("amounts.csv", amounts, delimiter=",", header="assets,profit", comments="")
    message = "no column looks like a quasi-identifier; list the columns that an adversary may know with -q"
    assert message in invoke("columns", "amounts.csv").stderr
    assert invoke("init", "amounts.csv").exit_code == 0
    for command in ("audit", "protect"):
        done = invoke(command, "unmask.toml", *(["-o", "release.csv"] if command == "protect" else []))
        assert done.exit_code == 2
        assert "no column of unmask.toml is a quasi-identifier; set one" in done.stderr


def test_a_role_for_a_column_that_is_not_there_is_refused(people):
    done = invoke("columns", "people.csv", "-q", "agee")
    assert done.exit_code == 2
    assert "did you mean 'age'?" in done.stderr


def test_an_audit_counts_released_columns_without_a_role(people):  # T2, U3
    data = parsed(invoke("audit", "people.csv", "-q", "age,sex", "-s", "diagnosis", "--json").stdout)
    assert data["warnings"][0].startswith("an adversary may know released columns without a role: ")
    announced = {
        row["adversary"]: row["posterior"] for row in data["results"] if row["measure"] == "success_probability"
    }
    assert announced["acquaintance"] == 1
    assert [column_row["name"] for column_row in data["tables"]["exposure_columns"]] == list(NAMES)


def test_an_original_is_read_with_the_columns_that_leave_unchanged(people):
    roles = ("-q", "age,sex", "-s", "diagnosis")
    invoke("protect", "people.csv", *roles, "--keep", "town", "--k", "5", "-o", "release.csv", "--origin", "origin.csv")
    done = invoke("audit", "release.csv", *roles, "--original", "people.csv", "--origin", "origin.csv", "--json")
    assert done.exit_code == 0, done.stderr
    data = parsed(done.stdout)
    measured = {(row["adversary"], row["measure"]) for row in data["results"] if row["release"] == "release"}
    assert {("acquaintance", "realized_success"), ("order reader", "realized_success")} <= measured
    assert "exposure_restored" not in data["tables"]


def test_a_plain_gate_is_not_about_insiders(people):
    gate = invoke(
        "audit",
        "people.csv",
        "-q",
        "sex",
        "-s",
        "age",
        "--identifiers",
        "patient",
        "--policy",
        "identity:success_probability<=0.2",
    )
    assert gate.exit_code == 0, gate.stderr
