"""Who is answered, and what nobody gets."""

import re
import tempfile
from pathlib import Path

import pytest

from tests.app.conftest import HOME, PORT, TOKEN, Browser
from unmask.app import guard
from unmask.app.guard import HEADERS
from unmask.app.project import Project
from unmask.app.server import serve
from unmask.errors import UnmaskError


@pytest.mark.parametrize("path", ["/", "/open", "/roles", "/files/unmask.toml", "/static/app.css", "/events/verdict"])
def test_nothing_is_served_without_the_token(stranger: Browser, path: str):
    for asked in (path, f"{path}?token=wrong", f"{path}?token="):
        found = stranger.get(asked)
        assert found.status_code == 403
        assert "Open the address" in found.text


def test_the_token_becomes_a_cookie_that_no_script_and_no_other_site_gets(stranger: Browser):
    found = stranger.get(f"/?token={TOKEN}", follow_redirects=False)
    assert found.status_code == 303
    assert found.headers["location"] == "/"
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(found.headers["set-cookie"].split("; "))


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", f"0.0.0.0:{PORT}", ""]
)
def test_another_host_is_a_rebound_name(browser: Browser, host: str):
    assert browser.get("/open", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8765", "http://127.0.0.1:9999"])
def test_another_origin_is_refused(browser: Browser, origin: str):
    assert browser.get("/open", headers={"origin": origin}).status_code == 403
    assert browser.post("/open", headers={"origin": origin}).status_code == 403
    assert browser.get("/open", headers={"origin": HOME}).status_code == 200


def test_a_form_of_another_site_is_refused(browser: Browser):
    assert browser.post("/open", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert browser.get("/open", headers={"sec-fetch-site": "same-site"}).status_code == 200


@pytest.mark.parametrize("path", ["/open", "/job/verdict"])
@pytest.mark.parametrize("secret", [None, "", "wrong", TOKEN])
def test_a_form_without_the_secret_of_this_session_is_refused(browser: Browser, path: str, secret: str | None):
    found = browser.post(path, data={"do": "demo"} | ({} if secret is None else {"form": secret}))
    assert found.status_code == 403
    assert "load the page again" in found.text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_refused(browser: Browser, method: str):
    assert browser.request(method, "/open").status_code == 405


def test_every_answer_has_the_headers(browser: Browser, stranger: Browser):
    asked = ["/open", "/static/app.css", "/static/app.js", "/nowhere", "/report.css"]
    found = [*(browser.get(path) for path in asked), stranger.get("/open", headers={"host": "evil.example"})]
    for one in found:
        assert HEADERS.items() <= dict(one.headers).items()
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
    monkeypatch.setattr(guard, "UPLOAD", 100_000)
    browser.at("/open")
    found = browser.sends("/open", files={"upload": ("a.csv", b"age\n" + b"30\n" * 100_000)})
    assert found.status_code == 413
    assert "open a larger file by its path" in found.text
    told = {"content-length": str(10 << 30)}
    assert browser.post("/open", headers=told, content=b"").status_code == 413
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
