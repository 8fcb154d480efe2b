"""Public names of `unmask.graphs.protections`."""

from unmask.graphs.protections.adopters import Cooperation as Cooperation
from unmask.graphs.protections.adopters import choose_adopters as choose_adopters
from unmask.graphs.protections.decoys import Decoy as Decoy
from unmask.graphs.protections.degrees import KDegree as KDegree
from unmask.graphs.protections.edges import PerturbEdges as PerturbEdges
from unmask.graphs.protections.edges import RandomWalk as RandomWalk
from unmask.graphs.protections.edges import SwitchEdges as SwitchEdges
from unmask.graphs.protections.grouped_random_graph import GroupNodes as GroupNodes
from unmask.graphs.protections.identities import Role as Role
from unmask.graphs.protections.identities import Separated as Separated
from unmask.graphs.protections.identities import apply_protection as apply_protection
from unmask.graphs.protections.identities import has_adopters as has_adopters
from unmask.graphs.protections.k2_anonymity import AnonymousIdentity as AnonymousIdentity
from unmask.graphs.protections.k2_anonymity import anonymous_identity as anonymous_identity
from unmask.graphs.protections.k2_anonymity import new_ties as new_ties
from unmask.graphs.protections.k2_anonymity import same_neighbors as same_neighbors
from unmask.graphs.protections.patterns import Ego as Ego
from unmask.graphs.protections.patterns import EgoPatterns as EgoPatterns
from unmask.graphs.protections.patterns import read_egos as read_egos
from unmask.graphs.protections.private import NoisyDegrees as NoisyDegrees
from unmask.graphs.protections.private import RandomizeEdges as RandomizeEdges
from unmask.graphs.protections.separation import IdentitySeparation as IdentitySeparation
from unmask.graphs.protections.separation import Model as Model
from unmask.graphs.protections.separation import PowerLaw as PowerLaw
from unmask.graphs.protections.separation import Together as Together
