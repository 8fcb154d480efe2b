"""Public names of `unmask.channels.attacks`."""

from unmask.channels.attacks.bayes import BayesChannelAttack as BayesChannelAttack
from unmask.channels.attacks.disclosure import LeastSquaresDisclosure as LeastSquaresDisclosure
from unmask.channels.attacks.disclosure import Round as Round
from unmask.channels.attacks.disclosure import RoundDisclosure as RoundDisclosure
from unmask.channels.attacks.disclosure import Rounds as Rounds
from unmask.channels.attacks.disclosure import StatisticalDisclosure as StatisticalDisclosure
from unmask.channels.attacks.disclosure import expected_leaving as expected_leaving
from unmask.channels.attacks.learning import FrequencyAttack as FrequencyAttack
from unmask.channels.attacks.learning import NearestNeighborAttack as NearestNeighborAttack
from unmask.channels.attacks.learning import Samples as Samples
from unmask.channels.attacks.learning import learn_chain as learn_chain
from unmask.channels.attacks.matching import MatchingAttack as MatchingAttack
from unmask.channels.attacks.matching import MatchingMarginals as MatchingMarginals
from unmask.channels.attacks.matching import log_permanent as log_permanent
from unmask.channels.attacks.profiles import Profiles as Profiles
from unmask.channels.attacks.sampled_matchings import sample_matchings as sample_matchings
from unmask.channels.attacks.system_anonymity import SystemAnonymity as SystemAnonymity
from unmask.channels.attacks.system_anonymity import bagai_entropy as bagai_entropy
from unmask.channels.attacks.system_anonymity import edman_degree as edman_degree
from unmask.channels.attacks.system_anonymity import gierlichs_degree as gierlichs_degree
from unmask.channels.hidden_markov import HiddenMarkovAttack as HiddenMarkovAttack
from unmask.channels.hidden_markov import most_likely_path as most_likely_path
