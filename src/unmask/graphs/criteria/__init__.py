"""Criteria: how well nodes hide in a graph, told from the release alone, without an adversary."""

from unmask.graphs.criteria.degree import degree_anonymity
from unmask.graphs.criteria.equivalence import (
    class_sizes,
    colour_classes,
    spearman,
    structural_equivalence,
)
from unmask.graphs.criteria.local import Variant, local_anonymities, local_anonymity
from unmask.graphs.criteria.neighbourhood import NeighbourhoodAnonymity, neighbourhood_anonymity
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
    "NeighbourhoodAnonymity",
    "Variant",
    "class_sizes",
    "clique_failure",
    "colour_classes",
    "degree_anonymity",
    "intact_cliques",
    "local_anonymities",
    "local_anonymity",
    "neighbourhood_anonymity",
    "overall_failure",
    "spearman",
    "structural_equivalence",
    "top_border",
    "top_failure",
]
