"""One question, one number: every door to a release gives the same value of every measure."""

import csv
import json
import math
from contextlib import suppress
from datetime import date, timedelta

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import strategies as st

from unmask.cli import main
from unmask.core.errors import UnmaskError
from unmask.policy import Condition
from unmask.policy.policies import read_shipped_policies
from unmask.results.formats import percent
from unmask.scoring import score
from unmask.studies.cells import believed, criteria_of, run_cell
from unmask.studies.choice import choose
from unmask.studies.reading import read_plan
from unmask.studies.results_file import read_results
from unmask.studies.run import run_study
from unmask.tables import Mondrian, Suppress, SuppressCells, Table
from unmask.tables.audit import audit
from unmask.toml_text import format_document

QUICK = settings(
    max_examples=10,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

ROLES = {
    "patient": "identifier",
    "age": "quasi-identifier",
    "admission": "quasi-identifier",
    "sex": "quasi-identifier",
    "ward": "keep",
    "weight": "weight",
    "ill": "sensitive",
    "pay": "sensitive",
}
PROTECTIONS = {
    "tables.Mondrian": Mondrian,
    "tables.Suppress": Suppress,
    "tables.SuppressCells": SuppressCells,
}
ADVERSARIES = {
    ("prosecutor", "identity"): ("tables.ClassAttack", {}),
    ("prosecutor", "ill"): ("tables.AttributeInference", {"sensitive": "ill"}),
    ("prosecutor", "pay"): ("tables.AttributeInference", {"sensitive": "pay"}),
    ("modeler", "ill"): ("tables.BackOff", {"sensitive": "ill"}),
}

UNASKED = ("acquaintance", "insider", "order reader", "observer")
"""Adversaries of an audit whom these studies leave out."""


def rows_of(seed, n_people, most_rows, gaps):
    """Rows of a hospital file: a person's rows share the age and differ in the admission."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n_people), rng.integers(1, most_rows + 1, n_people))
    n = len(person)
    days = [date(2023, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 400, n)]
    columns = {
        "patient": [f"P{number:03}" for number in person],
        "age": rng.integers(20, 60, n_people)[person].tolist(),
        "admission": [day.strftime("%d.%m.%Y") for day in days],
        "sex": rng.choice(["f", "m"], n_people)[person].tolist(),
        "ward": rng.choice(["north", "south"], n).tolist(),
        "weight": rng.integers(1, 9, n).tolist(),
        "ill": rng.choice(["flu", "asthma", "gout"], n, p=[0.6, 0.3, 0.1]).tolist(),
        "pay": rng.integers(1, 6, n).tolist(),
    }
    for name in ("age", "sex", "ill"):
        for row in np.flatnonzero(rng.random(n) < gaps):
            columns[name][row] = ""
    return columns


def write(path, columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


@st.composite
def documents(draw):
    """A document, and the files that it names with what they are drawn by: people, and for some control people."""
    gaps = draw(st.sampled_from([0.0, 0.0, 0.15]))
    most_rows, n_people = draw(st.integers(1, 4)), draw(st.integers(12, 40))
    files = {"people.csv": (draw(st.integers(0, 99_999)), n_people, most_rows, gaps)}
    if draw(st.booleans()):
        files["control.csv"] = (draw(st.integers(0, 99_999)), 30, most_rows, gaps)
    columns = {name: role for name, role in ROLES.items() if role != "weight" or draw(st.booleans())}
    columns |= {name: "drop" for name in ROLES if name not in columns}
    use = draw(st.sampled_from(list(PROTECTIONS)))
    missing = draw(st.sampled_from(["own", "wildcard", "excluded"]))
    adversaries = [
        {"name": f"{name} {target}", "use": use_, **({"with": parameters} if parameters else {})}
        for (name, target), (use_, parameters) in ADVERSARIES.items()
    ]
    document = {
        "data": {"file": "people.csv", "missing": missing, "person": "patient"},
        "columns": columns,
        **({"control": {"file": "control.csv"}} if "control.csv" in files else {}),
        "protections": [{"name": "release", "use": use, "with": {"k": draw(st.integers(2, 5))}}],
        "adversaries": adversaries,
    }
    return document, files


def read(document, path, **options):
    """A file of the document as a table."""
    numbers_of = {}
    for name, role in document["columns"].items():
        numbers_of.setdefault(role, []).append(name)
    return Table.read(
        path,
        quasi_identifiers=numbers_of["quasi-identifier"],
        sensitive=numbers_of["sensitive"],
        keep=numbers_of["keep"],
        identifiers=numbers_of["identifier"],
        weight=numbers_of.get("weight", [None])[0],
        missing=document["data"]["missing"],
        person="patient",
        **options,
    )


def audited(document, folder):
    """The audit in Python of the release that the document's protection makes."""
    people = read(document, folder / "people.csv")
    control = read(document, folder / "control.csv", like=people) if "control" in document else None
    (protection,) = document["protections"]
    release, origin = PROTECTIONS[protection["use"]](**protection["with"])(people, rng=np.random.default_rng(0))
    return audit({"release": release}, original=people, origin=origin, control=control, without=UNASKED)


def is_same(first, second):
    """Return whether two numbers are equal, unknown and infinite ones included."""
    first, second = (math.nan if value is None else float(value) for value in (first, second))
    return (math.isnan(first) and math.isnan(second)) or first == pytest.approx(second, rel=1e-9, abs=1e-9)


NUMBERS = (
    "prior", "posterior", "gain", "worst", "n", "low", "high", "control", "excess", "excess_low", "excess_high",
    "n_people", "n_drawn", "n_judged",
)  # fmt: skip


def refuse_difference(place, first, second):
    for name in NUMBERS:
        assert is_same(getattr(first, name), getattr(second, name)), (
            place,
            name,
            getattr(first, name),
            getattr(second, name),
        )
    assert first.status == second.status, (place, first.status, second.status)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A new folder with the files of a document."""

    def answer_of(document, files):
        folder = tmp_path_factory.mktemp("case")
        for name, cells in files.items():
            write(folder / name, rows_of(*cells))
        (folder / "plan.toml").write_text(format_document(document))
        return folder

    return answer_of


@QUICK
@given(case=documents())
def test_a_study_and_an_audit_give_one_number_for_each_measure(place, case):
    document, files = case
    folder = place(document, files)
    try:
        result = audited(document, folder)
    except UnmaskError:  # every row is suppressed, or excluded
        reject()
    by_key = {(row.adversary, row.target, row.measure): row for row in result.rows if row.release == "release"}
    criteria, shared = result.criteria["release"], set()
    for cell in read_plan(folder / "plan.toml").cells():
        name = cell.adversary.name.partition(" ")[0]
        with suppress(UnmaskError):
            for row in (*run_cell(cell), *criteria_of(cell)):
                key = (name, row.target, row.measure)
                if row.adversary == "criterion":
                    assert is_same(row.posterior, criteria[row.measure]), (row.measure, row.posterior, criteria)
                elif key in by_key:
                    shared.add(key)
                    refuse_difference(key, by_key[key], row)
    assert ("prosecutor", "identity", "success_probability") in shared


def cells(folder, document):
    (folder / "plan.toml").write_text(format_document(document))
    return read_plan(folder / "plan.toml").cells()


PEOPLE = {
    "data": {"file": "people.csv", "person": "patient"},
    "columns": ROLES | {"ward": "drop", "weight": "drop", "pay": "drop"},
    "protections": [{"name": "release", "use": "tables.Mondrian", "with": {"k": 5}}],
    "adversaries": [{"name": "neighbor", "use": "tables.ClassAttack"}],
}


@pytest.fixture
def write_many(tmp_path):
    """Return people, some outside a sample of 1,000, and their release."""
    write(tmp_path / "people.csv", rows_of(3, 1400, 2, 0.0))
    people = Table.read(
        tmp_path / "people.csv",
        quasi_identifiers=("age", "admission", "sex"),
        sensitive="ill",
        identifiers="patient",
        person="patient",
    )
    return people, *Mondrian(k=5)(people)


def test_a_study_attacks_all_people_as_an_audit_does(tmp_path, write_many):
    people, release, origin = write_many
    (cell,) = cells(tmp_path, PEOPLE)
    studied = {row.measure: row for row in run_cell(cell)}["success_probability"]
    result = audit({"release": release}, original=people, origin=origin, without=("modeler", "insider", "order reader"))
    (row,) = [
        row
        for row in result.rows
        if (row.release, row.target, row.measure) == ("release", "identity", "success_probability")
    ]
    assert studied.n == row.n == 1400
    refuse_difference("identity", row, studied)


def test_a_study_and_an_audit_draw_the_same_people(tmp_path, write_many):
    people, release, origin = write_many
    knows = {"targets": 300}
    (cell,) = cells(tmp_path, PEOPLE | {"adversaries": [{**PEOPLE["adversaries"][0], "knows": knows}], "seeds": [7]})
    studied = {row.measure: row for row in run_cell(cell)}["realized_success"]
    result = audit(
        {"release": release}, original=people, origin=origin, seed=7, **knows, without=("modeler", "order reader")
    )
    (row,) = [
        row
        for row in result.rows
        if (row.release, row.adversary, row.target, row.measure)
        == ("release", "prosecutor", "identity", "realized_success")
    ]
    refuse_difference("identity", row, studied)


def test_a_study_has_the_criteria_of_an_audit_and_chooses_by_them(tmp_path, write_many):
    people, release, origin = write_many
    adversaries = [PEOPLE["adversaries"][0], {"name": "again", "use": "tables.OrderAttack"}]
    document = PEOPLE | {"seeds": 2, "adversaries": adversaries, "policy": [{"require": "k_people >= 5"}]}
    (tmp_path / "plan.toml").write_text(format_document(document))
    run_study(read_plan(tmp_path / "plan.toml"), tmp_path / "run", source=tmp_path / "plan.toml")
    results = read_results(tmp_path / "run")
    result = audit({"release": release}, original=people, origin=origin, without=UNASKED).criteria["release"]
    numbers = {name: value for name, value in result.items() if isinstance(value, int | float)}
    studied = {criterion.measure: criterion.posterior for criterion in results.criteria}
    assert {(criterion.seeds, criterion.cells) for criterion in results.criteria} == {(2, 2)}
    assert studied.keys() == numbers.keys()
    assert {"k", "k_people", "person_share", "l_distinct", "t_equal"} <= numbers.keys()
    assert not [name for name, value in numbers.items() if not is_same(value, studied[name])]
    for name, value in numbers.items():
        (option,) = choose(results, [Condition.parse(f"criterion:{name}<={value!r}")])
        assert option.state == "met", option.failures
        (option,) = choose(results, [Condition.parse(f"criterion:{name}<{value!r}")])
        assert option.state != "met"


@pytest.mark.parametrize("policy", read_shipped_policies())
def test_choose_answers_every_policy_that_is_shipped(tmp_path, policy):
    write(tmp_path / "people.csv", rows_of(3, 60, 1, 0.0))
    (tmp_path / "plan.toml").write_text(format_document(PEOPLE))
    run_study(read_plan(tmp_path / "plan.toml"), tmp_path / "run", source=tmp_path / "plan.toml")
    done = CliRunner().invoke(main, ["choose", str(tmp_path / "run"), "--policy", policy])
    assert done.exit_code in (0, 1), done.output
    for requirement in read_shipped_policies()[policy].requirements:
        answered = requirement.require.measure in ("k", "alpha", "success_probability")
        assert answered or f"{requirement.require} could not be tested" in done.stdout


@pytest.mark.parametrize(
    ("require", "reason"),
    [
        ("k_peopel >= 3", "did you mean 'k_people'"),
        ("journalist_max <= 0.2", "this measure was not evaluated"),
        ("realized_success.excess <= 0.1", "control group"),
        ("nieghbor:success_probability <= 0.1", "did you mean 'neighbor'"),
        ("parts_linked <= 0.1", "this measure was not evaluated"),
        ("k.worst >= 2", "leave .worst out"),
    ],
)
def test_a_plan_whose_policy_it_cannot_answer_is_rejected_before_it_runs(tmp_path, require, reason):
    write(tmp_path / "people.csv", rows_of(3, 60, 1, 0.0))
    (tmp_path / "plan.toml").write_text(format_document(PEOPLE | {"policy": [{"require": require}]}))
    for options in ((), ("--dry-run",)):
        done = CliRunner().invoke(main, ["study", str(tmp_path / "plan.toml"), "-o", str(tmp_path / "run"), *options])
        assert done.exit_code == 2, done.output
        assert reason in done.stderr
        assert not (tmp_path / "run").exists()


def test_choose_refuses_a_condition_that_the_study_does_not_answer(tmp_path):
    write(tmp_path / "people.csv", rows_of(3, 60, 1, 0.0))
    (tmp_path / "plan.toml").write_text(format_document(PEOPLE))
    run_study(read_plan(tmp_path / "plan.toml"), tmp_path / "run")
    done = CliRunner().invoke(main, ["choose", str(tmp_path / "run"), "--policy", "k_peopel>=3"])
    assert done.exit_code == 2
    assert "did you mean 'k_people'" in done.stderr


def test_the_worst_off_of_a_certificate_is_that_of_the_audit(tmp_path, write_many, monkeypatch):
    _, release, origin = write_many
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "release.csv", {name: release[name] for name in release.names})
    (tmp_path / "origin.csv").write_text("row\n" + "".join(f"{row}\n" for row in origin))
    document = {name: PEOPLE[name] for name in ("data", "columns")}
    document |= {"releases": [{"file": "release.csv", "origin": "origin.csv"}], "policy": [{"use": "ema-0.09"}]}
    (tmp_path / "unmask.toml").write_text(format_document(document))
    done = CliRunner().invoke(main, ["certify", "unmask.toml", "-o", "page.json"])
    assert done.exit_code in (0, 3), done.output
    data = json.loads((tmp_path / "page.json").read_text())
    page = (tmp_path / "page.html").read_text()
    wanted = ("release", "ill", "success_probability")
    worst = [row["worst"] for row in data["results"] if (row["release"], row["target"], row["measure"]) == wanted]
    assert all(f">{percent(value)}<" in page for value in worst)
    assert min(worst) < 1


@pytest.mark.parametrize("field", ["worst", "q95", "q50"])
def test_no_policy_asks_for_the_highest_of_zeros_and_ones(field):
    with pytest.raises(UnmaskError, match=f"write success_probability.{field}<=0.2"):
        Condition.parse(f"realized_success.{field}<=0.2")


def test_a_game_prices_the_belief_that_an_audit_measures(tmp_path):
    write(tmp_path / "people.csv", rows_of(5, 80, 1, 0.0))
    (cell,) = cells(tmp_path, PEOPLE)
    belief, truth, _ = believed(cell)
    people = Table.read(
        tmp_path / "people.csv", quasi_identifiers=("age", "admission", "sex"), sensitive="ill", identifiers="patient"
    )
    release, origin = Mondrian(k=5)(people)
    result = audit({"release": release}, original=people, origin=origin, attacker="case-study", without=UNASKED)
    of_audit = {
        row.measure: row
        for row in result.rows
        if (row.release, row.adversary, row.target) == ("release", "prosecutor", "identity")
    }
    for row in score(belief, truth).rows:
        refuse_difference(row.measure, of_audit[row.measure], row)
    (priced,) = cells(tmp_path, PEOPLE | {"adversaries": [{**PEOPLE["adversaries"][0], "attacker": "case-study"}]})
    studied = {row.measure: row for row in run_cell(priced)}
    for name in ("rational_success", "realized_rational_success", "rational_payoff", "rational_tries"):
        refuse_difference(name, of_audit[name], studied[name])
