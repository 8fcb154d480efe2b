"""Membership in an audit with control people."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import unmask
from unmask import UnmaskError
from unmask.cli import main
from unmask.findings.people_at_risk import Watched
from unmask.findings.sentences import sentences
from unmask.results.names import MEMBERSHIP, RARE
from unmask.studies.cells import run_cell
from unmask.studies.reading import read_plan
from unmask.tables import Background, Mondrian, ShadowMembership, Table
from unmask.tables import audit as cases
from unmask.tables.attacks.marginal_counts import Margins
from unmask.tables.audit import auditor_knowledge
from unmask.tables.audit.membership_audit import CLOSEST, COMPANIONS, RECORD, sample_members
from unmask.tables.control.holdout import Sample
from unmask.tables.control.membership_calibration import MembershipSample, join_scores
from unmask.tables.control.similarity import shift_by
from unmask.tables.knowledge import Knowledge
from unmask.tables.protections.releasing import Released

ROLES = {"quasi_identifiers": ("age", "sex"), "sensitive": "ill", "keep": ("city", "pay")}


def cells(n, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "age": rng.integers(20, 60, n),
        "sex": rng.choice(["f", "m"], n),
        "city": rng.choice(list("abcdefghijkl"), n),
        "pay": rng.integers(10, 99, n),
        "ill": rng.choice(["flu", "cold", "none"], n),
    }


def tables(*sizes, seed=0):
    """Tables of people drawn alike."""
    return [Table.read(cells(n, seed + index), **ROLES) for index, n in enumerate(sizes)]


def rows(result, target=MEMBERSHIP, *, release="release"):
    """(adversary, measure) -> row."""
    return {(r.adversary, r.measure): r for r in result.rows if (r.release, r.target) == (release, target)}


def auc(result, adversary=RECORD, **key):
    return rows(result, **key)[adversary, "membership_auc"]


def test_members_in_the_release_are_found_and_strangers_are_not():
    members, control, fresh = tables(400, 800, 400)
    original_rows, fresh_rows = (
        rows(unmask.audit(release, original=members, control=control)) for release in (members, fresh)
    )
    assert original_rows[RECORD, "membership_auc"].posterior > 0.95
    assert original_rows[RECORD, "realized_success"].posterior > 0.9
    assert original_rows[RECORD, "realized_success"].status == "calibrated"
    assert fresh_rows[RECORD, "membership_auc"].low < 0.5 < fresh_rows[RECORD, "membership_auc"].high
    assert fresh_rows[RECORD, "realized_success"].low < 0.5 < fresh_rows[RECORD, "realized_success"].high
    assert not any(measure.startswith("true_positive_rate_at_0.01") for _, measure in original_rows)


def test_members_who_are_found_are_listed_for_the_owner():
    """Their rows in the owner's table are listed, a twentieth of the judged ones, and no person believed to be out."""
    members, control = tables(400, 800)
    watched = Watched("row")
    twice = members.take(np.repeat(np.arange(0, 400, 4), 4))
    cases.audit(twice, original=members, control=control, watched=watched)
    listed_members = [person for person in watched.found if person.target == MEMBERSHIP and person.adversary == RECORD]
    assert {person.row % 4 for person in listed_members} == {0}
    assert all(person.probability > 0.5 and "guessing gives 50.0" in person.reason for person in listed_members)


def test_rows_at_risk_are_those_of_the_table_that_people_were_held_back_from():
    (table,) = tables(1200)
    chosen = np.random.default_rng(0).permutation(1200)[:600]
    origin = np.setdiff1d(np.arange(1200), chosen)
    watched = Watched("row")
    cases.audit(table.take(origin), original=table, origin=origin, hold_back=0.5, watched=watched)
    rows_at_risk = {person.row for person in watched.found if person.target == MEMBERSHIP}
    assert rows_at_risk
    assert rows_at_risk <= set(origin.tolist())


def test_copies_of_members_give_them_away_whoever_is_copied():
    members, control = tables(400, 800)
    release = members.take(np.random.default_rng(0).choice(400, 400))
    result = auc(unmask.audit(release, original=members, control=control))
    assert 0.7 < result.low < result.posterior < 0.9  # 63 % of the members are in it


def test_of_strangers_there_is_a_finding_in_one_of_twenty():
    gains = []
    for seed in range(0, 60, 3):
        members, control, fresh = tables(150, 300, 150, seed=100 + seed)
        gains.append(auc(unmask.audit(fresh, original=members, control=control)))
    assert sum(row.low > 0.5 for row in gains) <= 3  # 2.5 % of them; four of twenty in 1 of 600
    assert np.mean([row.posterior for row in gains]) == pytest.approx(0.5, abs=0.025)


def test_differences_visible_without_a_release_are_not_membership():
    (members,), control_cells = tables(400), cells(800, 1)
    control = Table.read(control_cells | {"ill": [""] * 800, "pay": [500] * 800}, **ROLES)
    (fresh,) = tables(400, seed=2)
    result = unmask.audit(fresh, original=members, control=control)
    assert {adversary for adversary, _ in rows(result)} == {"prosecutor", "margins alone", "closest record alone"}
    reason = dict(result.not_run)["Who is in the table, whole record"]
    assert "without any release, members differ from the control group by age, sex" in reason


def test_people_dropped_for_their_values_are_found_by_the_release_and_not_by_the_draw():
    # control people drawn like the original were called unlike members, and the owner was told to draw them again
    members, control = tables(400, 800)
    young = np.flatnonzero(members["age"].astype(int) < 40)
    result = unmask.audit(members.take(young), original=members, origin=young, control=control)
    assert auc(result).posterior > 0.95
    assert auc(result, "prosecutor").posterior > 0.7
    assert not any("without any release" in reason for _, reason in result.not_run)


def test_people_are_compared_by_the_same_columns_once(monkeypatch):
    members, control = tables(400, 800)
    calls = []
    monkeypatch.setattr(
        auditor_knowledge, "shift_by", lambda names, *sides: calls.append(set(names)) or shift_by(names, *sides)
    )
    unmask.audit(members, original=members, control=control, parts=(("age", "sex", "city"), ("pay", "ill")))
    assert calls == [set(members.names)]  # the quasi-identifiers alone are compared of everybody


def test_control_people_in_the_release_look_like_members():
    (members,) = tables(400)
    result = unmask.audit(members, original=members, control=members)
    row = auc(result)
    assert row.low <= 0.5 <= row.high
    assert "have the record of a person of the other kind and are left out" in row.note  # those drawn as both


def test_doubles_are_left_out_and_counted_and_those_who_are_alike_to_an_adversary_stay():
    members, control = tables(300, 600)
    doubled = members.take(np.r_[0:300, 0:80])
    control_people = Table.read(
        {name: np.r_[doubled[name][300:], control[name]] for name in members.names}, like=members, **ROLES
    )
    sample = MembershipSample.of(doubled, control_people, max_members=1000, rng=np.random.default_rng(0))
    records = list(zip(*(sample.people[name] for name in members.names), strict=True))
    inside = {cell for cell, is_member in zip(records, sample.inside, strict=True) if is_member}
    assert not inside & {cell for cell, is_member in zip(records, sample.inside, strict=True) if not is_member}
    assert 20 < sample.twins < 200
    assert len(sample.inside) + sample.twins <= 2 * 340
    subset = sample.known_by(("age", "sex"))
    cells_of_subset = list(zip(subset.people["age"], subset.people["sex"], strict=True))
    inside = {cell for cell, is_member in zip(cells_of_subset, subset.inside, strict=True) if is_member}
    assert inside & {cell for cell, is_member in zip(cells_of_subset, subset.inside, strict=True) if not is_member}
    result = unmask.audit(members, original=members, control=members.take(np.arange(300) % 100))
    assert result.rows


def test_nothing_is_asked_of_people_who_are_all_double():
    table = Table.read({"age": np.arange(200) % 2, "sex": ["f"] * 200}, quasi_identifiers=("age", "sex"))
    result = unmask.audit(table, original=table, control=table)
    assert (
        dict(result.not_run)["Who is in the table"]
        == "200 people of the sample have the same record as a person of the other kind"
    )


def test_judged_people_and_the_reference_are_disjoint_and_evenly_many():
    numbers = np.arange(900).astype(str)
    people = Table.read({"who": numbers}, quasi_identifiers="who", types={"who": "text"})
    members, control = people.take(slice(0, 400)), people.take(slice(400, 900))
    sample = MembershipSample.of(members, control, max_members=100, rng=np.random.default_rng(0))
    targets, general = sample.people["who"], sample.reference["who"]
    assert set(targets[sample.inside]) <= set(members["who"])
    assert set(targets[~sample.inside]) <= set(control["who"])
    assert (len(targets), len(general), np.count_nonzero(sample.inside)) == (200, 400, 100)
    assert not set(targets) & set(general)


def test_the_origin_says_who_was_left_out():
    everybody, control = tables(600, 600)
    kept_rows = np.arange(300)
    result = auc(unmask.audit(everybody.take(kept_rows), original=everybody, origin=kept_rows, control=control))
    assert result.posterior > 0.95  # of all 600 it would be 0.75


def test_incomplete_rows_are_neither_members_nor_control():
    """No person without an age is in the release: they would all be found to be out of it."""
    columns = [cells(n, seed) for seed, n in enumerate((400, 800, 400))]
    for column in columns:
        column["age"] = np.where(np.arange(len(column["age"])) % 4 == 0, "", column["age"].astype(str))
    members, control, fresh = (Table.read(column, **ROLES, missing="excluded") for column in columns)
    row = auc(unmask.audit(fresh, original=members, control=control))
    assert row.low < 0.5 < row.high
    assert row.n <= 300
    complete = members.complete_rows
    row = auc(unmask.audit(fresh.take(slice(0, 300)), original=members, origin=complete, control=control))
    assert row.low < 0.5 < row.high


def test_too_few_control_people_or_none_or_no_original():
    members, control = tables(300, 99)
    needs = dict(unmask.audit(members, original=members, control=control).not_run)["Who is in the table"]
    assert needs == "needs 50 members and a control group of 100 people, half of it as reference"
    for table in ({}, {"original": members}):
        result = unmask.audit(members, **table)
        assert "--control" in dict(result.not_run)["Who is in the table"]
        assert not rows(result)


def test_a_seed_draws_the_same_people_and_another_one_others():
    members, control = tables(400, 500)
    release, _ = Mondrian(k=5)(members, rng=np.random.default_rng(0))
    first, again, other_seed = (
        rows(unmask.audit(release, original=members, control=control, seed=seed)) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other_seed


def test_targets_say_how_many_are_judged():
    members, control = tables(400, 800)
    result = unmask.audit(members, original=members, control=control, targets=120)
    assert auc(result).n <= 120
    assert auc(result).note.startswith("120 members") or "people were left out" in auc(result).note


def test_each_score_alone_is_a_companion_and_leads_nothing():
    members, control = tables(400, 800)
    release, _ = Mondrian(k=5)(members, rng=np.random.default_rng(0))
    result = unmask.audit(release, original=members, control=control)
    companions = [row for row in result.rows if row.adversary in COMPANIONS]
    assert {row.status for row in companions} == {"scores"}
    assert {row.measure for row in companions} <= {"membership_auc", "true_positive_rate_at_0.1"}
    assert not any("nothing but" in sentence for sentence in sentences(result))
    (sentence,) = [sentence for sentence in sentences(result) if "members and non-members correctly" in sentence]
    assert "knows every released column" in sentence
    assert "false alarms among other people" in sentence


def test_the_rare_are_apart_and_ranked():
    members, control = tables(400, 800)
    result = unmask.audit(members, original=members, control=control)
    assert set(rows(result, RARE)) == {("prosecutor", "membership_auc"), (RECORD, "membership_auc")}
    assert -1 <= rows(result)[RECORD, "vulnerability_correlation"].posterior <= 1
    assert rows(result)[RECORD, "epsilon_at_least"].posterior > 0.5


def test_rare_people_are_most_vulnerable():
    people = Table.read({"a": ["x"] * 5 + ["y"], "b": ["p"] * 6}, quasi_identifiers=("a", "b"))
    reference = Table.read({"a": ["x"] * 9 + ["y"], "b": ["p"] * 10}, quasi_identifiers=("a", "b"))
    of_x, of_y = -Margins.of(people, [reference], reference).log_shares()[0][[0, 5]]
    shares = [[9.5, 10.5, 9.5], [1.5, 10.5, 1.5]]
    assert [of_x, of_y] == pytest.approx([-np.mean(np.log(np.array(share) / 11)) for share in shares])


def test_joined_scores_tell_what_either_tells():
    rng, inside = np.random.default_rng(0), np.arange(2000) < 1000
    mask = np.arange(2000) % 4 < 2
    scores = [rng.normal(np.where(inside & half, 2.0, 0.0)) for half in (mask, ~mask)]
    beliefs = [
        unmask.Posterior.from_dense(np.stack([p, 1 - p], axis=1), provenance={"attack": "one"})
        for p in (1 / (1 + np.exp(-s)) for s in scores)
    ]
    aucs = [unmask.measures.membership.area(s[inside], s[~inside])[0] for s in scores]
    joined = unmask.core.posterior.log_odds(join_scores(beliefs, inside))
    assert unmask.measures.membership.area(joined[inside], joined[~inside])[0] > max(aucs) + 0.05


def test_the_page_the_summary_and_the_terminal_say_it():
    members, control = tables(400, 800)
    release, _ = Mondrian(k=5)(members, rng=np.random.default_rng(0))
    result = unmask.audit(release, original=members, control=control)
    assert "Can they tell who is in the table?" in result.to_html()
    assert "Membership: can an adversary find out who is in the table?" in result.summary()
    assert "membership" in repr(result)
    assert "Can they tell" not in unmask.audit(release, original=members).to_html()


def test_the_command_line_says_the_same(tmp_path):
    members, control = tables(300, 400)
    for name, table in (("people", members), ("others", control), ("release", members)):
        table.write(tmp_path / f"{name}.csv")
    arguments = [str(tmp_path / "release.csv"), "-q", "age,sex", "-s", "ill", "--keep", "city,pay"]
    arguments += ["--original", str(tmp_path / "people.csv"), "--control", str(tmp_path / "others.csv")]
    run = CliRunner().invoke(main, ["audit", *arguments, "--json"])
    assert run.exit_code == 0, run.output
    printed = {
        (r["adversary"], r["measure"]): r for r in json.loads(run.stdout)["results"] if r["target"] == MEMBERSHIP
    }
    expected = auc(unmask.audit(members, original=members, control=control))
    assert printed[RECORD, "membership_auc"]["posterior"] == pytest.approx(expected.posterior)
    gate = CliRunner().invoke(main, ["audit", *arguments, "--policy", f"{RECORD}:membership_auc<=0.6"])
    assert (gate.exit_code, "membership_auc" in gate.output) == (3, True)
    engine = CliRunner().invoke(main, ["audit", *arguments[:7], "--engine", "duckdb", "--json"])
    assert "Who is in the table" in {line["what"] for line in json.loads(engine.stdout)["not_run"]}


def test_wide_columns_are_compared_too():
    """A number that nearly everybody has alone: whoever is in it has it exactly."""
    rng = np.random.default_rng(0)
    columns = [{**cells(n, seed), "pay": rng.permutation(10**6)[:n]} for seed, n in ((0, 3000), (1, 400))]
    members, control = (Table.read(column, **ROLES) for column in columns)
    result = unmask.audit(members, original=members, control=control)
    assert rows(result)[CLOSEST, "membership_auc"].posterior > 0.99


# --- studies ---------------------------------------------------------------------------------------------------------

THIRD = """
from dataclasses import dataclass
import numpy as np
from unmask.tables import Mondrian, Table

@dataclass(frozen=True)
class Third:
    "A third of the people, drawn, in boxes of at least k."
    k: int = 2

    def __call__(self, population: Table, *, rng=None):
        rows = np.random.default_rng(rng).permutation(population.n_rows)[: population.n_rows // 3]
        made, origin = Mondrian(k=self.k)(population.take(rows), rng=rng)
        return made, rows[origin]
"""

PLAN = """
title = "Who is in it?"
[[data]]
name = "census"
use = "tables.file"
file = "people.csv"
quasi_identifiers = ["age", "sex", "city", "pay"]
[[protections]]
name = "third"
use = "third:Third"
grid = { k = [1, 20] }
[[adversaries]]
name = "margins"
use = "tables.MarginalRatio"
knows = { targets = 300 }
[[adversaries]]
name = "closest"
use = "tables.ClosestRecord"
[[adversaries]]
name = "shadows"
use = "tables.ShadowMembership"
with = { shadows = 40 }
knows = { targets = 60 }
"""


def planned(tmp_path, plan=PLAN):
    Table.read(cells(1600), quasi_identifiers=("age", "sex", "city", "pay")).write(tmp_path / "people.csv", force=True)
    (tmp_path / "third.py").write_text(THIRD)
    (tmp_path / "plan.toml").write_text(plan)
    cells_planned = read_plan(tmp_path / "plan.toml", allow_code=True).cells()
    return {(cell.protection.name, cell.adversary.name): cell for cell in cells_planned}


def test_a_study_asks_who_is_in_it_and_says_what_the_audit_says(tmp_path):
    cells_planned = planned(tmp_path)
    boxes = {k: next(name for name, _ in cells_planned if name.endswith(f"{k}")) for k in (1, 20)}
    result = {
        key: {row.measure: row for row in run_cell(cell)} for key, cell in cells_planned.items() if key[1] != "shadows"
    }
    closest = [result[boxes[k], "closest"]["membership_auc"].posterior for k in (1, 20)]
    assert closest[0] > 0.95 > closest[1]
    assert {row.target for rows in result.values() for row in rows.values()} >= {MEMBERSHIP}
    row = result[boxes[1], "margins"]["membership_auc"]
    everybody = Table.read(str(tmp_path / "people.csv"), quasi_identifiers=("age", "sex", "city", "pay"))
    order = np.random.default_rng(5).permutation(1600)
    members, control = everybody.take(order[:533]), everybody.take(order[533:])
    audited = unmask.audit(members, original=members, control=control, targets=300)
    single = rows(audited)["margins alone", "membership_auc"]
    assert abs(row.posterior - single.posterior) < (row.high - row.low) / 2 + (single.high - single.low) / 2
    assert row.n == pytest.approx(single.n, abs=10)


def test_a_study_tells_the_adversary_what_made_the_release(tmp_path):
    cells_planned = planned(tmp_path, PLAN.replace("third:Third", "tables.Mondrian"))
    with pytest.raises(UnmaskError, match="hold people back"):
        run_cell(next(cell for (_, adversary), cell in cells_planned.items() if adversary == "shadows"))
    cells_planned = planned(tmp_path)
    of_one = next(
        cell for (name, adversary), cell in cells_planned.items() if adversary == "shadows" and name.endswith("1")
    )
    row = next(row for row in run_cell(of_one) if row.measure == "realized_success")
    assert row.low > 0.5  # worlds lose two thirds of their people again, and so does what they teach
    assert row.status in ("calibrated", "refuted")  # probabilities, which the check on 60 people may refute


YOUNG = """
from dataclasses import dataclass
import numpy as np
from unmask.tables import Table

@dataclass(frozen=True)
class Young:
    "Who is below 40."

    def __call__(self, population: Table, *, rng=None):
        rows = np.flatnonzero(population["age"].astype(int) < 40)
        return population.take(rows), rows
"""

MARGINS = """
title = "Who is in it?"
[[data]]
name = "census"
use = "tables.file"
file = "people.csv"
quasi_identifiers = ["age", "sex", "city", "pay"]
control = "others.csv"
[[protections]]
name = "young"
use = "young:Young"
[[adversaries]]
name = "margins"
use = "tables.MarginalRatio"
knows = { targets = 300 }
"""


@pytest.mark.parametrize("alike", [True, False])
def test_a_study_takes_those_who_are_in_the_release_for_members_and_refuses_control_people_who_are_unlike(
    tmp_path, alike
):
    # who was dropped counted as in, and what tells the two files apart counted as told by the release
    (tmp_path / "young.py").write_text(YOUNG)
    control_cells = cells(800, 1) if alike else cells(800, 1) | {"pay": [500] * 800}
    Table.read(control_cells, quasi_identifiers=("age", "sex", "city", "pay")).write(
        tmp_path / "others.csv", force=True
    )
    (cell,) = planned(tmp_path, MARGINS).values()
    if alike:
        row = next(row for row in run_cell(cell) if row.measure == "membership_auc")
        assert row.posterior > 0.8
    else:
        with pytest.raises(UnmaskError, match="without any release"):
            run_cell(cell)


def test_shadows_need_a_protection():
    people, control = tables(60, 60)
    background = Background(people.take(slice(0, 20)), control)
    with pytest.raises(UnmaskError, match="needs a protection"):
        ShadowMembership()(people, background)
    assert ShadowMembership().with_protection(Mondrian(k=3)).protection == Mondrian(k=3)
    assert ShadowMembership(Mondrian(k=2)).with_protection(Mondrian(k=3)).protection == Mondrian(k=2)


def test_a_row_without_a_person_makes_no_member():
    people = Table.read({"age": list(range(20, 60))}, quasi_identifiers="age")
    released = Released(people.take([0, 1, 2, 5]), np.array([0, 1, 2, -1]))

    sample = sample_members(Sample(people), released, Knowledge(), np.random.default_rng(1))

    assert sorted(sample.people["age"][sample.inside].tolist()) == ["20", "21", "22"]
