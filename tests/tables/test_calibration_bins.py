"""Predicted and actual success: the bins that are counted, and the chart of them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.reports.test_html import Page, single
from unmask import Posterior, Truth
from unmask.render.page import render
from unmask.tables.audit.attack_run import AttackRun
from unmask.tables.audit.calibration import CalibrationBin, calibration_bins
from unmask.tables.audit.result import TableFacts, make_result


def page(people: int = 400) -> str:
    row = single().rows[0]
    item = CalibrationBin(row.release, row.adversary, "identity", 0.2, 0.21, 0.17, 0.25, people)
    return render(make_result("t", (row,), TableFacts(calibration=[item])))


def test_people_of_one_bin_are_together_and_each_is_counted_once():
    sure, unsure = [0.9, 0.1], [0.5, 0.5]
    belief = Posterior.from_dense(np.array([sure] * 30 + [unsure] * 20))
    truth = Truth(np.array([0] * 24 + [1] * 6 + [0] * 20))  # of the sure 24 of 30 are right
    low, high = calibration_bins(AttackRun("r", "a", "job", belief, truth))
    assert [low.people, high.people] == [20, 30]
    assert [high.announced, high.realized] == pytest.approx([0.9, 0.8])
    assert high.low < 0.8 < high.high
    assert not list(calibration_bins(AttackRun("r", "a", "job", belief)))


def test_the_page_draws_them_against_the_line_where_they_would_be_equal():
    result = page()
    assert "Predicted success: 20.0\u00a0%; Actual success: 21.0\u00a0%; People: 400" in result
    assert "Largest calibration gap: predicted 20.0\u00a0%, actual 21.0\u00a0% (their record, 400 people)." in result
    assert 'id="promises"' in result
    assert re.search(r'<path d="M[^"]*"[^>]*stroke-dasharray="2 2"', result[result.index('id="promises"') :])


def test_few_people_are_not_shown_and_nothing_is_no_section():
    assert "Predicted and actual success" not in Page(page(people=9)).text
