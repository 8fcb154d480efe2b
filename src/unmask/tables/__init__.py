"""Tables of people: reading releases, protecting them, and what an adversary learns from them."""

from unmask.tables import criteria, datasets, utility
from unmask.tables.attacks import (
    AttributeInference,
    BackOff,
    BayesAttack,
    ClassAttack,
    ClosestRecord,
    Linkability,
    MarginalRatio,
    MechanismAttack,
    ModelAttribute,
    NearestNeighbor,
    OrderAttack,
    Parts,
    RegisterAttack,
    SeveralRows,
    ShadowMembership,
    SinglingOut,
    StringLinkage,
    Traces,
)
from unmask.tables.background import Background
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.knowledge import Knowledge, Register
from unmask.tables.lattice import Lattice
from unmask.tables.microaggregation import Microaggregate
from unmask.tables.perturbations import PRAM, AddNoise, RankSwap
from unmask.tables.protections import Generalize, Identity, Mondrian, Suppress, SuppressCells
from unmask.tables.table import Table

__all__ = [
    "PRAM",
    "AddNoise",
    "AttributeInference",
    "BackOff",
    "Background",
    "BayesAttack",
    "ClassAttack",
    "ClosestRecord",
    "Generalize",
    "Hierarchy",
    "Identity",
    "Knowledge",
    "Lattice",
    "Linkability",
    "MarginalRatio",
    "MechanismAttack",
    "Microaggregate",
    "ModelAttribute",
    "Mondrian",
    "NearestNeighbor",
    "OrderAttack",
    "Parts",
    "RankSwap",
    "Register",
    "RegisterAttack",
    "SeveralRows",
    "ShadowMembership",
    "SinglingOut",
    "StringLinkage",
    "Suppress",
    "SuppressCells",
    "Table",
    "Traces",
    "criteria",
    "datasets",
    "utility",
]
