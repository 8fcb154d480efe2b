"""Suggested roles: columns of a survey design, amounts, and the set of columns that an outsider plausibly knows."""

import tomllib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from unmask.cli import main
from unmask.data.column_names import design_role
from unmask.tables import Table
from unmask.tables.risk import column_facts


def _facts(columns):
    table = Table.read(columns, quasi_identifiers=list(columns))
    return {column_fact.name: column_fact for column_fact in column_facts(table.written, roles={})}


def _survey(n=300, seed=0):
    rng = np.random.default_rng(seed)
    household = rng.integers(0, n // 3, n)
    return {
        "age": rng.integers(18, 90, n),
        "sex": rng.integers(1, 3, n),
        "region": rng.integers(1, 9, n),
        "hhid": household + 1000,
        "strata": household % 4,
        "psu": household % 12,
        "samp_wgt": np.round(rng.uniform(40, 900, n), 2),
        **{f"repwgt{index}": np.round(rng.uniform(40, 900, n), 2) for index in range(1, 5)},
        "income": np.round(rng.lognormal(10, 1, n)),
        "income_flag": rng.integers(0, 2, n),
        **{f"q{index}": rng.integers(1, 6, n) for index in range(1, 31)},
    }


def test_columns_of_a_survey_design_are_no_quasi_identifiers():
    facts = _facts(_survey())

    assert facts["samp_wgt"].suggestion == "weight"
    for name in ("hhid", "strata", "psu", "income_flag", *(f"repwgt{index}" for index in range(1, 5))):
        assert facts[name].suggestion == "drop", name
        assert "survey design" in facts[name].reason


def test_of_many_columns_those_that_people_know_of_each_other_are_quasi_identifiers():
    facts = _facts(_survey())
    quasi = {name for name, fact in facts.items() if fact.suggestion == "quasi-identifier"}

    assert quasi == {"age", "sex", "region"}
    assert {fact.suggestion for name, fact in facts.items() if name.startswith("q")} == {"keep"}
    assert "too many for one outsider" in facts["q7"].reason


def test_columns_without_known_names_stay_quasi_identifiers():
    facts = _facts({f"v{index}": np.arange(400) % (index + 2) for index in range(20)})

    assert sum(fact.suggestion == "quasi-identifier" for fact in facts.values()) > 10


@pytest.mark.parametrize("name", ["weight", "Gewicht", "weight_kg", "body_weight", "birthweight"])
def test_the_weight_of_a_body_is_no_survey_weight(name):
    kilos = np.round(np.random.default_rng(1).normal(75, 15, 200), 1)

    assert _facts({"age": np.arange(200) % 60, name: kilos})[name].suggestion != "weight"


@pytest.mark.parametrize("values", [(0.2, 3.0), (400, 9000)])
def test_a_bare_weight_on_no_scale_of_bodies_is_a_survey_weight(values):
    rng = np.random.default_rng(1)

    assert (
        _facts({"age": rng.integers(0, 90, 200), "weight": rng.uniform(*values, 200)})["weight"].suggestion == "weight"
    )


def test_amounts_name_no_person():
    rng = np.random.default_rng(2)
    facts = _facts({"age": rng.integers(0, 90, 500), "expend": rng.permutation(500) * 977 + 13})

    assert facts["expend"].suggestion == "drop"
    assert "differs" not in facts["expend"].reason


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("PWGTP", "weight"), ("PWGTP17", "replicate weight"), ("final_weight", "weight"), ("hh_wt", "weight"),
        ("ori_hid", "household"), ("HHID", "household"), ("v_strata", ""), ("stratum_id", "stratum"),
        ("sdmvpsu", "cluster"), ("is_imputed_age", "flag"), ("height", ""), ("household_size", ""), ("basis", ""),
    ],
)  # fmt: skip
def test_names_of_a_survey_design(name, role):
    assert design_role(name) == role


def test_columns_prints_types_and_the_next_command_names_the_weight(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = _survey()
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    Path("survey.csv").write_text("\n".join(lines) + "\n")
    done = CliRunner().invoke(main, ["columns", "survey.csv"], env={"COLUMNS": "160"})

    assert "--weight samp_wgt" in done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("q7 "))
    assert " code: one of" in line

    assert CliRunner().invoke(main, ["init", "survey.csv"]).exit_code == 0
    assert tomllib.loads(Path("unmask.toml").read_text())["columns"]["samp_wgt"] == "weight"
    protected = CliRunner().invoke(main, ["protect", "unmask.toml", "-o", "r.csv"])
    assert protected.exit_code == 0, protected.stderr
