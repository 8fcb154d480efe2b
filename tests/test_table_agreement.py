"""One table, three ways in: Python, `unmask protect` and `audit` on files, and a cell of a study say the same."""

import csv

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.envelopes import parsed
from unmask import audit
from unmask.cli import main
from unmask.core.errors import UnmaskError
from unmask.studies.cells import run_cell
from unmask.studies.reading import read_plan
from unmask.tables import AttributeInference, ClassAttack, Knowledge, Mondrian, Table
from unmask.tables.knowledge import attribute_truth

ROLES = {"quasi_identifiers": ["age", "sex", "zip"], "sensitive": ["ill"]}
ADVERSARIES = {"identity": "tables.ClassAttack", "ill": "tables.AttributeInference"}
PLAN = """
[[data]]
use = "tables.file"
file = "people.csv"
quasi_identifiers = ["age", "sex", "zip"]
sensitive = ["ill"]
[[protections]]
use = "tables.Mondrian"
with = { k = KEPT }
[[adversaries]]
name = "identity"
use = "tables.ClassAttack"
[[adversaries]]
name = "ill"
use = "tables.AttributeInference"
with = { sensitive = "ill" }
"""


@st.composite
def cases(draw):
    """People in the order of a file, and k."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(12, 60))
    columns = {
        "age": rng.integers(18, 18 + draw(st.integers(2, 60)), n),
        "sex": rng.choice(["f", "m"], n),
        "zip": rng.choice(["01067", "01069", "20095", "80331"], n),
        "ill": rng.choice(["flu", "asthma", "gout"][: draw(st.integers(2, 3))], n),
    }
    return columns, draw(st.integers(2, 6))


def in_python(columns, k):
    """Target -> measure -> value."""
    table = Table.read(columns, **ROLES)
    release, origin = Mondrian(k=k)(table)
    knowledge = Knowledge()(table, origin, rng=np.random.default_rng(0))
    link = ClassAttack()(release, knowledge.background)
    value = AttributeInference("ill")(release, knowledge.background)
    result = {
        "identity": audit(link, knowledge.truth),
        "ill": audit(value, attribute_truth(table, knowledge.person, value, "ill"), target="ill"),
    }
    return {target: numbers(value.rows) for target, value in result.items()}


def numbers(rows):
    """Measure -> prior, value and worst value."""
    return {row.measure: (row.prior, row.posterior, row.worst) for row in rows}


def on_the_command_line(folder, k):
    source, release, origin = (str(folder / name) for name in ("people.csv", "release.csv", "origin.csv"))
    roles = ["-q", "age,sex,zip", "-s", "ill"]
    done = CliRunner().invoke(main, ["protect", source, *roles, "--k", str(k), "-o", release, "--origin", origin])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(main, ["audit", release, *roles, "--original", source, "--origin", origin, "--json"])
    assert done.exit_code == 0, done.output
    rows = [
        row
        for row in parsed(done.stdout)["results"]
        if row["adversary"] == "prosecutor" and row["release"] == "release"
    ]
    return {
        target: {
            row["measure"]: (row["prior"], row["posterior"], row["worst"]) for row in rows if row["target"] == target
        }
        for target in ADVERSARIES
    }


def in_a_study(folder, k):
    plan = folder / "plan.toml"
    plan.write_text(PLAN.replace("KEPT", str(k)))
    return {cell.adversary.name: numbers(run_cell(cell)) for cell in read_plan(plan).cells()}


@settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(case=cases())
def test_python_command_line_and_study_agree_on_a_table(tmp_path_factory, case):
    columns, k = case
    folder = tmp_path_factory.mktemp("case")
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    library, commanded, studied = in_python(columns, k), on_the_command_line(folder, k), in_a_study(folder, k)
    for target in ADVERSARIES:
        shared = library[target].keys() & commanded[target].keys() & studied[target].keys()
        assert {"success_probability", "realized_success", "information_gain_bits"} <= shared
        for measure in shared:
            expected = [
                None if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)
                for value in library[target][measure]
            ]
            assert [number(value) for value in commanded[target][measure]] == expected, (target, measure)
            assert list(studied[target][measure]) == expected, (target, measure)


def number(value):
    """Return a number of JSON, in which infinity is a text."""
    return float(value) if isinstance(value, str) else value


def test_adversaries_that_are_left_out_are_listed_as_not_run():
    people = {"age": [30, 30, 41, 41], "ill": list("abab"), "town": list("xyxy")}
    table = Table.read(people, quasi_identifiers="age", sensitive="ill", keep="town")
    release, origin = Mondrian(k=2)(table)
    adversaries = {row.adversary for row in audit(release, original=table, origin=origin).rows}
    left_out = ("acquaintance", "insider", "order reader")
    result = audit(release, original=table, origin=origin, without=left_out)
    assert {row.adversary for row in result.rows} == adversaries - set(left_out)
    assert [reason for name, reason in result.not_run if "order" in name] == ["left out on request (--without)"]
    with pytest.raises(UnmaskError, match="did you mean 'order reader'"):
        audit(release, original=table, origin=origin, without=["order"])
