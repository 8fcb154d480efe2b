"""Showing reads rows: one self-contained page out of what a study filed. Nothing is computed about people here."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unmask.reports.data import ORIGINAL, ReportData, headlines

if TYPE_CHECKING:
    from unmask.reports.findings.rows import sentences
    from unmask.reports.page import render

__all__ = ["ORIGINAL", "ReportData", "headlines", "render", "sentences"]


def __getattr__(name: str) -> Any:
    """Import what draws pages, or puts findings into words, when it is first used."""
    home = {"render": "page", "sentences": "findings.rows"}.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
