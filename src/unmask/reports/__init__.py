"""Showing reads rows: one self-contained page out of what a study filed. Nothing is computed about people here."""

from unmask.reports.data import ORIGINAL, ReportData, headlines
from unmask.reports.findings.rows import sentences
from unmask.reports.page import render

__all__ = ["ORIGINAL", "ReportData", "headlines", "render", "sentences"]
