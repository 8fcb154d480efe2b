"""An audit attacks every column that leaves, and the order of the rows, and says so first where it is worst."""

from __future__ import annotations

import numpy as np
import pytest

from unmask.reports import headlines, render, sentences
from unmask.reports.data import COLUMNS, INSIDER, ORDER
from unmask.reports.summary import summary
from unmask.tables import Mondrian, Table
from unmask.tables.audit.attacked_release import LEARNER, PROSECUTOR
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.table_audit import audit_tables


def people(n=240, **kept):
    rng = np.random.default_rng(6)
    columns = {"age": rng.integers(20, 60, n), "sex": rng.choice(["f", "m"], n), "ill": rng.choice(list("abc"), n)}
    return Table.read(columns | kept, quasi_identifiers=("age", "sex"), sensitive="ill", keep=tuple(kept))


def audited(table, release, origin=None):
    evidence = AuditorKnowledge(original=table, origins={} if origin is None else {"release": origin})
    return audit_tables({"release": release}, evidence)


def success(found, adversary, target="identity", release="release"):
    return headlines(found)[release, adversary, target].posterior


@pytest.mark.parametrize("with_original", [True, False])
def test_whoever_knows_a_column_that_tells_everybody_apart_leads_the_findings(with_original):  # T2, U3
    table = people(cost=np.arange(240) * 1.5)
    release, origin = Mondrian(k=10)(table)
    found = audited(table, release, origin) if with_original else audit_tables({"release": release})
    assert success(found, COLUMNS) == 1
    assert success(found, COLUMNS, "ill") == 1
    assert success(found, PROSECUTOR) < 0.1
    assert "all 3 released columns that are not sensitive" in sentences(found)[0]
    assert "all 3 released columns" in summary(found).splitlines()[2]


def test_kept_columns_are_compared_as_exact_values():
    rng = np.random.default_rng(1)
    table = people(shoe=rng.integers(36, 46, 240), code=rng.choice(["a|b", "a", "*", ""], 240))
    release, origin = Mondrian(k=20)(table)
    found = audited(table, release, origin)
    cells = [
        np.array(column.levels.labels)[column.codes].tolist() for column in release.columns if column.name != "ill"
    ]
    alike = list(zip(*cells, strict=True))
    assert success(found, COLUMNS) == pytest.approx(len(set(alike)) / len(alike))


def test_nothing_beyond_the_quasi_identifiers_is_not_listed_twice():
    table = people()
    found = audited(table, *Mondrian(k=10)(table))
    assert {row.adversary for row in found.rows} == {PROSECUTOR, LEARNER, INSIDER, ORDER}
    bare = Table.read({"age": [1, 1, 2, 2]}, quasi_identifiers="age")
    assert {row.adversary for row in audit_tables({"release": bare}).rows} == {PROSECUTOR}


def test_sensitive_columns_give_each_other_away():  # T12: one class, l = 2 in both columns
    columns = {"age": ["[20, 29]"] * 4, "s1": list("xxyy"), "s2": list("uuvv")}
    found = audit_tables({"release": Table.read(columns, quasi_identifiers="age", sensitive=("s1", "s2"))})
    for column in ("s1", "s2"):
        assert success(found, PROSECUTOR, column) == pytest.approx(0.5)
        assert success(found, INSIDER, column) == pytest.approx(1)
    said = "\n".join(sentences(found)).replace("\N{NO-BREAK SPACE}", " ")
    assert "An insider who knows the other sensitive values infers s1 for 100 %" in said
    assert "(50.0 % without them)" in said


def test_an_insider_leads_no_finding_and_no_summary():
    table = people()
    found = audited(table, *Mondrian(k=10)(table))
    assert success(found, INSIDER) > success(found, PROSECUTOR)
    assert "knows age and sex" in sentences(found)[0]
    assert "sensitive ones too" not in summary(found)


def test_a_release_in_the_order_of_its_source_leads_with_that():  # T1, R1
    table = people()
    release, origin = Mondrian(k=10)(table)
    found = audited(table, release.take(np.argsort(origin)), np.arange(240))
    assert success(found, ORDER) == 1
    assert "reads only the order of the rows" in sentences(found)[0]
    assert {row.note for row in found.rows if (row.adversary, row.release) == (ORDER, "release")} == {
        "the rows are in the order of the original, or of one of its columns"
    }


def test_the_order_of_what_we_release_tells_nothing_and_that_is_said():  # T1
    table = people()
    found = audited(table, *Mondrian(k=10)(table))
    row = headlines(found)["release", ORDER, "identity"]
    assert row.posterior == pytest.approx(1 / 240)
    assert any("reads only the row order re-identifies 0.42" in sentence for sentence in sentences(found))


def test_the_page_says_what_columns_restore_and_who_is_seen_inside():  # T2, U4
    rng = np.random.default_rng(3)
    detail = rng.integers(0, 40, 600)
    columns = {
        "education": [f"level {i // 4}" for i in detail],
        "cost": rng.permutation(600),
        "detail": detail.astype(str),
    }
    table = Table.read(columns, quasi_identifiers=("education", "cost"), keep="detail")
    found = audited(table, *Mondrian(k=30)(table))
    said = "\n".join(sentences(found))
    assert "detail predicts" in said
    assert "values held by only one person" in said
    page = render(found)
    assert "Generalized cells that another column restores" in page
    assert "Who can be seen to be in the data" in page


def test_what_needs_an_original_is_not_run_without_one():
    release, _ = Mondrian(k=10)(people())
    missing = dict(audit_tables({"release": release}).not_run)
    assert missing["The order of the rows"] == "needs the original table (--original)"
    assert (
        missing["Which generalized cells of release other columns restore"]
        == "needs the origin of the records (--origin)"
    )


def test_a_page_does_not_tell_how_many_when_they_are_few():
    rare = np.array(["common"] * 237 + ["r1", "r2", "r3"])
    table = people(rare=rare)
    found = audited(table, *Mondrian(k=10)(table))
    (facts,) = found.table("exposure_columns").where(name="rare").rows
    assert facts["alone"] == 3
    (facts,) = found.without_small(10).table("exposure_columns").where(name="rare").rows
    assert (facts["alone"], facts["missing"]) == ("fewer than 10", 0)
    assert "fewer than 10" in render(found)
