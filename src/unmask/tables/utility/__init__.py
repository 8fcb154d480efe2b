"""Utility of a release: loss of cells, class sizes, distributions and counting queries.

A released cell is the set of its atomic values. For distributions, a cell is spread uniformly over its atoms. A
suppressed row counts as a row of `*`, so suppression always has a cost. The atoms of a numeric column are the distinct
exact values of the original, and those that only the release has. The atoms of other columns are the declared domain,
with a hierarchy its leaves.
"""

from unmask.tables.utility.evaluation import (
    InformationLoss,
    Utility,
    Width,
    average_class_size,
    discernibility,
    evaluate,
    information_loss,
)

__all__ = [
    "InformationLoss",
    "Utility",
    "Width",
    "average_class_size",
    "discernibility",
    "evaluate",
    "information_loss",
]
