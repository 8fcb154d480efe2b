"""A domain costs a folder, its cases, a section, a line: `tests.badges` goes through every door; no door knows it."""

import numpy as np
import pytest
from click.testing import CliRunner

import unmask
from tests.badges import Badges, Repaint
from tests.commands import invoke
from tests.envelopes import parsed
from unmask.catalog import examples, list_catalog
from unmask.cli import main
from unmask.domains import DOMAINS, Domain
from unmask.studies.workers import finished

PEOPLE = Badges(np.random.default_rng(2).integers(0, 3, 80))
SHOWN = Repaint(0.3)(PEOPLE, rng=np.random.default_rng(3))


@pytest.fixture(autouse=True)
def line(monkeypatch):
    monkeypatch.setitem(DOMAINS, "badges", Domain("tests.badges.cases", ("tests.badges",)))


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savetxt("people.txt", PEOPLE.color, fmt="%d")
    np.savetxt("shown.txt", SHOWN.color, fmt="%d")
    return tmp_path


def test_a_program_audits_it():
    result = unmask.audit(SHOWN, PEOPLE, trust=0.8)
    success = {row["measure"]: row["posterior"] for row in result.results}
    assert success["realized_success"] == pytest.approx(np.mean(SHOWN.color == PEOPLE.color), abs=1e-6)
    assert "looker" in result.to_html()
    assert "What people wear" in result.to_html()
    assert "80 people wear 3 colors." in result.to_html()
    assert [row["color"] for row in result.tables["badges_colors"]] == [0, 1, 2]
    assert list(result.to_frame("badges_colors", library="pandas")["people"]) == np.bincount(SHOWN.color).tolist()
    assert parsed(result.to_json())["results"]
    with pytest.raises(unmask.UnmaskError, match="audit of a Badges has no 'trst'; did you mean 'trust'"):
        unmask.audit(SHOWN, trst=1)


def test_the_catalog_lists_it():
    assert "badges.Look" in examples("attacks")
    assert "badges.crowd" in list_catalog()["datasets"]


def test_a_command_audits_it(files):
    done = invoke("audit", "badges", "shown.txt", "--truth", "people.txt", "--trust", "0.8", "--json")
    assert done.exit_code == 0, done.stderr
    assert parsed(done.stdout)["command"] == "audit badges"
    in_python = parsed(unmask.audit({"shown": SHOWN}, PEOPLE, trust=0.8).to_json())
    assert parsed(done.stdout)["results"] == in_python["results"]
    assert parsed(done.stdout)["tables"]["badges_colors"] == in_python["tables"]["badges_colors"]
    page = invoke("audit", "badges", "shown.txt", "--truth", "people.txt", "--report", "out.html", "--export", "out")
    assert page.exit_code == 0, page.stderr
    assert "80 people wear 3 colors." in page.stdout
    assert "What people wear" in (files / "out.html").read_text()
    assert (files / "out" / "badges-people-by-color.csv").exists()


def test_a_document_asks_for_it(files):
    command_line = ("audit", "badges", "shown.txt", "--truth", "people.txt", "--trust", "0.8")
    (files / "unmask.toml").write_text(invoke(*command_line, "--as-plan").stdout)
    assert "[badges]" in (files / "unmask.toml").read_text()
    assert invoke("audit", "badges", "unmask.toml", "--json").stdout == invoke(*command_line, "--json").stdout


def test_its_command_says_what_it_takes(files):
    help_text = invoke("audit", "badges", "--help").stdout
    assert "Share of the people who show their own color." in " ".join(help_text.split())
    assert "audit badges" in invoke("--help").stdout
    assert invoke("audit", "badges", "shown.txt", "--trust", "2").exit_code == 2
    assert invoke("audit", "badges", "shown.txt", "--policy", "success_probability<=0.5").exit_code == 3
    assert "'audit badges'" in invoke("audit", "badgs").stderr


def test_a_shell_completes_it():
    result = CliRunner().invoke(
        main,
        prog_name="unmask",
        env={"COMP_WORDS": "unmask audit b", "COMP_CWORD": "2", "_UNMASK_COMPLETE": "bash_complete"},
    )
    assert "plain,badges" in result.stdout


@pytest.mark.parametrize("home", ["badges.", "tests.badges:"])
def test_a_study_runs_it(files, home, monkeypatch):
    monkeypatch.setattr("unmask.studies.run.run_cells", lambda cells, **_: map(finished, cells))  # not in workers
    data, protection, adversary = (f"{home}{name}" for name in ("crowd", "Repaint", "Look"))
    (files / "plan.toml").write_text(
        f'seeds = 2\n[[data]]\nuse = "{data}"\nname = "crowd"\nwith = {{ n = 60 }}\n'
        '[[data]]\nuse = "badges.file"\nname = "people"\nfile = "people.txt"\n'
        f'[[protections]]\nuse = "{protection}"\nname = "repaint"\ngrid = {{ share = [0.2, 0.8] }}\n'
        f'[[protections]]\nuse = "none"\n[[adversaries]]\nuse = "{adversary}"\nname = "looker"\n'
    )
    study = unmask.study(files / "plan.toml", files / "run", allow_code=True)
    assert {row["dataset"] for row in study.results} == {"crowd", "people"}
    assert invoke("report", "run", "-o", "study.html").exit_code == 0
    wanted = ("--policy", "success_probability<=1", "--maximize", "realized_success")
    assert invoke("choose", "run", *wanted).exit_code == 0
