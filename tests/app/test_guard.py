"""Requests that the app answers, and requests that it refuses."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.conftest import HOME, HOST, KEY, PORT, Browser
from unmask.app import guard, private_folder
from unmask.app.guard import HEADERS, Door
from unmask.app.open_screen import submit as take
from unmask.app.project import Project, list_interrupted
from unmask.app.server import _open_sockets, serve
from unmask.core.errors import UnmaskError


@pytest.mark.parametrize("path", ["/", "/open", "/roles", "/files/unmask.toml", "/static/app.css", "/events/verdict"])
def test_nothing_is_served_without_the_key(stranger: Browser, path: str):
    for address in (path, f"{path}?key=wrong", f"{path}?key="):
        response = stranger.get(address)
        assert response.status_code == 403
        assert "Open the file" in response.text


def test_a_key_opens_one_session_and_its_cookie_is_another_secret(stranger: Browser, door: Door):
    response = stranger.get(f"/?key={KEY}", follow_redirects=False)
    assert response.status_code == 200
    assert 'content="0;url=/"' in response.text
    pair, *kind = response.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} == set(kind)
    assert KEY not in pair
    assert stranger.get("/open").status_code == 200
    stranger.cookies.clear()
    assert stranger.get(f"/?key={KEY}").status_code == 403
    name = pair.partition("=")[0]
    for value in (KEY, door.key):
        assert stranger.get("/open", headers={"cookie": f"{name}={value}"}).status_code == 403


def test_the_file_that_leads_to_the_server_is_the_users_alone_and_has_the_next_key(stranger: Browser, door: Door):
    for _ in range(2):
        assert door.file.stat().st_mode & 0o777 == 0o600
        address = re.search(r'href="(http[^"]+)"', door.file.read_text(encoding="utf-8"))
        assert address is not None
        assert address[1].startswith(f"{HOME}/?key=")
        assert stranger.get(address[1].removeprefix(HOME)).status_code == 200
        assert address[1] not in door.file.read_text(encoding="utf-8")
    assert [path.name for path in door.file.parent.iterdir()] == ["open.html"]


def test_every_server_has_a_host_of_its_own(tmp_path: Path):
    hosts = {Door(PORT, tmp_path / f"{n}.html").host for n in range(5)}
    assert len(hosts) == 5
    assert all(re.fullmatch(r"[0-9a-f]{32}\.localhost", host) for host in hosts)


@pytest.mark.parametrize("path", ["//evil.example/", "//evil.example/open", "/\\evil.example", "/%2f%2fevil.example/"])
def test_no_address_leads_to_another_site(browser: Browser, door: Door, path: str):
    for query in ("", f"?key={door.key}"):
        response = browser.get(HOME + path + query, follow_redirects=False)
        assert "evil" not in response.headers.get("location", "")
        assert "evil.example" not in response.text


@pytest.mark.parametrize(
    "host",
    ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT}", f"localhost:{PORT}", HOST,
     f"{HOST}:{PORT + 1}", f"other.localhost:{PORT}", f"0.0.0.0:{PORT}", ""],
)  # fmt: skip
def test_another_host_is_a_rebound_name(browser: Browser, host: str):
    assert browser.get("/open", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", HOME.replace("http", "https"), f"http://{HOST}:9999", f"http://localhost:{PORT}"],
)
def test_another_origin_is_refused(browser: Browser, origin: str):
    assert browser.get("/open", headers={"origin": origin}).status_code == 403
    assert browser.post("/open", headers={"origin": origin}).status_code == 403
    assert browser.get("/open", headers={"origin": HOME}).status_code == 200


def test_a_form_of_another_site_is_refused(browser: Browser):
    assert browser.post("/open", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert browser.get("/open", headers={"sec-fetch-site": "same-site"}).status_code == 200


@pytest.mark.parametrize("path", ["/open", "/job/verdict"])
@pytest.mark.parametrize("secret", [None, "", "wrong", KEY])
def test_a_form_without_the_secret_of_this_session_is_refused(browser: Browser, path: str, secret: str | None):
    response = browser.post(path, data={"do": "demo"} | ({} if secret is None else {"form": secret}))
    assert response.status_code == 403
    assert "load the page again" in response.text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_refused(browser: Browser, method: str):
    assert browser.request(method, "/open").status_code == 405


def test_every_answer_has_the_headers(browser: Browser, stranger: Browser):
    paths = ["/open", "/static/app.css", "/static/app.js", "/nowhere", "/report.css"]
    responses = [*(browser.get(path) for path in paths), stranger.get("/open", headers={"host": "evil.example"})]
    for response in responses:
        assert HEADERS.items() <= dict(response.headers).items()
    assert "unsafe" not in HEADERS["content-security-policy"]


def test_no_page_has_a_script_or_a_style_inside(browser: Browser, hospital: Path):
    pages = [
        browser.at("/open").text,
        browser.sends("/open", do="open", path=str(hospital)).text,
        browser.at("/roles").text,
    ]
    for text in pages:
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?! src=\"/static/app.js\" defer></script>)", text)
        assert not re.search(r"https?://", text.replace("http://www.w3.org", ""))


@pytest.mark.parametrize(
    "name",
    [
        "%2e%2e%2funmask.toml",
        "/etc/passwd",
        "lock",
        "reasons.json",
        "hospital.csv",
        "jobs",
        "x" * 5000,
    ],
)
def test_only_the_files_that_were_made_are_given(browser: Browser, hospital: Path, name: str):
    browser.at("/open")
    browser.sends("/open", do="open", path=str(hospital))
    assert browser.get(f"/files/{name}").status_code == 404
    assert browser.get(f"/static/{name}").status_code == 404


def test_a_form_that_is_too_large_is_refused(browser: Browser, project: Project, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(guard, "MAX_UPLOAD_BYTES", 100_000)
    browser.at("/open")
    response = browser.sends("/open", files={"upload": ("a.csv", b"age\n" + b"30\n" * 100_000)})
    assert response.status_code == 413
    assert "open a larger file by its path" in response.text
    headers = {"content-length": str(10 << 30)}
    assert browser.post("/open", headers=headers, content=b"").status_code == 413
    chunks = (b"x" * 50_000 for _ in range(4))
    unsaid = browser.post("/open", content=chunks, headers={"content-type": "multipart/form-data; boundary=b"})
    assert unsaid.status_code == 413
    assert project.file is None


def test_the_folder_is_its_owners_alone(browser: Browser, project: Project, hospital: Path):
    browser.at("/open")
    browser.sends("/open", files={"upload": ("../../../../etc/p\u00e9ople\0.csv", hospital.read_bytes())})
    assert project.folder.stat().st_mode & 0o777 == 0o700
    assert project.file is not None
    assert project.file.parent == project.folder
    assert project.file.stat().st_mode & 0o077 == 0
    assert list(project.folder.parent.iterdir()) == [project.folder]
    project.remove()
    assert not project.folder.exists()


def test_a_server_that_cannot_start_leaves_the_folder_of_temporary_files_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(UnmaskError, match="does not exist"):
        serve(str(tmp_path / "none.csv"), port=0, browser=False)
    assert tempfile.tempdir == str(tmp_path)
    assert not list(tmp_path.iterdir())


def test_no_other_program_can_stand_on_either_address_of_the_port():
    sockets = _open_sockets(0)
    port = sockets[0].getsockname()[1]
    addresses = [socket.getsockname()[0] for socket in sockets]
    assert addresses in (["127.0.0.1", "::1"], ["127.0.0.1"])  # browsers ask both for a name below localhost
    with pytest.raises(UnmaskError, match=f"port {port} cannot be used"):
        _open_sockets(port)
    for socket in sockets:
        socket.close()


def test_a_port_whose_other_address_is_taken_is_refused():
    if len(sockets := _open_sockets(0)) < 2:
        pytest.skip("there is no IPv6 here")
    port = sockets[0].getsockname()[1]
    sockets[0].close()
    with pytest.raises(UnmaskError, match=f"port {port} cannot be used"):
        _open_sockets(port)
    sockets[1].close()


# --- where private folders lie ----------------------------------------------------------------------------------------


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a runtime folder of the user next to the folder of temporary files."""
    for name in ("runtime", "temporary"):
        (tmp_path / name).mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(private_folder, "MAX_UPLOAD_BYTES", 1)
    return tmp_path / "runtime"


def test_a_private_folder_lies_in_the_runtime_folder_of_the_user(runtime: Path):
    project = Project.new()
    assert project.folder.parent == runtime
    project.remove()


@pytest.mark.parametrize("case", ["full", "of others", "asked otherwise", "none"])
def test_a_runtime_folder_that_does_not_do_is_left_out(runtime: Path, monkeypatch: pytest.MonkeyPatch, case: str):
    if case == "full":
        monkeypatch.setattr(private_folder, "MAX_UPLOAD_BYTES", 1 << 60)
    elif case == "of others":
        runtime.chmod(0o755)
    elif case == "asked otherwise":
        monkeypatch.setenv("TMPDIR", str(runtime.parent / "temporary"))
    else:
        monkeypatch.delenv("XDG_RUNTIME_DIR")
    project = Project.new()
    assert project.folder.parent == runtime.parent / "temporary"
    project.remove()


def test_leftovers_of_a_killed_run_are_listed_in_both_folders_and_can_be_removed(runtime: Path, browser: Browser):
    projects = Project.new(runtime), Project.new(runtime.parent / "temporary")
    (projects[0].folder / "upload").write_text("PERSON", encoding="utf-8")  # no document yet
    mine = Project.new()
    for leftover in projects:
        assert leftover.lock is not None
        assert leftover.folder not in [folder for folder, _, _ in list_interrupted(mine)]
        os.close(leftover.lock)
    assert {folder for folder, _, _ in list_interrupted(mine)} == {leftover.folder for leftover in projects}
    for leftover in projects:
        take(mine, {"do": "discard", "folder": leftover.folder.name})
        assert not leftover.folder.exists()
    mine.remove()


def test_a_link_to_a_folder_of_the_user_is_not_a_leftover(runtime: Path):
    home = runtime.parent / "home"
    home.mkdir(mode=0o700)
    mine = Project.new(runtime)
    (runtime / "unmask-open-link").symlink_to(home)
    assert list_interrupted(mine) == []
    assert list(home.iterdir()) == []
    mine.remove()


# --- how a server ends ------------------------------------------------------------------------------------------------


def started(folder: Path, *words: str) -> tuple[subprocess.Popen[str], str]:
    """A server, and the first line that it prints."""
    command = [sys.executable, "-m", "unmask_command", "open", *words]
    room = {**os.environ, "TMPDIR": str(folder)}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=room, cwd=folder)
    assert server.stdout is not None
    return server, server.stdout.readline().strip()


@pytest.mark.parametrize("name", ["SIGHUP", "SIGQUIT", "SIGTERM", "SIGINT"])
def test_a_signal_that_ends_a_server_leaves_nothing(tmp_path: Path, hospital: Path, name: str):
    server, line = started(tmp_path, "--no-browser", str(hospital))
    assert Path(line.removeprefix("file://")).is_relative_to(tmp_path)
    assert list(tmp_path.iterdir())
    server.send_signal(getattr(signal, name))
    server.communicate(timeout=60)
    assert list(tmp_path.iterdir()) == []


def test_a_killed_server_is_named_at_the_next_start_and_neither_shows_its_key(
    tmp_path: Path, hospital: Path, monkeypatch: pytest.MonkeyPatch
):
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\necho "$@" > "$(dirname "$0")/shown"\n', encoding="utf-8")
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    server, line = started(tmp_path, str(hospital))
    wait_for((tmp_path / "shown").exists)
    assert (tmp_path / "shown").read_text(encoding="utf-8").strip() == line
    assert line.startswith("file://")
    server.kill()
    server.communicate(timeout=60)
    (folder_left,) = tmp_path.glob("unmask-open-*")
    server, _ = started(tmp_path, "--no-browser")
    server.send_signal(signal.SIGHUP)
    _, message = server.communicate(timeout=60)
    assert f"{folder_left} is from an interrupted run (hospital.csv, just now)" in message


def wait_for(condition: Callable[[], bool]) -> None:
    """Look until something is true, for a minute at most."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
