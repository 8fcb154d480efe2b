"""The way from a file to a signed release gives what the command line gives from the document that it leaves."""

import csv
import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from tests.app.conftest import Browser
from tests.app.hospital import write_hospital
from unmask.app import column_profile
from unmask.app.project import Project, list_interrupted
from unmask.cli import main
from unmask.document import group_by_role, load
from unmask.tables import Table
from unmask.tables.reading import column_names


def opened(browser: Browser, path: Path) -> None:
    browser.at("/open")
    assert browser.sends("/open", do="open", path=str(path)).status_code == 200


def choose_roles(browser: Browser, roles: dict[str, str] | None = None, **fields: str) -> None:
    """With the roles that were guessed but for some, and the policy of the European Medicines Agency."""
    browser.at("/roles")
    browser.sends("/roles", **browser.checked(), do="apply")
    browser.sends("/roles", **browser.checked() | (roles or {}), do="continue")
    assert browser.page.url.path == "/adversaries"
    browser.sends("/adversaries", **{"policy": "ema-0.09", **fields}, do="continue")
    assert browser.page.url.path == "/verdict", browser.page.text


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """A command in this folder; what it prints."""
    capsys.readouterr()
    assert main([*words], standalone_mode=False) in (None, 0, 3)
    return capsys.readouterr().out


def read_cells(path: Path) -> dict[str, list[str]]:
    """Return the cells of every column of a release."""
    table = Table.read(path, quasi_identifiers=column_names(path))
    return {name: table[name].tolist() for name in table.names}


@pytest.mark.slow
def test_the_whole_way_equals_the_command_line(
    browser: Browser,
    project: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    table = write_hospital(tmp_path / "hospital 2026 (1).csv", 80)
    opened(browser, table)
    assert "unmask init 'hospital 2026 (1).csv'" in unescape(browser.at("/open").text)
    choose_roles(
        browser, {"level-1": "decade"}, policy="own", require="k >= 10\nidentity:success_probability.worst <= 0.1"
    )
    assert project.document["protections"][0]["with"] == {"k": 12, "levels": {"birth_date": "decade"}}
    project.jobs.wait("verdict")
    verdict = unescape(browser.at("/verdict").text)
    assert "Acceptable" in verdict
    first_row = int((project.folder / "origin.csv").read_text(encoding="utf-8").split()[1])
    born = table.read_text(encoding="cp1252").splitlines()[1 + first_row].split(";")[1]
    assert f"<td>{born}</td>" in verdict
    assert born not in (project.folder / "report.html").read_text(encoding="utf-8")
    browser.at("/sign")
    browser.sends("/sign", released_by="Data office", purpose="Planning")
    project.jobs.wait("certificate")
    page = browser.at("/sign").text
    assert "Certify again" in page
    assert not re.search(r" --[a-z]|, or node", page.partition("<footer")[0])
    names = ("unmask.toml", "release.csv", "origin.csv", "at-risk.csv", "audit.json", "certificate.json")
    files = {name: browser.get(f"/files/{name}").content for name in names}

    (tmp_path / "release.xlsx").write_bytes(browser.get("/files/release.xlsx").content)
    (tmp_path / "release.csv").write_bytes(files["release.csv"])
    assert read_cells(tmp_path / "release.xlsx") == read_cells(tmp_path / "release.csv")

    folder = tmp_path / "cli"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / table.name).write_bytes(table.read_bytes())
    (folder / "unmask.toml").write_bytes(files["unmask.toml"])
    run(capsys, "protect", "unmask.toml", "-o", "release.csv", "--origin", "origin.csv")
    assert (folder / "release.csv").read_bytes() == files["release.csv"]
    (folder / "origin.csv").write_bytes(files["origin.csv"])  # equal rows are in an order that nobody can repeat
    audited = json.loads(run(capsys, "audit", "unmask.toml", "--json", "--steps", "--at-risk", "at-risk.csv"))
    assert audited == json.loads(files["audit.json"])
    assert (folder / "at-risk.csv").read_bytes() == files["at-risk.csv"]
    (folder / "certificate.json").write_bytes(files["certificate.json"])
    assert "is confirmed" in run(capsys, "certify", "unmask.toml", "--check", "certificate.json")


def test_the_first_document_is_that_of_init(browser: Browser, project: Project, hospital: Path, tmp_path: Path):
    opened(browser, hospital)
    browser.at("/roles")
    with pytest.raises(SystemExit) as ended:
        main(["init", str(hospital), "-o", str(tmp_path / "unmask.toml"), "--quiet"])
    assert ended.value.code == 0
    written, shown_document = load(tmp_path / "unmask.toml"), project.document
    assert written.pop("releases") == [{"file": "release.csv", "origin": "origin.csv"}]
    assert {**written, "data": {**written["data"], "file": "hospital.csv"}} == shown_document
    reasons = re.findall(r"^\w+ = .*?# (.*)$", (tmp_path / "unmask.toml").read_text(), flags=re.MULTILINE)
    assert all(reason in (project.folder / "unmask.toml").read_text() for reason in reasons)


def test_nothing_without_a_role_can_be_released(browser: Browser, hospital: Path):
    opened(browser, hospital)
    browser.at("/roles")
    roles = browser.checked()
    del roles["role-8"]
    page_text = browser.sends("/roles", **roles, do="continue")
    assert page_text.status_code == 422
    assert "a column has no role;" in page_text.text
    assert "No role yet." in page_text.text
    assert browser.at("/roles").text.count("No role yet.") == 1


def test_a_wide_table_goes_on_to_the_adversaries(browser: Browser, tmp_path: Path):
    names = [f"ward{index}" for index in range(30)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(",".join(row) for row in (names, *([letter] * 30 for letter in "xyzxyz"))))
    opened(browser, path)
    browser.at("/roles")
    fields = dict.fromkeys((f"role-{index}" for index in range(30)), "quasi-identifier")
    browser.sends("/roles", **fields, do="apply")
    browser.sends("/roles", **browser.checked(), do="continue")
    assert browser.page.url.path == "/adversaries", browser.page.text


def test_an_audit_needs_at_least_one_known_column(browser: Browser, hospital: Path):
    opened(browser, hospital)
    browser.at("/roles")
    page_text = browser.sends("/roles", **dict.fromkeys(browser.checked(), "drop"), do="continue")
    assert page_text.status_code == 422
    assert "there is no quasi-identifier" in page_text.text
    assert browser.at("/adversaries").url.path == "/roles"


def test_every_adversary_is_in_the_document(browser: Browser, project: Project, hospital: Path):
    opened(browser, hospital)
    browser.at("/roles")
    browser.sends("/roles", **browser.checked(), do="continue")
    fields = {
        "register-on": "1", "register.coverage": "80", "control-on": "1", "data.hold_back": "25",
        "parts-on": "1", "part-0": "0",
        "part-1": "1", "attacker-on": "1", "gain": "250", "matcher-on": "1", "error": "5", "audit.targets": "100",
        "policy": "own", "require": "k >= 5\nidentity:success_probability.worst <= 0.2", "do": "apply",
    }  # fmt: skip
    page_text = browser.sends(
        "/adversaries", files={"register.file file": ("voters.csv", b"sex,zip\nf,01007\n")}, **fields
    )
    assert page_text.status_code == 200, page_text.text
    document = project.document
    assert document["register"] == {"file": "voters.csv", "coverage": 0.8}
    assert document["data"]["hold_back"] == 0.25
    assert document["linkability"] == {"parts": [["birth_date"], ["sex"]]}
    assert document["audit"] == {"targets": 100, "attacker": "attacker.toml"}
    assert "gain = 250.0" in (project.folder / "attacker.toml").read_text()
    assert document["adversaries"][-1] == {
        "name": "matcher",
        "use": "tables.NearestNeighbor",
        "knows": {"error": 0.05},
    }
    assert [entry["require"] for entry in document["policy"]] == ["k>=5", "identity:success_probability.worst<=0.2"]
    page_text = browser.sends("/adversaries", policy="own", do="apply")
    assert not {"register", "linkability", "audit"} & project.document.keys()


def test_a_standard_adversary_that_is_off_is_not_run(browser: Browser, project: Project, hospital: Path):
    opened(browser, hospital)
    choose_roles(browser)
    hidden_fields = dict(re.findall(r'name="(shown [^"]+)" value="(1)"', browser.at("/adversaries").text))
    assert list(hidden_fields) == ["shown insider", "shown modeler", "shown order reader"]
    browser.sends("/adversaries", **hidden_fields, **{"on modeler": "1", "policy": "ema-0.09", "do": "apply"})
    assert project.document["audit"] == {"without": ["insider", "order reader"]}
    assert {name for name in browser.checked() if name.startswith("on ")} == {"on modeler"}
    browser.sends("/adversaries", policy="ema-0.09", do="apply")  # a form that shows none of them changes none
    assert project.document["audit"] == {"without": ["insider", "order reader"]}
    browser.sends(
        "/adversaries", **hidden_fields, **{"on insider": "1", "on modeler": "1", "on order reader": "1", "do": "apply"}
    )
    assert "audit" not in project.document


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"register-on": "1", "register.coverage": "100"}, "has no register"),
        ({"control-on": "1", "data.hold_back": "100"}, "is 100 %, expected a percentage from 0 to below 100"),
        ({"control-on": "1", "data.hold_back": ""}, "has no control group"),
        ({"parts-on": "1", "part-0": "0"}, "one of the two sources has no column"),
        ({"audit.targets": "-3"}, "expected a whole number of at least 0"),
        ({"policy": "own", "require": "nonsense"}, "the condition is"),
    ],
)
def test_an_empty_card_gets_a_message(browser: Browser, hospital: Path, fields: dict[str, str], message: str):
    opened(browser, hospital)
    browser.at("/roles")
    browser.sends("/roles", **browser.checked(), do="continue")
    page_text = browser.sends("/adversaries", **{"policy": "ema-0.09", **fields}, do="continue")
    assert page_text.status_code == 422
    assert message in page_text.text


def test_a_second_window_is_warned_about_changes_of_the_first(browser: Browser, hospital: Path):
    opened(browser, hospital)
    old = browser.at("/roles")
    browser.sends("/roles", **browser.checked() | {"role-2": "drop"}, do="apply")
    browser.page = old
    page_text = browser.sends("/roles", **browser.checked(), do="apply")
    assert page_text.status_code == 422
    assert "another window" in page_text.text


def test_a_document_is_opened_with_the_files_that_it_names(browser: Browser, project: Project, tmp_path: Path):
    folder = tmp_path / "there"
    folder.mkdir()
    write_hospital(folder / "data.csv", 60)
    (folder / "voters.csv").write_text("sex,zip\nf,01007\n")
    (folder / "unmask.toml").write_text(
        '[data]\nfile = "data.csv"\n[columns]\nsex = "quasi-identifier"\nzip = "quasi-identifier"\n'
        '[register]\nfile = "voters.csv"\n[[policy]]\nrequire = "k >= 2"\n[[releases]]\nfile = "gone.csv"\n'
    )
    opened(browser, folder / "unmask.toml")
    assert sorted(path.name for path in project.list_inputs()) == ["data.csv", "voters.csv"]
    assert "releases" not in project.document
    assert "voters.csv" in browser.at("/adversaries").text
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv", "unmask.toml", "voters.csv"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "is empty"),
        ("people.exe", b"age\n1\n", "another ending"),
        ("people.parquet", b"PAR1", "not a readable Parquet file"),
        ("people.csv.gz", b"\x1f\x8b\x08", "truncated or damaged"),
        ("people.xlsx", b"PK\x03\x04", "file &#39;people.xlsx&#39;"),
        ("twice.csv", b"a,a\n1,2\n", "two columns named"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_sentence(
    browser: Browser, project: Project, name: str, content: bytes, message: str
):
    browser.at("/open")
    page_text = browser.sends("/open", files={"upload": (name, content)})
    assert page_text.status_code == 422
    assert message in page_text.text
    assert [path.name for path in project.folder.iterdir() if not path.name.startswith("lock")] == []


def test_work_that_was_cut_off_goes_on(browser: Browser, project: Project, hospital: Path):
    second_project = Project.new(project.folder.parent)
    stranger = Browser(browser.app, base_url=browser.base_url)
    stranger.cookies = browser.cookies
    from unmask.app.file_loading import open_path

    open_path(second_project, hospital)
    assert list_interrupted(project) == []  # somebody holds it
    assert second_project.lock is not None
    os.close(second_project.lock)
    second_project.lock = None
    assert "Continue hospital.csv" in browser.at("/open").text
    browser.sends("/open", do="resume", folder=second_project.folder.name)
    assert project.folder == second_project.folder
    assert browser.at("/roles").status_code == 200


def test_a_job_of_a_server_that_was_killed_is_stopped(project: Project):
    project.jobs.folder.mkdir()
    running = {"name": "study", "commands": [["study"]], "digest": "", "state": "running", "started": 1.0}
    (project.jobs.folder / "study.json").write_text(json.dumps(running))
    job = project.jobs.find("study")
    assert job is not None
    assert (job.state, job.message) == ("stopped", "unmask was closed meanwhile")


CHILD = "import sys, time, unmask_command; "
CHILD += "unmask_command.main = lambda: print('begun', file=sys.stderr, flush=True) or time.sleep(60); "
CHILD += "import runpy; runpy.run_module('unmask.app.worker_process', run_name='__main__')"


def test_a_command_ends_with_its_server():
    """Its standard input is a pipe of the server's: its end ends the command, however the server ended."""
    command = [sys.executable, "-c", CHILD, "audit"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        assert process.stderr.readline() == b"begun\n"
        process.stdin.close()
        assert process.wait(30) != 0


def test_another_file_leaves_nothing_of_the_first(browser: Browser, project: Project, hospital: Path, tmp_path: Path):
    opened(browser, hospital)
    (project.folder / "release.csv").write_text("age\n30\n")
    (tmp_path / "bad.csv").write_text("a,a\n1,2\n")
    browser.at("/open")
    assert browser.sends("/open", path=str(tmp_path / "bad.csv")).status_code == 422
    assert project.document["data"]["file"] == "hospital.csv"  # what cannot be read replaces nothing
    browser.sends("/open", do="demo")
    assert project.document["data"]["file"] == "census.csv"
    assert browser.get("/files/release.csv").status_code == 404
    assert sorted(path.name for path in project.folder.iterdir()) == ["census.csv", "lock", "unmask.toml"]


def test_counting_a_large_table_is_a_page_that_waits(browser: Browser, hospital: Path, monkeypatch: pytest.MonkeyPatch):
    for name, value in (("PATIENCE_SECONDS", 0.0), ("LARGE_BYTES", 0)):
        monkeypatch.setattr(column_profile, name, value)
    opened(browser, hospital)
    result = browser.at("/roles").text
    assert "Reading and counting the columns" in result
    assert "role-0" not in result
    assert '<noscript><meta http-equiv="refresh"' in result
    with browser.stream("GET", re.findall(r'data-events="([^"]*)"', result)[0]) as stream:
        assert "event: end" in "".join(stream.iter_text())
    assert "patient_id" in browser.at("/roles").text


def test_columns_are_counted_alike_however_many_are_read_at_once(
    browser: Browser, project: Project, hospital: Path, monkeypatch: pytest.MonkeyPatch
):
    opened(browser, hospital)
    columns = {"zip": {"role": "keep", "type": "text"}, "sex": {"role": "keep", "type": "text"}}
    project.save({**project.document, "columns": columns})
    profiles = []
    for n_columns in (100, 2):
        monkeypatch.setattr(column_profile, "COLUMNS_AT_ONCE", n_columns)
        column_profile._count.cache_clear()
        profiles.append(column_profile.count_columns(project))
    assert profiles[0] == profiles[1]
    assert {shape.name: shape.type for shape in profiles[1].shapes}["zip"] == "text"


def stays(path: Path) -> Path:
    """Write three stays of each of 40 patients; each name belongs to eight patients."""
    lines = ["stay,patient_id,name,age,sex,ill"]
    lines += [
        f"{index},P{index % 40},Name{index % 5},{20 + index % 10},{'fm'[index % 2]},{'abc'[index % 3]}"
        for index in range(120)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_app_asks_whether_a_row_is_a_person_and_the_answer_is_in_the_document(
    browser: Browser, project: Project, tmp_path: Path
):
    opened(browser, stays(tmp_path / "stays.csv"))
    assert "Is one row one person?" in browser.at("/roles").text
    assert "equal patient_id is one person, 40 people" in browser.page.text
    assert browser.sends("/roles", **browser.checked(), do="continue").status_code == 422
    assert "the unit of counting is open" in browser.page.text
    browser.sends("/roles", **browser.checked(), person="patient_id", do="continue")
    assert project.document["data"]["person"] == "patient_id"
    browser.at("/roles")
    browser.sends("/roles", **browser.checked(), person="row", do="continue")
    assert project.document["data"]["person"] == "row"


def test_the_app_asks_whether_line_1_names_the_columns(browser: Browser, project: Project, tmp_path: Path):
    (tmp_path / "odd.csv").write_text("Annabel,Ulmen\nBob,Bonn\nCidney,Mainz\n")
    opened(browser, tmp_path / "odd.csv")
    assert "may name its 2 columns, or be a row" in browser.at("/open").text
    assert "Ulm" not in browser.page.text
    browser.sends("/open", do="read", header="row")
    assert project.document["data"]["header"] is False
    assert "column 2" in browser.at("/open").text


def test_a_dropped_identifier_stays_dropped(browser: Browser, project: Project, tmp_path: Path):
    opened(browser, stays(tmp_path / "stays.csv"))
    browser.at("/roles")
    browser.sends("/roles", **browser.checked(), person="row", do="continue")
    assert project.document["columns"]["patient_id"] == project.document["columns"]["name"] == "drop"


def test_a_unique_number_answers_the_question(browser: Browser, project: Project, hospital: Path):
    opened(browser, hospital)
    assert "no two rows have the same patient_id" in browser.at("/roles").text
    browser.sends("/roles", **browser.checked(), do="continue")
    assert project.document["data"].get("person", "row") == "row"


def test_without_a_policy_nothing_is_attacked_and_nothing_is_acceptable(browser: Browser, tmp_path: Path):
    write_hospital(tmp_path / "data.csv", 60)
    (tmp_path / "unmask.toml").write_text('[data]\nfile = "data.csv"\n[columns]\nsex = "quasi-identifier"\n')
    opened(browser, tmp_path / "unmask.toml")
    for step in ("verdict", "protect", "sign"):
        assert browser.at(f"/{step}").url.path == "/adversaries"
    assert browser.sends("/verdict", do="again").url.path == "/adversaries"
    assert browser.sends("/adversaries", **{"register.coverage": "100"}, do="continue").status_code == 422
    assert "there is no policy" in browser.page.text


def test_the_server_starts_without_what_only_tables_need():
    code = "import sys, unmask.app.server; assert not {'numpy', 'scipy', 'duckdb', 'numba'} & {*sys.modules}, 'slow'"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_own_hierarchy_has_rungs_and_is_released_no_finer(
    browser: Browser,
    project: Project,
    hospital: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    opened(browser, hospital)
    browser.at("/roles")
    tree = "Chirurgie;surgical;*\nUrologie;surgical;*\nInnere;medical;*\nKardiologie;medical;*\nPädiatrie;medical;*\n"
    roles = browser.checked() | {"role-5": "quasi-identifier"}
    browser.sends("/roles", **roles, hierarchy="5")
    assert str(browser.page.url).endswith("/roles?column=ward")
    browser.sends("/roles?column=ward", files={"file": ("wards.csv", tree.encode())}, column="ward", do="import")
    assert browser.page.status_code == 200, browser.page.text
    assert "<b>level 1</b>" in browser.at("/roles").text
    browser.sends("/roles", **browser.checked() | {"level-5": "1"}, do="continue")
    expected = {"role": "quasi-identifier", "hierarchy": "ward-hierarchy.csv"}
    assert project.document["columns"]["ward"] == expected
    assert browser.get("/files/ward-hierarchy.csv").text == tree
    assert project.document["protections"][0]["with"] == {"k": 12, "levels": {"ward": 1}}
    monkeypatch.chdir(project.folder)
    run(capsys, "protect", "unmask.toml", "-o", str(tmp_path / "release.csv"), "--quiet")
    rows = list(csv.DictReader((tmp_path / "release.csv").read_text().splitlines()))
    assert {"surgical", "medical"} <= {row["ward"] for row in rows} <= {"surgical", "medical", "*"}
    roles_chosen = group_by_role(project.document["columns"])
    options = [
        "-q",
        ",".join(roles_chosen["quasi_identifiers"]),
        "-s",
        ",".join(roles_chosen["sensitive"]),
        "--k",
        "12",
    ]
    options += [
        "--hierarchy",
        "ward=ward-hierarchy.csv",
        "--cells",
        "nodes",
        "--level",
        "ward=1",
        "-o",
        str(tmp_path / "again.csv"),
        "--quiet",
    ]
    run(capsys, "protect", "hospital.csv", *options)
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "release.csv").read_bytes()


def test_every_file_of_a_document_is_linked_and_no_column_is_taken_for_one(
    browser: Browser, project: Project, tmp_path: Path
):
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "data.csv").write_text(
        "hierarchy,sex,zip\n" + "".join(f"a{index},{'fm'[index % 2]},0100{index % 5}\n" for index in range(40))
    )
    (folder / "zip.csv").write_text("".join(f"0100{index},010*\n" for index in range(5)))
    (folder / "board.toml").write_text('title = "Our board"\n[[policy]]\nrequire = "k >= 2"\n')
    (folder / "unmask.toml").write_text(
        '[data]\nfile = "data.csv"\n[columns]\nhierarchy = "drop"\nsex = "quasi-identifier"\n'
        'zip = { role = "quasi-identifier", hierarchy = "zip.csv" }\n'
        '[audit]\nattacker = "case-study"\n[[policy]]\nuse = "board.toml"\n[[policy]]\nuse = "strict"\n'
    )
    opened(browser, folder / "unmask.toml")
    links = {path.name for path in project.folder.iterdir() if path.is_symlink()}
    assert links == {"data.csv", "zip.csv", "board.toml"}
    assert project.document["columns"]["hierarchy"] == "drop"
    assert project.document["audit"] == {"attacker": "case-study"}


def test_a_weight_is_a_role(browser: Browser, hospital: Path):
    opened(browser, hospital)
    browser.at("/roles")
    page_text = browser.sends("/roles", **browser.checked() | {"role-8": "weight"}, do="apply").text
    assert "without a role" not in page_text
    assert "Correct wrong ones" in page_text
