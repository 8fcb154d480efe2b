"""Rows without a person are not audited as if each had one."""

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from tests.envelopes import parsed
from unmask.cli import main
from unmask.economics import read_attacker
from unmask.economics.audit import AttackerSource
from unmask.policy import Policy, judge_result
from unmask.render.page import render
from unmask.results.formats import percent
from unmask.tables import Mondrian, Table, criteria
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.table_audit import audit_tables
from unmask.tables.matching import compatible

PEOPLE = 600


def people(rng, n=PEOPLE):
    """Columns that hang together: the second is near the first, the value follows from both."""
    a = rng.integers(0, 40, n)
    b = a // 4 + rng.integers(0, 3, n)
    return {"a": a, "b": b, "s": np.where(rng.random(n) < 0.8, (a + b) % 3, rng.integers(0, 3, n)).astype(str)}


ROLES = {"quasi_identifiers": ["a", "b"], "sensitive": "s"}


def made_up(columns, rng):
    """A synthetic release with the right margins: no row is anybody's."""
    return {name: rng.permutation(values) for name, values in columns.items()}


def test_t3_identity_attacks_skip_rows_without_a_person(tmp_path):
    rng = np.random.default_rng(0)
    columns = people(rng)
    original, synthetic = Table.read(columns, **ROLES), Table.read(made_up(columns, rng), **ROLES)
    result = audit_tables(
        {"syn": synthetic},
        AuditorKnowledge(original, register=original),
        attacker=AttackerSource(read_attacker("case-study")),
    )
    rows = [row for row in result.rows if row.release == "syn"]
    assert rows
    assert {row.target for row in rows} == {"s"}
    assert {row.status for row in rows} <= {"model", "refuted"}
    assert any(row.measure == "realized_success" for row in rows)
    assert not any(entry.release == "syn" and entry.target == "identity" for entry in result.distribution)
    assert "syn" not in result.table("price_releases").values("release")
    assert {result.criteria["syn"][name] for name in ("prosecutor_average", "prosecutor_max")} == {None}
    assert {row.target for row in result.rows if row.release == "original"} == {"identity", "s"}
    analysis, reason = result.not_run[0]
    share = criteria.own_rows(synthetic, original)
    assert "syn" in analysis
    assert share < 0.8
    assert percent(share) in reason
    assert reason.partition(":")[0] in render(result)
    conditions = ["k >= 5", "prosecutor_average <= 0.1", "prosecutor_max <= 0.1"]
    (verdict,) = judge_result(result, [Policy.of(conditions, title="Ours")]).verdicts
    assert [assessment.unknown_reason for assessment in verdict.assessments] == [
        f"this measure was not evaluated: {reason}"
    ] * 3
    assert "The rows of syn are not people of the original" in result.setting


def test_t3_rows_that_were_only_generalized_or_suppressed_are_asked_for_their_people():
    rng = np.random.default_rng(1)
    original = Table.read(people(rng), **ROLES)
    release, _ = Mondrian(k=5)(original, rng=rng)
    gaps = people(np.random.default_rng(1))
    gaps = {**gaps, "a": ["" if rng.random() < 0.3 else str(a) for a in gaps["a"]]}
    suppressed = Table.read(gaps, **ROLES, types={"a": "number"})
    assert criteria.own_rows(release, original) == criteria.own_rows(suppressed, original) == 1.0
    result = audit_tables({"r": release}, AuditorKnowledge(original))
    assert any((row.release, row.target) == ("r", "identity") for row in result.rows)


def test_an_origin_that_is_another_releases_is_asked_about():
    """Rows counted from 1, as in R, name the people after those whose rows they are."""
    original = Table.read(people(np.random.default_rng(5)), **ROLES)
    rows = np.random.default_rng(6).permutation(PEOPLE - 1)
    release = original.take(rows)
    for origin, is_asked in ((rows, False), (rows + 1, True)):
        result = audit_tables({"r": release}, AuditorKnowledge(original, origins={"r": origin}))
        assert any("check that it is the origin of this release" in caution for caution in result.cautions) == is_asked
    changed = people(np.random.default_rng(5)) | {"a": people(np.random.default_rng(5))["a"] + 100}
    result = audit_tables(
        {"r": Table.read(changed, **ROLES)}, AuditorKnowledge(original, origins={"r": np.arange(PEOPLE)})
    )
    assert not any(
        "origin of this release" in caution for caution in result.cautions
    )  # of rows that are nobody's nothing says that the origin is wrong


def test_t3_a_stated_origin_is_taken_at_its_word():
    rng = np.random.default_rng(2)
    columns = people(rng)
    original, noisy = Table.read(columns, **ROLES), Table.read(made_up(columns, rng), **ROLES)
    result = audit_tables({"r": noisy}, AuditorKnowledge(original, origins={"r": np.arange(PEOPLE)}))
    assert any((row.release, row.target) == ("r", "identity") for row in result.rows)


@given(st.data())
def test_t3_no_matching_of_rows_to_people_is_larger(data):
    """Return a largest matching of released rows to people within their cells, by brute force."""
    cells = st.sampled_from(["1", "2", "3", "[1, 2]", "[2, 3]", "*", ""])
    values = data.draw(st.lists(st.sampled_from("123"), min_size=1, max_size=6))
    released = data.draw(st.lists(cells, min_size=1, max_size=6))
    roles = {"quasi_identifiers": "a", "types": {"a": "number"}}
    original, release = Table.read({"a": values}, **roles), Table.read({"a": released}, **roles)
    known_column, cell = original.column("a"), release.column("a")
    fits = compatible(known_column.levels, cell.levels, missing="wildcard")[np.ix_(known_column.codes, cell.codes)]
    matched = fits[linear_sum_assignment(~fits)].sum() / len(released)
    share = criteria.own_rows(release, original)
    assert share >= matched - 1e-12
    if not any(cell in released for cell in ("[1, 2]", "[2, 3]", "*", "")):
        assert share == pytest.approx(matched)


def test_t3_the_command_says_it(tmp_path):
    rng = np.random.default_rng(3)
    columns = people(rng)
    for name, data in (("people", columns), ("syn", made_up(columns, rng))):
        lines = [",".join(map(str, row)) for row in zip(*data.values(), strict=True)]
        (tmp_path / f"{name}.csv").write_text("a,b,s\n" + "\n".join(lines) + "\n")
    files = [str(tmp_path / "syn.csv"), "--original", str(tmp_path / "people.csv")]
    done = CliRunner().invoke(main, ["audit", *files, "-q", "a,b", "-s", "s", "--json"])
    assert done.exit_code == 0, done.output
    assert "are not people of the original" in done.output
    output = parsed(done.stdout)
    assert not [m for m in output["results"] if m["release"] == "syn" and m["target"] == "identity"]
