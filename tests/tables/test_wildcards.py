"""A missing cell means one thing to criteria and adversaries; beliefs against all originals that are possible."""

import itertools

import numpy as np
import pytest

from tests.engines import count_source, reading
from unmask import Truth, UnmaskError, audit
from unmask.data.engine import open_engine
from unmask.findings.sentences import sentences
from unmask.results.formats import percent
from unmask.studies.cells import run_cell
from unmask.studies.reading import read_plan
from unmask.tables import Background, BayesAttack, ClassAttack, Table, criteria
from unmask.tables.attacks import CellError, NearestNeighbor
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.table_audit import audit_tables

T4 = [("1", "x"), ("1", ""), ("", "x"), ("1", "x"), ("2", "y"), ("2", "y"), ("", "")]
STARS = [("1", "x"), ("1", "*"), ("*", "x"), ("2", "y"), ("2", "y"), ("*", "*")]


def table(rows, **options):
    a, b = zip(*rows, strict=True)
    roles = {"quasi_identifiers": ["a", "b"], "types": {"a": "text", "b": "text"}, "missing": "wildcard"}
    return Table.read({"a": list(a), "b": list(b)}, **(roles | options))


def readings(cell, values):
    """The values that a cell may stand for, with their probabilities: as often as they are stated alone."""
    inside = cell.strip("{}").split(", ") if cell not in ("", "*") else sorted(values)
    total = sum(values[value] for value in inside)
    return [(value, values[value] / total) for value in inside]


def originals(rows):
    """Every original that the release may be of, with its probability: each wide cell is read on its own."""
    values_of = [
        {c: [row[j] for row in rows].count(c) for c in {row[j] for row in rows} if c.isalnum()} for j in (0, 1)
    ]
    cells = [readings(row[j], values_of[j]) for row in rows for j in (0, 1)]
    for world in itertools.product(*cells):
        values = [value for value, _ in world]
        yield list(zip(values[::2], values[1::2], strict=True)), float(np.prod([p for _, p in world]))


def dense(belief):
    beliefs = np.zeros((belief.n_observations, belief.n_candidates))
    beliefs[np.repeat(np.arange(belief.n_observations), belief.row_length), belief.candidate] = np.exp(
        belief.log_probability
    )
    return beliefs[belief.observation]


@pytest.mark.parametrize("rows", [T4, STARS])
def test_t4_a_belief_under_wildcards_is_that_of_all_possible_originals(rows):
    mass, announced, realized, total = {}, 0.0, 0.0, 0.0
    for original, chance in originals(rows):
        for record, person in enumerate(original):
            mass.setdefault(person, np.zeros(len(rows)))[record] += chance
        belief = ClassAttack()(table(rows), Background(table(original)))
        result = audit(belief, Truth(np.arange(len(rows))))
        announced += chance * result.row("success_probability").posterior
        realized += chance * result.row("realized_success").posterior
        total += chance
    assert total == pytest.approx(1.0)
    assert announced == pytest.approx(realized)
    for person, of_record in mass.items():
        belief = dense(ClassAttack()(table(rows), Background(table([person]))))[0]
        assert belief == pytest.approx(of_record / of_record.sum())


def test_t4_an_adversary_without_an_original_honors_the_rule():
    strict, wild = (ClassAttack()(table(T4, missing=rule)) for rule in ("own", "wildcard"))
    assert audit(strict).row("success_probability").posterior == pytest.approx(5 / 7)
    assert (strict.status, wild.status) == ("exact", "model")
    announced = audit(wild).row("success_probability").posterior
    assert announced == audit(ClassAttack()(table(T4), Background(table(T4)))).row("success_probability").posterior
    assert criteria.evaluate(table(T4)).prosecutor_average < announced < 5 / 7


def test_t4_stars_without_an_original_are_no_class_of_their_own():
    belief = ClassAttack()(table(STARS, missing="own"))
    assert belief.status == "model"
    assert audit(belief).row("success_probability").posterior < 5 / 6


def test_t4_a_column_that_is_all_missing_tells_nothing():
    release = table([("1", ""), ("2", ""), ("1", "")])
    belief = ClassAttack()(release)
    assert audit(belief).row("success_probability").posterior == pytest.approx(2 / 3)
    assert belief.status == "exact"


def test_t4_every_attack_lets_a_suppressed_cell_be_any_value():
    release, register = table([("1", "x"), ("", "x"), ("2", "y")]), table([("1", "x")])
    exact = BayesAttack(error=CellError(redraw=0.0))
    for attack in (ClassAttack(), NearestNeighbor(), exact):
        beliefs = dense(attack(release, Background(register)))[0]
        assert beliefs[0] >= beliefs[1] > 0
        assert beliefs[2] == pytest.approx(0, abs=1e-6)


def suppressed(people, share, rng):
    """Some cells of a table of texts are suppressed, whatever they hold."""
    return {name: np.where(rng.random(len(cells)) < share, "", cells) for name, cells in people.items()}


PLAN = """
[[data]]
use = "tables.file"
file = "people.csv"
quasi_identifiers = ["a", "b"]
sensitive = ["s"]
missing = "excluded"
[[protections]]
use = "none"
[[adversaries]]
use = "tables.ClassAttack"
knows = { targets = 60 }
"""

ROLES = {"quasi_identifiers": ["a", "b"], "types": {"a": "text", "b": "text"}}


def test_t4_the_page_says_how_far_the_published_criterion_understates_the_adversary():
    rng = np.random.default_rng(3)
    people = {name: rng.choice([*"1234567"], 500) for name in ("a", "b")}
    release = Table.read(suppressed(people, 0.2, rng), **ROLES, missing="wildcard")
    result = audit_tables({"r": release})
    row = next(r for r in result.rows if (r.target, r.measure) == ("identity", "success_probability"))
    criterion = result.criteria["r"]["prosecutor_average"]
    assert row.status == "model"
    assert row.posterior > 2 * criterion
    (sentence,) = [line for line in sentences(result) if "prefers records whose cells were not suppressed" in line]
    assert percent(criterion) in sentence
    assert f"{row.posterior / criterion:.1f}-fold" in sentence
    assert not result.table("column_risk").rows  # classes without a column would be closed classes, which they are not
    strict = audit_tables({"r": Table.read(suppressed(people, 0.2, rng), **ROLES)})
    assert not any("suppressed" in line for line in sentences(strict))


def test_t4_with_the_original_what_is_announced_comes_true():
    rng = np.random.default_rng(4)
    people = {name: rng.choice([*"1234567"], 2000) for name in ("a", "b")}
    release = Table.read(suppressed(people, 0.2, rng), **ROLES, missing="wildcard")
    result = audit_tables({"r": release}, AuditorKnowledge(Table.read(people, **ROLES), origins={"r": np.arange(2000)}))
    announced, realized = (
        next(r for r in result.rows if (r.release, r.adversary, r.measure) == ("r", "prosecutor", measure)).posterior
        for measure in ("success_probability", "realized_success")
    )
    assert announced == pytest.approx(realized, abs=0.005)


def test_t4_an_engine_refuses_what_it_cannot_compute(tmp_path):
    file = tmp_path / "release.parquet"
    table([("1", "x"), ("1", ""), ("2", "y"), ("*", "x")]).write(file)
    for rule in ("wildcard", "own", "excluded"):
        with open_engine("duckdb") as engine:
            counted = count_source(engine, str(file), reading(("a", "b"), missing=rule)).table
            with pytest.raises(UnmaskError, match="leave --engine out"):
                audit_tables({"r": counted})


def test_t4_a_study_leaves_excluded_rows_out_as_an_audit_does(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("a,b,s\n" + "1,x,p\n1,,q\n2,y,p\n" * 20)
    (tmp_path / "plan.toml").write_text(PLAN)
    (cell,) = read_plan(tmp_path / "plan.toml").cells()
    (row,) = [row for row in run_cell(cell) if row.measure == "realized_success"]
    release = Table.read(str(file), quasi_identifiers=["a", "b"], sensitive="s", missing="excluded")
    result = audit_tables({"r": release}, AuditorKnowledge(release, origins={"r": np.arange(60)}))
    key = ("r", "prosecutor", "identity", "realized_success")
    (row_found,) = [r for r in result.rows if (r.release, r.adversary, r.target, r.measure) == key]
    assert row.posterior == pytest.approx(row_found.posterior)
    assert row.prior == pytest.approx(row_found.prior)


def test_t4_a_belief_that_cannot_find_suppressed_people_is_not_exact():
    release = table([("1", "x"), ("", "x"), ("2", "y")], missing="own")
    belief = ClassAttack()(release, Background(table([("1", "x"), ("1", "x"), ("2", "y")])))
    result = audit(belief, Truth([0, 1, 2]))
    assert result.row("success_probability").posterior > result.row("realized_success").posterior
    assert (belief.status, result.row("success_probability").status) == ("model", "refuted")  # sure, and wrong
    missed_before = table([("1", "x"), ("", "x"), ("2", "y")]).take([0, 2])  # a value of its own, of somebody else
    assert ClassAttack()(release, Background(missed_before)).status == "exact"
