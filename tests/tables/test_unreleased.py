"""People of the original who have no row in the release: an adversary may believe in a row, and is never right."""

import numpy as np
import pytest

from unmask.findings.people_at_risk import Watched
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.table_audit import audit_tables
from unmask.tables.table import Table

PEOPLE = Table.read({"q": ["a"] * 12 + ["b"] * 20, "s": ["x", "y"] * 16}, quasi_identifiers="q", sensitive="s")
KEPT = np.array([0, 1, 2, 3, 4, *range(12, 32)])  # 5 of the 12 with "a", and all others
"""Whose rows are released: those with "a" are found with 1 in 5, the others with 1 in 20."""

WHOM = "release", "prosecutor", "identity"


@pytest.fixture(scope="module")
def audit_unreleased():
    watched = Watched("row")
    evidence = AuditorKnowledge(PEOPLE, origins={"release": KEPT}, watched=watched)
    return audit_tables({"release": PEOPLE.take(KEPT)}, evidence), watched


def test_people_without_a_released_row_are_not_at_risk_of_identification(audit_unreleased):
    data, watched = audit_unreleased
    (entry,) = (d for d in data.distribution if (d.release, d.adversary, d.target) == WHOM)
    assert entry.above[0.09] == 5
    assert dict(entry.each) == pytest.approx({0.0: 7 / 32, 0.05: 20 / 32, 0.2: 5 / 32})
    assert sorted(risk.row for risk in watched.found if risk.target == "identity") == [0, 1, 2, 3, 4]


def test_realized_success_is_the_mean_over_all_people_attacked(audit_unreleased):
    rows = (row for row in audit_unreleased[0].rows if row.measure == "realized_success")
    (row,) = (row for row in rows if (row.release, row.adversary, row.target) == WHOM)
    assert row.posterior == pytest.approx(5 / 32 * 0.2 + 20 / 32 * 0.05)


def test_the_page_says_how_many_have_no_row(audit_unreleased):
    assert any("release has no row of 7 of the 32 people" in sentence for sentence in audit_unreleased[0].assumptions)


def test_a_caution_says_whom_an_average_counts(audit_unreleased):
    """2 of the 25 people in the release are found, and 2 / 32 of all."""
    (entry,) = audit_unreleased[0].cautions
    assert entry.startswith("release has no row of 7 of the 32 people")
    assert "1.3 times as high" in entry


def statuses(rows_released):
    rows = audit_tables(
        {"release": PEOPLE.take(rows_released)}, AuditorKnowledge(PEOPLE, origins={"release": rows_released})
    ).rows
    return {row.target: row.status for row in rows if row.adversary == "prosecutor"}


def test_a_belief_about_people_without_a_row_is_a_model():
    # 7 of 32 are looked for in rows of others; too few for the truth to refute what was announced, which stayed exact
    assert statuses(np.arange(32)) == {"identity": "exact", "s": "exact"}
    assert statuses(KEPT) == {"identity": "model", "s": "model"}
    # whom no record fits is rightly believed absent, and their value is guessed from the records of others
    assert statuses(np.arange(12, 24)) == {"identity": "model", "s": "model"}
    twenty = np.flatnonzero(np.asarray(PEOPLE["q"]) == "b")
    assert statuses(twenty) == {"identity": "exact", "s": "model"}


def test_a_belief_that_the_truth_refutes_stays_refuted():
    people = Table.read({"q": [str(n // 2) for n in range(200)]}, quasi_identifiers="q")
    rows_released = np.arange(0, 200, 2)  # one of each pair, so that everybody is believed found for certain
    rows = audit_tables(
        {"release": people.take(rows_released)}, AuditorKnowledge(people, origins={"release": rows_released})
    ).rows
    assert {row.status for row in rows if (row.release, row.adversary, row.target) == WHOM} == {"refuted"}
