"""Singling out and linkability as adversaries of a study: the rows of an audit, with control people or without."""

import pytest

from unmask import UnmaskError
from unmask.plan import Cell
from unmask.studies.cells import run_cell
from unmask.studies.reading import read_plan

PLAN = """
[data]
use = "tables.synthetic_census"
with = { n = 600 }
%s

[columns]
age = "quasi-identifier"
sex = "quasi-identifier"
zip = "quasi-identifier"
diagnosis = "sensitive"

[[protections]]
use = "%s"

[[adversaries]]
use = "tables.%s"
%s
"""


def rows(folder, protection, adversary, told, aside="hold_back = 0.5"):
    file = folder / "plan.toml"
    file.write_text(PLAN % (aside, protection, adversary, told))
    (cell,) = read_plan(file).cells()
    assert isinstance(cell, Cell)
    return {row.measure: row for row in run_cell(cell) if row.target in ("singling out", "linkability")}


PARTS = 'with = { parts = [["age", "sex"], ["zip", "diagnosis"]] }'


def test_the_people_themselves_are_singled_out_and_control_people_are_not(tmp_path):
    found = rows(tmp_path, "tables.Identity", "SinglingOut", "with = { conditions = [4, 4], exact = true }")
    assert found["singled_out"].posterior == 1
    beside = found["singled_out_of_as_many"]
    assert 0.4 < beside.posterior < 0.6  # as many members as control people are tried: half of them
    assert beside.control < 0.2
    assert beside.excess_low > 0.3
    assert beside.adversary == "SinglingOut"


def test_parts_of_the_people_themselves_are_linked(tmp_path):
    found = rows(tmp_path, "tables.Identity", "Linkability", PARTS)["parts_linked"]
    assert found.posterior > 0.3
    assert found.excess_low > 0.25
    assert found.control < 0.05
    few = rows(tmp_path, "tables.Identity", "Linkability", PARTS + "\nknows = { targets = 20 }", aside="")
    assert few["parts_linked"].n == 20
    assert few["parts_linked"].control is None


@pytest.mark.parametrize(
    ("adversary", "told", "aside", "why"),
    [
        ("SinglingOut", "", "", "needs control people"),
        ("Linkability", "", "", "the parts of records are missing"),
        ("Linkability", 'with = { parts = [["age"], ["age", "zip"]] }', "", "column 'age' is in both parts"),
        ("Linkability", 'with = { parts = [["age"]] }', "", "a part is missing"),
        ("Linkability", 'with = { parts = [["age"], ["job"]] }', "", "job"),
        ("Linkability", PARTS + "\nknows = { error = 0.1 }", "", "error"),
        ("SinglingOut", "knows = { targets = 5 }", "hold_back = 0.5", "targets"),
    ],
)
def test_what_cannot_be_asked_is_said(tmp_path, adversary, told, aside, why):
    with pytest.raises(UnmaskError, match=why):
        rows(tmp_path, "tables.Identity", adversary, told, aside)
