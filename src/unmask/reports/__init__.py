"""Showing reads rows: one self-contained page out of what a study filed. Nothing is computed about people here."""

from unmask.reports.channel import BoundRow, ChannelRisk, MechanismRisk, ObservationRisk
from unmask.reports.data import ORIGINAL, ClassRisk, ColumnRisk, Distribution, ReportData, headlines
from unmask.reports.findings import sentences
from unmask.reports.html import render
from unmask.reports.linkage import GuessLinkage, Linkage, SubjectRisk
from unmask.reports.price import Price, PriceCurve, ReleasePrice, Swing

__all__ = [
    "ORIGINAL",
    "BoundRow",
    "ChannelRisk",
    "ClassRisk",
    "ColumnRisk",
    "Distribution",
    "GuessLinkage",
    "Linkage",
    "MechanismRisk",
    "ObservationRisk",
    "Price",
    "PriceCurve",
    "ReleasePrice",
    "ReportData",
    "SubjectRisk",
    "Swing",
    "headlines",
    "render",
    "sentences",
]
