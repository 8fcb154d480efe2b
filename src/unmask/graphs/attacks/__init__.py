"""(release, what the adversary knows) -> belief. No attack ever sees the truth."""

from unmask.graphs.attacks.base import Attack, Matching
from unmask.graphs.attacks.climb import Climb
from unmask.graphs.attacks.graph_matching import GraphMatching
from unmask.graphs.attacks.grasshopper import Grasshopper
from unmask.graphs.attacks.irma import Irma
from unmask.graphs.attacks.iterated import Identities, Iterated
from unmask.graphs.attacks.propagation import Bumblebee, Nar09
from unmask.graphs.attacks.rematch import Rematch, log_odds
from unmask.graphs.attacks.signatures import DegreeMatching, Refinement
from unmask.graphs.attacks.support import Support
from unmask.graphs.attacks.witnesses import KorulaLattanzi

__all__ = [
    "Attack",
    "Bumblebee",
    "Climb",
    "DegreeMatching",
    "GraphMatching",
    "Grasshopper",
    "Identities",
    "Irma",
    "Iterated",
    "KorulaLattanzi",
    "Matching",
    "Nar09",
    "Refinement",
    "Rematch",
    "Support",
    "log_odds",
]
