"""Showing reads rows: one self-contained page out of what a study filed. Nothing is computed about people here."""

from unmask.reports.html import ClassRisk, ColumnRisk, ReportData, render
from unmask.reports.plots import Distribution

__all__ = ["ClassRisk", "ColumnRisk", "Distribution", "ReportData", "render"]
