"""Public names of `unmask.graphs.criteria`."""

from unmask.graphs.criteria.equivalence import class_sizes as class_sizes
from unmask.graphs.criteria.equivalence import color_classes as color_classes
from unmask.graphs.criteria.equivalence import degree_anonymity as degree_anonymity
from unmask.graphs.criteria.equivalence import spearman as spearman
from unmask.graphs.criteria.equivalence import structural_equivalence as structural_equivalence
from unmask.graphs.criteria.local import Variant as Variant
from unmask.graphs.criteria.local import local_anonymities as local_anonymities
from unmask.graphs.criteria.local import local_anonymity as local_anonymity
from unmask.graphs.criteria.neighborhood import NeighborhoodAnonymity as NeighborhoodAnonymity
from unmask.graphs.criteria.neighborhood import neighborhood_anonymity as neighborhood_anonymity
from unmask.graphs.criteria.seeding_failure import Model as Model
from unmask.graphs.criteria.seeding_failure import clique_failure as clique_failure
from unmask.graphs.criteria.seeding_failure import intact_cliques as intact_cliques
from unmask.graphs.criteria.seeding_failure import overall_failure as overall_failure
from unmask.graphs.criteria.seeding_failure import top_border as top_border
from unmask.graphs.criteria.seeding_failure import top_failure as top_failure
