"""A parameter has one range: documents, the command line, Python and the application refuse the same values."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unmask.app.project import Project
from unmask.cli import main
from unmask.core.errors import UnmaskError
from unmask.linkage.audit import Sensitivity
from unmask.ranges import check_types
from unmask.studies.reading import read_plan
from unmask.tables import audit as tables
from unmask.toml_text import format_document

TABLE: dict[str, Any] = {
    "data": {"file": "people.csv"},
    "columns": {"age": "quasi-identifier", "ill": "sensitive"},
    "register": {"file": "people.csv"},
    "adversaries": [{"use": "tables.RegisterAttack"}, {"name": "near", "use": "tables.NearestNeighbor"}],
}
LINKAGE: dict[str, Any] = {"linkage": {"truth": "items.csv", "guesses": "items.csv", "clusters": "subject"}}
STUDY: dict[str, Any] = {
    "data": {"use": "linkage.file", "file": "items.csv", "pseudonym": "subject", "features": ["x"]},
    "adversaries": [{"use": "linkage.Threshold", "with": {"distance": 0.5}}],
}

KEYS = {"hold_back": "data", "coverage": "register", "targets": "audit", "seed": "audit"}
"""Option of an audit of tables -> its section."""

SENSITIVITY = ("alpha", "beta", "min_size", "shuffles")

numbers = st.sampled_from([-1, 0, 1, 2, 0.5, 1.5])  # outside, at and inside the ranges
examples = settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory):
    folder, folder_before = tmp_path_factory.mktemp("ranges"), Path.cwd()
    os.chdir(folder)
    Path("people.csv").write_text("age,ill\n" + "".join(f"{30 + i // 4},{'ab'[i % 2]}\n" for i in range(40)))
    Path("items.csv").write_text("item,subject,x\n" + "".join(f"i{i},s{i // 3},{i}\n" for i in range(12)))
    yield folder
    os.chdir(folder_before)


def accepts(door: Callable[[], object]) -> bool:
    try:
        done = door()
    except UnmaskError:
        return False
    return getattr(done, "exit_code", 0) == 0


def run(*words: object) -> Any:
    done = CliRunner().invoke(main, list(map(str, words)))
    assert done.exit_code in (0, 2), done.output
    return done


def write(document: dict[str, Any]) -> Path:
    path = Path("unmask.toml")
    path.write_text(format_document(document))
    return path


@pytest.fixture
def project(tmp_path: Path):
    project = Project.new(tmp_path)
    yield project
    with suppress(OSError):
        project.remove()


@pytest.mark.parametrize("key", KEYS)
@examples
@given(value=numbers)
def test_every_door_has_the_same_range_of_a_table(folder: Path, project: Project, key: str, value: float) -> None:
    section = KEYS[key]
    document = TABLE | {section: {**TABLE.get(section, {}), key: value}}
    write(document)
    command = ("people.csv", "-q", "age", "-s", "ill", f"--{key.replace('_', '-')}={value}", "--as-plan")
    answers = {accepts(lambda: check_types(tables.audit, {key: value}))}
    answers |= {accepts(lambda: run("audit", "unmask.toml", "--as-plan"))}
    answers |= {accepts(lambda: run("choose", "columns", "unmask.toml", "--json"))}
    answers |= {accepts(lambda: read_plan(Path("unmask.toml")))}
    answers |= {accepts(lambda: project.save(document))}
    if not (isinstance(value, float) and key in ("targets", "seed")):  # 2.0 is typed as 2
        answers |= {accepts(lambda: run("audit", *command))}
    assert len(answers) == 1


@pytest.mark.parametrize("key", SENSITIVITY)
@examples
@given(value=numbers)
def test_every_door_has_the_same_range_of_clusters(folder: Path, key: str, value: float) -> None:
    answers = {accepts(lambda: Sensitivity(**{key: value}))}
    write({"linkage": {**LINKAGE["linkage"], key: value}})
    answers |= {accepts(lambda: run("audit", "linkage", "unmask.toml", "--as-plan"))}
    files = ("--truth", "items.csv", "--guess", "items.csv", "--cluster", "subject")
    answers |= {accepts(lambda: run("audit", "linkage", *files, f"--{key.replace('_', '-')}={value}", "--as-plan"))}
    write(STUDY | {"adversaries": [{**STUDY["adversaries"][0], key: value}]})
    answers |= {accepts(lambda: read_plan(Path("unmask.toml")))}
    assert len(answers) == 1
