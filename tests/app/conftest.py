"""The screens of `unmask open`, asked without a server, and the commands that they run."""

import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from html import unescape
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra [app] of unmask")
pytest.importorskip("httpx", reason="starlette's client needs httpx")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # starlette would rather have another httpx
    from starlette.testclient import TestClient

from tests.app.hospital import write_hospital
from unmask.app import column_profile, worker_process
from unmask.app.guard import Door
from unmask.app.jobs import Command, Jobs
from unmask.app.project import Project
from unmask.app.server import Server
from unmask.studies import workers

KEY = "a-key-that-nobody-guesses"
PORT = 8765
HOST = "0123456789abcdef.localhost"
HOME = f"http://{HOST}:{PORT}"


class Browser(TestClient):
    """Sends the forms of the page that it is on, as a browser does."""

    page: Any = None

    def at(self, path: str) -> Any:
        """Go to a page."""
        self.page = self.get(path)
        return self.page

    def sends(self, to: str, /, files: Any = None, **fields: Any) -> Any:
        """Send a form with what the page has in it."""
        hidden = dict(re.findall(r'<input type="hidden" name="(form|version)" value="([^"]*)">', self.page.text))
        self.page = self.post(to, data={**hidden, **fields}, files=files)
        return self.page

    def checked(self) -> dict[str, str]:
        """The choices of the page, as they are."""
        return {
            name: unescape(value)
            for name, value in re.findall(r'name="([^"]+)" value="([^"]*)" checked', self.page.text)
        }


class ForkedProcess:
    """A process of a job, like `Popen`, but forked from one that has imported what commands need."""

    def __init__(self, process: BaseProcess, stdin: Connection, stderr: Connection) -> None:
        self.process, self.stdin, self.stderr = process, stdin, os.fdopen(os.dup(stderr.fileno()), "rb")
        self.terminate = process.terminate

    def __enter__(self) -> "ForkedProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()
        self.stdin.close()
        self.stderr.close()

    def wait(self) -> int | None:
        """Wait for the end, and return the exit code."""
        self.process.join()
        return self.process.exitcode


def fork_process(jobs: Jobs, command: Command, output: str | None) -> Any:
    """Start a process of a job as `Jobs` does, without the imports, which take longer than most commands."""
    root = jobs.folder.parent
    (stdin, our_stdin), (our_stderr, stderr) = workers._START.Pipe(duplex=False), workers._START.Pipe(duplex=False)
    streams = (stdin, os.devnull if output is None else str(root / output), stderr)
    process = workers._START.Process(target=run_command, args=(command, root, streams, {**os.environ}), daemon=True)
    with workers._without_main():
        process.start()
    stdin.close()
    stderr.close()
    return ForkedProcess(process, our_stdin, our_stderr)


def run_command(
    command: Sequence[str], root: Path, streams: tuple[Connection, str, Connection], environment: dict[str, str]
) -> None:
    """Run a command inside such a process."""
    os.chdir(root)
    os.environ.clear()
    os.environ.update(environment, TMPDIR=str(root))
    tempfile.tempdir = None
    stdin, stdout, stderr = streams
    os.dup2(stdin.fileno(), 0)
    os.dup2(os.open(stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
    os.dup2(stderr.fileno(), 2)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
    sys.argv = ["worker_process", *command]
    worker_process.main()


@pytest.fixture(autouse=True)
def forked_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the processes of jobs; those of a server in a process of its own start as outside of tests."""
    monkeypatch.setattr(Jobs, "_open_process", fork_process)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """An empty project, in which columns are counted before a page is shown, however busy the machine is."""
    monkeypatch.setattr(column_profile, "PATIENCE_SECONDS", 60.0)
    project_made = Project.new(tmp_path)
    yield project_made
    project_made.remove()


@pytest.fixture
def door(tmp_path_factory: pytest.TempPathFactory) -> Door:
    """The way in, by a key that the tests know."""
    return Door(PORT, tmp_path_factory.mktemp("door") / "open.html", host=HOST, key=KEY)


@pytest.fixture
def stranger(project: Project, door: Door) -> Browser:
    """A browser that has no key."""
    return Browser(Server(project, door).app, base_url=HOME)


@pytest.fixture
def browser(stranger: Browser) -> Browser:
    """The browser of the user."""
    stranger.at(f"/?key={KEY}")
    return stranger


@pytest.fixture(scope="session")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small table as a spreadsheet writes it."""
    return write_hospital(tmp_path_factory.mktemp("hospital") / "hospital.csv", 300)


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """Items of people, and two guesses, in one file."""
    path = tmp_path / "both.csv"
    rows = (f"r{n},p{n // 3},g{n // 4},h{n // 2}\n" for n in range(60))
    path.write_text("record,person,pred_a,pred_b\n" + "".join(rows))
    return path


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """Four places on a map, and how often each is visited."""
    places_file, prior = tmp_path / "places.csv", tmp_path / "visits.csv"
    places_file.write_text("place,x,y\nhome,0,0\nwork,100,0\nshop,0,300\ngym,200,200\n")
    prior.write_text("secret,probability\nhome,0.4\nwork,0.3\nshop,0.2\ngym,0.1\n")
    return places_file, prior


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    """A small network of calls."""
    path = tmp_path / "calls.csv"
    rng = np.random.default_rng(1)
    links = {(person, int(other_person)) for person in range(1, 60) for other_person in rng.integers(0, person, 4)}
    path.write_text("caller,callee\n" + "".join(f"{100 + caller},{100 + callee}\n" for caller, callee in sorted(links)))
    return path
