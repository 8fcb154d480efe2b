"""Two parts of a record through a release, against loops over rows."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

import unmask
from unmask import Truth, UnmaskError
from unmask.cli import main
from unmask.findings.sentences import sentences
from unmask.measures import evaluate, realized_success
from unmask.measures.excess import People, excess
from unmask.results.names import ACQUAINTANCE
from unmask.tables import Background, ClassAttack, Linkability, Parts, Table

NAMES = ("age", "sex", "city", "job")


def people(n, seed=0, *, ages=60):
    rng = np.random.default_rng(seed)
    columns = {"age": rng.integers(18, 18 + ages, n), "sex": rng.choice(["f", "m"], n)}
    columns |= {name: rng.choice(list("abcdefghij"), n) for name in ("city", "job")}
    return Table.read(columns, quasi_identifiers=NAMES)


def parted(table, *, order):
    """Age and sex of everybody, and city and job in another order."""
    first, second = (
        Table.read({name: table[name] for name in names}, quasi_identifiers=names) for names in (NAMES[:2], NAMES[2:])
    )
    return Parts(first, other=second.take(order))


@pytest.mark.parametrize("link", [ClassAttack(), Linkability().link], ids=repr)
def test_parts_go_together_as_rows_resemble_both(link):
    release, targets = people(60), people(25, seed=1)
    order = np.random.default_rng(2).permutation(25)
    parts = parted(targets, order=order)
    belief = Linkability(link)(release, parts)
    first, second = (link(release, Background(part)).to_dense() for part in (parts.people, parts.other))
    for a in range(25):
        weight = np.array([sum(first[a, r] * second[b, r] for r in range(60)) for b in range(25)])
        expected = weight / weight.sum() if weight.sum() else np.zeros(25)
        assert belief.to_dense()[a] == pytest.approx(expected)
        assert belief.unlisted[belief.observation[a]] == (weight.sum() == 0)


def test_parts_of_members_are_linked_and_parts_of_others_hardly():
    table = people(400, ages=3000)
    release, order = table.take(slice(0, 200)), np.random.default_rng(3).permutation(400)
    belief = Linkability()(release, parted(table, order=order))
    place = np.argsort(order)
    inside = np.arange(400) < 200
    truth = Truth(place)
    sides = (People.of(realized_success, belief, truth, mask=mask) for mask in (inside, ~inside))
    gain = excess(realized_success, *sides)
    assert gain.members > 0.2 > 0.05 > gain.control
    assert gain.low > 0.15


def test_a_release_without_people_links_no_parts():
    table = people(100)
    alike = Table.read({name: [table[name][0]] * 50 for name in NAMES}, quasi_identifiers=NAMES)
    belief = Linkability()(alike, parted(table, order=np.arange(100)))
    assert evaluate(realized_success, belief, Truth(np.arange(100))).posterior == pytest.approx(0.01)
    with pytest.raises(UnmaskError, match="needs both parts"):
        Linkability()(alike, Background(table))


# --- in an audit ----------------------------------------------------------------------------------------------------


ROLES = {"quasi_identifiers": NAMES[:3], "sensitive": NAMES[3]}
HALVES = (("age", "sex"), ("city", "job"))


def audited(*, members=300, release=None, control=True, **options):
    """A release of the first people, by default themselves; the others are control people."""
    everybody = people(2 * members, ages=3000)
    everybody = Table.read({name: everybody[name] for name in NAMES}, **ROLES)
    members_table, control_table = everybody.take(slice(0, members)), everybody.take(slice(members, None))
    arguments = {"original": members_table, "parts": HALVES, **options} | (
        {"control": control_table} if control else {}
    )
    return unmask.audit(members_table if release is None else release, **arguments)


def linked(result):
    return next(row for row in result.rows if row.measure == "parts_linked")


def test_the_original_itself_links_its_people_and_not_others():
    row = linked(audited())
    assert (row.n, row.prior) == (300, pytest.approx(1 / 300))
    assert row.posterior > 0.2 > 0.1 > row.control
    assert row.excess == pytest.approx(row.posterior - row.control)
    assert row.excess_low > 0.1


def test_other_people_link_members_no_better_than_control_people():
    fresh = people(500, seed=9, ages=3000)
    release = Table.read({name: fresh[name] for name in NAMES}, **ROLES)
    row = linked(audited(release=release))
    assert row.excess_low < 0 < row.excess_high


def test_without_control_people_it_is_not_separated():
    result = audited(control=False)
    row = linked(result)
    assert (row.control, row.excess) == (None, None)
    reason = dict(result.not_run)["Linkability of two parts of a record: members"]
    assert "--control" in reason
    assert any("guessing gives 0.33" in sentence for sentence in sentences(result))


def test_control_people_without_a_column_of_a_part_are_left_out_of_the_question():
    # the whole audit was refused, with a sentence that named neither control people nor parts
    table, second_table = people(300, ages=3000), people(300, seed=5, ages=3000)
    roles = {"quasi_identifiers": NAMES[:2], "sensitive": NAMES[3]}
    members = Table.read({name: table[name] for name in NAMES}, keep="city", **roles)
    control = Table.read({name: second_table[name] for name in NAMES if name != "city"}, **roles)
    result = unmask.audit(members, original=members, control=control, parts=HALVES)
    row = linked(result)
    assert row.posterior > 0.2
    assert (row.control, row.excess) == (None, None)
    with_city = [row for row in result.rows if (row.adversary, row.target) == (ACQUAINTANCE, "job")]
    assert {row.control for row in with_city} == {None}
    assert {row.note for row in with_city} == {"Not compared with the control group, which has no column 'city'."}
    reason = dict(result.not_run)["Linkability of two parts of a record: members"]
    assert (
        reason == "the control group has no column 'city', which is in a part: give them with the columns of both parts"
    )


@pytest.mark.parametrize(("options", "needs"), [({"parts": None}, "--parts"), ({"original": None}, "--original")])
def test_missing_inputs_are_reported(options, needs):
    result = audited(control=False, **options)
    assert not any(row.measure == "parts_linked" for row in result.rows)
    assert needs in dict(result.not_run)["Linkability of two parts of a record"]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((("age", "sex"), ("age", "job")), "'age' is in both parts"),
        ((("age",), ("jobs",)), "did you mean 'job'"),
        ((("age",), ()), "expected two lists"),
        (("age", "sex"), "parts is a tuple, expected"),
    ],
)
def test_invalid_parts_are_refused(parts, message):
    with pytest.raises(UnmaskError, match=message):
        audited(parts=parts)


def test_the_command_line_and_a_document_take_parts(tmp_path):
    table = people(80, ages=3000)
    for name, rows in (("people", slice(0, 40)), ("others", slice(40, 80))):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            cells = (table[name][rows] for name in NAMES)
            csv.writer(file).writerows([NAMES, *zip(*cells, strict=True)])
    members_table, control_people = (str(tmp_path / f"{name}.csv") for name in ("people", "others"))
    arguments = [
        "audit",
        members_table,
        "-q",
        "age,sex,city",
        "-s",
        "job",
        "--original",
        members_table,
        "--control",
        control_people,
    ]
    command = [*arguments, "--parts", "age,sex:city,job"]
    run = CliRunner().invoke(main, [*command, "--json"])
    assert run.exit_code == 0, run.output
    row = next(result for result in json.loads(run.stdout)["results"] if result["measure"] == "parts_linked")
    assert (row["n"], row["target"]) == (40, "linkability")
    plan = CliRunner().invoke(main, [*command, "--as-plan"])
    assert '[linkability]\nparts = [["age", "sex"], ["city", "job"]]' in plan.output
    for line in plan.output.splitlines():
        assert "--parts is not stored" not in line
    (tmp_path / "unmask.toml").write_text(plan.stdout.replace(str(tmp_path) + "/", ""))
    again = CliRunner().invoke(main, ["audit", str(tmp_path / "unmask.toml"), "--json"])
    assert again.exit_code == 0, again.output
    assert next(result for result in json.loads(again.stdout)["results"] if result["measure"] == "parts_linked") == row
    for parts in ("age,sex", "age:sex:city", "age:"):
        assert CliRunner().invoke(main, [*arguments, "--parts", parts]).exit_code == 2
    engine = CliRunner().invoke(main, ["audit", members_table, "-q", "age", "--engine", "duckdb", "--parts", "age:sex"])
    assert (engine.exit_code, "--parts" in engine.output) == (2, True)


def test_members_are_not_compared_with_control_people_who_differ():
    # a column that the control file leaves empty links no two parts of a control person, whatever the release tells
    everybody = people(800, ages=30)
    everybody = Table.read({name: everybody[name] for name in NAMES}, **ROLES)
    members_table, control_people = everybody.take(slice(0, 300)), everybody.take(slice(300, None))
    empty = {}
    for name in ("job", "age"):
        columns = {column: control_people[column] for column in control_people.names} | {
            name: np.full(control_people.n_rows, None)
        }
        empty[name] = Table.read(columns, **ROLES, like=members_table)
    result = {
        name: unmask.audit(members_table, original=members_table, control=control, parts=HALVES)
        for name, control in {"none": control_people, **empty}.items()
    }
    rows = {name: linked(audited_result) for name, audited_result in result.items()}
    assert [rows[name].control is None for name in ("none", "job", "age")] == [False, True, True]
    assert rows["job"].posterior == rows["age"].posterior == rows["none"].posterior
    reasons = [dict(result[name].not_run)["Linkability of two parts of a record: members"] for name in ("job", "age")]
    assert reasons[0].startswith(
        "without any release, members differ from the control group by age, sex, city, job (AUC"
    )
    assert reasons[1].startswith("They differ from the people attacked")
