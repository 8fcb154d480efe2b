"""Tables and findings of a result are on the page, in JSON, in frames, in the export and in policies."""

import json
from dataclasses import replace

from tests.reports.test_html import row, sections, single
from tests.test_gates import command
from unmask.cli.gates import judge
from unmask.findings.sentences import sentences
from unmask.render.files import export
from unmask.render.page import render
from unmask.results import Block, Column, Result, Table

PLACES = Table.from_records(
    "places", (Column("place", "Place"), Column("people", "People", "group")), [("here", 40), ("there", 3)]
)
BLOCK = Block("toy", "Where the people are", "People are in 2 places.", tables=("places",))


def data(**changes) -> Result:
    result = Result(
        "Toys", "Who is where?", (row(measure="success_probability"),), "Toy audit", "audit toy", facts=(PLACES,),
        blocks=(BLOCK,), criteria={"k=3": {"places": 2.0}}, cautions=("Toys are no data.",),
    )  # fmt: skip
    return replace(replace(result, **changes), reproduce=single().reproduce)


def test_a_block_has_a_section():
    page = render(data())
    assert sections(page)[:4] == ["success", "toy", "adversaries", "findings"]
    assert "Where the people are" in page


def test_a_headline_leads_and_what_it_describes_is_not_repeated():
    described = data(headline="Most people are here.", described_measures=("success_probability",))
    assert sentences(described) == ["Most people are here.", "People are in 2 places."]
    assert sentences(data())[0].startswith("An adversary who")
    assert sentences(data())[-1] == "People are in 2 places."


def test_tables_are_in_json_with_warnings_and_without_few_people():
    found = json.loads(data().to_json())
    assert found["tables"]["places"] == [{"place": "here", "people": 40}]
    assert found["warnings"] == ["Toys are no data."]


def test_tables_are_frames():
    frame = replace(data(), smallest_shown=1).to_frame("places", library="pandas")
    assert list(frame["people"]) == [40, 3]


def test_tables_are_exported(tmp_path):
    export(data(), tmp_path / "out")
    assert (tmp_path / "out" / "toy.csv").read_text().split() == ["Place,People", "here,40"]


def test_a_policy_may_limit_criteria():
    policies = command.make_context("audit", ["--policy=places<=1"]).params["policies"]
    (verdict,) = judge(data(), policies).verdicts
    assert verdict.state == "not acceptable"
