"""Utility of a release: loss per cell, sizes of classes, distributions, and counts that it can answer.

A released cell is read as the set of atomic values it stands for. Where a distribution is needed the cell is spread
uniformly over the atoms of that set; a suppressed row counts as a row of `*`, so suppression is always paid for.
The atoms of a numeric column are the distinct exact values of the original (and of the release, where it has others),
those of an ordinal or categorical column the declared domain (the leaves of its hierarchy, if it has one).
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
