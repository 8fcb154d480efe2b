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


def rows(folder, protection, adversary, adversary_text, held_back="hold_back = 0.5"):
    file = folder / "plan.toml"
    file.write_text(PLAN % (held_back, protection, adversary, adversary_text))
    (cell,) = read_plan(file).cells()
    assert isinstance(cell, Cell)
    return {row.measure: row for row in run_cell(cell) if row.target in ("singling out", "linkability")}


PARTS = 'with = { parts = [["age", "sex"], ["zip", "diagnosis"]] }'


def test_the_people_themselves_are_singled_out_and_control_people_are_not(tmp_path):
    result = rows(tmp_path, "tables.Identity", "SinglingOut", "with = { conditions = [4, 4], exact = true }")
    assert result["singled_out"].posterior == 1
    as_many = result["singled_out_of_as_many"]
    assert 0.4 < as_many.posterior < 0.6  # as many members as control people are tried: half of them
    assert as_many.control < 0.2
    assert as_many.excess_low > 0.3
    assert as_many.adversary == "SinglingOut"


def test_parts_of_the_people_themselves_are_linked(tmp_path):
    result = rows(tmp_path, "tables.Identity", "Linkability", PARTS)["parts_linked"]
    assert result.posterior > 0.3
    assert result.excess_low > 0.25
    assert result.control < 0.05
    sampled = rows(tmp_path, "tables.Identity", "Linkability", PARTS + "\nknows = { targets = 20 }", held_back="")
    assert sampled["parts_linked"].n == 20
    assert sampled["parts_linked"].control is None


@pytest.mark.parametrize(
    ("adversary", "adversary_text", "held_back", "message"),
    [
        ("SinglingOut", "", "", "needs a control group"),
        ("Linkability", "", "", "the parts of records are missing"),
        ("Linkability", 'with = { parts = [["age"], ["age", "zip"]] }', "", "column 'age' is in both parts"),
        ("Linkability", 'with = { parts = [["age"]] }', "", "a part is missing"),
        ("Linkability", 'with = { parts = [["age"], ["job"]] }', "", "job"),
        ("Linkability", PARTS + "\nknows = { error = 0.1 }", "", "error"),
        ("SinglingOut", "knows = { targets = 5 }", "hold_back = 0.5", "targets"),
    ],
)
def test_impossible_questions_are_refused(tmp_path, adversary, adversary_text, held_back, message):
    with pytest.raises(UnmaskError, match=message):
        rows(tmp_path, "tables.Identity", adversary, adversary_text, held_back)
