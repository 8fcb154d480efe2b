"""Social graphs: who can be re-identified from the structure of a released graph, by one who knows another part."""

from unmask.graphs import criteria, datasets
from unmask.graphs.attacks import (
    Attack,
    Bumblebee,
    Climb,
    DegreeMatching,
    GraphMatching,
    Grasshopper,
    Identities,
    Irma,
    Iterated,
    KorulaLattanzi,
    Matching,
    Nar09,
    Refinement,
    Rematch,
    Support,
    log_odds,
)
from unmask.graphs.auxiliary import Auxiliary
from unmask.graphs.colocation import co_location
from unmask.graphs.ensemble import Announced, Ensemble
from unmask.graphs.files.edge_lists import EdgeListOptions
from unmask.graphs.graph import Dropped, SocialGraph
from unmask.graphs.knowledge import Pair, SeedPairs, match_cliques, match_profiles, match_top, select_seeds, split
from unmask.graphs.protections import (
    Decoy,
    EgoPatterns,
    GroupNodes,
    IdentitySeparation,
    KDegree,
    NoisyDegrees,
    PerturbEdges,
    RandomizeEdges,
    RandomWalk,
    SwitchEdges,
    Together,
)
from unmask.graphs.similarity import Similarity

__all__ = [
    "Announced",
    "Attack",
    "Auxiliary",
    "Bumblebee",
    "Climb",
    "Decoy",
    "DegreeMatching",
    "Dropped",
    "EdgeListOptions",
    "EgoPatterns",
    "Ensemble",
    "GraphMatching",
    "Grasshopper",
    "GroupNodes",
    "Identities",
    "IdentitySeparation",
    "Irma",
    "Iterated",
    "KDegree",
    "KorulaLattanzi",
    "Matching",
    "Nar09",
    "NoisyDegrees",
    "Pair",
    "PerturbEdges",
    "RandomWalk",
    "RandomizeEdges",
    "Refinement",
    "Rematch",
    "SeedPairs",
    "Similarity",
    "SocialGraph",
    "Support",
    "SwitchEdges",
    "Together",
    "co_location",
    "criteria",
    "datasets",
    "log_odds",
    "match_cliques",
    "match_profiles",
    "match_top",
    "select_seeds",
    "split",
]
