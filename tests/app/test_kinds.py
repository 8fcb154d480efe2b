"""Clusters, channels and networks in the browser give what the command line gives from the document that they leave."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.app.conftest import Browser
from unmask.app import graphs
from unmask.app.judging import bounds, take_bounds
from unmask.app.kinds import guess, look
from unmask.app.project import Project
from unmask.cli import main
from unmask.document import load
from unmask.studies.reading import read_plan
from unmask.toml_text import text_of_document


def opened(browser: Browser, path: Path) -> str:
    browser.at("/open")
    assert browser.sends("/open", do="open", path=str(path)).status_code == 200
    return unescape(browser.page.text)


def boxes(browser: Browser) -> dict[str, Any]:
    """What the cards of the page hold, as they are."""
    text = browser.page.text
    numbers = re.findall(r'<input type="number" name="([^"]+)"[^>]* value="([^"]*)"', text)
    found: dict[str, Any] = {unescape(name): value for name, value in numbers}
    for name, value in re.findall(r'<input type="checkbox" name="([^"]+)" value="([^"]*)" checked', text):
        found.setdefault(name, []).append(unescape(value))
    for name, options in re.findall(r'<select name="([^"]+)">(.*?)</select>', text):
        found[name] = (re.findall(r'<option value="([^"]*)" selected', options) or [""])[0]
    return found


def goes(browser: Browser, to: str, **said: Any) -> None:
    """On with the cards of a page, as they are but for what is said."""
    browser.at(to)
    browser.sends(to, **{**boxes(browser), **said}, do="continue")
    assert browser.page.status_code == 200, browser.page.text


def signed(browser: Browser, project: Project) -> dict[str, bytes]:
    """The files, once the certificate is there."""
    browser.at("/verdict")
    project.jobs.wait("verdict")
    assert "Is it acceptable?" in browser.at("/verdict").text, project.jobs.find("verdict")
    browser.at("/sign")
    browser.sends("/sign", purpose="Planning")
    project.jobs.wait("certificate")
    page = browser.at("/sign").text
    assert "Certify again" in page
    return {name: browser.get(f"/files/{name}").content for name in re.findall(r'href="/files/([\w.-]+)"', page)}


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main([*words], standalone_mode=False) in (None, 0, 3)
    return capsys.readouterr().out


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """Items of people, and two guesses, in one file."""
    path = tmp_path / "both.csv"
    rows = (f"r{n},p{n // 3},g{n // 4},h{n // 2}\n" for n in range(60))
    path.write_text("record,person,pred_a,pred_b\n" + "".join(rows))
    return path


@pytest.mark.slow
def test_clusters_equal_the_command_line(
    browser: Browser, project: Project, items: Path, tmp_path: Path, monkeypatch: Any, capsys: Any
):
    assert "column record looks like items, and person like whose they are" in opened(browser, items)
    assert browser.at("/protect").url.path == "/roles"  # there is no such step
    assert browser.page.text.count("(done)") == 1  # the file; what is suggested is not yet gone on with
    goes(browser, "/roles")
    assert browser.page.text.count("(done)") == 2
    goes(
        browser,
        "/adversaries",
        **{"linkage.beta": "60", "breached<=": "50", "require": "risk_slope <= 0.9 # our board"},
    )
    assert project.given["linkage"] == {
        "truth": "both.csv", "guesses": ["both.csv"], "item": "record", "subject": "person",
        "clusters": ["pred_a", "pred_b"], "beta": 0.6,
    }  # fmt: skip
    assert [one["require"] for one in project.given["policy"]] == ["breached<=0.5", "risk_slope<=0.9"]
    given = signed(browser, project)
    assert given.keys() == {"report.html", "certificate.html", "certificate.json", "unmask.toml"}
    assert "There is no protection to choose here" in browser.at("/verdict").text
    equals(given, browser.get("/files/audit.json").content, [items], "linkage", tmp_path / "cli", monkeypatch, capsys)


def equals(
    given: dict[str, bytes], audited: bytes, files: list[Path], word: str, folder: Path, monkeypatch: Any, capsys: Any
) -> None:
    """The command line says the same, from the document and the files that it names."""
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    for name, content in {**{path.name: path.read_bytes() for path in files}, **given}.items():
        (folder / name).write_bytes(content)
    assert json.loads(run(capsys, "audit", word, "unmask.toml", "--json")) == json.loads(audited)
    assert "0 are not" in run(capsys, "certify", "unmask.toml", "--check", "certificate.json")
    assert load(folder / "unmask.toml")["certificate"] == {"purpose": "Planning"}


def test_what_a_file_holds_can_be_corrected(browser: Browser, project: Project, items: Path):
    opened(browser, items)
    browser.sends("/open", do="kind", kind="")
    assert "data" in project.given
    assert "Continue to roles" in browser.page.text
    assert "Taken for" not in browser.page.text  # it was said, not guessed
    browser.sends("/open", do="kind", kind="linkage")
    assert "linkage" in project.given
    assert browser.at("/roles").text.count("(done)") == 1  # whose items these are is a suggestion still
    goes(browser, "/roles")
    assert browser.page.text.count("(done)") == 2
    assert browser.sends("/open", do="kind", kind="nonsense").status_code == 422


def test_a_document_of_clusters_is_opened_with_its_files(browser: Browser, project: Project, items: Path):
    document = items.with_name("unmask.toml")
    document.write_text(
        '[linkage]\ntruth = "both.csv"\nguesses = "both.csv"\nitem = "record"\nsubject = "person"\n'
        'clusters = ["pred_a"]\n[[policy]]\nrequire = "clean_breach <= 0.25"\nsource = "law"\n'
    )
    opened(browser, document)
    assert project.given["linkage"]["guesses"] == "both.csv"
    browser.at("/adversaries")
    assert boxes(browser)["clean_breach<="] == "25"
    goes(browser, "/adversaries", **{"clean_breach<=": "30"})
    assert project.given["policy"] == [{"require": "clean_breach<=0.3", "source": "law"}]


def clusters(folder: Path, guesses: str, policy: str) -> Path:
    """A document of clusters beside its items."""
    document = folder / "unmask.toml"
    document.write_text(
        f'[linkage]\ntruth = "both.csv"\nguesses = "{guesses}"\nitem = "record"\nsubject = "person"\n'
        f'clusters = ["pred_a"]\n{policy}'
    )
    return document


@pytest.mark.parametrize(
    ("guesses", "policy", "why"),
    [
        ("gone.csv", "", "file 'gone.csv' does not exist"),
        ("notes.doc", "", "file 'notes.doc' has another ending"),
        ("both.csv", '[[policy]]\nuse = "gone.toml"\n', "file 'gone.toml' does not exist"),
    ],
)
def test_a_document_with_a_file_that_cannot_be_used_leaves_what_is_open(
    browser: Browser, project: Project, items: Path, guesses: str, policy: str, why: str
):
    opened(browser, items)
    items.with_name("notes.doc").write_text("record,pred_a\n")
    document, before = clusters(items.parent, guesses, policy), project.given
    found = browser.sends("/open", do="open", path=str(document))
    assert found.status_code == 422
    assert why in unescape(found.text)
    assert project.given == before


def test_a_network_that_is_not_there_leaves_what_is_open(browser: Browser, project: Project, items: Path):
    opened(browser, items)
    before = project.given
    assert browser.sends("/open", do="open", path=str(items.with_name("gone.txt"))).status_code == 422
    assert project.given == before


def test_policies_that_a_document_uses_are_shown_and_stay(browser: Browser, project: Project, items: Path):
    (items.parent / "board.toml").write_text(
        'title = "Our board"\n[[policy]]\nrequire = "risk_slope <= 0.9"\nname = "Slope of the risk"\n'
        '[[policy]]\nrequire = "recall <= 0.1"\nname = "Found again"\ndomain = "graphs"\n'
    )
    uses = [{"use": "board.toml"}, {"use": "strict"}]
    said = "".join(f'[[policy]]\nuse = "{one["use"]}"\n' for one in uses)
    opened(browser, clusters(items.parent, "both.csv", f'[[policy]]\nrequire = "breached <= 0.5"\n{said}'))
    page = browser.at("/adversaries").text
    assert "Our board" in page
    assert "Slope of the risk" in page
    assert "Found again" not in page  # it is about networks
    browser.sends("/adversaries", **{**boxes(browser), "breached<=": "40"}, do="apply")
    assert project.given["policy"][:2] == uses
    assert [one["require"] for one in project.given["policy"][2:]] == ["breached<=0.4"]


def test_what_else_a_document_says_of_a_condition_stays():
    entries = [
        {"require": "recall <= 0.1", "name": "Found again", "domain": "graphs", "source": "the board"},
        {"require": "risk_slope <= 0.9", "name": "Slope of the risk", "purpose": "research"},
    ]
    given = {"policy": entries}
    take_bounds({"recall<=": 0.05}, bounds(given, ("recall<=",))[1], given)
    assert given["policy"][0] == {**entries[0], "require": "recall<=0.05"}
    assert (given["policy"][1]["name"], given["policy"][1]["purpose"]) == ("Slope of the risk", "research")


def test_a_file_that_is_needed_stays_until_there_is_another(browser: Browser, project: Project, items: Path):
    opened(browser, items)
    before = project.given
    browser.at("/roles")
    said = boxes(browser)
    assert (said.pop("linkage.truth"), said.pop("linkage.guesses")) == (["both.csv"], ["both.csv"])
    assert browser.sends("/roles", **said, do="apply").url.path == "/roles"
    assert project.given == before
    browser.sends("/roles", files={"linkage.truth file": ("new.csv", items.read_bytes())}, **said, do="apply")
    assert project.given["linkage"]["truth"] == "new.csv"


def test_what_was_opened_cannot_be_taken_out(browser: Browser, project: Project, places: tuple[Path, Path]):
    opened(browser, places[0])
    before = project.given
    browser.at("/roles")
    said = {name: value for name, value in boxes(browser).items() if name != "channel.coordinates"}
    found = browser.sends("/roles", **said, do="apply")
    assert found.status_code == 422
    assert "nothing would be left of what was opened" in found.text
    assert project.given == before


def test_a_document_without_a_truth_is_asked_for_one(browser: Browser, project: Project, items: Path):
    items.with_name("unmask.toml").write_text('[data]\nfile = "both.csv"\n[linkage]\nguesses = "both.csv"\n')
    opened(browser, items.with_name("unmask.toml"))
    assert browser.at("/roles").status_code == 200


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"linkage.beta": "0"}, "beta"),
        ({"linkage.beta": "140"}, "no number of percent"),
        ({"breached<=": ""}, "give one limit at least"),
        ({"require": "nonsense"}, "the condition is"),
    ],
)
def test_what_the_command_refuses_is_a_sentence(browser: Browser, items: Path, said: dict[str, str], why: str):
    opened(browser, items)
    browser.at("/adversaries")
    found = browser.sends("/adversaries", **{**boxes(browser), "breached<=": "50", **said}, do="continue")
    assert found.status_code == 422
    assert why in unescape(found.text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("item,subject\nr1,p1\nr2,p1\n", "linkage"),
        ("record,person,age\nr1,p1,3\n", ""),
        ("age,sex\n3,f\n4,m\n", ""),
        ("one,other\n" + "".join(f"{n},{n + 1}\n" for n in range(30)), "graph"),
        ("often,gladly\n1,2\n2,3\n3,1\n4,5\n5,4\n", ""),
        ("secret,p\na,0.5\nb,0.5\n", "channel"),
        ("place,lat,lon\na,48,11\nb,49,11\n", "channel"),
        (",x,y\na,0.5,0.5\nb,0.1,0.9\n", "channel"),
        ("name,share,more\na,0.5,0.6\nb,0.1,0.9\n", ""),
    ],
)
def test_the_kind_of_a_file_is_guessed_by_its_columns(tmp_path: Path, text: str, word: str):
    (tmp_path / "file.csv").write_text(text)
    kind, why = guess(look(tmp_path / "file.csv", "file.csv"))
    assert kind.word == word
    assert why


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """Four places on a map, and how often each is visited."""
    where, prior = tmp_path / "places.csv", tmp_path / "visits.csv"
    where.write_text("place,x,y\nhome,0,0\nwork,100,0\nshop,0,300\ngym,200,200\n")
    prior.write_text("secret,probability\nhome,0.4\nwork,0.3\nshop,0.2\ngym,0.1\n")
    return where, prior


@pytest.mark.slow
def test_a_channel_of_places_equals_the_command_line(
    browser: Browser, project: Project, places: tuple[Path, Path], tmp_path: Path, monkeypatch: Any, capsys: Any
):
    where, prior = places
    assert "x and y look like coordinates" in opened(browser, where)
    browser.at("/roles")
    sent = {"channel.prior file": ("visits.csv", prior.read_bytes())}
    said = {**boxes(browser), "protections.budget": "60", "channel.unit": "m", "do": "continue"}
    assert browser.sends("/roles", files=sent, **said).url.path == "/adversaries"
    goes(browser, "/adversaries", **{"estimation_error>=": "50", "success_probability.worst<=": "99"})
    asked = [one["require"] for one in project.given["policy"]]
    assert asked == ["estimation_error>=50", "success_probability.worst<=0.99"]
    given = signed(browser, project)
    commands = re.findall(r"unmask design .*?mechanism.csv", unescape(browser.at("/verdict").text))
    assert commands == [
        "unmask design --prior visits.csv --loss euclidean --coordinates places.csv --budget 60 -o mechanism.csv"
    ]
    made = given.pop("mechanism.csv")
    audited = browser.get("/files/audit.json").content
    folder = tmp_path / "cli"
    folder.mkdir()
    (folder / "mechanism.csv").write_bytes(made)
    equals(given, audited, [where, prior], "channel", folder, monkeypatch, capsys)
    run(capsys, *commands[0].split()[1:], "--force")
    assert (folder / "mechanism.csv").read_bytes() == made


def test_a_matrix_of_probabilities_is_a_channel_as_it_is(browser: Browser, project: Project, tmp_path: Path):
    (tmp_path / "response.csv").write_text(",yes,no\nyes,0.75,0.25\nno,0.25,0.75\n")
    assert "probabilities that sum to 1" in opened(browser, tmp_path / "response.csv")
    browser.at("/roles")
    assert "protections.budget" not in boxes(browser)
    goes(browser, "/roles")
    found = browser.at("/adversaries").text
    assert found.count(" %</span>") == 4  # errors are shares of wrong answers
    assert project.given["channel"] == {"channels": ["response.csv"]}


def test_other_budgets_are_judged_by_the_error(browser: Browser, project: Project, places: tuple[Path, Path]):
    document = places[0].with_name("unmask.toml")
    document.write_text(
        '[channel]\nchannels = ["mechanism.csv"]\nprior = "visits.csv"\n[[protections]]\nuse = "channels.best"\n'
        'with = { budget = 0.2 }\n[[policy]]\nrequire = "success_probability <= 0.9"\n'
    )
    opened(browser, document)
    browser.at("/protect")
    assert "give a limit for it in step 3" in browser.sends("/protect", do="start").text


def test_a_release_of_the_user_is_none_that_is_made_here(browser: Browser, project: Project, tmp_path: Path):
    (tmp_path / "release.csv").write_text("source,target\n1,2\n2,3\n3,1\n")
    (tmp_path / "unmask.toml").write_text(
        '[graph]\nrelease = "release.csv"\noverlaps = ["0.9,0.9"]\n[[policy]]\nrequire = "recall <= 0.9"\n'
    )
    assert "3 people, 3 links" in opened(browser, tmp_path / "unmask.toml")
    assert project.given["graph"]["release"] == "release-2.csv"
    assert "Several identities" not in browser.at("/roles").text
    commands = graphs.KIND.commands(project.given)
    assert [command[:2] for command in commands] == [("audit", "graph")]


def test_nobody_may_be_protected(browser: Browser, project: Project, calls: Path):
    opened(browser, calls)
    goes(browser, "/roles", **{"protections.adopters": "0"})
    assert browser.page.url.path == "/adversaries"
    assert graphs.protect(project.given)[3:5] == ("--adopters", "0.0")


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    """A small network of calls."""
    path = tmp_path / "calls.csv"
    rng = np.random.default_rng(1)
    links = {(one, int(other)) for one in range(1, 60) for other in rng.integers(0, one, 4)}
    path.write_text("caller,callee\n" + "".join(f"{100 + one},{100 + other}\n" for one, other in sorted(links)))
    return path


@pytest.mark.slow
def test_a_network_equals_the_command_line(
    browser: Browser, project: Project, calls: Path, tmp_path: Path, monkeypatch: Any, capsys: Any
):
    assert "caller and callee look like both ends of a link" in opened(browser, calls)
    assert "60 people" in browser.page.text
    browser.at("/roles")
    goes(browser, "/roles", **{"protections.adopters": "20", "protections.identities": "3"})
    said = {"graph.attacks": ["Nar09"], "graph.seeds": "8", "graph.runs": "1", "recall<=": "90"}
    goes(browser, "/adversaries", **said)
    assert project.given["graph"] == {
        "release": "release.csv", "auxiliary": "calls.csv", "truth": "origin.csv", "attacks": ["Nar09"],
        "seeds": "random.25:8", "runs": 1,
    }  # fmt: skip
    given = signed(browser, project)
    assert {"release.csv", "origin.csv", "at-risk.csv"} <= given.keys()
    audited = browser.get("/files/audit.json").content
    commands = unescape(browser.at("/verdict").text)
    assert "unmask protect graph calls.csv --adopters 0.2 --identities 3 -o release.csv --origin origin.csv" in commands
    equals(given, audited, [calls], "graph", tmp_path / "cli", monkeypatch, capsys)
    run(capsys, "audit", "graph", "unmask.toml", "--at-risk", "own.csv")
    assert Path("own.csv").read_bytes() == given["at-risk.csv"]


def test_few_people_are_leaked_in_a_small_network(browser: Browser, calls: Path):
    opened(browser, calls)
    goes(browser, "/roles")
    assert boxes(browser)["graph.seeds"] == "3"  # 5 % of 60
    assert "5 % of the people, 100 at most" in browser.page.text


def test_the_study_of_a_network_is_a_plan(browser: Browser, project: Project, calls: Path, tmp_path: Path):
    opened(browser, calls)
    given = {**project.given, "title": "calls", "policy": [{"require": "recall <= 0.5"}]}
    project.save(given)
    (tmp_path / "study.toml").write_text(text_of_document(graphs.plan_of(project)))
    made = read_plan(tmp_path / "study.toml")
    assert len(made.protections) == 1 + len(graphs.SHARES) * len(graphs.IDENTITIES)
    assert [one.name for one in made.adversaries] == ["Nar09", "Rematch"]
    point = {"adopters": 0.5, "identities": 5}
    used = graphs.TRIALS.used(given, point)
    assert graphs.TRIALS.asked(used) == point
    assert len(made.seeds) == graphs.RUNS
    assert graphs.TRIALS.words(point) == "adopters = 50\u00a0%, identities = 5"


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
    assert "Tested in step 4 alone: Expected success" in page
    assert "keeps the most of what is acceptable" in page
    browser.sends("/protect", do="use", point="11")
    budget = project.given["protections"][0]["with"]["budget"]
    assert budget > 60
    project.jobs.wait("verdict")
    browser.at("/protect")
    assert "All points" in browser.page.text  # the curve is still that of the document
