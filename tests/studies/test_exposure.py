"""An audit attacks every column that leaves, and the order of the rows, and says so first where it is worst."""

from __future__ import annotations

import numpy as np
import pytest

from unmask.findings.sentences import sentences
from unmask.render.page import render
from unmask.render.summary import summary
from unmask.results.names import ACQUAINTANCE, INSIDER, MODELER, ORDER_READER, PROSECUTOR
from unmask.results.scope import headlines
from unmask.tables import Mondrian, Table
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.table_audit import audit_tables


def people(n=240, **options):
    rng = np.random.default_rng(6)
    columns = {"age": rng.integers(20, 60, n), "sex": rng.choice(["f", "m"], n), "ill": rng.choice(list("abc"), n)}
    return Table.read(columns | options, quasi_identifiers=("age", "sex"), sensitive="ill", keep=tuple(options))


def audited(table, release, origin=None):
    evidence = AuditorKnowledge(original=table, origins={} if origin is None else {"release": origin})
    return audit_tables({"release": release}, evidence)


def success(result, adversary, target="identity", release="release"):
    return headlines(result)[release, adversary, target].posterior


@pytest.mark.parametrize("with_original", [True, False])
def test_the_adversary_who_knows_a_unique_column_leads_the_findings(with_original):  # T2, U3
    table = people(cost=np.arange(240) * 1.5)
    release, origin = Mondrian(k=10)(table)
    result = audited(table, release, origin) if with_original else audit_tables({"release": release})
    assert success(result, ACQUAINTANCE) == 1
    assert success(result, ACQUAINTANCE, "ill") == 1
    assert success(result, PROSECUTOR) < 0.1
    assert "all 3 released columns that are not sensitive" in sentences(result)[0]
    assert "all 3 released columns" in summary(result).splitlines()[2]


def test_kept_columns_are_compared_as_exact_values():
    rng = np.random.default_rng(1)
    table = people(shoe=rng.integers(36, 46, 240), code=rng.choice(["a|b", "a", "*", ""], 240))
    release, origin = Mondrian(k=20)(table)
    result = audited(table, release, origin)
    cells = [
        np.array(column.levels.labels)[column.codes].tolist() for column in release.columns if column.name != "ill"
    ]
    alike = list(zip(*cells, strict=True))
    assert success(result, ACQUAINTANCE) == pytest.approx(len(set(alike)) / len(alike))


def test_nothing_beyond_the_quasi_identifiers_is_not_listed_twice():
    table = people()
    result = audited(table, *Mondrian(k=10)(table))
    assert {row.adversary for row in result.rows} == {PROSECUTOR, MODELER, INSIDER, ORDER_READER}
    bare = Table.read({"age": [1, 1, 2, 2]}, quasi_identifiers="age")
    assert {row.adversary for row in audit_tables({"release": bare}).rows} == {PROSECUTOR}


def test_sensitive_columns_give_each_other_away():  # T12: one class, l = 2 in both columns
    columns = {"age": ["[20, 29]"] * 4, "s1": list("xxyy"), "s2": list("uuvv")}
    result = audit_tables({"release": Table.read(columns, quasi_identifiers="age", sensitive=("s1", "s2"))})
    for column in ("s1", "s2"):
        assert success(result, PROSECUTOR, column) == pytest.approx(0.5)
        assert success(result, INSIDER, column) == pytest.approx(1)
    message = "\n".join(sentences(result)).replace("\N{NO-BREAK SPACE}", " ")
    assert "An insider who knows the other sensitive values infers s1 for 100 %" in message
    assert "(50.0 % without them)" in message


def test_an_insider_leads_no_finding_and_no_summary():
    table = people()
    result = audited(table, *Mondrian(k=10)(table))
    assert success(result, INSIDER) > success(result, PROSECUTOR)
    assert "knows age and sex" in sentences(result)[0]
    assert "sensitive ones too" not in summary(result)


def test_a_release_in_the_order_of_its_source_leads_with_that():  # T1, R1
    table = people()
    release, origin = Mondrian(k=10)(table)
    result = audited(table, release.take(np.argsort(origin)), np.arange(240))
    assert success(result, ORDER_READER) == 1
    assert "reads only the order of the rows" in sentences(result)[0]
    assert {row.note for row in result.rows if (row.adversary, row.release) == (ORDER_READER, "release")} == {
        "the rows are in the order of the original, or of one of its columns"
    }


def test_the_row_order_of_our_releases_reveals_nothing_and_the_page_says_so():  # T1
    table = people()
    result = audited(table, *Mondrian(k=10)(table))
    row = headlines(result)["release", ORDER_READER, "identity"]
    assert row.posterior == pytest.approx(1 / 240)
    assert any("reads only the row order re-identifies 0.42" in sentence for sentence in sentences(result))


def test_the_page_says_what_columns_restore_and_who_is_seen_inside():  # T2, U4
    rng = np.random.default_rng(3)
    detail = rng.integers(0, 40, 600)
    columns = {
        "education": [f"level {i // 4}" for i in detail],
        "cost": rng.permutation(600),
        "detail": detail.astype(str),
    }
    table = Table.read(columns, quasi_identifiers=("education", "cost"), keep="detail")
    result = audited(table, *Mondrian(k=30)(table))
    message = "\n".join(sentences(result))
    assert "detail predicts" in message
    assert "values held by only one person" in message
    page = render(result)
    assert "Generalized cells that another column restores" in page
    assert "Who can be seen to be in the data" in page


def test_attacks_that_need_an_original_are_not_run_without_one():
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
    result = audited(table, *Mondrian(k=10)(table))
    (facts,) = result.table("exposure_columns").where(name="rare").rows
    assert facts["alone"] == 3
    (facts,) = result.without_small().table("exposure_columns").where(name="rare").rows
    assert (facts["alone"], facts["missing"]) == ("fewer than 10", 0)
    assert "fewer than 10" in render(result)
