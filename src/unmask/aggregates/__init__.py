"""Published tables of counts: releases, attacks that reconstruct records, and audits."""

from unmask.aggregates.attacks.reconstructor import Reconstructor
from unmask.aggregates.domain import Domain
from unmask.aggregates.protections.count_protections import PerturbByCellKeys, RoundCounts, SuppressSmallCounts
from unmask.aggregates.release import AggregateRelease, Tabulation, count_records, tabulate
from unmask.aggregates.rules import Marker, Rule
from unmask.aggregates.statistics import Statistic
from unmask.aggregates.table_files import read_release, write_release

__all__ = [
    "AggregateRelease",
    "Domain",
    "Marker",
    "PerturbByCellKeys",
    "Reconstructor",
    "RoundCounts",
    "Rule",
    "Statistic",
    "SuppressSmallCounts",
    "Tabulation",
    "count_records",
    "read_release",
    "tabulate",
    "write_release",
]
