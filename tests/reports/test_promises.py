"""What was announced beside what came true, on the page and as counted."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.reports.test_html import Page, single
from unmask import Posterior, Truth
from unmask.reports import render
from unmask.reports.facts.tables import Promise
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.risk_facts import promises

KEPT = Promise("k=3", "anna", "identity", 400, 0.2, 0.21, 0.17, 0.25)


def page(*found: Promise) -> str:
    return render(replace(single(), promises=found))


def test_people_of_one_bin_are_together_and_each_is_counted_once():
    sure, unsure = [0.9, 0.1], [0.5, 0.5]
    belief = Posterior.from_dense(np.array([sure] * 30 + [unsure] * 20))
    truth = Truth(np.array([0] * 24 + [1] * 6 + [0] * 20))  # of the sure 24 of 30 are right
    low, high = promises(AttackRun("r", "a", "job", belief, truth))
    assert [low.people, high.people] == [20, 30]
    assert [high.announced, high.realized] == pytest.approx([0.9, 0.8])
    assert high.low < 0.8 < high.high
    assert not list(promises(AttackRun("r", "a", "job", belief)))


def test_the_page_draws_them_against_the_line_where_they_would_be_equal():
    row = single().rows[0]
    found = page(replace(KEPT, release=row.release, adversary=row.adversary))
    assert "Announced success: 20.0\u00a0%; Came true: 21.0\u00a0%; People: 400" in found
    assert 'id="promises"' in found
    assert re.search(r'<path d="M[^"]*"[^>]*stroke-dasharray="2 2"', found[found.index('id="promises"') :])


def test_few_people_are_not_shown_and_nothing_is_no_section():
    row = single().rows[0]
    few = replace(KEPT, release=row.release, adversary=row.adversary, people=9)
    assert "Announced and come true" not in Page(page(few)).text
