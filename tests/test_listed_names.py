"""Every name that `unmask list` shows comes out of some command."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from unmask.cli import main
from unmask.measures import Measure
from unmask.measures.registry import CRITERIA, MEASURES
from unmask.policy import judge_result, read_policies
from unmask.tables import Mondrian, Table
from unmask.tables.audit import audit

N = 60
RNG = np.random.default_rng(0)
PEOPLE = {
    "patient": [f"P{index // 2}" for index in range(N)],
    "age": RNG.integers(20, 60, N).tolist(),
    "sex": RNG.choice(["f", "m"], N).tolist(),
    "weight": RNG.integers(2, 9, N).tolist(),
    "ill": RNG.choice(["flu", "cold", "gout"], N).tolist(),
    "pay": RNG.integers(900, 9000, N).tolist(),
}
ROLES = {"quasi_identifiers": ("age", "sex"), "sensitive": ("ill", "pay")}
TREE = "flu;lung;any\ncold;lung;any\ngout;joint;any\n"


@pytest.fixture(scope="module")
def audits(tmp_path_factory):
    """Criterion -> its value, from audits of several kinds of releases."""
    tree = tmp_path_factory.mktemp("tree") / "ill.csv"
    tree.write_text(TREE)
    plain = {name: column for name, column in PEOPLE.items() if name not in ("patient", "weight")}
    people = Table.read(plain, **ROLES, hierarchies={"ill": tree})
    release, origin = Mondrian(k=5)(people)
    register = Table.read({name: 2 * PEOPLE[name] for name in ("age", "sex")}, quasi_identifiers=("age", "sex"))
    several = Table.read(PEOPLE, **ROLES, identifiers="patient", weight="weight", person="patient")
    families = Table.read({**plain, "house": PEOPLE["patient"]}, **ROLES, household="house")
    protected, row = Mondrian(k=5)(several)
    results = [
        audit({"r": release}, original=people, origin=origin, register=register),
        audit({"r": protected}, original=several, origin=row),
        audit({"r": people}, original=people, control=people, synthetic=True),
        audit({"r": people}, population=100),
        audit({"r": families}, measures=["k_pairs", "k_triples"]),
    ]
    return {
        name: value
        for measure_name in results
        for name, value in measure_name.criteria["r"].items()
        if value is not None
    }


OF_CHANNELS = {"distortion", "leakage_bits", "epsilon", "share_of_limit"}


def test_every_criterion_of_tables_comes_out_of_an_audit(audits):
    assert CRITERIA.keys() - {name.partition(" (")[0] for name in audits} == OF_CHANNELS


def test_the_criteria_of_channels_come_out_of_their_audit(tmp_path):
    (tmp_path / "c.csv").write_text(",0,1\n0,0.9,0.1\n1,0.1,0.9\n")
    done = CliRunner().invoke(main, ["audit", "channel", str(tmp_path / "c.csv"), "--json"])
    assert done.exit_code == 0, done.output
    text = json.dumps(json.loads(done.stdout)["tables"])
    assert not [name for name in OF_CHANNELS - {"share_of_limit"} if name not in text]


def test_a_policy_may_ask_for_the_risk_of_a_population():
    people = Table.read({"age": [30, 30, 40, 40]}, quasi_identifiers="age")
    register = Table.read({"age": [30, 30, 30, 40, 40, 40, 40, 50]}, quasi_identifiers="age")
    result = audit({"r": people}, register=register)
    # two classes of 2 rows, of 3 and 4 people: 1 / 3 at most, and (2 / 3 + 2 / 4) / 4 = 7 / 24 on average
    values = result.criteria["r"]
    assert values["journalist_max"] == pytest.approx(1 / 3)
    assert values["journalist_average"] == values["marketer"] == pytest.approx(7 / 24)
    (verdict,) = judge_result(result, read_policies(["journalist_max <= 0.34"])).verdicts
    assert verdict.state == "acceptable"


def test_a_register_of_a_part_of_the_population_gives_no_risk_of_it():
    people = Table.read({"age": [30, 30, 40, 40]}, quasi_identifiers="age")
    register = Table.read({"age": [30] * 3 + [40] * 4}, quasi_identifiers="age")
    assert audit({"r": people}, register=register, coverage=0.5).criteria["r"]["journalist_max"] is None


PLAN = """
measures = {names}
[data]
file = "people.csv"
[columns]
age = "quasi-identifier"
sex = "quasi-identifier"
ill = "sensitive"
[[protections]]
use = "tables.Mondrian"
with = {{ k = 5 }}
[[adversaries]]
use = "tables.AttributeInference"
with = {{ sensitive = "ill" }}
"""


def test_every_measure_of_a_belief_comes_out_of_a_study_that_names_it(tmp_path):
    names = [name for name, measure in MEASURES.items() if isinstance(measure, Measure)]
    assert {"guessing_entropy", "sampling_error", "correctness"} <= set(names)
    rows = zip(PEOPLE["age"], PEOPLE["sex"], PEOPLE["ill"], strict=True)
    (tmp_path / "people.csv").write_text("age,sex,ill\n" + "".join(f"{a},{s},{i}\n" for a, s, i in rows))
    (tmp_path / "plan.toml").write_text(PLAN.format(names=json.dumps(names)))
    done = CliRunner().invoke(main, ["study", str(tmp_path / "plan.toml"), "-o", str(tmp_path / "run"), "--json"])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(main, ["report", str(tmp_path / "run"), "--json"])
    assert done.exit_code == 0, done.output
    assert set(names) - {row["measure"] for row in json.loads(done.stdout)["results"]} == set()
