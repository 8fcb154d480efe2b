"""Public names of `unmask.graphs.evaluation`."""

from unmask.graphs.evaluation.hops import UNNAMED as UNNAMED
from unmask.graphs.evaluation.hops import UNREACHABLE as UNREACHABLE
from unmask.graphs.evaluation.hops import hop_distance as hop_distance
from unmask.graphs.evaluation.hops import hop_error as hop_error
from unmask.graphs.evaluation.node_outcomes import DEGREE_CLASSES as DEGREE_CLASSES
from unmask.graphs.evaluation.node_outcomes import DegreeClass as DegreeClass
from unmask.graphs.evaluation.node_outcomes import Outcome as Outcome
from unmask.graphs.evaluation.node_outcomes import Score as Score
from unmask.graphs.evaluation.node_outcomes import by_degree as by_degree
from unmask.graphs.evaluation.node_outcomes import most_recall as most_recall
from unmask.graphs.evaluation.node_outcomes import outcomes as outcomes
from unmask.graphs.evaluation.node_outcomes import score as score
from unmask.graphs.evaluation.node_outcomes import select_match as select_match
