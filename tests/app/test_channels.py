"""A channel in the browser gives what the command line gives from the document that it leaves."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Browser
from tests.app.walking import boxes, equals, goes, opened, run, signed
from tests.commands import read_page
from unmask.app.project import Project


@pytest.mark.slow
def test_a_channel_of_places_equals_the_command_line(
    browser: Browser, project: Project, places: tuple[Path, Path], tmp_path: Path, monkeypatch: Any, capsys: Any
):
    places_file, prior = places
    assert "x and y look like coordinates" in opened(browser, places_file)
    browser.at("/roles")
    sent = {"channel.prior file": ("visits.csv", prior.read_bytes())}
    fields = {**boxes(browser), "protections.budget": "60", "channel.unit": "m", "do": "continue"}
    assert browser.sends("/roles", files=sent, **fields).url.path == "/adversaries"
    goes(browser, "/adversaries", **{"estimation_error>=": "50", "success_probability.worst<=": "99"})
    conditions = [entry["require"] for entry in project.document["policy"]]
    assert conditions == ["estimation_error>=50", "success_probability.worst<=0.99"]
    files = signed(browser, project)
    commands = re.findall(r"unmask design .*?mechanism.csv", unescape(read_page(browser.at("/verdict").text)))
    assert commands == [
        "unmask design --prior visits.csv --loss euclidean --coordinates places.csv --budget 60 -o mechanism.csv"
    ]
    mechanism_file = files.pop("mechanism.csv")
    audited = browser.get("/files/audit.json").content
    folder = tmp_path / "cli"
    folder.mkdir()
    (folder / "mechanism.csv").write_bytes(mechanism_file)
    equals(files, audited, [places_file, prior], "channel", folder, monkeypatch, capsys)
    run(capsys, *commands[0].split()[1:], "--force")
    assert (folder / "mechanism.csv").read_bytes() == mechanism_file


def test_a_matrix_of_probabilities_is_a_channel_as_it_is(browser: Browser, project: Project, tmp_path: Path):
    (tmp_path / "response.csv").write_text(",yes,no\nyes,0.75,0.25\nno,0.25,0.75\n")
    assert "probabilities that sum to 1" in opened(browser, tmp_path / "response.csv")
    browser.at("/roles")
    assert "protections.budget" not in boxes(browser)
    goes(browser, "/roles")
    result = browser.at("/adversaries").text
    assert result.count(" %</span>") == 4  # errors are shares of wrong answers
    assert project.document["channel"] == {"channels": ["response.csv"]}


def test_other_budgets_are_judged_by_the_error(browser: Browser, project: Project, places: tuple[Path, Path]):
    document = places[0].with_name("unmask.toml")
    document.write_text(
        '[channel]\nchannels = ["mechanism.csv"]\nprior = "visits.csv"\n[[protections]]\n'
        'use = "channels.optimal_mechanism"\nwith = { budget = 0.2 }\n'
        '[[policy]]\nrequire = "success_probability <= 0.9"\n'
    )
    opened(browser, document)
    browser.at("/protect")
    assert "set a limit for it in step 3" in browser.sends("/protect", do="start").text


@pytest.mark.slow
def test_budgets_that_were_tried_are_points_to_take(browser: Browser, project: Project, places: tuple[Path, Path]):
    opened(browser, places[0])
    browser.at("/roles")
    sent = {"channel.prior file": ("visits.csv", places[1].read_bytes())}
    browser.sends("/roles", files=sent, **{**boxes(browser), "protections.budget": "60", "do": "continue"})
    goes(browser, "/adversaries", **{"estimation_error>=": "50", "success_probability<=": "99"})
    project.jobs.wait("verdict")
    browser.at("/protect")
    browser.sends("/protect", do="start")
    project.jobs.wait("study")
    page = unescape(browser.at("/protect").text)
    assert "Tested only in step 4: Expected success" in page
    assert "has the largest utility of the acceptable releases" in page
    browser.sends("/protect", do="use", point="11")
    budget = project.document["protections"][0]["with"]["budget"]
    assert budget > 60
    project.jobs.wait("verdict")
    browser.at("/protect")
    assert "All points" in browser.page.text  # the curve is still that of the document
