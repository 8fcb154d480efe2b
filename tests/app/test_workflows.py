"""The workflow of a file, its forms, and its correction by the user."""

import re
from html import unescape
from pathlib import Path
from typing import Literal, get_args, get_origin

import pytest

from tests.app.conftest import Browser
from tests.app.walking import boxes, clusters, goes, opened
from unmask.app.fields import Field, read_field
from unmask.app.project import Project
from unmask.app.workflows import WORKFLOWS, guess_workflow, read_sample
from unmask.core.errors import UnmaskError
from unmask.schema import check


def test_the_kind_of_a_file_can_be_corrected(browser: Browser, project: Project, items: Path):
    opened(browser, items)
    browser.sends("/open", do="workflow", workflow="")
    assert "data" in project.document
    assert "Continue to roles" in browser.page.text
    assert "It looks like" not in browser.page.text  # it was said, not guessed
    browser.sends("/open", do="workflow", workflow="linkage")
    assert "linkage" in project.document
    assert browser.at("/roles").text.count("(done)") == 1  # whose items these are is a suggestion still
    goes(browser, "/roles")
    assert browser.page.text.count("(done)") == 2
    assert browser.sends("/open", do="workflow", workflow="nonsense").status_code == 422


@pytest.mark.parametrize(
    ("guesses", "policy", "message"),
    [
        ("gone.csv", "", "file 'gone.csv' does not exist"),
        ("notes.doc", "", "file 'notes.doc' has another ending"),
        ("both.csv", '[[policy]]\nuse = "gone.toml"\n', "file 'gone.toml' does not exist"),
    ],
)
def test_a_document_with_a_file_that_cannot_be_used_leaves_what_is_open(
    browser: Browser, project: Project, items: Path, guesses: str, policy: str, message: str
):
    opened(browser, items)
    items.with_name("notes.doc").write_text("record,pred_a\n")
    document, document_before = clusters(items.parent, guesses, policy), project.document
    response = browser.sends("/open", do="open", path=str(document))
    assert response.status_code == 422
    assert message in unescape(response.text)
    assert project.document == document_before


def test_a_network_that_is_not_there_leaves_what_is_open(browser: Browser, project: Project, items: Path):
    opened(browser, items)
    document_before = project.document
    assert browser.sends("/open", do="open", path=str(items.with_name("gone.txt"))).status_code == 422
    assert project.document == document_before


def test_a_file_that_is_needed_stays_until_there_is_another(browser: Browser, project: Project, items: Path):
    opened(browser, items)
    document_before = project.document
    browser.at("/roles")
    fields = boxes(browser)
    assert (fields.pop("linkage.truth"), fields.pop("linkage.guesses")) == (["both.csv"], ["both.csv"])
    assert browser.sends("/roles", **fields, do="apply").url.path == "/roles"
    assert project.document == document_before
    browser.sends("/roles", files={"linkage.truth file": ("new.csv", items.read_bytes())}, **fields, do="apply")
    assert project.document["linkage"]["truth"] == "new.csv"


def test_the_opened_file_cannot_be_removed(browser: Browser, project: Project, places: tuple[Path, Path]):
    opened(browser, places[0])
    document_before = project.document
    browser.at("/roles")
    fields = {name: value for name, value in boxes(browser).items() if name != "channel.coordinates"}
    response = browser.sends("/roles", **fields, do="apply")
    assert response.status_code == 422
    assert "the opened file cannot be removed" in response.text
    assert project.document == document_before


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("item,subject\nr1,p1\nr2,p1\n", "linkage"),
        ("record,person,age\nr1,p1,3\n", ""),
        ("age,sex\n3,f\n4,m\n", ""),
        ("one,other\n" + "".join(f"{n},{n + 1}\n" for n in range(30)), "graph"),
        ("often,gladly\n1,2\n2,3\n3,1\n4,5\n5,4\n", ""),
        ("q1,q2,q3,q4\n" + "yes,no,no,yes\nno,no,yes,yes\n" * 9, ""),
        ("Ann Miller,Berlin,31,f\nBob Stone,Bonn,45,m\nEve Snow,Ulm,62,f\n" * 3, ""),
        ("Ann Miller,31\nBob Stone,45\nEve Snow,62\nJim Cole,50\n", ""),
        ("node1,node2\n" + "".join(f"{n},{n + 50}\n" for n in range(30)), "graph"),
        ("node1,node2,weight\n" + "".join(f"{n},{n + 50},1\n" for n in range(30)), "graph"),
        ("secret,p\na,0.5\nb,0.5\n", "channel"),
        ("place,lat,lon\na,48,11\nb,49,11\n", "channel"),
        (",x,y\na,0.5,0.5\nb,0.1,0.9\n", "channel"),
        ("name,share,more\na,0.5,0.6\nb,0.1,0.9\n", ""),
    ],
)
def test_the_kind_of_a_file_is_guessed_by_its_columns(tmp_path: Path, text: str, word: str):
    (tmp_path / "file.csv").write_text(text)
    kind, reason = guess_workflow(read_sample(tmp_path / "file.csv", "file.csv"))
    assert kind.word == word
    assert reason


DESIGNED = {"channel": {"channels": ["mechanism.csv"]}, "protections": [{"with": {"budget": 1}}]}

SEPARATED = {"graph": {"release": "release.csv"}, "protections": [{"with": {"adopters": 0}}], "data": {"file": "a.csv"}}

FIELDS = {
    field.key: field
    for workflow in WORKFLOWS
    for form in workflow.forms.values()
    for document in ({}, DESIGNED, SEPARATED)
    for field in form.fields(document)
}


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
def test_a_box_has_the_choices_and_the_default_of_its_parameter(field: Field, project: Project) -> None:
    choices = get_args(field.hint) if get_origin(field.hint) is Literal else ()
    if choices:
        assert field.box_type == "choice"
        assert set(field.options_in(project)) == set(choices)
    if field.default is None and (default := field.default_in(project)) is not None:
        check(default, field.hint, field.title)


@pytest.mark.parametrize(("key", "typed"), [("linkage.beta", "0"), ("linkage.min_size", "0"), ("graph.runs", "0")])
def test_a_number_out_of_range_is_refused_by_its_box(key: str, typed: str, project: Project) -> None:
    with pytest.raises(UnmaskError, match=f"{re.escape(FIELDS[key].title)} is 0.*expected"):
        read_field(project, FIELDS[key], {key: typed}, None)
