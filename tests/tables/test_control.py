"""Control people: what an audit says of them against a loop over people, and where they are missing."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

import unmask
from unmask import UnmaskError
from unmask.cli import main
from unmask.reports import render, sentences
from unmask.tables import Mondrian, Table, datasets

ROLES = {"quasi_identifiers": ("age", "sex"), "sensitive": "ill"}


def people(n, seed):
    """A third of whom the old and the young fall ill differently."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(20, 60, n), rng.choice(["f", "m"], n)
    ill = np.where(rng.random(n) < age / 80, "flu", rng.choice(["cold", "none"], n))
    return {"age": age, "sex": sex, "ill": ill}


def audited(n=300, seed=0, *, k=5, control=None):
    before = Table.read(people(n, seed), **ROLES)
    others = Table.read(people(200, seed + 1) if control is None else control, like=before, **ROLES)
    release, origin = Mondrian(k=k)(before, rng=np.random.default_rng(seed))
    return before, others, release, unmask.audit(release, original=before, origin=origin, control=others)


def row_of(found, measure="realized_success", *, target="ill"):
    return next(r for r in found.rows if (r.release, r.target, r.measure) == ("release", target, measure))


@pytest.mark.parametrize("seed", range(3))
def test_control_people_against_a_loop(seed):
    before, others, release, found = audited(seed=seed)
    columns = (release[name] for name in ("age", "sex", "ill"))
    cells = [(str(age), str(sex), ill) for age, sex, ill in zip(*columns, strict=True)]
    values = sorted(set(before["ill"].tolist()))
    margin = {value: float(np.mean(before["ill"] == value)) for value in values}

    def holds(cell, value):
        if cell.startswith("["):
            low, high = cell.strip("[]()").split(",")
            return float(low) <= float(value) <= float(high)
        return str(value) in cell.strip("{}").split(",")

    right = []
    for age, sex, ill in zip(others["age"], others["sex"], others["ill"], strict=True):
        seen = [one for a, s, one in cells if holds(a, age) and holds(s, sex)]
        belief = {value: seen.count(value) / len(seen) for value in values} if seen else margin
        best = [value for value in values if belief[value] == max(belief.values())]
        right.append((ill in best) / len(best))
    row = row_of(found)
    assert row.control == pytest.approx(np.mean(right), abs=1e-9)
    assert row.excess == pytest.approx(row.posterior - row.control)
    assert row.excess_low < row.excess < row.excess_high


def test_the_same_people_twice_have_no_excess():
    columns = people(300, 0)
    _, _, _, found = audited(control=columns)
    for measure in ("realized_success", "realized_error", "rank"):
        row = row_of(found, measure)
        assert row.control == pytest.approx(row.posterior)
        assert row.excess == pytest.approx(0, abs=1e-12)
    assert "nothing that shows" in " ".join(sentences(found))


def test_an_error_that_control_people_have_more_of_is_an_excess():
    _, _, _, found = audited(k=2)
    success, error = row_of(found), row_of(found, "realized_error")
    assert success.excess > 0.1
    assert (error.excess, error.excess_low, error.excess_high) == pytest.approx(
        (success.excess, success.excess_low, success.excess_high)
    )


def test_identity_has_no_control_people_and_beliefs_none():
    _, _, _, found = audited()
    assert all(row.control is None for row in found.rows if row.target == "identity")
    assert row_of(found, "success_probability").control is None


def test_the_page_says_what_being_in_it_added():
    _, _, _, found = audited(k=2)
    assert any("to people being in the table" in said for said in sentences(found))
    assert "What being in the table added" in render(found)
    assert "control" in repr(found)


def test_without_control_people_it_says_so():
    before, _, release, _ = audited()
    found = unmask.audit(release, original=before)
    assert "What being in the table added" in [what for what, _ in found.not_run]
    assert "control" not in repr(found)


def test_control_people_need_the_original():
    _, others, release, _ = audited()
    with pytest.raises(UnmaskError, match="original"):
        unmask.audit(release, control=others)


def test_the_command_line_says_the_same(tmp_path):
    before, others, release, found = audited()
    for name, table in (("people", before), ("others", others)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([table.names, *zip(*(table[name] for name in table.names), strict=True)])
    release.write(tmp_path / "release.csv")
    given = [str(tmp_path / "release.csv"), "-q", "age,sex", "-s", "ill", "--original", str(tmp_path / "people.csv")]
    run = CliRunner().invoke(main, ["audit", *given, "--control", str(tmp_path / "others.csv"), "--json"])
    assert run.exit_code == 0, run.output
    printed = json.loads(run.stdout)
    row = next(r for r in printed["results"] if r["release"] == "release" and r["measure"] == "rank" and r["control"])
    assert row["control"] == pytest.approx(row_of(found, "rank").control)
    run = CliRunner().invoke(main, ["audit", *given, "--control", str(tmp_path / "others.csv")])
    assert "to people being in the table" in run.output
    role = next(one for one in printed["inputs"] if one["role"] == "control")
    assert role["sha256"] is None
    engine = CliRunner().invoke(
        main, ["audit", *given[:5], "--control", str(tmp_path / "others.csv"), "--engine", "duckdb"]
    )
    assert engine.exit_code != 0
    assert "--control" in engine.output


def test_adult_through_boxes_of_ten():
    """The classes of the training part of Adult, and people of its test part: 0.351, 0.283, 0.069."""
    kept = (*datasets.Q5, "occupation")
    roles = {"quasi_identifiers": datasets.Q5, "sensitive": "occupation", "na": ()}
    before = Table.read(adult("adult/adult.data", kept), **roles)
    others = Table.read(adult("adult/adult.test", kept), like=before, **roles)
    release, origin = Mondrian(k=10)(before, rng=np.random.default_rng(0))
    found = unmask.audit(release, original=before, origin=origin, control=others)
    row = next(
        r for r in found.rows if (r.release, r.target, r.measure) == ("release", "occupation", "realized_success")
    )
    assert (row.posterior, row.control, row.excess) == pytest.approx((0.3513, 0.2825, 0.0688), abs=5e-5)
    assert row.excess_high - row.excess_low == pytest.approx(2 * 0.0104, abs=4e-4)


def adult(name, kept):
    with datasets.locate(name).open() as lines:
        rows = [row for row in csv.reader(lines, skipinitialspace=True) if len(row) == 15 and "?" not in row]
    columns = dict(zip(datasets.ADULT_COLUMNS, np.array(rows).T, strict=True))
    return {column: columns[column] for column in kept}


def test_a_synthetic_release_has_no_row_of_anybody():
    before, others, release, _ = audited()
    found = unmask.audit(release, original=before, control=others, synthetic=True)
    rows = [row for row in found.rows if row.release == "release"]
    assert {row.target for row in rows} == {"ill", "singling out"}
    assert {row.status for row in rows if row.target == "ill"} <= {"model", "refuted"}
    assert row_of(found).control is not None
    assert ("Whose record is whose in release", "it is synthetic: no released row is a person's") in found.not_run
    assert found.criteria["release"]["prosecutor_average"] is None


def test_rows_that_are_nobodys_are_not_somebodys_too():
    before, _, release, _ = audited()
    with pytest.raises(UnmaskError, match="no original was given"):
        unmask.audit(release, synthetic=True)
    with pytest.raises(UnmaskError, match="an origin says whose"):
        unmask.audit(release, original=before, origin=np.arange(release.n_rows), synthetic=True)


def test_the_command_line_takes_a_release_for_synthetic(tmp_path):
    before, _, release, _ = audited()
    before.write(tmp_path / "people.csv")
    release.write(tmp_path / "release.csv")
    given = [str(tmp_path / "release.csv"), "-q", "age,sex", "-s", "ill", "--synthetic"]
    run = CliRunner().invoke(main, ["audit", *given, "--original", str(tmp_path / "people.csv"), "--json"])
    assert run.exit_code == 0, run.output
    assert not any(
        (row["release"], row["target"]) == ("release", "identity") for row in json.loads(run.stdout)["results"]
    )
    engine = CliRunner().invoke(main, ["audit", *given, "--engine", "duckdb"])
    assert (engine.exit_code, "--synthetic" in engine.output) == (2, True)
