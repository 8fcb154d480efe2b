"""People with several rows in a study: they are counted, and an adversary knows several rows of each."""

import numpy as np
import pytest

from unmask.core.errors import NotRunError
from unmask.studies.cells import believed, run_cell
from unmask.studies.reading import read_plan

PLAN = """
[data]
file = "trips.csv"
person = "patient"

[columns]
patient = "identifier"
code = "keep"
place = "quasi-identifier"
hour = "quasi-identifier"

[[protections]]
use = "tables.Mondrian"
with = { k = 20 }

[[adversaries]]
name = "somebody"
use = "tables.%s"
knows = { %s }
"""

PEOPLE = 150


@pytest.fixture
def cell(tmp_path):
    """A cell of a study of trips: six places a person, a code for each of them, or one for each trip."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(PEOPLE), rng.integers(5, 31, PEOPLE))
    place = rng.integers(0, 400, (PEOPLE, 6))[person, rng.integers(0, 6, len(person))]
    hour = rng.integers(0, 24, len(person))

    def write_cell(adversary, knows="", code=person):
        lines = [f"N{p},{c},{a},{h}" for p, c, a, h in zip(person, code, place, hour, strict=True)]
        (tmp_path / "trips.csv").write_text("patient,code,place,hour\n" + "\n".join(lines) + "\n")
        (tmp_path / "plan.toml").write_text(PLAN % (adversary, knows))
        (cell,) = read_plan(tmp_path / "plan.toml").cells()
        return {row.measure: row for row in run_cell(cell) if row.target == "identity"}

    write_cell.rows = len(person)
    return write_cell


def test_an_adversary_who_knows_several_rows_finds_people_hidden_in_one_row(cell):
    class_attack, several = cell("ClassAttack"), cell("SeveralRows")

    success_of_one, four = class_attack["realized_success"], several["realized_success"]
    assert success_of_one.n == four.n == PEOPLE
    assert success_of_one.posterior < 0.15
    assert four.posterior > 0.6
    assert four.posterior == pytest.approx(several["success_probability"].posterior, abs=0.16)  # four standard errors
    assert "code links rows of a person" in success_of_one.note
    assert four.note == ""


def test_they_may_know_some_people_and_some_columns(cell):
    sampled = cell("SeveralRows", "targets = 40, columns = ['place']")["realized_success"]

    assert sampled.n == 40
    assert sampled.interval == f"targets drawn from {PEOPLE} people"


def test_a_draw_of_people_is_of_people(cell):
    sampled_success = cell("ClassAttack", "targets = 40")["realized_success"]

    assert sampled_success.n == 40
    assert sampled_success.interval == f"targets drawn from {PEOPLE} people"


def test_without_linked_rows_the_attack_on_several_rows_is_not_run(cell):
    with pytest.raises(NotRunError, match="no kept column has a value for each person"):
        cell("SeveralRows", code=np.arange(cell.rows))
    assert cell("ClassAttack", code=np.arange(cell.rows))["realized_success"].note == ""


def test_a_game_about_rows_of_people_is_refused(tmp_path, cell):
    cell("ClassAttack")
    (cell_of,) = read_plan(tmp_path / "plan.toml").cells()
    with pytest.raises(NotRunError, match=f"{cell.rows:,} rows are of {PEOPLE} people"):
        believed(cell_of)
