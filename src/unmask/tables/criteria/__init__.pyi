"""Public names of `unmask.tables.criteria`."""

from unmask.facts import Contribution as Contribution
from unmask.tables.criteria.closeness import beta_basic as beta_basic
from unmask.tables.criteria.closeness import beta_likeness as beta_likeness
from unmask.tables.criteria.closeness import delta_disclosure as delta_disclosure
from unmask.tables.criteria.closeness import delta_up as delta_up
from unmask.tables.criteria.closeness import t_equal as t_equal
from unmask.tables.criteria.closeness import t_hierarchical as t_hierarchical
from unmask.tables.criteria.closeness import t_kl as t_kl
from unmask.tables.criteria.closeness import t_ordered as t_ordered
from unmask.tables.criteria.diversity import ValueProximity as ValueProximity
from unmask.tables.criteria.diversity import alpha as alpha
from unmask.tables.criteria.diversity import l_distinct as l_distinct
from unmask.tables.criteria.diversity import l_entropy as l_entropy
from unmask.tables.criteria.diversity import l_recursive as l_recursive
from unmask.tables.criteria.diversity import map_error as map_error
from unmask.tables.criteria.diversity import value_proximity as value_proximity
from unmask.tables.criteria.evaluation import SUBSETS as SUBSETS
from unmask.tables.criteria.evaluation import Criteria as Criteria
from unmask.tables.criteria.evaluation import Disclosure as Disclosure
from unmask.tables.criteria.evaluation import evaluate as evaluate
from unmask.tables.criteria.evaluation import smallest_class_of_subsets as smallest_class_of_subsets
from unmask.tables.criteria.histograms import CountMatrix as CountMatrix
from unmask.tables.criteria.histograms import Histograms as Histograms
from unmask.tables.criteria.log_linear import model_risk as model_risk
from unmask.tables.criteria.risk import PeopleInClasses as PeopleInClasses
from unmask.tables.criteria.risk import Risk as Risk
from unmask.tables.criteria.risk import journalist as journalist
from unmask.tables.criteria.risk import marketer as marketer
from unmask.tables.criteria.risk import own_rows as own_rows
from unmask.tables.criteria.risk import people_in_classes as people_in_classes
from unmask.tables.criteria.risk import population_sizes as population_sizes
from unmask.tables.criteria.risk import prosecutor as prosecutor
from unmask.tables.criteria.risk import sample_weight_risk as sample_weight_risk
from unmask.tables.criteria.shapley_values import ColumnGame as ColumnGame
from unmask.tables.criteria.shapley_values import contributions as contributions
from unmask.tables.criteria.survey_errors import (
    error_of_expected_reidentifications as error_of_expected_reidentifications,
)
from unmask.tables.criteria.survey_errors import estimate_mean as estimate_mean
from unmask.tables.criteria.survey_errors import standard_error_of_total as standard_error_of_total
from unmask.tables.criteria.synthetic import Attribution as Attribution
from unmask.tables.criteria.synthetic import attribution_probability as attribution_probability
from unmask.tables.criteria.synthetic import closer_to_members as closer_to_members
from unmask.tables.criteria.synthetic import correctly_disclosed as correctly_disclosed
from unmask.tables.criteria.synthetic import identifiable_share as identifiable_share
from unmask.tables.criteria.synthetic import replicated_uniques as replicated_uniques
from unmask.tables.criteria.synthetic import targeted_attribution_probability as targeted_attribution_probability
