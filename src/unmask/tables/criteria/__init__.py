"""Criteria of a release, without an adversary: k, l, t and their relatives, read off one count matrix.

Notation: class c holds n_c rows, n_cs of them with sensitive value s; p_s = n_cs / n_c inside the class, q_s over all
evaluated rows; n rows, J classes, m values that occur. Every criterion below is a function of the matrix n_cs and
returns one number per class; a release is as weak as its weakest class. Rows enter as integer codes, so the result is
the same under any order of rows, columns, categories, and values that no row carries change nothing.

q is that of the table before protection where `evaluate` is given one as the reference; otherwise it is taken over the
evaluated rows, that is over the release after suppression. `Criteria.reference` says which. Other sensitive columns
never join the quasi-identifiers: each sensitive column is judged on the same classes.
"""

from unmask.facts import Contribution
from unmask.tables.criteria.closeness import (
    beta_basic,
    beta_likeness,
    delta_disclosure,
    delta_up,
    t_equal,
    t_hierarchical,
    t_kl,
    t_ordered,
)
from unmask.tables.criteria.contributions import contributions
from unmask.tables.criteria.diversity import (
    ValueProximity,
    alpha,
    l_distinct,
    l_entropy,
    l_recursive,
    map_error,
    value_proximity,
)
from unmask.tables.criteria.evaluation import Criteria, Disclosure, evaluate
from unmask.tables.criteria.histograms import CountMatrix, Histograms
from unmask.tables.criteria.risk import (
    PeopleInClasses,
    Risk,
    correctly_disclosed,
    journalist,
    marketer,
    own_rows,
    people_in_classes,
    population_sizes,
    prosecutor,
    replicated_uniques,
    sample_weight_risk,
)

__all__ = [
    "Contribution",
    "CountMatrix",
    "Criteria",
    "Disclosure",
    "Histograms",
    "PeopleInClasses",
    "Risk",
    "ValueProximity",
    "alpha",
    "beta_basic",
    "beta_likeness",
    "contributions",
    "correctly_disclosed",
    "delta_disclosure",
    "delta_up",
    "evaluate",
    "journalist",
    "l_distinct",
    "l_entropy",
    "l_recursive",
    "map_error",
    "marketer",
    "own_rows",
    "people_in_classes",
    "population_sizes",
    "prosecutor",
    "replicated_uniques",
    "sample_weight_risk",
    "t_equal",
    "t_hierarchical",
    "t_kl",
    "t_ordered",
    "value_proximity",
]
