"""Everybody of a study is held back in turn: against a loop over people and releases."""

import numpy as np
import pytest

from unmask import UnmaskError
from unmask.measures import realized_success
from unmask.policy.condition import Condition
from unmask.reports import render
from unmask.reports.words import SPACE
from unmask.studies.cells import _population, _release, run_cell
from unmask.studies.choice import choose
from unmask.studies.page import study_page
from unmask.studies.reading import read_plan
from unmask.studies.run import run_study
from unmask.studies.summary import read_results
from unmask.tables import AttributeInference
from unmask.tables.without import Asked

PLAN = """
measures = ["realized_success", "realized_error", "success_probability", "added", "utility"]
[data]
use = "tables.synthetic_census"
with = { n = 400 }
folds = 4
[columns]
age = "quasi-identifier"
sex = "quasi-identifier"
zip = "quasi-identifier"
diagnosis = "sensitive"
[[protections]]
use = "tables.Mondrian"
grid = { k = [2, 60] }
[[adversaries]]
name = "neighbor"
use = "tables.AttributeInference"
with = { sensitive = "diagnosis" }
knows = { targets = 150 }
[[adversaries]]
name = "finder"
use = "tables.ClassAttack"
"""


def planned(folder, text=PLAN):
    (folder / "plan.toml").write_text(text)
    return read_plan(folder / "plan.toml")


def test_control_excess_and_added_against_a_loop(tmp_path):
    cell = planned(tmp_path).cells()[0]
    rows = {row.measure: row for row in run_cell(cell)}
    people, made = _population(cell), _release(cell)
    assert len(made.without) == 4
    assert made.whole.release.n_rows == 400
    assert np.bincount(people.fold).tolist() == [100] * 4
    knows = np.random.default_rng(cell.seed)
    person = knows.permutation(knows.choice(400, 150, replace=False))
    for measure, name in ((realized_success, "realized_success"), (None, "added")):
        told = {} if measure is None else {"measure": measure}
        ask = Asked(AttributeInference("diagnosis"), people.members, **told)
        each = np.array([ask(release, person) for release in made.without])
        inside = [np.mean([each[f, i] for f in range(4) if f != people.fold[t]]) for i, t in enumerate(person)]
        outside = [each[people.fold[t], i] for i, t in enumerate(person)]
        if measure is None:
            assert rows[name].posterior == pytest.approx(np.mean(inside) - np.mean(outside))
            assert rows[name].worst == pytest.approx(np.max(np.subtract(inside, outside)))
            assert rows[name].prior == 0
        else:
            assert rows[name].control == pytest.approx(np.mean(outside))
            assert rows[name].excess == pytest.approx(np.mean(inside) - np.mean(outside))
            assert rows[name].excess_low < rows[name].excess < rows[name].excess_high
    assert rows["realized_error"].excess == pytest.approx(rows["realized_success"].excess)
    assert rows["success_probability"].excess is None


def test_who_is_who_has_nothing_added(tmp_path):
    finder = next(cell for cell in planned(tmp_path).cells() if cell.adversary.name == "finder")
    assert {row.measure for row in run_cell(finder)} == {"success_probability", "realized_success", "utility",
                                                         "realized_error"}  # fmt: skip


def test_a_choice_may_bound_what_records_add(tmp_path):
    run_study(planned(tmp_path), tmp_path / "run")
    results = read_results(tmp_path / "run")
    verdicts = choose(results, [Condition.parse("added.q95<=0.2")])
    assert [(one.protection, one.satisfied) for one in verdicts] == [("Mondrian k=60", True), ("Mondrian k=2", False)]
    shown = render(study_page(tmp_path / "run")).replace(SPACE, " ")
    for said in ("What being in the table adds", "What each record adds", "95 % below", "control people"):
        assert said in shown
    found = next(one for one in results.summaries if one.measure == "added")
    assert len(found.quantiles) == 5
    assert sorted(found.quantiles) == list(found.quantiles)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("folds = 1", "at least 2"), ("folds = 2.5", "at least 2"), ("folds = 4\nhold_back = 0.2", "leave one out"),
        ("hold_back = 0.2", "give folds"),
    ],
)  # fmt: skip
def test_wrong_folds_are_refused_before_anything_runs(tmp_path, said, why):
    with pytest.raises(UnmaskError, match=why):
        planned(tmp_path, PLAN.replace("folds = 4", said))
