"""Showing reads rows: one self-contained page out of what a study filed. Nothing is computed about people here."""

from unmask.reports.channel.values import BoundRow, ChannelRisk, MechanismRisk, ObservationRisk
from unmask.reports.data import FEWEST, LIMITS, ORIGINAL, ColumnRisk, Distribution, ReportData, ValueRisk, headlines
from unmask.reports.exposure.values import APART, COLUMNS, INSIDER, ORDER, Exposure
from unmask.reports.findings import sentences
from unmask.reports.graph.values import (
    AnonymityLink,
    CertaintyBin,
    DegreeRisk,
    GraphRisk,
    OverlapPoint,
    SeparationPoint,
    StructureAttack,
    TransitionPoint,
)
from unmask.reports.html import render
from unmask.reports.linkage.values import GuessLinkage, Linkage
from unmask.reports.price.values import Price, PriceCurve, ReleasePrice, Swing
from unmask.reports.small import without_small
from unmask.reports.study.values import NO_ATTACK

__all__ = [
    "APART",
    "COLUMNS",
    "FEWEST",
    "INSIDER",
    "LIMITS",
    "NO_ATTACK",
    "ORDER",
    "ORIGINAL",
    "AnonymityLink",
    "BoundRow",
    "CertaintyBin",
    "ChannelRisk",
    "ColumnRisk",
    "DegreeRisk",
    "Distribution",
    "Exposure",
    "GraphRisk",
    "GuessLinkage",
    "Linkage",
    "MechanismRisk",
    "ObservationRisk",
    "OverlapPoint",
    "Price",
    "PriceCurve",
    "ReleasePrice",
    "ReportData",
    "SeparationPoint",
    "StructureAttack",
    "Swing",
    "TransitionPoint",
    "ValueRisk",
    "headlines",
    "render",
    "sentences",
    "without_small",
]
