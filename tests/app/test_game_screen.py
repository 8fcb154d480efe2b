"""The screen that weighs what to release: plain questions, and the command that answers them."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.app.conftest import Browser
from tests.app.test_way import choose_roles, opened
from unmask.app.jobs import Command, Job, Jobs
from unmask.app.pages import describe_progress
from unmask.app.project import Project
from unmask.document import load
from unmask.studies.game.document import parse_game
from unmask.studies.questions import QUESTIONS
from unmask.studies.reading import read_plan

RANGES = [question.key for question in QUESTIONS if question.holds in ("range", "share")]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Commands that would run."""
    calls: list[tuple[str, ...]] = []

    def start(jobs: Jobs, name: str, commands: Sequence[Command], *, digest: str, **_: object) -> None:
        calls.extend(map(tuple, commands))
        jobs._write(Job(name, tuple(map(tuple, commands)), digest, "stopped"))

    monkeypatch.setattr(Jobs, "start", start)
    return calls


@pytest.fixture
def weighed(browser: Browser, hospital: Path, started: list[tuple[str, ...]]) -> Browser:
    """A table whose questions are answered."""
    opened(browser, hospital)
    choose_roles(browser)
    assert browser.at("/game").status_code == 200
    started.clear()
    fields = {f"{question.key} from": "7" for question in QUESTIONS} | {f"{key} to": "9" for key in RANGES}
    browser.sends("/game", **fields, adversary="neighbor", do="compare")
    return browser


def test_every_question_says_who_answers_it_and_that_it_is_assumed(weighed: Browser):
    text = weighed.at("/game").text
    for question in QUESTIONS:
        assert f"For the {question.role}. {'In place of' if question.assumed is None else 'Assumed; '}" in text
        assert question.asks in text


def test_answers_are_what_the_document_says_and_the_command_reads(
    weighed: Browser, project: Project, started: list[tuple[str, ...]]
):
    assert weighed.page.url.path == "/game"
    assert started == [("game", "game.toml", "-o", "game.html", "--force")]
    game = parse_game(load(project.folder / "game.toml"), project.folder)
    assert (game.publisher.benefit, game.publisher.threshold) == (7, 7)
    assert (game.terms["prices"], game.terms["fines"]) == ((0, 7), (0, 7))
    assert [(end.parameter, end.low, end.high) for end in game.ranges] == [
        ("gain", 7, 9), ("detection", pytest.approx(0.07), pytest.approx(0.09)),
    ]  # fmt: skip
    assert game.adversary == {"broker": "neighbor"}
    names = [part.name for part in read_plan(project.folder / "game.toml").protections]
    assert names == ["none", *(f"Mondrian k={k}" for k in (2, 5, 10, 12, 20, 50))]
    assert load(project.folder / "unmask.toml")["attackers"] == load(project.folder / "game.toml")["attackers"]


def test_tries_of_ones_own_stand_in_place_of_detection(weighed: Browser, project: Project):
    attacker = project.document["attackers"][0]
    assert attacker["false_alarms"] == 0.07
    tries = {"attackers.detection_prior from": "2", "attackers.detection_prior to": "38"}
    weighed.sends("/game", **tries, do="compare")
    found = project.document["attackers"][0]
    assert found["detection_prior"] == [2, 38]
    assert "detection" not in found
    assert found["gain"] == attacker["gain"]
    field = r'name="attackers.{} from"[^>]* value="{}"'
    assert re.search(field.format("detection_prior", "2"), text := weighed.at("/game").text)
    assert re.search(field.format("detection", ""), text)
    emptied = {"attackers.detection_prior from": "", "attackers.detection from": "3", "attackers.detection to": "3"}
    weighed.sends("/game", **emptied, do="compare")
    assert project.document["attackers"][0] == {**attacker, "detection": 0.03}


def test_it_says_how_many_releases_were_attacked(weighed: Browser, project: Project):
    project.jobs.logs["game"] = ["pricing none", "note: zip is a code", "pricing Mondrian k=2"]
    job = project.jobs.find("game")
    assert job is not None
    assert describe_progress(project, job).endswith(": 2 of 7 releases")


def test_parameters_without_a_question_stay_in_the_document(weighed: Browser, project: Project):
    document = project.document
    document["publisher"] |= {"fees": True, "loss": {"from": 1, "to": 2}}
    document["attackers"] += [{"name": "insurer", "gain": 5}]
    project.save(document)
    assert "1 more kind of attackers" in weighed.at("/game").text
    weighed.sends("/game", **{"publisher.benefit from": "70"}, do="compare")
    assert project.document["publisher"] == {**document["publisher"], "benefit": 70}
    assert project.document["attackers"][1:] == document["attackers"][1:]


def test_terms_below_the_most_that_may_be_asked_stay(weighed: Browser, project: Project):
    project.save({**project.document, "publisher": {**project.document["publisher"], "prices": [0, 10, 1000]}})
    for highest_fine, terms in (("1000", [0, 10, 1000]), ("500", [0, 10, 500])):
        weighed.sends("/game", **{"publisher.prices from": highest_fine}, do="compare")
        assert project.document["publisher"]["prices"] == terms


def test_several_protections_of_a_document_are_weighed_as_they_stand(weighed: Browser, project: Project):
    several = [{"use": "none"}, {"use": "tables.Mondrian", "grid": {"k": [3, 4]}}]
    project.save({**project.document, "protections": several})
    weighed.at("/game")
    weighed.sends("/game", do="compare")
    assert load(project.folder / "game.toml")["protections"] == several


def test_a_price_changes_no_verdict(weighed: Browser, project: Project):
    digest = project.digest
    weighed.at("/game")
    weighed.sends("/game", **{"publisher.benefit from": "70"}, do="compare")
    assert project.digest == digest
