"""Public names of `unmask.graphs.knowledge`."""

from unmask.graphs.knowledge.centrality import betweenness as betweenness
from unmask.graphs.knowledge.centrality import closeness as closeness
from unmask.graphs.knowledge.centrality import clustering as clustering
from unmask.graphs.knowledge.guessed_seeds import match_cliques as match_cliques
from unmask.graphs.knowledge.guessed_seeds import match_top as match_top
from unmask.graphs.knowledge.lookalike_seeds import match_profiles as match_profiles
from unmask.graphs.knowledge.pair import NO_NODE as NO_NODE
from unmask.graphs.knowledge.pair import Pair as Pair
from unmask.graphs.knowledge.pair import split as split
from unmask.graphs.knowledge.seeding import select_seeds as select_seeds
from unmask.graphs.seeds import SeedPairs as SeedPairs
