"""Criteria: how well nodes hide in a graph, told from the release alone, without an adversary."""

from unmask.graphs.criteria.equivalence import (
    class_sizes,
    color_classes,
    degree_anonymity,
    spearman,
    structural_equivalence,
)
from unmask.graphs.criteria.local import Variant, local_anonymities, local_anonymity
from unmask.graphs.criteria.neighborhood import NeighborhoodAnonymity, neighborhood_anonymity
from unmask.graphs.criteria.seeding_failure import (
    Model,
    clique_failure,
    intact_cliques,
    overall_failure,
    top_border,
    top_failure,
)

__all__ = [
    "Model",
    "NeighborhoodAnonymity",
    "Variant",
    "class_sizes",
    "clique_failure",
    "color_classes",
    "degree_anonymity",
    "intact_cliques",
    "local_anonymities",
    "local_anonymity",
    "neighborhood_anonymity",
    "overall_failure",
    "spearman",
    "structural_equivalence",
    "top_border",
    "top_failure",
]
