"""Protections of tables: a table in, a release and the row behind each of its rows out."""

from unmask.tables.protections.constraints import (
    AlphaK,
    BetaLikeness,
    Constraint,
    DeltaDisclosure,
    DistinctL,
    EntropyL,
    KAnonymity,
    PSensitive,
    RecursiveL,
    TCloseness,
)
from unmask.tables.protections.generalization import Generalize, Identity
from unmask.tables.protections.lattice import Lattice
from unmask.tables.protections.microaggregation import Microaggregate
from unmask.tables.protections.mondrian import Mondrian
from unmask.tables.protections.perturbations import PRAM, AddNoise, RankSwap
from unmask.tables.protections.suppression import Suppress, SuppressCells

__all__ = [
    "PRAM",
    "AddNoise",
    "AlphaK",
    "BetaLikeness",
    "Constraint",
    "DeltaDisclosure",
    "DistinctL",
    "EntropyL",
    "Generalize",
    "Identity",
    "KAnonymity",
    "Lattice",
    "Microaggregate",
    "Mondrian",
    "PSensitive",
    "RankSwap",
    "RecursiveL",
    "Suppress",
    "SuppressCells",
    "TCloseness",
]
