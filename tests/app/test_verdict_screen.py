"""A verdict on many people: some of them are attacked first, and that page is never taken for the verdict."""

import io
import json
import re
import threading
from pathlib import Path

import pytest

from tests.app.conftest import Browser
from unmask.app import pages, verdict_screen
from unmask.app.fields import protection_parameters
from unmask.app.jobs import EXIT_ABOVE, Command, Jobs
from unmask.app.project import AT_RISK, AUDIT, ORIGIN, RELEASE, REPORT, Project


class Commands:
    """Commands that write what they should, each once it is let go."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.run, self.code = folder, list[tuple[str, ...]](), 0
        self.let_go = threading.Semaphore(0)

    def __call__(self, _jobs: Jobs, command: Command, output: str | None) -> "Process":
        return Process(self, command, output)


class Process(io.BytesIO):
    """A process that runs one of them, and its empty standard error."""

    def __init__(self, commands: Commands, command: Command, output: str | None) -> None:
        super().__init__()
        self.commands, self.command, self.output, self.stderr = commands, command, output, self

    def wait(self) -> int:
        """Run it once it is let go."""
        self.commands.run.append(tuple(self.command))
        assert self.commands.let_go.acquire(timeout=30)
        return self._ended(self.command, self.output)

    def _ended(self, command: Command, to: str | None) -> int:
        folder = self.commands.folder
        if command[0] == "audit":
            page = f"<body><main>Is it acceptable? {len(self.commands.run)}</main><script></script>"
            (folder / REPORT).write_text(page)
        for name in (RELEASE, ORIGIN):
            (folder / name).touch()
        if to:
            (folder / to).write_text(json.dumps({"tables": {"verdicts": []}}))
        return EXIT_ABOVE if command[0] == "audit" else self.commands.code

    def terminate(self) -> None:
        """End it."""


@pytest.fixture
def commands(browser: Browser, project: Project, hospital: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """Run the commands of a verdict on a table of 300 people, once a browser opens it."""
    browser.at("/open")
    browser.sends("/open", do="open", path=str(hospital))
    browser.at("/roles")
    browser.sends("/roles", **browser.checked(), do="continue")
    commands_run = Commands(project.folder)
    monkeypatch.setattr(Jobs, "_open_process", lambda *arguments: commands_run(*arguments))
    return commands_run


def told_at(page: str) -> str:
    """Return the address of the events of a page."""
    return re.findall(r'data-events="([^"]*)"', page)[0]


def test_some_people_are_attacked_before_all_are(
    browser: Browser, project: Project, commands: Commands, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(verdict_screen, "SAMPLE", 60)
    browser.sends("/adversaries", policy="ema-0.09", do="continue")
    events = told_at(browser.at("/verdict").text)
    threading.Timer(0.2, commands.let_go.release).start()
    with browser.stream("GET", events) as stream:
        assert "event: end" in "".join(stream.iter_text())  # there is another command, and may be more to show
    result = browser.at("/verdict").text
    assert "Not the verdict yet" not in result
    assert told_at(result) != events
    threading.Timer(0.2, commands.let_go.release).start()
    with browser.stream("GET", told_at(result)) as stream:
        assert "drawn at random" in "".join(stream.iter_text())
    with browser.stream("GET", told_at(result)) as stream:  # who begins to listen late hears of what there is meanwhile
        assert "event: end" in "".join(stream.iter_text())
    result = browser.at("/verdict").text
    assert "Is it acceptable? 2" in result
    assert "Not the verdict yet" in result
    assert 'href="/sign">Sign and download' not in result
    assert browser.at("/sign").url.path != "/sign"
    commands.let_go.release()
    project.jobs.wait("verdict", 30)
    result = browser.at("/verdict").text
    assert "Is it acceptable? 3" in result
    assert "Not the verdict yet" not in result
    assert browser.at("/sign").url.path == "/sign"
    assert [command[0] for command in commands.run[:3]] == ["protect", "audit", "audit"]
    assert "--targets" in commands.run[1]
    assert AT_RISK not in commands.run[1]
    assert "--targets" not in commands.run[2]
    assert (project.folder / AUDIT).exists()
    commands.let_go.release()  # for what tries other protections


def test_the_last_audit_is_there_until_the_next_one_is(browser: Browser, project: Project, commands: Commands):
    browser.sends("/adversaries", policy="ema-0.09", do="continue")
    commands.let_go.release(3)
    project.jobs.wait("verdict", 30)
    project.jobs.wait(pages.CHANGES, 30)
    browser.sends("/verdict", do="again")
    assert "there is no such change" in browser.sends("/verdict", change="0", do="change").text
    commands.let_go.release(4)
    project.jobs.wait("verdict", 30)


def test_a_change_of_roles_is_made_in_the_document(browser: Browser, project: Project, commands: Commands):
    browser.sends("/adversaries", policy="ema-0.09", do="continue")
    commands.let_go.release(3)
    project.jobs.wait("verdict", 30)
    project.jobs.wait(pages.CHANGES, 30)
    project.save({**project.document, "columns": {**project.document["columns"], "age": "keep"}})
    change = {"k": 15, "l": None, "without": "sex", "protects_kept": True}
    (project.folder / AUDIT).write_text(json.dumps({"tables": {"verdicts": [], "changes": [change]}}))
    browser.sends("/verdict", change="0", do="change")
    columns = project.document["columns"]
    assert (columns["age"], columns["sex"]) == ("quasi-identifier", "drop")
    assert protection_parameters(project.document)["k"] == 15
    commands.let_go.release(4)
    project.jobs.wait("verdict", 30)


def test_no_command_starts_after_one_that_failed(browser: Browser, project: Project, commands: Commands):
    commands.code = 1
    commands.let_go.release()
    browser.sends("/adversaries", policy="ema-0.09", do="continue")
    project.jobs.wait("verdict", 30)
    assert [command[0] for command in commands.run] == ["protect"]
    job = project.jobs.find("verdict")
    assert job is not None
    assert job.state == "failed"


def test_few_people_are_attacked_at_once(browser: Browser, project: Project, commands: Commands):
    browser.sends("/adversaries", policy="ema-0.09", do="continue")
    commands.let_go.release(3)
    project.jobs.wait("verdict", 30)
    assert [command[0] for command in commands.run[:2]] == ["protect", "audit"]
    assert "--targets" not in commands.run[1]


def test_while_changes_are_tried_the_page_does_not_say_that_none_was(
    browser: Browser, project: Project, commands: Commands
):
    browser.sends("/adversaries", policy="ema-0.09", do="continue")
    commands.let_go.release(2)
    project.jobs.wait("verdict", 30)
    page = browser.at("/verdict").text
    assert '<div class="report trying">' in page  # where the advice is hidden
    threading.Timer(0.6, commands.let_go.release).start()
    with browser.stream("GET", told_at(page)) as stream:
        assert "data: Trying other protections" in "".join(stream.iter_text())
    project.jobs.wait(pages.CHANGES, 30)
    assert '<div class="report">' in browser.at("/verdict").text
