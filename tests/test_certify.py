"""A certificate comes out the same where nothing changed, and fails for a release, a policy, a version or a number."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from tests.commands import run

TABLE = """
[data]
file = "people.csv"
[columns]
age = "quasi-identifier"
ill = "sensitive"
[[releases]]
file = "release.csv"
origin = "origin.csv"
[[policy]]
use = "ema-0.09"
[certificate]
released_by = "St. Mary"
purpose = "research"
"""

GRAPH = """
[graph]
release = "ring.txt"
overlaps = "0.9,0.9"
runs = 2
seeds = "random:5"
attacks = ["Nar09"]
[[policy]]
require = "recall <= 0.9"
"""

LINKAGE = """
[linkage]
truth = "truth.csv"
guesses = "guess.csv"
[[policy]]
require = "breached <= 0.5"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{30 + i // 4},{'ab'[i % 2]}\n" for i in range(40))
    (tmp_path / "people.csv").write_text("age,ill\n" + rows)
    (tmp_path / "truth.csv").write_text("item,subject\n" + "".join(f"i{n},s{n // 3}\n" for n in range(12)))
    (tmp_path / "guess.csv").write_text("item,cluster\n" + "".join(f"i{n},c{n // 4}\n" for n in range(12)))
    (tmp_path / "ring.txt").write_text("".join(f"{i} {(i + step) % 40}\n" for i in range(40) for step in (1, 2, 5)))
    roles = ("-q", "age", "-s", "ill")
    assert run("protect", "people.csv", *roles, "--k", "4", "-o", "release.csv", "--origin", "origin.csv")[0] == 0
    return tmp_path


STUDIED = """
[data]
use = "graphs.file"
file = "ring.txt"
"""


@pytest.mark.parametrize(
    "text", [TABLE, GRAPH, LINKAGE, STUDIED + GRAPH], ids=["table", "graph", "linkage", "graph with data of a study"]
)
def test_a_certificate_checks_in_another_folder(folder: Path, text: str, tmp_path_factory, monkeypatch) -> None:
    (folder / "unmask.toml").write_text(text)
    assert run("certify", "unmask.toml", "-o", "certificate.json")[0] == 0
    page = (folder / "certificate.html").read_text()
    assert "Signatures" in page
    other_folder = tmp_path_factory.mktemp("other") / "place"
    shutil.copytree(folder, other_folder)
    monkeypatch.chdir(other_folder)
    code, output, _ = run("certify", "unmask.toml", "--check", "certificate.json")
    assert code == 0
    assert output.startswith("certificate.json is confirmed: all ")


def test_a_mechanism_of_places_is_certified_by_how_far_off_the_adversary_is(folder: Path) -> None:
    (folder / "m.csv").write_text(",a,b\na,0.75,0.25\nb,0.25,0.75\n")
    (folder / "places.csv").write_text("place,x,y\na,0,0\nb,0,1000\n")
    options_text = 'channels = ["m.csv"]\nloss = "euclidean"\ncoordinates = "places.csv"\nunit = "m"\n'
    (folder / "unmask.toml").write_text(f"[channel]\n{options_text}")
    assert run("certify", "unmask.toml", "-o", "certificate.json")[0] == 0
    page = (folder / "certificate.html").read_text().replace("\u00a0", " ")
    assert "off by 250 m" in page
    assert "off by 500 m" in page


def test_conditions_of_several_releases_say_of_which(folder: Path) -> None:
    for name in ("near", "far"):
        (folder / f"{name}.csv").write_text(f",a,b\na,0.75,0.25\nb,{'0.4,0.6' if name == 'near' else '0.25,0.75'}\n")
    document_text = '[channel]\nchannels = ["near.csv", "far.csv"]\n[[policy]]\nrequire = "epsilon <= 1"\n'
    (folder / "unmask.toml").write_text(document_text)
    assert run("certify", "unmask.toml", "-o", "certificate.json")[0] in (0, 3)
    conditions = (folder / "certificate.html").read_text().partition("Required by")[2].partition("</table>")[0]
    assert [name in conditions for name in ("near", "far")] == [True, True]


def test_the_page_says_what_the_audit_warns_of(folder: Path) -> None:
    lines = (folder / "release.csv").read_text().splitlines()
    numbered = [f"{lines[0]},case", *(f"{line},{i}" for i, line in enumerate(lines[1:]))]
    (folder / "release.csv").write_text("\n".join(numbered) + "\n")
    (folder / "unmask.toml").write_text(TABLE)
    assert run("certify", "unmask.toml", "-o", "certificate.json")[0] == 0
    page = (folder / "certificate.html").read_text()
    assert "The original lacks columns of release, so no adversary knows them: case." in page


def test_the_page_shows_digests_verdict_and_what_is_left_to_write(folder: Path) -> None:
    (folder / "unmask.toml").write_text(TABLE)
    assert run("certify", "unmask.toml", "-o", "certificate.json")[0] == 0
    result, page = json.loads((folder / "certificate.json").read_text()), (folder / "certificate.html").read_text()
    (digest,) = (entry["sha256"] for entry in result["inputs"] if entry["name"] == "release.csv")
    assert digest in page
    assert [entry["sha256"] for entry in result["inputs"] if entry["name"] == "people.csv"] == [None]
    assert "release: Not acceptable under EMA 0.09: the only condition is missed." in page
    assert "St. Mary" in page
    assert "\u2026\u2026" in page
    assert "singling out: not tested; linkability: not tested; inference: what they reach" in page


SAID = {
    "release": "inputs, release.csv, sha256: not the same",
    "policy": "verdicts: 1 lines in the certificate, 2 now",
    "purpose": "certificate, purpose, said: research in the certificate, advertising now",
    "version": "unmask: 9.9.9 in the certificate, ",
    "number": ", posterior: 0.",
    "count": "criteria, release, k: 9 in the certificate, ",
    "state": "verdicts, release, prosecutor, identity, EMA 0.09, identity:success_",
    "left out": "results: ",
}
"""A change -> the line that says what differs."""

CHANGES = {
    "release": lambda folder, _: (folder / "release.csv").write_text((folder / "release.csv").read_text() + "\n"),
    "policy": lambda folder, _: (folder / "unmask.toml").write_text(TABLE + '[[policy]]\nrequire = "k >= 3"\n'),
    "purpose": lambda folder, _: (folder / "unmask.toml").write_text(TABLE.replace("research", "advertising")),
    "version": lambda _, result: result.update(unmask="9.9.9"),
    "number": lambda _, result: result["results"][0].update(posterior=result["results"][0]["posterior"] + 1e-6),
    "count": lambda _, result: result["tables"]["criteria"][-1].update(k=9),
    "state": lambda _, result: result["tables"]["verdicts"][0].update(state="met"),
    "left out": lambda _, result: result["results"].pop(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_one_change_fails_the_check(folder: Path, change: str) -> None:
    (folder / "unmask.toml").write_text(TABLE)
    assert run("certify", "unmask.toml", "-o", "certificate.json")[0] == 0
    data = json.loads((folder / "certificate.json").read_text())
    CHANGES[change](folder, data)
    (folder / "certificate.json").write_text(json.dumps(data))
    code, output, _ = run("certify", "unmask.toml", "--check", "certificate.json")
    assert code == 1
    assert SAID[change] in output


@pytest.mark.parametrize(
    ("words", "text", "message"),
    [
        (["-o", "c.json"], TABLE + GRAPH.partition("[[policy]]")[0], "asks for 2 audits"),
        (["-o", "c.json", "--of", "channel"], TABLE, "asks for 0 audits called channel"),
        (["-o", "c.json"], TABLE.replace("people.csv", "gone.csv"), "gone.csv"),
        (["-o", "c.json"], TABLE.replace("purpose", "purpos"), "did you mean 'purpose'?"),
        ([], TABLE, "give --output to write a certificate"),
        (["--check", "gone.json"], TABLE, "cannot be read"),
        (["--check", "people.csv"], TABLE, "is not JSON"),
        (["-o", "people.csv", "--force"], TABLE, "people.csv is not a name of a JSON file"),
    ],
)
def test_uncertifiable_documents_are_refused_in_a_sentence(folder: Path, words, text, message) -> None:
    (folder / "unmask.toml").write_text(text)
    content = (folder / "people.csv").read_text()
    code, output, error = run("certify", "unmask.toml", *words)
    assert code not in (0, 3)
    assert message in error + output
    assert (folder / "people.csv").read_text() == content


def edited(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1))


def test_an_edited_page_does_not_match_its_certificate(folder: Path) -> None:
    (folder / "unmask.toml").write_text(TABLE)
    assert run("certify", "unmask.toml", "-o", "certificate.json")[0] == 0
    digest = hashlib.sha256((folder / "certificate.json").read_bytes()).hexdigest()
    assert digest in (folder / "certificate.html").read_text()
    edited(folder, "certificate.html", "Not acceptable", "Acceptable")
    code, output, _ = run("certify", "unmask.toml", "--check", "certificate.json")
    assert code == 1
    assert f"certificate.html: not the page of certificate.json, whose SHA-256 is {digest}" in output


@pytest.mark.parametrize("page", ["folder", "binary", "another"])
def test_another_file_does_not_match_the_page_of_a_certificate(folder: Path, page: str) -> None:
    (folder / "unmask.toml").write_text(TABLE)
    assert run("certify", "unmask.toml", "-o", "certificate.json")[0] == 0
    (folder / "certificate.html").unlink()
    code, _, error = run("certify", "unmask.toml", "--check", "certificate.json")
    assert (code, "no page was checked" in error) == (0, True)
    if page == "folder":
        (folder / "certificate.html").mkdir()
    else:
        (folder / "certificate.html").write_bytes(b"\xff" if page == "binary" else b"<p>Acceptable</p>")
    assert run("certify", "unmask.toml", "--check", "certificate.json")[0] == 1


def test_the_page_of_another_version_must_state_the_digest(folder: Path) -> None:
    (folder / "unmask.toml").write_text(TABLE)
    assert run("certify", "unmask.toml", "-o", "certificate.json")[0] == 0
    digest = hashlib.sha256((folder / "certificate.json").read_bytes()).hexdigest()
    data = json.loads((folder / "certificate.json").read_text()) | {"unmask": "0.0.1"}
    (folder / "certificate.json").write_text(json.dumps(data, indent=1) + "\n")
    after = hashlib.sha256((folder / "certificate.json").read_bytes()).hexdigest()
    assert "not the page of" in run("certify", "unmask.toml", "--check", "certificate.json")[1]
    edited(folder, "certificate.html", digest, after)
    assert "not the page of" not in run("certify", "unmask.toml", "--check", "certificate.json")[1]
