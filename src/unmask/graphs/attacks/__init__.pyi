"""Public names of `unmask.graphs.attacks`."""

from unmask.graphs.attacks.base import Attack as Attack
from unmask.graphs.attacks.base import Matching as Matching
from unmask.graphs.attacks.climb import Climb as Climb
from unmask.graphs.attacks.graph_matching import GraphMatching as GraphMatching
from unmask.graphs.attacks.grasshopper import Grasshopper as Grasshopper
from unmask.graphs.attacks.iterated import Identities as Identities
from unmask.graphs.attacks.iterated import Iterated as Iterated
from unmask.graphs.attacks.propagation import Bumblebee as Bumblebee
from unmask.graphs.attacks.propagation import Nar09 as Nar09
from unmask.graphs.attacks.rematch import Rematch as Rematch
from unmask.graphs.attacks.rematch import log_odds as log_odds
from unmask.graphs.attacks.signatures import DegreeMatching as DegreeMatching
from unmask.graphs.attacks.signatures import Refinement as Refinement
from unmask.graphs.attacks.support import Support as Support
from unmask.graphs.attacks.witnesses import Irma as Irma
from unmask.graphs.attacks.witnesses import KorulaLattanzi as KorulaLattanzi
