"""Protections of graphs: several identities for one person, and changed edges."""

from unmask.graphs.protections.adopters import Cooperation, choose_adopters
from unmask.graphs.protections.decoys import Decoy
from unmask.graphs.protections.degrees import KDegree
from unmask.graphs.protections.edges import PerturbEdges, RandomWalk, SwitchEdges
from unmask.graphs.protections.grouped_random_graph import GroupNodes
from unmask.graphs.protections.identities import Role, Separated, adopted, protected
from unmask.graphs.protections.k2_anonymity import AnonymousIdentity, anonymous_identity, new_ties, same_neighbors
from unmask.graphs.protections.patterns import Ego, EgoPatterns, read_egos
from unmask.graphs.protections.private import NoisyDegrees, RandomizeEdges
from unmask.graphs.protections.separation import IdentitySeparation, Model, PowerLaw, Together

__all__ = [
    "AnonymousIdentity",
    "Cooperation",
    "Decoy",
    "Ego",
    "EgoPatterns",
    "GroupNodes",
    "IdentitySeparation",
    "KDegree",
    "Model",
    "NoisyDegrees",
    "PerturbEdges",
    "PowerLaw",
    "RandomWalk",
    "RandomizeEdges",
    "Role",
    "Separated",
    "SwitchEdges",
    "Together",
    "adopted",
    "anonymous_identity",
    "choose_adopters",
    "new_ties",
    "protected",
    "read_egos",
    "same_neighbors",
]
