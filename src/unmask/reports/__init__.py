"""Showing reads rows: one self-contained page out of what a study filed. Nothing is computed about people here."""

from typing import TYPE_CHECKING, Any

from unmask.reports.data import ORIGINAL, ReportData, headlines
from unmask.reports.findings.rows import sentences

if TYPE_CHECKING:
    from unmask.reports.page import render

__all__ = ["ORIGINAL", "ReportData", "headlines", "render", "sentences"]


def __getattr__(name: str) -> Any:
    """What draws pages is imported where one is drawn."""
    if name != "render":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from unmask.reports.page import render

    return render
