"""A subject that no file of the package knows is on the page, in the findings, in JSON, in frames and in the export."""

import json
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from tests.reports.test_html import row, sections, single
from tests.test_gates import command
from unmask.cli.gates import judge
from unmask.reports import render, sentences
from unmask.reports.export import export
from unmask.reports.parts import Section, grid, lead, parts
from unmask.reports.result import Result
from unmask.reports.subject import Subject


@dataclass(frozen=True)
class Cell:
    place: str
    people: int


@dataclass(frozen=True)
class Toy(Subject):
    """People by place."""

    name: ClassVar = "toy"
    shown_by: ClassVar = __name__
    before: ClassVar = "measures"
    told: ClassVar = frozenset({"success_probability"})

    places: int
    cells: tuple[Cell, ...]
    warnings: tuple[str, ...] = ("Toys are no data.",)

    def without_small(self, least):
        return replace(self, cells=tuple(one for one in self.cells if one.people >= least))

    def criteria(self):
        yield "toy", "places", float(self.places)


def section(toy, scope):
    table = grid(("Place", "People"), ((one.place, f"{one.people:,}") for one in toy.cells), "People by place")
    return Section("toy", "Where the people are", parts(lead(f"Attacked: {', '.join(scope.adversaries)}."), table))


def findings(toy, _scope):
    return [f"People are in {toy.places:,} places."]


def data(**changes):
    toy = Toy(2, (Cell("here", 40), Cell("there", 3)))
    return replace(single(), rows=(row(measure="success_probability"),), subjects=(toy,), **changes)


def test_a_subject_has_a_section_at_its_place():
    page = render(data())
    assert sections(page)[:5] == ["success", "adversaries", "findings", "toy", "measures"]
    assert "Where the people are" in page


def test_its_findings_lead_and_what_they_tell_is_not_told_again():
    assert sentences(data()) == ["People are in 2 places."]
    assert sentences(replace(data(), subjects=()))[0].startswith("An adversary who")


def test_its_findings_follow_where_it_stands_before_utility(monkeypatch):
    monkeypatch.setattr(Toy, "before", "utility")
    monkeypatch.setattr(Toy, "told", frozenset())
    assert sentences(data())[-1] == "People are in 2 places."
    assert len(sentences(data())) > 1


def test_its_facts_are_tables_of_the_json_with_its_warnings_and_without_few_people():
    found = json.loads(Result(data()).to_json())
    assert found["tables"]["toy"] == [{"places": 2, "warnings": ["Toys are no data."]}]
    assert found["tables"]["toy_cells"] == [{"place": "here", "people": 40}]
    assert found["warnings"] == ["Toys are no data."]


def test_its_facts_are_frames():
    frame = Result(data(least=1)).to_frame("toy_cells", library="pandas")
    assert list(frame["people"]) == [40, 3]


def test_its_tables_are_exported(tmp_path):
    export(data(), tmp_path / "out")
    assert (tmp_path / "out" / "toy-people-by-place.csv").read_text().split() == ["Place,People", "here,40"]


def test_a_gate_may_be_set_on_its_criteria():
    policies = command.make_context("audit", ["--policy=places<=1"]).params["policies"]
    (verdict,) = judge(data(), policies)
    assert verdict.state == "not acceptable"


def test_a_subject_must_say_what_it_shows_of_few_people():
    class Careless(Subject):
        pass

    with pytest.raises(NotImplementedError):
        Careless().without_small(10)


def test_a_subject_is_found_by_its_name():
    assert data().subject("toy").places == 2
    assert data().subject("graph") is None
