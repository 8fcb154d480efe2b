"""Synthetic releases: made by a generator or found in a file, in a study; and what looks like one in an audit."""

from dataclasses import dataclass

import numpy as np
import pytest

import unmask
from unmask import UnmaskError
from unmask.checks import check_protection
from unmask.core.errors import NotRunError
from unmask.document import derive_audit_options
from unmask.policy.condition import Condition
from unmask.studies.cells import run_cell
from unmask.studies.choice import choose
from unmask.studies.reading import read_plan
from unmask.studies.results_file import read_results
from unmask.studies.run import run_study
from unmask.tables import Table
from unmask.tables.datasets import synthetic_census
from unmask.tables.protections.releasing import make_release

ROLES = {"quasi_identifiers": ("age", "sex", "zip"), "sensitive": "diagnosis"}


def census(n=600, seed=0):
    return Table.read(synthetic_census(n, rng=np.random.default_rng(seed)), **ROLES)


class Fitted:
    """A bootstrap, called as generators of other packages are."""

    def fit(self, frame):
        self.frame = frame

    def sample(self, n):
        return {name: np.resize(np.asarray(self.frame[name], dtype=str), n) for name in self.frame.columns}


def test_a_generator_gives_rows_without_people_and_with_the_roles_of_the_table():
    table = census()
    release, origin, _ = make_release(Fitted(), table)
    assert origin is None
    assert release.names == table.names
    assert [column.name for column in release.sensitive] == ["diagnosis"]
    assert [column.type for column in release.quasi_identifiers] == [column.type for column in table.quasi_identifiers]
    with pytest.raises(UnmaskError, match="no rows"):
        make_release(lambda table, rng: {name: table[name][:0] for name in table.names}, table)


PLUGIN = """
from unmask.tables import Table

class Margins:
    "Draw every column by itself."
    def __call__(self, table: Table, *, rng=None):
        return {name: rng.permutation(table[name]) for name in table.names}

class Copy:
    "Fit and sample."
    def fit(self, frame):
        self.frame = frame
    def sample(self, n):
        return {name: list(map(str, self.frame[name])) for name in self.frame.columns}
"""

PLAN = """
measures = ["realized_success", "pairs", "utility"]
[data]
file = "people.csv"
[control]
file = "others.csv"
[columns]
age = "quasi-identifier"
sex = "quasi-identifier"
zip = "quasi-identifier"
diagnosis = "sensitive"
[[protections]]
use = "made_up:Margins"
[[protections]]
use = "made_up:Copy"
domain = "tables"
synthetic = true
[[protections]]
file = "fake.csv"
synthetic = true
[[adversaries]]
name = "neighbor"
use = "tables.AttributeInference"
with = { sensitive = "diagnosis" }
[[adversaries]]
name = "finder"
use = "tables.ClassAttack"
"""


def written(folder, plan=PLAN):
    (folder / "made_up.py").write_text(PLUGIN)
    (folder / "plan.toml").write_text(plan)
    for seed, name in enumerate(("people", "others", "fake")):
        census(600, seed).write(folder / f"{name}.csv")
    return folder / "plan.toml"


def test_a_study_takes_generators_and_releases_in_files_for_protections(tmp_path):
    outcome = run_study(read_plan(written(tmp_path), allow_code=True), tmp_path / "run")
    assert (outcome.done, outcome.not_run, outcome.failed) == (3, 3, 0)
    results = read_results(tmp_path / "run")
    assert {gap.status for gap in results.gaps} == {"not run"}
    by_release = {row.release: row for row in results.rows if row.measure == "realized_success"}
    assert list(by_release) == ["made_up:Margins", "made_up:Copy", "fake"]
    assert {row.target for row in by_release.values()} == {"diagnosis"}
    assert by_release["made_up:Copy"].excess > 0.3
    assert abs(by_release["made_up:Margins"].excess) < 0.1
    pairs = {row.release: row.posterior for row in results.rows if row.measure == "pairs"}
    assert pairs["made_up:Copy"] == pytest.approx(1)
    assert not any(row.measure == "utility" for row in results.rows)
    verdicts = choose(results, [Condition.parse("realized_success.excess<=0.1")], maximize="pairs")
    assert {verdict.protection: (verdict.state == "met") for verdict in verdicts} == {
        "made_up:Margins": True, "fake": True, "made_up:Copy": False,
    }  # fmt: skip


def test_identity_attacks_skip_synthetic_rows(tmp_path):
    cells = read_plan(written(tmp_path), allow_code=True).cells()
    finder = next(cell for cell in cells if cell.adversary.name == "finder")
    with pytest.raises(NotRunError, match="the released rows are not people of the original"):
        run_cell(finder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('file = "fake.csv"\nsynthetic = true', 'file = "fake.csv"'), "synthetic = true"),
        (('[control]\nfile = "others.csv"', ""), None),
    ],
)
def test_a_release_in_a_file_has_requirements(tmp_path, change, message):
    plan = written(tmp_path, PLAN.replace(*change))
    if message is not None:
        with pytest.raises(UnmaskError, match=message):
            read_plan(plan, allow_code=True)
        return
    text = plan.read_text().replace('file = "people.csv"', 'file = "people.csv"\nhold_back = 0.2')
    plan.write_text(text)
    stored = next(cell for cell in read_plan(plan, allow_code=True).cells() if cell.protection.name == "fake")
    with pytest.raises(UnmaskError, match="before people were held back"):
        run_cell(stored)


def test_a_release_that_may_be_synthetic_is_asked_about():
    people = census()
    doubt = "Whether the rows of release are people"
    full = unmask.audit(people, original=people)
    assert doubt not in dict(full.not_run)
    part = unmask.audit(people.take(np.arange(500)), original=people)
    assert "it has 500 rows, and the original 600" in dict(part.not_run)[doubt]
    sampled = unmask.audit(people.take(np.arange(500)), original=people, origin=np.arange(500))
    assert doubt not in dict(sampled.not_run)


def test_a_document_says_which_releases_are_synthetic(tmp_path):
    document = {"data": {"file": "people.csv"}, "releases": [{"file": "a.csv", "synthetic": True}]}
    assert derive_audit_options(document, tmp_path)[1]["synthetic"] is True
    document["releases"].append({"file": "b.csv"})
    with pytest.raises(UnmaskError, match="a document of its own"):
        derive_audit_options(document, tmp_path)


@dataclass(frozen=True)
class Margins:
    """Draw every column by itself."""

    def __call__(self, table: Table, *, rng=None):
        """Return a release without people."""
        return {name: rng.permutation(table[name]) for name in table.names}


@dataclass(frozen=True)
class Narrow:
    """Leave a column out."""

    def __call__(self, table: Table, *, rng=None):
        """Return a release without people."""
        return Table.read({"age": rng.permutation(table["age"])}, quasi_identifiers="age")


def test_a_generator_is_checked_as_protections_are():
    states = {verdict.law: verdict.state for verdict in check_protection(Margins())}
    assert {states["same seed same answer"], states["inputs are left alone"], states["release is valid"]} == {"kept"}
    broken = {verdict.law: verdict.why for verdict in check_protection(Narrow())}
    assert "other columns" in broken["release is valid"]
