"""Social graphs: who can be named from the structure of a released graph, by one who knows another part of it."""

from unmask.graphs import datasets
from unmask.graphs.attacks import Bumblebee, Grasshopper, Matching, Nar09
from unmask.graphs.knowledge import Pair, SeedPairs, select_seeds, split
from unmask.graphs.release import Dropped, SocialGraph

__all__ = [
    "Bumblebee",
    "Dropped",
    "Grasshopper",
    "Matching",
    "Nar09",
    "Pair",
    "SeedPairs",
    "SocialGraph",
    "datasets",
    "select_seeds",
    "split",
]
