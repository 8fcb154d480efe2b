"""Social graphs: who can be re-identified from the structure of a released graph, by one who knows another part."""

from unmask.graphs import criteria, datasets
from unmask.graphs.attacks import (
    Announced,
    Attack,
    Bumblebee,
    Climb,
    DirectedNar09,
    Ensemble,
    GraphMatching,
    Grasshopper,
    Identities,
    Irma,
    Iterated,
    KorulaLattanzi,
    Matching,
    Nar09,
    Rematch,
    Support,
    calibrated,
    log_odds,
)
from unmask.graphs.auxiliary import Auxiliary
from unmask.graphs.colocation import co_location
from unmask.graphs.directed import DirectedGraph
from unmask.graphs.knowledge import Pair, SeedPairs, match_cliques, match_top, select_seeds, split
from unmask.graphs.protections import Decoy, EgoPatterns, IdentitySeparation, PerturbEdges, SwitchEdges, Together
from unmask.graphs.release import Dropped, SocialGraph
from unmask.graphs.similarity import Similarity

__all__ = [
    "Announced",
    "Attack",
    "Auxiliary",
    "Bumblebee",
    "Climb",
    "Decoy",
    "DirectedGraph",
    "DirectedNar09",
    "Dropped",
    "EgoPatterns",
    "Ensemble",
    "GraphMatching",
    "Grasshopper",
    "Identities",
    "IdentitySeparation",
    "Irma",
    "Iterated",
    "KorulaLattanzi",
    "Matching",
    "Nar09",
    "Pair",
    "PerturbEdges",
    "Rematch",
    "SeedPairs",
    "Similarity",
    "SocialGraph",
    "Support",
    "SwitchEdges",
    "Together",
    "calibrated",
    "co_location",
    "criteria",
    "datasets",
    "log_odds",
    "match_cliques",
    "match_top",
    "select_seeds",
    "split",
]
