"""Showing reads rows: one self-contained page out of what a study filed. Nothing is computed about people here."""

from unmask.reports.channel.values import BoundRow, ChannelRisk, MechanismRisk, ObservationRisk
from unmask.reports.data import ORIGINAL, ClassRisk, ColumnRisk, Distribution, ReportData, headlines
from unmask.reports.findings import sentences
from unmask.reports.html import render
from unmask.reports.linkage.values import GuessLinkage, Linkage, SubjectRisk
from unmask.reports.price.values import Price, PriceCurve, ReleasePrice, Swing

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
