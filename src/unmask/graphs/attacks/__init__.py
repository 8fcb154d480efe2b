"""Release, what the adversary knows and a few people he has found -> belief. No attack ever sees the truth."""

from unmask.graphs.attacks.grasshopper import Grasshopper
from unmask.graphs.attacks.matching import Matching, Seeds
from unmask.graphs.attacks.propagation import Bumblebee, Nar09

__all__ = ["Bumblebee", "Grasshopper", "Matching", "Nar09", "Seeds"]
