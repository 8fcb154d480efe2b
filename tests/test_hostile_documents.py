"""A document is data: no command runs a module that a document names, unless it was allowed to."""

import shutil
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tests.commands import invoke
from unmask import catalog

CODE = """
from pathlib import Path

Path({sentinel!r}).touch()


class Mine:
    def __call__(self, population, *, rng=None):
        return population, None


class Attack:
    def __call__(self, release, knowledge, *, rng=None):
        return None


def people(cmd="", rng=None):
    Path({sentinel!r}).touch()
"""

TABLE = """
[data]
file = "people.csv"
[columns]
age = "quasi-identifier"
ill = "sensitive"
"""

RELEASE = """
[[releases]]
file = "release.csv"
origin = "origin.csv"
"""

MONDRIAN = """
[[protections]]
use = "tables.Mondrian"
with = { k = 5 }
"""

ADVERSARY = """
[[adversaries]]
use = "tables.ClassAttack"
"""

GAME = """
[publisher]
benefit = 1000
loss = 10
[[attackers]]
attacker = "case-study"
"""

SHELL = '"subprocess:getoutput"\ndomain = "tables"\nwith = { cmd = "touch SENTINEL" }\n'

MINE = '"hostile:Mine"\ndomain = "tables"\n'

DOCUMENTS = {
    "dataset, a shell": f"[[data]]\nuse = {SHELL}{MONDRIAN}{ADVERSARY}",
    "dataset": f'[[data]]\nuse = "hostile:people"\ndomain = "tables"\n{MONDRIAN}{ADVERSARY}',
    "protection": f"{TABLE}[[protections]]\nuse = {MINE}{ADVERSARY}",
    "protection, our own class": f'{TABLE}[[protections]]\nuse = "unmask.tables:Mondrian"\n{ADVERSARY}',
    "protection of a release": f'{TABLE}{RELEASE}protection = "hostile:Mine"\n[[protections]]\nuse = {MINE}{ADVERSARY}',
    "attack": f'{TABLE}{MONDRIAN}[[adversaries]]\nuse = "hostile:Attack"\ndomain = "tables"\n',
    "part of an attack": (
        f'{TABLE}{MONDRIAN}[[adversaries]]\nuse = "tables.SeveralRows"\n'
        'with = { attack = { use = "hostile:Attack" } }\n'
    ),
    "estimator": (
        f'{TABLE}{MONDRIAN}[[adversaries]]\nuse = "tables.ModelAttribute"\n'
        'with = { sensitive = "ill", estimator = "hostile:people" }\n'
    ),
    "estimator of an installed module": (
        f'{TABLE}{MONDRIAN}[[adversaries]]\nuse = "tables.ModelAttribute"\n'
        'with = { sensitive = "ill", estimator = "antigravity:fly" }\n'
    ),
    "attack on a network": '[graph]\nrelease = "ring.txt"\noverlaps = "0.9,0.9"\nattacks = ["hostile:Attack"]\n',
    "protection of a network": (
        '[graph]\nrelease = "ring.txt"\noverlaps = "0.9,0.9"\nattacks = ["Nar09"]\nprotections = ["hostile:Mine"]\n'
    ),
}

DOORS = {
    "study": ("study", "unmask.toml", "-o", "out"),
    "study, dry run": ("study", "unmask.toml", "-o", "out", "--dry-run"),
    "study, dry run, allowed": ("study", "unmask.toml", "-o", "out", "--dry-run", "--allow-code"),
    "protect": ("protect", "unmask.toml", "-o", "new.csv", "--force"),
    "audit": ("audit", "unmask.toml"),
    "audit, as a plan": ("audit", "unmask.toml", "--as-plan"),
    "audit graph": ("audit", "graph", "unmask.toml"),
    "game": ("game", "unmask.toml"),
    "certify": ("certify", "unmask.toml", "-o", "new.json"),
    "certify a network": ("certify", "unmask.toml", "-o", "new.json", "--of", "graph"),
    "certify --check": ("certify", "unmask.toml", "--check", "certificate.json"),
    "certify --check of a network": ("certify", "unmask.toml", "--check", "certificate.json", "--of", "graph"),
    "columns": ("columns", "unmask.toml"),
    "choose columns": ("choose", "columns", "unmask.toml"),
    "report": ("report", "results"),
    "choose": ("choose", "results", "--policy", "success_probability<=0.5"),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, its release, a network and a certificate."""
    path = tmp_path_factory.mktemp("data")
    rows = "".join(f"{30 + i // 4},{'ab'[i % 2]}\n" for i in range(40))
    (path / "people.csv").write_text("age,ill\n" + rows)
    (path / "ring.txt").write_text("".join(f"{i} {(i + step) % 40}\n" for i in range(40) for step in (1, 2, 5)))
    (path / "certificate.json").write_text("{}")
    outputs = ("-o", path / "release.csv", "--origin", path / "origin.csv")
    assert invoke("protect", path / "people.csv", "-q", "age", "-s", "ill", "--k", 4, *outputs).exit_code == 0
    return path


@pytest.fixture
def folder(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the data, and a module that leaves a sentinel when it is run."""
    shutil.copytree(data, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))  # the worst case: it is in Python's path, too
    for name in ("hostile", "antigravity"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    sentinel = str(tmp_path / "SENTINEL")
    (tmp_path / "hostile.py").write_text(CODE.format(sentinel=sentinel))
    return tmp_path


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_no_document_runs_code_through_any_door(folder: Path, kind: str, door: str) -> None:
    (folder / "unmask.toml").write_text(DOCUMENTS[kind] + GAME)
    (folder / "results").mkdir()
    (folder / "results" / "plan.toml").write_text(DOCUMENTS[kind] + GAME)
    done = invoke(*DOORS[door])
    assert not (folder / "SENTINEL").exists()
    assert "hostile" not in sys.modules
    assert "antigravity" not in sys.modules
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception


@pytest.mark.parametrize("kind", ["dataset", "protection", "protection of a release", "attack", "attack on a network"])
def test_a_document_that_is_trusted_runs_code_with_an_option(folder: Path, kind: str) -> None:
    doors = {"protection of a release": "audit", "protection": "protect", "attack on a network": "audit graph"}
    (folder / "unmask.toml").write_text(DOCUMENTS[kind])
    invoke(*DOORS[doors.get(kind, "study")], "--allow-code")
    assert (folder / "SENTINEL").exists()


def test_the_refusal_names_the_class_and_the_way_out(folder: Path) -> None:
    (folder / "unmask.toml").write_text(DOCUMENTS["attack"])
    done = invoke(*DOORS["study"])
    assert done.exit_code == 2
    assert "'hostile:Attack' names code" in done.stderr
    assert "--allow-code" in done.stderr


def test_a_name_that_is_typed_runs_where_a_document_names_another(folder: Path) -> None:
    (folder / "unmask.toml").write_text(DOCUMENTS["attack on a network"].replace("hostile:Attack", "elsewhere:Attack"))
    invoke(*DOORS["audit graph"], "--attack", "hostile:Attack")
    assert (folder / "SENTINEL").exists()


def test_typing_one_name_allows_no_other(folder: Path) -> None:
    (folder / "unmask.toml").write_text(DOCUMENTS["protection of a network"])
    assert invoke(*DOORS["audit graph"], "--attack", "Rematch").exit_code == 2
    assert not (folder / "SENTINEL").exists()


@pytest.mark.parametrize("command", ["certify", "columns", "choose", "report"])
def test_other_commands_have_no_such_option(folder: Path, command: str) -> None:
    done = invoke(*DOORS[command], "--allow-code")
    assert done.exit_code == 2
    assert "No such option" in done.stderr


def test_the_action_and_the_hooks_never_allow_code() -> None:
    root = Path(__file__).parents[1]
    for name in ("action.yml", ".pre-commit-hooks.yaml"):
        assert "--allow-code" not in (root / name).read_text()


def test_a_dry_run_does_not_import_an_installed_plug_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = metadata.EntryPoints([metadata.EntryPoint("acme.Attack", "hostile:Attack", "unmask")])
    monkeypatch.setattr(catalog, "list_plugins", lambda: points.select(group="unmask"))
    (folder / "unmask.toml").write_text(DOCUMENTS["attack"].replace("hostile:Attack", "acme.Attack"))
    assert invoke(*DOORS["study, dry run"]).exit_code == 2
    assert not (folder / "SENTINEL").exists()
    assert invoke(*DOORS["study"]).exit_code == 1  # it is declared, and returns no belief
    assert (folder / "SENTINEL").exists()
