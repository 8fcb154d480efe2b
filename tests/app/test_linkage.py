"""Clusters in the browser give what the command line gives from the document that they leave."""

from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Browser
from tests.app.walking import boxes, clusters, equals, goes, opened, signed
from unmask.app.policy_form import save_limits, split_policy
from unmask.app.project import Project


@pytest.mark.slow
def test_clusters_equal_the_command_line(
    browser: Browser, project: Project, items: Path, tmp_path: Path, monkeypatch: Any, capsys: Any
):
    assert "column record looks like items, and person like the people behind them" in opened(browser, items)
    assert browser.at("/protect").url.path == "/roles"  # there is no such step
    assert browser.page.text.count("(done)") == 1  # the file; what is suggested is not yet gone on with
    goes(browser, "/roles")
    assert browser.page.text.count("(done)") == 2
    goes(
        browser,
        "/adversaries",
        **{"linkage.beta": "60", "breached<=": "50", "require": "risk_slope <= 0.9 # our board"},
    )
    assert project.document["linkage"] == {
        "truth": "both.csv", "guesses": ["both.csv"], "item": "record", "subject": "person",
        "clusters": ["pred_a", "pred_b"], "beta": 0.6,
    }  # fmt: skip
    assert [entry["require"] for entry in project.document["policy"]] == ["breached<=0.5", "risk_slope<=0.9"]
    files = signed(browser, project)
    assert files.keys() == {"report.html", "certificate.html", "certificate.json", "unmask.toml"}
    assert "There is no protection to choose here" in browser.at("/verdict").text
    equals(files, browser.get("/files/audit.json").content, [items], "linkage", tmp_path / "cli", monkeypatch, capsys)


def test_a_document_of_clusters_is_opened_with_its_files(browser: Browser, project: Project, items: Path):
    document = items.with_name("unmask.toml")
    document.write_text(
        '[linkage]\ntruth = "both.csv"\nguesses = "both.csv"\nitem = "record"\nsubject = "person"\n'
        'clusters = ["pred_a"]\n[[policy]]\nrequire = "clean_breach <= 0.25"\nsource = "law"\n'
    )
    opened(browser, document)
    assert project.document["linkage"]["guesses"] == "both.csv"
    browser.at("/adversaries")
    assert boxes(browser)["clean_breach<="] == "25"
    goes(browser, "/adversaries", **{"clean_breach<=": "30"})
    assert project.document["policy"] == [{"require": "clean_breach<=0.3", "source": "law"}]


def test_policies_that_a_document_uses_are_shown_and_stay(browser: Browser, project: Project, items: Path):
    (items.parent / "board.toml").write_text(
        'title = "Our board"\n[[policy]]\nrequire = "risk_slope <= 0.9"\nname = "Slope of the risk"\n'
        '[[policy]]\nrequire = "recall <= 0.1"\nname = "Found again"\ndomain = "graphs"\n'
    )
    uses = [{"use": "board.toml"}, {"use": "strict"}]
    policies = "".join(f'[[policy]]\nuse = "{use["use"]}"\n' for use in uses)
    opened(browser, clusters(items.parent, "both.csv", f'[[policy]]\nrequire = "breached <= 0.5"\n{policies}'))
    page = browser.at("/adversaries").text
    assert "Our board" in page
    assert "Slope of the risk" in page
    assert "Found again" not in page  # it is about networks
    browser.sends("/adversaries", **{**boxes(browser), "breached<=": "40"}, do="apply")
    assert project.document["policy"][:2] == uses
    assert [entry["require"] for entry in project.document["policy"][2:]] == ["breached<=0.4"]


def test_other_keys_of_a_condition_stay_in_the_document():
    entries = [
        {"require": "recall <= 0.1", "name": "Found again", "domain": "graphs", "source": "the board"},
        {"require": "risk_slope <= 0.9", "name": "Slope of the risk", "purpose": "research"},
    ]
    document = {"policy": entries}
    save_limits({"recall<=": 0.05}, split_policy(document, ("recall<=",))[1], document)
    assert document["policy"][0] == {**entries[0], "require": "recall<=0.05"}
    assert (document["policy"][1]["name"], document["policy"][1]["purpose"]) == ("Slope of the risk", "research")


def test_a_document_without_a_truth_is_asked_for_one(browser: Browser, project: Project, items: Path):
    items.with_name("unmask.toml").write_text('[data]\nfile = "both.csv"\n[linkage]\nguesses = "both.csv"\n')
    opened(browser, items.with_name("unmask.toml"))
    assert browser.at("/roles").status_code == 200


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"linkage.beta": "0"}, "beta"),
        ({"linkage.beta": "140"}, "is 140 %, expected a percentage above 0 and at most 100"),
        ({"breached<=": ""}, "give at least one limit"),
        ({"require": "nonsense"}, "the condition is"),
    ],
)
def test_a_refusal_of_the_command_is_one_sentence_on_the_page(
    browser: Browser, items: Path, fields: dict[str, str], message: str
):
    opened(browser, items)
    browser.at("/adversaries")
    response = browser.sends("/adversaries", **{**boxes(browser), "breached<=": "50", **fields}, do="continue")
    assert response.status_code == 422
    assert message in unescape(response.text)


def test_a_failed_verdict_names_the_step_that_repairs_it(browser: Browser, project: Project, tmp_path: Path):
    (tmp_path / "odd.csv").write_text("item,person,cluster\nr1,p1,c1\nr2,,c1\n")
    opened(browser, tmp_path / "odd.csv")
    goes(browser, "/roles")
    goes(browser, "/adversaries", **{"breached<=": "50"})
    project.jobs.wait("verdict")
    result = browser.at("/verdict").text
    assert "a label is missing at 1 item" in result
    assert '<a href="/roles">Columns</a>' in result
