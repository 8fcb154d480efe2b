"""Protections of graphs: several identities for one person, and changed edges."""

from unmask.graphs.protections.adopters import Cooperation, choose_adopters
from unmask.graphs.protections.anonymity import AnonymousIdentity, anonymous_identity, new_ties, same_neighbors
from unmask.graphs.protections.decoys import Decoy
from unmask.graphs.protections.edges import PerturbEdges, SwitchEdges
from unmask.graphs.protections.identities import Role, Separated
from unmask.graphs.protections.patterns import Ego, EgoPatterns, read_egos
from unmask.graphs.protections.separation import IdentitySeparation, Model, PowerLaw, Together

__all__ = [
    "AnonymousIdentity",
    "Cooperation",
    "Decoy",
    "Ego",
    "EgoPatterns",
    "IdentitySeparation",
    "Model",
    "PerturbEdges",
    "PowerLaw",
    "Role",
    "Separated",
    "SwitchEdges",
    "Together",
    "anonymous_identity",
    "choose_adopters",
    "new_ties",
    "read_egos",
    "same_neighbors",
]
