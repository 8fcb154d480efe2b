"""A real browser goes the whole way, from `unmask open` to the files; no screen has a serious fault for anybody who
cannot see or hold a mouse.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import pytest

from tests.app.hospital import write_hospital
from tests.reports.test_html import sample
from unmask.cli import main
from unmask.document import load
from unmask.render.page import render
from unmask.studies.results_file import RESULTS

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")]

AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")

SERIOUS = """axe.run({resultTypes: ["violations"]})
  .then(found => found.violations.filter(one => ["serious", "critical"].includes(one.impact))
  .map(one => [one.id, one.nodes.map(node => node.html.slice(0, 200))]))"""

PATIENCE = 180_000
"""Milliseconds until a busy machine has answered."""

TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the server, with the table of a hospital."""
    folder = tmp_path_factory.mktemp("browser")
    (folder / "tmp").mkdir()
    write_hospital(folder / "hospital.csv", 24)
    return folder


@pytest.fixture(scope="module")
def address(room: Path) -> Iterator[str]:
    """Start a server and yield its address. Afterwards it has ended and left no file."""
    command = [sys.executable, "-m", "unmask_command", "open", "--no-browser"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=room, env={**os.environ, "TMPDIR": str(room / "tmp")}
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == 0
    assert list((room / "tmp").iterdir()) == []


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser without a window."""
    with playwright.sync_playwright() as made:
        browser = made.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def enter(page: Any, address: str) -> None:
    """Open the file that leads to the server, as its user does."""
    page.goto(address)
    page.wait_for_url(lambda url: url.startswith("http") and "key" not in url)


class Hostile(BaseHTTPRequestHandler):
    """A server of another user of the machine, which writes down what browsers send."""

    heard: ClassVar[list[str]] = []

    def do_GET(self) -> None:  # so that it is found
        """Answer, and lead to a second page of the same site."""
        self.heard.append(f"{self.path} {self.headers}")
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>here</title><script>if (location.pathname == '/') location = '/second'</script>")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def hostile() -> Iterator[int]:
    """The port of that server."""
    Hostile.heard.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Hostile) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_another_server_of_the_machine_gets_nothing_that_opens_the_app(address: str, chromium: Any, hostile: int):
    page = chromium.new_context().new_page()
    enter(page, address)
    app, cookies = page.url.rpartition("/")[0], [cookie["value"] for cookie in page.context.cookies()]
    assert len(cookies) == 1
    for host in ("127.0.0.1", "localhost", "other.localhost"):
        page.goto(f"http://{host}:{hostile}/")
        page.wait_for_url("**/second")
    answers = [page.evaluate(f"fetch('{app}/open', {{credentials: 'include'}}).then(r => r.text(), () => 'refused')")]
    page.evaluate(f"open('{app}/open', 'framed')")
    page.evaluate(f"document.body.innerHTML = '<form method=post action={app}/open><input name=do value=demo></form>'")
    with page.expect_navigation():
        page.evaluate("document.forms[0].submit()")
    answers.append(page.content())
    assert "refused" in answers[0]
    assert "Not answered" in answers[1]
    assert len(Hostile.heard) >= 6
    assert [
        request for request in Hostile.heard if any(secret in request for secret in (*cookies, "unmask", app))
    ] == []
    page.goto(f"{app}/open")
    assert page.title() != "unmask"  # the user is still in


def test_a_report_runs_its_own_script_and_no_other(chromium: Any, tmp_path: Path):
    page, sentence = chromium.new_page(), []
    page.on("console", lambda message: sentence.append(message.text))
    page.on("pageerror", lambda error: sentence.append(str(error)))
    text = render(sample())
    (tmp_path / "own.html").write_text(text, encoding="utf-8")
    page.goto((tmp_path / "own.html").as_uri())
    assert sentence == []
    hostile = "<script>hostile = 1</script><img src=x onerror='hostile = 1'></main>"
    (tmp_path / "edited.html").write_text(text.replace("</main>", hostile), encoding="utf-8")
    page.goto((tmp_path / "edited.html").as_uri())
    assert page.evaluate("typeof hostile") == "undefined"
    assert any("Content Security Policy" in message for message in sentence)


def check(page: Any) -> None:
    """No serious fault, light and dark, and nothing beyond the edge of a phone."""
    page.evaluate(AXE)
    for scheme, width in (("light", 1280), ("dark", 400)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(SERIOUS) == []
        assert not page.evaluate(TOO_WIDE)


def downloaded(page: Any, folder: Path, *names: str) -> None:
    for name in names:
        with page.expect_download() as download:
            page.get_by_label(f"Download {name}").click()
        download.value.save_as(folder / name)


def studied(folder: Path) -> list[tuple[Any, ...]]:
    """The rows of a study, but for how long they took."""
    result = duckdb.sql(f"select * exclude (seconds) from '{folder / RESULTS}' order by all").fetchall()
    assert result
    return result


def test_the_whole_way(
    address: str, chromium: Any, room: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    page, messages = chromium.new_page(accept_downloads=True), []
    page.set_default_timeout(PATIENCE)
    page.on("console", lambda message: messages.append(message.text))
    enter(page, address)
    check(page)
    page.get_by_label("Or choose a file").set_input_files(room / "hospital.csv")
    page.get_by_role("button", name="Copy and open").click()
    page.get_by_role("heading", name="How the file was read").wait_for()
    check(page)
    page.get_by_role("button", name="Continue to roles").click()
    page.get_by_text("Type and finest level").first.click()
    page.get_by_label("decade").first.check()
    check(page)
    page.get_by_role("button", name="Continue").first.press("Enter")  # the keyboard is enough
    page.get_by_role("checkbox", name="order reader").uncheck()
    page.get_by_label("Own conditions").check()
    page.get_by_label("Replace them, one per line").fill("identity:success_probability.worst <= 0.4")
    check(page)
    page.get_by_role("button", name="Apply").click()
    page.goto(page.url.replace("/adversaries", "/protect"))
    page.get_by_role("button", name="Try protections").click()
    page.locator("#slide-k").wait_for()
    page.get_by_role("status").wait_for(state="detached")
    page.locator("#slide-k").press("End")
    page.wait_for_url("**#slide-k")
    check(page)
    page.get_by_role("link", name="k = 3", exact=True).first.click()
    page.get_by_role("button", name="Use k = 3").click()
    page.get_by_text("Is it acceptable?").wait_for()
    check(page)
    page.get_by_role("link", name="Sign and download").click()
    page.get_by_label("Purpose").fill("Planning")
    page.get_by_role("button", name="Certify").click()
    page.get_by_role("button", name="Certify again").wait_for()
    check(page)
    folder = room / "cli"
    folder.mkdir()
    downloaded(page, folder, "release.csv", "origin.csv", "unmask.toml", "certificate.json", "certificate.html")
    (folder_opened,) = (room / "tmp").glob("unmask-open-*")
    assert messages == []  # no script and no style was refused, nothing was looked for elsewhere

    monkeypatch.chdir(folder)
    shutil.copy(room / "hospital.csv", folder)
    shutil.copy(folder_opened / "study.toml", folder)
    document = load(folder / "unmask.toml")
    assert document["certificate"] == {"purpose": "Planning"}
    assert document["audit"] == {"without": ["order reader"]}
    assert document["protections"] == [{"use": "tables.Mondrian", "with": {"k": 3, "levels": {"birth_date": "decade"}}}]
    main(["protect", "unmask.toml", "-o", "again.csv", "--origin", "own.csv"], standalone_mode=False)
    assert (folder / "again.csv").read_bytes() == (folder / "release.csv").read_bytes()
    capsys.readouterr()
    main(["audit", "unmask.toml", "--json"], standalone_mode=False)
    certified = json.loads((folder / "certificate.json").read_text())
    assert json.loads(capsys.readouterr().out)["results"] == certified["results"]
    main(["study", "study.toml", "-o", "study"], standalone_mode=False)
    assert studied(folder / "study") == studied(folder_opened / "study")


def open_hierarchy(page: Any, address: str, room: Path) -> None:
    """Open the table, and a hierarchy of its wards in which each value is alone."""
    page.set_default_timeout(PATIENCE)
    enter(page, address)
    page.get_by_role("link", name="Open").first.click()
    if page.get_by_role("button", name="Open another file").count():
        page.get_by_role("button", name="Open another file").click()
    page.get_by_label("Path on this computer").fill(str(room / "hospital.csv"))
    page.get_by_role("button", name="Open", exact=True).first.click()
    page.get_by_role("button", name="Continue to roles").click()
    card = page.locator(".card", has=page.get_by_role("heading", name="ward"))
    card.locator("summary").click()
    page.get_by_role("button", name=re.compile("Make a hierarchy.*ward")).click()
    page.locator("[name=start]").select_option("alone")
    page.get_by_role("button", name="Make the hierarchy").click()
    page.get_by_role("heading", name="Values in groups of level 1").wait_for()


def test_a_dragged_value_takes_the_selected_ones_along(address: str, chromium: Any, room: Path):
    page = chromium.new_page()
    open_hierarchy(page, address, room)
    page.wait_for_load_state()  # before, no script listens
    page.get_by_label("Innere").check()
    page.locator(".chip", has_text="Kardiologie").drag_to(page.locator("[data-group=new]"))
    page.get_by_label("Name of group Innere + Kardiologie").wait_for()
    page.wait_for_load_state()
    page.locator(".chip", has_text="Innere").drag_to(page.locator("[data-group=alone]"))
    page.get_by_label("Name of group Innere + Kardiologie").wait_for(state="detached")
    alone = page.locator("[data-group=alone] .chip")
    alone.nth(4).wait_for()  # the group is gone before the new page is there
    assert alone.count() == 5


def test_every_step_works_without_scripts(address: str, chromium: Any, room: Path):
    page = chromium.new_context(java_script_enabled=False).new_page()
    open_hierarchy(page, address, room)
    page.get_by_label("Chirurgie").check()
    page.get_by_label("Urologie").check()
    page.get_by_label("Name", exact=True).fill("operativ")
    page.get_by_role("button", name="Move to group").click()
    assert page.get_by_label("Name of group operativ").input_value() == "operativ"
    page.get_by_role("link", name="Back to the roles").click()
    page.get_by_role("button", name="Continue").first.click()
    page.get_by_label("Own conditions").check()
    page.get_by_label("Replace them, one per line").fill("k >= 2")
    page.get_by_role("button", name="Make the release").click()
    page.get_by_text("Is it acceptable?").wait_for()  # the page loads itself again
    page.go_back()
    page.go_forward()
    page.reload()
    page.get_by_role("link", name="Sign and download").click()
    assert page.get_by_label("Download release.csv").is_visible()
