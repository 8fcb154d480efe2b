"""A user's own protection and attack enter a study and its report as module:Class."""

import sys

import pytest
from click.testing import CliRunner

from unmask import catalog
from unmask.catalog import domain_of, find, kind_of, list_catalog, make
from unmask.cli import main
from unmask.core.errors import UnmaskError
from unmask.protection_specs import Spec
from unmask.render.page import render
from unmask.studies.cells import run_cell
from unmask.studies.reading import read_plan
from unmask.studies.run import run_study
from unmask.studies.study_result import read_facts, read_result

MINE = """
from dataclasses import dataclass

import numpy as np

from unmask.core.inference import from_classes
from unmask.tables import Table


@dataclass(frozen=True)
class EveryOther:
    \"\"\"Release every n-th row alone, as it is.\"\"\"

    n: int = 2

    def __call__(self, population: Table, *, rng=None):
        rows = np.arange(0, population.n_rows, self.n)
        return population.take(rows), rows


@dataclass(frozen=True)
class ByOneColumn:
    \"\"\"Which released record is this person's? One that agrees in a single column, whatever the others say.\"\"\"

    column: str = "sex"

    def __call__(self, release: Table, knowledge, *, rng=None):
        people = getattr(knowledge, "people", knowledge)
        values = (self._values(table) for table in (release, people))
        known, codes = np.unique(np.concatenate(list(values)), return_inverse=True)
        return from_classes(codes[: release.n_rows], codes[release.n_rows :], n_classes=len(known))

    def _values(self, table):
        column = table.column(self.column)
        return np.array(column.levels.labels)[column.codes]
"""

PLAN = """
[[data]]
name = "census"
use = "tables.synthetic_census"
with = { n = 200 }
quasi_identifiers = ["age", "sex"]
[[protections]]
name = "thinned"
use = "mine_PLACE:EveryOther"
grid = { n = [1, 2] }
[[adversaries]]
name = "by sex"
use = "mine_PLACE:ByOneColumn"
"""


@pytest.fixture
def mine(tmp_path):
    """Write a plan with a module of its own next to it."""
    name = f"mine_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(MINE)
    (tmp_path / "plan.toml").write_text(PLAN.replace("mine_PLACE", name))
    yield name
    sys.modules.pop(name, None)


def test_plug_ins_enter_a_study_and_its_report(mine, tmp_path):
    plan = read_plan(tmp_path / "plan.toml", allow_code=True)
    assert [part.name for part in plan.protections] == ["thinned n=1", "thinned n=2"]
    run_study(plan, tmp_path / "run", source=tmp_path / "plan.toml")
    result = read_facts(tmp_path / "run")
    assert not result.gaps
    page = render(read_result(tmp_path / "run"))
    assert "by sex" in page
    assert "thinned n=2" in page


def test_a_module_that_changes_is_another_adversary(mine, tmp_path):
    cell_before = read_plan(tmp_path / "plan.toml", allow_code=True).cells()[0]
    with (tmp_path / f"{mine}.py").open("a") as file:
        file.write("# changed\n")
    after = read_plan(tmp_path / "plan.toml", allow_code=True).cells()[0]
    assert cell_before.key != after.key


@pytest.mark.parametrize(
    ("use", "message"),
    [
        ("nowhere:Attack", "there is no module 'nowhere' next to the plan or in Python's path"),
        ("mine_PLACE:ByOneColum", "did you mean 'ByOneColumn'"),
        ("mine_PLACE:EveryOther", "expected a class whose objects can be called with (release, knowledge"),
        ("mine_PLACE:np", "expected a class whose objects can be called"),
    ],
)
def test_a_wrong_plug_in_is_reported_in_one_sentence(mine, tmp_path, use, message):
    with pytest.raises(UnmaskError) as caught:
        find(use.replace("mine_PLACE", mine), "attacks", tmp_path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_module_that_cannot_run_is_reported_with_its_error(tmp_path):
    (tmp_path / "broken_plugin.py").write_text("1 / 0")
    with pytest.raises(UnmaskError, match="module 'broken_plugin' cannot be imported: ZeroDivisionError"):
        find("broken_plugin:Any", "attacks", tmp_path)


def test_domain_and_kind_are_read_from_the_call(mine, tmp_path):
    attack = find(f"{mine}:ByOneColumn", "attacks", tmp_path)
    assert (kind_of(attack), domain_of("mine:ByOneColumn", attack)) == ("attacks", "tables")
    assert kind_of(find(f"{mine}:EveryOther", "protections", tmp_path)) == "protections"


def test_installed_plug_ins_have_names_of_their_own(mine, tmp_path, monkeypatch):
    from importlib import metadata

    points = metadata.EntryPoints([metadata.EntryPoint("acme.ByOne", f"{mine}:ByOneColumn", "unmask")])
    monkeypatch.setattr(catalog, "list_plugins", lambda: points.select(group="unmask"))
    monkeypatch.syspath_prepend(tmp_path)
    assert find("acme.ByOne", "attacks").__name__ == "ByOneColumn"
    assert list_catalog()["attacks"]["acme.ByOne"].startswith("Which released record is this person's? One that")


def test_a_plug_in_is_named_on_the_command_line(mine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    attack = make(Spec.parse(f"{mine}:ByOneColumn:column=age"), "attacks", "tables", tmp_path)
    assert repr(attack) == "ByOneColumn(column='age')"


def test_both_pass_the_check_that_ours_pass(mine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("EveryOther", "ByOneColumn"):
        done = CliRunner().invoke(main, ["check", f"{mine}:{name}"])
        assert done.exit_code == 0, done.output
        assert "0 of" in done.output


def test_a_class_that_needs_arguments_and_a_name_that_is_not_a_class_are_reported_in_a_sentence(
    mine, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{mine}.py").write_text(MINE.replace('column: str = "sex"', "column: str"))
    for name, message in (("ByOneColumn", "give its fields defaults"), ("np", "is not an attack")):
        done = CliRunner().invoke(main, ["check", f"{mine}:{name}"])
        assert isinstance(done.exception, UnmaskError | SystemExit)
        assert message in done.output or message in str(done.exception)


def test_a_dataset_is_a_function(mine, tmp_path):
    text = PLAN.replace("mine_PLACE", mine).replace("tables.synthetic_census", f"{mine}:people")
    text = text.replace("with = { n = 200 }", 'domain = "tables"\nwith = { n = 20 }')
    (tmp_path / "plan.toml").write_text(text)
    with (tmp_path / f"{mine}.py").open("a") as file:
        file.write("\n\ndef people(n):\n    return {'age': list(range(n)), 'sex': ['f', 'm'] * (n // 2)}\n")
    cell = read_plan(tmp_path / "plan.toml", allow_code=True).cells()[0]
    rows = {row.measure: row.posterior for row in run_cell(cell)}
    assert rows["realized_success"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("name", "message"), [("7", "module:Class"), ("tables.Identty", "did you mean 'tables.Identity'?")]
)
def test_a_name_that_is_neither_listed_nor_a_module_is_reported(name, message):
    done = CliRunner().invoke(main, ["check", name])
    assert done.exit_code == 2
    assert message in done.stderr


FAULTS = {
    "raise": "raise ValueError(str(list(release.column(release.names[0]).levels.labels)))",
    "exit": "raise SystemExit(0)",
    "attribute": "return release.nothing",
    "none": "return None",
    "number": "return 7",
}

FAULTY = """
from unmask.tables import Table

class Attack:
    def __call__(self, release: Table, knowledge, *, rng=None):
        BODY


class Protection:
    def __call__(self, release: Table, *, rng=None):
        BODY
"""

LINES = {"Attack": 6, "Protection": 11}


@pytest.fixture(params=FAULTS)
def faulty(request, tmp_path, monkeypatch):
    """A module whose attack and protection fail, beside a table whose cells no message may quote."""
    monkeypatch.chdir(tmp_path)
    name = f"faulty_{request.param}_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{name}.py").write_text(FAULTY.replace("BODY", FAULTS[request.param]))
    rows = "".join(f"secret{i % 7},{'ab'[i % 2]}\n" for i in range(40))
    (tmp_path / "people.csv").write_text("code,ill\n" + rows)
    yield request.param, name
    sys.modules.pop(name, None)


def blamed(place_blamed, fault, name, part):
    place = {"raise": "ValueError", "exit": "SystemExit", "attribute": "AttributeError"}.get(fault)
    expected = f"failed: {place} in {name}.py, line {LINES[part]}" if place else "returned "
    return f"plug-in '{name}:{part}' {expected}" in place_blamed and "secret" not in place_blamed


def test_a_protection_that_fails_is_blamed_with_file_and_line(faulty):
    fault, name = faulty
    done = CliRunner().invoke(
        main, ["protect", "people.csv", "-q", "code", "-s", "ill", "--with", f"{name}:Protection", "-o", "out.csv"]
    )
    assert done.exit_code == 1
    assert blamed(done.stderr, fault, name, "Protection")


def test_a_study_blames_the_plug_in_ends_with_1_and_says_so_on_its_first_screen(faulty, tmp_path):
    fault, name = faulty
    columns = '[columns]\ncode = "quasi-identifier"\nill = "sensitive"\n'
    attacks = "".join(f"[[adversaries]]\n{use}\n" for use in ('use = "tables.ClassAttack"', f'use = "{name}:Attack"'))
    (tmp_path / "plan.toml").write_text(f'[data]\nfile = "people.csv"\n{columns}{attacks}')
    done = CliRunner().invoke(main, ["study", "plan.toml", "-o", "run", "--allow-code"])
    assert done.exit_code == 1
    assert blamed(done.stderr, fault, name, "Attack")
    assert "please report it" not in done.stderr
    reported = CliRunner().invoke(main, ["report", "run", "-o", "page.html"])
    assert "Cells of the study that failed: 1." in reported.stdout
    assert "Cells of the study that failed: 1." in (tmp_path / "page.html").read_text().replace("\u00a0", " ")


def test_a_check_names_file_and_line(faulty):
    fault, name = faulty
    done = CliRunner().invoke(main, ["check", f"{name}:Attack", "--domain", "tables"])
    assert done.exit_code == 1
    if fault in ("raise", "exit", "attribute"):
        assert f"{name}.py, line 6" in done.stdout


def test_a_module_that_ends_python_is_reported(tmp_path):
    (tmp_path / "ending_plugin.py").write_text("import sys\n\nsys.exit(0)\n")
    with pytest.raises(UnmaskError, match=r"cannot be imported: SystemExit in ending_plugin.py, line 3"):
        find("ending_plugin:Any", "attacks", tmp_path)
