"""Control people: what an audit says of them against a loop over people, and where they are missing."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

import unmask
from unmask import UnmaskError
from unmask.cli import main
from unmask.findings.sentences import sentences
from unmask.render.page import render
from unmask.tables import Background, BackOff, Mondrian, Suppress, Table, datasets
from unmask.tables.control.similarity import measure_shift

ROLES = {"quasi_identifiers": ("age", "sex"), "sensitive": "ill"}


def people(n, seed):
    """Draw a table; a third of the people fall ill by a law that depends on age."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(20, 60, n), rng.choice(["f", "m"], n)
    ill = np.where(rng.random(n) < age / 80, "flu", rng.choice(["cold", "none"], n))
    return {"age": age, "sex": sex, "ill": ill}


def audited(n=300, seed=0, *, k=5, control=None):
    people_table = Table.read(people(n, seed), **ROLES)
    control_table = Table.read(people(200, seed + 1) if control is None else control, like=people_table, **ROLES)
    release, origin = Mondrian(k=k)(people_table, rng=np.random.default_rng(seed))
    return (
        people_table,
        control_table,
        release,
        unmask.audit(release, original=people_table, origin=origin, control=control_table),
    )


def row_of(result, measure="realized_success", *, target="ill"):
    return next(r for r in result.rows if (r.release, r.target, r.measure) == ("release", target, measure))


@pytest.mark.parametrize("seed", range(3))
def test_control_people_against_a_loop(seed):
    members, control, release, result = audited(seed=seed)
    columns = (release[name] for name in ("age", "sex", "ill"))
    cells = [(str(age), str(sex), ill) for age, sex, ill in zip(*columns, strict=True)]
    values = sorted(set(members["ill"].tolist()))
    learned = BackOff("ill")(release, Background(control, members))
    like_them = [dict(zip(learned.candidate_label, row, strict=True)) for row in learned.to_dense()]

    def holds(cell, value):
        if cell.startswith("["):
            low, high = cell.strip("[]()").split(",")
            return float(low) <= float(value) <= float(high)
        return str(value) in cell.strip("{}").split(",")

    is_right = []
    for index, (age, sex, ill) in enumerate(zip(control["age"], control["sex"], control["ill"], strict=True)):
        values_seen = [value for a, s, value in cells if holds(a, age) and holds(s, sex)]
        belief = (
            {value: values_seen.count(value) / len(values_seen) for value in values}
            if values_seen
            else like_them[index]
        )
        likeliest = [value for value in values if belief[value] == max(belief.values())]
        is_right.append((ill in likeliest) / len(likeliest))
    row = row_of(result)
    assert row.control == pytest.approx(np.mean(is_right), abs=1e-9)
    assert row.excess == pytest.approx(row.posterior - row.control)
    assert row.excess_low < row.excess < row.excess_high


def test_people_in_no_box_do_not_share_their_luck():
    # all of them were one cluster, so that the interval of a release that drops many was several times too wide
    rng, tables = np.random.default_rng(0), []
    for n in (800, 400):
        columns = {"age": rng.integers(0, 600, n), "sex": ["f"] * n, "ill": rng.choice(list("abcd"), n)}
        tables.append(Table.read(columns, **ROLES))
    members, control = tables
    release, origin = Suppress(k=2)(members, rng=rng)
    row = row_of(unmask.audit(release, original=members, origin=origin, control=control))
    chance = 1.96 * np.sqrt(row.posterior * (1 - row.posterior) / 800 + row.control * (1 - row.control) / 400)
    assert (row.excess_high - row.excess_low) / 2 == pytest.approx(chance, rel=0.1)


def test_the_same_people_twice_have_no_excess():
    columns = people(300, 0)
    _, _, _, result = audited(control=columns)
    for measure in ("realized_success", "realized_error", "rank"):
        row = row_of(result, measure)
        assert row.control == pytest.approx(row.posterior)
        assert row.excess == pytest.approx(0, abs=1e-12)
    assert "is not shown to learn ill from people's own records (0" in " ".join(sentences(result))


def test_an_error_that_control_people_have_more_of_is_an_excess():
    _, _, _, result = audited(k=2)
    success, error = row_of(result), row_of(result, "realized_error")
    assert success.excess > 0.1
    assert (error.excess, error.excess_low, error.excess_high) == pytest.approx(
        (success.excess, success.excess_low, success.excess_high)
    )


def test_identity_has_no_control_people_and_beliefs_none():
    _, _, _, result = audited()
    assert all(row.control is None for row in result.rows if row.target == "identity")
    assert row_of(result, "success_probability").control is None


def test_the_page_says_what_being_in_it_added():
    _, _, _, result = audited(k=2)
    assert any("from people's own records" in sentence for sentence in sentences(result))
    assert "own records added" in render(result)
    assert "control" in repr(result)


def test_without_control_people_it_says_so():
    members, _, release, _ = audited()
    result = unmask.audit(release, original=members)
    assert "What people's own records added" in [analysis for analysis, _ in result.not_run]
    assert "control" not in repr(result)


def test_control_people_need_the_original():
    _, control, release, _ = audited()
    with pytest.raises(UnmaskError, match="original"):
        unmask.audit(release, control=control)


def test_the_command_line_says_the_same(tmp_path):
    members, control, release, result = audited()
    for name, table in (("people", members), ("others", control)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([table.names, *zip(*(table[name] for name in table.names), strict=True)])
    release.write(tmp_path / "release.csv")
    arguments = [
        str(tmp_path / "release.csv"),
        "-q",
        "age,sex",
        "-s",
        "ill",
        "--original",
        str(tmp_path / "people.csv"),
    ]
    run = CliRunner().invoke(main, ["audit", *arguments, "--control", str(tmp_path / "others.csv"), "--json"])
    assert run.exit_code == 0, run.output
    printed = json.loads(run.stdout)
    row = next(r for r in printed["results"] if r["release"] == "release" and r["measure"] == "rank" and r["control"])
    assert row["control"] == pytest.approx(row_of(result, "rank").control)
    run = CliRunner().invoke(main, ["audit", *arguments, "--control", str(tmp_path / "others.csv")])
    assert "from people's own records" in run.output
    role = next(entry for entry in printed["inputs"] if entry["role"] == "control")
    assert role["sha256"] is None
    engine = CliRunner().invoke(
        main, ["audit", *arguments[:5], "--control", str(tmp_path / "others.csv"), "--engine", "duckdb"]
    )
    assert engine.exit_code != 0
    assert "--control" in engine.output


def test_adult_through_boxes_of_ten():
    """The classes of the training part of Adult, and people of its test part: 0.351, 0.287, 0.064; 372 of these are in
    no box, and what the release says of people like them is believed. The best attacker on them knows 0.308.
    """
    columns = (*datasets.Q5, "occupation")
    roles = {"quasi_identifiers": datasets.Q5, "sensitive": "occupation", "na": ()}
    members = Table.read(adult("adult/adult.data", columns), **roles)
    control = Table.read(adult("adult/adult.test", columns), like=members, **roles)
    release, origin = Mondrian(k=10)(members, rng=np.random.default_rng(0))
    result = unmask.audit(release, original=members, origin=origin, control=control)
    row = next(
        r for r in result.rows if (r.release, r.target, r.measure) == ("release", "occupation", "realized_success")
    )
    assert (row.posterior, row.control, row.excess) == pytest.approx((0.3513, 0.2868, 0.0646), abs=5e-5)
    assert row.baseline == pytest.approx(0.3076, abs=5e-5)
    assert row.excess_high - row.excess_low == pytest.approx(2 * 0.0087, abs=4e-4)  # .0089 with one cluster of the 372


def adult(name, retained):
    with datasets.locate(name).open() as lines:
        rows = [row for row in csv.reader(lines, skipinitialspace=True) if len(row) == 15 and "?" not in row]
    columns = dict(zip(datasets.ADULT_COLUMNS, np.array(rows).T, strict=True))
    return {column: columns[column] for column in retained}


def test_a_synthetic_release_has_no_row_of_anybody():
    members, control, release, _ = audited()
    result = unmask.audit(release, original=members, control=control, synthetic=True)
    rows = [row for row in result.rows if row.release == "release"]
    assert {row.target for row in rows} == {"ill", "membership", "singling out"}  # those who are rare are too few
    assert {row.status for row in rows if row.target == "ill"} == {"calibrated"}
    assert row_of(result).control is not None
    assert (
        "k, prosecutor_average, prosecutor_max and whose record is whose in release",
        "it is synthetic: no released row is a person's",
    ) in result.not_run
    assert [result.criteria["release"][name] for name in ("k", "prosecutor_average")] == [None, None]


def test_rows_without_a_person_have_no_second_person():
    members, _, release, _ = audited()
    with pytest.raises(UnmaskError, match="no original was given"):
        unmask.audit(release, synthetic=True)
    with pytest.raises(UnmaskError, match="an origin says whose"):
        unmask.audit(release, original=members, origin=np.arange(release.n_rows), synthetic=True)


def test_the_command_line_takes_a_release_for_synthetic(tmp_path):
    members, _, release, _ = audited()
    members.write(tmp_path / "people.csv")
    release.write(tmp_path / "release.csv")
    arguments = [str(tmp_path / "release.csv"), "-q", "age,sex", "-s", "ill", "--synthetic"]
    run = CliRunner().invoke(main, ["audit", *arguments, "--original", str(tmp_path / "people.csv"), "--json"])
    assert run.exit_code == 0, run.output
    assert not any(
        (row["release"], row["target"]) == ("release", "identity") for row in json.loads(run.stdout)["results"]
    )
    engine = CliRunner().invoke(main, ["audit", *arguments, "--engine", "duckdb"])
    assert (engine.exit_code, "--synthetic" in engine.output) == (2, True)


def test_control_people_who_are_unlike_count_by_weight():
    """Twice as many old people among those attacked: each old control person counts about twice."""
    rng = np.random.default_rng(0)
    old = {"few": rng.random(4000) < 0.35, "many": rng.random(4000) < 0.65}
    age = {group: np.where(mask, 50, 20) + rng.integers(0, 5, 4000) for group, mask in old.items()}
    tables = {
        group: Table.read(
            {"age": mask, "ill": np.where(mask > 40, "gout", "flu")}, quasi_identifiers="age", sensitive="ill"
        )
        for group, mask in age.items()
    }
    shift = measure_shift(tables["many"], tables["few"])
    weight, share = shift.weight * 4000, {group: mask.mean() for group, mask in old.items()}
    assert not shift.is_similar
    assert shift.interval.low < 0.65 < shift.interval.high + 0.02
    assert weight[old["few"]].mean() == pytest.approx(share["many"] / share["few"], rel=0.05)
    assert weight[~old["few"]].mean() == pytest.approx((1 - share["many"]) / (1 - share["few"]), rel=0.05)


@pytest.mark.parametrize(("shared", "state"), [(0.6, "weighted"), (0.02, "refused")])
def test_an_audit_says_when_control_people_are_unlike(shared, state):
    rng = np.random.default_rng(0)
    n = 1500
    groups = {"before": rng.random(n) < 0.5 + shared / 2 - 0.3, "others": rng.random(n) < shared / 2}
    groups["before"] |= rng.random(n) < (0.4 if state == "weighted" else 0.95)
    tables = [
        Table.read(
            {"age": np.where(mask, 50, 20), "ill": rng.choice(["flu", "gout"], n)},
            quasi_identifiers="age",
            sensitive="ill",
        )
        for mask in groups.values()
    ]
    release, origin = Mondrian(k=5)(tables[0], rng=rng)
    result = unmask.audit(release, original=tables[0], origin=origin, control=tables[1])
    row = row_of(result)
    if state == "weighted":
        assert row.control is not None
        assert "is weighted" in row.note
        assert any("They differ from the people attacked" in assumption for assumption in result.assumptions)
    else:
        assert row.control is None
        assert any("draw the control group" in reason for _, reason in result.not_run)


def test_people_drawn_alike_are_found_alike():
    """For people held back at random, audits hardly ever report a difference; the interval of the AUC holds 1/2."""
    table, rng = Table.read(people(800, 0), **ROLES), np.random.default_rng(0)
    drawn = (rng.permutation(800) for _ in range(120))
    shifts = [measure_shift(table.take(those[:600]), table.take(those[600:])) for those in drawn]
    assert np.mean([shift.is_similar for shift in shifts]) >= 0.99
    assert np.mean([shift.interval.low <= 0.5 <= shift.interval.high for shift in shifts]) >= 0.93
