"""The step of the app that tries protections shows the numbers of an audit of the release that is then made."""

import pytest

from tests.test_one_number import PEOPLE, rows_of, write
from unmask.app.project import STUDY, STUDY_FOLDER
from unmask.app.table_workflow import TRIALS, build_plan
from unmask.app.tried_releases import read_points
from unmask.policy import judge_result, read_policies
from unmask.studies.reading import read_plan
from unmask.studies.run import run_study
from unmask.tables import Mondrian, Table
from unmask.tables.audit import audit
from unmask.toml_text import format_document

CONDITIONS = ("identity:success_probability.worst <= 0.2", "k_people >= 5", "person_share <= 0.2", "l_distinct >= 2")


def test_a_protection_that_is_tried_has_the_distance_to_its_limit_that_its_audit_has(project):
    write(project.folder / "people.csv", rows_of(3, 60, 3, 0.0))
    document = {name: PEOPLE[name] for name in ("data", "columns", "adversaries")}
    project.save(document | {"policy": [{"require": condition} for condition in CONDITIONS]})
    people = Table.read(
        project.folder / "people.csv",
        quasi_identifiers=("age", "admission", "sex"),
        sensitive="ill",
        identifiers="patient",
        person="patient",
    )
    (project.folder / STUDY).write_text(format_document(build_plan(project)))
    run_study(read_plan(project.folder / STUDY), project.folder / STUDY_FOLDER)
    points, untested = read_points(project, TRIALS)
    assert untested == ()
    points = {point.values["k"]: point for point in points if point.values.keys() == {"k"}}
    assert len(points) >= 5
    for k in (2, 5, 10):
        release, origin = Mondrian(k=k)(people)
        result = audit({"r": release}, original=people, origin=origin, without=("modeler", "insider", "order reader"))
        (verdict,) = judge_result(result, read_policies(CONDITIONS)).verdicts
        assert points[k].ratio == pytest.approx(max(line.times for line in verdict.lines()), rel=1e-9)
        assert points[k].is_met == (verdict.state == "acceptable")
