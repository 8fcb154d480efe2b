"""People before and after protection on the screen of the verdict, and why they are at risk."""

from types import SimpleNamespace

import pytest

from unmask.app import sample_rows
from unmask.app.pages import _environment
from unmask.app.project import AT_RISK, ORIGIN, RELEASE
from unmask.app.sample_rows import N_AT_RISK, N_ROWS, read_sample
from unmask.findings.people_at_risk import AtRisk, Watched


@pytest.fixture
def project(tmp_path):
    people = [f"{20 + row},z{row}" for row in range(40)]
    (tmp_path / "people.csv").write_text("\n".join(["age,zip", *people]) + "\n")
    order = [*range(30, 40), *range(30)]  # row 39 is record 9
    (tmp_path / RELEASE).write_text("\n".join(["age,zip", *(f"{20 + row // 10 * 10}+,z{row}" for row in order)]) + "\n")
    (tmp_path / ORIGIN).write_text("\n".join(map(str, ["row", *order])) + "\n")
    document = {"columns": {"age": "quasi-identifier", "zip": "quasi-identifier"}, "data": {}}
    sample_rows._read_sample.cache_clear()
    return SimpleNamespace(document=document, folder=tmp_path, file=tmp_path / "people.csv")


def _list(folder, rows):
    attacks = [("prosecutor", "identity"), ("insider", "identity")]
    found = [
        AtRisk("release", row, *attack, 1.0, "1 candidate fits", row, "matching records by zip: 1; without zip: 9")
        for row in rows
        for attack in attacks
    ]
    (folder / AT_RISK).write_text(Watched("row", found).text())


def test_people_with_the_highest_risk_come_first_with_every_attack(project):
    _list(project.folder, [39, 7, 8, 9])
    sample = read_sample(project)
    assert len(sample.people) == N_ROWS
    assert [person.before for person in sample.people[:N_AT_RISK]] == [("59", "z39"), ("27", "z7"), ("28", "z8")]
    assert sample.people[0].after == ("50+", "z39")
    assert [risk.adversary for risk in sample.people[0].risks] == ["prosecutor", "insider"]
    assert sample.people[0].risks[0].why == "matching records by zip: 1; without zip: 9"
    assert not any(person.risks for person in sample.people[N_AT_RISK:])


def test_without_a_list_people_are_spread_over_the_release(project):
    sample = read_sample(project)
    assert len(sample.people) == N_ROWS
    assert not any(person.risks for person in sample.people)


def test_the_drawer_shows_reasons_as_text(project):
    _list(project.folder, [39])
    text = str(_environment().get_template("parts.html.j2").module.people(read_sample(project)))
    assert text.count("Why this person?") == 1
    assert "Matching records by zip: 1; without zip: 9." in text
    assert "prosecutor, identity: 100\u00a0% believed, 1 candidate fits" in text
