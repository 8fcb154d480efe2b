"""Knowledge of an adversary of social graphs: a graph that overlaps the release, and seeds."""

from unmask.graphs.knowledge.centrality import betweenness, closeness, clustering
from unmask.graphs.knowledge.guessed_seeds import match_cliques, match_top
from unmask.graphs.knowledge.lookalike_seeds import match_profiles
from unmask.graphs.knowledge.pair import NOBODY, Pair
from unmask.graphs.knowledge.perturbation import split
from unmask.graphs.knowledge.seeding import select_seeds
from unmask.graphs.seeds import SeedPairs

__all__ = [
    "NOBODY",
    "Pair",
    "SeedPairs",
    "betweenness",
    "closeness",
    "clustering",
    "match_cliques",
    "match_profiles",
    "match_top",
    "select_seeds",
    "split",
]
