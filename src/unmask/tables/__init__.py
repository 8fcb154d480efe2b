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
    ModelAttribute,
    NearestNeighbor,
    OrderAttack,
    Parts,
    RegisterAttack,
    ShadowMembership,
    SinglingOut,
    StringLinkage,
)
from unmask.tables.background import Background
from unmask.tables.hierarchy import Hierarchy
from unmask.tables.knowledge import Knowledge, Register
from unmask.tables.protections import Generalize, Identity, Mondrian, Suppress, SuppressCells
from unmask.tables.release import Table

__all__ = [
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
    "Linkability",
    "MarginalRatio",
    "ModelAttribute",
    "Mondrian",
    "NearestNeighbor",
    "OrderAttack",
    "Parts",
    "Register",
    "RegisterAttack",
    "ShadowMembership",
    "SinglingOut",
    "StringLinkage",
    "Suppress",
    "SuppressCells",
    "Table",
    "criteria",
    "datasets",
    "utility",
]
