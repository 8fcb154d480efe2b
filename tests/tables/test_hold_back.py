"""People held back: who they are, that nothing else is, and what audits and studies do with them."""

import json

import numpy as np
import pytest

import unmask
from tests.commands import invoke
from unmask import UnmaskError
from unmask.policy.condition import Condition
from unmask.studies.cells import _population, run_cell
from unmask.studies.choice import choose
from unmask.studies.reading import read_plan
from unmask.studies.results_file import read_results
from unmask.studies.run import run_study
from unmask.tables import Mondrian, Suppress, Table
from unmask.tables.control.holdout import find_held_back, hold_back
from unmask.tables.datasets import synthetic_census

ROLES = {"quasi_identifiers": ("age", "sex", "zip"), "sensitive": "diagnosis"}


def census(n=800, seed=0):
    return Table.read(synthetic_census(n, rng=np.random.default_rng(seed)), **ROLES)


def row_of(result, release="release"):
    wanted = (release, "prosecutor", "diagnosis", "realized_success")
    return next(r for r in result.rows if (r.release, r.adversary, r.target, r.measure) == wanted)


def test_everybody_is_held_back_alike():
    table = census(10)
    drawn = np.concatenate([hold_back(table, 0.3, rng=np.random.default_rng(seed)).held for seed in range(2000)])
    assert np.abs(np.bincount(drawn, minlength=10) / 2000 - 0.3).max() < 4 * np.sqrt(0.21 / 2000)


def test_no_person_is_lost_and_secret_draws_differ():
    table = census()
    first, two = hold_back(table, 0.25), hold_back(table, 0.25)
    assert (first.members.n_rows, first.control.n_rows) == (600, 200)
    assert sorted([*first.member, *first.held]) == list(range(800))
    assert first.held.tolist() != two.held.tolist()


def test_an_audit_finds_those_held_back_as_if_they_were_in_a_file():
    """The 400 control people are a secret draw: of 200, chance tells apart three draws in a thousand."""
    table = census(1600)
    protected = unmask.protect(table, k=4, hold_back=0.25)
    assert protected.facts["held_back"] == 400
    assert "400 people held back" in repr(protected)
    people = find_held_back(table, 0.25, [protected.origin])
    places = np.searchsorted(people.member, protected.origin)
    by_file = unmask.audit(protected.release, original=people.members, origin=places, control=people.control)
    result = unmask.audit(protected.release, original=table, origin=protected.origin, hold_back=0.25)
    assert [row.as_dict() for row in result.rows] == [row.as_dict() for row in by_file.rows]
    assert row_of(result).control is not None
    assert row_of(result, "original").n == 1200


def test_a_register_loses_those_who_are_held_back():
    table = census(200)
    protected = unmask.protect(table, k=4, hold_back=0.25)
    register = Table.read(
        {name: table[name] for name in ("age", "sex", "zip")}, quasi_identifiers=("age", "sex", "zip")
    )
    register_options = {"register": register, "register_origin": np.arange(200), "coverage": 0.9}
    result = unmask.audit(
        protected.release, original=table, origin=protected.origin, hold_back=0.25, **register_options
    )
    rows = [row for row in result.rows if (row.release, row.adversary) == ("release", "journalist")]
    assert {row.measure for row in rows} >= {"realized_success"}


def test_people_dropped_by_the_protection_are_not_control_people():
    table = census()
    release, origin = Suppress(k=3)(table, rng=np.random.default_rng(0))
    assert release.n_rows < 800
    with pytest.raises(UnmaskError, match="are in no release"):
        unmask.audit(release, original=table, origin=origin, hold_back=0.01)


def test_hold_back_states_its_requirements():
    table = census(100)
    protected = unmask.protect(table, k=4, hold_back=0.25)
    with pytest.raises(UnmaskError, match="a release has no origin"):
        unmask.audit(protected.release, original=table, hold_back=0.25)
    with pytest.raises(UnmaskError, match="a control group was given, too"):
        unmask.audit(protected.release, original=table, origin=protected.origin, control=table, hold_back=0.25)
    with pytest.raises(UnmaskError, match="holds back some people and releases some"):
        unmask.protect(table, hold_back=0.001)


def test_one_document_protects_audits_and_is_studied(tmp_path):
    census(1600).write(tmp_path / "people.csv")
    (tmp_path / "unmask.toml").write_text(DOCUMENT)
    document, release, origin = (tmp_path / name for name in ("unmask.toml", "release.csv", "origin.csv"))
    assert invoke("protect", document, "-o", release).exit_code == 2
    assert "--origin" in invoke("protect", document, "-o", release).output
    done = invoke("protect", document, "-o", release, "--origin", origin)
    assert (done.exit_code, "400 people held back" in done.output) == (0, True)
    assert len(release.read_text().splitlines()) == 1201
    audited = invoke("audit", document, "--json", "--at-risk", tmp_path / "risk.csv")
    assert audited.exit_code == 0, audited.output
    rows = [row for row in json.loads(audited.stdout)["results"] if row["target"] == "diagnosis"]
    assert {row["control"] is not None for row in rows if row["measure"] == "realized_success"} == {True}
    kept = {int(line) for line in origin.read_text().split()[1:]}
    lines = (tmp_path / "risk.csv").read_text().splitlines()
    place = lines[0].split(",").index("row_of_original_from_0")
    assert {int(line.split(",")[place]) for line in lines[1:]} <= kept
    assert "hold_back = 0.25" in invoke("audit", document, "--as-plan").output
    refused = invoke("audit", release, "-q", "age,sex,zip", "--engine", "duckdb", "--hold-back", "0.25")
    assert (refused.exit_code, "--hold-back" in refused.output) == (2, True)


DOCUMENT = """
seeds = 2
[data]
file = "people.csv"
hold_back = 0.25
[columns]
age = "quasi-identifier"
sex = "quasi-identifier"
zip = "quasi-identifier"
diagnosis = "sensitive"
[[protections]]
use = "tables.Mondrian"
with = { k = 4 }
[[adversaries]]
name = "neighbor"
use = "tables.AttributeInference"
with = { sensitive = "diagnosis" }
[[adversaries]]
name = "finder"
use = "tables.ClassAttack"
[[releases]]
file = "release.csv"
origin = "origin.csv"
"""


def studied(tmp_path, text):
    (tmp_path / "plan.toml").write_text(text)
    run_study(read_plan(tmp_path / "plan.toml"), tmp_path / "run")
    return read_results(tmp_path / "run")


def test_a_study_attacks_control_people_and_a_choice_may_require_their_excess(tmp_path):
    census().write(tmp_path / "people.csv")
    results = studied(tmp_path, DOCUMENT.replace("with = { k = 4 }", "grid = { k = [2, 100] }"))
    by_release = {(row.release, row.target): row for row in results.rows if row.measure == "realized_success"}
    small_k, large_k = by_release["Mondrian k=2", "diagnosis"], by_release["Mondrian k=100", "diagnosis"]
    assert small_k.excess == pytest.approx(small_k.posterior - small_k.control)
    assert small_k.excess_low < small_k.excess < small_k.excess_high
    assert small_k.excess > 0.1 > large_k.excess
    assert by_release["Mondrian k=2", "identity"].excess is None
    verdicts = choose(results, [Condition.parse("realized_success.excess <= 0.1")])
    assert [(verdict.protection, (verdict.state == "met")) for verdict in verdicts] == [
        ("Mondrian k=100", True),
        ("Mondrian k=2", False),
    ]


def test_control_people_of_a_study_may_be_in_a_file(tmp_path):
    census(600).write(tmp_path / "people.csv")
    census(300, seed=1).write(tmp_path / "others.csv")
    text = DOCUMENT.replace("hold_back = 0.25", "") + '[control]\nfile = "others.csv"\n'
    (tmp_path / "plan.toml").write_text(text)
    cells = read_plan(tmp_path / "plan.toml").cells()
    assert any(row.excess is not None for row in run_cell(cells[0]))
    assert "control_sha256" in cells[0].dataset.content
    assert "control" not in cells[0].dataset.content


@pytest.mark.parametrize(("setting", "message"), [("hold_back = 2", "hold_back is"), ("hold_back = 0.1", "remove one")])
def test_a_wrong_share_is_refused_before_anything_runs(tmp_path, setting, message):
    census(100).write(tmp_path / "people.csv")
    text = DOCUMENT.replace("hold_back = 0.25", setting) + '[control]\nfile = "people.csv"\n'
    (tmp_path / "plan.toml").write_text(text)
    with pytest.raises(UnmaskError, match=message):
        read_plan(tmp_path / "plan.toml")


def test_a_seed_holds_back_the_same_people_from_every_protection(tmp_path):
    """Cells of one seed differ in the protection alone."""
    census().write(tmp_path / "people.csv")
    (tmp_path / "plan.toml").write_text(DOCUMENT.replace("with = { k = 4 }", "grid = { k = [2, 9] }"))
    held_rows = {}
    for cell in read_plan(tmp_path / "plan.toml").cells():
        held_rows.setdefault(cell.seed, set()).add(tuple(_population(cell).held))
    assert [len(rows) for rows in held_rows.values()] == [1, 1]
    assert held_rows[0] != held_rows[1]


def test_the_protection_sees_members_alone(tmp_path):
    people = hold_back(census(), 0.5, rng=np.random.default_rng(0))
    release, origin = Mondrian(k=5)(people.members, rng=np.random.default_rng(0))
    assert release.n_rows == people.members.n_rows
    assert origin.max() < 400
