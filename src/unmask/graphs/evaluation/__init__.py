"""Evaluation of attacks on graphs with the truth: outcomes, rates, degree classes, runs, and hops."""

from unmask.graphs.evaluation.hops import UNNAMED, UNREACHABLE, hop_distance, hop_error
from unmask.graphs.evaluation.node_outcomes import (
    DEGREE_CLASSES,
    DegreeClass,
    Outcome,
    Score,
    by_degree,
    most_recall,
    outcomes,
    score,
    select_match,
)

__all__ = [
    "DEGREE_CLASSES",
    "UNNAMED",
    "UNREACHABLE",
    "DegreeClass",
    "Outcome",
    "Score",
    "by_degree",
    "hop_distance",
    "hop_error",
    "most_recall",
    "outcomes",
    "score",
    "select_match",
]
