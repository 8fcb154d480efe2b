"""Public names of `unmask.tables.utility`."""

from unmask.tables.utility.analyses import Analysis as Analysis
from unmask.tables.utility.analyses import Comparison as Comparison
from unmask.tables.utility.analyses import Estimates as Estimates
from unmask.tables.utility.analyses import compare_analyses as compare_analyses
from unmask.tables.utility.analyses import interval_overlap as interval_overlap
from unmask.tables.utility.evaluation import InformationLoss as InformationLoss
from unmask.tables.utility.evaluation import Utility as Utility
from unmask.tables.utility.evaluation import Width as Width
from unmask.tables.utility.evaluation import discernibility as discernibility
from unmask.tables.utility.evaluation import evaluate as evaluate
from unmask.tables.utility.evaluation import information_loss as information_loss
from unmask.tables.utility.propensity import PropensityScore as PropensityScore
from unmask.tables.utility.propensity import score_propensity as score_propensity
