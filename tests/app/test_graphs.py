"""A network in the browser gives what the command line gives from the document that it leaves."""

from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Browser
from tests.app.walking import boxes, equals, goes, opened, run, signed
from unmask.app import graph_workflow
from unmask.app.project import Project
from unmask.studies.reading import read_plan
from unmask.toml_text import format_document


def test_a_release_of_the_user_is_not_labeled_as_made_by_unmask(browser: Browser, project: Project, tmp_path: Path):
    (tmp_path / "release.csv").write_text("source,target\n1,2\n2,3\n3,1\n")
    (tmp_path / "unmask.toml").write_text(
        '[graph]\nrelease = "release.csv"\noverlaps = ["0.9,0.9"]\n[[policy]]\nrequire = "recall <= 0.9"\n'
    )
    assert "3 people, 3 links" in opened(browser, tmp_path / "unmask.toml")
    assert project.document["graph"]["release"] == "release-2.csv"
    assert "Several identities" not in browser.at("/roles").text
    commands = graph_workflow.WORKFLOW.commands(project.document)
    assert [command[:2] for command in commands] == [("audit", "graph")]


def test_protecting_no_person_is_allowed(browser: Browser, project: Project, calls: Path):
    opened(browser, calls)
    goes(browser, "/roles", **{"protections.adopters": "0"})
    assert browser.page.url.path == "/adversaries"
    assert graph_workflow.protect_command(project.document)[3:5] == ("--with", "IdentitySeparation:adopters=0.0")


@pytest.mark.slow
def test_a_network_equals_the_command_line(
    browser: Browser, project: Project, calls: Path, tmp_path: Path, monkeypatch: Any, capsys: Any
):
    assert "caller and callee look like both ends of a link" in opened(browser, calls)
    assert "60 people" in browser.page.text
    browser.at("/roles")
    goes(browser, "/roles", **{"protections.adopters": "20", "protections.identities": "3"})
    fields = {"graph.attacks": ["Nar09"], "graph.seeds": "8", "graph.runs": "1", "recall<=": "90"}
    goes(browser, "/adversaries", **fields)
    assert project.document["graph"] == {
        "release": "release.csv", "auxiliary": "calls.csv", "truth": "origin.csv", "attacks": ["Nar09"],
        "seeds": "random.25:8", "runs": 1,
    }  # fmt: skip
    files = signed(browser, project)
    assert {"release.csv", "origin.csv", "at-risk.csv"} <= files.keys()
    audited = browser.get("/files/audit.json").content
    commands = unescape(browser.at("/verdict").text)
    protection = "IdentitySeparation:adopters=0.2:identities=3"
    assert f"unmask protect graph calls.csv --with {protection} -o release.csv --origin origin.csv" in commands
    equals(files, audited, [calls], "graph", tmp_path / "cli", monkeypatch, capsys)
    run(capsys, "audit", "graph", "unmask.toml", "--at-risk", "own.csv")
    assert Path("own.csv").read_bytes() == files["at-risk.csv"]


def test_few_people_are_leaked_in_a_small_network(browser: Browser, calls: Path):
    opened(browser, calls)
    goes(browser, "/roles")
    assert boxes(browser)["graph.seeds"] == "3"  # 5 % of 60
    assert "5 % of the people, 100 at most" in browser.page.text


def test_the_study_of_a_network_is_a_plan(browser: Browser, project: Project, calls: Path, tmp_path: Path):
    opened(browser, calls)
    document = {**project.document, "title": "calls", "policy": [{"require": "recall <= 0.5"}]}
    project.save(document)
    (tmp_path / "study.toml").write_text(format_document(graph_workflow.build_plan(project)))
    plan = read_plan(tmp_path / "study.toml")
    assert len(plan.protections) == 1 + len(graph_workflow.ADOPTERS) * len(graph_workflow.IDENTITIES)
    assert [adversary.name for adversary in plan.adversaries] == ["Nar09", "Rematch"]
    point = {"adopters": 0.5, "identities": 5}
    used = graph_workflow.TRIALS.apply(document, point)
    assert graph_workflow.TRIALS.read(used) == point
    assert len(plan.seeds) == graph_workflow.RUNS
    assert graph_workflow.TRIALS.name_release(point) == "adopters = 50\u00a0%, identities = 5"


def test_a_network_without_links_is_a_sentence(browser: Browser, tmp_path: Path):
    (tmp_path / "alone.csv").write_text("caller,callee\n1,1\n2,2\n")
    assert "has no link between two people" in opened(browser, tmp_path / "alone.csv")
    assert "Continue to" not in browser.page.text
