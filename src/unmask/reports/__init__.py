"""Showing reads rows: one self-contained page out of what a study filed. Nothing is computed about people here."""

from unmask.reports.data import APART, COLUMNS, INSIDER, LIMITS, ORDER, ORIGINAL, ReportData, headlines
from unmask.reports.facts.channel import BoundRow, ChannelRisk, MechanismRisk, ObservationRisk
from unmask.reports.facts.exposure import Exposure
from unmask.reports.facts.graph import (
    AnonymityLink,
    CertaintyBin,
    DegreeRisk,
    GraphRisk,
    OverlapPoint,
    SeparationPoint,
    StructureAttack,
    TransitionPoint,
)
from unmask.reports.facts.linkage import GuessLinkage, Linkage
from unmask.reports.facts.price import Price, PriceCurve, ReleasePrice, Swing
from unmask.reports.facts.study import NO_ATTACK
from unmask.reports.facts.tables import ColumnRisk, Distribution, ValueRisk
from unmask.reports.few import FEWEST
from unmask.reports.findings.tables import sentences
from unmask.reports.page import render
from unmask.reports.small import without_small

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
