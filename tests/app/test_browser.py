"""A real browser goes the whole way, from `unmask open` to the files; no screen has a serious fault for anybody who
cannot see or hold a mouse.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.hospital import write_hospital
from unmask.cli import main
from unmask.document import load

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")]

AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")

SERIOUS = """axe.run().then(found => found.violations.filter(one => ["serious", "critical"].includes(one.impact))
  .map(one => [one.id, one.nodes.map(node => node.html.slice(0, 200))]))"""

TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of a server that runs; afterwards it has ended in peace, and left nothing."""
    there = tmp_path / "tmp"
    there.mkdir()
    command = [sys.executable, "-m", "unmask_command", "open", "--no-browser"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env={**os.environ, "TMPDIR": str(there)}
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == 0
    assert list(there.iterdir()) == []


@pytest.fixture
def chromium() -> Iterator[Any]:
    """A browser without a window."""
    with playwright.sync_playwright() as made:
        browser = made.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def check(page: Any) -> None:
    """No serious fault, light and dark, and nothing beyond the edge of a phone."""
    for scheme, width in (("light", 1280), ("dark", 400)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate(AXE)
        assert page.evaluate(SERIOUS) == []
        assert not page.evaluate(TOO_WIDE)


def test_the_whole_way(
    address: str, chromium: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    table, folder = write_hospital(tmp_path / "hospital.csv", 60), tmp_path / "cli"
    page, said = chromium.new_page(accept_downloads=True), []
    page.on("console", lambda message: said.append(message.text))
    page.goto(address)
    assert "token" not in page.url
    check(page)
    page.get_by_label("Or choose a file").set_input_files(table)
    page.get_by_role("button", name="Copy and open").click()
    page.get_by_role("heading", name="How the file was read").wait_for()
    check(page)
    page.get_by_role("button", name="Continue to roles").click()
    page.get_by_text("Type and how fine").first.click()
    check(page)
    page.get_by_role("button", name="Continue").first.press("Enter")  # the keyboard is enough
    page.get_by_label("Own conditions").check()
    page.get_by_label("Others in their place").fill("k >= 10\nidentity:success_probability.worst <= 0.1")
    check(page)
    page.get_by_role("button", name="Make the release").click()
    page.get_by_role("status").wait_for()
    page.get_by_text("Is it acceptable?").wait_for(timeout=60_000)
    check(page)
    page.goto(page.url.replace("/verdict", "/protect"))
    check(page)
    page.get_by_role("link", name="Sign", exact=False).click()
    page.get_by_label("Purpose").fill("Planning")
    page.get_by_role("button", name="Certify").click()
    page.get_by_role("button", name="Certify again").wait_for(timeout=60_000)
    check(page)

    folder.mkdir()
    for name in ("release.csv", "origin.csv", "unmask.toml", "certificate.json", "certificate.html"):
        with page.expect_download() as kept:
            page.get_by_label(f"Download {name}").click()
        kept.value.save_as(folder / ("given.csv" if name == "release.csv" else name))
    monkeypatch.chdir(folder)
    shutil.copy(table, folder)
    assert load(folder / "unmask.toml")["certificate"] == {"purpose": "Planning"}
    main(["protect", "unmask.toml", "-o", "release.csv", "--origin", "own.csv"], standalone_mode=False)
    assert (folder / "release.csv").read_bytes() == (folder / "given.csv").read_bytes()
    capsys.readouterr()
    main(["audit", "unmask.toml", "--json"], standalone_mode=False)
    certified = json.loads((folder / "certificate.json").read_text())
    assert json.loads(capsys.readouterr().out)["results"] == certified["results"]
    assert said == []  # no script and no style was refused, nothing was looked for elsewhere


def test_every_step_works_without_scripts(address: str, chromium: Any, tmp_path: Path):
    table = write_hospital(tmp_path / "hospital.csv", 60)
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto(address)
    page.get_by_label("Path on this computer").fill(str(table))
    page.get_by_role("button", name="Open", exact=True).first.click()
    page.get_by_role("button", name="Continue to roles").click()
    page.get_by_role("button", name="Continue").first.click()
    page.get_by_label("Own conditions").check()
    page.get_by_label("Others in their place").fill("k >= 2")
    page.get_by_role("button", name="Make the release").click()
    page.get_by_text("Is it acceptable?").wait_for(timeout=60_000)  # the page loads itself again
    page.go_back()
    page.go_forward()
    page.reload()
    page.get_by_role("link", name="Sign and download").click()
    assert page.get_by_label("Download release.csv").is_visible()
